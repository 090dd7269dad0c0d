//! The dashboard and the alert rules use only metrics that are served, and every served metric is used or listed here.

use std::collections::BTreeSet;

use closc_collect::{Options, metrics};
use closc_deploy::{Cell, Counters};

use crate::support::{Fabric, Fault, eight_planes};

const DASHBOARD: &str = include_str!("../../grafana/dashboard.json");
const ALERTS: &str = include_str!("../../grafana/alerts.yaml");

/// Returns the names of metrics in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    text.split(|sign| !is_part(sign)).filter(|word| word.starts_with("closc_collect_")).collect()
}

#[test]
fn what_is_drawn_is_served() {
    let mut fabric = Fabric::new(eight_planes(), 1);
    let options = Options { apply: true, settle_ms: 2_000, plane_share: 0.5, ..Options::default() };
    let mut collector = fabric.collector(options);
    fabric.rounds(&mut collector, 2);
    let link = fabric.plan.topology().parse_link("p3-t0-002--p3-t1-004").expect("it is a cable");
    fabric.faults = vec![Fault::Cut(link)];
    fabric.rounds(&mut collector, 6);
    let switch = fabric.plan.switches().next().expect("there are 64");
    let cell = Cell { packets: 1, bytes: 100 };
    let counters = Counters {
        received: [(1, cell)].into(),
        sent: [((1, 3), cell)].into(),
        marked: [((1, 3), cell)].into(),
        trimmed: [((1, 3), cell)].into(),
        segments: [(7, cell)].into(),
        drops: [("NO_ROUTE".to_owned(), cell)].into(),
    };
    collector.take_counters([(switch, [counters.clone(), counters])].into(), fabric.now_ms);
    let text = metrics(&collector, fabric.now_ms);
    let served: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let drawn: BTreeSet<&str> = names(DASHBOARD).union(&names(ALERTS)).copied().collect();
    assert!(drawn.is_subset(&served), "named and not served: {:?}", drawn.difference(&served));
    let with_rows = |name: &str| text.lines().any(|line| line.starts_with(name) && !line.starts_with('#'));
    assert!(
        drawn.iter().all(|name| with_rows(name)),
        "no rows of {:?}",
        drawn.iter().find(|name| !with_rows(name))
    );
    // Served metrics that the dashboard does not show: totals for ratios, and times.
    let rest: Vec<&str> = served.difference(&drawn).copied().collect();
    assert_eq!(
        rest,
        ["closc_collect_agent_findings", "closc_collect_cables", "closc_collect_verdict_since_seconds"]
    );
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).expect("it is JSON");
    assert_eq!(dashboard["panels"].as_array().map(Vec::len), Some(11));
    let labels = "{element=\"p3-t0-002--p3-t1-004\",what=\"cable\",kind=\"dead\",plane=\"3\"}";
    assert!(text.contains(&format!("closc_collect_verdict_loss_ratio{labels} 1\n")), "{text}");
    assert!(
        text.contains("closc_collect_denial_in_force{element=\"p3-t0-002--p3-t1-004\",reason=\"fault\"} 8\n")
    );
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (_, value) = line.rsplit_once(' ').expect("a name and a value");
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}
