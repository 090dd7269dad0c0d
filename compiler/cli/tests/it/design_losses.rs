//! Losses printed by `closc design` equal those that `closc whatif` computes from the file of the design.

use serde_json::Value;

use crate::common::Place;

/// Columns of a design, and the kinds of failures of `whatif`.
const KINDS: [(&str, &str); 5] = [
    ("uplink_loss_percent", "t0-t1"),
    ("t1_uplink_loss_percent", "t1-t2"),
    ("t0_loss_percent", "t0"),
    ("t1_loss_percent", "t1"),
    ("t2_loss_percent", "t2"),
];

/// Returns the worst loss of a pair by one failure of a kind, in percent.
fn worst(failures: &Value, kind: &str) -> Option<f64> {
    let classes = failures["classes"].as_array().expect("a list").iter();
    classes
        .filter(|class| class["kinds"] == serde_json::json!([kind]))
        .filter_map(|class| class["loss_max"].as_f64())
        .map(|loss| loss * 100.0)
        .max_by(f64::total_cmp)
}

#[test]
fn losses_equal_those_of_the_failures() {
    let place = Place::new();
    let mut compared = 0;
    for need in [
        "--nics 512 --planes 2 --platform th4-64x400g --os eos --routing bgp-unnumbered",
        "--nics 256 --tiers 3 --planes 1 --platform th3-32x400g,th4-64x400g --routing bgp-unnumbered",
        "--nics 512 --tiers 3 --planes 2 --os nvue --platform spectrum4-sn5600",
    ] {
        let words: Vec<&str> = ["design"].into_iter().chain(need.split(' ')).collect();
        let found = place.json(0, &words);
        for row in found["designs"].as_array().expect("a list") {
            place.write("one.yaml", row["file"].as_str().expect("a file"));
            let failures = place.json(0, &["whatif", "one.yaml"]);
            for (column, kind) in KINDS {
                let (printed, computed) = (row[column].as_f64(), worst(&failures, kind));
                assert_eq!(printed.is_some(), computed.is_some(), "{need}: {kind}: {row:#}");
                if let Some((printed, computed)) = printed.zip(computed) {
                    // The last printed digit is a ten-thousandth of a percent, rounded down.
                    assert!(
                        (printed - computed).abs() < 2e-4,
                        "{need}: {kind}: {printed} and {computed}: {row:#}"
                    );
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 10, "{compared}");
}
