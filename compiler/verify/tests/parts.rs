//! Proofs of parts, put together: the same verdict and counts as of the whole, and what no part sees is found.

mod common;

use camino::Utf8Path;
use closc_artefacts::{Entry, Files, Manifest, Memory, Routing, paths};
use closc_compile::{Part, Selection, Shard, memory, memory_of};
use closc_plan::Plan;
use closc_tests::exceptions;
use closc_tests::shape::{Shape, T2, plan};
use closc_verify::{
    DeliveryCounts, Judged, MergeError, Options, Report, Summary, VerifyError, merge, verify, verify_part,
};
use proptest::prelude::*;

const ROUTINGS: [Routing; 3] = [Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered];

const THREE_PLANES: Shape = Shape {
    planes: 3,
    groups: 2,
    per_group: 2,
    rails: 1,
    t1: 2,
    parallel: 1,
    t2: None,
    exceptions: String::new(),
};

/// A fabric whose nodes have no files: these are about all planes.
fn planned(shape: &Shape, routing: Routing) -> Plan {
    let os = if routing == Routing::BgpUnnumbered { "os: frr" } else { "os: linux" };
    let text = shape.yaml().replace("  os: linux\n", "").replace("os: linux", os);
    plan(&text.replace("tiers:\n", &format!("routing: {}\ntiers:\n", routing.word())))
}

fn options(judged: Judged) -> Options {
    Options { hardware: common::hardware(), walk_up_to: 0, judged, ..Options::default() }
}

fn shard(index: u32, of: u32) -> Part {
    Part::new(Some(format!("{index}/{of}").parse::<Shard>().unwrap()), Selection::default())
}

/// Summaries of shards of a whole tree.
fn slices(tree: &Memory, of: u32) -> Vec<(String, Summary)> {
    let slice = |index| {
        let (report, summary) = verify_part(tree, &[], &options(Judged::Shard { index, of })).unwrap();
        assert!(report.walk.is_none());
        (format!("{index}/{of}"), Summary::parse(&summary.to_bytes()).unwrap())
    };
    (0..of).map(slice).collect()
}

/// Summaries of trees of parts, each proved beside the others.
fn proved(parts: &[Memory]) -> Vec<(String, Summary)> {
    let prove = |(at, part): (usize, &Memory)| {
        let others = parts.iter().enumerate().filter(|(other, _)| *other != at);
        let beside: Vec<&dyn Files> = others.map(|(_, tree)| tree as &dyn Files).collect();
        (format!("part {at}"), verify_part(part, &beside, &options(Judged::All)).unwrap().1)
    };
    parts.iter().enumerate().map(prove).collect()
}

/// What must be the same: everything but which facts were looked at more than once. Where planes do not have the same NICs,
/// and no table says which there are, parts do not know of NICs that only other planes have: the report says so.
fn same(whole: &Report, merged: &Report, files: bool) {
    assert_eq!((whole.paths, whole.broken), (merged.paths, merged.broken));
    // How much work it was is not stated: destinations that planes tell apart are more in the whole than in a part.
    let load = |report: &Report| report.load.clone().map(|load| (load.cables, load.not_measured));
    assert_eq!(load(whole), load(merged));
    let arrived = |report: &Report| report.delivery.map(|counts| (counts.possible, counts.arrive));
    assert_eq!(arrived(whole), arrived(merged));
    let (mut a, mut b) = (whole.read, merged.read);
    if whole.not_proved == merged.not_proved {
        let counts = |report: &Report| report.delivery.map(|counts| DeliveryCounts { classes: 0, ..counts });
        assert_eq!(counts(whole), counts(merged));
    } else {
        (a.nics, b.nics) = (0, 0);
    }
    if !files {
        (a.files, a.bytes, b.files, b.bytes) = (0, 0, 0, 0);
    }
    assert_eq!(a, b);
    assert_eq!((&whole.fabric, &whole.routing), (&merged.fabric, &merged.routing));
    assert_eq!(whole.not_judged, merged.not_judged);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random fabrics with exceptions, few or many, any routing, any number of shards.
    #[test]
    fn merged_is_the_whole(
        shape in prop_oneof![exceptions::excepted(), exceptions::thinned()],
        routing in 0..3usize,
        of in 1..9u32,
    ) {
        let plan = planned(&shape, ROUTINGS[routing]);
        let tree = memory(&plan).unwrap();
        let whole = verify(&tree, &options(Judged::All)).unwrap();
        prop_assert!(whole.holds(), "{}", whole.text());
        let of = of.min(u32::from(shape.planes));
        let merged = merge(&slices(&tree, of)).unwrap();
        prop_assert!(merged.holds(), "{}", merged.text());
        same(&whole, &merged, true);
        let parts: Vec<Memory> = (0..of).map(|index| memory_of(&plan, shard(index, of)).unwrap()).collect();
        let merged = merge(&proved(&parts)).unwrap();
        prop_assert!(merged.holds(), "{}", merged.text());
        same(&whole, &merged, parts.len() == 1);
    }
}

/// Replaces text in a file of a part, and signs what came of it.
fn damage(part: &mut Memory, path: &str, from: &str, to: &str) {
    let path = Utf8Path::new(path);
    let text = String::from_utf8(part.files[path].clone()).unwrap();
    assert!(text.contains(from), "`{path}` has no `{from}`:\n{text}");
    let bytes = text.replace(from, to).into_bytes();
    let mut manifest = Manifest::read(part).unwrap();
    manifest.files.insert(path.to_owned(), Entry::of(&bytes));
    part.files.insert(path.to_owned(), bytes);
    part.files.insert(paths::MANIFEST.into(), manifest.to_bytes());
}

fn cut(routing: Routing) -> Vec<Memory> {
    let plan = planned(&THREE_PLANES, routing);
    (0..3).map(|index| memory_of(&plan, shard(index, 3)).unwrap()).collect()
}

fn codes(report: &Report) -> Vec<&str> {
    report.violations.iter().map(|violation| violation.rule.code).collect()
}

#[test]
fn damage_in_one_part_is_found_with_its_place() {
    for routing in ROUTINGS {
        let mut parts = cut(routing);
        let file = if routing == Routing::BgpUnnumbered { "frr.conf" } else { "ip.batch" };
        let path = format!("switches/p1-t0-001/{file}");
        let text = String::from_utf8(parts[1].files[Utf8Path::new(&path)].clone()).unwrap();
        let word = if routing == Routing::BgpUnnumbered { " neighbor eth501 " } else { "route replace " };
        let line = text.lines().find(|line| line.starts_with(word) && line.contains("eth501"));
        damage(&mut parts[1], &path, &format!("{}\n", line.expect("an uplink is used")), "");
        let merged = merge(&proved(&parts)).unwrap();
        assert!(!merged.holds());
        let place = format!("part 1: {path}");
        assert!(
            merged.violations.iter().any(|found| found.place.file.as_str().starts_with(&place)),
            "{}",
            merged.text()
        );
    }
}

/// Whatever is consistent inside a plane, and is wrong beside the others.
#[test]
fn damage_that_no_part_sees_is_found() {
    let cases: [(&str, Routing, &str, &str); 3] = [
        ("a loopback of another plane", Routing::Srv6Static, "V0401", "p1-t0-001"),
        ("a router id of another plane", Routing::BgpUnnumbered, "V0401", "p1-t0-001"),
        ("a MAC address of another plane", Routing::EcmpStatic, "V0401", "p1-t0-001"),
    ];
    for (what, routing, code, switch) in cases {
        let mut parts = cut(routing);
        let files: Vec<String> = parts[1]
            .files
            .keys()
            .map(ToString::to_string)
            .filter(|path| path.starts_with("switches/"))
            .collect();
        let (from, to) = match routing {
            Routing::Srv6Static => ("fd00:c105:3::1:0:1/128".to_owned(), "fd00:c105:3::1/128".to_owned()),
            Routing::BgpUnnumbered => ("1.16.0.1".to_owned(), "1.0.0.1".to_owned()),
            Routing::EcmpStatic => ("02:c1:01:00:00:01".to_owned(), "02:c1:00:00:00:01".to_owned()),
        };
        let has = |part: &Memory, path: &str| {
            String::from_utf8_lossy(&part.files[Utf8Path::new(path)]).contains(&from)
        };
        let with: Vec<String> = files.into_iter().filter(|path| has(&parts[1], path)).collect();
        assert!(!with.is_empty(), "{what}: nothing in plane 1 has `{from}`");
        assert!(with.iter().any(|path| path.contains(switch)));
        for path in with {
            damage(&mut parts[1], &path, &from, &to);
        }
        let summaries = proved(&parts);
        let merged = merge(&summaries).unwrap();
        assert!(codes(&merged).contains(&code), "{what}:\n{}", merged.text());
    }
}

/// A NIC that no plane leads to.
#[test]
fn a_nic_without_a_plane_loads_parts_as_the_whole() {
    let exceptions = "exceptions:\n  absent:\n    - su001-n001/nic0.p1\n  drained:\n    - su001-n001/nic0.p0\n  cables: {}\n";
    let shape = Shape { planes: 2, per_group: 4, t1: 1, exceptions: exceptions.to_owned(), ..THREE_PLANES };
    for routing in ROUTINGS {
        let plan = planned(&shape, routing);
        let tree = memory(&plan).unwrap();
        let whole = verify(&tree, &options(Judged::All)).unwrap();
        let parts: Vec<Memory> = (0..2).map(|index| memory_of(&plan, shard(index, 2)).unwrap()).collect();
        same(&whole, &merge(&slices(&tree, 2)).unwrap(), true);
        same(&whole, &merge(&proved(&parts)).unwrap(), false);
    }
}

/// A switch that lost its only cable is judged with the first plane. It shares its number with the others of its own plane and
/// tier, as it may, and with a T0 it may not.
#[test]
fn a_switch_without_cables_is_judged_beside_its_own_plane() {
    let exceptions = "exceptions:\n  absent:\n    - p1-t0-001--p1-t1-002\n  drained: []\n  cables: {}\n";
    let shape =
        Shape { planes: 2, groups: 1, per_group: 1, exceptions: exceptions.to_owned(), ..THREE_PLANES };
    for routing in ROUTINGS {
        let mut tree = memory(&planned(&shape, routing)).unwrap();
        let merged = merge(&slices(&tree, 2)).unwrap();
        assert!(merged.holds(), "{routing:?}:\n{}", merged.text());
        if routing != Routing::BgpUnnumbered {
            continue;
        }
        // Of what is stated of no cable list, the manifest says the plane.
        assert_eq!(Manifest::read(&tree).unwrap().uncabled, [("p1-t1-002".to_owned(), 1)].into());
        let path = |switch| format!("switches/{switch}/frr.conf");
        let number = |tree: &Memory, switch| {
            let text = String::from_utf8(tree.files[Utf8Path::new(&path(switch))].clone()).unwrap();
            text.lines().find_map(|line| line.strip_prefix("router bgp ")).unwrap().to_owned()
        };
        let (own, other) = (number(&tree, "p1-t1-002"), number(&tree, "p1-t0-001"));
        assert_eq!(own, number(&tree, "p1-t1-001"));
        damage(&mut tree, &path("p1-t1-002"), &own, &other);
        assert!(codes(&verify(&tree, &options(Judged::All)).unwrap()).contains(&"V1804"));
        let merged = merge(&slices(&tree, 2)).unwrap();
        assert!(codes(&merged).contains(&"V1804"), "{}", merged.text());
    }
}

/// Where planes have blocks of their own, a switch that no cable list names is in the block of its plane.
#[test]
fn a_switch_without_cables_is_in_the_block_of_its_plane() {
    let exceptions = "exceptions:\n  absent:\n    - p1-t0-001--p1-t1-002\n    - p2-t0-001--p2-t1-[001-002]\n  \
                      drained: []\n  cables: {}\n";
    let shape = Shape { groups: 1, per_group: 1, exceptions: exceptions.to_owned(), ..THREE_PLANES };
    let text = shape.yaml().replace("  os: linux\n", "");
    let widths = text.lines().find(|line| line.starts_with("srv6: ")).unwrap();
    let text = text.replace(widths, "srv6: { plan: plane-in-block, block: fcbb:bbb0::/32 }");
    let mut tree = memory(&plan(&text)).unwrap();
    let whole = verify(&tree, &options(Judged::All)).unwrap();
    assert!(whole.holds(), "{}", whole.text());
    let merged = merge(&slices(&tree, 3)).unwrap();
    assert!(merged.holds(), "{}", merged.text());
    let manifest = Manifest::read(&tree).unwrap();
    let named: Vec<(&str, u8)> =
        manifest.uncabled.iter().map(|(name, plane)| (name.as_str(), *plane)).collect();
    assert_eq!(named, [("p1-t1-002", 1), ("p2-t1-001", 2), ("p2-t1-002", 2)]);
    let path = "switches/p2-t1-002/ip.batch";
    damage(&mut tree, path, "fcbb:bbb2:", "fcbb:bbb1:");
    assert!(codes(&verify(&tree, &options(Judged::All)).unwrap()).contains(&"V0501"));
    let slices = slices(&tree, 3);
    let broken = |(_, part): &(String, Summary)| parse(part)["broken"] != 0;
    assert_eq!(slices.iter().map(broken).collect::<Vec<bool>>(), [false, false, true]);
    assert!(codes(&merge(&slices).unwrap()).contains(&"V0501"));
}

/// As many NICs below a T0 in one plane as in the other, and not the same ones.
#[test]
fn nics_that_lack_different_planes_are_not_compared() {
    let exceptions = "exceptions:\n  absent:\n    - su001-n002/nic0.p0\n    - su001-n003/nic0.p1\n  \
                      drained: []\n  cables: {}\n";
    let shape =
        Shape { planes: 2, groups: 1, per_group: 3, exceptions: exceptions.to_owned(), ..THREE_PLANES };
    for routing in ROUTINGS {
        let tree = memory(&planned(&shape, routing)).unwrap();
        let merged = merge(&slices(&tree, 2)).unwrap();
        assert!(merged.holds(), "{routing:?}:\n{}", merged.text());
    }
}

/// Both NICs of a group are led to by each other's address, on every switch of one plane.
#[test]
fn nics_that_are_exchanged_in_one_plane_are_found() {
    let mut parts = cut(Routing::EcmpStatic);
    let path = "switches/p1-t0-001/ip.batch";
    damage(&mut parts[1], path, "fd00:c105:1:1::1/128", "AT");
    damage(&mut parts[1], path, "fd00:c105:1:1::2/128", "fd00:c105:1:1::1/128");
    damage(&mut parts[1], path, "AT", "fd00:c105:1:1::2/128");
    let summaries = proved(&parts);
    assert_eq!(summaries.iter().filter(|(_, part)| parse(part)["broken"] != 0).count(), 0, "no part sees it");
    let merged = merge(&summaries).unwrap();
    assert!(codes(&merged).contains(&"V1701"), "{}", merged.text());
}

fn parse(summary: &Summary) -> serde_json::Value {
    serde_json::from_slice(&summary.to_bytes()).unwrap()
}

#[test]
fn parts_that_make_no_whole_are_refused_by_name() {
    let parts = cut(Routing::Srv6Static);
    let all = proved(&parts);
    let refused = |summaries: &[(String, Summary)]| merge(summaries).unwrap_err().to_string();
    assert!(matches!(merge(&[]), Err(MergeError::Nothing)));
    assert_eq!(refused(&all[..2]), "no part has plane 2");
    let twice = [all.clone(), all[1..2].to_vec()].concat();
    assert_eq!(refused(&twice), "plane 1 is in `part 1` and in `part 1`");
    let grown = planned(&Shape { per_group: 3, ..THREE_PLANES }, Routing::Srv6Static);
    let other: Vec<Memory> = (0..3).map(|index| memory_of(&grown, shard(index, 3)).unwrap()).collect();
    let mixed = [all[..2].to_vec(), proved(&other)[2..].to_vec()].concat();
    assert!(
        refused(&mixed).contains("are parts of different fabrics: their sources differ"),
        "{}",
        refused(&mixed)
    );
    let error = verify_part(&parts[0], &[&parts[2]], &options(Judged::All)).unwrap_err();
    assert!(matches!(error, VerifyError::Tables(_)), "{error}");
    let error = verify_part(&parts[0], &[&other[1], &parts[2]], &options(Judged::All)).unwrap_err();
    assert!(matches!(error, VerifyError::Other(_)), "{error}");
}

/// Tables that are changed after planes were proved with them are others.
#[test]
fn tables_that_changed_in_between_are_refused() {
    let mut parts = cut(Routing::Srv6Static);
    let before = proved(&parts);
    let table = parts[0]
        .files
        .keys()
        .find(|path| path.extension() == Some("json") && path.starts_with("path-tables"));
    let table = table.expect("it has one").to_string();
    assert!(merge(&before).unwrap().holds());
    damage(&mut parts[0], &table, "{\n", "{ \n");
    let after = proved(&parts);
    let mixed = [after[..1].to_vec(), before[1..].to_vec()].concat();
    assert!(matches!(merge(&mixed), Err(MergeError::Tables(_))));
}

#[test]
fn what_is_about_all_planes_is_not_proved_in_parts() {
    let tree = memory(&THREE_PLANES.plan()).unwrap();
    let error = verify(&tree, &options(Judged::Shard { index: 0, of: 3 })).unwrap_err();
    assert!(matches!(error, VerifyError::Nodes(_)), "{error}");
    let zones = Shape { t2: Some(T2 { zones: 2, steps: 2, parallel: 1, rows: false }), ..THREE_PLANES };
    let cut = memory_of(&planned(&zones, Routing::Srv6Static), shard(0, 6)).unwrap();
    assert!(matches!(verify(&cut, &options(Judged::All)), Err(VerifyError::Cut(_))));
}
