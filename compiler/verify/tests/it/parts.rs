//! Merged proofs of parts: verdict and counts are equal to those of the complete fabric, and faults between parts are
//! found.

mod summaries;

use camino::Utf8Path;
use closc_artefacts::{Entry, Files, Manifest, Memory, Routing, paths};
use closc_compile::{CompileError, Part, Selection, Shard, compile_in_memory, compile_part_in_memory};
use closc_plan::Plan;
use closc_tests::exceptions;
use closc_tests::shape::{Shape, T2, in_generations, plan, try_plan};
use closc_verify::{
    DeliveryCounts, MergeError, Options, Report, Summary, TreeSelection, VerifyError, merge, verify,
    verify_part,
};
use proptest::prelude::*;
use proptest::sample::Index;

use summaries::seal;

use crate::common;

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

/// Plans a fabric whose nodes have no files, because such files concern all planes.
fn build_plan(shape: &Shape, routing: Routing) -> Plan {
    plan(&yaml(shape, routing))
}

fn yaml(shape: &Shape, routing: Routing) -> String {
    let os = if routing == Routing::BgpUnnumbered { "os: frr" } else { "os: linux" };
    let text = shape.yaml().replace("  os: linux\n", "").replace("os: linux", os);
    text.replace("tiers:\n", &format!("routing: {}\ntiers:\n", routing.keyword()))
}

fn options(judged: TreeSelection) -> Options {
    Options { hardware: common::hardware(), walk_up_to: 0, selection: judged, ..Options::default() }
}

fn shard(index: u32, of: u32) -> Part {
    Part::new(Some(format!("{index}/{of}").parse::<Shard>().unwrap()), Selection::default())
}

/// Returns the summaries of the shards of a complete tree.
fn slices(tree: &Memory, of: u32) -> Vec<(String, Summary)> {
    let slice = |index| {
        let (report, summary) = verify_part(tree, &[], &options(TreeSelection::Shard { index, of })).unwrap();
        assert!(of == 1 || report.walk.is_none());
        (format!("{index}/{of}"), Summary::parse(&summary.to_bytes()).unwrap())
    };
    (0..of).map(slice).collect()
}

/// Returns the summaries of the trees of parts. Each is proved together with the tables of the others.
fn prove_parts(parts: &[Memory]) -> Vec<(String, Summary)> {
    let prove = |(at, part): (usize, &Memory)| {
        let others = parts.iter().enumerate().filter(|(other, _)| *other != at);
        let beside: Vec<&dyn Files> = others.map(|(_, tree)| tree as &dyn Files).collect();
        (format!("part {at}"), verify_part(part, &beside, &options(TreeSelection::All)).unwrap().1)
    };
    parts.iter().enumerate().map(prove).collect()
}

/// Asserts that two reports are equal, except for facts that are checked in several parts.
fn assert_equal_reports(whole: &Report, merged: &Report, files: bool) {
    assert_eq!((whole.paths, whole.broken), (merged.paths, merged.broken));
    // The number of classes is not compared: the complete fabric may distinguish more classes of destinations than a
    // part.
    let load = |report: &Report| report.load.clone().map(|load| (load.cables, load.not_measured));
    assert_eq!(load(whole), load(merged));
    let counts = |report: &Report| report.delivery.map(|counts| DeliveryCounts { classes: 0, ..counts });
    assert_eq!(counts(whole), counts(merged));
    let (mut a, mut b) = (whole.read, merged.read);
    if !files {
        (a.files, a.bytes, b.files, b.bytes) = (0, 0, 0, 0);
    }
    assert_eq!(a, b);
    assert_eq!((&whole.fabric, &whole.routing), (&merged.fabric, &merged.routing));
    assert_eq!((&whole.not_judged, &whole.not_proved), (&merged.not_judged, &merged.not_proved));
}

/// Differences of zone 1 from zone 0: speed of its NICs, number of T0 groups, NICs per group.
type Generations = (Option<u16>, Option<u16>, Option<u16>);

/// Generates differences between zones. In half of the fabrics, zones are equal.
fn generations() -> impl Strategy<Value = Generations> {
    let few = || prop::option::of(1..=2u16);
    prop_oneof![Just((None, None, None)), (prop::option::of(2..=4u16), few(), few())]
}

/// Makes the zones of a shape different, if it has several, and drops exceptions for removed elements.
fn of_generations(shape: &Shape, routing: Routing, (faster, groups, per_group): Generations) -> Plan {
    let text = yaml(shape, routing);
    let zones = shape.t2.as_ref().map_or(1, |t2| t2.zones);
    let below = |count: Option<u16>, of: u16| count.filter(|count| *count < of);
    let (groups, per_group) = (below(groups, shape.groups), below(per_group, shape.per_group));
    let other = (zones > 1).then(|| try_plan(&in_generations(&text, faster, groups, per_group)).ok());
    other.flatten().unwrap_or_else(|| plan(&text))
}

/// Damage to one file: the file, two positions in it, and the change.
type Damage = (Index, Index, Index, u8);

fn damage_at_random() -> impl Strategy<Value = Damage> {
    (any::<Index>(), any::<Index>(), any::<Index>(), 0..5u8)
}

/// Returns the words of a text that contain a value, as byte ranges.
fn words(text: &str) -> Vec<std::ops::Range<usize>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || ":._/-".contains(c);
    let (mut found, mut first) = (Vec::new(), None);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match first {
            None if is_word(c) => first = Some(at),
            Some(start) if !is_word(c) => {
                found.push(start..at);
                first = None;
            }
            Some(_) | None => {}
        }
    }
    found
}

/// Damages a file: exchanges two words everywhere, replaces one with another, changes a digit, or drops or repeats a
/// line.
fn damage_file(text: &str, (_, one, other, what): &Damage) -> Option<String> {
    let words = words(text);
    let number =
        |range: &&std::ops::Range<usize>| text[(*range).clone()].contains(|c: char| c.is_ascii_digit());
    let words: Vec<_> = words.iter().filter(number).collect();
    if words.is_empty() {
        return None;
    }
    let [a, b] = [one, other].map(|at| words[at.index(words.len())].clone());
    let (first, second) = (&text[a.clone()], &text[b]);
    let lines: Vec<&str> = text.lines().collect();
    let line = one.index(lines.len());
    Some(match what {
        0 => text.replace(first, "\0").replace(second, first).replace('\0', second),
        1 => format!("{}{second}{}", &text[..a.start], &text[a.end..]),
        2 => {
            let digits: Vec<usize> = a.clone().filter(|at| text.as_bytes()[*at].is_ascii_digit()).collect();
            let at = digits[other.index(digits.len())];
            let digit = (text.as_bytes()[at] - b'0' + 1) % 10;
            format!("{}{digit}{}", &text[..at], &text[at + 1..])
        }
        3 => [&lines[..line], &lines[line + 1..]].concat().join("\n") + "\n",
        _ => [&lines[..=line], &lines[line..]].concat().join("\n") + "\n",
    })
}

/// Returns whether all facts hold; false if a tree cannot be judged.
fn holds(report: Result<Report, String>) -> bool {
    report.is_ok_and(|report| report.holds())
}

fn shards_of(tree: &Memory, of: u32) -> Result<Report, String> {
    let slice = |index| {
        let proved = verify_part(tree, &[], &options(TreeSelection::Shard { index, of }));
        let (_, summary) = proved.map_err(|error| error.to_string())?;
        let summary = Summary::parse(&summary.to_bytes()).map_err(|error| error.to_string())?;
        Ok((format!("{index}/{of}"), summary))
    };
    let all: Vec<(String, Summary)> = (0..of).map(slice).collect::<Result<_, String>>()?;
    merge(&all).map_err(|error| error.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random fabrics with exceptions, few or many, any routing, any number of shards.
    #[test]
    fn merged_is_the_whole(
        shape in prop_oneof![exceptions::shapes_with_exceptions(), exceptions::sparse_shapes(), exceptions::shapes_without_planes()],
        generations in generations(),
        routing in 0..3usize,
        of in 1..9u32,
        damages in prop::collection::vec(damage_at_random(), 4),
    ) {
        let plan = of_generations(&shape, ROUTINGS[routing], generations);
        let tree = compile_in_memory(&plan).unwrap();
        let whole = verify(&tree, &options(TreeSelection::All)).unwrap();
        prop_assert!(whole.holds(), "{}", whole.text());
        let of = of.min(u32::from(shape.planes));
        let merged = merge(&slices(&tree, of)).unwrap();
        prop_assert!(merged.holds(), "{}", merged.text());
        assert_equal_reports(&whole, &merged, true);
        let parts: Result<Vec<Memory>, _> = (0..of).map(|index| compile_part_in_memory(&plan, shard(index, of))).collect();
        // A shard with only absent planes has nothing to compile.
        let Ok(parts) = parts.inspect_err(|error| assert!(matches!(error, CompileError::Nothing), "{error}"))
        else {
            return Ok(());
        };
        let merged = merge(&prove_parts(&parts)).unwrap();
        prop_assert!(merged.holds(), "{}", merged.text());
        assert_equal_reports(&whole, &merged, parts.len() == 1);
        for (index, part) in (0..).zip(&parts) {
            // The tree of a shard contains all files of that shard.
            let others: Vec<&dyn Files> = parts.iter().map(|part| part as &dyn Files).collect();
            let by = |judged| verify_part(part, &others, &options(judged)).unwrap().0;
            let own = by(TreeSelection::All);
            prop_assert!(own.holds(), "{}", own.text());
            prop_assert_eq!(own, by(TreeSelection::Shard { index, of }));
        }
        for damage in damages {
            let mut tree = tree.clone();
            let files: Vec<_> = tree.files.keys().filter(|path| *path != paths::MANIFEST).cloned().collect();
            let path = &files[damage.0.index(files.len())];
            let Ok(text) = String::from_utf8(tree.files[path].clone()) else { continue };
            let Some(after) = damage_file(&text, &damage).filter(|after| *after != text) else { continue };
            replace(&mut tree, path, after.into_bytes());
            let whole = verify(&tree, &options(TreeSelection::All)).map_err(|error| error.to_string());
            let merged = shards_of(&tree, of);
            let report = |report: &Result<Report, String>| report.as_ref().map_or_else(Clone::clone, Report::text);
            let said = format!("{path} {damage:?}\n{}\nmerged:\n{}", report(&whole), report(&merged));
            let lines: Vec<_> = text.lines().zip(String::from_utf8_lossy(&tree.files[path]).lines().map(str::to_owned))
                .filter(|(a, b)| a != b).map(|(a, b)| format!("- {a}\n+ {b}")).take(3).collect();
            prop_assert_eq!(holds(whole), holds(merged), "{}\n{}", said, lines.join("\n"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random fabrics whose parts are connected only by nodes.
    #[test]
    fn merged_islands_are_the_whole(shape in exceptions::islands_with_exceptions(), of in 1..9u32) {
        let tree = compile_in_memory(&plan(&shape.yaml().replace("  os: linux\n", ""))).unwrap();
        let whole = verify(&tree, &options(TreeSelection::All)).unwrap();
        prop_assert!(whole.holds(), "{}", whole.text());
        let merged = merge(&slices(&tree, of.min(u32::from(shape.planes)))).unwrap();
        prop_assert!(merged.holds(), "{}", merged.text());
        assert_equal_reports(&whole, &merged, true);
    }
}

/// Replaces text in a file of a part, and updates the manifest.
fn damage(part: &mut Memory, path: &str, from: &str, to: &str) {
    let path = Utf8Path::new(path);
    let text = String::from_utf8(part.files[path].clone()).unwrap();
    assert!(text.contains(from), "`{path}` has no `{from}`:\n{text}");
    replace(part, path, text.replace(from, to).into_bytes());
}

/// Replaces the bytes of a file of a part, and updates the manifest.
fn replace(part: &mut Memory, path: &Utf8Path, bytes: Vec<u8>) {
    let mut manifest = Manifest::read(part).unwrap();
    manifest.files.insert(path.to_owned(), Entry::of(&bytes));
    part.files.insert(path.to_owned(), bytes);
    part.files.insert(paths::MANIFEST.into(), manifest.to_bytes());
}

fn cut(routing: Routing) -> Vec<Memory> {
    let plan = build_plan(&THREE_PLANES, routing);
    (0..3).map(|index| compile_part_in_memory(&plan, shard(index, 3)).unwrap()).collect()
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
        let merged = merge(&prove_parts(&parts)).unwrap();
        assert!(!merged.holds());
        let place = format!("part 1: {path}");
        assert!(
            merged.violations.iter().any(|found| found.place.file.as_str().starts_with(&place)),
            "{}",
            merged.text()
        );
    }
}

/// Values that are consistent inside a plane, but contradict the other planes.
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
        let summaries = prove_parts(&parts);
        let merged = merge(&summaries).unwrap();
        assert!(codes(&merged).contains(&code), "{what}:\n{}", merged.text());
    }
}

/// A plane without cables counts as completely absent.
#[test]
fn a_plane_without_cables_is_merged() {
    let exceptions = "exceptions:\n  absent:\n    - p0-t0-001\n  drained: []\n  cables: {}\n";
    for planes in [1, 2] {
        let shape = Shape {
            planes,
            groups: 1,
            per_group: 4,
            t1: 1,
            exceptions: exceptions.to_owned(),
            ..THREE_PLANES
        };
        for routing in ROUTINGS {
            let tree = compile_in_memory(&build_plan(&shape, routing)).unwrap();
            let whole = verify(&tree, &options(TreeSelection::All)).unwrap();
            assert_equal_reports(&whole, &merge(&slices(&tree, planes.into())).unwrap(), true);
        }
    }
}

/// The name of a NIC port contains its plane, so the part with the cable finds the fault.
#[test]
fn a_nic_port_of_another_plane_is_found_in_its_part() {
    for routing in ROUTINGS {
        let mut tree = compile_in_memory(&build_plan(&THREE_PLANES, routing)).unwrap();
        damage(&mut tree, "cables/plane-1.csv", "su001-n001,nic0p1", "su001-n001,nic0p2");
        assert!(codes(&verify(&tree, &options(TreeSelection::All)).unwrap()).contains(&"V0201"));
        let slices = slices(&tree, 3);
        let broken = |(_, part): &(String, Summary)| parse(part)["broken"] != 0;
        assert_eq!(slices.iter().map(broken).collect::<Vec<bool>>(), [false, true, false], "{routing:?}");
        assert!(codes(&merge(&slices).unwrap()).contains(&"V0201"));
    }
}

/// If a NIC has no usable cable in any plane, the load of merged parts still equals that of the complete fabric.
#[test]
fn a_nic_without_a_plane_loads_parts_as_the_whole() {
    let exceptions = "exceptions:\n  absent:\n    - su001-n001/nic0.p1\n  drained:\n    - su001-n001/nic0.p0\n  cables: {}\n";
    let shape = Shape { planes: 2, per_group: 4, t1: 1, exceptions: exceptions.to_owned(), ..THREE_PLANES };
    for routing in ROUTINGS {
        let plan = build_plan(&shape, routing);
        let tree = compile_in_memory(&plan).unwrap();
        let whole = verify(&tree, &options(TreeSelection::All)).unwrap();
        let parts: Vec<Memory> =
            (0..2).map(|index| compile_part_in_memory(&plan, shard(index, 2)).unwrap()).collect();
        assert_equal_reports(&whole, &merge(&slices(&tree, 2)).unwrap(), true);
        assert_equal_reports(&whole, &merge(&prove_parts(&parts)).unwrap(), false);
    }
}

/// A switch that lost its only cable is judged with the first plane. It may share its AS number with the other switches
/// of its plane and tier, but not with a T0.
#[test]
fn a_switch_without_cables_is_judged_beside_its_own_plane() {
    let exceptions = "exceptions:\n  absent:\n    - p1-t0-001--p1-t1-002\n  drained: []\n  cables: {}\n";
    let shape =
        Shape { planes: 2, groups: 1, per_group: 1, exceptions: exceptions.to_owned(), ..THREE_PLANES };
    for routing in ROUTINGS {
        let mut tree = compile_in_memory(&build_plan(&shape, routing)).unwrap();
        let merged = merge(&slices(&tree, 2)).unwrap();
        assert!(merged.holds(), "{routing:?}:\n{}", merged.text());
        if routing != Routing::BgpUnnumbered {
            continue;
        }
        // For switches in no cable list, the manifest contains the plane.
        assert_eq!(Manifest::read(&tree).unwrap().uncabled, [("p1-t1-002".to_owned(), 1)].into());
        let path = |switch| format!("switches/{switch}/frr.conf");
        let number = |tree: &Memory, switch| {
            let text = String::from_utf8(tree.files[Utf8Path::new(&path(switch))].clone()).unwrap();
            text.lines().find_map(|line| line.strip_prefix("router bgp ")).unwrap().to_owned()
        };
        let (own, other) = (number(&tree, "p1-t1-002"), number(&tree, "p1-t0-001"));
        assert_eq!(own, number(&tree, "p1-t1-001"));
        damage(&mut tree, &path("p1-t1-002"), &own, &other);
        assert!(codes(&verify(&tree, &options(TreeSelection::All)).unwrap()).contains(&"V1804"));
        let merged = merge(&slices(&tree, 2)).unwrap();
        assert!(codes(&merged).contains(&"V1804"), "{}", merged.text());
    }
}

/// If planes have their own blocks, a switch without cables is in the block of its plane.
#[test]
fn a_switch_without_cables_is_in_the_block_of_its_plane() {
    let exceptions = "exceptions:\n  absent:\n    - p1-t0-001--p1-t1-002\n    - p2-t0-001--p2-t1-[001-002]\n  \
                      drained: []\n  cables: {}\n";
    let shape = Shape { groups: 1, per_group: 1, exceptions: exceptions.to_owned(), ..THREE_PLANES };
    let text = shape.yaml().replace("  os: linux\n", "");
    let widths = text.lines().find(|line| line.starts_with("srv6: ")).unwrap();
    let text = text.replace(widths, "srv6: { plan: plane-in-block, block: fcbb:bbb0::/32 }");
    let mut tree = compile_in_memory(&plan(&text)).unwrap();
    let whole = verify(&tree, &options(TreeSelection::All)).unwrap();
    assert!(whole.holds(), "{}", whole.text());
    let merged = merge(&slices(&tree, 3)).unwrap();
    assert!(merged.holds(), "{}", merged.text());
    let manifest = Manifest::read(&tree).unwrap();
    let named: Vec<(&str, u8)> =
        manifest.uncabled.iter().map(|(name, plane)| (name.as_str(), *plane)).collect();
    assert_eq!(named, [("p1-t1-002", 1), ("p2-t1-001", 2), ("p2-t1-002", 2)]);
    let path = "switches/p2-t1-002/ip.batch";
    damage(&mut tree, path, "fcbb:bbb2:", "fcbb:bbb1:");
    assert!(codes(&verify(&tree, &options(TreeSelection::All)).unwrap()).contains(&"V0501"));
    let slices = slices(&tree, 3);
    let broken = |(_, part): &(String, Summary)| parse(part)["broken"] != 0;
    assert_eq!(slices.iter().map(broken).collect::<Vec<bool>>(), [false, false, true]);
    assert!(codes(&merge(&slices).unwrap()).contains(&"V0501"));
}

/// A T0 has the same number of NICs in both planes, but not the same NICs. Common NICs are compared, the others are
/// counted.
#[test]
fn nics_that_lack_different_planes_are_compared_one_by_one() {
    let exceptions = "exceptions:\n  absent:\n    - su001-n002/nic0.p0\n    - su001-n003/nic0.p1\n  \
                      drained: []\n  cables: {}\n";
    let shape =
        Shape { planes: 2, groups: 1, per_group: 3, exceptions: exceptions.to_owned(), ..THREE_PLANES };
    for routing in ROUTINGS {
        let tree = compile_in_memory(&build_plan(&shape, routing)).unwrap();
        let merged = merge(&slices(&tree, 2)).unwrap();
        assert!(merged.holds(), "{routing:?}:\n{}", merged.text());
    }
}

/// NICs that only other parts contain are counted, without routes to them.
#[test]
fn nics_of_other_parts_are_counted() {
    let exceptions = "exceptions:\n  absent:\n    - su001-n001/nic0.p0\n    - su002-n001/nic0.p1\n  drained: []\n  cables: {}\n";
    let shape = Shape { planes: 2, exceptions: exceptions.to_owned(), ..THREE_PLANES };
    for routing in ROUTINGS {
        let tree = compile_in_memory(&build_plan(&shape, routing)).unwrap();
        let whole = verify(&tree, &options(TreeSelection::All)).unwrap();
        let mut summaries = slices(&tree, 2);
        assert_equal_reports(&whole, &merge(&summaries).unwrap(), true);
        assert_eq!(whole.read.nics, 4);
        if let Some(counts) = whole.delivery {
            assert_eq!(counts.deliveries - counts.possible, 6);
        }
        // A NIC that is missing in all parts is found.
        if routing != Routing::Srv6Static {
            let mut document = parse(&summaries[0].1);
            let nics = document["interface"]["nics"]["0"].as_array_mut().expect("runs");
            nics.remove(1);
            summaries[0].1 = Summary::parse(&seal(document)).expect("it has its form");
            assert!(!merge(&summaries).is_ok_and(|report| report.holds()));
        }
    }
}

/// The first two NICs are exchanged in plane 0, and the third NIC is missing in plane 1.
#[test]
fn nics_are_compared_where_planes_have_other_nics() {
    let exceptions = "exceptions:\n  absent:\n    - su001-n003/nic0.p1\n  drained: []\n  cables: {}\n";
    let shape = Shape { planes: 2, per_group: 3, exceptions: exceptions.to_owned(), ..THREE_PLANES };
    let mut tree = compile_in_memory(&build_plan(&shape, Routing::EcmpStatic)).unwrap();
    let path = "switches/p0-t0-001/ip.batch";
    damage(&mut tree, path, "fd00:c105:1:1::1/128", "AT");
    damage(&mut tree, path, "fd00:c105:1:1::2/128", "fd00:c105:1:1::1/128");
    damage(&mut tree, path, "AT", "fd00:c105:1:1::2/128");
    assert!(codes(&verify(&tree, &options(TreeSelection::All)).unwrap()).contains(&"V1701"));
    let merged = merge(&slices(&tree, 2)).unwrap();
    assert!(codes(&merged).contains(&"V1701"), "{}", merged.text());
}

/// The addresses of two NICs of a group are exchanged on every switch of one plane.
#[test]
fn nics_that_are_exchanged_in_one_plane_are_found() {
    let mut parts = cut(Routing::EcmpStatic);
    let path = "switches/p1-t0-001/ip.batch";
    damage(&mut parts[1], path, "fd00:c105:1:1::1/128", "AT");
    damage(&mut parts[1], path, "fd00:c105:1:1::2/128", "fd00:c105:1:1::1/128");
    damage(&mut parts[1], path, "AT", "fd00:c105:1:1::2/128");
    let summaries = prove_parts(&parts);
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
    let all = prove_parts(&parts);
    let refused = |summaries: &[(String, Summary)]| merge(summaries).unwrap_err().to_string();
    assert!(matches!(merge(&[]), Err(MergeError::Nothing)));
    assert_eq!(refused(&all[..2]), "no part has plane 2");
    let twice = [all.clone(), all[1..2].to_vec()].concat();
    assert_eq!(refused(&twice), "plane 1 is in `part 1` and in `part 1`");
    let grown = build_plan(&Shape { per_group: 3, ..THREE_PLANES }, Routing::Srv6Static);
    let other: Vec<Memory> =
        (0..3).map(|index| compile_part_in_memory(&grown, shard(index, 3)).unwrap()).collect();
    let mixed = [all[..2].to_vec(), prove_parts(&other)[2..].to_vec()].concat();
    assert!(
        refused(&mixed).contains("are parts of different fabrics: their sources differ"),
        "{}",
        refused(&mixed)
    );
    let error = verify_part(&parts[0], &[&parts[2]], &options(TreeSelection::All)).unwrap_err();
    assert!(matches!(error, VerifyError::Tables(_)), "{error}");
    let error = verify_part(&parts[0], &[&other[1], &parts[2]], &options(TreeSelection::All)).unwrap_err();
    assert!(matches!(error, VerifyError::Other(_)), "{error}");
}

/// Tables that changed after planes were proved with them are rejected.
#[test]
fn tables_that_changed_in_between_are_refused() {
    let mut parts = cut(Routing::Srv6Static);
    let before = prove_parts(&parts);
    let table = parts[0]
        .files
        .keys()
        .find(|path| path.extension() == Some("json") && path.starts_with("path-tables"));
    let table = table.expect("it has one").to_string();
    assert!(merge(&before).unwrap().holds());
    damage(&mut parts[0], &table, "{\n", "{ \n");
    let after = prove_parts(&parts);
    let mixed = [after[..1].to_vec(), before[1..].to_vec()].concat();
    assert!(matches!(merge(&mixed), Err(MergeError::Tables(_))));
}

#[test]
fn what_is_about_all_planes_is_not_proved_in_parts() {
    let tree = compile_in_memory(&THREE_PLANES.plan()).unwrap();
    let error = verify(&tree, &options(TreeSelection::Shard { index: 0, of: 3 })).unwrap_err();
    assert!(matches!(error, VerifyError::Nodes(_)), "{error}");
    let zones =
        Shape { t2: Some(T2 { zones: 2, steps: 2, parallel: 1, rows: 0, node_zones: 1 }), ..THREE_PLANES };
    let cut = compile_part_in_memory(&build_plan(&zones, Routing::Srv6Static), shard(0, 6)).unwrap();
    assert!(matches!(verify(&cut, &options(TreeSelection::All)), Err(VerifyError::Cut(_))));
}
