//! Finds every argument of every command that takes a number, and passes it absurd numbers.

use clap::{Arg, CommandFactory as _, Parser as _};

use crate::args::Args;

/// Absurd numbers, in any unit.
const NEVER: [&str; 9] = [
    "-1",
    "-0.5",
    "NaN",
    "inf",
    "-inf",
    "1e400",
    "18446744073709551616",
    "99999999999999999999999999",
    "1_0",
];
/// Numbers that are valid only for arguments that do not affect resources such as threads, stored rows or waiting
/// times.
const HUGE: [&str; 3] = ["9223372036854775807", "18446744073709551615", "1000000000000000"];
/// Arguments of up to 64 bits: seeds, the limit up to which all paths are walked, and the ids of P4Runtime.
const ANY: [&str; 4] = ["seed", "walk", "device_id", "election_id"];

/// An argument that takes a number, with the command that it belongs to.
struct Number {
    words: Vec<String>,
    command: clap::Command,
    arg: Arg,
}

/// Returns the commands with the words that invoke them.
fn commands(words: &[String], command: &clap::Command, found: &mut Vec<(Vec<String>, clap::Command)>) {
    found.push((words.to_vec(), command.clone()));
    for inner in command.get_subcommands() {
        commands(&[words, &[inner.get_name().to_owned()]].concat(), inner, found);
    }
}

/// Returns whether an argument rejects a value, independent of the rest of the command line.
fn is_rejected(words: &[String], arg: &Arg, value: &str) -> bool {
    let name = arg.get_long().expect("numbers have long names");
    let line = words.iter().cloned().chain([format!("--{name}={value}")]);
    let ended = Args::try_parse_from(line);
    ended.is_err_and(|error| {
        matches!(error.kind(), clap::error::ErrorKind::ValueValidation | clap::error::ErrorKind::InvalidValue)
    })
}

/// Returns the long options that take a number: those that accept `1` and reject `x`, except those of `closc
/// switch`.
fn numbers() -> Vec<Number> {
    let mut all = Vec::new();
    commands(&["closc".to_owned()], &Args::command(), &mut all);
    let mut found = Vec::new();
    for (words, command) in
        all.into_iter().filter(|(words, _)| words.get(1).is_none_or(|word| word != "switch"))
    {
        for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
            if arg.get_long().is_some() && !is_rejected(&words, arg, "1") && is_rejected(&words, arg, "x") {
                found.push(Number { words: words.clone(), command: command.clone(), arg: arg.clone() });
            }
        }
    }
    found
}

#[test]
fn no_number_is_unbounded() {
    let numbers = numbers();
    let names: Vec<&str> = numbers.iter().map(|number| number.arg.get_id().as_str()).collect();
    for known in
        ["jobs", "limit", "plane", "max_parallel", "timeout", "sample", "tolerance", "tp_bytes", "ev"]
    {
        assert!(names.contains(&known), "the walk misses `{known}`: {names:?}");
    }
    for Number { words, arg, .. } in &numbers {
        let name = arg.get_id().as_str();
        for value in NEVER {
            assert!(is_rejected(words, arg, value), "{words:?} --{name}={value}");
        }
        for value in HUGE.iter().filter(|_| !ANY.contains(&name) && !name.ends_with("_bytes")) {
            assert!(is_rejected(words, arg, value), "{words:?} --{name}={value}");
        }
    }
}

/// If an argument accepts 0, its help explains the meaning of 0.
#[test]
fn nothing_is_a_number_only_where_it_means_something() {
    for Number { words, command, arg } in numbers() {
        let name = arg.get_id().as_str();
        if is_rejected(&words, &arg, "0") || name == "seed" {
            continue;
        }
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains('0'), "`{} --{name}` takes 0: {help}", command.get_name());
    }
}
