//! Updates between random states, applied to a target that enforces references.

use std::collections::BTreeSet;

use closc_entries::Pipeline;
use closc_runtime::EntityKey;
use closc_runtime::entry::{GroupMember, group, member};
use proptest::prelude::*;
use v1::update::Type;

use super::*;

const PROFILE: &str = "ingress.wcmp_selector";

fn info() -> &'static Info {
    Pipeline::fabric().info()
}

fn hop(number: u16, mac: u8) -> v1::Entity {
    let arguments =
        [("port", number.into()), ("src_mac", 1u8.into()), ("dst_mac", [2, 0, 0, 0, 0, mac].into())];
    let entry = info().entry("ingress.nexthop").unwrap().exact("nexthop_id", number);
    entry.action("set_nexthop", &arguments).build().unwrap().into()
}

fn select(number: u16, hop: u16) -> v1::Entity {
    member(info(), PROFILE, number.into(), "select_nexthop", &[("nexthop_id", hop.into())]).unwrap().into()
}

fn share(number: u32, weights: [i32; 2]) -> v1::Entity {
    let members = [1, 2].map(|id| GroupMember { id, weight: weights[id as usize - 1], watch_port: None });
    group(info(), PROFILE, number, &members, 0).unwrap().into()
}

fn wcmp_entry(number: u16) -> v1::Entity {
    let entry = info().entry("ingress.wcmp_group").unwrap().exact("wcmp_group_id", number);
    entry.group(number.into()).build().unwrap().into()
}

fn route(number: u8, action: &str, argument: Option<(&str, u16)>) -> v1::Entity {
    let entry = info().entry("ingress.ipv6_route").unwrap();
    let entry = entry.lpm("dst", u128::from(number) << 120, 8);
    let arguments: Vec<_> = argument.into_iter().map(|(name, value)| (name, value.into())).collect();
    entry.action(action, &arguments).build().unwrap().into()
}

fn hash(seed: u8) -> v1::Entity {
    let entry = info().entry("ingress.wcmp_hash").unwrap().default_entry();
    let arguments = [("seed", seed.into()), ("qp_mask", 0xff_ffffu32.into())];
    entry.action("set_wcmp_hash", &arguments).build().unwrap().into()
}

/// All entities of a random state: the variants of each, and for each variant the indices of the entities that it
/// refers to.
fn variants() -> Vec<Vec<(v1::Entity, Vec<usize>)>> {
    let plain = |forms: [v1::Entity; 2]| forms.map(|form| (form, Vec::new())).to_vec();
    vec![
        plain([hop(1, 1), hop(1, 2)]),
        plain([hop(2, 1), hop(2, 2)]),
        vec![(select(1, 1), vec![0]), (select(1, 2), vec![1])],
        vec![(select(2, 2), vec![1])],
        vec![(share(7, [1, 1]), vec![2, 3]), (share(7, [2, 1]), vec![2, 3])],
        vec![(wcmp_entry(7), vec![4])],
        vec![
            (route(1, "set_nexthop_id", Some(("nexthop_id", 1))), vec![0]),
            (route(1, "set_nexthop_id", Some(("nexthop_id", 2))), vec![1]),
            (route(1, "set_wcmp_group", Some(("wcmp_group_id", 7))), vec![5]),
            (route(1, "blackhole", None), vec![]),
        ],
        vec![(route(2, "set_wcmp_group", Some(("wcmp_group_id", 7))), vec![5])],
        plain([hash(1), hash(2)]),
    ]
}

/// Picks a variant of each entity, or none, and adds the entities that the picked ones refer to.
fn reference_closure(picks: &[usize]) -> Vec<v1::Entity> {
    let things = variants();
    let mut forms: Vec<Option<usize>> = picks
        .iter()
        .zip(&things)
        .map(|(pick, forms)| (*pick > 0).then(|| (pick - 1) % forms.len()))
        .collect();
    for place in (0..things.len()).rev() {
        if let Some(form) = forms[place] {
            for needed in &things[place][form].1 {
                forms[*needed].get_or_insert(0);
            }
        }
    }
    let picked = forms.iter().zip(&things).filter_map(|(form, forms)| Some(forms[(*form)?].0.clone()));
    picked.collect()
}

/// State of a target that enforces references.
#[derive(Default)]
struct StrictTarget(BTreeMap<EntityKey, v1::Entity>);

impl StrictTarget {
    /// Returns a reference to a missing entity, if there is one.
    fn dangling_reference(&self) -> Option<String> {
        let held: BTreeSet<String> = self.0.values().map(|entity| describe_entity(info(), entity)).collect();
        let has = |prefix: &str| held.iter().any(|line| line.starts_with(prefix));
        let needs = |line: &String| {
            let number = |name: &str| {
                let rest = line.split(name).nth(1)?;
                rest.split(|char: char| !char.is_ascii_digit()).next().map(str::to_owned)
            };
            let behind = line.split(" -> ").nth(1).unwrap_or_default();
            if behind.contains("nexthop_id=") && !line.starts_with("ingress.nexthop ") {
                let id = number("(nexthop_id=")?;
                return Some(format!("ingress.nexthop  nexthop_id={id} "));
            }
            if behind.contains("wcmp_group_id=") {
                let id = number("(wcmp_group_id=")?;
                return Some(format!("ingress.wcmp_group  wcmp_group_id={id} "));
            }
            if behind.starts_with("group ") {
                return Some(format!("{PROFILE}  {behind} "));
            }
            None
        };
        let groups = held.iter().filter(|line| line.contains("  group ") && line.contains('{'));
        let members = groups.flat_map(|_| [1, 2].map(|id| format!("{PROFILE}  member {id} ")));
        held.iter().filter_map(needs).chain(members).find(|needed| !has(needed))
    }

    fn apply(&mut self, update: &v1::Update) {
        let entity = update.entity.clone().expect("an entity");
        let key = EntityKey::of(&entity).expect("a key");
        let line = describe_entity(info(), &entity);
        let there = self.0.contains_key(&key);
        match update.r#type() {
            Type::Insert => assert!(!there, "already there: {line}"),
            Type::Modify => assert!(there || is_always_there(&entity), "not there: {line}"),
            Type::Delete => assert!(there, "not there: {line}"),
            Type::Unspecified => panic!("no type: {line}"),
        }
        if update.r#type() == Type::Delete {
            self.0.remove(&key);
        } else {
            self.0.insert(key, entity);
        }
        assert_eq!(self.dangling_reference(), None, "after {line}");
    }
}

fn picks() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(0usize..5, variants().len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// The updates turn one state into the other. Each is accepted in its turn, and at no time does an entity refer to
    /// a missing one.
    #[test]
    fn updates_lead_to_what_is_wanted(wanted in picks(), live in picks()) {
        let (wanted, live) = (reference_closure(&wanted), reference_closure(&live));
        let order = Order::new(info());
        let desired = State::new(info(), wanted).unwrap();
        let found = State::new(info(), live.clone()).unwrap();
        let changes = difference(&desired, &found);
        let ordered = updates(info(), &order, &found, &changes);
        prop_assert_eq!(ordered.updates.is_empty(), desired == found);
        let mut target = StrictTarget::default();
        for entity in live {
            target.0.insert(EntityKey::of(&entity).unwrap(), entity);
        }
        for update in &ordered.updates {
            target.apply(update);
        }
        let reached = State::new(info(), target.0.into_values().collect()).unwrap();
        prop_assert_eq!(&reached, &desired);
        prop_assert_eq!(&found.apply_updates(info(), &ordered.updates).unwrap(), &desired);
        prop_assert_eq!(reached.digest(info()), desired.digest(info()));
    }

    #[test]
    fn order_does_not_matter(picks in picks(), seed in any::<u64>()) {
        let mut entities = reference_closure(&picks);
        let sorted = State::new(info(), entities.clone()).unwrap();
        let n = entities.len().max(1);
        entities.rotate_left(seed as usize % n);
        entities.reverse();
        prop_assert_eq!(State::new(info(), entities).unwrap(), sorted);
    }
}

#[test]
fn the_default_that_a_program_begins_with_is_no_state() {
    let table = info().table("ingress.wcmp_hash").unwrap().preamble.id;
    let initial = initial_default(info(), table).expect("the P4Info contains it");
    assert!(State::new(info(), vec![initial]).unwrap().is_empty());
    let unset = v1::TableEntry { table_id: table, is_default_action: true, ..Default::default() };
    assert!(State::new(info(), vec![unset.into()]).unwrap().is_empty());
    assert_eq!(State::new(info(), vec![hash(9)]).unwrap().len(), 1);
}
