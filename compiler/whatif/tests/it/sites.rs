//! Failures of sites: loss of a site with or without its T2s, a cut span, and loss of half of a span.

use closc_plan::Plan;
use closc_tests::shape;
use closc_topology::{Link, Topology};
use closc_whatif::{Elements, Outcome, WhatIf};

const BASE: &str = "fabric: sites
planes: 2
zones: 2
sites: [{ name: city, zones: [0] }, { name: hills, zones: [1] }]
hosts: { groups: 2, per_group: 2, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: linux, os: linux, up: 4 }
  t1: { platform: linux, os: linux, up: 4 }
  t2: { platform: linux, os: linux, site: city }
qos: none
";

fn outcome(plan: &Plan, failed: &[&str]) -> Outcome {
    let elements = Elements::of(plan.fabric());
    let named: Vec<_> = failed.iter().flat_map(|name| elements.parse(name).expect("a name")).collect();
    for element in &named {
        assert_eq!(elements.parse(&elements.name(*element)).as_deref(), Ok(&[*element][..]));
    }
    WhatIf::new(elements).fail(&named, 0)
}

/// Returns the same fabric without the lost cables of a span.
fn remove_span(plan: &Plan, span: &str) -> Plan {
    let elements = Elements::of(plan.fabric());
    let lost = elements.losses_of(&elements.parse(span).expect("a name")).links;
    let name = |topology: &Topology, link: &Link| topology.link_name(*link).expect("a name");
    let names: Vec<String> = lost.iter().map(|link| name(plan.topology(), link)).collect();
    shape::plan(&format!("{BASE}exceptions: {{ absent: [{}] }}\n", names.join(", ")))
}

#[test]
fn the_site_with_the_t2s_takes_the_way_between_all_zones() {
    let plan = shape::plan(BASE);
    let far = |lost: &Outcome| (lost.nics_cut_off.len(), lost.cut_off);
    // There are 8 NICs, 4 per site. The loss of the site `hills` removes 16 pairs between sites and 6 pairs
    // within it.
    assert_eq!(far(&outcome(&plan, &["site hills"])), (4, 22));
    assert_eq!(far(&outcome(&plan, &["site city"])), (4, 22));
    let three = BASE
        .replace("zones: 2", "zones: 3")
        .replace("zones: [1] }", "zones: [1] }, { name: coast, zones: [2] }");
    // Without the T2s in `city`, only pairs within `hills` and within `coast` have paths: 6 + 6 of 66.
    assert_eq!(far(&outcome(&shape::plan(&three), &["site city"])), (4, 54));
    // Only `hills` is lost: 66 - 28 pairs.
    assert_eq!(far(&outcome(&shape::plan(&three), &["site hills"])), (4, 38));
}

#[test]
fn a_span_is_what_a_fabric_without_its_cables_is() {
    let plan = shape::plan(BASE);
    for (span, left) in [("span hills", 0), ("span hills at 25%", 1), ("span hills at 50%", 2)] {
        let cut = outcome(&plan, &[span]);
        let absent = remove_span(&plan, span);
        let same = outcome(&absent, &[]);
        assert_eq!((&cut.share, cut.cut_off), (&same.share, same.cut_off), "{span}");
        // The number of paths of a far pair is 2 planes x 4 uplinks of its T0 x the uplinks of a T1.
        assert_eq!(cut.distances.last().map(|far| far.paths.minimum()), Some(8 * left), "{span}");
    }
}

#[test]
fn a_span_needs_a_site_at_each_end() {
    let error = |text: &str, name: &str| {
        let plan = shape::plan(text);
        Elements::of(plan.fabric()).parse(name).expect_err("no such span")
    };
    let nowhere = BASE.replace(", site: city", "");
    assert!(error(&nowhere, "span hills").contains("`tiers.t2.site`"));
    assert!(error(BASE, "span city").contains("the T2s are in `city`"));
    assert!(error(BASE, "span hills at 100%").contains("0% to 99%"));
    assert_eq!(error(BASE, "span coast"), "`coast` is not a site; expected one of `city`, `hills`");
    assert_eq!(error(BASE, "hills"), "`hills` is a site: write `site hills`");
    let one = "fabric: one\nhosts: { groups: 2, per_group: 2, nic: { speed: 100G, lanes: 1 } }\nplanes: 1\n\
               tiers:\n  t0: { platform: linux, os: linux, up: 2 }\n  t1: { platform: linux, os: linux }\nqos: none\n";
    assert_eq!(error(one, "site hills"), "`hills` is not a site: the fabric file has no `sites`");
}
