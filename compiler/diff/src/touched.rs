//! Which artefacts change, by rule.
//!
//! In: two plans and their difference. Out: [`Touched`]: switches, nodes, path tables and cable lists whose artefacts
//! may change. Invariants: an artefact that is not named here has the same bytes on both sides; a test renders and looks.

use std::collections::BTreeSet;

use closc_fabric::{End, Fabric, PortUse};
use closc_plan::Plan;
use closc_topology::{Link, Node, PlaneId, Routing, Switch, TierId, ZoneId};

use crate::change::{Change, Difference, Exception, Field, Named, Thing, TierField, Turn};
use crate::routed;

/// Artefacts that may change, of what both sides have.
#[derive(Debug, Clone, Default)]
pub struct Touched {
    tiers: BTreeSet<TierId>,
    switches: BTreeSet<Switch>,
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
        self.tiers.contains(&switch.tier) || self.switches.contains(&switch)
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

    fn all(&mut self) {
        self.tiers.extend(TierId::ALL);
        self.hosts_and_tables();
        self.all_lists = true;
    }

    fn hosts_and_tables(&mut self) {
        self.all_hosts = true;
        self.all_tables = true;
    }

    fn change(&mut self, change: &Change, fabric: &Fabric) {
        match change {
            Change::Field(field) => self.field(field),
            Change::Tier(tier, field) => self.tier(*tier, field),
            Change::T2Added(_) | Change::T2Removed(_) => self.all(),
            Change::Naming(Named::Node, _) => {
                self.tiers.insert(TierId::T0);
                self.hosts_and_tables();
                self.all_lists = true;
            }
            Change::Naming(Named::Tier(tier), _) => {
                self.around(*tier);
                self.all_tables = true;
                self.all_lists = true;
            }
            Change::Exception(exception) => self.exception(exception, fabric),
        }
    }

    fn field(&mut self, field: &Field) {
        use TierId::{T0, T1, T2};
        match field {
            Field::Description(_) | Field::Sites(_) | Field::HostOs(_) | Field::Domains(_) => {}
            Field::HostOutputs(_) | Field::Slots(_) => self.all_hosts = true,
            Field::ManagementPool(_)
            | Field::ManagementGateway(_)
            | Field::LoopbackPool(_)
            | Field::AsnBase(_)
            | Field::Services(_) => self.tiers.extend(TierId::ALL),
            Field::EntropyActive(_)
            | Field::EntropyBackup(_)
            | Field::EntropyMin(_)
            | Field::EntropySeed(_)
            | Field::QueuePairs(_)
            | Field::PayloadMtu(_) => self.hosts_and_tables(),
            Field::T0T1(_) => {
                self.tiers.extend([T0, T1]);
                self.all_tables = true;
                self.all_lists = true;
            }
            Field::T1T2(_) | Field::T1T2ByZone(_) => {
                self.tiers.extend([T1, T2]);
                self.all_tables = true;
                self.all_lists = true;
            }
            Field::NicT0(_) | Field::PerGroup(_) => {
                self.tiers.insert(T0);
                self.hosts_and_tables();
                self.all_lists = true;
            }
            Field::Pin(_) => drop(self.tiers.insert(T0)),
            Field::Pins(edit) => {
                let differ = |t0: &&Switch| edit.old.get(*t0) != edit.new.get(*t0);
                self.switches.extend(edit.old.keys().chain(edit.new.keys()).filter(differ));
            }
            Field::Zones(_) => {
                self.tiers.insert(T2);
                self.hosts_and_tables();
                self.all_lists = true;
            }
            Field::Name(_)
            | Field::Planes(_)
            | Field::Routing(_)
            | Field::NicsPerNode(_)
            | Field::Rails(_)
            | Field::NicSpeed(_)
            | Field::NicLanes(_)
            | Field::T2Wiring(_)
            | Field::T2ZonePorts(_)
            | Field::T2Rows(_)
            | Field::Block(_)
            | Field::Layout(_)
            | Field::HostPool(_)
            | Field::LinkPool(_)
            | Field::LinkMtu(_)
            | Field::UdpPort(_)
            | Field::Qos(_) => self.all(),
        }
    }

    fn tier(&mut self, tier: TierId, field: &TierField) {
        match field {
            // A T0 group more is a port more on every T1, and a destination more in every table.
            TierField::Count(_) if tier == TierId::T0 => self.tiers.extend([TierId::T1]),
            TierField::Count(_) | TierField::Down(_) | TierField::DownSpare(_) | TierField::UpSpare(_) => {
                self.tiers.insert(tier);
            }
            TierField::Parallel(_) => self.tiers.extend(TierId::ALL),
            TierField::Up(_)
            | TierField::Platform(_)
            | TierField::Os(_)
            | TierField::DownCage(_)
            | TierField::UpCage(_)
            | TierField::DownBreakout(_)
            | TierField::UpBreakout(_)
            | TierField::ByPlane(_) => self.around(tier),
        }
        self.hosts_and_tables();
        self.all_lists = true;
    }

    /// A tier and what is plugged into it.
    fn around(&mut self, tier: TierId) {
        match tier {
            TierId::T0 => {
                self.tiers.extend([TierId::T0, TierId::T1]);
                self.all_hosts = true;
            }
            TierId::T1 => self.tiers.extend(TierId::ALL),
            TierId::T2 => self.tiers.extend([TierId::T1, TierId::T2]),
        }
    }

    fn exception(&mut self, exception: &Exception, fabric: &Fabric) {
        self.weighed(exception, fabric);
        match exception {
            Exception::Drained(_, thing) => {
                self.senders(fabric);
                self.lists.extend(plane_of(*thing));
            }
            Exception::Absent(Turn::On | Turn::Off, thing) => {
                self.lists.extend(plane_of(*thing));
                match thing {
                    Thing::Plane(_) => {}
                    Thing::Switch(switch) => {
                        self.plugged(*switch, fabric);
                        self.senders(fabric);
                    }
                    Thing::Link(link) => {
                        self.ends(*link, fabric);
                        self.senders(fabric);
                    }
                    Thing::Nic(nic) => {
                        self.hosts.insert(fabric.topology().node_of(*nic).0);
                        self.tables.insert((nic.zone, nic.group));
                        self.all_hosts |= fabric.topology().routing.is_source_routed();
                        for plane in fabric.topology().plane_ids() {
                            self.switches.insert(nic.t0(plane));
                            self.lists.insert(plane);
                        }
                    }
                }
            }
            Exception::Cable(link, _) => {
                self.ends(*link, fabric);
                // The target delay in the tables starts from the thresholds of the first T0.
                self.all_tables |= matches!(link, Link::Fabric { lower, .. } if lower.tier == TierId::T0 && lower.index == 0)
                    || matches!(link, Link::Host(port) if port.nic.group == 0);
            }
            Exception::Device(switch, _) => {
                self.plugged(*switch, fabric);
                self.all_tables |= switch.tier == TierId::T0;
            }
        }
    }

    /// Those who choose paths and know what is drained or absent: hosts that write paths into packets. The
    /// routes of other hosts are compared.
    fn senders(&mut self, fabric: &Fabric) {
        if fabric.topology().routing.is_source_routed() {
            self.hosts_and_tables();
        }
    }

    /// Switches that choose paths and know what is drained or absent.
    fn weighed(&mut self, exception: &Exception, fabric: &Fabric) {
        let (Exception::Drained(_, thing) | Exception::Absent(_, thing)) = exception else { return };
        match (fabric.topology().routing, *thing) {
            (Routing::Srv6Static, _) | (Routing::BgpUnnumbered, Thing::Nic(_)) => {}
            // Static weights follow from everything that is missing in the plane.
            (Routing::EcmpStatic, thing) => {
                self.switches
                    .extend(plane_of(thing).into_iter().flat_map(|plane| fabric.plane_switches(plane)));
            }
            // Switches learn at run time what is missing farther away.
            (Routing::BgpUnnumbered, Thing::Plane(plane)) => {
                self.switches.extend(fabric.plane_switches(plane));
            }
            (Routing::BgpUnnumbered, Thing::Switch(switch)) => self.neighbours(switch, fabric),
            (Routing::BgpUnnumbered, Thing::Link(link)) => self.ends(link, fabric),
        }
    }

    /// A switch, and those that it has sessions with.
    fn neighbours(&mut self, switch: Switch, fabric: &Fabric) {
        self.switches.insert(switch);
        if fabric.topology().tier(switch.tier).is_none() {
            return;
        }
        for port in fabric.ports(switch) {
            if let PortUse::Link { far: End::Switch { switch, .. }, .. } = port.used {
                self.switches.insert(switch);
            }
        }
    }

    /// A switch, and both ends of every cable on it.
    fn plugged(&mut self, switch: Switch, fabric: &Fabric) {
        self.switches.insert(switch);
        self.lists.insert(switch.plane);
        if fabric.topology().tier(switch.tier).is_none() {
            return;
        }
        for port in fabric.ports(switch) {
            match port.used {
                PortUse::Link { far: End::Switch { switch, .. }, .. } => drop(self.switches.insert(switch)),
                PortUse::Link { link, .. } | PortUse::Absent { link } => self.ends(link, fabric),
                PortUse::Spare => {}
            }
        }
    }

    fn ends(&mut self, link: Link, fabric: &Fabric) {
        self.lists.insert(link.plane());
        self.switches.extend(fabric.upper_end(link).map(|(switch, _)| switch));
        match link {
            Link::Host(port) => drop(self.hosts.insert(fabric.topology().node_of(port.nic).0)),
            Link::Fabric { lower, .. } => drop(self.switches.insert(lower)),
        }
    }
}

fn plane_of(thing: Thing) -> Option<PlaneId> {
    match thing {
        Thing::Plane(plane) => Some(plane),
        Thing::Switch(switch) => Some(switch.plane),
        Thing::Link(link) => Some(link.plane()),
        Thing::Nic(_) => None,
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
    let hosts = |plan: &Plan| {
        if plan.topology().hosts.has_files() { plan.nodes().collect() } else { BTreeSet::new() }
    };
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
