//! Contract with scripts, as in `docs/cli.md`: exit codes, schemas, standard input and output.

use std::io::Write as _;
use std::process::Stdio;

use crate::common::{self, Place};

const FILE: &str = "topologies/lab/two-planes-p4.yaml";

/// A folder with two fabric files that differ, and a tree of each.
fn place() -> Place {
    let place = Place::new();
    let text = place.read(FILE);
    let other = text.replace("t0-t1: { length: 1m", "t0-t1: { length: 3m");
    assert_ne!(text, other);
    place.write("a.yaml", &text);
    place.write("b.yaml", other);
    place.ends(0, &["compile", "a.yaml", "--out", "a"]);
    place
}

/// With a closed pager or a full disk behind stdout and stderr, the command still does its work and returns the usual
/// exit code.
#[test]
fn nobody_who_reads_changes_nothing() {
    let place = place();
    let closed = || std::io::pipe().expect("a pipe").1;
    let full = || std::fs::File::options().write(true).open("/dev/full").expect("a full device");
    let code = |command: &mut std::process::Command| command.status().expect("closc runs").code();
    let before = place.read("a.yaml");
    assert_eq!(
        code(place.command(&["drain", "-w", "p0-t1-001", "a.yaml"]).stdout(closed()).stderr(closed())),
        Some(0)
    );
    let drained = place.read("a.yaml");
    assert!(drained != before && drained.contains("p0-t1-001"), "{drained}");
    assert_eq!(
        code(place.command(&["undrain", "-w", "p0-t1-001", "a.yaml"]).stdout(closed()).stderr(full())),
        Some(0)
    );
    assert!(!place.read("a.yaml").contains("p0-t1-001"));
    assert_eq!(code(place.command(&["diff", "a.yaml", "b.yaml"]).stdout(closed())), Some(2));
    place.write("wrong.yaml", "fabric: 3\n");
    for format in ["human", "json", "github"] {
        let mut check = place.command(&["check", "wrong.yaml", "--format", format]);
        assert_eq!(code(check.stdout(closed()).stderr(full())), Some(1), "{format}");
    }
    // A tree is written even if a warning cannot be printed.
    let warned = place.command(&["compile", "a.yaml", "--out", "again"]).stderr(full()).status();
    assert_eq!(warned.expect("closc runs").code(), Some(0));
    assert!(place.path("again/manifest.json").is_file());
    // Output that cannot be written is a failure.
    assert_eq!(code(place.command(&["explain", "a.yaml"]).stdout(full()).stderr(closed())), Some(1));
    for asked in ["--help", "--version"] {
        assert_eq!(code(place.command(&[asked]).stdout(full())), Some(1), "{asked}");
        assert_eq!(code(place.command(&[asked]).stdout(closed())), Some(0), "{asked}");
    }
}

#[test]
fn wrong_usage_has_a_code_of_its_own() {
    let place = place();
    for words in [
        &["frob"][..],
        &[],
        &["check"],
        &["check", FILE, "--no-such-flag"],
        &["check", FILE, "--format", "toml"],
        &["check", FILE, "--format", "html"],
        &["diff"],
        &["diff", "a.yaml"],
        &["diff", "live", "live"],
        &["paths", FILE],
        &["lab"],
        &["lab", "frob"],
        &["lab", "up", FILE, "--listen", "nowhere"],
        &["verify", "a", "--walk", "many"],
        &["whatif", FILE, "--frob"],
        &["compile", FILE, "--out", "c", "--jobs", "1000000"],
        &["verify", "a", "-j", "1025"],
        &["paths", FILE, "su001-n001", "su002-n001", "--limit", "0"],
        &["push", "a", "--inventory", "lab", "--timeout", "18446744073709551615"],
        &["push", "a", "--inventory", "lab", "--max-parallel", "0"],
        &["watch", "a", "--inventory", "lab", "--interval", "0"],
        &["lab", "test", "a", "--sample", "0"],
        &["export", "ranks", FILE, "--out", "r", "--dp", "0"],
    ] {
        let output = place.closc(words);
        assert_eq!(output.status.code(), Some(64), "{words:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{words:?}");
    }
    for words in [&["--help"][..], &["--version"], &["lab", "--help"], &["help", "diff"]] {
        assert!(!place.ends(0, words).is_empty());
    }
}

/// If `--format json` is given, a usage error is a JSON document.
#[test]
fn wrong_usage_is_json_where_json_is_asked_for() {
    let place = place();
    for words in [
        &["check", "a.yaml", "--frob", "--format", "json"][..],
        &["--format=json", "frob"],
        &["explain", "device", "a.yaml", "--format", "json"],
        &["check", "--format", "json"],
    ] {
        let ended = place.closc(words);
        assert_eq!(ended.status.code(), Some(64), "{words:?}");
        let document: serde_json::Value = serde_json::from_slice(&ended.stdout).expect("a document");
        assert_eq!(document["schema"], "closc-error/1", "{words:?}");
        let error = document["error"].as_str().expect("a text");
        assert!(!error.is_empty() && !error.starts_with("error"), "{error}");
    }
    // Arguments after `--` are not options.
    let ended = place.closc(&["check", "--frob", "--", "--format", "json"]);
    assert!(ended.stdout.is_empty() && ended.status.code() == Some(64));
}

#[test]
fn empty_values_are_refused() {
    let place = place();
    for words in [
        &["export", "cables", "a.yaml", "--out", ""][..],
        &["compile", "a.yaml", "--out="],
        &["check", ""],
        &["drain", "", "a.yaml"],
        &["whatif", "a.yaml", "--fail", ""],
    ] {
        let ended = place.closc(words);
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(64), "{words:?}: {said}");
        assert!(said.contains("needs a value, not an empty string"), "{words:?}: {said}");
    }
    assert!(!place.path("cables").exists());
}

/// Tests every command in docs/commands.md, so new commands are included.
#[test]
fn every_verb_refuses_a_wrong_word_alike() {
    let place = place();
    let text = std::fs::read_to_string(common::root().join("docs/commands.md")).expect("it is in the tree");
    let verbs: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## closc ")).collect();
    assert!(verbs.len() > 50, "{verbs:?}");
    for verb in verbs {
        let words: Vec<&str> = verb.split(' ').chain(["--no-such-flag"]).collect();
        // Arguments after `switch` are parsed like those of `simple_switch_grpc`.
        let code = if verb == "switch" { 1 } else { 64 };
        let output = place.closc(&words);
        assert_eq!(output.status.code(), Some(code), "{words:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{words:?}");
        place.ends(0, &[&words[..words.len() - 1], &["--help"]].concat());
    }
}

/// The file comes first in every command; `drain` also accepts it after the name.
#[test]
fn a_file_may_come_first() {
    let place = place();
    let behind = place.ends(2, &["drain", "p0-t1-001", "a.yaml"]);
    assert_eq!(place.ends(2, &["drain", "a.yaml", "p0-t1-001"]), behind);
    place.ends(0, &["drain", "a.yaml", "p0-t1-001", "--write"]);
    place.ends(0, &["undrain", "a.yaml", "p0-t1-001", "--write"]);
    assert_eq!(place.read("a.yaml"), place.read(FILE));
}

/// A value that is valid for its type, but not for the fabric, is rejected with the fabric's numbers. The maximum of
/// a type is handled, too.
#[test]
fn numbers_that_the_fabric_does_not_have_are_refused() {
    let place = place();
    let why = place.ends(1, &["paths", FILE, "su001-n001", "su002-n001", "--plane", "9"]);
    assert!(why.contains("plane 9 does not exist; there are 2 planes, from 0 to 1"), "{why}");
    let why = place.ends(1, &["whatif", FILE, "--random", "t1=9"]);
    assert!(why.contains("`t1=9` is more than the 4 elements of kind `t1` in the fabric"), "{why}");
    let last = u64::MAX.to_string();
    let trials = ["whatif", FILE, "--random", "t0-t1=1", "--trials", "2", "--seed", &last];
    let json = place.json(0, &trials);
    assert_eq!(json["draws"].as_array().map(Vec::len), Some(2), "{json}");
    place.ends(0, &["compile", FILE, "--out", "c", "-j", "0"]);
}

#[test]
fn two_means_differences_and_nothing_else() {
    let place = place();
    place.ends(0, &["diff", "a.yaml", "a.yaml"]);
    place.ends(2, &["diff", "a.yaml", "b.yaml"]);
    place.ends(2, &["drain", "p0-t1-001", "b.yaml"]);
    place.ends(0, &["drain", "p0-t1-001", "b.yaml", "--write"]);
    place.ends(0, &["undrain", "p0-t1-001", "b.yaml", "--write"]);
    // Exit code 1: a failed check, or an unreadable file.
    place.ends(0, &["verify", "a"]);
    let entries = place.path("a/switches/p0-t0-001/entries.txtpb");
    let text = std::fs::read_to_string(&entries).expect("it is there");
    std::fs::write(&entries, text.replacen("port", "port ", 1)).expect("it is ours");
    place.ends(1, &["verify", "a"]);
    place.ends(1, &["verify", "nowhere"]);
    place.ends(1, &["check", "nowhere.yaml"]);
    place.ends(1, &["whatif", FILE, "--fail", "plane 0,plane 1"]);
    place.ends(0, &["whatif", FILE, "--fail", "p0-t1-001"]);
}

/// The first field of every document is its schema with a version.
#[test]
fn every_document_says_what_it_is() {
    let place = place();
    place.write("broken.yaml", "fabric: x\nplanes: many\n");
    let documents: [(i32, &[&str], &str); 19] = [
        (0, &["check", FILE], "closc-check/1"),
        (1, &["check", "broken.yaml"], "closc-diagnostics/1"),
        (1, &["check", "nowhere.yaml"], "closc-error/1"),
        (0, &["compile", "a.yaml", "--out", "c"], "closc-compile/1"),
        (0, &["verify", "a"], "closc-verify/1"),
        (2, &["diff", "a.yaml", "b.yaml"], "closc-diff/1"),
        (0, &["paths", FILE, "su001-n001", "su002-n001"], "closc-paths/1"),
        (0, &["platforms"], "closc-platforms/1"),
        (0, &["explain", "E0203"], "closc-code/1"),
        (0, &["explain", "codes"], "closc-codes/1"),
        (0, &["explain", "device", FILE, "p0-t0-001"], "closc-device/1"),
        (0, &["whatif", FILE, "--fail", "p0-t1-001"], "closc-whatif-answer/1"),
        (0, &["whatif", FILE], "closc-whatif-each/1"),
        (0, &["grow", "a.yaml", "a.yaml"], "closc-grow/1"),
        (0, &["lab", "status"], "closc-labs/1"),
        (0, &["lab", "up", "a"], "closc-lab-up/1"),
        (0, &["push", "a", "--inventory", "lab"], "closc-push/1"),
        (0, &["lab", "test", "a"], "closc-lab-test/1"),
        (0, &["lab", "down", "a"], "closc-lab-down/1"),
    ];
    for (code, words, schema) in documents {
        let text = place.ends_with_output(code, &[words, &["--format", "json"]].concat());
        let json: serde_json::Value =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{words:?}: {e}\n{text}"));
        assert_eq!(json["schema"], schema, "{words:?}");
        let first = text.lines().nth(1).unwrap_or(&text);
        assert!(first.contains("\"schema\""), "{words:?}: {first}");
    }
}

#[test]
fn a_dash_is_standard_input_and_output() {
    let place = place();
    let piped = |words: &[&str], input: &str| {
        let mut child = place
            .command(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("closc runs");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        (output.status.code(), String::from_utf8(output.stdout).expect("text"))
    };
    assert_eq!(piped(&["check", "-"], &place.read("a.yaml")).0, Some(0));
    let (code, saved) = piped(&["diff", "a.yaml", "b.yaml", "--out", "-"], "");
    assert_eq!(code, Some(2));
    let document: serde_json::Value = serde_json::from_str(&saved).expect("one document and nothing else");
    assert_eq!(document["schema"], "closc-diff/1");
    let (code, shown) = piped(&["diff", "--show", "-"], &saved);
    assert_eq!((code, shown), (Some(2), place.ends(2, &["diff", "a.yaml", "b.yaml"])));
}

/// Another user may have placed a symbolic link at the path of the output file or of its temporary file.
#[test]
fn a_file_is_not_written_through_links() {
    let place = place();
    place.write("victim", "theirs");
    for link in ["saved.diff", ".saved.diff.closc-new"] {
        std::os::unix::fs::symlink(place.path("victim"), place.path(link)).expect("a link");
    }
    place.ends(2, &["diff", "a.yaml", "b.yaml", "--out", "saved.diff"]);
    assert_eq!(place.read("victim"), "theirs");
    assert!(place.read("saved.diff").contains("closc-diff/1"));
}

#[test]
fn misspelt_folders_of_templates_are_refused() {
    let place = place();
    std::fs::create_dir_all(place.path("own/linx")).expect("a folder");
    place.write("own/linx/routes.j2", "x");
    let why = place.ends(1, &["compile", "a.yaml", "--out", "c", "--templates", "own"]);
    assert!(why.contains("`linx/routes.j2`") && why.contains("did you mean `linux/routes.j2`?"), "{why}");
}

/// An untrusted template is stopped, even if it loops forever.
#[test]
fn templates_without_end_are_refused() {
    let place = place();
    std::fs::create_dir_all(place.path("own/linux")).expect("a folder can be made");
    for hostile in [
        "{% for a in range(10000) %}{% for b in range(10000) %}{% for c in range(10000) %}{% endfor %}{% endfor %}{% endfor %}",
        "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}",
        "{% include 'linux/host.sysctl.j2' %}",
    ] {
        place.write("own/linux/host.sysctl.j2", hostile);
        let why = place.ends(1, &["compile", "a.yaml", "--out", "c", "--templates", "own"]);
        assert!(why.contains("host.sysctl.j2"), "{why}");
        assert!(!place.path("c").exists(), "{hostile}");
    }
}

/// The error for a value of the wrong kind names its kind and the expected one.
#[test]
fn things_of_another_kind_are_named() {
    let place = Place::new();
    place.write("fabric.yaml", place.read("topologies/lab/two-planes.yaml"));
    place.write("inventory.yaml", "devices: {}\n");
    let said = place.ends(1, &["push", "fabric.yaml", "--inventory", "inventory.yaml"]);
    let wanted =
        "error: `fabric.yaml` is a fabric file: name the folder of its tree, which `closc compile` writes";
    assert!(said.contains(wanted), "{said}");
    for (name, wanted) in [
        ("p0-t0-[001-002]", "error: `p0-t0-[001-002]` is a range of names: give one name at a time\n"),
        ("su001-n001", "error: `su001-n001` is a node: give its NIC ports, such as `su001-n001/nic0.p0`\n"),
        ("p0-t0-099", "error: no plane, switch or cable `p0-t0-099` in this fabric"),
    ] {
        let said = place.ends(1, &["drain", name, "fabric.yaml"]);
        assert!(said.contains(wanted), "{name}: {said}");
        assert_eq!(place.ends(1, &["undrain", name, "fabric.yaml"]), said);
    }
    let said = place.ends(1, &["check", "fabric.yaml", "--platforms", "/dev/zero"]);
    assert!(said.contains("error: `/dev/zero` is not a regular file"), "{said}");
}
