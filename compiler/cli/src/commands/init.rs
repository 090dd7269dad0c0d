//! `closc init`: a fabric file of a size, with comments, without errors, and without warnings but of known faults of releases.
//!
//! In: numbers, from flags or, on a terminal, from answers. Out: a file. Invariants: what is written was read by all checks
//! first, and they had nothing to say.

mod shape;
mod text;

use std::io::{IsTerminal as _, stdin};

use anyhow::{Context as _, bail};
use clap::Args as _;
use closc_compile::front::{self, Options, Source};
use closc_diagnostics::{Diagnostic, Levels};
use closc_qos::units::Speed;

use schemars::JsonSchema;
use serde::Serialize;

use self::shape::{Choice, Shape, Want};
use crate::args::new::InitArgs;
use crate::args::{Args, Format};
use crate::input;
use crate::output::{self, Document, Outcome};

/// The file that was written.
pub(crate) const INIT: Document<Written> = Document::new("closc-init/1");

/// Writes a file.
pub(super) fn run(args: &Args, command: &InitArgs) -> anyhow::Result<Outcome> {
    if command.out != output::STANDARD && !command.force && command.out.symlink_metadata().is_ok() {
        bail!("`{}` exists: name another file, or replace it by `--force`", command.out);
    }
    let Some(catalogue) = input::catalogue(args)? else { return Ok(Outcome::Failed) };
    let want = Want {
        name: command.name.clone(),
        nics: answer(command.nics, "nics", "How many NICs?", 1024)?,
        planes: answer(command.planes, "planes", "How many planes, each with a port of every NIC?", 4)?,
        speed: answer(
            command.speed,
            "speed",
            "How fast is a NIC, all its ports together?",
            Speed::gbps(400),
        )?,
        nics_per_node: command.nics_per_node,
        os: command.os,
        routing: command.routing,
        tiers: command.tiers,
    };
    let platforms = shape::platforms(&catalogue, &want, command.platform.as_deref())?;
    let options = Options { platforms: args.platforms.clone(), levels: Levels::default() };
    let shapes = shape::candidates(&want, &platforms);
    match made(&want, shapes, &options)? {
        Made::Good(shape, text) => {
            output::replace(&command.out, &text)?;
            say(args, command, &want, &shape)?;
            Ok(Outcome::Fine)
        }
        Made::None(finding) => {
            let near = near(&want, &platforms, &options)?;
            bail!("{}", shape::why_none(&want, &platforms, near, finding.as_deref()))
        }
    }
}

/// Result of the comparison of shapes.
enum Made<'a> {
    /// The first that is without a finding, and its file.
    Good(Shape<'a>, String),
    /// Findings of the checks about the first one; none where there is none.
    None(Option<String>),
}

/// Writes shapes until one is without a finding.
fn made<'a>(want: &Want, shapes: Vec<Shape<'a>>, options: &Options) -> anyhow::Result<Made<'a>> {
    let mut first = None;
    for shape in shapes {
        let plain = text::text(want, &shape);
        // The loss by hashing is the choice of a routing that hashes.
        let known = (!want.routing.is_source_routed()).then(|| format!("{plain}{}", text::HASHED));
        let mut last = None;
        for written in std::iter::once(plain).chain(known) {
            match finding(&written, want, options)? {
                None => return Ok(Made::Good(shape, written)),
                found => last = found,
            }
        }
        first = first.or(last);
    }
    Ok(Made::None(first))
}

/// The most shapes of another size that are tried: the best ones do, or none does.
const NEAR_SHAPES: usize = 4;

/// Returns the number of NICs nearest above what is wanted that has a file without a finding.
fn near(want: &Want, platforms: &[Choice<'_>], options: &Options) -> anyhow::Result<Option<u32>> {
    for nics in shape::sizes_above(want, platforms) {
        let other = Want { nics, ..want.clone() };
        let mut shapes = shape::candidates(&other, platforms);
        shapes.truncate(NEAR_SHAPES);
        if let Made::Good(..) = made(&other, shapes, options)? {
            return Ok(Some(nics));
        }
    }
    Ok(None)
}

/// Returns what the checks have to say of a file first; nothing where it is good and of the size that is wanted.
fn finding(text: &str, want: &Want, options: &Options) -> anyhow::Result<Option<String>> {
    let reading = front::read_text(&Source::Stdin, text.as_bytes(), options)?;
    // A known fault of a release is of the software, and not of the shape.
    let of_shape = |found: &&Diagnostic| found.rule.code != super::design::KNOWN_FAULT;
    if let Some(found) = reading.diagnostics.iter().find(of_shape) {
        return Ok(Some(format!("{}: {}", found.rule.code, found.message)));
    }
    let nics = reading.plan.as_ref().map_or(0, |plan| plan.fabric().counts().nics);
    Ok((nics != u64::from(want.nics)).then(|| format!("it has {nics} NICs")))
}

/// Written output.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Written {
    file: String,
    nics: u32,
    planes: u16,
    platform: String,
    os: &'static str,
}

fn say(args: &Args, command: &InitArgs, want: &Want, shape: &Shape<'_>) -> anyhow::Result<()> {
    if command.out == output::STANDARD {
        return Ok(());
    }
    if args.format == Format::Json {
        let written = Written {
            file: command.out.to_string(),
            nics: want.nics,
            planes: want.planes,
            platform: shape.platform.id.to_string(),
            os: shape.os.word(),
        };
        return output::print(&output::document(&INIT, &written)?);
    }
    if args.quiet {
        return Ok(());
    }
    output::say(format_args!(
        "`{}`: {} NICs in {} planes of `{}`; next: `closc check {}`",
        command.out, want.nics, want.planes, shape.platform.id, command.out
    ));
    Ok(())
}

/// Returns the value of the flag, else the answer at a terminal, else the default. An answer has the form of the flag's value.
fn answer<T>(given: Option<T>, flag: &str, question: &str, default: T) -> anyhow::Result<T>
where
    T: Clone + std::fmt::Display + Send + Sync + 'static,
{
    match given {
        Some(given) => return Ok(given),
        None if !stdin().is_terminal() => return Ok(default),
        None => {}
    }
    loop {
        output::say(format_args!("{question} [{default}]"));
        let mut line = String::new();
        let read = stdin().read_line(&mut line).context("cannot read the answer")?;
        if read == 0 {
            bail!("no answer: nothing was written; `--{flag}` says it without a question");
        }
        if line.trim().is_empty() {
            return Ok(default);
        }
        match taken(flag, line.trim()) {
            Ok(value) => return Ok(value),
            Err(why) => output::say(format_args!("{why}")),
        }
    }
}

/// Reads an answer as the command line does.
fn taken<T: Clone + Send + Sync + 'static>(flag: &str, answer: &str) -> Result<T, String> {
    let command = InitArgs::augment_args(clap::Command::new("init"));
    let why = |error: clap::Error| {
        let said = error.to_string();
        let line = said.lines().next().unwrap_or_default();
        line.split_once(": ").map_or(line, |(_, why)| why).to_owned()
    };
    let mut matches =
        command.try_get_matches_from(["init".to_owned(), format!("--{flag}={answer}")]).map_err(why)?;
    matches.remove_one::<T>(flag).ok_or_else(|| format!("`{answer}` is none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_what_flags_take() {
        assert_eq!(taken::<u32>("nics", "64"), Ok(64));
        assert_eq!(taken::<Speed>("speed", "800G"), Ok(Speed::gbps(800)));
        for (flag, answer) in [("nics", "0"), ("nics", "-1"), ("nics", "many"), ("nics", "--help")] {
            assert!(taken::<u32>(flag, answer).is_err(), "{answer}");
        }
        let why = taken::<u16>("planes", "64").unwrap_err();
        assert!(why.contains("64") && why.contains("1..=16"), "{why}");
    }
}
