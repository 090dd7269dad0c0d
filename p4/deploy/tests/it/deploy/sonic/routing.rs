//! `frr.conf` of a SONiC switch: delivered, compared, applied with the least disturbance, rolled back.

use std::fs;

use closc_deploy::{
    DeviceDrift, Fleet, Plan, PushOptions, PushReport, SonicOptions, SwitchConnections, drift, open_gate,
    plan, push, push_plan, silent,
};
use closc_sonic::ConfigDb;

use super::{FakeSwitch, NAME, NEW, OLD, fault, put};
use crate::support::{Files, reader};

/// A `frr.conf` in the form of the template.
const ROUTING: &str = "! a switch\nfrr version 10.5.4\nfrr defaults traditional\nhostname p0-t0-001\nlog syslog informational\n\
    service integrated-vtysh-config\n!\nno fpm use-next-hop-groups\nfpm address 127.0.0.1\n!\n\
    ipv6 route fd00:1::/48 blackhole\n!\ninterface Ethernet0\n ipv6 nd ra-interval 10\n no ipv6 nd suppress-ra\nexit\n!\n\
    bfd\n profile FABRIC\n  detect-multiplier 3\n exit\n !\nexit\n!\n\
    ipv6 prefix-list FABRIC seq 5 permit fd00:1::/48 ge 64 le 64\n!\n\
    route-map ABOVE-IN permit 10\n match ipv6 address prefix-list FABRIC\nexit\n!\n\
    router bgp 4200000001\n bgp router-id 1.0.0.1\n bgp ebgp-requires-policy\n neighbor ABOVE peer-group\n \
    neighbor ABOVE bfd profile FABRIC\n neighbor Ethernet0 interface v6only remote-as 4216777217\n \
    neighbor Ethernet0 peer-group ABOVE\n !\n address-family ipv6 unicast\n  network fd00:1:0:1::/64\n  \
    neighbor ABOVE activate\n  neighbor ABOVE route-map ABOVE-IN in\n exit-address-family\nexit\n!\nend\n";

/// CONFIG_DB that leaves routing to the file.
fn configuration() -> String {
    NEW.replace(r#""hwsku": "x""#, r#""hwsku": "x", "docker_routing_config_mode": "split-unified""#)
}

/// The same routing with the neighbour drained: another route map, which is added with it.
fn drained_routing() -> String {
    ROUTING
        .replace(
            "router bgp",
            "route-map ABOVE-IN-DRAINED permit 10\n set local-preference 0\nexit\n!\nrouter bgp",
        )
        .replace(
            "  neighbor ABOVE route-map ABOVE-IN in\n",
            "  neighbor ABOVE route-map ABOVE-IN in\n  neighbor Ethernet0 route-map ABOVE-IN-DRAINED in\n",
        )
}

fn single_attempt() -> PushOptions {
    PushOptions { attempts: 1, ..PushOptions::default() }
}

impl FakeSwitch {
    fn routed_fleet(&self, config: &str, routing: &str) -> Fleet {
        let files = [("config_db.json", config), ("frr.conf", routing)];
        self.fleet_of(&files, SonicOptions::default(), "{name}.mgmt").expect("they go together")
    }

    async fn push_routing(&self, routing: &str) -> PushReport {
        push(&self.routed_fleet(&configuration(), routing), &single_attempt(), silent(), open_gate()).await
    }

    async fn drift_of(&self, routing: &str) -> DeviceDrift {
        let found = drift(&self.routed_fleet(&configuration(), routing), &single_attempt(), silent()).await;
        found.devices[NAME].clone()
    }

    async fn plan_of(&self, routing: &str) -> Plan {
        plan(&self.routed_fleet(&configuration(), routing), &single_attempt(), silent())
            .await
            .expect("it can be read")
    }

    /// A switch that has the file installed and runs it.
    async fn with_routing() -> Option<Self> {
        let switch = FakeSwitch::new()?;
        let report = switch.push_routing(ROUTING).await;
        assert!(report.is_good(), "{report:?}\n{}", switch.log());
        fs::remove_file(switch.path("log")).expect("it is ours");
        Some(switch)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }
}

#[tokio::test]
async fn a_new_switch_gets_its_file_before_the_reload_that_starts_routing_with_it() {
    let Some(switch) = FakeSwitch::new() else { return };
    let shown = switch.plan_of(ROUTING).await.show();
    assert!(shown.contains("frr.conf with the reload"), "{shown}");
    let report = switch.push_routing(ROUTING).await;
    assert!(report.is_good(), "{report:?}\n{}", switch.log());
    assert_eq!(switch.text("frr/frr.conf"), ROUTING, "nothing is appended to it");
    assert!(switch.text("frr/running").contains("router bgp 4200000001"), "{}", switch.text("frr/running"));
    assert!(!switch.log().contains("systemctl restart"), "the reload has started it: {}", switch.log());
    assert_eq!(switch.drift_of(ROUTING).await, DeviceDrift::None);
    for left in ["state/frr-before.conf", "state/frr-absent", "state/frr-touched", "state/pending"] {
        assert!(!switch.path(left).exists(), "{left}");
    }
    let again = switch.push_routing(ROUTING).await;
    assert!(again.is_good() && again.updates().total() == 0, "{again:?}");
}

#[tokio::test]
async fn a_drain_is_a_few_commands_that_reset_no_session() {
    let Some(switch) = FakeSwitch::with_routing().await else { return };
    let made = switch.plan_of(&drained_routing()).await;
    let shown = made.show();
    assert!(shown.contains("frr.conf by 8 lines of vtysh, no session is reset"), "{shown}");
    assert!(shown.contains("    neighbor Ethernet0 route-map ABOVE-IN-DRAINED in\n"), "{shown}");
    assert!(shown.contains("1 SONiC switch changes"), "{shown}");
    let preview = serde_json::to_value(made.preview()).expect("JSON");
    assert_eq!(preview["sonic"][NAME]["routing"]["how"]["method"], "commands", "{preview}");
    let report = switch.push_routing(&drained_routing()).await;
    assert!(report.is_good() && report.updates().total() > 0, "{report:?}\n{}", switch.log());
    let log = switch.log();
    assert!(!log.contains("systemctl restart bgp") && !log.contains("config reload"), "{log}");
    assert_eq!(switch.drift_of(&drained_routing()).await, DeviceDrift::None);
    // And back: statements removed from the file are removed from the running configuration.
    let report = switch.push_routing(ROUTING).await;
    assert!(report.is_good(), "{report:?}\n{}", switch.log());
    assert!(!switch.text("frr/running").contains("DRAINED"), "{}", switch.text("frr/running"));
}

#[tokio::test]
async fn damage_to_the_file_and_to_what_runs_is_named() {
    let Some(switch) = FakeSwitch::with_routing().await else { return };
    let named = async |line: &str| match switch.drift_of(ROUTING).await {
        DeviceDrift::Entries { objects, differences } => {
            assert!(objects.contains_key("frr.conf"), "{objects:?}");
            let text = serde_json::to_string(&differences).expect("JSON");
            assert!(text.contains(line), "{line}: {text}");
        }
        other => panic!("{line}: {other:?}"),
    };
    put(&switch.path("frr/frr.conf"), &ROUTING.replace("router-id 1.0.0.1", "router-id 1.0.0.9"), 0o640);
    named("frr.conf (installed file) router bgp 4200000001 / bgp router-id 1.0.0.9").await;
    fs::remove_file(switch.path("frr/frr.conf")).expect("it is ours");
    named("frr.conf (installed file) fpm address 127.0.0.1").await;
    put(&switch.path("frr/frr.conf"), ROUTING, 0o640);
    assert_eq!(switch.drift_of(ROUTING).await, DeviceDrift::None);
    let running = switch.text("frr/running");
    let shut = running.replace(
        " neighbor Ethernet0 remote-as",
        " neighbor Ethernet0 shutdown\n neighbor Ethernet0 remote-as",
    );
    put(&switch.path("frr/running"), &shut, 0o600);
    named("frr.conf (running) router bgp 4200000001 / neighbor Ethernet0 shutdown").await;
    // Differences in only the file, or only the running configuration, are repaired by the next push.
    let report = switch.push_routing(ROUTING).await;
    assert!(report.is_good(), "{report:?}\n{}", switch.log());
    assert_eq!(switch.drift_of(ROUTING).await, DeviceDrift::None);
    put(&switch.path("bgp-down"), "", 0o600);
    named("frr.conf (running)").await;
}

#[tokio::test]
async fn the_container_restarts_only_if_commands_are_not_enough() {
    let Some(switch) = FakeSwitch::with_routing().await else { return };
    put(&switch.path("bgp-down"), "", 0o600);
    let shown = switch.plan_of(ROUTING).await.show();
    assert!(
        shown.contains(
            "frr.conf by a restart of the bgp container, because the `bgp` container does not answer"
        ),
        "{shown}"
    );
    // Daemons take a while to apply their file.
    put(&switch.path("frr-slow"), "3", 0o600);
    let report = switch.push_routing(ROUTING).await;
    assert!(report.is_good(), "{report:?}\n{}", switch.log());
    assert!(switch.log().contains("systemctl restart bgp"), "{}", switch.log());
    assert_eq!(switch.drift_of(ROUTING).await, DeviceDrift::None);
}

#[tokio::test]
async fn unconfirmed_routing_is_rolled_back() {
    let Some(switch) = FakeSwitch::with_routing().await else { return };
    let before = [switch.text("frr/frr.conf"), switch.text("frr/running")];
    put(&switch.path("kill-after"), "docker exec -i", 0o600);
    let report = switch.push_routing(&drained_routing()).await;
    assert!(!report.is_good() && switch.text("frr/running").contains("DRAINED"), "{report:?}");
    switch.time_passes();
    assert_eq!([switch.text("frr/frr.conf"), switch.text("frr/running")], before, "{}", switch.log());
    assert!(!switch.path("state/pending").exists() && !switch.path("state/frr-before.conf").exists());
    let report = switch.push_routing(&drained_routing()).await;
    assert!(report.is_good(), "{report:?}\n{}", switch.log());
    // If FRR rejects a change, the switch is unchanged.
    let before = [switch.text("frr/frr.conf"), switch.text("frr/running")];
    put(&switch.path("frr-refuses"), "no route-map", 0o600);
    let report = switch.push_routing(ROUTING).await;
    let said = fault(&report).to_string();
    assert!(said.contains("the switch was rolled back"), "{said}");
    fs::remove_file(switch.path("frr-refuses")).expect("it is ours");
    assert_eq!(switch.text("frr/frr.conf"), before[0]);
    assert_eq!(switch.drift_of(&drained_routing()).await, DeviceDrift::None, "{}", switch.log());
}

#[tokio::test]
async fn a_push_of_routing_that_dies_anywhere_is_finished_by_the_next_one() {
    if FakeSwitch::for_long().is_none() {
        return;
    }
    let Some(switch) = FakeSwitch::with_routing().await else { return };
    let renew = |switch: &FakeSwitch| {
        for file in ["timer", "log", "count", "kill-at"] {
            drop(fs::remove_file(switch.path(file)));
        }
        put(&switch.path("frr/frr.conf"), ROUTING, 0o640);
        for folder in ["state", "checkpoints", "units"] {
            drop(fs::remove_dir_all(switch.path(folder)));
        }
        fs::create_dir_all(switch.path("checkpoints")).expect("a folder for tests");
        switch.run_command("systemctl", &["restart", "bgp"]);
        drop(fs::remove_file(switch.path("log")));
    };
    let mut n_commands = 0;
    // Each command once; the commands that arm and confirm are covered by the tests of CONFIG_DB.
    for command in 1.. {
        renew(&switch);
        switch.end_at("kill-at", command);
        let first = switch.push_routing(&drained_routing()).await;
        let is_reached = switch.log().lines().count() >= command;
        if !first.is_good() {
            if command % 2 == 0 && switch.path("timer").exists() {
                switch.time_passes();
                assert_eq!(switch.text("frr/frr.conf"), ROUTING, "{command}: {}", switch.log());
            }
            let second = switch.push_routing(&drained_routing()).await;
            assert!(second.is_good(), "{command}: {first:?}\n{second:?}\n{}", switch.log());
        }
        drop(fs::remove_file(switch.path("kill-at")));
        assert_eq!(switch.drift_of(&drained_routing()).await, DeviceDrift::None, "{command}");
        assert!(!switch.path("state/pending").exists(), "{command}");
        if !is_reached {
            break;
        }
        n_commands = command;
    }
    assert!(n_commands >= 15, "a push has that many commands: {n_commands}");
}

#[tokio::test]
async fn a_saved_plan_has_the_file_and_is_refused_where_routing_moved() {
    let Some(switch) = FakeSwitch::with_routing().await else { return };
    let made = switch.plan_of(&drained_routing()).await;
    let saved = Plan::from_json(&made.to_json()).expect("it was just written");
    assert_eq!((saved.to_json(), saved.show()), (made.to_json(), made.show()));
    let sonic = SonicOptions {
        ssh_config: Some(switch.path("ssh_config").display().to_string()),
        ..SonicOptions::default()
    };
    let reached =
        SwitchConnections::new(&switch.inventory("{name}.mgmt"), &*reader(Files::new()), &saved, sonic);
    let reached = reached.expect("it is reached");
    let push = async || {
        push_plan(&reached, &saved, &single_attempt(), silent(), open_gate()).await.expect("it is there")
    };
    let running = switch.text("frr/running");
    put(&switch.path("frr/running"), &running.replace("router-id 1.0.0.1", "router-id 1.0.0.2"), 0o600);
    let report = push().await;
    assert!(fault(&report).to_string().contains("`frr.conf` has changed"), "{report:?}");
    put(&switch.path("frr/running"), &running, 0o600);
    let report = push().await;
    assert!(report.is_good(), "{report:?}\n{}", switch.log());
    assert_eq!(switch.drift_of(&drained_routing()).await, DeviceDrift::None);
    let again = push().await;
    assert!(again.is_good() && again.updates().total() == 0, "{again:?}");
}

#[tokio::test]
async fn a_switch_whose_routing_changed_after_it_was_read_is_left_alone() {
    let Some(switch) = FakeSwitch::with_routing().await else { return };
    // Three commands read it; the fourth compares CONFIG_DB once more.
    switch.end_at("move-at", 4);
    let report = switch.push_routing(&drained_routing()).await;
    assert!(fault(&report).to_string().contains("changed after it was read"), "{report:?}");
    assert_eq!(switch.text("frr/frr.conf"), ROUTING);
    let held = ConfigDb::parse(OLD).expect("right");
    assert_eq!(
        held.text("TACPLUS", "global", "passkey"),
        switch.config("db.json").text("TACPLUS", "global", "passkey")
    );
}
