//! Changes to a fabric file: `racks`, and lengths and media of cables.
//!
//! In: the text of the file. Out: the text with the changes. Invariants: order and comments are kept, except comments
//! on assumed lengths. A medium is replaced only if its reach is too short.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use closc_cabling::floor::CableLengths;
use closc_design::Lanes as PortLanes;
use closc_diagnostics::{Change, Sources};
use closc_qos::units::Length;
use closc_topology::media::{Lanes, Medium};
use closc_topology::{Cable, PortBlock, RackRule, Racks, Tier, Topology};

/// Replacements for a medium whose reach is too short, shortest reach first, with the usual optical medium between
/// these ports.
fn longer_media(ends: [PortLanes; 2]) -> [&'static str; 6] {
    ["dac", "aec", closc_design::optical_medium(ends), "fr4", "lr4", "er4"]
}

/// Length and medium of each kind of cable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cables {
    pub(super) kinds: Vec<CableKind>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CableKind {
    /// Its key in `cables`.
    pub(super) key: &'static str,
    pub(super) length: Length,
    pub(super) medium: String,
}

impl Cables {
    /// Returns the cables of a file.
    pub(super) fn of(topology: &Topology) -> Self {
        let kind =
            |key, cable: &Cable| CableKind { key, length: cable.length, medium: cable.medium.to_string() };
        let cables = &topology.cables;
        let mut kinds = vec![kind("nic-t0", &cables.nic_t0)];
        kinds.extend(topology.has_t1().then(|| kind("t0-t1", &cables.t0_t1)));
        kinds.extend(
            cables.t1_t2.as_ref().filter(|_| topology.t2.is_some()).map(|cable| kind("t1-t2", cable)),
        );
        Cables { kinds }
    }

    /// Returns the cables with the longest lengths of a placement, and with media of sufficient reach.
    pub(super) fn with_lengths(&self, topology: &Topology, longest: CableLengths) -> anyhow::Result<Self> {
        let mut found = self.clone();
        for kind in &mut found.kinds {
            let upper = topology.t2.as_ref().map_or(&topology.t1, |t2| &t2.tier);
            let (length, lanes, ends) = match kind.key {
                "nic-t0" => (Some(longest.nic_t0), nic_lanes(topology), nic_ends(topology)),
                "t0-t1" => (
                    longest.t0_t1,
                    lanes(&topology.t0, topology.t1.down),
                    port_lanes(&topology.t0, &topology.t1),
                ),
                _ => (longest.t1_t2, lanes(&topology.t1, upper.down), port_lanes(&topology.t1, upper)),
            };
            kind.length = length.unwrap_or(kind.length);
            let reaches = |word: &str| {
                let reach = Medium::find(word).zip(lanes).and_then(|(medium, lanes)| medium.reach(lanes));
                reach.is_none_or(|reach| kind.length <= reach.length)
            };
            if reaches(&kind.medium) {
                continue;
            }
            let Some(medium) = longer_media(ends).into_iter().find(|word| reaches(word)) else {
                bail!("cables {} would be {} long, but no medium reaches that far", kind.key, kind.length);
            };
            medium.clone_into(&mut kind.medium);
        }
        Ok(found)
    }
}

/// Returns the lanes of the ports at the ends of cables between two tiers.
fn port_lanes(lower: &Tier, upper: &Tier) -> [PortLanes; 2] {
    [(lower, lower.up), (upper, upper.down)]
        .map(|(tier, block)| PortLanes::of_port(&tier.platform, block.breakout))
}

/// Returns the lanes of the ports at the ends of NIC cables.
fn nic_ends(topology: &Topology) -> [PortLanes; 2] {
    let (hosts, t0) = (&topology.hosts, &topology.t0);
    let lanes = u32::from(hosts.nic_lanes) / u32::from(topology.planes).max(1);
    let nic = PortLanes::of(t0.down.breakout.speed, lanes);
    [nic, PortLanes::of_port(&t0.platform, t0.down.breakout)]
}

fn nic_lanes(topology: &Topology) -> Option<Lanes> {
    let t0 = &topology.t0;
    let ports = topology.adapter_ports() / u16::from(topology.hosts.nic_cages.max(1));
    Lanes::of_nic(t0.down.breakout, t0.platform.panel.lanes, ports.into())
}

/// Returns the lanes between a tier and the ports of the one above.
fn lanes(lower: &Tier, upper: PortBlock) -> Option<Lanes> {
    Lanes::from_breakouts(lower.up.breakout, lower.platform.panel.lanes, Some(upper.breakout))
}

/// Returns a file with lengths and media.
pub(super) fn with_cables(text: &str, cables: &Cables) -> anyhow::Result<String> {
    let set =
        |key: &str, name: &str, value: String| Change::Set { path: format!("cables.{key}.{name}"), value };
    let changes: Vec<Change> = cables
        .kinds
        .iter()
        .flat_map(|kind| {
            [set(kind.key, "length", kind.length.to_string()), set(kind.key, "medium", kind.medium.clone())]
        })
        .collect();
    let edits = closc_topology::edits(Sources::new().add("", text), text, &changes);
    let changed = edits.and_then(|edits| closc_topology::apply(text, &edits));
    changed
        .map(|text| replace_assumptions(&text))
        .context("cannot set lengths and media in `cables`; expected one mapping per kind of cable")
}

/// Replaces comments in `cables` that mark lengths as assumed, because the lengths now come from the floor plan.
fn replace_assumptions(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_cables = false;
    for line in text.split_inclusive('\n') {
        let is_key = line.starts_with(|sign: char| sign.is_ascii_alphabetic());
        is_cables = line.starts_with("cables:") || is_cables && !is_key;
        let (value, comment) = line.split_once('#').unwrap_or((line, ""));
        if !is_cables || !comment.contains("assumed") {
            out.push_str(line);
        } else if !value.trim().is_empty() {
            let is_medium = comment.contains("medium") && !value.starts_with("cables:");
            let medium = if is_medium { "; medium assumed" } else { "" };
            let _ = writeln!(out, "{}  # length from the floor plan{medium}", value.trim_end());
        }
    }
    out
}

/// Returns a file with racks at its end.
pub(super) fn with_racks(text: &str, racks: &Racks) -> String {
    let mut text =
        format!("{}\n\nracks:  # from the floor plan\n  height: {}\n", text.trim_end(), racks.height);
    let rules = [("t0", &racks.t0), ("t1", &racks.t1), ("t2", &racks.t2), ("hosts", &racks.hosts)];
    for (key, rule) in rules {
        let Some(RackRule { name, per_rack, units, .. }) = rule else { continue };
        let _ = writeln!(text, "  {key}: {{ name: \"{name}\", per_rack: {per_rack}, units: {units} }}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_on_assumed_lengths_are_replaced() {
        let text = "cables:  # assumed, the longest of each kind\n  nic-t0: { length: 7m, medium: dac }  # length 2m, \
                    medium dac assumed\n  # t0-t1: length 30m assumed\n  t0-t1: { length: 9m }  # by hand\n\
                    qos: none  # assumed\n";
        let expected = "cables:  # length from the floor plan\n  nic-t0: { length: 7m, medium: dac }  # length from the \
                        floor plan; medium assumed\n  t0-t1: { length: 9m }  # by hand\nqos: none  # assumed\n";
        assert_eq!(replace_assumptions(text), expected);
    }
}
