//! The artefacts that may change, found by rule.
//!
//! In: two plans and their difference. Every field of the language declares the artefacts that it affects.
//! Out: [`TouchedArtefacts`]: switches, nodes, path tables and cable lists whose artefacts may change.
//! Invariants: an artefact that is not in the result has the same bytes on both sides. A test renders both
//! sides and compares them.

use std::collections::BTreeSet;

use closc_fabric::Fabric;
use closc_plan::{ArtefactSet, ExceptionKind, HostRoutes, Plan, Subject, touch};
use closc_topology::{AffectedArtefacts, Field, Node, PlaneId, Switch, TierId, ZoneId, field};

use crate::change::{Change, Exception, ExceptionTarget, Setting, T2Setting, Toggle, count_field};
use crate::compare::Difference;
use crate::node_routes;
use crate::renumbering::has_other_widths;
use crate::verdict::has_computed_marks;

/// Artefacts of both sides that may change.
#[derive(Debug, Clone, Default)]
pub struct TouchedArtefacts {
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

impl TouchedArtefacts {
    /// Applies the rules to every change.
    pub fn of(difference: &Difference, old: &Plan, new: &Plan) -> TouchedArtefacts {
        let mut touched = TouchedArtefacts::apply_rules(difference, old, new);
        let is_exception = |change: &Change| matches!(change, Change::Exception(_));
        let exceptions =
            !difference.implied_exceptions.is_empty() || difference.changes.iter().any(is_exception);
        if exceptions && !touched.all_hosts && !new.is_source_routed() {
            touched.hosts.extend(node_routes::nodes(old, new));
        }
        touched
    }

    /// Applies the rules, except for routes of nodes. If switches choose the path, these routes are compared
    /// group by group instead.
    pub(crate) fn apply_rules(difference: &Difference, old: &Plan, new: &Plan) -> TouchedArtefacts {
        let mut touched = TouchedArtefacts::default();
        // Computed thresholds start from the delay of the longest path.
        if old.delay().base_rtt != new.delay().base_rtt && !difference.is_empty() {
            if [old, new].iter().any(|plan| has_computed_marks(&plan.topology().qos)) {
                touched.tiers.extend(TierId::ALL);
            }
            touched.all_tables = true;
        }
        // The delay of a zone follows from its first existing T0. Every path table and node file contains a
        // delay.
        if old.zone_delays() != new.zone_delays() {
            touched.all_tables = true;
            touched.all_hosts |= new.nodes_state_delays();
        }
        // Management addresses contain an index, whose default width is that of segments.
        if old.addresses().index_bits() != new.addresses().index_bits()
            && old.topology().addresses.management.is_some()
        {
            touched.tiers.extend(TierId::ALL);
        }
        // Addresses of neighbours are in most artefacts.
        if has_other_widths(old.topology(), new.topology()) {
            touched.tiers.extend(TierId::ALL);
            touched.all_hosts = true;
        }
        let without_rows = [old, new].iter().all(|plan| plan.topology().t2_rows() == 1);
        let is_void = |change: &&Change| without_rows && matches!(change, Change::T2(T2Setting::Rows(_)));
        for change in difference.changes.iter().filter(|change| !is_void(change)) {
            if let Change::Setting(setting) = change
                && setting.is_unread(old.topology(), new.topology())
            {
                continue;
            }
            touched.change(change, old.fabric());
            touched.change(change, new.fabric());
        }
        for exception in &difference.implied_exceptions {
            touched.exception(exception, old.fabric());
            touched.exception(exception, new.fabric());
        }
        touched
    }

    /// Returns whether the artefacts of a switch may change.
    pub fn switch(&self, switch: Switch) -> bool {
        self.tiers.contains(&switch.tier)
            || self.planes.contains(&switch.plane)
            || self.switches.contains(&switch)
    }

    /// Returns whether the artefacts of a node may change, except the path table of its group.
    pub fn host(&self, node: Node) -> bool {
        self.all_hosts || self.hosts.contains(&node)
    }

    /// Returns whether the path table of a T0 group may change.
    pub fn table(&self, zone: ZoneId, group: u16) -> bool {
        self.all_tables || self.tables.contains(&(zone, group))
    }

    /// Returns whether the cable list of a plane may change.
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
                setting => self.add_declared(setting.field()),
            },
            Change::Count(tier, _) => self.add_declared(count_field(*tier)),
            Change::Tier(tier, setting) => self.add_declared(setting.field(*tier)),
            Change::T2(setting) => self.add_declared(setting.field()),
            Change::T2Added(_) | Change::T2Removed(_) => self.add_declared(field!("tiers.t2")),
            Change::Naming(named, _) => self.add_declared(named.field()),
            Change::Exception(exception) => self.exception(exception, fabric),
        }
    }

    /// Adds the artefacts that a field is declared to affect.
    fn add_declared(&mut self, field: Field) {
        let touches = field.touches();
        let tiers = [
            (TierId::T0, AffectedArtefacts::T0),
            (TierId::T1, AffectedArtefacts::T1),
            (TierId::T2, AffectedArtefacts::T2),
        ];
        self.tiers.extend(tiers.into_iter().filter(|(_, tier)| touches.has(*tier)).map(|(tier, _)| tier));
        self.all_hosts |= touches.has(AffectedArtefacts::NODES);
        self.all_tables |= touches.has(AffectedArtefacts::TABLES);
        self.all_lists |= touches.has(AffectedArtefacts::LISTS);
    }

    fn exception(&mut self, exception: &Exception, fabric: &Fabric) {
        let excepted = match exception {
            Exception::Absent(Toggle::On | Toggle::Off, thing) => ExceptionKind::Absent(subject(*thing)),
            Exception::Drained(Toggle::On | Toggle::Off, thing) => ExceptionKind::Drained(subject(*thing)),
            Exception::Isolated(Toggle::On | Toggle::Off, link) => ExceptionKind::Isolated(*link),
            Exception::Cable(link, _) => ExceptionKind::Cable(*link),
            Exception::Device(switch, _) => ExceptionKind::Device(*switch),
        };
        // If hosts choose the path, drains affect host files only through routes to every NIC, and large
        // fabrics do not have these.
        let topology = fabric.topology();
        let sends = topology.routing.is_source_routed();
        let writes = sends && HostRoutes::new(topology).are_written();
        touch(excepted, fabric, &mut |found| match found {
            ArtefactSet::Switch(switch) => drop(self.switches.insert(switch)),
            ArtefactSet::Plane(plane) => drop(self.planes.insert(plane)),
            ArtefactSet::Host(node) => drop(self.hosts.insert(node)),
            // If switches choose the path, the routes of hosts are compared instead.
            ArtefactSet::Hosts => self.all_hosts |= writes,
            ArtefactSet::Table(zone, group) => drop(self.tables.insert((zone, group))),
            ArtefactSet::Tables => self.all_tables |= sends,
            ArtefactSet::List(plane) => drop(self.lists.insert(plane)),
        });
    }
}

fn subject(thing: ExceptionTarget) -> Subject {
    match thing {
        ExceptionTarget::Plane(plane) => Subject::Plane(plane),
        ExceptionTarget::Switch(switch) => Subject::Switch(switch),
        ExceptionTarget::Nic(nic) => Subject::Nic(nic),
        ExceptionTarget::Link(link) => Subject::Link(link),
    }
}

/// Number of artefacts of a kind that are added, changed and removed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Artefacts {
    /// Kind of artefact.
    pub kind: String,
    /// Number of devices, nodes or groups that get such artefacts for the first time.
    pub added: u64,
    /// Number of those whose artefacts change.
    pub changed: u64,
    /// Whether `changed` is an upper bound, counted by rule without comparing files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    /// Number of those that no longer have such artefacts.
    pub removed: u64,
    /// Total on the new side.
    pub total: u64,
}

/// An item of a fabric that has artefacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Item {
    /// The artefacts of a switch.
    Switch(Switch),
    /// The artefacts of a node, except the path table of its group.
    Node(Node),
    /// The path table of a T0 group.
    Table(ZoneId, u16),
    /// The cable list of a plane.
    List(PlaneId),
}

/// Maximum number of artefacts that are rendered on both sides and compared. If there are more, they are
/// counted by rule, and the count may include some that do not change.
pub(crate) const LOOKED_AT_MAX: usize = 1024;

/// The artefacts that change.
pub(crate) struct ChangedArtefacts {
    /// Number of changes by kind. Kinds without changes are omitted.
    pub(crate) kinds: Vec<Artefacts>,
    /// Changed artefacts that both sides have. If there are too many to compare, the set may include some
    /// that do not change.
    pub(crate) items: BTreeSet<Item>,
}

impl ChangedArtefacts {
    /// Returns the tiers with a switch of both sides that changes.
    pub(crate) fn tiers(&self) -> BTreeSet<TierId> {
        let tier = |item: &Item| match item {
            Item::Switch(switch) => Some(switch.tier),
            Item::Node(_) | Item::Table(..) | Item::List(_) => None,
        };
        self.items.iter().filter_map(tier).collect()
    }
}

/// Counts artefacts by kind. `differs` returns whether an artefact actually changes.
pub(crate) fn artefacts<'a>(
    touched: &TouchedArtefacts,
    old: &'a Plan,
    new: &'a Plan,
    differs: Option<&dyn Fn(Item) -> bool>,
) -> ChangedArtefacts {
    let (before, after) = (old.fabric(), new.fabric());
    let has_files = |plan: &Plan| plan.topology().hosts.has_files();
    let has_tables = |plan: &Plan, (zone, group): (ZoneId, u16)| {
        let topology = plan.topology();
        plan.is_source_routed() && zone.0 < topology.zones && group < topology.hosts.groups
    };
    let tables = |plan: &'a Plan| plan.groups().filter(move |group| has_tables(plan, *group));
    let all = [
        Sides::new(
            "switches",
            SideItems { old: before.switches(), new: after.switches() },
            (|s| before.has_switch(s), |s| after.has_switch(s)),
            |s| touched.switch(s),
            Item::Switch,
        ),
        Sides::new(
            "nodes",
            SideItems { old: old.nodes_with_files(), new: new.nodes_with_files() },
            (|n| has_files(old) && before.has_node(n), |n| has_files(new) && after.has_node(n)),
            |n| touched.host(n),
            Item::Node,
        ),
        Sides::new(
            "path tables",
            SideItems { old: tables(old), new: tables(new) },
            (|group| has_tables(old, group), |group| has_tables(new, group)),
            |(z, g)| touched.table(z, g),
            |(z, g)| Item::Table(z, g),
        ),
        Sides::new(
            "cable lists",
            SideItems { old: old.planes(), new: new.planes() },
            (
                |plane: PlaneId| old.planes().any(|own| own == plane),
                |plane: PlaneId| new.planes().any(|own| own == plane),
            ),
            |plane| touched.list(plane),
            Item::List,
        ),
    ];
    let few = all.iter().map(|sides| sides.touched_items.len()).sum::<usize>() <= LOOKED_AT_MAX;
    let mut items = BTreeSet::new();
    let all = all.map(|sides| sides.count(differs, few, &mut items));
    let kinds = all.into_iter().filter(|kind| kind.added + kind.changed + kind.removed > 0).collect();
    ChangedArtefacts { kinds, items }
}

/// All items of each side, in the order of listings.
struct SideItems<A, B> {
    old: A,
    new: B,
}

/// The artefacts of a kind.
struct Sides {
    kind: &'static str,
    added: usize,
    touched_items: Vec<Item>,
    removed: usize,
    total: usize,
}

impl Sides {
    fn new<T: Copy>(
        kind: &'static str,
        all: SideItems<impl Iterator<Item = T>, impl Iterator<Item = T>>,
        (in_old, in_new): (impl Fn(T) -> bool, impl Fn(T) -> bool),
        is_touched: impl Fn(T) -> bool,
        item: impl Fn(T) -> Item,
    ) -> Sides {
        let mut sides = Sides { kind, added: 0, touched_items: Vec::new(), removed: 0, total: 0 };
        for found in all.new {
            sides.total += 1;
            sides.added += usize::from(!in_old(found));
        }
        for found in all.old {
            if !in_new(found) {
                sides.removed += 1;
            } else if is_touched(found) {
                sides.touched_items.push(item(found));
            }
        }
        sides
    }

    /// Counts the artefacts, and adds those that change to `items`. With `few`, each artefact that may change
    /// is compared.
    fn count(
        mut self,
        differs: Option<&dyn Fn(Item) -> bool>,
        few: bool,
        items: &mut BTreeSet<Item>,
    ) -> Artefacts {
        if let Some(differs) = differs.filter(|_| few) {
            self.touched_items.retain(|item| differs(*item));
        }
        let changed = self.touched_items.len();
        items.extend(self.touched_items);
        Artefacts {
            kind: self.kind.to_owned(),
            added: self.added as u64,
            changed: changed as u64,
            at_most: differs.is_some() && !few && changed > 0,
            removed: self.removed as u64,
            total: self.total as u64,
        }
    }
}
