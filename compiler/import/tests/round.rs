//! Export, import, export: the same cables, ports, names, lengths and media.

use std::collections::{BTreeMap, BTreeSet};

use closc_cabling::list::{Form, LabelPattern};
use closc_import::{Imported, Options, Plant, Refused, import, read};
use closc_plan::Plan;
use closc_platform::Catalogue;
use closc_tests::exceptions::excepted;
use closc_tests::shape::{Shape, T2, plan, try_plan};
use proptest::prelude::*;

fn label() -> LabelPattern {
    LabelPattern::DEFAULT.parse().expect("the default is one")
}

/// The lists of all planes.
fn lists(plan: &Plan) -> Vec<String> {
    plan.planes().map(|plane| Form::PointToPoint.render(plan, plane, &label())).collect()
}

fn rows(plan: &Plan) -> BTreeSet<String> {
    lists(plan).iter().flat_map(|list| list.lines().skip(1)).map(str::to_owned).collect()
}

fn imported(tables: &[String]) -> Result<Imported, Refused> {
    let mut plant = Plant::default();
    for (number, table) in tables.iter().enumerate() {
        read::file(&mut plant, &format!("plane-{number}.csv"), table);
    }
    let options = Options { name: "shape".to_owned(), ..Options::default() };
    import(&plant.finish()?, &options, &Catalogue::builtin(), &mut |text| try_plan(text))
}

/// Imports the lists of a fabric and expects them back.
fn comes_back(before: &Plan) {
    if rows(before).is_empty() {
        return;
    }
    // Zones of which no T2 is left are fabrics of their own, and names in a file of two tiers have no zone.
    let is_zoned = before.switches().next().is_some_and(|switch| before.switch_name(switch).starts_with('z'));
    if is_zoned && !rows(before).iter().any(|row| row.contains(",t1-t2,")) {
        return;
    }
    let found = match imported(&lists(before)) {
        Ok(found) => found,
        // Too little is left of some shapes to be a Clos.
        Err(refused) if refused.to_string().contains("nodes, T0s and T1s are wanted") => return,
        Err(refused) => panic!("{refused}"),
    };
    assert_eq!(found.findings, Vec::<String>::new(), "{}", found.text);
    assert!(found.renamed.is_empty(), "{:?}", found.renamed);
    let after = plan(&found.text);
    let (before, after) = (rows(before), rows(&after));
    let lost: Vec<_> = before.difference(&after).take(5).collect();
    let new: Vec<_> = after.difference(&before).take(5).collect();
    assert!(lost.is_empty() && new.is_empty(), "{}\nlost {lost:#?}\nnew {new:#?}", found.text);
}

/// Whether some two devices still have all their parallel cables. Where one of them is absent everywhere, cables say that
/// there is one fewer.
fn shows_parallel(shape: &Shape, plan: &Plan) -> bool {
    let most = |class: &str| {
        let mut pairs = BTreeMap::<(String, String), u16>::new();
        for list in lists(plan) {
            let mut lines = list.lines().map(|line| line.split(',').collect::<Vec<_>>());
            let header = lines.next().expect("a list has a header");
            let column =
                |name: &str| header.iter().position(|cell| *cell == name).expect("a column of the list");
            let (kind, a, b) = (column("kind"), column("a_device"), column("b_device"));
            for row in lines.filter(|row| row[kind] == class) {
                *pairs.entry((row[a].to_owned(), row[b].to_owned())).or_default() += 1;
            }
        }
        pairs.into_values().max()
    };
    let is_whole = |class: &str, parallel: u16| most(class).is_none_or(|most| most == parallel);
    is_whole("t0-t1", shape.parallel) && shape.t2.as_ref().is_none_or(|t2| is_whole("t1-t2", t2.parallel))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn uneven_fabrics_come_back(shape in excepted()) {
        let plan = shape.plan();
        if shows_parallel(&shape, &plan) {
            comes_back(&plan);
        }
    }
}

#[test]
fn rows_of_t2s_come_back() {
    for (t1, steps, rows, parallel) in [(2, 2, true, 1), (3, 1, true, 2), (3, 2, false, 2), (1, 3, true, 1)] {
        let t2 = Some(T2 { zones: 3, steps, parallel, rows: if rows { 8 } else { 0 } });
        comes_back(&Shape { t1, t2, ..Shape::SMALL }.plan());
    }
}
