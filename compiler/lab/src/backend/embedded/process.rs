//! The process of embedded switches.
//!
//! Invariants: it is identified by the path of its socket on its command line. Process ids are not stored, so they
//! cannot refer to another process after a crash.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use camino::Utf8Path;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::wire::{Answer, Request};
use crate::LabError;

/// Maximum number and interval of checks that a process has ended.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(25);

/// Starts a program with the tree and the socket as last arguments, and waits until it is ready. Its standard error
/// goes to `log`.
pub(super) fn start(
    words: &[String],
    tree: &Utf8Path,
    socket: &Utf8Path,
    log: &Utf8Path,
) -> Result<(), LabError> {
    let Some((program, rest)) = words.split_first() else {
        return Err(LabError::Start {
            program: "the lab".to_owned(),
            message: "no program is named".to_owned(),
        });
    };
    let what = || format!("start `{program}`");
    let errors = File::create(log).map_err(LabError::io(format!("write `{log}`")))?;
    let mut child = Command::new(program)
        .args(rest)
        .args([tree.as_str(), socket.as_str()])
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()
        .map_err(LabError::io(what()))?;
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut line).map_err(LabError::io(what()))?;
    }
    if line.is_empty() {
        // The process has ended or is about to end.
        let _ = child.kill();
        let ended = child.wait().ok().and_then(|status| status.signal());
        // Ctrl-C may have reached the child before it had its own process group. This process has received the same
        // signal and stops too.
        if ended.is_some_and(|signal| [SIGINT, SIGTERM, SIGHUP].contains(&signal)) {
            return Err(LabError::Interrupted);
        }
        let message = fs::read_to_string(log).unwrap_or_default().trim().to_owned();
        return Err(LabError::Start { program: "the process of the lab".to_owned(), message });
    }
    // Reap the process, or it remains a zombie while this program runs.
    std::thread::spawn(move || child.wait());
    Ok(())
}

/// Returns whether a process listens on a socket.
pub(super) fn is_alive(socket: &Utf8Path) -> bool {
    UnixStream::connect(socket).is_ok()
}

/// Stops the process that serves a socket; returns whether there was one.
pub(super) fn end(socket: &Utf8Path) -> Result<bool, LabError> {
    let asked = UnixStream::connect(socket).and_then(|mut stream| {
        stream.set_read_timeout(Some(PAUSE * TRIES))?;
        Request::Stop.write(&mut stream)?;
        Answer::read(&mut stream)
    });
    let alive = asked.is_ok();
    for _ in 0..TRIES {
        if find_processes(&[socket.as_str()]).is_empty() && !is_alive(socket) {
            return Ok(alive);
        }
        if asked.is_err() {
            break;
        }
        sleep(PAUSE);
    }
    let found = find_processes(&[socket.as_str()]);
    for pid in &found {
        // The process may have just ended by itself.
        let _ = kill(*pid, Signal::SIGKILL);
    }
    for _ in 0..TRIES {
        if find_processes(&[socket.as_str()]).is_empty() {
            return Ok(alive || !found.is_empty());
        }
        sleep(PAUSE);
    }
    let message = format!("process {} does not end", found.first().map_or(0, |pid| pid.as_raw()));
    Err(LabError::Process(message))
}

/// Finds the processes that have one of these arguments on their command line.
pub(crate) fn find_processes<W: AsRef<[u8]>>(words: &[W]) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let own = std::process::id();
    let has = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|argument| words.iter().any(|word| argument == word.as_ref()))
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != own && has(pid))
        .map(|pid: u32| Pid::from_raw(pid.cast_signed()))
        .collect()
}
