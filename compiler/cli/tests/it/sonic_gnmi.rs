//! `closc push` to many SONiC switches over gNMI, each a server on loopback from the deploy crate's tests. The push
//! is killed at a given call, counted over all switches, so that the test does not depend on timing.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use closc_skip::skip;
use closc_sonic::ConfigDb;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::common::Place;
use crate::gnmi::GnmiSwitch;

/// Environment variable that enables the long test. Its value is the number of pushes to kill.
const KILLS: &str = "CLOSC_GNMI_KILLS";

/// Two trees: pushes alternate between a change and its reversal, both by patches.
const SIDES: [(&str, &str); 2] = [
    ("a", "services: { ntp: [10.0.0.1] }\nqos: lossy-trim\n"),
    ("b", "services: { ntp: [10.0.0.2] }\nmtu: { link: 9100 }\nqos: lossy-trim\n"),
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

/// Counts the calls to all switches, and kills a process at a given call.
#[derive(Default)]
struct Counter {
    calls: AtomicU64,
    /// Number of the call, and process id.
    kill: Mutex<Option<(u64, u32)>>,
}

impl Counter {
    fn call(&self) {
        let now = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        let mut asked = self.kill.lock().expect("no task panics");
        if let Some((at, process)) = *asked
            && now >= at
            && process != 0
        {
            *asked = None;
            // The process may have ended, but has not been reaped yet, so its id has not been reused.
            let process = i32::try_from(process).expect("numbers of processes are small");
            let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
        }
    }
}

/// Switches on this machine.
struct Fleet {
    place: Place,
    switches: BTreeMap<String, GnmiSwitch>,
    counter: Arc<Counter>,
}

impl Fleet {
    /// Starts `2 * planes * groups` switches with tree `a` and some configuration of the site.
    fn new(planes: u8, groups: u16) -> Self {
        let place = Place::new();
        for (side, more) in SIDES {
            place.write(&format!("{side}.yaml"), fabric(planes, groups, more));
            place.ends(0, &["compile", "--quiet", &format!("{side}.yaml"), "--out", side]);
        }
        let names = fs::read_dir(place.path("a/switches"))
            .expect("a folder")
            .map(|entry| entry.expect("it can be read").file_name().into_string().expect("text"));
        let counter = Arc::new(Counter::default());
        let mut switches = BTreeMap::new();
        let mut rules = String::from("sonic:\n");
        for name in names {
            let text = place.read(&format!("a/switches/{name}/config_db.json"));
            let mut config: Value = serde_json::from_str(&text).expect("JSON");
            config["TACPLUS"] = json!({ "global": { "passkey": name } });
            let switch = GnmiSwitch::start(&config.to_string(), None);
            let counter = counter.clone();
            switch.lock().hook = Some(Arc::new(move |_: &str| counter.call()));
            let plane = name[1..].split('-').next().expect("names begin with the plane");
            let rule = format!(
                "- {{ devices: {name}, transport: sonic-gnmi, address: 127.0.0.1, port: {}, plane: {plane} }}\n",
                switch.address.port()
            );
            rules.push_str(&rule);
            switches.insert(name, switch);
        }
        assert_eq!(switches.len(), 2 * usize::from(planes) * usize::from(groups));
        place.write("inventory.yaml", rules);
        Fleet { place, switches, counter }
    }

    /// Pushes a tree, and kills the push after `kill_in` calls.
    async fn push(&self, tree: &str, more: &[&str], kill_in: Option<u64>) -> (Option<i32>, String) {
        let at = kill_in.map(|calls| self.counter.calls.load(Ordering::SeqCst) + calls);
        let mut command = self.place.command(&["push", tree, "--inventory", "inventory.yaml", "--quiet"]);
        let command = command.args(more).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = {
            // The lock delays calls until the process id is known.
            let mut asked = self.counter.kill.lock().expect("no task panics");
            let child = command.spawn().expect("it runs");
            *asked = at.map(|at| (at, child.id()));
            child
        };
        let output = tokio::task::spawn_blocking(move || child.wait_with_output());
        let output = output.await.expect("no task panics").expect("it ends");
        *self.counter.kill.lock().expect("no task panics") = None;
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), said)
    }

    /// Asserts that the running and the startup configuration of every switch match the tree, and that the site's
    /// configuration is intact.
    fn assert_good(&self, tree: &str, said: &str) {
        for (name, switch) in &self.switches {
            let wanted = self.place.read(&format!("{tree}/switches/{name}/config_db.json"));
            let wanted = ConfigDb::parse(&wanted).expect("right");
            let held = switch.lock();
            let now = ConfigDb::parse(&held.running.to_string()).expect("right");
            assert_eq!(closc_sonic::owned_part(&now, &wanted), wanted, "{name}: {said}");
            assert_eq!(now.text("TACPLUS", "global", "passkey"), Some(name.as_str()));
            assert_eq!(held.saved_config, held.running, "{name}: {said}");
        }
    }

    /// Alternates between the trees until `kills` pushes were killed, each after a random number of calls.
    async fn survive(&self, kills: u32, apart: u64, seed: u64) {
        let random = &mut SplitMix64::seed_from_u64(seed);
        let (mut killed, mut rounds) = (0, 0);
        while killed < kills {
            let tree = if rounds % 2 == 0 { "b" } else { "a" };
            rounds += 1;
            let said = loop {
                let kill_in = (killed < kills).then(|| 1 + random.next_u64() % apart);
                let (code, said) = self.push(tree, &[], kill_in).await;
                killed += u32::from(code.is_none());
                match code {
                    Some(0) => break said,
                    None => {}
                    Some(code) => panic!("seed {seed}, kill {killed}: a push ends with {code}: {said}"),
                }
            };
            self.assert_good(tree, &said);
            let (code, said) = self.push(tree, &["--dry-run"], None).await;
            assert_eq!(code, Some(0), "nothing is left to do: {said}");
        }
        println!(
            "{killed} pushes killed, {rounds} rounds, {} calls",
            self.counter.calls.load(Ordering::SeqCst)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_over_gnmi_that_is_killed_anywhere_is_finished_by_the_next_one() {
    if std::env::var_os(KILLS).is_some() {
        return skip("the long test runs instead");
    }
    Fleet::new(2, 1).survive(4, 45, 7).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pushes_over_gnmi_to_64_switches_that_are_killed_are_finished_by_the_next_ones() {
    let Some(kills) = std::env::var(KILLS).ok().and_then(|text| text.parse().ok()) else {
        return skip(format_args!("set {KILLS} to the number of pushes that are killed, for example 100"));
    };
    Fleet::new(4, 8).survive(kills, 700, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn diff_compares_live_switches_over_gnmi() {
    let fleet = Fleet::new(1, 1);
    let diff = async |code: i32, sides: &'static [&'static str]| {
        let mut command =
            fleet.place.command(&[&["diff"], sides, &["--inventory", "inventory.yaml"]].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = tokio::task::spawn_blocking(move || command.output()).await.expect("no task panics");
        let output = output.expect("it runs");
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{sides:?}: {said}");
        said
    };
    assert!(diff(0, &["live", "a"]).await.contains("live and a describe the same fabric"));
    let said = diff(2, &["live", "b", "--list"]).await;
    for name in fleet.switches.keys() {
        assert!(said.contains(name), "{said}");
    }
    assert!(said.contains("10.0.0.2") && said.contains("PORT"), "{said}");
    diff(2, &["live", "b", "--out", "saved.diff"]).await;
    let said = diff(1, &["live", "b.yaml"]).await;
    assert!(said.contains("`closc compile b.yaml --out DIR`"), "{said}");
    // `diff live` also shows a change that needs a reload.
    let name = fleet.switches.keys().next().expect("there are two");
    fleet.switches[name].lock().running["BUFFER_POOL"]["egress_lossy_pool"]["size"] = json!("1");
    let said = diff(2, &["live", "a", "--list"]).await;
    assert!(said.contains(name) && said.contains("BUFFER_POOL"), "{said}");
    let sets = fleet.switches.values().flat_map(|switch| switch.lock().calls.clone());
    assert_eq!(sets.filter(|call| call == "Set").count(), 0, "nothing is written");
}

#[tokio::test(flavor = "multi_thread")]
async fn saved_plans_are_pushed_and_rejected_after_a_switch_changed() {
    let fleet = Fleet::new(1, 1);
    let saved = async |arguments: &[&str]| {
        let arguments = [arguments, &["--inventory", "inventory.yaml"]].concat();
        let mut command = fleet.place.command(&arguments);
        let output = tokio::task::spawn_blocking(move || command.output()).await.expect("no task panics");
        assert_eq!(output.expect("it runs").status.code(), Some(2), "{arguments:?} finds differences");
    };
    let first = fleet.switches.keys().next().expect("there are two");
    // A plan, a difference of two trees, and a difference of live switches and a tree.
    let ways: [(&[&str], &str); 3] = [
        (&["push", "b", "--out", "plan.json"], "plan.json"),
        (&["diff", "a", "b", "--out", "trees.diff"], "trees.diff"),
        (&["diff", "live", "b", "--out", "live.diff"], "live.diff"),
    ];
    for (arguments, file) in ways {
        saved(arguments).await;
        let held = fleet.switches[first].lock().running.clone();
        fleet.switches[first].lock().running["PORT"]["Ethernet0"]["mtu"] = json!("1500");
        let (code, said) = fleet.push(file, &[], None).await;
        assert_eq!(code, Some(1), "{file}: {said}");
        assert!(said.contains("state has changed") || said.contains("is stale"), "{file}: {said}");
        fleet.switches[first].lock().running = held;
        // Changes to the site's configuration are ignored.
        fleet.switches[first].lock().running["TACPLUS"]["global"]["timeout"] = json!("9");
        let (code, said) = fleet.push(file, &[], None).await;
        assert_eq!(code, Some(0), "{file}: {said}");
        fleet.assert_good("b", &said);
        let (code, said) = fleet.push(file, &["--reload"], None).await;
        assert!(file != "plan.json" || code == Some(1) && said.contains("part of the saved plan"), "{said}");
        let (code, said) = fleet.push("a", &[], None).await;
        assert_eq!(code, Some(0), "back again: {said}");
    }
    // Pushes one switch of a plan.
    saved(&["push", "b", "--out", "plan.json"]).await;
    let (code, said) = fleet.push("plan.json", &["--device", first, "--format", "json"], None).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains(first) && !said.contains(fleet.switches.keys().next_back().expect("two")),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_over_gnmi_reports_its_actions() {
    let fleet = Fleet::new(1, 1);
    let (code, said) = fleet.push("b", &["--dry-run"], None).await;
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("by one gNMI Set, saved at once"), "{said}");
    let (code, said) = fleet.push("b", &["--format", "json"], None).await;
    assert_eq!(code, Some(0), "{said}");
    fleet.assert_good("b", &said);
    let (code, said) = fleet.push("a", &["--reload"], None).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("a reload was requested"), "{said}");
    fleet.assert_good("b", "refused");
    let (first, last) = (fleet.switches.keys().next(), fleet.switches.keys().next_back());
    let (first, last) = (first.expect("there are two"), last.expect("there are two"));
    fleet.switches[first].lock().running["MGMT_INTERFACE"] = json!({ "eth0|198.51.100.7/24": {} });
    let (code, said) = fleet.push("a", &["--max-failures", "1"], None).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(first) && said.contains("push this switch over sonic-ssh"), "{said}");
    assert!(said.contains("1 switch up to date, 1 failed"), "{last}: {said}");
}
