//! The entries of the pipeline `sai`: they can be inserted in their order, and their ids do not depend on other
//! entries.

use std::collections::BTreeSet;

use closc_entries::Pipeline;
use closc_plan::{DeviceIntent, Plan, Target};
use closc_runtime::order::Order;
use closc_runtime::proto::v1;
use closc_runtime::{check, render};
use closc_tests::shape::{Shape, plan};
use v1::entity::Entity;
use v1::table_action::Type;

fn fabric(exceptions: &str, routing: &str) -> Plan {
    let shape = Shape {
        planes: 2,
        groups: 3,
        per_group: 2,
        rails: 1,
        t1: 4,
        parallel: 1,
        t2: None,
        exceptions: exceptions.to_owned(),
    };
    let yaml = shape.yaml().replace("platform: linux, os: linux", "platform: bmv2, os: p4");
    plan(&yaml.replacen("tiers:", &format!("{routing}\ntiers:"), 1))
}

fn ecmp(exceptions: &str) -> Plan {
    fabric(exceptions, "routing: ecmp-static")
}

fn entities(plan: &Plan, switch: &str) -> Vec<v1::Entity> {
    let switch = plan.topology().naming.parse_switch(switch).expect("a switch of the fabric");
    Pipeline::sai().entities(&plan.device(switch)).expect("they fit")
}

/// The rendered entry of each group, with the weights of its members.
fn weights(entities: &[v1::Entity]) -> Vec<(String, Vec<i32>)> {
    let set = |entity: &v1::Entity| match &entity.entity {
        Some(Entity::TableEntry(entry)) => match &entry.action.as_ref()?.r#type {
            Some(Type::ActionProfileActionSet(set)) => {
                Some(set.action_profile_actions.iter().map(|one| one.weight).collect())
            }
            _ => None,
        },
        _ => None,
    };
    let shown = |entity: &v1::Entity| render::entity(Pipeline::sai().info(), entity).to_string();
    entities.iter().filter_map(|entity| Some((shown(entity), set(entity)?))).collect()
}

#[test]
fn referenced_entries_come_first_and_every_entry_fits() {
    let (plan, info) = (ecmp(""), Pipeline::sai().info());
    for switch in plan.switches() {
        let entities = Pipeline::sai().entities(&plan.device(switch)).expect("they fit");
        let updates: Vec<v1::Update> = entities.into_iter().map(v1::Update::insert).collect();
        for update in &updates {
            check::check_update(info, update).expect("every update fits the P4Info");
        }
        let order = Order::new(info).arrange(updates.clone());
        let table = |update: &v1::Update| match update.entity.as_ref().and_then(|e| e.entity.as_ref()) {
            Some(Entity::TableEntry(entry)) => entry.table_id,
            other => panic!("{other:?}"),
        };
        let rank = |id: u32| order.updates.iter().position(|update| table(update) == id);
        let tables: Vec<u32> = updates.iter().map(table).filter(|id| rank(*id).is_some()).collect();
        let routes = info.table("ipv6_table").expect("a table").preamble.id;
        let groups = info.table("wcmp_group_table").expect("a table").preamble.id;
        assert!(tables.iter().rposition(|id| *id == groups) < tables.iter().position(|id| *id == routes));
        let again = Pipeline::sai().entities(&plan.device(switch)).expect("they fit");
        assert_eq!(updates.into_iter().filter_map(|u| u.entity).collect::<Vec<_>>(), again);
    }
}

#[test]
fn groups_of_a_switch_are_those_of_its_routes() {
    let plan = ecmp("");
    let switch = plan.topology().naming.parse_switch("p0-t0-001").expect("a switch of the fabric");
    let intent = plan.device(switch);
    let distinct: BTreeSet<String> = intent
        .routes
        .iter()
        .filter_map(|route| match &route.target {
            Target::Ports(hops) if hops.len() > 1 => Some(format!("{hops:?}")),
            Target::Ports(_) | Target::Blackhole => None,
        })
        .collect();
    let groups = weights(&entities(&plan, "p0-t0-001"));
    assert_eq!(groups.len(), distinct.len());
    assert_eq!(groups[0].1, [1; 4]);
}

#[test]
fn an_absent_cable_does_not_rename_other_groups() {
    let whole = weights(&entities(&ecmp(""), "p0-t0-001"));
    let cut = "exceptions: { absent: [p0-t0-002--p0-t1-001] }\n";
    let without = weights(&entities(&ecmp(cut), "p0-t0-001"));
    assert!(whole.iter().all(|group| without.contains(group)), "{whole:?} {without:?}");
    assert_eq!(without.len(), whole.len() + 1, "only three cables lead to the far group");
}

#[test]
fn segments_of_neighbours_have_routes_and_own_segments_have_none() {
    use v1::field_match::FieldMatchType;
    let entities = entities(&fabric("", "routing: srv6-static"), "p0-t0-001");
    let prefixes = entities.iter().filter_map(|entity| match &entity.entity {
        Some(v1::entity::Entity::TableEntry(entry)) => entry.r#match.iter().find_map(|field| {
            let FieldMatchType::Lpm(lpm) = field.field_match_type.as_ref()? else { return None };
            let mut bytes = [0; 16];
            bytes[16 - lpm.value.len()..].copy_from_slice(&lpm.value);
            Some(format!("{}/{}", std::net::Ipv6Addr::from(bytes), lpm.prefix_len))
        }),
        _ => None,
    });
    let prefixes: Vec<String> = prefixes.collect();
    let up = (1..=4).map(|at| format!("fcbb:bbbb:400{at}::/48"));
    let down = (1..=2).map(|at| format!("fcbb:bbbb:800{at}::/48"));
    let wanted: Vec<String> = down.chain(up).chain(["fcbb:bbbb::/32".to_owned()]).collect();
    assert_eq!(prefixes, wanted, "`fcbb:bbbb:1::/48` is in CONFIG_DB only");
    assert!(weights(&entities).is_empty(), "each uSID has one port");
}

#[test]
fn errors_contain_the_sum_that_does_not_fit() {
    let plan = ecmp("");
    let switch = plan.topology().naming.parse_switch("p0-t0-001").expect("a switch of the fabric");
    let said =
        |intent: &DeviceIntent<'_>| Pipeline::sai().entities(intent).expect_err("too large").to_string();
    let mut intent = plan.device(switch);
    for route in &mut intent.routes {
        if let Target::Ports(hops) = &mut route.target
            && let [first, second, ..] = &mut hops[..]
        {
            (first.weight, second.weight) = (500, 11);
        }
    }
    let text = said(&intent);
    assert!(text.contains("add up to 513; a group of `") && text.ends_with("holds 512"), "{text}");

    let mut intent = plan.device(switch);
    let route = intent.routes[0].clone();
    intent.routes = (0..17_001u32)
        .map(|at| {
            let bits = route.prefix.network().to_ipv6().to_bits() + (u128::from(at) << 32);
            let prefix = ipnet::Ipv6Net::new(bits.into(), 128).expect("a length");
            closc_plan::Route { prefix: prefix.into(), ..route.clone() }
        })
        .collect();
    let text = said(&intent);
    assert!(text.contains("17001 entries for `") && text.ends_with("which holds 17000"), "{text}");
}
