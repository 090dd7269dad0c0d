//! The need and the prices from the command line.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use anyhow::{Context as _, bail};
use closc_artefacts::Routing;
use closc_design::{Limits, LossShare, Prices, Ratio, Requirements, SearchError, divides_into_nodes};
use closc_diagnostics::figures::format_count;
use closc_platform::Catalogue;

use crate::args::design::{DesignArgs, FailLimit, Objective, RoutingChoice};
use crate::output::{self, OptionsError};

/// Every routing.
pub(in crate::commands) const ROUTINGS: [Routing; 3] =
    [Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered];

/// Maximum size of a price file in bytes: a few thousand items.
const PRICES_MAX: u64 = 1 << 20;

/// Returns the need, if no option contradicts another one.
///
/// # Errors
///
/// All contradictions.
pub(super) fn need(command: &DesignArgs, catalogue: &Catalogue) -> anyhow::Result<Requirements> {
    let need = of_options(command)?;
    let mut wrong = growth(command);
    let contradictions = closc_design::contradictions(&need, catalogue);
    // Contradictions of stages are reported with their option.
    let is_reported =
        |why: &SearchError| !command.stages.is_empty() && matches!(why, SearchError::Nodes { .. });
    wrong.extend(contradictions.into_iter().filter(|why| !is_reported(why)).map(|why| why.to_string()));
    match wrong.len() {
        0 => Ok(need),
        1 => bail!(OptionsError(wrong.remove(0))),
        count => bail!(OptionsError(format!("{count} options contradict others:\n- {}", wrong.join("\n- ")))),
    }
}

/// Returns the contradictions of the options for growth.
fn growth(command: &DesignArgs) -> Vec<String> {
    let mut wrong = Vec::new();
    if command.stages.windows(2).any(|pair| pair[0] >= pair[1]) {
        wrong.push(
            "`--stages` is not in ascending order; expected each stage once, the smallest first".to_owned(),
        );
    }
    for stage in &command.stages {
        if let Err(SearchError::Nodes { nics, node, next }) =
            divides_into_nodes(*stage, command.nics_per_node)
        {
            wrong.push(format!(
                "`--stages`: {nics} is not a whole number of nodes of {node} NICs: write {next}, or change `--nics-per-node`"
            ));
        }
    }
    match (command.stage, command.stages.len()) {
        (1, _) => {}
        (stage, 0) => wrong.push(format!("`--stage {stage}` needs `--stages`")),
        (stage, count) if usize::from(stage) > count => {
            wrong.push(format!("`--stage {stage}`: `--stages` has {}", format_count(count as u64, "stage")));
        }
        (_, _) => {}
    }
    let less = command.grow_to.filter(|later| command.nics > Some(*later));
    wrong.extend(
        command
            .nics
            .zip(less)
            .map(|(nics, later)| format!("`--grow-to {later}` is less than `--nics {nics}`")),
    );
    wrong
}

/// Returns the need from the options. With stages, it is the need of the first stage, with room to grow to the last.
fn of_options(command: &DesignArgs) -> anyhow::Result<Requirements> {
    let (first, last) = (command.stages.first().copied(), command.stages.last().copied());
    let least = |limits: Vec<LossShare>| limits.into_iter().min();
    let of =
        |tier: fn(&FailLimit) -> Option<LossShare>| least(command.fail.iter().filter_map(tier).collect());
    let Ratio { down, up } = command.oversubscription;
    if down < up {
        tracing::warn!(
            "`--oversubscription {down}:{up}` asks for more bandwidth up than down; for the opposite, write `{up}:{down}`"
        );
    }
    Ok(Requirements {
        name: command.name.clone(),
        nics: command.nics.or(first).context("`--nics` is missing")?,
        speed: command.speed,
        nics_per_node: command.nics_per_node,
        rails: command.rails,
        planes: numbers(&command.planes).into_iter().map(u16::from).collect(),
        planes_by_nic: numbers(&command.planes_by_nic),
        tiers: numbers(&command.tiers),
        routings: routings(&command.routing),
        operating_systems: command.os.clone(),
        platforms: command.platform.clone(),
        vendors: command.vendor.iter().map(|vendor| vendor.to_lowercase()).collect(),
        middle_stages: command.stages.iter().copied().skip(1).filter(|nics| Some(*nics) != last).collect(),
        nic_cable: command.nic_cable,
        limits: Limits {
            oversubscription: command.oversubscription,
            t0_loss: of(|limit| match limit {
                FailLimit::T0(share) => Some(*share),
                FailLimit::T1(_) => None,
            }),
            t1_loss: of(|limit| match limit {
                FailLimit::T1(share) => Some(*share),
                FailLimit::T0(_) => None,
            }),
            grow_to: command.grow_to.or(last),
        },
    })
}

/// Returns every number of the ranges once, in ascending order.
fn numbers(ranges: &[RangeInclusive<u8>]) -> Vec<u8> {
    let numbers: BTreeSet<u8> = ranges.iter().cloned().flatten().collect();
    numbers.into_iter().collect()
}

/// Returns every routing mode of the choices once.
fn routings(choices: &[RoutingChoice]) -> Vec<Routing> {
    let is_chosen = |routing: &Routing| {
        choices
            .iter()
            .any(|choice| matches!(choice, RoutingChoice::Any) || *choice == RoutingChoice::One(*routing))
    };
    ROUTINGS.into_iter().filter(is_chosen).collect()
}

/// Reads the prices.
pub(super) fn prices(command: &DesignArgs, catalogue: &Catalogue) -> anyhow::Result<Option<Prices>> {
    let Some(path) = &command.prices else {
        if command.objective == Objective::Cost {
            bail!(output::Usage("`--objective cost` needs `--prices FILE`: closc has no prices of its own"));
        }
        return Ok(None);
    };
    let text = output::read(path, PRICES_MAX)?;
    let prices = Prices::read(&text).and_then(|prices| prices.by_hardware(catalogue));
    Ok(Some(prices.with_context(|| format!("cannot read `{path}`"))?))
}
