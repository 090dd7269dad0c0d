//! Tests of presets, overlays and rules.

use super::*;
use crate::Place;
use crate::codes::{Priority, Queue};
use crate::ecn::Ecn;

fn parse(yaml: &str) -> Result<Profile, Vec<String>> {
    let spec: ProfileSpec = serde_saphyr::from_str(yaml).map_err(|error| vec![error.to_string()])?;
    lower(spec).map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

fn faults(yaml: &str) -> Vec<String> {
    parse(yaml).expect_err("the profile is broken")
}

fn name(text: &str) -> ClassName {
    ClassName::new(text).unwrap()
}

fn dscp(value: u8) -> Dscp {
    Dscp::new(value).unwrap()
}

#[test]
fn trimmed_packets_have_a_number_of_their_own() {
    let profile = Preset::LossyTrim.profile();
    assert_eq!(profile.trimming().unwrap().tc.get(), 8);
    assert_eq!([7, 8, 15].map(|most| profile.trim_priority(most)), [Some(7), Some(8), Some(8)]);
    // Classes use the numbers 0, 1, 2, 3 and 6.
    assert_eq!([6, 3].map(|most| profile.trim_priority(most)), [Some(5), None]);
    assert_eq!(Preset::Lossless.profile().trim_priority(7), None);
}

#[test]
fn every_preset_passes_the_rules_and_has_its_own_name() {
    for preset in Preset::ALL {
        let faults = Profile::new(preset.draft()).map(|_| ()).err();
        assert_eq!(faults, None, "{preset}");
        assert_eq!(preset.draft().name.as_str(), preset.name());
        assert_eq!(preset.name().parse::<Preset>().unwrap(), preset);
        assert_eq!(serde_json::to_value(preset).unwrap(), preset.name());
    }
}

#[test]
fn a_name_alone_is_a_profile() {
    assert_eq!(parse("lossless").unwrap(), Preset::Lossless.profile());
    assert_eq!(parse("base: lossless").unwrap(), Preset::Lossless.profile());
    let unknown = &faults("losless")[0];
    assert!(unknown.contains("there is no QoS profile `losless`: use one of `lossy-trim`"), "{unknown}");
}

#[test]
fn sonic_azure_has_the_published_map() {
    let map = Preset::SonicAzure.profile().dscp_to_tc();
    assert_eq!(map.len(), 64);
    for (dscp, tc) in map {
        // qos_config.j2, DSCP_TO_TC_MAP|AZURE.
        let published = match dscp.get() {
            3 => 3,
            4 => 4,
            5 => 2,
            8 => 0,
            46 => 5,
            48 => 6,
            _ => 1,
        };
        assert_eq!(tc.get(), published, "DSCP {dscp}");
    }
}

/// sonic-buildimage Arista-7060X6-64PE-B-C512S2, buffers_defaults_t0.j2: `dynamic_th` of queues 0 to 6.
#[test]
fn the_preset_of_tomahawk_5_has_the_thresholds_of_its_sku() {
    let profile = Preset::SonicAiLossyTh5.profile();
    let found: Vec<i8> = profile.classes().map(|class| class.egress_threshold.get()).collect();
    assert_eq!(found, [0, 3, 3, 3, 0, -3, 0]);
    assert_eq!(profile.dscp_to_tc(), Preset::SonicAiLossy.profile().dscp_to_tc());
}

#[test]
fn sonic_ai_lossy_has_the_published_map_and_no_pfc() {
    let profile = Preset::SonicAiLossy.profile();
    for (dscp, tc) in profile.dscp_to_tc() {
        let published = match dscp.get() {
            1 | 2 => 1,
            3 | 4 => 2,
            5 | 6 => 3,
            11..=40 => 4,
            41..=50 => 5,
            _ => 0,
        };
        assert_eq!(tc.get(), published, "DSCP {dscp}");
    }
    assert!(!profile.is_lossless());
    assert!(profile.tc_to_priority_group().values().all(|group| group.get() == 0));
    let weights: Vec<_> = profile.classes().map(|class| class.scheduler).collect();
    let expected = [4, 8, 18, 22, 22, 22, 4].map(|w| Scheduler::Dwrr(crate::codes::Weight::new(w).unwrap()));
    assert_eq!(weights, expected);
}

#[test]
fn juniper_keeps_queue_and_priority_apart() {
    let profile = Preset::JuniperDcqcn.profile();
    let priority = Priority::new(3).unwrap();
    assert_eq!(profile.pfc_to_queue(), [(priority, Queue::new(4).unwrap())].into());
    assert_eq!(profile.class_of(dscp(48)).queue, Queue::new(3).unwrap());
}

#[test]
fn meta_marks_nothing() {
    let profile = Preset::MetaRoce.profile();
    assert!(profile.classes().all(|class| class.ecn == Ecn::Off));
    assert!(profile.role(Role::Cnp).is_none() && profile.role(Role::Cts).is_some());
    assert_eq!(profile.pfc_priorities(), [Priority::new(3).unwrap()]);
}

#[test]
fn trimmed_packets_tell_the_last_hop_from_the_fabric() {
    let profile = Preset::LossyTrim.profile();
    let tc = TrafficClass::new(8).unwrap();
    assert_eq!(profile.tc_to_dscp(Place::LastHop), [(tc, dscp(16))].into());
    assert_eq!(profile.tc_to_dscp(Place::Edge), [(tc, dscp(12))].into());
    assert_eq!(profile.tc_to_dscp(Place::Fabric), [(tc, dscp(12))].into());
    let trimmed = profile.role(Role::Trimmed).unwrap();
    assert_eq!(profile.tc_to_queue()[&tc], trimmed.queue);
    assert!(!profile.dscp_to_tc().values().any(|found| *found == tc));
}

#[test]
fn lossy_trim_marks_everywhere_but_at_the_last_hop() {
    let profile = Preset::LossyTrim.profile();
    assert_eq!(profile.ecn_rule(profile.data(), Place::LastHop), Ecn::Off);
    assert_ne!(profile.ecn_rule(profile.data(), Place::Edge), Ecn::Off);
    assert_ne!(profile.ecn_rule(profile.data(), Place::Fabric), Ecn::Off);
}

#[test]
fn an_overlay_changes_what_it_names_and_nothing_else() {
    let yaml = "
base: lossless
name: site
classes:
  data: {dscp: [24, 26], ecn: {thresholds: {min: 200KB, max: 800KB, probability: 10}}}
  storage: {role: data, dscp: [10], tc: 4, pfc: true, scheduler: {dwrr: 20}}
without: [cts]
watchdog: {action: alert, detection: 400ms}
shared_headroom: {over_subscribe_ratio: 2}
lossless_traffic: {mtu: 4096, small_packets: 50}
";
    let profile = parse(yaml).unwrap();
    let base = Preset::Lossless.profile();
    assert_eq!(profile.name().as_str(), "site");
    let data = profile.data();
    assert_eq!(data.mark(), Some(dscp(24)));
    let unchanged = Class { dscp: base.data().dscp.clone(), ecn: base.data().ecn, ..data.clone() };
    assert_eq!(&unchanged, base.data());
    let storage = profile.class(&name("storage")).unwrap();
    assert_eq!((storage.queue.get(), storage.priority_group.get(), storage.priority.get()), (4, 4, 4));
    assert!(profile.role(Role::Cts).is_none());
    let watchdog = profile.watchdog().unwrap();
    assert_eq!(
        (watchdog.action, watchdog.detection),
        (WatchdogAction::Alert, Some(Nanoseconds::from_millis(400)))
    );
    assert_eq!(profile.shared_headroom().unwrap().over_subscribe_ratio.get(), 2);
}

#[test]
fn every_form_of_ecn_and_off_reads() {
    let with = |ecn: &str| parse(&format!("{{base: lossless, classes: {{data: {{ecn: {ecn}}}}}}}"));
    assert_eq!(with("off").unwrap().data().ecn, Ecn::Off);
    assert_eq!(with("{computed: {}}").unwrap().data().ecn, Preset::Lossless.profile().data().ecn);
    assert!(matches!(with("{computed: {min: 50, max_over_min: 3}}").unwrap().data().ecn, Ecn::Computed(_)));
    assert!(matches!(with("{preset: sonic-7060x6}").unwrap().data().ecn, Ecn::Preset(_)));
    assert!(matches!(with("{fill: {min: 55, max: 90, probability: 100}}").unwrap().data().ecn, Ecn::Fill(_)));
    let off = parse("{base: lossless, watchdog: off}").unwrap();
    assert!(off.watchdog().is_none());
}

#[test]
fn a_profile_from_nothing_needs_every_value() {
    let yaml = "
name: mine
classes:
  best-effort: {dscp: [0], tc: 0, scheduler: {dwrr: 10}}
  data: {role: data, dscp: [26], tc: 3, scheduler: {dwrr: 90}}
";
    assert_eq!(parse(yaml).unwrap().classes().count(), 2);
    assert_eq!(
        faults("{classes: {data: {role: data, dscp: [26], tc: 3}}}"),
        [
            "class `data` has no `scheduler`: only a class of the base profile may omit it",
            "`default` names class `best-effort`, which the profile does not have",
        ]
    );
    for empty in ["{}", "{name: mine}", "{classes: {}}"] {
        assert_eq!(faults(empty), ["the profile has no classes"], "{empty}");
    }
}

#[test]
fn unknown_keys_are_refused_with_their_place() {
    let fault = &faults("base: lossless\nclasses:\n  data: {dcsp: [26]}\n")[0];
    assert!(fault.contains("dcsp") && fault.contains("line 3"), "{fault}");
    let fault = &faults("base: lossless\nwatchdog: {detect: 200ms}\n")[0];
    assert!(fault.contains("detect") && fault.contains("line 2"), "{fault}");
    let fault = &faults("base: lossless\nwatch_dog: off\n")[0];
    assert!(fault.contains("watch_dog"), "{fault}");
}

#[test]
fn all_faults_come_at_once() {
    let yaml = "
base: lossless
classes:
  data: {ecn: {thresholds: {min: 2MB, max: 1MB, probability: 0}}}
  a: {dscp: [26], tc: 3, scheduler: strict}
watchdog: {poll: 50ms, detection: 6s}
";
    assert_eq!(
        faults(yaml),
        [
            "class `data`: ECN minimum 2MB is not below the maximum 1MB",
            "class `data`: ECN probability 0 marks nothing below the maximum: use 1 to 100, or `ecn: off`",
            "DSCP 26 is claimed by classes `a` and `data`: a packet has one class",
            "traffic class 3 is used by classes `a` and `data`: each needs its own",
            "classes `a` and `data` share queue 3 but differ in `scheduler`",
            "classes `a` and `data` share queue 3 but differ in `pfc`",
            "classes `a` and `data` share queue 3 but differ in `ecn`",
            "classes `a` and `data` share queue 3 but differ in `egress_threshold`",
            "priority 3 is paused for class `data` and used by class `a`: a host would stop both, so give `a` \
         another `priority`",
            "watchdog `detection` is 6s: use 100ms to 5s",
            "watchdog `poll` is 50ms: use 100ms to 1s",
        ]
    );
}

#[test]
fn classes_of_hosts_need_a_code_point() {
    assert_eq!(
        faults("{base: lossless, classes: {cts: {dscp: []}}}"),
        ["class `cts` has `role: cts` and no `dscp`: no packet would reach it"]
    );
}

#[test]
fn trimming_and_pfc_do_not_mix() {
    assert_eq!(
        faults("{base: lossless, classes: {data: {trim: true}}}"),
        [
            "class `data` has `pfc: true` and `trim: true`: a lossless queue never drops, so it cannot trim",
            "class `data` has `trim: true` and the profile has no `trimming`: state the DSCP of trimmed packets",
        ]
    );
    assert_eq!(
        faults("{base: lossy-trim, classes: {data: {trim: false}, retransmit: {trim: false}}}"),
        ["the profile has `trimming` and no class has `trim: true`: nothing would be trimmed"]
    );
    let yaml = "{base: lossy-trim, trimming: {class: trimmed, tc: 1, fabric_dscp: 12, last_hop_dscp: 17}}";
    assert_eq!(
        faults(yaml),
        [
            "trimmed packets get DSCP 17, which leads to class `no-trim` and not to `trimmed`: add 17 to the \
         `dscp` of `trimmed`",
            "`trimming.tc` is 1, the traffic class of `data`: it must be one no DSCP maps to, or packets trimmed \
         upstream would be remarked on their way",
        ]
    );
}

#[test]
fn lossless_classes_share_neither_group_nor_priority() {
    let yaml = "{base: lossless, classes: {cts: {pfc: true, priority_group: 3, priority: 3}}}";
    assert_eq!(
        faults(yaml),
        [
            "priority group 3 holds lossless class `cts` and class `data`: a pause would stop both, so give `cts` \
         a group of its own",
            "priority 3 is paused for class `cts` and used by class `data`: a host would stop both, so give \
         `data` another `priority`",
        ]
    );
    assert_eq!(
        faults("{base: lossless, classes: {data: {pfc: false}}}"),
        ["the profile has a `watchdog` and no class has `pfc: true`: set `watchdog: off`"]
    );
}

#[test]
fn the_schema_names_every_key_and_preset() {
    let schema = serde_json::to_string(&schemars::schema_for!(ProfileSpec)).unwrap();
    for key in ["lossy-trim", "shared_headroom", "priority_group", "fabric_dscp", "over_subscribe_ratio"] {
        assert!(schema.contains(key), "{key}");
    }
}

/// sonic-utilities, `pfcwd start_default`: `multiply = max(1, (ports - 1) // 32 + 1)`, the interval is at most 1 s. The
/// YANG model limits detection to 5 s.
#[test]
fn watchdog_times_grow_with_the_ports() {
    let times = |watchdog: &Watchdog, ports| {
        let WatchdogTimes { detection, restoration, poll } = watchdog.times(ports);
        [detection, restoration, poll].map(|time| time.0 / 1_000_000)
    };
    let default = Watchdog::default();
    assert_eq!(times(&default, 32), [200, 200, 200]);
    assert_eq!(times(&default, 33), [400, 400, 400]);
    assert_eq!(times(&default, 128), [800, 800, 800]);
    assert_eq!(times(&default, 512), [3_200, 3_200, 1_000]);
    assert_eq!(times(&default, 1_024), [5_000, 6_400, 1_000]);
    let stated = Watchdog { detection: Some(Nanoseconds::from_millis(300)), ..default };
    assert_eq!(times(&stated, 128), [300, 800, 300]);
    let slow = Watchdog { poll: Some(Nanoseconds::from_millis(900)), ..default };
    assert_eq!(times(&slow, 32), [900, 900, 900]);
}
