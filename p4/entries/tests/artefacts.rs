//! The committed pipelines are what their sources say, and what is embedded is what is committed.

use std::fs;
use std::path::{Path, PathBuf};

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
fn artefacts_are_those_of_their_sources() {
    for pipeline in Pipeline::all() {
        let (root, name) = (folder(pipeline), pipeline.name());
        let digests = digests(pipeline);
        for (file, digest) in &digests {
            let bytes = fs::read(root.join(file)).unwrap_or_else(|error| panic!("{name}/{file}: {error}"));
            assert_eq!(
                &sha256(&bytes),
                digest,
                "{name}/{file} is not what {name}.digest speaks of: run p4/pipelines/build"
            );
        }
        let mut wanted = vec![format!("{name}.bmv2.json"), format!("{name}.p4info.txtpb")];
        sources(&root, Path::new(""), &mut wanted);
        for file in wanted {
            assert!(digests.iter().any(|(listed, _)| *listed == file), "{name}.digest does not list {file}");
        }
    }
}

#[test]
fn what_is_embedded_is_what_is_committed() {
    for pipeline in Pipeline::all() {
        let read = |ending: &str| {
            let path = folder(pipeline).join(format!("{}.{ending}", pipeline.name()));
            fs::read_to_string(path).expect("a committed artefact")
        };
        let [p4info, bmv2] = pipeline_files(pipeline);
        assert_eq!((p4info.text, bmv2.text), (read("p4info.txtpb"), read("bmv2.json")));
        assert_eq!(p4info.path, format!("p4/{}.p4info.txtpb", pipeline.name()));
    }
}
