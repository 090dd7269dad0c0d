//! Entries from the files of small boxes that are invented here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use closc_hwsku::{Files, Origin, Switch};

/// Files by path.
struct Tree(BTreeMap<String, String>);

impl Files for Tree {
    fn text(&self, path: &str) -> Option<String> {
        self.0.get(path).cloned()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let below = self.0.keys().filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
        let mut names: Vec<String> =
            below.filter_map(|path| path.split('/').next()).map(str::to_owned).collect();
        names.dedup();
        names
    }
}

/// A port: N of `EthernetN`, first lane, lanes, alias, index, Mb/s.
type Port = (u16, u16, u16, String, u16, u32);

/// Derives the entry of a box with these hwskus.
fn derived(skus: &[(&str, Vec<Port>)], platform_json: Option<String>) -> Result<String, String> {
    derived_with(skus, platform_json, &[])
}

/// The same with more files.
fn derived_with(
    skus: &[(&str, Vec<Port>)],
    platform_json: Option<String>,
    more: &[(&str, &str)],
) -> Result<String, String> {
    derived_of(skus, platform_json, more, None)
}

/// The same with an ASIC of NVIDIA.
fn derived_of(
    skus: &[(&str, Vec<Port>)],
    platform_json: Option<String>,
    more: &[(&str, &str)],
    spectrum: Option<&str>,
) -> Result<String, String> {
    let mut files = BTreeMap::from([("d/default_sku".to_owned(), format!("{} t1\n", skus[0].0))]);
    files.extend(platform_json.map(|text| ("d/platform.json".to_owned(), text)));
    files.extend(more.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    for (sku, ports) in skus {
        let mut text = "# name lanes alias index speed\n".to_owned();
        for (name, first, width, alias, index, mbps) in ports {
            let lanes: Vec<String> = (*first..first + width).map(|lane| lane.to_string()).collect();
            let _ = writeln!(text, "Ethernet{name} {} {alias} {index} {mbps}", lanes.join(","));
        }
        files.insert(format!("d/{sku}/port_config.ini"), text);
    }
    let tree = Tree(files);
    let switch = Switch::read(&tree, "d".to_owned(), "x86_64-own_box-r0".to_owned());
    let origin = Origin { source: "a test", since: &BTreeMap::new(), spectrum };
    switch.derive(&tree, &origin, &mut BTreeSet::new()).map(|derived| derived.text)
}

/// One port of 800G in each cage, with these numbers on the panel and in the aliases.
fn complete(index: impl Fn(u16) -> u16, alias: impl Fn(u16) -> String) -> Vec<Port> {
    (0..32).map(|at| (at * 8, at * 8, 8, alias(at), index(at), 800_000)).collect()
}

#[test]
fn aliases_are_counted_from_the_first_cage() {
    let text = derived(&[("O32", complete(|at| at, |at| format!("Eth{}", at + 1)))], None).unwrap();
    assert!(text.contains("whole: \"Eth{position}\""), "{text}");
    assert!(text.contains("numbers: { first: 0, step: 1 }"), "{text}");
    // The number on the panel is preferred.
    let text = derived(&[("O32", complete(|at| at + 1, |at| format!("Eth{}", at + 1)))], None).unwrap();
    assert!(text.contains("whole: \"Eth{cage}\""), "{text}");
}

/// The alias of a port of 100G on half of the lanes is that of the cage. It does not fit parts of a cage.
#[test]
fn a_narrow_port_has_no_part_of_a_pattern() {
    let narrow = (0..32).map(|at| (at * 8, at * 8, 4, format!("Eth{}", at + 1), at, 100_000)).collect();
    let skus = [("O32", complete(|at| at, |at| format!("Eth{}", at + 1))), ("C32", narrow)];
    let text = derived(&skus, None).unwrap();
    assert!(text.contains("hwsku: O32") && !text.contains("C32"), "{text}");
}

/// Cages without a port in every hwsku are not on the panel. A hwsku with a missing row does not hide the pattern.
#[test]
fn every_other_cage() {
    let mode = |at: u16| {
        let lanes: Vec<String> = (at * 8..at * 8 + 8).map(|lane| lane.to_string()).collect();
        let (number, index) = (at * 8, vec![(at + 1).to_string(); 8].join(","));
        format!(
            "\"Ethernet{number}\": {{ \"index\": \"{index}\", \"lanes\": \"{}\", \
             \"breakout_modes\": {{ \"1x800G\": [\"etp{}\"] }} }}",
            lanes.join(","),
            at + 1
        )
    };
    let modes: Vec<String> = (0..32).map(mode).collect();
    let json = format!("{{ \"interfaces\": {{ {} }} }}", modes.join(", "));
    let letter = |part: u16| char::from(b'a' + part as u8);
    let eighth = |at: u16, part: u16| {
        (at * 8 + part, at * 8 + part, 1, format!("etp{}{}", at + 1, letter(part)), at + 1, 100_000)
    };
    let intact: Vec<Port> = (0..16).flat_map(|at| (0..8).map(move |part| eighth(at * 2, part))).collect();
    let torn = intact[1..].to_vec();
    let text = derived(&[("A", torn), ("B", intact)], Some(json)).unwrap();
    assert!(text.contains("cages: 16\n") && text.contains("step: 2"), "{text}");
    assert!(text.contains("hwsku: B\n") && text.contains("[1x800G, 8x100G]"), "{text}");
}

/// The fastest split is offered only if every cage is known to take it. A slower one of some cages is offered for all.
#[test]
fn cages_of_two_speeds() {
    let ports = |slow: u16| -> Vec<Port> {
        let mbps = |at| if at < slow { 400_000 } else { 100_000 };
        (0..66).map(|at| (at * 4, at * 4, 4, format!("etp{}", at + 1), at + 1, mbps(at))).collect()
    };
    assert!(derived(&[("O64C2", ports(64))], None).is_err());
    let text = derived(&[("O66", ports(66)), ("O64C2", ports(64))], None).unwrap();
    assert!(text.contains("breakouts: [1x400G, 1x100G]") && text.contains("hwsku: O64C2"), "{text}");
}

/// Members of an ECMP group are those of each hwsku.
#[test]
fn groups_of_two_sizes() {
    let alias = |at: u16| format!("etp{}", at + 1);
    let part = |at: u16, part: u16| {
        let letter = char::from(b'a' + part as u8);
        (at * 8 + part * 4, at * 8 + part * 4, 4, format!("{}{letter}", alias(at)), at + 1, 400_000)
    };
    let halves = (0..32).flat_map(|at| (0..2).map(move |half| part(at, half))).collect();
    let skus = [("P32", complete(|at| at + 1, alias)), ("O64", halves)];
    let profiles = [
        ("d/P32/sai.profile", "SAI_NUM_ECMP_MEMBERS=64\n"),
        ("d/O64/sai.profile", "SAI_NUM_ECMP_MEMBERS=128\n"),
    ];
    let text = derived_with(&skus, None, &profiles).unwrap();
    assert!(text.contains("ecmp_width: 64\n"), "{text}");
    let own = "O64: { ecmp_width: { members: 128, source: { published: \"sai.profile: SAI_NUM_ECMP_MEMBERS=128\" } } }";
    assert!(text.contains(own) && !text.contains("P32: {"), "{text}");
}

/// SONiC's `platform_asic` names the maker of the ASIC.
#[test]
fn makers_of_asics() {
    let skus = [("O32", complete(|at| at + 1, |at| format!("etp{}", at + 1)))];
    for (file, line) in [("broadcom-dnx\n", "  asic: broadcom\n"), ("mellanox", "  asic: nvidia\n")] {
        let text = derived_with(&skus, None, &[("d/platform_asic", file)]).unwrap();
        assert!(text.contains(line), "{file}: {text}");
    }
    let text = derived_with(&skus, None, &[("d/platform_asic", "vs")]).unwrap();
    assert!(!text.contains("asic:"), "{text}");
}

/// NVIDIA publishes no SDK file. SONiC's tests of SRv6 run on Spectrum-4 and later.
#[test]
fn segments_of_a_spectrum_asic() {
    let skus = [("O32", complete(|at| at + 1, |at| format!("etp{}", at + 1)))];
    let of = |spectrum| derived_of(&skus, None, &[], spectrum).unwrap();
    let text = of(Some("SPECTRUM-4"));
    assert!(text.contains("O32: { un: { published: \"asic_table.j2: SPECTRUM-4;"), "{text}");
    assert!(text.contains("my_sids: 256") && text.contains("features: [un, ecn]"), "{text}");
    for spectrum in [Some("SPECTRUM-3"), Some("SPECTRUM-6"), None] {
        let text = of(spectrum);
        assert!(text.contains("my_sids: 0") && text.contains("features: [ecn]"), "{spectrum:?}: {text}");
    }
}
