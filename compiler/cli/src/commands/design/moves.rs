//! Stages of growth with the fewest moved cables, if every design has to move cables.
//!
//! In: sizes of stages. Out: designs of the last stage, each with a design for every stage before. Invariants: T0s
//! and their NICs do not change. Moved cables are those that `closc grow` prints for the files of two stages. The
//! ports of a stage are in the order of the next one if this moves fewer cables.

use anyhow::Context as _;
use closc_compile::front::{self, Options, Source};
use closc_design::{Design, FrontDesign, Limits, Requirements, Side, Tier};
use closc_diagnostics::{Change, Levels, Sources};
use closc_diff::SettingValue;
use closc_diff::grow::WorkOrder;
use closc_plan::Plan;

use super::checks::{CheckedFile, Checks, KNOWN_FAULT};
use super::row::{self, Moves, StageRow};
use super::{SearchInput, SearchResult, search};
use crate::args::Args;

/// Number of designs of the last stage whose earlier stages are computed.
const LAST: usize = 3;

/// Number of designs that are compared for each earlier stage.
const EARLIER: usize = 3;

/// A design of a stage that passed the checks.
struct Stage<'a> {
    design: Design<'a>,
    passed: CheckedFile,
    plan: Plan,
}

/// The minimum number of moved cables up to a design of a stage, with the designs of the earlier stages.
struct Chain {
    moved: u64,
    path: Vec<usize>,
}

/// A front of the last stage, with the stages of some of its designs.
pub(super) struct StagedFront<'a, 'n> {
    pub result: SearchResult<'a, 'n>,
    pub stages: Vec<(FrontDesign<'a>, Vec<StageRow>)>,
}

/// Returns the need of a stage without growth.
pub(super) fn need_of(need: &Requirements, nics: u32) -> Requirements {
    let limits = Limits { grow_to: None, ..need.limits };
    Requirements { nics, middle_stages: Vec::new(), limits, ..need.clone() }
}

/// Finds designs of the last stage, and for each the earlier stages that move the fewest cables. The design with the
/// fewest moves comes first.
pub(super) fn find_stages<'a>(
    args: &Args,
    asked: &SearchInput<'a>,
    last: &SearchInput<'a>,
) -> anyhow::Result<StagedFront<'a, 'a>> {
    let searched = search(args, last)?;
    let options = Options { platforms: args.platforms.clone(), levels: Levels::default() };
    let mut stages = Vec::new();
    for found in searched.front.iter().take(LAST) {
        let passed =
            searched.checks.checked_file(&found.design).context("a design of the front passed the checks")?;
        let end = Stage {
            design: found.design.clone(),
            passed: passed.clone(),
            plan: plan(&passed.file, &options)?,
        };
        if let Some(rows) = trace_stages(asked, &options, end)? {
            stages.push((found.clone(), rows));
        }
    }
    let moved = |rows: &[StageRow]| rows.iter().map(|stage| stage.cables_moved).sum::<u64>();
    stages.sort_by_key(|(_, rows)| moved(rows));
    Ok(StagedFront { result: searched, stages })
}

/// Computes the earlier stages of a design; `None` if a stage has no design with its T0s.
fn trace_stages(
    asked: &SearchInput<'_>,
    options: &Options,
    end: Stage<'_>,
) -> anyhow::Result<Option<Vec<StageRow>>> {
    let sizes = asked.stages;
    let mut stages: Vec<Vec<Stage<'_>>> = Vec::new();
    for nics in &sizes[..sizes.len() - 1] {
        let stage = earlier_designs(asked, options, (&end.design, *nics))?;
        if stage.is_empty() {
            return Ok(None);
        }
        stages.push(stage);
    }
    stages.push(vec![end]);
    let mut chains: Vec<Chain> = stages[0].iter().map(|_| Chain { moved: 0, path: Vec::new() }).collect();
    for pair in stages.windows(2) {
        let mut next = Vec::new();
        for new in &pair[1] {
            let mut best: Option<Chain> = None;
            for (at, (old, chain)) in pair[0].iter().zip(&chains).enumerate() {
                let moved = chain.moved + port_order(old, &new.plan, options)?.moves.cables;
                if best.as_ref().is_none_or(|best| moved < best.moved) {
                    best = Some(Chain { moved, path: chain.path.iter().copied().chain([at]).collect() });
                }
            }
            next.extend(best);
        }
        chains = next;
    }
    let Some(chain) = chains.into_iter().min_by_key(|chain| chain.moved) else { return Ok(None) };
    let path = chain.path.iter().copied().chain([0]);
    let along: Vec<&Stage<'_>> = path.zip(&stages).map(|(at, stage)| &stage[at]).collect();
    Ok(Some(rows(asked, &along, options)?))
}

/// Describes the stages of a chain. The ports of each stage are in the order of the next one if this moves fewer
/// cables.
fn rows(asked: &SearchInput<'_>, along: &[&Stage<'_>], options: &Options) -> anyhow::Result<Vec<StageRow>> {
    let Some((last, earlier)) = along.split_last() else { return Ok(Vec::new()) };
    let mut wired: Vec<(&Stage<'_>, PortOrder)> = Vec::new();
    for stage in earlier.iter().rev() {
        let next =
            wired.last().map_or(&last.plan, |(stage, wired)| wired.plan.as_ref().unwrap_or(&stage.plan));
        let before = port_order(stage, next, options)?;
        wired.push((stage, before));
    }
    wired.reverse();
    let files = wired.iter().map(|(stage, wired)| wired.file.as_ref().unwrap_or(&stage.passed.file));
    // The first stage does not move cables. Each later stage moves the cables that the previous one has in other
    // ports.
    let moves = std::iter::once(Moves::default()).chain(wired.iter().map(|(_, wired)| wired.moves));
    let described: Vec<(&Design<'_>, &str, Moves)> = along
        .iter()
        .zip(files.chain([&last.passed.file]))
        .zip(moves)
        .map(|((stage, file), moves)| (&stage.design, file.as_str(), moves))
        .collect();
    Ok(row::stages_of(asked, &described))
}

/// The port order of a stage that moves the fewest cables later.
#[derive(Default)]
struct PortOrder {
    /// The file with the order; `None` if the stage needs none.
    file: Option<String>,
    /// The plan of that file.
    plan: Option<Plan>,
    /// Effects of the growth to the next stage.
    moves: Moves,
}

/// Returns the port order of a stage before a later one: that of the later one, if it moves fewer plugged cables.
fn port_order(stage: &Stage<'_>, later: &Plan, options: &Options) -> anyhow::Result<PortOrder> {
    let plain = PortOrder { moves: moves(&stage.plan, later), ..PortOrder::default() };
    if plain.moves.cables == 0 || !stage.design.has_t1() {
        return Ok(plain);
    }
    let settings = closc_diff::settings_for_growth(stage.plan.topology(), later.topology());
    let Some(file) = with_settings(&stage.passed.file, &settings) else { return Ok(plain) };
    let reading = front::read_text(&Source::Stdin, file.as_bytes(), options)?;
    let has_findings = reading.diagnostics.iter().any(|found| found.rule.code != KNOWN_FAULT);
    let Some(plan) = reading.plan.filter(|_| !has_findings) else { return Ok(plain) };
    let moves = moves(&plan, later);
    if moves.cables >= plain.moves.cables {
        return Ok(plain);
    }
    Ok(PortOrder { file: Some(file), plan: Some(plan), moves })
}

/// Returns the effects of growth on plugged cables and existing devices.
fn moves(old: &Plan, new: &Plan) -> Moves {
    let order = WorkOrder::compare(old, new);
    Moves { cables: order.count_unplugged(), renumbers: order.is_renumbering() }
}

/// Writes settings into a file; `None` if its text cannot be edited this way.
fn with_settings(file: &str, settings: &[SettingValue]) -> Option<String> {
    let changes: Vec<Change> = settings
        .iter()
        .map(|setting| Change::Set { path: setting.path.clone(), value: setting.value.clone() })
        .collect();
    let source = Sources::new().add("", file);
    let edits = closc_topology::edits(source, file, &changes)?;
    closc_topology::apply(file, &edits)
}

/// Returns the designs of an earlier stage that have the T0s of a later one, those with the fewest switches first.
fn earlier_designs<'a>(
    asked: &SearchInput<'a>,
    options: &Options,
    (last, nics): (&Design<'_>, u32),
) -> anyhow::Result<Vec<Stage<'a>>> {
    let mut platforms: Vec<String> = last.tiers().map(|tier| tier.platform.id.to_string()).collect();
    platforms.dedup();
    let limits = Limits { grow_to: Some(nics), ..asked.need.limits };
    let need = Requirements {
        planes: vec![last.planes],
        planes_by_nic: vec![u8::try_from(last.planes_by_nic).unwrap_or(1)],
        routings: vec![last.routing],
        operating_systems: vec![last.os],
        platforms,
        limits,
        ..need_of(asked.need, nics)
    };
    let mut designs: Vec<Design<'a>> = Vec::new();
    // Each number of tiers is searched separately, because a later stage can need T2s that an earlier one does not.
    for tiers in &asked.need.tiers {
        let need = Requirements { tiers: vec![*tiers], ..need.clone() };
        let mut take = |design| designs.extend(Some(design).filter(|design| has_t0s_of(design, last)));
        // An error means that no design has this number of tiers.
        let _outside = closc_design::space(&need, asked.catalogue, &mut take);
    }
    designs.sort_by_key(|design| design.tiers().map(|tier| tier.switches).sum::<u32>());
    let mut checks = Checks::new(&need, &[], options.clone()).with_last(last.third.as_ref());
    let mut stages = Vec::new();
    for design in designs {
        checks.pass(&design)?;
        let Some(passed) = checks.checked_file(&design) else { continue };
        stages.push(Stage { plan: plan(&passed.file, options)?, passed: passed.clone(), design });
        if stages.len() == EARLIER {
            break;
        }
    }
    Ok(stages)
}

/// Returns whether T0s are equal, with their NICs, uplinks and positions in a zone.
fn has_t0s_of(design: &Design<'_>, last: &Design<'_>) -> bool {
    let side = |side: Side| (side.count, side.breakout);
    let tier = |tier: &Tier<'_>| (tier.platform.id.clone(), side(tier.down), tier.up.map(side));
    let has_places = design.groups == last.groups || design.zones() == 1 && design.groups < last.groups;
    has_places && tier(&design.t0) == tier(&last.t0)
}

fn plan(file: &str, options: &Options) -> anyhow::Result<Plan> {
    let reading = front::read_text(&Source::Stdin, file.as_bytes(), options)?;
    reading.plan.context("a design that passed the checks has a plan")
}
