//! `closc init`: a fabric file of a size, with comments, that has neither errors nor warnings.
//!
//! In: numbers, from flags or, on a terminal, from answers. Out: a file. Invariants: what is written was read by all checks
//! first, and they had nothing to say.

mod shape;
mod text;

use std::io::{IsTerminal as _, stdin};
use std::str::FromStr;

use anyhow::{Context as _, bail};
use closc_compile::front::{self, Options, Source};
use closc_diagnostics::Levels;
use closc_qos::units::Speed;

use schemars::JsonSchema;
use serde::Serialize;

use self::shape::{Shape, Want};
use crate::args::new::InitArgs;
use crate::args::{Args, Format};
use crate::input;
use crate::output::{self, Document, Outcome};

/// The file that was written.
pub(crate) const INIT: Document<Written> = Document::new("closc-init/1");

/// Writes a file.
pub(super) fn run(args: &Args, command: &InitArgs) -> anyhow::Result<Outcome> {
    if command.out != output::STANDARD && command.out.symlink_metadata().is_ok() {
        bail!("`{}` is there already: name another file, or remove it", command.out);
    }
    let Some(catalogue) = input::catalogue(args)? else { return Ok(Outcome::Failed) };
    let want = Want {
        name: command.name.clone(),
        nics: answer(command.nics, "How many NICs?", 1024)?,
        planes: answer(command.planes, "How many planes, each with a port of every NIC?", 4)?,
        speed: answer(command.speed, "How fast is a NIC, all its ports together?", Speed::gbps(400))?,
        nics_per_node: command.nics_per_node,
        os: command.os,
        routing: command.routing,
        tiers: command.tiers,
    };
    let platforms = shape::platforms(&catalogue, &want, command.platform.as_deref())?;
    let options = Options { platforms: args.platforms.clone(), levels: Levels::default() };
    for shape in shape::candidates(&want, &platforms) {
        let plain = text::text(&want, &shape);
        // What hashing costs is the choice of who asked for a routing that hashes.
        let known = (!want.routing.is_source_routed()).then(|| format!("{plain}{}", text::HASHED));
        for written in std::iter::once(plain).chain(known) {
            if is_good(&written, &want, &options)? {
                output::replace(&command.out, &written)?;
                say(args, command, &want, &shape)?;
                return Ok(Outcome::Fine);
            }
        }
    }
    bail!("{}", shape::why_none(&want, &platforms))
}

/// Tells whether a file has the size that is wanted and all checks have nothing to say of it.
fn is_good(text: &str, want: &Want, options: &Options) -> anyhow::Result<bool> {
    let reading = front::read_text(&Source::Stdin, text.as_bytes(), options)?;
    let has_size = |plan: &closc_plan::Plan| plan.fabric().counts().nics == u64::from(want.nics);
    Ok(reading.diagnostics.is_empty() && reading.plan.as_ref().is_some_and(has_size))
}

/// What was written.
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

/// Returns what was given, else what somebody at a terminal says, else the default.
fn answer<T: FromStr + std::fmt::Display>(given: Option<T>, question: &str, default: T) -> anyhow::Result<T> {
    match given {
        Some(given) => return Ok(given),
        None if !stdin().is_terminal() => return Ok(default),
        None => {}
    }
    loop {
        output::say(format_args!("{question} [{default}]"));
        let mut line = String::new();
        let read = stdin().read_line(&mut line).context("cannot read the answer")?;
        if read == 0 || line.trim().is_empty() {
            return Ok(default);
        }
        match line.trim().parse() {
            Ok(value) => return Ok(value),
            Err(_) => output::say(format_args!("`{}` is none: write it like `{default}`", line.trim())),
        }
    }
}
