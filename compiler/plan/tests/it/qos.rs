//! QoS settings of a switch: kinds of ports, division of the buffer, marking.

use closc_plan::SwitchQos;
use closc_qos::Place;
use closc_qos::buffer::BufferError;
use closc_qos::codes::Queue;
use closc_qos::units::{Bytes, Length};
use closc_qos::{QosError, Speed};
use closc_tests::shape::plan;

fn yaml(platform: &str, os: &str, nic: &str, qos: &str, far: &str) -> String {
    format!(
        "
fabric: qos
planes: 1
routing: ecmp-static
hosts: {{ groups: 3, per_group: 4, nic: {{ speed: {nic} }} }}
tiers:
  t0: {{ platform: {platform}, os: {os}, up: {{ count: 2, spare: 1 }} }}
  t1: {{ platform: {platform}, os: {os} }}
cables:
  nic-t0: {{ length: 2.5m, medium: virtual }}
  t0-t1: {{ length: {far}, medium: virtual }}
exceptions:
  cables: {{ p0-t0-002--p0-t1-002: {{ length: 45m, medium: virtual }} }}
qos: {qos}
"
    )
}

fn qos(text: &str, name: &str) -> Result<SwitchQos, QosError> {
    let plan = plan(text);
    let wanted = |switch: &_| plan.topology().naming.switch(*switch) == name;
    let switch = plan.switches().find(wanted).expect("the switch is there");
    plan.qos(switch)
}

#[test]
fn ports_that_are_alike_are_one_kind() {
    let found = qos(&yaml("th5-128x400g", "sonic", "400G", "lossless", "30m"), "p0-t0-002").unwrap();
    let kinds: Vec<_> = found.kinds.iter().map(|kind| (kind.place, kind.cable, kind.ports)).collect();
    let meters = Length::from_meters;
    // 2.5 m is written as 3 m: lengths on switches are whole metres.
    assert_eq!(
        kinds,
        [(Place::LastHop, meters(3), 4), (Place::Edge, meters(30), 1), (Place::Edge, meters(45), 1)]
    );
    // The spare uplink has no kind.
    assert_eq!(found.ports, [Some(0), Some(0), Some(0), Some(0), Some(1), Some(2), None]);
    let above = qos(&yaml("th5-128x400g", "sonic", "400G", "lossless", "30m"), "p0-t1-001").unwrap();
    assert!(above.kinds.iter().all(|kind| kind.place == Place::Fabric && kind.speed == Speed::gbps(400)));
}

/// Source: buffers_defaults_t0.j2 in branches of sonic-buildimage. The SDK of older branches reserves more.
#[test]
fn the_buffer_is_that_of_the_release() {
    for (platform, speed, release, total) in [
        ("th5-512x100g", "100G", "202505", 163_593_526),
        ("th5-512x100g", "100G", "202511", 165_335_712),
        ("th5-128x400g", "400G", "202505", 164_075_364),
        ("th5-128x400g", "400G", "master", 164_505_640),
    ] {
        let text = yaml(platform, "sonic", speed, "sonic-ai-lossy-th5", "30m");
        let found = qos(&format!("{text}releases: {{ sonic: {release} }}\n"), "p0-t0-002").unwrap();
        assert_eq!(found.buffers.unwrap().memory.total, Bytes(total), "{platform} {release}");
    }
}

/// The same files of other hwskus of that box: the size depends on the hwsku, not on the name of the platform.
#[test]
fn the_buffer_is_that_of_the_hwsku() {
    for (platform, split, release, total) in [
        ("th5-512x100g", "2x400G", "202511", 164_505_640),
        ("th5-512x100g", "2x400G", "202505", 164_075_364),
        ("th5-128x400g", "8x100G", "202511", 165_335_712),
        ("th5-64x800g", "8x100G", "202505", 163_593_526),
        ("th5-256x200g", "2x400G", "202511", 166_115_492),
    ] {
        let speed = split.split_once('x').unwrap().1;
        let text = yaml(platform, "sonic", speed, "sonic-ai-lossy-th5", "30m")
            .replace(
                "os: sonic, up: { count: 2,",
                &format!("os: sonic, down: {{ breakout: {split} }}, up: {{ count: 2, breakout: {split},"),
            )
            .replace("os: sonic }", &format!("os: sonic, down: {{ breakout: {split} }} }}"));
        let found = qos(&format!("{text}releases: {{ sonic: {release} }}\n"), "p0-t0-002").unwrap();
        assert_eq!(found.buffers.unwrap().memory.total, Bytes(total), "{platform} {split} {release}");
    }
}

#[test]
fn the_buffer_adds_up() {
    for (platform, speed) in [("th5-128x400g", "400G"), ("spectrum4-sn5600", "800G")] {
        let found = qos(&yaml(platform, "sonic", speed, "lossless", "30m"), "p0-t0-002").unwrap();
        let buffers = found.buffers.unwrap();
        let memory = &buffers.memory;
        let pools = &buffers.pools;
        let sum = memory.reserved_sum() + pools.guaranteed + pools.headroom + pools.shared;
        assert_eq!(sum, memory.total.round_down(memory.cell), "{platform}");
        assert_eq!(buffers.groups.len(), found.kinds.len());
        // Headroom is not shared here, so the pool is the sum.
        let each = |kind: usize| buffers.headroom(kind).unwrap().pooled.0;
        let pooled: u64 =
            found.kinds.iter().enumerate().map(|(at, kind)| each(at) * u64::from(kind.ports)).sum();
        assert_eq!(pools.headroom, Bytes(pooled), "{platform}");
        let total = |kind: usize| buffers.headroom(kind).unwrap().total();
        // The table of the hwsku O128 has one value from 5 m to 40 m.
        let grows = if platform == "th5-128x400g" { total(1) == total(0) } else { total(1) > total(0) };
        assert!(total(2) >= total(1) && grows, "{platform}: headroom grows with the cable");
    }
}

#[test]
fn marks_stay_below_the_pause() {
    let found = qos(&yaml("th5-128x400g", "sonic", "400G", "lossless", "30m"), "p0-t0-002").unwrap();
    let buffers = found.buffers.as_ref().unwrap();
    let data = Queue::new(3).unwrap();
    let threshold = closc_qos::profile::Preset::Lossless.profile().data().ingress_threshold;
    for marks in &found.marks {
        assert_eq!(marks.keys().collect::<Vec<_>>(), [&data]);
        // All 128 ports of the panel are full.
        assert!(marks[&data].max() < buffers.share(threshold, 128));
    }
}

#[test]
fn the_last_hop_is_not_marked_where_the_profile_says_so() {
    let found = qos(&yaml("th5-128x400g", "sonic", "400G", "lossy-trim", "30m"), "p0-t0-002").unwrap();
    let marked: Vec<usize> = found.marks.iter().map(std::collections::BTreeMap::len).collect();
    assert_eq!(marked, [0, 2, 2]);
    assert!(found.buffers.unwrap().groups.is_empty());
}

#[test]
fn one_more_port_moves_no_threshold() {
    for (platform, speed) in [("th5-128x400g", "400G"), ("spectrum4-sn5600", "800G")] {
        let small = yaml(platform, "sonic", speed, "lossy-trim", "30m");
        let large = small.replace("per_group: 4", "per_group: 6").replace("count: 2", "count: 3");
        let (small, large) = (qos(&small, "p0-t0-002").unwrap(), qos(&large, "p0-t0-002").unwrap());
        assert_eq!(small.marks, large.marks, "{platform}");
        assert_eq!(small.buffers.unwrap().pools, large.buffers.unwrap().pools, "{platform}");
    }
}

#[test]
fn a_target_without_a_buffer_marks_and_does_not_pause() {
    let found = qos(&yaml("linux", "linux", "100G", "lossy-trim", "30m"), "p0-t0-002").unwrap();
    assert!(found.buffers.is_none());
    let marking = found.marks.iter().filter(|marks| !marks.is_empty()).count();
    assert!(
        marking > 0 && marking < found.kinds.len(),
        "fabric ports mark, and NIC ports do not: {:?}",
        found.marks
    );
    assert_eq!(found.kinds.len(), 3);
}

#[test]
fn ten_kilometers_on_a_shallow_buffer_are_refused_with_ways_out() {
    let text = yaml("th5-128x400g", "sonic", "400G", "lossless", "10km").replace("groups: 3", "groups: 60");
    let error = qos(&text, "p0-t1-001").unwrap_err();
    let QosError::Buffer(error) = error else { panic!("{error}") };
    assert!(matches!(error, BufferError::HeadroomDoesNotFit(_)), "{error}");
    assert!(error.to_string().contains("`fabric ports`, 400G, 10km"), "{error}");
    assert!(error.suggestions().len() >= 2);
}
