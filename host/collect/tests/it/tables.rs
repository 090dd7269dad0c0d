//! Path tables of agents: of this plan, of another plan of the same fabric, of another fabric.

use std::sync::Arc;

use closc_collect::{Collector, News, Options, Report, ReportFault};
use closc_nic::agent::TableView;
use closc_paths::Table;
use closc_plan::Plan;
use closc_topology::Nic;

use crate::support::{Fabric, eight_planes};

/// Returns the plan's path table for an agent's group, in the form of a status.
fn table(plan: &Plan, nic: Nic) -> TableView {
    let bytes = closc_render::path_table::binary(&plan.path_table(nic.zone, nic.group));
    TableView::of(&Table::open(&bytes).expect("it is a table"))
}

/// The same fabric with a drained T1.
fn drained_plan() -> Arc<Plan> {
    let text = include_str!("../../../../topologies/lab/eight-planes.yaml");
    Arc::new(closc_tests::shape::plan(&format!("{text}\nexceptions: {{ drained: [p3-t1-002] }}\n")))
}

fn take(collector: &mut Collector, fabric: &Fabric, at: usize, table: TableView) -> Result<Nic, ReportFault> {
    let nic = fabric.nics()[at];
    let source = collector.source(&format!("/run/{at}"));
    let report = Report { table: Some(table), ..fabric.report(nic) };
    collector.take(source, report, fabric.now_ms)
}

#[test]
fn agents_with_the_table_of_another_plan_are_named_until_they_have_it() {
    let fabric = Fabric::new(eight_planes(), 1);
    let mut collector = fabric.collector(Options::default());
    let (old, nics) = (drained_plan(), fabric.nics());
    for (at, nic) in nics.iter().enumerate() {
        let own = table(if at == 2 { &old } else { &fabric.plan }, *nic);
        take(&mut collector, &fabric, at, own).unwrap();
    }
    assert_eq!(collector.agents(fabric.now_ms).other_tables, 1);
    let views = collector.source_views();
    let named: Vec<(Option<&str>, Option<&str>)> =
        views.iter().map(|view| (view.nic.as_deref(), view.other_table.as_deref())).take(2).collect();
    let checksum = table(&old, nics[2]).checksum;
    assert_eq!(named[0], (Some("su002-n001/nic0"), Some(&*checksum)), "it comes first");
    assert_eq!(named[1].1, None);
    let text = closc_collect::metrics(&collector, fabric.now_ms);
    assert!(text.contains("closc_collect_agents_with_other_tables 1\n"), "{text}");
    // The table of another group is reported too.
    take(&mut collector, &fabric, 0, table(&fabric.plan, nics[2])).unwrap();
    assert_eq!(collector.agents(fabric.now_ms).other_tables, 2);
    for at in [0, 2] {
        take(&mut collector, &fabric, at, table(&fabric.plan, nics[at])).unwrap();
    }
    assert_eq!(collector.agents(fabric.now_ms).other_tables, 0);
}

/// Two fabrics may have the same addresses, for example two trees of one file with different names.
#[test]
fn the_table_of_another_fabric_is_refused_by_its_name() {
    let fabric = Fabric::new(eight_planes(), 1);
    let mut collector = fabric.collector(Options::default());
    let text = include_str!("../../../../topologies/lab/eight-planes.yaml");
    let twin = closc_tests::shape::plan(&text.replace("fabric: eight-planes", "fabric: twin"));
    let nic = fabric.nics()[0];
    let other = table(&twin, nic);
    assert_ne!(other.checksum, table(&fabric.plan, nic).checksum);
    let refused = take(&mut collector, &fabric, 0, other);
    assert_eq!(refused, Err(ReportFault::Fabric("twin".into())));
    assert_eq!((collector.agents(0).speaking, collector.agents(0).failing), (0, 1));
    // An agent that reports no table is an older one.
    let source = collector.source("/run/0");
    collector.take(source, fabric.report(nic), fabric.now_ms).unwrap();
    assert_eq!(collector.agents(fabric.now_ms).other_tables, 0);
}

/// A stopped agent is named, not only counted as a failing source.
#[test]
fn an_agent_that_stopped_is_named_as_dead() {
    let mut fabric = Fabric::new(eight_planes(), 1);
    let options = Options { fresh_ms: 5_000, ..Options::default() };
    let mut collector = fabric.collector(options);
    fabric.rounds(&mut collector, 2);
    let nic = fabric.nics()[0];
    // A source that never reported for a NIC of this fabric is not a dead agent.
    let stranger = collector.source("/run/stranger");
    collector.record_failure(stranger, "it does not answer: connection refused");
    let stopped = collector.source("/run/0");
    let mut news = Vec::new();
    for _ in 0..4 {
        fabric.pass();
        for (at, other) in fabric.nics().into_iter().enumerate().skip(1) {
            let source = collector.source(&format!("/run/{at}"));
            collector.take(source, fabric.report(other), fabric.now_ms).unwrap();
        }
        collector.record_failure(stopped, "it does not answer within 5 s");
        news.extend(collector.judge(fabric.now_ms));
    }
    let dead: Vec<&News> = news.iter().filter(|news| matches!(news, News::AgentDead(..))).collect();
    let [News::AgentDead(named, line)] = dead[..] else { panic!("{news:?}") };
    assert_eq!(*named, nic);
    let wanted = "agent of NIC su001-n001/nic0 is dead: no answer since 12:00 at /run/0: it does not answer within 5 s";
    assert_eq!(line, wanted);
    let summary = collector.summary(fabric.now_ms);
    assert_eq!((summary.agents.dead, summary.alarms), (1, vec![line.clone()]));
    let text = closc_collect::metrics(&collector, fabric.now_ms);
    assert!(text.contains("closc_collect_agents_dead 1\n"), "{text}");
    // Another source reports for its NIC, so the agent has moved.
    let other = collector.source("/run/moved");
    collector.take(other, fabric.report(nic), fabric.now_ms).unwrap();
    assert_eq!(collector.judge(fabric.now_ms), [News::AgentBack(nic)]);
    assert_eq!(collector.agents(fabric.now_ms).dead, 0);
}
