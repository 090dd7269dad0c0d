//! Patches of random configurations, applied by an RFC 6902 library that is not ours.

use closc_sonic::{ConfigDb, Entry, Field, IF_GIVEN, Method, OWNED, Overlay, Share, change, owned_part};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::Value;

/// Tables of the site, and characters that JSON pointers escape.
const FOREIGN: [&str; 4] = ["TACPLUS", "FEATURE", "MGMT_VRF_CONFIG", "odd/name~1"];

fn field() -> impl Strategy<Value = Field> {
    prop_oneof![
        3 => prop_oneof!["[a-c]", Just("up".to_owned()), Just("~0/1".to_owned())].prop_map(Field::Text),
        1 => vec("[a-c]", 1..3).prop_map(Field::List),
    ]
}

fn entry() -> impl Strategy<Value = Entry> {
    let names = prop::sample::select(vec![
        "admin_status",
        "profile",
        "mtu",
        "xoff",
        "tpid",
        "gwaddr",
        "a/b",
        "id",
        "vrf",
        "platform",
    ]);
    btree_map(names.prop_map(str::to_owned), field(), 0..4)
}

fn config() -> impl Strategy<Value = ConfigDb> {
    let tables: Vec<&str> = OWNED.iter().map(|owned| owned.table).chain(FOREIGN).collect();
    let keys = prop::sample::select(vec![
        "Ethernet0",
        "Loopback0",
        "Ethernet4|3",
        "mgmt|::/0",
        "GLOBAL",
        "localhost",
        "fd00::1/64",
        "~",
    ]);
    vec((prop::sample::select(tables), keys, entry()), 0..40).prop_map(|rows| {
        let mut made = ConfigDb::default();
        for (table, key, entry) in rows {
            made.insert(table, key, entry);
        }
        made
    })
}

/// Returns the part of a configuration that a tree may contain.
fn of_closc(config: &ConfigDb) -> ConfigDb {
    let mut made = config.clone();
    for table in FOREIGN {
        made.replace(table, closc_sonic::Table::new());
    }
    owned_part(&made, config)
}

fn apply(config: &ConfigDb, patches: &[closc_sonic::Patch]) -> ConfigDb {
    let mut value: Value = serde_json::from_str(&config.to_json()).expect("JSON");
    for patch in patches {
        let patch: json_patch::Patch = serde_json::from_str(&patch.to_json()).expect("RFC 6902");
        json_patch::patch(&mut value, &patch).expect("every place is there");
        for (name, table) in value.as_object().expect("tables") {
            assert!(table.as_object().is_some_and(|table| !table.is_empty()), "`{name}` was emptied by keys");
        }
    }
    ConfigDb::parse(&value.to_string()).expect("still a configuration")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn a_patch_leads_to_the_tree_and_leaves_the_rest(live in config(), tree in config()) {
        let tree = of_closc(&tree);
        let made = change("a", &live, &tree, &Overlay::default(), false).expect("no overlay clashes");
        let after = apply(&live, &made.steps(&live));
        prop_assert_eq!(&after, &made.target);
        prop_assert_eq!(owned_part(&after, &tree), tree.clone());
        // A patch that was written is read again, and has the same effect.
        let read: closc_sonic::Patch = serde_json::from_str(&made.patch.to_json()).expect("it was written here");
        prop_assert_eq!(&read, &made.patch);
        prop_assert_eq!(read.apply(&live), Ok(after.clone()));
        prop_assert_eq!(read.apply(&after).is_ok(), read.is_empty());
        // Everything else is unchanged: complete tables of the site, and fields that closc does not own.
        for (name, table) in live.tables() {
            let Some(owned) = closc_sonic::owned_table(name) else {
                prop_assert_eq!(after.table(name), table);
                continue;
            };
            for (key, entry) in table {
                let Some(now) = after.entry(name, key) else {
                    prop_assert!(owned.share != Share::Given && owned.rows.contains(key));
                    continue;
                };
                let given = |field: &str| IF_GIVEN.contains(&(name.as_str(), field)) && tree.entry(name, key).is_some_and(|entry| entry.contains_key(field));
                let theirs = |(field, _): &(&String, &Field)| !owned.has_field(field) && !given(field);
                for (field, value) in entry.iter().filter(theirs) {
                    prop_assert_eq!(now.get(field), Some(value));
                }
            }
        }
        // Afterwards, nothing is left to do.
        let again = change("a", &after, &tree, &Overlay::default(), false).expect("no overlay clashes");
        prop_assert_eq!(&again.method, &Method::Nothing);
        prop_assert!(again.steps(&after).is_empty());
    }

    #[test]
    fn a_patch_holds_nothing_but_the_difference(live in config(), tree in config()) {
        let tree = of_closc(&tree);
        let made = change("a", &live, &tree, &Overlay::default(), false).expect("no overlay clashes");
        for operation in &made.patch.operations {
            prop_assert!(closc_sonic::owned_table(&operation.table).is_some(), "{}", operation.place());
            if let Some(key) = &operation.key {
                let (before, after) = (live.entry(&operation.table, key), made.target.entry(&operation.table, key));
                prop_assert!(before != after, "{}", operation.place());
            }
        }
    }
}
