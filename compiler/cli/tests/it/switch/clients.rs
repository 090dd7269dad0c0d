//! Public Python clients set a pipeline, write and read entries, and exchange packets with `closc switch`.
//!
//! `CLOSC_FINSY` and `CLOSC_P4RUNTIME_SHELL` each contain the path of a Python interpreter with the package;
//! the default is `python3`. The packages need different versions of protobuf, so they cannot be installed
//! together.

use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::switch::process::{PATIENCE, SwitchProcess};

/// Device id that the scripts use.
const DEVICE: u64 = 7;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/switch/tests")
}

/// Finds a Python interpreter with a module; otherwise prints why the test is skipped.
async fn python(variable: &str, module: &str, package: &str) -> Option<PathBuf> {
    let python = std::env::var_os(variable).map_or_else(|| "python3".into(), PathBuf::from);
    let mut import = Command::new(&python);
    import.args(["-c", &format!("import {module}")]).stdout(Stdio::null()).stderr(Stdio::null());
    let found = import.status().await.is_ok_and(|status| status.success());
    if !found {
        let python = python.display();
        closc_skip::skip(format_args!("{python} cannot import {module} (pip install {package})"));
    }
    found.then_some(python)
}

/// A running client.
struct Client {
    process: Child,
    output_lines: Lines<BufReader<ChildStdout>>,
}

impl Client {
    /// Starts a script with a P4 program: the paths of its P4Info and of its compiled form.
    fn start(python: &Path, script: &str, switch: &SwitchProcess, program: [&str; 2]) -> Self {
        let mut process = Command::new(python)
            .arg(fixtures().join("clients").join(script))
            .arg(switch.address.to_string())
            .args(program.map(|file| fixtures().join(file)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("python runs");
        let said = BufReader::new(process.stdout.take().expect("piped")).lines();
        Self { process, output_lines: said }
    }

    /// Waits until the client prints a word, ignoring other lines.
    async fn until(&mut self, word: &str) {
        let received = async {
            while let Some(line) = self.output_lines.next_line().await.expect("it speaks text") {
                if line == word {
                    return;
                }
                println!("{line}");
            }
            panic!("it ended before it said `{word}`; its own words are above");
        };
        tokio::time::timeout(PATIENCE, received).await.expect("it goes on");
    }

    /// Signals the client to continue.
    async fn go_on(&mut self) {
        let input = self.process.stdin.as_mut().expect("piped");
        input.write_all(b"\n").await.expect("it listens");
    }

    async fn end(mut self) {
        let status = tokio::time::timeout(PATIENCE, self.process.wait()).await.expect("it ends");
        assert!(status.expect("it can be waited for").success());
    }
}

/// Returns a frame with a small number as its destination address.
fn frame(destination: u8) -> Vec<u8> {
    let mut frame = vec![0; 14];
    frame[5] = destination;
    frame
}

async fn drive(python: &Path, script: &str) {
    let switch = SwitchProcess::start(DEVICE, &["--cpu-port", "510"]);
    let mut ports = switch.packets().await;
    let program = ["programs/features.p4info.txtpb", "programs/features.json"];
    let mut client = Client::start(python, script, &switch, program);
    client.until("ready").await;
    ports.send(3, &frame(1)).await;
    assert_eq!(ports.receive().await, (3, frame(2)), "the packet that the controller sends out");
    client.until("done").await;
    client.end().await;
}

#[tokio::test]
async fn finsy_drives_the_switch() {
    let Some(python) = python("CLOSC_FINSY", "finsy", "finsy").await else { return };
    drive(&python, "finsy_client.py").await;
}

#[tokio::test]
async fn p4runtime_shell_drives_the_switch() {
    let found = python("CLOSC_P4RUNTIME_SHELL", "p4runtime_sh.shell", "p4runtime-shell").await;
    let Some(python) = found else { return };
    drive(&python, "shell.py").await;
}

/// The MAC address of the switch, and that of the neighbour behind its port 3.
const OWN_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const NEIGHBOUR_MAC: [u8; 6] = [2, 0, 0, 0, 0x10, 3];

/// A UDP packet in IPv6, with a destination in the prefix that the scripts route.
fn routed_packet(destination: [u8; 6], source: [u8; 6], hop_limit: u8) -> Vec<u8> {
    let mut frame = [destination, source].concat();
    frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 17, hop_limit]);
    frame.extend(Ipv6Addr::from_bits(0x2001_0db8_0009 << 80 | 1).octets());
    frame.extend(Ipv6Addr::from_bits(0x2001_0db8_0001 << 80 | 7).octets());
    frame.extend([0x12, 0xb7, 0x12, 0xb7, 0, 8, 0, 0]);
    frame
}

/// A script adds routes by name on the P4 model of SONiC hardware, where ids and ports are text.
async fn route(python: &Path, script: &str) {
    let switch = SwitchProcess::start(DEVICE, &["--cpu-port", "510"]);
    let mut ports = switch.packets().await;
    let program = ["../../pipelines/sai/sai.p4info.txtpb", "../../pipelines/sai/sai.bmv2.json"];
    let mut client = Client::start(python, script, &switch, program);
    client.until("ready").await;
    ports.send(5, &routed_packet(OWN_MAC, [2, 0, 0, 0, 0, 9], 64)).await;
    assert_eq!(ports.receive().await, (3, routed_packet(NEIGHBOUR_MAC, OWN_MAC, 63)));
    client.go_on().await;
    client.until("done").await;
    client.end().await;
}

#[tokio::test]
async fn finsy_routes_by_names() {
    let Some(python) = python("CLOSC_FINSY", "finsy", "finsy").await else { return };
    route(&python, "sai_finsy.py").await;
}

#[tokio::test]
async fn p4runtime_shell_routes_by_names() {
    let found = python("CLOSC_P4RUNTIME_SHELL", "p4runtime_sh.shell", "p4runtime-shell").await;
    let Some(python) = found else { return };
    route(&python, "sai_shell.py").await;
}
