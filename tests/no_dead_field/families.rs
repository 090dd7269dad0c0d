//! Every platform with each operating system and routing, and a small fabric for each.
//!
//! In: the catalogue. Out: a base document for each combination that supports the routing mode.

use closc_platform::{Catalogue, Os};
use serde_json::{Value, json};

use crate::compiled::compile;

/// A platform with an operating system and a routing.
pub(crate) struct Family {
    /// The platform.
    pub(crate) platform: String,
    os: Os,
    routing: &'static str,
    /// Speeds of its ports in Gb/s.
    speeds: Vec<u32>,
}

/// Returns all combinations of the catalogue.
pub(crate) fn all() -> Vec<Family> {
    let mut all = Vec::new();
    for platform in Catalogue::builtin().iter() {
        let speeds = platform.panel.breakouts.iter().map(|breakout| breakout.speed.mbps() / 1000);
        let mut speeds: Vec<u32> = speeds.collect();
        speeds.sort_unstable();
        speeds.dedup();
        for os in &platform.oses {
            for routing in ["srv6-static", "ecmp-static", "bgp-unnumbered"] {
                let platform = platform.id.to_string();
                all.push(Family { platform, os: *os, routing, speeds: speeds.clone() });
            }
        }
    }
    all
}

impl Family {
    /// Returns its name.
    pub(crate) fn name(&self) -> String {
        format!("{} {} {}", self.platform, self.os.keyword(), self.routing)
    }

    /// Returns a small fabric of this family, with the richest profile that it supports; `None` if it does
    /// not support the routing mode.
    pub(crate) fn base(&self) -> Option<Value> {
        let media = ["virtual", "dac", "aec"];
        for profile in ["lossy-trim", "lossless", "none"] {
            for (speed, lanes, medium) in self.speeds.iter().rev().flat_map(|speed| {
                [2, 4, 8, 16].into_iter().flat_map(move |lanes| media.map(|medium| (*speed, lanes, medium)))
            }) {
                let base = self.document(profile, speed, lanes, medium);
                if compile(&base).has_tree() {
                    return Some(base);
                }
            }
        }
        None
    }

    fn document(&self, profile: &str, speed: u32, lanes: u16, medium: &str) -> Value {
        let hardware = |more: Value| {
            let mut tier = json!({ "platform": self.platform, "os": self.os.keyword() });
            tier.as_object_mut().expect("a mapping").extend(more.as_object().expect("a mapping").clone());
            tier
        };
        let cable = json!({ "length": "1m", "medium": medium });
        let nic = json!({ "speed": format!("{}G", speed * 2), "lanes": lanes });
        json!({
            "fabric": "base", "planes": 2, "zones": 2, "routing": self.routing,
            "hosts": { "groups": 2, "per_group": 2, "nics_per_node": 2, "nic": nic,
                       "outputs": ["nic", "netplan", "networkd", "nccl"] },
            "tiers": {
                "t0": hardware(json!({ "down": { "count": 2 }, "up": { "count": 2 }, "parallel": 1 })),
                "t1": hardware(json!({ "up": { "count": 2 } })),
                "t2": hardware(json!({ "ports_per_zone": 4 })),
            },
            "cables": { "nic-t0": cable, "t0-t1": cable, "t1-t2": cable },
            "qos": { "base": profile },
        })
    }
}
