//! Sessions: arbitration between controllers, disconnection and reconnection, packets and notifications.

use std::time::Duration;

use bytes::Bytes;
use closc_runtime::client::{
    Client, ClientError, ConnectFault, Controller, Endpoint, Event, Options, Primacy, Rpc, Session,
};
use closc_runtime::packet::{packet_in, packet_out, read_packet_in, read_packet_out};
use closc_runtime::proto::v1;
use closc_runtime::testing::{FakeTarget, GarbageServer, Script};
use closc_runtime::{DeviceId, ElectionId};
use tonic::Code;
use v1::stream_message_request::Update as FromController;
use v1::stream_message_response::Update as ToController;

use crate::common::{PATIENCE, client, eventually, info, open, options, primary};

async fn target() -> FakeTarget {
    FakeTarget::start().await.expect("loopback has a port")
}

fn is_primary(session: &Session) -> bool {
    matches!(session.primacy(), Primacy::Primary { .. })
}

#[tokio::test]
async fn a_second_controller_stands_by_and_takes_over() {
    let target = target().await;
    let first = open(&target, options(), 10).await;
    let second = open(&target, options(), 5).await;
    assert!(is_primary(&first));
    assert_eq!(second.primacy(), Primacy::Backup { primary: Some(ElectionId(10)) });

    let mut watch = second.watch_primacy();
    first.close().await;
    let vacant = watch
        .wait_for(|state| matches!(state, Primacy::Vacant { .. }))
        .await
        .expect("it is notified")
        .clone();
    assert_eq!(vacant, Primacy::Vacant { highest: Some(ElectionId(10)) });
    assert_eq!(second.take_over(PATIENCE).await, Ok(ElectionId(11)));
}

#[tokio::test]
async fn a_higher_controller_demotes_and_stepping_down_leaves_nobody() {
    let target = target().await;
    let first = open(&target, options(), 10).await;
    let second = open(&target, options(), 20).await;
    eventually("the first is notified", || !is_primary(&first)).await;
    assert_eq!(first.primacy(), Primacy::Backup { primary: Some(ElectionId(20)) });
    second.set_election(None).await.expect("the stream is open");
    eventually("the first is notified again", || matches!(first.primacy(), Primacy::Vacant { .. })).await;
    let error = first.wait_primary(Duration::from_millis(20)).await.expect_err("10 is below 20");
    let message = error.to_string();
    assert!(
        message.contains("not primary: no controller is primary; the highest election id so far is 20"),
        "{message}"
    );
}

#[tokio::test]
async fn controllers_without_an_election_id_are_never_primary() {
    let target = target().await;
    let session = Session::open(client(&target, options()).await, Controller::default()).await.expect("open");
    assert_eq!(session.primacy(), Primacy::Vacant { highest: None });
}

#[tokio::test]
async fn an_election_id_in_use_and_an_unknown_device_are_refused() {
    let target = target().await;
    let _first = open(&target, options(), 10).await;
    let again = Session::open(client(&target, options()).await, Controller::new(ElectionId(10))).await;
    let error = again.expect_err("the id is taken");
    assert_eq!(error.code(), Some(Code::InvalidArgument));
    assert!(error.to_string().contains("election id 10 is used by another controller"), "{error}");
    let endpoint = target.endpoint().expect("an address");
    let elsewhere = Client::connect(&endpoint, DeviceId(9), options()).await.expect("it listens");
    let error = Session::open(elsewhere, Controller::new(ElectionId(1))).await.expect_err("no such device");
    assert_eq!(error.code(), Some(Code::NotFound));
}

#[tokio::test]
async fn a_broken_stream_is_opened_again_with_the_same_id() {
    let target = target().await;
    let session = primary(&target, options()).await;
    let mut watch = session.watch_primacy();
    target.disconnect();
    watch.wait_for(|state| matches!(state, Primacy::Lost { .. })).await.expect("the loss is notified");
    assert_eq!(session.wait_primary(PATIENCE).await, Ok(ElectionId(10)));
}

#[tokio::test]
async fn a_target_that_was_off_for_a_while_is_found_again() {
    let mut target = target().await;
    let session = primary(&target, options()).await;
    target.down().await;
    eventually("attempts are refused", || match session.primacy() {
        Primacy::Lost { reason } => reason.contains("connection refused"),
        _ => false,
    })
    .await;
    target.up().await.expect("the port is free again");
    session.wait_primary(PATIENCE).await.expect("it is back");
}

#[tokio::test]
async fn without_reconnect_a_broken_stream_stays_closed() {
    let target = target().await;
    let session = primary(&target, Options { reconnect: None, ..options() }).await;
    target.disconnect();
    eventually("the session is closed", || matches!(session.primacy(), Primacy::Closed { .. })).await;
    let error = session.wait_primary(PATIENCE).await.expect_err("closed");
    assert!(error.to_string().contains("the stream is closed"), "{error}");
}

#[tokio::test]
async fn the_primacy_is_lost_and_won_back() {
    let target = target().await;
    let session = primary(&target, options()).await;
    target.lose_primary();
    eventually("the loss is notified", || matches!(session.primacy(), Primacy::Backup { .. })).await;
    target.free_primary();
    eventually("the vacancy is notified", || matches!(session.primacy(), Primacy::Vacant { .. })).await;
    // The rival had the highest possible id. There is no higher one, but an equal id is enough.
    assert_eq!(session.take_over(PATIENCE).await, Ok(ElectionId(u128::MAX)));
}

#[tokio::test]
async fn packets_digests_and_notifications_arrive_and_answers_leave() {
    let target = target().await;
    let session = primary(&target, options()).await;
    let info = info();
    let mut events = session.take_events().expect("the first call gets it");
    assert!(session.take_events().is_none());

    let metadata = [("ingress_port", 3u8.into()), ("reason", 1u8.into())];
    let packet = packet_in(&info, Bytes::from_static(b"in"), &metadata).expect("right");
    assert!(target.send_to_primary(ToController::Packet(packet)));
    let Some(Event::PacketIn(packet)) = events.recv().await else { panic!("a packet was sent") };
    let packet = read_packet_in(&info, packet).expect("right");
    assert_eq!((&packet.payload[..], packet.number("ingress_port")), (&b"in"[..], Some(3)));

    let out = packet_out(&info, Bytes::from_static(b"out"), &[("egress_port", 5u8.into())]).expect("right");
    session.send_packet(out).await.expect("the stream is open");
    let list = v1::DigestList { digest_id: 1, list_id: 7, ..Default::default() };
    assert!(target.send_to_primary(ToController::Digest(list)));
    let Some(Event::Digest(list)) = events.recv().await else { panic!("a digest was sent") };
    session.acknowledge(&list).await.expect("the stream is open");
    let idle = v1::IdleTimeoutNotification { timestamp: 1, table_entry: Vec::new() };
    assert!(target.send_to_primary(ToController::IdleTimeoutNotification(idle.clone())));
    assert_eq!(events.recv().await, Some(Event::IdleTimeout(idle)));
    let error = v1::StreamError { canonical_code: 3, ..Default::default() };
    assert!(target.send_to_primary(ToController::Error(error.clone())));
    assert_eq!(events.recv().await, Some(Event::Error(error)));

    eventually("both answers arrive", || target.received_messages().len() == 2).await;
    let [FromController::Packet(packet), FromController::DigestAck(ack)] = &target.received_messages()[..]
    else {
        panic!("a packet and an acknowledgement, in order")
    };
    assert_eq!(read_packet_out(&info, packet.clone()).expect("right").number("egress_port"), Some(5));
    assert_eq!((ack.digest_id, ack.list_id), (1, 7));
}

#[tokio::test]
async fn events_that_nobody_fetches_are_dropped_and_counted() {
    let target = target().await;
    let session = primary(&target, Options { event_queue: 4, ..options() }).await;
    for _ in 0..10 {
        assert!(target.send_to_primary(ToController::Packet(v1::PacketIn::default())));
    }
    eventually("six are dropped", || session.n_dropped_events() == 6).await;
    assert!(is_primary(&session));
}

#[tokio::test]
async fn nobody_and_garbage_and_silence_are_different_faults() {
    let mut options = options();
    let mut gone = target().await;
    gone.down().await;
    let endpoint = gone.endpoint().expect("an address");
    let refused =
        Client::connect(&endpoint, DeviceId(0), options).await.expect_err("the port has no listener");
    assert!(matches!(refused, ClientError::Connect { fault: ConnectFault::Refused, .. }), "{refused}");

    for garbage in [
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}",
    ] {
        let server = GarbageServer::start(garbage.as_bytes().to_vec()).await.expect("loopback has a port");
        let endpoint = Endpoint::plain(&server.address()).expect("an address");
        let error = match Client::connect(&endpoint, DeviceId(0), options).await {
            Ok(client) => Session::open(client, Controller::new(ElectionId(1))).await.expect_err("garbage"),
            Err(error) => error,
        };
        let ClientError::Connect { fault: ConnectFault::NotGrpc { .. }, .. } = error else {
            panic!("{garbage:?}: {error}");
        };
    }

    // The deadline is short only where the test waits for it; a server that answers may be slow.
    options.deadlines.arbitration = Duration::from_millis(300);
    let silent = GarbageServer::start(Vec::new()).await.expect("loopback has a port");
    let endpoint = Endpoint::plain(&silent.address()).expect("an address");
    let client = Client::connect(&endpoint, DeviceId(0), options).await.expect("TCP connects");
    let error = Session::open(client, Controller::new(ElectionId(1))).await.expect_err("silence");
    assert!(matches!(error, ClientError::Deadline { rpc: Rpc::Stream, .. }), "{error}");
}

#[tokio::test]
async fn every_call_has_a_deadline() {
    let slow = Duration::from_mins(1);
    let rpcs = [Rpc::Read, Rpc::SetPipeline, Rpc::GetPipeline, Rpc::Capabilities];
    let target = target().await;
    let mut options = options();
    let session = primary(&target, options).await;
    let short = Duration::from_millis(100);
    let deadlines = &mut options.deadlines;
    (deadlines.read, deadlines.set_pipeline) = (short, short);
    (deadlines.get_pipeline, deadlines.capabilities) = (short, short);
    drop(session);
    let session = primary_without_pipeline(&target, options).await;
    target.set_script(rpcs.into_iter().fold(Script::default(), |script, rpc| script.delay(rpc, slow)));
    let client = session.client();
    let errors = [
        client.read(Vec::new()).await.map(drop),
        session.set_pipeline(v1::set_forwarding_pipeline_config_request::Action::Commit, None).await,
        client.pipeline_cookie().await.map(drop),
        client.capabilities().await.map(drop),
    ];
    for (error, expected) in errors.into_iter().zip(rpcs) {
        let Err(ClientError::Deadline { rpc, .. }) = error else { panic!("{expected}: {error:?}") };
        assert_eq!(rpc, expected);
    }
}

async fn primary_without_pipeline(target: &FakeTarget, options: Options) -> Session {
    let session = open(target, options, 11).await;
    session.require_primary().expect("the only controller");
    session
}
