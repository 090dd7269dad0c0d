//! A process without processor time for a while. Neither side must mistake late packets for lost ones.

use closc_nic::agent::{AgentContext, Options};
use closc_nic::batch::Batch;
use closc_paths::Table;

use crate::nic_common as common;
use crate::nic_common::{Cable, Net, nic, table};

const MS: u64 = 1_000_000;

fn with(options: Options, test: impl FnOnce(&mut Net<'_>)) {
    let bytes = [table(0), table(1)];
    let tables = [Table::open(&bytes[0]).unwrap(), Table::open(&bytes[1]).unwrap()];
    test(&mut Net::with([&tables[0], &tables[1]], options));
}

/// Freezes one of the agents repeatedly, for various times, while messages are in flight.
fn freeze(net: &mut Net<'_>, who: usize) {
    for round in 0..18u64 {
        let write = {
            let at = net.at(0);
            net.agents[0].write(&at, nic(1), (0, 0, 400_000, Some(1000))).unwrap()
        };
        net.run(100_000 + round * 37_000);
        net.freeze(who, true);
        // The durations range from the delay of an acknowledgement to a long pause, with pauses of a busy
        // machine in between.
        net.run([300_000, MS, 4 * MS, 15 * MS, 70 * MS, 150 * MS][round as usize % 6]);
        net.freeze(who, false);
        net.run(25 * MS);
        let view = net.agents[0].write_view(&net.at(0), write).unwrap();
        assert!(view.done, "round {round}: {view:?}");
        for n in 0..2 {
            let channel = &net.agents[n].status(&net.at(n)).channels[0];
            let seen = (channel.assumed_bad, channel.lost, net.agents[n].losses_after(0).len());
            assert_eq!(seen, (0, 0, 0), "round {round}, agent {n}, {who} was frozen");
        }
    }
}

#[test]
fn no_path_is_condemned_because_the_sender_did_not_run() {
    with(Options::default(), |net| freeze(net, 0));
    with(Options { port_mbps: Some(100), ..Options::default() }, |net| freeze(net, 0));
}

#[test]
fn no_path_is_condemned_because_the_receiver_did_not_run() {
    with(Options::default(), |net| freeze(net, 1));
    with(Options { port_mbps: Some(100), ..Options::default() }, |net| freeze(net, 1));
}

#[test]
fn a_cable_that_is_cut_meanwhile_is_left_all_the_same() {
    with(Options::default(), |net| {
        freeze(net, 0);
        net.loss.insert(Cable::Uplink(2, 0, 1), 1000);
        let at = net.at(0);
        let write = net.agents[0].write(&at, nic(1), (0, 0, 400_000, Some(1000))).unwrap();
        net.freeze(0, true);
        net.run(30 * MS);
        net.freeze(0, false);
        net.run(30 * MS);
        let channel = &net.agents[0].status(&net.at(0)).channels[0];
        assert_eq!(channel.assumed_bad, 1, "{channel:?}");
        assert!((1..=40).contains(&channel.lost), "{channel:?}");
        net.run(50 * MS);
        assert!(net.agents[0].write_view(&net.at(0), write).unwrap().done);
    });
}

/// Both agents have data to send, and owe an acknowledgement, when every port goes down. They must wake up only
/// occasionally, and not read data from the region in vain. Once ports are up, all data arrives.
#[test]
fn without_a_port_an_agent_waits_and_does_not_turn_in_circles() {
    with(Options::default(), |net| {
        net.run(500 * MS);
        let writes = [0, 1].map(|n| {
            let at = net.at(n);
            net.agents[n].write(&at, nic(1 - n as u16), (0, 0, 400_000, Some(1000))).unwrap()
        });
        net.run(100_000);
        for n in 0..2 {
            (0..common::PLANES).for_each(|plane| net.port(n, plane, false));
        }
        let sent = |net: &Net<'_>, n: usize| net.agents[n].write_view(&net.at(n), writes[n]).unwrap().sent;
        let sent_before = [0, 1].map(|n| sent(net, n));
        let mut batch = Batch::new(9600);
        let (mut turns, end_ns) = ([0, 0], net.now_ns + 1000 * MS);
        for (n, turns) in turns.iter_mut().enumerate() {
            let mut now_ns = net.now_ns;
            while now_ns < end_ns {
                let at = AgentContext { now_ns, ..net.at(n) };
                net.agents[n].tick(&at, &mut batch, &mut |_| {});
                net.agents[n].pump(&at, &mut batch);
                batch.clear();
                now_ns = net.agents[n].next_due_ns(now_ns).max(now_ns + 1);
                *turns += 1;
            }
        }
        // Packets in flight may be late, which is checked every millisecond or so.
        assert!(turns.iter().all(|turns| *turns < 3000), "{turns:?} turns in a second without a port");
        assert_eq!([0, 1].map(|n| sent(net, n)), sent_before);
        net.now_ns = end_ns;
        for n in 0..2 {
            (0..common::PLANES).for_each(|plane| net.port(n, plane, true));
        }
        net.run(2000 * MS);
        for (n, write) in writes.into_iter().enumerate() {
            assert!(net.agents[n].write_view(&net.at(n), write).unwrap().done);
        }
    });
}
