//! Lists contain no rows that NetBox's imports reject: cables of missing ports, empty required fields, labels that are
//! too long. Fields and limits are those of NetBox 4.6's forms (`dcim/forms/bulk_import.py`) and models.

use std::collections::{BTreeMap, BTreeSet};

use closc_cabling::list::{self, Form, LABEL_MAX, LabelPattern};

type Row = BTreeMap<String, String>;

fn rows(text: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().expect("a list has a header").clone();
    let row = |row: csv::StringRecord| {
        head.iter().zip(row.iter()).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
    };
    reader.records().map(|record| row(record.expect("the list is CSV"))).collect()
}

/// Checks that rows have the fields that an import requires.
#[track_caller]
fn require_fields(rows: &[Row], fields: &[&str]) {
    assert!(!rows.is_empty());
    for row in rows {
        for field in fields {
            assert!(row.get(*field).is_some_and(|value| !value.is_empty()), "{field}: {row:?}");
        }
    }
}

#[test]
fn every_list_refers_only_to_rows_of_earlier_lists() {
    for text in [
        include_str!("../../../../topologies/lab/eight-planes.yaml"),
        include_str!("../../../../topologies/lab/bgp-unnumbered.yaml"),
        include_str!("../../../../topologies/lab/two-planes-p4.yaml"),
    ] {
        let plan = closc_tests::shape::plan(text);
        let labels: LabelPattern = LabelPattern::DEFAULT.parse().expect("a pattern");
        let planes: Vec<_> = plan.planes().collect();
        let types = rows(&list::device_types(&plan));
        require_fields(&types, &["manufacturer", "model", "slug", "u_height"]);
        let types: BTreeSet<_> = types.iter().map(|row| (&row["manufacturer"], &row["model"])).collect();
        let devices = rows(&list::devices(&plan, &planes));
        require_fields(&devices, &["name", "role", "manufacturer", "device_type", "status", "site"]);
        assert!(devices.iter().all(|row| types.contains(&(&row["manufacturer"], &row["device_type"]))));
        let devices: BTreeSet<_> = devices.iter().map(|row| &row["name"]).collect();
        for plane in planes {
            let ports = rows(&Form::NetBoxInterfaces.render(&plan, plane, &labels));
            require_fields(&ports, &["device", "name", "type", "speed"]);
            let mut free: BTreeSet<_> = ports.iter().map(|row| (&row["device"], &row["name"])).collect();
            assert_eq!(free.len(), ports.len(), "no port twice");
            assert!(ports.iter().all(|row| devices.contains(&row["device"])));
            let cables = rows(&Form::NetBox.render(&plan, plane, &labels));
            require_fields(
                &cables,
                &[
                    "side_a_device",
                    "side_a_type",
                    "side_a_name",
                    "side_b_device",
                    "side_b_type",
                    "side_b_name",
                ],
            );
            for row in &cables {
                for side in ["a", "b"] {
                    let port = (&row[&format!("side_{side}_device")], &row[&format!("side_{side}_name")]);
                    assert!(free.remove(&port), "{port:?} exists and has one cable");
                }
            }
            assert!(free.is_empty(), "{free:?}");
        }
    }
}

#[test]
fn labels_that_netbox_rejects_are_omitted_and_counted() {
    let plan = closc_tests::shape::plan(include_str!("../../../../topologies/lab/eight-planes.yaml"));
    let plane = plan.planes().next().expect("a plane");
    for (length, is_taken) in [(LABEL_MAX, true), (LABEL_MAX + 1, false)] {
        let labels: LabelPattern = "x".repeat(length).parse().expect("a pattern");
        let cables = rows(&Form::NetBox.render(&plan, plane, &labels));
        assert!(cables.iter().all(|row| row["label"].is_empty() != is_taken));
        assert_eq!(list::long_labels(&plan, plane, &labels), if is_taken { 0 } else { cables.len() });
    }
}

/// Connectors at each end of NetBox's profiles. Each connector has one or more positions.
const PROFILES: [(&str, usize); 4] =
    [("single-1c1p", 1), ("trunk-2c1p", 2), ("trunk-4c1p", 4), ("trunk-8c4p", 8)];

/// Every port is in one cable. The profile of the cable has a connector for each port, and pairs the ports
/// that a link connects.
#[test]
fn assemblies_are_cables_with_a_profile() {
    let labels: LabelPattern = LabelPattern::DEFAULT.parse().expect("a pattern");
    let mut used = BTreeSet::new();
    for text in [
        include_str!("../../../../topologies/lab/eight-planes.yaml"),
        include_str!("../../../../topologies/lab/bgp-unnumbered.yaml"),
        include_str!("../../../../topologies/examples/parallel-links.yaml"),
    ] {
        let plan = closc_tests::shape::plan(text);
        let end = |row: &Row, side: &str| -> Vec<(String, String)> {
            let of = |field: &str| -> Vec<String> {
                row[&format!("side_{side}_{field}")].split(',').map(str::to_owned).collect()
            };
            let (mut devices, ports) = (of("device"), of("name"));
            if devices.len() == 1 {
                devices.resize(ports.len(), devices[0].clone());
            }
            assert_eq!(devices.len(), ports.len(), "one device, or one for each port: {row:?}");
            devices.into_iter().zip(ports).collect()
        };
        let mut paired = BTreeSet::new();
        let assemblies = rows(&list::netbox_assemblies(&plan, &labels));
        require_fields(
            &assemblies,
            &["side_a_name", "side_b_name", "side_a_type", "side_b_type", "status", "profile"],
        );
        for row in &assemblies {
            let (a, b) = (end(row, "a"), end(row, "b"));
            let connectors = PROFILES.iter().find(|(name, _)| *name == row["profile"]).expect("a profile").1;
            assert!(a.len() == b.len() && a.len() <= connectors && a.len() * 2 > connectors, "{row:?}");
            used.insert(row["profile"].clone());
            let before = paired.len() + a.len();
            paired.extend(a.into_iter().zip(b));
            assert_eq!(paired.len(), before, "no port twice");
        }
        let links = plan.planes().flat_map(|plane| rows(&Form::NetBox.render(&plan, plane, &labels)));
        let links: BTreeSet<_> =
            links.map(|row| (end(&row, "a")[0].clone(), end(&row, "b")[0].clone())).collect();
        assert_eq!(paired, links);
    }
    assert!(used.contains("single-1c1p") && used.len() > 1, "{used:?}");
}
