//! Runs a script on a single switch, independently of any push.
//!
//! In: an address and a script. Out: the output of the script. Invariants: a switch is reached only over
//! `ssh`; the answer is limited in time and size.

use std::time::Duration;

use crate::carrier::has_shell;
use crate::sonic::{Ssh, is_host, is_user, wrap_script};

/// A script for a switch.
#[derive(Debug, Clone, Copy)]
pub struct SwitchScript<'a> {
    /// The switch as `[USER@]HOST`, as `ssh` takes it.
    pub switch: &'a str,
    /// The keyword of its operating system.
    pub os: &'a str,
    /// Commands for a shell, or for the command line of the operating system.
    pub script: &'a str,
}

/// Runs a script on a switch, as root if it has a shell, and returns its output.
pub fn ask(
    &SwitchScript { switch, os, script }: &SwitchScript<'_>,
    ssh_config: Option<&str>,
    limit: Duration,
    bytes_max: usize,
) -> Result<String, String> {
    let (user, host) = match switch.split_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, switch),
    };
    if !is_host(host) || !user.is_none_or(is_user) {
        return Err(format!("`{switch}` is not `[USER@]HOST`"));
    }
    let ssh = Ssh { host: host.to_owned(), port: None, user: user.map(str::to_owned) };
    let done = if has_shell(os) {
        ssh.run(ssh_config, &wrap_script(script), (limit, bytes_max))
    } else {
        ssh.run_in(None, ssh_config, script, (limit, bytes_max))
    };
    done.map_err(|failed| failed.reason)
}
