//! Compiles fabrics for tests, each into a separate folder.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use closc_lab::{Interrupt, LabError, Options, Watch};
use closc_plan::Plan;
use serde_json::json;

pub(crate) mod simulated_backend;

/// A compiled tree and a runtime folder, removed when dropped.
pub(crate) struct CompiledTree {
    _folder: tempfile::TempDir,
    pub(crate) fabric: String,
    routing: &'static str,
    pub(crate) tree: Utf8PathBuf,
    pub(crate) options: Options,
}

/// Compiles a fabric with a unique name, because its namespaces are visible on the complete machine.
pub(crate) fn compile(yaml: &str, fabric: &str) -> CompiledTree {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let fabric = format!("{fabric}{}x{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let plan = plan(yaml, &fabric);
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap().to_owned();
    let tree = root.join("tree");
    for (path, bytes) in closc_compile::compile_in_memory(&plan).unwrap().files {
        let path = tree.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let options = Options { runtime: root.join("run"), ..Options::default() };
    let compiled =
        CompiledTree { _folder: folder, fabric, routing: plan.topology().routing.keyword(), tree, options };
    compiled.seal();
    compiled
}

impl CompiledTree {
    /// Writes the manifest for the current files.
    pub(crate) fn seal(&self) {
        let entry = |path: &Utf8Path| {
            let bytes = fs::read(self.tree.join(path)).unwrap();
            json!({ "size": bytes.len(), "blake3": blake3::hash(&bytes).to_string() })
        };
        let mut files = Vec::new();
        below(&self.tree, &mut files);
        let relative = files.iter().map(|path| path.strip_prefix(&self.tree).unwrap());
        let files: BTreeMap<String, serde_json::Value> = relative
            .filter(|path| *path != "manifest.json")
            .map(|path| (path.to_string(), entry(path)))
            .collect();
        let manifest = json!({
            "format": "closc-manifest/1", "fabric": self.fabric, "routing": self.routing, "files": files,
        });
        fs::write(self.tree.join("manifest.json"), manifest.to_string()).unwrap();
    }
}

/// Lists the regular files below a folder.
fn below(folder: &Utf8Path, files: &mut Vec<Utf8PathBuf>) {
    for entry in folder.read_dir_utf8().unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            below(entry.path(), files);
        } else if kind.is_file() {
            files.push(entry.into_path());
        }
    }
}

/// Returns the text of a shipped topology, for example `lab/two-planes`.
pub(crate) fn shipped(name: &str) -> String {
    let path = format!("{}/../../topologies/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(path).unwrap()
}

fn plan(yaml: &str, fabric: &str) -> Plan {
    let line = yaml.lines().find(|line| line.starts_with("fabric:")).unwrap();
    closc_tests::shape::plan(&yaml.replace(line, &format!("fabric: {fabric}")))
}

/// Runs a function without progress output.
pub(crate) fn quietly<R>(work: impl FnOnce(&Watch<'_>) -> R) -> R {
    work(&Watch::new(&|_| {}, &Interrupt::default()))
}

/// Returns whether this machine can run a lab, and reports the reason if not.
pub(crate) fn can_run() -> bool {
    match closc_lab::backend::linux::check_features() {
        Ok(()) => true,
        Err(error @ (LabError::NotRoot | LabError::Missing(_))) => {
            closc_skip::skip(format_args!("{error}"));
            false
        }
        Err(error) => panic!("{error}"),
    }
}
