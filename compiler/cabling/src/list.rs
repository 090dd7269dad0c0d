//! Lists of cables for installers, purchasing and DCIM systems.
//!
//! In: a plan and a plane. Out: one row per cable, written on demand. Invariants: rows are in the order of the cable
//! lists of a tree. All values come from the plan.

mod assembly;
mod bill;
mod label;
mod netbox;

use std::fmt::Write as _;

use closc_fabric::End;
use closc_plan::Plan;
use closc_qos::units::Speed;
use closc_topology::{Link, PlaneId, PortRef, RackPlace, Side, TierId};

pub use assembly::{assemblies_csv, links_of_large};
pub use bill::{Bill, Entry};
pub use label::{LabelError, LabelPattern};
pub use netbox::{
    LABEL_MAX, PROFILE_LINKS_MAX, assemblies as netbox_assemblies, device_types, devices, long_labels, racks,
};

use crate::locate::port_name;
use crate::report::DevicePort;

/// One end of a cable, with the data that an installer needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plug {
    /// Device and port.
    pub(crate) at: DevicePort,
    /// Number of the cage on the panel; absent for NICs with a single cage.
    pub(crate) cage: Option<u16>,
    /// Number of the port in a cage with breakout, from 1; 0 without breakout.
    pub(crate) part: u8,
    /// The port's speed.
    pub(crate) speed: Speed,
    /// Rack position of the device, if the file has racks.
    pub(crate) place: Option<RackPlace>,
}

/// A cable with both ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Its name in fabric files.
    pub(crate) name: String,
    /// The cable.
    pub(crate) link: Link,
    /// The end nearer to the NICs.
    pub(crate) a: Plug,
    /// The other end.
    pub(crate) b: Plug,
}

/// Returns the cables of a plane, those of NICs first.
pub(crate) fn lines(plan: &Plan, plane: PlaneId) -> impl Iterator<Item = Line> + '_ {
    let fabric = plan.fabric();
    let links = fabric.host_links(plane).chain(fabric.switch_links(plane));
    links.filter_map(move |link| line(plan, link))
}

/// Returns the line of a cable; `None` if the wiring rule has no upper end for it.
fn line(plan: &Plan, link: Link) -> Option<Line> {
    let (upper, port) = plan.fabric().upper_end(link)?;
    let lower = match link {
        Link::Host(port) => End::Nic(port),
        Link::Fabric { lower, up } => {
            End::Switch { switch: lower, port: PortRef { side: Side::Up, index: up } }
        }
    };
    let (a, b) = (plug(plan, lower), plug(plan, End::Switch { switch: upper, port }));
    Some(Line { name: plan.link_name(link), link, a, b })
}

fn plug(plan: &Plan, end: End) -> Plug {
    let topology = plan.topology();
    let port = port_name(plan, end);
    match end {
        End::Switch { switch, port: at } => {
            let physical = topology.hardware(switch).0.port(topology.slot(switch, at));
            let device = plan.switch_name(switch).to_string();
            let cage = Some(physical.panel);
            let place = topology.switch_place(switch);
            Plug {
                at: DevicePort { device, port },
                cage,
                part: physical.subport,
                speed: physical.speed,
                place,
            }
        }
        End::Nic(at) => {
            let node = topology.node_of(at.nic).0;
            let device = plan.node_name(node).to_string();
            let (speed, place) = (topology.port_speed(at.nic.zone), topology.node_place(node));
            let has_several = topology.nic_cages(at.nic.zone) > 1;
            let cage = has_several.then(|| u16::from(topology.nic_cage(at)) + 1);
            Plug { at: DevicePort { device, port }, cage, part: 0, speed, place }
        }
    }
}

/// Returns the kind of a cable, which depends on the tiers that it connects.
fn kind(link: Link) -> &'static str {
    match link {
        Link::Host(_) => "nic-t0",
        Link::Fabric { lower, .. } if lower.tier == TierId::T0 => "t0-t1",
        Link::Fabric { .. } => "t1-t2",
    }
}

/// A format of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// CSV with labels, cages and speeds at both ends.
    PointToPoint,
    /// CSV for NetBox's import of cables.
    NetBox,
    /// CSV for NetBox's import of interfaces.
    NetBoxInterfaces,
    /// `topology.dot` of the Prescriptive Topology Manager (PTM).
    Ptm,
}

impl Form {
    /// All forms.
    pub const ALL: [Form; 4] = [Form::PointToPoint, Form::NetBox, Form::NetBoxInterfaces, Form::Ptm];

    /// Returns the name of the file for a plane.
    pub fn file(self, plane: PlaneId) -> String {
        match self {
            Form::PointToPoint => format!("cables/point-to-point-{plane}.csv"),
            Form::NetBox => format!("cables/netbox-{plane}.csv"),
            Form::NetBoxInterfaces => format!("cables/netbox-interfaces-{plane}.csv"),
            Form::Ptm => format!("cables/topology-{plane}.dot"),
        }
    }

    /// Writes the cables of a plane.
    pub fn render(self, plan: &Plan, plane: PlaneId, labels: &LabelPattern) -> String {
        match self {
            Form::PointToPoint => {
                table(&POINT_TO_POINT, lines(plan, plane).map(|line| point_to_point(plan, &line, labels)))
            }
            Form::NetBox => netbox::cables(plan, plane, labels),
            Form::NetBoxInterfaces => netbox::interfaces(plan, plane),
            Form::Ptm => ptm(plan, plane),
        }
    }
}

const POINT_TO_POINT: [&str; 21] = [
    "cable", "kind", "a_device", "a_port", "a_cage", "a_part", "a_speed", "a_label", "b_device", "b_port",
    "b_cage", "b_part", "b_speed", "b_label", "length", "medium", "a_rack", "a_unit", "b_rack", "b_unit",
    "bundle",
];

fn point_to_point(plan: &Plan, line: &Line, labels: &LabelPattern) -> [String; 21] {
    let cable = plan.fabric().cable(line.link);
    let cage = |plug: &Plug| plug.cage.map(|cage| cage.to_string()).unwrap_or_default();
    let (a, b) = (&line.a, &line.b);
    [
        line.name.clone(),
        kind(line.link).to_owned(),
        a.at.device.clone(),
        a.at.port.clone(),
        cage(a),
        a.part.to_string(),
        a.speed.to_string(),
        labels.label(line, Side::Down),
        b.at.device.clone(),
        b.at.port.clone(),
        cage(b),
        b.part.to_string(),
        b.speed.to_string(),
        labels.label(line, Side::Up),
        cable.length.to_string(),
        cable.medium.to_string(),
        rack(a),
        unit(a),
        rack(b),
        unit(b),
        bundle(line),
    ]
}

/// Returns the rack of a plug; empty if the file does not define it.
fn rack(plug: &Plug) -> String {
    plug.place.as_ref().map(|place| place.rack.to_string()).unwrap_or_default()
}

/// Returns the lowest unit of a plug's device; empty if the file does not define it.
fn unit(plug: &Plug) -> String {
    plug.place.as_ref().map(|place| place.unit.to_string()).unwrap_or_default()
}

/// Returns the name of the bundle of a cable: cables of a plane between the same two racks. Empty if the file does not
/// define the racks.
fn bundle(line: &Line) -> String {
    match (&line.a.place, &line.b.place) {
        (Some(a), Some(b)) => format!("p{}: {} > {}", line.link.plane(), a.rack, b.rack),
        (Some(_) | None, None) | (None, Some(_)) => String::new(),
    }
}

/// Formats rows as CSV (RFC 4180).
pub(super) fn table<const N: usize>(head: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut rows = rows;
    let written = writer.write_record(head).and_then(|()| rows.try_for_each(|row| writer.write_record(&row)));
    let text =
        written.ok().and_then(|()| writer.into_inner().ok()).and_then(|bytes| String::from_utf8(bytes).ok());
    text.expect("text in memory takes every row")
}

/// Returns undirected edges between ports, in the format of PTM.
fn ptm(plan: &Plan, plane: PlaneId) -> String {
    let mut text = format!("graph \"{}\" {{\n", plan.name());
    for line in lines(plan, plane) {
        let (a, b) = (&line.a.at, &line.b.at);
        let _ = writeln!(text, "  \"{}\":\"{}\" -- \"{}\":\"{}\";", a.device, a.port, b.device, b.port);
    }
    text + "}\n"
}
