//! An error in a setting does not hide errors of devices and cables: one run reports both.

use std::collections::BTreeSet;

use closc_compile::front::{Options, Source, read_text};

/// Returns the codes of the findings in a fabric with some text added.
fn codes(extra: &str) -> BTreeSet<&'static str> {
    let text = format!(
        "fabric: tiny\nplanes: 1\nhosts: {{ groups: 2, per_group: 2, nic: {{ speed: 200G, lanes: 2 }} }}\n\
         tiers:\n  t0: {{ platform: spectrum4-sn5600-256x200g, up: 2 }}\n  t1: {{ platform: spectrum4-sn5600-256x200g }}\n{extra}\n"
    );
    let reading = read_text(&Source::Stdin, text.as_bytes(), &Options::default())
        .expect("there is nothing else to read");
    reading.diagnostics.iter().map(|found| found.rule.code).filter(|code| code.starts_with('E')).collect()
}

/// Absence of the only T0 of a group.
const CUT_OFF: &str = "exceptions: { absent: [p0-t0-001] }\n";

/// Absence of every T1.
const ISLANDS: &str = "exceptions: { absent: [p0-t1-001, p0-t1-002] }\n";

#[test]
fn faults_of_settings_hide_none_of_devices() {
    assert_eq!(codes(""), BTreeSet::new());
    let settings = [
        ("E0701", "qos: { base: lossless, classes: { data: { trim: true } } }"),
        ("E0705", "mtu: { link: 9500 }"),
        ("E0704", "mtu: { link: 9000, payload: 9000 }"),
        ("E0506", "routing: bgp-unnumbered\naddresses: { asn_base: 4294967295 }"),
        ("E0711", "ecmp: { pin: downlink }"),
    ];
    for (code, setting) in settings {
        assert_eq!(codes(setting), BTreeSet::from([code]), "{setting}");
        for (hidden, exception) in [("E0820", CUT_OFF), ("E0821", ISLANDS)] {
            let found = codes(&format!("{setting}\n{exception}"));
            assert_eq!(found, BTreeSet::from([code, hidden]), "{setting}");
        }
    }
}

/// The set of devices is wrong, so no further errors are derived from it.
#[test]
fn faults_of_devices_are_alone() {
    let found = codes(&format!("zones: 2\n{CUT_OFF}"));
    assert!(!found.is_empty() && !found.contains("E0820"), "{found:?}");
}
