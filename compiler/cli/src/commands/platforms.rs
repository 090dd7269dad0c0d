//! `closc platforms`: the catalogue, one line a platform, or one platform in full.

mod page;

use std::fmt::Write as _;

use anyhow::bail;
use closc_platform::Platform;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Args;
use crate::args::new::PlatformsArgs;
use crate::input;
use crate::output::{self, Document, Items, Outcome};

/// What a platform has.
pub(crate) const PLATFORM: Document<Platform> = Document::new("closc-platform/1");

/// The platforms of the catalogue.
pub(crate) const PLATFORMS: Document<Items<Entry>> = Document::new("closc-platforms/1");

#[derive(Serialize, JsonSchema)]
pub(crate) struct Entry {
    id: String,
    title: String,
    ports: u16,
    breakout: String,
    oses: Vec<&'static str>,
}

/// Lists the catalogue, or shows a platform.
pub(super) fn run(args: &Args, command: &PlatformsArgs) -> anyhow::Result<Outcome> {
    let Some(catalogue) = input::catalogue(args)? else { return Ok(Outcome::Failed) };
    if let Some(name) = &command.name {
        let Some(platform) = catalogue.get(name) else {
            match catalogue.suggest(name) {
                Some(meant) => bail!("there is no platform `{name}`; did you mean `{meant}`?"),
                None => bail!("there is no platform `{name}`; `closc platforms` lists them"),
            }
        };
        output::result(args.format, &PLATFORM, &**platform, page::page)?;
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
            oses: platform.oses.iter().map(|os| os.word()).collect(),
        })
        .collect();
    output::results(args.format, &PLATFORMS, &entries, |entries| {
        entries.iter().fold(String::new(), |mut text, entry| {
            let oses = entry.oses.join(",");
            let _ = writeln!(text, "{:<22} {:>5} ports  {:<18} {}", entry.id, entry.ports, oses, entry.title);
            text
        })
    })?;
    Ok(Outcome::Fine)
}
