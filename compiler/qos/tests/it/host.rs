//! Switch and host settings are derived from one profile, and agree after any change.

use std::collections::BTreeMap;

use closc_qos::Place;
use closc_qos::codes::{Dscp, Priority, Queue, TrafficClass, Weight};
use closc_qos::ecn::{Ecn, EcnPreset};
use closc_qos::host::{HostQos, Selection, Trust};
use closc_qos::profile::{Class, ClassName, Draft, Preset, Profile, Scheduler};
use proptest::prelude::*;

/// Settings of the switch.
#[derive(Debug, PartialEq)]
struct SwitchView {
    dscp_to_tc: BTreeMap<Dscp, TrafficClass>,
    tc_to_queue: BTreeMap<TrafficClass, Queue>,
    pfc: BTreeMap<Priority, Queue>,
    queues: BTreeMap<Queue, (Scheduler, Ecn)>,
}

fn switch_view(profile: &Profile) -> SwitchView {
    let first = |classes: &[&Class]| (classes[0].scheduler, profile.ecn_rule(classes[0], Place::Fabric));
    SwitchView {
        dscp_to_tc: profile.dscp_to_tc(),
        tc_to_queue: profile.tc_to_queue(),
        pfc: profile.pfc_to_queue(),
        queues: profile.queues().into_iter().map(|(queue, classes)| (queue, first(&classes))).collect(),
    }
}

#[test]
fn nvidia_roce_is_what_its_guides_say() {
    let host = HostQos::of(&Preset::NvidiaRoce.profile());
    assert_eq!(host.trust, Trust::Dscp);
    // DSCP 26 is ToS 104, or 106 with ECT(0). PFC is enabled only for priority 3. CNP 48 has priority 6.
    assert_eq!((host.rdma.connection_tos, host.rdma.nccl_tc, host.rdma.data.tos_ect0), (104, 104, 106));
    assert_eq!(host.rdma.nccl_fifo_tc, None);
    let pfc: Vec<_> = host.priorities.iter().map(|priority| u8::from(priority.pfc)).collect();
    assert_eq!(pfc, [0, 0, 0, 1, 0, 0, 0, 0]);
    let dcqcn = host.dcqcn.unwrap();
    assert_eq!((dcqcn.cnp_dscp.get(), dcqcn.cnp_priority.get()), (48, 6));
    let shares: Vec<_> = host.priorities.iter().map(|priority| priority.selection).collect();
    let fifty = Selection::Ets(closc_qos::codes::Percent::new(50).unwrap());
    let strict = Selection::Strict;
    assert_eq!(shares, [fifty, strict, strict, fifty, strict, strict, strict, strict]);
    let buffers: Vec<_> = host.priorities.iter().map(|priority| priority.buffer).collect();
    assert_eq!(buffers, [0, 0, 0, 1, 0, 0, 0, 0]);
}

#[test]
fn meta_has_a_clear_to_send_class_and_no_dcqcn() {
    let host = HostQos::of(&Preset::MetaRoce.profile());
    assert_eq!((host.rdma.nccl_tc, host.rdma.nccl_fifo_tc), (104, Some(184)));
    assert_eq!(host.dcqcn, None);
    assert!(host.classes.iter().all(|class| !class.ecn));
}

#[test]
fn mrc_has_six_code_points() {
    let host = HostQos::of(&Preset::LossyTrim.profile());
    let mrc = host.mrc.unwrap();
    let all = [
        mrc.no_trim,
        mrc.trimmable,
        mrc.trimmable_retransmit,
        mrc.trimmed,
        mrc.trimmed_last_hop,
        mrc.control,
    ];
    assert_eq!(all.map(Dscp::get), [0, 4, 8, 12, 16, 46]);
    assert!(host.priorities.iter().all(|priority| !priority.pfc && priority.buffer == 0));
    assert_eq!(host.dcqcn, None);
    assert_eq!(HostQos::of(&Preset::Lossless.profile()).mrc, None);
}

#[test]
fn juniper_pauses_priority_3_of_traffic_class_4() {
    let profile = Preset::JuniperDcqcn.profile();
    let host = HostQos::of(&profile);
    assert_eq!((host.rdma.data.priority.get(), profile.data().tc.get()), (3, 4));
    assert!(host.priorities[3].pfc && !host.priorities[4].pfc);
}

#[test]
fn classes_only_the_switch_feeds_are_not_for_hosts() {
    let host = HostQos::of(&Preset::SonicAiLossy.profile());
    assert_eq!(host.classes.len(), 6);
    assert!(host.classes.iter().all(|class| class.name.as_str() != "switch"));
}

/// A change of a class that affects both switch and host.
#[derive(Debug, Clone, Copy)]
enum Change {
    Mark(Dscp),
    Pfc,
    Priority(Priority),
    Weight(Weight),
    Ecn,
}

fn any_change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0_u8..64).prop_map(|dscp| Change::Mark(Dscp::new(dscp).unwrap())),
        Just(Change::Pfc),
        (0_u8..8).prop_map(|priority| Change::Priority(Priority::new(priority).unwrap())),
        (1_u8..=100).prop_map(|weight| Change::Weight(Weight::new(weight).unwrap())),
        Just(Change::Ecn),
    ]
}

/// Applies a change; `None` if the class already has the value.
fn apply(draft: &Draft, name: &ClassName, change: Change) -> Option<Draft> {
    let mut draft = draft.clone();
    let class = draft.classes.get_mut(name)?;
    let before = class.clone();
    match change {
        Change::Mark(dscp) => class.dscp = vec![dscp],
        Change::Pfc => class.pfc = !class.pfc,
        Change::Priority(priority) => class.priority = priority,
        Change::Weight(weight) => class.scheduler = Scheduler::Dwrr(weight),
        Change::Ecn => {
            class.ecn = if class.ecn == Ecn::Off { Ecn::Preset(EcnPreset::SonicAzure) } else { Ecn::Off };
        }
    }
    (*class != before).then_some(())?;
    if !draft.classes.values().any(|class| class.pfc) {
        draft.watchdog = None;
    }
    Some(draft)
}

/// Checks that switch and host agree on every code point and every priority.
fn agree(profile: &Profile) {
    let host = HostQos::of(profile);
    let (to_tc, pfc) = (profile.dscp_to_tc(), profile.pfc_to_queue());
    for dscp in Dscp::all() {
        let class = profile.classes().find(|class| class.tc == to_tc[&dscp]).unwrap();
        assert_eq!(host.dscp_to_priority[&dscp], class.priority, "DSCP {dscp}");
        assert_eq!(host.priorities[usize::from(class.priority.get())].pfc, class.pfc, "DSCP {dscp}");
    }
    for priority in Priority::all() {
        assert_eq!(host.priorities[usize::from(priority.get())].pfc, pfc.contains_key(&priority));
    }
    for class in &host.classes {
        assert_eq!(profile.class_of(class.dscp).name, class.name);
        assert_eq!(class.tos, class.dscp.get() << 2);
    }
    let shares: Vec<u8> = host
        .priorities
        .iter()
        .filter_map(|priority| match priority.selection {
            Selection::Ets(share) => Some(share.get()),
            Selection::Strict => None,
        })
        .collect();
    assert!(shares.is_empty() || shares.iter().map(|share| u32::from(*share)).sum::<u32>() == 100);
    assert!(shares.iter().all(|share| *share > 0));
    let buffers: Vec<u8> =
        host.priorities.iter().map(|priority| priority.buffer).filter(|buffer| *buffer > 0).collect();
    assert_eq!(buffers, (1..=pfc.len() as u8).collect::<Vec<_>>());
}

#[test]
fn every_preset_agrees() {
    for preset in Preset::ALL {
        agree(&preset.profile());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// If switch and host both have a setting for a property of a class, a change of the property changes both, and
    /// they still agree.
    #[test]
    fn a_change_of_any_class_reaches_switch_and_host(
        preset in proptest::sample::select(Preset::ALL.to_vec()),
        place in any::<proptest::sample::Index>(),
        change in any_change(),
    ) {
        let old = preset.profile();
        let names: Vec<_> = old.draft().classes.keys().cloned().collect();
        let name = place.get(&names);
        let Some(draft) = apply(old.draft(), name, change) else { return Ok(()) };
        let Ok(new) = Profile::new(draft) else { return Ok(()) };
        agree(&new);
        let (before, after) = (old.class(name).unwrap(), new.class(name).unwrap());
        let switch_changed = switch_view(&old) != switch_view(&new);
        let host_changed = HostQos::of(&old) != HostQos::of(&new);
        match change {
            // The default class may be assigned a code point that already was its own. Hosts do not see a class without
            // code points.
            Change::Mark(dscp) if old.class_of(dscp).name == *name => {
                prop_assert!(host_changed || before.mark() == after.mark() || new.dscp_to_tc() != old.dscp_to_tc());
            }
            Change::Mark(_) | Change::Pfc => {
                prop_assert!(switch_changed && host_changed, "{preset} {name} {change:?}");
            }
            // The priority of a lossy class affects only the host.
            Change::Priority(_) => {
                prop_assert!(host_changed || before.dscp.is_empty());
                prop_assert_eq!(switch_changed, before.pfc);
            }
            // Shares are relative, so with one weighted class, or after rounding, they may be unchanged.
            Change::Weight(_) => prop_assert!(switch_changed),
            Change::Ecn => {
                prop_assert!(switch_changed && (host_changed || before.dscp.is_empty()));
            }
        }
    }
}
