//! SONiC numbers ports by lanes, so port numbers in use have gaps. The import must not infer unused ports
//! from these gaps, on any platform. The cases are one or two breakouts, default or other names, each with
//! and without a list of devices.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use closc_cabling::list::devices;
use closc_import::{ExistingNetwork, ImportError, ImportResult, Options, import, read};
use closc_plan::Plan;
use closc_platform::{Catalogue, Os, Platform};
use closc_tests::shape::try_plan;

const NAMES: &str = "naming: { t0: \"leaf{index:02}-{plane+1}\", t1: \"spine{index:02}-{plane+1}\" }\n";

/// Returns the cables as a list that contains only devices and ports.
fn plain(plan: &Plan) -> String {
    let rows = plan.fabric().links().map(|link| {
        let ends = plan.cable_ends(link);
        format!("{},{},{},{}\n", ends.lower.0, ends.lower.1, ends.upper.0, ends.upper.1)
    });
    format!("a_device,a_port,b_device,b_port\n{}", rows.collect::<Vec<_>>().concat())
}

fn import_tables(tables: &[&str]) -> Result<ImportResult, ImportError> {
    let mut network = ExistingNetwork::default();
    for (number, table) in tables.iter().enumerate() {
        read::file(&mut network, &format!("{number}.csv"), table);
    }
    let options = Options { name: "m1".to_owned(), ..Options::default() };
    import(&network.finish()?, &options, &Catalogue::builtin(), &mut |text| try_plan(text))
}

/// Returns two fabrics of three groups for each breakout of T0 downlinks: one with default names, and one
/// with other names.
fn fabrics(platform: &Platform) -> Vec<String> {
    let usual = platform.panel.default_breakout;
    let mut texts = Vec::new();
    for split in &platform.panel.breakouts {
        let (down, speed) = if *split == usual {
            (String::new(), usual.speed)
        } else {
            (format!(", down: {{ count: 4, breakout: {split} }}"), split.speed)
        };
        let nic = u64::from(speed.mbps()) * 2 / 1000;
        for names in ["", NAMES] {
            texts.push(format!(
                "fabric: m1\nplanes: 2\nhosts: {{ groups: 3, per_group: 4, nic: {{ speed: {nic}G, lanes: 2 }} }}\n\
                 tiers:\n  t0: {{ platform: {id}, os: sonic, up: 4{down} }}\n  t1: {{ platform: {id}, os: sonic }}\n\
                 qos: none\n{names}",
                id = platform.id
            ));
        }
    }
    texts
}

fn comes_back(before: &Plan, text: &str, tables: &[&str]) {
    let found = import_tables(tables).unwrap_or_else(|refused| panic!("{text}\n{refused}"));
    assert_eq!((found.absent, &found.findings), (0, &Vec::new()), "{text}\n{}", found.text);
    let after = try_plan(&found.text).expect("the imported file compiles");
    let numbers = |plan: &Plan| {
        let (hosts, counts) = (&plan.topology().hosts, plan.fabric().counts());
        (hosts.groups, hosts.per_group, hosts.nics_per_node, counts.t0, counts.t1, counts.nodes)
    };
    assert_eq!(numbers(&after), numbers(before), "{text}\n{}", found.text);
    let places = |plan: &Plan| plan.switches().map(|at| (at, plan.switch_name(at))).collect::<Vec<_>>();
    assert_eq!(places(&after), places(before), "{text}\n{}", found.text);
}

#[test]
fn no_platform_gets_unused_ports() {
    let mut compiled = 0;
    for platform in Catalogue::builtin().iter().filter(|platform| platform.oses.contains(&Os::Sonic)) {
        for text in fabrics(platform) {
            let Ok(plan) = try_plan(&text) else { continue };
            compiled += 1;
            let cables = plain(&plan);
            // Without a list of devices, derived platforms are not fitted: many of them have the same port
            // names.
            if !platform.derived {
                comes_back(&plan, &text, &[&cables]);
            }
            let list = devices(&plan, &plan.planes().collect::<Vec<_>>());
            let known = import_tables(&[&list, &cables]).expect("the list of devices is read");
            let after = try_plan(&known.text).expect("the imported file compiles");
            for switch in after.switches() {
                assert_eq!(after.topology().hardware(switch).0.id, platform.id, "{text}\n{}", known.text);
            }
            comes_back(&plan, &text, &[&list, &cables]);
        }
    }
    assert!(compiled >= 20, "{compiled} fabrics");
}

/// Returns the topology of a lab whose switches number only interfaces with cables.
fn lab(plan: &Plan) -> String {
    let number = |port: &str| port.trim_start_matches(|sign: char| !sign.is_ascii_digit()).parse::<u32>();
    let mut ports: BTreeMap<String, BTreeSet<(u32, String)>> = BTreeMap::new();
    let mut nodes = BTreeSet::new();
    for link in plan.fabric().links() {
        let ends = plan.cable_ends(link);
        for (device, port) in [ends.lower, ends.upper] {
            nodes.insert(device.to_string());
            if let (true, Ok(at)) = (port.starts_with("Ethernet"), number(&port)) {
                ports.entry(device.to_string()).or_default().insert((at, port.to_string()));
            }
        }
    }
    let name = |device: &str, port: &str| {
        let at = ports.get(device).and_then(|ports| ports.iter().position(|(_, own)| own == port));
        at.map_or_else(|| port.to_owned(), |at| format!("eth{}", at + 1))
    };
    let mut text = "name: lab\ntopology:\n  nodes:\n".to_owned();
    for node in &nodes {
        let _ = writeln!(text, "    \"{node}\": {{ kind: linux }}");
    }
    text.push_str("  links:\n");
    for link in plan.fabric().links() {
        let ends = plan.cable_ends(link);
        let [a, b] = [ends.lower, ends.upper]
            .map(|(device, port)| format!("{device}:{}", name(device.as_str(), port.as_str())));
        let _ = writeln!(text, "    - {{ endpoints: [\"{a}\", \"{b}\"] }}");
    }
    text
}

#[test]
fn a_lab_that_numbers_its_interfaces_keeps_absent_cables() {
    let text = "fabric: m1\nplanes: 2\nhosts: { groups: 3, per_group: 4, nic: { speed: 400G, lanes: 2 } }\n\
                tiers:\n  t0: { platform: spectrum4-sn5600-256x200g, up: 4 }\n  t1: { platform: spectrum4-sn5600-256x200g }\nqos: none\n\
                exceptions: { absent: [p0-t1-001, p1-t0-002--p1-t1-003, su001-n002] }\n";
    let before = try_plan(text).expect("it is a fabric");
    let found = import_tables(&[&lab(&before)]).unwrap_or_else(|refused| panic!("{refused}"));
    assert_eq!(found.findings, Vec::<String>::new(), "{}", found.text);
    let after = try_plan(&found.text).expect("the imported file compiles");
    let links = |plan: &Plan| plan.fabric().links().map(|link| plan.link_name(link)).collect::<BTreeSet<_>>();
    assert_eq!(links(&after), links(&before), "{}", found.text);
}
