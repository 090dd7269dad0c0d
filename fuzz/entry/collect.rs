//! Feeds arbitrary bytes to a collector: as answers of agents, as HTTP requests, and as a state file.
//!
//! In: one byte for the kind, one for the number of the agent, and then the content. Out: none. Invariants:
//! the collector continues to judge and answer after any input. Without the token, POST requests are
//! rejected.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use closc_collect::io::{RequestHandler, read_state};
use closc_collect::{Collector, Denials, Options, Report};
use closc_fabric::Fabric;
use closc_http::Request;
use closc_plan::Plan;
use closc_platform::Catalogue;

static PLAN: LazyLock<Arc<Plan>> = LazyLock::new(|| {
    let text = include_bytes!("../../topologies/lab/eight-planes.yaml");
    let mut sources = closc_diagnostics::Sources::new();
    let document =
        closc_topology::load(&mut sources, "fabric.yaml", text).unwrap_or_else(|_| panic!("it is good"));
    let (topology, _) = closc_topology::lower(&document, &Catalogue::builtin(), &sources);
    Arc::new(Plan::new(Fabric::new(Arc::new(topology.expect("it is good")))))
});

/// A collector that keeps its state between inputs, and the current time.
static COLLECTOR: LazyLock<Mutex<(Collector, u64)>> =
    LazyLock::new(|| Mutex::new((begin(Denials::default()), 1_000)));

static DESK: LazyLock<RequestHandler> = LazyLock::new(|| RequestHandler::new(begin(Denials::default())));

fn begin(denials: Denials) -> Collector {
    let options = Options { apply: true, settle_ms: 0, ..Options::default() };
    Collector::new(Arc::clone(&PLAN), options, denials, 1_000).0
}

/// Performs the collector's work after an input.
fn go_on(collector: &mut Collector, now_ms: u64) {
    collector.judge(now_ms);
    if let Some(next) = collector.next(now_ms) {
        collector.commit(next.denials);
    }
    let _ = (collector.summary(now_ms), closc_collect::metrics(collector, now_ms));
}

fn report(agent: u8, bytes: &[u8]) {
    let (status, metrics) =
        bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len()));
    let metrics =
        serde_json::to_vec(&String::from_utf8_lossy(metrics).trim_start()).expect("text has a form in JSON");
    let Ok(report) = Report::read(status, &metrics) else { return };
    let mut held = COLLECTOR.lock().unwrap_or_else(PoisonError::into_inner);
    let (collector, now_ms) = &mut *held;
    *now_ms += 1_000;
    let source = collector.source(&format!("/run/{}", agent % 16));
    if let Ok(nic) = collector.take(source, report, *now_ms) {
        let orders = collector.orders(nic, *now_ms);
        for order in &orders {
            collector.handle_answer(nic, order, Ok(1));
        }
    }
    go_on(collector, *now_ms);
}

fn request(bytes: &[u8]) {
    let end = bytes.windows(4).position(|end| end == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
    let (head, body) = (String::from_utf8_lossy(&bytes[..end]), bytes[end..].to_vec());
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (is_post, target) = (words.next() == Some("POST"), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let header = |line: &str| line.split_once(": ").map(|(name, it)| (name.to_lowercase(), it.to_owned()));
    let headers = lines.filter_map(header).collect();
    let (path, query) = (path.to_owned(), query.to_owned());
    let request = Request { is_post, path, query, headers, body, ..Request::default() };
    let answer = DESK.answer(&request);
    assert!((200..600).contains(&answer.status));
    assert!(!request.is_post || answer.status != 200, "no request has the token");
}

fn state(bytes: &[u8]) {
    let Ok(denials) = read_state(bytes, "eight-planes") else { return };
    let mut collector = begin(denials);
    go_on(&mut collector, 2_000);
    go_on(&mut collector, 1 << 60);
}

/// Runs one input.
pub(crate) fn run(input: &[u8]) {
    let [kind, agent, rest @ ..] = input else { return };
    match kind % 3 {
        0 => report(*agent, rest),
        1 => request(rest),
        _ => state(rest),
    }
}
