//! A fabric of `os: pins` with BMv2 switches, if `simple_switch_grpc` is installed. It is pushed with closc's own
//! pipeline, and with the public programs of PINS if `CLOSC_SAI` names their folder. BMv2 does not translate types, so
//! its P4Info has numbers where the tree has names. Packets take the paths of all flows, shares are as planned, and the
//! second push sends nothing.

use std::collections::BTreeMap;

use closc_deploy::{Artefacts, Device, Inventory, drift, silent};
use closc_entries::Pipeline;
use closc_plan::{Peer, Plan, Target};
use closc_runtime::text;
use closc_switch::{PACKET_STREAM, PortPacket};
use closc_topology::{Link, Nic, Switch};
use tonic::Request;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic_prost::ProstCodec;

use crate::deploy::bmv2::Bmv2;
use crate::deploy::pins::{fabric_plan, fleet_of, frame, public, push_fleet};
use crate::support::{Files, PATIENCE, plane_of, tree_of};

/// Flows between two NICs in each plane.
const FLOWS: u16 = 128;

/// Packets that are sent into a switch at once. Its queues hold 64.
const TOGETHER: usize = 24;

/// A fabric of BMv2s.
struct Site<'p> {
    plan: &'p Plan,
    switches: BTreeMap<Switch, Bmv2>,
    inventory: Inventory,
    tree: Files,
}

/// A switch port at which a packet enters or leaves.
type Place = (Switch, u32);

impl<'p> Site<'p> {
    fn start(plan: &'p Plan) -> Option<Self> {
        let (mut switches, mut inventory) = (BTreeMap::new(), Inventory::default());
        for switch in plan.switches() {
            let bmv2 = Bmv2::start()?;
            let name = plan.topology().naming.switch(switch).to_string();
            let (p4info, device_config) = ("own.p4info.txtpb".to_owned(), "own.json".to_owned());
            let mut device = Device::at(bmv2.address(), 1);
            device.artefacts = Some(Artefacts { p4info, device_config });
            device.plane = plane_of(&name);
            inventory.devices.insert(name, device);
            switches.insert(switch, bmv2);
        }
        Some(Site { plan, switches, inventory, tree: tree_of(plan, |_| {}) })
    }

    /// The switch ports of cables: both ends of cables between switches, one end of cables to NICs.
    fn ends(&self) -> BTreeMap<Link, Vec<Place>> {
        let mut ends: BTreeMap<Link, Vec<Place>> = BTreeMap::new();
        for switch in self.plan.switches() {
            for port in self.plan.device(switch).ports {
                if let Some(connection) = port.connection {
                    ends.entry(connection.link).or_default().push((switch, port.physical.number.into()));
                }
            }
        }
        ends
    }

    /// Sends packets into a switch; returns them with the ports through which they left.
    async fn pass(&self, switch: Switch, packets: Vec<PortPacket>) -> Vec<PortPacket> {
        let address = self.switches[&switch].packets();
        let channel = tonic::transport::Endpoint::from_shared(address).expect("an address").connect().await;
        let mut client = Grpc::new(channel.expect("it listens"));
        let mut left = Vec::new();
        for part in packets.chunks(TOGETHER) {
            client.ready().await.expect("the channel is there");
            let codec = ProstCodec::<PortPacket, PortPacket>::default();
            let request = Request::new(tokio_stream::iter(part.to_vec()));
            let path = PathAndQuery::from_static(PACKET_STREAM);
            let answer = client.streaming(request, path, codec).await.expect("it takes packets");
            let mut answer = answer.into_inner();
            // BMv2 ends the stream after the last packet.
            while let Some(packet) = tokio::time::timeout(PATIENCE, answer.message())
                .await
                .expect("in time")
                .expect("it ends well")
            {
                left.push(packet);
            }
        }
        left
    }
}

/// A flow in transit.
struct Flow {
    from: Nic,
    to: Nic,
    /// Its current place.
    at: Place,
    /// The place where it has to leave.
    end: Place,
    mac: [u8; 6],
    frame: Vec<u8>,
    passed: u8,
}

fn flows(site: &Site<'_>, ends: &BTreeMap<Link, Vec<Place>>) -> Vec<Flow> {
    let plan = site.plan;
    let nics: Vec<Nic> = plan.fabric().nics().collect();
    let mut flows = Vec::new();
    for (from, to) in nics.iter().flat_map(|from| nics.iter().map(move |to| (*from, *to))) {
        for plane in plan.topology().plane_ids().filter(|_| from != to) {
            let end = |nic: Nic| ends[&Link::Host(closc_topology::NicPort { nic, plane })][0];
            let own = plan.device(from.t0(plane)).system.mac.0;
            let ports = plan.device(to.t0(plane)).ports;
            let number = |port: &&closc_plan::PortIntent| u32::from(port.physical.number) == end(to).1;
            let peer =
                ports.iter().find(number).and_then(|port| port.connection.as_ref()).expect("plugged in");
            let Peer::Nic(_) = peer.peer else { panic!("a NIC is there") };
            let mac = peer.peer.mac().expect("a NIC of the plan").0;
            for flow in 0..FLOWS {
                let (source, target) = (plan.addresses().nic(from), plan.addresses().nic(to));
                let frame = frame(own, source.to_ipv6(), target.to_ipv6(), flow.wrapping_mul(40_503));
                flows.push(Flow { from, to, at: end(from), end: end(to), mac, frame, passed: 0 });
            }
        }
    }
    flows
}

/// For each destination, the ports through which flows left a switch, and the number of flows.
type Shares = BTreeMap<(Switch, Nic), BTreeMap<u32, u32>>;

/// Sends all flows, one switch at a time; returns how those that left their first switch were spread.
async fn walk(site: &Site<'_>) -> Shares {
    let ends = site.ends();
    let other: BTreeMap<Place, Place> = ends
        .values()
        .filter_map(|ends| Some((*ends.first()?, *ends.get(1)?)))
        .flat_map(|(one, other)| [(one, other), (other, one)])
        .collect();
    let mut flows = flows(site, &ends);
    let mut shares = Shares::new();
    for step in 0..3 {
        for switch in site.plan.switches() {
            let here = |(_, flow): &(usize, &Flow)| flow.at.0 == switch && flow.at != flow.end;
            let packets = flows.iter().enumerate().filter(here).map(|(place, flow)| PortPacket {
                id: place as u64 + 1,
                device_id: 1,
                port: flow.at.1,
                packet: flow.frame.clone(),
            });
            let packets: Vec<PortPacket> =
                packets.filter(|packet| flows[packet.id as usize - 1].passed == step).collect();
            let sent = packets.len();
            let left = site.pass(switch, packets).await;
            assert_eq!(left.len(), sent, "each packet leaves once");
            for PortPacket { id, port, packet, .. } in left {
                let flow = &mut flows[id as usize - 1];
                (flow.frame, flow.passed) = (packet, flow.passed + 1);
                flow.at = other.get(&(switch, port)).copied().unwrap_or((switch, port));
                if step == 0 && flow.at != flow.end {
                    *shares.entry((switch, flow.to)).or_default().entry(port).or_default() += 1;
                }
            }
        }
    }
    for flow in &flows {
        assert_eq!(flow.at, flow.end, "{:?} to {:?} after {} switches", flow.from, flow.to, flow.passed);
        assert_eq!(flow.frame[..6], flow.mac, "the MAC address of the NIC");
        assert_eq!(64 - flow.frame[21], flow.passed, "hops");
    }
    shares
}

/// Compares the spread of flows with the planned weights, within five standard deviations.
fn weigh(plan: &Plan, shares: &Shares) -> usize {
    let mut groups = 0;
    for ((switch, to), found) in shares {
        let intent = plan.device(*switch);
        let address = plan.addresses().nic(*to);
        let routes = intent.routes.iter().filter(|route| route.prefix.contains(&address));
        let route = routes.max_by_key(|route| route.prefix.prefix_len()).expect("there is a route");
        let Target::Ports(hops) = &route.target else { panic!("{address} is dropped") };
        let sum: u32 = hops.iter().map(|hop| u32::from(hop.weight)).sum();
        let all = f64::from(found.values().sum::<u32>());
        for hop in hops {
            let port = u32::from(intent.ports[hop.port].physical.number);
            let share = f64::from(hop.weight) / f64::from(sum);
            let (wanted, seen) = (all * share, found.get(&port).copied().unwrap_or_default());
            let off = (f64::from(seen) - wanted).abs();
            assert!(off <= 5.0 * (wanted * (1.0 - share)).sqrt(), "port {port}: {seen} flows of {wanted}");
        }
        groups += usize::from(hops.iter().any(|hop| hop.weight != hops[0].weight));
    }
    groups
}

/// Pushes a program and the tree to a fabric of BMv2s, and checks everything. Returns whether BMv2 is installed.
async fn prove(mut program: Files) -> bool {
    let plan = fabric_plan();
    let Some(site) = Site::start(&plan) else { return false };
    let info = String::from_utf8(program["own.p4info.txtpb"].clone()).expect("text");
    let info = text::read_p4info(&info).expect("a P4Info");
    let pipeline = closc_switch::Pipeline::new(info, program["own.json"].clone().into()).expect("a pipeline");
    program.insert("own.p4info.txtpb".to_owned(), text::write(&pipeline.numeric_p4info()).into_bytes());
    let fleet = fleet_of(&site.tree, &site.inventory, &program);
    let report = push_fleet(&fleet).await;
    let faults: Vec<String> = report.failures().map(|(_, fault)| fault.to_string()).collect();
    assert!(report.is_good(), "{faults:?}");
    let shares = walk(&site).await;
    let uneven = weigh(&plan, &shares);
    assert!(uneven > 0, "some weights differ");
    println!("{} updates, {} spreads, {uneven} of them uneven", report.updates().total(), shares.len());
    let again = push_fleet(&fleet).await;
    assert!(again.is_good() && again.updates().total() == 0, "{:?}", again.updates());
    let found = drift(&fleet, &crate::deploy::bmv2::patient(), silent()).await;
    assert!(found.is_clean(), "{}", found.show());
    true
}

#[tokio::test(flavor = "multi_thread")]
async fn bmv2_runs_a_fabric_of_pins_by_numbers() {
    let p4info = text::write(Pipeline::sai().info().message()).into_bytes();
    let program = Pipeline::sai().bmv2().expect("it has one").as_bytes().to_vec();
    prove(Files::from([("own.p4info.txtpb".to_owned(), p4info), ("own.json".to_owned(), program)])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bmv2_runs_the_public_programs_of_pins() {
    for program in public() {
        if !prove(program).await {
            return;
        }
    }
}
