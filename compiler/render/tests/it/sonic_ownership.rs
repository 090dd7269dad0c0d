//! The list of tables and fields that closc owns in CONFIG_DB, compared with everything that it writes.

use std::collections::BTreeSet;

use closc_sonic::{ConfigDb, Fields, IF_GIVEN, OWNED, SITE_FIRST, owned_table};
use closc_tests::shape::plan;

use crate::common::{small, sonic, switches};

fn trees() -> impl Iterator<Item = (String, ConfigDb)> {
    // In presets, the number of a lossless priority group equals the PFC priority, so this profile sets another one.
    let grouped = small(
        "spectrum4-sn5600",
        "800G",
        "{ base: lossless, classes: { data: { priority_group: 4 } } }",
        "ecmp-static",
    );
    let grouped =
        switches(&plan(&grouped)).into_iter().map(|artefact| ("grouped".to_owned(), artefact.bytes));
    let entries = small("th5-128x400g", "400G", "lossless", "ecmp-static").replace("os: sonic", "os: pins");
    let entries = switches(&plan(&entries)).into_iter().map(|artefact| ("pins".to_owned(), artefact.bytes));
    sonic().into_iter().chain(grouped).chain(entries).map(|(name, bytes)| {
        let text = String::from_utf8(bytes).expect("JSON is text");
        let config = ConfigDb::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, config)
    })
}

#[test]
fn every_table_and_field_that_is_written_is_in_the_list() {
    for (name, config) in trees() {
        for (table, entries) in config.tables() {
            let owned =
                owned_table(table).unwrap_or_else(|| panic!("{name}: `{table}` is written without an owner"));
            for (key, entry) in entries {
                assert!(
                    owned.rows.contains(key),
                    "{name}: closc writes `{table}|{key}`, which belongs to the site"
                );
                for (field, value) in entry {
                    let place = (table.as_str(), field.as_str());
                    let value = value.to_string();
                    let yields = SITE_FIRST.contains(&(place.0, place.1, value.as_str()));
                    assert!(
                        owned.has_field(field) || IF_GIVEN.contains(&place) || yields,
                        "{name}: closc writes `{table}|{key}.{field}`, which it does not own"
                    );
                }
            }
        }
    }
}

#[test]
fn the_list_names_nothing_that_is_never_written() {
    let mut written = BTreeSet::new();
    for (_, config) in trees() {
        for (table, entries) in config.tables() {
            written.insert((table.clone(), String::new()));
            let fields = entries.values().flat_map(|entry| entry.keys());
            written.extend(fields.map(|field| (table.clone(), field.clone())));
        }
    }
    let mut never = Vec::new();
    for (table, field) in IF_GIVEN.iter().copied().chain(SITE_FIRST.iter().map(|(t, f, _)| (*t, *f))) {
        if !written.contains(&(table.to_owned(), field.to_owned())) {
            never.push(format!("{table}.{field}"));
        }
    }
    for owned in OWNED {
        let fields = match owned.fields {
            Fields::Only(fields) => fields,
            Fields::All | Fields::None => &[],
        };
        for field in std::iter::once(&"").chain(fields) {
            let place = (owned.table.to_owned(), (*field).to_owned());
            if !written.contains(&place) {
                never.push(format!("{}.{field}", owned.table));
            }
        }
    }
    assert!(never.is_empty(), "in the list and never written: {never:?}");
}
