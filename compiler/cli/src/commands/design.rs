//! `closc design`: the Pareto-optimal fabrics for a need. A design is Pareto-optimal if no other one is better in one
//! number and worse in none.
//!
//! In: a need, from options. Out: a few designs with their counts, and the file of one of them. Invariants: a printed
//! design passed all checks without findings, except known faults of releases, which are printed. Costs are sums of
//! the user's prices, and power consumption is the sum of published figures.

mod advice;
mod checks;
mod columns;
mod compare;
mod csv;
mod explain;
mod file_design;
mod html;
mod moves;
mod need;
mod page;
mod row;

pub(super) use checks::KNOWN_FAULT;
pub(crate) use compare::COMPARE;
pub(crate) use explain::EXPLAIN;
pub(super) use need::ROUTINGS;
pub(super) use page::{page, title};
pub(super) use row::Row;

use std::collections::BTreeMap;

use anyhow::bail;
use closc_artefacts::Routing;
use closc_compile::front::Options;
use closc_design::{
    Candidates, Criteria, Design, Floor, Front, FrontDesign, MergedFront, Order, Requirements, SearchError,
    Sieve,
};
use closc_diagnostics::Levels;
use closc_diagnostics::figures::{format_count, number};
use closc_platform::Catalogue;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::design::{DesignArgs, Objective};
use crate::args::{Args, Format};
use crate::input;
use crate::output::{self, Document, Outcome};
use checks::{CheckedFile, Checks, Finding};

/// The designs.
pub(crate) const DESIGN: Document<Designs> = Document::new("closc-design/1");

/// Designs, the best first.
#[derive(Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "a document of designs has a list of them")]
pub(crate) struct Designs {
    /// Number of designs that meet the need and were compared. The search omits most designs that others beat.
    compared: usize,
    /// Of these, the number of designs with an item without a price.
    unpriced: usize,
    /// Of these, the number of designs with a switch or module without published power, if power is compared.
    unpublished: usize,
    /// Of these, the number of designs that pass the checks and that no other design beats.
    front: usize,
    /// Whether the limit of checks was reached, so that designs may be missing.
    unchecked: bool,
    /// The fewest switches of any design, per routing.
    fewest_switches: BTreeMap<String, u32>,
    /// Forwarding and disadvantages of each routing, for this need.
    routings: Vec<RoutingRow>,
    pub(super) designs: Vec<Row>,
}

impl Designs {
    /// Returns the routing that needs the fewest switches, and their number, if another one needs more.
    pub(super) fn fewer_than(&self, routing: &str) -> Option<(&'static str, u32)> {
        let needs_more = |row: &&RoutingRow| row.routing == routing && row.more_switches > 0;
        self.routings.iter().find(needs_more)?;
        let fewest = self.routings.iter().min_by_key(|row| row.fewest_switches)?;
        Some((fewest.routing, fewest.fewest_switches))
    }
}

/// A routing, by its design with the fewest switches.
#[derive(Serialize, JsonSchema)]
struct RoutingRow {
    routing: &'static str,
    fewest_switches: u32,
    /// Additional switches, compared with the routing that needs the fewest.
    more_switches: u32,
    /// Description of its forwarding.
    how: &'static str,
    /// Its advantage.
    gains: &'static str,
    /// Its disadvantages for this need.
    loses: Vec<String>,
}

/// Error for warning levels, which have no effect on a search.
pub(super) const LEVELS: output::Usage = output::Usage(
    "`--allow`, `--warn` and `--deny` have no effect on proposed designs: their only warnings are known \
     faults, which are always printed; use these options with `closc check FILE`",
);

/// Inputs of a search.
#[derive(Clone, Copy)]
pub(super) struct SearchInput<'a> {
    pub need: &'a Requirements,
    pub catalogue: &'a Catalogue,
    pub criteria: Criteria<'a>,
    pub objective: Objective,
    /// Sizes of the stages of growth.
    pub stages: &'a [u32],
    /// The routing whose designs are listed, if not all. The others are only compared with it.
    pub listed_routing: Option<Routing>,
}

impl<'a> SearchInput<'a> {
    /// Returns the criteria, with the numbers of all stages.
    fn criteria_of_stages(&self) -> Criteria<'a> {
        Criteria { growth: Some(self.need), ..self.criteria }
    }
}

/// A complete Pareto front.
struct SearchResult<'a, 'n> {
    checks: Checks<'n>,
    compared: usize,
    unpriced: usize,
    unpublished: usize,
    routings: Vec<RoutingRow>,
    front: Front<'a>,
}

/// Finds designs, prints them, and writes one.
pub(super) fn run(args: &Args, command: &DesignArgs) -> anyhow::Result<Outcome> {
    if command.has_list() && args.levels.has_any() {
        bail!(LEVELS);
    }
    if let Some(out) = &command.out {
        output::reject_existing(out, command.force)?;
    }
    let Some(catalogue) = input::catalogue(args)? else { return Ok(Outcome::Failed) };
    let prices = need::prices(command, &catalogue)?;
    let power = command.objective == Objective::Power;
    let compared = Criteria { prices: prices.as_ref(), power, growth: None };
    if !command.compare.is_empty() {
        return compare::run(args, &command.compare, (&catalogue, compared));
    }
    let need = need::need(command, &catalogue)?;
    let objective = command.objective;
    let asked = SearchInput {
        need: &need,
        catalogue: &catalogue,
        criteria: compared,
        objective,
        stages: &command.stages,
        listed_routing: None,
    };
    if let Some(file) = &command.explain {
        return explain::run(args, command, (&asked, file));
    }
    let found = find_designs(args, &asked, command.show)?;
    write_pick(args, command, &found)
}

/// Returns at most `show` designs that no other beats, the best by the objective first. If no design can grow
/// through the stages without moved cables, the fewest moves come first.
pub(super) fn find_designs(args: &Args, asked: &SearchInput<'_>, show: u8) -> anyhow::Result<Designs> {
    let searched = match search(args, asked) {
        Err(error) if error.is::<GrowthError>() => {
            return search_moves(args, asked, show).unwrap_or(Err(error));
        }
        searched => searched?,
    };
    let is_priced = asked.criteria.prices.is_some();
    let shown = searched.front.iter().take(show.into());
    let designs = shown.map(|found| {
        let mut row = searched.row(found, is_priced);
        if let Some(passed) = searched.checks.checked_file(&found.design) {
            row.stages = row::stages((&found.design, passed), asked);
        }
        row
    });
    let designs = designs.collect();
    Ok(designs_of(searched, designs))
}

/// Returns the document of a search.
fn designs_of(searched: SearchResult<'_, '_>, designs: Vec<Row>) -> Designs {
    let SearchResult { checks, compared, unpriced, unpublished, routings, front } = searched;
    let fewest = routings.iter().map(|row| (row.routing.to_owned(), row.fewest_switches));
    Designs {
        compared,
        unpriced,
        unpublished,
        front: front.len(),
        fewest_switches: fewest.collect(),
        routings,
        unchecked: !checks.unchecked_routings.is_empty(),
        designs,
    }
}

/// Returns designs whose stages move the fewest plugged cables. Returns `None` if the last stage has no
/// design, or an earlier stage has none with the same T0s.
fn search_moves(args: &Args, asked: &SearchInput<'_>, show: u8) -> Option<anyhow::Result<Designs>> {
    let need = moves::need_of(asked.need, *asked.stages.last()?);
    let last = SearchInput { need: &need, stages: &[], ..*asked };
    let moving = match moves::find_stages(args, asked, &last) {
        Ok(moving) => moving,
        Err(error) if error.is::<SearchError>() || error.is::<LimitsError>() => return None,
        Err(error) => return Some(Err(error)),
    };
    let moves::StagedFront { result: searched, stages } = moving;
    let is_priced = asked.criteria.prices.is_some();
    let rows = stages.into_iter().take(show.into()).map(|(found, stages)| {
        let row = searched.row(&found, is_priced);
        Row { stages, stage: asked.stages.len(), ..row }
    });
    let rows: Vec<Row> = rows.collect();
    (!rows.is_empty()).then(|| Ok(designs_of(searched, rows)))
}

/// Number of T0 variants per switch in the sample before a search. Designs of its front that pass the checks shorten
/// the search. A larger sample takes longer than the time it saves.
const SAMPLE: usize = 1;

/// Finds the complete front, ordered by the objective.
fn search<'a>(args: &Args, asked: &SearchInput<'a>) -> anyhow::Result<SearchResult<'a, 'a>> {
    let options = Options { platforms: args.platforms.clone(), levels: Levels::default() };
    let mut checks = Checks::new(asked.need, asked.stages, options);
    let candidates = Candidates::new(asked.criteria_of_stages());
    let mut sieve = ThinningSieve { candidates, checks: &mut checks, failed: None };
    // The reason for an empty sample matters only if the complete search is empty, too.
    let _outside = closc_design::sample(asked.need, asked.catalogue, SAMPLE, &mut sieve);
    let candidates = sieve.finish()?.into_bar(|design| checks.pass(design))?;
    checks.reset_limit();
    let mut sieve = ThinningSieve { candidates, checks: &mut checks, failed: None };
    let searched = closc_design::space(asked.need, asked.catalogue, &mut sieve);
    let candidates = sieve.finish()?;
    searched.map_err(|why| outside(args, why, asked))?;
    let (compared, unpriced, unpublished) =
        (candidates.compared, candidates.unpriced, candidates.unpublished);
    let meet = asked.listed_routing.map_or(compared, |routing| candidates.count_by_routing(routing));
    if compared == unpriced + unpublished {
        bail!(measure_reason(&candidates));
    }
    let lists = |word: &str| asked.listed_routing.is_none_or(|routing| routing.keyword() == word);
    let MergedFront { mut front, best } = candidates.into_fronts(lists, |design| checks.pass(design))?;
    let routings = routings(&best, asked.need);
    if front.is_empty() {
        bail!(rejection_reason(checks.first.as_ref()));
    }
    let exceeds = |found: &FrontDesign<'a>| {
        checks.checked_file(&found.design).is_some_and(|passed| passed.assumed.is_some())
    };
    // With stages, all of them are bought, so the last one decides.
    let order = Order { objective: asked.objective.of(), is_of_last_stage: !asked.stages.is_empty() };
    closc_design::order(&mut front, order, exceeds);
    Ok(SearchResult { checks, compared: meet, unpriced, unpublished, routings, front })
}

/// Candidates of a search. During the search, candidates that fail the checks are removed, so that a large search
/// needs little memory.
struct ThinningSieve<'s, 'a, 'n> {
    candidates: Candidates<'a, 'a>,
    checks: &'s mut Checks<'n>,
    failed: Option<anyhow::Error>,
}

impl<'a> ThinningSieve<'_, 'a, '_> {
    /// Returns the candidates, or the error of a check.
    fn finish(self) -> anyhow::Result<Candidates<'a, 'a>> {
        self.failed.map_or(Ok(self.candidates), Err)
    }
}

impl<'a> Sieve<'a> for ThinningSieve<'_, 'a, '_> {
    fn omits(&self, floor: &Floor<'a>, tiers: u8) -> bool {
        self.failed.is_some() || self.candidates.omits(floor, tiers)
    }

    fn add_design(&mut self, design: Design<'a>) {
        self.candidates.add(design);
        if self.candidates.is_full() && self.failed.is_none() {
            let checks = &mut *self.checks;
            self.failed = self.candidates.thin(|design| checks.pass(design)).err();
        }
    }
}

/// Returns the reason why no design passes the checks.
fn rejection_reason(first: Option<&Finding>) -> String {
    let Some(Finding { code, message, .. }) = first else { return "no design passes the checks".to_owned() };
    let remedy = match *code {
        "" => "change `--platform`, `--planes` or `--tiers`".to_owned(),
        code => format!("`closc explain {code}` describes it"),
    };
    let found = if code.is_empty() { message.clone() } else { format!("{code}: {message}") };
    format!("no design passes the checks; the first has {found}; {remedy}")
}

/// Remedy for items without published power.
const OWN_POWER: &str = "add the power of switches in a file for `--platforms`, or use another `--objective`";

/// Returns the reason why no design can be compared.
fn measure_reason(candidates: &Candidates<'_, '_>) -> String {
    let listed = |items: &[String]| {
        let items: Vec<String> = items.iter().map(|item| format!("`{item}`")).collect();
        items.join(", ")
    };
    if candidates.unpublished == 0 {
        let missing = listed(&candidates.missing);
        return format!("each design has an item without a price; the first lacks {missing}");
    }
    let powerless = listed(&candidates.powerless);
    format!(
        "each design has a switch or module without published power; the first has {powerless}: {OWN_POWER}"
    )
}

/// No design has the same T0s in all stages.
#[derive(Debug, thiserror::Error)]
#[error(
    "no design grows to {0} NICs with the same T0s in all stages: allow other `--tiers` or `--planes`, a larger first \
     stage or a smaller last one"
)]
struct GrowthError(String);

/// No design is within the limits. Contains the options that would permit one.
#[derive(Debug, thiserror::Error)]
#[error("no design keeps these limits: {0}")]
struct LimitsError(String);

/// Returns the reason for an empty search. With stages, the message refers to them.
fn outside(args: &Args, why: SearchError, asked: &SearchInput<'_>) -> anyhow::Error {
    match (&why, asked.stages.last()) {
        (SearchError::Limits, Some(last)) => GrowthError(number((*last).into())).into(),
        (SearchError::Limits, None) => {
            let permits = advice::advice(args, asked);
            LimitsError(match permits.as_slice() {
                [] => "none of `--tiers`, `--planes` and `--oversubscription` alone is known to permit one"
                    .to_owned(),
                [one] => format!("use {one}"),
                several => format!("use one of {}", several.join(", ")),
            })
            .into()
        }
        _ => why.into(),
    }
}

impl SearchResult<'_, '_> {
    /// Describes a design of the front.
    fn row(&self, found: &FrontDesign<'_>, is_priced: bool) -> Row {
        let passed = self.checks.checked_file(&found.design).cloned().unwrap_or_else(CheckedFile::absent);
        let row = Row::new(&found.design, &found.measure, &found.design.media(), is_priced, passed);
        let mostly_unused = closc_design::wastes_ports(&self.checks.need.limits, &found.design);
        Row { mostly_unused, ..row }
    }
}

/// Compares the routings by their designs with the fewest switches.
fn routings(best: &BTreeMap<&'static str, FrontDesign<'_>>, need: &Requirements) -> Vec<RoutingRow> {
    let Some((_, fewest)) = best.iter().min_by_key(|(_, found)| found.measure.switches) else {
        return Vec::new();
    };
    let row = |(routing, found): (&&'static str, &FrontDesign<'_>)| {
        let design = &found.design;
        let weaknesses = design.weaknesses().into_iter().map(|weakness| weakness.text().to_owned());
        let mut loses: Vec<String> = weaknesses.collect();
        if found.measure.switches > fewest.measure.switches {
            loses.extend(reasons(design, &fewest.design, need));
        }
        RoutingRow {
            routing,
            fewest_switches: found.measure.switches,
            more_switches: found.measure.switches - fewest.measure.switches,
            how: closc_design::describe_routing(design.routing),
            gains: closc_design::gains(design.routing),
            loses,
        }
    };
    best.iter().map(row).collect()
}

/// Returns the reasons why a routing needs more switches than the design with the fewest.
fn reasons(design: &Design<'_>, fewest: &Design<'_>, need: &Requirements) -> Vec<String> {
    let mut reasons = Vec::new();
    if !fewest.has_t1() && design.has_t1() {
        reasons.push("switches need uplinks, so one tier is not possible".to_owned());
    }
    let is_source_routed = design.routing.is_source_routed();
    let unusable = fewest.unusable_with(design.routing, &need.operating_systems);
    if is_source_routed && !unusable.is_empty() {
        let names: Vec<String> = unusable.into_iter().map(|name| format!("`{name}`")).collect();
        let are = if names.len() == 1 { "is" } else { "are" };
        reasons.push(format!("{} {are} not known to forward uSIDs", names.join(", ")));
    }
    reasons
}

/// Prints the designs, or writes the one that was picked.
fn write_pick(args: &Args, command: &DesignArgs, found: &Designs) -> anyhow::Result<Outcome> {
    let Some(out) = &command.out else {
        print_designs(args, command, found)?;
        return Ok(Outcome::Fine);
    };
    let count = found.designs.len();
    let Some(picked) = found.designs.get(usize::from(command.pick) - 1) else {
        let pick = command.pick;
        if usize::from(pick) > found.front {
            bail!("`--pick {pick}`: the front has only {}", format_count(found.front as u64, "design"));
        }
        let listed = format_count(count as u64, "design");
        bail!("`--pick {pick}`: only {listed} listed; use `--show {pick}`");
    };
    output::replace(out, file(picked, command.stage))?;
    if out != output::STANDARD && !args.quiet && args.format != Format::Json {
        let of_stage = picked.stages.get(usize::from(command.stage) - 1).map_or_else(
            || title(picked),
            |stage| {
                let switches = format_count(stage.switches.into(), "switch");
                format!(
                    "stage {}, {} and {switches}",
                    command.stage,
                    format_count(stage.places.into(), "NIC place")
                )
            },
        );
        output::say(format_args!("`{out}`: {of_stage}; next: `closc check {out}`"));
    }
    // Structured formats always contain the list of designs, including the one that was written.
    if out != output::STANDARD && matches!(args.format, Format::Json | Format::Rows(_) | Format::Html) {
        print_designs(args, command, found)?;
    }
    Ok(Outcome::Fine)
}

/// Returns the file of a stage, or of the design if there are no stages.
fn file(picked: &Row, stage: u8) -> &str {
    picked.stages.get(usize::from(stage) - 1).map_or(&picked.file, |found| &found.file)
}

fn print_designs(args: &Args, command: &DesignArgs, found: &Designs) -> anyhow::Result<()> {
    match args.format {
        Format::Rows(_) => output::print(&csv::csv(found)?),
        Format::Html => {
            let sizes = command.nics.iter().chain(&command.stages).map(|nics| number((*nics).into()));
            let sizes: Vec<String> = sizes.collect();
            let title = format!("Designs for {} NICs of {}", sizes.join(", then "), command.speed);
            output::print(&html::html(args, found, title)?)
        }
        Format::Human | Format::Json | Format::Github | Format::Markdown => {
            output::result(args.format, &DESIGN, found, page)
        }
    }
}
