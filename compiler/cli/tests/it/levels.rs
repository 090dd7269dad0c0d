//! Warning levels on the command line, several files in one `check`, and warnings in `diff` and with `--quiet`.

use crate::common::Place;

const FABRIC: &str = "\
fabric: pod
planes: 2
hosts: { groups: 4, per_group: 2, nic: { speed: 200G } }
tiers:
  t0: { platform: linux, os: linux, up: 2 }
  t1: { platform: linux, os: linux }
qos: none
";

const NTP: &str = "services: { ntp: [\"2001:db8::1\"] }\n";
const ASN: &str = "addresses: { asn_base: 4200000000 }\n";

/// A folder with a fabric without warnings, and fabrics with different warnings.
fn place() -> Place {
    let place = Place::new();
    place.write("clean.yaml", FABRIC);
    place.write("ntp.yaml", format!("{FABRIC}{NTP}"));
    place.write("asn.yaml", format!("{FABRIC}{ASN}"));
    place.write("broken.yaml", FABRIC.replace("planes: 2", "planes: 99"));
    place
}

/// Runs closc; returns its exit code, standard output and standard error.
fn run(place: &Place, words: &str) -> (Option<i32>, String, String) {
    let output = place.closc(&words.split_whitespace().collect::<Vec<_>>());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn levels_hold_for_every_verb() {
    let place = place();
    // Commands for a fabric that was checked before print only its number of warnings.
    let (full, counted) = ("warning[W0803]", "1 warning; `closc check ntp.yaml` prints them");
    let verbs = [
        ("check ntp.yaml", full),
        ("compile ntp.yaml --out tree", full),
        ("paths ntp.yaml su001-n001 su002-n001", counted),
        ("whatif ntp.yaml", counted),
        ("export cables ntp.yaml --out lists", counted),
        ("export tables ntp.yaml --out lists-of-tables", counted),
        ("design --explain ntp.yaml --nics 8 --speed 200G", counted),
        ("design --compare ntp.yaml clean.yaml", counted),
        ("explain device ntp.yaml p0-t0-001", counted),
        ("diff clean.yaml ntp.yaml", full),
    ];
    for (verb, warning) in verbs {
        let fine = if verb.starts_with("diff") { 2 } else { 0 };
        let (code, _, said) = run(&place, verb);
        assert!(code == Some(fine) && said.contains(warning), "{verb}: {said}");
        let (code, _, said) = run(&place, &format!("{verb} --verbose"));
        assert!(code == Some(fine) && said.contains(full), "{verb}: {said}");
        let (code, _, said) = run(&place, &format!("{verb} --allow W0803"));
        assert!(code == Some(fine) && !said.contains("warning"), "{verb}: {said}");
        for deny in ["--deny W0803", "-D warnings"] {
            let (code, _, said) = run(&place, &format!("{verb} {deny}"));
            let written = deny.replace("-D", "--deny");
            assert!(
                code == Some(1) && said.contains("error[W0803]") && said.contains(&written),
                "{verb}: {said}"
            );
        }
    }
    assert!(place.path("tree/manifest.json").is_file(), "what is only warned of is written");
    let (_, denied, _) = run(&place, "check ntp.yaml --deny W0803 --format json");
    assert!(denied.contains("closc-diagnostics/1") && denied.contains("\"severity\": \"error\""), "{denied}");
    // `-D warnings` does not deny a warning that the file allows.
    place.write("allowed.yaml", format!("{FABRIC}{NTP}warnings: {{ W0803: allow }}\n"));
    assert_eq!(run(&place, "check allowed.yaml -D warnings").2, "");
    let (code, _, said) = run(&place, "check allowed.yaml --warn W0803");
    assert!(code == Some(0) && said.contains("warning[W0803]"), "{said}");
    assert_eq!(run(&place, "check allowed.yaml -D warnings --warn W0803").0, Some(1));
}

#[test]
fn codes_that_have_no_level_are_wrong_usage() {
    let place = place();
    for (words, wanted) in [
        ("check clean.yaml --allow W0830", "there is no warning `W0830`; did you mean `W0803`?"),
        (
            "check clean.yaml --deny nothing",
            "there is no warning `nothing`; `closc explain codes` lists the warnings",
        ),
        ("check clean.yaml --deny W9999", "no warning `W9999`; `closc explain codes` lists"),
        ("check clean.yaml --allow E0203", "`E0203` is an error, and only warnings have levels"),
        (
            "check clean.yaml --deny E0203",
            "; expected the code of a warning, which `closc explain codes` lists, or `warnings`",
        ),
        ("check clean.yaml --warn warnings", "all warnings have this level by default"),
        (
            "check clean.yaml --allow W0803 -D W0803",
            "`--allow W0803` and `--deny W0803` contradict each other",
        ),
    ] {
        let (code, _, said) = run(&place, words);
        assert!(code == Some(64) && said.contains(wanted), "{words}: {said}");
    }
    let (code, _, said) = run(&place, "check broken.yaml --allow warnings");
    assert!(code == Some(1) && said.contains("error[E0301]"), "{said}");
}

#[test]
fn each_of_several_files_is_checked() {
    let place = place();
    let all = "check clean.yaml broken.yaml nowhere.yaml ntp.yaml";
    let (code, shown, said) = run(&place, all);
    assert_eq!(code, Some(1));
    assert!(
        shown.contains("clean.yaml: pod is valid") && shown.contains("ntp.yaml: pod is valid"),
        "{shown}"
    );
    assert!(!shown.contains("broken.yaml") && !shown.contains("nowhere.yaml"), "{shown}");
    for wanted in
        ["error[E0301]", "broken.yaml:2", "`nowhere.yaml` cannot be read", "warning[W0803]", "2 of 4 files"]
    {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert_eq!(run(&place, "check clean.yaml ntp.yaml").0, Some(0));
    let (code, text, _) = run(&place, &format!("{all} --format json"));
    let json: serde_json::Value = serde_json::from_str(&text).expect("one document");
    assert_eq!((code, json["schema"].as_str()), (Some(1), Some("closc-checks/1")));
    let items = json["items"].as_array().expect("a list");
    let files: Vec<_> = items.iter().map(|item| item["file"].as_str().expect("text")).collect();
    assert_eq!(files, ["clean.yaml", "broken.yaml", "nowhere.yaml", "ntp.yaml"]);
    assert_eq!(items[0]["check"]["fabric"], "pod");
    assert_eq!(items[1]["diagnostics"][0]["code"], "E0301");
    assert!(
        items[1]["check"].is_null() && items[2]["error"].as_str().is_some_and(|why| why.contains("nowhere"))
    );
    assert_eq!(items[3]["diagnostics"][0]["code"], "W0803");
    let (_, annotations, _) = run(&place, &format!("{all} --format github"));
    assert!(annotations.contains("::error file=broken.yaml,line=2"), "{annotations}");
    assert_eq!(run(&place, "check - -").0, Some(64));
}

#[test]
fn diff_says_which_warnings_changed() {
    let place = place();
    place.write("both.yaml", format!("# Lines move, and the warning stays.\n{FABRIC}{NTP}{ASN}"));
    let (_, _, said) = run(&place, "diff ntp.yaml both.yaml");
    assert!(!said.contains("W0803") && said.contains("W0403"), "{said}");
    assert!(said.contains("new: the old side does not have it"), "{said}");
    let (_, _, said) = run(&place, "diff both.yaml ntp.yaml");
    assert!(!said.contains("W0803") && said.contains("gone: the new side does not have it"), "{said}");
    let (_, shown, said) = run(&place, "diff both.yaml ntp.yaml --format github");
    assert!(shown.contains("::notice title=W0403::gone: ") && said.is_empty(), "{shown}");
    // `--deny` does not apply to the old fabric.
    assert_eq!(run(&place, "diff ntp.yaml clean.yaml -D warnings").0, Some(2));
    assert_eq!(run(&place, "diff clean.yaml ntp.yaml -D warnings").0, Some(1));
    let (_, _, said) = run(&place, "drain p0-t1-001 both.yaml");
    assert!(!said.contains("warning["), "what a file had before is not said again: {said}");
}

#[test]
fn quiet_leaves_findings() {
    let place = place();
    for words in [
        "check clean.yaml",
        "check clean.yaml clean.yaml",
        "compile clean.yaml --out tree",
        "verify tree",
        "diff clean.yaml clean.yaml",
        "export cables clean.yaml --out lists",
    ] {
        assert!(!run(&place, words).1.is_empty(), "{words}");
        assert_eq!(
            run(&place, &format!("{words} --quiet")),
            (Some(0), String::new(), String::new()),
            "{words}"
        );
    }
    for format in ["human", "json", "github"] {
        let (code, shown, said) = run(&place, &format!("check ntp.yaml -q --format {format}"));
        assert!(code == Some(0) && format!("{shown}{said}").contains("W0803"), "{format}: {shown}{said}");
        assert!(!shown.contains("is valid"), "{shown}");
    }
    assert_eq!(run(&place, "check ntp.yaml -q --allow warnings"), (Some(0), String::new(), String::new()));
    assert!(run(&place, "check broken.yaml -q").2.contains("error[E0301]"), "errors are said");
    assert!(run(&place, "diff clean.yaml ntp.yaml -q").1.contains("ntp"), "differences are said");
    // `--quiet` does not suppress a JSON document.
    assert!(run(&place, "check clean.yaml -q --format json").1.contains("closc-check/1"));
}
