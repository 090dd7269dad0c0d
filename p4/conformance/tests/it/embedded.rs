//! The embedded switch passes every corner, and deviations of a server are detected.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use closc_conformance::{ConformanceError, Report, Section, Subject, Verdict, judge, program};
use closc_runtime::DeviceId;
use closc_runtime::client::{Client, Endpoint as Address, Options};
use closc_runtime::text::read_p4info;
use closc_switch::{Endpoint, EngineConfig, Service, Switch, SwitchConfig};

const DEVICE: u64 = 7;

/// Maximum time for an answer. No test waits for it to expire.
const PATIENCE: Duration = Duration::from_mins(5);

/// Serves a switch whose ports have this number of queues.
async fn serve(priority_queues: usize) -> Endpoint {
    let engine = EngineConfig { priority_queues, ..EngineConfig::default() };
    let cpu_port = Some(510);
    let config = SwitchConfig { device_id: DEVICE, cpu_port, engine, ..SwitchConfig::default() };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let service = Service::new([Arc::new(Switch::new(config))]);
    Endpoint::serve(service, address, None).await.expect("a free port")
}

/// Returns the server to test and the program.
async fn subject(endpoint: &Endpoint, replace: bool) -> Subject {
    let address = Address::plain(&endpoint.address().to_string()).expect("an address");
    let client = Client::connect(&address, DeviceId(DEVICE), Options::default()).await.expect("it listens");
    let (info, device_config) = program();
    Subject {
        client,
        p4info: read_p4info(info).expect("the program has a P4Info"),
        device_config: device_config.into(),
        election: 1 << 40,
        replace,
        patience: PATIENCE,
    }
}

async fn run(endpoint: &Endpoint, wanted: impl Fn(Section) -> bool) -> Report {
    judge(subject(endpoint, true).await, |section, _| wanted(section), |_, _| {})
        .await
        .expect("it can be judged")
}

fn assert_passed(report: &Report, without: &[&str]) {
    let failures: Vec<_> = report.failures().collect();
    assert!(failures.is_empty(), "{failures:#?}");
    let corners = report.sections.iter().flat_map(|section| &section.corners);
    let not: Vec<&str> = corners
        .filter(|corner| matches!(corner.verdict, Verdict::NotApplicable(_)))
        .map(|corner| corner.id)
        .collect();
    assert_eq!(not, without, "corners that do not apply");
}

#[tokio::test]
async fn the_embedded_switch_passes_every_corner() {
    let endpoint = serve(8).await;
    let report = run(&endpoint, |_| true).await;
    assert_passed(&report, &["set-random"]);
    assert_eq!(report.sections.len(), Section::ALL.len());
    assert!(report.passed >= 180, "{} corners", report.passed);
    assert_eq!(report.api_version.as_deref(), Some("1.5.0"));
    let page = include_str!("../../../../docs/p4runtime.md");
    let missing: Vec<String> = rows(&report).filter(|row| !page.contains(row)).collect();
    assert!(missing.is_empty(), "rows that docs/p4runtime.md does not have: {missing:#?}");
    let table = page.split_once("| section | title | corners |").expect("the page has the table").1;
    let listed: Vec<&str> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    assert_eq!(listed.len(), report.sections.len(), "sections of docs/p4runtime.md");
    let of_bmv2 = |row: &&str| row.rsplit('|').nth(1)?.trim().parse::<usize>().ok();
    let passed: usize = listed.iter().filter_map(of_bmv2).sum();
    let corners: usize = report.sections.iter().map(|section| section.corners.len()).sum();
    assert!(page.contains(&format!("BMv2 passes {passed} of {corners} corners")), "{passed} of {corners}");
}

/// Returns the rows of the table of sections: number, title, number of corners, number of passed corners.
fn rows(report: &Report) -> impl Iterator<Item = String> + '_ {
    report.sections.iter().map(|section| {
        let passed = section.corners.iter().filter(|corner| corner.verdict == Verdict::Passed).count();
        format!("| {} | {} | {} | {passed} |", section.number, section.title, section.corners.len())
    })
}

#[tokio::test]
async fn a_switch_with_one_queue_has_no_classes_of_service() {
    let endpoint = serve(1).await;
    let report = run(&endpoint, |section| section.is_in("9.5")).await;
    assert_passed(&report, &["session-class", "session-class-wide"]);
    assert!(report.sections.iter().all(|section| section.number.starts_with("9.5")));
}

#[tokio::test]
async fn a_pipeline_that_runs_is_not_replaced_unless_asked() {
    let endpoint = serve(1).await;
    run(&endpoint, |section| section == Section::Capabilities).await;
    let again = judge(subject(&endpoint, false).await, |_, _| true, |_, _| {}).await;
    assert!(matches!(again, Err(ConformanceError::Running { .. })), "{again:?}");
    let report = run(&endpoint, |section| section == Section::Write).await;
    assert_passed(&report, &["write-before-a-pipeline"]);
}

/// The selector has smaller groups than the corners need. These corners fail, and the report contains the answer.
#[tokio::test]
async fn a_server_that_answers_otherwise_fails_by_name() {
    let endpoint = serve(1).await;
    let mut subject = subject(&endpoint, true).await;
    for profile in subject.p4info.action_profiles.iter_mut().filter(|profile| profile.with_selector) {
        profile.max_group_size = 2;
    }
    let report =
        judge(subject, |section, _| section.is_in("9.2"), |_, _| {}).await.expect("it can be judged");
    let failed: Vec<&str> = report.failures().map(|(corner, _)| corner.id).collect();
    for id in ["group-insert", "group-shared-member", "set-insert", "set-modify", "set-sum-of-weights"] {
        assert!(failed.contains(&id), "{id} is not among {failed:?}");
    }
    assert!(!failed.contains(&"member-insert") && !failed.contains(&"group-zero"), "{failed:?}");
    let (_, reason) = report.failures().find(|(corner, _)| corner.id == "set-insert").expect("it failed");
    assert!(reason.starts_with("step 1: InvalidArgument in place of [Ok]"), "{reason}");
    assert_eq!(report.failed, failed.len());
    assert!(report.show(false).contains("failed: set-insert (9.2.3)"), "{}", report.show(false));
}

#[tokio::test]
async fn a_server_that_does_not_take_the_program_is_not_judged() {
    let endpoint = serve(1).await;
    let mut subject = subject(&endpoint, true).await;
    subject.p4info.tables.iter_mut().for_each(|table| table.size += 1);
    let refused = judge(subject, |_, _| true, |_, _| {}).await.expect_err("the program is another one");
    assert!(refused.to_string().contains("size 1025 in the P4Info, size 1024 in the program"), "{refused}");
}
