//! Computed values of a fabric, which editors show beside the text.
//!
//! In: a plan or a platform, and a name. Out: Markdown. Invariants: every value is taken from the plan or the
//! platform catalogue.

use std::fmt::Write as _;

use closc_diagnostics::figures::number;
use closc_plan::{Plan, PortIntent};
use closc_platform::Platform;
use closc_topology::{Nic, PlaneId, Switch, TierId};

/// Returns the size of the fabric.
pub(crate) fn size(plan: &Plan) -> String {
    let counts = plan.fabric().counts();
    let mut text = String::from("| | |\n|---|---:|\n");
    let mut row = |what: &str, count: u64| {
        if count > 0 {
            let _ = writeln!(text, "| {what} | {} |", number(count));
        }
    };
    row("planes", counts.planes);
    row("zones", if counts.zones > 1 { counts.zones } else { 0 });
    row("nodes", counts.nodes);
    row("NICs", counts.nics);
    row("T0 switches", counts.t0);
    row("T1 switches", counts.t1);
    row("T2 switches", counts.t2);
    row("cables of NICs", counts.host_links);
    row("cables between switches", counts.fabric_links);
    row("paths between NICs of one T0 group", counts.paths_local);
    row("paths between NICs of different groups", counts.paths_zone);
    row("paths between NICs of different zones", if counts.zones > 1 { counts.paths_far } else { 0 });
    text
}

/// Returns the address plan: pools, and the first NIC and switches.
pub(crate) fn addresses(plan: &Plan) -> String {
    let addresses = plan.addresses();
    let mut text = String::from("| | |\n|---|---|\n");
    let mut row = |what: &str, value: String| {
        let _ = writeln!(text, "| {what} | `{value}` |");
    };
    row("addresses of NICs", addresses.hosts().to_string());
    row("loopbacks of switches", addresses.loopbacks().to_string());
    if let Some(nic) = plan.fabric().nics().next() {
        row(&format!("first NIC, `{}`", nic_name(plan, nic)), addresses.nic(nic).to_string());
        row("its T0 group", addresses.group(nic.zone, nic.group).to_string());
    }
    for tier in [TierId::T0, TierId::T1, TierId::T2] {
        let Some(switch) = plan.switches().find(|switch| switch.tier == tier) else { continue };
        row(
            &format!("first {}, `{}`", tier.label(), plan.switch_name(switch)),
            addresses.loopback(switch).to_string(),
        );
        if plan.is_source_routed() {
            row("its uSIDs", uniform_sids(plan, switch).join(", "));
        } else {
            row("its AS number", addresses.asn(switch).to_string());
        }
    }
    if plan.is_source_routed() {
        for plane in [PlaneId(0), PlaneId(plan.topology().planes.saturating_sub(1))] {
            if let Some(nic) = plan.fabric().nics().next() {
                let usid = plan.segments().nic(plane, nic);
                row(
                    &format!("first NIC in plane {}", plane.0),
                    plan.segments().prefix(plane, usid).to_string(),
                );
            }
        }
    }
    text
}

fn nic_name(plan: &Plan, nic: Nic) -> String {
    let (node, number) = plan.topology().node_of(nic);
    plan.topology().naming.nic(node, number)
}

fn uniform_sids(plan: &Plan, switch: Switch) -> Vec<String> {
    let segments = plan.segments();
    segments.switch_usids(switch).map(|usid| segments.prefix(switch.plane, usid).to_string()).collect()
}

/// Returns the computed values of the switch or NIC with this name; `None` for other names.
pub(crate) fn facts_by_name(plan: &Plan, name: &str) -> Option<String> {
    let topology = plan.topology();
    if let Some(switch) =
        topology.naming.parse_switch(name).filter(|switch| plan.fabric().has_switch(*switch))
    {
        return Some(switch_facts(plan, switch));
    }
    let (node, number) = topology.naming.parse_nic(name)?;
    let is_there = number < topology.hosts.nics_per_node && topology.numbers_node(node);
    let nic = is_there.then(|| topology.nic_of(node, number))?;
    plan.fabric().has_nic(nic).then(|| nic_facts(plan, nic))
}

fn switch_facts(plan: &Plan, switch: Switch) -> String {
    let intent = plan.device(switch);
    let addresses = plan.addresses();
    let mut text = format!(
        "**{}** {} of plane {}\n\n| | |\n|---|---|\n",
        intent.name,
        switch.tier.label(),
        switch.plane.0
    );
    let mut row = |what: &str, value: String| {
        let _ = writeln!(text, "| {what} | {value} |");
    };
    row("platform", format!("{} ({})", intent.platform.title, intent.os.keyword()));
    row("loopback", format!("`{}`", intent.system.loopback));
    row("MAC address", format!("`{}`", intent.system.mac));
    if let Some(management) = &intent.system.management {
        row("management", format!("`{}`", management.address));
    }
    if plan.is_source_routed() {
        row("uSIDs", format!("`{}`", uniform_sids(plan, switch).join("`, `")));
    } else {
        row("AS number", addresses.asn(switch).to_string());
    }
    let connected = |port: &&PortIntent| port.connection.is_some();
    row(
        "ports",
        format!(
            "{}, {} of them connected",
            intent.ports.len(),
            intent.ports.iter().filter(connected).count()
        ),
    );
    row("routes", intent.routes.len().to_string());
    text
}

fn nic_facts(plan: &Plan, nic: Nic) -> String {
    let (addresses, segments) = (plan.addresses(), plan.segments());
    let mut text = format!(
        "**{}** at downlink {} of T0 group {}\n\n| | |\n|---|---|\n| address | `{}` |\n",
        nic_name(plan, nic),
        nic.downlink,
        nic.group,
        addresses.nic(nic)
    );
    if plan.is_source_routed() {
        for plane in plan.planes() {
            let prefix = segments.prefix(plane, segments.nic(plane, nic));
            let _ = writeln!(text, "| in plane {} | `{prefix}` |", plane.0);
        }
    }
    text
}

/// Returns the properties of a platform.
pub(crate) fn platform(platform: &Platform) -> String {
    let panel = &platform.panel;
    let breakouts: Vec<String> = panel.listed_breakouts().map(|breakout| format!("`{breakout}`")).collect();
    let oses: Vec<&str> = platform.oses.iter().map(|os| os.keyword()).collect();
    format!(
        "**{}** {}\n\n| | |\n|---|---|\n| cages | {} |\n| splits | {} |\n| as shipped | `{}` |\n| systems | {} |\n\
         | local SIDs | {} |\n",
        platform.id,
        platform.title,
        panel.cages,
        breakouts.join(", "),
        panel.default_breakout,
        oses.join(", "),
        platform.limits.my_sids
    )
}
