//! The list of commands in `--help`, by groups, and advice for commands of other tools.
//!
//! In: the command line's definition, or an unknown command. Out: the list; the command to use. Invariants: every
//! command is in exactly one group (a test compares).

use std::fmt::Write as _;

use clap::builder::Styles;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

/// Groups of commands.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Design", &["design", "place", "init", "import", "platforms", "fmt", "fix", "schema", "explain"]),
    ("Check", &["check", "diff", "whatif", "te", "paths"]),
    ("Build", &["compile", "verify", "merge", "export"]),
    ("Operate", &["push", "drift", "watch", "drain", "undrain", "grow", "cables", "collect", "audit"]),
    ("Lab", &["demo", "lab", "switch", "conformance"]),
    ("Shell", &["completions", "man", "lsp", "help"]),
];

/// Replaces the list of commands in the help with groups.
pub(super) fn group_commands(mut command: Command) -> Command {
    let style = *Styles::default().get_header();
    command.build();
    let mut list = String::new();
    for (group, verbs) in GROUPS {
        let _ = writeln!(list, "{style}{group}:{style:#}");
        for verb in verbs {
            let about = command.find_subcommand(verb).and_then(Command::get_about);
            let _ = writeln!(list, "  {verb:<11}  {}", about.map(ToString::to_string).unwrap_or_default());
        }
        list.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{style}Options:{style:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// Replaces the errors for `--json` and for commands of other tools with advice, and writes the limits of numbers in
/// words. Other errors are unchanged.
pub(super) fn add_advice(error: Error) -> Error {
    if let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg)
        && error.kind() == ErrorKind::UnknownArgument
        && flag == "--json"
    {
        return Error::raw(error.kind(), "unexpected argument `--json`: write `--format json`\n");
    }
    let line: Vec<String> = std::env::args().skip(1).collect();
    if let Some(answer) = unexpected_argument(&error, &line) {
        return Error::raw(error.kind(), format!("{answer}\n\nFor more information, try '--help'.\n"));
    }
    let Some(ContextValue::String(verb)) = error.get(ContextKind::InvalidSubcommand) else {
        return in_words(error);
    };
    let is_file = [".yaml", ".yml", ".json", ".csv", ".log"].iter().any(|end| verb.ends_with(end));
    match synonym(verb) {
        None if is_file => Error::raw(
            ErrorKind::InvalidSubcommand,
            format!("`{verb}` is not a command: write the command first\n\nFor a list, try `--help`\n"),
        ),
        Some(answer) => Error::raw(
            ErrorKind::InvalidSubcommand,
            format!("unknown command `{verb}`: {answer}\n\nFor a list, try `closc --help`\n"),
        ),
        None => error,
    }
}

/// Error messages of Rust's number parser, and their replacements.
const REASONS: [(&str, &str); 4] = [
    ("invalid digit found in string", "expected a whole number"),
    ("cannot parse integer from empty string", "expected a whole number"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
];

/// Commands (empty for all), options of other tools, and the text to suggest instead.
type ForeignOption = (&'static [&'static str], &'static [&'static str], &'static str);

const OF_OTHERS: [ForeignOption; 12] = [
    (
        &["compile"],
        &["--dry-run", "--check"],
        "`closc check` writes nothing, and `closc diff` shows what a change of the file changes",
    ),
    (&["compile"], &["--plane", "--planes"], "write `--select plane=0`"),
    (
        &["compile"],
        &["--device", "--devices", "--switch", "--host", "--limit"],
        "write `--select device=p0-t0-001`",
    ),
    (&["compile"], &["--target", "--os", "--vendor"], "set `os` of the tiers in the fabric file"),
    (&["fmt"], &["--diff"], "write `--check`"),
    (&["verify"], &["--fix"], "`verify` changes nothing: compile again"),
    (
        &["push"],
        &["--yes", "--assume-yes", "--auto-approve"],
        "omit it: `push` does not ask for confirmation",
    ),
    (&["push", "drift", "watch"], &["--limit", "--switch", "--host"], "write `--device p0-t0-001`"),
    (&["push"], &["--check", "--diff"], "write `--dry-run`"),
    (&["push", "drift", "watch"], &["--user", "--username", "--password"], "set `user` in the inventory"),
    (
        &["push"],
        &["--force"],
        "`--take-over` takes over from another controller, `--reload` reloads changed SONiC switches, and `--allow-older` permits an \
         older tree",
    ),
    (&[], &["--color", "--colour", "--no-color", "--no-colour"], "set `NO_COLOR=1` to turn colours off"),
];

/// Returns advice for an unknown argument, depending on the words of the command line.
fn unexpected_argument(error: &Error, line: &[String]) -> Option<String> {
    let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let verb = line.first().map(String::as_str).unwrap_or_default();
    let fits = |(verbs, options, _): &&ForeignOption| {
        (verbs.is_empty() || verbs.contains(&verb)) && options.contains(&found.as_str())
    };
    if let Some((_, _, answer)) = OF_OTHERS.iter().find(fits) {
        return Some(format!("unexpected argument `{found}`: {answer}"));
    }
    if error.get(ContextKind::SuggestedArg).is_some() {
        return None;
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let pair = |fits: &dyn Fn(&str, &str) -> bool| line.windows(2).find(|pair| fits(&pair[0], &pair[1]));
    if let Some([plane, number]) = pair(&|plane, number| plane == "plane" && is_number(number)) {
        return Some(format!("`{plane} {number}` is one name: write it in quotes, `\"{plane} {number}\"`"));
    }
    let is_negative = |text: &str| text.strip_prefix('-').is_some_and(is_number);
    if let Some([option, number]) = pair(&|option, number| option.starts_with("--") && is_negative(number)) {
        return Some(format!("invalid value `{number}` for `{option}`: expected a number without a sign"));
    }
    match (found.as_str(), verb) {
        ("--file" | "--fabric" | "--input" | "-f" | "-i", _) => {
            Some(format!("unexpected argument `{found}`: name the file without an option"))
        }
        ("--out" | "--output" | "-o", _) => Some(format!(
            "unexpected argument `{found}`: this command writes to standard output; write `> FILE`"
        )),
        (name, "drain" | "undrain") if !name.starts_with('-') => {
            Some(format!("unexpected argument `{name}`: `closc {verb}` takes one name, then the fabric file"))
        }
        // The parser's own help, to write `-- --option`, would be wrong, because arguments of closc do not begin with
        // `-`.
        (name, _) if name.starts_with('-') => {
            let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
            Some(format!("unexpected argument `{name}`\n\n{}", usage.trim_end()))
        }
        _ => None,
    }
}

/// Writes the limits of a number in words. The parser writes them as `1..=16`.
pub(crate) fn in_words(error: Error) -> Error {
    let text = error.to_string();
    if let Some((reason, words)) = REASONS.into_iter().find(|(reason, _)| text.contains(reason)) {
        let text = text.replace(reason, words);
        return Error::raw(error.kind(), text.strip_prefix("error: ").unwrap_or(&text));
    }
    let Some((before, limits)) = text.split_once(" is not in ") else { return error };
    let Some((limits, after)) = limits.split_once('\n') else { return error };
    let Some((least, most)) = limits.split_once("..=") else { return error };
    let before = before.strip_prefix("error: ").unwrap_or(before);
    Error::raw(error.kind(), format!("{before} is not a number from {least} to {most}\n{after}"))
}

/// Returns advice for a command name of another tool.
fn synonym(verb: &str) -> Option<&'static str> {
    Some(match verb {
        "plan" => {
            "`closc push --dry-run` shows what switches would receive, and `closc diff` what a file changes"
        }
        "apply" | "deploy" | "rollout" | "sync" => {
            "use `closc push`, or `closc push --dry-run` to see it first"
        }
        "rollback" | "revert" => {
            "`closc push` of the earlier tree restores it; an unconfirmed push rolls back by itself"
        }
        "graph" | "draw" | "plot" | "diagram" | "topology" | "svg" | "png" | "dot" | "drawing" => {
            "use `closc export drawing`"
        }
        "validate" | "lint" | "doctor" => {
            "use `closc check` for a fabric file, or `closc verify` for a compiled tree"
        }
        "prove" | "test" => "use `closc verify` for a compiled tree, or `closc lab test` for a running lab",
        "build" | "generate" | "gen" | "render" | "config" | "configure" => "use `closc compile`",
        "show" | "inspect" | "describe" | "get" => {
            "use `closc check FILE` for counts, `closc explain device FILE SWITCH` for a switch, or `closc platforms`"
        }
        "bom" | "bill" | "parts" => "`closc export cables` writes a bill, `bill.csv`",
        "cabling" | "lldp" => "use `closc cables check`, or `closc export cables` for lists",
        "new" | "create" => "use `closc init`, or `closc import` for an existing network",
        "format" => "use `closc fmt`",
        "autofix" | "repair" => "use `closc fix` for a fabric file, or `closc watch` for switches",
        "simulate" | "emulate" | "up" | "start" => {
            "use `closc lab up`, or `closc whatif` for failures without a lab"
        }
        "down" | "destroy" | "stop" => "use `closc lab down`",
        "status" => "use `closc drift` for switches, or `closc lab status` for labs",
        "monitor" => {
            "use `closc collect` for host agents, or `closc export telemetry` for Prometheus and gNMI"
        }
        "fail" | "failure" => "use `closc whatif`",
        "route" | "trace" | "traceroute" => "use `closc paths`",
        "scale" | "expand" | "extend" => "use `closc grow`, which lists the cables of a larger fabric",
        "maintenance" | "cordon" => "use `closc drain`",
        "uncordon" => "use `closc undrain`",
        "list" | "ls" => {
            "use `closc platforms` for hardware, `closc explain codes` for codes, or `closc lab status` for labs"
        }
        "ping" => "use `closc lab test` for a running lab, or `closc paths` for the paths between two NICs",
        "ansible" | "inventory" | "playbook" => "use `closc export ansible`, which writes an inventory",
        "ztp" | "provision" => "use `closc export ztp`",
        "clab" | "containerlab" => "use `closc export containerlab`",
        "netbox" => "`closc export cables` writes files for NetBox",
        "pdf" | "html" | "report" => "use `closc export report`, a page that a browser prints as PDF",
        "k8s" | "kubernetes" => "use `closc export kubernetes`",
        "slurm" | "kueue" | "scheduler" => "use `closc export scheduler`",
        "prometheus" | "gnmic" | "telemetry" => "use `closc export telemetry`",
        "completion" => "use `closc completions`",
        "version" => "use `closc --version`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Args;

    #[test]
    fn every_command_is_in_one_group() {
        let mut command = Args::command();
        command.build();
        let known: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        assert_eq!(listed.len(), known.len());
        assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), known);
    }

    #[test]
    fn synonyms_are_not_commands_and_name_commands() {
        let command = Args::command();
        for word in ["plan", "apply", "graph", "validate", "lint", "deploy", "show", "inspect", "bom"] {
            assert!(command.find_subcommand(word).is_none(), "{word}");
            let answer = synonym(word).expect("a synonym");
            for quoted in answer.split('`').skip(1).step_by(2).filter(|quoted| quoted.starts_with("closc ")) {
                let (mut at, mut depth) = (&command, 0);
                for verb in
                    quoted.split(' ').skip(1).take_while(|word| word.bytes().all(|b| b.is_ascii_lowercase()))
                {
                    at = match at.find_subcommand(verb) {
                        Some(found) => found,
                        None if depth == 0 => panic!("{word}: {quoted}"),
                        None => break,
                    };
                    depth += 1;
                }
            }
        }
    }
}
