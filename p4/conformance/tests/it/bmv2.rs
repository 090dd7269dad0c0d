//! BMv2, if `simple_switch_grpc` is installed: its verdicts are those of docs/p4runtime.md. Each corner is tested on a
//! new process, because some corners end BMv2 or leave it in a state that accepts no program.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use closc_conformance::{Report, Section, Subject, Verdict, corners, judge, program};
use closc_runtime::DeviceId;
use closc_runtime::client::{Client, Endpoint, Options};
use closc_runtime::text::read_p4info;
use closc_skip::Bmv2;

const DEVICE: u64 = 1;

/// Maximum time for an answer. BMv2 omits some messages.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(20);

const PAGE: &str = include_str!("../../../../docs/p4runtime.md");

/// Connects as soon as the switch listens.
async fn connect(bmv2: &mut Bmv2) -> Client {
    let address = Endpoint::plain(&bmv2.address()).expect("an address");
    loop {
        assert!(bmv2.lives(), "it ended before it listened");
        match Client::connect(&address, DeviceId(DEVICE), Options::default()).await {
            Ok(client) => return client,
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Tests one corner on a new process.
async fn judge_corner(path: &Path, id: &str) -> Report {
    let target = ["--cpu-port", "510", "--priority-queues", "8"];
    let mut bmv2 = Bmv2::start(path, DEVICE, &target).expect("the program runs");
    let client = connect(&mut bmv2).await;
    let (info, device_config) = program();
    let p4info = read_p4info(info).expect("the program has a P4Info");
    let device_config = device_config.into();
    let subject =
        Subject { client, p4info, device_config, election: 1 << 40, replace: false, patience: PATIENCE };
    judge(subject, |_, corner| corner == id, |_, _| {}).await.expect("it can be judged")
}

/// Returns the row of a section of the page, without the passed corners of BMv2.
fn row(section: &str) -> (&str, &str) {
    let start = format!("| {section} |");
    let row = PAGE.lines().find(|line| line.starts_with(&start)).expect("the page has every section");
    row.trim_end_matches(" |").rsplit_once("| ").expect("the row has columns")
}

#[tokio::test]
async fn bmv2_has_the_verdicts_of_the_page() {
    let Some(path) = closc_skip::program("simple_switch_grpc") else { return };
    let output = Command::new(&path).arg("--version").output().expect("the program runs");
    let version = String::from_utf8_lossy(&output.stdout);
    let release = version.trim().split('-').next().unwrap_or_default().to_owned();
    if !PAGE.contains(&format!("BMv2 {release} ")) {
        closc_skip::skip(format_args!("the page has no column for BMv2 {release}"));
        return;
    }
    let info = read_p4info(program().0).expect("the program has a P4Info");
    let (mut passed, mut failed) = (BTreeMap::new(), Vec::new());
    for id in corners(info).expect("it is consistent") {
        let report = judge_corner(&path, id).await;
        let section = report.sections.first().expect("the corner has a section");
        *passed.entry(section.number).or_insert(0) += section.passed;
        if let Some(Verdict::Failed(reason)) = section.corners.first().map(|corner| &corner.verdict) {
            failed.push(format!("{id}: {reason}"));
        }
    }
    let differ: Vec<_> = Section::ALL
        .iter()
        .map(|section| (section.number(), passed[section.number()]))
        .filter(|(section, passed)| row(section).1 != passed.to_string())
        .collect();
    assert!(differ.is_empty(), "passed, other than on the page: {differ:?}\n{failed:#?}");
}
