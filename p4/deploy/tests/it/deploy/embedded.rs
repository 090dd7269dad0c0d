//! A fabric of embedded switches, pushed over gRPC: a packet takes every path, counters agree, and the second push
//! sends nothing.

use std::collections::BTreeMap;
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;

use closc_deploy::{
    CounterReader, Counters, CountersError, Counts, Device, Inventory, Outcome, Target, drift, silent,
};
use closc_plan::{Mac, Peer, Plan};
use closc_runtime::client::{Client, Endpoint as Address, Options};
use closc_runtime::proto::v1;
use closc_runtime::{DeviceId, entry};
use closc_switch::{
    Endpoint, EngineConfig, Fabric, FabricConfig, LinkEnd, Node, Service, Switch as Embedded, SwitchConfig,
};
use closc_topology::{Link, Nic, Switch};

use crate::support::{Files, Lab, info, options, plane_of, small_plan, stray, tree_of};

/// Embedded switches, linked as planned, each with its own address.
pub(crate) struct Site<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) fabric: Fabric,
    pub(crate) nodes: BTreeMap<Switch, Node>,
    endpoints: Vec<Endpoint>,
    pub(crate) lab: Lab,
}

impl<'p> Site<'p> {
    pub(crate) async fn start(plan: &'p Plan) -> Self {
        let mut fabric = Fabric::new(FabricConfig::default());
        let (mut nodes, mut endpoints) = (BTreeMap::new(), Vec::new());
        let mut inventory = Inventory::default();
        let topology = plan.topology();
        let last = (1 << topology.port_bits().max(topology.named_port_bits())) - 1;
        for (number, switch) in plan.switches().enumerate() {
            let config = SwitchConfig {
                device_id: number as u64,
                cpu_port: Some(last - 1),
                engine: EngineConfig { drop_port: last, ..EngineConfig::default() },
                clock: fabric.clock(),
            };
            let embedded = Arc::new(Embedded::new(config));
            nodes.insert(switch, fabric.add(embedded.clone()));
            let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
            let endpoint = Endpoint::serve(Service::new([embedded]), anywhere, None).await;
            let endpoint = endpoint.expect("loopback has a port");
            let name = plan.topology().naming.switch(switch).to_string();
            let mut device = Device::at(endpoint.address().to_string(), number as u64);
            device.plane = plane_of(&name);
            inventory.devices.insert(name, device);
            endpoints.push(endpoint);
        }
        let files: Files = tree_of(plan, |_| {});
        let lab = Lab { files, targets: BTreeMap::new(), inventory };
        let mut site = Site { plan, fabric, nodes, endpoints, lab };
        site.link();
        site
    }

    /// Links the switches; cables of NICs stay open.
    fn link(&mut self) {
        let mut ends: BTreeMap<Link, LinkEnd> = BTreeMap::new();
        for switch in self.plan.switches() {
            for port in self.plan.device(switch).ports {
                let Some(connection) = port.connection else { continue };
                let own = LinkEnd { node: self.nodes[&switch], port: port.physical.number.into() };
                if let (Peer::Switch(_), Some(other)) = (&connection.peer, ends.insert(connection.link, own))
                {
                    self.fabric.link(other, own).expect("every port is free");
                }
            }
        }
    }

    /// The switch port of a NIC in a plane, and its MAC address.
    pub(crate) fn nic(&self, link: Link, nic: Nic) -> (LinkEnd, Mac) {
        let Link::Host(port) = link else { panic!("a NIC has a cable of its own") };
        let t0 = nic.t0(port.plane);
        let ports = self.plan.device(t0).ports;
        let here = |port: &&closc_plan::PortIntent| port.connection.as_ref().is_some_and(|c| c.link == link);
        let port = ports.iter().find(here).expect("the cable is plugged in here");
        let mac = port.connection.as_ref().expect("it has a cable").peer.mac().expect("a NIC of the plan");
        (LinkEnd { node: self.nodes[&t0], port: port.physical.number.into() }, mac)
    }

    /// Sends one packet over every path, and returns the number of packets at each switch.
    fn walk_everything(&mut self) -> BTreeMap<Switch, u64> {
        let nics: Vec<Nic> = self.plan.fabric().nics().collect();
        let mut seen: BTreeMap<Switch, u64> = BTreeMap::new();
        for from in &nics {
            for to in nics.iter().filter(|to| *to != from) {
                let addresses = self.plan.addresses();
                let (source, target) = (addresses.nic(*from), addresses.nic(*to));
                for path in self.plan.paths(*from, *to) {
                    let last = path.hops.last().expect("at least one switch");
                    let (enters, _) = self.nic(path.first, *from);
                    let (leaves, mac) = self.nic(last.link, *to);
                    self.fabric.inject(
                        enters.node,
                        enters.port,
                        frame(source.to_ipv6(), path.destination, target.to_ipv6()),
                    );
                    let delivered = self.fabric.run();
                    let [delivery] = delivered.as_slice() else { panic!("{path:?}: {delivered:?}") };
                    assert_eq!((delivery.node, delivery.port), (leaves.node, leaves.port), "{path:?}");
                    assert_eq!(delivery.frame[..6], mac.0, "{path:?}");
                    assert_eq!(delivery.frame[38..54], last.destination.octets(), "{path:?}");
                    path.hops.iter().for_each(|hop| *seen.entry(hop.switch).or_default() += 1);
                }
            }
        }
        seen
    }

    fn name(&self, switch: Switch) -> String {
        self.plan.topology().naming.switch(switch).to_string()
    }

    /// Reads the number of packets for a switch's own segment, as any controller can.
    async fn hits(&self, switch: Switch) -> u64 {
        let device = &self.lab.inventory.devices[&self.name(switch)];
        let address = Address::plain(&device.endpoint).expect("an address");
        let client = Client::connect(&address, DeviceId(device.device_id), Options::default()).await;
        let mut wanted = entry::wildcard(info().table("ingress.my_sid").expect("a table").preamble.id);
        if let Some(v1::entity::Entity::TableEntry(entry)) = &mut wanted.entity {
            entry.counter_data = Some(v1::CounterData::default());
        }
        let read = client.expect("it listens").read(vec![wanted]).await.expect("it answers");
        let packets = read.into_iter().filter_map(|entity| match entity.entity {
            Some(v1::entity::Entity::TableEntry(entry)) => entry.counter_data.map(|data| data.packet_count),
            _ => None,
        });
        packets.sum::<i64>().cast_unsigned()
    }
}

/// An Ethernet frame with IPv6 in IPv6; the inner packet has a UDP header.
fn frame(source: Ipv6Addr, destination: Ipv6Addr, inner_destination: Ipv6Addr) -> Vec<u8> {
    let header = |length: u16, next: u8, from: Ipv6Addr, to: Ipv6Addr| {
        let mut bytes = vec![0x60, 0, 0, 0];
        bytes.extend(length.to_be_bytes());
        bytes.extend([next, 64]);
        bytes.extend(from.octets());
        bytes.extend(to.octets());
        bytes
    };
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd];
    frame.extend(header(48, 41, source, destination));
    frame.extend(header(8, 17, source, inner_destination));
    frame.extend([0xc0, 0x00, 0x12, 0xb7, 0, 8, 0, 0]);
    frame
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_planes_are_pushed_and_every_path_is_walked() {
    let plan = small_plan(8, 4, 4);
    let mut site = Site::start(&plan).await;
    assert_eq!(site.endpoints.len(), 64);
    let report = site.lab.push().await;
    assert!(report.is_good(), "{:?}", report.failures().next());
    let again = site.lab.push().await;
    assert!(again.is_good() && again.updates() == Counts::default(), "{again:#?}");

    let seen = site.walk_everything();
    // 8 NICs to 6 others over 8 planes and 4 uplinks through 3 switches, and to the other NIC of their group through 1.
    assert_eq!(seen.values().sum::<u64>(), 8 * (6 * 8 * 4 * 3 + 8));
    for switch in plan.switches() {
        let expected = seen.get(&switch).copied().unwrap_or_default();
        assert_eq!(site.hits(switch).await, expected, "{}", site.name(switch));
    }
    // Counters change, but this is not drift.
    assert!(drift(&site.lab.fleet(), &options(), silent()).await.is_clean());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_broken_is_repaired_and_nothing_else() {
    let plan = small_plan(2, 2, 2);
    let mut site = Site::start(&plan).await;
    assert!(site.lab.push().await.is_good());
    // One switch loses a next hop, another one gets an additional route.
    let broken = plan.switches().next().expect("a switch");
    let hop = site.lab.target_entities(&site.name(broken)).into_iter().find(|entity| {
        let table = info().table("ingress.nexthop").expect("a table").preamble.id;
        matches!(&entity.entity, Some(v1::entity::Entity::TableEntry(entry)) if entry.table_id == table)
    });
    let other = plan.switches().last().expect("a switch");
    let delete = v1::Update::delete(hop.expect("next hops"));
    let insert = v1::Update::insert(stray(1));
    for (switch, update) in [(broken, delete), (other, insert)] {
        let embedded = site.fabric.switch(site.nodes[&switch]).expect("a switch");
        let atomicity = v1::write_request::Atomicity::ContinueOnError;
        let outcomes = embedded.write(&[update], atomicity).expect("it has a pipeline");
        assert!(outcomes.iter().all(closc_runtime::status::Outcome::is_ok), "{outcomes:?}");
    }
    let report = site.lab.push().await;
    for (name, outcome) in &report.devices {
        let Outcome::Good(good) = outcome else { panic!("{report:#?}") };
        let expected = match name {
            _ if *name == site.name(broken) => Counts { insert: 1, ..Counts::default() },
            _ if *name == site.name(other) => Counts { delete: 1, ..Counts::default() },
            _ => Counts::default(),
        };
        assert_eq!(good.updates, expected, "{name}");
    }
    site.walk_everything();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_watches_share_a_fabric() {
    use closc_deploy::{Role, Watch, WatchOptions};
    let plan = small_plan(8, 4, 4);
    let site = Site::start(&plan).await;
    let watch_options = WatchOptions {
        push: options(),
        interval: std::time::Duration::from_millis(50),
        ..WatchOptions::default()
    };
    let start = async |election| {
        let mut inventory = site.lab.inventory.clone();
        inventory.defaults.election_id = Some(election);
        let lab = Lab { files: site.lab.files.clone(), targets: BTreeMap::new(), inventory };
        Watch::start(&lab.fleet(), watch_options.clone(), silent()).await.expect("nothing listens")
    };
    let in_sync = |watch: &Watch| watch.status().count(|device| device.in_sync) == 64;
    let leader = start(2).await;
    crate::support::eventually("64 switches are in sync", || in_sync(&leader)).await;
    let standby = start(1).await;
    let stands_by = || standby.status().count(|device| device.role == Role::StandingBy) == 64;
    crate::support::eventually("the other one stands by", stands_by).await;
    drop(leader);
    crate::support::eventually("it leads all of them", || in_sync(&standby)).await;
    assert!(drift(&site.lab.fleet(), &options(), silent()).await.is_clean());
    // It found every switch up to date and sent nothing.
    assert_eq!(standby.stop().await.count(|device| device.repairs > 0), 0);
}

/// Counters of all switches, as a reader gets them.
async fn read_all(readers: &mut BTreeMap<Switch, CounterReader>) -> BTreeMap<Switch, Counters> {
    let mut all: BTreeMap<Switch, Counters> = BTreeMap::new();
    for (switch, reader) in readers {
        all.insert(*switch, reader.read().await.expect("it answers"));
    }
    all
}

/// The cables between switches, with both ends.
fn cables(plan: &Plan) -> BTreeMap<Link, Vec<(Switch, u16)>> {
    let mut ends: BTreeMap<Link, Vec<(Switch, u16)>> = BTreeMap::new();
    for switch in plan.switches() {
        for port in plan.device(switch).ports {
            if let Some(connection) = port.connection {
                ends.entry(connection.link).or_default().push((switch, port.physical.number));
            }
        }
    }
    ends.retain(|_, both| both.len() == 2);
    ends
}

/// Packets that left one end of a cable and did not arrive at the other.
fn lost_packets(plan: &Plan, all: &BTreeMap<Switch, Counters>) -> BTreeMap<Link, u64> {
    let mut out = BTreeMap::new();
    for (link, both) in cables(plan) {
        for (from, to) in [(both[0], both[1]), (both[1], both[0])] {
            let (left, came) = (all[&from.0].sent_packets(from.1), all[&to.0].received[&to.1].packets);
            if left != came {
                out.insert(link, left - came);
            }
        }
    }
    out
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_of_both_ends_agree_until_a_cable_is_cut() {
    let plan = small_plan(2, 2, 2);
    let mut site = Site::start(&plan).await;
    let inventory = site.lab.inventory.clone();
    let nothing = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let reader = |switch: Switch| {
        let name = plan.topology().naming.switch(switch).to_string();
        let target = Target::from_inventory(&name, &inventory.devices[&name], &inventory.defaults, &nothing);
        (switch, CounterReader::new(target.expect("an address")))
    };
    let mut readers: BTreeMap<Switch, CounterReader> = plan.switches().map(reader).collect();
    for reader in readers.values_mut() {
        let unprogrammed = reader.read().await;
        assert!(matches!(unprogrammed, Err(CountersError::NoProgram | CountersError::Lookup(_))));
    }
    assert!(site.lab.push().await.is_good());
    site.walk_everything();
    let before = read_all(&mut readers).await;
    assert_eq!(lost_packets(&plan, &before), BTreeMap::new());
    assert!(before.values().any(|own| own.segments.values().any(|cell| cell.packets > 0)));
    // A cable is cut, so packets that are sent over it do not arrive.
    let (cut, both) = cables(&plan).pop_first().expect("a cable");
    let end = LinkEnd { node: site.nodes[&both[0].0], port: both[0].1.into() };
    assert!(site.fabric.set_link(end, false));
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    for (from, to) in nics.iter().flat_map(|from| nics.iter().map(move |to| (*from, *to))) {
        for path in plan.paths(from, to).filter(|_| from != to) {
            let (enters, _) = site.nic(path.first, from);
            let (source, target) = (plan.addresses().nic(from), plan.addresses().nic(to));
            site.fabric.inject(
                enters.node,
                enters.port,
                frame(source.to_ipv6(), path.destination, target.to_ipv6()),
            );
            site.fabric.run();
        }
    }
    let lost = lost_packets(&plan, &read_all(&mut readers).await);
    assert!(lost.len() == 1 && lost.get(&cut).is_some_and(|n| *n > 0), "{lost:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ports_above_those_of_v1model_are_counted() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../topologies/lab/ports-512-p4.yaml");
    let yaml = std::fs::read_to_string(file).expect("it is in the repository");
    let plan = closc_tests::shape::plan(&yaml);
    let mut site = Site::start(&plan).await;
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    let (from, to) = (nics[0], nics[nics.len() - 1]);
    let switch = plan.paths(from, to).next().expect("a path").hops[0].switch;
    let name = site.name(switch);
    // The T1s have no program, so packets sent to them end there.
    site.lab.inventory.devices.retain(|own, _| *own == name);
    assert!(site.lab.push().await.is_good());
    let ports = plan.device(switch).ports;
    let port = ports.iter().max_by_key(|port| port.physical.number).expect("it has ports");
    let (last, cable) = (port.physical.number, port.connection.as_ref().expect("it is cabled").link);
    assert_eq!(last, 512);
    let path = plan.paths(from, to).find(|path| path.hops[0].link == cable).expect("a path by it");
    let (enters, _) = site.nic(path.first, from);
    let (source, target) = (plan.addresses().nic(from), plan.addresses().nic(to));
    site.fabric.inject(enters.node, enters.port, frame(source.to_ipv6(), path.destination, target.to_ipv6()));
    site.fabric.run();
    site.fabric.inject(enters.node, last.into(), vec![0; 64]);
    site.fabric.run();
    let device = &site.lab.inventory.devices[&name];
    let nothing = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let target = Target::from_inventory(&name, device, &site.lab.inventory.defaults, &nothing);
    let counters = CounterReader::new(target.expect("an address")).read().await.expect("it answers");
    assert_eq!(counters.received.len(), 512);
    assert_eq!((counters.received[&last].packets, counters.sent_packets(last)), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_serves_what_switches_count_while_it_leads() {
    use closc_deploy::{Role, Watch, WatchOptions};
    let plan = small_plan(2, 2, 2);
    let mut site = Site::start(&plan).await;
    assert!(site.lab.push().await.is_good());
    let seen = site.walk_everything();
    let (switch, packets) = seen.first_key_value().expect("packets passed a switch");
    let name = site.name(*switch);
    let start = async |election, counters| {
        let mut inventory = site.lab.inventory.clone();
        inventory.defaults.election_id = Some(election);
        let lab = Lab { files: site.lab.files.clone(), targets: BTreeMap::new(), inventory };
        let options = WatchOptions {
            push: options(),
            interval: std::time::Duration::from_millis(50),
            listen: Some(SocketAddr::from(([127, 0, 0, 1], 0))),
            counters,
            ..WatchOptions::default()
        };
        Watch::start(&lab.fleet(), options, silent()).await.expect("loopback has a port")
    };
    let watch = start(2, true).await;
    let all = || watch.status().count(|device| device.counters.is_some()) == seen.len();
    crate::support::eventually("every switch was counted", all).await;
    let address = watch.address().expect("it listens");
    let get = async |path: &str| {
        crate::deploy::watch::get(address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")).await
    };
    let metrics = get("/metrics").await;
    let plane = plane_of(&name).expect("it has one");
    for line in [
        format!("\nclosc_device_counted{{device=\"{name}\",plane=\"{plane}\"}} 1\n"),
        format!("\nclosc_device_received_packets_total{{device=\"{name}\",plane=\"{plane}\"}} {packets}\n"),
        format!(
            "\nclosc_device_sent_packets_total{{device=\"{name}\",plane=\"{plane}\",class=\"0\"}} {packets}\n"
        ),
    ] {
        assert!(metrics.contains(&line), "{line}{metrics}");
    }
    let one = get(&format!("/metrics/switch?of={name}")).await;
    assert!(
        one.contains(&format!("\nclosc_device_port_received_packets_total{{device=\"{name}\",port=\"1\"}} ")),
        "{one}"
    );
    assert!(get("/metrics/switch?of=p9-t9-999").await.starts_with("HTTP/1.1 404 "));
    // A standby has no counters, and without the option none are read.
    let standby = start(1, true).await;
    let stands_by = || standby.status().count(|device| device.role == Role::StandingBy) == seen.len();
    crate::support::eventually("the other one stands by", stands_by).await;
    assert_eq!(standby.status().count(|device| device.counters.is_some()), 0);
    standby.stop().await;
    assert_eq!(watch.stop().await.count(|device| device.counters.is_some()), 0, "what is old is not kept");
    let without = start(3, false).await;
    let in_sync = || without.status().count(|device| device.in_sync) == seen.len();
    crate::support::eventually("all are in sync", in_sync).await;
    assert_eq!(without.stop().await.count(|device| device.counters.is_some()), 0);
}
