//! The common speed and length of the cables of a tier.
//!
//! In: a plan, planes, a kind of cable. Out: speed and length, or a refusal that names two cables that differ.
//! Invariants: all cables of the planes are compared.

use std::collections::BTreeMap;

use closc_plan::Plan;
use closc_qos::units::{Length, Speed};
use closc_topology::{Island, Link, PlaneId, TierId};

use super::speed;
use crate::Refusal;

/// Speed and length of the cables of a tier.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cables {
    pub(super) speed: Speed,
    pub(super) length: Length,
}

/// The name of a kind of cable, by the tier of its upper end.
fn kind(upper: TierId) -> &'static str {
    match upper {
        TierId::T0 => "NIC-T0",
        TierId::T1 => "T0-T1",
        TierId::T2 => "T1-T2",
    }
}

fn is_below(link: Link, upper: TierId) -> bool {
    match link {
        Link::Host(_) => upper == TierId::T0,
        Link::Fabric { lower, .. } => lower.tier.level() + 1 == upper.level(),
    }
}

/// Returns the speed and length that all cables below a tier have.
pub(super) fn cables(
    plan: &Plan,
    format: &'static str,
    planes: &[PlaneId],
    upper: TierId,
) -> Result<Cables, Refusal> {
    let mut found: BTreeMap<(u32, u64), (Cables, Link)> = BTreeMap::new();
    for plane in planes {
        let fabric = plan.fabric();
        let all = fabric.host_links(*plane).chain(fabric.switch_links(*plane));
        for link in all.filter(|link| is_below(*link, upper)) {
            let cables = Cables { speed: speed(plan, link), length: fabric.cable(link).length };
            found.entry((cables.speed.mbps(), cables.length.millimeters())).or_insert((cables, link));
        }
    }
    let mut values = found.values();
    match (values.next(), values.next()) {
        (Some((cables, _)), None) => Ok(*cables),
        (Some(first), Some(second)) => {
            let shown = |(cables, link): &(Cables, Link)| {
                format!("`{}` is {} of {}", plan.link_name(*link), cables.length, cables.speed)
            };
            Err(Refusal::Uneven {
                format,
                subject: format!("speed and length of {} cables", kind(upper)),
                values: format!("{}, {}", shown(first), shown(second)),
                help: "export ns-3 or infragraph, which have a value for each cable",
            })
        }
        (None, _) => Err(Refusal::Unknown {
            format,
            subject: format!("way to describe a fabric without {} cables", kind(upper)),
            help: "export infragraph or ns-3 if the fabric has one tier, or check the exceptions of the file",
        }),
    }
}

/// Rejects fabrics whose zones are connected only through nodes. Formats that describe a fabric by counts
/// support a single network of switches.
pub(super) fn reject_islands(plan: &Plan, format: &'static str) -> Result<(), Refusal> {
    match plan.topology().island() {
        Island::Zone => Err(Refusal::Unknown {
            format,
            subject: "way to describe a fabric whose zones only nodes connect".to_owned(),
            help: "export infragraph, which lists every cable, or one zone as a separate fabric",
        }),
        // For a fabric of one tier, `cables` reports the missing T0-T1 cables.
        Island::Group | Island::Fabric => Ok(()),
    }
}

/// Rejects planes with absent or drained elements: the rest is not uniform.
pub(super) fn reject_exceptions(
    plan: &Plan,
    format: &'static str,
    planes: &[PlaneId],
) -> Result<(), Refusal> {
    let exceptions = &plan.topology().exceptions;
    let here = |plane: PlaneId| planes.contains(&plane);
    let switches = exceptions.absent_switches.iter().chain(&exceptions.drained_switches);
    let switches = switches.filter(|switch| here(switch.plane)).count();
    let links = exceptions.absent_links.iter().chain(&exceptions.drained_links);
    let links = links.filter(|link| here(link.plane())).count();
    let nics = exceptions.absent_nics.len();
    if switches + links + nics == 0 {
        return Ok(());
    }
    Err(Refusal::Number {
        format,
        rule: "a complete fabric, because it has counts instead of names",
        arithmetic: format!(
            "{nics} NICs are absent, and {switches} switches and {links} cables absent or drained in {}",
            if planes.len() == 1 { format!("plane {}", planes[0].0) } else { "these planes".to_owned() }
        ),
        // An absent NIC is absent in all planes, so a choice of planes does not help. ns-3 supports only one cable
        // between two switches.
        help: match (nics > 0, plan.topology().t0.up.count > plan.topology().t1_count) {
            (true, true) => "export infragraph, which lists every cable",
            (true, false) => "export ns-3 or infragraph, which list every cable",
            (false, true) => "choose planes with `--plane`, or export infragraph, which lists every cable",
            (false, false) => {
                "choose planes with `--plane`, or export ns-3 or infragraph, which list every cable"
            }
        },
    })
}
