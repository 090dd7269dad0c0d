//! Runs the README's tour as it stands: every `$` line of a console block, in order, from the top of the tree.
//!
//! A line of output stands for itself, with `...` for any text; a line `...` stands for any lines. Blocks marked
//! `root` are skipped, with a message, where the test does not run as root or the kernel has no uSIDs.

use std::path::Path;
use std::process::Command;

struct Step {
    command: String,
    expected: Vec<String>,
    root: bool,
}

fn steps(markdown: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut block: Option<bool> = None;
    for line in markdown.lines() {
        match (block, line) {
            (None, "```console") => block = Some(false),
            (None, "```console root") => block = Some(true),
            (Some(_), "```") => block = None,
            (Some(root), line) => match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step { command: command.to_owned(), expected: Vec::new(), root }),
                None => steps.last_mut().expect("output follows a command").expected.push(line.to_owned()),
            },
            (None, _) => {}
        }
    }
    steps
}

/// Tells whether a line of the README stands for a line that was printed.
fn stands_for(expected: &str, printed: &str) -> bool {
    let mut rest = printed;
    let mut parts = expected.split("...");
    let first = parts.next().unwrap_or_default();
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    let mut open = false;
    for part in parts {
        open = true;
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.is_empty() || (open && expected.ends_with("..."))
}

fn check(step: &Step, printed: &str) {
    let mut lines = printed.lines();
    let mut anything = false;
    for expected in &step.expected {
        if expected == "..." {
            anything = true;
            continue;
        }
        let found = if anything {
            lines.any(|line| stands_for(expected, line.trim_end()))
        } else {
            lines.next().is_some_and(|line| stands_for(expected, line.trim_end()))
        };
        assert!(found, "$ {}\nexpected: {expected}\nprinted:\n{printed}", step.command);
        anything = false;
    }
}

fn can_run_labs() -> Result<(), &'static str> {
    let id = Command::new("id").arg("-u").output().ok().filter(|o| o.stdout == b"0\n");
    if id.is_none() {
        return Err("not root");
    }
    let namespace = Command::new("ip").args(["netns", "add", "closc-readme-probe"]).status();
    if !namespace.is_ok_and(|status| status.success()) {
        return Err("no network namespaces");
    }
    let segment = "ip -n closc-readme-probe link add sr0 type bridge && ip -n closc-readme-probe link set sr0 up && \
                   ip -n closc-readme-probe -6 route add fcbb:bbbb:1::/48 encap seg6local action End flavors next-csid \
                   lblen 32 nflen 16 dev sr0";
    let usable = Command::new("sh").args(["-c", segment]).status().is_ok_and(|status| status.success());
    let _ = Command::new("ip").args(["netns", "del", "closc-readme-probe"]).status();
    if usable { Ok(()) } else { Err("the kernel has no uSIDs (seg6local next-csid)") }
}

#[test]
fn the_tour_works_as_it_is_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the tree is there");
    let steps = steps(&std::fs::read_to_string(root.join("README.md")).expect("there is a README"));
    assert!(steps.len() >= 8, "the tour has only {} commands", steps.len());
    // The tour runs in a copy of nothing but links, so that its `out` folder does not land in the tree.
    let place = tempfile::tempdir().expect("a temporary folder");
    std::os::unix::fs::symlink(root.join("topologies"), place.path().join("topologies")).expect("a link");
    let bin =
        Path::new(env!("CARGO_BIN_EXE_closc")).parent().expect("the binary lies in a folder").to_owned();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let labs = can_run_labs();
    for step in &steps {
        if let (true, Err(why)) = (step.root, labs) {
            println!("skipped, {why}: $ {}", step.command);
            continue;
        }
        let run = Command::new("sh")
            .args(["-c", &step.command])
            .current_dir(place.path())
            .env("PATH", &path)
            .env("CLOSC_RUNTIME", place.path().join("run/lab"))
            .output()
            .expect("sh runs");
        let printed = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "$ {}\n{}", step.command, String::from_utf8_lossy(&run.stderr));
        check(step, &printed);
    }
}

#[test]
fn dots_stand_for_text() {
    assert!(stands_for("a ... c", "a b c") && stands_for("a...", "a b") && stands_for("a", "a"));
    assert!(!stands_for("a", "a b") && !stands_for("b...", "a b") && !stands_for("a ... d", "a b c"));
}
