//! The committed pipelines match their sources, and the embedded pipelines match the committed ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use closc_entries::{Pipeline, pipeline_files};

fn folder(pipeline: &Pipeline) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pipelines").join(pipeline.name())
}

fn sha256(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// The lines of `<name>.digest`, as `sha256sum` writes them.
fn digests(pipeline: &Pipeline) -> Vec<(String, String)> {
    let path = folder(pipeline).join(format!("{}.digest", pipeline.name()));
    let text = fs::read_to_string(&path).expect("every pipeline has its digests beside it");
    let pair = |line: &str| line.split_once("  ").map(|(digest, file)| (file.to_owned(), digest.to_owned()));
    text.lines().map(|line| pair(line).expect("a digest, two spaces, a path")).collect()
}

/// Sources below a folder, relative to it.
fn sources(root: &Path, below: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(root.join(below)).expect("a folder") {
        let entry = entry.expect("an entry of the folder");
        let path = below.join(entry.file_name());
        if entry.file_type().expect("its kind").is_dir() {
            sources(root, &path, found);
        } else if path.extension().is_some_and(|ending| ending == "p4") {
            found.push(path.to_str().expect("a path in ASCII").to_owned());
        }
    }
}

#[test]
fn artefacts_match_their_sources() {
    for pipeline in Pipeline::all() {
        let (root, name) = (folder(pipeline), pipeline.name());
        let digests = digests(pipeline);
        for (file, digest) in &digests {
            let bytes = fs::read(root.join(file)).unwrap_or_else(|error| panic!("{name}/{file}: {error}"));
            assert_eq!(
                &sha256(&bytes),
                digest,
                "{name}/{file} does not match {name}.digest: run p4/pipelines/build"
            );
        }
        let mut wanted = vec![format!("{name}.p4info.txtpb")];
        wanted.extend(pipeline.bmv2().map(|_| format!("{name}.bmv2.json")));
        sources(&root, Path::new(""), &mut wanted);
        for file in wanted {
            assert!(digests.iter().any(|(listed, _)| *listed == file), "{name}.digest does not list {file}");
        }
    }
}

#[test]
fn embedded_files_match_the_committed_ones() {
    for pipeline in Pipeline::all() {
        let read = |ending: &str| {
            let path = folder(pipeline).join(format!("{}.{ending}", pipeline.name()));
            fs::read_to_string(path).expect("a committed artefact")
        };
        let files = pipeline_files(pipeline);
        assert_eq!(files[0].path, format!("p4/{}.p4info.txtpb", pipeline.name()));
        assert_eq!(files[0].text, read("p4info.txtpb"));
        let program = files.get(1).map(|file| file.text.clone());
        assert_eq!(program, pipeline.bmv2().map(|_| read("bmv2.json")));
    }
}

/// The Tofino compiler builds the committed P4Info from the committed sources, except for the numbers that it assigns.
/// `CLOSC_BF_P4C` is the path of the compiler.
#[test]
fn the_compiler_of_tofino_makes_the_committed_p4info() {
    let Some(compiler) = std::env::var_os("CLOSC_BF_P4C") else {
        closc_skip::skip("CLOSC_BF_P4C is not set; expected the path of p4c's compiler for Tofino");
        return;
    };
    let pipeline = Pipeline::all().iter().find(|one| one.name() == "fabric_tna").expect("a known pipeline");
    let made = std::env::temp_dir().join(format!("closc-bf-p4c-{}", process::id()));
    fs::create_dir_all(&made).expect("an output folder");
    let p4info = made.join("p4info.txtpb");
    let run = Command::new(compiler)
        .current_dir(folder(pipeline))
        .args(["--target", "tofino2", "--arch", "t2na", "--p4runtime-force-std-externs"])
        .arg("--p4runtime-files")
        .arg(&p4info)
        .arg("-o")
        .arg(&made)
        .arg("fabric_tna.p4")
        .output()
        .expect("the compiler starts");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let text = fs::read_to_string(&p4info);
    fs::remove_dir_all(&made).expect("the output folder can be removed");
    assert!(run.status.success(), "{said}");
    let committed =
        fs::read_to_string(folder(pipeline).join("fabric_tna.p4info.txtpb")).expect("a committed file");
    assert_eq!(replace_ids(&text.expect("the compiler wrote a P4Info")), replace_ids(&committed));
}

/// Returns the lines of a P4Info, with names instead of the numbers that a compiler assigns. Externs of the
/// architecture (`externs`) are omitted, because the committed P4Info has none.
fn replace_ids(p4info: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let is_known = |line: &&str| {
        let was_inside = depth > 0;
        match (*line, was_inside) {
            ("externs {", false) => depth = 1,
            ("}", true) => depth -= 1,
            (line, true) if line.ends_with('{') => depth += 1,
            _ => {}
        }
        depth == 0 && !was_inside
    };
    let lines: Vec<&str> = p4info.lines().map(str::trim).filter(is_known).collect();
    let value =
        |line: &str, key: &str| line.strip_prefix(key).map(|value| value.trim_matches('"').to_owned());
    // A preamble has its id in the line before its name. So do fields and parameters, but their ids count
    // from 1 with both p4c and the compiler for Tofino. Such short ids are not replaced by names.
    let names: BTreeMap<String, String> = lines
        .windows(2)
        .filter_map(|pair| Some((value(pair[0], "id: ")?, value(pair[1], "name: ")?)))
        .filter(|(id, _)| id.len() > 4)
        .collect();
    let line = |line: &str| match line.split_once(": ") {
        Some((key, id)) if key.ends_with("id") || key.ends_with("ids") => {
            format!("{key}: {}", names.get(id).map_or(id, String::as_str))
        }
        _ => line.to_owned(),
    };
    lines.iter().filter(|line| !line.starts_with('#')).map(|each| line(each)).collect()
}
