//! Running `ip` and `tc`.
//!
//! Invariants: each command has its own process group, so Ctrl-C on the terminal reaches only the lab. The lab then
//! runs further commands to clean up.

use std::io::Write as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::LabError;

/// Number of attempts per line of a batch while the kernel lacks memory for a counter.
const PATIENCE: usize = 200;

/// Runs lines of `ip` commands in the namespace of the calling thread.
///
/// The kernel allocates counters and caches of routes from a reserve that it refills in the background. If a batch is
/// faster, the kernel returns an error. The batch then waits briefly and continues at the same line.
pub(crate) fn ip_batch(lines: &str, device: &str) -> Result<(), LabError> {
    let mut rest: Vec<&str> = lines.lines().collect();
    let mut tries = 0;
    while tries < PATIENCE {
        let output = ip(&["-batch", "-"], &rest.join("\n"), device)?;
        if output.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        let failed = failed_line(&message).unwrap_or(1);
        if !message.contains("Cannot allocate memory") {
            return Err(command_error(rest.get(failed - 1).unwrap_or(&"ip -batch"), device, &message));
        }
        tries = if failed > 1 { 0 } else { tries + 1 };
        sleep(Duration::from_millis(5));
        rest.drain(..(failed - 1).min(rest.len()));
    }
    Err(command_error(rest.first().unwrap_or(&"ip -batch"), device, "the kernel is out of memory"))
}

/// Runs lines that create devices. Existing devices are not an error.
pub(super) fn ip_batch_make(lines: &str, device: &str) -> Result<(), LabError> {
    let output = ip(&["-force", "-batch", "-"], lines, device)?;
    let message = String::from_utf8_lossy(&output.stderr);
    let harmless = |line: &str| line.contains("File exists") || line.starts_with("Command failed");
    if output.status.success() || (!message.is_empty() && message.lines().all(harmless)) {
        return Ok(());
    }
    Err(command_error("ip -force -batch", device, &message))
}

/// Runs lines of `tc` commands in the namespace of the calling thread.
pub(super) fn tc_batch(lines: &str, device: &str) -> Result<(), LabError> {
    let output = run("tc", &["-batch", "-"], lines, device)?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let line = failed_line(&message).and_then(|at| lines.lines().nth(at - 1));
    Err(command_error(line.unwrap_or("tc -batch"), device, &message))
}

/// Runs `ip` in the namespace of the calling thread and returns what it prints.
pub(super) fn ip_output(arguments: &[&str], device: &str) -> Result<String, LabError> {
    let output = ip(arguments, "", device)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(command_error(
        &format!("ip {}", arguments.join(" ")),
        device,
        &String::from_utf8_lossy(&output.stderr),
    ))
}

fn ip(arguments: &[&str], input: &str, device: &str) -> Result<Output, LabError> {
    run("ip", arguments, input, device)
}

/// Runs a program with the given standard input.
///
/// A signal from the terminal may end a command before it has its own process group. The command has not done
/// anything by then, so it is started again. The lab handles the signal itself.
fn run(program: &str, arguments: &[&str], input: &str, device: &str) -> Result<Output, LabError> {
    loop {
        let output = run_once(program, arguments, input, device)?;
        let by = output.status.signal().and_then(|signal| Signal::try_from(signal).ok());
        if !matches!(by, Some(Signal::SIGINT | Signal::SIGTERM | Signal::SIGHUP)) {
            return Ok(output);
        }
    }
}

fn run_once(program: &str, arguments: &[&str], input: &str, device: &str) -> Result<Output, LabError> {
    let what = || format!("run `{program} {}` for `{device}`", arguments.join(" "));
    let mut child = Command::new(program)
        .args(arguments)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(LabError::io(what()))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that fails early closes its input; its own message is more useful than the broken pipe.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output().map_err(LabError::io(what()))
}

/// Parses the line number in `Command failed -:17`.
fn failed_line(message: &str) -> Option<usize> {
    let line = message.lines().rev().find(|line| line.starts_with("Command failed"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

fn command_error(command: &str, device: &str, message: &str) -> LabError {
    LabError::Command {
        command: command.to_owned(),
        device: device.to_owned(),
        message: message.trim().replace('\n', "; "),
    }
}

/// Returns the output of `ip -V`.
pub(super) fn version() -> Result<String, std::io::Error> {
    let output = Command::new("ip").arg("-V").stdin(Stdio::null()).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_failed_is_read() {
        assert_eq!(
            failed_line("RTNETLINK answers: Cannot allocate memory\nCommand failed -:168\n"),
            Some(168)
        );
        assert_eq!(failed_line("Object \"foo\" is unknown"), None);
    }
}
