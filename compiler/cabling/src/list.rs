//! The cables of a fabric, as installers, stores and DCIM systems want them.
//!
//! In: a plan and a plane. Out: rows, one a cable, written as they are asked for. Invariants: rows are in the order of the
//! cable lists of a tree; what a row says is what the plan says.

mod bill;
mod label;

use std::fmt::Write as _;

use closc_fabric::End;
use closc_plan::Plan;
use closc_qos::units::Speed;
use closc_topology::{Link, PlaneId, PortRef, Side, TierId};

pub use bill::Bill;
pub use label::{LabelError, LabelPattern};

use crate::locate::port_name;
use crate::report::PortAt;

/// One end of a cable, for who plugs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plug {
    /// Device and port.
    pub(crate) at: PortAt,
    /// The cage (transceiver) on the panel, as it is numbered there; absent on NICs.
    pub(crate) cage: Option<u16>,
    /// The part of a cage that is split, from 1; 0 where it is not split.
    pub(crate) part: u8,
    /// The port's speed.
    pub(crate) speed: Speed,
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

/// The cables of a plane, those of NICs first.
pub(crate) fn lines(plan: &Plan, plane: PlaneId) -> impl Iterator<Item = Line> + '_ {
    let fabric = plan.fabric();
    let links = fabric.host_links(plane).chain(fabric.switch_links(plane));
    links.filter_map(move |link| {
        let (upper, port) = fabric.upper_end(link)?;
        let lower = match link {
            Link::Host(port) => End::Nic(port),
            Link::Fabric { lower, up } => {
                End::Switch { switch: lower, port: PortRef { side: Side::Up, index: up } }
            }
        };
        let (a, b) = (plug(plan, lower), plug(plan, End::Switch { switch: upper, port }));
        Some(Line { name: plan.link_name(link), link, a, b })
    })
}

fn plug(plan: &Plan, end: End) -> Plug {
    let topology = plan.topology();
    let port = port_name(plan, end);
    match end {
        End::Switch { switch, port: at } => {
            let physical = topology.hardware(switch).0.port(topology.slot(switch, at));
            let device = plan.switch_name(switch).to_string();
            let cage = Some(physical.panel);
            Plug { at: PortAt { device, port }, cage, part: physical.subport, speed: physical.speed }
        }
        End::Nic(at) => {
            let device = plan.node_name(topology.node_of(at.nic).0).to_string();
            Plug { at: PortAt { device, port }, cage: None, part: 0, speed: topology.port_speed(at.nic.zone) }
        }
    }
}

/// The word of what a cable connects.
fn kind(link: Link) -> &'static str {
    match link {
        Link::Host(_) => "nic-t0",
        Link::Fabric { lower, .. } if lower.tier == TierId::T0 => "t0-t1",
        Link::Fabric { .. } => "t1-t2",
    }
}

/// A form of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// CSV: both ends with labels, cages and speeds.
    PointToPoint,
    /// CSV that NetBox's cable import reads.
    NetBox,
    /// `topology.dot` of the Prescriptive Topology Manager (PTM).
    Ptm,
}

impl Form {
    /// All forms.
    pub const ALL: [Form; 3] = [Form::PointToPoint, Form::NetBox, Form::Ptm];

    /// Returns the name of the file of a plane.
    pub fn file(self, plane: PlaneId) -> String {
        match self {
            Form::PointToPoint => format!("cables/point-to-point-{plane}.csv"),
            Form::NetBox => format!("cables/netbox-{plane}.csv"),
            Form::Ptm => format!("cables/topology-{plane}.dot"),
        }
    }

    /// Writes the cables of a plane.
    pub fn render(self, plan: &Plan, plane: PlaneId, labels: &LabelPattern) -> String {
        match self {
            Form::PointToPoint => {
                table(&POINT_TO_POINT, lines(plan, plane).map(|line| point_to_point(plan, &line, labels)))
            }
            Form::NetBox => table(&NETBOX, lines(plan, plane).map(|line| netbox(plan, &line, labels))),
            Form::Ptm => ptm(plan, plane),
        }
    }
}

const POINT_TO_POINT: [&str; 16] = [
    "cable", "kind", "a_device", "a_port", "a_cage", "a_part", "a_speed", "a_label", "b_device", "b_port",
    "b_cage", "b_part", "b_speed", "b_label", "length", "medium",
];

fn point_to_point(plan: &Plan, line: &Line, labels: &LabelPattern) -> [String; 16] {
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
    ]
}

/// Fields of NetBox's import of cables (`dcim.cable`), those that every release from 3.3 on has.
const NETBOX: [&str; 11] = [
    "side_a_device",
    "side_a_type",
    "side_a_name",
    "side_b_device",
    "side_b_type",
    "side_b_name",
    "type",
    "status",
    "label",
    "length",
    "length_unit",
];

fn netbox(plan: &Plan, line: &Line, labels: &LabelPattern) -> [String; 11] {
    const INTERFACE: &str = "dcim.interface";
    let cable = plan.fabric().cable(line.link);
    let millimeters = cable.length.millimeters();
    [
        line.a.at.device.clone(),
        INTERFACE.to_owned(),
        line.a.at.port.clone(),
        line.b.at.device.clone(),
        INTERFACE.to_owned(),
        line.b.at.port.clone(),
        netbox_type(&cable.medium).to_owned(),
        "planned".to_owned(),
        labels.label(line, Side::Down),
        // NetBox keeps two decimals.
        format!("{}.{:02}", millimeters / 1000, millimeters % 1000 / 10),
        "m".to_owned(),
    ]
}

/// The cable type of NetBox for a medium; empty where it has none.
fn netbox_type(medium: &str) -> &'static str {
    match medium {
        "dac" => "dac-passive",
        "acc" | "aec" => "dac-active",
        "aoc" => "aoc",
        "vr" | "sr" | "sr2" | "sr4" | "sr8" => "mmf-om4",
        "virtual" => "",
        _ => "smf",
    }
}

/// Rows as CSV (RFC 4180).
pub(super) fn table<const N: usize>(head: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut rows = rows;
    let written = writer.write_record(head).and_then(|()| rows.try_for_each(|row| writer.write_record(&row)));
    let text =
        written.ok().and_then(|()| writer.into_inner().ok()).and_then(|bytes| String::from_utf8(bytes).ok());
    text.expect("text in memory takes every row")
}

/// Undirected edges between quoted ports.
fn ptm(plan: &Plan, plane: PlaneId) -> String {
    let mut text = format!("graph \"{}\" {{\n", plan.name());
    for line in lines(plan, plane) {
        let (a, b) = (&line.a.at, &line.b.at);
        let _ = writeln!(text, "  \"{}\":\"{}\" -- \"{}\":\"{}\";", a.device, a.port, b.device, b.port);
    }
    text + "}\n"
}
