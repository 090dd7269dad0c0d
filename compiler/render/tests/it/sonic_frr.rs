//! `frr.conf` of SONiC switches in real FRR daemons: the running configuration equals the file. The commands of a
//! change turn one file into another and back without a restart.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use closc_artefacts::paths::FRR_CONF;
use closc_sonic::{FrrChange, FrrConfig};
use closc_tests::namespaces::missing_frr;
use closc_tests::shape::plan;
use tempfile::TempDir;

use crate::common::switches;

/// Folder of FRR's daemons in Debian.
const DAEMONS: &str = "/usr/lib/frr";

/// The daemons of SONiC's `bgp` container, with the module for the forwarding plane manager.
const RUNNING: [(&str, &[&str]); 3] = [("zebra", &["-M", "dplane_fpm_nl"]), ("staticd", &[]), ("bgpd", &[])];

/// Maximum number of attempts until daemons answer.
const LOOKS: u32 = 50;

fn run(program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program).args(arguments).output();
    output.unwrap_or_else(|error| panic!("{program}: {error}"))
}

/// The daemons of a switch in a network namespace; both are removed when dropped.
struct Router {
    namespace: String,
    folder: TempDir,
    daemons: Vec<PathBuf>,
}

impl Router {
    fn start(name: &str, ports: &[String]) -> Self {
        let namespace = format!("closc-sf-{}-{name}", std::process::id());
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut router = Router { namespace, folder, daemons: Vec::new() };
        let public = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o777);
        fs::set_permissions(router.folder.path(), public).expect("it is ours");
        let ns = router.namespace.clone();
        run("ip", &["netns", "add", &ns]);
        for setting in ["net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"] {
            run("ip", &["netns", "exec", &ns, "sysctl", "-qw", setting]);
        }
        for port in ports {
            run("ip", &["-n", &ns, "link", "add", port, "type", "dummy"]);
            run("ip", &["-n", &ns, "link", "set", port, "up"]);
        }
        let sockets = router.sockets();
        for (daemon, more) in RUNNING {
            let (pid, zebra) = (format!("{sockets}/{daemon}.pid"), format!("{sockets}/zserv.api"));
            let program = Path::new(DAEMONS).join(daemon).display().to_string();
            let log = format!("file:{sockets}/{daemon}.log");
            let own = [
                "netns",
                "exec",
                &ns,
                &program,
                "-d",
                "-i",
                &pid,
                "--vty_socket",
                &sockets,
                "--log",
                &log,
                "-z",
                &zebra,
            ];
            let output = run("ip", &[&own[..], more, &["-f", "/dev/null"]].concat());
            assert!(output.status.success(), "{daemon}: {}", String::from_utf8_lossy(&output.stderr));
            router.daemons.push(PathBuf::from(pid));
        }
        router
    }

    fn sockets(&self) -> String {
        self.folder.path().to_str().expect("the path is text").to_owned()
    }

    /// Feeds lines to the daemons, as `vtysh -f` in the container does.
    fn feed(&self, lines: &str) {
        let file = self.folder.path().join("lines");
        fs::write(&file, lines).expect("it is ours");
        let output = run("vtysh", &["--vty_socket", &self.sockets(), "-f", file.to_str().expect("text")]);
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains('%'), "{lines}\n{said}");
    }

    /// Returns the differences from a file, after the daemons had time to print their configuration.
    fn differs(&self, text: &str) -> FrrChange {
        let names: Vec<&str> = RUNNING.iter().map(|(name, _)| *name).collect();
        let wanted = FrrConfig::parse(text).as_run_by(&names);
        let mut n_looks = 0;
        loop {
            let output = run("vtysh", &["--vty_socket", &self.sockets(), "-c", "show running-config"]);
            let running = String::from_utf8_lossy(&output.stdout).into_owned();
            let change = FrrChange::diff(&FrrConfig::parse(&running), &wanted);
            if change.is_empty() || n_looks == LOOKS {
                return change;
            }
            n_looks += 1;
            thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        for pid in &self.daemons {
            if let Ok(id) = fs::read_to_string(pid) {
                let _ = Command::new("kill").args(["-KILL", id.trim()]).output();
            }
        }
        let _ = Command::new("ip").args(["netns", "del", &self.namespace]).output();
    }
}

fn fabric(groups: u16, up: u16, exceptions: &str) -> String {
    format!(
        "fabric: frr\nplanes: 1\nrouting: bgp-unnumbered\nhosts: {{ groups: {groups}, per_group: 2, nic: {{ speed: 40G }} }}\ntiers:\n  \
         t0: {{ platform: sonic-vs, os: sonic, up: {up} }}\n  t1: {{ platform: sonic-vs, os: sonic }}\ncables:\n  \
         nic-t0: {{ length: 1m, medium: virtual }}\n  t0-t1: {{ length: 1m, medium: virtual }}\nexceptions: {exceptions}\n"
    )
}

/// The `frr.conf` of a switch.
fn conf(yaml: &str, switch: &str) -> String {
    let files = switches(&plan(yaml)).into_iter();
    let mut own = files.filter(|file| file.path.as_str().ends_with(&format!("{switch}/{FRR_CONF}")));
    String::from_utf8(own.next().expect("it has one").bytes).expect("text")
}

fn ports(texts: &[&str]) -> Vec<String> {
    let words = texts.iter().flat_map(|text| text.split_whitespace());
    let mut ports: Vec<String> =
        words.filter(|word| word.starts_with("Ethernet")).map(str::to_owned).collect();
    ports.sort();
    ports.dedup();
    ports
}

#[test]
fn commands_lead_from_one_file_to_another_in_daemons_that_run() {
    if let Some(missing) = missing_frr() {
        return closc_skip::skip(missing);
    }
    let before = fabric(2, 2, "{}");
    for (number, after) in [
        fabric(2, 2, "{ drained: [p0-t0-001--p0-t1-001] }"),
        fabric(2, 2, "{ drained: [p0-t1-001] }"),
        fabric(2, 2, "{ absent: [p0-t0-001--p0-t1-001] }"),
        fabric(3, 3, "{}"),
    ]
    .into_iter()
    .enumerate()
    {
        for switch in ["p0-t0-001", "p0-t1-001"] {
            let (old, new) = (conf(&before, switch), conf(&after, switch));
            let router = Router::start(&format!("{number}{}", &switch[3..5]), &ports(&[&old, &new]));
            router.feed(&old);
            assert_eq!(router.differs(&old), FrrChange::default(), "{switch}: what is held is the file");
            for (from, to) in [(&old, &new), (&new, &old)] {
                let names: Vec<&str> = RUNNING.iter().map(|(name, _)| *name).collect();
                let [from, wanted] = [from, to].map(|text| FrrConfig::parse(text).as_run_by(&names));
                let change = FrrChange::diff(&from, &wanted);
                assert!(change.restart_reasons().is_empty());
                router.feed(&(change.commands().join("\n") + "\n"));
                assert_eq!(
                    router.differs(to),
                    FrrChange::default(),
                    "{number} {switch}: {:#?}",
                    change.commands()
                );
            }
        }
    }
}
