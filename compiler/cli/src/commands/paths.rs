//! `closc paths`: every path between two NICs, with the outer destination address at each hop.

use std::fmt::Write as _;
use std::net::Ipv6Addr;

use anyhow::bail;
use closc_plan::{Path, PathTable, Plan};
use closc_topology::Nic;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Args, Format, PathsArgs};
use crate::input;
use crate::names::{self, AvoidedElement};
use crate::output::{self, Document, Outcome};

/// The paths between two NICs.
pub(crate) const PATHS: Document<Listing> = Document::new("closc-paths/1");

#[derive(Serialize, JsonSchema)]
pub(crate) struct Listing {
    from: End,
    to: End,
    paths_planned: usize,
    paths_usable: usize,
    paths: Vec<Entry>,
}

#[derive(Serialize, JsonSchema)]
struct End {
    nic: String,
    address: Ipv6Addr,
}

#[derive(Serialize, JsonSchema)]
struct Entry {
    entropy: u32,
    plane: u8,
    nic_port: String,
    destination: Ipv6Addr,
    cable: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    denied: Option<String>,
    hops: Vec<Hop>,
}

#[derive(Serialize, JsonSchema)]
struct Hop {
    switch: String,
    enters: String,
    leaves: String,
    cable: String,
    destination: Ipv6Addr,
}

/// Prints paths.
pub fn run(args: &Args, command: &PathsArgs) -> anyhow::Result<Outcome> {
    input::file_first(&command.file, &[&command.from, &command.to], "closc paths FILE FROM TO")?;
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    input::needs_source_routing("`closc paths`", plan)?;
    if let Some(plane) = command.plane {
        names::plane(plan, plane)?;
    }
    let from = names::nic(plan, &command.from, 0)?;
    let rail = plan.topology().node_of(from).1;
    let to = names::nic(plan, &command.to, rail)?;
    if from == to {
        bail!("`{}` and `{}` are the same NIC", command.from, command.to);
    }
    let listing = listing(plan, command, from, to)?;
    if listing.paths.is_empty() {
        bail!("no path is left: {} were planned, but all are denied or avoided", listing.paths_planned);
    }
    match args.format {
        Format::Json => output::result(args.format, &PATHS, &listing, |_| String::new())?,
        Format::Human | Format::Github | Format::Markdown | Format::Html | Format::Rows(_) => {
            output::print(&human(&listing))?;
        }
    }
    Ok(Outcome::Fine)
}

fn listing(plan: &Plan, command: &PathsArgs, from: Nic, to: Nic) -> anyhow::Result<Listing> {
    let avoid: Vec<AvoidedElement> =
        command.avoid.iter().map(|name| AvoidedElement::parse(plan, name)).collect::<anyhow::Result<_>>()?;
    let table = plan.path_table(from.zone, from.group);
    let candidates: Vec<Path> = match command.ev {
        Some(value) => vec![plan.path_by_entropy(from, to, value)?],
        None => plan.paths(from, to).collect(),
    };
    let planned = candidates.len();
    let in_plane = |path: &Path| command.plane.is_none_or(|plane| path.plane.0 == plane);
    let usable: Vec<Path> = candidates
        .into_iter()
        .filter(|path| in_plane(path) && !avoid.iter().any(|a| a.is_on(path)))
        // The path of `--ev` is shown even if it is denied, with the reason.
        .filter(|path| command.ev.is_some() || table.denies(path.plane, from, to, path.choice).is_none())
        .collect();
    Ok(Listing {
        from: end(plan, from),
        to: end(plan, to),
        paths_planned: planned,
        paths_usable: usable.len(),
        paths: usable
            .iter()
            .take(command.limit.map_or(usize::MAX, |limit| limit as usize))
            .map(|path| entry(plan, &table, from, to, path))
            .collect(),
    })
}

fn end(plan: &Plan, nic: Nic) -> End {
    let (node, number) = plan.topology().node_of(nic);
    End { nic: plan.topology().naming.nic(node, number), address: plan.addresses().nic(nic).to_ipv6() }
}

fn entry(plan: &Plan, table: &PathTable<'_>, from: Nic, to: Nic, path: &Path) -> Entry {
    let topology = plan.topology();
    let denied = table.denies(path.plane, from, to, path.choice);
    let (node, number) = topology.node_of(from);
    Entry {
        entropy: path.entropy,
        plane: path.plane.0,
        nic_port: topology.naming.nic_port(node, number, path.plane),
        destination: path.destination,
        cable: plan.link_name(path.first),
        denied: denied.map(|d| format!("{} is {}", d.name, d.reason.keyword())),
        hops: path
            .hops
            .iter()
            .map(|hop| Hop {
                switch: topology.naming.switch(hop.switch).to_string(),
                enters: plan.port_name(hop.switch, hop.enters).to_string(),
                leaves: plan.port_name(hop.switch, hop.leaves).to_string(),
                cable: plan.link_name(hop.link),
                destination: hop.destination,
            })
            .collect(),
    }
}

fn human(listing: &Listing) -> String {
    let mut text = format!(
        "{} ({}) to {} ({}): {} of {} paths\n",
        listing.from.nic,
        listing.from.address,
        listing.to.nic,
        listing.to.address,
        listing.paths_usable,
        listing.paths_planned
    );
    for path in &listing.paths {
        let _ = writeln!(text, "\nentropy {:#x}, plane {}", path.entropy, path.plane);
        if let Some(denied) = &path.denied {
            let _ = writeln!(text, "  denied: {denied}");
        }
        let _ = writeln!(text, "  {:<24} {:<30} {}", path.nic_port, "", path.destination);
        for hop in &path.hops {
            let ports = format!("{} -> {}", hop.enters, hop.leaves);
            let _ = writeln!(text, "  {:<24} {ports:<30} {}", hop.switch, hop.destination);
        }
        let _ = writeln!(text, "  {}", listing.to.nic);
    }
    text
}
