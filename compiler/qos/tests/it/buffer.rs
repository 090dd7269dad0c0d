//! The buffer of a switch: published sums, and refusals with suggestions that work.

use closc_qos::buffer::{BufferError, Division, Memory, PortGroup, Suggestion, pools};
use closc_qos::headroom::{Link, Model, Request, SpectrumAsic};
use closc_qos::profile::{BufferShares, LosslessTraffic, SharedHeadroom};
use closc_qos::{Bytes, Length, Speed};
use proptest::prelude::*;

const TOMAHAWK_5: &str = "broadcom-tomahawk-5";
/// A shallow buffer: 64 ports of 800G with 160 MiB.
const SHALLOW: Bytes = Bytes(160 << 20);

fn group(name: &str, model: &str, ports: u32, classes: u32, gbps: u32, meters: u32) -> PortGroup {
    shared_group(name, model, ports, classes, gbps, meters, false)
}

fn shared_group(
    name: &str,
    model: &str,
    ports: u32,
    classes: u32,
    gbps: u32,
    meters: u32,
    shared: bool,
) -> PortGroup {
    let link = Link::new(Speed::gbps(gbps), Length::from_meters(meters), Bytes(9216), 4).unwrap();
    let request = Request::new(link, LosslessTraffic::default(), shared).unwrap();
    PortGroup::new(name, ports, classes, model.parse::<Model>().unwrap(), request, Bytes(254)).unwrap()
}

fn shallow() -> Memory {
    Memory::new(SHALLOW, Bytes(254))
}

fn share(ratio: u32) -> Division {
    let over_subscribe_ratio = ratio.try_into().unwrap();
    Division { shared_headroom: Some(SharedHeadroom { over_subscribe_ratio }), shares: None }
}

#[test]
fn a_leaf_with_short_cables_fits() {
    let groups =
        [group("downlinks", TOMAHAWK_5, 64, 1, 400, 5), group("uplinks", TOMAHAWK_5, 64, 1, 400, 40)];
    let found = pools(&shallow(), &groups, Division::default()).unwrap();
    assert_eq!(found.headroom, Bytes(64 * (393_192 + 446_024)));
    assert_eq!(found.guaranteed, Bytes(128 * 18_796));
    let memory = SHALLOW.round_down(Bytes(254));
    assert_eq!(found.shared + found.headroom + found.guaranteed, memory);
    assert_eq!(found.terms.term("uplinks: from the headroom pool").unwrap().value.to_string(), "28545536");
}

#[test]
fn sharing_divides_the_pool_but_leaves_room_for_one() {
    let groups = [group("uplinks", TOMAHAWK_5, 64, 1, 400, 40)];
    let alone = pools(&shallow(), &groups, Division::default()).unwrap();
    let halved = pools(&shallow(), &groups, share(2)).unwrap();
    assert_eq!(halved.headroom.0 * 2, alone.headroom.0);
    assert_eq!(pools(&shallow(), &groups, share(1000)).unwrap().headroom, groups[0].headroom().xoff);
}

#[test]
fn pfc_over_ten_kilometers_is_refused_on_a_shallow_buffer() {
    let groups =
        [group("downlinks", TOMAHAWK_5, 64, 1, 400, 5), group("to-site-b", TOMAHAWK_5, 16, 1, 400, 10_000)];
    let error = pools(&shallow(), &groups, Division::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "lossless headroom does not fit: 16 ports x 1 class x 15.5 MB (`to-site-b`, 400G, 10km) + 64 ports x \
         1 class x 412 KB (`downlinks`, 400G, 5m) need 275 MB; with 0 B reserved and one packet per port \
         (737 KB) the buffer of 168 MB is too small"
    );
    let ways: Vec<_> = error.suggestions().iter().map(ToString::to_string).collect();
    assert_eq!(
        ways,
        [
            "make the class lossy on `to-site-b` and mark early, with an ECN minimum of 5.00 MB (the bytes \
             in flight on the cable in both directions)",
            "end PFC at a DCI box in front of `to-site-b`, with 15.5 MB of buffer for each lossless class of each \
         port",
            "shorten the cables of `to-site-b` to 5547m or less",
            "let ports share headroom: `shared_headroom: {over_subscribe_ratio: 2}`",
            "use a platform with at least 275 MB of buffer",
        ]
    );
}

#[test]
fn the_same_cable_fits_a_deep_buffer() {
    // Jericho-class with 8 GiB: 36 ports of 400G over 80 km, 53.3 MB each.
    let groups = [group("to-site-b", "broadcom-jericho-2", 36, 1, 400, 80_000)];
    let found = pools(&Memory::new(Bytes(8 << 30), Bytes(1)), &groups, Division::default()).unwrap();
    assert_eq!(found.headroom.human(), "1.92 GB");
}

#[test]
fn two_classes_too_many_are_reported() {
    let groups = [group("ports", TOMAHAWK_5, 64, 4, 800, 40)];
    let error = pools(&shallow(), &groups, Division::default()).unwrap_err();
    assert!(error.suggestions().contains(&Suggestion::FewerClasses { classes: 3 }), "{error}");
}

#[test]
fn fixed_shares_bound_the_headroom() {
    let percent = |value| closc_qos::codes::Percent::new(value).unwrap();
    let shares = BufferShares { lossless: percent(66), headroom: percent(24), lossy: percent(10) };
    let division = Division { shared_headroom: None, shares: Some(shares) };
    let groups = [group("ports", TOMAHAWK_5, 128, 1, 400, 40)];
    let error = pools(&shallow(), &groups, division).unwrap_err();
    assert!(error.to_string().contains("need 59.5 MB, of which the profile grants 40.3 MB"), "{error}");
    let Some(Suggestion::DeeperBuffer { memory }) = error.suggestions().last() else {
        panic!("a deeper buffer always helps")
    };
    assert!(pools(&Memory::new(*memory, Bytes(254)), &groups, division).is_ok());
}

#[test]
fn a_spectrum_with_shared_headroom_follows_the_pool_script() {
    let link = Link::new(Speed::gbps(400), Length::from_meters(40), Bytes(9100), 4).unwrap();
    let request = Request::new(link, LosslessTraffic::default(), true).unwrap();
    let asic = SpectrumAsic::Spectrum4;
    let groups = [PortGroup::new("ports", 128, 2, Model::Spectrum(asic), request, asic.cell()).unwrap()];
    let ports = closc_qos::buffer::SpectrumPorts {
        up: 128,
        lossless: 128,
        lossless_cabled: 128,
        lossy_groups: 128,
        ..closc_qos::buffer::SpectrumPorts::default()
    };
    let memory = Memory::spectrum(asic, Bytes(167_772_160), ports, true);
    let found = pools(&memory, &groups, share(2)).unwrap();
    // (128 x 2 x 117760 - 128 x 10 x 1024) / 2, and the size of a group is XON.
    assert_eq!(found.headroom, Bytes((128 * 2 * 117_760 - 128 * 10_240) / 2));
    assert_eq!(found.guaranteed, Bytes(128 * 2 * 19_456));
    let reserved = 128 * 19 * 1024 * 2 + 128 * 10 * 1024 + 256 * 1024 + 128 * 10 * 1024;
    assert_eq!(memory.reserved_sum(), Bytes(reserved));
}

proptest! {
    /// The pools of accepted requests add up to the memory. Each refusal has two suggestions, and suggestions with a
    /// number work.
    #[test]
    fn pools_add_up_or_the_ways_out_work(
        megabytes in 1_u64..400,
        ports in 1_u32..256,
        classes in 1_u32..5,
        gbps in proptest::sample::select(vec![100_u32, 400, 800]),
        meters in 1_u32..20_000,
        model in proptest::sample::select(vec![TOMAHAWK_5, "nvidia-spectrum-4", "ieee-802-1qbb"]),
    ) {
        let groups = [group("ports", model, ports, classes, gbps, meters)];
        let memory = Memory::new(Bytes(megabytes << 20), Bytes(254));
        match pools(&memory, &groups, Division::default()) {
            Ok(found) => {
                let total = memory.total.round_down(memory.cell);
                prop_assert_eq!(found.shared + found.headroom + found.guaranteed, total);
            }
            Err(error) => {
                prop_assert!(matches!(error, BufferError::HeadroomDoesNotFit(_)));
                prop_assert!(error.suggestions().len() >= 2);
                for way in error.suggestions() {
                    let (mut memory, mut ports, mut classes, mut meters) = (memory.clone(), ports, classes, meters);
                    let mut division = Division::default();
                    match way {
                        Suggestion::ShorterCable { longest, .. } => meters = longest.meters_ceil() as u32,
                        Suggestion::FewerClasses { classes: fewer } => classes = *fewer,
                        Suggestion::DeeperBuffer { memory: more } => memory.total = *more,
                        Suggestion::Lossy { .. } => classes = 0,
                        Suggestion::TerminateAtDci { .. } => ports = 0,
                        Suggestion::ShareHeadroom { over_subscribe_ratio } => {
                            division = share(over_subscribe_ratio.get());
                        }
                    }
                    let shared = division.shared_headroom.is_some();
                    let groups = [shared_group("ports", model, ports, classes, gbps, meters, shared)];
                    let fits = pools(&memory, &groups, division);
                    // A buffer without space for one packet per port is too small even for lossy traffic.
                    let hopeless = memory.total < Bytes(u64::from(ports) * 9216);
                    prop_assert!(fits.is_ok() || hopeless, "{way}");
                }
            }
        }
    }
}
