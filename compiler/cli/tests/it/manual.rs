//! Manual pages and the command reference are complete, up to date, and valid for `man`.

use std::process::Stdio;

use crate::common::{Place, has, root};

const REFERENCE: &str = "docs/commands.md";
const HEAD: &str = "# Commands of closc\n\n\
                    Generated from the program by `cargo xtask docs`; `closc COMMAND --help` and `man closc` print the same text. [cli.md](cli.md)\n\
                    describes the output that scripts can rely on, and [commands-nic.md](commands-nic.md) the commands of nodes.\n\n";

#[test]
fn the_reference_is_what_the_program_says() {
    let place = Place::new();
    let printed = place.ends(0, &["man", "--format", "markdown"]);
    let expected = format!("{HEAD}{}\n", printed.trim_end());
    let path = root().join(REFERENCE);
    if std::env::var_os("CLOSC_BLESS").is_some() {
        std::fs::write(&path, &expected).expect("the reference can be written");
    }
    let there = std::fs::read_to_string(&path).expect("there is a reference");
    assert!(there == expected, "{REFERENCE} is stale: run `cargo xtask docs`");
}

/// Pages do not depend on the environment or on this machine.
#[test]
fn pages_do_not_depend_on_the_machine() {
    let place = Place::new();
    let usual = place.ends(0, &["man", "--out", "a"]);
    assert!(usual.contains("pages in a"), "{usual}");
    let odd = place
        .command(&["man", "--out", "b", "--quiet"])
        .envs([("COLUMNS", "40"), ("CLOSC_PLATFORMS", "/nowhere"), ("LANG", "C"), ("TZ", "Asia/Tokyo")])
        .status();
    assert!(odd.is_ok_and(|status| status.success()));
    let mut names: Vec<String> = std::fs::read_dir(place.path("a"))
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for name in &names {
        let [a, b] = ["a", "b"].map(|folder| place.read(&format!("{folder}/{name}")));
        assert!(a == b && !a.contains("/nowhere"), "{name}");
    }
    for name in ["closc.1", "closc-check.1", "closc-lab-up.1", "closc-export-host.1", "closc-man.1"] {
        assert!(names.iter().any(|there| there == name), "{name} is missing: {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("serve")), "hidden commands have no page: {names:?}");
    let json = place.json(0, &["man", "--out", "a"]);
    assert_eq!(json["schema"], "closc-man/1");
    assert_eq!(json["pages"].as_array().map(Vec::len), Some(names.len()));
    place.ends(64, &["man"]);
}

/// Pages have the required sections, and `man` formats them without warnings.
#[test]
fn man_takes_the_pages() {
    let place = Place::new();
    place.ends(0, &["man", "--out", "man/man1"]);
    let top = place.read("man/man1/closc.1");
    for section in [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "OPTIONS",
        "COMMANDS",
        "\"EXIT STATUS\"",
        "EXAMPLES",
        "\"SEE ALSO\"",
    ] {
        assert!(top.contains(&format!(".SH {section}\n")), "{section}:\n{top}");
    }
    let check = place.read("man/man1/closc-check.1");
    assert!(
        !check.contains("\\-\\-audit\\-log") && check.contains("closc"),
        "options of all are said once:\n{check}"
    );
    if !has("man") || !has("groff") {
        closc_skip::skip("no `man` with `groff`");
        return;
    }
    let pages = std::fs::read_dir(place.path("man/man1")).expect("the folder is there");
    for page in pages.flatten().map(|page| page.path()) {
        let run = place
            .program("man")
            .args(["--warnings=all", "--local-file", "--encoding=UTF-8"])
            .arg(&page)
            .envs([("MANWIDTH", "100"), ("LC_ALL", "C.UTF-8"), ("PAGER", "cat"), ("MANPAGER", "cat")])
            .stderr(Stdio::piped())
            .output()
            .expect("man runs");
        let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(run.status.success() && err.is_empty(), "{}: {err}", page.display());
        assert!(out.contains("SYNOPSIS"), "{}: {out}", page.display());
    }
}
