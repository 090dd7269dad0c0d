//! A fabric file in a Git revision may refer only to files of that revision beneath its folder.
//!
//! In: forbidden file names, each as `ecmp.pins` of a fabric in a revision. Out: an error for each of them.
//! Git searches for its repository from the folder of the process. The test changes that folder, so it is the
//! only one in this program.

#[path = "../../files/tests/support/names.rs"]
mod support;

use std::process::Command;

use closc_compile::front::{self, Source};
use closc_diagnostics::show;

use support::{Place, SECRET, escapes};

const FABRIC: &str = "
fabric: stranger
planes: 2
routing: ecmp-static
hosts: { groups: 4, per_group: 4, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: linux, os: linux, up: 4 }
  t1: { platform: linux, os: linux }
";

fn git(place: &Place, args: &[&str]) -> bool {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.hooksPath=/dev/null"];
    let mut git = Command::new("git");
    git.current_dir(&place.root).args(identity).args(args).status().is_ok_and(|status| status.success())
}

/// Reads a text as a fabric of the checked-out revision; returns the errors as displayed.
fn error_text(text: &str) -> String {
    let source = Source::parse("git:HEAD:fabric/fabric.yaml").expect("a file of a revision");
    let reading =
        front::read_text(&source, text.as_bytes(), &front::Options::default()).expect("the text is here");
    let shown = show::text::all(&reading.diagnostics, &reading.sources, show::text::Colour::Plain);
    if reading.diagnostics.has_errors() { shown } else { String::new() }
}

#[test]
fn no_name_of_a_revision_leaves_its_folder() {
    let place = Place::new();
    if !git(&place, &["init", "-q", "."]) {
        closc_skip::skip("git is not installed");
        return;
    }
    let names = escapes(&place);
    assert!(names.len() >= 500, "{}", names.len());
    std::fs::write(place.inside("fabric.yaml"), FABRIC).expect("a file can be written");
    std::fs::write(place.inside("large.csv"), vec![b'x'; (64 << 20) + 1]).expect("a file can be written");
    // The revision contains the links and the secret itself; it cannot contain pipes and sockets.
    assert!(git(&place, &["add", "."]) && git(&place, &["commit", "-qm", "all"]));
    std::env::set_current_dir(&place.root).expect("it was just made");
    for name in &names {
        let Ok(quoted) = serde_json::to_string(name) else { continue };
        let said = error_text(&format!("{FABRIC}ecmp: {{ pins: {quoted} }}\n"));
        assert!(!said.is_empty(), "{name:?} is not a file of pins");
        assert!(!said.contains(SECRET) && !said.contains("root:x"), "{name:?}: {said}");
    }
    let said_of = |pins: &str| error_text(&format!("{FABRIC}ecmp: {{ pins: {pins} }}\n"));
    assert!(said_of("large.csv").contains("is larger than"), "{}", said_of("large.csv"));
    assert_eq!(said_of("pins.csv"), "", "an honest name is read");
}
