//! Switch counters compared with probes: the end that loses packets, cables without probes, and swapped cables.

use std::collections::BTreeMap;

use closc_collect::{Collector, CounterReads, DirectionCounters, Element, Kind, Options, SwitchesView};
use closc_deploy::{Cell, Counters};
use closc_plan::Plan;
use closc_topology::{Link, Switch};

use crate::support::{self, Fabric, POLL_MS, eight_planes};

/// Packets per direction of each cable between two rounds.
const TRAFFIC: u64 = 20_000;

/// Counters of switches: packets sent and received at each end of each cable.
struct CounterFixture {
    ends: BTreeMap<Link, [(Switch, u16); 2]>,
    counters: BTreeMap<Switch, Counters>,
}

impl CounterFixture {
    fn new(plan: &Plan) -> Self {
        let mut ends: BTreeMap<Link, Vec<(Switch, u16)>> = BTreeMap::new();
        for switch in plan.switches() {
            for port in plan.device(switch).ports {
                if let Some(connection) = port.connection {
                    ends.entry(connection.link).or_default().push((switch, port.physical.number));
                }
            }
        }
        let lower_first = |mut both: Vec<(Switch, u16)>| {
            both.sort_by_key(|(switch, _)| switch.tier);
            <[_; 2]>::try_from(both).ok()
        };
        let ends = ends.into_iter().filter_map(|(link, both)| Some((link, lower_first(both)?))).collect();
        CounterFixture {
            ends,
            counters: plan.switches().map(|switch| (switch, Counters::default())).collect(),
        }
    }

    /// Sends traffic. For packets sent upwards or downwards over a cable, `came` returns the cable over which they
    /// arrive, and their number.
    fn pass(&mut self, came: impl Fn(Link, bool) -> (Link, u64)) {
        for (link, [lower, upper]) in &self.ends {
            for (is_up, from) in [(true, lower), (false, upper)] {
                let left = self.counters.get_mut(&from.0).expect("it counts");
                left.sent.entry((from.1, 3)).or_default().packets += TRAFFIC;
                let (out, n) = came(*link, is_up);
                let to = self.ends[&out][usize::from(is_up)];
                let right = self.counters.get_mut(&to.0).expect("it counts");
                let cell: &mut Cell = right.received.entry(to.1).or_default();
                cell.packets += n;
            }
        }
    }

    fn round(&self) -> BTreeMap<Switch, CounterReads> {
        self.counters.iter().map(|(switch, own)| (*switch, [own.clone(), own.clone()])).collect()
    }
}

fn lines(collector: &Collector, plan: &Plan) -> Vec<String> {
    collector.verdicts().map(|verdict| verdict.line(plan, verdict.since_ms)).collect()
}

fn cable(plan: &Plan, name: &str) -> Link {
    plan.topology().parse_link(name).expect("it is a cable")
}

fn collector(fabric: &Fabric) -> Collector {
    fabric.collector(Options { settle_ms: 4_000, fresh_ms: 15_000, ..Options::default() })
}

#[test]
fn a_cable_that_drops_at_one_end_is_named_with_the_switch_whose_packets_do_not_come() {
    let plan = eight_planes();
    let mut fabric = Fabric::new(plan.clone(), 1);
    let mut collector = collector(&fabric);
    let mut counting = CounterFixture::new(&plan);
    let bad = cable(&plan, "p3-t0-002--p3-t1-004");
    for round in 0..20 {
        fabric.now_ms += POLL_MS;
        // No agent reports. From the fourth round on, the cable loses one in 200 packets from the upper switch.
        let lost = if round >= 3 { TRAFFIC / 200 } else { 0 };
        counting.pass(|link, is_up| (link, TRAFFIC - if link == bad && !is_up { lost } else { 0 }));
        collector.take_counters(counting.round(), fabric.now_ms);
        collector.judge(fabric.now_ms);
    }
    let [verdict] = &collector.verdicts().cloned().collect::<Vec<_>>()[..] else { panic!("one verdict") };
    let DirectionCounters { from, lost, .. } = verdict.counters.expect("switches count");
    let read = SwitchesView { read: 64, ..SwitchesView::default() };
    assert_eq!(collector.summary(fabric.now_ms).switches, read);
    assert_eq!((verdict.element, verdict.kind), (Element::Cable(bad), Kind::Gray));
    assert_eq!(plan.topology().naming.switch(from).to_string(), "p3-t1-004");
    assert_eq!((lost, verdict.witnesses), (17 * TRAFFIC / 200, 2));
    let line = &lines(&collector, &plan)[0];
    assert!(line.starts_with("cable p3-t0-002--p3-t1-004, 0.4 % loss since 12:0"), "{line}");
    assert!(line.contains("; 1700 of ") && line.contains(" packets from p3-t1-004 did not arrive"), "{line}");
    // After two minutes without losses, the earlier losses no longer count.
    for _ in 0..70 {
        fabric.now_ms += POLL_MS;
        counting.pass(|link, _| (link, TRAFFIC));
        collector.take_counters(counting.round(), fabric.now_ms);
        collector.judge(fabric.now_ms);
    }
    assert_eq!(lines(&collector, &plan), [""; 0]);
}

#[test]
fn a_cut_one_way_is_seen_at_once_and_a_restarted_switch_accuses_nobody() {
    let plan = eight_planes();
    let mut fabric = Fabric::new(plan.clone(), 2);
    let mut collector = collector(&fabric);
    let mut counting = CounterFixture::new(&plan);
    let cut = cable(&plan, "p1-t0-001--p1-t1-002");
    for round in 0..8 {
        fabric.now_ms += POLL_MS;
        counting.pass(|link, is_up| (link, if round >= 4 && link == cut && is_up { 0 } else { TRAFFIC }));
        collector.take_counters(counting.round(), fabric.now_ms);
        collector.judge(fabric.now_ms);
    }
    let said = lines(&collector, &plan);
    assert_eq!(said.len(), 1);
    assert!(
        said[0].starts_with(
            "cable p1-t0-001--p1-t1-002, carries nothing since 12:00; 80000 of 80000 packets from p1-t0-001 did not arrive"
        ),
        "{said:?}"
    );
    let mut collector = self::collector(&fabric);
    for round in 0..8 {
        fabric.now_ms += POLL_MS;
        if round == 4 {
            *counting.counters.values_mut().next().expect("a switch") = Counters::default();
        }
        counting.pass(|link, _| (link, TRAFFIC));
        collector.take_counters(counting.round(), fabric.now_ms);
        collector.judge(fabric.now_ms);
    }
    assert_eq!(lines(&collector, &plan), [""; 0]);
}

/// Swaps cables of different switches, and of one switch. No probes return over them, but both ends count frames.
#[test]
fn swapped_cables_between_switches_are_named_with_each_other() {
    let plan = eight_planes();
    for pair in
        [["p5-t0-001--p5-t1-001", "p5-t0-003--p5-t1-004"], ["p2-t0-002--p2-t1-001", "p2-t0-002--p2-t1-003"]]
    {
        let [one, other] = pair.map(|name| cable(&plan, name));
        let mut fabric = Fabric::new(plan.clone(), 3);
        let mut collector = collector(&fabric);
        let mut counting = CounterFixture::new(&plan);
        for round in 0..12 {
            let swapped = round >= 3;
            if round == 3 {
                fabric.faults = vec![support::Fault::Cut(one), support::Fault::Cut(other)];
            }
            counting.pass(|link, _| {
                let out = match link {
                    _ if !swapped => link,
                    _ if link == one => other,
                    _ if link == other => one,
                    _ => link,
                };
                (out, TRAFFIC)
            });
            fabric.pass();
            collector.take_counters(counting.round(), fabric.now_ms);
            fabric.round(&mut collector);
        }
        let found: Vec<_> = collector.verdicts().map(|verdict| (verdict.element, verdict.kind)).collect();
        let mut wanted = vec![
            (Element::Cable(one), Kind::Swapped(Element::Cable(other))),
            (Element::Cable(other), Kind::Swapped(Element::Cable(one))),
        ];
        wanted.sort();
        assert_eq!(found, wanted);
        // If no frames arrive at either end, the cables are cut.
        for _ in 0..4 {
            counting.pass(|link, _| (link, if link == one || link == other { 0 } else { TRAFFIC }));
            fabric.pass();
            collector.take_counters(counting.round(), fabric.now_ms);
            fabric.round(&mut collector);
        }
        let found: Vec<_> = collector.verdicts().map(|verdict| verdict.kind).collect();
        assert_eq!(found, [Kind::Dead; 2]);
    }
}
