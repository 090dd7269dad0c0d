//! Export, import, export: cables, ports, names, lengths and media stay the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use closc_artefacts::Routing;
use closc_cabling::list::{Form, LabelPattern};
use closc_import::{ExistingNetwork, HardwareOptions, ImportError, ImportResult, Options, import, read};
use closc_plan::Plan;
use closc_platform::{Catalogue, Os};
use closc_tests::exceptions::shapes_with_exceptions;
use closc_tests::shape::{Shape, T2, plan, try_plan};
use proptest::prelude::*;
use proptest::sample::Index;

fn label() -> LabelPattern {
    LabelPattern::DEFAULT.parse().expect("the default is a valid pattern")
}

/// Returns the cable lists of all planes.
fn lists(plan: &Plan) -> Vec<String> {
    plan.planes().map(|plane| Form::PointToPoint.render(plan, plane, &label())).collect()
}

fn rows(plan: &Plan) -> BTreeSet<String> {
    lists(plan).iter().flat_map(|list| list.lines().skip(1)).map(str::to_owned).collect()
}

fn import_tables(tables: &[String]) -> Result<ImportResult, ImportError> {
    let mut network = ExistingNetwork::default();
    for (number, table) in tables.iter().enumerate() {
        read::file(&mut network, &format!("plane-{number}.csv"), table);
    }
    let options = Options { name: "shape".to_owned(), ..Options::default() };
    import(&network.finish()?, &options, &Catalogue::builtin(), &mut |text| try_plan(text))
}

/// Imports the lists of a fabric, and expects the same lists from the result.
fn comes_back(before: &Plan) {
    comes_back_of(before, "");
}

/// Like [`comes_back`], with the text of the fabric file for failure messages.
fn comes_back_of(before: &Plan, text: &str) {
    if rows(before).is_empty() {
        return;
    }
    // Without T2s, zones are separate fabrics, and names in a two-tier file do not contain a zone.
    let is_zoned = before.switches().next().is_some_and(|switch| before.switch_name(switch).starts_with('z'));
    let is_joined = before.topology().hosts.zones_per_node > 1;
    if is_zoned && !is_joined && !rows(before).iter().any(|row| row.contains(",t1-t2,")) {
        return;
    }
    let found = match import_tables(&lists(before)) {
        Ok(found) => found,
        // Some shapes have too few devices left for a Clos network.
        Err(refused) if refused.to_string().contains("expected nodes, T0s and T1s") => return,
        Err(refused) => panic!("{refused}\n{text}"),
    };
    assert_eq!(found.findings, Vec::<String>::new(), "{text}\n{}", found.text);
    assert!(found.renamed.is_empty(), "{:?}", found.renamed);
    for key in ["srv6:", "nic_by_zone:", "qos:"] {
        let line = found.text.lines().find(|line| line.trim_start().starts_with(key));
        assert!(line.is_none_or(|line| line.contains("assumed")), "{key} {}", found.text);
    }
    let after = plan(&found.text);
    let (before, after) = (rows(before), rows(&after));
    let lost: Vec<_> = before.difference(&after).take(5).collect();
    let new: Vec<_> = after.difference(&before).take(5).collect();
    assert!(lost.is_empty() && new.is_empty(), "{text}\n{}\nlost {lost:#?}\nnew {new:#?}", found.text);
}

/// Returns whether at least one pair of devices still has all its parallel cables. If every pair lacks one,
/// the import finds one fewer per pair.
fn shows_parallel(shape: &Shape, plan: &Plan) -> bool {
    let most = |class: &str| {
        let mut pairs = BTreeMap::<(String, String), u16>::new();
        for list in lists(plan) {
            let mut lines = list.lines().map(|line| line.split(',').collect::<Vec<_>>());
            let header = lines.next().expect("a list has a header");
            let column =
                |name: &str| header.iter().position(|cell| *cell == name).expect("a column of the list");
            let (kind, a, b) = (column("kind"), column("a_device"), column("b_device"));
            for row in lines.filter(|row| row[kind] == class) {
                *pairs.entry((row[a].to_owned(), row[b].to_owned())).or_default() += 1;
            }
        }
        pairs.into_values().max()
    };
    let is_whole = |class: &str, parallel: u16| most(class).is_none_or(|most| most == parallel);
    is_whole("t0-t1", shape.parallel) && shape.t2.as_ref().is_none_or(|t2| is_whole("t1-t2", t2.parallel))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn uneven_fabrics_come_back(shape in shapes_with_exceptions()) {
        let plan = shape.plan();
        if shows_parallel(&shape, &plan) {
            comes_back(&plan);
        }
    }
}

/// Parameters of a fabric. `cages` are the first cages of T0 downlinks, T0 uplinks and T1 downlinks.
#[derive(Debug, Clone)]
struct Placement {
    platform: Index,
    os: Index,
    split: Index,
    groups: u16,
    per_group: u16,
    up: u16,
    cages: [Index; 3],
}

fn placement() -> impl Strategy<Value = Placement> {
    let picks = (any::<Index>(), any::<Index>(), any::<Index>());
    (picks, 2..5_u16, 1..7_u16, 1..5_u16, any::<[Index; 3]>()).prop_map(
        |((platform, os, split), groups, per_group, up, cages)| Placement {
            platform,
            os,
            split,
            groups,
            per_group,
            up,
            cages,
        },
    )
}

/// Builds the fabric with the first routing mode that its operating system supports; `None` if the panel has
/// too few ports.
fn build_fabric(of: &Placement) -> Option<(String, Plan)> {
    let catalogue = Catalogue::builtin();
    // Derived platforms can have the same ports as others, so they are recognised only if they are named.
    let platforms: Vec<_> = catalogue.usual().collect();
    let platform = of.platform.get(&platforms);
    let os: Os = *of.os.get(&platform.oses);
    let panel = &platform.panel;
    let split = of.split.get(&panel.breakouts);
    let cages = |count: u16| count.div_ceil(u16::from(split.ports));
    let first = |index: &Index, from: u16, count: u16| {
        let last = panel.cages.checked_sub(cages(count)).filter(|last| *last >= from)?;
        Some(from + index.index(usize::from(last - from) + 1) as u16)
    };
    let down = first(&of.cages[0], 0, of.per_group)?;
    let up = first(&of.cages[1], down + cages(of.per_group), of.up)?;
    let below = first(&of.cages[2], 0, of.groups)?;
    let Placement { groups, per_group, up: count, .. } = of;
    let (id, nic) = (&platform.id, u64::from(split.speed.mbps()) * 2 / 1000);
    let hardware = format!("platform: {id}, os: {}", os.keyword());
    let text = |routing: &str| {
        format!(
            "fabric: shape\nplanes: 2\nrouting: {routing}\nhosts: {{ groups: {groups}, per_group: {per_group}, \
             nic: {{ speed: {nic}G, lanes: 2 }} }}\ntiers:\n  \
             t0: {{ {hardware}, down: {{ count: {per_group}, breakout: {split}, first_cage: {down} }}, \
             up: {{ count: {count}, breakout: {split}, first_cage: {up} }} }}\n  \
             t1: {{ {hardware}, down: {{ breakout: {split}, first_cage: {below} }} }}\nqos: none\n"
        )
    };
    let all = ["srv6-static", "ecmp-static", "bgp-unnumbered"].map(text);
    all.into_iter().find_map(|text| try_plan(&text).ok().map(|plan| (text, plan)))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64, failure_persistence: None, max_global_rejects: 4096, ..ProptestConfig::default()
    })]

    #[test]
    fn any_placement_comes_back(of in placement()) {
        let found = build_fabric(&of);
        prop_assume!(found.is_some());
        let (text, plan) = found.expect("it is there");
        comes_back_of(&plan, &text);
    }
}

#[test]
fn rows_of_t2s_come_back() {
    for (t1, steps, rows, parallel) in [(2, 2, true, 1), (3, 1, true, 2), (3, 2, false, 2), (1, 3, true, 1)] {
        let t2 = Some(T2 { zones: 3, steps, parallel, rows: if rows { 8 } else { 0 }, node_zones: 1 });
        comes_back(&Shape { t1, t2, ..Shape::SMALL }.plan());
    }
}

/// Zones that are not connected by T2s or nodes are rejected, with the reason.
#[test]
fn separate_zones_are_refused() {
    let t2 = Some(T2 { zones: 2, steps: 1, parallel: 1, rows: 0, node_zones: 1 });
    let before = Shape { t2, ..Shape::SMALL }.plan();
    let without = |list: &String| {
        let rows: Vec<&str> = list.lines().filter(|line| !line.contains(",t1-t2,")).collect();
        rows.join("\n") + "\n"
    };
    let tables: Vec<String> = lists(&before).iter().map(without).collect();
    let refused = import_tables(&tables).expect_err("two fabrics").to_string();
    assert!(refused.contains("2 zones that neither a T2 nor a node connects"), "{refused}");
}

/// Networks without T1s: rail-only, dual-plane, and a single switch.
#[test]
fn one_tier_comes_back() {
    for (planes, groups, per_group, rails) in
        [(1, 1, 4, 1), (1, 8, 4, 8), (2, 2, 4, 2), (2, 6, 3, 2), (4, 3, 2, 1)]
    {
        let shape = Shape { planes, groups, per_group, rails, t1: 0, ..Shape::SMALL };
        let before = shape.plan();
        let found = import_tables(&lists(&before)).unwrap_or_else(|refused| panic!("{refused}"));
        let note = "no list has a cable between switches, so the file has one tier of T0s";
        assert!(found.notes.iter().any(|found| found == note), "{:#?}", found.notes);
        assert!(!found.text.contains("  t1:") && !found.text.contains(" up:"), "{}", found.text);
        comes_back(&before);
    }
}

/// A rail-only network with site-specific names, in which each NIC of a node is on a separate switch.
#[test]
fn rails_of_others_are_found() {
    let mut text = "a_device,a_port,b_device,b_port\n".to_owned();
    for unit in 0..2 {
        for (node, rail) in (0..3).flat_map(|node| (0..4).map(move |rail| (node, rail))) {
            let (number, own) = (unit * 3 + node + 1, unit * 4 + rail + 1);
            writeln!(text, "gpu-{number},mlx{rail},leaf-{own},eth{}", node + 1).unwrap();
        }
    }
    let found = import_tables(&[text]).unwrap_or_else(|refused| panic!("{refused}"));
    assert_eq!((found.placed, found.findings), (24, Vec::new()), "{}", found.text);
    for line in ["planes: 1\n", "  groups: 8\n", "  per_group: 3\n", "  nics_per_node: 4", "  rails: 4"] {
        assert!(found.text.contains(line), "{line} {}", found.text);
    }
    let note = "one plane is assumed, because cables alone do not show planes";
    assert!(found.notes.iter().any(|found| found.ends_with(note)), "{:#?}", found.notes);
}

/// The column `a_cage` of NIC rows becomes `hosts.nic.cages`.
#[test]
fn cages_of_nics_come_back() {
    for (planes, cages) in [(4, 2), (4, 4), (8, 2), (2, 1)] {
        let text = Shape { planes, ..Shape::SMALL }.yaml();
        let text =
            text.replace(&format!("lanes: {planes} }}"), &format!("lanes: {planes}, cages: {cages} }}"));
        let before = plan(&text);
        let found = import_tables(&lists(&before)).unwrap_or_else(|refused| panic!("{refused}"));
        assert_eq!(plan(&found.text).topology().hosts.nic_cages, cages, "{}", found.text);
        assert_eq!(found.text.contains("cages:"), cages > 1, "{}", found.text);
        comes_back(&before);
    }
    // Cages in an order other than that of planes are noted. Lists without a column for parts also have
    // cages.
    let swap = |cell: &str| match cell {
        "nic0p0" | "nic0p2" => "1",
        _ => "2",
    };
    let before = plan(&Shape { planes: 4, ..Shape::SMALL }.yaml());
    let list = |cage: &dyn Fn(&str) -> &'static str| -> Vec<String> {
        let row = |row: &String| {
            let cells: Vec<&str> = row.split(',').collect();
            let cage = if cells[1] == "nic-t0" { cage(cells[3]) } else { "" };
            [&cells[2..4], &[cage], &cells[8..10]].concat().join(",")
        };
        let rows: Vec<String> = rows(&before).iter().map(row).collect();
        vec![format!("a_device,a_port,a_cage,b_device,b_port\n{}\n", rows.join("\n"))]
    };
    let found = import_tables(&list(&swap)).unwrap_or_else(|refused| panic!("{refused}"));
    assert!(!found.text.contains("cages:"), "{}", found.text);
    assert!(
        found
            .notes
            .iter()
            .any(|note| note.starts_with("`hosts.nic.cages` is omitted: in the lists, cages of 4 NICs ")),
        "{:#?}",
        found.notes
    );
    let found = import_tables(&list(&|port| if port < "nic0p2" { "1" } else { "2" }));
    let found = found.unwrap_or_else(|refused| panic!("{refused}"));
    assert!(found.text.contains("cages: 2 }"), "{}", found.text);
}

/// Many planes need other widths of uSID fields, which the lists do not contain.
#[test]
fn widths_of_segments_are_marked_as_assumed() {
    let text = "fabric: wide\nplanes: 16\nrouting: srv6-static\n\
                hosts: { groups: 2, per_group: 4, nic: { speed: 1600G, lanes: 16 } }\n\
                tiers:\n  t0: { platform: th5-512x100g, os: sonic, up: 4 }\n  t1: { platform: th5-512x100g, os: sonic }\n\
                srv6: { widths: { role: 2, plane: 4, zone: 0, index: 10 } }\nqos: none\n";
    let before = try_plan(text).expect("it is a fabric");
    let found = import_tables(&lists(&before)).unwrap_or_else(|refused| panic!("{refused}"));
    let line = found.text.lines().find(|line| line.starts_with("srv6:"));
    assert!(line.is_some_and(|line| line.ends_with("  # assumed")), "{}", found.text);
    comes_back(&before);
}

/// Returns a fabric with a port order. A stage is given by T0 groups, T1s, and parallel cables between each
/// T0 and T1.
fn port_order_fabric(own: (u16, u16, u16), order: &[(u16, u16, u16)]) -> String {
    let (groups, t1, parallel) = own;
    let shape = Shape { groups, t1, parallel, ..Shape::SMALL };
    let entry = |(groups, t1, parallel): &(u16, u16, u16)| {
        format!("{{ groups: {groups}, up: {}, parallel: {parallel} }}", t1 * parallel)
    };
    let order: Vec<String> = order.iter().map(entry).collect();
    let up = format!("up: {}, parallel: {parallel}", t1 * parallel);
    let text = shape.yaml();
    assert!(text.contains(&up), "{text}");
    text.replace(&up, &format!("{up}, port_order: [{}]", order.join(", ")))
}

/// Networks that have grown once or twice, and one that is wired for later stages.
#[test]
fn port_orders_come_back() {
    let stages = [(2, 2, 4), (4, 4, 2), (8, 8, 1)];
    let orders: [(_, &[_]); 4] = [
        (stages[1], &stages[..1]),
        (stages[2], &stages[..2]),
        (stages[0], &stages[1..2]),
        (stages[1], &stages[2..]),
    ];
    for (own, order) in orders {
        let text = port_order_fabric(own, order);
        comes_back_of(&plan(&text), &text);
        let found = import_tables(&lists(&plan(&text))).expect("a fabric");
        assert!(found.text.contains("port_order: ["), "{}", found.text);
    }
}

/// A swapped cable in a grown network is a finding, and the other cables keep their order.
#[test]
fn a_swapped_cable_of_a_grown_network_is_found() {
    let before = plan(&port_order_fabric((4, 4, 2), &[(2, 2, 4)]));
    let swapped = lists(&before).into_iter().map(|list| {
        let mut rows: Vec<Vec<String>> =
            list.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
        let at = |key: &str| rows[0].iter().position(|cell| cell == key).expect("a column");
        let cable = at("cable");
        let end = ["b_device", "b_port", "b_cage", "b_part", "b_speed", "b_label"].map(at);
        let row = |name: &str| rows.iter().position(|row| row[cable] == name);
        if let (Some(first), Some(second)) = (row("p0-t0-001--p0-t1-001"), row("p0-t0-002--p0-t1-002")) {
            for column in end {
                let cell = rows[first][column].clone();
                rows[first][column] = std::mem::replace(&mut rows[second][column], cell);
            }
        }
        rows.iter().map(|row| row.join(",") + "\n").collect::<String>()
    });
    let found = import_tables(&swapped.collect::<Vec<_>>()).expect("a fabric");
    assert!(found.text.contains("port_order: [{ groups: 2, up: 8, parallel: 4 }]"), "{}", found.text);
    assert_eq!(found.placed + 2, found.cables, "{:?}", found.findings);
    assert!(!found.findings.is_empty());
}

/// Planes by NIC are zones that are connected only by nodes. If switch names are not in closc's form, such
/// planes are recognised from node ports.
#[test]
fn planes_by_nic_come_back() {
    let before = plan(
        "fabric: shape\nplanes: 1\nzones: 4\nrouting: ecmp-static\n\
         hosts: { groups: 4, per_group: 16, nics_per_node: 4, rails: 4, zones_per_node: 4, nic: { speed: 400G, lanes: 8 } }\n\
         tiers:\n  t0: { platform: th4-64x400g, os: sonic, up: 16, parallel: 8 }\n  t1: { platform: th4-64x400g, os: sonic }\n\
         cables: { nic-t0: { length: 3m, medium: dac }, t0-t1: { length: 30m, medium: dr4 } }\nqos: lossless\n",
    );
    comes_back(&before);
    let t2 = Some(T2 { zones: 2, steps: 0, parallel: 1, rows: 0, node_zones: 2 });
    comes_back(&Shape { planes: 1, rails: 2, t2, ..Shape::SMALL }.plan());
    // Sixteen T0s and eight T1s in four parts, which are connected only by nodes.
    let mut other = lists(&before);
    for zone in 0..4 {
        for (from, to) in [("t0", "leaf"), ("t1", "spine")] {
            let (from, to) = (format!("z{zone}-p0-{from}-"), format!("{to}{zone}x"));
            other = other.iter().map(|list| list.replace(&from, &to)).collect();
        }
    }
    other = other.iter().map(|list| list.replace("z0-su", "node-")).collect();
    let found = import_tables(&other).expect("a Clos");
    assert_eq!(
        (found.findings.as_slice(), found.absent, found.placed),
        (&[][..], 0, 256 + 4 * 64),
        "{}",
        found.text
    );
    assert!(found.text.contains("zones: 4") && found.text.contains("zones_per_node: 4"), "{}", found.text);
}

/// If a list does not contain the cages of NICs, one cage is assumed, and a note states this.
#[test]
fn cages_that_no_list_contains_are_noted() {
    let note = |tables: &[String]| {
        let found = import_tables(tables).expect("a Clos");
        let note = found.notes.iter().find(|note| note.starts_with("assumed")).cloned();
        (note.unwrap_or_default(), found.text)
    };
    let plan = plan(&Shape { planes: 4, ..Shape::SMALL }.yaml().replace(" lanes: 4", " lanes: 4, cages: 2"));
    assert_eq!(plan.topology().hosts.nic_cages, 2);
    let (known, text) = note(&lists(&plan));
    assert!(text.contains("cages: 2") && !known.contains("cage"), "{known}\n{text}");
    let bare = |list: &String| -> String {
        let fields = |line: &str| -> Vec<String> { line.split(',').map(str::to_owned).collect() };
        let columns = ["a_device", "a_port", "b_device", "b_port"];
        let head = fields(list.lines().next().expect("a header"));
        let places: Vec<usize> =
            columns.iter().filter_map(|own| head.iter().position(|title| title == own)).collect();
        let row =
            |line: &str| places.iter().map(|at| fields(line)[*at].clone()).collect::<Vec<_>>().join(",");
        list.lines().map(|line| row(line) + "\n").collect()
    };
    let (assumed, text) = note(&lists(&plan).iter().map(bare).collect::<Vec<_>>());
    assert!(assumed.contains("1 cage of a NIC"), "{assumed}");
    assert!(text.contains("lanes and cages assumed"), "{text}");
}

/// With platforms that the port names suggest, right cables can be too long. A network is not refused for that reason if
/// other platforms have other lanes.
#[test]
fn cables_are_not_blamed_for_assumed_platforms() {
    let plan = plan(include_str!("../../../../topologies/examples/planes-by-nic.yaml"));
    let mut table = "a_device,a_port,b_device,b_port,length,medium\n".to_owned();
    for link in plan.fabric().links() {
        let (ends, cable) = (plan.cable_ends(link), plan.fabric().cable(link));
        let (lower, upper) = (ends.lower, ends.upper);
        let _ = writeln!(
            table,
            "{},{},{},{},{},{}",
            lower.0, lower.1, upper.0, upper.1, cable.length, cable.medium
        );
    }
    let import_as = |routing| {
        let mut network = ExistingNetwork::default();
        read::file(&mut network, "cables.csv", &table);
        let hardware = HardwareOptions { routing: Some(routing), ..HardwareOptions::default() };
        let options = Options { name: "shape".to_owned(), hardware, ..Options::default() };
        import(&network.finish()?, &options, &Catalogue::builtin(), &mut |text| try_plan(text))
    };
    assert_eq!(import_as(Routing::EcmpStatic).expect("it is one").findings, Vec::<String>::new());
    let refused = import_as(Routing::Srv6Static).expect_err("segments need a T2 tier").to_string();
    assert!(refused.contains("E0311") && !refused.contains("E0602"), "{refused}");
}

/// Zones beyond the default width of addresses and segments come back, with wider fields.
#[test]
fn many_zones_come_back() {
    let text = "fabric: shape\nplanes: 1\nzones: 24\nrouting: ecmp-static\naddresses: { widths: { zone: 5 } }\n\
                hosts: { groups: 2, per_group: 4, nics_per_node: 4, rails: 2, nic: { speed: 400G } }\n\
                tiers:\n  t0: { platform: th5-128x400g, os: sonic, up: 4 }\n  t1: { platform: th5-128x400g, os: sonic, up: 2 }\n\
                \x20 t2: { platform: th5-128x400g, os: sonic, ports_per_zone: 4 }\nqos: none\n";
    let before = plan(text);
    comes_back(&before);
    let import_as = |routing| {
        let mut network = ExistingNetwork::default();
        read::file(&mut network, "plane-0.csv", &lists(&before)[0]);
        let hardware = HardwareOptions { routing: Some(routing), ..HardwareOptions::default() };
        let options = Options { name: "shape".to_owned(), hardware, ..Options::default() };
        let found = import(&network.finish()?, &options, &Catalogue::builtin(), &mut |text| try_plan(text));
        found.map(|found| found.text)
    };
    for routing in [Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered] {
        let text = import_as(routing).unwrap_or_else(|refused: ImportError| panic!("{routing:?}: {refused}"));
        assert!(text.contains("addresses: { widths: { zone: 5 } }  # assumed\n"), "{text}");
        assert_eq!(text.contains("zone: 5, index: "), routing == Routing::Srv6Static, "{text}");
    }
}

/// Ports of both sides in one cage are refused for that reason, with or without `--platform`.
#[test]
fn shared_cages_are_refused_by_name() {
    let text = "fabric: shape\nplanes: 1\nrouting: ecmp-static\n\
                hosts: { groups: 4, per_group: 16, nic: { speed: 400G, lanes: 2 } }\n\
                tiers:\n  t0:\n    platform: spectrum6-sn6600\n    os: sonic\n    down: { breakout: 2x400G(4) }\n\
                \x20   up: { count: 8, breakout: 1x800G(4), cages: [0-7] }\n  t1: { platform: spectrum6-sn6600, os: sonic }\n\
                cables:\n  nic-t0: { length: 30m, medium: dr }\n  t0-t1: { length: 50m, medium: dr }\nqos: none\n";
    let list = &lists(&plan(text))[0];
    let import_with = |list: &str, platforms: &[(&str, &str)]| {
        let mut network = ExistingNetwork::default();
        read::file(&mut network, "plane-0.csv", list);
        let platforms = platforms.iter().map(|(tier, id)| ((*tier).to_owned(), (*id).to_owned())).collect();
        let hardware = HardwareOptions { platforms, ..HardwareOptions::default() };
        let options = Options { name: "shape".to_owned(), hardware, ..Options::default() };
        import(&network.finish()?, &options, &Catalogue::builtin(), &mut |text| try_plan(text))
    };
    for platforms in [&[] as &[_], &[("t0", "spectrum6-sn6600"), ("t1", "spectrum6-sn6600")]] {
        let refused = import_with(list, platforms).expect_err("cages are shared").to_string();
        assert!(refused.contains("cage 1 of `p0-t0-001` has both downlinks and uplinks"), "{refused}");
    }
    // Without the columns of cages, the port names are the reason, and not the speeds of a guessed platform.
    let bare = list.replace("a_cage", "x_cage").replace("b_cage", "y_cage");
    let refused = import_with(&bare, &[]).expect_err("no platform has these ports").to_string();
    assert!(refused.contains("no platform has the ports of a T0 such as `Ethernet"), "{refused}");
}
