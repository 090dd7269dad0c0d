//! Manual pages and a reference from the definition of a command line: what `--help` says, for `man` and for a site.
//!
//! In: a [`clap::Command`]. Out: a page in troff for the command and each of its commands, or one page of Markdown.
//! Invariants: the same command line gives the same bytes: no date, no width of a terminal, no value of the environment;
//! what is hidden from `--help` is in neither.

mod markdown;
mod troff;

use clap::{Arg, Command};

pub use markdown::reference;
pub use troff::{Manual, Page};

/// Start of the paragraph on exit codes after the options.
const EXIT_CODES: &str = "Exit codes: ";

/// Builds the command, so that each subcommand has its full name and inherited options, and omits the subcommand
/// `help`.
fn built(command: Command) -> Command {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    command
}

/// The commands that `--help` lists.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set())
}

/// The name with those of the commands above it: `closc lab up`.
fn full_name(command: &Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}

/// Returns the text after the options: paragraphs on other subjects, and paragraphs on exit codes.
fn behind(command: &Command) -> (Vec<String>, Vec<String>) {
    let text = command.get_after_long_help().or_else(|| command.get_after_help());
    let text = text.map(ToString::to_string).unwrap_or_default();
    let (exits, notes) = text
        .split("\n\n")
        .filter(|paragraph| !paragraph.trim().is_empty())
        .map(str::to_owned)
        .partition::<Vec<_>, _>(|paragraph| paragraph.starts_with(EXIT_CODES));
    (notes, exits)
}

/// Returns whether an option is omitted here: it is hidden, or documented at the top command only.
fn is_said_above(arg: &Arg, is_top: bool) -> bool {
    let is_everywhere = arg.is_global_set() || ["help", "version"].contains(&arg.get_id().as_str());
    arg.is_hide_set() || (is_everywhere && !is_top)
}
