//! Times of the PFC watchdog, which follow the slowest port of a switch.

use closc_tests::shape;
use closc_verify::{Options, verify};

use crate::common;

/// T1s have ports of 400G and 800G, but T2s only ports of 800G. The 800G ports of the two tiers therefore have
/// different times.
#[test]
fn ports_of_one_speed_may_have_other_times_on_other_switches() {
    for os in ["sonic", "nvue"] {
        let yaml = format!(
            "fabric: mixed\nplanes: 2\nzones: 2\nrouting: ecmp-static\nqos: lossless\n\
             hosts: {{ groups: 7, per_group: 2, nics_per_node: 2, nic: {{ speed: 800G, lanes: 16 }} }}\n\
             tiers:\n  t0: {{ platform: spectrum4-sn5600, os: {os}, down: {{ count: 2, breakout: 1x400G }}, \
             up: {{ count: 2, breakout: 2x400G }} }}\n  \
             t1: {{ platform: spectrum4-sn5600, os: {os}, down: {{ count: 7, breakout: 2x400G }}, \
             up: {{ count: 4 }} }}\n  \
             t2: {{ platform: spectrum4-sn5600, os: {os}, down: {{ count: 4 }}, ports_per_zone: 2 }}\n\
             cables: {{ nic-t0: {{ length: 2m, medium: dac }}, t0-t1: {{ length: 30m, medium: dr4 }}, \
             t1-t2: {{ length: 100m, medium: dr4 }} }}\n"
        );
        let tree = common::tree(&shape::plan(&yaml));
        let report = verify(&tree, &Options::default()).expect("the tree can be read");
        let found: Vec<&str> = report.violations.iter().map(|found| found.message.as_str()).collect();
        assert!(found.is_empty(), "{os}: {found:#?}");
    }
}
