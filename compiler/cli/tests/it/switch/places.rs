//! Every path that `closc` writes to, with every kind of damage: full disk, read-only disk, another owner, not a
//! regular file.
//!
//! In: commands that write, each with its paths, and kinds of damage. Out: the faults of each pair of path and
//! damage. Invariants: every run ends by itself, with success or with an error that names the path. Either the old or
//! the new content is complete. Files are never written through a link, and temporary files are removed. A few pairs
//! run in every test run; all of them run if [`ALL`] is set.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::stat::{Mode, SFlag, makedev, mknod};

use crate::common::Place;
use crate::switch::process::SwitchProcess;

/// Environment variable that enables all pairs.
const ALL: &str = "CLOSC_PLACES";

/// Without [`ALL`], one pair in this many is tested.
const EVERY: usize = 11;

/// Regression: pairs that failed once. They always run.
const WRONG_ONCE: [(&str, Damage); 4] = [
    ("at/tree", Damage::Pipe),
    ("at/tree.tar.zst", Damage::Full),
    ("at/fabric.yaml", Damage::Pipe),
    ("at/lab/two-planes-p4.lock", Damage::Device),
];

/// Time limit. A run that takes longer hangs, even on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// Content of the file that links point to.
const PRECIOUS: &[u8] = b"precious";

/// Owner of foreign files.
const OTHER: u32 = 65534;

/// Contents of a place after a successful run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One file, replaced.
    File,
    /// A folder that is replaced completely.
    Tree,
    /// A folder of files that are replaced one by one.
    Files,
    /// A file that is only appended to.
    Log,
    /// State that exists while a lab is up.
    Lab,
}

/// A command that writes. `X` stands for one of two inputs.
struct Verb {
    command_line: &'static str,
    form: Form,
    /// Paths that it writes or reads; the first is the output.
    places: &'static [&'static str],
}

const VERBS: &[Verb] = &[
    Verb {
        command_line: "compile X.yaml --force --quiet --out at/tree",
        form: Form::Tree,
        places: &["at/tree", "at/.tree.closc", "at/.tree.closc-new", "at/tree/manifest.json"],
    },
    Verb {
        command_line: "compile X.yaml --quiet --archive at/tree.tar.zst",
        form: Form::File,
        places: &["at/tree.tar.zst"],
    },
    Verb {
        command_line: "push X --inventory still.yaml --device p0-t0-001 --out at/plan.json",
        form: Form::File,
        places: &["at/plan.json"],
    },
    Verb {
        command_line: "push X --inventory moved.yaml --device p0-t0-001 --audit-log at/audit.jsonl",
        form: Form::Log,
        places: &["at/audit.jsonl"],
    },
    Verb {
        command_line: "watch X --inventory none.yaml --device p0-t0-001 --listen 127.0.0.1:0 --audit-log at/watch.jsonl",
        form: Form::Log,
        places: &["at/watch.jsonl"],
    },
    Verb {
        command_line: "diff X.yaml c.yaml --out at/diff.json",
        form: Form::File,
        places: &["at/diff.json"],
    },
    Verb {
        command_line: "te t.yaml --quiet --demand X.csv --out at/pins.json",
        form: Form::File,
        places: &["at/pins.json"],
    },
    Verb {
        command_line: "export host X.yaml su001-n001 --out at/x",
        form: Form::Files,
        places: &["at/x", "at/x/hosts", "at/x/hosts/su001-n001/netplan.yaml"],
    },
    Verb {
        command_line: "export kubernetes X.yaml --out at/k",
        form: Form::Files,
        places: &["at/k", "at/k/kubernetes"],
    },
    Verb {
        command_line: "export ranks X.yaml --dp 4 --out at/r",
        form: Form::Files,
        places: &["at/r", "at/r/ranks"],
    },
    Verb { command_line: "export mininet X.yaml --out at/net.py", form: Form::File, places: &["at/net.py"] },
    Verb {
        command_line: "drain plane.1 at/fabric.yaml --write",
        form: Form::File,
        places: &["at/fabric.yaml"],
    },
    Verb {
        command_line: "lab up X",
        form: Form::Lab,
        places: &[
            "at/lab",
            "at/lab/two-planes-p4.json",
            "at/lab/two-planes-p4.lock",
            "at/lab/two-planes-p4",
            "at/lab/two-planes-p4/control.sock",
        ],
    },
];

/// Kind of damage to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    /// The disk has no free space.
    Full,
    /// The disk has no free inodes.
    NoInodes,
    ReadOnly,
    /// All files belong to another user, and the command runs without root's file capabilities.
    Foreign,
    Pipe,
    Socket,
    Device,
    /// A folder where a file should be, and a file where a folder should be.
    OtherKind,
    LinkToFile,
    LinkToNothing,
    LinkToItself,
}

impl Damage {
    const ALL: [Damage; 11] = [
        Damage::Full,
        Damage::NoInodes,
        Damage::ReadOnly,
        Damage::Foreign,
        Damage::Pipe,
        Damage::Socket,
        Damage::Device,
        Damage::OtherKind,
        Damage::LinkToFile,
        Damage::LinkToNothing,
        Damage::LinkToItself,
    ];

    /// Returns whether the damage affects the complete folder, so that no file can be written.
    fn is_around(self) -> bool {
        matches!(self, Damage::Full | Damage::NoInodes | Damage::ReadOnly | Damage::Foreign)
    }
}

/// A small disk in memory, unmounted on drop.
struct Disk(PathBuf);

impl Disk {
    fn mount(folder: &Path) -> Result<Self, String> {
        fs::create_dir_all(folder).expect("a folder");
        let options = "size=6m,nr_inodes=1200,mode=755";
        mount(&["-t", "tmpfs", "-o", options, "tmpfs"], folder).map(|()| Disk(folder.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn mount(options: &[&str], folder: &Path) -> Result<(), String> {
    let output =
        Command::new("mount").args(options).arg(folder).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

/// Returns every regular file below a path, or the file itself, by path.
fn files(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        if meta.is_dir() {
            open.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        } else if meta.is_file() {
            found.insert(path.clone(), fs::read(&path).expect("a file"));
        }
    }
    found
}

/// Two inputs of every command, and switches to push to.
struct Site {
    place: Place,
    _switches: [SwitchProcess; 2],
}

impl Site {
    fn new() -> Self {
        let place = Place::new();
        let fabric = place.read("topologies/lab/two-planes-p4.yaml");
        let other =
            fabric.replace("qos: lossy-trim", "qos: { base: lossy-trim, classes: { data: { dscp: [22] } } }");
        assert_ne!(fabric, other);
        place.write("a.yaml", &fabric);
        place.write("b.yaml", &other);
        place.write("c.yaml", format!("{fabric}exceptions: {{ drained: [plane 1] }}\n"));
        place.write("t.yaml", place.read("topologies/lab/two-planes.yaml"));
        for (input, rate) in [("a", 100), ("b", 50)] {
            place.ends(0, &["compile", &format!("{input}.yaml"), "--out", input, "--quiet"]);
            place.write(
                &format!("{input}.csv"),
                format!("source,destination,gbps\nsu001-n001,su002-n001,{rate}\n"),
            );
        }
        let switches = [(); 2].map(|()| SwitchProcess::start(1, &[]));
        for (name, switch) in ["still", "moved"].into_iter().zip(&switches) {
            let device = format!("{{ endpoint: '{}', device_id: 1, plane: 0 }}", switch.address);
            place.write(&format!("{name}.yaml"), format!("devices: {{ p0-t0-001: {device} }}\n"));
        }
        place.write("none.yaml", "devices: { p0-t0-001: { endpoint: 'unix:absent.sock', device_id: 1 } }\n");
        Site { place, _switches: switches }
    }

    /// Returns a command on an input.
    fn command(&self, verb: &Verb, input: &str, weak: bool) -> Command {
        let words =
            verb.command_line.split(' ').map(|word| word.replace('X', input).replace("plane.1", "plane 1"));
        let closc = env!("CARGO_BIN_EXE_closc");
        let mut command = if weak {
            let mut command = self.place.program("setpriv");
            let caps = "-dac_override,-dac_read_search,-fowner,-chown";
            command.args(["--inh-caps=-all", &format!("--bounding-set={caps}"), closc]);
            command
        } else {
            self.place.program(closc)
        };
        command.args(words).env("CLOSC_RUNTIME", self.place.path("at/lab"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end; an error if it hangs.
    fn run(&self, verb: &Verb, input: &str, weak: bool) -> Result<Output, String> {
        let mut child = self.command(verb, input, weak).spawn().expect("it runs");
        let mut said = Vec::new();
        if verb.command_line.starts_with("watch") {
            said = stop_watch(&mut child);
        }
        let start = Instant::now();
        while child.try_wait().expect("it is ours").is_none() {
            if start.elapsed() > PATIENCE {
                child.kill().expect("it is ours");
                child.wait().expect("it is ours");
                return Err("it hangs".to_owned());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        said.extend(&output.stderr);
        Ok(Output { stderr: said, ..output })
    }
}

/// Stops `closc watch` after it reports that it is watching; returns its output so far.
fn stop_watch(child: &mut Child) -> Vec<u8> {
    let mut said = Vec::new();
    let mut errors = BufReader::new(child.stderr.as_mut().expect("it is piped"));
    while errors.read_until(b'\n', &mut said).expect("it is text") > 0 {
        if String::from_utf8_lossy(&said).contains("metrics at") {
            let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a number of a process"));
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("it is ours");
            break;
        }
    }
    said
}

/// Replaces a path with something that is not a regular file, or damages its folder.
fn damage(site: &Site, damage: Damage, place: &Path, verb: &Verb) {
    let at = site.place.path("at");
    match damage {
        Damage::Full => {
            let mut filler = fs::File::create(at.join("filler")).expect("there is room for a name");
            while filler.write_all(&[0; 4096]).is_ok() {}
            // Fill the last page.
            while filler.write_all(&[0]).is_ok() {}
        }
        Damage::NoInodes => {
            for number in 0.. {
                if fs::File::create(at.join(format!("filler-{number}"))).is_err() {
                    break;
                }
            }
        }
        Damage::ReadOnly => mount(&["-o", "remount,ro"], &at).expect("it is ours"),
        Damage::Foreign => {
            let owner = format!("{OTHER}:{OTHER}");
            let chown = Command::new("chown").arg("-R").arg(owner).arg(&at).status();
            assert!(chown.expect("every system has `chown`").success());
        }
        _ => {
            let was_folder =
                place.is_dir() || (verb.form != Form::File && place == site.place.path(verb.places[0]));
            let removed = if place.is_dir() { fs::remove_dir_all(place) } else { fs::remove_file(place) };
            // The path may not exist, or was removed with its folder.
            drop(removed);
            fs::create_dir_all(place.parent().expect("it is in a folder")).expect("a folder");
            let precious = site.place.path("precious");
            match damage {
                Damage::Pipe => nix::unistd::mkfifo(place, Mode::S_IRWXU).expect("a pipe"),
                Damage::Socket => drop(UnixListener::bind(place).expect("a short path")),
                Damage::Device => {
                    mknod(place, SFlag::S_IFCHR, Mode::S_IRWXU, makedev(1, 7)).expect("root makes devices");
                }
                Damage::OtherKind if was_folder => fs::write(place, PRECIOUS).expect("a file"),
                Damage::OtherKind => fs::create_dir(place).expect("a folder"),
                Damage::LinkToFile => symlink(precious, place).expect("a link"),
                Damage::LinkToNothing => symlink(site.place.path("nothing"), place).expect("a link"),
                _ => symlink(place, place).expect("a link"),
            }
        }
    }
}

/// The content before the run, and after a successful one.
struct ExpectedContents {
    old: BTreeMap<PathBuf, Vec<u8>>,
    new: BTreeMap<PathBuf, Vec<u8>>,
}

/// Checks the files after a run; an error describes the fault.
fn judge(
    site: &Site,
    verb: &Verb,
    kind: Damage,
    place: &Path,
    known: &ExpectedContents,
    output: &Output,
) -> Result<(), String> {
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let code = output.status.code().ok_or_else(|| format!("it was ended: {said}"))?;
    // An existing log does not need a new inode.
    let fits = verb.form == Form::Log && kind == Damage::NoInodes;
    if kind.is_around() && !fits && code != 1 {
        return Err(format!("it ends with {code}: {said}"));
    }
    if code == 1 && !(said.contains("error") && said.contains("at/")) {
        return Err(format!("the place is not named: {said}"));
    }
    if !matches!(code, 0..=2) {
        return Err(format!("it ends with {code}: {said}"));
    }
    if fs::read(site.place.path("precious")).expect("it is there") != PRECIOUS
        || site.place.path("nothing").exists()
    {
        return Err("it wrote through a link".to_owned());
    }
    let meta = fs::symlink_metadata(place);
    if meta.as_ref().is_ok_and(|meta| meta.file_type().is_char_device()) && code != 1 {
        return Err(format!("it wrote into a device: {said}"));
    }
    let now = files(&site.place.path(verb.places[0]));
    let among =
        |all: &BTreeMap<PathBuf, Vec<u8>>| now.iter().all(|(path, bytes)| all.get(path) == Some(bytes));
    // A damaged path has lost its content; all other files have the old or the new content.
    let either = now.iter().all(|(path, bytes)| {
        [&known.old, &known.new].iter().any(|all| all.get(path) == Some(bytes))
            || (path == place && bytes == PRECIOUS)
    });
    let whole = match verb.form {
        Form::Tree | Form::File if kind.is_around() => now == known.old,
        Form::Tree => code == 1 || now == known.new,
        Form::File | Form::Files => either && (code == 1 || among(&known.new)),
        Form::Log => known.old.iter().all(|(path, old)| !kind.is_around() || now[path].starts_with(old)),
        Form::Lab => true,
    };
    if !whole {
        let names: Vec<_> = now.keys().filter(|path| now.get(*path) != known.old.get(*path)).collect();
        return Err(format!("what is there is neither old nor new ({code}, {names:?}): {said}"));
    }
    nothing_is_left(site, place).map_err(|left| format!("it leaves {left}: {said}"))
}

/// Checks that there are no partial files or trees next to the paths.
fn nothing_is_left(site: &Site, place: &Path) -> Result<(), String> {
    let is_left =
        |path: &PathBuf| path != place && path.as_os_str().as_encoded_bytes().ends_with(b".closc-new");
    let entries = fs::read_dir(site.place.path("at")).expect("a folder");
    match entries.map(|entry| entry.expect("an entry").path()).find(is_left) {
        Some(left) => Err(left.display().to_string()),
        None => Ok(()),
    }
}

/// Tests one pair on a separate disk.
fn pair(site: &Site, verb: &Verb, place: &str, kind: Damage) -> Result<(), String> {
    let at = site.place.path("at");
    let _disk = Disk::mount(&at)?;
    let own = site.place.path(verb.places[0]);
    let good = |output: Output| {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        if matches!(output.status.code(), Some(0 | 2)) {
            Ok(())
        } else {
            Err(format!("it never works: {why}"))
        }
    };
    let is_lab = verb.form == Form::Lab;
    let mut known = ExpectedContents { old: BTreeMap::new(), new: BTreeMap::new() };
    // `drain` changes its input file, so that file must be on the disk.
    let fabric = || {
        if verb.command_line.starts_with("drain") {
            fs::copy(site.place.path("a.yaml"), &own).expect("there is room");
        }
    };
    if !is_lab {
        fabric();
        good(site.run(verb, "b", false)?)?;
        known.new = files(&own);
        fs::remove_dir_all(&own).or_else(|_| fs::remove_file(&own)).map_err(|error| error.to_string())?;
        fabric();
        if !verb.command_line.starts_with("drain") {
            good(site.run(verb, "a", false)?)?;
        }
        if verb.form == Form::Log {
            // The next line of the log then needs a new page.
            let mut log = fs::read(&own).map_err(|error| error.to_string())?;
            log.resize(log.len().next_multiple_of(4096) - 1, b' ');
            log.push(b'\n');
            fs::write(&own, log).map_err(|error| error.to_string())?;
        }
        known.old = files(&own);
    }
    let path = site.place.path(place);
    damage(site, kind, &path, verb);
    let output = site.run(verb, "b", kind == Damage::Foreign)?;
    let judged = judge(site, verb, kind, &path, &known, &output);
    if is_lab {
        if kind == Damage::ReadOnly {
            mount(&["-o", "remount,rw"], &at)?;
        }
        lab_is_gone(site, output.status.code() == Some(0))?;
    }
    judged
}

/// Takes down a lab that came up, and checks that its processes have ended.
fn lab_is_gone(site: &Site, is_up: bool) -> Result<(), String> {
    let runtime = site.place.path("at/lab");
    if is_up {
        let mut down = site.place.command(&["lab", "down", "two-planes-p4"]);
        let down = down.env("CLOSC_RUNTIME", &runtime).output().expect("closc runs");
        if !down.status.success() {
            return Err(format!("it cannot be taken down: {}", String::from_utf8_lossy(&down.stderr)));
        }
    }
    let folder = runtime.to_str().expect("plain").to_owned();
    let named = |pid: &fs::DirEntry| {
        let line = fs::read(pid.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&folder)
    };
    match fs::read_dir("/proc").expect("Linux").flatten().find(named) {
        Some(left) => Err(format!("process {} is left", left.file_name().display())),
        None => Ok(()),
    }
}

#[test]
fn damaged_places_lose_nothing_and_are_named() {
    let site = Site::new();
    site.place.write("precious", PRECIOUS);
    fs::set_permissions(site.place.path(""), fs::Permissions::from_mode(0o755)).expect("it is ours");
    if let Err(reason) = Disk::mount(&site.place.path("at")) {
        closc_skip::skip(format_args!("full and read-only disks need root and tmpfs: {reason}"));
        return;
    }
    let all = std::env::var_os(ALL).is_some();
    let pairs = VERBS.iter().flat_map(|verb| {
        let around = Damage::ALL
            .into_iter()
            .filter(|kind| kind.is_around())
            .map(move |kind| (verb, verb.places[0], kind));
        let at = verb.places.iter().flat_map(move |place| {
            Damage::ALL.into_iter().filter(|kind| !kind.is_around()).map(move |kind| (verb, *place, kind))
        });
        around.chain(at)
    });
    let runs = |number: usize, place, kind| {
        all || number.is_multiple_of(EVERY) || WRONG_ONCE.contains(&(place, kind))
    };
    let pairs: Vec<_> = pairs
        .enumerate()
        .filter(|(number, (_, place, kind))| runs(*number, *place, *kind))
        .map(|(_, pair)| pair)
        .collect();
    let mut wrong = Vec::new();
    for (verb, place, kind) in &pairs {
        if let Err(why) = pair(&site, verb, place, *kind) {
            wrong.push(format!("`{}`, {kind:?} at {place}: {why}", verb.command_line));
        }
    }
    println!("{} of {} places damaged without a loss", pairs.len() - wrong.len(), pairs.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
