//! Measures the memory that a broken switch makes a controller use. The controller runs in a separate process, whose
//! peak memory is read.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use closc_runtime::DeviceId;
use closc_runtime::client::{Client, ClientError, Endpoint, Options, Rpc};
use tokio::sync::watch;

use crate::canned::canned;
use crate::common::info;

/// Environment variable of the process that reads: the address of the switch.
const READ: &str = "CLOSC_TEST_READ";

/// Limit for this memory, in KiB.
const LIMIT_KIB: u64 = 64 << 10;

fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the system counts it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the system counts it");
    line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
}

/// Reads from a switch in the child process of another test. Without the variable, it does nothing.
#[test]
fn reads_for_the_other_tests() {
    let Ok(address) = std::env::var(READ) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("threads").block_on(async {
        let endpoint = Endpoint::plain(&address).expect("an address");
        let client = Client::connect(&endpoint, DeviceId(0), Options::default()).await.expect("it listens");
        let info = info();
        drop(client.capabilities().await);
        let base = peak_kib();
        let error = client.read_state(&info).await.expect_err("it answers malformed messages");
        assert!(matches!(error, ClientError::Protocol { rpc: Rpc::Read, .. }), "{error}");
        println!("\ncost {}", peak_kib() - base);
    });
}

async fn cost(message: Vec<u8>, times: usize) -> u64 {
    let closing = watch::Sender::new(false);
    let (address, server) = canned(message, times, closing.subscribe()).await;
    let run = tokio::task::spawn_blocking(move || {
        let mut child = Command::new(std::env::current_exe().expect("this test runs"))
            .args(["--exact", "memory::reads_for_the_other_tests", "--nocapture"])
            .env(READ, address.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test can be run");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        // All lines are read, because closing the pipe early would end the child.
        let lines: Vec<String> = lines.map_while(Result::ok).collect();
        let cost = lines.iter().find_map(|line| line.strip_prefix("cost ")?.parse().ok());
        assert!(child.wait().expect("it ran").success(), "it found malformed messages");
        cost.expect("it says so")
    });
    let cost = run.await.expect("it ends");
    server.abort();
    cost
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn empty_entities_cost_little() {
    let cost = cost([0x0a, 0x00].repeat(4 << 20), 1).await;
    println!("{} MiB above its base", cost >> 10);
    assert!(cost <= LIMIT_KIB, "{cost} KiB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entities_without_end_cost_little() {
    // A table entry with only an id.
    let cost = cost([0x0a, 0x06, 0x12, 0x04, 0x08, 0x81, 0x80, 0x08].repeat(1 << 16), 1000).await;
    println!("{} MiB above its base", cost >> 10);
    assert!(cost <= LIMIT_KIB, "{cost} KiB");
}
