//! `closc design`: the fabrics that meet a need, of which no other is better in every number.
//!
//! In: a need, from flags. Out: a few designs, each with its counts; the file of one of them. Invariants: a design that is
//! printed was read by all checks, and they had no finding but known faults of releases, which are named; a cost is a sum of the user's prices.

mod page;

pub(super) use page::{page, title};

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use closc_compile::front::{self, Options, Source};
use closc_design::{Candidates, Design, Found, Front, Limits, Need, Prices, Verdict};
use closc_diagnostics::Levels;
use closc_platform::Catalogue;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::design::{DesignArgs, FailLimit, Objective};
use crate::args::{Args, Format};
use crate::input;
use crate::output::{self, Document, Outcome};

/// The designs.
pub(crate) const DESIGN: Document<Designs> = Document::new("closc-design/1");

/// Designs, the best first.
#[derive(Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "a document of designs has a list of them")]
pub(crate) struct Designs {
    /// Designs that meet the need.
    compared: usize,
    /// Of these, the ones that have an item without a price.
    unpriced: usize,
    /// Of these, the ones that pass the checks and that no other beats.
    front: usize,
    /// Whether checks ended before all were made, so that designs may be missing.
    unchecked: bool,
    /// The fewest switches of a design of each routing.
    fewest_switches: BTreeMap<String, u32>,
    pub(super) designs: Vec<Row>,
}

/// A design.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Row {
    pub(super) planes: u16,
    /// Speed of a NIC's port in a plane.
    port_speed: String,
    routing: &'static str,
    pub(super) os: &'static str,
    qos: &'static str,
    pub(super) tiers: Vec<TierRow>,
    pub(super) switches: u32,
    /// Places for NICs.
    pub(super) places: u32,
    /// Most NICs without moving a plugged cable.
    largest: u32,
    cables_nic: u64,
    cables_switch: u64,
    /// Cages of switches that hold the modules of cables between switches.
    modules: u64,
    /// Bandwidth of all switches in Gb/s, used or not.
    capacity_gbps: u64,
    oversubscription: String,
    /// Percent of a NIC's bandwidth that the failure of a T0 costs.
    t0_loss_percent: f64,
    /// The same for a T1.
    t1_loss_percent: f64,
    /// Switches on the longest path.
    hops: u8,
    /// Sum of the prices, where each item has one.
    cost: Option<u64>,
    /// A limit of its switches that it goes beyond, which is assumed and not published.
    pub(super) assumed: Option<String>,
    /// Known faults of the assumed releases that this design meets.
    known_faults: Vec<String>,
    /// The fabric file.
    pub(super) file: String,
}

/// A tier of a design.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TierRow {
    pub(super) platform: String,
    switches: u32,
    cages_used: u32,
    cages: u32,
}

/// The warning about a known fault of a release.
const KNOWN_FAULT: &str = "W0203";

/// The most files that are checked.
const TRIED: usize = 256;

/// The most bytes of a file of prices: some thousand items.
const PRICES_MAX: u64 = 1 << 20;

/// Finds designs, prints them, and writes one.
pub(super) fn run(args: &Args, command: &DesignArgs) -> anyhow::Result<Outcome> {
    if let Some(out) =
        command.out.as_ref().filter(|out| *out != output::STANDARD && out.symlink_metadata().is_ok())
    {
        bail!("`{out}` exists: name another file, or remove it");
    }
    let Some(catalogue) = input::catalogue(args)? else { return Ok(Outcome::Failed) };
    let prices = prices(command)?;
    let shown = (command.objective, command.show);
    let found = found(args, &need(command), &catalogue, prices.as_ref(), shown)?;
    written(args, command, &found)
}

/// Finds designs: of those that no other beats, so many as are asked for, the best by an objective first.
pub(super) fn found(
    args: &Args,
    need: &Need,
    catalogue: &Catalogue,
    prices: Option<&Prices>,
    (objective, show): (Objective, u8),
) -> anyhow::Result<Designs> {
    let mut candidates = Candidates::new(prices);
    closc_design::space(need, catalogue, &mut |design| candidates.add(design))?;
    let Candidates { compared, unpriced, .. } = candidates;
    if compared == unpriced {
        bail!("{compared} designs meet the need, and each has an item without a price");
    }
    let options = Options { platforms: args.platforms.clone(), levels: Levels::default() };
    let mut checks = Checks { need, options: &options, files: BTreeMap::new(), first: None, left: TRIED };
    let fronts = candidates.fronts(|design| checks.pass(design))?;
    let least = |front: &Front<'_>| front.iter().map(|found| found.measure.switches).min();
    let fewest =
        fronts.iter().filter_map(|(word, front)| Some(((*word).to_owned(), least(front)?))).collect();
    let mut front = closc_design::merged(fronts.into_values());
    if front.is_empty() {
        bail!("no design of this size passes the checks; the first has {}", checks.first.unwrap_or_default());
    }
    closc_design::order(&mut front, objective.of());
    let shown = front.iter().take(show.into());
    let designs = shown.map(|found| row(found, prices.is_some(), &checks)).collect();
    Ok(Designs {
        compared,
        unpriced,
        front: front.len(),
        fewest_switches: fewest,
        unchecked: checks.left == 0,
        designs,
    })
}

/// Prints the designs, or writes the one that was picked.
fn written(args: &Args, command: &DesignArgs, found: &Designs) -> anyhow::Result<Outcome> {
    let Some(out) = &command.out else {
        output::result(args.format, &DESIGN, found, page)?;
        return Ok(Outcome::Fine);
    };
    let count = found.designs.len();
    let Some(picked) = found.designs.get(usize::from(command.pick) - 1) else {
        bail!("`--pick {}`: there are {count} designs", command.pick);
    };
    output::replace(out, &picked.file)?;
    if out != output::STANDARD && !args.quiet && args.format != Format::Json {
        output::say(format_args!("`{out}`: {}; next: `closc check {out}`", title(picked)));
    }
    Ok(Outcome::Fine)
}

fn need(command: &DesignArgs) -> Need {
    let least = |limits: Vec<u8>| limits.into_iter().min();
    let of = |tier: fn(&FailLimit) -> Option<u8>| least(command.fail.iter().filter_map(tier).collect());
    let all = || {
        vec![
            closc_artefacts::Routing::Srv6Static,
            closc_artefacts::Routing::EcmpStatic,
            closc_artefacts::Routing::BgpUnnumbered,
        ]
    };
    Need {
        name: command.name.clone(),
        nics: command.nics,
        speed: command.speed,
        nics_per_node: command.nics_per_node,
        rails: command.rails,
        planes: command.planes.clone(),
        tiers: command.tiers.clone(),
        routings: if command.routing.is_empty() { all() } else { command.routing.clone() },
        oses: command.os.clone(),
        platforms: command.platform.clone(),
        limits: Limits {
            oversubscription: command.oversubscription,
            t0_loss: of(|limit| match limit {
                FailLimit::T0(percent) => Some(*percent),
                FailLimit::T1(_) => None,
            }),
            t1_loss: of(|limit| match limit {
                FailLimit::T1(percent) => Some(*percent),
                FailLimit::T0(_) => None,
            }),
            grow_to: command.grow_to,
        },
    }
}

fn prices(command: &DesignArgs) -> anyhow::Result<Option<Prices>> {
    let Some(path) = &command.prices else {
        if command.objective == Objective::Cost {
            bail!("`--objective cost` needs `--prices FILE`: closc has no prices of its own");
        }
        return Ok(None);
    };
    let text = output::read(path, PRICES_MAX)?;
    let prices = Prices::read(&text).with_context(|| format!("cannot read `{path}`"))?;
    Ok(Some(prices))
}

/// The checks of fabric files, as far as they are worth their time.
struct Checks<'a> {
    need: &'a Need,
    options: &'a Options,
    /// The file of each design that passed, by its key.
    files: BTreeMap<String, Passed>,
    /// The first finding.
    first: Option<String>,
    /// Checks that may still be made.
    left: usize,
}

impl Checks<'_> {
    /// Checks the files of a design, one for each QoS profile, and keeps the first that can be built.
    fn pass(&mut self, design: &Design<'_>) -> anyhow::Result<Verdict> {
        let mut assumed = None;
        for qos in design.profiles() {
            for is_firm in [true, false] {
                if self.left == 0 {
                    return Ok(Verdict::Refused);
                }
                self.left -= 1;
                let text = closc_design::text(self.need, design, qos, is_firm);
                let Reading { finding, known_faults } = reading(&text, design, self.options)?;
                let Some((code, message)) = finding else {
                    self.files.insert(key(design), Passed { qos, file: text, assumed, known_faults });
                    return Ok(if is_firm { Verdict::Firm } else { Verdict::Assumed });
                };
                tracing::debug!("{}: {code}: {message}", key(design));
                self.first.get_or_insert_with(|| format!("{code}: {message}"));
                if code != closc_design::ASSUMED {
                    break;
                }
                assumed = Some(message);
            }
        }
        Ok(Verdict::Refused)
    }
}

/// A file that passed the checks.
struct Passed {
    qos: &'static str,
    file: String,
    /// The limit that the design goes beyond, which is assumed.
    assumed: Option<String>,
    known_faults: Vec<String>,
}

/// Returns a text that tells a design from every other.
fn key(design: &Design<'_>) -> String {
    let tiers: Vec<String> =
        design.tiers().map(|tier| format!("{}x{}", tier.switches, tier.platform.id)).collect();
    let (routing, os) = (design.routing.word(), design.os.word());
    let Design { planes, groups, per_group, parallel, .. } = design;
    format!(
        "{} {} {} planes={planes} groups={groups} per_group={per_group} parallel={parallel}",
        routing,
        os,
        tiers.join("+")
    )
}

/// Result of the checks of a file.
struct Reading {
    /// Code and message of the first finding; the code is empty where a file has not the NICs of its design.
    finding: Option<(&'static str, String)>,
    /// Known faults of the releases in use. They are of the software and not of the design.
    known_faults: Vec<String>,
}

fn reading(text: &str, design: &Design<'_>, options: &Options) -> anyhow::Result<Reading> {
    let reading = front::read_text(&Source::Stdin, text.as_bytes(), options)?;
    let (faults, findings): (Vec<_>, Vec<_>) =
        reading.diagnostics.iter().partition(|found| found.rule.code == KNOWN_FAULT);
    let nics = reading.plan.as_ref().map_or(0, |plan| plan.fabric().counts().nics);
    let differs = (nics != u64::from(design.places()))
        .then(|| ("", format!("{nics} NICs instead of {}", design.places())));
    let finding = findings.first().map(|found| (found.rule.code, found.message.clone())).or(differs);
    Ok(Reading { finding, known_faults: faults.iter().map(|found| found.message.clone()).collect() })
}

fn row(found: &Found<'_>, is_priced: bool, checks: &Checks<'_>) -> Row {
    let Found { measure, design, .. } = found;
    let passed = checks.files.get(&key(design));
    let tier = |tier: &closc_design::Tier<'_>| {
        let (cages_used, cages) = tier.cages();
        TierRow { platform: tier.platform.id.to_string(), switches: tier.switches, cages_used, cages }
    };
    Row {
        planes: design.planes,
        port_speed: design.port_speed.to_string(),
        routing: design.routing.word(),
        os: design.os.word(),
        qos: passed.map_or("none", |passed| passed.qos),
        tiers: design.tiers().map(tier).collect(),
        switches: measure.switches,
        places: design.places(),
        largest: design.largest(),
        cables_nic: u64::from(design.places()) * u64::from(design.planes),
        cables_switch: measure.cables,
        modules: measure.modules,
        capacity_gbps: measure.capacity,
        oversubscription: design.oversubscription().to_string(),
        t0_loss_percent: f64::from(measure.t0_loss) / 10_000.0,
        t1_loss_percent: f64::from(design.t1_loss()) / 10_000.0,
        hops: measure.hops,
        cost: is_priced.then_some(measure.cost),
        assumed: passed.and_then(|passed| passed.assumed.clone()),
        known_faults: passed.map(|passed| passed.known_faults.clone()).unwrap_or_default(),
        file: passed.map(|passed| passed.file.clone()).unwrap_or_default(),
    }
}
