//! Fabrics whose switches run FRR.
//!
//! In: the numbers of a fabric. Out: the text of its file. Invariants: a fabric is small enough for one
//! machine, has one plane, and forwards with the kernel.

use std::fmt::Write as _;

/// The numbers of a fabric.
#[derive(Debug, Clone, Copy)]
pub struct Frr<'a> {
    /// Number of zones. With two or more there is a T2 tier.
    pub zones: u16,
    /// T0 groups of a zone.
    pub groups: u16,
    /// Uplinks of a T0.
    pub t0_up: u16,
    /// Cables between a T0 and a T1.
    pub parallel: u16,
    /// Uplinks of a T1, if there is a T2 tier.
    pub t1_up: u16,
    /// Cables that are absent.
    pub absent: &'a [&'a str],
    /// Cables that are drained.
    pub drained: &'a [&'a str],
    /// Whether NICs, their cables and loopbacks have IPv4 addresses.
    pub ipv4: bool,
}

impl Default for Frr<'_> {
    /// Two groups of one zone, and two T1s.
    fn default() -> Self {
        Frr { zones: 1, groups: 2, t0_up: 2, parallel: 1, t1_up: 2, absent: &[], drained: &[], ipv4: false }
    }
}

impl Frr<'_> {
    /// Writes the file.
    pub fn yaml(&self, fabric: &str) -> String {
        let Frr { zones, groups, t0_up, parallel, t1_up, absent, drained, ipv4 } = self;
        let switch = "platform: linux, os: frr";
        let t2 = *zones > 1;
        let t1 = if t2 { format!("{switch}, up: {t1_up}") } else { switch.to_owned() };
        let mut text = format!(
            "fabric: {fabric}\nplanes: 1\nzones: {zones}\nrouting: bgp-unnumbered\n\
             hosts: {{ groups: {groups}, per_group: 1, nic: {{ speed: 100G, lanes: 1 }}, os: linux }}\n\
             tiers:\n  t0: {{ {switch}, up: {t0_up}, parallel: {parallel} }}\n  t1: {{ {t1} }}\n"
        );
        if t2 {
            let _ = writeln!(text, "  t2: {{ {switch} }}");
        }
        text.push_str("cables:\n");
        for kind in ["nic-t0", "t0-t1"].into_iter().chain(t2.then_some("t1-t2")) {
            let _ = writeln!(text, "  {kind}: {{ length: 1m, medium: virtual }}");
        }
        if *ipv4 {
            text.push_str("addresses: { hosts: 10.0.0.0/8 }\n");
        }
        if !absent.is_empty() || !drained.is_empty() {
            let _ = writeln!(text, "exceptions: {{ absent: {absent:?}, drained: {drained:?} }}");
        }
        text
    }
}
