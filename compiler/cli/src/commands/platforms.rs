//! `closc platforms`: the catalogue, one line a platform.

use std::fmt::Write as _;

use serde::Serialize;

use crate::args::Args;
use crate::input;
use crate::output::{self, Outcome};

#[derive(Serialize)]
struct Entry {
    id: String,
    title: String,
    ports: u16,
    breakout: String,
    oses: Vec<&'static str>,
}

/// Lists the catalogue.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    let Some(catalogue) = input::catalogue(args)? else { return Ok(Outcome::Failed) };
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
    output::results(args.format, "closc-platforms/1", &entries, |entries| {
        entries.iter().fold(String::new(), |mut text, entry| {
            let oses = entry.oses.join(",");
            let _ = writeln!(text, "{:<22} {:>5} ports  {:<18} {}", entry.id, entry.ports, oses, entry.title);
            text
        })
    })?;
    Ok(Outcome::Fine)
}
