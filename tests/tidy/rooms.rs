//! Division of work: crates that touch files and write them, inputs of render, and names in documents.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{code, crates, files, root};

/// Crates that touch files. All others are functions of their inputs.
const TOUCH_FILES: &[(&str, &str)] = &[
    ("audit", "audit logs are appended to"),
    ("cli", "what people name on a command line"),
    ("collect", "the state of denials"),
    ("compile", "trees are written"),
    ("deploy", "files of the kernel that tell processes apart, for leases"),
    ("files", "what other files name, and writing files completely"),
    ("log", "asks whether stderr is the journal"),
    ("lab", "kernel settings, logs and the state of what is up"),
    ("nic", "kernel settings and denials of a host"),
    ("runtime", "sockets, certificates"),
    ("switch", "pipelines, logs, captures, certificates"),
];

/// Calls that write, rename or link a file without waiting for the disk, in two halves so that this file has
/// none of them.
const BARE: &[(&str, &str)] = &[
    ("fs::", "write("),
    ("fs::", "rename("),
    ("fs::", "copy("),
    ("fs::", "hard_link("),
    ("File::", "create("),
    ("File::", "create_new("),
    ("File::", "options("),
    ("OpenOptions::", "new("),
    (".per", "sist("),
];

/// Files that may use these calls. Everything else goes through `closc_files::disk`, so that a file is
/// complete or absent, even after a power failure.
const WRITERS: &[(&str, &str)] = &[
    ("compiler/files/src/disk.rs", "the synced writer itself"),
    ("compiler/audit/src/sink.rs", "an audit log is appended to, and synced line by line"),
    ("compiler/cli/src/commands/audit.rs", "nothing is written: a log is opened to be read"),
    ("compiler/compile/src/swap.rs", "a tree is synced as a whole before it is exchanged"),
    ("compiler/compile/src/write.rs", "a tree is synced as a whole before it is exchanged"),
    ("compiler/files/src/lib.rs", "nothing is written: a secret is opened to be read"),
    ("compiler/lab/src/backend/bmv2/switches.rs", "a log of a process"),
    ("compiler/lab/src/backend/embedded/process.rs", "a log of a process"),
    ("compiler/lab/src/backend/linux/apply.rs", "settings of the kernel"),
    ("compiler/lab/src/backend/linux/routers.rs", "configuration of daemons that end with the lab"),
    ("compiler/lab/src/backend/linux/wire.rs", "settings of the kernel"),
    ("compiler/lab/src/job/agents.rs", "a log of a process"),
    ("compiler/lab/src/lab/state.rs", "a lock"),
    ("host/collect/src/io/disk.rs", "a lock"),
    ("host/nic/src/io/doctor.rs", "a device of the kernel"),
    ("host/nic/src/io/run.rs", "a region of bytes that a person names"),
    ("host/nic/src/io/hold.rs", "nothing is written: the file is there to be held"),
    ("host/nic/src/io/state.rs", "hosts import nothing of the compiler; denials are synced there"),
    ("host/nic/src/io/sys.rs", "a device of the kernel"),
    ("p4/switch/src/command/log.rs", "a log"),
    ("p4/switch/src/ports/interfaces.rs", "a capture of packets"),
];

/// The sources of all crates, without tests, examples and build scripts: path below the root, and code.
pub(super) fn sources() -> Vec<(String, String)> {
    let folders: Vec<_> = crates().into_values().map(|folder| folder.join("src")).collect();
    files(".rs")
        .into_iter()
        .filter(|file| folders.iter().any(|folder| file.starts_with(folder)))
        .filter(|file| file.file_name().is_none_or(|name| name != "tests.rs"))
        .filter(|file| !file.starts_with(root().join("tests")))
        .map(|file| {
            let text = fs::read_to_string(&file).expect("a tracked file can be read");
            let path = file.strip_prefix(root()).expect("it is below the root").display().to_string();
            (path, code(&text))
        })
        .collect()
}

#[test]
fn only_named_crates_touch_files() {
    for (path, text) in sources() {
        let name = path.split('/').nth(1).unwrap_or_default();
        if TOUCH_FILES.iter().any(|(listed, _)| *listed == name) {
            continue;
        }
        for word in ["std::fs", "tokio::fs", "read_dir_utf8"] {
            assert!(!text.contains(word), "{path} uses {word}: closc-{name} is not to touch files");
        }
    }
}

#[test]
fn files_are_written_by_the_synced_writer() {
    let mut bare = BTreeSet::new();
    for (path, text) in sources() {
        let Some((first, second)) = BARE.iter().find(|(a, b)| text.contains(&[*a, *b].concat())) else {
            continue;
        };
        let listed = WRITERS.iter().any(|(listed, _)| *listed == path);
        assert!(
            listed,
            "{path} has {first}{second}..): use closc_files::disk, or name the file with a reason"
        );
        bare.insert(path);
    }
    for (path, _) in WRITERS.iter().filter(|_| !bare.is_empty()) {
        assert!(bare.contains(*path), "{path} is listed as a writer and is none");
    }
}

/// Intents are complete: render uses neither the plan nor the topology nor the fabric.
#[test]
fn render_sees_intents_only() {
    let manifest = fs::read_to_string(root().join("compiler/render/Cargo.toml")).expect("it is there");
    let own = manifest.split("[dev-dependencies]").next().unwrap_or_default();
    for name in ["fabric", "compile", "diagnostics", "files"] {
        assert!(!own.contains(&format!("closc-{name}")), "closc-render imports closc-{name}");
    }
    for (path, text) in sources().into_iter().filter(|(path, _)| path.starts_with("compiler/render/")) {
        let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
        for word in ["Plan", "Topology"] {
            let found = text.split(|sign| !is_part(sign)).any(|part| part == word);
            assert!(!found, "{path} names `{word}`: an intent has to say what render needs");
        }
    }
}

/// Paths in documents: links, and text in backticks that begins with a folder of the repository.
#[test]
fn what_documents_name_is_there() {
    for file in files(".md").into_iter().filter(|file| !file.display().to_string().contains("/expected/")) {
        let folder = file.parent().expect("a file is in a folder");
        let text = fs::read_to_string(&file).expect("a tracked file can be read");
        let mut is_example = false;
        for (at, line) in text.lines().enumerate() {
            if line.starts_with("```") {
                is_example = !is_example;
            }
            if is_example {
                continue;
            }
            let quoted = line.split('`').skip(1).step_by(2).filter(|quoted| is_path(quoted));
            for path in quoted {
                assert!(is_there(folder, path), "{}:{}: there is no `{path}`", file.display(), at + 1);
            }
            let links = line.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next());
            for link in links.filter(|link| !link.is_empty() && !link.contains(':')) {
                assert!(folder.join(link).exists(), "{}:{}: there is no {link}", file.display(), at + 1);
            }
        }
    }
}

/// Folders to which paths in documents are relative.
const BASES: &[&str] = &["", "compiler", "p4", "host"];

fn is_path(quoted: &str) -> bool {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "_-./:".contains(sign);
    let Some((first, _)) = quoted.split_once('/') else { return false };
    let is_folder = |base: &&str| root().join(base).join(first).is_dir();
    quoted.chars().all(plain) && !first.is_empty() && !first.starts_with('.') && BASES.iter().any(is_folder)
}

fn is_there(folder: &Path, path: &str) -> bool {
    let path = path.split(':').next().unwrap_or_default();
    let bases = BASES.iter().map(|base| root().join(base)).chain([folder.to_owned(), folder.join("src")]);
    bases.into_iter().any(|base| base.join(path).exists())
}
