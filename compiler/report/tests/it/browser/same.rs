//! The script of the page computes the same names, addresses, cables, ports, uSIDs, routes, paths and
//! failures as the plan. The fabrics are those of the example files, and small generated ones.

use closc_artefacts::Routing;
use closc_browser::Browser;
use closc_fabric::{LossScope, UsablePaths};
use closc_plan::{Plan, Target};
use closc_topology::{Companion, Link, Nic, NicPort, PlaneId, RackPlace, Switch, TierId, ZoneId};
use closc_whatif::{Element, Elements, WhatIf, kind_word};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit.max(1)
    }
}

/// Returns every fabric file below the folder of topologies.
fn files() -> Vec<(String, String)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../topologies");
    let mut found = Vec::new();
    for folder in ["examples", "lab", "reference"] {
        for entry in std::fs::read_dir(format!("{root}/{folder}")).expect("the folder exists").flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "yaml") {
                let name = format!("{folder}/{}", entry.file_name().display());
                found.push((name, std::fs::read_to_string(path).expect("a file")));
            }
        }
    }
    found.sort();
    found
}

fn switch_at(switch: Switch) -> Value {
    json!([switch.plane.0, switch.tier.level(), switch.zone.0, switch.index])
}

fn nic_at(nic: Nic) -> Value {
    json!({ "zone": nic.zone.0, "group": nic.group, "downlink": nic.downlink })
}

/// Some switches of every tier: the first, the last, some between, and up to 12 with an exception of their
/// own or of a downlink.
fn switches(plan: &Plan, random: &mut Random) -> Vec<Switch> {
    let topology = plan.topology();
    let mut found: Vec<Switch> = Vec::new();
    for tier in TierId::ALL {
        let count = u64::from(topology.count(tier));
        let zones = if tier == TierId::T2 { 1 } else { u64::from(topology.zones) };
        for pick in 0..if count > 0 { 5 } else { 0 } {
            let index = match pick {
                0 => 0,
                1 => count - 1,
                _ => random.below(count),
            };
            let plane = PlaneId(random.below(topology.planes.into()) as u8);
            found.push(Switch { plane, tier, zone: ZoneId(random.below(zones) as u16), index: index as u16 });
        }
    }
    let exceptions = &topology.exceptions;
    found.extend(exceptions.drained_switches.iter().chain(exceptions.switches.keys()).take(6));
    let links =
        exceptions.absent_links.iter().chain(&exceptions.drained_links).chain(exceptions.cables.keys());
    found.extend(links.take(6).filter_map(|link| Some(plan.fabric().upper_end(*link)?.0)));
    found.retain(|switch| plan.fabric().has_switch(*switch));
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns a switch as the compiler computes it.
fn device(plan: &Plan, switch: Switch) -> Value {
    let (intent, addresses) = (plan.device(switch), plan.addresses());
    let ports: Vec<Value> = intent
        .ports
        .iter()
        .map(|port| {
            let cable = port.connection.as_ref().map(|own| {
                let is_numbered = !own.unnumbered;
                json!([
                    plan.link_name(own.link),
                    own.peer.device(),
                    own.cable.length.millimeters(),
                    own.cable.medium,
                    own.drained,
                    is_numbered.then(|| own.address.addr().to_string())
                ])
            });
            json!([
                port.physical.name,
                port.physical.panel,
                port.physical.subport,
                port.physical.speed.mbps(),
                cable
            ])
        })
        .collect();
    let routes: Vec<Value> = intent
        .routes
        .iter()
        .map(|route| match &route.target {
            Target::Blackhole => json!([route.prefix.to_string(), []]),
            Target::Ports(hops) => {
                let hops: Vec<Value> = hops.iter().map(|hop| json!([hop.port, hop.weight])).collect();
                json!([route.prefix.to_string(), hops])
            }
        })
        .collect();
    let usids: Vec<String> =
        intent.srv6.iter().flat_map(|own| &own.locators).map(|own| own.prefix.to_string()).collect();
    json!({
        "name": intent.name, "ports": ports, "routes": routes, "usids": usids,
        "platform": intent.platform.id, "os": intent.os.keyword(),
        "loopback": intent.system.loopback.to_string(), "mac": intent.system.mac.to_string(),
        "asn": addresses.asn(switch), "management": addresses.management(switch).map(|net| net.to_string()),
        "place": place(plan.topology().switch_place(switch)), "found": true,
    })
}

/// Computes a switch in the page, in the form that the Rust code above returns.
const DEVICE: &str = "(at) => { const s = sw(...at); return {
  name: switchName(s), platform: kindOf(s).platform, os: kindOf(s).os,
  ports: portsOf(s).map((p) => { const l = p.link; const upper = l && upperEnd(l);
    const isUpper = l && (l.host || !isSame(l.lower, s));
    return [p.name, p.cage, p.part, p.mbps, p.state !== 'linked' ? null : [linkName(l),
      l.host ? nodeName(nodeOf(l.nic).node) : switchName(isUpper ? l.lower : upper.switch),
      ...cableOf(l), isDrained(l), isNumbered(l) ? linkAddress(l, isUpper) : null]]; }),
  routes: routesOf(s).map((r) => [r.prefix, r.hops]),
  usids: M.segments ? ownUsids(s).map((value) => usidPrefix(s.plane, value)) : [],
  loopback: loopback(s), mac: switchMac(s), asn: asn(s), management: management(s) ?? null,
  place: switchPlace(s) ?? null, found: [loopback(s), management(s)].every((own) => !own || finds(own, switchName(s)))
    && portsOf(s).every((p) => p.state !== 'linked' || !isNumbered(p.link)
      || [false, true].every((isUpper) => finds(linkAddress(p.link, isUpper), linkName(p.link)))) }; }";

/// Whether the search of the page finds a name by an address.
const FINDS: &str = "globalThis.finds = (address, name) => find(address).some((one) => one.label === name)";

/// Returns the place of a device in the form of the page.
fn place(place: Option<RackPlace>) -> Value {
    place.map_or(
        Value::Null,
        |own| json!({ "rack": own.rack, "unit": own.unit, "units": own.units, "face": own.face.keyword() }),
    )
}

fn nics(plan: &Plan, random: &mut Random, wanted: usize) -> Vec<Nic> {
    let topology = plan.topology();
    let mut found = Vec::new();
    for _ in 0..wanted * 20 {
        let nic = Nic {
            zone: ZoneId(random.below(topology.zones.into()) as u16),
            group: random.below(topology.hosts.groups.into()) as u16,
            downlink: random.below(topology.hosts.per_group.into()) as u16,
        };
        if plan.fabric().has_nic(nic) && found.len() < wanted {
            found.push(nic);
        }
    }
    found
}

fn nic(plan: &Plan, nic: Nic) -> Value {
    let (topology, addresses) = (plan.topology(), plan.addresses());
    let (node, number) = topology.node_of(nic);
    let ports: Vec<Value> = topology
        .plane_ids()
        .map(|plane| {
            let link = Link::Host(NicPort { plane, nic });
            let usid = plan
                .is_source_routed()
                .then(|| plan.segments().prefix(plane, plan.segments().nic(plane, nic)).to_string());
            let ends = plan.cable_ends(link);
            json!([
                plan.link_name(link),
                plan.fabric().has_link(link),
                ends.lower.1,
                ends.upper.0,
                ends.upper.1,
                addresses.link(link, closc_plan::CableEnd::Lower).to_string(),
                addresses.nic_mac(NicPort { plane, nic }).to_string(),
                usid
            ])
        })
        .collect();
    json!({ "name": topology.naming.nic(node, number), "address": addresses.nic(nic).to_string(), "ports": ports,
        "group": addresses.group(nic.zone, nic.group).to_string(), "found": true,
        "place": place(topology.node_place(node)) })
}

const NIC: &str = "(nic) => ({ name: nicName(nic), address: nicAddress(nic), place: nodePlace(nodeOf(nic).node) ?? null,
  group: groupPrefix(nic.zone, nic.group), found: finds(nicAddress(nic), nicName(nic))
    && finds(groupPrefix(nic.zone, nic.group), groupPrefix(nic.zone, nic.group))
    && range(M.planes).every((plane) => finds(nicMac(plane, nic), nicPortName(plane, nic))), ports: range(M.planes).map((plane) => {
  const l = hostLink(plane, nic), ends = linkEnds(l);
  return [linkName(l), hasLink(l), ends[0][1], ends[1][0], ends[1][1], linkAddress(l, false), nicMac(plane, nic),
    M.segments ? usidPrefix(plane, nicUsid(plane, nic)) : null]; }) })";

/// Returns the paths of a pair: how many work in each plane, and some of them hop by hop.
fn pair(plan: &Plan, from: Nic, to: Nic, random: &mut Random) -> (Value, Value) {
    let table = plan.path_table(from.zone, from.group);
    let mut left = vec![0_u64; plan.topology().planes.into()];
    let every = random.below(97) + 1;
    let (mut some, mut asked) = (Vec::new(), Vec::new());
    for (at, path) in plan.paths(from, to).enumerate() {
        let works = table.denies(path.plane, from, to, path.choice).is_none();
        left[usize::from(path.plane.0)] += u64::from(works);
        if (at as u64).is_multiple_of(every) && some.len() < 40 {
            let switches: Vec<String> =
                path.hops.iter().map(|hop| plan.switch_name(hop.switch).to_string()).collect();
            let links = std::iter::once(path.first).chain(path.hops.iter().map(|hop| hop.link));
            let links: Vec<String> = links.map(|link| plan.link_name(link)).collect();
            let named = plan.is_source_routed().then(|| (path.entropy, path.destination.to_string()));
            some.push(json!([switches, links, named, works]));
            asked.push(json!([path.plane.0, path.choice.t0, path.choice.t1]));
        }
    }
    if !plan.is_source_routed() {
        left = count_paths(plan, from, to);
    }
    (json!([nic_at(from), nic_at(to), asked]), json!([left, some]))
}

/// Counts paths if switches choose them: they use only uplinks with a path down to the destination.
fn count_paths(plan: &Plan, from: Nic, to: Nic) -> Vec<u64> {
    let ways = UsablePaths::of(plan.topology(), LossScope::AbsentOrDrained);
    let profile = |nic: Nic| (nic.zone, ways.profile(nic.zone, nic.group).expect("a NIC has a group"));
    let (one, other) = (profile(from), profile(to));
    let inside = (from.zone, from.group) == (to.zone, to.group);
    let left = if inside { ways.local(one.1) } else { ways.pair_paths(one, other) };
    let works = |nic: Nic, plane: usize| {
        let port = Link::Host(NicPort { plane: PlaneId(plane as u8), nic });
        plan.fabric().has_link(port) && !plan.fabric().is_drained(port)
    };
    let both = |plane| works(from, plane) && works(to, plane);
    left.into_iter().enumerate().map(|(plane, left)| if both(plane) { left } else { 0 }).collect()
}

const PAIR: &str =
    "([from, to, asked]) => [pairPaths(fileState(), from, to), asked.map(([plane, u0, u1]) => {
  const p = pathOf(plane, from, to, u0, u1);
  return [p.switches.map(switchName), p.links.map(linkName), M.segments ? [p.entropy, p.destination] : null,
    culprits(p, indexed(nothing())).length === 0]; })]";

/// Compares many results of the page in one call.
fn compare(browser: &mut Browser, file: &str, kind: &str, function: &str, items: &[Value], wanted: &[Value]) {
    let list = serde_json::to_string(items).expect("it is JSON");
    let found = browser.value(&format!("({list}).map({function})"));
    for (at, (found, wanted)) in found.as_array().expect("a list").iter().zip(wanted).enumerate() {
        if found != wanted {
            differ(found, wanted, &format!("{file}: {kind} {}", items[at]));
        }
    }
    assert_eq!(found.as_array().map(Vec::len), Some(wanted.len()), "{file}: {kind}");
}

/// Fails at the first difference of two values.
fn differ(found: &Value, wanted: &Value, place: &str) {
    match (found, wanted) {
        (Value::Object(a), Value::Object(b)) => {
            for (name, value) in b {
                differ(a.get(name).unwrap_or(&Value::Null), value, &format!("{place}.{name}"));
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                differ(a, b, &format!("{place}[{at}]"));
            }
        }
        _ => assert_eq!(found, wanted, "{place}"),
    }
}

/// Returns elements that fail: switches, cables, NICs, a plane.
fn failures(plan: &Plan, random: &mut Random) -> Vec<Element> {
    let mut found: Vec<Element> = switches(plan, random).into_iter().take(3).map(Element::Switch).collect();
    let cables: Vec<Link> = plan.fabric().switch_links(PlaneId(0)).take(500).collect();
    for _ in 0..cables.len().min(3) {
        found.push(Element::Link(cables[random.below(cables.len() as u64) as usize]));
    }
    for nic in nics(plan, random, 2) {
        found.push(Element::Nic(nic));
        found.push(Element::Link(Link::Host(NicPort { plane: PlaneId(0), nic })));
    }
    if plan.topology().planes > 2 {
        found.push(Element::Plane(PlaneId(1)));
    }
    found
}

/// Returns failed elements in the form of the page, and the remaining paths of all pairs.
fn loss(plan: &Plan, failed: &[Element]) -> (Value, Value) {
    let (mut planes, mut own_switches, mut own_nics, mut links) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for element in failed {
        match element {
            Element::Plane(plane) => planes.push(json!(plane.0)),
            Element::Switch(switch) => own_switches.push(switch_at(*switch)),
            Element::Nic(nic) => own_nics.push(nic_at(*nic)),
            Element::Link(Link::Host(port)) => links.push(json!([port.plane.0, nic_at(port.nic), null])),
            Element::Link(Link::Fabric { lower, up }) => links.push(json!([0, switch_at(*lower), up])),
            other => panic!("unexpected failure {other:?}"),
        }
    }
    let outcome = WhatIf::new(Elements::of(plan.fabric())).fail(failed, 0);
    let kinds: Vec<Value> = outcome
        .distances
        .iter()
        .map(|own| json!([kind_word(own.kind), own.planned, own.paths.counts()]))
        .collect();
    let asked = json!({ "planes": planes, "switches": own_switches, "nics": own_nics, "links": links });
    (asked, json!([outcome.pairs(), outcome.affected_pairs, outcome.cut_off, outcome.newly_cut_off, kinds]))
}

const LOSS: &str = "(own) => { const sum = allPairs(fileState(), lose(fileState(), {
    planes: own.planes, nics: own.nics, switches: own.switches.map((at) => sw(...at)),
    links: own.links.map(([plane, at, up]) => up === null ? hostLink(plane, at) : fabricLink(sw(...at), up)) }));
  const kinds = [...sum.kinds].sort((a, b) => a[0] - b[0]).map(([kind, spread]) =>
    [DISTANCES[kind], planned(kind), [...spread].sort((a, b) => a[0] - b[0])]);
  return [sum.pairs, sum.touched, sum.cutOff, sum.newlyCutOff, kinds]; }";

/// Counts existing cables by plane and zone: NIC cables, uplinks of T0s and of T1s.
fn cable_counts(plan: &Plan) -> (Vec<Value>, Vec<Value>) {
    let (topology, fabric) = (plan.topology(), plan.fabric());
    let planes = (0..topology.planes).take(4).map(PlaneId);
    let count = |plane| {
        let mut found = vec![[0_u64; 3]; usize::from(topology.zones)];
        for link in fabric.host_links(plane).chain(fabric.switch_links(plane)) {
            match link {
                Link::Host(port) => found[usize::from(port.nic.zone.0)][0] += 1,
                Link::Fabric { lower, .. } => {
                    found[usize::from(lower.zone.0)][1 + usize::from(lower.tier.level())] += 1;
                }
            }
        }
        let all = (0..3).map(|at| found.iter().map(|zone| zone[at]).sum::<u64>());
        (json!(plane.0), json!([found, all.collect::<Vec<u64>>()]))
    };
    planes.map(count).unzip()
}

const CABLE_COUNTS: &str = "(plane) => {
  const counts = (zone) => [-1, 0, 1].map((tier) => tier + 1 < M.tiers.length ? cablesUp(plane, tier, zone) : 0);
  return [range(M.zones).map(counts), counts()]; }";

/// Compares some switches, NICs, pairs and failures of a plan, and the counts in its drawings.
fn compare_plan(browser: &mut Browser, file: &str, plan: &Plan, random: &mut Random) {
    browser.open(&closc_report::page(plan, None));
    browser.value(&format!("({FINDS}, 0)"));
    let some = switches(plan, random);
    let asked: Vec<Value> = some.iter().map(|switch| switch_at(*switch)).collect();
    let wanted: Vec<Value> = some.iter().map(|switch| device(plan, *switch)).collect();
    compare(browser, file, "switch", DEVICE, &asked, &wanted);
    let some = nics(plan, random, 8);
    let asked: Vec<Value> = some.iter().map(|nic| nic_at(*nic)).collect();
    let wanted: Vec<Value> = some.iter().map(|own| nic(plan, *own)).collect();
    compare(browser, file, "NIC", NIC, &asked, &wanted);
    // Paths of pairs are checked one by one, which is slow for a hundred thousand of them.
    let few = if plan.fabric().counts().paths_far > 10_000 { 0 } else { 3 };
    let others = some.iter().skip(1).chain(some.first());
    let pairs = some.iter().zip(others).filter(|(from, to)| from != to).take(few);
    let (asked, wanted): (Vec<Value>, Vec<Value>) =
        pairs.map(|(from, to)| pair(plan, *from, *to, random)).unzip();
    compare(browser, file, "pair", PAIR, &asked, &wanted);
    let failed = failures(plan, random);
    let (asked, wanted): (Vec<Value>, Vec<Value>) =
        [&failed[..1], &failed].into_iter().map(|failed| loss(plan, failed)).unzip();
    compare(browser, file, "failure", LOSS, &asked, &wanted);
    if plan.fabric().counts().nics <= 10_000 {
        let (asked, wanted) = cable_counts(plan);
        compare(browser, file, "plane", CABLE_COUNTS, &asked, &wanted);
    }
}

#[test]
fn the_page_computes_the_results_of_the_plan() {
    let Some(mut browser) = Browser::start() else { return };
    examples(&mut browser);
    exceptions(&mut browser);
    cases(&mut browser);
    check_management_list(&mut browser);
    assert_eq!(browser.complaints, [""; 0]);
}

/// Every example file, except those with a platform that is not in the catalogue.
fn examples(browser: &mut Browser) {
    for (file, text) in files().into_iter().filter(|(_, text)| !text.contains("platform: assumed-")) {
        compare_plan(browser, &file, &closc_tests::shape::plan(&text), &mut Random(7));
    }
}

/// Small fabrics with parallel cables, rows, zones, absent and drained elements, and cable exceptions, in every routing
/// mode.
fn exceptions(browser: &mut Browser) {
    let mut runner = TestRunner::deterministic();
    for at in 0..10 {
        let shape = closc_tests::exceptions::shapes_with_exceptions()
            .new_tree(&mut runner)
            .expect("a shape")
            .current();
        for routing in [Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered] {
            let name = format!("{shape:?} {}", routing.keyword());
            compare_plan(browser, &name, &shape.plan_with_routing(routing), &mut Random(at));
        }
    }
}

/// The same with IPv4 addresses, where switches choose paths.
#[test]
fn ipv4_fabrics_are_the_same_on_the_page() {
    let Some(mut browser) = Browser::start() else { return };
    let mut runner = TestRunner::deterministic();
    for at in 0..8 {
        let shape = closc_tests::exceptions::shapes_with_exceptions()
            .new_tree(&mut runner)
            .expect("a shape")
            .current();
        for routing in [Routing::EcmpStatic, Routing::BgpUnnumbered] {
            let name = format!("IPv4 {shape:?} {}", routing.keyword());
            compare_plan(&mut browser, &name, &shape.plan_with_family(routing, true), &mut Random(at));
        }
    }
    assert_eq!(browser.complaints, [""; 0]);
}

/// Small fabrics of several parts that are connected only through nodes, with IPv6 and with IPv4 addresses.
#[test]
fn fabrics_of_unconnected_parts_are_the_same_on_the_page() {
    let Some(mut browser) = Browser::start() else { return };
    let mut runner = TestRunner::deterministic();
    for at in 0..8 {
        let shape = closc_tests::exceptions::islands_with_exceptions()
            .new_tree(&mut runner)
            .expect("a shape")
            .current();
        for ipv4 in [false, true] {
            let name = format!("islands {shape:?} {ipv4}");
            compare_plan(
                &mut browser,
                &name,
                &shape.plan_with_family(Routing::EcmpStatic, ipv4),
                &mut Random(at),
            );
        }
    }
    assert_eq!(browser.complaints, [""; 0]);
}

/// Listed management ports, with a pool that they override and without a pool.
fn check_management_list(browser: &mut Browser) {
    let list = "switch,address,gateway\np0-t0-001,192.0.2.70/26,192.0.2.65\np0-t0-002,192.0.2.71/26,192.0.2.65\n\
                p0-t1-001,198.51.100.2/31,198.51.100.3\n";
    for pool in ["management: 10.64.0.0/14, ", ""] {
        let text = format!(
            "fabric: listed\nplanes: 1\nhosts: {{ groups: 2, per_group: 1, nic: {{ speed: 100G, lanes: 1 }} }}\n\
             addresses: {{ {pool}management_list: list.csv }}\n\
             tiers:\n  t0: {{ platform: th5-512x100g, os: sonic, up: 1 }}\n  t1: {{ platform: th5-512x100g, os: sonic }}\n"
        );
        let plan = closc_tests::shape::try_plan_with(&text, &[(Companion::Management, list)]);
        compare_plan(browser, "listed", &plan.expect("the fabric file is valid"), &mut Random(5));
        let found = browser.text("find('192.0.2.71').map((found) => found.label).join()");
        assert_eq!(found, "p0-t0-002", "{pool}");
    }
}

/// Pins, and platforms with and without weights.
fn cases(browser: &mut Browser) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases");
    let read = |case: &str| {
        std::fs::read_to_string(format!("{root}/{case}/topology.yaml")).expect("the case exists")
    };
    for case in ["ecmp-pinned", "ecmp-linux", "domains", "sonic-pod", "three-tiers"] {
        compare_plan(browser, case, &closc_tests::shape::plan(&read(case)), &mut Random(3));
    }
}
