//! The systemd unit of `closc watch`: its restrictions stay in place.

use std::process::Command;

/// Limit of the exposure that `systemd-analyze security` reports, from 0 to 10.
const EXPOSURE_MAX: f64 = 2.0;

const UNIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/closc-watch.service");

#[test]
fn the_unit_exposes_little() {
    let analyze = |arguments: &[&str]| Command::new("systemd-analyze").args(arguments).arg(UNIT).output();
    let output = match analyze(&["security", "--offline=true", "--no-pager"]) {
        Ok(output) => output,
        Err(error) => {
            closc_skip::skip(format_args!("no `systemd-analyze` ({error})"));
            return;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let overall = said.split_once("Overall exposure level for closc-watch.service: ");
    let Some(level) = overall.and_then(|(_, rest)| rest.split_whitespace().next()) else {
        let why = String::from_utf8_lossy(&output.stderr);
        closc_skip::skip(format_args!("`systemd-analyze` cannot judge files: {}", why.trim()));
        return;
    };
    let level: f64 = level.parse().expect("a number");
    println!("exposure {level}");
    assert!(level <= EXPOSURE_MAX, "{said}");
}

/// systemd accepts every setting of the unit, and closc has the command that it starts.
#[test]
fn the_unit_is_understood() {
    let text = std::fs::read_to_string(UNIT).expect("it is in the repository");
    assert!(text.contains(
        "ExecStart=/usr/bin/closc watch /etc/closc/tree --inventory ${CREDENTIALS_DIRECTORY}/inventory.yaml\n"
    ));
    assert!(
        text.contains("Type=notify\n") && text.contains("WatchdogSec=30s\n"),
        "one that stops is started anew"
    );
    let Ok(output) = Command::new("systemd-analyze").args(["verify", "--man=no", UNIT]).output() else {
        closc_skip::skip("no `systemd-analyze`");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    // Other messages depend on the machine: `closc` need not be installed there.
    assert!(!said.contains("Unknown key") && !said.contains("Failed to parse"), "{said}");
}
