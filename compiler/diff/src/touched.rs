//! Which artefacts change, by rule.
//!
//! In: two plans and their difference; what a field touches is declared where the field is. Out: [`Touched`]: switches, nodes, path tables and cable lists whose artefacts
//! may change. Invariants: an artefact that is not named here has the same bytes on both sides; a test renders and looks.

use std::collections::BTreeSet;

use closc_fabric::Fabric;
use closc_plan::{Excepted, Plan, Subject, Touch, touch};
use closc_topology::{Field, Node, PlaneId, Switch, TierId, Touches, ZoneId, field};

use crate::change::{Change, Exception, Setting, Thing, Turn, count_field};
use crate::compare::Difference;
use crate::routed;

/// Artefacts that may change, of what both sides have.
#[derive(Debug, Clone, Default)]
pub struct Touched {
    tiers: BTreeSet<TierId>,
    switches: BTreeSet<Switch>,
    planes: BTreeSet<PlaneId>,
    all_hosts: bool,
    hosts: BTreeSet<Node>,
    all_tables: bool,
    tables: BTreeSet<(ZoneId, u16)>,
    all_lists: bool,
    lists: BTreeSet<PlaneId>,
}

impl Touched {
    /// Applies the rules to every change.
    pub fn of(difference: &Difference, old: &Plan, new: &Plan) -> Touched {
        let mut touched = Touched::default();
        // Every threshold starts from the delay of the longest path.
        if old.delay().base_rtt != new.delay().base_rtt && !difference.is_empty() {
            touched.tiers.extend(TierId::ALL);
            touched.all_tables = true;
        }
        // It follows from the first T0 that is there, and every table states it.
        touched.all_tables |= old.target_delay() != new.target_delay();
        for change in &difference.changes {
            touched.change(change, old.fabric());
            touched.change(change, new.fabric());
        }
        let exceptions = difference.changes.iter().any(|change| matches!(change, Change::Exception(_)));
        if exceptions && !touched.all_hosts && !new.is_source_routed() {
            touched.hosts.extend(routed::nodes(old, new));
        }
        touched
    }

    /// Tells whether the artefacts of a switch may change.
    pub fn switch(&self, switch: Switch) -> bool {
        self.tiers.contains(&switch.tier)
            || self.planes.contains(&switch.plane)
            || self.switches.contains(&switch)
    }

    /// Tells whether the artefacts of a node may change, its group's table aside.
    pub fn host(&self, node: Node) -> bool {
        self.all_hosts || self.hosts.contains(&node)
    }

    /// Tells whether the path table of a T0 group may change.
    pub fn table(&self, zone: ZoneId, group: u16) -> bool {
        self.all_tables || self.tables.contains(&(zone, group))
    }

    /// Tells whether the cable list of a plane may change.
    pub fn list(&self, plane: PlaneId) -> bool {
        self.all_lists || self.lists.contains(&plane)
    }

    fn change(&mut self, change: &Change, fabric: &Fabric) {
        match change {
            Change::Setting(setting) => match &**setting {
                Setting::Pins(edit) => {
                    let differ = |t0: &&Switch| edit.old.get(*t0) != edit.new.get(*t0);
                    self.switches.extend(edit.old.keys().chain(edit.new.keys()).filter(differ));
                }
                setting => self.declared(setting.field()),
            },
            Change::Count(tier, _) => self.declared(count_field(*tier)),
            Change::Tier(tier, setting) => self.declared(setting.field(*tier)),
            Change::T2(setting) => self.declared(setting.field()),
            Change::T2Added(_) | Change::T2Removed(_) => self.declared(field!("tiers.t2")),
            Change::Naming(named, _) => self.declared(named.field()),
            Change::Exception(exception) => self.exception(exception, fabric),
        }
    }

    /// Adds what the declaration of a field says.
    fn declared(&mut self, field: Field) {
        let touches = field.touches();
        let tiers = [(TierId::T0, Touches::T0), (TierId::T1, Touches::T1), (TierId::T2, Touches::T2)];
        self.tiers.extend(tiers.into_iter().filter(|(_, tier)| touches.has(*tier)).map(|(tier, _)| tier));
        self.all_hosts |= touches.has(Touches::NODES);
        self.all_tables |= touches.has(Touches::TABLES);
        self.all_lists |= touches.has(Touches::LISTS);
    }

    fn exception(&mut self, exception: &Exception, fabric: &Fabric) {
        let excepted = match exception {
            Exception::Absent(Turn::On | Turn::Off, thing) => Excepted::Absent(subject(*thing)),
            Exception::Drained(Turn::On | Turn::Off, thing) => Excepted::Drained(subject(*thing)),
            Exception::Cable(link, _) => Excepted::Cable(*link),
            Exception::Device(switch, _) => Excepted::Device(*switch),
        };
        let sends = fabric.topology().routing.is_source_routed();
        touch(excepted, fabric, &mut |found| match found {
            Touch::Switch(switch) => drop(self.switches.insert(switch)),
            Touch::Plane(plane) => drop(self.planes.insert(plane)),
            Touch::Host(node) => drop(self.hosts.insert(node)),
            // Where switches choose the path, the routes of hosts are compared.
            Touch::Hosts => self.all_hosts |= sends,
            Touch::Table(zone, group) => drop(self.tables.insert((zone, group))),
            Touch::Tables => self.all_tables |= sends,
            Touch::List(plane) => drop(self.lists.insert(plane)),
        });
    }
}

fn subject(thing: Thing) -> Subject {
    match thing {
        Thing::Plane(plane) => Subject::Plane(plane),
        Thing::Switch(switch) => Subject::Switch(switch),
        Thing::Nic(nic) => Subject::Nic(nic),
        Thing::Link(link) => Subject::Link(link),
    }
}

/// How many artefacts of a kind come, change and go.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Artefacts {
    /// What they are.
    pub kind: String,
    /// Devices, nodes or groups that get them.
    pub added: u64,
    /// Those whose artefacts may change.
    pub changed: u64,
    /// Those that lose them.
    pub removed: u64,
    /// Those of the new side in all.
    pub total: u64,
}

/// Counts artefacts by kind; kinds of which nothing changes are left out.
pub fn artefacts(touched: &Touched, old: &Plan, new: &Plan) -> Vec<Artefacts> {
    let hosts = |plan: &Plan| plan.nodes_with_files().collect();
    let tables =
        |plan: &Plan| if plan.is_source_routed() { plan.groups().collect() } else { BTreeSet::new() };
    let switches = |plan: &Plan| plan.switches().collect();
    let lists = |plan: &Plan| plan.topology().plane_ids().collect();
    let all = [
        count("switches", &switches(old), &switches(new), |s| touched.switch(*s)),
        count("nodes", &hosts(old), &hosts(new), |n| touched.host(*n)),
        count("path tables", &tables(old), &tables(new), |(zone, group)| touched.table(*zone, *group)),
        count("cable lists", &lists(old), &lists(new), |plane| touched.list(*plane)),
    ];
    all.into_iter().filter(|kind| kind.added + kind.changed + kind.removed > 0).collect()
}

fn count<T: Ord>(
    kind: &str,
    old: &BTreeSet<T>,
    new: &BTreeSet<T>,
    touched: impl Fn(&T) -> bool,
) -> Artefacts {
    Artefacts {
        kind: kind.to_owned(),
        added: new.difference(old).count() as u64,
        changed: old.intersection(new).filter(|item| touched(item)).count() as u64,
        removed: old.difference(new).count() as u64,
        total: new.len() as u64,
    }
}
