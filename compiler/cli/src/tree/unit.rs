//! The pieces of a tree, and when a piece has to be rendered again.
//!
//! In: a plan. Out: [`Unit`]s in the order of the tree, each with a [`Fingerprint`]. Invariants: two units of equal
//! fingerprint render to the same bytes. A fingerprint covers the program's version, the templates, the whole
//! topology without its exceptions and single pins, and those of them that touch the unit; so one changed cable renders two
//! switches again, not six thousand. Where switches choose paths it renders those of its plane.

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_entries::{Pipeline, entries_file, pipeline_files};
use closc_fabric::PortUse;
use closc_plan::Plan;
use closc_platform::Os;
use closc_render::{Artefact, Templates, path_table, targets};
use closc_topology::{Exceptions, HostOs, Link, Nic, Node, PlaneId, Spans, Switch, Topology, ZoneId};

use crate::select::Selection;
use crate::tree::cables;

/// One piece of the tree: what is rendered and dropped at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Everything of one switch.
    Switch(Switch),
    /// Everything of one node besides its path table.
    Host(Node),
    /// The path table of one T0 group.
    Group(ZoneId, u16),
    /// The cable list of one plane.
    Cables(PlaneId),
    /// The P4 pipelines that switches of the tree run.
    Pipelines,
}

/// Names what a unit is rendered from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fingerprint(pub [u8; 16]);

/// Returns the units of a plan.
pub fn units(plan: &Plan, selection: &Selection) -> Vec<Unit> {
    let topology = plan.topology();
    let switches = plan.switches().filter(|s| selection.has(*s, &topology.naming)).map(Unit::Switch);
    let mut units: Vec<Unit> = switches.collect();
    if !selection.is_everything() {
        return units;
    }
    if topology.hosts.has_files() {
        units.extend(plan.nodes().map(Unit::Host));
    }
    if plan.is_source_routed() {
        units.extend(plan.groups().map(|(zone, group)| Unit::Group(zone, group)));
    }
    units.extend(topology.plane_ids().map(Unit::Cables));
    if plan.switches().any(|switch| topology.hardware(switch).1 == Os::P4) {
        units.push(Unit::Pipelines);
    }
    units
}

impl Unit {
    /// Renders the unit.
    pub fn render(self, plan: &Plan, templates: &Templates) -> anyhow::Result<Vec<Artefact>> {
        match self {
            Unit::Switch(switch) => {
                let intent = plan.device(switch);
                match targets::target(intent.os) {
                    Some(target) => Ok(target.device(&intent, templates)?),
                    None => Ok(vec![artefact(entries_file(Pipeline::fabric(), &intent)?)]),
                }
            }
            Unit::Host(node) => {
                let mut artefacts = targets::host(&plan.host(node), templates)?;
                if plan.topology().hosts.os == HostOs::Linux {
                    artefacts.extend(targets::linux::host_routes(plan, node, templates)?);
                }
                Ok(artefacts)
            }
            Unit::Group(zone, group) => Ok(path_table::render(&plan.path_table(zone, group)).into()),
            Unit::Cables(plane) => Ok(vec![cables::render(plan, plane)]),
            Unit::Pipelines => Ok(pipeline_files(Pipeline::fabric()).map(artefact).into()),
        }
    }

    /// Returns the unit's name in the state file and in messages.
    pub fn name(self, plan: &Plan) -> String {
        let topology = plan.topology();
        match self {
            Unit::Switch(switch) => format!("switch {}", topology.naming.switch(switch)),
            Unit::Host(node) => format!("host {}", topology.naming.node(node)),
            Unit::Group(zone, group) => format!("group {zone}/{}", group + 1),
            Unit::Cables(plane) => format!("cables {plane}"),
            Unit::Pipelines => "pipelines".to_owned(),
        }
    }
}

fn artefact(file: closc_entries::File) -> Artefact {
    Artefact::new(file.path, file.text)
}

/// Computes fingerprints.
pub struct Fingerprints {
    common: blake3::Hash,
    touched: BTreeMap<Unit, blake3::Hasher>,
    every_group: blake3::Hasher,
    /// What each plane's switches weigh: where they choose paths, an exception concerns them all.
    planes: BTreeMap<PlaneId, blake3::Hasher>,
    is_source_routed: bool,
}

impl Fingerprints {
    /// Takes a plan and the digest of the templates.
    pub fn new(plan: &Plan, templates: blake3::Hash) -> Self {
        let mut fingerprints = Fingerprints {
            common: common(plan, templates),
            touched: BTreeMap::new(),
            every_group: blake3::Hasher::new(),
            planes: BTreeMap::new(),
            is_source_routed: plan.is_source_routed(),
        };
        fingerprints.touch_all(plan);
        fingerprints
    }

    /// Returns the digest of everything but exceptions.
    pub fn common(&self) -> blake3::Hash {
        self.common
    }

    /// Returns the fingerprint of a unit.
    pub fn of(&self, unit: Unit) -> Fingerprint {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.common.as_bytes());
        if let Some(own) = self.touched.get(&unit) {
            hasher.update(own.finalize().as_bytes());
        }
        if let Unit::Group(..) | Unit::Host(_) = unit {
            hasher.update(self.every_group.finalize().as_bytes());
        }
        if let (Unit::Switch(switch), false) = (unit, self.is_source_routed)
            && let Some(plane) = self.planes.get(&switch.plane)
        {
            hasher.update(plane.finalize().as_bytes());
        }
        let mut short = [0; 16];
        short.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Fingerprint(short)
    }

    fn touch_all(&mut self, plan: &Plan) {
        let exceptions = plan.topology().exceptions.clone();
        for switch in exceptions.absent_switches.iter().chain(&exceptions.drained_switches) {
            let drained = exceptions.drained_switches.contains(switch);
            self.around(plan, *switch, &format!("{switch:?} {drained}"));
            self.plane(switch.plane, &format!("{switch:?} {drained}"));
            self.every_group.update(format!("{switch:?} {drained}").as_bytes());
        }
        for (switch, hardware) in &exceptions.switches {
            self.around(plan, *switch, &format!("{switch:?} {hardware:?}"));
        }
        for nic in &exceptions.absent_nics {
            self.nic(plan, *nic, &format!("{nic:?}"));
        }
        for plane in &exceptions.drained_planes {
            let text = format!("drained {plane}");
            for switch in plan.fabric().plane_switches(*plane) {
                self.touch(Unit::Switch(switch), &text);
            }
            self.touch(Unit::Cables(*plane), &text);
            for node in plan.nodes() {
                self.touch(Unit::Host(node), &text);
            }
            self.every_group.update(text.as_bytes());
        }
        for (set, word) in [(&exceptions.absent_links, "absent"), (&exceptions.drained_links, "drained")] {
            for link in set {
                let text = format!("{link:?} {word}");
                self.link(plan, *link, &text);
                self.plane(link.plane(), &text);
                self.every_group.update(text.as_bytes());
            }
        }
        for (switch, pins) in plan.topology().ecmp.pins.iter() {
            self.touch(Unit::Switch(*switch), &format!("{pins:?}"));
        }
        for (link, cable) in &exceptions.cables {
            self.link(plan, *link, &format!("{link:?} {cable:?}"));
        }
    }

    fn touch(&mut self, unit: Unit, text: &str) {
        self.touched.entry(unit).or_default().update(text.as_bytes());
    }

    /// Everything that chooses paths in a plane.
    fn plane(&mut self, plane: PlaneId, text: &str) {
        self.planes.entry(plane).or_default().update(text.as_bytes());
    }

    /// A switch, everything plugged into it, and the cable list of its plane.
    fn around(&mut self, plan: &Plan, switch: Switch, text: &str) {
        self.touch(Unit::Switch(switch), text);
        self.touch(Unit::Cables(switch.plane), text);
        for port in plan.fabric().ports(switch) {
            let link = match port.used {
                PortUse::Link { link, .. } | PortUse::Absent { link } => link,
                PortUse::Spare => continue,
            };
            self.link(plan, link, text);
        }
    }

    /// Both ends of a cable and the cable list of its plane.
    fn link(&mut self, plan: &Plan, link: Link, text: &str) {
        self.touch(Unit::Cables(link.plane()), text);
        if let Some((upper, _)) = plan.fabric().upper_end(link) {
            self.touch(Unit::Switch(upper), text);
        }
        match link {
            Link::Host(port) => self.touch(Unit::Host(plan.topology().node_of(port.nic).0), text),
            Link::Fabric { lower, .. } => self.touch(Unit::Switch(lower), text),
        }
    }

    /// A NIC: its node, its T0s, its group's table.
    fn nic(&mut self, plan: &Plan, nic: Nic, text: &str) {
        // Nodes of small fabrics have a route to every NIC.
        self.every_group.update(text.as_bytes());
        self.touch(Unit::Host(plan.topology().node_of(nic).0), text);
        self.touch(Unit::Group(nic.zone, nic.group), text);
        for plane in plan.topology().plane_ids() {
            self.touch(Unit::Switch(nic.t0(plane)), text);
            self.touch(Unit::Cables(plane), text);
        }
    }
}

/// Returns the digest of what a fabric file means, whatever the order of its keys, its comments and its anchors.
pub fn meaning(plan: &Plan) -> blake3::Hash {
    digest(plan.topology().clone())
}

/// Digests the program's version, the templates and the topology without exceptions and single pins.
fn common(plan: &Plan, templates: blake3::Hash) -> blake3::Hash {
    let mut topology = plan.topology().clone();
    topology.exceptions = Exceptions::default();
    topology.ecmp.pins = Arc::default();
    // What fails together is in no artefact.
    topology.domains.clear();
    let mut hasher = blake3::Hasher::new();
    hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
    hasher.update(templates.as_bytes());
    hasher.update(digest(topology).as_bytes());
    hasher.finalize()
}

/// Digests a topology. The debug form is used so that every field takes part without being listed here.
fn digest(mut topology: Topology) -> blake3::Hash {
    topology.spans = Spans::default();
    blake3::hash(format!("{topology:?}").as_bytes())
}
