//! Linked switches: packets are delivered, always in the same order.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use closc_runtime::proto::v1;
use closc_switch::{
    Clock, Delivery, Fabric, FabricConfig, Injection, LinkEnd, LinkError, Node, QueueConfig, Rate, Switch,
    SwitchConfig,
};
use v1::entity::Entity;
use v1::write_request::Atomicity;

use crate::common::{ethernet, features};

/// Returns switches in a row: port 1 of each is linked to port 2 of the next. Packets for address 1 are forwarded,
/// those for 8 are dropped.
fn row(count: u32, config: FabricConfig) -> Fabric {
    let mut fabric = Fabric::new(config);
    let pipeline = features();
    for device in 0..count {
        let config =
            SwitchConfig { device_id: device.into(), clock: fabric.clock(), ..SwitchConfig::default() };
        let switch = Arc::new(Switch::new(config));
        switch.run_pipeline(Arc::clone(&pipeline));
        let entry = pipeline.info().entry("exact_dst").expect("a table").exact("dst", 1u8);
        let entry = entry.action("send", &[("port", 1u8.into())]).build().expect("an entry");
        let dropped = pipeline.info().entry("exact_dst").expect("a table").exact("dst", 8u8);
        let dropped = dropped.action("send", &[("port", 511u16.into())]).build().expect("an entry");
        let updates = [entry, dropped].map(v1::Update::insert);
        let outcomes = switch.write(&updates, Atomicity::ContinueOnError);
        assert!(outcomes.expect("a pipeline").iter().all(closc_runtime::status::Outcome::is_ok));
        fabric.add(switch);
    }
    for node in 1..count {
        let (a, b) = (end(node - 1, 1), end(node, 2));
        fabric.link(a, b).expect("free ports");
    }
    fabric
}

fn end(node: u32, port: u32) -> LinkEnd {
    LinkEnd { node: Node(node), port }
}

#[test]
fn a_packet_walks_the_row() {
    let mut fabric = row(5, FabricConfig::default());
    fabric.inject(Node(0), 7, ethernet(1, 2, 3));
    let out = fabric.run();
    let expected = Delivery { node: Node(4), port: 1, at_ns: 4_000, frame: ethernet(1, 2, 3) };
    assert_eq!(out, [expected]);
    let count = fabric.count(end(0, 1)).expect("a link");
    assert_eq!((count.packets, count.bytes, count.lost), (1, 14, 0));
    let counter_id = features().info().counters()[0].preamble.id;
    let request = v1::CounterEntry { counter_id, index: Some(v1::Index { index: 2 }), data: None };
    let seen = fabric.switch(Node(3)).expect("a switch").read(&[request.into()]).expect("a pipeline");
    let Some(Entity::CounterEntry(counter)) = seen.entities[0].entity.clone() else { panic!("{seen:?}") };
    assert_eq!(counter.data.map(|data| data.packet_count), Some(1), "counters can be read directly");
}

#[test]
fn threads_change_nothing() {
    let run = |parallel_from| {
        let mut fabric = row(8, FabricConfig { parallel_from, ..FabricConfig::default() });
        for at in 0..2_000u64 {
            fabric.inject_at(at * 37 % 5_000, Node((at % 8) as u32), 7, ethernet(1, at, 3));
        }
        fabric.run()
    };
    let alone = run(usize::MAX);
    assert_eq!(alone.len(), 2_000);
    assert_eq!(run(1), alone);
}

#[test]
fn a_link_that_is_cut_loses_packets_and_both_ends_know() {
    let mut fabric = row(3, FabricConfig::default());
    assert!(fabric.set_link(end(1, 1), false));
    assert!(!fabric.set_link(end(2, 9), false));
    fabric.inject(Node(0), 7, ethernet(1, 2, 3));
    assert!(fabric.run().is_empty());
    assert_eq!(fabric.count(end(1, 1)).map(|count| count.lost), Some(1));
    assert_eq!(fabric.peer(end(2, 2)), Some(end(1, 1)));
    fabric.set_link(end(2, 2), true);
    fabric.inject(Node(0), 7, ethernet(1, 2, 3));
    assert_eq!(fabric.run().len(), 1);
}

#[test]
fn a_link_that_was_taken_away_lets_packets_out_and_can_be_made_elsewhere() {
    let mut fabric = row(3, FabricConfig::default());
    assert_eq!(fabric.unlink(end(1, 1)), Some(end(2, 2)));
    assert_eq!((fabric.unlink(end(2, 2)), fabric.peer(end(2, 2))), (None, None));
    fabric.inject(Node(0), 7, ethernet(1, 2, 3));
    let out = fabric.run();
    assert_eq!(out.iter().map(|delivery| (delivery.node, delivery.port)).collect::<Vec<_>>(), [(Node(1), 1)]);
    assert_eq!(fabric.link(end(1, 1), end(2, 2)), Ok(()));
    fabric.inject(Node(0), 7, ethernet(1, 2, 3));
    assert_eq!(fabric.run().len(), 1);
}

#[test]
fn links_that_cannot_be_are_named() {
    let mut fabric = row(2, FabricConfig::default());
    assert_eq!(fabric.link(end(0, 1), end(1, 3)), Err(LinkError::Taken(end(0, 1))));
    assert_eq!(fabric.link(end(0, 3), end(0, 3)), Err(LinkError::Loop(end(0, 3))));
    assert_eq!(fabric.link(end(0, 3), end(9, 3)), Err(LinkError::NoNode(Node(9))));
    assert_eq!(fabric.link(end(0, 70_000), end(1, 3)), Err(LinkError::Port(70_000)));
}

#[test]
fn a_queue_lets_packets_go_one_after_the_other() {
    let mut fabric = row(2, FabricConfig::default());
    let queue = QueueConfig { rate: Rate::Packets(1_000_000), depth: 3 };
    fabric.switch(Node(0)).expect("a switch").set_queue(1, Some(queue));
    for at in 0..5 {
        fabric.inject_at(at, Node(0), 7, ethernet(1, at, 3));
    }
    let times: Vec<u64> = fabric.run().iter().map(|delivery| delivery.at_ns).collect();
    assert_eq!(times, [1_000, 2_000, 3_000, 4_000], "the first leaves at once, three wait, one is dropped");
}

/// Losses on a link that is down, in a full queue, and by an entry that drops: each with its time and bytes.
#[test]
fn packets_that_got_lost_are_kept_where_that_is_asked_for() {
    for parallel_from in [1, usize::MAX] {
        let config = FabricConfig { parallel_from, keeps_lost: true, ..FabricConfig::default() };
        let mut fabric = row(3, config);
        assert!(fabric.set_link(end(1, 1), false));
        let queue = QueueConfig { rate: Rate::Packets(1_000_000), depth: 1 };
        fabric.switch(Node(0)).expect("a switch").set_queue(1, Some(queue));
        for (at, to) in [(0, 1), (5, 1), (7, 1), (9, 8)] {
            fabric.inject_at(at, Node(0), 7, ethernet(to, at, 3));
        }
        assert!(fabric.run().is_empty());
        let lost: Vec<(u64, Vec<u8>, bool)> =
            fabric.take_lost().into_iter().map(|lost| (lost.at_ns, lost.frame, lost.in_switch)).collect();
        let wanted = [
            (7, ethernet(1, 7, 3), true),
            (9, ethernet(8, 9, 3), true),
            (1_000, ethernet(1, 0, 3), false),
            (2_000, ethernet(1, 5, 3), false),
        ];
        assert_eq!(
            lost, wanted,
            "one is sent, one waits, one finds the queue full, one is dropped by an entry"
        );
        assert!(fabric.take_lost().is_empty(), "each once");
    }
    let mut fabric = row(1, FabricConfig::default());
    fabric.inject(Node(0), 7, ethernet(8, 2, 3));
    assert!(fabric.run().is_empty() && fabric.take_lost().is_empty(), "lost packets are not kept by default");
}

#[test]
fn other_threads_put_packets_in() {
    let fabric = row(3, FabricConfig { clock: Clock::wall(), ..FabricConfig::default() });
    let handle = fabric.handle();
    let (out, deliveries) = mpsc::channel();
    let driver = fabric.drive(move |delivery| drop(out.send(delivery))).expect("a thread");
    for _ in 0..10 {
        handle.inject(Injection { node: Node(0), port: 5, frame: ethernet(1, 2, 3) });
    }
    for _ in 0..10 {
        let delivery = deliveries.recv_timeout(Duration::from_mins(1)).expect("every packet arrives");
        assert_eq!((delivery.node, delivery.port), (Node(2), 1));
    }
    let fabric = driver.stop().expect("the thread ends well");
    assert_eq!(fabric.count(end(1, 1)).map(|count| count.packets), Some(10));
}
