//! The order in which a set of updates can be applied. An object is inserted before the objects that refer to
//! it. Then modifications follow, and deletes come last, in reverse order.
//!
//! References are those of P4Runtime (members, groups, entries; replication before all tables) and those that
//! `@refers_to` annotations add between tables. The result is a list of waves. Within a wave no update depends on
//! another, so its updates may be sent in any order and in several requests at once.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use crate::info::{Info, Reference, Table};
use crate::key::EntityKey;
use crate::proto::v1;
use v1::entity::Entity;
use v1::packet_replication_engine_entry::Type as Replication;
use v1::update::Type;

/// The type of all updates of a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Inserts.
    Insert,
    /// Modifications.
    Modify,
    /// Deletes.
    Delete,
}

/// Updates that do not depend on each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wave {
    /// The type of its updates.
    pub phase: Phase,
    /// Indices into the ordered updates.
    pub range: Range<usize>,
}

/// Updates in an order in which they can be applied.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OrderedUpdates {
    /// The updates.
    pub updates: Vec<v1::Update>,
    /// The waves in order; together they cover all updates.
    pub waves: Vec<Wave>,
}

/// A class of entities with a common rank: all entities of one kind and object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    MulticastGroups,
    CloneSessions,
    Members(u32),
    Groups(u32),
    Table(u32),
}

/// The order that a P4Info requires; it is computed once and used for many sets of updates.
#[derive(Debug, Clone)]
pub struct Order {
    ranks: BTreeMap<Node, u32>,
    /// The rank of entities that belong to table entries.
    last: u32,
}

impl Order {
    /// Computes the order of the objects of a P4Info.
    pub fn new(info: &Info) -> Self {
        let edges = edges(info);
        let nodes = nodes(info);
        let ranks = ranks(&nodes, &edges);
        let last = ranks.values().max().map_or(0, |rank| rank + 1);
        Order { ranks, last }
    }

    /// Puts updates in order. Updates of one rank keep the given order. When an entity occurs a second time, a new
    /// round begins, so that its updates are applied in the given order.
    pub fn arrange(&self, updates: Vec<v1::Update>) -> OrderedUpdates {
        let mut seen: HashSet<EntityKey> = HashSet::with_capacity(updates.len());
        let mut round = 0u32;
        self.arrange_rounds(updates, |update| {
            if let Some(key) = update.entity.as_ref().and_then(EntityKey::of) {
                if seen.contains(&key) {
                    round += 1;
                    seen.clear();
                }
                seen.insert(key);
            }
            round
        })
    }

    /// Puts updates in order if no entity occurs twice, as in a difference of two states.
    pub fn arrange_distinct(&self, updates: Vec<v1::Update>) -> OrderedUpdates {
        self.arrange_rounds(updates, |_| 0)
    }

    fn arrange_rounds(
        &self,
        updates: Vec<v1::Update>,
        mut round: impl FnMut(&v1::Update) -> u32,
    ) -> OrderedUpdates {
        let keyed = updates.into_iter().map(|update| {
            let (phase, rank) = self.place(&update);
            ((round(&update), phase, rank), update)
        });
        let mut keyed: Vec<((u32, Phase, u32), v1::Update)> = keyed.collect();
        if !keyed.is_sorted_by_key(|(key, _)| *key) {
            keyed.sort_by_key(|(key, _)| *key);
        }
        let mut ordered = OrderedUpdates { updates: Vec::with_capacity(keyed.len()), waves: Vec::new() };
        let mut last = None;
        for (position, (key, update)) in keyed.into_iter().enumerate() {
            ordered.updates.push(update);
            match ordered.waves.last_mut() {
                Some(wave) if last == Some(key) => wave.range.end = position + 1,
                Some(_) | None => ordered.waves.push(Wave { phase: key.1, range: position..position + 1 }),
            }
            last = Some(key);
        }
        ordered
    }

    fn place(&self, update: &v1::Update) -> (Phase, u32) {
        let rank = update.entity.as_ref().map_or(0, |entity| self.rank(entity));
        match update.r#type() {
            Type::Insert | Type::Unspecified => (Phase::Insert, rank),
            Type::Modify => (Phase::Modify, rank),
            Type::Delete => (Phase::Delete, u32::MAX - rank),
        }
    }

    fn rank(&self, entity: &v1::Entity) -> u32 {
        let node = match entity.entity.as_ref() {
            Some(Entity::ActionProfileMember(member)) => Node::Members(member.action_profile_id),
            Some(Entity::ActionProfileGroup(group)) => Node::Groups(group.action_profile_id),
            Some(Entity::TableEntry(entry)) => Node::Table(entry.table_id),
            Some(Entity::PacketReplicationEngineEntry(entry)) => match entry.r#type {
                Some(Replication::CloneSessionEntry(_)) => Node::CloneSessions,
                Some(Replication::MulticastGroupEntry(_)) | None => Node::MulticastGroups,
            },
            // These belong to an entry, which must exist.
            Some(Entity::DirectMeterEntry(_) | Entity::DirectCounterEntry(_)) => return self.last,
            // These have no references.
            None
            | Some(
                Entity::MeterEntry(_)
                | Entity::CounterEntry(_)
                | Entity::RegisterEntry(_)
                | Entity::ValueSetEntry(_)
                | Entity::DigestEntry(_)
                | Entity::ExternEntry(_),
            ) => return 0,
        };
        // For objects that are not in the P4Info, a safe rank is chosen; the target will reject them anyway.
        self.ranks.get(&node).copied().unwrap_or(match node {
            Node::MulticastGroups | Node::CloneSessions | Node::Members(_) => 0,
            Node::Groups(_) => 1,
            Node::Table(_) => self.last,
        })
    }
}

fn nodes(info: &Info) -> BTreeSet<Node> {
    let mut nodes = BTreeSet::from([Node::MulticastGroups, Node::CloneSessions]);
    for profile in info.profiles() {
        nodes.insert(Node::Members(profile.preamble.id));
        nodes.insert(Node::Groups(profile.preamble.id));
    }
    nodes.extend(info.tables().iter().map(|table| Node::Table(table.preamble.id)));
    nodes
}

/// Returns pairs of nodes in which the first must come before the second.
fn edges(info: &Info) -> BTreeSet<(Node, Node)> {
    let mut edges = BTreeSet::new();
    for profile in info.profiles() {
        let id = profile.preamble.id;
        edges.insert((Node::Members(id), Node::Groups(id)));
    }
    for table in info.tables() {
        let own = Node::Table(table.preamble.id);
        edges.insert((Node::MulticastGroups, own));
        edges.insert((Node::CloneSessions, own));
        if let Some(profile) = &table.profile {
            edges.insert((Node::Members(profile.preamble.id), own));
            edges.insert((Node::Groups(profile.preamble.id), own));
        }
        for field in table.fields() {
            edges.extend(targets(info, &field.refers_to).map(|target| (target, own)));
        }
        action_edges(info, table, &mut edges);
    }
    edges.retain(|(before, after)| before != after);
    edges
}

/// Adds the references of the parameters of a table's actions. The objects that they refer to come before the table,
/// and before the members that contain the actions if there are members.
fn action_edges(info: &Info, table: &Table, edges: &mut BTreeSet<(Node, Node)>) {
    let params = table.actions().iter().flat_map(|reference| reference.action.params());
    for target in params.flat_map(|param| targets(info, &param.refers_to)) {
        edges.insert((target, Node::Table(table.preamble.id)));
        if let Some(profile) = &table.profile {
            edges.insert((target, Node::Members(profile.preamble.id)));
        }
    }
}

fn targets<'a>(info: &'a Info, references: &'a [Reference]) -> impl Iterator<Item = Node> + 'a {
    references.iter().filter_map(|reference| match reference {
        // An annotation that names an unknown table adds no edge.
        Reference::Table { table, .. } => info.table(table).ok().map(|table| Node::Table(table.preamble.id)),
        Reference::MulticastGroup => Some(Node::MulticastGroups),
        Reference::CloneSession => Some(Node::CloneSessions),
    })
}

/// Returns the rank of each node: the length of the longest chain of references before it. Cycles are broken by taking
/// their smallest nodes first.
fn ranks(nodes: &BTreeSet<Node>, edges: &BTreeSet<(Node, Node)>) -> BTreeMap<Node, u32> {
    let mut ranks: BTreeMap<Node, u32> = BTreeMap::new();
    let mut left: BTreeSet<Node> = nodes.clone();
    let mut rank = 0;
    while !left.is_empty() {
        let waits = |node: &Node| edges.iter().any(|(before, after)| after == node && left.contains(before));
        let mut free: Vec<Node> = left.iter().copied().filter(|node| !waits(node)).collect();
        if free.is_empty() {
            free.extend(left.first());
        }
        for node in free {
            left.remove(&node);
            ranks.insert(node, rank);
        }
        rank += 1;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::entry::{self, GroupMember};
    use crate::render;
    use crate::sample;

    /// One entity of each rank: next hop, multicast group, member, group, route, counter of an entry.
    fn entities(info: &Info) -> Vec<v1::Entity> {
        let hop = [("id", 9u16.into())];
        let of = GroupMember { id: 1, weight: 1, watch_port: None };
        let route = info.entry("route").expect("known").exact("vrf", 0u8).group(5).build().expect("right");
        let sid = info.entry("my_sid").expect("known").action("uN", &[]).build().expect("right");
        let counter = v1::DirectCounterEntry { table_entry: Some(sid), data: None };
        let next_hop = info.entry("next_hop").expect("known").exact("id", 9u16);
        vec![
            counter.into(),
            route.into(),
            entry::group(info, "wcmp", 5, &[of], 0).expect("right").into(),
            entry::member(info, "wcmp", 1, "set_next_hop", &hop).expect("right").into(),
            next_hop.action("multicast", &[("group", 7u8.into())]).build().expect("right").into(),
            entry::multicast_group(7, &[]).expect("right").into(),
        ]
    }

    fn render_updates(info: &Info, ordered: &OrderedUpdates) -> Vec<String> {
        ordered.updates.iter().map(|update| render::update(info, update).to_string()).collect()
    }

    #[test]
    fn references_come_first_and_leave_last() {
        let info = sample::info();
        let order = Order::new(&info);
        let inserts = entities(&info).into_iter().map(v1::Update::insert);
        let up = render_updates(&info, &order.arrange(inserts.collect()));
        let expected = [
            "+ multicast group 7 -> {}",
            "+ ingress.next_hop  id=9 -> multicast(group=7)",
            "+ ingress.wcmp  member 1 -> set_next_hop(id=9)",
            "+ ingress.wcmp  group 5 -> {1 x1}",
            "+ ingress.route  vrf=0 -> group 5",
            "+ counter of ingress.my_sid  (any)",
        ];
        assert_eq!(up, expected);
        let deletes = entities(&info).into_iter().map(v1::Update::delete);
        let mut down = render_updates(&info, &order.arrange(deletes.collect()));
        down.reverse();
        let removed = expected.map(|line| line.replacen('+', "-", 1));
        assert_eq!(down, removed);
    }

    #[test]
    fn modifications_stand_between() {
        let info = sample::info();
        let [_, route, group, member, ..] = &entities(&info)[..] else { panic!("six entities") };
        let updates = vec![
            v1::Update::delete(member.clone()),
            v1::Update::modify(route.clone()),
            v1::Update::insert(group.clone()),
        ];
        let ordered = Order::new(&info).arrange(updates);
        let phases: Vec<Phase> = ordered.waves.iter().map(|wave| wave.phase).collect();
        assert_eq!(phases, [Phase::Insert, Phase::Modify, Phase::Delete]);
    }

    #[test]
    fn an_entity_twice_keeps_its_order() {
        let info = sample::info();
        let group = entities(&info)[2].clone();
        let updates = vec![v1::Update::delete(group.clone()), v1::Update::insert(group)];
        let ordered = Order::new(&info).arrange(updates.clone());
        assert_eq!(ordered.updates, updates);
        assert_eq!(ordered.waves.len(), 2);
    }

    #[test]
    fn tables_that_refer_to_each_other_are_ordered_all_the_same() {
        let nodes = BTreeSet::from([Node::Table(1), Node::Table(2), Node::Table(3)]);
        let edges = BTreeSet::from([
            (Node::Table(1), Node::Table(2)),
            (Node::Table(2), Node::Table(1)),
            (Node::Table(2), Node::Table(3)),
        ]);
        let expected = BTreeMap::from([(Node::Table(1), 0), (Node::Table(2), 1), (Node::Table(3), 2)]);
        assert_eq!(ranks(&nodes, &edges), expected);
    }

    proptest! {
        /// Waves cover every update once, and the result does not depend on the given order.
        #[test]
        fn arranging_is_a_permutation(picks in proptest::collection::vec((0usize..6, 0u8..3), 0..6)) {
            let info = sample::info();
            let order = Order::new(&info);
            let all = entities(&info);
            let mut used = BTreeSet::new();
            let updates: Vec<v1::Update> = picks.iter().filter(|(pick, _)| used.insert(*pick)).map(|(pick, kind)| {
                let entity = all[*pick].clone();
                match kind {
                    0 => v1::Update::insert(entity),
                    1 => v1::Update::modify(entity),
                    _ => v1::Update::delete(entity),
                }
            }).collect();
            let ordered = order.arrange(updates.clone());
            let mut next = 0;
            for wave in &ordered.waves {
                prop_assert_eq!(wave.range.start, next);
                prop_assert!(wave.range.end > next);
                next = wave.range.end;
            }
            prop_assert_eq!(next, updates.len());
            prop_assert_eq!(&order.arrange_distinct(updates.clone()), &ordered);
            let reversed: Vec<v1::Update> = updates.into_iter().rev().collect();
            prop_assert_eq!(render_updates(&info, &order.arrange(reversed)), render_updates(&info, &ordered));
        }
    }
}
