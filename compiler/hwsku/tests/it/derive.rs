//! Entries derived from the files of small, invented boxes.

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

/// A port: N of `EthernetN`, first lane, number of lanes, alias, index, Mb/s.
type Port = (u16, u16, u16, String, u16, u32);

/// Derives the entry of a box with these hwskus.
fn derived(skus: &[(&str, Vec<Port>)], platform_json: Option<String>) -> Result<String, String> {
    derived_with(skus, platform_json, &[])
}

/// As [`derived`], with additional files.
fn derived_with(
    skus: &[(&str, Vec<Port>)],
    platform_json: Option<String>,
    more: &[(&str, &str)],
) -> Result<String, String> {
    derived_of(skus, platform_json, more, None)
}

/// As [`derived`], with an NVIDIA ASIC.
fn derived_of(
    skus: &[(&str, Vec<Port>)],
    platform_json: Option<String>,
    more: &[(&str, &str)],
    spectrum: Option<&str>,
) -> Result<String, String> {
    let (tree, switch) = boxed(skus, platform_json, more);
    let origin = Origin { source: "a test", since: &BTreeMap::new(), platform_since: None, spectrum };
    switch.derive(&tree, &origin, &mut BTreeSet::new()).map(|mut derived| derived.remove(0).text)
}

/// Returns a box with these hwskus.
fn boxed(skus: &[(&str, Vec<Port>)], platform_json: Option<String>, more: &[(&str, &str)]) -> (Tree, Switch) {
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
    (tree, switch)
}

/// Returns one 800G port per cage, with the given numbers on the panel and in the aliases.
fn complete(index: impl Fn(u16) -> u16, alias: impl Fn(u16) -> String) -> Vec<Port> {
    (0..32).map(|at| (at * 8, at * 8, 8, alias(at), index(at), 800_000)).collect()
}

#[test]
fn aliases_are_counted_from_the_first_cage() {
    let text = derived(&[("O32", complete(|at| at, |at| format!("Eth{}", at + 1)))], None).unwrap();
    assert!(text.contains("whole: \"Eth{position}\""), "{text}");
    assert!(text.contains("numbers: { first: 0, step: 1 }"), "{text}");
    // The pattern prefers the number on the panel.
    let text = derived(&[("O32", complete(|at| at + 1, |at| format!("Eth{}", at + 1)))], None).unwrap();
    assert!(text.contains("whole: \"Eth{cage}\""), "{text}");
}

/// A 100G port on half of the lanes has the alias of the cage, which does not fit the pattern of parts.
#[test]
fn a_narrow_port_has_the_alias_of_its_cage() {
    let narrow = (0..32).map(|at| (at * 8, at * 8, 4, format!("Eth{}", at + 1), at, 100_000)).collect();
    let skus = [("O32", complete(|at| at, |at| format!("Eth{}", at + 1))), ("C32", narrow)];
    let text = derived(&skus, None).unwrap();
    assert!(text.contains("{ breakouts: [1x100G(4)], hwsku: C32 }"), "{text}");
    assert!(text.contains("whole: \"Eth{position}\", split: \"Ethernet{name}\""), "{text}");
}

/// Returns the ports of a box with ports in every other cage: all of them, and all except the first.
fn halves() -> (String, Vec<Port>, Vec<Port>) {
    let mode = |at: u16| {
        let lanes: Vec<String> = (at * 8..at * 8 + 8).map(|lane| lane.to_string()).collect();
        let (number, index) = (at * 8, vec![(at + 1).to_string(); 8].join(","));
        format!(
            "\"Ethernet{number}\": {{ \"index\": \"{index}\", \"lanes\": \"{}\", \
             \"breakout_modes\": {{ \"1x800G\": [\"etp{cage}\"], \"2x400G\": [\"etp{cage}a\", \"etp{cage}b\"] }} }}",
            lanes.join(","),
            cage = at + 1
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
    (json, intact, torn)
}

/// NVIDIA's SN5610N has hwskus with ports in every other cage. One entry has all cages, the other only those of the
/// hwskus. A hwsku with a missing row does not hide the pattern.
#[test]
fn every_other_cage() {
    let (json, intact, torn) = halves();
    let half = |at: u16, part: u16| {
        let lane = at * 16 + part * 4;
        (lane, lane, 4, format!("etp{}{}", at * 2 + 1, ['a', 'b'][usize::from(part)]), at * 2 + 1, 400_000)
    };
    let halves = (0..16).flat_map(|at| (0..2).map(move |part| half(at, part))).collect();
    let (tree, switch) = boxed(&[("B", intact), ("A", torn), ("C", halves)], Some(json), &[]);
    let origin = Origin { source: "a test", since: &BTreeMap::new(), platform_since: None, spectrum: None };
    let found = switch.derive(&tree, &origin, &mut BTreeSet::new()).unwrap();
    let [all, half] = &found[..] else { panic!("two entries") };
    assert_eq!([&*all.id, &*half.id], ["own-box", "own-box-128x100g"]);
    assert!(all.text.contains("cages: 32\n") && all.text.contains("B, 32 ports of 800G\n"), "{}", all.text);
    assert!(all.text.contains("hwsku: B, cages: { 8x100G: \"0, 2, 4, 6, 8,"), "{}", all.text);
    assert!(half.text.contains("cages: 16\n") && half.text.contains("step: 2"), "{}", half.text);
    assert!(
        half.text.contains("hwsku: B }") && half.text.contains("[1x800G, 2x400G, 8x100G]"),
        "{}",
        half.text
    );
}

/// SN5610N-C256S2 on 202605 and master: the line of Ethernet0 in port_config.ini is joined to the header.
#[test]
fn a_port_that_a_release_lost_is_that_of_an_older_one() {
    let (json, intact, torn) = halves();
    let (_, older) = boxed(&[("A", intact.clone())], Some(json.clone()), &[]);
    let (tree, mut newest) = boxed(&[("A", torn)], Some(json), &[]);
    assert_eq!(newest.ports("A").unwrap().len(), 127);
    newest.restore_ports(&older);
    assert_eq!(newest.ports("A"), older.ports("A"));
    let since = BTreeMap::new();
    let origin =
        Origin { source: "a test", since: &since, platform_since: None, spectrum: Some("SPECTRUM-4") };
    let found = newest.derive(&tree, &origin, &mut BTreeSet::new()).unwrap();
    assert_eq!(found.len(), 1, "no source has ports of 100G in the other cages");
    assert_eq!(
        found[0].notes,
        ["note on hwsku A: a cage lacks a port, so the ports of an older release are used"]
    );
}

/// The fastest breakout is offered only if every cage is known to support it. A slower breakout of some cages is
/// offered for all. Two slow cages of the only hwsku are service ports.
#[test]
fn cages_of_two_speeds() {
    let ports = |slow: u16| -> Vec<Port> {
        let mbps = |at| if at < slow { 400_000 } else { 100_000 };
        (0..66).map(|at| (at * 4, at * 4, 4, format!("etp{}", at + 1), at + 1, mbps(at))).collect()
    };
    let text = derived(&[("O64C2", ports(64))], None).unwrap();
    assert!(text.contains("  cages: 64\n") && text.contains("breakouts: [1x400G]"), "{text}");
    assert!(derived(&[("O60C6", ports(60))], None).is_err());
    let text = derived(&[("O66", ports(66)), ("O64C2", ports(64))], None).unwrap();
    assert!(text.contains("breakouts: [1x400G, 1x100G]") && text.contains("hwsku: O64C2"), "{text}");
}

/// Each hwsku has its own number of ECMP group members.
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

/// SONiC's `platform_asic` contains the maker of the ASIC.
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

/// NVIDIA publishes no SDK file. SONiC's SRv6 tests run on Spectrum-4 and later.
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

/// Reads a box with these files, given by their paths in its folder.
fn read(files: &[(&str, &str)]) -> (Tree, Switch) {
    let tree = Tree(files.iter().map(|(path, text)| (format!("d/{path}"), (*text).to_owned())).collect());
    let switch = Switch::read(&tree, "d".to_owned(), "x86_64-own_box-r0".to_owned());
    (tree, switch)
}

/// Returns the entry, or the reason why there is none.
fn entry(files: &[(&str, &str)]) -> Result<(String, Vec<String>), String> {
    let (tree, switch) = read(files);
    let origin = Origin { source: "a test", since: &BTreeMap::new(), platform_since: None, spectrum: None };
    switch.derive(&tree, &origin, &mut BTreeSet::new()).map(|mut derived| {
        let first = derived.remove(0);
        (first.text, first.notes)
    })
}

/// Returns 32 ports of 400G below a header line. The third port has a comma after its lanes, as on the Delta AGC032.
fn table(header: &str, row: impl Fn(u16, &str) -> String) -> String {
    let mut text = format!("# {header}\n");
    for at in 0..32_u16 {
        let lanes: Vec<String> = (at * 8 + 1..at * 8 + 9).map(|lane| lane.to_string()).collect();
        let _ = writeln!(text, "{}", row(at, &(lanes.join(",") + if at == 2 { "," } else { "" })));
    }
    text
}

/// A line with a different syntax must not reduce the bandwidth of the box below the limit of `cargo xtask platforms`.
#[test]
fn every_port_of_a_table_is_read() {
    let text = table("name lanes alias index speed", |at, lanes| {
        format!("Ethernet{} {lanes} etp{} {} 400000", at * 8, at + 1, at + 1)
    });
    let (_, switch) = read(&[("C32/port_config.ini", &text)]);
    assert_eq!((switch.mbps(), switch.unread("C32")), (Some(12_800_000), None));
    let (text, _) = entry(&[("C32/port_config.ini", &text)]).unwrap();
    assert!(text.contains("cages: 32\n") && text.contains("serial_lanes: { from: 1 }"), "{text}");
}

/// The files of Marvell's db98cx8580 for ARM lack cage numbers. Those of other boxes lack speeds, so their bandwidth is
/// unknown.
#[test]
fn tables_without_a_column_are_named() {
    let no_index = table("name lanes alias speed", |at, lanes| {
        format!("Ethernet{} {lanes} four00GigE{} 400000", at * 8, at * 8)
    });
    let (_, switch) = read(&[("F32/port_config.ini", &no_index)]);
    assert_eq!(switch.mbps(), Some(12_800_000));
    let reason = entry(&[("F32/port_config.ini", &no_index)]).unwrap_err();
    assert_eq!(reason, "hwsku F32: port_config.ini has no `index` of Ethernet0");
    let no_speed = table("name lanes alias index", |at, lanes| {
        format!("Ethernet{} {lanes} etp{} {}", at * 8, at + 1, at + 1)
    });
    let (_, switch) = read(&[("C64/port_config.ini", &no_speed)]);
    assert_eq!((switch.mbps(), switch.has_hwskus()), (None, true));
    let reason = entry(&[("C64/port_config.ini", &no_speed)]).unwrap_err();
    assert_eq!(reason, "hwsku C64: port_config.ini has no `speed` of Ethernet0");
    let (_, switch) = read(&[("plugins/eeprom.py", "")]);
    assert!(!switch.has_hwskus() && switch.mbps().is_none());
}

/// Hwskus with several ASICs have a folder of ports for each ASIC.
#[test]
fn hwskus_of_several_asics_are_named() {
    let text = table("name lanes alias index speed", |at, lanes| {
        format!("Ethernet{} {lanes} etp{} {} 400000", at * 8, at + 1, at + 1)
    });
    let files = [("X/0/port_config.ini", &*text), ("X/1/port_config.ini", &text)];
    assert_eq!(read(&files).1.mbps(), Some(25_600_000));
    assert_eq!(entry(&files).unwrap_err(), "hwsku X: 2 ASICs, but closc supports one per switch");
}

/// Returns a `platform.json` of 32 cages with these lanes and modes.
fn platform(lanes: impl Fn(u16) -> String, modes: &str) -> String {
    let cage = |at: u16| {
        let index = vec![(at + 1).to_string(); 8].join(",");
        let modes = modes.replace('N', &(at + 1).to_string());
        let lanes = lanes(at);
        format!(
            "\"Ethernet{}\": {{ \"index\": \"{index}\", \"lanes\": \"{lanes}\", \"breakout_modes\": {{ {modes} }} }}",
            at * 8
        )
    };
    format!("{{ \"interfaces\": {{ {} }} }}", (0..32).map(cage).collect::<Vec<_>>().join(", "))
}

fn own_lanes(at: u16) -> String {
    (at * 8..at * 8 + 8).map(|lane| lane.to_string()).collect::<Vec<_>>().join(",")
}

/// Returns a `hwsku.json` with this mode in each cage, and with ports that `platform.json` lacks.
fn modes(mode: &str) -> String {
    let cage = |at: u16| format!("\"Ethernet{}\": {{ \"default_brkout_mode\": \"{mode}\" }}", at * 4);
    format!("{{ \"interfaces\": {{ {} }} }}", (0..64).map(cage).collect::<Vec<_>>().join(", "))
}

/// SONiC compares the ports, speeds and lanes of modes, not their text. UfiSpace's S9311-64D has `1x400G(8)`.
#[test]
fn modes_are_equal_by_their_values() {
    let json = platform(own_lanes, r#""1x400G(8)": ["etpN"], "2x200G[100G](8)": ["etpNa", "etpNb"]"#);
    let of = |mode: &str| entry(&[("platform.json", &json), ("O32/hwsku.json", &modes(mode))]);
    let (text, _) = of("1x400G").unwrap();
    assert!(text.contains("breakouts: [1x400G, 2x200G, 2x100G]"), "{text}");
    assert!(text.contains("default: 1x400G\n"), "{text}");
    let (text, _) = of("2x200G[100G]").unwrap();
    assert!(text.contains("default: 2x200G\n"), "{text}");
    // A speed without a unit is in Mb/s, so ports of `1x1000[100,10]` are known, but slow.
    let slow = platform(own_lanes, r#""1x1000[100,10]": ["etpN"]"#);
    let (_, switch) = read(&[("platform.json", &slow), ("G32/hwsku.json", &modes("1x1000[100,10]"))]);
    assert_eq!(switch.mbps(), Some(32_000));
    // A mode with a different list of speeds is a different mode. SONiC does not fall back to `port_config.ini`.
    for mode in ["2x200G", "1x400G(4)", "4x100G", ""] {
        let ini = "# name lanes alias index speed\nEthernet0 0,1,2,3,4,5,6,7 etp1 1 400000\n";
        let files =
            [("platform.json", &*json), ("O32/hwsku.json", &modes(mode)), ("O32/port_config.ini", ini)];
        let reason = entry(&files).unwrap_err();
        assert!(reason.starts_with("hwsku O32: ") && reason.contains(&format!("`{mode}`")), "{reason}");
    }
}

/// Each lane of the S9311-64D is listed twice: eight numbers for four lanes.
#[test]
fn lanes_that_are_listed_twice_are_named() {
    let twice = |at: u16| (0..8).map(|place| (at * 4 + place / 2).to_string()).collect::<Vec<_>>().join(",");
    let json = platform(twice, r#""1x400G(8)": ["etpN"]"#);
    let reason = entry(&[("platform.json", &json), ("O32/hwsku.json", &modes("1x400G"))]).unwrap_err();
    assert_eq!(reason, "Ethernet0 has lane 0 twice; expected each lane once per port");
}

/// Each hwsku that an entry does not describe is reported.
#[test]
fn hwskus_that_are_omitted_are_named() {
    let json =
        platform(own_lanes, r#""1x400G": ["etpN"], "1x200G(4)+2x100G(4)": ["etpNa", "etpNb", "etpNc"]"#);
    let files = [
        ("platform.json", &*json),
        ("O32/hwsku.json", &modes("1x400G")),
        ("X/hwsku.json", &modes("1x200G(4)+2x100G(4)")),
        ("Y/hwsku.json", &modes("8x50G")),
    ];
    let (_, notes) = entry(&files).unwrap();
    assert_eq!(notes.len(), 2, "{notes:#?}");
    assert!(notes.contains(&"hwsku X: it has cages with ports of several kinds".to_owned()), "{notes:#?}");
    let lacks = "hwsku Y: platform.json lacks mode `8x50G` of Ethernet0, so SONiC rejects its own hwsku";
    assert!(notes.contains(&lacks.to_owned()), "{notes:#?}");
}

/// A hwsku that splits its cages in two ways is listed with the cages of each.
#[test]
fn a_hwsku_is_listed_with_the_cages_of_each_split() {
    let part = |at: u16, width: u16, part: u16| {
        let letter = char::from(b'a' + part as u8);
        let lane = at * 8 + part * width;
        (lane, lane, width, format!("etp{}{letter}", at + 1), at + 1, u32::from(width) * 100_000)
    };
    let cage = |at: u16| if at < 28 { (1, 8) } else { (4, 2) };
    let ports = (0..32).flat_map(|at| (0..cage(at).1).map(move |own| part(at, cage(at).0, own))).collect();
    let json = platform(own_lanes, r#""2x400G": ["etpNa", "etpNb"]"#);
    let text = derived(&[("C224O8", ports)], Some(json)).unwrap();
    assert!(text.contains("    - { breakouts: [8x100G, 2x400G], hwsku: C224O8, cages: {"), "{text}");
    assert!(text.contains("cages: { 8x100G: \"0-27\", 2x400G: \"28-31\" } }"), "{text}");
}

/// The Delta AGC032 has a Broadcom SDK file, but its `platform_asic` is Marvell's.
#[test]
fn an_asic_of_two_makers_is_not_stated() {
    let text = table("name lanes alias index speed", |at, lanes| {
        format!("Ethernet{} {lanes} etp{} {} 400000", at * 8, at + 1, at + 1)
    });
    let own = [("C32/port_config.ini", &*text), ("platform_asic", "marvell-teralynx\n")];
    assert!(entry(&own).unwrap().0.contains("  asic: marvell\n"));
    let (text, notes) = entry(&[own[0], own[1], ("C32/th3.config.bcm", "a=1\n")]).unwrap();
    assert!(!text.contains("asic:"), "{text}");
    assert_eq!(notes, ["platform_asic names marvell, but hwsku C32 has a Broadcom SDK file"]);
}

/// On NVIDIA's SN4280, four ports of the ASIC lead to DPUs in the box. They count towards the bandwidth, but are not
/// cages.
#[test]
fn internal_ports_are_not_cages() {
    let json = platform(own_lanes, r#""1x400G": ["etpN"]"#);
    let cage = |at: u16| {
        let role = if at < 28 { "\"autoneg\": \"off\"" } else { "\"role\": \"Dpc\", \"autoneg\": \"on\"" };
        format!("\"Ethernet{}\": {{ \"default_brkout_mode\": \"1x400G\", {role} }}", at * 8)
    };
    let hwsku = format!("{{ \"interfaces\": {{ {} }} }}", (0..32).map(cage).collect::<Vec<_>>().join(", "));
    let (_, switch) = read(&[("platform.json", &json), ("O28/hwsku.json", &hwsku)]);
    assert_eq!((switch.mbps(), switch.ports("O28").unwrap().len()), (Some(12_800_000), 28));
    let (text, _) = entry(&[("platform.json", &json), ("O28/hwsku.json", &hwsku)]).unwrap();
    assert!(text.contains("O28, 28 ports of 400G") && text.contains("cages: 28\n"), "{text}");
    for (role, cages) in [("Ext", 32), ("Dpc", 31), ("Int", 31), ("Inb", 31), ("Rec", 31)] {
        let text = table("name lanes alias index role speed", |at, lanes| {
            let role = if at == 31 { role } else { "Ext" };
            format!("Ethernet{} {lanes} etp{} {} {role} 400000", at * 8, at + 1, at + 1)
        });
        let (_, switch) = read(&[("C32/port_config.ini", &text)]);
        assert_eq!((switch.mbps(), switch.ports("C32").unwrap().len()), (Some(12_800_000), cages), "{role}");
    }
}

/// If the hwskus of a box set `autoneg`, the entry states it for each port. So do the entries of all NVIDIA boxes.
#[test]
fn negotiation_is_stated_as_in_hwskus() {
    let rows = |autoneg: &'static str| {
        table("name lanes alias index speed autoneg", move |at, lanes| {
            format!("Ethernet{} {lanes} etp{} {} 400000 {autoneg}", at * 8, at + 1, at + 1)
        })
    };
    let of = |autoneg, asic| {
        let (text, _) = entry(&[("C32/port_config.ini", &rows(autoneg)), ("platform_asic", asic)]).unwrap();
        text.contains("  states_autoneg: true\n")
    };
    assert_eq!([of("off", "broadcom"), of("", "broadcom"), of("", "mellanox")], [true, false, true]);
}

/// Modes also list speeds that need fewer lanes than the port has. Breakouts with lanes of 12.5G or 20G do not exist.
#[test]
fn splits_have_lanes_of_ethernet() {
    let modes = r#""1x400G[200G,100G,50G,40G,25G]": ["etpN"], "4x100G[50G,40G,25G]": ["etpNa", "etpNb", "etpNc", "etpNd"],
                   "2x200G[100G,50G,40G]": ["etpNa", "etpNb"], "1x100G(4)": ["etpN"]"#;
    let json = platform(own_lanes, modes);
    let hwsku = self::modes("1x400G[200G,100G,50G,40G,25G]");
    let (text, _) = entry(&[("platform.json", &json), ("O32/hwsku.json", &hwsku)]).unwrap();
    assert!(text.contains("breakouts: [1x400G, 2x200G, 4x100G, 1x200G, 2x100G, 4x50G, 2x40G]\n"), "{text}");
}

/// Tomahawk 4 supports four ports per eight lanes, although `platform.json` splits a cage into eight.
#[test]
fn an_asic_has_fewer_ports_than_lanes() {
    let letters = (b'a'..=b'h').map(|letter| format!("\"etpN{}\"", char::from(letter))).collect::<Vec<_>>();
    let json = platform(own_lanes, &format!("\"1x400G\": [\"etpN\"], \"8x50G\": [{}]", letters.join(", ")));
    let hwsku = modes("1x400G");
    let of = |id: &str| {
        let devices = format!("- bus: 0a\n  dev: '00'\n  id: {id}\n  name: a switch\n");
        let files = [("platform.json", &*json), ("O32/hwsku.json", &hwsku), ("pcie.yaml", &devices)];
        entry(&files).unwrap().0
    };
    assert!(of("b993").contains("logical_ports: { max: 128, source: { published: "), "{}", of("b993"));
    assert!(!of("b990").contains("logical_ports"), "256 ports are all that 32 cages have");
    assert!(!of("1234").contains("logical_ports"));
    assert!(!of("f910").contains("logical_ports"), "256 ports are all that 32 cages have");
}

/// The ports of a hwsku in 32 cages of eight lanes: `parts` ports with `width` listed lanes.
fn ports_of(parts: u16, width: u16, mbps: u32, number: impl Fn(u16, u16) -> u16) -> Vec<Port> {
    let port = |at: u16, part: u16| {
        let lane = at * 8 + part * (8 / parts);
        (number(at, part), lane, width, format!("QSFP{}/{}", at + 1, part + 1), at + 1, mbps)
    };
    (0..32).flat_map(|at| (0..parts).map(move |part| (at, part))).map(|(at, part)| port(at, part)).collect()
}

/// Silverstone-128x100 of Celestica numbers its ports without gaps, so another entry describes it.
#[test]
fn a_hwsku_with_other_names_has_its_own_entry() {
    let whole = complete(|at| at + 1, |at| format!("QSFP{}", at + 1));
    let whole = whole.into_iter().map(|mut port| {
        port.5 = 400_000;
        port
    });
    let skus = [("O32", whole.collect()), ("C128", ports_of(4, 2, 100_000, |at, part| at * 4 + part))];
    let json =
        platform(own_lanes, r#""1x400G": ["QSFPN"], "4x100G": ["QSFPNa", "QSFPNb", "QSFPNc", "QSFPNd"]"#);
    let (tree, switch) = boxed(&skus, Some(json), &[]);
    let origin = Origin { source: "a test", since: &BTreeMap::new(), platform_since: None, spectrum: None };
    let found = switch.derive(&tree, &origin, &mut BTreeSet::new()).unwrap();
    let [usual, other] = &found[..] else { panic!("two entries") };
    assert_eq!([&*usual.id, &*other.id], ["own-box", "own-box-128x100g"]);
    assert!(other.text.contains("  lanes_per_number: 2\n"), "{}", other.text);
    assert!(other.text.contains("split: \"QSFP{cage}/{part}\""), "{}", other.text);
    assert!(usual.notes.is_empty() && other.notes.is_empty(), "{:?} {:?}", usual.notes, other.notes);
}

/// ET-C032IF of Delta: SONiC lists the first four lanes of ports of 400G, which have eight lanes of 50G.
#[test]
fn ports_whose_lanes_are_listed_in_part() {
    let skus = [
        ("O32", ports_of(1, 4, 400_000, |at, _| at * 8)),
        ("V64", ports_of(2, 4, 200_000, |at, part| at * 8 + part * 4)),
        ("V32", ports_of(1, 4, 200_000, |at, _| at * 8)),
    ];
    let (tree, switch) = boxed(&skus, None, &[]);
    let origin = Origin { source: "a test", since: &BTreeMap::new(), platform_since: None, spectrum: None };
    let found = switch.derive(&tree, &origin, &mut BTreeSet::new()).unwrap();
    let [entry] = &found[..] else { panic!("one entry") };
    assert!(entry.text.contains("O32, 32 ports of 400G\n"), "{}", entry.text);
    assert!(entry.text.contains("lane_speed: 50G\n  breakouts: [1x400G, 2x200G]\n"), "{}", entry.text);
    assert!(entry.text.contains("  listed_lanes: 4\n"), "{}", entry.text);
    // 200G on the same four lanes leaves the other lanes unused.
    assert!(entry.text.contains("  partial: [1x200G(4)]\n"), "{}", entry.text);
    assert!(entry.text.contains("{ breakouts: [1x200G(4)], hwsku: V32 }"), "{}", entry.text);
    assert!(entry.notes.is_empty(), "{:?}", entry.notes);
}

/// Wistron's boxes have hwskus of 100G on four of eight lanes. A single port has the alias of its cage.
#[test]
fn cages_with_unused_lanes() {
    let four = r#"["ethN-1", "ethN-2", "ethN-3", "ethN-4"]"#;
    let modes = format!(
        r#""1x400G": ["ethN"], "4x100G": {four}, "1x100G(4)": ["ethN"], "4x25G(4)": {four}, "1x50G(2)": ["otherN"]"#
    );
    let json = platform(own_lanes, &modes);
    let of = |mode: &dyn Fn(u16) -> &'static str| {
        let cage =
            |at: u16| format!("\"Ethernet{}\": {{ \"default_brkout_mode\": \"{}\" }}", at * 8, mode(at));
        format!("{{ \"interfaces\": {{ {} }} }}", (0..32).map(cage).collect::<Vec<_>>().join(", "))
    };
    let files = [
        ("default_sku", "O32 t1\n"),
        ("platform.json", &*json),
        ("O32/hwsku.json", &of(&|_| "1x400G")),
        ("C32/hwsku.json", &of(&|_| "1x100G(4)")),
        ("O24C8/hwsku.json", &of(&|at| if at < 24 { "1x400G" } else { "1x100G(4)" })),
    ];
    let (text, notes) = entry(&files).unwrap();
    assert!(text.contains("  breakouts: [1x400G, 4x100G]\n  partial: [1x100G(4), 4x25G(4)]\n"), "{text}");
    assert!(text.contains("{ breakouts: [1x100G(4)], hwsku: C32 }"), "{text}");
    let mixed = "hwsku: O24C8, cages: { 1x400G: \"0-23\", 1x100G(4): \"24-31\" } }";
    assert!(text.contains(mixed), "{text}");
    assert!(notes.is_empty(), "{notes:?}");
}

/// The service ports of Nexthop's NH-5010 have as many lanes as the others, and a quarter of their speed.
#[test]
fn slow_cages_are_service_ports() {
    let mut ports = complete(|at| at + 1, |at| format!("etp{}", at + 1));
    ports.iter_mut().skip(30).for_each(|port| port.5 = 200_000);
    let text = derived(&[("O30", ports)], None).unwrap();
    assert!(text.contains("  cages: 30\n") && text.contains("  breakouts: [1x800G]\n"), "{text}");
}

/// SONiC lists the service ports of Accton's AS9726-32D on lanes of port 31.
#[test]
fn service_ports_on_lanes_of_another_port() {
    let mut ports = complete(|at| at + 1, |at| format!("fourHundredGigE{}", at + 1));
    ports.push((300, 30 * 8, 1, "tenGigE33".to_owned(), 33, 10_000));
    ports.push((301, 30 * 8 + 1, 1, "tenGigE34".to_owned(), 34, 10_000));
    let (tree, switch) = boxed(&[("O32", ports)], None, &[]);
    let origin = Origin { source: "a test", since: &BTreeMap::new(), platform_since: None, spectrum: None };
    let found = switch.derive(&tree, &origin, &mut BTreeSet::new()).unwrap();
    assert!(found[0].text.contains("whole: \"fourHundredGigE{cage}\""), "{}", found[0].text);
    assert_eq!(found[0].notes, ["note on hwsku O32: ports on lanes of faster ports are ignored: 2"]);
}

/// SONiC gives lanes of Tencent's TCS9400 to two ports of the same speed.
#[test]
fn lanes_of_two_ports_are_named() {
    let ports = (0..32).map(|at| (at, at * 2 + 81, 4, format!("Eth{}", at + 1), at + 1, 400_000)).collect();
    let reason = derived(&[("C32", ports)], None).unwrap_err();
    assert_eq!(reason, "hwsku C32: lane 83 belongs to Ethernet0 and Ethernet1");
}

/// The hwskus of Celestica's Midstone number their cages from 0 and from 1. Those with more bandwidth take
/// precedence. A hwsku that lists only a part of its lanes does not get an entry of its own.
#[test]
fn numbers_that_contradict_each_other() {
    let of = |first: u16, mbps: u32| -> Vec<Port> {
        (0..64).map(|at| (at * 4, at * 4, 4, format!("Ethernet{}", at * 4), at + first, mbps)).collect()
    };
    let every_other = (0..32).map(|at| (at * 8, at * 8, 4, format!("Ethernet{}", at * 8), at * 2, 400_000));
    let skus = [("C64", of(1, 100_000)), ("V64", of(0, 200_000)), ("O32", every_other.collect())];
    let (tree, switch) = boxed(&skus, None, &[]);
    let origin = Origin { source: "a test", since: &BTreeMap::new(), platform_since: None, spectrum: None };
    let found = switch.derive(&tree, &origin, &mut BTreeSet::new()).unwrap();
    let [entry] = &found[..] else { panic!("one entry") };
    assert!(entry.text.contains("hwsku: V64") && entry.text.contains("first: 0"), "{}", entry.text);
    let names: Vec<&str> = entry.notes.iter().map(|note| note.split(':').next().unwrap()).collect();
    assert_eq!(names, ["hwsku O32", "hwsku C64"], "{:?}", entry.notes);
}

/// Eight ports of NVIDIA's SN6810 have the number of one optical engine.
#[test]
fn ports_with_the_same_number() {
    let ports = complete(|at| at / 8 + 1, |at| format!("etp{}", at + 1));
    let cage = |at: u16| {
        let lanes = own_lanes(at);
        let index = vec![(at / 8 + 1).to_string(); 8].join(",");
        format!(
            "\"Ethernet{}\": {{ \"index\": \"{index}\", \"lanes\": \"{lanes}\", \
             \"breakout_modes\": {{ \"1x800G\": [\"etp{}\"] }} }}",
            at * 8,
            at + 1
        )
    };
    let json = format!("{{ \"interfaces\": {{ {} }} }}", (0..32).map(cage).collect::<Vec<_>>().join(", "));
    let text = derived(&[("P32", ports)], Some(json)).unwrap();
    assert!(text.contains("  numbers: { first: 1, step: 1, cages: 8 }\n"), "{text}");
    assert!(text.contains("whole: \"etp{position}\""), "{text}");
}
