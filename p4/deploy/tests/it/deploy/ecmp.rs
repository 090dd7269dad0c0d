//! A lossless ECMP fabric of embedded switches: the spread of RoCE's queue pairs over uplinks with and without hashing
//! of the queue pair, and ECN marking.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use closc_deploy::{Counts, drift, silent};
use closc_plan::{Plan, Target};
use closc_switch::{Delivery, LinkEnd, QueueConfig, Rate};
use closc_topology::{Link, Nic, NicPort, PlaneId, Switch, TierId};

use crate::deploy::embedded::Site;
use crate::support::{Files, options, tree_of};

/// Queue pairs between two NICs, and the uplinks they can take.
const PAIRS: u32 = 10_000;
const UPLINKS: u16 = 4;

/// The data class of the lossless profile, and ECT(0).
const DATA: u8 = 26 << 2 | 0b10;

fn fabric_plan() -> Plan {
    let shape = closc_tests::shape::Shape {
        planes: 1,
        groups: 2,
        per_group: 2,
        rails: 1,
        t1: UPLINKS,
        parallel: 1,
        t2: None,
        exceptions: "routing: ecmp-static\n".to_owned(),
    };
    let yaml = shape.yaml().replace("platform: linux, os: linux", "platform: bmv2, os: p4");
    closc_tests::shape::plan(&yaml.replace("qos: lossy-trim", "qos: lossless"))
}

/// Fields that distinguish the packets of one queue pair from those of another.
#[derive(Clone, Copy)]
struct Flow {
    source_port: u16,
    queue_pair: u32,
    traffic_class: u8,
}

/// Ethernet, IPv6, UDP to RoCEv2's port, and the base transport header of a write.
fn roce(source: Ipv6Addr, destination: Ipv6Addr, flow: Flow) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd];
    let class = u32::from(flow.traffic_class);
    frame.extend((6 << 28 | class << 20).to_be_bytes());
    frame.extend(20u16.to_be_bytes());
    frame.extend([17, 64]);
    frame.extend(source.octets());
    frame.extend(destination.octets());
    for field in [flow.source_port, 4791, 20, 0] {
        frame.extend(field.to_be_bytes());
    }
    frame.extend([10, 0, 0xff, 0xff]);
    frame.extend(flow.queue_pair.to_be_bytes());
    frame.extend([0, 0, 0, 0]);
    frame
}

/// Two NICs under different T0s, and the cables of the first.
struct Ends {
    from: Nic,
    to: Nic,
    t0: Switch,
}

fn ends(plan: &Plan) -> Ends {
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    Ends { from: nics[0], to: nics[2], t0: nics[0].t0(PlaneId(0)) }
}

impl Ends {
    /// Sends a packet of each flow, and returns the arrived packets and the number of packets on each uplink.
    fn send(
        &self,
        plan: &Plan,
        site: &mut Site<'_>,
        flows: impl Iterator<Item = Flow>,
    ) -> (Vec<Delivery>, Vec<u64>) {
        let uplinks: Vec<LinkEnd> = plan
            .device(self.t0)
            .ports
            .iter()
            .filter(|port| !port.is_down())
            .map(|port| LinkEnd { node: site.nodes[&self.t0], port: port.physical.number.into() })
            .collect();
        let counts = |site: &Site<'_>| -> Vec<u64> {
            uplinks.iter().map(|end| site.fabric.count(*end).expect("a link").packets).collect()
        };
        let before = counts(site);
        let addresses = plan.addresses();
        let (source, target) = (addresses.nic(self.from), addresses.nic(self.to));
        let (enters, _) = site.nic(self.cable(self.from), self.from);
        for flow in flows {
            site.fabric.inject(enters.node, enters.port, roce(source.to_ipv6(), target.to_ipv6(), flow));
        }
        let delivered = site.fabric.run();
        let (leaves, mac) = site.nic(self.cable(self.to), self.to);
        for delivery in &delivered {
            assert_eq!((delivery.node, delivery.port), (leaves.node, leaves.port));
            assert_eq!(delivery.frame[..6], mac.0);
        }
        let after = counts(site);
        (delivered, before.iter().zip(&after).map(|(before, after)| after - before).collect())
    }

    fn cable(&self, nic: Nic) -> Link {
        Link::Host(NicPort { plane: self.t0.plane, nic })
    }
}

/// The queue pairs that a NIC opens: consecutive numbers, and this many source ports in turn.
fn pairs(source_ports: u16) -> impl Iterator<Item = Flow> {
    (0..PAIRS).map(move |number| Flow {
        source_port: 0xc000 + (number % u32::from(source_ports)) as u16,
        queue_pair: 0x118 + number,
        traffic_class: DATA,
    })
}

/// The same fabric on a platform that cannot read the queue pair.
fn blind_tree(plan: &Plan) -> Files {
    let platform = plan.device(plan.switches().next().expect("a switch")).platform;
    let mut blind = platform.clone();
    blind.features.qp_hash = false;
    let blind: &'static _ = Box::leak(Box::new(blind));
    tree_of(plan, |intent| intent.platform = blind)
}

/// Meta's finding: a few large flows collapse onto few uplinks, and hashing the destination queue pair spreads them.
#[tokio::test(flavor = "multi_thread")]
async fn queue_pairs_spread_when_they_are_hashed_and_collapse_when_not() {
    let plan = fabric_plan();
    let mut site = Site::start(&plan).await;
    let report = site.lab.push().await;
    assert!(report.is_good(), "{:?}", report.failures().next());
    let again = site.lab.push().await;
    assert!(again.is_good() && again.updates() == Counts::default(), "{again:#?}");
    let ends = ends(&plan);

    // One source port: any other hash treats all packets as one flow.
    let (delivered, spread) = ends.send(&plan, &mut site, pairs(1));
    assert_eq!(delivered.len(), PAIRS as usize);
    let mean = f64::from(PAIRS) / f64::from(UPLINKS);
    let off = |count: &u64| (*count as f64 - mean).abs() / mean;
    let worst = spread.iter().map(off).fold(0.0, f64::max);
    println!(
        "{PAIRS} queue pairs, hashed with the queue pair: {spread:?}, at most {:.1} % off",
        worst * 100.0
    );
    assert!(worst <= 0.05, "{spread:?}");

    // A push of the difference: only the hash setting of each T0, because only T0s have groups.
    site.lab.files = blind_tree(&plan);
    let report = site.lab.push().await;
    assert!(report.is_good(), "{:?}", report.failures().next());
    assert_eq!(report.updates(), Counts { modify: 2, ..Counts::default() });
    let (delivered, collapsed) = ends.send(&plan, &mut site, pairs(1));
    assert_eq!(delivered.len(), PAIRS as usize);
    println!("{PAIRS} queue pairs, hashed without it, one source port: {collapsed:?}");
    assert_eq!(collapsed.iter().filter(|count| **count > 0).count(), 1, "{collapsed:?}");

    // Sixteen source ports, as from a NIC that spreads its queue pairs for such switches.
    let (_, some) = ends.send(&plan, &mut site, pairs(16));
    let most = some.iter().max().copied().unwrap_or_default() as f64 / mean;
    println!(
        "{PAIRS} queue pairs, hashed without it, 16 source ports: {some:?}, the fullest {most:.2} of its share"
    );
    assert!(some.iter().filter(|count| **count > 0).count() > 1, "{some:?}");
    assert!(some.iter().map(off).fold(0.0, f64::max) > 0.05, "{some:?}");
}

/// A group watches its members' ports: flows leave an uplink that is down without a controller, and return to it.
#[tokio::test(flavor = "multi_thread")]
async fn flows_leave_an_uplink_that_is_down() {
    let plan = fabric_plan();
    let mut site = Site::start(&plan).await;
    assert!(site.lab.push().await.is_good());
    let ends = ends(&plan);
    let (_, whole) = ends.send(&plan, &mut site, pairs(1));
    assert!(whole.iter().all(|count| *count > 0), "{whole:?}");
    let uplink =
        plan.device(ends.t0).ports.iter().find(|port| !port.is_down()).map(|port| port.physical.number);
    let end = LinkEnd { node: site.nodes[&ends.t0], port: uplink.expect("an uplink").into() };
    assert!(site.fabric.set_link(end, false));
    let (delivered, spread) = ends.send(&plan, &mut site, pairs(1));
    assert_eq!((delivered.len(), spread[0]), (PAIRS as usize, 0), "{spread:?}");
    assert!(site.fabric.set_link(end, true));
    let (delivered, spread) = ends.send(&plan, &mut site, pairs(1));
    assert_eq!((delivered.len(), &spread), (PAIRS as usize, &whole), "each flow is where it was");
}

/// Packets that are not RoCEv2 have no queue pair, so they are hashed by ports only.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_roce_is_hashed_by_ports_alone() {
    let plan = fabric_plan();
    let mut site = Site::start(&plan).await;
    assert!(site.lab.push().await.is_good());
    let ends = ends(&plan);
    let (source, target) = (plan.addresses().nic(ends.from), plan.addresses().nic(ends.to));
    let (enters, _) = site.nic(ends.cable(ends.from), ends.from);
    let mut uplinks: BTreeMap<u16, u64> = BTreeMap::new();
    for queue_pair in 0..64 {
        let flow = Flow { source_port: 0xc000, queue_pair, traffic_class: DATA };
        let mut frame = roce(source.to_ipv6(), target.to_ipv6(), flow);
        frame[56..58].copy_from_slice(&4790u16.to_be_bytes());
        site.fabric.inject(enters.node, enters.port, frame);
        let delivered = site.fabric.run();
        assert_eq!(delivered.len(), 1);
    }
    for port in plan.device(ends.t0).ports.iter().filter(|port| !port.is_down()) {
        let end = LinkEnd { node: site.nodes[&ends.t0], port: port.physical.number.into() };
        uplinks.insert(port.physical.number, site.fabric.count(end).expect("a link").packets);
    }
    assert_eq!(uplinks.values().filter(|count| **count > 0).count(), 1, "{uplinks:?}");
}

/// The lossless profile on the switch: its classes, and marks in a growing queue before any packet is lost.
#[tokio::test(flavor = "multi_thread")]
async fn a_lossless_fabric_marks_before_it_loses() {
    let plan = fabric_plan();
    let mut site = Site::start(&plan).await;
    assert!(site.lab.push().await.is_good());
    assert!(drift(&site.lab.fleet(), &options(), silent()).await.is_clean());
    let ends = ends(&plan);
    let intent = plan.device(ends.t0);
    assert!(intent.qos.is_lossless());
    assert!(
        intent.routes.iter().any(|route| matches!(&route.target, Target::Ports(hops) if hops.len() == 4))
    );
    assert!(plan.switches().any(|switch| switch.tier == TierId::T1));

    // All queue pairs use one uplink, whose queue is slow.
    site.lab.files = blind_tree(&plan);
    assert!(site.lab.push().await.is_good());
    let node = site.nodes[&ends.t0];
    for port in intent.ports.iter().filter(|port| !port.is_down()) {
        let queue = QueueConfig { rate: Rate::Packets(1_000_000), depth: 64 };
        site.fabric.switch(node).expect("a switch").set_queue(port.physical.number.into(), Some(queue));
    }
    let marked =
        |delivered: &[Delivery]| delivered.iter().filter(|d| d.frame[15] >> 4 & 0b11 == 0b11).count();
    let burst = |class: u8| {
        (0..60).map(move |number| Flow { source_port: 0xc000, queue_pair: number, traffic_class: class })
    };
    let (delivered, _) = ends.send(&plan, &mut site, burst(DATA));
    let marks = marked(&delivered);
    println!(
        "60 packets of the lossless class into one queue: {} arrive, {marks} of them marked",
        delivered.len()
    );
    assert_eq!(delivered.len(), 60, "nothing is lost below the depth of the queue");
    assert!((1..60).contains(&marks), "the first ones find an empty queue: {marks}");
    // A packet that cannot be marked is not dropped instead.
    let (delivered, _) = ends.send(&plan, &mut site, burst(DATA & !0b11));
    assert_eq!((delivered.len(), marked(&delivered)), (60, 0));
}
