//! Absurd input gives an error with a place, without a panic or long computation.

use closc_diagnostics::{Diagnostics, Sources, show};
use closc_platform::Catalogue;

const GOOD: &str = "
fabric: good
planes: 2
hosts: { groups: 4, per_group: 4, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: linux, os: linux, up: 4 }
  t1: { platform: linux, os: linux }
qos: none
";

/// Loads and lowers bytes; returns what was found, and checks that every finding has a place and can be shown.
fn diagnose(bytes: &[u8]) -> Diagnostics {
    let mut sources = Sources::new();
    let found = match closc_topology::load(&mut sources, "input", bytes) {
        Ok(document) => closc_topology::lower(&document, &Catalogue::builtin(), &sources).1,
        Err(found) => found,
    };
    for finding in &found {
        let span = finding.span().expect("every finding has a place");
        assert!(sources.position(span).line >= 1);
        assert!(!show::text::one(finding, &sources, show::text::Colour::Plain).is_empty());
        assert!(!finding.message.contains('\u{0}'));
    }
    let _ = show::json::all(&found, &sources);
    let _ = show::github::all(&found, &sources);
    found
}

fn codes(bytes: &[u8]) -> Vec<&'static str> {
    let mut codes: Vec<_> = diagnose(bytes).iter().map(|finding| finding.rule.code).collect();
    codes.dedup();
    codes
}

/// The good fabric with one text replaced.
fn with(from: &str, to: &str) -> Vec<u8> {
    assert!(GOOD.contains(from));
    GOOD.replacen(from, to, 1).into_bytes()
}

const NONE: [&str; 0] = [];

#[test]
fn the_good_fabric_is_good() {
    assert_eq!(codes(GOOD.as_bytes()), NONE);
}

#[test]
fn nothing_at_all() {
    for bytes in
        [&b""[..], b"\n", b"  \n\t\n", b"# only a comment\n", b"\xef\xbb\xbf", b"---\n", b"null\n", b"~"]
    {
        assert_eq!(codes(bytes), ["E0101"], "{bytes:?}");
    }
}

#[test]
fn other_shapes_than_a_mapping() {
    for bytes in [&b"8"[..], b"text", b"[1, 2]", b"true", b"- a\n- b\n"] {
        assert_eq!(codes(bytes), ["E0109"], "{bytes:?}");
    }
}

#[test]
fn binary_files() {
    let every_byte: Vec<u8> = (0..=255).collect();
    assert_eq!(codes(&every_byte), ["E0103"]);
    assert_eq!(codes(b"\x7fELF\x02\x01\x01\x00\x00"), ["E0103"]);
    assert_eq!(codes(&with("good", "go\u{7}d")), ["E0103"]);
    assert_eq!(codes(&[b"fabric: \xff\n".repeat(3), vec![0xc3]].concat()), ["E0103"]);
    assert_eq!(codes(b"\xff\xfef\x00a\x00b\x00"), ["E0103"]);
}

#[test]
fn a_hundred_megabytes() {
    assert_eq!(codes(&vec![b'a'; 100_000_000]), ["E0102"]);
    assert_eq!(codes(&vec![0; 100_000_000]), ["E0102"]);
}

#[test]
fn just_below_the_limit() {
    let line = "# a comment that fills the file up to the limit of what is read\n";
    let text = GOOD.to_owned() + &line.repeat(((16 << 20) - GOOD.len()) / line.len());
    assert_eq!(codes(text.as_bytes()), NONE);
    let list = format!("{GOOD}exceptions: {{ absent: [{}] }}\n", "p0-t0-001, ".repeat(5_000));
    assert_eq!(codes(list.as_bytes()), ["E0803"]);
    let long = format!("{GOOD}description: {}\n", "x".repeat(10 << 20));
    assert_eq!(codes(long.as_bytes()), NONE);
}

#[test]
fn too_many_values() {
    let list = format!("{GOOD}exceptions: {{ absent: [{}] }}\n", "a, ".repeat(250_000));
    assert_eq!(codes(list.as_bytes()), ["E0105"]);
}

/// Writes eleven anchors, each of which contains the previous one nine times.
fn bomb(first: &str, level: fn(usize, &str) -> String) -> Vec<u8> {
    let mut text = format!("x-0: &a0 {first}\n");
    for number in 1..12 {
        let nine = vec![format!("*a{}", number - 1); 9].join(", ");
        text += &level(number, &nine);
    }
    (text + GOOD).into_bytes()
}

#[test]
fn bombs_of_aliases() {
    assert_eq!(codes(&bomb("[x]", |number, nine| format!("x-{number}: &a{number} [{nine}]\n"))), ["E0105"]);
    let merged = bomb("{ k: v }", |number, nine| format!("x-{number}: &a{number} {{ <<: [{nine}] }}\n"));
    assert_eq!(codes(&merged), ["E0105"]);
}

#[test]
fn nesting_of_twenty_thousand() {
    assert_eq!(codes("[".repeat(20_000).as_bytes()), ["E0105"]);
    assert_eq!(codes("{a: ".repeat(20_000).as_bytes()), ["E0105"]);
    assert_eq!(codes("- ".repeat(20_000).as_bytes()), ["E0105"]);
    let mut block = String::new();
    for depth in 0..20_000_usize {
        block += &" ".repeat(depth.min(200));
        block += "a:\n";
    }
    assert_eq!(codes(block.as_bytes()), ["E0105"]);
}

#[test]
fn keys_twice_and_keys_unknown() {
    assert_eq!(codes(&with("planes: 2", "planes: 2\nplanes: 2")), ["E0106"]);
    assert_eq!(codes(&with("planes: 2", "planes: 2\nplains: 2")), ["E0107"]);
    assert_eq!(codes(&with("planes: 2", "planes: 2\n\"\": 2")), ["E0107"]);
    assert_eq!(codes(&with("planes: 2", "planes: 2\n[1]: 2")), ["E0104"]);
    assert_eq!(codes(&with("planes: 2", "planes: 2\nx-anything: [1, {a: b}]")), NONE);
}

#[test]
fn numbers_of_all_kinds() {
    for (number, code) in [
        ("-1", "E0110"),
        ("-9223372036854775809", "E0110"),
        ("18446744073709551616", "E0110"),
        ("1e400", "E0110"),
        ("4.5", "E0110"),
        (".nan", "E0110"),
        (".inf", "E0110"),
        ("-.inf", "E0110"),
        ("70000", "E0110"),
        ("\"4\"", "E0109"),
        ("four", "E0109"),
        ("[4]", "E0109"),
        ("{}", "E0109"),
        ("yes", "E0109"),
        ("", "E0108"),
        ("~", "E0108"),
        ("4G", "E0109"),
        ("2026-11-21", "E0109"),
    ] {
        assert_eq!(codes(&with("groups: 4", &format!("groups: {number}"))), [code], "{number}");
    }
    assert_eq!(codes(&with("groups: 4", "groups: 0x4")), NONE);
}

#[test]
fn units_of_all_kinds() {
    for speed in [
        "200",
        "200g",
        "200Gbps",
        "0G",
        "-5G",
        "200 feet",
        "99999999999999999999G",
        "0.0000001G",
        "\"\"",
        ".nan",
    ] {
        assert_eq!(codes(&with("speed: 200G", &format!("speed: {speed}"))), ["E0111"], "{speed}");
    }
}

#[test]
fn tabs_and_line_ends() {
    assert_eq!(codes(&with("  t0:", "\tt0:")), ["E0104"]);
    assert_eq!(codes(GOOD.replace('\n', "\r\n").as_bytes()), NONE);
    assert_eq!(codes(&[b"\xef\xbb\xbf", GOOD.as_bytes()].concat()), NONE);
    assert_eq!(codes(GOOD.trim_end().as_bytes()), NONE);
}

#[test]
fn a_byte_order_mark_moves_no_column() {
    let mut sources = Sources::new();
    let bytes = [b"\xef\xbb\xbf".as_slice(), b"planes: two\n"].concat();
    let found = closc_topology::load(&mut sources, "input", &bytes).unwrap_err();
    let planes = found.iter().find(|finding| finding.rule.code == "E0109").unwrap();
    assert_eq!(sources.position(planes.span().unwrap()).column, 9);
}

#[test]
fn several_faults_of_shape_come_in_one_run() {
    let text =
        GOOD.replace("planes: 2", "planes: two").replace("groups: 4", "grops: 4").replace("200G", "200");
    assert_eq!(codes(text.as_bytes()), ["E0109", "E0107", "E0111"]);
}

#[test]
fn names_in_other_scripts() {
    assert_eq!(codes(&with("good", "дата-центр")), ["E0510"]);
    assert_eq!(codes(&with("good", "\"a\\u0000b\"")), ["E0122"]);
    assert_eq!(
        codes(&format!("{GOOD}exceptions: {{ absent: [ö--ö, \"ö[1-2]\"] }}\n").into_bytes()),
        ["E0801"]
    );
}

#[test]
fn numbers_at_the_edges_of_their_types() {
    for (from, to) in [
        ("groups: 4", "groups: 65535"),
        ("per_group: 4", "per_group: 65535"),
        ("planes: 2", "planes: 65535"),
        ("up: 4", "up: 4294967295"),
        ("up: 4", "up: { count: 4, spare: 65535, first_cage: 65535 }"),
        ("up: 4", "up: 4, parallel: 65535"),
        ("speed: 200G", "speed: 4294967295M"),
        ("lanes: 2", "lanes: 255"),
        ("per_group: 4", "per_group: 4, nics_per_node: 255, rails: 255"),
    ] {
        assert!(diagnose(&with(from, to)).has_errors(), "{to}");
    }
    let zoned = format!(
        "{GOOD}  t2: {{ platform: linux, wiring: rows, rows: 65535, ports_per_zone: 65535 }}\nzones: 65535\n"
    );
    assert!(diagnose(zoned.as_bytes()).has_errors());
    let edge = format!(
        "{GOOD}srv6: {{ widths: {{ role: 255, plane: 255, zone: 255, index: 255 }}, roles: {{ t0: 65535 }} }}\n"
    );
    assert!(diagnose(edge.as_bytes()).has_errors());
    let edge = format!(
        "{GOOD}addresses: {{ asn_base: 4294967295 }}\nrouting: bgp-unnumbered\nmtu: {{ link: 65535, payload: 65535 }}\nentropy: {{ active: 65535, backup: 65535, min_active: 65535 }}\n"
    );
    assert!(diagnose(edge.as_bytes()).has_errors());
}
