//! The plan as resources: a list of all elements, each with an address, like a Terraform state.
//!
//! In: a plan. Out: `resources.json`, schema `closc-resources/1`: `closc_fabric`, `closc_switch`,
//! `closc_node`, `closc_nic`, `closc_cable`. Invariants: the address of a resource does not depend on other
//! resources, so it stays the same in later exports. A resource that refers to another has that address in
//! `depends_on`. Each item is one line.

use closc_plan::{CableEnd, Plan};
use closc_topology::{Link, Nic, Node, PortRef, RackPlace, Side, Switch, TierId};
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use crate::File;

/// The name and version of the schema.
const SCHEMA: &str = "closc-resources/1";

/// Returns the list.
pub fn list(plan: &Plan) -> File<'_> {
    File::new("resources.json", |out| {
        writeln!(
            out,
            "{{\n\"schema\": \"{SCHEMA}\",\n\"fabric\": {},\n\"resources\": [",
            json!(plan.name())
        )?;
        write!(out, "{}", fabric(plan))?;
        let mut next = |item: &Value| write!(out, ",\n{item}");
        let switches = plan.switches();
        switches.map(|at| switch(plan, at)).try_for_each(|item| next(&item))?;
        plan.nodes().map(|at| node(plan, at)).try_for_each(|item| next(&item))?;
        plan.fabric().nics().map(|at| nic(plan, at)).try_for_each(|item| next(&item))?;
        plan.fabric().links().map(|at| cable(plan, at)).try_for_each(|item| next(&item))?;
        writeln!(out, "\n]\n}}")
    })
}

/// A resource of a kind: `TYPE.this["NAME"]`.
fn resource(kind: &str, name: &str, values: &Value, depends_on: &[String]) -> Value {
    json!({
        "address": address(kind, name),
        "mode": "managed",
        "type": kind,
        "name": "this",
        "index": name,
        "values": values,
        "depends_on": depends_on,
    })
}

fn address(kind: &str, name: &str) -> String {
    format!("{kind}.this[\"{name}\"]")
}

fn fabric(plan: &Plan) -> Value {
    let counts = plan.fabric().counts();
    let topology = plan.topology();
    let values = json!({
        "planes": counts.planes, "zones": counts.zones, "nodes": counts.nodes, "nics": counts.nics,
        "t0": counts.t0, "t1": counts.t1, "t2": counts.t2,
        "host_links": counts.host_links, "fabric_links": counts.fabric_links,
        "routing": topology.routing.keyword(),
        "host_prefix": topology.addresses.hosts, "link_prefix": topology.addresses.links,
        "loopback_prefix": topology.addresses.loopbacks,
    });
    resource("closc_fabric", plan.name(), &values, &[])
}

fn switch(plan: &Plan, switch: Switch) -> Value {
    let (topology, addresses) = (plan.topology(), plan.addresses());
    let (platform, os) = topology.hardware(switch);
    let exceptions = &topology.exceptions;
    let is_drained =
        exceptions.drained_switches.contains(&switch) || exceptions.drained_planes.contains(&switch.plane);
    let mut values = Map::new();
    values.insert("tier".to_owned(), json!(switch.tier.keyword()));
    values.insert("plane".to_owned(), json!(switch.plane.0));
    // T2s belong to no zone.
    if switch.tier < TierId::T2 {
        values.insert("zone".to_owned(), json!(switch.zone.0));
    }
    values.insert("number".to_owned(), json!(switch.ordinal()));
    values.insert("platform".to_owned(), json!(platform.id));
    values.insert("os".to_owned(), json!(os.keyword()));
    values.insert("mac".to_owned(), json!(addresses.switch_mac(switch).to_string()));
    values.insert("loopback".to_owned(), json!(addresses.loopback(switch)));
    if let Some(management) = addresses.management(switch) {
        values.insert("management".to_owned(), json!(management.addr()));
    }
    if topology.routing.speaks_bgp() {
        values.insert("asn".to_owned(), json!(addresses.asn(switch)));
    }
    values.insert("drained".to_owned(), json!(is_drained));
    insert(&mut values, topology.switch_place(switch));
    let above = [address("closc_fabric", plan.name())];
    resource("closc_switch", &plan.switch_name(switch), &Value::Object(values), &above)
}

fn node(plan: &Plan, node: Node) -> Value {
    let mut values = Map::new();
    values.insert("zone".to_owned(), json!(node.zone.0));
    values.insert("unit".to_owned(), json!(node.unit + 1));
    values.insert("number".to_owned(), json!(node.index + 1));
    insert(&mut values, plan.topology().node_place(node));
    resource(
        "closc_node",
        &plan.node_name(node),
        &Value::Object(values),
        &[address("closc_fabric", plan.name())],
    )
}

/// Adds the rack position of a device, if the file has it.
fn insert(values: &mut Map<String, Value>, place: Option<RackPlace>) {
    values.extend(place.map(|place| {
        let place = json!({ "rack": place.rack, "unit": place.unit, "units": place.units, "face": place.face.keyword() });
        ("place".to_owned(), place)
    }));
}

fn nic(plan: &Plan, nic: Nic) -> Value {
    let topology = plan.topology();
    let (node, number) = topology.node_of(nic);
    let mut values = json!({
        "node": plan.node_name(node), "number": number, "zone": nic.zone.0, "group": nic.group + 1,
        "downlink": nic.ordinal(), "address": plan.addresses().nic(nic),
        "speed_mbps": topology.nic_speed(nic.zone).mbps(),
    });
    if topology.has_adapters() {
        values["adapter"] = json!(topology.adapter_name(nic));
    }
    let above = [address("closc_node", &plan.node_name(node))];
    resource("closc_nic", &topology.naming.nic(node, number), &values, &above)
}

fn cable(plan: &Plan, link: Link) -> Value {
    let (topology, addresses) = (plan.topology(), plan.addresses());
    let ends = plan.cable_ends(link);
    let cable = plan.fabric().cable(link);
    // Ports with a BGP session to another switch have only their link-local address.
    let is_numbered = matches!(link, Link::Host(_)) || !topology.routing.speaks_bgp();
    let (lower, speed) = match link {
        Link::Host(port) => {
            let (node, number) = topology.node_of(port.nic);
            let lower = address("closc_nic", &topology.naming.nic(node, number));
            (lower, topology.port_speed(port.nic.zone))
        }
        Link::Fabric { lower, up } => {
            let slot = topology.slot(lower, PortRef { side: Side::Up, index: up });
            (address("closc_switch", &plan.switch_name(lower)), slot.breakout.speed)
        }
    };
    let end = |(device, port): &(SmolStr, SmolStr), end: CableEnd| json!({ "device": device, "port": port, "address": is_numbered.then(|| addresses.link(link, end)) });
    let mut values = json!({
        "plane": link.plane().0,
        "lower": end(&ends.lower, CableEnd::Lower),
        "upper": end(&ends.upper, CableEnd::Upper),
        "speed_mbps": speed.mbps(), "length_mm": cable.length.millimeters(), "medium": cable.medium,
        "drained": plan.fabric().is_drained(link),
    });
    if plan.fabric().is_isolated(link) {
        values["isolated"] = json!(true);
    }
    let both = [lower, address("closc_switch", &ends.upper.0)];
    resource("closc_cable", &plan.link_name(link), &values, &both)
}
