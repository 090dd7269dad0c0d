//! Public Python clients set a pipeline, write, read, and exchange packets with `closc switch`.
//!
//! `CLOSC_FINSY` and `CLOSC_P4RUNTIME_SHELL` name the Python that has the package, as no single one can have both: they
//! need different versions of protobuf. Otherwise it is `python3`.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::process::{PATIENCE, SwitchProcess};

/// Device that the scripts ask for.
const DEVICE: u64 = 7;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/switch/tests")
}

/// Finds a Python that has a module, or says why the test is skipped.
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

/// A client that runs.
struct Client {
    process: Child,
    said: Lines<BufReader<ChildStdout>>,
}

impl Client {
    fn start(python: &Path, script: &str, switch: &SwitchProcess) -> Self {
        let programs = fixtures().join("programs");
        let mut process = Command::new(python)
            .arg(fixtures().join("clients").join(script))
            .arg(switch.address.to_string())
            .arg(programs.join("features.p4info.txtpb"))
            .arg(programs.join("features.json"))
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("python runs");
        let said = BufReader::new(process.stdout.take().expect("piped")).lines();
        Self { process, said }
    }

    /// Waits until it says a word. It talks of other things in between.
    async fn until(&mut self, word: &str) {
        let received = async {
            while let Some(line) = self.said.next_line().await.expect("it speaks text") {
                if line == word {
                    return;
                }
                println!("{line}");
            }
            panic!("it ended before it said `{word}`; its own words are above");
        };
        tokio::time::timeout(PATIENCE, received).await.expect("it goes on");
    }

    async fn end(mut self) {
        let status = tokio::time::timeout(PATIENCE, self.process.wait()).await.expect("it ends");
        assert!(status.expect("it can be waited for").success());
    }
}

/// Returns a frame whose destination is a small number.
fn frame(destination: u8) -> Vec<u8> {
    let mut frame = vec![0; 14];
    frame[5] = destination;
    frame
}

async fn drive(python: &Path, script: &str) {
    let switch = SwitchProcess::start(DEVICE, &["--cpu-port", "510"]);
    let mut ports = switch.packets().await;
    let mut client = Client::start(python, script, &switch);
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
