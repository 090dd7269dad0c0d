//! Writes to targets that follow the specification, and to targets with faults.

use std::ops::Range;
use std::time::Duration;

use closc_runtime::client::{ClientError, Options, Primacy, Rpc, WriteOptions};
use closc_runtime::entry::{self, GroupMember, wildcard};
use closc_runtime::order::{Order, OrderedUpdates, Phase, Wave};
use closc_runtime::proto::v1;
use closc_runtime::testing::{FakeTarget, Script, WriteFault};
use tonic::Code;

use crate::common::{self, PATIENCE, info, inserts, options, primary, sid};

fn batches_of(max_updates: usize, in_flight: usize) -> Options {
    let write = WriteOptions { max_updates, in_flight, ..Default::default() };
    Options { write, ..options() }
}

/// A list with one range.
fn one(range: Range<usize>) -> Vec<Range<usize>> {
    std::iter::once(range).collect()
}

/// One wave of independent updates.
fn wave(updates: Vec<v1::Update>) -> OrderedUpdates {
    let waves = vec![Wave { phase: Phase::Insert, range: 0..updates.len() }];
    OrderedUpdates { updates, waves }
}

async fn target(script: Script) -> FakeTarget {
    FakeTarget::with_script(script).await.expect("loopback has a port")
}

#[tokio::test]
async fn updates_arrive_in_batches_and_are_read_back() {
    let target = target(Script::default()).await;
    let session = primary(&target, batches_of(100, 4)).await;
    let info = info();
    session.write_ordered(&wave(inserts(&info, 1050))).await.expect("all are right");
    assert_eq!((target.n_writes(), target.n_updates()), (11, 1050));
    let read = session.client().read(vec![wildcard(info.table("my_sid").expect("known").preamble.id)]).await;
    assert_eq!(read.expect("the table is there").len(), 1050);
}

#[tokio::test]
async fn a_hundred_thousand_entries_come_back_in_one_response() {
    let target = target(Script::default()).await;
    let limits = Options { memory_limit: 512 << 20, ..options() };
    let session = primary(&target, limits).await;
    let info = info();
    target.plant((0..100_000).map(|n| sid(&info, n).into()));
    let state = session.client().read_state(&info).await.expect("the limits are high enough");
    assert_eq!(state.entities.len(), 100_000);
    assert_eq!(state.unsupported_entities, []);
}

#[tokio::test]
async fn kinds_that_a_target_does_not_read_are_listed() {
    let target = target(Script { reads_tables_only: true, ..Default::default() }).await;
    let session = primary(&target, options()).await;
    let info = info();
    session.write(&inserts(&info, 3)).await.expect("all are right");
    let state = session.client().read_state(&info).await.expect("tables are read");
    assert_eq!((state.entities.len(), state.unsupported_entities.len()), (3, 8));
}

#[tokio::test]
async fn refused_updates_are_named_and_the_others_counted() {
    let script =
        Script::default().refuse(3, Code::ResourceExhausted, "full").refuse(7, Code::Internal, "broken");
    let target = target(script).await;
    let session = primary(&target, batches_of(10, 1)).await;
    let info = info();
    let error = session.write(&inserts(&info, 25)).await.expect_err("two are refused");
    let failed: Vec<(usize, Code)> =
        error.failed.iter().map(|failed| (failed.index, failed.outcome.code)).collect();
    assert_eq!(failed, [(3, Code::ResourceExhausted), (7, Code::Internal)]);
    assert_eq!(
        (error.n_applied, error.n_unsent, error.in_doubt.len()),
        (8, 15, 0),
        "the next batch is not sent"
    );
    assert_eq!(target.entities().len(), 8);
    let described = error.describe(&info, 1);
    let expected = format!(
        "{}: 8 updates applied, 2 refused, the first (number 3) with RESOURCE_EXHAUSTED: full, 15 not sent\n  \
         + ingress.my_sid  dst=fcbb:0:0:3::/64 -> uN(): RESOURCE_EXHAUSTED: full\n  and 1 more",
        target.address()
    );
    assert_eq!(described, expected);
}

#[tokio::test]
async fn a_write_may_go_on_after_a_refusal() {
    let target = target(Script::default().refuse(3, Code::Internal, "broken")).await;
    let mut options = batches_of(10, 4);
    options.write.continue_after_refusal = true;
    let session = primary(&target, options).await;
    let error = session.write_ordered(&wave(inserts(&info(), 45))).await.expect_err("one is refused");
    assert_eq!((error.n_applied, error.failed.len(), error.n_unsent), (44, 1, 0));
}

#[tokio::test]
async fn what_a_target_did_not_try_is_sent_again() {
    let info = info();
    let updates = inserts(&info, 25);
    let wrong = [0, 7, 8, 19].map(|at: usize| updates[at].entity.clone().expect("an insert has one"));
    let script = Script { refuse_entities: wrong.to_vec(), aborts_rest: true, ..Default::default() };
    for batch in [25, 1000] {
        let target = target(script.clone()).await;
        let session = primary(&target, batches_of(batch, 1)).await;
        let error = session.write(&updates).await.expect_err("four are refused");
        let failed: Vec<(usize, Code)> =
            error.failed.iter().map(|failed| (failed.index, failed.outcome.code)).collect();
        assert_eq!(failed, [0, 7, 8, 19].map(|at| (at, Code::InvalidArgument)));
        assert_eq!((error.n_applied, error.n_aborted, error.n_unsent), (21, 0, 0));
        assert_eq!((target.entities().len(), target.n_writes(), error.cause), (21, 5, None));
    }
}

#[tokio::test]
async fn what_is_never_tried_is_counted_and_no_refusal() {
    let info = info();
    let updates = inserts(&info, 100);
    // If a hundred updates are invalid, only the first few are reported individually.
    let wrong = updates.iter().filter_map(|update| update.entity.clone()).collect();
    let all = target(Script { refuse_entities: wrong, aborts_rest: true, ..Default::default() }).await;
    let session = primary(&all, batches_of(1000, 1)).await;
    let error = session.write(&updates).await.expect_err("all are refused");
    assert_eq!((error.n_applied, error.failed.len(), error.n_aborted, error.n_unsent), (0, 18, 82, 0));
    assert!(
        error.describe(&info, 1).contains("18 refused")
            && error.to_string().contains("82 not tried by the target")
    );
    // If no single update can be blamed, the error is about the call, which can be retried.
    let script = (0..4).fold(Script::default(), |script, at| script.refuse(at, Code::Aborted, "busy"));
    let busy = target(script).await;
    let session = primary(&busy, batches_of(1000, 1)).await;
    let error = session.write(&updates[..2]).await.expect_err("it is busy");
    assert_eq!((error.n_applied, error.failed.len(), error.n_aborted, busy.n_writes()), (0, 0, 2, 2));
    assert!(error.cause.is_some_and(|cause| cause.is_transient() && cause.to_string().contains("busy")));
}

#[tokio::test]
async fn the_target_checks_what_the_builder_checks() {
    let target = target(Script::default()).await;
    let session = primary(&target, options()).await;
    let info = info();
    let unknown = v1::TableEntry { table_id: 0x0212_3456, ..sid(&info, 1) };
    let absent = sid(&info, 7);
    let updates = [
        v1::Update::insert(sid(&info, 0)),
        v1::Update::insert(unknown),
        v1::Update::delete(absent.clone()),
        v1::Update::modify(absent),
        v1::Update::insert(sid(&info, 0)),
    ];
    let error = session.write(&updates).await.expect_err("four are wrong");
    let codes: Vec<Code> = error.failed.iter().map(|failed| failed.outcome.code).collect();
    assert_eq!(codes, [Code::InvalidArgument, Code::NotFound, Code::NotFound, Code::AlreadyExists]);
}

#[tokio::test]
async fn ordered_updates_satisfy_a_target_that_checks_references() {
    let target = target(Script { check_references: true, ..Default::default() }).await;
    let session = primary(&target, batches_of(2, 4)).await;
    let info = info();
    let order = Order::new(&info);
    let hop = [("id", 9u16.into())];
    let of = |id| GroupMember { id, weight: 1, watch_port: None };
    let mut entities: Vec<v1::Entity> =
        vec![entry::group(&info, "wcmp", 5, &[of(1), of(2)], 0).expect("right").into()];
    for vrf in 0..20u16 {
        let route = info.entry("route").expect("known").exact("vrf", vrf).group(5).build().expect("right");
        entities.push(route.into());
    }
    for id in [1, 2] {
        entities.push(entry::member(&info, "wcmp", id, "set_next_hop", &hop).expect("right").into());
    }
    let insert = entities.iter().cloned().map(v1::Update::insert).collect();
    session.write_ordered(&order.arrange(insert)).await.expect("references come first");
    assert_eq!(target.entities().len(), 23);
    let delete = entities.iter().cloned().map(v1::Update::delete).collect();
    session.write_ordered(&order.arrange(delete)).await.expect("references leave last");
    assert_eq!(target.entities(), []);
    // In another order the same updates fail.
    let insert: Vec<v1::Update> = entities.into_iter().map(v1::Update::insert).collect();
    assert!(session.write(&insert).await.is_err());
}

#[tokio::test]
async fn a_connection_that_breaks_in_the_middle_leaves_its_batch_in_doubt() {
    let target = target(Script::default().write_fault(2, WriteFault::Disconnect { after_updates: 4 })).await;
    let session = primary(&target, batches_of(10, 1)).await;
    let info = info();
    let error = session.write(&inserts(&info, 50)).await.expect_err("the third batch breaks");
    assert_eq!((error.n_applied, error.n_unsent), (20, 20));
    assert_eq!(error.in_doubt, one(20..30));
    let cause = error.cause.expect("something broke");
    assert!(matches!(*cause, ClientError::Connect { .. }) && cause.is_transient(), "{cause}");
    // The session reconnects, and the updates in doubt can be read.
    session.wait_primary(PATIENCE).await.expect("the target is there");
    let state = session.client().read_state(&info).await.expect("the target is there");
    assert_eq!(state.entities.len(), 24);
}

#[tokio::test]
async fn another_primary_ends_the_write_and_the_session_knows() {
    let target = target(Script::default().write_fault(1, WriteFault::LosePrimary)).await;
    let session = primary(&target, batches_of(10, 1)).await;
    let error = session.write(&inserts(&info(), 50)).await.expect_err("the second batch is refused");
    assert_eq!((error.n_applied, error.n_unsent, error.in_doubt.len()), (10, 40, 0));
    assert!(matches!(error.cause.as_deref(), Some(ClientError::NotPrimary { .. })), "{error}");
    assert!(matches!(session.primacy(), Primacy::Backup { .. }));
    // A backup sends no Write.
    let n_writes = target.n_writes();
    assert!(session.write(&inserts(&info(), 1)).await.is_err());
    assert_eq!(target.n_writes(), n_writes);
}

#[tokio::test]
async fn an_answer_that_never_comes_is_a_deadline() {
    let target = target(Script::default().write_fault(1, WriteFault::NoAnswer)).await;
    let mut options = batches_of(10, 1);
    options.deadlines.write = Duration::from_millis(300);
    let session = primary(&target, options).await;
    let error = session.write(&inserts(&info(), 30)).await.expect_err("the second batch is not answered");
    let message = error.to_string();
    assert_eq!((error.n_applied, error.in_doubt, error.n_unsent), (10, one(10..20), 10));
    assert!(
        matches!(error.cause.as_deref(), Some(ClientError::Deadline { rpc: Rpc::Write, .. })),
        "{message}"
    );
}

#[tokio::test]
async fn a_slow_target_is_waited_for() {
    let target = target(Script::default().delay(Rpc::Write, Duration::from_millis(100))).await;
    let session = primary(&target, batches_of(10, 2)).await;
    session.write_ordered(&wave(inserts(&info(), 40))).await.expect("slow, but right");
    assert_eq!(target.entities().len(), 40);
}

#[tokio::test]
async fn failures_without_usable_details_leave_the_batch_in_doubt() {
    for fault in [WriteFault::FailWithoutDetails, WriteFault::WrongDetails] {
        let target = target(Script::default().write_fault(0, fault)).await;
        let session = primary(&target, batches_of(10, 1)).await;
        let error = session.write(&inserts(&info(), 10)).await.expect_err("the write fails");
        assert_eq!((error.n_applied, error.in_doubt), (0, one(0..10)), "{fault:?}");
        assert!(error.cause.is_some());
    }
}

#[tokio::test]
async fn without_a_pipeline_nothing_is_written() {
    let target = target(Script::default()).await;
    let session = common::open(&target, options(), 10).await;
    let error = session.write(&inserts(&info(), 5)).await.expect_err("no pipeline");
    assert_eq!((error.n_applied, error.n_unsent), (0, 5));
    assert_eq!(error.cause.and_then(|cause| cause.code()), Some(Code::FailedPrecondition));
}

#[tokio::test]
async fn a_refused_batch_of_thousands_still_names_every_update() {
    let target = target(Script::default()).await;
    let session = primary(&target, batches_of(5000, 1)).await;
    let updates = inserts(&info(), 5000);
    session.write(&updates).await.expect("new");
    let error = session.write(&updates).await.expect_err("all are there");
    assert_eq!(error.failed.len(), 5000);
    assert!(error.failed.iter().all(|failed| failed.outcome.code == Code::AlreadyExists));
}

#[tokio::test]
async fn a_target_that_forgot_everything_is_filled_again() {
    let target = target(Script::default()).await;
    let session = primary(&target, options()).await;
    let info = info();
    session.write(&inserts(&info, 20)).await.expect("new");
    target.restart();
    session.wait_primary(PATIENCE).await.expect("the target is back");
    common::eventually("the old stream is noticed", || session.primacy() != Primacy::Opening).await;
    // The first call may be the first to notice that the stream is broken.
    let mut change = session.ensure_pipeline(&common::pipeline(), closc_runtime::client::Commit::Clear).await;
    if change.is_err() {
        session.wait_primary(PATIENCE).await.expect("the target is back");
        change = session.ensure_pipeline(&common::pipeline(), closc_runtime::client::Commit::Clear).await;
    }
    assert_eq!(change, Ok(closc_runtime::client::PipelineChange::Cleared));
    session.write(&inserts(&info, 20)).await.expect("new again");
    assert_eq!(target.entities().len(), 20);
}
