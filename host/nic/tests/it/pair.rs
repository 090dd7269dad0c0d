//! Two agents and a network in memory: effects of cable failures on the nodes.

use std::fs::File;
use std::net::Ipv6Addr;

use closc_nic::agent::{AgentContext, Ban};
use closc_nic::api::{Answer, answer};
use closc_nic::io::run::is_of;
use closc_nic::localise::Culprit;
use closc_nic::region::Region;
use closc_paths::Table;

use crate::nic_common::{Cable, Net, drained, nic, table};

const MS: u64 = 1_000_000;

fn with(test: impl FnOnce(&mut Net<'_>)) {
    let bytes = [table(0), table(1)];
    let tables = [Table::open(&bytes[0]).unwrap(), Table::open(&bytes[1]).unwrap()];
    test(&mut Net::new([&tables[0], &tables[1]]));
}

fn talk(net: &mut Net<'_>, from: usize, n: u32) {
    for word in 0..n {
        net.say(from, &word.to_be_bytes());
        net.run(20_000);
    }
    net.run(20 * MS);
}

fn numbered_payloads(n: u32) -> Vec<Vec<u8>> {
    (0..n).map(|word| word.to_be_bytes().to_vec()).collect()
}

#[test]
fn packets_arrive_in_order_though_planes_differ() {
    with(|net| {
        talk(net, 0, 500);
        assert_eq!(net.got[1], numbered_payloads(500));
        let status = net.agents[1].status(&net.at(1));
        assert!(status.channels[0].reordered > 100, "the network did not reorder, so nothing was tried");
        // Plane 3 is the slowest, so its packets are overtaken most.
        let slowest = &status.channels[0].overtaken[0];
        assert!(slowest.plane == 3 && slowest.behind_most >= 1, "{:?}", status.channels[0].overtaken);
        let status = net.agents[0].status(&net.at(0));
        let sent = &status.channels[0].sent;
        // Acknowledgements and probes use the planes in turn as well.
        assert!(sent.iter().max().unwrap() - sent.iter().min().unwrap() <= 4, "{sent:?}");
        assert_eq!((status.channels[0].lost, status.channels[0].good), (0, 16));
    });
}

#[test]
fn a_cut_cable_is_left_named_and_used_again() {
    with(|net| {
        net.run(500 * MS);
        let cut = Cable::Uplink(2, 0, 1);
        net.loss.insert(cut, 1000);
        talk(net, 0, 400);
        let lost = net.agents[0].status(&net.at(0)).channels[0].lost;
        assert!((1..=8).contains(&lost), "{lost} packets lost");
        talk(net, 0, 400);
        assert_eq!(net.agents[0].status(&net.at(0)).channels[0].lost, lost, "it was left, and lost no more");
        let metrics = net.agents[0].metrics(&net.at(0));
        for row in [
            "packets_lost_total{zone=\"0\",group=\"2\",plane=\"2\"}",
            "uplink_packets_lost_total{plane=\"2\",uplink=\"1\"}",
        ] {
            assert!(metrics.contains(&format!("closc_nic_{row} {lost}\n")), "{row} {lost} in {metrics}");
        }
        assert!(metrics.contains("closc_nic_packets_lost_total{zone=\"0\",group=\"2\",plane=\"1\"} 0\n"));
        assert!(
            metrics.contains("closc_nic_path_changes_total{to=\"ASSUMED_BAD\",cause=\"loss\"} "),
            "{metrics}"
        );
        assert!(!metrics.contains("{to=\"fd"), "no row is of a NIC: {metrics}");
        net.run(1000 * MS);
        let found = net.agents[0].findings(&net.at(0));
        assert_eq!(
            found.iter().map(|f| f.culprit).collect::<Vec<_>>(),
            [Culprit::Uplink { plane: 2, uplink: 1 }]
        );
        net.loss.remove(&cut);
        net.run(2000 * MS);
        let status = net.agents[0].status(&net.at(0));
        assert_eq!(
            (status.channels[0].assumed_bad, status.channels[0].good),
            (0, 16),
            "back after good probes"
        );
        net.run(10_000 * MS);
        assert!(net.agents[0].findings(&net.at(0)).is_empty());
    });
}

/// All ports carry equal shares, so probes of dead paths on one port would slow down all ports. Paths without
/// answers are therefore probed rarely, and not at all if probes of the first T1 suffice. They still recover
/// quickly.
#[test]
fn dead_paths_cost_few_probes_and_are_back_at_once() {
    // Cut at the NIC's own T0, and at the far NIC's T0, where this NIC's probes to T1s do not detect it.
    for (group, most) in [(0, 2), (1, 10)] {
        with(|net| {
            net.run(500 * MS);
            talk(net, 0, 100);
            let probes = |net: &mut Net<'_>| {
                let before = net.agents[0].counters().probes;
                net.run(1000 * MS);
                net.agents[0].counters().probes - before
            };
            let whole = probes(net);
            let cut = Cable::Uplink(2, group, 1);
            net.loss.insert(cut, 1000);
            // Both sides must stop using the path, because lost answers over it would count against other paths. Send
            // until packets arrive after the overdue ones.
            for from in [0, 1] {
                talk(net, from, 500);
            }
            net.run(500 * MS);
            let bad = |net: &Net<'_>| net.agents[0].status(&net.at(0)).channels[0].assumed_bad;
            assert_eq!(bad(net), 1);
            let dead = probes(net);
            assert!(dead <= whole + most, "{whole} probes a second, and {dead} while a path is dead");
            net.loss.remove(&cut);
            net.run(400 * MS);
            assert_eq!(bad(net), 0, "group {group}");
        });
    }
}

/// Two pairs of cables of one NIC are swapped. Each port finds the T0 that it is plugged into, and discards that result
/// after the repair.
#[test]
fn ports_that_are_swapped_find_where_they_are() {
    with(|net| {
        let found = |net: &Net<'_>| -> Vec<Option<u8>> {
            let status = net.agents[0].status(&net.at(0));
            status.planes.iter().map(|plane| plane.found_at.map(|at| at.plane)).collect()
        };
        net.run(500 * MS);
        assert_eq!(found(net), [None; 4]);
        net.swapped = [(0, 3), (3, 0), (1, 2), (2, 1)].map(|(port, at)| ((0, port), at)).into();
        net.run(1500 * MS);
        assert_eq!(found(net), [3, 2, 1, 0].map(Some));
        net.swapped = [(1, 2), (2, 1)].map(|(port, at)| ((0, port), at)).into();
        net.run(1500 * MS);
        assert_eq!(found(net), [None, Some(2), Some(1), None]);
        // If a cable is cut instead of swapped, no other T0 answers its port.
        net.swapped.clear();
        net.loss.insert(Cable::Nic(1, 0), 1000);
        net.run(1500 * MS);
        assert_eq!(found(net), [None; 4]);
    });
}

/// One of two swapped ports reads its neighbour before the neighbour table is updated, the other one afterwards. Both
/// then have the same T0 as neighbour. The other T0 is known only from an earlier answer.
#[test]
fn ports_that_are_swapped_find_where_they_are_though_neighbours_change_meanwhile() {
    with(|net| {
        net.run(500 * MS);
        net.swapped = [(0, 3), (3, 0)].map(|(port, at)| ((0, port), at)).into();
        net.neighbour(0, 0, 3, true);
        net.run(1500 * MS);
        let found: Vec<Option<u8>> = net.agents[0]
            .status(&net.at(0))
            .planes
            .iter()
            .map(|plane| plane.found_at.map(|at| at.plane))
            .collect();
        assert_eq!(found, [Some(3), None, None, Some(0)]);
    });
}

/// No later packet shows the loss of the last packets of a burst. The agent asks, and stops using the path before its
/// next regular probe.
#[test]
fn the_end_of_a_burst_that_is_lost_blames_its_path() {
    with(|net| {
        talk(net, 0, 200);
        net.run(500 * MS);
        let lost = |net: &Net<'_>| {
            let channel = net.agents[0].status(&net.at(0)).channels[0].clone();
            (channel.lost, channel.assumed_bad)
        };
        assert_eq!(lost(net), (0, 0));
        // One packet per path, and none after them.
        net.loss.insert(Cable::Uplink(2, 1, 1), 1000);
        for word in 0..16_u32 {
            net.say(0, &word.to_be_bytes());
        }
        net.run(10 * MS);
        assert_eq!(lost(net), (1, 1), "the one over that uplink, and its path");
        assert_eq!(net.got[1].len(), 215);
    });
}

/// A NIC that does not answer at all is asked only a few times, and then becomes idle like a NIC without traffic.
#[test]
fn a_nic_that_is_dead_is_not_asked_for_ever() {
    with(|net| {
        talk(net, 0, 200);
        net.freeze(1, true);
        net.say(0, &[1]);
        net.run(3_000 * MS);
        let sent = |net: &Net<'_>| net.agents[0].status(&net.at(0)).channels[0].sent.iter().sum::<u64>();
        let before = sent(net);
        assert!((202..=220).contains(&before), "{before} numbered packets of 201");
        net.run(10_000 * MS);
        assert_eq!(sent(net), before);
    });
}

/// The answer to a probe uses its own path. If that path is dead and its sender has not detected it, the path
/// of the probe must not be blamed.
#[test]
fn no_good_path_is_condemned_beside_a_dead_cable() {
    for cable in [Cable::Uplink(2, 0, 1), Cable::Uplink(1, 1, 3)] {
        with(|net| {
            talk(net, 0, 200);
            net.loss.insert(cable, 1000);
            let mut found = [false; 2];
            for round in 0..3_000 {
                if round % 500 == 0 {
                    net.say(0, &[1]);
                }
                net.run(10 * MS);
                for (n, found) in found.iter_mut().enumerate() {
                    let status = net.agents[n].status(&net.at(n));
                    let bad = status.channels.first().map_or(0, |channel| channel.assumed_bad);
                    assert!(bad <= 1, "agent {n} condemned {bad} paths at {} ms", net.now_ns / MS);
                    *found |= bad == 1;
                }
            }
            assert_eq!(found, [true; 2], "both find the one that is dead, though they send almost nothing");
        });
    }
}

/// Agents run only for a moment every few milliseconds. Measured round trips must still be those of the cables.
#[test]
fn round_trips_do_not_count_how_long_a_frame_waits_to_be_read() {
    with(|net| {
        talk(net, 0, 200);
        for turn in 0..200_u64 {
            for n in 0..2 {
                net.freeze(n, true);
            }
            net.run((1 + turn % 5) * MS);
            for n in 0..2 {
                net.freeze(n, false);
            }
            net.run(40_000);
        }
        // A cable of plane p takes 30 + 45 p microseconds.
        let cable_us = |plane: u8| 30.0 + 45.0 * f64::from(plane);
        let planes = net.agents[0].status(&net.at(0)).planes;
        let found: Vec<f64> = planes.iter().filter_map(|plane| plane.t0_rtt_us).collect();
        assert_eq!(found, [0, 1, 2, 3].map(cable_us), "to the T0 and back");
        let at = net.at(0);
        let paths = net.agents[0].paths(&at, nic(1)).unwrap();
        for path in paths.iter().filter(|path| path.rtt_us.is_some()) {
            // A probe uses the path, and its answer any path. The far agent needs a turn to answer.
            let (least, most) =
                (cable_us(path.plane) + cable_us(0) - 0.1, cable_us(path.plane) + cable_us(3) + 21.0);
            let found = path.rtt_us.unwrap();
            assert!((least..most).contains(&found), "{path:?}: {least} to {most}");
        }
        assert!(paths.iter().filter(|path| path.rtt_us.is_some()).count() > 4, "{paths:?}");
        let view = net.agents[0].status(&net.at(0)).channels[0].paths_rtt_us.unwrap();
        assert!(view.least <= view.mean && view.mean <= view.most && view.most < 400.0, "{view:?}");
        assert!(net.agents[0].metrics(&net.at(0)).contains("closc_nic_path_rtt_seconds{zone="));
    });
}

/// The neighbour table contains the MAC address of another T0, which replaced the one that died.
#[test]
fn a_t0_that_is_replaced_by_another_is_used_again() {
    with(|net| {
        talk(net, 0, 100);
        net.replaced.push(2);
        net.run(1000 * MS);
        let answers =
            |net: &Net<'_>, n: usize| net.agents[n].status(&net.at(n)).planes[2].t0_answers == Some(true);
        assert!(!answers(net, 0) && !answers(net, 1), "frames are for an unused MAC address");
        for n in 0..2 {
            net.neighbour(n, 2, 2, true);
        }
        net.run(1000 * MS);
        assert!(answers(net, 0) && answers(net, 1));
        let before = net.agents[0].status(&net.at(0)).channels[0].sent[2];
        talk(net, 0, 100);
        let after = net.agents[0].status(&net.at(0)).channels[0].sent[2];
        assert!(after >= before + 25, "{before} packets over plane 2, then {after}");
    });
}

#[test]
fn a_port_that_goes_down_is_left_by_both_sides() {
    with(|net| {
        talk(net, 0, 100);
        // T0s are probed in the meantime.
        net.run(1000 * MS);
        net.port(1, 3, false);
        net.run(2 * MS);
        net.got[1].clear();
        let before = net.agents[0].status(&net.at(0)).channels[0].sent[3];
        talk(net, 0, 200);
        let status = net.agents[0].status(&net.at(0));
        assert_eq!(status.channels[0].sent[3], before, "the far side said that its port is down");
        assert_eq!(net.got[1], numbered_payloads(200));
        // For a port without a carrier, only the age of the T0's last answer is known.
        net.run(300 * MS);
        let at = net.at(1);
        let dead = net.agents[1].status(&at).planes.swap_remove(3);
        assert_eq!((dead.carrier, dead.t0_answers, dead.t0_rtt_us), (false, None, None));
        let age_ms = dead.t0_answered_ms_ago.unwrap();
        assert!((300.0..600.0).contains(&age_ms), "{age_ms}");
        let alive = net.agents[1].status(&at).planes.swap_remove(2);
        assert!(alive.t0_answers == Some(true) && alive.t0_answered_ms_ago.unwrap() < 100.0, "{alive:?}");
        let metrics = net.agents[1].metrics(&at);
        let says =
            |name: &str, plane: u8| metrics.contains(&format!("closc_nic_{name}{{plane=\"{plane}\"}} "));
        assert!(says("t0_up", 2) && says("t0_rtt_seconds", 2) && says("t0_answer_age_seconds", 3));
        assert!(!says("t0_up", 3) && !says("t0_rtt_seconds", 3), "{metrics}");
        net.port(1, 3, true);
        net.run(100 * MS);
        talk(net, 0, 100);
        assert!(net.agents[0].status(&net.at(0)).channels[0].sent[3] > before);
    });
}

/// The ports of a plane have a link again before its switches have routes: probes are lost, but no packets.
#[test]
fn a_plane_that_comes_back_step_by_step_loses_nothing() {
    with(|net| {
        talk(net, 0, 100);
        net.run(1000 * MS);
        for n in 0..2 {
            net.port(n, 2, false);
        }
        talk(net, 0, 100);
        let before = net.agents[0].status(&net.at(0)).channels[0].clone();
        // The T0s answer again, but not the T1s.
        let uplinks = (0..2).flat_map(|group| (0..4).map(move |uplink| Cable::Uplink(2, group, uplink)));
        net.loss.extend(uplinks.clone().map(|cable| (cable, 1000)));
        for n in 0..2 {
            net.port(n, 2, true);
        }
        talk(net, 0, 400);
        net.run(200 * MS);
        talk(net, 0, 400);
        let dark = net.agents[0].status(&net.at(0)).channels[0].clone();
        assert_eq!((dark.lost, dark.sent[2], dark.assumed_bad), (before.lost, before.sent[2], 4));
        net.loss.extend(uplinks.map(|cable| (cable, 0)));
        net.run(1000 * MS);
        talk(net, 0, 400);
        let whole = net.agents[0].status(&net.at(0)).channels[0].clone();
        assert_eq!((whole.lost, whole.assumed_bad), (before.lost, 0));
        assert!(whole.sent[2] >= dark.sent[2] + 90, "{whole:?}");
    });
}

#[test]
fn a_write_arrives_whole_though_a_plane_dies_and_a_cable_is_gray() {
    with(|net| {
        net.run(300 * MS);
        let at = net.at(0);
        let id = net.agents[0].write(&at, nic(1), (4096, 4096, 30_000_000, Some(8192))).unwrap();
        net.run(MS);
        net.loss.insert(Cable::Nic(0, 1), 1000);
        net.loss.insert(Cable::Uplink(1, 1, 2), 50);
        net.run(2000 * MS);
        let view = net.agents[0].write_view(&net.at(0), id).unwrap();
        assert!(view.done && view.resent > 0, "{view:?}");
        let status = net.agents[1].status(&net.at(1));
        assert_eq!(
            (status.counters.written_bytes, status.wrong_bytes, status.counters.writes_taken),
            (30_000_000, 0, 1)
        );
    });
}

#[test]
fn either_side_may_be_killed_at_any_moment() {
    with(|net| {
        for round in 0..30u16 {
            let at = net.at(0);
            let id = net.agents[0].write(&at, nic(1), (0, 0, 3_000_000, Some(4096))).unwrap();
            net.run(u64::from(round) * 97_000 + 20_000);
            net.restart(1, 100 + round);
            net.run(400 * MS);
            let view = net.agents[0].write_view(&net.at(0), id).unwrap();
            assert!(view.done, "round {round}: {view:?}");
            if round % 3 == 0 {
                net.restart(0, 200 + round);
            }
            net.got[1].clear();
            talk(net, 0, 50);
            assert_eq!(net.got[1], numbered_payloads(50), "round {round}");
        }
        let status = net.agents[1].status(&net.at(1));
        assert_eq!(status.wrong_bytes, 0);
    });
}

/// Before the first packet no destination is open. The last path is still protected.
#[test]
fn the_last_path_cannot_be_denied_before_the_first_packet() {
    with(|net| {
        let ban = |plane: u8| Ban { plane: Some(plane), reason: "drain".into(), ..Ban::default() };
        let mut deny = |ban: Ban| {
            let at = net.at(0);
            net.agents[0].deny(&at, &ban, 0.0).map_err(|fault| fault.to_string())
        };
        for plane in 0..3 {
            deny(ban(plane)).unwrap();
        }
        // Denials of part of a plane, or of a plane that is denied already, remove no last path.
        deny(Ban { uplinks: Some((0, 0)), ..ban(3) }).unwrap();
        deny(ban(2)).unwrap();
        let last = |to: &str| Err(format!("it would remove the last path to fd00:c105:1:{to}"));
        // The first affected NIC is the other one in the same group.
        assert_eq!(deny(ban(3)), last("1::2"));
        // Two denials of uplinks together would cut off the far group. Uplinks do not matter for a NIC of the
        // same group.
        assert_eq!(deny(Ban { uplinks: Some((1, 99)), ..ban(3) }), last("2::1"));
        assert_eq!(deny(Ban { uplinks: Some((0, 99)), group: Some(1), plane: None, ..ban(3) }), last("2::1"));
        assert_eq!(deny(Ban { group: Some(1), downlink: Some(1), ..ban(3) }), last("2::2"));
        deny(Ban { uplinks: Some((0, 99)), group: Some(0), ..ban(3) }).unwrap();
        let refused = deny(Ban { uplinks: Some((500, 600)), ..ban(0) }).unwrap_err();
        assert!(refused.starts_with("uplink 500 (from 0) does not exist: a T0 has "), "{refused}");
        let refused = deny(Ban { uplinks: Some((2, 1)), ..ban(0) }).unwrap_err();
        assert!(refused.starts_with("2 is above 1"), "{refused}");
        assert_eq!(net.agents[0].bans().bans.len(), 6, "what was refused left nothing");
        let at = net.at(0);
        assert!(net.agents[0].allow(&at, 1));
        net.agents[0].deny(&at, &ban(3), 0.0).unwrap();
        talk(net, 0, 20);
        let sent = net.agents[0].status(&net.at(0)).channels[0].sent.clone();
        assert_eq!(sent[1..4], [0, 0, 0], "only plane 0 is left: {sent:?}");
    });
}

/// A new table drains planes. Only denials that would leave no path are ended.
#[test]
fn a_new_table_ends_denials_of_what_would_be_the_last_path() {
    let bytes = drained(0, &[2, 3]);
    let less = Table::open(&bytes).unwrap();
    with(|net| {
        let ban = |plane: u8| Ban { plane: Some(plane), reason: "drain".into(), ..Ban::default() };
        let old = net.at(0);
        for plane in [3, 0, 1] {
            net.agents[0].deny(&old, &ban(plane), 0.0).unwrap();
        }
        let new = AgentContext { table: &less, now_ns: old.now_ns };
        let ended = net.agents[0].reload(&old, &new).unwrap();
        let ended: Vec<String> = ended.iter().map(|(id, why)| format!("{id}: {why}")).collect();
        assert_eq!(ended, ["3: it would remove the last path to fd00:c105:1:1::2"]);
        let left: Vec<Option<u8>> = net.agents[0].bans().bans.iter().map(|ban| ban.plane).collect();
        assert_eq!(left, [Some(3), Some(0)]);
        assert!(net.agents[0].reload(&new, &old).unwrap().is_empty(), "there are ways again");
    });
}

/// Addresses of two fabrics may be the same; their names distinguish them.
#[test]
fn a_table_of_another_fabric_is_refused_by_its_name() {
    let bytes = table(0);
    let table = Table::open(&bytes).unwrap();
    assert!(is_of(&table, None).is_ok() && is_of(&table, Some("pair")).is_ok());
    let refused = is_of(&table, Some("pod")).unwrap_err().to_string();
    assert!(refused.starts_with("the table is for fabric `pair`, not `pod`"), "{refused}");
    with(|net| {
        let status = net.agents[0].status(&net.at(0));
        assert_eq!(status.table.fabric.as_deref(), Some("pair"));
        assert_eq!(status.table.checksum, format!("{:08x}", table.checksum()));
        let other = net.agents[1].status(&net.at(1)).table;
        assert_ne!(other.checksum, status.table.checksum, "groups have tables of their own");
        let metrics = net.agents[0].metrics(&net.at(0));
        let line =
            format!("closc_nic_table_info{{fabric=\"pair\",checksum=\"{}\"}} 1\n", status.table.checksum);
        assert!(metrics.contains(&line), "{metrics}");
    });
}

/// A port without a carrier forwards nothing, so its plane does not count as a path.
#[test]
fn the_plane_of_a_dead_port_is_not_the_last_path() {
    with(|net| {
        let ban = |plane: u8| Ban { plane: Some(plane), reason: "drain".into(), ..Ban::default() };
        let at = net.at(0);
        net.agents[0].port(&at, 3, None, false);
        for plane in 0..2 {
            net.agents[0].deny(&at, &ban(plane), 0.0).unwrap();
        }
        let refused = net.agents[0].deny(&at, &ban(2), 0.0).unwrap_err().to_string();
        assert!(refused.starts_with("it would remove the last path to fd00:c105:1:"), "{refused}");
        // A dead element may be denied.
        net.agents[0].deny(&at, &ban(3), 0.0).unwrap();
    });
}

#[test]
fn denied_paths_carry_nothing_and_the_last_one_cannot_be_denied() {
    with(|net| {
        talk(net, 0, 16);
        let ban = |plane: u8| Ban { plane: Some(plane), reason: "drain".into(), ..Ban::default() };
        for plane in 0..3 {
            let at = net.at(0);
            net.agents[0].deny(&at, &ban(plane), 0.0).unwrap();
        }
        let at = net.at(0);
        let refused = net.agents[0].deny(&at, &ban(3), 0.0).unwrap_err().to_string();
        assert_eq!(refused, "it would remove the last path to fd00:c105:1:1::2");
        let before = net.agents[0].status(&net.at(0)).channels[0].sent.clone();
        talk(net, 0, 100);
        let after = net.agents[0].status(&net.at(0)).channels[0].sent.clone();
        assert_eq!((&before[..3], after[3] - before[3]), (&after[..3], 100));
        let bans = net.agents[0].bans();
        net.restart(0, 99);
        let at = net.at(0);
        assert!(net.agents[0].restore(&at, &bans, 0.0).is_empty());
        assert_eq!(net.agents[0].bans(), bans, "none forgotten, none invented");
        assert!(net.agents[0].allow(&at, 1) && !net.agents[0].allow(&at, 1));
    });
}

/// A denial whose time ends while no agent runs is not in force afterwards, and its number is not reused.
#[test]
fn a_denial_that_ends_while_the_agent_is_dead_has_ended() {
    with(|net| {
        let ban = |plane: u8, until: Option<f64>| Ban {
            plane: Some(plane),
            reason: "drain".into(),
            until,
            ..Ban::default()
        };
        let at = net.at(0);
        for (plane, until) in [(0, Some(60.0)), (1, None), (2, Some(90.0))] {
            net.agents[0].deny(&at, &ban(plane, until), 10.0).unwrap();
        }
        let kept = net.agents[0].bans();
        net.restart(0, 99);
        let at = net.at(0);
        assert!(net.agents[0].restore(&at, &kept, 75.0).is_empty(), "nothing is wrong with it");
        let left: Vec<Option<u64>> = net.agents[0].bans().bans.iter().map(|ban| ban.id).collect();
        assert_eq!(left, [Some(2), Some(3)]);
        talk(net, 0, 40);
        let sent = net.agents[0].status(&net.at(0)).channels[0].sent.clone();
        assert!(sent[0] > 0 && sent[1..3] == [0, 0], "{sent:?}");
        // End times are in real time, so they remain the same after a restart.
        net.run(16_000 * MS);
        let left: Vec<Option<u64>> = net.agents[0].bans().bans.iter().map(|ban| ban.id).collect();
        assert_eq!(left, [Some(2)]);
        let at = net.at(0);
        assert_eq!(net.agents[0].deny(&at, &ban(3, None), 92.0), Ok(4));
    });
}

/// A port corrupts one of twenty frames. All data still arrives unchanged, and the port is named as if it
/// lost packets.
#[test]
fn changed_bytes_are_found_sent_again_and_their_cable_is_named() {
    with(|net| {
        net.run(500 * MS);
        let port = Cable::Nic(1, 0);
        net.corrupt.insert(port, 5_000);
        let at = net.at(0);
        let id = net.agents[0].write(&at, nic(1), (0, 0, 8_000_000, Some(1024))).unwrap();
        net.run(4000 * MS);
        let view = net.agents[0].write_view(&net.at(0), id).unwrap();
        let status = net.agents[1].status(&net.at(1));
        assert!(view.done, "{view:?}");
        assert_eq!((status.counters.written_bytes, status.wrong_bytes), (8_000_000, 0));
        assert!(status.counters.damaged > 0, "{:?}", status.counters);
        // One agent sends few probes to its own T0. The collector has those of all agents.
        net.corrupt.insert(port, 15_000);
        net.run(20_000 * MS);
        let found = net.agents[0].findings(&net.at(0));
        let culprits: Vec<Culprit> = found.iter().map(|finding| finding.culprit).collect();
        assert!(found.iter().all(|finding| finding.gray), "{found:?}");
        assert_eq!(culprits, [Culprit::NicCable { plane: 1 }]);
        let metrics = net.agents[0].metrics(&net.at(0));
        let row = "closc_nic_probes_damaged_total{plane=\"1\",tier=\"0\"";
        assert!(metrics.contains(row), "{metrics}");
    });
}

/// Messages of version 1, which had no checksum, are rejected and counted. An incomplete upgrade is therefore visible.
#[test]
fn messages_of_another_version_are_refused_and_counted() {
    with(|net| {
        net.run(50 * MS);
        net.version = Some(1);
        net.run(50 * MS);
        let counters = *net.agents[0].counters();
        assert!(counters.other_version > 0, "{counters:?}");
        assert_eq!((counters.damaged, counters.malformed), (0, 0));
    });
}

/// Every reason to reject a write has its own message.
#[test]
fn a_refused_write_says_why() {
    with(|net| {
        let own = Ipv6Addr::from(nic(0));
        let mut refused = |to: &str, bytes: u64, more: &str| {
            let at = net.at(0);
            let line = format!(r#"{{"op":"write","to":"{to}","bytes":{bytes}{more}}}"#);
            match answer(&mut net.agents[0], &at, line.as_bytes(), 0.0).0 {
                Answer::Now(said) => said["error"].as_str().unwrap().to_owned(),
                other => format!("{other:?}"),
            }
        };
        let far = Ipv6Addr::from(nic(1)).to_string();
        let all = [
            (refused(&own.to_string(), 1, ""), "of this NIC itself"),
            (refused("2001:db8::1", 1, ""), "not the address of a NIC of this fabric"),
            (refused(&far, 0, ""), "at least one byte"),
            (refused(&far, 1 << 40, ""), "pieces of 8192 are 134217728 pieces; the maximum is 1048576"),
            (refused(&far, 2, r#","unit":1,"target":18446744073709551615"#), "no region has 2 bytes from"),
            (refused(&far, 2, &format!(r#","local":{}"#, u64::MAX)), "the region has "),
        ];
        for (said, wanted) in all {
            assert!(said.contains(wanted), "{said}");
        }
        let taken = (0..100).map(|_| refused(&far, 1, "")).find(|said| !said.starts_with("WhenWritten"));
        assert!(taken.unwrap().contains("64 writes to this NIC are in progress"));
    });
}

/// A write that the far NIC rejects, or whose data cannot be read here, ends with a reason. No path is blamed.
#[test]
fn a_write_that_cannot_be_done_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("region");
    let file = |bytes: u64| {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        file.set_len(bytes).unwrap();
        file
    };
    with(|net| {
        let far = |net: &mut Net<'_>, epoch, region| {
            net.restart_with(1, epoch, region);
            net.run(300 * MS);
        };
        let failed = |net: &mut Net<'_>, order| {
            let at = net.at(0);
            let id = net.agents[0].write(&at, nic(1), order).unwrap();
            net.run(200 * MS);
            let view = net.agents[0].write_view(&net.at(0), id).unwrap();
            assert!(!view.done && net.agents[0].write_tally(id).is_none(), "{view:?}");
            let sent = view.sent;
            net.run(500 * MS);
            assert_eq!(net.agents[0].write_view(&net.at(0), id).unwrap().sent, sent, "nothing more is sent");
            view.failed.unwrap()
        };
        far(net, 20, Region::File(file(1000), 1000));
        for order in [(0, 0, 1001, None), (0, 0, 1_000_000, None), (0, u64::MAX - 100, 100, None)] {
            assert!(failed(net, order).contains("the far NIC rejects it"));
        }
        // The far file can be read but not written. After that, the local file becomes shorter.
        let read_only = File::open(&path).unwrap();
        far(net, 30, Region::File(read_only, 1000));
        assert!(failed(net, (0, 0, 1000, None)).contains("the far NIC rejects it"));
        far(net, 40, Region::File(file(3_000_000), 3_000_000));
        net.restart_with(0, 50, Region::File(File::open(&path).unwrap(), 3_000_000));
        net.run(300 * MS);
        file(1_500_000);
        assert_eq!(failed(net, (0, 0, 3_000_000, None)), "the local region cannot be read");
        let at = net.at(0);
        let id = net.agents[0].write(&at, nic(1), (0, 0, 1_000_000, None)).unwrap();
        net.run(300 * MS);
        assert!(net.agents[0].write_view(&net.at(0), id).unwrap().done, "others are done");
        let status = net.agents[0].status(&net.at(0));
        let channel = &status.channels[0];
        assert_eq!((channel.lost, channel.assumed_bad, channel.denied), (0, 0, 0), "{channel:?}");
        assert!(net.agents[1].status(&net.at(1)).counters.refused_writes == 0);
    });
}

/// A query for paths changes no state. It opens and closes no channels.
#[test]
fn questions_for_paths_leave_no_trace() {
    with(|net| {
        net.run(100 * MS);
        let at = net.at(0);
        assert!(net.agents[0].paths(&at, nic(0)).is_none(), "the NIC itself");
        assert!(net.agents[0].paths(&at, [1; 16]).is_none());
        let before = net.agents[0].paths(&at, nic(1)).unwrap();
        assert!(!before.is_empty() && before.iter().all(|path| path.state == "UNKNOWN"));
        for _ in 0..1000 {
            assert_eq!(net.agents[0].paths(&at, nic(1)).unwrap(), before);
        }
        assert_eq!(net.agents[0].status(&at).channels.len(), 0);
        // A path over a T1 that does not answer is shown as not in use from the first query.
        net.loss.insert(Cable::Uplink(1, 0, 2), 1000);
        net.run(1000 * MS);
        let at = net.at(0);
        let paths = net.agents[0].paths(&at, nic(1)).unwrap();
        let out: Vec<_> = paths.iter().filter(|path| path.state == "ASSUMED_BAD").collect();
        assert!(!out.is_empty() && out.iter().all(|path| (path.plane, path.uplink) == (1, 2)), "{paths:?}");
        net.run(MS);
        let texts: Vec<_> = net.agents[0].events_after(0).map(|event| event.text.clone()).collect();
        assert!(texts.iter().all(|text| !text.contains("value")), "{texts:?}");
        talk(net, 0, 10);
        assert_eq!(net.agents[0].status(&net.at(0)).channels.len(), 1);
    });
}
