//! The system's `ssh`, with the user's own keys and known hosts.
//!
//! In: a script. Out: what it printed. Invariants: nobody is asked for anything (`BatchMode`), an unknown host is refused,
//! no argument can be taken for an option, what is read and how long it takes is bounded.

use std::io::{Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

/// The most bytes that a switch may print.
const OUTPUT_MAX: u64 = 64 << 20;

/// The most bytes of its complaints that are kept.
const ERRORS_MAX: u64 = 64 << 10;

/// The status with which `ssh` says that there was no connection, or that it broke.
const NO_CONNECTION: i32 = 255;

/// The statuses with which our own scripts say that the switch is not as it was read: another push is at work, it took a
/// change back, or somebody else changed it. Reading again helps.
const MOVED: [i32; 3] = [75, 76, 77];

/// Lines of complaints that a message shows.
const SHOWN: usize = 6;

/// A switch as `ssh` reaches it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ssh {
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
    pub(crate) user: Option<String>,
}

/// A script that did not run to its end.
pub(crate) struct Failed {
    pub(crate) reason: String,
    pub(crate) is_transient: bool,
}

/// Says whether text is a host name or address and nothing else.
pub(crate) fn is_host(text: &str) -> bool {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || ".:-_%".contains(sign);
    !text.is_empty() && text.len() <= 253 && !text.starts_with('-') && text.chars().all(sign)
}

/// Says whether text is the name of a user and nothing else.
pub(crate) fn is_user(text: &str) -> bool {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || "._-".contains(sign);
    !text.is_empty() && text.len() <= 64 && !text.starts_with('-') && text.chars().all(sign)
}

/// Says whether text is an absolute path that a shell takes as it is.
pub(crate) fn is_state(text: &str) -> bool {
    let sign = |sign: char| sign.is_ascii_alphanumeric() || "._-/".contains(sign);
    text.len() > 1 && text.starts_with('/') && text.chars().all(sign) && !text.contains("..")
}

impl Ssh {
    fn command(&self, config: Option<&str>) -> Command {
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
        // A switch that loses its management address says nothing any more.
        command.args(["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=6"]);
        if let Some(port) = self.port {
            command.args(["-p", &port.to_string()]);
        }
        if let Some(user) = &self.user {
            command.args(["-l", user]);
        }
        // What follows `--` is no option; the command is the same text for every switch.
        command.args(["--", &self.host, "sudo -n sh -s"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Has the switch run a script, for at most `limit`.
    pub(crate) fn run(&self, config: Option<&str>, script: &str, limit: Duration) -> Result<String, Failed> {
        let cannot = |error: std::io::Error| Failed {
            reason: format!("`ssh` cannot be run: {error}"),
            is_transient: false,
        };
        let mut child = self.command(config).spawn().map_err(cannot)?;
        let (output, errors) =
            (reader(child.stdout.take(), OUTPUT_MAX), reader(child.stderr.take(), ERRORS_MAX));
        if let Some(mut input) = child.stdin.take() {
            let script = script.to_owned();
            // A switch that does not read any more shows as its end.
            spawn(move || input.write_all(script.as_bytes()).ok());
        }
        let status = wait(&mut child, limit).map_err(cannot)?;
        let (output, errors) = (text(output), text(errors));
        match status {
            Some(status) if status.success() && output.len() as u64 >= OUTPUT_MAX => Err(Failed {
                reason: format!("the switch printed more than {OUTPUT_MAX} bytes"),
                is_transient: false,
            }),
            Some(status) if status.success() => Ok(output),
            Some(status) => Err(Failed {
                reason: last(&errors).unwrap_or_else(|| format!("`ssh` ended with {status}")),
                is_transient: status
                    .code()
                    .is_some_and(|code| code == NO_CONNECTION || MOVED.contains(&code)),
            }),
            None => Err(Failed { reason: format!("no end after {} s", limit.as_secs()), is_transient: true }),
        }
    }
}

/// Waits for the end of a process, or ends it.
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

fn reader(from: Option<impl Read + Send + 'static>, max: u64) -> JoinHandle<Vec<u8>> {
    spawn(move || {
        let mut bytes = Vec::new();
        if let Some(from) = from {
            // What broke off shows in the status.
            from.take(max).read_to_end(&mut bytes).ok();
        }
        bytes
    })
}

fn text(reader: JoinHandle<Vec<u8>>) -> String {
    String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned()
}

/// Returns the last lines of complaints, where the cause is.
fn last(errors: &str) -> Option<String> {
    let lines: Vec<&str> = errors.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(SHOWN);
    (!lines.is_empty()).then(|| lines[from..].join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn nobody_is_asked_and_no_host_is_taken_on_trust() {
        let ssh = Ssh { host: "a".to_owned(), port: Some(22), user: Some("admin".to_owned()) };
        let command = ssh.command(None);
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        for word in ["BatchMode=yes", "StrictHostKeyChecking=yes"] {
            assert!(words.iter().any(|found| found == word), "{words:?}");
        }
        assert_eq!(words[words.len() - 3..], ["--", "a", "sudo -n sh -s"]);
    }
}
