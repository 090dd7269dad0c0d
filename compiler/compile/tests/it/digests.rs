//! Shipped fabric files compile to the bytes of the list `tests/digests.txt`, so that no change to existing trees goes
//! unnoticed.
//!
//! In: the files of `topologies` below a size. Out: one line per fabric file and kind of artefact, with the number of
//! artefacts and their common digest. `CLOSC_BLESS=1` rewrites the list; review it before you commit.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::paths;
use closc_compile::compile_in_memory;
use closc_compile::front::{Options, Source, read};
use closc_plan::Plan;

/// Larger fabrics would take most of the time of the test.
const DEVICES_MAX: usize = 2700;

/// Keys of the manifest that depend on the version of closc or on the text of templates.
const UNSTABLE_KEYS: [&str; 4] = ["closc", "source", "inputs", "files"];

fn root() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the shipped fabric files, by their paths in the repository.
fn fabric_files() -> Vec<String> {
    let mut folders = vec![root().join("topologies")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir_utf8().expect("topologies are in the repository") {
            let path = entry.expect("a folder can be read").into_path();
            let is_other = ["scenarios", "platforms"].contains(&path.file_name().unwrap_or_default());
            if path.is_dir() && !is_other {
                folders.push(path);
            } else if path.extension() == Some("yaml") {
                files.push(path.strip_prefix(root()).expect("it is in the repository").to_string());
            }
        }
    }
    files.sort();
    files
}

/// Plans a fabric file, with the platform files beside it.
fn plan(file: &str) -> Plan {
    let path = root().join(file);
    let site = path.with_file_name("platforms");
    let options =
        Options { platforms: site.is_dir().then_some(site).into_iter().collect(), ..Options::default() };
    let reading = read(&Source::File(path), &options).expect("the file can be read");
    reading.plan.unwrap_or_else(|| panic!("{file} is not valid"))
}

/// Returns the lines of one fabric: one per kind of artefact.
fn digest_lines(file: &str, plan: &Plan) -> String {
    let mut kinds: BTreeMap<String, (usize, blake3::Hasher)> = BTreeMap::new();
    for (path, bytes) in compile_in_memory(plan).expect("a valid fabric compiles").files {
        let name = path.file_name().expect("artefacts have names");
        // Names such as `cables/plane-3.csv` and `50-closc-nic3p0.network` differ in their numbers only.
        let kind: String = name.chars().filter(|sign| !sign.is_ascii_digit()).collect();
        let bytes = if path == paths::MANIFEST { stable_manifest(&bytes) } else { bytes };
        let (count, digest) = kinds.entry(kind).or_default();
        *count += 1;
        digest.update(path.as_str().as_bytes()).update(&[0]).update(blake3::hash(&bytes).as_bytes());
    }
    kinds.into_iter().fold(String::new(), |mut text, (kind, (count, digest))| {
        let hex = digest.finalize().to_hex();
        let _ = writeln!(text, "{file} {kind} {count} {}", &hex[..16]);
        text
    })
}

/// Returns the manifest without keys that change although no artefact does.
fn stable_manifest(bytes: &[u8]) -> Vec<u8> {
    let mut manifest: serde_json::Value = serde_json::from_slice(bytes).expect("the manifest is JSON");
    let object = manifest.as_object_mut().expect("the manifest is an object");
    for key in UNSTABLE_KEYS {
        assert!(object.remove(key).is_some(), "the manifest has `{key}`");
    }
    manifest.to_string().into_bytes()
}

#[test]
fn shipped_fabrics_keep_their_bytes() {
    let mut found = String::new();
    let mut count = 0;
    for file in fabric_files() {
        let plan = plan(&file);
        let devices = plan.switches().count() + plan.fabric().nics().take(DEVICES_MAX + 1).count();
        if devices <= DEVICES_MAX {
            count += 1;
            found += &digest_lines(&file, &plan);
        }
    }
    assert!(count > 20, "only {count} fabrics are small");
    let list = root().join("tests/digests.txt");
    if std::env::var_os("CLOSC_BLESS").is_some() {
        std::fs::write(&list, &found).expect("the list can be written");
    }
    let expected = std::fs::read_to_string(&list).expect("the list is in the repository");
    let lacks = |text: &str, line: &str| text.lines().all(|other| other != line);
    let changed: Vec<&str> = found.lines().filter(|line| lacks(&expected, line)).collect();
    let gone: Vec<&str> = expected.lines().filter(|line| lacks(&found, line)).collect();
    assert!(
        changed.is_empty() && gone.is_empty(),
        "these artefacts differ from `tests/digests.txt`; if that is intended, renew the list with CLOSC_BLESS=1:\n\
         found {changed:#?}\nexpected {gone:#?}"
    );
}
