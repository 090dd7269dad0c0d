//! Packet tests written down as STF: those of this project's pipelines, and of any folder of samples that is named.
//!
//! `CLOSC_P4_SAMPLES` names a folder with one folder for each sample, in it `NAME.json` and `NAME.stf`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use closc_switch::{Engine, EngineConfig, Program, Script};

fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// Runs scripts against a program; returns what went wrong.
fn check(program: &Path, scripts: &[PathBuf], priority_queues: usize) -> Vec<String> {
    let name = |path: &Path, problem: String| format!("{}: {problem}", path.display());
    let loaded = std::fs::read(program).map_err(|error| error.to_string());
    let loaded = loaded.and_then(|text| Program::from_json(&text).map_err(|error| error.to_string()));
    let loaded = match loaded {
        Ok(loaded) => Arc::new(loaded),
        Err(problem) => return vec![name(program, problem)],
    };
    let one = |script: &PathBuf| {
        let text = std::fs::read_to_string(script).map_err(|error| error.to_string())?;
        let script = Script::parse(&text).map_err(|fault| fault.to_string())?;
        let config = EngineConfig { priority_queues, ..EngineConfig::default() };
        script.run(&mut Engine::new(Arc::clone(&loaded), config)).map_err(|fault| fault.to_string())
    };
    scripts.iter().filter_map(|script| one(script).err().map(|problem| name(script, problem))).collect()
}

#[test]
fn pipelines_of_this_project() {
    let pipelines = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pipelines");
    let (mut scripts, mut faults) = (0, Vec::new());
    for pipeline in listed(&pipelines) {
        let found: Vec<PathBuf> =
            listed(&pipeline.join("stf")).into_iter().filter(|path| has_extension(path, "stf")).collect();
        scripts += found.len();
        for program in listed(&pipeline).iter().filter(|path| has_extension(path, "json")) {
            faults.extend(check(program, &found, 8));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(scripts > 0, "no script in {}", pipelines.display());
}

#[test]
fn samples_of_others() {
    let Some(folder) = std::env::var_os("CLOSC_P4_SAMPLES") else {
        closc_skip::skip("CLOSC_P4_SAMPLES names no folder of samples");
        return;
    };
    let (mut samples, mut faults) = (0, Vec::new());
    for sample in listed(Path::new(&folder)) {
        let Some(name) = sample.file_name().and_then(|name| name.to_str()) else { continue };
        let (program, script) = (sample.join(format!("{name}.json")), sample.join(format!("{name}.stf")));
        if program.exists() && script.exists() {
            samples += 1;
            faults.extend(check(&program, &[script], 1));
        }
    }
    println!("{samples} samples");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
