//! A reference in Markdown, with a section for each command and subcommand at every level.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};

use crate::{EXIT_CODES, build, closing_paragraphs, full_name, is_omitted, visible_commands};

/// Generates the reference of a command line, without a page heading.
pub fn reference(command: Command) -> String {
    let command = build(command);
    let mut text = String::new();
    section(&command, true, &mut text);
    text
}

fn section(command: &Command, is_top: bool, text: &mut String) {
    let name = full_name(command);
    let _ = writeln!(text, "## {name}\n");
    let about = command.get_long_about().or_else(|| command.get_about());
    if let Some(about) = about {
        let _ = writeln!(text, "{}.\n", escape(about.to_string().trim_end_matches('.')));
    }
    let _ = writeln!(text, "```text\n{}\n```\n", usage(command));
    let (positional, options): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(|arg| !is_omitted(arg, is_top)).partition(|arg| arg.is_positional());
    table("argument", &positional, text);
    table("option", &options, text);
    let (notes, exits) = closing_paragraphs(command);
    for note in notes {
        if note.lines().any(|line| line.starts_with(' ')) {
            let _ = writeln!(text, "```text\n{note}\n```\n");
        } else {
            let _ = writeln!(text, "{}\n", escape(&note));
        }
    }
    for exit in exits {
        let _ = writeln!(text, "Exit codes: {}.\n", escape(exit.trim_start_matches(EXIT_CODES)));
    }
    commands(command, text);
    for sub in visible_commands(command) {
        section(sub, false, text);
    }
}

fn commands(command: &Command, text: &mut String) {
    if visible_commands(command).next().is_none() {
        return;
    }
    text.push_str("| command | |\n|---|---|\n");
    for sub in visible_commands(command) {
        let name = full_name(sub);
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "| [{name}](#{}) | {} |", name.replace(' ', "-"), cell(&about));
    }
    text.push('\n');
}

/// Returns the usage line, which contains required options and arguments.
fn usage(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    usage.trim_start_matches("Usage:").trim().to_owned()
}

fn table(heading: &str, args: &[&Arg], text: &mut String) {
    if args.is_empty() {
        return;
    }
    let _ = writeln!(text, "| {heading} | |\n|---|---|");
    for arg in args {
        let _ = writeln!(text, "| {} | {} |", syntax(arg), cell(&meaning(arg)));
    }
    text.push('\n');
}

/// Returns the syntax of an argument, such as `-o`, `--out <DIR>`.
fn syntax(arg: &Arg) -> String {
    let names: Vec<String> =
        arg.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>")).collect();
    let takes = arg.get_num_args().is_none_or(|range| range.takes_values()) && takes_value(arg);
    let value = if names.is_empty() {
        format!("<{}>", arg.get_id().as_str().to_uppercase())
    } else {
        names.join(" ")
    };
    let many = if arg.get_num_args().is_some_and(|range| range.max_values() > names.len().max(1)) {
        "..."
    } else {
        ""
    };
    if arg.is_positional() {
        return format!("`{value}{many}`");
    }
    let value = if takes { format!(" {value}{many}") } else { String::new() };
    let short = arg.get_short().map(|short| format!("`-{short}`"));
    let long = arg.get_long().map(|long| format!("`--{long}{value}`"));
    short.into_iter().chain(long).collect::<Vec<_>>().join(", ")
}

fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// Returns the help text of an argument, with its possible values, default and environment variable.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = help.trim_end_matches('.').to_owned();
    text.push('.');
    let possible = arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
    let values: Vec<String> = possible
        .filter(|_| takes_value(arg) && !arg.is_hide_possible_values_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !values.is_empty() {
        let _ = write!(text, " One of {}.", values.join(", "));
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if takes_value(arg) && !defaults.is_empty() && defaults != ["``"] && !arg.is_hide_default_value_set() {
        let _ = write!(text, " Default: {}.", defaults.join(", "));
    }
    if let Some(variable) = arg.get_env().filter(|_| !arg.is_hide_env_set()) {
        let _ = write!(text, " Variable: `{}`.", variable.to_string_lossy());
    }
    text
}

/// Returns text for a table cell: on one line, with `|` escaped.
fn cell(text: &str) -> String {
    escape(text).replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Escapes `*`, `_`, `<`, `[` and `]` outside code, so that they are not markup.
fn escape(text: &str) -> String {
    let mut is_code = false;
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '`' => is_code = !is_code,
            '*' | '_' | '<' | '[' | ']' if !is_code => out.push('\\'),
            _ => {}
        }
        out.push(sign);
    }
    out
}
