//! Real daemons of FRRouting, one set for each switch in its namespace.

use std::fs;
use std::process::Command;

use closc_skip::skip;

use crate::carriers::fleet::{Fleet, RUN};
use crate::carriers::system::{Shape, system};
use crate::common;

/// Starts the daemons of FRRouting for every switch in its namespace; returns whether all of them started.
fn daemons(fleet: &Fleet) -> bool {
    for name in &fleet.names {
        let namespace = fleet.namespace(name);
        let folder = format!("{RUN}/{namespace}");
        let made = fs::create_dir_all(&folder).is_ok();
        if !made
            || !Command::new("chown")
                .args(["frr:frr", RUN, &folder])
                .status()
                .is_ok_and(|status| status.success())
        {
            return false;
        }
        for daemon in ["zebra", "staticd", "bfdd", "bgpd"] {
            let started = Command::new("ip")
                .args(["netns", "exec", &namespace, &format!("/usr/lib/frr/{daemon}")])
                .args(["-d", "-N", &namespace, "-F", "datacenter", "-A", "127.0.0.1"])
                .output();
            if !started.is_ok_and(|done| done.status.success()) {
                return false;
            }
        }
        let daemons = fleet.place.read(&format!("a/switches/{name}/daemons"));
        fleet.put(&format!("fleet/{name}/etc/frr/daemons"), &daemons, 0o644);
    }
    let vtysh = "#!/bin/sh\nexec /usr/bin/vtysh -N \"$(cat \"$SWITCH/namespace\")\" \"$@\"\n";
    fleet.put("bin/vtysh", vtysh, 0o755);
    fs::remove_file(fleet.place.path("bin/frr-reload.py")).expect("it is ours");
    true
}

#[test]
fn frrouting_itself_takes_the_difference_and_prints_it_back() {
    if !common::has("vtysh") || fs::metadata("/usr/lib/frr/bgpd").is_err() {
        return skip("FRRouting is not installed");
    }
    let frr = system("frr");
    let shape = Shape { qos: "none", routing: "bgp-unnumbered", ..frr.small() };
    let Some(fleet) = Fleet::new(frr, &shape) else { return };
    let drained = frr.fabric(&shape, 9100) + "exceptions: { drained: [ p0-t0-001--p0-t1-001 ] }\n";
    fleet.place.write("b.yaml", drained);
    fleet.place.ends(0, &["compile", "--quiet", "b.yaml", "--out", "b"]);
    if !daemons(&fleet) {
        return skip("daemons of FRRouting do not start here");
    }
    let said = fleet.ends(0, &["push", "a"]);
    assert!(said.contains("4 switches up to date"), "{said}");
    fleet.ends(0, &["drift", "a"]);
    assert!(fleet.ends(2, &["drift", "b"]).contains("IN-DRAINED"));
    let said = fleet.ends(0, &["push", "b"]);
    let run = said.split("--rollback ").nth(1).and_then(|rest| rest.split('`').next()).expect("it is named");
    fleet.ends(0, &["drift", "b"]);
    let name = &fleet.names[0];
    let vtysh = |words: &[&str]| {
        let namespace = fleet.namespace(name);
        let output = Command::new("ip")
            .args(["netns", "exec", &namespace, "/usr/bin/vtysh", "-N", &namespace])
            .args(words)
            .output();
        output.expect("vtysh is there")
    };
    for (line, named) in [
        ("ipv6 route fd99::/64 blackhole", "ipv6 route fd99::/64 blackhole"),
        ("no ipv6 prefix-list OWN", "ipv6 prefix-list OWN"),
        ("no bfd", "bfd"),
    ] {
        vtysh(&["-c", "configure terminal", "-c", line]);
        let report = fleet.ends(2, &["drift", "b"]);
        assert!(report.contains(name.as_str()) && report.contains(&format!("frr.conf {named}")), "{report}");
    }
    fleet.ends(0, &["push", "b"]);
    fleet.ends(0, &["drift", "b"]);
    fleet.ends(0, &["push", "b", "--rollback", run]);
    fleet.ends(0, &["drift", "a"]);
}
