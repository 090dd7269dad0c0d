//! P4Infos and programs of different compilations: every difference is reported when the pipeline is set.

use closc_runtime::proto::config;
use closc_runtime::text::read_p4info;
use closc_switch::{Pipeline, PipelineError};
use config::match_field::{Match, MatchType};

use crate::common::{FEATURES, FEATURES_INFO};

/// Binds the program with all features to a changed P4Info; returns the differences.
fn faults(change: impl FnOnce(&mut config::P4Info)) -> Vec<String> {
    let mut info = read_p4info(FEATURES_INFO).expect("the fixture is a P4Info");
    change(&mut info);
    match Pipeline::new(info, FEATURES.into()) {
        Ok(_) => Vec::new(),
        Err(PipelineError::Bind(faults)) => faults,
        Err(other) => panic!("another fault: {other}"),
    }
}

fn table<'i>(info: &'i mut config::P4Info, alias: &str) -> &'i mut config::Table {
    let named = |table: &&mut config::Table| table.preamble.as_ref().is_some_and(|it| it.alias == alias);
    info.tables.iter_mut().find(named).expect("it has the table")
}

#[test]
fn a_field_is_matched_as_the_program_matches_it() {
    let kinds = [MatchType::Exact, MatchType::Lpm, MatchType::Ternary, MatchType::Range, MatchType::Optional];
    for (name, right) in [
        ("exact_dst", &[MatchType::Exact][..]),
        ("lpm_src", &[MatchType::Lpm]),
        // The compiler makes an optional field ternary.
        ("ternary_kind", &[MatchType::Ternary, MatchType::Optional]),
        ("ranges", &[MatchType::Range]),
    ] {
        for kind in kinds {
            let found = faults(|info| {
                let field = &mut table(info, name).match_fields[0];
                field.r#match = Some(Match::MatchType(kind.into()));
            });
            assert_eq!(found.is_empty(), right.contains(&kind), "{name} as {kind:?}: {found:?}");
        }
        let other = faults(|info| {
            table(info, name).match_fields[0].r#match = Some(Match::OtherMatchType("near".to_owned()));
        });
        assert!(other[0].contains("near in the P4Info"), "{other:?}");
    }
}

#[test]
fn every_difference_is_named_at_once() {
    let found = faults(|info| {
        table(info, "exact_dst").match_fields[0].r#match = Some(Match::MatchType(MatchType::Ternary.into()));
        table(info, "exact_dst").const_default_action_id = 0;
        table(info, "lpm_src").match_fields[0].bitwidth = 40;
        table(info, "lpm_src").idle_timeout_behavior = 0;
        table(info, "ternary_kind").direct_resource_ids.clear();
        table(info, "constants").is_const_table = false;
        table(info, "constants").has_initial_entries = false;
        table(info, "one_of").size = 4;
        info.action_profiles[0].size += 1;
        info.action_profiles[0].with_selector ^= true;
        info.registers[0].size = 15;
        info.value_sets[0].size = 5;
        info.meters[0].spec.as_mut().expect("it has one").unit = config::meter_spec::Unit::Bytes.into();
        info.counters[0].preamble.as_mut().expect("it has one").name = "ingress.others".to_owned();
    });
    let expected = [
        "table `ingress.exact_dst`: no constant default action in the P4Info, constant default action in the program",
        "table `ingress.exact_dst`, field `hdr.ethernet.dst`: ternary in the P4Info, exact in the program",
        "table `ingress.lpm_src`: no idle timeouts in the P4Info, idle timeouts in the program",
        "table `ingress.lpm_src`, field `source`: 40 bits in the P4Info, 48 bits in the program",
        "table `ingress.ternary_kind`: no direct counter in the P4Info, direct counter in the program",
        "table `ingress.ternary_kind`: no direct meter in the P4Info, direct meter in the program",
        "table `ingress.constants`: no entries of the program in the P4Info, entries of the program in the program",
        "table `ingress.one_of`: size 4 in the P4Info, size 64 in the program",
    ];
    assert_eq!(found[..expected.len()], expected);
    let rest = found[expected.len()..].join("\n");
    for part in [
        "selector in the program",
        "no counter array `ingress.others`",
        "meter `ingress.port_meter`: bytes in the P4Info, packets in the program",
        "15 cells in the P4Info, 8 cells in the program",
        "value set `parse.kinds`: size 5 in the P4Info, size 4 in the program",
    ] {
        assert!(rest.contains(part), "{part} is not in\n{rest}");
    }
    assert_eq!(faults(|_| {}), Vec::<String>::new());
}

#[test]
fn a_table_has_the_direct_counter_that_is_its_own() {
    let mut info = read_p4info(FEATURES_INFO).expect("the fixture is a P4Info");
    let id = table(&mut info, "exact_dst").preamble.as_ref().expect("it has one").id;
    let counter = &mut info.direct_counters[0];
    counter.direct_table_id = id;
    let counter = counter.preamble.as_ref().expect("it has one").id;
    table(&mut info, "exact_dst").direct_resource_ids.push(counter);
    let error = Pipeline::new(info, FEATURES.into()).expect_err("the counter is of another table");
    assert!(matches!(error, PipelineError::Info(_)), "{error}");
    assert!(error.to_string().contains("which is of another table"), "{error}");
}
