//! Generates manual pages for `man` and a reference for a website from the text of `--help`.
//!
//! In: a [`clap::Command`]. Out: a troff page for the command and each of its subcommands, or one Markdown
//! page. Invariants: the output depends only on the command line, not on the date, the terminal width or the
//! environment. Commands and options hidden from `--help` are omitted in both forms.

mod markdown;
mod troff;

use clap::{Arg, Command};

pub use markdown::reference;
pub use troff::{Manual, Page};

/// Start of the paragraph about exit codes after the options.
const EXIT_CODES: &str = "Exit codes: ";

/// Builds the command without the subcommand `help`, so that each subcommand has its full name and inherited
/// options.
fn build(command: Command) -> Command {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    command
}

/// Returns the subcommands that `--help` lists.
fn visible_commands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set())
}

/// Returns the name of a command, including its parent commands: `closc lab up`.
fn full_name(command: &Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}

/// Returns the paragraphs after the options: first the notes, then the paragraphs about exit codes.
fn closing_paragraphs(command: &Command) -> (Vec<String>, Vec<String>) {
    let text = command.get_after_long_help().or_else(|| command.get_after_help());
    let text = text.map(ToString::to_string).unwrap_or_default();
    let (exits, notes) = text
        .split("\n\n")
        .filter(|paragraph| !paragraph.trim().is_empty())
        .map(str::to_owned)
        .partition::<Vec<_>, _>(|paragraph| paragraph.starts_with(EXIT_CODES));
    (notes, exits)
}

/// Returns whether an option is omitted here, because it is hidden or documented only for the top command.
fn is_omitted(arg: &Arg, is_top: bool) -> bool {
    let is_everywhere = arg.is_global_set() || ["help", "version"].contains(&arg.get_id().as_str());
    arg.is_hide_set() || (is_everywhere && !is_top)
}
