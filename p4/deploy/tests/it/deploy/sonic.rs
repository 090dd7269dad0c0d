//! Pushes to SONiC switches: a real `ssh` to a real `sshd`, which runs the commands of a switch on a JSON file.
//!
//! `ssh` starts `sshd` as its proxy (`sshd -i`), so no port and no network are used, and no process is left running.

mod claims;
mod routing;

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use closc_deploy::{
    DeviceDrift, Fault, Fleet, FleetError, Inventory, Outcome, Plan, PushOptions, PushReport, SonicOptions,
    SwitchConnections, Tree, Watch, WatchOptions, drift, open_gate, plan, push, push_plan, silent,
};
use closc_sonic::{ConfigDb, Overlay};
use tempfile::TempDir;

use crate::support::{Files, add_manifest, eventually, reader};

/// The initial configuration of the switch: closc's part of an old tree, and the site's part.
const OLD: &str = r#"{
    "DEVICE_METADATA": { "localhost": { "hostname": "old", "hwsku": "x", "timezone": "UTC" } },
    "PORT": { "Ethernet0": { "admin_status": "up", "mtu": "1500", "tpid": "0x8100" } },
    "BUFFER_POOL": { "egress": { "size": "1" } },
    "MGMT_INTERFACE": { "eth0|192.0.2.1/24": { "gwaddr": "192.0.2.254" } },
    "SWITCH_HASH": { "GLOBAL": { "ecmp_hash": ["DST_IP", "SRC_IP"] } },
    "TACPLUS": { "global": { "passkey": "not-a-secret" } }
}"#;

/// The tree's configuration.
const NEW: &str = r#"{
    "DEVICE_METADATA": { "localhost": { "hostname": "p0-t0-001", "hwsku": "x" } },
    "PORT": { "Ethernet0": { "admin_status": "up", "mtu": "9100" } },
    "BUFFER_POOL": { "egress": { "size": "1" } },
    "INTERFACE": { "Ethernet0": {}, "Ethernet0|2001:db8::1/127": {} },
    "MGMT_INTERFACE": { "eth0|192.0.2.1/24": { "gwaddr": "192.0.2.254" } },
    "SWITCH_HASH": { "GLOBAL": { "ecmp_hash": ["DST_IP", "SRC_IP"] } }
}"#;

/// State of its daemons.
const UP: &str =
    r#"{ "PORT_TABLE:Ethernet0": { "oper_status": "up" }, "BUFFER_POOL_TABLE:egress": { "size": "1" } }"#;

const NAME: &str = "p0-t0-001";

/// The variable that enables all tests here; without it the longer ones are skipped.
const ALL: &str = "CLOSC_SONIC_SSH";

/// A switch in a folder.
struct FakeSwitch {
    folder: TempDir,
}

fn put(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).expect("a folder for tests");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
}

impl FakeSwitch {
    /// Creates a switch, or skips the test with a reason.
    fn new() -> Option<Self> {
        let runs = |program: &str, word: &str| Command::new(program).arg(word).output().is_ok();
        let sshd = "/usr/sbin/sshd";
        if !Path::new(sshd).exists() || !runs("ssh", "-V") || !runs("python3", "-V") {
            closc_skip::skip("pushing to SONiC needs ssh, sshd and python3");
            return None;
        }
        let switch = FakeSwitch { folder: tempfile::tempdir().expect("a folder for tests") };
        fs::create_dir_all(switch.path("bin")).expect("a folder for tests");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/deploy/sonic/switch.py");
        let here = switch.folder.path().display();
        for name in ["config", "docker", "sonic-db-dump", "sonic-cfggen", "systemctl", "systemd-run"] {
            let text = format!("#!/bin/sh\nexec python3 -IS {script} {here} {name} \"$@\"\n");
            put(&switch.path("bin").join(name), &text, 0o755);
        }
        put(&switch.path("bin/sudo"), "#!/bin/sh\nshift\nexec \"$@\"\n", 0o755);
        put(&switch.path("management.json"), r#"["eth0|192.0.2.1/24"]"#, 0o600);
        switch.renew();
        switch.daemon(sshd);
        let checked = Command::new(sshd).arg("-t").arg("-f").arg(switch.path("sshd_config")).output();
        let checked = checked.expect("sshd is there");
        let said = String::from_utf8_lossy(&checked.stderr);
        // If run by root, `sshd` changes to an empty folder, which the system has to provide.
        if said.contains("privilege separation directory") {
            closc_skip::skip("sshd run by root needs the folder /run/sshd");
            return None;
        }
        assert!(checked.status.success(), "sshd takes its configuration: {said}");
        Some(switch)
    }

    /// Restores the initial state.
    fn renew(&self) {
        for folder in ["checkpoints", "frr", "state", "units"] {
            drop(fs::remove_dir_all(self.path(folder)));
        }
        for file in ["timer", "log", "count", "kill-at", "kill-after", "unreachable"] {
            drop(fs::remove_file(self.path(file)));
        }
        fs::create_dir_all(self.path("checkpoints")).expect("a folder for tests");
        put(&self.path("db.json"), OLD, 0o600);
        put(&self.path("saved.json"), OLD, 0o600);
    }

    /// Creates a switch for a test that takes longer than a push.
    fn for_long() -> Option<Self> {
        if env::var_os(ALL).is_none() {
            closc_skip::skip("set CLOSC_SONIC_SSH for all pushes to SONiC");
            return None;
        }
        FakeSwitch::new()
    }

    /// Creates keys, and the configurations of both ends.
    fn daemon(&self, sshd: &str) {
        let here = self.folder.path().display();
        for key in ["host", "user"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"])
                .arg(self.path(key))
                .status();
            assert!(made.is_ok_and(|status| status.success()), "ssh-keygen makes a key");
        }
        let public = |key: &str| fs::read_to_string(self.path(key)).expect("it was made");
        put(&self.path("known_hosts"), &format!("{NAME}.mgmt {}", public("host.pub")), 0o600);
        put(&self.path("authorized"), &public("user.pub"), 0o600);
        let daemon = format!(
            "HostKey {here}/host\nAuthorizedKeysFile {here}/authorized\nStrictModes no\nUsePAM no\nPidFile none\n\
             PermitRootLogin prohibit-password\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             ForceCommand PATH={here}/bin:$PATH exec sh -c \"$SSH_ORIGINAL_COMMAND\"\n"
        );
        put(&self.path("sshd_config"), &daemon, 0o600);
        let connect =
            format!("#!/bin/sh\n[ ! -e {here}/unreachable ] && exec {sshd} -i -f {here}/sshd_config\n");
        put(&self.path("connect"), &connect, 0o755);
        let client = format!(
            "Host *\nProxyCommand {here}/connect\nIdentityFile {here}/user\nIdentitiesOnly yes\nKexAlgorithms curve25519-sha256\n\
             UserKnownHostsFile {here}/known_hosts\nGlobalKnownHostsFile /dev/null\n"
        );
        put(&self.path("ssh_config"), &client, 0o600);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn config(&self, name: &str) -> ConfigDb {
        ConfigDb::parse(&fs::read_to_string(self.path(name)).expect("it is there")).expect("it is right")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// Makes the connection end, or the configuration change, at the command with this number, counted from
    /// now.
    fn end_at(&self, what: &str, command: usize) {
        let count = fs::read_to_string(self.path("count")).map_or(0, |text| text.parse().unwrap_or(0));
        put(&self.path(what), &(count + command).to_string(), 0o600);
    }

    /// Lets the time pass after which the switch rolls back an unconfirmed change.
    fn time_passes(&self) {
        let command = fs::read_to_string(self.path("timer")).expect("the way back is armed");
        fs::remove_file(self.path("timer")).expect("it is ours");
        self.run(&command);
    }

    fn run_command(&self, command: &str, words: &[&str]) {
        let status = Command::new(self.path("bin").join(command)).args(words).status();
        assert!(status.is_ok_and(|status| status.success()), "{command}: {}", self.log());
    }

    fn run(&self, command: &str) {
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        let status = Command::new(command).env("PATH", path).status();
        assert!(status.is_ok_and(|status| status.success()), "the way back is gone: {}", self.log());
    }

    /// Reboots the switch: timers are gone, and enabled units run. After a cold start it has the saved configuration.
    fn boot(&self, is_warm: bool) {
        if !is_warm {
            fs::copy(self.path("saved.json"), self.path("db.json")).expect("it is ours");
        }
        drop(fs::remove_file(self.path("timer")));
        self.run_command("systemctl", &["restart", "bgp"]);
        let Ok(units) = fs::read_dir(self.path("units")) else { return };
        for unit in units {
            let text = fs::read_to_string(unit.expect("a folder").path()).expect("its file is there");
            let value =
                |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).expect("it has it");
            if Path::new(value("ConditionPathExists=")).exists() {
                self.run(value("ExecStart="));
            }
        }
    }

    fn inventory(&self, address: &str) -> Inventory {
        let [state, frr] = ["state", "frr"].map(|folder| self.path(folder).display().to_string());
        let text = format!(
            "sonic:\n- {{ devices: 'p0-*', transport: sonic-ssh, address: {address:?}, plane: 0, state: {state:?}, frr: {frr:?} }}\n"
        );
        let inventory = Inventory::parse(&text).expect("the inventory is right");
        assert_eq!(Inventory::parse(&inventory.to_json()).as_ref(), Ok(&inventory));
        inventory
    }

    fn fleet(&self, tree: &str, options: SonicOptions) -> Fleet {
        self.try_fleet(tree, options, "{name}.mgmt").expect("they go together")
    }

    fn try_fleet(&self, tree: &str, options: SonicOptions, address: &str) -> Result<Fleet, FleetError> {
        self.fleet_of(&[("config_db.json", tree)], options, address)
    }

    /// The fleet of a tree with these files of the switch.
    fn fleet_of(
        &self,
        tree: &[(&str, &str)],
        options: SonicOptions,
        address: &str,
    ) -> Result<Fleet, FleetError> {
        let mut files = Files::new();
        for (name, text) in tree {
            files.insert(format!("switches/{NAME}/{name}"), text.as_bytes().to_vec());
        }
        add_manifest(&mut files);
        let tree = Arc::new(Tree::open(reader(files)).expect("the tree is right"));
        let ssh_config = Some(self.path("ssh_config").display().to_string());
        let options = SonicOptions { ssh_config, ..options };
        Fleet::default()
            .with_sonic(&self.inventory(address), &*reader(Files::new()), &tree, options, |_| true)
    }

    async fn push(&self, tree: &str) -> PushReport {
        self.push_with(tree, SonicOptions::default()).await
    }

    async fn push_with(&self, tree: &str, options: SonicOptions) -> PushReport {
        // One attempt, so that a second attempt of the first push does not do the work of the second push.
        let push_options = PushOptions { attempts: 1, ..PushOptions::default() };
        push(&self.fleet(tree, options), &push_options, silent(), open_gate()).await
    }

    /// Checks that the switch has the configuration of tree and site, would boot with it, and has no unconfirmed
    /// change.
    fn assert_good(&self, tree: &str, said: &dyn std::fmt::Debug) {
        let (now, tree) = (self.config("db.json"), ConfigDb::parse(tree).expect("right"));
        assert_eq!(closc_sonic::owned_part(&now, &tree), tree, "{said:?}\n{}", self.log());
        assert_eq!(now.text("TACPLUS", "global", "passkey"), Some("not-a-secret"));
        assert_eq!(now.text("PORT", "Ethernet0", "tpid"), Some("0x8100"));
        assert_eq!(now.text("DEVICE_METADATA", "localhost", "timezone"), Some("UTC"));
        assert_eq!(self.config("saved.json"), now, "{said:?}\n{}", self.log());
        assert!(!self.path("state/pending").exists(), "{}", self.log());
        // If the confirmation died before it stopped the timer, the timer has no effect.
        if self.path("timer").exists() {
            self.time_passes();
            assert_eq!(self.config("db.json"), now, "{said:?}\n{}", self.log());
        }
    }

    /// Pushes, and ends the connection after a command.
    async fn push_until(&self, command: &str) -> PushReport {
        put(&self.path("kill-after"), command, 0o600);
        let report = self.push(NEW).await;
        assert!(!report.is_good() && !self.path("kill-after").exists(), "{report:?}\n{}", self.log());
        report
    }
}

fn fault(report: &PushReport) -> &Fault {
    match &report.devices[NAME] {
        Outcome::Failed(fault) => fault,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_push_brings_a_switch_to_the_tree_and_saves_it() {
    let Some(switch) = FakeSwitch::new() else { return };
    let fleet = switch.fleet(NEW, SonicOptions::default());
    let shown = plan(&fleet, &PushOptions::default(), silent()).await.expect("it can be read").show();
    assert!(
        shown.contains("by config apply-patch") && shown.contains("~ PORT|Ethernet0.mtu 9100"),
        "{shown}"
    );
    let found = drift(&fleet, &PushOptions::default(), silent()).await;
    assert!(matches!(found.devices[NAME], DeviceDrift::Entries { .. }), "{found:?}");
    assert_eq!(switch.config("db.json"), ConfigDb::parse(OLD).expect("right"), "looking changes nothing");
    let report = switch.push(NEW).await;
    assert!(report.is_good(), "{report:?}\n{}", switch.log());
    switch.assert_good(NEW, &report);
    assert!(switch.log().contains("config apply-patch") && !switch.log().contains("config reload"));
    let again = switch.push(NEW).await;
    assert!(again.is_good() && again.updates().total() == 0, "{again:?}");
}

#[tokio::test]
async fn what_a_patch_cannot_do_is_reloaded_and_the_sites_part_stays() {
    let Some(switch) = FakeSwitch::new() else { return };
    let tree = NEW.replace(r#""size": "1""#, r#""size": "2""#);
    let text = r#"{ "tables": { "DNS_NAMESERVER": { "192.0.2.53": {} } } }"#;
    let overlay = Overlay::parse([("dns.json", text)]).expect("right");
    let report = switch.push_with(&tree, SonicOptions { overlay, ..SonicOptions::default() }).await;
    assert!(report.is_good(), "{report:?}\n{}", switch.log());
    switch.assert_good(&tree, &report);
    assert!(switch.log().contains("config reload") && !switch.log().contains("config apply-patch"));
    assert!(switch.config("db.json").entry("DNS_NAMESERVER", "192.0.2.53").is_some());
}

#[tokio::test]
async fn a_saved_plan_is_pushed_by_a_patch_or_a_reload_and_refused_where_the_switch_moved() {
    let Some(switch) = FakeSwitch::new() else { return };
    let options = PushOptions { attempts: 1, ..PushOptions::default() };
    let ssh_config = Some(switch.path("ssh_config").display().to_string());
    let text = r#"{ "tables": { "DNS_NAMESERVER": { "192.0.2.53": {} } } }"#;
    let overlay = Overlay::parse([("dns.json", text)]).expect("right");
    for tree in [NEW.to_owned(), NEW.replace(r#""size": "1""#, r#""size": "2""#)] {
        let site = SonicOptions { overlay: overlay.clone(), ..SonicOptions::default() };
        let made = plan(&switch.fleet(&tree, site), &options, silent()).await.expect("it can be read");
        let saved = Plan::from_json(&made.to_json()).expect("it was just written");
        assert_eq!((saved.to_json(), saved.show()), (made.to_json(), made.show()));
        let sonic = SonicOptions { ssh_config: ssh_config.clone(), ..SonicOptions::default() };
        let inventory = switch.inventory("{name}.mgmt");
        let reached =
            SwitchConnections::new(&inventory, &*reader(Files::new()), &saved, sonic).expect("it is reached");
        let push = async || {
            let report = push_plan(&reached, &saved, &options, silent(), open_gate()).await;
            report.expect("it has an address")
        };
        let held = fs::read_to_string(switch.path("db.json")).expect("it is there");
        put(&switch.path("db.json"), &held.replacen(r#""mtu""#, r#""speed": "1", "mtu""#, 1), 0o600);
        let said = fault(&push().await).to_string();
        assert!(said.contains("other entries in `PORT`; make a new plan"), "{said}");
        put(&switch.path("db.json"), &held, 0o600);
        let report = push().await;
        assert!(report.is_good(), "{report:?}\n{}", switch.log());
        switch.assert_good(&tree, &report);
        assert!(switch.config("db.json").entry("DNS_NAMESERVER", "192.0.2.53").is_some());
        let again = push().await;
        assert!(again.is_good() && again.updates().total() == 0, "{again:?}");
    }
    assert!(switch.log().contains("config apply-patch") && switch.log().contains("config reload"));
}

#[tokio::test]
async fn what_the_switch_refuses_leaves_it_as_it_was() {
    let Some(switch) = FakeSwitch::new() else { return };
    let tree = NEW.replacen('{', r#"{ "WRED_PROFILE": { "refused": { "ecn": "ecn_all" } }, "#, 1);
    let report = switch.push(&tree).await;
    let said = fault(&report).to_string();
    assert!(said.contains("validating function returned False"), "{said}");
    assert!(said.contains("the switch was rolled back"), "{said}");
    assert_eq!(switch.config("db.json"), ConfigDb::parse(OLD).expect("right"), "{}", switch.log());
    assert!(!switch.path("state/pending").exists() && !switch.path("timer").exists(), "{}", switch.log());
}

#[tokio::test]
async fn a_switch_that_loses_its_management_address_goes_back_by_itself() {
    let Some(switch) = FakeSwitch::for_long() else { return };
    let tree = NEW.replace("192.0.2.1/24", "198.51.100.1/24");
    let options = SonicOptions { confirm: Duration::from_secs(1), ..SonicOptions::default() };
    // The rollback is armed for one second, but the timer of this switch never fires by itself.
    let report = switch.push_with(&tree, options).await;
    assert!(!report.is_good() && fault(&report).is_transient(), "{report:?}");
    assert_eq!(
        switch.config("saved.json"),
        ConfigDb::parse(OLD).expect("right"),
        "nothing is saved unconfirmed"
    );
    switch.time_passes();
    assert_eq!(switch.config("db.json"), ConfigDb::parse(OLD).expect("right"), "{}", switch.log());
    let report = switch.push(NEW).await;
    assert!(report.is_good(), "{report:?}\n{}", switch.log());
    switch.assert_good(NEW, &report);
}

#[tokio::test]
async fn a_boot_removes_an_unconfirmed_change_and_keeps_a_confirmed_one() {
    let Some(switch) = FakeSwitch::new() else { return };
    let old = ConfigDb::parse(OLD).expect("right");
    for is_warm in [false, true] {
        switch.push_until("config apply-patch").await;
        assert_ne!(switch.config("db.json"), old);
        switch.boot(is_warm);
        assert_eq!(switch.config("db.json"), old, "{}", switch.log());
        assert!(!switch.path("state/pending").exists(), "{}", switch.log());
        switch.boot(is_warm);
        assert_eq!(switch.config("db.json"), old, "it is taken back once: {}", switch.log());
    }
    // An earlier rollback does not block a push.
    put(&switch.path("failed"), "", 0o600);
    let report = switch.push(NEW).await;
    assert!(report.is_good(), "{report:?}\n{}", switch.log());
    for is_warm in [false, true] {
        switch.boot(is_warm);
        switch.assert_good(NEW, &report);
    }
}

#[tokio::test]
async fn what_was_saved_and_not_confirmed_is_taken_back_where_it_was_saved_too() {
    let Some(switch) = FakeSwitch::new() else { return };
    let old = ConfigDb::parse(OLD).expect("right");
    switch.push_until("config save").await;
    assert_ne!(switch.config("saved.json"), old);
    switch.time_passes();
    assert_eq!(switch.config("db.json"), old, "{}", switch.log());
    assert_eq!(switch.config("saved.json"), old, "{}", switch.log());
    let report = switch.push(NEW).await;
    assert!(report.is_good(), "{report:?}\n{}", switch.log());
    switch.assert_good(NEW, &report);
}

#[tokio::test]
async fn the_way_back_takes_what_sonic_has_no_model_of() {
    let Some(switch) = FakeSwitch::new() else { return };
    let held = OLD.replacen('{', r#"{ "NO_MODEL": { "a": { "b": "c" } }, "#, 1);
    for file in ["db.json", "saved.json"] {
        put(&switch.path(file), &held, 0o600);
    }
    put(&switch.path("rollback-refused"), "", 0o600);
    switch.push_until("config apply-patch").await;
    switch.time_passes();
    assert_eq!(switch.config("db.json"), ConfigDb::parse(&held).expect("right"), "{}", switch.log());
    // SONiC rejects the reload, and the switch is unchanged.
    let tree = NEW.replace(r#""size": "1""#, r#""size": "2""#);
    let report = switch.push(&tree).await;
    let said = fault(&report).to_string();
    assert!(said.contains("missing yang models") && said.contains("the switch was rolled back"), "{said}");
    assert_eq!(switch.config("db.json"), ConfigDb::parse(&held).expect("right"), "{}", switch.log());
}

/// Ends the connection at a command of the switch. Whether the timer then fires or not, the next push
/// finishes the work. Returns whether the command was reached.
async fn end_and_push_again(switch: &FakeSwitch, what: &str, command: usize, late: bool) -> bool {
    switch.renew();
    switch.end_at(what, command);
    let first = switch.push(NEW).await;
    let reached = switch.log().lines().count() >= command;
    // The same push repeats the read-back.
    if first.is_good() {
        switch.assert_good(NEW, &(what, command, late));
        return reached;
    }
    if late && switch.path("timer").exists() {
        switch.time_passes();
        assert_eq!(switch.config("db.json"), switch.config("saved.json"), "{}", switch.log());
    } else if late {
        // No rollback is armed: the next push behaves as it does without the delay.
        return true;
    }
    let second = switch.push(NEW).await;
    assert!(second.is_good(), "{what} {command} {late}: {first:?}\n{second:?}\n{}", switch.log());
    switch.assert_good(NEW, &(what, command, late));
    true
}

#[tokio::test]
async fn a_push_that_dies_anywhere_is_finished_by_the_next_one() {
    let Some(switch) = FakeSwitch::for_long() else { return };
    // The script is interrupted before each command. An interruption after the previous command differs only
    // if the script does something in between. It does so at the two commands that arm the rollback and save,
    // so these two are tested on both sides.
    let mut n_commands = 0;
    for command in 1.. {
        let mut is_reached = false;
        for late in [false, true] {
            is_reached |= end_and_push_again(&switch, "kill-at", command, late).await;
        }
        if !is_reached {
            break;
        }
        n_commands = command;
    }
    assert!(n_commands >= 15, "a push has that many commands: {n_commands}");
    for command in ["systemd-run", "config save"] {
        for late in [false, true] {
            switch.renew();
            switch.push_until(command).await;
            assert!(switch.path("timer").exists(), "{}", switch.log());
            if late {
                switch.time_passes();
                assert_eq!(switch.config("db.json"), switch.config("saved.json"), "{}", switch.log());
            }
            let report = switch.push(NEW).await;
            assert!(report.is_good(), "{command} {late}: {report:?}\n{}", switch.log());
            switch.assert_good(NEW, &(command, late));
        }
    }
}

#[tokio::test]
async fn with_state_a_switch_whose_daemons_lack_its_configuration_drifts() {
    let Some(switch) = FakeSwitch::new() else { return };
    put(&switch.path("db.json"), NEW, 0o600);
    let look = async |state: bool| {
        let fleet = switch.fleet(NEW, SonicOptions { state, ..SonicOptions::default() });
        drift(&fleet, &PushOptions::default(), silent()).await
    };
    assert!(look(false).await.is_clean());
    put(&switch.path("appl.json"), r#"{ "PORT_TABLE:Ethernet0": { "oper_status": "down" } }"#, 0o600);
    put(&switch.path("STATE_DB.json"), r#"{ "BUFFER_MAX_PARAM_TABLE|global": { "mmu_size": "0" } }"#, 0o600);
    let found = look(true).await;
    for line in
        ["PORT_TABLE:Ethernet0.oper_status down", "BUFFER_POOL_TABLE:egress", "room for 0 bytes of pools"]
    {
        assert!(found.show().contains(line), "{line}: {}", found.show());
    }
    std::fs::remove_file(switch.path("STATE_DB.json")).expect("it was put there");
    let options = WatchOptions { interval: Duration::from_millis(100), ..WatchOptions::default() };
    let fleet = switch.fleet(NEW, SonicOptions::default());
    let watch = Watch::start(&fleet, options, silent()).await.expect("the watch opens no port");
    let is_down = || watch.status().devices[NAME].differences.contains_key("PORT_TABLE");
    eventually("a watch sees the port that is down", is_down).await;
    put(&switch.path("appl.json"), UP, 0o600);
    assert!(look(true).await.is_clean());
    eventually("and that it is up", || watch.status().is_good()).await;
    watch.stop().await;
}

#[tokio::test]
async fn a_switch_that_changed_after_it_was_read_is_left_alone() {
    let Some(switch) = FakeSwitch::new() else { return };
    // The second command compares right before the change.
    switch.end_at("move-at", 2);
    let report = switch.push(NEW).await;
    assert!(fault(&report).is_transient(), "{report:?}");
    assert!(fault(&report).to_string().contains("changed after it was read"), "{report:?}");
    assert!(!switch.log().contains("config") && !switch.path("state/pending").exists(), "{}", switch.log());
    assert!(switch.config("db.json").entry("DNS_NAMESERVER", "192.0.2.54").is_some(), "it stays");
}

#[test]
fn no_address_becomes_an_option() {
    let Some(switch) = FakeSwitch::new() else { return };
    for address in ["-oProxyCommand=id", "{name} id", "$(id)", ""] {
        let error = switch.try_fleet(NEW, SonicOptions::default(), address).err().expect("refused");
        assert!(error.to_string().contains("is not a host name and no address"), "{error}");
    }
}
