//! Drains without a collector: the number of requests per agent, and independence of the agents.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use closc_collect::{Element, io};
use serde_json::{Value, json};

use crate::support::eight_planes;

/// Agents answer only when all of them have received a request, so sequential requests would block forever. Each agent
/// gets exactly two short requests.
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
            let (mut stream, _) = listener.accept().expect("a client connects");
            let own = stream.try_clone().expect("it can be shared");
            for line in BufReader::new(own).lines().map_while(Result::ok) {
                let request: Value = serde_json::from_str(&line).expect("requests are JSON");
                let op = request["op"].as_str().unwrap_or_default().to_owned();
                asked.lock().expect("no thread panicked").push((at, op.clone()));
                together.wait();
                let answer = match op.as_str() {
                    "denials" => json!({ "nic": address, "denials": [] }),
                    _ => json!({ "id": 7 }),
                };
                writeln!(stream, "{answer}").expect("the client reads");
            }
        });
    }
    let sockets = [format!("{}/*.sock", folder.path().display())];
    let element = Element::parse(&plan, "p3-t1-002").expect("it is a switch");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
    let done = runtime.block_on(io::drain(&plan, &sockets, element, true));
    assert!(done.len() == nics.len() && done.iter().all(|agent| agent.outcome == Ok(1)), "{done:?}");
    let mut asked = asked.lock().expect("no thread panicked").clone();
    asked.sort();
    let twice = |at: usize| [(at, "denials".to_owned()), (at, "deny".to_owned())];
    assert_eq!(asked, (0..nics.len()).flat_map(twice).collect::<Vec<_>>());
}

/// Reads a request and does not answer until all others are done, or the client gives up.
fn hang(listener: &UnixListener, gave_up: &AtomicUsize, ends: &Receiver<()>) {
    let (mut stream, _) = listener.accept().expect("a client connects");
    stream.set_nonblocking(true).expect("it can be set");
    let mut bytes = [0; 256];
    while ends.recv_timeout(Duration::from_millis(5)) == Err(RecvTimeoutError::Timeout) {
        if matches!(stream.read(&mut bytes), Ok(0)) {
            gave_up.fetch_add(1, Ordering::SeqCst);
            return;
        }
    }
}

/// Many agents read the request and never answer. Their number is four times the number of answers that are
/// read at a time. They are contacted before and between agents that answer. Those that answer have their
/// orders before the requests to the others time out. The others are reported.
#[test]
fn agents_that_hang_delay_nobody() {
    let plan = eight_planes();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let (gave_up, after) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (done, all_done) = channel();
    let mut hung = Vec::new();
    for at in 0..64 {
        let listener =
            UnixListener::bind(folder.path().join(format!("0{at:02}.sock"))).expect("it can be bound");
        let (gave_up, (end, ends)) = (gave_up.clone(), channel::<()>());
        hung.push(end);
        std::thread::spawn(move || hang(&listener, &gave_up, &ends));
    }
    for (at, nic) in plan.fabric().nics().enumerate() {
        let name = if at % 2 == 0 { format!("00{at}a.sock") } else { format!("9{at}.sock") };
        let listener = UnixListener::bind(folder.path().join(name)).expect("it can be bound");
        let (gave_up, after, done) = (gave_up.clone(), after.clone(), done.clone());
        let address = plan.addresses().nic(nic);
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client connects");
            let own = stream.try_clone().expect("it can be shared");
            for line in BufReader::new(own).lines().map_while(Result::ok) {
                let is_question = line.contains("denials");
                let answer =
                    if is_question { json!({ "nic": address, "denials": [] }) } else { json!({ "id": 7 }) };
                writeln!(stream, "{answer}").expect("the client reads");
                if !is_question {
                    after.lock().expect("no thread panicked").push(gave_up.load(Ordering::SeqCst));
                    done.send(()).expect("the test waits");
                }
            }
        });
    }
    let nics = plan.fabric().nics().count();
    let waiter = std::thread::spawn(move || {
        for _ in 0..nics {
            all_done.recv().expect("every agent is asked");
        }
        drop(hung);
    });
    let sockets = [format!("{}/*.sock", folder.path().display())];
    let element = Element::parse(&plan, "p3-t1-002").expect("it is a switch");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
    let asked = runtime.block_on(io::drain(&plan, &sockets, element, true));
    waiter.join().expect("every agent was asked");
    assert_eq!(
        *after.lock().expect("no thread panicked"),
        vec![0; nics],
        "hung agents that were given up before"
    );
    let (good, bad): (Vec<_>, Vec<_>) = asked.iter().partition(|agent| agent.outcome == Ok(1));
    assert_eq!((good.len(), bad.len()), (nics, 64), "{asked:?}");
    assert!(bad.iter().all(|agent| agent.outcome.is_err()));
}
