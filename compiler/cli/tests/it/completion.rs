//! Shell completion, with the environment variables that the scripts set, and with the installed shells.

use std::process::Stdio;

use crate::common::{Place, has};

const LARGE: &str = "topologies/reference/mrc-8x512.yaml";

/// Candidates for the last of some words.
fn candidates(place: &Place, words: &[&str]) -> Vec<String> {
    candidates_at(place, words, words.len())
}

/// Candidates for the word at an index; index 0 is the program name.
fn candidates_at(place: &Place, words: &[&str], at: usize) -> Vec<String> {
    let mut command = place.command(&["--", "closc"]);
    let index = at.to_string();
    let output = command
        .args(words)
        .envs([("CLOSC_COMPLETE", "bash"), ("_CLAP_IFS", "\n"), ("_CLAP_COMPLETE_INDEX", &*index)])
        .output()
        .expect("closc runs");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("names are text");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn names_come_from_the_file_on_the_line() {
    let place = Place::new();
    let switches = ["p3-t0-510", "p3-t0-511", "p3-t0-512"];
    assert_eq!(candidates(&place, &["explain", "device", LARGE, "p3-t0-51"]), switches);
    assert_eq!(candidates(&place, &["te", LARGE, "--fail", "p3-t0-51"]), switches);
    assert_eq!(
        candidates(&place, &["whatif", LARGE, "--fail=p3-t0-51"]),
        switches.map(|n| format!("--fail={n}"))
    );
    assert_eq!(
        candidates(&place, &["paths", LARGE, "x", "--avoid", "plane=3,p3-t0-51"]),
        switches.map(|name| format!("plane=3,{name}"))
    );
    let first = candidates(&place, &["paths", LARGE, ""]);
    assert!(first.contains(&"su0".to_owned()) && first.len() < 20, "{first:?}");
    let nics = candidates(&place, &["paths", LARGE, "su001-n001/nic0", "su128-n256/"]);
    assert_eq!(nics, ["su128-n256/nic0", "su128-n256/nic1", "su128-n256/nic2", "su128-n256/nic3"]);
    let ports = candidates(&place, &["explain", "headroom", LARGE, "p3-t0-510", "Ethernet25"]);
    assert!(ports.contains(&"Ethernet255".to_owned()), "{ports:?}");
    let cables = candidates_at(&place, &["drain", "p3-t0-510--p3-t1-255", LARGE], 2);
    assert_eq!(cables, ["p3-t0-510--p3-t1-255"], "the file stands behind the cursor");
}

/// In `drain` the name comes before the file. The file may be after the cursor, or be the only one in the folder.
#[test]
fn a_file_is_found_where_the_line_has_none_yet() {
    let place = Place::new();
    assert_eq!(candidates(&place, &["drain", "p0-t1"]), Vec::<String>::new(), "there is no file");
    place.write("notes.yaml", "a: 1\n");
    place.write("fabric.yaml", place.read("topologies/lab/two-planes-p4.yaml"));
    let found = candidates(&place, &["drain", "p0-t1"]);
    assert_eq!(found, ["p0-t1-001", "p0-t1-002"]);
    assert_eq!(
        candidates(&place, &["drain", "p0-t0-001--"]),
        ["p0-t0-001--p0-t1-001", "p0-t0-001--p0-t1-002"]
    );
    place.write("other.yaml", place.read("topologies/lab/two-planes.yaml"));
    assert_eq!(
        candidates(&place, &["drain", "p0-t1"]),
        Vec::<String>::new(),
        "two files, and neither is named"
    );
}

#[test]
fn words_files_and_trees_are_offered() {
    let place = Place::new();
    let codes = candidates(&place, &["explain", "E020"]);
    assert!(codes.contains(&"E0203".to_owned()), "{codes:?}");
    assert_eq!(candidates(&place, &["explain", "head"]), ["headroom"]);
    assert!(candidates(&place, &["explain", "V"]).len() > 5, "rules of verify have codes, too");
    assert!(candidates(&place, &["platforms", "th5-512x"]).contains(&"th5-512x100g".to_owned()));
    assert!(candidates(&place, &["check", "--deny", "wa"]).contains(&"warnings".to_owned()));
    assert_eq!(candidates(&place, &["init", "--routing", "bgp"]), ["bgp-unnumbered"]);
    assert_eq!(candidates(&place, &["whatif", LARGE, "--each", "t0"]), ["t0-t1", "t0"]);
    assert_eq!(candidates(&place, &["compile", LARGE, "--select", "plane=3,ti"]), ["plane=3,tier="]);
    place.write("fabric.yaml", place.read("topologies/lab/two-planes-p4.yaml"));
    place.write("readme.txt", "");
    let files = candidates(&place, &["check", ""]);
    assert!(
        files.contains(&"fabric.yaml".to_owned()) && !files.contains(&"readme.txt".to_owned()),
        "{files:?}"
    );
    place.ends(0, &["compile", "fabric.yaml", "--out", "tree", "--quiet"]);
    assert!(candidates(&place, &["verify", "tr"]).contains(&"tree/".to_owned()));
    let devices = candidates(&place, &["push", "tree", "--device", "p1-t1"]);
    assert_eq!(devices, ["p1-t1-001", "p1-t1-002"]);
}

/// Names depend only on counts and patterns, so they are offered despite other errors in a file, even syntax errors.
#[test]
fn a_file_with_errors_has_names() {
    let place = Place::new();
    let text = place.read("topologies/lab/two-planes-p4.yaml");
    for (from, to, is_named) in [
        ("platform: bmv2", "platform: bmv3", true),
        ("qos: lossy-trim", "qos: [lossy-trim", true),
        ("planes: 2", "planes: 2\ncolour: red", true),
        ("planes: 2", "planes: two", false),
        ("planes: 2", "planes: [2", false),
    ] {
        assert!(text.contains(from), "{from}");
        place.write("fabric.yaml", text.replace(from, to));
        place.ends(1, &["check", "fabric.yaml"]);
        let names: &[&str] = if is_named { &["p0-t1-001", "p0-t1-002"] } else { &[] };
        assert_eq!(candidates(&place, &["drain", "p0-t1"]), names, "{to}");
        let cables: &[&str] = if is_named { &["p0-t0-001--p0-t1-001", "p0-t0-001--p0-t1-002"] } else { &[] };
        assert_eq!(candidates(&place, &["drain", "p0-t0-001--"]), cables, "{to}");
        let nics: &[&str] = if is_named { &["su001-n001/nic0"] } else { &[] };
        assert_eq!(candidates(&place, &["paths", "fabric.yaml", "su001-n001/"]), nics, "{to}");
    }
}

/// A pipe, or a name with special characters of the shell, gives neither candidates nor messages.
#[test]
fn what_cannot_be_read_offers_nothing() {
    let place = Place::new();
    place.write("broken.yaml", "fabric: [\n");
    for words in [
        &["paths", "broken.yaml", "s"][..],
        &["paths", "absent.yaml", "s"],
        &["explain", "codes", "E"],
        &["paths", LARGE, "$(id)"],
    ] {
        assert_eq!(candidates(&place, words), Vec::<String>::new(), "{words:?}");
    }
    let wrong = place.command(&[]).env("CLOSC_COMPLETE", "tcsh").output().expect("closc runs");
    assert_eq!(wrong.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("tcsh"));
    // With an empty variable, closc runs normally.
    assert_eq!(
        place.command(&["platforms"]).env("CLOSC_COMPLETE", "").output().unwrap().status.code(),
        Some(0)
    );
}

/// Real shells complete a line after loading the script.
#[test]
fn shells_complete_with_the_scripts() {
    let place = Place::new();
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_closc")).parent().expect("it is in a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let line = format!("closc explain device {LARGE} p3-t0-51");
    let words = format!("COMP_WORDS=({line}); COMP_CWORD=4; COMP_TYPE=9");
    let bash = format!(
        "source <(closc completions bash); {words}; _clap_complete_closc closc p3-t0-51; \
         IFS=$'\\013'; printf '%s\\n' ${{COMPREPLY[*]}}"
    );
    let fish = format!("closc completions fish | source; complete --do-complete '{line}'");
    let zsh =
        "f=$(mktemp -d); closc completions zsh >$f/_closc; zsh -n $f/_closc && head -1 $f/_closc; rm -r $f";
    for (shell, script, expected) in [
        ("bash", bash.as_str(), "p3-t0-510"),
        ("fish", fish.as_str(), "p3-t0-510"),
        ("zsh", zsh, "#compdef closc"),
    ] {
        if !has(shell) {
            closc_skip::skip(format_args!("no `{shell}`"));
            continue;
        }
        let run = place
            .program(shell)
            .args(["-c", script])
            .env("PATH", &path)
            .env("HOME", place.text(""))
            .stderr(Stdio::piped())
            .output()
            .expect("the shell runs");
        let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(out.lines().any(|line| line.split('\t').next() == Some(expected)), "{shell}: {out}\n{err}");
    }
}

#[test]
fn every_shell_has_a_script() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.ends(0, &["completions", shell]);
        assert!(script.contains("CLOSC_COMPLETE") && script.contains("closc"), "{shell}: {script}");
    }
}
