//! CPU time and memory of one process and its children, as the kernel reports them to the waiting parent.
//!
//! In: a command. Out: its [`Usage`]. Invariants: the parent of each command is a process of this program that does
//! not start others. So the kernel's counts for the children of this parent are those of the command.

use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

use crate::common::Place;

/// Environment variable with the command, as a JSON list.
const COMMAND: &str = "CLOSC_HOSTILE_COMMAND";
/// Environment variable with the file for its standard input.
const STDIN: &str = "CLOSC_HOSTILE_STDIN";
/// Environment variable with the input file for a test of this program.
const INPUT: &str = "CLOSC_HOSTILE_INPUT";

/// Limits that protect the machine, far above those of the tests: KiB of address space and seconds of CPU time.
const GUARDS: &str = "ulimit -v 6291456 && ulimit -t 120 && exec \"$0\" \"$@\"";

/// Resources that a process used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// User and system CPU time.
    pub(crate) time: Duration,
    /// Peak resident memory of the process or one of its children.
    pub(crate) memory_kib: u64,
    /// Exit code, or the negated number of the signal that ended it.
    pub(crate) code: i32,
}

/// Runs a command in the folder of a place.
pub(crate) fn command(words: &[String], place: &Place, stdin: Option<&str>) -> Usage {
    let own = current_program();
    let mut measured = place.program("sh");
    measured
        .args(["-c", GUARDS])
        .arg(own)
        .args(["--exact", "surfaces::measure::measures_one_command", "--nocapture"])
        .env(COMMAND, serde_json::to_string(words).expect("words are JSON"))
        // Each arena of malloc uses address space, which is limited.
        .env("MALLOC_ARENA_MAX", "2")
        .env("PATH", path(place));
    if let Some(stdin) = stdin {
        measured.env(STDIN, place.path(stdin));
    }
    let output = measured.output().expect("there is a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.split_once("measured ")).map(|(_, rest)| rest);
    let numbers: Vec<i64> =
        line.into_iter().flat_map(str::split_whitespace).filter_map(|word| word.parse().ok()).collect();
    let [micros, memory, code] = numbers[..] else {
        panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr))
    };
    Usage {
        time: Duration::from_micros(micros.unsigned_abs()),
        memory_kib: memory.unsigned_abs(),
        code: i32::try_from(code).expect("codes are small"),
    }
}

/// Runs a test of this program in a separate process that reads the input.
pub(crate) fn library(test: &str, place: &Place, input: &[u8]) -> Usage {
    place.write("input", input);
    let words =
        ["sh", "-c", "INPUT=\"$1\"; export CLOSC_HOSTILE_INPUT=\"$INPUT\"; exec \"$0\" --exact \"$2\""];
    let mut words: Vec<String> = words.map(str::to_owned).to_vec();
    words.push(current_program().into_os_string().into_string().expect("text"));
    words.extend([place.text("input"), test.to_owned()]);
    command(&words, place, None)
}

/// The input for this process, if [`library`] started it.
pub(crate) fn input() -> Option<Vec<u8>> {
    Some(std::fs::read(std::env::var_os(INPUT)?).expect("it was written"))
}

fn current_program() -> PathBuf {
    std::env::current_exe().expect("a process has a program")
}

/// `PATH`, with the programs of the test before those of the machine.
fn path(place: &Place) -> String {
    format!("{}:{}", place.text("bin"), std::env::var("PATH").unwrap_or_default())
}

#[test]
fn measures_one_command() {
    let Ok(command) = std::env::var(COMMAND) else { return };
    let words: Vec<String> = serde_json::from_str(&command).expect("a list");
    let stdin = std::env::var_os(STDIN)
        .map_or_else(Stdio::null, |file| Stdio::from(File::open(file).expect("it was written")));
    let said = File::create("said").expect("the folder is ours");
    let status = Command::new(&words[0])
        .args(&words[1..])
        .env_remove(COMMAND)
        .stdin(stdin)
        .stdout(said.try_clone().expect("a file has many handles"))
        .stderr(said)
        .status()
        .expect("the command can be run");
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("a process knows its own usage");
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    let code = status.code().unwrap_or_else(|| -status.signal().unwrap_or_default());
    println!("\nmeasured {micros} {} {code}", usage.max_rss());
}
