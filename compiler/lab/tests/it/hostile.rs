//! Hostile trees, started as root, do not affect anything outside of the lab.
//!
//! Each is a compiled tree with one element that would affect something outside of the lab: a command, a setting, a
//! name, a path, a link. Without root, the test checks that all are rejected. With root, it also checks that the
//! machine is unchanged.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use closc_lab::tree::{Digests, Tree};
use closc_lab::{Lab, LabError, TreeFault};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};

use crate::common::{CompiledTree, can_run, compile, quietly, shipped};

/// An edit of a file of the tree.
struct Attack {
    /// Description, for messages.
    description: String,
    /// File of the tree.
    file: String,
    /// Changes its text.
    edit: Box<dyn Fn(&str) -> String + Send>,
}

/// Lines that affect something outside of a namespace, or that batch files do not need.
fn commands(canary: &Utf8Path) -> Vec<String> {
    let canary = canary.as_str();
    vec![
        format!("netns exec NAMESPACE touch {canary}"),
        format!("netns exec NAMESPACE sh -c 'echo x > {canary}'"),
        format!("-n NAMESPACE netns exec NAMESPACE touch {canary}"),
        format!("-batch {canary}"),
        format!("vrf exec default touch {canary}"),
        "netns add closc-intruder".to_owned(),
        "netns del NAMESPACE".to_owned(),
        "netns attach closc-intruder 1".to_owned(),
        "netns set NAMESPACE 7".to_owned(),
        "-n NAMESPACE link add name intruder type dummy".to_owned(),
        "-all netns exec id".to_owned(),
        "link add name intruder type bridge netns 1".to_owned(),
        "link add name intruder type veth peer name outside netns 1".to_owned(),
        "link set dev eth1 netns 1".to_owned(),
        "link set dev eth1 up netns 1".to_owned(),
        format!("link set dev eth1 xdp object {canary}"),
        "link set dev eth1 alias $(id)".to_owned(),
        "link set dev ../../../kernel up".to_owned(),
        "link del dev eth1".to_owned(),
        format!("route replace ::/0 encap bpf out obj {canary} dev eth1"),
        format!(
            "route replace fcbb:bbbb:1::/48 encap seg6local action End.BPF endpoint obj {canary} dev sr0"
        ),
        "xfrm state flush".to_owned(),
        "tuntap add dev intruder mode tap".to_owned(),
        "l2tp add tunnel tunnel_id 1 peer_tunnel_id 1 encap ip local ::1 remote ::2".to_owned(),
        "addr add fd00::1/64 dev lo".to_owned(),
    ]
}

/// Settings that do not belong to one namespace, or that labs do not allow.
fn settings(canary: &Utf8Path) -> Vec<String> {
    let up = "../".repeat(12);
    vec![
        "kernel.hostname = intruder".to_owned(),
        "kernel.core_pattern = |/bin/false".to_owned(),
        "vm.panic_on_oom = 0".to_owned(),
        format!("{up}{canary} = 1", canary = &canary.as_str()[1..]),
        format!("net.ipv6.conf.{up}{canary}.forwarding = 1", canary = &canary.as_str()[1..]),
        "net.ipv6.conf.all/../../../../kernel/hostname = intruder".to_owned(),
        "net/ipv6/../../kernel/hostname = intruder".to_owned(),
        "net.ipv6.conf./proc/sys/kernel/hostname.forwarding = 1".to_owned(),
        "net.ipv6.conf.all.forwarding = $(touch canary)".to_owned(),
        "net.core.bpf_jit_enable = 1".to_owned(),
    ]
}

/// Names that are paths, commands or settings.
const NAMES: [&str; 10] =
    ["../../x", "..", ".", "a/b", "a b", "x;id", "$(id)", "'", "\\\"\\\"\\\"", "-batch"];

fn line(file: &str, at_end: bool, line: String) -> Attack {
    let edit = move |text: &str| if at_end { format!("{text}{line}\n") } else { format!("{line}\n{text}") };
    let place = if at_end { "last" } else { "first" };
    Attack { description: format!("a line, {place}, of {file}"), file: file.to_owned(), edit: Box::new(edit) }
}

fn attacks(fabric: &str, canary: &Utf8Path) -> Vec<Attack> {
    let mut all = Vec::new();
    let batches =
        ["ip.batch", "devices.batch", "routes.batch"].map(|name| format!("hosts/su002-n001/{name}"));
    let switch = ["ip.batch", "devices.batch"].map(|name| format!("switches/p0-t1-001/{name}"));
    let namespace = format!("closc-{fabric}-p0-t0-001");
    for file in batches.iter().chain(&switch) {
        for command in commands(canary) {
            let command = command.replace("NAMESPACE", &namespace);
            all.extend([true, false].map(|at_end| line(file, at_end, command.clone())));
        }
    }
    for file in ["hosts/su002-n001/sysctl.conf", "switches/p0-t1-001/sysctl.conf"] {
        for setting in settings(canary) {
            all.extend([true, false].map(|at_end| line(file, at_end, setting.clone())));
        }
    }
    let own = fabric.to_owned();
    for name in NAMES {
        let replace = |file: &str, from: &str, json: bool| {
            let from = from.to_owned();
            let to = if json { name.to_owned() } else { name.replace('\\', "") };
            let edit = move |text: &str| text.replace(&from, &to);
            Attack { description: format!("{name} in {file}"), file: file.to_owned(), edit: Box::new(edit) }
        };
        all.push(replace("cables/plane-0.csv", "p0-t1-001", false));
        all.push(replace("cables/plane-0.csv", "eth501", false));
        all.push(replace("cables/plane-1.csv", "su001-n002", false));
        all.push(replace("manifest.json", &own, true));
        all.push(replace("path-tables/group-0001.json", &own, true));
    }
    for path in ["../../x", "/etc", "hosts/..", "./hosts", "hosts//x", "hosts\\n", ""] {
        let edit = move |text: &str| text.replace("hosts/su001-n001/ip.batch", path);
        let what = format!("{path} as a path of the manifest");
        all.push(Attack { description: what, file: "manifest.json".to_owned(), edit: Box::new(edit) });
    }
    all
}

/// Reads a tree with one change and a new manifest, and then restores it.
fn with_attack<R>(compiled: &CompiledTree, attack: &Attack, work: impl FnOnce() -> R) -> R {
    let path = compiled.tree.join(&attack.file);
    let (was, manifest) = (fs::read(&path).unwrap(), fs::read(compiled.tree.join("manifest.json")).unwrap());
    let text = String::from_utf8(was.clone()).unwrap();
    let changed = (attack.edit)(&text);
    assert_ne!(text, changed, "{}", attack.description);
    fs::write(&path, changed).unwrap();
    if attack.file != "manifest.json" {
        compiled.seal();
    }
    let done = work();
    fs::write(&path, was).unwrap();
    fs::write(compiled.tree.join("manifest.json"), manifest).unwrap();
    done
}

#[test]
fn hostile_trees_cannot_be_read() {
    let compiled = compile(&shipped("lab/two-planes"), "ha");
    let all = attacks(&compiled.fabric, Utf8Path::new("/nowhere/canary"));
    assert!(all.len() >= 100);
    for attack in &all {
        let read = with_attack(&compiled, attack, || Tree::read(&compiled.tree));
        assert!(matches!(read, Err(LabError::Tree { .. })), "{}: {read:?}", attack.description);
    }
    // The protection does not depend on digests: an attacker can also write the manifest.
    for attack in all.iter().filter(|attack| attack.file != "manifest.json") {
        let read = with_attack(&compiled, attack, || Tree::read_with(&compiled.tree, Digests::Ignored));
        assert!(matches!(read, Err(LabError::Tree { .. })), "{}: {read:?}", attack.description);
    }
    Tree::read(&compiled.tree).unwrap();
    println!("{} hostile trees refused", all.len());
}

#[test]
fn files_that_are_not_what_was_compiled_are_refused() {
    let compiled = compile(&shipped("lab/two-planes"), "hb");
    let path = compiled.tree.join("switches/p0-t0-001/ip.batch");
    let was = fs::read_to_string(&path).unwrap();
    let fault = || match Tree::read(&compiled.tree) {
        Err(LabError::Tree { path: at, fault }) => (at, fault),
        other => panic!("{other:?}"),
    };
    for changed in
        [format!("{was}# a comment\n"), was.replacen("# ", "# x", 1), was.replace("eth1 up", "eth2 up")]
    {
        fs::write(&path, changed).unwrap();
        assert!(matches!(fault(), (at, TreeFault::Digest) if at == path), "{:?}", fault());
        Tree::read_with(&compiled.tree, Digests::Ignored).unwrap();
    }
    fs::remove_file(&path).unwrap();
    assert!(matches!(fault(), (_, TreeFault::Read(_))));
    let secret = compiled.tree.with_file_name("secret");
    fs::write(&secret, &was).unwrap();
    symlink(&secret, &path).unwrap();
    assert!(matches!(fault(), (_, TreeFault::NoFile)));
    fs::remove_file(&path).unwrap();
    nix::unistd::mkfifo(path.as_std_path(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(matches!(fault(), (_, TreeFault::NoFile)));
    fs::remove_file(&path).unwrap();
    // Replace the folder with a link to a copy of it.
    fs::write(&path, &was).unwrap();
    let (folder, moved) = (compiled.tree.join("switches"), compiled.tree.with_file_name("moved"));
    fs::rename(&folder, &moved).unwrap();
    symlink(&moved, &folder).unwrap();
    assert!(matches!(fault(), (_, TreeFault::Read(_) | TreeFault::NoFile)));
    fs::remove_file(compiled.tree.join("manifest.json")).unwrap();
    assert!(matches!(fault(), (at, TreeFault::Read(_)) if at.file_name() == Some("manifest.json")));
}

/// The parts of the machine that must not change.
fn machine(outside: &Utf8Path) -> Vec<String> {
    let ip = |arguments: &[&str]| {
        let output = Command::new("ip").args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let mut seen = vec![
        ip(&["-o", "link"]),
        ip(&["-o", "address"]),
        ip(&["-6", "route", "show", "table", "all"]),
        ip(&["netns", "list"]),
    ];
    seen.push(fs::read_to_string("/proc/thread-self/mountinfo").unwrap());
    seen.extend(SETTINGS.iter().map(|name| value(&Utf8Path::new("/proc/sys").join(name))));
    for folder in ["net/core", "net/ipv4", "net/ipv6"] {
        values(&Utf8Path::new("/proc/sys").join(folder), &mut seen);
    }
    seen.push(format!("processes of it: {:?}", processes()));
    // The tree itself is part of the attack, so only new files next to it matter.
    let mut files: Vec<String> =
        outside.read_dir_utf8().unwrap().map(|entry| entry.unwrap().path().to_string()).collect();
    files.sort();
    seen.extend(files);
    seen
}

/// Settings that other programs on the machine do not change.
const SETTINGS: [&str; 16] = [
    "kernel/hostname",
    "kernel/domainname",
    "kernel/core_pattern",
    "kernel/core_uses_pid",
    "kernel/modprobe",
    "kernel/panic",
    "kernel/sysrq",
    "kernel/pid_max",
    "kernel/randomize_va_space",
    "kernel/kptr_restrict",
    "kernel/dmesg_restrict",
    "vm/panic_on_oom",
    "vm/overcommit_memory",
    "vm/swappiness",
    "fs/suid_dumpable",
    "fs/protected_symlinks",
];

/// Returns a setting with its name; some are unreadable, or absent.
fn value(path: &Utf8Path) -> String {
    let value = fs::read_to_string(path).unwrap_or_default();
    format!("{path} {value}")
}

/// Adds all settings below a folder, in order.
fn values(folder: &Utf8Path, seen: &mut Vec<String>) {
    let Ok(entries) = folder.read_dir_utf8() else { return };
    let mut paths: Vec<Utf8PathBuf> = entries.map(|entry| entry.unwrap().into_path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() { values(&path, seen) } else { seen.push(value(&path)) }
    }
}

/// Returns the processes in the mount namespace of the calling thread, which are the thread itself and its
/// children.
fn processes() -> Vec<String> {
    let own = fs::read_link("/proc/thread-self/ns/mnt").unwrap();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter(|entry| fs::read_link(entry.path().join("ns/mnt")).is_ok_and(|ns| ns == own));
    pids.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Isolates the calling thread: host name, network and the folder of namespaces.
fn seclude() {
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWUTS).unwrap();
    mount::<str, str, str, str>(None, "/", None, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None).unwrap();
    fs::create_dir_all("/run/netns").unwrap();
    // Without this, namespaces of other labs and mounts of other tests would be visible here.
    let temporary = std::env::temp_dir().to_str().unwrap().to_owned() + "/";
    let others = |place: &str| {
        place == "/run/netns" || place.starts_with("/run/netns/") || place.starts_with(&temporary)
    };
    let mounts = fs::read_to_string("/proc/thread-self/mountinfo").unwrap();
    let places = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    for place in places.filter(|place| others(place)) {
        let _ = umount2(place, MntFlags::MNT_DETACH);
    }
    mount::<str, str, str, str>(Some("none"), "/run/netns", Some("tmpfs"), MsFlags::empty(), None).unwrap();
}

#[test]
fn hostile_trees_brought_up_as_root_change_nothing_outside() {
    if !can_run() {
        return;
    }
    std::thread::spawn(|| {
        seclude();
        let compiled = compile(&shipped("lab/two-planes"), "hc");
        let outside = compiled.tree.parent().unwrap().to_owned();
        let canary = outside.join("canary");
        let before = machine(&outside);
        let up = |digests| {
            let options = closc_lab::Options { digests, ..compiled.options.clone() };
            quietly(|watch| Lab::up(&compiled.tree, &options, watch))
        };
        let mut refused = 0;
        let all = attacks(&compiled.fabric, &canary);
        for attack in &all {
            for digests in [Digests::Compared, Digests::Ignored] {
                match with_attack(&compiled, attack, || up(digests)) {
                    // If digests are ignored, files that the manifest does not list are still not read.
                    Ok((lab, _)) => drop(lab.down().unwrap()),
                    Err(_) => refused += 1,
                }
            }
            assert_eq!(machine(&outside), before, "{}", attack.description);
        }
        println!("{} trees brought up twice as root, {refused} times refused, 0 effects outside", all.len());
        // Check that the inspection itself detects such a change.
        let status = Command::new("ip").args(["netns", "add", "closc-intruder"]).status().unwrap();
        assert!(status.success());
        fs::write(outside.join("line"), format!("netns exec closc-intruder touch {canary}\n")).unwrap();
        assert!(
            Command::new("ip").args(["-batch", outside.join("line").as_str()]).status().unwrap().success()
        );
        let after = machine(&outside);
        assert_ne!(after, before);
        assert!(after.contains(&canary.to_string()));
        // An unchanged tree starts.
        let (lab, _) = up(Digests::Compared).unwrap();
        lab.down().unwrap();
    })
    .join()
    .unwrap();
}
