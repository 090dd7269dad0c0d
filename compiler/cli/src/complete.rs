//! Shell completion: the shell asks this program for candidates for the word under the cursor.
//!
//! In: the words of the line, in the environment variable and arguments that the scripts of `closc completions` set.
//! Out: candidates with descriptions. Invariants: names are computed from the fabric file or tree on the line, or
//! from the only fabric file of the folder. Their number is limited. Files are never written, and an unreadable file
//! yields no candidates.

mod explain;
mod line;
mod names;
mod words;

use std::ffi::OsStr;
use std::process::ExitCode;

use clap::{Arg, ArgAction, Command, CommandFactory as _, ValueHint};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};
use clap_complete::env::{CompleteEnv, Shells};

use crate::args::Args;
use crate::output;
use line::Line;
use names::NameKind;

/// Variable that the scripts set to the name of their shell.
const VARIABLE: &str = "CLOSC_COMPLETE";

/// Answers a shell that asks for candidates; `None` if this is not such a call.
pub(crate) fn answer() -> Option<ExitCode> {
    let answered = CompleteEnv::with_factory(command)
        .var(VARIABLE)
        .completer("closc")
        .try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref());
    match answered {
        Ok(false) => None,
        Ok(true) => Some(ExitCode::SUCCESS),
        Err(error) => {
            output::say(format_args!("error: `{VARIABLE}`: {error}"));
            Some(ExitCode::from(output::USAGE))
        }
    }
}

/// Returns the script that enables completion in a shell.
pub(crate) fn script(shell: Shell) -> anyhow::Result<String> {
    let word = shell.to_string();
    let shells = Shells::builtins();
    let shell = shells.completer(&word).ok_or_else(|| anyhow::anyhow!("no completion for `{word}`"))?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "closc", "closc", "closc", &mut script)?;
    let mut script = String::from_utf8(script)?;
    if word == "zsh" {
        // As a file in `fpath`, the script is also the body of the function that zsh calls first, so it must also
        // handle that call.
        script
            .push_str("\nif [[ $funcstack[1] == _closc ]]; then _clap_dynamic_completer_closc \"$@\"; fi\n");
    }
    Ok(script)
}

/// Returns the definition of the command line, with a completer for each value.
fn command() -> Command {
    add_completers(Args::command(), "")
}

fn add_completers(command: Command, path: &str) -> Command {
    command.mut_args(|arg| fit(arg, path)).mut_subcommands(|sub| {
        let path = format!("{path} {}", sub.get_name());
        add_completers(sub, path.trim_start())
    })
}

/// Adds a completer to an argument, chosen by its meaning, otherwise by its value name.
fn fit(arg: Arg, path: &str) -> Arg {
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    if !takes_value || !arg.get_possible_values().is_empty() {
        return arg;
    }
    if let Some(completer) = by_meaning(path, arg.get_id().as_str()) {
        return arg.add(completer);
    }
    let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let name = name.unwrap_or_default();
    let is = |words: &[&str]| words.iter().any(|word| name.contains(word));
    // Reports of devices, `[DEVICE=]FILE|DIR`, can have any name.
    if arg.is_positional()
        && ["file", "files", "old", "new", "source"].contains(&arg.get_id().as_str())
        && !name.contains('|')
    {
        return arg.add(ArgValueCompleter::new(fabric_files()));
    }
    if name != "KEYS" && is(&["FILE", "PATH", "SOCKET", "PEM", "KEY", "PUB", "SUMMARY", "OLD"]) {
        return arg.value_hint(ValueHint::AnyPath);
    }
    if is(&["DIR", "TREE"]) || arg.get_id() == "tree" {
        return arg.value_hint(ValueHint::DirPath);
    }
    if is(&["PROGRAM", "COMMAND"]) {
        return arg.value_hint(ValueHint::ExecutablePath);
    }
    arg
}

/// Completes fabric files and folders.
fn fabric_files() -> PathCompleter {
    PathCompleter::any().filter(line::is_fabric_file).stdio()
}

/// Returns the completer of an argument whose values are names or keywords.
fn by_meaning(path: &str, id: &str) -> Option<ArgValueCompleter> {
    let names = |sort| Some(ArgValueCompleter::new(move |typed: &OsStr| of_fabric(typed, sort)));
    let words = |all: fn() -> Vec<CompletionCandidate>| {
        Some(ArgValueCompleter::new(move |typed: &OsStr| filter_by_prefix(all(), typed)))
    };
    match (path, id) {
        ("explain", "what") => Some(ArgValueCompleter::new(explain::Subject)),
        ("paths", "from" | "to") | ("export mrc", "to") => names(NameKind::Nic),
        ("export host" | "export mrc", "nodes") => names(NameKind::Node),
        ("export drawing", "name") => names(NameKind::SwitchOrPlane),
        ("lab cut", "cable") | ("lab miswire", "first" | "second") => names(NameKind::Cable),
        ("drain" | "undrain", "name") | ("paths", "avoid") => names(NameKind::Part),
        ("whatif" | "te", "fail") => names(NameKind::Failing),
        (_, "device") => names(NameKind::Switch),
        (_, "select") => Some(ArgValueCompleter::new(select)),
        ("whatif", "each" | "random") => words(words::kinds),
        ("platforms", "name") | ("init", "platform") => words(words::platforms),
        (_, "os") | ("platforms", "skeleton") => words(words::systems),
        (_, "routing") => words(words::routings),
        ("export tables", "only") => words(words::tables),
        ("export host", "only") => words(words::host_outputs),
        ("fix", "code") => words(words::codes),
        (_, "allow" | "deny") => words(words::warnings_and_all),
        (_, "warn") => words(words::warnings),
        _ => None,
    }
}

/// Completes names in the fabric on the command line.
fn of_fabric(typed: &OsStr, sort: NameKind) -> Vec<CompletionCandidate> {
    let (Some(typed), line) = (typed.to_str(), Line::from_environment()) else { return Vec::new() };
    match line.fabric() {
        Some(fabric) => names::of(&fabric, typed, sort).into_iter().map(CompletionCandidate::new).collect(),
        None if sort == NameKind::Switch => {
            let names = line.switches_of_tree();
            names::limit_names(names, typed).into_iter().map(CompletionCandidate::new).collect()
        }
        None => Vec::new(),
    }
}

/// Completes the last term of `--select`.
fn select(typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    let (before, term) = typed.split_at(typed.rfind(',').map_or(0, |comma| comma + 1));
    let found = match term.split_once('=') {
        None => filter_by_prefix(words::terms(), OsStr::new(term)),
        Some(("device", name)) => with_prefix("device=", of_fabric(OsStr::new(name), NameKind::Switch)),
        Some(("tier", name)) => with_prefix("tier=", filter_by_prefix(words::tiers(), OsStr::new(name))),
        Some(_) => Vec::new(),
    };
    with_prefix(before, found)
}

fn with_prefix(prefix: &str, found: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    found.into_iter().map(|candidate| candidate.add_prefix(prefix)).collect()
}

fn filter_by_prefix(mut all: Vec<CompletionCandidate>, typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    all.retain(|candidate| candidate.get_value().to_string_lossy().starts_with(&*typed));
    all
}

/// Completes fabric files whose paths begin with the typed text.
fn files(typed: &OsStr) -> Vec<CompletionCandidate> {
    fabric_files().complete(typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_accepts_the_command_line() {
        command().debug_assert();
    }

    /// Values that cannot be completed.
    const FREE: &[&str] = &[
        "N",
        "IMAGE",
        "SECONDS",
        "MS",
        "P",
        "PERCENT",
        "I/N",
        "MIB",
        "SEED",
        "BYTES",
        "MBPS",
        "ADDRESS",
        "ADDRESS:PORT",
        "ADDRESS[:PORT]",
        "PORT",
        "OS=PORT",
        "NAME=ADDRESS/BITS",
        "DOMAIN",
        "NAME",
        "NUMBER",
        "SPEED",
        "VERSION",
        "RELEASE",
        "URL",
        "PATTERN",
        "TRANSPORT",
        "FROM,TO",
        "OUTSTANDING",
        "UNIT",
        "PORT_MBPS",
        "PATIENCE",
        "ARGUMENTS",
        "NAME=IMAGE",
        "[TIER=]NAME",
        "KEYS",
        "DOCUMENT",
        "RUN",
        "DATE",
        "DIGEST",
        "LIMIT",
        "RATIO",
        "[USER@]HOST",
        "ID",
        "X",
        "LENGTH",
        "WATTS",
        "MODEL",
        "FILTER",
    ];

    /// Every value has a completer, or is in `FREE`.
    #[test]
    fn every_value_is_completed_or_known_to_be_free() {
        let mut left = Vec::new();
        walk(&command(), "", &mut |path, arg| {
            let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
            let name = name.unwrap_or_else(|| arg.get_id().to_string());
            let is_fitted = arg.get::<ArgValueCompleter>().is_some()
                || arg.get_value_hint() != ValueHint::Unknown
                || !arg.get_possible_values().is_empty();
            let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
            if takes_value && !is_fitted && !FREE.contains(&name.as_str()) {
                left.push(format!("{path}: {} <{name}>", arg.get_id()));
            }
        });
        assert!(
            left.is_empty(),
            "values that nothing completes (`fit` in complete.rs):\n{}",
            left.join("\n")
        );
    }

    fn walk(command: &Command, path: &str, each: &mut impl FnMut(&str, &Arg)) {
        command.get_arguments().for_each(|arg| each(path, arg));
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            walk(sub, &format!("{path} {}", sub.get_name()), each);
        }
    }
}
