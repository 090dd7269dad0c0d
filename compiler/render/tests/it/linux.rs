//! The Linux target: contents of its files, including known pitfalls of the kernel that they avoid. The tests of the
//! lab apply the files to a kernel.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::Plan;
use closc_render::targets::linux::host_routes;
use closc_render::{Artefact, Templates, targets};
use closc_tests::shape::plan;

/// Two rails, so that a node has NICs in two groups. There are more uplinks than active values, so that sets differ.
const FABRIC: &str = "
fabric: soft
planes: 2
hosts: { groups: 4, per_group: 2, nics_per_node: 2, rails: 2, nic: { speed: 200G, lanes: 2 }, os: linux }
tiers:
  t0: { platform: linux, os: linux, up: 8 }
  t1: { platform: linux, os: linux }
cables:
  nic-t0: { length: 1m, medium: virtual }
  t0-t1: { length: 1m, medium: virtual }
entropy: { active: 8, backup: 4 }
";

fn text(artefacts: &[Artefact], name: &str) -> String {
    let artefact = artefacts.iter().find(|a| a.path.file_name() == Some(name)).unwrap();
    String::from_utf8(artefact.bytes.clone()).unwrap()
}

fn switch(plan: &Plan, name: &str) -> Vec<Artefact> {
    let switch = plan.switches().find(|s| plan.topology().naming.switch(*s) == name).unwrap();
    let intent = plan.device(switch);
    targets::target(intent.os).unwrap().device(&intent, &Templates::builtin()).unwrap()
}

fn routes(plan: &Plan, node: &str) -> Option<String> {
    let node = plan.nodes().find(|n| plan.topology().naming.node(*n) == node).unwrap();
    let artefact = host_routes(&plan.node_routes(node)?, &Templates::builtin()).unwrap();
    Some(String::from_utf8(artefact.bytes).unwrap())
}

/// The lines of a file without comments.
fn commands(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[test]
fn a_switch_holds_one_segment_a_route_for_each_neighbour_and_a_blackhole() {
    let plan = plan(FABRIC);
    let files = switch(&plan, "p1-t0-003");
    let batch = text(&files, "ip.batch");
    let routes: Vec<_> = commands(&batch).into_iter().filter(|line| line.starts_with("route")).collect();
    assert_eq!(
        routes[0],
        "route replace fcbb:bbbb:803::/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 count dev sr0"
    );
    assert_eq!(routes.len(), 1 + 2 + 8 + 1);
    assert_eq!(routes.last(), Some(&"route replace blackhole fcbb:bbbb::/32"));
    assert!(routes[1..routes.len() - 1].iter().all(|r| r.contains("::/48 via ") && r.contains(" dev eth")));
    assert!(commands(&batch).iter().all(|line| !line.contains("default") && !line.contains(" ::/0")));
    let neighbours =
        batch.lines().filter(|l| l.starts_with("neighbour replace ") && l.ends_with(" nud permanent"));
    assert_eq!(neighbours.count(), 10);
}

#[test]
fn batches_can_run_twice_and_bind_no_segment_to_lo_or_a_port() {
    let plan = plan(FABRIC);
    let node = plan.nodes().next().unwrap();
    let mut files = switch(&plan, "p0-t1-001");
    files.extend(targets::host(&plan.host(node), &Templates::builtin()).unwrap());
    for artefact in files.iter().filter(|a| a.path.file_name() == Some("ip.batch")) {
        let text = String::from_utf8(artefact.bytes.clone()).unwrap();
        for line in commands(&text) {
            let verb = line.split_whitespace().nth(1).unwrap();
            assert!(["replace", "set", "tunsrc"].contains(&verb), "{}: {line}", artefact.path);
            assert!(!line.contains("seg6local") || line.ends_with(" count dev sr0"), "{line}");
            assert!(!line.starts_with("address replace") || line.ends_with(" nodad"), "{line}");
        }
        assert!(!text.contains("\n\n\n"), "{text}");
    }
    assert_eq!(commands(&text(&files, "devices.batch")), ["link add name sr0 type bridge"]);
}

#[test]
fn a_node_decapsulates_in_every_plane_and_picks_the_port_by_the_first_segment() {
    let plan = plan(FABRIC);
    let node = plan.nodes().next().unwrap();
    let batch = text(&targets::host(&plan.host(node), &Templates::builtin()).unwrap(), "ip.batch");
    let lines = commands(&batch);
    let decapsulated: Vec<_> = lines.iter().filter(|line| line.contains("End.DT6 table 255")).collect();
    assert_eq!(decapsulated.len(), 4, "two NICs in two planes: {decapsulated:?}");
    for (segment, port) in [("1", "nic0p0"), ("801", "nic0p1"), ("2", "nic1p0"), ("802", "nic1p1")] {
        let prefix = format!("route replace fcbb:bbbb:{segment}::/48 via ");
        let line = lines.iter().find(|line| line.starts_with(&prefix)).unwrap();
        assert!(line.contains(&format!(" dev {port} metric ")), "{line}");
    }
    assert!(lines.contains(&"sr tunsrc set fd00:c105:1:1::1"), "{batch}");
    assert_eq!(lines.last(), Some(&"route replace blackhole fcbb:bbbb::/32"));
}

#[test]
fn sysctls_name_the_ports_that_are_there() {
    let plan = plan(FABRIC);
    let files = switch(&plan, "p0-t1-001");
    let (sysctl, batch) = (text(&files, "sysctl.conf"), text(&files, "ip.batch"));
    let ports = |text: &str, from: &str, to: char| -> BTreeSet<String> {
        text.lines()
            .filter_map(|line| line.strip_prefix(from)?.split(to).next().map(str::to_owned))
            .filter(|name| name.starts_with("eth"))
            .collect()
    };
    assert_eq!(ports(&sysctl, "net.ipv6.conf.", '.'), ports(&batch, "link set dev ", ' '));
    assert!(sysctl.contains("net.ipv6.conf.all.forwarding = 1\n"));
    assert!(commands(&sysctl).iter().all(|line| line.contains(" = ")));
}

/// Group of each destination, as sums of weights by plane.
fn groups(routes: &str) -> BTreeMap<String, [u32; 2]> {
    let plane_of: BTreeMap<&str, usize> = routes
        .lines()
        .filter(|line| line.starts_with("nexthop") && line.contains(" encap seg6 "))
        .map(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            assert!(words.contains(&"via"), "members need a gateway: {line}");
            assert_eq!(words[5..8], ["seg6", "mode", "encap.red"], "{line}");
            (words[3], usize::from(line.ends_with("p1")))
        })
        .collect();
    let mut out = BTreeMap::new();
    for line in routes.lines().filter(|line| line.starts_with("nexthop") && line.contains(" group ")) {
        let words: Vec<_> = line.split_whitespace().collect();
        let mut weights = [0; 2];
        for member in words[5].split('/') {
            let (id, weight) = member.split_once(',').unwrap_or((member, "1"));
            weights[plane_of[id]] += weight.parse::<u32>().unwrap();
        }
        out.insert(words[3].to_owned(), weights);
    }
    out
}

#[test]
fn routes_to_other_nodes_load_planes_equally() {
    let routes = routes(&plan(FABRIC), "su001-n001").unwrap();
    let groups = groups(&routes);
    assert_eq!(groups.len(), 6, "eight NICs, two of them its own");
    assert!(groups.values().all(|weights| *weights == [4, 4]), "{groups:?}");
    let by: Vec<_> = routes.lines().filter(|line| line.starts_with("route replace")).collect();
    assert_eq!(by.len(), 6);
    assert!(by.iter().all(|line| line.contains("/128 nhid ") && line.contains(" mtu 9000")), "{by:?}");
    // The NIC with the same number sends to a NIC of another node.
    assert!(
        by.iter().any(|line| line.contains("fd00:c105:1:4::1/128") && line.contains("src fd00:c105:1:2::1"))
    );
}

#[test]
fn what_is_denied_gives_way_to_backups_of_its_plane() {
    let drained =
        format!("{FABRIC}exceptions: {{ drained: [p0-t1-001, p0-t1-002, p0-t1-003, p0-t1-004] }}\n");
    let plan = plan(&drained);
    let routes = routes(&plan, "su001-n001").unwrap();
    for usid in ["4001", "4002", "4003", "4004"] {
        assert!(!routes.contains(&format!("fcbb:bbbb:1:{usid}:")), "{usid} is drained");
    }
    assert!(groups(&routes).values().all(|weights| weights[1] == 4 && (1..=4).contains(&weights[0])));
}

#[test]
fn identifiers_differ_and_do_not_change_when_the_fabric_grows() {
    let ids = |routes: &str| -> BTreeSet<String> {
        let words = |line: &str| line.split_whitespace().nth(3).map(str::to_owned);
        routes.lines().filter(|line| line.starts_with("nexthop")).filter_map(words).collect()
    };
    let small = routes(&plan(FABRIC), "su001-n001").unwrap();
    let large = routes(&plan(&FABRIC.replace("groups: 4", "groups: 6")), "su001-n001").unwrap();
    let lines = small.lines().filter(|line| line.starts_with("nexthop")).count();
    assert_eq!(ids(&small).len(), lines);
    assert!(ids(&small).is_subset(&ids(&large)));
    let known: BTreeSet<&str> = large.lines().collect();
    assert!(small.lines().all(|line| known.contains(line)), "growth changes no line");
}

#[test]
fn large_fabrics_have_path_tables_only() {
    let large = FABRIC.replace("groups: 4", "groups: 64").replace("per_group: 2", "per_group: 16");
    assert_eq!(routes(&plan(&large), "su001-n001"), None);
}

/// Returns the commands of `tc.batch` of a switch with a QoS profile.
fn queues(qos: &str, name: &str) -> Vec<String> {
    let plan = plan(&format!("{FABRIC}qos: {qos}\n"));
    commands(&text(&switch(&plan, name), "tc.batch")).into_iter().map(str::to_owned).collect()
}

/// Lines of a port that begin with a word.
fn of_port<'l>(lines: &'l [String], port: &str, word: &str) -> Vec<&'l str> {
    let of_port = |line: &&String| line.starts_with(word) && line.contains(&format!(" dev {port} "));
    lines.iter().filter(of_port).map(String::as_str).collect()
}

#[test]
fn queues_are_strict_bands_then_weights_and_mark_where_the_profile_does() {
    let t0 = queues("lossy-trim", "p0-t0-001");
    for (port, marks) in [("eth1", 0), ("eth501", 2)] {
        let lines = of_port(&t0, port, "qdisc");
        assert!(
            lines[0]
                .contains(" root handle 1: ets bands 5 strict 1 quanta 18432 27648 129024 9216 priomap 4 4 ")
        );
        assert_eq!(lines.len(), 1 + 5, "{lines:?}");
        let found: Vec<_> = lines.iter().filter(|line| line.contains(": red ")).collect();
        assert_eq!(found.len(), marks, "{port}");
        assert!(
            found.iter().all(|line| line.ends_with(" ecn nodrop") && line.contains(" probability 0.20 "))
        );
        let filters = of_port(&t0, port, "filter");
        assert_eq!(filters[0], format!("filter del dev {port} parent 1:"));
        assert!(filters[1].ends_with("pref 2 u32 match ip6 priority 0x10 0xfc flowid 1:4"), "{}", filters[1]);
        assert!(filters.last().unwrap().ends_with("pref 101 u32 match u32 0 0 flowid 1:5"));
    }
    let t1 = queues("lossy-trim", "p0-t1-001");
    assert_eq!(of_port(&t1, "eth1", "qdisc").iter().filter(|line| line.contains(": red ")).count(), 2);
}

#[test]
fn every_preset_has_queues_and_none_has_no_line() {
    assert_eq!(queues("none", "p0-t0-001"), Vec::<String>::new());
    for (preset, bands) in [
        ("lossless", "bands 4 strict 2 quanta 82944 9216"),
        ("meta-roce", "bands 4 strict 2 quanta 82944 9216"),
        ("nvidia-roce", "bands 3 strict 1 quanta 9216 9216"),
        ("sonic-azure", "bands 7 quanta 9216 9216 9874 9874 9216 9216 9216"),
        ("sonic-ai-lossy", "bands 7 quanta 9216 50688 50688 50688 41472 18432 9216"),
    ] {
        let lines = queues(preset, "p0-t1-001");
        let roots = of_port(&lines, "eth1", "qdisc");
        assert!(roots[0].contains(bands), "{preset}: {}", roots[0]);
    }
    // This preset also marks on ports to NICs, and has configured thresholds.
    let azure = queues("sonic-azure", "p0-t0-001");
    let red = of_port(&azure, "eth1", "qdisc").into_iter().find(|line| line.contains(": red ")).unwrap();
    assert!(
        red.contains("limit 9216000 min 1048576 max 2097152 avpkt 1000 burst 1049 probability 0.05"),
        "{red}"
    );
    // The bulk class has code points 11 to 40, which need five masks. The class for the switch's own packets has no
    // code point.
    let ai = queues("sonic-ai-lossy", "p0-t0-001");
    assert_eq!(of_port(&ai, "eth1", "filter").iter().filter(|line| line.contains(" pref 5 ")).count(), 5);
    assert!(of_port(&ai, "eth1", "filter").iter().all(|line| !line.contains(" pref 7 ")));
}

#[test]
fn thresholds_that_are_chosen_make_longer_queues() {
    let chosen = "{ base: lossy-trim, classes: { data: { ecn: { thresholds: { min: 900, max: 20MB, probability: 100 } } } } }";
    let lines = queues(chosen, "p0-t0-001");
    let red =
        of_port(&lines, "eth501", "qdisc").into_iter().find(|line| line.contains(" max 20000000 ")).unwrap();
    assert!(red.contains("limit 40000000 min 900 "), "{red}");
    assert!(red.contains(" avpkt 900 burst 1 probability 0.999999 "), "{red}");
}
