//! Options of `run` in a file, for a systemd unit or a container.
//!
//! In: the command line, a file of lines `OPTION=VALUE`. Out: a command line with both. Invariants: options on the
//! command line take precedence. An unknown option is rejected with its line. An empty value means that the option is
//! not set.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{ArgAction, Command};

/// The option that names the file.
const OPTION: &str = "--settings";
/// Maximum size of the file in bytes.
const BYTES_MAX: u64 = 1 << 20;

/// Adds the options of the `--settings` file to a command line, if it names one.
pub(crate) fn with_file(command: &Command, mut words: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let Some(run) = words.iter().position(|word| word == "run") else { return Ok(words) };
    let Some(file) = settings_path(&words[run..]) else { return Ok(words) };
    let shown = file.to_string_lossy().into_owned();
    let bytes = closc_nic::io::run::read_text(Path::new(&file), BYTES_MAX);
    let text = bytes.map_err(|error| format!("`{shown}`: {error}"))?;
    let run_command = command.find_subcommand("run").ok_or("there is no `run`")?;
    for (number, line) in text.lines().enumerate() {
        let option =
            option(run_command, line).map_err(|why| format!("`{shown}` line {}: {why}", number + 1))?;
        let Some((name, value)) = option else { continue };
        if !words[run..].iter().any(|word| is(word, &name)) {
            words.push(name.into());
            words.extend(value.map(OsString::from));
        }
    }
    Ok(words)
}

/// Returns the file given as `--settings FILE` or `--settings=FILE`.
fn settings_path(words: &[OsString]) -> Option<OsString> {
    let at = words.iter().position(|word| is(word, OPTION))?;
    let joined = words[at].to_str().and_then(|word| word.split_once('='));
    joined.map(|(_, file)| file.into()).or_else(|| words.get(at + 1).cloned())
}

/// Returns whether an argument is an option, with or without `=VALUE`.
fn is(word: &OsStr, option: &str) -> bool {
    let rest = word.to_str().and_then(|word| word.strip_prefix(option));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Parses a line into an option and its value; `None` if the line does not set one.
fn option(run: &Command, line: &str) -> Result<Option<(String, Option<String>)>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with(['#', ';']) {
        return Ok(None);
    }
    let (name, value) = line.split_once('=').ok_or_else(|| format!("`{line}` is not OPTION=VALUE"))?;
    let name = name.trim().to_lowercase().replace('_', "-");
    let value = value.trim();
    let quoted = |mark: char| value.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
    let is_it = |arg: &&clap::Arg| arg.get_long() == Some(&name) && name != "settings";
    let arg = run.get_arguments().find(is_it).ok_or_else(|| format!("`run` has no option `--{name}`"))?;
    if value.is_empty() {
        return Ok(None);
    }
    let option = format!("--{name}");
    if !matches!(arg.get_action(), ArgAction::SetTrue) {
        return Ok(Some((option, Some(value.to_owned()))));
    }
    match value {
        "yes" | "true" | "1" => Ok(Some((option, None))),
        "no" | "false" | "0" => Ok(None),
        other => Err(format!("`{other}` is not a valid value; expected yes or no")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::Cli;

    fn expand_args(given: &[&str], text: &str) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("nic0.env");
        std::fs::write(&file, text).unwrap();
        let given = given.iter().map(|word| word.replace("FILE", file.to_str().unwrap()).into()).collect();
        let made = with_file(&Cli::command(), given)?;
        Ok(made.iter().map(|word| word.to_str().unwrap().replace(file.to_str().unwrap(), "FILE")).collect())
    }

    #[test]
    fn a_file_adds_what_the_command_line_does_not_say() {
        let text = "# of a node\n\nTABLE=/etc/closc/t.bin\nNIC=\"fd00::1\"\nDSCP_DATA=10\nXDP=yes\nTIED=no\nPORTS=\n";
        let given = ["closc-nic", "--socket", "s", "run", "--settings", "FILE", "--dscp-data=8"];
        let made = expand_args(&given, text).unwrap();
        assert_eq!(made[..given.len()], given);
        assert_eq!(made[given.len()..], ["--table", "/etc/closc/t.bin", "--nic", "fd00::1", "--xdp"]);
        let joined = expand_args(&["closc-nic", "run", "--settings=FILE"], "WINDOW=64").unwrap();
        assert_eq!(joined[3..], ["--window", "64"]);
        assert_eq!(expand_args(&["closc-nic", "status"], "WINDOW=64").unwrap(), ["closc-nic", "status"]);
    }

    /// Options in the template of `closc export host` exist.
    #[test]
    fn every_line_of_the_template_is_an_option() {
        let template = include_str!("../../../templates/host/nic.env.j2");
        let cli = Cli::command();
        let run = cli.find_subcommand("run").unwrap();
        let is_line = |line: &&str| {
            line.contains('=') && line.trim_start_matches('#').starts_with(|c: char| c.is_ascii_uppercase())
        };
        let mut count = 0;
        for line in template.lines().filter(is_line) {
            let line = line.trim_start_matches('#').replace("{{ ports }}", "nic0p{plane}");
            assert!(option(run, &line).is_ok_and(|option| option.is_some()), "{line}");
            count += 1;
        }
        assert_eq!(count, 11);
    }

    #[test]
    fn what_is_no_option_is_refused_with_its_line() {
        let fault = |text: &str| expand_args(&["closc-nic", "run", "--settings", "FILE"], text).unwrap_err();
        let said = fault("NIC=fd00::1\nDSPC_DATA=3");
        assert!(said.ends_with("line 2: `run` has no option `--dspc-data`"), "{said}");
        assert!(fault("NIC").contains("is not OPTION=VALUE"));
        assert!(fault("XDP=perhaps").contains("expected yes or no"));
        assert!(fault("SETTINGS=other").contains("has no option"));
    }
}
