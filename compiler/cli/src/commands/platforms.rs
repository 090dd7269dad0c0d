//! `closc platforms`: the catalogue with one line per platform, or one platform in full.

mod page;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{anyhow, bail};
use closc_diagnostics::Sources;
use closc_platform::{
    Catalogue, FactorySetting, Fault, HwskuFacts, Limit, Omissions, Os, Platform, Provenance, Release,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Args;
use crate::args::basics::PlatformsArgs;
use crate::input;
use crate::output::{self, Document, Items, Outcome};

/// Properties of a platform.
pub(crate) const PLATFORM: Document<PlatformDetails> = Document::new("closc-platform/1");

/// The platforms of the catalogue.
pub(crate) const PLATFORMS: Document<Items<Entry>> = Document::new("closc-platforms/1");

/// A platform, with the sources of its limits and the facts about its hwskus.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PlatformDetails {
    #[serde(flatten)]
    platform: Platform,
    /// Source of each limit.
    provenance: BTreeMap<Limit, Provenance>,
    /// Facts about single hwskus of SONiC.
    facts: BTreeMap<String, HwskuFacts>,
    /// Known faults of operating systems on it.
    faults: Vec<&'static Fault>,
    /// Factory settings of its operating systems that a replaced or reloaded configuration removes.
    factory: Vec<&'static FactorySetting>,
}

impl PlatformDetails {
    fn of(platform: &Platform) -> Self {
        PlatformDetails {
            platform: platform.clone(),
            provenance: platform.limits.provenance.clone(),
            facts: platform.sonic.as_ref().map(|sonic| sonic.facts.clone()).unwrap_or_default(),
            faults: Fault::all().iter().filter(|fault| fault.concerns_platform(platform)).collect(),
            factory: factory(platform).collect(),
        }
    }
}

/// Returns the factory settings of the operating systems of a platform.
fn factory(platform: &Platform) -> impl Iterator<Item = &'static FactorySetting> {
    let all = FactorySetting::all().iter();
    all.filter(|setting| setting.oses.iter().any(|os| platform.supports(*os)))
}

/// Prints an overlay that keeps the factory settings of an operating system.
fn skeleton(os: Os, release: Option<Release>) -> anyhow::Result<Outcome> {
    if let (Some(release), Some(known)) = (release, os.releases())
        && !known.supports(release)
    {
        bail!("`{}` has the releases {}, not {release}", os.keyword(), known.description());
    }
    let Some(text) = closc_provision::skeleton(os, release) else {
        bail!("no change replaces the configuration of `{}`, so the site's part stays", os.keyword());
    };
    output::print(&text)?;
    Ok(Outcome::Fine)
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Entry {
    id: String,
    title: String,
    ports: u16,
    breakout: String,
    oses: Vec<&'static str>,
}

/// Time limit for the answer of a switch.
const MEASURE_LIMIT: Duration = Duration::from_mins(2);

/// Maximum size of an answer in bytes. The files of the largest switches have about 2 MB.
const ANSWER_MAX: usize = 16 << 20;

/// Reads a switch, and prints its entry with measured values.
fn measure(
    args: &Args,
    command: &PlatformsArgs,
    switch: &str,
    catalogue: &Catalogue,
) -> anyhow::Result<Outcome> {
    let config = command.ssh_config.as_ref().map(|path| path.as_str());
    let os = command.os.unwrap_or(closc_hwsku::USUAL_OS);
    let Some(script) = closc_hwsku::commands(os) else {
        bail!("`--measure` reads switches that run sonic, pins, eos or nvue, not `{}`", os.keyword());
    };
    let ask = closc_deploy::SwitchScript { switch, os: os.keyword(), script };
    let answer = closc_deploy::ask(&ask, config, MEASURE_LIMIT, ANSWER_MAX)
        .map_err(|reason| anyhow!("cannot read `{switch}`: {reason}"))?;
    let measured = closc_hwsku::measure_output(switch, os, &answer, catalogue);
    let measured = measured.map_err(|reason| anyhow!("`{switch}` has no entry of its own: {reason}"))?;
    measured.notes.iter().for_each(|note| tracing::warn!("{note}"));
    let mut own = Catalogue::default();
    let id = own
        .add_yaml(&mut Sources::new(), switch, &measured.text)
        .map_err(|_| anyhow!("the measured entry is invalid"))?;
    let platform = own.get(&id).expect("it was just added");
    output::result(args.format, &PLATFORM, &PlatformDetails::of(platform), |_| measured.text.clone())?;
    Ok(Outcome::Fine)
}

/// Lists the catalogue, shows a platform, or measures one.
pub(super) fn run(args: &Args, command: &PlatformsArgs) -> anyhow::Result<Outcome> {
    if let Some(os) = command.skeleton {
        return skeleton(os, command.release);
    }
    let Some(catalogue) = input::catalogue(args)? else { return Ok(Outcome::Failed) };
    if let Some(switch) = &command.measure {
        return measure(args, command, switch, &catalogue);
    }
    if let Some(name) = &command.name {
        let Some(platform) = catalogue.get(name) else {
            if let Some(omission) = Omissions::published().find(name) {
                bail!("the catalogue lacks `{name}`: {}", omission.reason);
            }
            match catalogue.suggest(name) {
                Some(meant) => bail!("there is no platform `{name}`; did you mean `{meant}`?"),
                None => bail!("there is no platform `{name}`; `closc platforms` lists them"),
            }
        };
        if command.yaml {
            output::print(catalogue.text(name).unwrap_or_default())?;
            return Ok(Outcome::Fine);
        }
        output::result(args.format, &PLATFORM, &PlatformDetails::of(platform), |shown| {
            page::page(&shown.platform)
        })?;
        return Ok(Outcome::Fine);
    }
    let entries: Vec<Entry> = catalogue
        .ids()
        .filter_map(|id| catalogue.get(id))
        .map(|platform| Entry {
            id: platform.id.to_string(),
            title: platform.title.clone(),
            ports: platform.ports_max(platform.panel.default_breakout),
            breakout: platform.panel.default_breakout.to_string(),
            oses: platform.oses.iter().map(|os| os.keyword()).collect(),
        })
        .collect();
    output::results(args.format, &PLATFORMS, &entries, |entries| {
        let width = entries.iter().map(|entry| entry.id.len()).max().unwrap_or_default();
        entries.iter().fold(String::new(), |mut text, entry| {
            let oses = entry.oses.join(",");
            let _ =
                writeln!(text, "{:<width$} {:>5} ports  {:<18} {}", entry.id, entry.ports, oses, entry.title);
            text
        })
    })?;
    Ok(Outcome::Fine)
}
