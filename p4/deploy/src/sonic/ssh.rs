//! The system's `ssh`, with the user's own keys and known hosts.
//!
//! In: a script. Out: its output. Invariants: there are no prompts (`BatchMode`), and an unknown host is rejected. No
//! argument can be mistaken for an option. The size and duration of reads are limited.

use std::io::{Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use crate::inventory::is_wrong_ipv4;

/// Limit of the error output that is kept.
const ERRORS_MAX: u64 = 64 << 10;

/// The exit status of `ssh` if there was no connection, or if it broke.
const NO_CONNECTION: i32 = 255;

/// Exit statuses of closc's scripts if the switch is no longer in the state that was read. Another push is running, the
/// switch rolled a change back, or another party changed it. Reading again helps.
const MOVED: [i32; 3] = [75, 76, 77];

/// Time to wait for output after the end of `ssh`: one of its children may keep the pipe open forever.
const AFTER_END: Duration = Duration::from_secs(2);

/// The command that reads a script on a switch with a shell.
const SHELL: &str = "sudo -n sh -s";

/// Lines of error output shown in a message.
const SHOWN: usize = 6;

/// Connection parameters of a switch for `ssh`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ssh {
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
    pub(crate) user: Option<String>,
}

/// Connection to a switch.
#[derive(Clone)]
pub(crate) struct SshLink {
    pub(crate) ssh: Ssh,
    /// The folder on the switch for unconfirmed changes.
    pub(crate) state: String,
    /// The folder on the switch that its `bgp` container mounts as `/etc/frr`.
    pub(crate) frr: String,
}

/// A script that failed.
pub(crate) struct ScriptFailure {
    pub(crate) reason: String,
    /// The exit status of the script, if it has one.
    pub(crate) code: Option<i32>,
    pub(crate) is_transient: bool,
}

/// Returns whether text consists only of a host name or address.
pub(crate) fn is_host(text: &str) -> bool {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || ".:-_%".contains(sign);
    let is_plain = !text.is_empty() && text.len() <= 253 && !text.starts_with('-') && text.chars().all(sign);
    is_plain && !is_wrong_ipv4(text)
}

/// Returns whether text consists only of a user name.
pub(crate) fn is_user(text: &str) -> bool {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || "._-".contains(sign);
    !text.is_empty() && text.len() <= 64 && !text.starts_with('-') && text.chars().all(sign)
}

/// Returns whether text is an absolute path without special characters of a shell.
pub(crate) fn is_state(text: &str) -> bool {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || "._-/".contains(sign);
    text.len() > 1 && text.starts_with('/') && text.chars().all(sign) && !text.contains("..")
}

impl Ssh {
    fn command(&self, shell: Option<&str>, config: Option<&str>) -> Command {
        let mut command = Command::new("ssh");
        if let Some(config) = config {
            command.arg("-F").arg(config);
        }
        command.args([
            "-T",
            "-o",
            "BatchMode=yes",
            "-o",
            "StrictHostKeyChecking=yes",
            "-o",
            "ConnectTimeout=10",
        ]);
        // A switch that loses its management address no longer answers.
        command.args(["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=6"]);
        if let Some(port) = self.port {
            command.args(["-p", &port.to_string()]);
        }
        if let Some(user) = &self.user {
            command.args(["-l", user]);
        }
        // Arguments after `--` are not options; the command is the same text for every switch.
        command.args(["--", &self.host]).args(shell);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a script on the switch, within limits of time and output bytes.
    pub(crate) fn run(
        &self,
        config: Option<&str>,
        script: &str,
        bounds: (Duration, usize),
    ) -> Result<String, ScriptFailure> {
        self.run_in(Some(SHELL), config, script, bounds)
    }

    /// Runs a script with the command that reads it, or else with the login shell of the switch. The run is
    /// limited to `limit`, and its output to `bytes_max` bytes.
    pub(crate) fn run_in(
        &self,
        shell: Option<&str>,
        config: Option<&str>,
        script: &str,
        (limit, bytes_max): (Duration, usize),
    ) -> Result<String, ScriptFailure> {
        let fault = |reason: String| ScriptFailure { reason, code: None, is_transient: false };
        let cannot = |error: std::io::Error| fault(format!("`ssh` cannot be run: {error}"));
        let mut child = self.command(shell, config).spawn().map_err(cannot)?;
        let (output, errors) =
            (reader(child.stdout.take(), bytes_max as u64), reader(child.stderr.take(), ERRORS_MAX));
        if let Some(mut input) = child.stdin.take() {
            let script = script.to_owned();
            // If the switch stops reading, its exit status shows it.
            spawn(move || input.write_all(script.as_bytes()).ok());
        }
        let status = wait(&mut child, limit).map_err(cannot)?;
        match status {
            Some(status) if status.success() => match output.recv_timeout(AFTER_END) {
                Ok(Ok(output)) => Ok(String::from_utf8_lossy(&output).into_owned()),
                Ok(Err(error)) => Err(fault(format!("the output of the switch {error}"))),
                Err(_) => Err(fault("`ssh` ended, but another process keeps its output open".to_owned())),
            },
            Some(status) => Err(ScriptFailure {
                reason: last(&text(&errors)).unwrap_or_else(|| format!("`ssh` ended with {status}")),
                code: status.code(),
                is_transient: status
                    .code()
                    .is_some_and(|code| code == NO_CONNECTION || MOVED.contains(&code)),
            }),
            None => Err(ScriptFailure {
                reason: format!("timed out after {} s", limit.as_secs()),
                code: None,
                is_transient: true,
            }),
        }
    }
}

/// Waits for the end of a process, or kills it after the limit.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<std::process::ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        sleep(Duration::from_millis(10));
    }
}

/// Reads in a thread, so that a full pipe does not block the other one.
fn reader(from: Option<impl Read + Send + 'static>, max: u64) -> Receiver<std::io::Result<Vec<u8>>> {
    let (read, bytes) = channel();
    spawn(move || read.send(from.map_or(Ok(Vec::new()), |from| closc_budget::read(from, max))));
    bytes
}

/// Returns the error output, or an empty text if it is still open after 2 s.
fn text(errors: &Receiver<std::io::Result<Vec<u8>>>) -> String {
    let read = errors.recv_timeout(AFTER_END).ok().and_then(Result::ok).unwrap_or_default();
    String::from_utf8_lossy(&read).into_owned()
}

/// Returns the last lines of error output, which contain the cause.
fn last(errors: &str) -> Option<String> {
    let lines: Vec<&str> = errors.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(SHOWN);
    (!lines.is_empty()).then(|| lines[from..].join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output beyond the limit is an error, and a process that outlives `ssh` is not waited for.
    #[test]
    fn what_is_printed_is_bounded_and_what_holds_the_pipe_is_not_waited_for() {
        let error =
            reader(Some(std::io::repeat(b'x')), 1 << 20).recv().expect("it ends").expect_err("endless");
        assert_eq!(error.to_string(), "is larger than 1 MiB");
        let mut child = Command::new("sh")
            .args(["-c", "sleep 1000 & echo $!; exit 1"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let mut output = child.stdout.take().expect("it is piped");
        let mut pid = [0; 16];
        let n = output.read(&mut pid).expect("it prints");
        let held = reader(Some(output), 1 << 20);
        assert!(wait(&mut child, Duration::from_mins(1)).expect("it ends").is_some());
        assert_eq!(text(&held), "");
        let pid = String::from_utf8_lossy(&pid[..n]).trim().to_owned();
        assert!(Command::new("kill").arg(pid).status().expect("there is `kill`").success());
    }

    #[test]
    fn no_name_becomes_an_option_or_a_command() {
        for good in ["p0-t0-001.mgmt.example", "192.0.2.1", "2001:db8::1", "fe80::1%eth0"] {
            assert!(is_host(good), "{good}");
        }
        for bad in ["", "-oProxyCommand=id", "a b", "a;b", "a`b`", "$(id)", "user@host", "a/b", "a\nb"] {
            assert!(!is_host(bad), "{bad:?}");
        }
        assert!(is_user("admin") && !is_user("-l") && !is_user("a b"));
        assert!(
            is_state("/etc/sonic/closc") && !is_state("/etc/../x") && !is_state("/a b") && !is_state("a")
        );
    }

    #[test]
    fn ssh_never_prompts_and_checks_host_keys() {
        let ssh = Ssh { host: "a".to_owned(), port: Some(22), user: Some("admin".to_owned()) };
        let command = ssh.command(Some(SHELL), None);
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        for word in ["BatchMode=yes", "StrictHostKeyChecking=yes"] {
            assert!(words.iter().any(|found| found == word), "{words:?}");
        }
        assert_eq!(words[words.len() - 3..], ["--", "a", "sudo -n sh -s"]);
    }
}
