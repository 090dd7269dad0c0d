//! The list of what is closc's in CONFIG_DB, compared with everything that is written.

mod common;

use std::collections::BTreeSet;

use closc_sonic::{ConfigDb, Fields, OWNED, owned};
use closc_tests::shape::plan;

use common::{small, sonic, switches};

fn trees() -> impl Iterator<Item = (String, ConfigDb)> {
    // No preset pauses another group than the priority's own.
    let grouped = small(
        "spectrum4-sn5600",
        "800G",
        "{ base: lossless, classes: { data: { priority_group: 4 } } }",
        "ecmp-static",
    );
    let grouped =
        switches(&plan(&grouped)).into_iter().map(|artefact| ("grouped".to_owned(), artefact.bytes));
    sonic().into_iter().chain(grouped).map(|(name, bytes)| {
        let text = String::from_utf8(bytes).expect("JSON is text");
        let config = ConfigDb::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, config)
    })
}

#[test]
fn every_table_and_field_that_is_written_is_in_the_list() {
    for (name, config) in trees() {
        for (table, entries) in config.tables() {
            let owned = owned(table).unwrap_or_else(|| panic!("{name}: `{table}` is written and nobody's"));
            for (key, entry) in entries {
                for field in entry.keys() {
                    assert!(
                        owned.has_field(field),
                        "{name}: `{table}|{key}.{field}` is written and not closc's"
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
