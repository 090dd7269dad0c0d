//! The closc command: the only crate that touches files, the terminal and exit codes.
//!
//! Results go to stdout, messages and progress to stderr. Exit codes are a contract (`docs/cli.md`): 0 fine, 1 failed or
//! something does not hold, 2 there are differences, 64 the command line cannot be understood.

#![allow(unreachable_pub, reason = "a program has no outside: `pub` says what a module offers the others")]

mod args;
mod audit;
mod commands;
mod complete;
mod input;
mod labs;
mod limits;
mod names;
mod objects;
mod output;
mod progress;
mod tree;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Format};
use crate::output::Outcome;

fn main() -> ExitCode {
    if let Some(answered) = complete::answer() {
        return answered;
    }
    if let Some(arguments) = commands::switch::arguments() {
        return end(commands::switch::run(arguments), Format::Human);
    }
    let args = match Args::try_parse().and_then(|args| args.levels.check().map(|()| args)) {
        Ok(args) => args,
        Err(error) => {
            // Nobody is left to receive it where this fails.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { output::USAGE } else { 0 });
        }
    };
    output::start_log(args.verbose, args.quiet);
    end(commands::run(&args), args.format)
}

/// Turns how a command ended into the exit code.
fn end(result: anyhow::Result<Outcome>, format: Format) -> ExitCode {
    match result {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Ok(Outcome::Differences) => ExitCode::from(2),
        Err(error) => {
            output::failure(&error, format);
            ExitCode::from(if error.is::<output::Usage>() { output::USAGE } else { 1 })
        }
    }
}
