//! `closc push` to many SONiC switches at once, with a real `ssh` and `sshd` for each, and the simulated switch of
//! the deploy crate's tests. The push is killed at a given command, counted over all switches, so that the test does
//! not depend on timing.

mod damage;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use closc_skip::skip;
use closc_sonic::ConfigDb;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::common::Place;

/// The simulated switch.
const SWITCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../p4/deploy/tests/it/deploy/sonic/switch.py");

/// Path in Debian and others; it is not in `PATH`.
const SSHD: &str = "/usr/sbin/sshd";

/// Environment variable that enables the long test. Its value is the number of pushes to kill.
const KILLS: &str = "CLOSC_SONIC_KILLS";

/// Switches on this machine.
struct Fleet {
    place: Place,
    names: Vec<String>,
}

/// Two trees: pushes alternate between a change and its reversal.
const SIDES: [(&str, &str); 2] = [
    ("a", "services: { ntp: [10.0.0.1] }\nqos: lossy-trim\n"),
    (
        "b",
        "services: { ntp: [10.0.0.2] }\nmtu: { link: 9100 }\nqos: { base: lossy-trim, classes: { data: { dscp: [22] } } }\n",
    ),
];

fn fabric(planes: u8, groups: u16, more: &str) -> String {
    let speed = 40 * u16::from(planes);
    format!(
        "fabric: fleet\nplanes: {planes}\nhosts: {{ groups: {groups}, per_group: 1, nic: {{ speed: {speed}G, lanes: {planes} }} }}\n\
         tiers:\n  t0: {{ platform: sonic-vs, os: sonic, up: {groups} }}\n  t1: {{ platform: sonic-vs, os: sonic }}\n\
         addresses: {{ management: 10.64.0.0/14 }}\ncables:\n  nic-t0: {{ length: 1m, medium: virtual }}\n  \
         t0-t1: {{ length: 1m, medium: virtual }}\n{more}"
    )
}

impl Fleet {
    /// Creates `2 * planes * groups` switches that have tree `a`. If this machine cannot run them, prints the reason.
    fn new(planes: u8, groups: u16) -> Option<Self> {
        let fleet = Fleet::of(&SIDES.map(|(side, more)| (side, fabric(planes, groups, more))))?;
        assert_eq!(fleet.names.len(), 2 * usize::from(planes) * usize::from(groups));
        fleet.names.iter().for_each(|name| fleet.write_config(name));
        Some(fleet)
    }

    /// Creates the switches of some fabrics, without configuration. All fabrics have the same switches.
    fn of(sides: &[(&str, String)]) -> Option<Self> {
        let runs = |program: &str, word: &str| Command::new(program).arg(word).output().is_ok();
        if !Path::new(SSHD).exists() || !runs("ssh", "-V") || !runs("python3", "-V") {
            skip("pushing to SONiC needs ssh, sshd and python3");
            return None;
        }
        let place = Place::new();
        for (side, text) in sides {
            place.write(&format!("{side}.yaml"), text);
            place.ends(0, &["compile", "--quiet", &format!("{side}.yaml"), "--out", side]);
        }
        let first = sides.first().map_or("a", |(side, _)| side);
        let mut names: Vec<String> = fs::read_dir(place.path(&format!("{first}/switches")))
            .expect("a folder")
            .map(|entry| entry.expect("it can be read").file_name().into_string().expect("text"))
            .collect();
        names.sort();
        let fleet = Fleet { place, names };
        fleet.machine();
        fleet.names.iter().for_each(|name| fleet.switch(name));
        let first = fleet.at(&fleet.names[0], "sshd_config");
        let checked = Command::new(SSHD).arg("-t").arg("-f").arg(first).output().expect("sshd is there");
        let said = String::from_utf8_lossy(&checked.stderr);
        // As root, `sshd` needs an empty folder for privilege separation, which the system creates.
        if said.contains("privilege separation directory") {
            skip("sshd run by root needs the folder /run/sshd");
            return None;
        }
        assert!(checked.status.success(), "sshd accepts its configuration: {said}");
        Some(fleet)
    }

    fn at(&self, switch: &str, file: &str) -> PathBuf {
        self.place.path(&format!("fleet/{switch}/{file}"))
    }

    fn put(&self, path: &str, text: &str, mode: u32) {
        self.place.write(path, text);
        fs::set_permissions(self.place.path(path), fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    /// Creates the shared parts of all switches: commands, keys, the configuration of `ssh`, the inventory.
    fn machine(&self) {
        fs::create_dir_all(self.place.path("fleet")).expect("a folder");
        fs::create_dir_all(self.place.path("bin")).expect("a folder");
        let here = self.place.text("");
        let here = here.trim_end_matches('/');
        for name in ["config", "docker", "sonic-db-dump", "sonic-cfggen", "systemctl", "systemd-run"] {
            let text = format!("#!/bin/sh\nexec python3 -IS {SWITCH} \"$SWITCH\" {name} \"$@\"\n");
            self.put(&format!("bin/{name}"), &text, 0o755);
        }
        self.put("bin/sudo", "#!/bin/sh\nshift\nexec \"$@\"\n", 0o755);
        for key in ["host", "user"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"])
                .arg(self.place.path(key))
                .status();
            assert!(made.is_ok_and(|status| status.success()), "ssh-keygen makes a key");
        }
        self.put("known_hosts", &format!("*.mgmt {}", self.place.read("host.pub")), 0o600);
        self.put("authorized", &self.place.read("user.pub"), 0o600);
        let connect = format!(
            "#!/bin/sh\nname=${{1%.mgmt}}\n[ ! -e {here}/fleet/$name/unreachable ] && exec {SSHD} -i -f {here}/fleet/$name/sshd_config\n"
        );
        self.put("connect", &connect, 0o755);
        let client = format!(
            "Host *\nProxyCommand {here}/connect %h\nIdentityFile {here}/user\nIdentitiesOnly yes\n\
             KexAlgorithms curve25519-sha256\nUserKnownHostsFile {here}/known_hosts\nGlobalKnownHostsFile /dev/null\n"
        );
        self.put("ssh_config", &client, 0o600);
        let rules = self.names.iter().map(|name| {
            let plane = name[1..].split('-').next().expect("names begin with the plane");
            format!(
                "- {{ devices: {name}, transport: sonic-ssh, address: '{{name}}.mgmt', plane: {plane}, state: '{here}/fleet/{name}/state', \
                 frr: '{here}/fleet/{name}/frr' }}\n"
            )
        });
        self.place.write("inventory.yaml", format!("sonic:\n{}", rules.collect::<String>()));
        self.place.write("fleet/steps", "0");
    }

    /// Gives a switch the configuration of tree `a`, and some configuration of the site.
    fn write_config(&self, name: &str) {
        let text = self.place.read(&format!("a/switches/{name}/config_db.json"));
        let mut config: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        config["TACPLUS"] = serde_json::json!({ "global": { "passkey": name } });
        let management: Vec<&String> =
            config["MGMT_INTERFACE"].as_object().expect("it has one").keys().collect();
        self.put(&format!("fleet/{name}/management.json"), &serde_json::json!(management).to_string(), 0o600);
        for file in ["db.json", "saved.json"] {
            self.put(&format!("fleet/{name}/{file}"), &config.to_string(), 0o600);
        }
    }

    /// Creates a reachable switch.
    fn switch(&self, name: &str) {
        fs::create_dir_all(self.at(name, "checkpoints")).expect("a folder");
        let here = self.place.text("");
        let here = here.trim_end_matches('/');
        let daemon = format!(
            "HostKey {here}/host\nAuthorizedKeysFile {here}/authorized\nStrictModes no\nUsePAM no\nPidFile none\n\
             PermitRootLogin prohibit-password\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             ForceCommand SWITCH={here}/fleet/{name} PATH={here}/bin:$PATH exec sh -c \"$SSH_ORIGINAL_COMMAND\"\n"
        );
        self.put(&format!("fleet/{name}/sshd_config"), &daemon, 0o600);
    }

    fn number(&self, file: &str) -> u64 {
        self.place.read(file).trim().parse().expect("a number")
    }

    /// Pushes a tree. The process writes its id to a file before it becomes closc, so that a switch can kill it.
    fn push(&self, tree: &str, more: &[&str]) -> (Option<i32>, String) {
        let script = "echo $$ > fleet/pusher; exec \"$@\"";
        let output = self
            .place
            .program("sh")
            .args([
                "-c",
                script,
                "sh",
                env!("CARGO_BIN_EXE_closc"),
                "push",
                tree,
                "--inventory",
                "inventory.yaml",
            ])
            .args(["--ssh-config", &self.place.text("ssh_config"), "--quiet"])
            .args(more)
            .output()
            .expect("it runs");
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), said)
    }

    /// Compares the switches with a tree; returns the exit code and the JSON report.
    fn drift(&self, tree: &str) -> (Option<i32>, serde_json::Value) {
        let output = self
            .place
            .program(env!("CARGO_BIN_EXE_closc"))
            .args(["drift", tree, "--inventory", "inventory.yaml", "--format", "json", "--quiet"])
            .args(["--ssh-config", &self.place.text("ssh_config")])
            .output()
            .expect("it runs");
        let said = serde_json::from_slice(&output.stdout);
        let said = said.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        (output.status.code(), said)
    }

    /// Gives a switch the state of a new one, which has only its address.
    fn reset_switch(&self, tree: &str, name: &str) {
        let text = self.place.read(&format!("{tree}/switches/{name}/config_db.json"));
        let config: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let metadata = &config["DEVICE_METADATA"]["localhost"];
        let held = serde_json::json!({
            "DEVICE_METADATA": { "localhost": {
                "hwsku": metadata["hwsku"], "platform": metadata["platform"], "mac": "02:00:00:00:00:01", "hostname": "sonic",
                "docker_routing_config_mode": "separated",
            } },
            "MGMT_INTERFACE": config["MGMT_INTERFACE"],
        });
        let management: Vec<&String> =
            config["MGMT_INTERFACE"].as_object().expect("it has one").keys().collect();
        self.put(&format!("fleet/{name}/management.json"), &serde_json::json!(management).to_string(), 0o600);
        for file in ["db.json", "saved.json"] {
            self.put(&format!("fleet/{name}/{file}"), &held.to_string(), 0o600);
        }
    }

    fn config(&self, name: &str, file: &str) -> ConfigDb {
        ConfigDb::parse(&fs::read_to_string(self.at(name, file)).expect("it is there")).expect("it is right")
    }

    /// Asserts that the running and the startup configuration of a switch match the tree, that no change is pending,
    /// and that the site's configuration is intact.
    fn assert_good(&self, tree: &str, name: &str, said: &str) {
        let wanted = self.place.read(&format!("{tree}/switches/{name}/config_db.json"));
        let (now, wanted) = (self.config(name, "db.json"), ConfigDb::parse(&wanted).expect("right"));
        let log = || fs::read_to_string(self.at(name, "log")).unwrap_or_default();
        assert_eq!(closc_sonic::owned_part(&now, &wanted), wanted, "{name}: {said}\n{}", log());
        assert_eq!(now.text("TACPLUS", "global", "passkey"), Some(name));
        assert_eq!(self.config(name, "saved.json"), now, "{name}: {said}\n{}", log());
        for left in ["state/pending", "timer"] {
            assert!(!self.at(name, left).exists(), "{name} has {left}: {said}\n{}", log());
        }
    }

    /// Alternates between the trees until `kills` pushes were killed, each after a random number of commands.
    /// After each push that finishes, checks the switches.
    fn survive(&self, kills: u32, apart: u64, seed: u64) {
        let random = &mut SplitMix64::seed_from_u64(seed);
        let mut killed = 0;
        let mut rounds = 0;
        while killed < kills {
            let tree = if rounds % 2 == 0 { "b" } else { "a" };
            rounds += 1;
            let said = loop {
                let asked = self.place.path("fleet/kill-pusher-at");
                if killed < kills {
                    let at = self.number("fleet/steps") + 1 + random.next_u64() % apart;
                    self.place.write("fleet/kill-pusher-at", at.to_string());
                }
                let (code, said) = self.push(tree, &[]);
                // The kill removes this file, even if it happens at the last command of a push that has just
                // finished.
                killed += u32::from(code.is_none());
                let struck = !asked.exists();
                let _ = fs::remove_file(asked);
                match code {
                    Some(0) => break said,
                    None => assert!(struck, "closc ended by an unexpected signal: {said}"),
                    Some(code) => panic!(
                        "seed {seed}, kill {killed}: a push after a killed one ends with {code}: {said}"
                    ),
                }
            };
            for name in &self.names {
                self.assert_good(tree, name, &said);
            }
            println!("{killed} pushes killed, {rounds} rounds, {} commands", self.number("fleet/steps"));
            let (code, said) = self.push(tree, &["--dry-run"]);
            assert_eq!(code, Some(0), "nothing is left to do: {said}");
        }
    }
}

#[test]
fn a_push_that_is_killed_anywhere_is_finished_by_the_next_one() {
    if std::env::var_os(KILLS).is_some() {
        return skip("the long test runs instead");
    }
    let Some(fleet) = Fleet::new(2, 1) else { return };
    fleet.survive(2, 60, 7);
}

#[test]
fn pushes_to_64_switches_that_are_killed_are_finished_by_the_next_ones() {
    let Some(kills) = std::env::var(KILLS).ok().and_then(|text| text.parse().ok()) else {
        return skip(format_args!("set {KILLS} to the number of pushes that are killed, for example 100"));
    };
    let Some(fleet) = Fleet::new(4, 8) else { return };
    // The number of commands between two kills is large enough to read every switch again.
    fleet.survive(kills, 200, 1);
}

#[test]
fn a_switch_of_many_that_loses_its_management_address_goes_back_by_itself() {
    let Some(fleet) = Fleet::new(1, 1) else { return };
    let lost = fleet.names[0].clone();
    // The change removes the address at which the first switch is reachable.
    fleet.place.write("c.yaml", fabric(1, 1, SIDES[1].1).replace("10.64.0.0/14", "10.72.0.0/14"));
    fleet.place.ends(0, &["compile", "--quiet", "c.yaml", "--out", "c"]);
    let other = &fleet.names[1];
    // The other switch is reachable at both addresses.
    fleet.put(&format!("fleet/{other}/management.json"), "[\"eth0|10.73.0.1/14\"]", 0o600);
    let before = fleet.config(&lost, "db.json");
    let (code, said) = fleet.push("c", &["--confirm", "1", "--max-failures", "9"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&lost), "{said}");
    assert!(fleet.at(&lost, "unreachable").exists(), "{said}");
    assert_eq!(fleet.config(&lost, "saved.json"), before, "only confirmed changes are saved");
    // The confirmation timer expires.
    let back = fs::read_to_string(fleet.at(&lost, "timer")).expect("the way back is armed");
    let path = format!("{}:/usr/bin:/bin", fleet.place.text("bin"));
    let status = Command::new(back).env("PATH", path).env("SWITCH", fleet.at(&lost, "")).status();
    assert!(status.is_ok_and(|status| status.success()), "it goes back");
    assert_eq!(fleet.config(&lost, "db.json"), before);
    let (code, said) = fleet.push("b", &["--device", &lost]);
    assert_eq!(code, Some(0), "{said}");
    fleet.assert_good("b", &lost, &said);
}
