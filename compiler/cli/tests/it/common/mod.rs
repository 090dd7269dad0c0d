//! Starts the `closc` that was just built, in a folder of its own per test.
//!
//! Invariants: the state of labs is in that folder, and labs that are still up are taken down when the folder is
//! dropped.
#![allow(dead_code, reason = "each test file uses a part")]

pub(crate) mod schemas;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Returns a fabric name that is unique among all tests and processes, because network namespaces are shared by the
/// machine.
pub(crate) fn fabric_name(prefix: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{prefix}{}x{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A fabric that every machine can run: two groups of two nodes, with 100 Gb/s per plane.
pub(crate) fn small_fabric(name: &str, planes: u8, platform: &str, os: &str) -> String {
    format!(
        "\
fabric: {name}
planes: {planes}
hosts: {{ groups: 2, per_group: 2, nic: {{ speed: {planes}00G, lanes: {planes} }} }}
tiers:
  t0: {{ platform: {platform}, os: {os}, up: 2 }}
  t1: {{ platform: {platform}, os: {os} }}
cables:
  nic-t0: {{ length: 1m, medium: virtual }}
  t0-t1: {{ length: 1m, medium: virtual }}
"
    )
}

/// A temporary folder with a link to `topologies`.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let topologies = root().join("topologies");
        std::os::unix::fs::symlink(topologies, folder.path().join("topologies")).expect("a link");
        Place { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The path as text, for arguments.
    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).into_os_string().into_string().expect("temporary folders have plain names")
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).expect("a file of the test can be written");
    }

    /// Writes a file that only its owner can read, as required for private keys.
    pub(crate) fn write_secret(&self, name: &str, bytes: impl AsRef<[u8]>) {
        self.write(name, bytes);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o600)).expect("the file is ours");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("the file is there")
    }

    /// Returns a command that runs in the folder.
    pub(crate) fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("CLOSC_RUNTIME", self.path("run/lab"));
        command
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_closc"));
        command.args(args);
        command
    }

    pub(crate) fn closc(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("closc runs")
    }

    /// Runs closc and expects an exit code; returns its output, or its messages if it failed.
    #[track_caller]
    pub(crate) fn ends(&self, code: i32, args: &[&str]) -> String {
        let output = self.closc(args);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{err}");
        schemas::compare_printed(args, &out);
        schemas::compare_said(args, &err);
        if [1, 64].contains(&code) { format!("{out}{err}") } else { out.into_owned() }
    }

    /// Like [`Place::ends`], but always returns the output.
    #[track_caller]
    pub(crate) fn ends_with_output(&self, code: i32, args: &[&str]) -> String {
        let output = self.closc(args);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{err}");
        schemas::compare_printed(args, &out);
        schemas::compare_said(args, &err);
        out.into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self, code: i32, args: &[&str]) -> serde_json::Value {
        let text = self.ends_with_output(code, &[args, &["--format", "json"]].concat());
        let document = serde_json::from_str(&text).expect("the result is JSON");
        schemas::compare(&document);
        document
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for entry in fs::read_dir(self.path("run/lab")).into_iter().flatten().flatten() {
            let file = PathBuf::from(entry.file_name());
            if let (Some(fabric), Some("json")) =
                (file.file_stem().and_then(|name| name.to_str()), file.extension().and_then(|e| e.to_str()))
            {
                drop(self.closc(&["lab", "down", fabric]));
            }
        }
    }
}

/// The number of processes that a test kills: `CLOSC_KILLS`, or a sample that takes a few seconds.
pub(crate) fn kills(sample: u64) -> u64 {
    std::env::var("CLOSC_KILLS").map_or(sample, |kills| kills.parse().expect("a number of kills"))
}

/// Returns a time after the start of a process, different for each kill. The maximum is slightly more than
/// `complete`, the duration of a process that is not killed.
pub(crate) fn moment(kill: u64, complete: Duration) -> Duration {
    let max = u64::try_from(complete.as_micros()).expect("it is short") * 5 / 4 + 1;
    Duration::from_micros(kill * 7_919_993 % max)
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the tree is there")
}

/// Returns whether a program is in `PATH`.
pub(crate) fn has(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}
