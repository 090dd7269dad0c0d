//! The verifier: proves a fabric from its rendered artefacts, independently of the compiler.
//!
//! In: an artefact tree. Out: a [`Report`] with the paths that arrive, the facts and violations counted per rule, and
//! the first violations of each rule in full. A violation has the line of the artefact at fault, and the trace of an
//! affected packet if one is known. Invariants: the planner is not used. The readers implement the languages of the
//! artefacts independently of the renderers. Statements that a reader does not understand are violations, because they
//! could affect forwarding without being modelled.
//!
//! The README of this crate describes the rules, and why facts about single cables prove all paths.

mod bind;
mod check;
mod error;
mod finding;
mod forward;
mod interface;
mod lines;
mod load;
mod merge;
mod model;
mod options;
mod proof;
mod read;
mod report;
mod rules;
mod slice;
mod summary;
mod walk;

use std::collections::BTreeMap;

use closc_artefacts::Files;
use closc_artefacts::Prefix;
use smol_str::SmolStr;

pub use error::VerifyError;
pub use finding::{Tally, TraceStep, Violation};
pub use merge::{MergeError, merge};
pub use model::place::Place;
pub use options::{Options, PipelineDigests};
pub use proof::chosen::counts::DeliveryCounts;
pub use proof::count::PathCounts;
pub use proof::load::{CableLoad, LoadCounts};
pub use read::site::SiteSetting;
pub use read::site_settings;
pub use report::{ReadCounts, Report, RuleCounts};
pub use rules::rules;
pub use slice::TreeSelection;
pub use summary::{Summary, SummaryError};
pub use walk::choices::ChoiceWalk;
pub use walk::exhaustive::WalkCounts;

use bind::nics::NicCables;
use check::coordinates::Zones;
use finding::Findings;
use forward::packet::Network;
use interface::Interface;
use load::TreeContents;
use model::cabling::{Kind, SwitchId};
use model::fabric::Fabric;
use model::segment::Tier;
use model::stated::{Counts, StatedValues};
use model::switch::{ReceivedRoutes, RouteView};
use proof::chosen;
use proof::chosen::network::Network as ChoiceNetwork;

/// Verifies a tree, or selected parts of it.
pub fn verify(tree: &dyn Files, options: &Options) -> Result<Report, VerifyError> {
    Ok(judge(tree, &[], options, false)?.0)
}

/// Verifies the tree of a part, or selected parts of a tree, and summarises the proof for [`merge`]. Path tables of
/// other groups are read from this tree and from the trees in `beside`.
pub fn verify_part(
    tree: &dyn Files,
    beside: &[&dyn Files],
    options: &Options,
) -> Result<(Report, Summary), VerifyError> {
    let (report, found) = judge(tree, beside, options, true)?;
    let PartFindings { slice, host_links, tiers, interface } = found.expect("it was asked for");
    let summary = Summary::new(tree, &report, slice.judged_parts(), (host_links, tiers, interface))?;
    Ok((report, summary))
}

/// Findings about a part, in addition to its report.
struct PartFindings {
    slice: slice::Slice,
    host_links: u64,
    tiers: [u64; 3],
    interface: Interface,
}

fn judge(
    tree: &dyn Files,
    other_trees: &[&dyn Files],
    options: &Options,
    part: bool,
) -> Result<(Report, Option<PartFindings>), VerifyError> {
    let loaded = load::load(tree, other_trees, options, check::hosts::routes)?;
    let TreeContents { mut fabric, networks, nics, name, routing, mut read, sums, .. } = loaded;
    let TreeContents { mut findings, tools, counts, not_proved, follows, .. } = loaded;
    let (apart, stated_part, stated) = (loaded.inconsistent_groups, loaded.part, loaded.stated_values);
    check::counts::check((&counts, loaded.absent_planes.len()), stated_part.as_ref(), &fabric, &mut findings);
    fabric.tables = check::network::check(&fabric, stated.as_ref(), &nics, &networks, &mut findings);
    check::delay::check(&fabric, stated.as_ref(), &mut findings);
    check::tools::check(&fabric, stated.as_ref(), (&tools, &networks), &mut findings);
    check::agents::check(&fabric, &tools, &mut findings);
    findings = findings.merge(check::tables::all(&fabric, &apart));
    findings = findings.merge(proof::converge::converge(&mut fabric));
    findings = findings.merge(single(&fabric, &nics, options, stated.as_ref()));
    let zones = check::coordinates::zones(&fabric, stated.as_ref(), &counts);
    if let Some(stated) = &stated {
        findings = findings.merge(as_stated(&fabric, stated, (&counts, &zones)));
    }
    let proved = prove(&fabric, &nics, (options, &loaded.absent_planes), &mut findings);
    let (paths, of_tables, walk) =
        proved.map_or((None, None, None), |(paths, load, walk)| (Some(paths), Some(load), walk));
    let network = by_choice(&fabric, &zones, stated.as_ref());
    if let Some(network) = &network {
        proof::buffers::routes::check(network, &mut findings);
        read.nics = network.destinations.nics.len() as u64;
    }
    let delivered =
        network.as_ref().filter(|_| follows).map(|network| deliver(network, options, &mut findings));
    let (delivery, of_choices, choices) = delivered
        .map_or((None, None, None), |(delivery, load, choices)| (Some(delivery), Some(load), choices));
    let (not_judged, meant) = (findings.take_not_judged(), findings.take_meant());
    let (rules, violations, broken) =
        finish_findings(tree, (&fabric, &nics, network.as_ref()), options.max_violations, findings);
    let found = part.then(|| PartFindings {
        host_links: fabric.cabling.cables().filter(|cable| cable.kind == Kind::NicT0).count() as u64,
        tiers: [Tier::T0, Tier::T1, Tier::T2].map(|tier| of_tier(&fabric, tier)),
        interface: Interface::of(&fabric, (&nics, sums), stated.as_ref(), (network.as_ref(), meant)),
        slice: fabric.slice.clone(),
    });
    let report = Report {
        fabric: name,
        routing,
        not_proved,
        not_judged,
        read,
        paths,
        load: of_tables.or(of_choices),
        walk,
        delivery,
        choices,
        rules,
        violations,
        broken,
    };
    Ok((report, found))
}

/// Returns the forwarding state of the fabric, if switches choose the path.
fn by_choice<'f>(
    fabric: &'f Fabric,
    zones: &Zones,
    stated_values: Option<&StatedValues>,
) -> Option<ChoiceNetwork<'f>> {
    let wiring = stated_values.and_then(|stated| stated.wiring);
    fabric.layout.is_none().then(|| ChoiceNetwork::new(fabric, zones, wiring))
}

/// Compares the tree with the values in the manifest.
fn as_stated(fabric: &Fabric, stated: &StatedValues, (counts, zones): (&Counts, &Zones)) -> Findings {
    let mut findings = check::coordinates::check(fabric, stated, counts, zones);
    check::profile::check(fabric, stated, &mut findings);
    check::balance::check(fabric, stated, &mut findings);
    check::stated_qos::check(fabric, stated, &mut findings);
    check::bgp::stated::check(fabric, stated, &mut findings);
    findings
}

/// Returns the number of switches of a tier whose files parsed.
fn of_tier(fabric: &Fabric, tier: Tier) -> u64 {
    fabric.switches.iter().flatten().filter(|switch| switch.tier == Some(tier)).count() as u64
}

/// Counts the findings, limits the number shown per rule, and adds traces and lines.
fn finish_findings(
    tree: &dyn Files,
    (fabric, nics, network): (&Fabric, &NicCables, Option<&ChoiceNetwork<'_>>),
    max_violations: usize,
    findings: Findings,
) -> (Vec<RuleCounts>, Vec<Violation>, u64) {
    let (tallies, mut violations) = findings.finish();
    let broken = tallies.values().map(|(_, tally)| tally.broken).sum();
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    violations.retain(|violation| {
        let count = shown.entry(violation.rule.code).or_default();
        *count += 1;
        *count <= max_violations
    });
    traces(fabric, nics, &mut violations);
    if let Some(network) = network {
        choice_traces(network, &mut violations);
    }
    lines::fill(tree, &mut violations);
    let rules = tallies.into_values().map(|(rule, tally)| RuleCounts::new(rule, tally)).collect();
    (rules, violations, broken)
}

/// A route after BGP convergence: its prefix, and the port and weight of each next hop.
pub type ConvergedRoute = (Prefix, Vec<(SmolStr, u32)>);

/// Returns the routes of each switch after BGP convergence, computed from all configurations. They can be compared with
/// those of running switches.
pub fn converged_routes(tree: &dyn Files) -> Result<BTreeMap<SmolStr, Vec<ConvergedRoute>>, VerifyError> {
    let options = Options { digests: false, ..Options::default() };
    let fabric = load::load(tree, &[], &options, |_, _, _, _| {})?.fabric;
    let (all, _) = proof::converge::routes(&fabric);
    let ways = |id, route: RouteView<'_>| {
        let port = |slot| {
            let (_, cable, side) = fabric.slot_cable(id, slot);
            fabric.cabling.names.text(cable.ends(side).0.port)
        };
        route.next_hops.iter().filter_map(|way| Some((port(way.slot?).into(), way.weight))).collect()
    };
    let by_name = |(id, routes): &(SwitchId, ReceivedRoutes)| {
        let routes = routes.iter().map(|route| (route.prefix, ways(*id, route))).collect();
        (fabric.cabling.switch(*id).into(), routes)
    };
    Ok(all.iter().map(by_name).collect())
}

/// Checks facts about single devices, cables and tables, and about all objects of a kind.
fn single(fabric: &Fabric, nics: &NicCables, options: &Options, stated: Option<&StatedValues>) -> Findings {
    let mut findings = Findings::default();
    check::cabling::check(&fabric.cabling, &mut findings);
    check::addresses::check(fabric, &mut findings);
    check::peers::check(fabric, &mut findings);
    check::segments::check(fabric, &mut findings);
    check::bgp::check(fabric, &mut findings);
    check::qos::check(fabric, stated, &mut findings);
    check::hash::check(fabric, &mut findings);
    check::hosts::check(fabric, nics, &mut findings);
    check::tables::compare_t0s(fabric, &mut findings);
    check::hosts::everywhere(fabric, &mut findings);
    check::limits::check(fabric, &options.hardware, stated, &mut findings);
    check::buffers::check(fabric, &options.hardware, &mut findings);
    check::files::settings(fabric, &mut findings);
    check::lanes::check(fabric, &options.hardware, &mut findings);
    check::lanes::chassis(fabric, &options.hardware, &mut findings);
    check::system::check(fabric, &mut findings);
    findings.merge(check::ports::check(fabric, stated)).merge(check::routes::check(fabric, &nics.usids))
}

/// Composes facts into paths, and walks all paths if there are few.
fn prove(
    fabric: &Fabric,
    nics: &NicCables,
    (options, absent_planes): (&Options, &[u8]),
    findings: &mut Findings,
) -> Option<(PathCounts, LoadCounts, Option<WalkCounts>)> {
    let layout = fabric.layout.as_ref()?;
    let ways = proof::path_cables::follow(fabric, layout, nics)?;
    proof::planes::check(fabric, layout, &nics.usids, &ways, findings);
    // If a switch or table is at fault, missing paths are a consequence and are only counted.
    let lost = findings.is_clean();
    *findings = std::mem::take(findings).merge(proof::denials::check(fabric, &ways, lost));
    proof::buffers::lists::check(fabric, nics, options.walk_up_to, findings);
    let paths = proof::count::count(fabric, &ways, absent_planes);
    let load = proof::spread::measure(fabric, &ways, findings);
    // Walks need the complete fabric: all planes and all groups.
    let few = fabric.slice.is_whole() && paths.named <= options.walk_up_to;
    let walk = few.then(|| walk::exhaustive::walk(fabric, nics, absent_planes));
    if let Some(walk) = &walk {
        walk::agreement::agree(&paths, walk, findings);
    }
    Some((paths, load, walk))
}

/// Traces an affected packet for each shown violation that records a uSID.
fn traces(fabric: &Fabric, nics: &NicCables, violations: &mut [Violation]) {
    let concerned = violations.iter().any(|violation| violation.about.is_some());
    if !concerned || fabric.layout.is_none() {
        return;
    }
    let network = Network::new(fabric);
    for violation in violations {
        if let Some((switch, usid)) = violation.about {
            violation.trace = walk::trace::find(&network, nics, switch, usid);
        }
    }
}

/// Proves delivery where switches choose the next hop, and walks all paths if there are few.
fn deliver(
    network: &ChoiceNetwork<'_>,
    options: &Options,
    findings: &mut Findings,
) -> (DeliveryCounts, LoadCounts, Option<ChoiceWalk>) {
    let counts = chosen::check(network, findings);
    let walk = (counts.tried <= options.walk_up_to).then(|| walk::choices::walk(network));
    if let Some(walk) = &walk {
        walk::agreement::agree_on_choices(&counts, walk, findings);
    }
    (counts, chosen::load::measure(network), walk)
}

/// Traces an affected packet for each shown violation that records a destination, where switches choose the next hop.
fn choice_traces(network: &ChoiceNetwork<'_>, violations: &mut [Violation]) {
    for violation in violations {
        if let Some((switch, address)) = violation.towards {
            violation.trace = walk::choice_trace::find(network, switch, address);
        }
    }
}
