//! Parts on the command line: compiled, verified and merged as in `docs/parts.md`. Also with archives instead of
//! folders.

use std::process::Command;

use crate::common::{self, Place, small_fabric};

fn place() -> Place {
    let place = Place::new();
    place.write("fabric.yaml", small_fabric("parts", 2, "linux", "linux"));
    place
}

fn parts(place: &Place) {
    for shard in ["0", "1"] {
        let (out, name, sum) =
            (format!("parts/{shard}"), format!("{shard}/2"), format!("parts/{shard}.json"));
        place.ends(0, &["compile", "fabric.yaml", "--out", &out, "--shard", &name]);
        assert!(std::fs::metadata(place.path(&out)).unwrap().is_dir(), "{sum}");
    }
    for shard in ["0", "1"] {
        let (tree, sum) = (format!("parts/{shard}"), format!("parts/{shard}.json"));
        place.ends(0, &["verify", &tree, "--summary", &sum, "--tables", "parts/0", "parts/1"]);
    }
}

/// Returns the line of a report with a prefix.
fn line(report: &str, start: &str) -> String {
    report.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{report}")).to_owned()
}

#[test]
fn merged_parts_are_the_whole() {
    let place = place();
    std::fs::create_dir(place.path("parts")).unwrap();
    parts(&place);
    place.ends(0, &["compile", "fabric.yaml", "--out", "whole"]);
    let whole = place.ends_with_output(0, &["verify", "whole"]);
    let merged = place.ends_with_output(0, &["merge", "parts/0.json", "parts/1.json"]);
    for start in ["paths: ", "load of all to all"] {
        assert_eq!(line(&whole, start), line(&merged, start));
    }
    let devices = |report: &str| line(report, "parts: ").split("; ").nth(1).map(str::to_owned);
    assert_eq!(devices(&whole), devices(&merged));
    // `docs/parts.md` lists the differences.
    let rules = |args: &[&str]| {
        let text = place.ends_with_output(0, &[args, &["--format", "json"]].concat());
        let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let codes = report["rules"].as_array().expect("a list").iter().map(|rule| rule["code"].to_string());
        (codes.collect::<std::collections::BTreeSet<_>>(), report["walk"].is_object())
    };
    let (of_tree, of_parts) =
        (rules(&["verify", "whole"]), rules(&["merge", "parts/0.json", "parts/1.json"]));
    assert!(
        of_tree.1
            && !of_parts.1
            && whole.contains("tested individually")
            && !merged.contains("tested individually")
    );
    assert_eq!(of_tree.0.difference(&of_parts.0).collect::<Vec<_>>(), ["\"V0806\""]);
    let why = place.ends(1, &["merge", "parts/0.json"]);
    assert!(why.contains("no part has plane 1"), "{why}");
    let why = place.ends(1, &["verify", "parts/0", "--summary", "s.json"]);
    assert!(why.contains("there is no path table of group 2 of zone 0"), "{why}");
    for (terms, out) in [("plane=0", "a"), ("plane=1", "b"), ("tier=hosts", "c")] {
        place.ends(0, &["verify", "whole", "--select", terms, "--summary", out]);
    }
    assert_eq!(
        line(&place.ends_with_output(0, &["merge", "a", "b", "c"]), "paths: "),
        line(&whole, "paths: ")
    );
    let why = place.ends(1, &["verify", "whole", "--select", "tier=t0"]);
    assert!(
        why.contains("the selection contains only some switches of a plane; expected `--select plane=P`"),
        "{why}"
    );
}

#[test]
fn an_archive_is_read_where_it_is() {
    let place = place();
    for (out, shard) in [("a.tar.zst", "0/2"), ("b.tar.zst", "1/2"), ("whole.tar.zst", "0/1")] {
        place.ends(0, &["compile", "fabric.yaml", "--out", out, "--shard", shard]);
    }
    place.ends(0, &["compile", "fabric.yaml", "--out", "tree"]);
    let (packed, folder) = (
        place.ends_with_output(0, &["verify", "whole.tar.zst"]),
        place.ends_with_output(0, &["verify", "tree"]),
    );
    assert_eq!(packed, folder);
    for (archive, out) in [("a.tar.zst", "a.json"), ("b.tar.zst", "b.json")] {
        place.ends(0, &["verify", archive, "--summary", out, "--tables", "a.tar.zst", "b.tar.zst"]);
    }
    place.ends(0, &["merge", "a.json", "b.json"]);
    place.ends(0, &["diff", "whole.tar.zst", "tree"]);
    place.ends(2, &["diff", "a.tar.zst", "tree"]);
    place.write("hostile.tar.zst", b"no zstd");
    let why = place.ends(1, &["verify", "hostile.tar.zst"]);
    assert!(
        why.contains("cannot read the archive `hostile.tar.zst`: in the frame that begins at byte 0 of 7: "),
        "{why}"
    );
}

/// Runs the examples of `docs/parts.md` whose programs are installed.
#[test]
fn jobs_of_the_document_run() {
    let text = std::fs::read_to_string(common::root().join("docs/parts.md")).unwrap();
    let blocks: Vec<&str> =
        text.split("\n```sh\n").skip(1).map(|block| block.split("\n```").next().unwrap()).collect();
    let place = place();
    place.write("fabric.yaml", small_fabric("parts", 8, "linux", "linux"));
    std::fs::create_dir(place.path("parts")).unwrap();
    let path = format!(
        "{}:{}",
        std::path::Path::new(env!("CARGO_BIN_EXE_closc")).parent().unwrap().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    // Simulates an array job of `sbatch`.
    place.write("part.sh", blocks[1]);
    for what in ["compile", "verify"] {
        for task in 0..8 {
            let mut command = place.program("sh");
            command.args(["part.sh", what]).env("PATH", &path);
            command.env("SLURM_ARRAY_TASK_ID", task.to_string()).env("SLURM_ARRAY_TASK_MAX", "7");
            assert!(command.status().unwrap().success(), "{what} {task}");
        }
    }
    let all: Vec<String> = (0..8).map(|task| format!("parts/{task}.json")).collect();
    let arguments: Vec<&str> = std::iter::once("merge").chain(all.iter().map(String::as_str)).collect();
    place.ends(0, &arguments);
    if Command::new("parallel").arg("--version").output().is_err() {
        closc_skip::skip("GNU parallel is not installed");
        return;
    }
    let run = place.program("sh").args(["-ec", blocks[0]]).env("PATH", &path).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
