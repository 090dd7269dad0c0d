//! Merges reports. A complete set of shards must result in the report on the complete fabric. Any other set
//! must be rejected.

use closc_tests::shape::plan;
use closc_whatif::report::{EachQuestion, EachReport, FabricPart, MergeError};
use closc_whatif::{Element, Elements, Kind, WhatIf};

const TEXT: &str = "fabric: shape\nplanes: 2\nhosts: { groups: 2, per_group: 2, nic: { speed: 200G, lanes: 2 } }\ntiers:\n  \
                    t0: { platform: linux, os: linux, up: 2 }\n  t1: { platform: linux, os: linux }\nqos: none\n";

/// Returns the report on the planes of a shard, or on all planes.
fn answer(question: &str, shard: Option<(u32, u32)>) -> EachReport {
    let plan = plan(TEXT);
    let elements = Elements::of(plan.fabric());
    let whatif = WhatIf::new(elements);
    let of = |element: Element| match element {
        Element::Switch(switch) => shard.is_none_or(|(index, _)| u32::from(switch.plane.0) == index),
        _ => true,
    };
    let classes = whatif.fail_selected(&[Kind::T0T1, Kind::T0], 1, &of);
    let part = shard
        .map(|(index, of)| FabricPart { shard: Some((index, of)), selection: format!("shard={index}/{of}") });
    let asked = EachQuestion {
        question: question.to_owned(),
        part,
        earlier_failures: &[],
        together: 1,
        overview: false,
    };
    EachReport::new(elements, asked, whatif.pairs(), &classes)
}

fn merge_reports(parts: &[(&str, Option<(u32, u32)>)]) -> Result<EachReport, MergeError> {
    let named = parts.iter().enumerate();
    EachReport::merge(
        named.map(|(at, (question, shard))| (at.to_string(), answer(question, *shard))).collect(),
    )
}

#[test]
fn shards_are_one_answer() {
    let whole = answer("q", None);
    assert_eq!(merge_reports(&[("q", Some((1, 2))), ("q", Some((0, 2)))]), Ok(whole));
    assert_eq!(merge_reports(&[("q", Some((1, 2)))]), Err(MergeError::Missing { index: 0, of: 2 }));
    assert_eq!(merge_reports(&[("q", None)]), Err(MergeError::NoShard("0".to_owned())));
    let other =
        |one: &str, other: &str| Err(MergeError::Other { one: one.to_owned(), other: other.to_owned() });
    assert_eq!(merge_reports(&[("q", Some((0, 2))), ("r", Some((1, 2)))]), other("0", "1"));
    assert_eq!(merge_reports(&[("q", Some((0, 2))), ("q", Some((1, 3)))]), other("0", "1"));
    let twice = MergeError::Twice { index: 0, of: 2, one: "0".to_owned(), other: "1".to_owned() };
    assert_eq!(merge_reports(&[("q", Some((0, 2))), ("q", Some((0, 2)))]), Err(twice));
}
