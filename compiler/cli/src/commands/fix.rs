//! `closc fix`: applies automatic fixes to fabric files.
//!
//! In: files. Out: the fixed files, the list of fixes, and the remaining findings. Invariants: a file is written
//! atomically, and only if it changes. A suggestion that is not certain is applied only if `--code` names its code.

use std::fmt::Write as _;

use anyhow::Context as _;
use camino::Utf8Path;
use closc_compile::front::{self, FixedText, Source};
use closc_diagnostics::Trust;
use closc_files::TEXT_MAX;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Args;
use crate::args::basics::FixArgs;
use crate::input;
use crate::output::{self, Document, Items, Outcome, Usage};

/// Fixes of files.
pub(crate) const FIX: Document<Items<FixedFile>> = Document::new("closc-fix/1");

/// Result for a file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FixedFile {
    file: String,
    fixes: Vec<AppliedFix>,
    /// Number of remaining errors.
    errors: usize,
}

#[derive(Serialize, JsonSchema)]
struct AppliedFix {
    code: &'static str,
    line: usize,
    help: String,
}

/// Fixes files.
pub(super) fn run(args: &Args, command: &FixArgs) -> anyhow::Result<Outcome> {
    let rules = front::rules();
    for code in &command.code {
        if !rules.iter().any(|rule| rule.code == code) {
            anyhow::bail!(Usage("a code is one that `closc explain codes` lists"));
        }
    }
    let mut done = Vec::new();
    for file in &command.files {
        done.push(fix_file(args, command, file)?);
    }
    let outcome = if command.check && done.iter().any(|file| !file.fixes.is_empty()) {
        Outcome::Differences
    } else if done.iter().any(|file| file.errors > 0) {
        Outcome::Failed
    } else {
        Outcome::Fine
    };
    let is_printed = |file: &Utf8Path| file == output::STANDARD && !command.check;
    if args.quiet || command.files.iter().any(|file| is_printed(file)) {
        return Ok(outcome);
    }
    output::results(args.format, &FIX, &done, |done| {
        let fixes = done.iter().flat_map(|file| file.fixes.iter().map(move |fix| (&file.file, fix)));
        fixes.fold(String::new(), |mut text, (file, fix)| {
            let _ = writeln!(text, "{file}:{}: {}: {}", fix.line, fix.code, fix.help);
            text
        })
    })?;
    Ok(outcome)
}

fn fix_file(args: &Args, command: &FixArgs, file: &Utf8Path) -> anyhow::Result<FixedFile> {
    let is_standard = file == output::STANDARD;
    let text = if is_standard {
        output::read(file, TEXT_MAX)?
    } else {
        closc_files::read_user_text(file, TEXT_MAX)?
    };
    let source = Source::parse(file.as_str())?;
    let FixedText { text: fixed, applied_fixes: made, reading } =
        front::fix(&source, &text, &input::options(args), |finding, fix| {
            fix.trust == Trust::Sure || command.code.iter().any(|code| code == finding.rule.code)
        })?;
    if is_standard && !command.check {
        output::print(&fixed)?;
    } else if !made.is_empty() && !command.check {
        // A symbolic link to the file remains a link.
        let place = file.canonicalize_utf8().with_context(|| format!("cannot find `{file}`"))?;
        output::replace(&place, &fixed)?;
    }
    input::show_left(args, &reading.diagnostics, &reading.sources);
    let fixes = made.into_iter().map(|made| AppliedFix { code: made.code, line: made.line, help: made.help });
    Ok(FixedFile { file: file.to_string(), fixes: fixes.collect(), errors: reading.diagnostics.errors() })
}
