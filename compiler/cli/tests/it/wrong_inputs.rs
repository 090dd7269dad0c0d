//! Errors for wrong inputs say how to correct them. One table per kind of input lists expected words of the
//! errors.

use std::process::Command;

use crate::common::Place;

const LAB: &str = "topologies/lab/two-planes-p4.yaml";

/// A folder with a fabric file, its tree, and files of other kinds.
fn place() -> Place {
    let place = Place::new();
    place.write("a.yaml", place.read(LAB));
    place.ends(0, &["compile", "a.yaml", "--out", "a"]);
    for folder in ["empty", "other"] {
        std::fs::create_dir(place.path(folder)).expect("a folder can be made");
    }
    place.write("other/notes.txt", "notes");
    place.write("notes.md", "# notes\n");
    place.write("none.log", "");
    place.write(
        "inventory.yaml",
        "p4runtime:\n  - { devices: '*', device: { endpoint: '127.0.0.1:1', device_id: 1 } }\n",
    );
    place
}

/// Each line has a command and words of its error. The command fails before it writes files.
#[test]
fn paths_of_another_kind_are_named_before_any_work() {
    let place = place();
    let before = std::fs::read_dir(place.path(".")).expect("a folder").count();
    for (line, answer) in [
        ("compile a.yaml --out -", "`--out -` is not possible: expected a folder"),
        ("export cables a.yaml --out -", "`--out -` is not possible: expected a folder"),
        ("export tables a.yaml --out -", "`--out -` is not possible: expected a folder"),
        ("compile a.yaml --out t.zip", "write `t.tar.zst`"),
        ("compile a.yaml --out t.tar.gz", "write `t.tar.zst`"),
        ("compile a.yaml --archive t.tar", "write `t.tar.zst`"),
        ("compile a.yaml --out t --templates empty", "`empty` has no `.j2` file"),
        ("compile a.yaml --out t --templates a.yaml", "`--templates a.yaml` is a file; expected a folder"),
        ("check a.yaml --platforms empty", "`empty` has no `.yaml` or `.yml` file"),
        ("check a.yaml --platforms other", "`other` has no `.yaml` or `.yml` file; `notes.txt` is not read"),
        ("push a -i inventory.yaml --overlay empty", "`empty` has no `.json` file"),
        ("push a -i inventory.yaml --overlay a.yaml", "`--overlay a.yaml` is a file; expected a folder"),
        ("push a -i inventory.yaml --ssh-config empty", "`--ssh-config empty` is a folder; expected a file"),
        ("push a -i inventory.yaml --ssh-config nope", "`--ssh-config nope` does not exist"),
        ("push inventory.yaml -i a", "`--inventory a` is a compiled tree; expected a file"),
        (
            "export containerlab a.yaml --out t --overlay empty",
            "`empty` has no `.json` or `.yaml` or `.conf` file",
        ),
        ("lab job a.yaml --messages 1 --plot x.png", "`x.png`: the format `png` is not supported"),
        ("demo --no-page --for 1 --plot x.png", "`x.png`: the format `png` is not supported"),
        (
            "lab up a.yaml --listen 0.0.0.0:0",
            "is reachable from other machines, but P4Runtime has no passwords",
        ),
        ("diff a.yaml a.yaml --text", "`--text` needs two trees"),
        ("cables check a.yaml a.yaml", "`a.yaml` is a fabric file; expected LLDP reports"),
        ("cables check a.yaml other", "`other/notes.txt` is not an LLDP report"),
        ("import a.yaml --out t.yaml", "`a.yaml` is a fabric file already"),
        ("import a --out t.yaml", "import its cable lists, `a/cables/plane-*.csv`"),
        ("check inventory.yaml", "this is an inventory of `closc push`, not a fabric file"),
        ("check a/manifest.json", "this is the manifest of a compiled tree, not a fabric file"),
        ("audit verify notes.md", "notes.md:1: this is not an audit record"),
        ("audit verify a/manifest.json", "a/manifest.json:2: this is not an audit record"),
        ("diff HEAD:a.yaml a.yaml", "for a file of a revision, write `git:HEAD:a.yaml`"),
        ("diff git:HEAD:/a.yaml a.yaml", "`/a.yaml` is an absolute path"),
        ("diff other a.yaml", "it has no `manifest.json`, so it is not a compiled tree"),
        ("export drawing a.yaml --out d.drawio", "`d.drawio`: the format `drawio` is not supported"),
        ("export report a.yaml --out r.docx", "`r.docx`: the format `docx` is not supported"),
        ("import a/cables/plane-0.csv --out t.yaml --nodes client*", "`--nodes client*` matches no device"),
        ("push a -i inventory.yaml --device p0-t0-099 --dry-run", "`p0-t0-099` is not a switch of `a`"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let said = place.ends(1, &words);
        assert!(said.contains(answer), "{line}: {said}");
    }
    assert_eq!(
        std::fs::read_dir(place.path(".")).expect("a folder").count(),
        before,
        "something was written"
    );
    let said = place.closc(&["audit", "verify", "none.log"]);
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("`none.log` has no record"), "{said}");
}

#[test]
fn wrong_words_of_a_command_line_are_answered() {
    let place = place();
    for (line, answer) in [
        ("whatif a.yaml --fail plane 0", "`plane 0` is one name: write it in quotes"),
        ("drain plane 0 a.yaml", "`plane 0` is one name: write it in quotes"),
        ("drain p0-t0-001 p0-t0-002 a.yaml", "`closc drain` takes one name, then the fabric file"),
        ("whatif a.yaml --each t0 --worst -1", "invalid value `-1` for `--worst`"),
        ("verify a --walk -1", "invalid value `-1` for `--walk`"),
        ("check a.yaml --out x", "write `> FILE`"),
        ("check --file a.yaml", "name the file without an option"),
        ("check -f a.yaml", "name the file without an option"),
        ("compile a.yaml --out x --dry-run", "`closc check` writes nothing"),
        ("compile a.yaml --out x --plane 0", "write `--select plane=0`"),
        ("compile a.yaml --out x --target sonic", "`os` of the tiers"),
        ("push a -i inventory.yaml --yes", "`push` does not ask for confirmation"),
        ("push a -i inventory.yaml --force", "`--take-over` takes over from another controller"),
        ("push a -i inventory.yaml --limit p0-t0-001", "write `--device p0-t0-001`"),
        ("check a.yaml --color never", "set `NO_COLOR=1`"),
        ("check a.yaml --unknown", "unexpected argument `--unknown`"),
        ("export kubernetes a.yaml --out t --namespace My_NS", "expected a name of Kubernetes"),
        ("export kubernetes a.yaml --out t --release 26.7", "expected a release such as `v26.7.0`"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let said = place.ends(64, &words);
        assert!(said.contains(answer) && !said.contains("-- -"), "{line}: {said}");
    }
    for (name, answer) in [
        ("P9-T0-1", "the last T0 there is `p1-t0-002`"),
        ("su001-n001:mlx5_0", "names look like"),
        ("su001-n001/nic0", "`su001-n001/nic0` is a NIC: give its ports, such as `su001-n001/nic0.p0`"),
        ("P0_T0_1", "did you mean `p0-t0-001`?"),
        ("0", "did you mean `plane 0`?"),
    ] {
        let said = place.ends(1, &["drain", name, "a.yaml"]);
        assert!(said.contains(answer), "{name}: {said}");
    }
}

/// A report with ports that the switch does not have does not prove that neighbours are missing.
#[test]
fn reports_of_other_switches_are_named() {
    let place = place();
    place.write(
        "p0-t0-001.json",
        r#"{"lldpNeighbors":[{"port":"Ethernet33/1","neighborDevice":"p0-t1-001","neighborPort":"Ethernet1/1","ttl":120}]}"#,
    );
    let said = place.ends(1, &["cables", "check", "a.yaml", "p0-t0-001.json"]);
    assert!(said.contains("`p0-t0-001` has no port `Ethernet33/1`"), "{said}");
}

/// The fabric file declares the cable of uplink 1 absent.
#[test]
fn pins_to_absent_cables_are_named() {
    let place = place();
    let text = place.read("topologies/lab/ecmp-p4.yaml");
    assert!(text.contains("p0-t0-001--p0-t1-001#2"), "the cable is absent");
    place.write("pins.csv", "switch,nic,uplink\np0-t0-001,su002-n001/nic0,1\np0-t0-001,su003-n001/nic0,0\n");
    place.write("ecmp.yaml", format!("{text}\necmp: {{ pins: pins.csv }}\n"));
    let run = place.closc(&["check", "ecmp.yaml"]);
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(said.contains("a pin to uplink 1 of `p0-t0-001` changes nothing"), "{said}");
    assert!(!said.contains("uplink 0"), "{said}");
}

/// `--quiet` omits progress, not warnings.
#[test]
fn warnings_are_printed_quietly() {
    let place = place();
    place.write("b.yaml", place.read(LAB).replace("fabric: two-planes-p4", "fabric: other"));
    let run = place.closc(&["grow", "a.yaml", "b.yaml", "--quiet"]);
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(said.contains("are different fabrics"), "{said}");
}

/// A key of the wrong kind is reported as such, because other file permissions would not make it usable.
#[test]
fn the_kind_of_a_key_comes_before_its_rights() {
    let place = place();
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(place.path("k"))
        .status()
        .expect("ssh-keygen runs");
    assert!(made.success());
    let compile = ["compile", "a.yaml", "--out", "t", "--sequence", "1", "--sign"];
    let with = |words: &[&'static str]| compile.iter().chain(words).copied().collect::<Vec<_>>();
    for (words, answer) in [
        (with(&["k.pub"]), "`k.pub` is a public key: name the other key of the pair, `k`"),
        (with(&["a.yaml"]), "a private key begins with `-----BEGIN OPENSSH PRIVATE KEY-----`"),
        (with(&["k", "--expires", "2020-01-01"]), "`--expires 2020-01-01` is in the past"),
        (vec!["verify", "a", "--key", "k"], "`k` is a private key: name the other key of the pair, `k.pub`"),
    ] {
        let said = place.ends(1, &words);
        assert!(said.contains(answer) && !said.contains("chmod"), "{words:?}: {said}");
    }
}

/// `fix` writes only names that exist in the fabric.
#[test]
fn fix_writes_no_name_that_does_not_exist() {
    let place = place();
    let text = place.read(LAB);
    for (name, after, answer) in [
        ("p0-t0-001:Ethernet0", None, "`p0-t0-001` is a switch"),
        ("su001-n001:mlx5_0", None, "NICs of `su001-n001` are `su001-n001/nic0`"),
        ("p0-t1-1--p0-t0-1", None, "write the lower switch first: `p0-t0-001--p0-t1-001`"),
        ("p0-t0-001:p0-t1-1", Some("p0-t0-001--p0-t1-001"), ""),
        ("P0_T0_1", Some("p0-t0-001"), ""),
    ] {
        let wrong = format!("{text}exceptions: {{ drained: [\"{name}\"] }}\n");
        place.write("wrong.yaml", &wrong);
        let said = place.ends(1, &["check", "wrong.yaml"]);
        assert!(said.contains(answer), "{name}: {said}");
        place.closc(&["fix", "wrong.yaml"]);
        let fixed = place.read("wrong.yaml");
        match after {
            Some(after) => assert!(fixed.contains(&format!("[{after}]")), "{name}: {fixed}"),
            None => assert_eq!(fixed, wrong, "{name}"),
        }
    }
}
