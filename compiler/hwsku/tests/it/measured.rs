//! Entries of switches whose answers are invented here.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use closc_hwsku::{Answer, measure};
use closc_platform::Catalogue;

/// The answer of a box with these files.
fn answer(platform: &str, hwsku: &str, files: &[(&str, &str)]) -> Answer {
    let mut text =
        format!("name leaf1\ndate 2026-11-30\nplatform {platform}\nhwsku {hwsku}\nversion 202511.1\n");
    for (path, file) in files {
        let _ = writeln!(text, "file {path} {}", STANDARD.encode(file));
    }
    Answer::read(&format!("{text}end\n")).unwrap()
}

/// `port_config.ini` of 32 cages with one port of 400G, on this number of listed lanes.
fn ports(lanes: u16) -> String {
    let line = |at: u16| {
        let lanes: Vec<String> = (at * 8..at * 8 + lanes).map(|lane| lane.to_string()).collect();
        format!("Ethernet{} {} Eth{} {} 400000\n", at * 8, lanes.join(","), at + 1, at + 1)
    };
    let lines: String = (0..32).map(line).collect();
    format!("# name lanes alias index speed\n{lines}")
}

/// An entry of another hwsku would give the switch that hwsku, and with it other ports.
#[test]
fn a_hwsku_without_an_entry_is_refused() {
    let (whole, half) = (ports(8), ports(4).replace("400000", "100000").replace(" Eth", " Port"));
    let files = [("O32/port_config.ini", &*whole), ("C32/port_config.ini", &half)];
    let catalogue = Catalogue::builtin();
    let entry = measure(&answer("x86_64-own_box-r0", "O32", &files), &catalogue).unwrap();
    assert!(entry.text.contains("hwsku: O32"), "{}", entry.text);
    let reason = measure(&answer("x86_64-own_box-r0", "C32", &files), &catalogue).unwrap_err();
    assert!(reason.starts_with("no entry describes its hwsku C32: "), "{reason}");
}

/// The catalogue has the box with other hwskus.
#[test]
fn an_entry_of_other_hwskus_is_named() {
    let whole = ports(8);
    let files = [("Own-O32/port_config.ini", &*whole)];
    let found = answer("x86_64-mlnx_msn4700-r0", "Own-O32", &files);
    let entry = measure(&found, &Catalogue::builtin()).unwrap();
    let note =
        "the entry `spectrum3-sn4700` of x86_64-mlnx_msn4700-r0 lacks hwsku Own-O32: this one is derived";
    assert!(entry.notes.iter().any(|own| own == note), "{:#?}", entry.notes);
}

/// A box of two ASICs is refused, even if the catalogue has an entry with its name.
#[test]
fn several_asics_are_refused() {
    let whole = ports(8);
    let files = [("ACS-MSN4700/port_config.ini", &*whole), ("asic.conf", "NUM_ASIC=2\n")];
    let found = answer("x86_64-mlnx_msn4700-r0", "ACS-MSN4700", &files);
    let reason = measure(&found, &Catalogue::builtin()).unwrap_err();
    assert_eq!(reason, "2 ASICs, and closc plans switches of one");
}
