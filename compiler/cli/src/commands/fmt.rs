//! `closc fmt`: formats fabric files.
//!
//! In: files. Out: the same files with other white space. Invariants: a file is written only if its meaning stays the
//! same; a file that is already formatted is not touched.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_compile::front::Source;
use closc_diagnostics::Sources;
use closc_files::TEXT_MAX;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Args;
use crate::args::basics::FmtArgs;
use crate::input;
use crate::output::{self, Document, Items, Outcome};

/// Results of formatting files.
pub(crate) const FMT: Document<Items<FormatResult>> = Document::new("closc-fmt/1");

/// Result for a file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FormatResult {
    file: String,
    changed: bool,
}

/// Formats files.
pub(super) fn run(args: &Args, command: &FmtArgs) -> anyhow::Result<Outcome> {
    let (mut done, mut is_failed) = (Vec::new(), false);
    for file in &command.files {
        match format_file(args, command, file)? {
            Some(changed) => done.push(FormatResult { file: file.to_string(), changed }),
            None => is_failed = true,
        }
    }
    let outcome = match (is_failed, command.check && done.iter().any(|file| file.changed)) {
        (true, _) => Outcome::Failed,
        (false, true) => Outcome::Differences,
        (false, false) => Outcome::Fine,
    };
    let is_printed = |file: &Utf8Path| file == output::STANDARD && !command.check;
    if command.files.iter().any(|file| is_printed(file)) {
        return Ok(outcome);
    }
    let verb = if command.check { "would change" } else { "formatted" };
    if args.quiet && !command.check {
        return Ok(outcome);
    }
    output::results(args.format, &FMT, &done, |done| {
        done.iter().filter(|file| file.changed).fold(String::new(), |mut text, file| {
            let _ = writeln!(text, "{}: {verb}", file.file);
            text
        })
    })?;
    Ok(outcome)
}

/// Formats a file; returns whether that changes it, or `None` if it has errors, which were shown.
fn format_file(args: &Args, command: &FmtArgs, file: &Utf8Path) -> anyhow::Result<Option<bool>> {
    let is_standard = file == output::STANDARD;
    let text = if is_standard {
        output::read(file, TEXT_MAX)?
    } else {
        closc_files::read_user_text(file, TEXT_MAX)?
    };
    let mut sources = Sources::new();
    let name = Source::File(file.to_owned()).to_string();
    if let Err(faults) = closc_topology::load(&mut sources, &name, text.as_bytes()) {
        input::show(args, &faults, &sources);
        return Ok(None);
    }
    let Some(formatted) = closc_topology::format(&text) else {
        bail!("`{file}` is unchanged: formatting would change its meaning");
    };
    let changed = formatted != text;
    if is_standard && !command.check {
        output::print(&formatted)?;
    } else if changed && !command.check {
        // A symbolic link to the file remains a link.
        let place = file.canonicalize_utf8().with_context(|| format!("cannot find `{file}`"))?;
        output::replace(&place, &formatted)?;
    }
    Ok(Some(changed))
}
