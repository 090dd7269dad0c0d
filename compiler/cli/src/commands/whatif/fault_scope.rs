//! `--shard` and `--select` of `whatif`: limit the failures that are tried one by one to a part of the fabric.
//!
//! In: the command line. Out: a [`FaultScope`], and the digest of the question. Invariants: every element of a fabric
//! is in exactly one of n shards: the shard of its switch, unit or plane. The impact of a failure is counted over the
//! complete fabric, so merging shards only adds their counts.

use anyhow::ensure;
use closc_compile::{Part, plan_digest};
use closc_plan::Plan;
use closc_topology::{Link, Switch, TierId, ZoneId};
use closc_whatif::report::FabricPart;
use closc_whatif::{Domain, Element, Elements};

use crate::args::whatif::WhatifArgs;
use crate::output::Usage;

/// The part of a fabric whose elements fail.
pub(super) struct FaultScope {
    part: Part,
    shard: Option<(u32, u32)>,
}

/// Reads the part from the command line.
pub(super) fn read(plan: &Plan, command: &WhatifArgs) -> anyhow::Result<FaultScope> {
    let part = command.part.part();
    let shard = command.part.shard.map(|shard| (shard.index(), shard.of()));
    if shard.is_some() || !command.part.select.is_everything() {
        ensure!(
            command.tries(),
            Usage(
                "`--shard` and `--select` divide failures that are tried one by one: use `--each`, or name no failure"
            )
        );
    }
    if shard.is_some() {
        ensure!(
            command.together == 1,
            "failures across {} shards would be in none of them: fail one at a time, or use `--select`",
            command.together
        );
        ensure!(command.part.select.is_everything(), "`--shard` and `--select` cannot be combined");
    }
    part.check_fits(plan)?;
    Ok(FaultScope { part, shard })
}

/// Returns a digest of the fabric and the question, independent of the part.
pub(super) fn question(plan: &Plan, command: &WhatifArgs, domains: &[Domain]) -> String {
    let WhatifArgs { fail, random, seed, each, together, .. } = command;
    let random: Vec<String> = random.iter().map(ToString::to_string).collect();
    let asked = format!("{} {fail:?} {random:?} {seed} {each:?} {together} {domains:?}", plan_digest(plan));
    blake3::hash(asked.as_bytes()).to_string()
}

impl FaultScope {
    /// Returns the part as stated in the result.
    pub(super) fn fabric_part(&self) -> Option<FabricPart> {
        let selection = self.part.to_string();
        (!selection.is_empty()).then_some(FabricPart { shard: self.shard, selection })
    }

    /// Returns whether the part contains an element.
    pub(super) fn has(&self, plan: &Plan, elements: Elements<'_>, element: Element) -> bool {
        let topology = plan.topology();
        let switch = |switch| self.part.has_switch(plan, switch);
        let unit = |zone, unit| self.part.has_unit(topology, zone, unit);
        let of_group = |zone, group: u16| unit(zone, group / topology.rails_in_zone());
        match element {
            Element::Switch(at) | Element::Cage(at, _) | Element::Link(Link::Fabric { lower: at, .. }) => {
                switch(at)
            }
            Element::Link(Link::Host(port)) => switch(Switch {
                plane: port.plane,
                tier: TierId::T0,
                zone: port.nic.zone,
                index: port.nic.group,
            }),
            Element::Nic(nic) | Element::NicCage(nic, _) | Element::Adapter(nic) => {
                of_group(nic.zone, nic.group)
            }
            Element::Node(node) => unit(node.zone, node.unit),
            Element::Group(zone, group) => of_group(zone, group),
            Element::Plane(plane) => self.part.has_first_zone(topology, plane),
            Element::Zone(zone) => unit(zone, 0),
            Element::Site(site) | Element::Span(site, _) => {
                let zones = topology.sites.get(usize::from(site)).map(|site| site.zones.as_slice());
                unit(zones.and_then(|zones| zones.first().copied()).unwrap_or(ZoneId(0)), 0)
            }
            // A domain can have members in several parts.
            Element::Domain(at) => match self.shard {
                Some((index, of)) => {
                    let count = u64::from(elements.domains.len().try_into().unwrap_or(u32::MAX)).max(1);
                    u64::from(at) * u64::from(of) / count == u64::from(index)
                }
                None => self.part.is_whole(),
            },
        }
    }
}
