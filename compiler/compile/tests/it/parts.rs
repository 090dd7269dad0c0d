//! Parts of fabrics: together they make up the fabric, with each element once, byte for byte as in the
//! complete tree.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Manifest, Memory};
use closc_compile::{
    CompileError, Folder, Job, Part, Selection, Shard, Target, Unit, compile_in_memory,
    compile_part_in_memory, write_tree,
};
use closc_files::disk::SyncMode;
use closc_plan::Plan;
use closc_render::Templates;
use closc_tests::exceptions;
use closc_tests::shape::{Shape, T2};
use proptest::prelude::*;

fn shard(index: u32, of: u32) -> Part {
    Part::new(Some(format!("{index}/{of}").parse::<Shard>().unwrap()), Selection::default())
}

fn select(terms: &str) -> Part {
    terms.parse::<Selection>().unwrap().into()
}

/// Three tiers, so that planes can be divided by zone.
const ZONES: Shape = Shape {
    planes: 2,
    groups: 2,
    per_group: 2,
    rails: 1,
    t1: 2,
    parallel: 1,
    t2: Some(T2 { zones: 3, steps: 2, parallel: 1, rows: 0, node_zones: 1 }),
    exceptions: String::new(),
};

fn lines(memory: &Memory, list: &str) -> Vec<String> {
    let bytes = &memory.files[Utf8Path::new(list)];
    String::from_utf8(bytes.clone()).unwrap().lines().skip(1).map(str::to_owned).collect()
}

/// Compares parts with the complete tree: every file is in exactly one part with the same bytes. Divided
/// cable lists are compared row by row.
fn together(whole: &Memory, parts: &[Memory]) {
    let mut files: BTreeMap<Utf8PathBuf, Vec<u8>> = BTreeMap::new();
    let mut rows: BTreeMap<Utf8PathBuf, Vec<String>> = BTreeMap::new();
    for part in parts {
        for (path, bytes) in part.files.iter().filter(|(path, _)| *path != "manifest.json") {
            if let Some((list, _)) = path.as_str().split_once("-zone-") {
                let own = rows.entry(format!("{list}.csv").into()).or_default();
                own.extend(lines(part, path.as_str()));
                continue;
            }
            let again = files.insert(path.clone(), bytes.clone());
            assert!(again.is_none() || path.starts_with("p4"), "`{path}` is in two parts");
        }
    }
    for (path, bytes) in whole.files.iter().filter(|(path, _)| *path != "manifest.json") {
        match rows.remove(path) {
            Some(mut cut) => {
                let mut all = lines(whole, path.as_str());
                cut.sort();
                all.sort();
                assert_eq!(cut, all, "`{path}`");
            }
            None => assert_eq!(files.remove(path).as_ref(), Some(bytes), "`{path}`"),
        }
    }
    assert!(files.is_empty() && rows.is_empty(), "{:?}", files.keys());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random fabrics with exceptions, divided into any number of shards: every unit is in exactly one.
    #[test]
    fn every_unit_is_in_one_shard(shape in prop_oneof![exceptions::shapes_with_exceptions(), exceptions::islands_with_exceptions()], of in 1u32..40) {
        let plan = shape.plan();
        let zones = shape.t2.as_ref().map_or(1, |t2| u32::from(t2.zones));
        let of = of.min(u32::from(shape.planes) * zones);
        let mut found: BTreeSet<Unit> = BTreeSet::new();
        for index in 0..of {
            for unit in Unit::all(&plan, &shard(index, of)) {
                prop_assert!(found.insert(unit), "{unit:?} is in two of {of}");
            }
        }
        let whole: BTreeSet<Unit> = Unit::all(&plan, &Part::default()).into_iter().collect();
        let cut = |unit: &&Unit| !matches!(unit, Unit::Cables(_) | Unit::ZoneCables(..));
        prop_assert!(found.iter().filter(cut).eq(whole.iter().filter(cut)));
    }
}

#[test]
fn shards_are_the_tree() {
    let plan = ZONES.plan();
    let whole = compile_in_memory(&plan).unwrap();
    for of in [1, 2, 3, 5, 6] {
        let parts: Vec<Memory> =
            (0..of).map(|index| compile_part_in_memory(&plan, shard(index, of)).unwrap()).collect();
        together(&whole, &parts);
    }
    let planes: Vec<Memory> = ["plane=0", "plane=1", "tier=hosts"]
        .map(|terms| compile_part_in_memory(&plan, select(terms)).unwrap())
        .into();
    together(&whole, &planes);
}

#[test]
fn a_manifest_says_which_part_it_is_of() {
    let plan = ZONES.plan();
    let whole = Manifest::read(&compile_in_memory(&plan).unwrap()).unwrap();
    assert_eq!((&whole.selection, &whole.part), (&None, &None));
    let stated = |part: Part| {
        let manifest = Manifest::read(&compile_part_in_memory(&plan, part).unwrap()).unwrap();
        assert_eq!((&manifest.source, &manifest.inputs), (&whole.source, &whole.inputs));
        assert_eq!(manifest.counts, whole.counts, "numbers of the fabric, whatever the part");
        (manifest.selection.unwrap(), manifest.part.unwrap())
    };
    let (terms, part) = stated(shard(1, 2));
    assert_eq!((terms.as_str(), &part.planes[..]), ("shard=1/2", &[1][..]));
    assert_eq!((2 * part.t0, 2 * part.t1, 2 * part.t2), (whole.counts.t0, whole.counts.t1, whole.counts.t2));
    let (_, cut) = stated(shard(0, 4));
    assert!(cut.planes.is_empty() && cut.t0 > 0);
    let (_, hosts) = stated(select("tier=hosts,zone=2"));
    assert_eq!((hosts.t0, hosts.groups.len(), hosts.groups[0].last), (0, 1, 2));
    let nics: u64 = (0..6).map(|index| stated(shard(index, 6)).1.nics).sum();
    assert_eq!(nics, whole.counts.nics);
}

#[test]
fn what_the_fabric_does_not_have_is_refused() {
    let plan = ZONES.plan();
    for (part, message) in [
        (shard(0, 7), "7 shards are more than 2 planes of 3 zones can be cut into: at most 6"),
        (select("plane=2"), "`--select plane=2`: the last plane of this fabric is 1"),
        (select("zone=9"), "`--select zone=9`: the last zone of this fabric is 2"),
        (select("device=other-*"), "`--select` selects no device of this fabric"),
        (select("plane=1,tier=hosts"), "`--select` selects no device of this fabric"),
    ] {
        let error = compile_part_in_memory(&plan, part).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

fn compile(plan: &Plan, place: &Utf8Path, part: Part) -> Result<closc_compile::Report, CompileError> {
    let templates = Templates::builtin();
    let job = Job::new(plan, &templates, blake3::hash(b""), part)?;
    write_tree(&job, Target { place, force: false, sync: SyncMode::No }, &|_| {})
}

/// A part is compiled into a complete tree, or into a separate folder. A folder with a part accepts the same
/// part again, and rejects other parts.
#[test]
fn a_folder_holds_one_part_or_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let plan = ZONES.plan();
    compile(&plan, &root.join("whole"), Part::default()).unwrap();
    let before = Manifest::read(&Folder::new(root.join("whole"))).unwrap();
    compile(&plan, &root.join("whole"), shard(1, 2)).unwrap();
    assert_eq!(Manifest::read(&Folder::new(root.join("whole"))).unwrap(), before);
    let part = root.join("part");
    let first = compile(&plan, &part, shard(1, 2)).unwrap();
    let again = compile(&plan, &part, shard(1, 2)).unwrap();
    assert_eq!((again.files, again.kept, again.removed), (first.files, first.files, 0));
    let error = compile(&plan, &part, shard(0, 2)).unwrap_err().to_string();
    assert!(error.contains("holds another part, `shard=1/2`"), "{error}");
    let grown = Shape { per_group: 3, ..ZONES };
    let other = compile(&grown.plan(), &part, shard(1, 2)).unwrap();
    assert!(other.written > 0, "the same part of another description replaces it");
}

/// Returns every file below a folder, by its path.
fn tree_at(place: &Utf8Path) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![place.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir_utf8().unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path().to_owned());
            } else {
                let path = entry.path().strip_prefix(place).unwrap().to_owned();
                found.insert(path, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    found
}

/// Compiles a plan; returns the files of the tree by path.
fn tree_files(plan: &Plan) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
    compile_in_memory(plan).unwrap().files
}

/// Generates parts of any kind, including parts that the fabric may not have.
fn any_part() -> impl Strategy<Value = Part> {
    let term = prop_oneof![
        (0..3u8).prop_map(|plane| format!("plane={plane}")),
        (0..3u8).prop_map(|zone| format!("zone={zone}")),
        prop_oneof![Just("t0"), Just("t1"), Just("t2"), Just("hosts")]
            .prop_map(|tier| format!("tier={tier}")),
        prop_oneof![Just("*-t0-001"), Just("*t1*"), Just("*")].prop_map(|device| format!("device={device}")),
    ];
    let shard = prop::option::weighted(0.4, (1..8u32, 0..8u32));
    (prop::collection::vec(term, 0..3), shard).prop_map(|(terms, shard)| {
        let shard = shard.map(|(of, index)| format!("{}/{of}", index % of).parse::<Shard>().unwrap());
        Part::new(shard, terms.join(",").parse::<Selection>().unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Compiles parts into a complete tree, repeatedly, with the same exceptions or others. Afterwards the
    /// tree equals a complete compilation, or it is unchanged.
    #[test]
    fn a_whole_tree_stays_whole_or_as_it_was(
        (shape, other) in exceptions::related_shapes(), parts in prop::collection::vec((any_part(), any::<bool>(), any::<bool>()), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let place = Utf8Path::from_path(folder.path()).unwrap().join("tree");
        let plans = [shape.plan(), other.plan()];
        compile(&plans[0], &place, Part::default()).unwrap();
        for (part, changes, damages) in parts {
            let plan = &plans[usize::from(changes)];
            let before = tree_at(&place);
            if damages && !changes && before == tree_files(plan) {
                // Damaged files of the part are rendered again.
                if let Some(path) = compile_part_in_memory(plan, part.clone()).ok().and_then(|own| own.files.into_keys().find(|path| before.contains_key(path) && *path != "manifest.json")) {
                    std::fs::write(place.join(path), "damaged\n").unwrap();
                }
            }
            let damaged = tree_at(&place);
            match compile(plan, &place, part.clone()) {
                Ok(_) => prop_assert!(tree_at(&place) == tree_files(plan), "`{part}` of {}", plan.name()),
                Err(CompileError::Nothing | CompileError::Absent { .. } | CompileError::Shards { .. } | CompileError::Stale { .. }) => {
                    prop_assert!(tree_at(&place) == damaged);
                    std::fs::remove_dir_all(&place).unwrap();
                    compile(plan, &place, Part::default()).unwrap();
                }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}

/// A part with other exceptions is accepted if they change nothing outside it, and otherwise rejected with
/// the name of an affected unit.
#[test]
fn a_part_of_other_exceptions_leaves_no_mixture() {
    let folder = tempfile::tempdir().unwrap();
    let place = Utf8Path::from_path(folder.path()).unwrap().join("tree");
    let excepted = |text: &str| Shape { exceptions: format!("exceptions: {text}\n"), ..ZONES }.plan();
    compile(&ZONES.plan(), &place, Part::default()).unwrap();
    let longer = excepted("{ cables: { z0-p1-t0-001--z0-p1-t1-001: { length: 9m } } }");
    let error = compile(&longer, &place, select("plane=0")).unwrap_err().to_string();
    assert!(
        error.contains("compiled with other exceptions, and `switch z0-p1-t0-001`, which is not in the"),
        "{error}"
    );
    assert_eq!(tree_at(&place), tree_files(&ZONES.plan()));
    // Once the complete tree is up to date, each part of it is accepted.
    compile(&longer, &place, Part::default()).unwrap();
    for terms in ["zone=1", "plane=1", "tier=hosts", "device=z0-p1-*"] {
        compile(&longer, &place, select(terms)).unwrap();
        assert_eq!(tree_at(&place), tree_files(&longer), "{terms}");
    }
    let fewer = excepted("{ absent: [z2-p1-t0-002] }");
    let error = compile(&fewer, &place, select("plane=1")).unwrap_err();
    assert!(matches!(error, CompileError::Stale { .. }), "{error}");
    assert_eq!(tree_at(&place), tree_files(&longer));
}
