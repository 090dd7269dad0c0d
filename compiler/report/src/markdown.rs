//! A fabric as Markdown, for a wiki or a repository.
//!
//! In: a plan. Out: Markdown. Invariants: it describes counts and exceptions, not single devices; text from input is
//! escaped, so that it cannot add HTML, links or table cells.

use std::fmt::Write as _;

use closc_diagnostics::figures::number;
use closc_diagnostics::printable;
use closc_plan::Plan;
use closc_platform::Os;
use closc_qos::profile::Scheduler;
use closc_topology::{Cable, Link, PlaneId, PortBlock, RackRule, Switch, TierId, Topology};

use crate::drawing::cable_counts;

/// Maximum number of exceptions of a kind that are named; the others are counted.
const NAMED_MAX: usize = 50;

/// Describes a fabric.
pub fn markdown(plan: &Plan) -> String {
    let topology = plan.topology();
    let mut out = format!("# {}\n\n", text(plan.name()));
    if !topology.description.is_empty() {
        let _ = writeln!(out, "{}\n", text(&topology.description));
    }
    counts(&mut out, plan);
    tiers(&mut out, plan);
    racks(&mut out, topology);
    cables(&mut out, plan);
    addresses(&mut out, plan);
    classes(&mut out, topology);
    exceptions(&mut out, plan);
    out
}

/// Escapes text from input.
fn text(content: &str) -> String {
    let mut out = String::new();
    for c in printable::line(content).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '|' | '[' | ']' | '\\' | '*' | '_' | '`' | '#' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

/// Writes a name as code.
fn code(name: impl std::fmt::Display) -> String {
    format!("`{}`", printable::line(&name.to_string()).replace('`', "'").replace('|', "\\|"))
}

fn table(out: &mut String, title: &str, heads: &[&str], rows: &[Vec<String>]) {
    let _ = writeln!(out, "## {title}\n\n| {} |\n|{}", heads.join(" | "), "---|".repeat(heads.len()));
    for row in rows {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out.push('\n');
}

fn counts(out: &mut String, plan: &Plan) {
    let counts = plan.fabric().counts();
    let mut rows = vec![
        vec!["NICs".to_owned(), number(counts.nics)],
        vec!["nodes".to_owned(), number(counts.nodes)],
        vec!["planes".to_owned(), number(counts.planes)],
        vec!["zones".to_owned(), number(counts.zones)],
    ];
    if plan.topology().has_adapters() {
        rows.insert(1, vec!["adapters".to_owned(), number(plan.fabric().adapters())]);
    }
    for (word, count) in [("T0s", counts.t0), ("T1s", counts.t1), ("T2s", counts.t2)] {
        rows.extend((count > 0).then(|| vec![word.to_owned(), number(count)]));
    }
    rows.push(vec!["cables of NICs".to_owned(), number(counts.host_links)]);
    rows.push(vec!["cables between switches".to_owned(), number(counts.fabric_links)]);
    let paths = [
        ("one T0 group", counts.paths_local),
        ("one zone", counts.paths_zone),
        ("two zones", counts.paths_far),
    ];
    for (word, count) in paths.into_iter().filter(|(_, count)| *count > 0) {
        rows.push(vec![format!("paths between NICs of {word}"), number(count)]);
    }
    table(out, "Counts", &["", "number"], &rows);
}

fn tiers(out: &mut String, plan: &Plan) {
    let topology = plan.topology();
    let mut rows = Vec::new();
    for id in TierId::ALL {
        let Some(tier) = topology.tier(id) else { continue };
        let (label, names) = (id.label(), code(topology.naming.tier_pattern(id)));
        let row = |what: String, count: String, platform: &str, os: Os, blocks: [String; 2]| {
            let [down, up] = blocks;
            vec![what, count, code(platform), os.keyword().to_owned(), down, up, names.clone()]
        };
        let count = number(topology.count(id).into());
        rows.push(row(
            label.to_owned(),
            count,
            &tier.platform.id,
            tier.os,
            [ports(tier.down), ports(tier.up)],
        ));
        for (plane, (platform, os)) in &tier.by_plane {
            rows.push(row(
                format!("{label} of plane {plane}"),
                String::new(),
                &platform.id,
                *os,
                Default::default(),
            ));
        }
        for (zone, own) in &tier.by_zone {
            let blocks = [ports(own.down), ports(own.up)];
            rows.push(row(
                format!("{label} of zone {zone}"),
                String::new(),
                &own.platform.id,
                own.os,
                blocks,
            ));
        }
    }
    rows.push(vec![
        "nodes".to_owned(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        format!("NICs: {}, rails: {}", topology.hosts.nics_per_node, topology.hosts.rails),
        code(topology.naming.node_pattern()),
    ]);
    table(
        out,
        "Switches and nodes",
        &["tier", "number per plane and zone", "platform", "operating system", "down", "up", "names"],
        &rows,
    );
}

fn racks(out: &mut String, topology: &Topology) {
    let Some(own) = &topology.racks else { return };
    let tiers = TierId::ALL.into_iter().map(|tier| (tier.label(), own.tier(tier)));
    let row = |(what, rule): (&str, Option<&RackRule>)| {
        let rule = rule?;
        let each = if rule.shares_planes() && what != "nodes" { " of each plane" } else { "" };
        Some(vec![
            what.to_owned(),
            code(&rule.name),
            format!("{}{each}", number(rule.per_rack.into())),
            rule.per_row.map(|racks| number(racks.into())).unwrap_or_default(),
            rule.units.to_string(),
            rule.first_unit.to_string(),
            rule.face.keyword().to_owned(),
        ])
    };
    let rows: Vec<Vec<String>> = tiers.chain([("nodes", own.hosts.as_ref())]).filter_map(row).collect();
    let title = format!("Racks of {} units", own.height);
    table(
        out,
        &title,
        &["devices", "rack", "per rack", "racks per row", "units per device", "first unit", "face"],
        &rows,
    );
}

fn ports(block: PortBlock) -> String {
    if block.count == 0 {
        String::new()
    } else {
        format!("{} ({})", number(block.count.into()), block.breakout)
    }
}

fn cables(out: &mut String, plan: &Plan) {
    let topology = plan.topology();
    let mut sum = [0; 3];
    for plane in plan.planes() {
        for (all, own) in sum.iter_mut().zip(cable_counts(plan, plane, None)) {
            *all += own;
        }
    }
    let kinds = [
        ("NIC to T0", Some(&topology.cables.nic_t0)),
        ("T0 to T1", Some(&topology.cables.t0_t1)),
        ("T1 to T2", topology.cables.t1_t2.as_ref()),
    ];
    let row = |what: String, count: String, cable: &Cable| {
        vec![what, count, cable.length.to_string(), text(&cable.medium)]
    };
    let mut rows: Vec<Vec<String>> = kinds
        .into_iter()
        .zip(sum)
        .filter_map(|((what, cable), count)| Some(row(what.to_owned(), number(count), cable?)))
        .collect();
    let zones = topology.cables.t1_t2_by_zone.iter();
    rows.extend(zones.map(|(zone, cable)| row(format!("T1 to T2 of zone {zone}"), String::new(), cable)));
    table(out, "Cables", &["kind", "number", "length", "medium"], &rows);
}

fn addresses(out: &mut String, plan: &Plan) {
    let (topology, own) = (plan.topology(), &plan.topology().addresses);
    let mut rows = vec![
        vec!["routing".to_owned(), code(topology.routing.keyword())],
        vec!["NICs".to_owned(), code(own.hosts)],
        vec!["cables".to_owned(), code(own.links)],
        vec!["loopbacks".to_owned(), code(own.loopbacks)],
    ];
    rows.extend(own.management.map(|pool| vec!["management".to_owned(), code(pool)]));
    if topology.routing.speaks_bgp() {
        rows.push(vec!["first AS number".to_owned(), number(own.asn_base.into())]);
    }
    if plan.is_source_routed() {
        let mut blocks: Vec<String> =
            topology.plane_ids().map(|plane| code(topology.srv6.block(plane))).collect();
        blocks.dedup();
        rows.push(vec!["uSID blocks".to_owned(), blocks.join(" ")]);
    }
    rows.push(vec![
        "MTU".to_owned(),
        format!("{} on cables, {} for hosts", topology.mtu.link, topology.mtu.payload),
    ]);
    let nic = plan.fabric().nics().next();
    rows.extend(nic.map(|nic| {
        let (node, number) = topology.node_of(nic);
        vec![
            "for example".to_owned(),
            format!("{} is {}", code(topology.naming.nic(node, number)), code(plan.addresses().nic(nic))),
        ]
    }));
    table(out, "Addresses", &["", ""], &rows);
}

fn classes(out: &mut String, topology: &Topology) {
    let row = |class: &closc_qos::profile::Class| {
        let dscp: Vec<String> = class.dscp.iter().map(|dscp| dscp.get().to_string()).collect();
        let scheduler = match class.scheduler {
            Scheduler::Strict => "strict".to_owned(),
            Scheduler::Dwrr(weight) => format!("DWRR {}", weight.get()),
        };
        let yes = |value: bool| if value { "yes".to_owned() } else { String::new() };
        vec![
            text(&class.name.to_string()),
            class.role.name().to_owned(),
            dscp.join(", "),
            class.queue.get().to_string(),
            scheduler,
            yes(class.pfc),
            yes(class.trim),
        ]
    };
    let rows: Vec<Vec<String>> = topology.qos.classes().map(row).collect();
    let title = format!("Quality of service: {}", code(topology.qos.name()));
    table(out, &title, &["class", "for", "DSCP", "queue", "scheduler", "lossless", "trimmed"], &rows);
}

fn exceptions(out: &mut String, plan: &Plan) {
    let (topology, own) = (plan.topology(), &plan.topology().exceptions);
    let switches = |switches: &std::collections::BTreeSet<Switch>| {
        switches.iter().map(|one| plan.switch_name(*one).to_string()).collect::<Vec<_>>()
    };
    let links = |links: &std::collections::BTreeSet<Link>| {
        links.iter().map(|one| plan.link_name(*one)).collect::<Vec<_>>()
    };
    let nics = own.absent_nics.iter().map(|nic| {
        let (node, number) = topology.node_of(*nic);
        topology.naming.nic(node, number)
    });
    let named = |planes: &std::collections::BTreeSet<PlaneId>| {
        planes.iter().map(|plane| format!("plane {plane}")).collect::<Vec<_>>()
    };
    let absent_planes = topology.absent_planes();
    let absent_switches =
        own.absent_switches.iter().filter(|switch| !absent_planes.contains(&switch.plane)).copied().collect();
    let cables = own
        .cables
        .iter()
        .map(|(link, cable)| format!("{} ({} {})", plan.link_name(*link), cable.length, cable.medium));
    let hardware = own.switches.iter().map(|(one, (platform, os))| {
        format!("{} ({}, {})", plan.switch_name(*one), platform.id, os.keyword())
    });
    let kinds = [
        (
            "absent",
            [named(&absent_planes), switches(&absent_switches), nics.collect(), links(&own.absent_links)]
                .concat(),
        ),
        (
            "drained",
            [named(&own.drained_planes), switches(&own.drained_switches), links(&own.drained_links)].concat(),
        ),
        ("isolated", links(&own.isolated_links)),
        ("other cables", cables.collect()),
        ("other hardware", hardware.collect()),
    ];
    let row = |(what, names): (&str, Vec<String>)| {
        let shown: Vec<String> = names.iter().take(NAMED_MAX).map(code).collect();
        let more = names.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(" and {} more", number(more as u64)) } else { String::new() };
        (!names.is_empty())
            .then(|| vec![what.to_owned(), number(names.len() as u64), shown.join(", ") + &more])
    };
    let rows: Vec<Vec<String>> = kinds.into_iter().filter_map(row).collect();
    if rows.is_empty() {
        out.push_str("## Exceptions\n\nNone: the fabric has every element that its counts define.\n");
    } else {
        table(out, "Exceptions", &["kind", "number", "elements"], &rows);
    }
}
