//! The service over real connections, according to the P4Runtime specification.

use std::sync::Arc;
use std::time::Duration;

use closc_runtime::proto::v1;
use closc_runtime::status::unpack;
use closc_switch::{Endpoint, Service};
use tonic::Code;
use v1::get_forwarding_pipeline_config_request::ResponseType;
use v1::set_forwarding_pipeline_config_request::Action;
use v1::stream_message_request::Update as Request;
use v1::stream_message_response::Update;
use v1::write_request::Atomicity;

use crate::common::controller::{Controller, DEVICE, features_config, serve, switch};
use crate::common::{CPU, ethernet, features, payload};

fn send_to(dst: u64, port: u32) -> v1::TableEntry {
    let pipeline = features();
    let entry = pipeline.info().entry("exact_dst").expect("a table").exact("dst", dst);
    entry.action("send", &[("port", port.into())]).build().expect("an entry")
}

#[tokio::test]
async fn the_greatest_election_id_is_primary_and_only_it_writes() {
    let endpoint = serve([switch(DEVICE)]).await;
    let mut first = Controller::primary(endpoint.address(), DEVICE, 10).await;
    let (mut second, answer) = Controller::open(endpoint.address(), DEVICE, 5).await;
    assert_eq!(answer.expect("the stream lives"), Code::AlreadyExists);
    first.set_features().await;
    let denied = second.write(vec![], Atomicity::ContinueOnError).await.expect_err("a backup");
    assert_eq!(denied.code(), Code::PermissionDenied);

    second.arbitrate(11).await;
    assert_eq!(second.arbitration().await.expect("the stream lives"), Code::Ok);
    assert_eq!(first.arbitration().await.expect("it is notified"), Code::AlreadyExists);
    let denied = first.write(vec![], Atomicity::ContinueOnError).await.expect_err("no longer primary");
    assert_eq!(denied.code(), Code::PermissionDenied);
    second.write_ok(vec![v1::Update::insert(send_to(1, 1))]).await;

    drop(second);
    assert_eq!(first.arbitration().await.expect("it is notified"), Code::NotFound, "there is no primary now");
}

#[tokio::test]
async fn a_second_controller_with_the_same_id_is_turned_away() {
    let endpoint = serve([switch(DEVICE)]).await;
    let _first = Controller::primary(endpoint.address(), DEVICE, 10).await;
    let (_, answer) = Controller::open(endpoint.address(), DEVICE, 10).await;
    assert_eq!(answer.expect_err("the id is in use").code(), Code::InvalidArgument);
    let (_, answer) = Controller::open(endpoint.address(), 99, 1).await;
    assert_eq!(answer.expect_err("no such device").code(), Code::NotFound);
}

#[tokio::test]
async fn without_a_pipeline_nothing_is_read_or_written() {
    let endpoint = serve([switch(DEVICE)]).await;
    let mut controller = Controller::primary(endpoint.address(), DEVICE, 1).await;
    let status = controller.write(vec![], Atomicity::ContinueOnError).await.expect_err("no pipeline");
    assert_eq!(status.code(), Code::FailedPrecondition);
    let (_, end) = controller.read(vec![v1::TableEntry::default().into()]).await;
    assert_eq!(end.expect_err("no pipeline").code(), Code::FailedPrecondition);
    let request = v1::GetForwardingPipelineConfigRequest { device_id: DEVICE, response_type: 0 };
    let answer =
        controller.client.get_forwarding_pipeline_config(request).await.expect("the device is known");
    assert_eq!(answer.into_inner().config, None);
    let request = v1::GetForwardingPipelineConfigRequest { device_id: 99, response_type: 0 };
    let status = controller.client.get_forwarding_pipeline_config(request).await.expect_err("no such device");
    assert_eq!(status.code(), Code::NotFound);
    let capabilities = controller.client.capabilities(v1::CapabilitiesRequest { device_id: DEVICE }).await;
    assert_eq!(capabilities.expect("always there").into_inner().p4runtime_api_version, "1.5.0");
    let status = controller.client.capabilities(v1::CapabilitiesRequest { device_id: 99 }).await;
    assert_eq!(status.expect_err("no such device").code(), Code::NotFound);
}

#[tokio::test]
async fn a_pipeline_is_set_and_shown_in_part() {
    let endpoint = serve([switch(DEVICE)]).await;
    let mut controller = Controller::primary(endpoint.address(), DEVICE, 1).await;
    let set = features_config(77);
    controller.set(Action::Verify, Some(set.clone())).await.expect("it can be realized");
    let parts = [
        (ResponseType::All, None),
        (ResponseType::CookieOnly, Some((false, false))),
        (ResponseType::P4infoAndCookie, Some((true, false))),
        (ResponseType::DeviceConfigAndCookie, Some((false, true))),
        (ResponseType::All, Some((true, true))),
    ];
    for (step, (parts, expected)) in parts.into_iter().enumerate() {
        if step == 1 {
            controller.set(Action::VerifyAndCommit, Some(set.clone())).await.expect("it can be realized");
        }
        let request =
            v1::GetForwardingPipelineConfigRequest { device_id: DEVICE, response_type: parts.into() };
        let answer = controller.client.get_forwarding_pipeline_config(request).await.expect("known");
        let found = answer.into_inner().config;
        let expected = expected.map(|(info, program)| v1::ForwardingPipelineConfig {
            p4info: set.p4info.clone().filter(|_| info),
            p4_device_config: if program { set.p4_device_config.clone() } else { bytes::Bytes::new() },
            cookie: set.cookie,
        });
        assert_eq!(found, expected, "{parts:?}; verifying alone changes nothing");
    }
}

#[tokio::test]
async fn pipelines_that_cannot_be_realized_say_why() {
    let endpoint = serve([switch(DEVICE)]).await;
    let mut controller = Controller::primary(endpoint.address(), DEVICE, 1).await;
    let good = features_config(1);
    let broken = v1::ForwardingPipelineConfig { p4_device_config: "{\"tables\": 1".into(), ..good.clone() };
    let without_info = v1::ForwardingPipelineConfig { p4info: None, ..good.clone() };
    let without_program =
        v1::ForwardingPipelineConfig { p4_device_config: bytes::Bytes::new(), ..good.clone() };
    let other = include_bytes!("../programs/forward.json").as_slice();
    let mismatched = v1::ForwardingPipelineConfig { p4_device_config: other.into(), ..good.clone() };
    for (config, word) in [
        (Some(broken), "line 1"),
        (Some(without_info), "no P4Info"),
        (Some(without_program), "no device config"),
        (Some(mismatched), "different compilations"),
        (None, "no configuration"),
    ] {
        let status = controller.set(Action::VerifyAndCommit, config).await.expect_err("cannot be realized");
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains(word), "{}", status.message());
    }
    let status = controller.set(Action::Commit, None).await.expect_err("nothing was saved");
    assert_eq!(status.code(), Code::NotFound);
    let status = controller.set(Action::Commit, Some(good)).await.expect_err("COMMIT takes none");
    assert_eq!(status.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn a_saved_pipeline_takes_writes_while_packets_run_through_the_old_one() {
    let device = switch(DEVICE);
    let endpoint = serve([Arc::clone(&device)]).await;
    let mut controller = Controller::primary(endpoint.address(), DEVICE, 1).await;
    controller.set_features().await;
    controller.write_ok(vec![v1::Update::insert(send_to(1, 3))]).await;
    controller.set(Action::VerifyAndSave, Some(features_config(2))).await.expect("it can be realized");
    controller.write_ok(vec![v1::Update::insert(send_to(1, 4))]).await;
    let sent_to = || {
        let mut outbox = closc_switch::Outbox::new();
        device.receive_all(std::iter::once((1, ethernet(1, 2, 3).as_slice())), &mut outbox);
        outbox.packets().next().map(|(port, ..)| port)
    };
    assert_eq!(sent_to(), Some(3));
    controller.set(Action::Commit, None).await.expect("something was saved");
    assert_eq!(sent_to(), Some(4));
    controller.set(Action::VerifyAndCommit, Some(features_config(3))).await.expect("it can be realized");
    assert_eq!(sent_to(), Some(0), "a new pipeline begins empty");
}

#[tokio::test]
async fn reconciling_keeps_what_controllers_wrote() {
    let endpoint = serve([switch(DEVICE)]).await;
    let mut controller = Controller::primary(endpoint.address(), DEVICE, 1).await;
    controller.set_features().await;
    let pipeline = features();
    let info = pipeline.info();
    let member = closc_runtime::entry::member(info, "spread", 1, "send", &[("port", 9u8.into())]);
    let parts = [closc_runtime::entry::GroupMember { id: 1, weight: 2, watch_port: None }];
    let group = closc_runtime::entry::group(info, "spread", 5, &parts, 0).expect("a group");
    let entry = info.entry("spread_over").expect("a table").exact("hdr.payload.a", 1u8).group(5);
    let default = info.entry("lpm_src").expect("a table").default_entry();
    let default = default.action("send", &[("port", 8u8.into())]).build().expect("an entry");
    let copies = [closc_runtime::entry::Copy { port: 1, instance: 1 }];
    let many = closc_runtime::entry::multicast_group(3, &copies).expect("a group");
    controller.write_ok(vec![v1::Update::insert(member.expect("a member"))]).await;
    controller.write_ok(vec![v1::Update::insert(group)]).await;
    controller
        .write_ok(vec![
            v1::Update::insert(entry.build().expect("an entry")),
            v1::Update::modify(default),
            v1::Update::insert(many),
        ])
        .await;
    let everything = closc_runtime::entry::wildcards(info);
    let (before, end) = controller.read(everything.clone()).await;
    end.expect("everything can be read");
    controller.set(Action::ReconcileAndCommit, Some(features_config(9))).await.expect("it fits");
    let (after, _) = controller.read(everything).await;
    assert_eq!(after, before);

    let forward = v1::ForwardingPipelineConfig {
        p4info: closc_runtime::text::read_p4info(include_str!("../programs/forward.p4info.txtpb")).ok(),
        p4_device_config: include_bytes!("../programs/forward.json").as_slice().into(),
        cookie: None,
    };
    let status = controller.set(Action::ReconcileAndCommit, Some(forward)).await.expect_err("it cannot fit");
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().contains("cannot keep"), "{}", status.message());
}

#[tokio::test]
async fn each_update_has_its_own_outcome() {
    let endpoint = serve([switch(DEVICE)]).await;
    let mut controller = Controller::primary(endpoint.address(), DEVICE, 1).await;
    controller.set_features().await;
    let batch = || {
        vec![
            v1::Update::insert(send_to(1, 1)),
            v1::Update::insert(send_to(1, 2)),
            v1::Update::delete(send_to(9, 2)),
            v1::Update::insert(v1::TableEntry { table_id: 5, ..Default::default() }),
            v1::Update::insert(send_to(2, 2)),
        ]
    };
    let codes = |status: &tonic::Status| -> Vec<Code> {
        assert_eq!(status.code(), Code::Unknown);
        unpack(status).expect("details").iter().map(|outcome| outcome.code).collect()
    };
    for atomicity in [Atomicity::RollbackOnError, Atomicity::DataplaneAtomic] {
        let status = controller.write(batch(), atomicity).await.expect_err("the second fails");
        let aborted = Code::Aborted;
        assert_eq!(codes(&status), [aborted, Code::AlreadyExists, aborted, aborted, aborted]);
        assert_eq!(controller.read_ok(v1::TableEntry::default()).await.len(), 3, "only the constants");
        controller.write(vec![v1::Update::insert(send_to(5, 5))], atomicity).await.expect("all or none");
        controller.write(vec![v1::Update::delete(send_to(5, 5))], atomicity).await.expect("all or none");
    }
    let status = controller.write(batch(), Atomicity::ContinueOnError).await.expect_err("some fail");
    let expected = [Code::Ok, Code::AlreadyExists, Code::NotFound, Code::InvalidArgument, Code::Ok];
    assert_eq!(codes(&status), expected);
    assert_eq!(controller.read_ok(v1::TableEntry::default()).await.len(), 5);
}

#[tokio::test]
async fn many_entries_come_in_messages_of_a_size_that_clients_take() {
    let endpoint = serve([switch(DEVICE)]).await;
    let mut controller = Controller::primary(endpoint.address(), DEVICE, 1).await;
    controller.set_features().await;
    let registers = vec![v1::CounterEntry::default().into(), v1::RegisterEntry::default().into()];
    let (responses, end) = controller.read(registers).await;
    end.expect("the requests are right");
    let count: usize = responses.iter().map(|response| response.entities.len()).sum();
    assert_eq!(count, 16 + 8);
    let updates: Vec<v1::Update> = (0..1_000).map(|dst| v1::Update::insert(send_to(dst, 1))).collect();
    controller.write_ok(updates).await;
    let metadata: Vec<u8> = vec![7; 5_000];
    let updates: Vec<v1::Update> = (0..1_000)
        .map(|dst| v1::Update::modify(v1::TableEntry { metadata: metadata.clone(), ..send_to(dst, 2) }))
        .collect();
    // A message of 4 MiB is the maximum.
    for part in updates.chunks(500) {
        controller.write_ok(part.to_vec()).await;
    }
    let wrong = v1::TableEntry { table_id: 1, ..Default::default() };
    let table = v1::TableEntry { table_id: send_to(0, 0).table_id, ..Default::default() };
    let (responses, end) = controller.read(vec![table.into(), wrong.into()]).await;
    let count: usize = responses.iter().map(|response| response.entities.len()).sum();
    assert_eq!(count, 1_000);
    assert!(responses.len() > 1);
    assert!(responses.iter().all(|response| prost::Message::encoded_len(response) < 4 << 20));
    let outcomes = unpack(&end.expect_err("one request is wrong")).expect("details");
    assert_eq!(outcomes.iter().map(|o| o.code).collect::<Vec<_>>(), [Code::Ok, Code::InvalidArgument]);
}

#[tokio::test]
async fn packets_go_to_and_from_the_primary() {
    let device = switch(DEVICE);
    let endpoint = serve([Arc::clone(&device)]).await;
    let mut controller = Controller::primary(endpoint.address(), DEVICE, 1).await;
    controller.set_features().await;
    let pipeline = features();
    let info = pipeline.info();
    let punt = info.entry("exact_dst").expect("a table").exact("dst", 1u8);
    let punt = punt.action("punt", &[("reason", 5u8.into())]).build().expect("an entry");
    controller.write_ok(vec![v1::Update::insert(punt)]).await;
    device.receive(300, &ethernet(1, 2, 3));
    let Update::Packet(packet) = controller.message().await.expect("a packet") else { panic!("a packet") };
    let found = closc_runtime::packet::read_packet_in(info, packet).expect("metadata of the program");
    assert_eq!((found.number("ingress_port"), found.number("reason")), (Some(300), Some(5)));
    assert_eq!(found.payload, ethernet(1, 2, 3));

    // A packet-out to the controller's port is returned as a packet-in.
    let metadata = [("egress_port", CPU.into()), ("unused", 0u8.into())];
    let mut frame = vec![0x12, 0x34];
    frame.extend_from_slice(&ethernet(1, 2, 3));
    let packet = closc_runtime::packet::packet_out(info, frame.into(), &metadata).expect("metadata");
    controller.send(Request::Packet(packet.clone())).await;
    let Update::Packet(packet_in) = controller.message().await.expect("a packet") else { panic!("a packet") };
    assert_eq!(packet_in.payload, ethernet(1, 2, 3));
    assert_eq!(packet_in.metadata[0].value, [0x24], "the first bits of the payload are taken for a header");

    let wrong = v1::PacketOut { metadata: vec![], ..packet.clone() };
    controller.send(Request::Packet(wrong.clone())).await;
    let Update::Error(error) = controller.message().await.expect("an error") else { panic!("an error") };
    assert_eq!(Code::from_i32(error.canonical_code), Code::InvalidArgument);
    let details = v1::stream_error::Details::PacketOut(v1::PacketOutError { packet_out: Some(wrong) });
    assert_eq!(error.details, Some(details));

    let (mut backup, _) = Controller::open(endpoint.address(), DEVICE, 0).await;
    backup.send(Request::Packet(packet)).await;
    let Update::Error(error) = backup.message().await.expect("an error") else { panic!("an error") };
    assert_eq!(Code::from_i32(error.canonical_code), Code::PermissionDenied);
    backup.send(Request::DigestAck(v1::DigestListAck::default())).await;
    assert!(matches!(backup.message().await, Ok(Update::Error(_))));
}

#[tokio::test]
async fn digests_and_idle_entries_are_reported() {
    let device = switch(DEVICE);
    let endpoint = serve([Arc::clone(&device)]).await;
    let mut controller = Controller::primary(endpoint.address(), DEVICE, 1).await;
    controller.set_features().await;
    let pipeline = features();
    let info = pipeline.info();
    let learn = info.entry("exact_dst").expect("a table").exact("dst", 1u8).action("learn", &[]);
    let config =
        v1::digest_entry::Config { max_timeout_ns: 20_000_000, max_list_size: 100, ack_timeout_ns: 0 };
    let digest = closc_runtime::entry::digest(info, "learn_t", config).expect("a digest");
    let idle = info.entry("lpm_src").expect("a table").lpm("source", 9u8, 48).action("drop", &[]);
    let idle = idle.idle_timeout(Duration::from_millis(50)).metadata("mine").build().expect("an entry");
    controller
        .write_ok(vec![
            v1::Update::insert(learn.build().expect("an entry")),
            v1::Update::insert(digest),
            v1::Update::insert(idle.clone()),
        ])
        .await;
    device.receive(5, &payload(1, 0xabc, 0, 0, 0));
    device.receive(6, &payload(1, 0xabd, 0, 0, 0));
    let (mut samples, mut timeouts) = (0, 0);
    while samples < 2 || timeouts < 2 {
        match controller.message().await.expect("the stream lives") {
            Update::Digest(list) => {
                samples += list.data.len();
                assert!(list.timestamp > 0);
            }
            Update::IdleTimeoutNotification(notification) => {
                timeouts += 1;
                let found = &notification.table_entry[0];
                assert_eq!((&found.r#match, &found.metadata), (&idle.r#match, &idle.metadata));
                assert_eq!(found.idle_timeout_ns, 50_000_000);
            }
            other => panic!("not expected: {other:?}"),
        }
    }
}

#[tokio::test]
async fn one_endpoint_serves_many_devices() {
    let switches: Vec<_> = (1..=20).map(switch).collect();
    let endpoint = serve(switches.iter().cloned()).await;
    for device in 1..=20 {
        let mut controller = Controller::primary(endpoint.address(), device, 1).await;
        controller.set_features().await;
        controller.write_ok(vec![v1::Update::insert(send_to(1, device as u32))]).await;
    }
    for switch in &switches {
        let mut outbox = closc_switch::Outbox::new();
        switch.receive_all(std::iter::once((1, ethernet(1, 2, 3).as_slice())), &mut outbox);
        assert_eq!(outbox.packets().next().map(|(port, ..)| u64::from(port)), Some(switch.device_id()));
    }
    let (mut controller, _) = Controller::open(endpoint.address(), 1, 2).await;
    controller
        .send(Request::Arbitration(v1::MasterArbitrationUpdate { device_id: 2, ..Default::default() }))
        .await;
    assert_eq!(controller.message().await.expect_err("another device").code(), Code::FailedPrecondition);
}

#[tokio::test]
async fn a_switch_that_stops_ends_its_streams() {
    let endpoint = serve([switch(DEVICE)]).await;
    let mut controller = Controller::primary(endpoint.address(), DEVICE, 1).await;
    let stopped = tokio::spawn(endpoint.stop());
    assert_eq!(controller.message().await.expect_err("the switch stops").code(), Code::Unavailable);
    drop(controller);
    stopped.await.expect("no panic").expect("it stops well");
}

#[tokio::test]
async fn a_socket_of_this_machine_serves_and_one_left_behind_is_replaced() {
    use closc_runtime::DeviceId;
    use closc_runtime::client::{Client, Endpoint as Address, Options};
    use closc_switch::EndpointError;
    let path = std::env::temp_dir().join(format!("closc-switch-{}.sock", std::process::id()));
    // Leaves a socket file, as a killed switch does.
    drop(std::os::unix::net::UnixListener::bind(&path).expect("no other process has this name"));
    let service = Service::new([switch(DEVICE)]);
    let endpoint = Endpoint::serve_unix(service.clone(), &path).await.expect("no process serves it");
    assert_eq!(endpoint.path(), path);
    let address = Address::plain(&format!("unix:{}", path.display())).expect("a path");
    let client = Client::connect(&address, DeviceId(DEVICE), Options::default()).await.expect("it listens");
    assert!(client.capabilities().await.is_ok());
    let taken = Endpoint::serve_unix(service, &path).await.expect_err("it is served");
    assert!(matches!(taken, EndpointError::Bind { .. }), "{taken}");
    std::fs::remove_file(&path).expect("it is there");
}

/// Sends one request over a socket, with the path of the socket as `:authority`; returns the types of the frames of its
/// stream, in order.
fn request_by_path(path: &std::path::Path, authority: &str) -> Vec<u8> {
    use std::io::{Read as _, Write as _};
    let mut socket = std::os::unix::net::UnixStream::connect(path).expect("it listens");
    let literal = |name: &str, value: &str| {
        let part = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
        [vec![0x40], part(name), part(value)].concat()
    };
    let block = [
        vec![0x83, 0x86],
        literal(":path", "/p4.v1.P4Runtime/Capabilities"),
        literal(":authority", authority),
        literal("content-type", "application/grpc"),
        literal("te", "trailers"),
    ]
    .concat();
    let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
        [&[0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream], payload].concat()
    };
    let parts = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(4, 0, 0, &[]),
        frame(1, 4, 1, &block),
        frame(0, 1, 1, &[0; 5]),
    ];
    socket.write_all(&parts.concat()).expect("it is read");
    let mut kinds = Vec::new();
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head).expect("an answer ends the stream");
        let length = usize::from(head[1]) << 8 | usize::from(head[2]);
        socket.read_exact(&mut vec![0; length]).expect("frames are whole");
        if head[8] == 1 {
            kinds.push(head[3]);
            let ends = head[3] == 3 || head[4] & 1 == 1;
            if ends {
                return kinds;
            }
        }
    }
}

#[tokio::test]
async fn clients_that_name_the_path_of_the_socket_are_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("switch");
    let endpoint = Endpoint::serve_unix(Service::new([switch(DEVICE)]), &path).await.expect("it is free");
    for authority in ["localhost", "tmp%2Fswitch.sock", "/tmp/switch.sock"] {
        let socket = path.clone();
        let kinds = tokio::task::spawn_blocking(move || request_by_path(&socket, authority)).await;
        // Headers, the answer, trailers; and no RST_STREAM, which is 3.
        assert_eq!(kinds.expect("it is answered"), [1, 0, 1], "{authority}");
    }
    drop(endpoint);
}

/// A grpc-core client without message types: it requests the capabilities and prints their bytes.
const GRPC_CORE: &str = "
import grpc, sys
channel = grpc.insecure_channel('unix:' + sys.argv[1])
ask = channel.unary_unary('/p4.v1.P4Runtime/Capabilities')
print(ask(b'', timeout=60).decode('latin1'))
";

/// `CLOSC_FINSY` names a Python with `grpc`; otherwise `python3` is used.
#[tokio::test(flavor = "multi_thread")]
async fn grpc_core_is_served_over_a_socket() {
    let python = std::env::var_os("CLOSC_FINSY").unwrap_or_else(|| "python3".into());
    let run = |arguments: &[&std::ffi::OsStr]| {
        std::process::Command::new(&python).args(["-c", GRPC_CORE]).args(arguments).output()
    };
    let import = std::process::Command::new(&python).args(["-c", "import grpc"]).output();
    if !import.is_ok_and(|import| import.status.success()) {
        closc_skip::skip(format_args!("{} cannot import grpc (pip install grpcio)", python.display()));
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("switch.sock");
    let endpoint = Endpoint::serve_unix(Service::new([switch(DEVICE)]), &path).await.expect("it is free");
    let output = tokio::task::block_in_place(|| run(&[path.as_os_str()])).expect("python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1.5.0"), "{said}{}", String::from_utf8_lossy(&output.stderr));
    drop(endpoint);
}
