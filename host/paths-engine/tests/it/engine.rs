//! Single cases that the model test cannot reach, because it has one destination and one table.

use closc_paths::{Choice, Destination, Kind, Scope, Table, TableDenial};
use closc_paths_engine::{
    Capacity, Cause, Denial, DenyFault, Engine, OpenFault, Reason, ReloadFault, Settings, State, ValueView,
};

use crate::common::{Shape, nic, table, table_of};

fn engine(bytes: &[u8], destinations: usize) -> (Table<'_>, Engine) {
    let table = Table::open(bytes).unwrap();
    let engine = Engine::new(&table, 0, Settings::default(), Capacity::of(&table, destinations)).unwrap();
    (table, engine)
}

fn absent(plane: u8, uplink: u16) -> TableDenial {
    let scope = Scope { uplinks: Some((uplink, uplink)), ..Scope::default() };
    TableDenial { plane, reason: closc_paths::Reason::Absent, scope }
}

#[test]
fn a_value_absent_in_the_table_is_denied_and_a_backup_takes_its_place() {
    let bytes = table(&Shape { denied: vec![absent(0, 0)], ..Shape::default() });
    let (table, mut engine) = engine(&bytes, 1);
    let path = engine.open(&table, nic(1, 0), 0).unwrap();
    let first = engine.values(path).next().unwrap();
    assert_eq!((first.state, first.in_use), (State::Denied, false));
    assert_eq!(engine.in_use(path).collect::<Vec<_>>(), [2, 2, 2, 2]);
}

#[test]
fn inside_a_group_a_plane_is_one_path() {
    let bytes = table(&Shape::default());
    let (table, mut engine) = engine(&bytes, 1);
    let path = engine.open(&table, nic(0, 1), 0).unwrap();
    assert_eq!(engine.in_use(path).collect::<Vec<_>>(), [1, 1, 1, 1]);
    // The floor of 4 of 8 values corresponds to 2 of 4 planes here. No good path is left, so the planes that failed
    // first are used.
    for plane in 0..4 {
        let entropy = engine.values(path).find(|v| v.plane == plane).unwrap().entropy;
        engine.record_loss(path, plane, entropy, u64::from(plane) + 1);
    }
    assert_eq!(engine.in_use(path).sum::<u32>(), 2);
    assert_eq!(engine.planes_in_use(path), 0b11, "those that failed longest ago");
}

/// Recomputing for another reason does not replace the values that were added to reach the floor.
#[test]
fn who_keeps_the_floor_stays() {
    let bytes = table(&Shape { planes: 3, active: 1, backup: 3, min_active: 2, denied: Vec::new() });
    let (table, mut engine) = engine(&bytes, 1);
    let path = engine.open(&table, nic(1, 1), 0).unwrap();
    let ev = |engine: &Engine, plane: u8, n: usize| {
        engine.values(path).filter(|v| v.plane == plane).nth(n).unwrap().entropy
    };
    let used = |engine: &Engine| -> Vec<(u8, u32)> {
        engine.values(path).filter(|v| v.in_use).map(|v| (v.plane, v.entropy)).collect()
    };
    engine.set_far_ports(path, 0b100);
    let (good, elsewhere) = (ev(&engine, 1, 2), ev(&engine, 2, 1));
    engine.record_answer(path, 1, good, 1);
    // In the only remaining plane, the good value is used, and another one to reach the floor of two.
    engine.set_far_ports(path, 0b010);
    let before = used(&engine);
    assert!(before.len() == 2 && before.contains(&(1, good)), "{before:?}");
    engine.record_answer(path, 2, elsewhere, 2);
    assert_eq!(used(&engine), before);
}

/// After a port recovers, its paths are used once enough answers arrive. The outage does not count as a
/// failure of the paths.
#[test]
fn a_plane_in_doubt_is_out_until_it_answers() {
    let bytes = table(&Shape { planes: 2, active: 2, backup: 1, min_active: 1, denied: Vec::new() });
    let (table, mut engine) = engine(&bytes, 1);
    let path = engine.open(&table, nic(1, 1), 0).unwrap();
    let of = |engine: &Engine, plane: u8| -> Vec<ValueView> {
        engine.values(path).filter(|v| v.plane == plane).collect()
    };
    for v in of(&engine, 1) {
        engine.record_answer(path, 1, v.entropy, 1);
    }
    assert_eq!((engine.set_far_ports(path, 0b01), engine.set_far_ports(path, 0b11)), (0, 0b10));
    engine.doubt(path, 1, 2);
    let doubted = of(&engine, 1);
    assert!(
        doubted.iter().all(|v| v.state == State::AssumedBad && !v.in_use && v.relapses == 0),
        "{doubted:?}"
    );
    let causes: Vec<Cause> = std::iter::from_fn(|| engine.next_event()).map(|event| event.cause).collect();
    assert_eq!(causes.iter().filter(|cause| **cause == Cause::Port).count(), 3, "{causes:?}");
    let answers = Settings::default().good_answers;
    for n in 1..=answers {
        assert_eq!(engine.planes_in_use(path), 0b01, "after {} answers", n - 1);
        engine.record_answer(path, 1, doubted[2].entropy, 3);
    }
    assert_eq!(engine.planes_in_use(path), 0b11);
    assert_eq!(of(&engine, 1).iter().filter(|v| v.in_use).count(), 1);
    // A path in doubt is used if the others do not reach the floor.
    engine.set_local_port(0, false);
    engine.doubt(path, 1, 4);
    assert_eq!(engine.planes_in_use(path), 0b10);
}

#[test]
fn a_reload_keeps_what_did_not_change() {
    let before = table(&Shape::default());
    let after = table(&Shape { denied: vec![absent(1, 1)], ..Shape::default() });
    let (old, mut engine) = engine(&before, 2);
    let path = engine.open(&old, nic(1, 0), 0).unwrap();
    let ev = |engine: &Engine, plane: u8, n: usize| {
        engine.values(path).filter(|v| v.plane == plane).nth(n).unwrap().entropy
    };
    let (bad, good) = (ev(&engine, 0, 1), ev(&engine, 2, 0));
    engine.record_loss(path, 0, bad, 5);
    engine.record_answer(path, 2, good, 6);
    while engine.next_event().is_some() {}
    let new = Table::open(&after).unwrap();
    engine.reload(&old, &new, 7, |_| panic!("no destination is closed")).unwrap();
    let state = |plane: u8, n: usize| engine.values(path).filter(|v| v.plane == plane).nth(n).unwrap();
    assert_eq!((state(0, 1).state, state(0, 1).lost), (State::AssumedBad, 1));
    assert_eq!(state(2, 0).state, State::Good);
    assert_eq!((state(1, 1).state, state(1, 1).in_use), (State::Denied, false));
    assert!(state(1, 2).in_use, "a backup took the place");
    let event = engine.next_event().unwrap();
    assert_eq!((event.cause, event.to, event.entropy), (Cause::Table, State::Denied, ev(&engine, 1, 1)));
    assert!(engine.next_event().is_none());
    // After a reload of the old table, the value has its earlier state: it is not bad.
    engine.reload(&new, &old, 8, |_| panic!("no destination is closed")).unwrap();
    assert_eq!(engine.values(path).filter(|v| v.plane == 1).nth(1).unwrap().state, State::Unknown);
}

#[test]
fn tables_that_do_not_fit_change_nothing() {
    let (small, large) = (table(&Shape::default()), table(&Shape { planes: 8, ..Shape::default() }));
    let (old, mut engine) = engine(&small, 1);
    let path = engine.open(&old, nic(1, 0), 0).unwrap();
    let fault = engine.reload(&old, &Table::open(&large).unwrap(), 1, |_| ()).unwrap_err();
    assert!(matches!(fault, ReloadFault::Open(OpenFault::Shape { planes: 8, max_planes: 4, .. })), "{fault}");
    assert_eq!(engine.values(path).count(), 16);
    let fault = Engine::new(&old, 2, Settings::default(), Capacity::of(&old, 1)).unwrap_err();
    assert_eq!(fault, OpenFault::Downlink { nics: 2, downlink: 2 });
    assert_eq!(engine.open(&old, [0; 16], 1), Err(OpenFault::Unknown));
    assert_eq!(engine.open(&old, nic(1, 1), 1), Err(OpenFault::Full(1)));
}

#[test]
fn a_closed_destination_is_not_mistaken_for_the_next() {
    let bytes = table(&Shape::default());
    let (table, mut engine) = engine(&bytes, 1);
    let first = engine.open(&table, nic(1, 0), 0).unwrap();
    engine.close(first);
    engine.close(first);
    let second = engine.open(&table, nic(1, 1), 0).unwrap();
    assert_ne!(first, second);
    assert!(engine.pick(first).is_none() && engine.pick(second).is_some());
    assert_eq!(engine.open_paths().collect::<Vec<_>>(), [second]);
}

#[test]
fn denials_hold_for_destinations_that_open_later() {
    let bytes = table(&Shape::default());
    let (table, mut engine) = engine(&bytes, 2);
    let plane = |plane: u8| Denial {
        plane: Some(plane),
        scope: Scope::default(),
        reason: Reason::GrayLoss,
        until_ns: None,
    };
    let id = engine.deny(plane(1), 0).unwrap();
    let both = engine.deny(plane(1), 0).unwrap();
    let path = engine.open(&table, nic(1, 0), 0).unwrap();
    assert_eq!(engine.planes_in_use(path), 0b1101);
    assert!(engine.allow(id, 1));
    assert_eq!(engine.planes_in_use(path), 0b1101, "the other denial still covers it");
    assert!(engine.allow(both, 1) && !engine.allow(both, 1));
    assert_eq!(engine.planes_in_use(path), 0b1111);
}

/// A destination that does not answer must not prevent a drain.
#[test]
fn the_guard_lets_denials_of_a_dead_destination_through() {
    let bytes = table(&Shape::default());
    let (table, mut engine) = engine(&bytes, 1);
    let path = engine.open(&table, nic(1, 0), 0).unwrap();
    let values: Vec<_> = engine.values(path).collect();
    for v in &values {
        engine.record_loss(path, v.plane, v.entropy, 1);
    }
    let denial =
        |plane: Option<u8>| Denial { plane, scope: Scope::default(), reason: Reason::Drain, until_ns: None };
    engine.deny(denial(Some(0)), 2).unwrap();
    assert_eq!(engine.deny(denial(None), 2), Err(DenyFault::LastPath(path)));
}

/// Full queues lose packets of all paths of a plane. A path that loses packets while the others do not is bad.
#[test]
fn a_drop_in_a_full_queue_condemns_no_path_unless_the_others_of_its_plane_do_better() {
    let bytes = table(&Shape { planes: 2, active: 4, backup: 1, min_active: 1, denied: Vec::new() });
    let (table, mut engine) = engine(&bytes, 1);
    let path = engine.open(&table, nic(1, 1), 0).unwrap();
    let values: Vec<(u8, u32)> =
        engine.values(path).filter(|v| v.in_use && v.plane == 1).map(|v| (v.plane, v.entropy)).collect();
    let bad = |engine: &Engine| engine.values(path).filter(|v| v.state == State::AssumedBad).count();
    for now_ns in 0..400 {
        for (plane, entropy) in &values {
            // Seven senders share one link: six of seven packets are dropped.
            if now_ns % 7 == 0 {
                engine.record_answer(path, *plane, *entropy, now_ns);
            } else {
                engine.record_drop(path, *plane, *entropy, now_ns);
            }
        }
    }
    assert_eq!(bad(&engine), 0);
    for now_ns in 400..8_000 {
        for (plane, entropy) in &values {
            engine.record_answer(path, *plane, *entropy, now_ns);
        }
    }
    let (plane, entropy) = values[0];
    let mut drops = 0;
    while bad(&engine) == 0 {
        drops += 1;
        engine.record_drop(path, plane, entropy, 8_000 + drops);
        values[1..]
            .iter()
            .for_each(|(plane, entropy)| engine.record_answer(path, *plane, *entropy, 8_000 + drops));
    }
    assert!((4..20).contains(&drops), "{drops}");
    let of =
        |engine: &Engine| engine.values(path).find(|v| v.entropy == entropy && v.plane == plane).unwrap();
    assert_eq!(of(&engine).state, State::AssumedBad);
    assert!(of(&engine).lost > 300, "every one of them counts");
}

#[test]
fn a_path_that_keeps_failing_has_to_show_more() {
    let bytes = table(&Shape::default());
    let (table, mut engine) = engine(&bytes, 1);
    let path = engine.open(&table, nic(1, 0), 0).unwrap();
    let first = engine.values(path).next().unwrap();
    let mut answers = Vec::new();
    for now in 0..8 {
        engine.record_loss(path, first.plane, first.entropy, now);
        let mut count = 0;
        while engine.values(path).next().unwrap().state == State::AssumedBad {
            engine.record_answer(path, first.plane, first.entropy, now);
            count += 1;
        }
        answers.push(count);
    }
    assert_eq!(answers, [4, 8, 16, 32, 64, 128, 128, 128]);
}

#[test]
fn an_uplink_that_a_probe_condemned_is_left_by_all_destinations_but_local_ones() {
    let bytes = table(&Shape::default());
    let (table, mut engine) = engine(&bytes, 3);
    let far = engine.open(&table, nic(1, 0), 0).unwrap();
    let near = engine.open(&table, nic(0, 1), 0).unwrap();
    engine.fail_uplink(2, 0, 1);
    let bad = |path| engine.values(path).filter(|v| v.state == State::AssumedBad).count();
    assert_eq!((bad(far), bad(near)), (1, 0));
}

/// A path known to be dead before a destination is opened is bad for that destination from the start.
#[test]
fn what_was_lost_before_is_out_for_a_destination_that_is_new() {
    let bytes = table_of(&Shape { planes: 4, active: 3, backup: 1, min_active: 2, denied: vec![] }, 3, 4);
    let (table, mut engine) = engine(&bytes, 3);
    let paths = [nic(1, 0), nic(2, 0), nic(0, 1)].map(|nic| engine.open(&table, nic, 0).unwrap());
    let is_dead = |to: &Destination, choice: Choice| {
        to.kind != Kind::Local && (choice.plane, choice.t0_uplink) == (2, 0)
    };
    for (n, path) in paths.into_iter().enumerate() {
        engine.fail_dead_paths(path, 5, is_dead);
        let bad = paths.map(|path| engine.values_out(path).count());
        assert_eq!(bad, [[1, 0, 0], [1, 1, 0], [1, 1, 0]][n]);
    }
    let (_, out) = engine.values_out(paths[0]).next().unwrap();
    assert_eq!((out.plane, table.choice(out.entropy).t0_uplink, out.in_use), (2, 0, false));
    assert_eq!(engine.next_event(), None, "nothing changed");
    engine.close(paths[1]);
    engine.fail_dead_paths(paths[1], 6, |_, _| true);
    assert_eq!(engine.values_out(paths[1]).count(), 0);
}

/// Messages of one packet to each of many NICs load all planes that are up equally, and all uplinks of each plane.
#[test]
fn first_packets_spread_over_planes_and_values() {
    let shape = Shape { planes: 8, active: 4, backup: 1, min_active: 4, denied: vec![absent(2, 1)] };
    let bytes = table_of(&shape, 64, 256);
    let (table, mut engine) = engine(&bytes, 1);
    for down in [None, Some(3)] {
        engine.set_local_port(3, down.is_none());
        let mut sent = [[0u32; 5]; 8];
        for (group, downlink) in (0..64).flat_map(|group| (0..256).map(move |nic| (group, nic))) {
            let path = engine.open(&table, nic(group, downlink), 0).unwrap();
            let pick = engine.pick(path).unwrap();
            if group > 0 {
                let at = engine.values(path).filter(|v| v.plane == pick.plane);
                let at = at.map(|v| v.entropy).position(|entropy| entropy == pick.entropy).unwrap();
                sent[usize::from(pick.plane)][at] += 1;
            }
            engine.close(path);
            // A pair of NICs always starts at the same path, even after a reload.
            if downlink % 32 == 0 {
                let again = engine.open(&table, nic(group, downlink), 9).unwrap();
                engine.reload(&table, &table, 10, |_| panic!("no destination is closed")).unwrap();
                assert_eq!(engine.pick(again), Some(pick));
                engine.close(again);
            }
        }
        let planes = 8 - down.iter().count() as u32;
        let share = 63 * 256 / planes;
        for (plane, values) in sent.iter().enumerate() {
            let all: u32 = values.iter().sum();
            if down == Some(plane) {
                assert_eq!(all, 0);
                continue;
            }
            assert!(all.abs_diff(share) * 100 <= share * 6, "plane {plane}: {all}, not {share}: {sent:?}");
            let out_of_use = if plane == 2 { 1 } else { 4 };
            for (n, count) in values.iter().enumerate() {
                let wanted = if n == out_of_use { 0 } else { all / 4 };
                assert!(count.abs_diff(wanted) * 100 <= wanted * 14, "plane {plane} value {n}: {sent:?}");
            }
        }
    }
}

#[test]
fn a_plane_that_comes_up_later_is_staggered_too() {
    let bytes = table_of(&Shape { planes: 2, active: 4, ..Shape::default() }, 64, 64);
    let (table, mut engine) = engine(&bytes, 1);
    let mut first = [0u32; 4];
    for (group, downlink) in (1..64).flat_map(|group| (0..64).map(move |nic| (group, nic))) {
        engine.set_local_port(1, false);
        let path = engine.open(&table, nic(group, downlink), 0).unwrap();
        engine.set_local_port(1, true);
        let pick = std::iter::from_fn(|| engine.pick(path)).find(|pick| pick.plane == 1).unwrap();
        let at = engine.values(path).filter(|v| v.plane == 1).position(|v| v.entropy == pick.entropy);
        first[at.unwrap()] += 1;
        engine.close(path);
    }
    assert!(first.iter().all(|count| count.abs_diff(1008) < 100), "{first:?}");
}

/// To reach the floor, a path that lost a packet is used before one over an unreachable switch, although that one
/// failed earlier.
#[test]
fn the_floor_is_kept_by_what_may_still_carry() {
    let bytes = table_of(&Shape { planes: 2, active: 3, backup: 0, min_active: 5, denied: vec![] }, 3, 4);
    let (table, mut engine) = engine(&bytes, 1);
    let path = engine.open(&table, nic(1, 0), 0).unwrap();
    let all: Vec<_> = engine.values(path).filter(|v| v.plane == 1).map(|v| v.entropy).collect();
    let uplink = |entropy| table.choice(entropy).t0_uplink;
    engine.fail_uplink(1, uplink(all[0]), 1);
    assert_eq!(engine.in_use(path).collect::<Vec<_>>(), [3, 2]);
    engine.record_loss(path, 1, all[1], 2);
    let used = |engine: &Engine| -> Vec<u32> {
        engine.values(path).filter(|v| v.plane == 1 && v.in_use).map(|v| v.entropy).collect()
    };
    assert_eq!(used(&engine), [all[2]], "the others may carry nothing");
    engine.record_answer(path, 1, all[1], 3);
    assert_eq!(used(&engine), [all[1], all[2]], "a probe of the lossy one returned");
    // All paths of the plane are now behind unreachable switches, and those of the other plane are not.
    engine.fail_uplink(1, uplink(all[1]), 4);
    engine.fail_uplink(1, uplink(all[2]), 5);
    assert_eq!(used(&engine), []);
    engine.set_local_port(0, false);
    assert_eq!(used(&engine), all, "all are bad");
}

/// With half of the planes down, a path that may be dead is not used to reach the floor, but a lossy one is.
#[test]
fn a_silent_path_is_not_used_while_another_works() {
    let bytes = table(&Shape { planes: 2, active: 3, backup: 0, min_active: 3, denied: Vec::new() });
    let (table, mut engine) = engine(&bytes, 1);
    let path = engine.open(&table, nic(1, 0), 0).unwrap();
    engine.set_far_ports(path, 0b01);
    let all: Vec<_> = engine.values(path).filter(|v| v.plane == 0).map(|v| v.entropy).collect();
    let used = |engine: &Engine| -> Vec<u32> {
        engine.values(path).filter(|v| v.in_use).map(|v| v.entropy).collect()
    };
    for entropy in &all[..2] {
        engine.record_loss(path, 0, *entropy, 1);
    }
    assert_eq!(used(&engine), all[2..], "the others may be dead");
    engine.record_answer(path, 0, all[1], 2);
    assert_eq!(used(&engine), all[1..], "the second one loses some packets only");
    engine.record_miss(path, 0, all[1], 3);
    assert_eq!(used(&engine), all[2..]);
    engine.record_loss(path, 0, all[2], 4);
    assert_eq!(used(&engine), all, "without any other, all are tried");
}
