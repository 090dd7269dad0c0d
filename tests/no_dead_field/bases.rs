//! Small fabrics for every target and routing mode, in every context that a setting may depend on.
//!
//! In: a context. Out: base documents by name. Invariants: each of them compiles, and accepts every setting
//! of its target.

use serde_json::{Value, json};

/// A target with hardware, and the routing modes that it supports.
const TARGETS: &[(&str, &str, &str, &[&str])] = &[
    ("sonic", "spectrum4-sn5600", "1600G", &["srv6-static", "ecmp-static", "bgp-unnumbered"]),
    ("frr", "linux", "200G", &["srv6-static", "ecmp-static", "bgp-unnumbered"]),
    ("linux", "linux", "200G", &["srv6-static", "ecmp-static"]),
    ("p4", "bmv2", "200G", &["srv6-static", "ecmp-static"]),
    ("eos", "th5-64x800g", "1600G", &["ecmp-static", "bgp-unnumbered"]),
    ("nvue", "spectrum4-sn5600", "1600G", &["srv6-static", "ecmp-static", "bgp-unnumbered"]),
];

/// Targets that support a routing mode only in two tiers: the grammar of EOS for bandwidths that BGP adds up
/// is not published.
const IN_TWO_TIERS: &[(&str, &str)] = &[("eos", "bgp-unnumbered")];

/// Inputs of settings besides target and routing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    /// Whether there are zones below a third tier.
    pub(crate) is_zoned: bool,
    /// Whether all uplinks of a T1 lead to one T2, if there are T2s.
    pub(crate) has_one_step: bool,
    /// Whether files are written for every node.
    pub(crate) has_outputs: bool,
}

impl Context {
    /// The context in which most settings have an effect.
    pub(crate) const FULL: Context = Context { is_zoned: true, has_one_step: false, has_outputs: true };

    /// The other contexts.
    pub(crate) const OTHERS: [Context; 4] = [
        Context { is_zoned: false, has_one_step: false, has_outputs: true },
        Context { is_zoned: true, has_one_step: false, has_outputs: false },
        Context { is_zoned: false, has_one_step: false, has_outputs: false },
        Context { is_zoned: true, has_one_step: true, has_outputs: true },
    ];

    /// Returns its name.
    pub(crate) fn name(self) -> String {
        let tiers = match (self.is_zoned, self.has_one_step) {
            (true, false) => "three tiers",
            (true, true) => "three tiers, one T2 of each T1",
            (false, _) => "two tiers",
        };
        let outputs = if self.has_outputs { "files for nodes" } else { "no files for nodes" };
        format!("{tiers}, {outputs}")
    }

    /// Derives the base for this context from a fabric of three tiers with all settings.
    fn of(self, mut base: Value) -> Value {
        if self.has_one_step {
            base["tiers"]["t1"]["parallel"] = json!(2);
        }
        let mut drop = |pointer: &str, key: &str| {
            base.pointer_mut(pointer).and_then(Value::as_object_mut).and_then(|place| place.remove(key));
        };
        if !self.is_zoned {
            let of_zones = [("", "zones"), ("/tiers", "t2"), ("/tiers/t1", "up"), ("/cables", "t1-t2")];
            for (pointer, key) in of_zones {
                drop(pointer, key);
            }
        }
        if !self.has_outputs {
            drop("/hosts", "outputs");
        }
        base
    }
}

/// The name and the base of every target with every routing mode.
pub(crate) fn columns(context: Context) -> Vec<(String, Value)> {
    let of = |(os, platform, speed, routings): &(&str, &str, &str, &[&str])| {
        let named = |routing: &&str| {
            let flat = Context { is_zoned: false, has_one_step: false, ..context };
            let context = if IN_TWO_TIERS.contains(&(*os, *routing)) { flat } else { context };
            (format!("{os} {routing}"), context.of(base(os, platform, speed, routing)))
        };
        routings.iter().map(named).collect::<Vec<_>>()
    };
    TARGETS.iter().flat_map(of).collect()
}

/// A small fabric of three tiers with all settings that every target accepts.
fn base(os: &str, platform: &str, speed: &str, routing: &str) -> Value {
    let lanes = if speed == "200G" { 2 } else { 16 };
    let medium = if speed == "1600G" { "aec" } else { "virtual" };
    // EOS does not trim packets.
    let qos = if os == "eos" { "lossless" } else { "lossy-trim" };
    json!({
        "fabric": "base", "planes": 2, "zones": 2, "routing": routing,
        "hosts": { "groups": 2, "per_group": 2, "nics_per_node": 2, "nic": { "speed": speed, "lanes": lanes },
                   "outputs": ["nic", "netplan", "networkd", "nccl"] },
        "tiers": {
            "t0": { "platform": platform, "os": os, "down": { "count": 2 }, "up": { "count": 2 }, "parallel": 1 },
            "t1": { "platform": platform, "os": os, "up": { "count": 2 } },
            "t2": { "platform": platform, "os": os, "ports_per_zone": 4 },
        },
        "cables": {
            "nic-t0": { "length": "1m", "medium": medium },
            "t0-t1": { "length": "1m", "medium": medium },
            "t1-t2": { "length": "1m", "medium": medium },
        },
        "qos": { "base": qos },
    })
}
