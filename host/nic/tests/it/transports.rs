//! Compares spraying, flow hashing and a single path on the same damaged network, and tests ports with a rate: in
//! memory and in virtual time.

use closc_nic::agent::Options;
use closc_nic::choose::Transport;
use closc_paths::Table;

use crate::nic_common::{Cable, Net, PLANES, UPLINKS, nic, table};

const MS: u64 = 1_000_000;

fn with<R>(options: Options, test: impl FnOnce(&mut Net<'_>) -> R) -> R {
    let bytes = [table(0), table(1)];
    let tables = [Table::open(&bytes[0]).unwrap(), Table::open(&bytes[1]).unwrap()];
    test(&mut Net::with([&tables[0], &tables[1]], options))
}

/// Orders a write of packets of 1,000 bytes from the first NIC to the second.
fn order(net: &mut Net<'_>, packets: u64) -> u64 {
    let at = net.at(0);
    net.agents[0].write(&at, nic(1), (0, 0, packets * 1000, Some(1000))).unwrap()
}

fn is_done(net: &Net<'_>, write: u64) -> bool {
    net.agents[0].write_view(&net.at(0), write).unwrap().done
}

fn sent_counts(net: &Net<'_>) -> Vec<u64> {
    net.agents[0].status(&net.at(0)).channels[0].sent.clone()
}

#[test]
fn a_flow_keeps_its_path_and_stalls_where_spraying_does_not() {
    for (transport, n_planes) in [(Transport::Spray, 4), (Transport::Flow, 1), (Transport::Static, 1)] {
        with(Options { transport, ..Options::default() }, |net| {
            net.run(50 * MS);
            let first = order(net, 400);
            net.run(200 * MS);
            assert!(is_done(net, first), "{transport:?}: nothing is broken");
            let before = sent_counts(net);
            let used: Vec<u8> = (0..PLANES).filter(|plane| before[usize::from(*plane)] > 0).collect();
            assert_eq!(used.len(), n_planes, "{transport:?}: {before:?}");
            // The last of the used planes fails, but its ports stay up.
            let dead = *used.last().unwrap();
            for uplink in 0..UPLINKS {
                net.loss.insert(Cable::Uplink(dead, 0, uplink), 1000);
            }
            let second = order(net, 400);
            net.run(1000 * MS);
            assert_eq!(is_done(net, second), transport == Transport::Spray, "{transport:?}");
            let after = sent_counts(net);
            let moved = (0..PLANES).any(|p| p != dead && after[usize::from(p)] > before[usize::from(p)]);
            assert_eq!(moved, transport == Transport::Spray, "{transport:?}: {before:?} {after:?}");
            for uplink in 0..UPLINKS {
                net.loss.remove(&Cable::Uplink(dead, 0, uplink));
            }
            net.run(1000 * MS);
            assert!(is_done(net, second), "{transport:?}: the path is back");
            let status = net.agents[1].status(&net.at(1));
            assert_eq!((status.wrong_bytes, status.counters.written_bytes), (0, 800_000));
        });
    }
}

#[test]
fn losses_are_listed_with_when_they_were_sent_and_known() {
    with(Options::default(), |net| {
        net.run(50 * MS);
        let write = order(net, 20);
        net.run(100 * MS);
        assert!(is_done(net, write) && net.agents[0].losses_after(0).is_empty());
        let cut_ns = net.now_ns;
        net.loss.insert(Cable::Uplink(1, 0, 2), 1000);
        let write = order(net, 600);
        net.run(500 * MS);
        assert!(is_done(net, write));
        let losses = net.agents[0].losses_after(0);
        let lost = net.agents[0].status(&net.at(0)).channels[0].lost;
        assert_eq!(losses.len() as u64, lost);
        assert!(lost > 0);
        for (at, loss) in losses.iter().enumerate() {
            assert_eq!((loss.number, loss.plane), (at as u64 + 1, 1), "{loss:?}");
            assert!(cut_ns <= loss.sent_ns && loss.sent_ns < loss.known_ns && loss.known_ns <= net.now_ns);
        }
        assert!(net.agents[0].losses_after(lost).is_empty());
    });
}

#[test]
fn a_port_keeps_its_rate_and_a_lost_plane_costs_its_share() {
    // 4 ports of 16 Mb/s carry 8,000 bytes per millisecond.
    with(Options { port_mbps: Some(16), ..Options::default() }, |net| {
        net.run(50 * MS);
        order(net, 100_000);
        let taken = |net: &mut Net<'_>| {
            let before = net.agents[1].status(&net.at(1)).counters.written_bytes;
            net.run(1000 * MS);
            net.agents[1].status(&net.at(1)).counters.written_bytes - before
        };
        taken(net);
        let whole = taken(net);
        // Headers and acknowledgements use a part of it.
        assert!((7_000_000..8_000_000).contains(&whole), "{whole}");
        net.port(0, 3, false);
        net.run(100 * MS);
        let less = taken(net);
        let share = less as f64 / whole as f64;
        assert!((0.74..0.76).contains(&share), "{share}");
        let sent = sent_counts(net);
        let apart = sent[..3].iter().max().unwrap() - sent[..3].iter().min().unwrap();
        assert!(apart <= sent[0] / 50 + 4, "{sent:?}");
    });
}

#[test]
fn what_is_cut_goes_again_at_once_and_blames_no_path() {
    with(Options::default(), |net| {
        net.run(50 * MS);
        net.cut = 300;
        let write = order(net, 400);
        net.run(30 * MS);
        assert!(is_done(net, write), "{:?}", net.agents[0].write_view(&net.at(0), write));
        let status = net.agents[0].status(&net.at(0));
        let channel = &status.channels[0];
        let view = net.agents[0].write_view(&net.at(0), write).unwrap();
        assert!(channel.cut > 50 && view.resent >= channel.cut, "{channel:?} {view:?}");
        assert_eq!((channel.lost, channel.assumed_bad), (0, 0), "{channel:?}");
        let far = net.agents[1].status(&net.at(1));
        assert_eq!((far.counters.cut, far.wrong_bytes), (channel.cut, 0));
    });
}

#[test]
fn a_packet_of_the_node_that_was_cut_is_no_packet() {
    with(Options::default(), |net| {
        net.run(50 * MS);
        net.cut = 1000;
        net.say(0, &[7; 400]);
        net.run(20 * MS);
        assert!(net.got[1].is_empty());
        assert_eq!(net.agents[0].status(&net.at(0)).channels[0].cut, 1);
        net.cut = 0;
        net.say(0, &[8; 400]);
        net.run(20 * MS);
        assert_eq!(net.got[1], [vec![8; 400]]);
    });
}
