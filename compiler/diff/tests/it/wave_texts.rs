//! Waves contain each step that operators and technicians have to take, and no other one.

use closc_compile::Unit;
use closc_diff::rollout::{Limit, Rollout, named_waves};
use closc_diff::{Options, Report, Side, WaveText};
use closc_plan::Plan;
use closc_render::Templates;
use closc_tests::shape::plan;

/// Returns a fabric of two tiers, with additions to its NICs and to its T0s.
fn pod(hosts: &str, tiers: &str, nic_cables: &str, more: &str) -> Plan {
    plan(&format!(
        "fabric: base\nplanes: 2\nrouting: bgp-unnumbered\n\
         hosts: {{ groups: 8, per_group: 16, nics_per_node: 4, rails: 2, nic: {{ speed: 800G, lanes: 8{hosts} }} }}\n\
         tiers:\n  t0: {{ platform: th5-128x400g, os: sonic, up: 8{tiers} }}\n  t1: {{ platform: th5-128x400g, os: sonic }}\n\
         cables: {{ nic-t0: {{ {nic_cables} }}, t0-t1: {{ length: 30m, medium: dr4 }} }}\n\
         qos: sonic-ai-lossy-th5\n{more}"
    ))
}

const CABLE: &str = "length: 2m, medium: dac";

fn base() -> Plan {
    pod("", ", parallel: 2", CABLE, "")
}

/// Returns the waves, with the files of no switch changed.
fn waves(old: &Plan, new: &Plan) -> Vec<WaveText> {
    compared_waves(old, new, false)
}

/// Returns the waves, with the files of every switch changed, or those of none.
fn compared_waves(old: &Plan, new: &Plan, differs: bool) -> Vec<WaveText> {
    let differs = |_: &Plan, _: &Plan, _| differs;
    let rollout = Rollout::with_comparison(old, new, Limit::one_plane(old.topology()), Some(&differs), None);
    named_waves(&rollout.expect("it has an order"), old, new)
}

fn report(old: &Plan, new: &Plan) -> Report {
    let side = |source: &str| Side { source: source.into(), fabric: "base".into(), digest: source.into() };
    Report::of_plans_with((old, side("old")), (new, side("new")), Options::default(), None, None)
}

fn rollout_text(old: &Plan, new: &Plan) -> String {
    report(old, new).rollout.expect("plans have one").steps.join("\n")
}

fn steps(waves: &[WaveText]) -> Vec<String> {
    waves.iter().flat_map(|wave| wave.steps.iter().map(|step| step.text.clone())).collect()
}

#[test]
fn replaced_nics_are_the_only_step_of_their_wave() {
    let waves = waves(&base(), &pod(", cages: 2", ", parallel: 2", CABLE, ""));
    let [first] = waves.as_slice() else { panic!("{waves:?}") };
    assert_eq!(first.text, "nodes lose their paths one after the other, while their NICs are replaced");
    let all = first.steps.iter().chain(&first.back).map(|step| step.text.as_str());
    assert!(all.clone().all(|text| !text.is_empty()), "{:?}", all.collect::<Vec<_>>());
    // The cables of a cage leave it with the NIC.
    assert_eq!(
        first.steps[0].text,
        "replace 128 NICs and 256 cables, node by node: each node is idle in the meantime"
    );
    assert_eq!(first.steps[0].seconds, 16 * 1800 + 32 * 180);
}

/// A cable in the only cage of a NIC serves all planes, so it cannot be replaced while one plane is drained.
#[test]
fn cables_of_replaced_nics_are_in_no_wave_of_a_plane() {
    let of = |planes: u8, nic: &str| {
        plan(&format!(
            "fabric: base\nplanes: {planes}\nrouting: ecmp-static\n\
             hosts: {{ groups: 8, per_group: 16, nic: {{ {nic} }} }}\n\
             tiers:\n  t0: {{ platform: th5-512x100g, os: sonic, up: 8 }}\n  t1: {{ platform: th5-512x100g, os: sonic }}\n\
             cables: {{ nic-t0: {{ {CABLE} }} }}\nqos: none\n"
        ))
    };
    let waves = waves(&of(2, "speed: 200G, lanes: 2"), &of(4, "speed: 400G, lanes: 4"));
    let texts = steps(&waves);
    assert!(texts.iter().any(|text| text.starts_with("replace 128 NICs and 256 cables")), "{texts:?}");
    assert!(!texts.iter().any(|text| text.starts_with("unplug and plug in")), "{texts:?}");
}

/// Addresses of plane 0 stay the same if planes get another bit, so its switches need no drain.
#[test]
fn switches_that_keep_their_addresses_are_not_drained() {
    let of = |planes: u8, nic: &str| {
        plan(&format!(
            "fabric: base\nplanes: {planes}\nrouting: ecmp-static\n\
             hosts: {{ groups: 4, per_group: 8, nic: {{ {nic}, cages: 2 }} }}\n\
             tiers:\n  t0: {{ platform: linux, os: frr, up: 2 }}\n  t1: {{ platform: linux, os: frr }}\n\
             addresses: {{ hosts: 10.16.0.0/12, links: 10.64.0.0/10, loopbacks: 10.32.0.0/16 }}\nqos: none\n"
        ))
    };
    let (old, new) = (of(2, "speed: 200G, lanes: 4"), of(4, "speed: 400G, lanes: 4"));
    let templates = Templates::builtin();
    let differs = |old: &Plan, new: &Plan, switch| Unit::Switch(switch).differs(old, new, &templates);
    let rollout =
        Rollout::with_comparison(&old, &new, Limit::one_plane(old.topology()), Some(&differs), None);
    let waves = named_waves(&rollout.expect("it has an order"), &old, &new);
    let planes: Vec<u8> = waves.iter().filter_map(|wave| wave.plane).collect();
    assert_eq!(planes, [1], "{waves:#?}");
}

/// 128 NICs have 256 cables in two planes.
#[test]
fn replaced_cables_are_a_step_with_its_time() {
    let (old, new) = (base(), pod("", ", parallel: 2", "length: 5m, medium: aoc", ""));
    let waves = waves(&old, &new);
    let pulled: u64 = steps(&waves)
        .iter()
        .filter_map(|text| text.strip_prefix("unplug and plug in ")?.split(' ').next()?.parse::<u64>().ok())
        .sum();
    assert_eq!(pulled, 256, "{:?}", steps(&waves));
    let text = rollout_text(&old, &new);
    assert!(
        text.contains("a cable is down while it is replaced") && !text.contains("not included"),
        "{text}"
    );
}

/// Each wave reads back what it changes, so a wave that only reads back is not needed.
#[test]
fn waves_change_something() {
    let base = base();
    for new in [
        pod(", cages: 2", ", parallel: 2", CABLE, ""),
        pod("", ", parallel: 2", "length: 5m, medium: aoc", ""),
        pod("", ", parallel: 2", CABLE, "releases: { sonic: 202605 }\n"),
        pod("", ", parallel: 2", CABLE, "mtu: { link: 9100 }\n"),
        pod("", ", parallel: 1", CABLE, ""),
    ] {
        let waves = compared_waves(&base, &new, true);
        assert!(!waves.is_empty());
        for wave in &waves {
            assert!(wave.steps.iter().any(|step| step.action != "verify"), "{wave:#?}");
        }
    }
}

#[test]
fn upgrades_are_a_step_of_the_switches_that_they_concern() {
    let (old, new) = (base(), pod("", ", parallel: 2", CABLE, "releases: { sonic: 202605 }\n"));
    let waves = compared_waves(&old, &new, true);
    assert_eq!(waves.len(), 2, "one per plane");
    for wave in &waves {
        let upgrade = |release: &str| {
            format!(
                "install `sonic` {release} on 12 switches, reboot, and write the configuration for it \
                 (assumed: 21 min)"
            )
        };
        let actions: Vec<&str> = wave.steps.iter().map(|step| step.action.as_str()).collect();
        assert_eq!(actions, ["drain", "wait-idle", "upgrade", "verify", "return"]);
        assert_eq!(wave.steps[2].text, upgrade("202605"));
        assert!(wave.back.iter().any(|step| step.text == upgrade("202511")), "{:?}", wave.back);
        assert_eq!(wave.switches.len(), 12);
    }
    let lines = report(&old, &new).changes;
    let line = lines.iter().find(|line| line.subject == "releases").expect("the release changes");
    assert_eq!(line.text, "sonic: 202511 (assumed) -> sonic: 202605");
    assert_eq!(line.warning.as_deref(), Some("24 switches install it and reboot"));
    assert!(rollout_text(&old, &new).contains("plane by plane (T0, T1): switches are upgraded"));
    // The assumed release needs no upgrade. A release of another system upgrades none of these switches.
    for same in ["sonic: 202511", "eos: \"4.36\""] {
        let new = pod("", ", parallel: 2", CABLE, &format!("releases: {{ {same} }}\n"));
        let texts = steps(&self::waves(&old, &new));
        assert!(!texts.iter().any(|text| text.starts_with("install ")), "{same}: {texts:?}");
        let report = report(&old, &new);
        assert!(report.rollout.expect("plans have one").hitless, "{same}");
        assert!(report.changes.iter().all(|line| line.warning.is_none()), "{same}");
    }
}

/// Other changes of upgraded switches are in their new configuration.
#[test]
fn upgraded_switches_get_all_changes_at_once() {
    let more = "mtu: { link: 9100 }\nreleases: { sonic: 202605 }\n";
    let new = pod("", ", parallel: 1", CABLE, more);
    let waves = compared_waves(&base(), &new, true);
    let is_odd = |action: &str| ["add", "change", "reload", "remove"].contains(&action);
    for wave in waves.iter().filter(|wave| wave.plane.is_some()) {
        assert!(!wave.steps.iter().any(|step| is_odd(&step.action)), "{:#?}", wave.steps);
    }
}

#[test]
fn changed_values_add_and_remove_nothing() {
    for more in ["mtu: { link: 9100 }\n", "addresses: { asn_base: 4210000000 }\n"] {
        let (old, new) = (base(), pod("", ", parallel: 2", CABLE, more));
        let texts = steps(&compared_waves(&old, &new, true));
        let is_odd = |text: &&String| text.starts_with("add ports") || text.starts_with("remove obsolete");
        assert_eq!(texts.iter().find(is_odd), None, "{more}");
        assert!(texts.iter().any(|text| text.starts_with("change settings of ")), "{more}: {texts:?}");
    }
}

#[test]
fn a_setting_without_effect_needs_no_wave() {
    let new = pod("", ", parallel: 2", CABLE, "srv6: { block: \"fcbb:aaaa::/32\" }\n");
    assert_eq!(waves(&base(), &new).len(), 0);
}

/// T1s of other zones keep their cables.
#[test]
fn cables_of_one_zone_drain_only_its_switches() {
    let of = |more: &str| {
        plan(&format!(
            "fabric: zb\nplanes: 2\nzones: 3\nrouting: ecmp-static\n\
             hosts: {{ groups: 4, per_group: 8, nics_per_node: 4, rails: 4, nic: {{ speed: 400G, lanes: 4 }} }}\n\
             tiers:\n  t0: {{ platform: th5-128x400g, os: sonic, down: {{ breakout: 4x200G }}, up: 4 }}\n\
             \x20 t1: {{ platform: th5-128x400g, os: sonic, up: 4 }}\n\
             \x20 t2: {{ platform: th5-128x400g, os: sonic, ports_per_zone: 8 }}\n{more}qos: none\n"
        ))
    };
    let waves = waves(&of(""), &of("cables: { by_zone: { 2: { length: 2km, medium: fr4 } } }\n"));
    let drained: Vec<&String> = waves.iter().flat_map(|wave| &wave.drained).collect();
    assert!(drained.iter().any(|name| name.starts_with("z2-p0-t1-")), "{drained:?}");
    let is_other = |name: &&&String| name.starts_with("z0-") || name.starts_with("z1-");
    assert_eq!(drained.iter().find(is_other), None);
}

#[test]
fn fewer_parallel_cables_remove_nothing() {
    let text = rollout_text(&base(), &pod("", ", parallel: 1", CABLE, ""));
    assert!(!text.contains("drain removed elements"), "{text}");
}

/// The first wave takes the paths of the isolated cable, and the last one takes no more.
#[test]
fn the_last_wave_does_not_take_paths_again() {
    let of = |more: &str| {
        plan(&format!(
            "fabric: base\nplanes: 2\nhosts: {{ groups: 8, per_group: 16, nic: {{ speed: 800G, lanes: 8 }} }}\n\
             tiers:\n  t0: {{ platform: th5-128x400g, os: sonic, up: 8 }}\n  t1: {{ platform: th5-128x400g, os: sonic }}\n\
             qos: none\n{more}"
        ))
    };
    let waves = waves(&of(""), &of("exceptions: { isolated: [p0-t0-001--p0-t1-001] }\n"));
    let [first, last] = waves.as_slice() else { panic!("{waves:?}") };
    assert!(first.text.contains("without `p0-t0-001--p0-t1-001`"), "{}", first.text);
    assert_eq!(last.text, "no traffic impact");
}

#[test]
fn values_without_text_are_named() {
    let lines = report(&base(), &pod("", ", parallel: 2", CABLE, "description: other\n")).changes;
    assert_eq!(lines[0].text, "none -> other");
    let none = plan(
        "fabric: base\nplanes: 2\nhosts: { groups: 8, per_group: 16, nic: { speed: 800G, lanes: 8 } }\n\
         tiers:\n  t0: { platform: th5-128x400g, os: sonic, up: 8 }\n  t1: { platform: th5-128x400g, os: sonic }\n\
         qos: none\n",
    );
    let text = none.topology().qos.name().to_string();
    let lossy = pod("", "", CABLE, "");
    let lines = report(&none, &lossy).changes;
    let qos: Vec<_> = lines.iter().filter(|line| line.subject.starts_with("qos")).collect();
    let expected = format!("profile {text} -> sonic-ai-lossy-th5: {} values differ", qos.len() - 1);
    assert_eq!((qos[0].subject.as_str(), qos[0].text.as_str()), ("qos", expected.as_str()));
    assert!(qos.iter().all(|line| !line.text.is_empty() && line.subject != "qos.name"));
}
