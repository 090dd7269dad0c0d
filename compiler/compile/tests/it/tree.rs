//! Trees in folders and archives: replaced files, kept files, and rejected folders.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Files as _, Manifest};
use closc_compile::{
    CompileError, Folder, Job, Report, Selection, Target, archive, compile_in_memory, write_tree,
};
use closc_files::disk::SyncMode;
use closc_plan::Plan;
use closc_render::Templates;
use closc_tests::shape::Shape;

const SHAPE: Shape = Shape {
    planes: 2,
    groups: 2,
    per_group: 2,
    rails: 2,
    t1: 2,
    parallel: 1,
    t2: None,
    exceptions: String::new(),
};

struct Place {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(folder.path()).expect("its name is text").to_owned();
    Place { _folder: folder, root }
}

fn compile(plan: &Plan, place: &Utf8Path, select: &str, force: bool) -> Result<Report, CompileError> {
    let templates = Templates::builtin();
    let job = Job::new(plan, &templates, blake3::hash(b""), select.parse::<Selection>().expect("terms"))?;
    write_tree(&job, Target { place, force, sync: SyncMode::No }, &|_| {})
}

#[test]
fn memory_and_folder_hold_the_same() {
    let (place, plan) = (place(), SHAPE.plan());
    compile(&plan, &place.root.join("tree"), "", false).unwrap();
    let (memory, folder) = (compile_in_memory(&plan).unwrap(), Folder::new(place.root.join("tree")));
    let (mut ours, theirs) = (Manifest::read(&memory).unwrap(), Manifest::read(&folder).unwrap());
    ours.inputs.clone_from(&theirs.inputs);
    assert_eq!(ours, theirs);
    for path in ours.files.keys() {
        assert_eq!(memory.read(path.as_str()).unwrap(), folder.read(path.as_str()).unwrap());
    }
}

/// The tree is like the remains of an unsynced tree after a power failure.
#[test]
fn a_tree_whose_manifest_says_nothing_is_replaced_by_force() {
    let (place, plan) = (place(), SHAPE.plan());
    let root = place.root.join("tree");
    compile(&plan, &root, "", false).unwrap();
    let whole = fs::read(root.join("manifest.json")).unwrap();
    for file in ["manifest.json", "cables/plane-0.csv", "switches/p0-t0-001/ip.batch"] {
        fs::write(root.join(file), "").unwrap();
    }
    fs::write(root.join("stray"), "").unwrap();
    let error = compile(&plan, &root, "", false).unwrap_err().to_string();
    assert!(error.contains("`manifest.json` does not parse: EOF"), "{error}");
    assert!(error.ends_with("; `--force` replaces the tree, whatever is in it"), "{error}");
    compile(&plan, &root, "", true).unwrap();
    assert_eq!(fs::read(root.join("manifest.json")).unwrap(), whole);
    assert!(!root.join("stray").exists() && fs::metadata(root.join("cables/plane-0.csv")).unwrap().len() > 0);
}

/// A run that has nothing to do does not touch the folder, even if the previous run left files behind. But a
/// tree that was never synced is written again if the run has to sync it.
#[test]
fn a_tree_that_is_what_it_shall_be_is_not_touched() {
    let (place, plan) = (place(), SHAPE.plan());
    let root = place.root.join("tree");
    let run = |plan: &Plan, sync: SyncMode| {
        let (templates, all) = (Templates::builtin(), Selection::default());
        let job = Job::new(plan, &templates, blake3::hash(b""), all).unwrap();
        let report = write_tree(&job, Target { place: &root, force: false, sync }, &|_| {}).unwrap();
        (fs::metadata(&root).unwrap().ino(), report)
    };
    let (first, report) = run(&plan, SyncMode::No);
    assert_eq!((report.kept, report.written), (0, report.files));
    fs::create_dir(place.root.join(".tree.closc-new")).unwrap();
    let (second, again) = run(&plan, SyncMode::No);
    assert_eq!((second, again.kept, again.bytes), (first, report.files, report.bytes));
    assert!(!place.root.join(".tree.closc-new").exists(), "what a killed run left is removed");
    let (synced, _) = run(&plan, SyncMode::Yes);
    assert_ne!(synced, first, "unsynced bytes do not count as being on the disk");
    assert_eq!(run(&plan, SyncMode::Yes).0, synced);
    // A missing or different file is written again.
    fs::remove_file(root.join("switches/p0-t0-001/ip.batch")).unwrap();
    let (restored, report) = run(&plan, SyncMode::Yes);
    assert_eq!((restored != synced, report.written), (true, 1));
    fs::write(root.join("manifest.json"), fs::read_to_string(root.join("manifest.json")).unwrap() + "\n")
        .unwrap();
    let (stated, report) = run(&plan, SyncMode::Yes);
    assert_eq!((stated != restored, report.written), (true, 0));
    let exceptions = "exceptions: { drained: [p0-t1-001] }\n".to_owned();
    assert_ne!(run(&Shape { exceptions, ..SHAPE }.plan(), SyncMode::Yes).0, stated);
}

/// The cache beside a tree may be missing or unusable. A part that is compiled into the tree still keeps the
/// rest of it.
#[test]
fn a_part_leaves_the_rest_without_the_cache_too() {
    let plan = SHAPE.plan();
    for force in [false, true] {
        let place = place();
        let root = place.root.join("tree");
        compile(&plan, &root, "", false).unwrap();
        let before = Manifest::read(&Folder::new(&root)).unwrap();
        fs::remove_file(place.root.join(".tree.closc")).unwrap();
        compile(&plan, &root, "plane=1,tier=t0", force).unwrap();
        assert_eq!(Manifest::read(&Folder::new(&root)).unwrap(), before);
        let again = compile(&plan, &root, "", false).unwrap();
        assert_eq!(again.removed, 0);
        assert_eq!(Manifest::read(&Folder::new(&root)).unwrap(), before);
    }
}

#[test]
fn archives_at_once_each_leave_a_whole_one() {
    let (place, plan) = (place(), SHAPE.plan());
    let file = place.root.join("tree.tar.zst");
    let templates = Templates::builtin();
    std::thread::scope(|scope| {
        for _ in 0..24 {
            scope.spawn(|| {
                let job = Job::new(&plan, &templates, blake3::hash(b""), Selection::default()).unwrap();
                archive(&job, &file, SyncMode::No, &|_| {}).unwrap();
            });
        }
    });
    let mut tar = tar::Archive::new(zstd::Decoder::new(fs::File::open(&file).unwrap()).unwrap());
    assert!(tar.entries().unwrap().map(|entry| entry.unwrap().size()).sum::<u64>() > 0);
    assert_eq!(fs::read_dir(&place.root).unwrap().count(), 1, "nothing partial is left");
}
