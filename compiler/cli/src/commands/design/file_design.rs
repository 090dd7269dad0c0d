//! Converts a given fabric file into a design.
//!
//! In: a plan. Out: a [`Design`] with the same counts. Invariants: a file with non-uniform tiers, absent elements or
//! several operating systems is rejected with the reason, because its counts would be wrong.

use camino::Utf8Path;
use closc_design::{CableKind, Criteria, Design, Measure, MeasureError, Media, Side, ThirdTier, Tier};
use closc_plan::Plan;
use closc_platform::{Catalogue, Os};
use closc_qos::units::Speed;
use closc_topology::{Cable, PortBlock, Tier as TierOfFile, Topology, Wiring};

use super::OWN_POWER;
use super::checks::CheckedFile;
use super::row::Row;

/// Returns the design of a plan.
pub(super) fn design<'a>(
    plan: &'a Plan,
    file: &Utf8Path,
    catalogue: &'a Catalogue,
) -> anyhow::Result<Design<'a>> {
    let topology = plan.topology();
    if let Some(why) = irregular(topology) {
        anyhow::bail!(
            "`{file}` {why}; expected one kind of switch per tier, one operating system and no absent elements"
        );
    }
    let planes = u32::from(topology.planes);
    let zones = u32::from(topology.zones);
    let groups = u32::from(topology.hosts.groups);
    let tier = |of, switches| tier(of, switches, catalogue);
    // Groups of a single tier are not connected, so each group is a zone.
    let (groups, zones) = if topology.has_t1() { (groups, zones) } else { (1, groups * zones) };
    let port_mbps = topology.hosts.nic_speed.mbps() / planes;
    let t2 = topology.t2.as_ref();
    let third = t2.map(|t2| {
        let rows = if t2.wiring == Wiring::Full { 1 } else { u32::from(t2.rows) };
        let switches = plan.fabric().counts().t2;
        let switches = u32::try_from(switches).unwrap_or(u32::MAX);
        let ports_per_zone = u32::from(t2.zone_ports);
        let zone_bits = topology.addresses.widths.zone;
        let parallel = u32::from(topology.t1.parallel).max(1);
        ThirdTier { tier: tier(&t2.tier, switches), zones, rows, parallel, ports_per_zone, zone_bits }
    });
    let planes_by_nic = if t2.is_some() { 1 } else { zones };
    Ok(Design {
        planes: topology.planes.into(),
        planes_by_nic,
        port_speed: Speed::from_mbps(port_mbps).unwrap_or(topology.hosts.nic_speed),
        routing: topology.routing,
        os: topology.t0.os,
        nics: groups * u32::from(topology.hosts.per_group) * zones,
        nic_cable: topology.cables.nic_t0.length,
        groups,
        unit: u32::from(topology.hosts.rails) / planes_by_nic.max(1),
        per_group: topology.hosts.per_group.into(),
        per_node: u32::from(topology.hosts.nics_per_node) / u32::from(topology.hosts.rails).max(1),
        parallel: u32::from(topology.t0.parallel).max(1),
        t0: tier(&topology.t0, planes * zones * groups),
        t1: tier(&topology.t1, planes * zones * u32::from(topology.t1_count)),
        third,
    })
}

/// Returns why a design cannot describe a fabric.
fn irregular(topology: &Topology) -> Option<&'static str> {
    let t1 = topology.has_t1().then_some(&topology.t1);
    let tiers = [Some(&topology.t0), t1, topology.t2.as_ref().map(|t2| &t2.tier)];
    let tiers: Vec<&TierOfFile> = tiers.into_iter().flatten().collect();
    let exceptions = &topology.exceptions;
    if tiers.iter().any(|tier| !tier.by_plane.is_empty() || !tier.by_zone.is_empty())
        || !exceptions.switches.is_empty()
    {
        return Some("has different switches in one tier");
    }
    let is_short = !exceptions.absent_switches.is_empty()
        || !exceptions.absent_nics.is_empty()
        || !exceptions.absent_links.is_empty();
    if is_short {
        return Some("has absent switches, NICs or cables");
    }
    let oses: Vec<Os> = tiers.iter().map(|tier| tier.os).collect();
    oses.windows(2).any(|pair| pair[0] != pair[1]).then_some("has several operating systems")
}

fn tier<'a>(of: &'a TierOfFile, switches: u32, catalogue: &'a Catalogue) -> Tier<'a> {
    let side = |block: PortBlock| Side { count: block.count.into(), breakout: block.breakout };
    let up = (of.up.count > 0).then(|| side(of.up));
    let chassis = catalogue.chassis(&of.platform);
    Tier { platform: &of.platform, chassis, switches, down: side(of.down), up }
}

/// Returns the media and lengths of a fabric's cables.
pub(super) fn media(topology: &Topology) -> Media<'_> {
    let cables = &topology.cables;
    Media {
        nic_t0: kind(&cables.nic_t0),
        t0_t1: kind(&cables.t0_t1),
        t1_t2: kind(cables.t1_t2.as_ref().unwrap_or(&cables.t0_t1)),
    }
}

fn kind(cable: &Cable) -> CableKind<'_> {
    CableKind { medium: &cable.medium, length: cable.length }
}

/// Returns the numbers of a named fabric.
///
/// # Errors
///
/// The items of the fabric without a price, or without published power.
pub(super) fn measure(
    file: &Utf8Path,
    design: &Design<'_>,
    compared: Criteria<'_>,
    media: &Media<'_>,
) -> anyhow::Result<Measure> {
    let listed = |items: Vec<String>| {
        let items: Vec<String> = items.iter().map(|item| format!("`{item}`")).collect();
        items.join(", ")
    };
    design.measure(compared, media).map_err(|why| match why {
        MeasureError::Price => {
            let bill = design.bill();
            let missing =
                compared.prices.map(|prices| prices.unpriced_items(&bill).map(str::to_owned).collect());
            anyhow::anyhow!("`{file}` has items without a price: add {}", listed(missing.unwrap_or_default()))
        }
        MeasureError::Power => {
            let [typical, _] = design.power(media).unpublished_kinds();
            anyhow::anyhow!(
                "`{file}` has items without published power: {}\nhelp: {OWN_POWER}",
                listed(typical)
            )
        }
    })
}

/// Returns the row of a named fabric.
pub(super) fn row(
    (plan, assumed, known_faults): (&Plan, Option<String>, Vec<String>),
    design: &Design<'_>,
    measure: &Measure,
    is_priced: bool,
) -> Row {
    let qos = plan.topology().qos.name().to_string();
    let passed = CheckedFile {
        qos,
        assumed,
        known_faults,
        base_rtt_ns: plan.delay().base_rtt.0,
        ..CheckedFile::absent()
    };
    let row = Row::new(design, measure, &media(plan.topology()), is_priced, passed);
    let crossed_copper = closc_cabling::lanes::crossed_copper(plan);
    Row { unequal_lanes: closc_cabling::lanes::unequal(plan), crossed_copper, ..row }
}

/// Returns the host settings of a file that differ from a need.
pub(super) fn hosts(topology: &Topology, nics_per_node: u8, rails: u8) -> Vec<String> {
    let hosts = &topology.hosts;
    let differs = [
        ("NIC per node", "NICs per node", hosts.nics_per_node, nics_per_node, "--nics-per-node"),
        ("rail", "rails", hosts.rails, rails, "--rails"),
    ];
    let differs = differs.into_iter().filter(|(.., has, wants, _)| has != wants);
    let line = |(one, many, has, wants, flag)| {
        format!("it has {has} {}, but `{flag}` is {wants}", if has == 1 { one } else { many })
    };
    differs.map(line).collect()
}
