//! Manual pages, completions and the reference of the agent.

use std::path::Path;
use std::process::Command;

const REFERENCE: &str = "docs/commands-nic.md";
const HEAD: &str = "# Commands of closc-nic\n\n\
                    Generated from the program by `cargo xtask docs`. [hosts.md](hosts.md) describes the agent and its installation on a node.\n\n";

fn agent(arguments: &[&str]) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_closc-nic")).args(arguments).output().expect("it runs");
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).expect("it is text")
}

#[test]
fn the_reference_is_what_the_program_says() {
    let expected = format!("{HEAD}{}\n", agent(&["man", "--markdown"]).trim_end());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(REFERENCE);
    if std::env::var_os("CLOSC_BLESS").is_some() {
        std::fs::write(&path, &expected).expect("the reference can be written");
    }
    let there = std::fs::read_to_string(&path).expect("there is a reference");
    assert!(there == expected, "{REFERENCE} is stale: run `cargo xtask docs`");
}

#[test]
fn pages_and_completions_are_whole() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let place = folder.path().join("man1");
    agent(&["man", "--out", place.to_str().expect("it is text")]);
    for name in ["closc-nic.1", "closc-nic-run.1", "closc-nic-deny.1"] {
        let page = std::fs::read_to_string(place.join(name)).expect("the page is there");
        assert!(page.contains(".SH SYNOPSIS"), "{name}: {page}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(agent(&["completions", shell]).contains("doctor"), "{shell}");
    }
}
