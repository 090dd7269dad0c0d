//! Compares two topologies, and applies the difference.
//!
//! In: two fabrics. Out: changes of settings, tiers, names and exceptions, in this order. Invariants: the
//! work grows with the number of fields and exceptions, not with the number of devices. An exception counts
//! as a change only if its element exists, or could exist, on both sides. All others follow from changed
//! counts or other exceptions.

use std::collections::{BTreeMap, BTreeSet};

use closc_fabric::Fabric;
use closc_topology::{Exceptions, Field, PortBlock, Tier, TierId, Topology, field};

use crate::change::{
    ApplyError, Change, Edit, Exception, ExceptionTarget, NamedDevices, Setting, T2Setting, TierSetting,
    Toggle, count_field,
};
use crate::population::has_common_cages;
use crate::short_text::ShortText;

/// Every change between two fabrics.
#[derive(Debug, Clone, Default)]
pub struct Difference {
    /// The changes: first settings, then tiers, names and exceptions.
    pub changes: Vec<Change>,
    /// Exceptions for elements that at most one side can have, such as an absent group in a new zone. They follow from
    /// the changes and need no action.
    pub implied_exceptions: Vec<Exception>,
    /// Changes that follow from others, and defaults without effect: settings of tiers, cables and uplinks that only
    /// one side has, and default values that the routing of both sides does not read.
    pub implied_changes: Vec<Change>,
}

impl Difference {
    /// Compares two fabrics.
    pub fn compare(old: &Fabric, new: &Fabric) -> Difference {
        let found = exceptions(&old.topology().exceptions, &new.topology().exceptions);
        let (own, along) = found.into_iter().partition(|exception| is_change(exception, old, new));
        compare(old.topology(), new.topology(), own, along)
    }

    /// Returns whether there is neither a change nor an implied exception. Implied changes do not count.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.implied_exceptions.is_empty()
    }

    /// Returns the new topology, made from the old one. Source positions are still those of the old one.
    pub fn apply(&self, old: &Topology) -> Result<Topology, ApplyError> {
        let mut topology = old.clone();
        for change in self.changes.iter().chain(&self.implied_changes) {
            change.apply(&mut topology)?;
        }
        for exception in &self.implied_exceptions {
            exception.apply(&mut topology.exceptions)?;
        }
        Ok(topology)
    }
}

const NAMED: [NamedDevices; 4] = [
    NamedDevices::Tier(TierId::T0),
    NamedDevices::Tier(TierId::T1),
    NamedDevices::Tier(TierId::T2),
    NamedDevices::Node,
];

fn compare(old: &Topology, new: &Topology, own: Vec<Exception>, along: Vec<Exception>) -> Difference {
    let mut changes: Vec<Change> =
        Setting::compare(old, new).into_iter().map(|setting| Change::Setting(Box::new(setting))).collect();
    changes.extend(tier(TierId::T0, old, new, &old.t0, &new.t0));
    changes.extend(tier(TierId::T1, old, new, &old.t1, &new.t1));
    match (&old.t2, &new.t2) {
        (Some(before), Some(after)) => {
            changes.extend(tier(TierId::T2, old, new, &before.tier, &after.tier));
            changes.extend(T2Setting::compare(before, after).into_iter().map(Change::T2));
        }
        (None, Some(new)) => changes.push(Change::T2Added(Box::new(new.clone()))),
        (Some(old), None) => changes.push(Change::T2Removed(Box::new(old.clone()))),
        (None, None) => {}
    }
    for named in NAMED {
        let (old, new) = (pattern(old, named), pattern(new, named));
        if old != new {
            let edit = Edit { old: old.clone(), new: new.clone() };
            changes.push(Change::Naming(named, Box::new(edit)));
        }
    }
    changes.extend(own.into_iter().map(Change::Exception));
    let (implied, changes) = changes.into_iter().partition(|change| is_implied(change, old, new));
    Difference { changes, implied_exceptions: along, implied_changes: implied }
}

/// Returns whether an exception is a change by itself. For absence, the element must be possible on both
/// sides. For a drain, or another cable or hardware, it must exist on both sides.
fn is_change(exception: &Exception, old: &Fabric, new: &Fabric) -> bool {
    [old, new].into_iter().all(|fabric| match exception {
        Exception::Absent(_, thing) => match thing {
            ExceptionTarget::Plane(plane) => plane.0 < fabric.topology().planes,
            ExceptionTarget::Switch(switch) => fabric.numbers_switch(*switch),
            ExceptionTarget::Nic(nic) => fabric.numbers_nic(*nic),
            ExceptionTarget::Link(link) => fabric.has_ends(*link),
        },
        Exception::Drained(_, thing) => match thing {
            ExceptionTarget::Plane(plane) => plane.0 < fabric.topology().planes,
            ExceptionTarget::Switch(switch) => fabric.has_switch(*switch),
            ExceptionTarget::Nic(nic) => fabric.has_nic(*nic),
            ExceptionTarget::Link(link) => fabric.has_link(*link),
        },
        Exception::Isolated(_, link) | Exception::Cable(link, _) => fabric.has_link(*link),
        Exception::Device(switch, _) => fabric.has_switch(*switch),
    })
}

/// Returns whether a change follows from another, or has no effect. Such changes concern ports or cables that one side
/// does not have, the same cages in other notation, or defaults that the routing does not read.
fn is_implied(change: &Change, old: &Topology, new: &Topology) -> bool {
    let in_both = |is_in: fn(&Topology) -> bool| is_in(old) && is_in(new);
    let (id, block): (TierId, fn(&Tier) -> &PortBlock) = match change {
        Change::Tier(TierId::T1, _) if !in_both(Topology::has_t1) => return true,
        Change::Tier(TierId::T0, TierSetting::Parallel(_)) => return !in_both(Topology::has_t1),
        Change::Tier(_, TierSetting::Parallel(_)) => return !in_both(|side| side.t2.is_some()),
        Change::Tier(id, TierSetting::UpCage(_) | TierSetting::UpPort(_) | TierSetting::UpBreakout(_)) => {
            (*id, |tier| &tier.up)
        }
        Change::Tier(
            id,
            TierSetting::DownCage(_) | TierSetting::DownPort(_) | TierSetting::DownBreakout(_),
        ) => (*id, |tier| &tier.down),
        Change::Setting(setting) => {
            return match &**setting {
                Setting::T0T1(_) => !in_both(Topology::has_t1),
                Setting::T1T2(_) | Setting::T1T2ByZone(_) => !in_both(|side| side.t2.is_some()),
                setting => setting.is_unread(old, new) && !setting.is_stated(old, new),
            };
        }
        _ => return false,
    };
    let (Some(before), Some(after)) = (old.tier(id), new.tier(id)) else { return false };
    let is_cage = matches!(change, Change::Tier(_, TierSetting::UpCage(_) | TierSetting::DownCage(_)));
    is_cage && has_common_cages(block(before), block(after))
        || [before, after].into_iter().map(block).any(|block| block.count + block.spare == 0)
}

/// Compares a tier that both sides have.
fn tier(id: TierId, old: &Topology, new: &Topology, before: &Tier, after: &Tier) -> Vec<Change> {
    let (first, second) = (old.count(id), new.count(id));
    let count = (first != second).then_some(Change::Count(id, Edit { old: first, new: second }));
    let settings = TierSetting::compare(before, after).into_iter();
    count.into_iter().chain(settings.map(|setting| Change::Tier(id, setting))).collect()
}

/// Returns the name pattern of devices.
pub(crate) fn pattern(topology: &Topology, named: NamedDevices) -> &closc_topology::naming::Pattern {
    match named {
        NamedDevices::Tier(tier) => topology.naming.tier_pattern(tier),
        NamedDevices::Node => topology.naming.node_pattern(),
    }
}

fn exceptions(old: &Exceptions, new: &Exceptions) -> Vec<Exception> {
    let mut found = Vec::new();
    let absent = [
        sets(&old.absent_switches, &new.absent_switches, ExceptionTarget::Switch),
        sets(&old.absent_nics, &new.absent_nics, ExceptionTarget::Nic),
        sets(&old.absent_links, &new.absent_links, ExceptionTarget::Link),
    ];
    found.extend(absent.into_iter().flatten().map(|(turn, thing)| Exception::Absent(turn, thing)));
    let drained = [
        sets(&old.drained_planes, &new.drained_planes, ExceptionTarget::Plane),
        sets(&old.drained_switches, &new.drained_switches, ExceptionTarget::Switch),
        sets(&old.drained_links, &new.drained_links, ExceptionTarget::Link),
    ];
    found.extend(drained.into_iter().flatten().map(|(turn, thing)| Exception::Drained(turn, thing)));
    let isolated = sets(&old.isolated_links, &new.isolated_links, |link| link);
    found.extend(isolated.into_iter().map(|(turn, link)| Exception::Isolated(turn, link)));
    found.extend(maps(&old.cables, &new.cables).into_iter().map(|(link, edit)| Exception::Cable(link, edit)));
    found.extend(
        maps(&old.switches, &new.switches).into_iter().map(|(switch, edit)| Exception::Device(switch, edit)),
    );
    found
}

/// Returns the items that only one set has, in order.
fn sets<T: Ord + Copy, U>(old: &BTreeSet<T>, new: &BTreeSet<T>, thing: fn(T) -> U) -> Vec<(Toggle, U)> {
    old.symmetric_difference(new)
        .map(|item| (if new.contains(item) { Toggle::On } else { Toggle::Off }, thing(*item)))
        .collect()
}

/// Returns the keys whose values differ, in order.
fn maps<K: Ord + Copy, V: PartialEq + Clone>(
    old: &BTreeMap<K, V>,
    new: &BTreeMap<K, V>,
) -> Vec<(K, Edit<Option<V>>)> {
    let keys: BTreeSet<K> = old.keys().chain(new.keys()).copied().collect();
    keys.into_iter()
        .map(|key| (key, Edit { old: old.get(&key).cloned(), new: new.get(&key).cloned() }))
        .filter(|(_, edit)| edit.old != edit.new)
        .collect()
}

impl Change {
    pub(crate) fn apply(&self, topology: &mut Topology) -> Result<(), ApplyError> {
        match self {
            Change::Setting(setting) => setting.apply(topology),
            Change::Count(id, edit) => edit.put(count_mut(topology, *id)?, count_field(*id)),
            Change::T2(setting) => setting.apply(topology.t2.as_mut().ok_or(ApplyError::NoT2)?),
            Change::Tier(id, setting) => setting.apply(*id, tier_mut(topology, *id)?),
            Change::Naming(named, edit) => {
                let mut place = pattern(topology, *named).clone();
                edit.put(&mut place, named.field())?;
                let naming = topology.naming.clone();
                topology.naming = match named {
                    NamedDevices::Tier(tier) => naming.with_tier(*tier, place),
                    NamedDevices::Node => naming.with_node(place),
                };
                Ok(())
            }
            Change::T2Added(tier) => match topology.t2.replace((**tier).clone()) {
                None => Ok(()),
                Some(_) => Err(moved_error(field!("tiers.t2"), "present", "absent")),
            },
            Change::T2Removed(_) => match topology.t2.take() {
                Some(_) => Ok(()),
                None => Err(ApplyError::NoT2),
            },
            Change::Exception(exception) => exception.apply(&mut topology.exceptions),
        }
    }
}

fn tier_mut(topology: &mut Topology, id: TierId) -> Result<&mut Tier, ApplyError> {
    match id {
        TierId::T0 => Ok(&mut topology.t0),
        TierId::T1 => Ok(&mut topology.t1),
        TierId::T2 => topology.t2.as_mut().map(|t2| &mut t2.tier).ok_or(ApplyError::NoT2),
    }
}

fn count_mut(topology: &mut Topology, id: TierId) -> Result<&mut u16, ApplyError> {
    match id {
        TierId::T0 => Ok(&mut topology.hosts.groups),
        TierId::T1 => Ok(&mut topology.t1_count),
        TierId::T2 => topology.t2.as_mut().map(|t2| &mut t2.count).ok_or(ApplyError::NoT2),
    }
}

fn moved_error(field: Field, found: &str, expected: &str) -> ApplyError {
    ApplyError::Moved { field, actual: found.to_owned(), expected: expected.to_owned() }
}

impl Exception {
    fn apply(&self, all: &mut Exceptions) -> Result<(), ApplyError> {
        match self {
            Exception::Absent(on, thing) => match thing {
                // A plane cannot be absent, because `planes` sets their number.
                ExceptionTarget::Plane(_) => Ok(()),
                ExceptionTarget::Switch(switch) => {
                    toggle(&mut all.absent_switches, *switch, *on, field!("exceptions.absent"))
                }
                ExceptionTarget::Nic(nic) => {
                    toggle(&mut all.absent_nics, *nic, *on, field!("exceptions.absent"))
                }
                ExceptionTarget::Link(link) => {
                    toggle(&mut all.absent_links, *link, *on, field!("exceptions.absent"))
                }
            },
            Exception::Drained(on, thing) => match thing {
                ExceptionTarget::Plane(plane) => {
                    toggle(&mut all.drained_planes, *plane, *on, field!("exceptions.drained"))
                }
                ExceptionTarget::Switch(switch) => {
                    toggle(&mut all.drained_switches, *switch, *on, field!("exceptions.drained"))
                }
                // NICs cannot be drained; only their cables can.
                ExceptionTarget::Nic(_) => Ok(()),
                ExceptionTarget::Link(link) => {
                    toggle(&mut all.drained_links, *link, *on, field!("exceptions.drained"))
                }
            },
            Exception::Isolated(on, link) => {
                toggle(&mut all.isolated_links, *link, *on, field!("exceptions.isolated"))
            }
            Exception::Cable(link, edit) => set(&mut all.cables, *link, edit, field!("exceptions.cables")),
            Exception::Device(switch, edit) => {
                set(&mut all.switches, *switch, edit, field!("exceptions.devices"))
            }
        }
    }
}

fn toggle<T: Ord>(set: &mut BTreeSet<T>, item: T, on: Toggle, field: Field) -> Result<(), ApplyError> {
    let fits = match on {
        Toggle::On => set.insert(item),
        Toggle::Off => set.remove(&item),
    };
    let words = |there: bool| if there { "listed" } else { "not listed" };
    let expected = on == Toggle::Off;
    if fits { Ok(()) } else { Err(moved_error(field, words(!expected), words(expected))) }
}

fn set<K: Ord, V: Clone + PartialEq>(
    map: &mut BTreeMap<K, V>,
    key: K,
    edit: &Edit<Option<V>>,
    field: Field,
) -> Result<(), ApplyError>
where
    Option<V>: ShortText,
{
    let mut place = map.get(&key).cloned();
    edit.put(&mut place, field)?;
    match place {
        Some(value) => drop(map.insert(key, value)),
        None => drop(map.remove(&key)),
    }
    Ok(())
}
