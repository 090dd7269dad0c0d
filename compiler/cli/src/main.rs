//! The closc command: the only crate of the compiler with a terminal interface and exit codes.
//!
//! Results go to stdout, messages and progress to stderr. `docs/cli.md` specifies the exit codes: 0 success, 1 failure
//! or a violation, 2 differences, 64 invalid command line.

#![allow(unreachable_pub, reason = "a binary has no public API: `pub` marks items that other modules use")]

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

use std::io::Write as _;
use std::process::ExitCode;

use crate::args::Format;
use crate::output::Outcome;

fn main() -> ExitCode {
    if let Some(answered) = complete::answer() {
        return answered;
    }
    if let Some(arguments) = commands::switch::arguments() {
        return exit_code(commands::switch::run(arguments), Format::Human);
    }
    let args = match args::parse() {
        Ok(args) => args,
        Err(error) => return not_parsed(&error),
    };
    output::start_log(args.command.log(), args.verbose, args.quiet);
    let result = match &args.path_fault {
        Some(fault) => Err(anyhow::Error::msg(fault.clone())),
        None => commands::run(&args),
    };
    exit_code(result, args.format)
}

/// Prints the error of an invalid command line, or the output of `--help` and `--version`.
fn not_parsed(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // A closed pipe is not an error.
        let said = error.print().and_then(|()| std::io::stdout().flush());
        let is_lost = said.is_err_and(|error| error.kind() != std::io::ErrorKind::BrokenPipe);
        return ExitCode::from(u8::from(is_lost));
    }
    if args::asks_for_json(std::env::args_os()) {
        let said = error.render().to_string();
        let said = said.strip_prefix("error: ").unwrap_or(&said).trim_end().to_owned();
        output::failure(&anyhow::Error::msg(said), Format::Json);
    } else {
        // This fails only if the reader is gone.
        let _ = error.print();
    }
    ExitCode::from(output::USAGE)
}

/// Converts the outcome of a command to the exit code.
fn exit_code(result: anyhow::Result<Outcome>, format: Format) -> ExitCode {
    match result {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Ok(Outcome::Differences) => ExitCode::from(2),
        Err(error) => {
            output::failure(&error, format);
            let is_usage = error.is::<output::Usage>()
                || error.is::<output::OptionsError>()
                || error.is::<output::UnsupportedFormat>();
            ExitCode::from(if is_usage { output::USAGE } else { 1 })
        }
    }
}
