//! `closc design` for each operating system: it proposes designs that the system supports, or prints the correct
//! reason why there are none.

use serde_json::Value;

use crate::common::Place;

fn design_args(flags: &str) -> Vec<&str> {
    ["design"].into_iter().chain(flags.split(' ')).collect()
}

fn designs(found: &Value) -> &Vec<Value> {
    found["designs"].as_array().expect("a list")
}

/// These systems have no queue settings and cannot shut down ports, so files for growth contain neither.
#[test]
fn systems_without_queues_have_room_to_grow() {
    let place = Place::new();
    for (os, growth) in [
        ("p4", "--nics 128 --grow-to 256"),
        ("frr", "--nics 128 --grow-to 256"),
        ("p4", "--stages 128,256"),
        ("frr", "--stages 128,256"),
    ] {
        let flags = format!("{growth} --os {os} --tiers 2");
        let found = place.json(0, &design_args(&flags));
        assert!(!designs(&found).is_empty() && found["unchecked"] == false, "{flags}: {found:#}");
        for (at, row) in designs(&found).iter().enumerate() {
            assert!(row["qos"] == "none" && row["largest"].as_u64() >= Some(256), "{flags}: {row:#}");
            let stages = row["stages"].as_array().expect("a list");
            let files = std::iter::once(row).chain(stages).map(|of| of["file"].as_str().expect("a text"));
            for (stage, file) in files.enumerate() {
                assert!(!file.contains("spare"), "{flags}: {file}");
                let name = format!("{os}-{at}-{stage}.yaml");
                place.write(&name, file);
                place.ends(0, &["check", &name, "-D", "warnings", "--allow", "W0203"]);
            }
        }
    }
}
