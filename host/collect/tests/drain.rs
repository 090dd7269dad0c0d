//! A drain without a collector: how often agents are asked, and that none waits for another.

mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Barrier, Mutex};

use closc_collect::{Element, io};
use serde_json::{Value, json};

use support::eight_planes;

/// Agents that answer nothing before every one of them was asked: who asks one after the other waits for ever. Each is asked
/// two short questions, and nothing more.
#[test]
fn all_agents_are_asked_at_once_and_twice() {
    let plan = eight_planes();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let nics: Vec<_> = plan.fabric().nics().collect();
    let (together, asked) = (Arc::new(Barrier::new(nics.len())), Arc::new(Mutex::new(Vec::new())));
    for (at, nic) in nics.iter().enumerate() {
        let listener = UnixListener::bind(folder.path().join(format!("{at}.sock"))).expect("it can be bound");
        let (together, asked, address) = (together.clone(), asked.clone(), plan.addresses().nic(*nic));
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody connects");
            let own = stream.try_clone().expect("it can be shared");
            for line in BufReader::new(own).lines().map_while(Result::ok) {
                let request: Value = serde_json::from_str(&line).expect("requests are JSON");
                let op = request["op"].as_str().unwrap_or_default().to_owned();
                asked.lock().expect("nobody panicked").push((at, op.clone()));
                together.wait();
                let answer = match op.as_str() {
                    "denials" => json!({ "nic": address, "denials": [] }),
                    _ => json!({ "id": 7 }),
                };
                writeln!(stream, "{answer}").expect("somebody reads");
            }
        });
    }
    let sockets = [format!("{}/*.sock", folder.path().display())];
    let element = Element::parse(&plan, "p3-t1-002").expect("it is a switch");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
    let done = runtime.block_on(io::drain(&plan, &sockets, element, true));
    assert!(done.len() == nics.len() && done.iter().all(|agent| agent.done == Ok(1)), "{done:?}");
    let mut asked = asked.lock().expect("nobody panicked").clone();
    asked.sort();
    let twice = |at: usize| [(at, "denials".to_owned()), (at, "deny".to_owned())];
    assert_eq!(asked, (0..nics.len()).flat_map(twice).collect::<Vec<_>>());
}
