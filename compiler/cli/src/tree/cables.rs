//! The cable list of one plane, as CSV: what installers pull and labs plug.
//!
//! In: a plan and a plane. Out: one line for each cable that is there, NIC cables first, in the order of their
//! lower ends.

use std::fmt::Write as _;

use closc_plan::Plan;
use closc_render::Artefact;
use closc_topology::{Link, NicPort, PlaneId};

/// First line of every cable list.
pub const HEADER: &str = "plane,kind,lower_device,lower_port,upper_device,upper_port,length,medium,state\n";

/// Renders the cable list of a plane.
pub fn render(plan: &Plan, plane: PlaneId) -> Artefact {
    let fabric = plan.fabric();
    let mut text = String::from(HEADER);
    let hosts = fabric.nics().map(|nic| Link::Host(NicPort { plane, nic }));
    let switches = fabric.plane_switches(plane).flat_map(|lower| {
        let count = plan.topology().tier(lower.tier).map_or(0, |tier| tier.up.count);
        (0..count).map(move |up| Link::Fabric { lower, up })
    });
    for link in hosts.chain(switches).filter(|link| fabric.has_link(*link)) {
        line(&mut text, plan, link);
    }
    Artefact::new(format!("cables/plane-{plane}.csv"), text)
}

fn line(text: &mut String, plan: &Plan, link: Link) {
    let ends = plan.cable_ends(link);
    let cable = plan.fabric().cable(link);
    let state = if plan.fabric().is_drained(link) { "drained" } else { "up" };
    let kind = match link {
        Link::Host(_) => "nic-t0",
        Link::Fabric { lower, .. } if lower.tier == closc_topology::TierId::T0 => "t0-t1",
        Link::Fabric { .. } => "t1-t2",
    };
    let _ = writeln!(
        text,
        "{},{kind},{},{},{},{},{},{},{state}",
        link.plane(),
        ends.lower.0,
        ends.lower.1,
        ends.upper.0,
        ends.upper.1,
        cable.length,
        cable.medium,
    );
}
