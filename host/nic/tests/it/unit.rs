//! The systemd unit of an agent: systemd accepts all of it.

use std::process::Command;

const UNIT: &str = include_str!("../../systemd/closc-nic@.service");

#[test]
fn the_unit_is_understood() {
    assert!(UNIT.contains(
        "ExecStart=closc-nic --socket /run/closc/%i.sock run --settings /etc/closc/%i.env --tun %i-closc \
         --state /var/lib/closc-nic/%i.json --user closc-nic\n"
    ));
    for line in ["Type=notify", "WatchdogSec=5s", "Restart=always"] {
        assert!(UNIT.lines().any(|own| own == line), "an agent that stops is started anew: {line}");
    }
    let folder = tempfile::tempdir().unwrap();
    // A template is checked as an instance. The program that it starts need not be installed here.
    let unit = folder.path().join("closc-nic@nic0.service");
    let text = UNIT.replace("ExecStart=closc-nic", "ExecStart=/bin/true");
    let text = text.replace("ExecStopPost=+closc-nic", "ExecStopPost=+/bin/true");
    std::fs::write(&unit, text).unwrap();
    let Ok(output) = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&unit).output() else {
        closc_skip::skip("no `systemd-analyze`");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    // Other messages depend on the machine, on which systemd may not be running.
    for wrong in ["Unknown key", "Failed to parse", "Invalid", "ignoring"] {
        let about_it = said.lines().find(|line| line.contains("closc-nic@") && line.contains(wrong));
        assert_eq!(about_it, None, "{said}");
    }
}
