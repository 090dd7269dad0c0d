//! Another controller takes over from a primary that is frozen, for example by a debugger or by swapping.
//!
//! The time until the takeover is printed. It depends on the keepalives of the switch (after 5 s of silence, with 4 s
//! for an answer).

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use crate::common::{Place, schemas};
use crate::switch::process::{PATIENCE, SwitchProcess};

/// A running `closc watch`, which is ended on drop.
struct Watch {
    process: Child,
    lines: Receiver<String>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        // The process may have ended already, which the test reports elsewhere.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Watch {
    fn start(place: &Place, switch: &SwitchProcess, election_id: u64, more: &[&str]) -> Self {
        let inventory = format!("inventory-{election_id}.yaml");
        let address = switch.address;
        place.write(
            &inventory,
            format!(
                "defaults: {{ election_id: {election_id} }}\n\
                 devices: {{ p0-t0-001: {{ endpoint: '{address}', device_id: 1 }} }}\n"
            ),
        );
        let arguments = ["--device", "p0-t0-001", "--interval", "1", "--listen", "127.0.0.1:0"];
        let mut process = place
            .command(&["watch", "tree", "--inventory", &inventory])
            .args(arguments)
            .args(more)
            .stderr(Stdio::piped())
            .spawn()
            .expect("closc runs");
        let said = BufReader::new(process.stderr.take().expect("piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in said.lines().map_while(Result::ok) {
                // The receiving test may have ended.
                let _ = sender.send(line);
            }
        });
        Watch { process, lines }
    }

    #[track_caller]
    fn says(&self, what: &str) -> String {
        let mut said = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            if line.contains(what) {
                return line;
            }
            said.push(line);
        }
        panic!("not `{what}`, but {said:#?}");
    }

    fn signal(&self, signal: &str) {
        let pid = self.process.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().expect("every system has `kill`");
        assert!(sent.success());
    }
}

#[test]
fn another_controller_takes_over_from_a_frozen_one() {
    let place = Place::new();
    place.ends(0, &["compile", "topologies/lab/two-planes-p4.yaml", "--out", "tree", "--quiet"]);
    let switch = SwitchProcess::start(1, &[]);
    let primary = Watch::start(&place, &switch, 20, &[]);
    primary.says("p0-t0-001: this controller is primary");
    let standby = Watch::start(&place, &switch, 10, &[]);
    standby.says("p0-t0-001: standing by");
    primary.signal("-STOP");
    let frozen = Instant::now();
    standby.says("p0-t0-001: this controller is primary");
    println!("primary {:.1} s after the other was frozen", frozen.elapsed().as_secs_f64());
    primary.signal("-CONT");
    primary.says("p0-t0-001: standing by");
}

/// With `--format json` each line is a document; the first one is the `watching` event.
#[test]
fn watch_prints_one_json_document_per_line() {
    let place = Place::new();
    place.ends(0, &["compile", "topologies/lab/two-planes-p4.yaml", "--out", "tree", "--quiet"]);
    let switch = SwitchProcess::start(1, &[]);
    let watch = Watch::start(&place, &switch, 20, &["--format", "json"]);
    let lines = std::iter::from_fn(|| Some(watch.says("")));
    let mut events = Vec::new();
    for line in lines {
        schemas::compare_line(&line);
        let event: serde_json::Value = serde_json::from_str(&line).expect("it fits its schema");
        events.push(event["event"].as_str().unwrap_or_default().to_owned());
        if events.last().is_some_and(|event| event == "repaired") {
            break;
        }
    }
    assert_eq!(events[0], "watching", "{events:?}");
    assert!(events.iter().any(|event| event == "leading"), "{events:?}");
}
