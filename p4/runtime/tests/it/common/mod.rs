//! Helpers of the client tests: a pipeline, entries, a session with a fake target.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::net::Ipv6Addr;
use std::sync::Arc;
use std::time::Duration;

use closc_runtime::client::{Backoff, Client, Commit, Controller, Jitter, Options, Pipeline, Session};
use closc_runtime::proto::v1;
use closc_runtime::testing::FakeTarget;
use closc_runtime::{DeviceId, ElectionId, Info, sample};

/// A time limit that is long enough for a loaded machine. Only a failing test waits this long.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);

pub(crate) fn info() -> Arc<Info> {
    Arc::new(sample::info())
}

pub(crate) fn pipeline() -> Pipeline {
    Pipeline::new(info(), "the program".into())
}

/// Options with short waits between attempts.
pub(crate) fn options() -> Options {
    let (initial, max) = (Duration::from_millis(5), Duration::from_millis(50));
    Options { reconnect: Some(Backoff { initial, max, jitter: Jitter::None }), ..Default::default() }
}

pub(crate) async fn client(target: &FakeTarget, options: Options) -> Client {
    let endpoint = target.endpoint().expect("an address");
    Client::connect(&endpoint, DeviceId(0), options).await.expect("it listens")
}

/// A session that is primary, with the pipeline set.
pub(crate) async fn primary(target: &FakeTarget, options: Options) -> Session {
    let session = open(target, options, 10).await;
    session.require_primary().expect("the only controller");
    session.commit_pipeline(&pipeline(), Commit::Clear).await.expect("the pipeline is right");
    session
}

pub(crate) async fn open(target: &FakeTarget, options: Options, election: u128) -> Session {
    let client = client(target, options).await;
    Session::open(client, Controller::new(ElectionId(election))).await.expect("the stream opens")
}

/// The n-th entry of `ingress.my_sid`.
pub(crate) fn sid(info: &Info, n: u32) -> v1::TableEntry {
    let prefix = Ipv6Addr::from_bits(0xfcbb << 112 | u128::from(n) << 64);
    let entry = info.entry("my_sid").expect("known").lpm("dst", prefix, 64);
    entry.action("uN", &[]).build().expect("right")
}

pub(crate) fn inserts(info: &Info, n: u32) -> Vec<v1::Update> {
    (0..n).map(|index| v1::Update::insert(sid(info, index))).collect()
}

/// Waits until another task has made a condition true.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("never: {what}"));
}
