//! Copper cables: their reach, and auto-negotiation at both ends, which depends on files and releases. Also tests port
//! names and lanes of the hardware.

use camino::Utf8Path;
use closc_artefacts::Memory;
use closc_platform::{Catalogue, Hardware};
use closc_tests::shape;
use closc_verify::{Options, verify};

use crate::common;

/// Compiles a plane of two T0s and two T1s, with copper cables between them.
fn fabric(t0: &str, t1: &str, rest: &str) -> Memory {
    over("dac", t0, t1, rest)
}

/// As [`fabric`], with a given medium between the switches.
fn over(medium: &str, t0: &str, t1: &str, rest: &str) -> Memory {
    let box_of = |os: &str| if os == "eos" { "th5-64x800g" } else { "spectrum4-sn5600" };
    let yaml = format!(
        "fabric: copper\nplanes: 1\nrouting: ecmp-static\nqos: none\n\
         hosts: {{ groups: 2, per_group: 2, nic: {{ speed: 800G, lanes: 8 }}, outputs: [networkd], \
         slots: [{{ pci: \"0000:18:00.0\" }}] }}\n\
         tiers:\n  t0: {{ platform: {}, os: {t0}, up: 2 }}\n  t1: {{ platform: {}, os: {t1} }}\n\
         cables: {{ nic-t0: {{ length: 2m, medium: dac }}, t0-t1: {{ length: 2m, medium: {medium} }} }}\n{rest}",
        box_of(t0),
        box_of(t1)
    );
    common::tree(&shape::plan(&yaml))
}

/// Replaces text in a file, wherever it occurs.
fn edit(mut tree: Memory, file: &str, from: &str, to: &str) -> Memory {
    let bytes = tree.files.get_mut(Utf8Path::new(file)).expect("the file is in the tree");
    let text = String::from_utf8(std::mem::take(bytes)).expect("it is text");
    assert!(text.contains(from), "{text}");
    *bytes = text.replace(from, to).into_bytes();
    common::sign(&mut tree, "copper", "ecmp-static");
    tree
}

/// Returns the violations, each with its rule, place and message.
fn violations(tree: &Memory) -> Vec<String> {
    let report =
        verify(tree, &Options { digests: false, ..Options::default() }).expect("the tree can be read");
    let shown = report.violations.iter().map(|found| {
        let places: Vec<String> = found.others.iter().map(ToString::to_string).collect();
        format!("{} {} {}: {}", found.rule.code, found.place, places.join(" "), found.message)
    });
    shown.collect()
}

#[track_caller]
fn disagree(tree: &Memory, code: &str, words: &[&str]) {
    let found = violations(tree);
    assert!(!found.is_empty(), "the ends agree");
    assert!(found.iter().any(|found| found.starts_with(code)), "{found:#?}");
    assert!(words.iter().all(|word| found.iter().any(|found| found.contains(word))), "{found:#?}");
}

const T0: &str = "switches/p0-t0-001/";
const T1: &str = "switches/p0-t1-001/";

#[test]
fn systems_and_releases_decide() {
    for (t0, t1, rest) in [
        ("nvue", "nvue", ""),
        ("sonic", "sonic", ""),
        ("eos", "eos", ""),
        ("nvue", "sonic", "releases: { nvue: \"5.13\" }\n"),
    ] {
        assert_eq!(violations(&fabric(t0, t1, rest)), Vec::<String>::new(), "{t0} {t1} {rest}");
    }
    let cable = ["cables/plane-0.csv", "switches/p0-t0-001/nvue.yaml", "switches/p0-t1-001/config_db.json"];
    for release in ["5.14", "5.16"] {
        let rest = format!("releases: {{ nvue: \"{release}\" }}\n");
        disagree(&fabric("nvue", "sonic", &rest), "V0302", &cable);
    }
    disagree(&fabric("sonic", "nvue", ""), "V0302", &["negotiates", "forces the speed"]);
}

#[test]
fn settings_of_ports_decide_first() {
    let sonic = format!("{T1}config_db.json");
    let on = |tree, file: &str| edit(tree, file, "\"autoneg\": \"off\"", "\"autoneg\": \"on\"");
    let mut tree = fabric("nvue", "sonic", "");
    for number in [1, 2] {
        tree = on(tree, &format!("switches/p0-t1-00{number}/config_db.json"));
    }
    assert_eq!(violations(&tree), Vec::<String>::new());
    disagree(&on(fabric("sonic", "sonic", ""), &sonic), "V0302", &[&sonic]);
    // The driver of NVIDIA's switches negotiates, unless a port disables negotiation.
    let unstated = edit(fabric("sonic", "sonic", ""), &sonic, "\"autoneg\": \"off\", ", "");
    disagree(&unstated, "V0302", &[&sonic, "negotiates", "forces the speed"]);
    let nvue = format!("{T0}nvue.yaml");
    let off = edit(
        fabric("nvue", "nvue", ""),
        &nvue,
        "        link:\n",
        "        link:\n          auto-negotiate: off\n",
    );
    disagree(&off, "V0302", &[&nvue]);
    let eos = format!("{T1}eos.conf");
    disagree(
        &edit(fabric("eos", "eos", ""), &eos, "   speed 800g-8", "   speed auto 800g-8"),
        "V0302",
        &[&eos],
    );
}

#[test]
fn nics_do_what_their_switch_does() {
    const LINK: &str = "hosts/su001-n001/networkd/50-closc-nic0p0.link";
    let forced = || fabric("sonic", "sonic", "");
    for (from, to) in [
        ("AutoNegotiation=no", "AutoNegotiation=yes"),
        ("AutoNegotiation=no\n", ""),
        ("BitsPerSecond=800G", "BitsPerSecond=400G"),
        ("BitsPerSecond=800G\n", ""),
    ] {
        disagree(&edit(forced(), LINK, from, to), "V1304", &[LINK, "cables/plane-0.csv"]);
    }
    assert_eq!(violations(&edit(forced(), LINK, "=800G", "=800000M")), Vec::<String>::new());
    let negotiated = || fabric("nvue", "nvue", "");
    disagree(&edit(negotiated(), LINK, "AutoNegotiation=yes", "AutoNegotiation=off"), "V1304", &[LINK]);
    assert_eq!(violations(&edit(negotiated(), LINK, "AutoNegotiation=yes\n", "")), Vec::<String>::new());
}

/// The cable list and the manifest agree, so only the standard reveals the fault.
#[test]
fn copper_is_no_longer_than_its_lanes_carry() {
    let tree = edit(fabric("sonic", "sonic", ""), "cables/plane-0.csv", "2m,dac", "3m,dac");
    let tree = edit(tree, "manifest.json", "\"meters\": 2,", "\"meters\": 3,");
    disagree(&tree, "V0", &["3 m of `dac`, which reaches at most 2 m with lanes of 100G"]);
}

/// The lanes of two ports are exchanged on every switch, so a comparison of switches finds no difference.
#[test]
fn ports_are_those_of_the_hardware() {
    let catalogue = Catalogue::builtin();
    let options =
        || Options { digests: false, hardware: Hardware::by_hwsku(catalogue.iter()), ..Options::default() };
    let absent = |tree: &Memory| -> Vec<String> {
        let report = verify(tree, &options()).expect("the tree can be read");
        let messages = report.violations.iter().map(|found| found.message.clone());
        messages.filter(|message| message.contains("the hardware has no port")).collect()
    };
    let mut tree = fabric("sonic", "sonic", "");
    assert_eq!(absent(&tree), Vec::<String>::new());
    for switch in ["p0-t0-001", "p0-t0-002", "p0-t1-001", "p0-t1-002"] {
        let file = format!("switches/{switch}/config_db.json");
        let [own, other] = ["\"0,1,2,3,4,5,6,7\"", "\"8,9,10,11,12,13,14,15\""];
        for (from, to) in [(own, "\"other\""), (other, own), ("\"other\"", other)] {
            tree = edit(tree, &file, from, to);
        }
    }
    assert_eq!(absent(&tree).len(), 8, "{:#?}", absent(&tree));
}

/// A port has the same wrong name on every switch, with its lanes and alias, so a comparison of switches finds no
/// difference.
#[test]
fn names_of_ports_are_those_of_the_hardware() {
    let catalogue = Catalogue::builtin();
    let mut tree = fabric("sonic", "sonic", "");
    for switch in ["p0-t0-001", "p0-t0-002", "p0-t1-001", "p0-t1-002"] {
        let file = format!("switches/{switch}/config_db.json");
        for end in ['"', '|'] {
            tree = edit(tree, &file, &format!("Ethernet0{end}"), &format!("Ethernet3{end}"));
        }
    }
    let hardware = Hardware::by_hwsku(catalogue.iter());
    let options = Options { digests: false, hardware, ..Options::default() };
    let report = verify(&tree, &options).expect("the tree can be read");
    let messages: Vec<&String> = report.violations.iter().map(|found| &found.message).collect();
    let absent = |message: &&&String| message.contains("the hardware has no port `Ethernet3`");
    assert_eq!(messages.iter().filter(absent).count(), 4, "{messages:#?}");
}

/// Every port between switches negotiates, so the ends of each cable agree.
#[test]
fn ports_over_optics_do_not_negotiate() {
    let mut tree = over("dr8", "sonic", "sonic", "");
    assert_eq!(violations(&tree), Vec::<String>::new());
    for switch in ["p0-t0-001", "p0-t0-002", "p0-t1-001", "p0-t1-002"] {
        let file = format!("switches/{switch}/config_db.json");
        tree = edit(tree, &file, "\"autoneg\": \"off\"", "\"autoneg\": \"on\"");
    }
    disagree(&tree, "V0302", &["negotiates, which optical cables do not support"]);
}
