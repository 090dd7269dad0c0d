//! Faults of a switch during a push. None causes a panic, and the message names switch, table and entry. The next push
//! brings the switch to its target state.

use std::time::Duration;

use closc_deploy::{Outcome, PushOptions, open_gate, push, silent};
use closc_entries::Pipeline;
use closc_runtime::client::{Deadlines, Options, Rpc, WriteOptions};
use closc_runtime::proto::v1;
use closc_runtime::testing::{GarbageServer, Script, WriteFault};
use tonic::Code;

use crate::support::{Lab, T0, eventually, fault, live_entities, options, single_attempt, stray};

/// A few updates per request, so that a push takes many requests.
fn small(options: &PushOptions) -> PushOptions {
    let write = WriteOptions { max_updates: 4, in_flight: 1, ..WriteOptions::default() };
    PushOptions { client: Options { write, ..options.client }, ..*options }
}

#[tokio::test]
async fn killed_between_batches() {
    for n_writes in [1, 3, 5] {
        let lab = Lab::one().await;
        let fleet = lab.fleet();
        let killed =
            tokio::spawn(async move { push(&fleet, &small(&single_attempt()), silent(), open_gate()).await });
        // The write with this number is never answered; the process dies there.
        lab.script(Script::default().write_fault(n_writes, WriteFault::NoAnswer));
        eventually("some batches are written", || lab.target().n_writes() > n_writes).await;
        killed.abort();
        assert!(killed.await.expect_err("killed").is_cancelled());
        let n_held = live_entities(lab.target()).len();
        assert!(0 < n_held && n_held < lab.target_entities(T0).len(), "{n_held}");
        lab.converge().await;
    }
}

#[tokio::test]
async fn refuses_the_kth_update() {
    let lab = Lab::one().await;
    for k in [0, 5, 17] {
        lab.target().restart();
        lab.script(Script::default().refuse(k, Code::ResourceExhausted, "no more room"));
        let report = lab.push_with(&single_attempt()).await;
        let message = fault(&report, T0);
        assert!(message.starts_with("`p0-t0-001`: "), "{message}");
        assert!(message.contains("1 refused"), "{message}");
        // Table, key and action of the rejected update, and the reason.
        assert!(message.contains("refused `+ "), "{message}");
        assert!(message.contains(" -> "), "{message}");
        assert!(message.contains("RESOURCE_EXHAUSTED: no more room"), "{message}");
        let refused = &report.failures().next().expect("one failed").1.rejections()[0];
        let table = refused.update.split_whitespace().nth(1).expect("a table");
        assert!(Pipeline::fabric().info().table(table).is_ok(), "{table}");
        lab.script(Script::default());
        lab.converge().await;
    }
}

#[tokio::test]
async fn what_is_refused_once_is_tried_again() {
    let lab = Lab::one().await;
    lab.script(Script::default().refuse(3, Code::Internal, "not now"));
    let report = lab.push().await;
    let Outcome::Good(good) = &report.devices[T0] else { panic!("{report:#?}") };
    assert_eq!(good.attempts, 2);
    lab.converge().await;
}

#[tokio::test]
async fn restarts_empty() {
    let lab = Lab::one().await;
    lab.converge().await;
    lab.target().restart();
    assert!(live_entities(lab.target()).is_empty());
    lab.converge().await;
}

#[tokio::test]
async fn restarts_empty_in_the_middle() {
    let lab = Lab::one().await;
    lab.script(Script::default().write_fault(2, WriteFault::NoAnswer));
    let fleet = lab.fleet();
    let pushed = tokio::spawn(async move { push(&fleet, &small(&options()), silent(), open_gate()).await });
    eventually("some batches are written", || lab.target().n_writes() > 2).await;
    lab.target().set_script(Script::default());
    lab.target().restart();
    let report = pushed.await.expect("no panic");
    let Outcome::Good(good) = &report.devices[T0] else { panic!("{report:#?}") };
    assert_eq!(good.attempts, 2);
    lab.converge().await;
}

#[tokio::test]
async fn restarts_with_another_pipeline() {
    let lab = Lab::one().await;
    lab.converge().await;
    let other = closc_runtime::client::Pipeline::new(Pipeline::fabric().info().clone(), "another".into());
    lab.target().restart_with(&other);
    lab.target().plant([stray(1)]);
    let drift = closc_deploy::drift(&lab.fleet(), &options(), silent()).await;
    assert!(matches!(drift.devices[T0], closc_deploy::DeviceDrift::Pipeline { live: None, .. }), "{drift:?}");
    lab.converge().await;
}

#[tokio::test]
async fn answers_slowly() {
    let lab = Lab::one().await;
    let deadlines = |read, write| Deadlines {
        read: Duration::from_millis(read),
        write: Duration::from_millis(write),
        ..Deadlines::default()
    };
    let with = |deadlines| PushOptions {
        client: Options { deadlines, ..single_attempt().client },
        ..single_attempt()
    };
    lab.script(Script::default().delay(Rpc::Read, Duration::from_hours(1)));
    let message = fault(&lab.push_with(&with(deadlines(50, 50))).await, T0);
    // A read begins with the action profile.
    let expected = "`p0-t0-001`: while reading `ingress.wcmp_selector members`: ";
    assert!(message.starts_with(expected), "{message}");
    assert!(message.ends_with("no answer to Read within 0.05 s"), "{message}");

    lab.script(Script::default().delay(Rpc::Write, Duration::from_hours(1)));
    let message = fault(&lab.push_with(&with(deadlines(30_000, 50))).await, T0);
    assert!(message.contains("the first without an answer is `+ "), "{message}");
    assert!(message.ends_with("no answer to Write within 0.05 s"), "{message}");

    // The push of an extremely slow switch takes no longer than the timeout.
    lab.script(Script::default().delay(Rpc::Write, Duration::from_hours(1)));
    let mut said = Vec::new();
    for timeout in [500, 4_000, 32_000].map(Duration::from_millis) {
        let message = fault(&lab.push_with(&PushOptions { timeout, ..options() }).await, T0);
        let late = format!("`p0-t0-001`: not finished within {} s, while ", timeout.as_secs_f64());
        assert!(message.starts_with(&late), "{message}");
        said.push(message);
        // Within half a second a loaded machine may not even reach the write.
        if said.last().is_some_and(|message| message.ends_with(" while writing")) {
            break;
        }
    }
    assert!(said.last().is_some_and(|message| message.ends_with(" while writing")), "{said:?}");

    // A slow answer is not an error.
    lab.script(Script::default().delay(Rpc::Write, Duration::from_millis(20)));
    lab.converge().await;
}

#[tokio::test]
async fn drops_the_connection_in_the_middle_of_a_write() {
    let lab = Lab::one().await;
    for after_updates in [0, 1, 7] {
        lab.target().restart();
        lab.script(Script::default().write_fault(1, WriteFault::Disconnect { after_updates }));
        let message = fault(&lab.push_with(&small(&single_attempt())).await, T0);
        assert!(message.starts_with("`p0-t0-001`: "), "{message}");
        assert!(message.contains("the first without an answer is `+ "), "{message}");
        lab.script(Script::default());
        lab.converge().await;
    }
    // If attempts are left, one push recovers from the restart.
    lab.target().restart();
    lab.script(Script::default().write_fault(1, WriteFault::Disconnect { after_updates: 2 }));
    let report = lab.push_with(&small(&options())).await;
    assert!(report.is_good(), "{report:#?}");
    lab.converge().await;
}

#[tokio::test]
async fn another_controller_becomes_primary() {
    let lab = Lab::one().await;
    lab.script(Script::default().write_fault(1, WriteFault::LosePrimary));
    let report = lab.push_with(&small(&options())).await;
    let message = fault(&report, T0);
    assert!(message.starts_with("`p0-t0-001`: "), "{message}");
    assert!(message.contains("not primary: another controller is primary"), "{message}");
    assert!(message.contains("the first without an answer is `+ "), "{message}");
    assert_eq!(report.failures().next().expect("one failed").1.kind(), "not-primary");

    // While the other controller is there, nothing is written.
    lab.script(Script::default());
    let n_writes = lab.target().n_writes();
    let message = fault(&lab.push().await, T0);
    assert!(message.starts_with("`p0-t0-001`: while arbitrating: "), "{message}");
    assert_eq!(lab.target().n_writes(), n_writes);

    lab.target().free_primary();
    // It had the greatest possible id, which the switch remembers until it restarts.
    lab.target().restart();
    lab.converge().await;
}

#[tokio::test]
async fn the_primacy_is_taken_only_on_request() {
    use closc_runtime::client::{Client, Controller, Session};
    use closc_runtime::{DeviceId, ElectionId};
    let lab = Lab::one().await;
    let endpoint = lab.target().endpoint().expect("an address");
    let client = Client::connect(&endpoint, DeviceId(1), Options::default()).await.expect("it listens");
    let rival = Session::open(client, Controller::new(ElectionId(77))).await.expect("a stream");
    let message = fault(&lab.push().await, T0);
    assert!(message.ends_with("another controller is primary, with election id 77"), "{message}");
    let report = lab.push_with(&PushOptions { take_over: true, ..options() }).await;
    assert!(report.is_good(), "{report:#?}");
    eventually("the rival knows of it", || rival.require_primary().is_err()).await;
}

#[tokio::test]
async fn returns_a_hundred_thousand_entries_in_one_response() {
    let lab = Lab::one().await;
    lab.converge().await;
    lab.target().plant((0..100_000).map(stray));
    // These entries exceed the memory limit of a switch.
    let message = fault(&lab.push_with(&single_attempt()).await, T0);
    assert!(message.contains("of memory"), "{message}");
    let client = Options { memory_limit: 512 << 20, ..options().client };
    let large = PushOptions { client, ..options() };
    let drift = closc_deploy::drift(&lab.fleet(), &large, silent()).await;
    let closc_deploy::DeviceDrift::Entries { objects, differences } = &drift.devices[T0] else {
        panic!("{:?}", drift.devices[T0])
    };
    assert_eq!((objects["ingress.ipv6_route"], differences.len()), (100_000, 100_000));
    // With the default limit of most clients the table cannot be read, and the message names it.
    let client = Options { decode_limit: 4 << 20, ..single_attempt().client };
    let message = fault(&lab.push_with(&PushOptions { client, ..single_attempt() }).await, T0);
    assert!(message.starts_with("`p0-t0-001`: while reading `ingress.ipv6_route`: "), "{message}");
    assert!(lab.push_with(&large).await.is_good());
    lab.converge().await;
}

#[tokio::test]
async fn speaks_garbage() {
    let lab = Lab::one().await;
    for bytes in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"\xff\xfe\xfd\x00\x01\x02", &[0; 4096]] {
        let garbage = GarbageServer::start(bytes.to_vec()).await.expect("loopback has a port");
        let mut inventory = lab.inventory.clone();
        inventory.devices.get_mut(T0).expect("there").endpoint = garbage.address();
        let lab = Lab { files: lab.files.clone(), targets: std::collections::BTreeMap::new(), inventory };
        let (connect, arbitration) = (Duration::from_millis(300), Duration::from_millis(300));
        let deadlines = Deadlines { connect, arbitration, ..Deadlines::default() };
        let client = Options { deadlines, ..single_attempt().client };
        let message = fault(&lab.push_with(&PushOptions { client, ..single_attempt() }).await, T0);
        assert!(message.starts_with("`p0-t0-001`: while "), "{message}");
    }
    lab.converge().await;
}

#[tokio::test]
async fn is_not_there() {
    let mut lab = Lab::one().await;
    lab.targets.get_mut(T0).expect("there").down().await;
    let message = fault(&lab.push_with(&single_attempt()).await, T0);
    assert!(message.ends_with("connection refused: nothing listens there"), "{message}");
    lab.targets.get_mut(T0).expect("there").up().await.expect("the port was kept");
    lab.converge().await;
}

#[tokio::test]
async fn answers_that_cannot_be() {
    // The status of a write has outcomes for a wrong number of updates, or for none.
    let faults = [(WriteFault::WrongDetails, "outcomes for"), (WriteFault::FailWithoutDetails, "went wrong")];
    for (write_fault, expected) in faults {
        let lab = Lab::one().await;
        lab.script(Script::default().write_fault(0, write_fault));
        let message = fault(&lab.push_with(&single_attempt()).await, T0);
        assert!(message.contains("the first without an answer is `+ "), "{message}");
        assert!(message.contains(expected), "{message}");
        lab.converge().await;
    }
}

/// Entries that are unknown to the P4Info, and entries without contents.
#[tokio::test]
async fn holds_what_cannot_be() {
    let lab = Lab::one().await;
    lab.converge().await;
    let table = Pipeline::fabric().info().table("ingress.ipv6_route").expect("a table").preamble.id;
    let strange = v1::TableEntry {
        table_id: table,
        r#match: vec![v1::FieldMatch { field_id: 99, field_match_type: None }],
        action: Some(v1::TableAction { r#type: None }),
        ..Default::default()
    };
    lab.target().plant([strange.into()]);
    // The entry is found and deleted; the switch decides whether it is removed.
    let drift = closc_deploy::drift(&lab.fleet(), &options(), silent()).await;
    assert!(drift.show().contains("unexpected  ingress.ipv6_route"), "{}", drift.show());
    lab.converge().await;
}

/// A push succeeds on a switch that implements reads of tables only.
#[tokio::test]
async fn a_push_succeeds_with_reads_of_tables_only() {
    let lab = Lab::one().await;
    let cannot_read = Script { reads_tables_only: true, ..Script::default() };
    lab.script(cannot_read);
    // These entries need no groups, so reads of tables are enough.
    lab.converge().await;
}
