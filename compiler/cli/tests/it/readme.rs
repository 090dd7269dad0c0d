//! Runs the README's tour and the guides: every `$` line of a console block in order. Each page runs in its own folder
//! with the shipped topologies.
//!
//! In expected output, `...` matches any text, and a line `...` matches any lines. Blocks marked `root` are skipped
//! with a message if the test does not run as root or the kernel does not support uSIDs.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::common::{Place, root};

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

/// Returns whether an expected line matches a printed one.
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

/// A private mount of `/run/netns`, because namespaces of the tour have fixed names. They are removed on drop.
struct PrivateMount {
    holder: Child,
}

impl PrivateMount {
    fn new(place: &Place) -> Result<Self, &'static str> {
        if !place.program("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n") {
            return Err("not root");
        }
        let hold = "mkdir -p /run/netns && mount -t tmpfs none /run/netns && echo held && exec cat";
        let holder = place
            .program("unshare")
            .args(["--mount", "sh", "-c", hold])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut apart = PrivateMount { holder: holder.map_err(|_| "no `unshare`")? };
        let mut said = String::new();
        let out = BufReader::new(apart.holder.stdout.take().expect("piped")).read_line(&mut said);
        if out.is_err() || said != "held\n" {
            return Err("no mount namespaces");
        }
        let usable = |script: &str| apart.shell(place, script).output().is_ok_and(|run| run.status.success());
        if !usable("ip netns add probe") {
            return Err("no network namespaces");
        }
        let segment = "ip -n probe link add sr0 type bridge && ip -n probe link set sr0 up && ip -n probe -6 route add \
                       fcbb:bbbb:1::/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 dev sr0";
        if !usable(segment) {
            return Err("the kernel has no uSIDs (seg6local next-csid)");
        }
        Ok(apart)
    }

    /// Returns a shell command in this namespace and the folder of the test.
    fn shell(&self, place: &Place, command: &str) -> Command {
        let mut shell = place.program("nsenter");
        shell.arg(format!("--mount=/proc/{}/ns/mnt", self.holder.id()));
        shell.args(["sh", "-c", &format!("cd '{}' && {command}", place.text(""))]);
        shell
    }
}

impl Drop for PrivateMount {
    fn drop(&mut self) {
        // The process may have ended already, which the test reports elsewhere.
        drop(self.holder.kill());
        drop(self.holder.wait());
    }
}

#[test]
fn the_tour_works_as_it_is_written() {
    walk(&root().join("README.md"));
}

/// `CLOSC_BLESS=1` writes the drawing.
#[test]
fn the_readme_has_the_drawing_and_the_comment_of_the_program() {
    let place = Place::new();
    let drawn =
        place.ends(0, &["export", "drawing", "topologies/reference/mrc-8x512.yaml", "--out", "drawn.svg"]);
    assert!(drawn.contains("drawn.svg"), "{drawn}");
    let image = root().join("docs/images/mrc-8x512.svg");
    if std::env::var_os("CLOSC_BLESS").is_some() {
        std::fs::write(&image, place.read("drawn.svg")).expect("the file can be written");
    }
    let kept = std::fs::read_to_string(&image).expect("the drawing is there");
    assert!(kept == place.read("drawn.svg"), "{}: run the test with CLOSC_BLESS=1", image.display());
    let comment =
        place.ends(2, &["drain", "p3-t1-002", "topologies/lab/eight-planes.yaml", "--format", "markdown"]);
    let readme = std::fs::read_to_string(root().join("README.md")).expect("it is there");
    let quoted: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    assert!(quoted.len() >= 4, "the comment is quoted");
    for line in quoted {
        assert!(comment.lines().any(|own| own == line), "{line}: {comment}");
    }
}

#[test]
fn guides_work_as_they_are_written() {
    let guides = std::fs::read_dir(root().join("docs/guides")).expect("there are guides");
    let mut guides: Vec<_> = guides.map(|guide| guide.expect("it can be read").path()).collect();
    guides.sort();
    assert!(guides.len() >= 4, "there are only {} guides", guides.len());
    for guide in &guides {
        walk(guide);
    }
}

#[test]
fn the_page_of_designs_works_as_it_is_written() {
    walk(&root().join("docs/designs.md"));
}

/// Runs the commands of a page.
fn walk(page: &Path) {
    let steps = steps(&std::fs::read_to_string(page).expect("the page is there"));
    assert!(steps.len() >= 8, "{} has only {} commands", page.display(), steps.len());
    // The page runs in a temporary folder, so that its `out` folder is not created in the repository.
    let place = Place::new();
    let bin = Path::new(env!("CARGO_BIN_EXE_closc")).parent().expect("the binary lies in a folder");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let apart = PrivateMount::new(&place);
    for step in &steps {
        let mut shell = match (step.root, &apart) {
            (true, Err(why)) => {
                closc_skip::skip(format_args!("{why}: $ {}", step.command));
                continue;
            }
            (true, Ok(apart)) => apart.shell(&place, &step.command),
            (false, _) => place.program("sh"),
        };
        if !step.root {
            shell.args(["-c", &step.command]);
        }
        let run = shell.env("PATH", &path).output().expect("it runs");
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
