//! Scripts for CI systems, with untrusted files.

use std::fs;
use std::process::Command;

use crate::common::{Place, root};

/// Regression: a name in an untrusted file could notify a team, and a file name with a leading dash was parsed as an
/// option.
#[test]
fn comments_have_no_mentions_and_names_are_not_options() {
    let place = Place::new();
    let git = |words: &[&str]| {
        let mut git = place.program("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(words);
        git.output().is_ok_and(|output| output.status.success())
    };
    if !(git(&["init", "-q"]) && git(&["commit", "-q", "--allow-empty", "-m", "base"])) {
        closc_skip::skip("git is not installed");
        return;
    }
    let closc = env!("CARGO_BIN_EXE_closc");
    let path = format!(
        "{}:{}",
        closc.rsplit_once('/').expect("it is a path").0,
        std::env::var("PATH").unwrap_or_default()
    );
    let run = |script: &str, arguments: &[&str]| {
        let mut command: Command = place.program("bash");
        command.arg(root().join("packaging/ci").join(script)).args(arguments);
        command.env("FILES", "--help.yaml").env("BASE", "HEAD").env("PATH", &path);
        command.output().expect("there is a shell")
    };
    place.write("--help.yaml", "fabric: \"@everyone ``` @team/owners\"\n");
    let output = run("diff", &["out.md"]);
    let text = place.read("out.md");
    assert_eq!(output.status.code(), Some(2), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("`--help.yaml` is new") && text.contains("everyone"), "{text}");
    assert!(!text.contains("@everyone") && !text.contains("@team"), "{text}");
    assert_eq!(text.matches("```").count(), 2, "the text stays in its block: {text}");
    let output = run("check", &[]);
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && !said.contains("Usage"), "{said}");
    // The same with a changed file instead of a new one.
    fs::copy(root().join("topologies/lab/two-planes.yaml"), place.path("--help.yaml")).expect("ours");
    assert!(git(&["add", "--", "--help.yaml"]) && git(&["commit", "-q", "-m", "one"]));
    let text = place.read("--help.yaml").replace("length: 1m", "length: 2m");
    place.write("--help.yaml", text);
    let output = run("diff", &["out.md"]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}
