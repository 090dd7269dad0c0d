//! The cable list of one plane, as CSV: what installers pull and labs plug.
//!
//! In: a plan and a plane. Out: one line for each cable that is there, NIC cables first, in the order of their
//! lower ends.

use std::fmt::Write as _;

use closc_artefacts::cables::{HEADER, Kind, Row, State};
use closc_artefacts::paths;
use closc_plan::Plan;
use closc_render::Artefact;
use closc_topology::{Link, PlaneId};

/// Renders the cable list of a plane.
pub(crate) fn render(plan: &Plan, plane: PlaneId) -> Artefact {
    let fabric = plan.fabric();
    let mut text = String::from(HEADER);
    for link in fabric.host_links(plane).chain(fabric.switch_links(plane)) {
        line(&mut text, plan, link);
    }
    Artefact::new(paths::cables(plane.0), text)
}

fn line(text: &mut String, plan: &Plan, link: Link) {
    let ends = plan.cable_ends(link);
    let cable = plan.fabric().cable(link);
    let state = if plan.fabric().is_drained(link) { State::Drained } else { State::Up };
    let kind = match link {
        Link::Host(_) => Kind::NicT0,
        Link::Fabric { lower, .. } if lower.tier == closc_topology::TierId::T0 => Kind::T0T1,
        Link::Fabric { .. } => Kind::T1T2,
    };
    let row = Row {
        plane: link.plane().0,
        kind: kind.word(),
        lower_device: &ends.lower.0,
        lower_port: &ends.lower.1,
        upper_device: &ends.upper.0,
        upper_port: &ends.upper.1,
        length: &cable.length.to_string(),
        medium: cable.medium.as_ref(),
        state: state.word(),
    };
    let _ = writeln!(text, "{row}");
}
