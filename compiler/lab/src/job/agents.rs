//! Starts and stops agents on the NICs of a lab.
//!
//! In: a lab, its NICs, send options of agents. Out: sockets of ready agents. Invariants: an agent runs in the
//! namespace of its node and has its files in the folder of the lab. It ends when this process ends, even by a crash.
//! Child processes are always reaped.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use closc_files::disk;
use closc_nic::api::Request;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::ask::{Line, Status};
use super::endpoint::JobEndpoint;
use crate::model::Model;
use crate::progress::Watch;
use crate::{Lab, LabError, make_private};

/// Folder of a job, inside that of its lab.
const FOLDER: &str = "job";
/// Maximum number and interval of checks that an agent is ready, which takes long on a loaded machine.
const TRIES: u32 = 1200;
const PAUSE: Duration = Duration::from_millis(50);
/// Maximum number and interval of checks that an agent has ended by itself.
const END_TRIES: u32 = 100;
/// Length of the part at the end of a log that is shown.
const TAIL: u64 = 2000;

/// Program and send options of agents.
#[derive(Debug, Clone, Copy)]
pub(super) struct SendOptions<'a> {
    pub(super) program: &'a Utf8Path,
    pub(super) transport: &'a str,
    pub(super) port_mbps: u32,
    /// Bytes of the IP packets that carry data.
    pub(super) packet_bytes: u32,
}

#[derive(Debug)]
struct Agent {
    name: String,
    socket: Utf8PathBuf,
    log: Utf8PathBuf,
    /// Planes that have a cable.
    planes: Vec<bool>,
    child: Child,
}

/// Agents; they are stopped when dropped.
#[derive(Debug)]
pub(super) struct Agents {
    list: Vec<Agent>,
    folder: Utf8PathBuf,
}

impl Agents {
    /// Starts an agent for every NIC and waits until each has an answer from every T0.
    pub(super) fn start(
        lab: &mut Lab,
        seats: &[JobEndpoint],
        how: SendOptions<'_>,
        watch: &Watch<'_>,
    ) -> Result<Agents, LabError> {
        let folder = lab.folder().join(FOLDER);
        crate::backend::remove_folder(&folder)?;
        make_private(&folder)?;
        let tables: Vec<Vec<u8>> = lab.tree().tables.iter().map(|table| table.bytes().to_vec()).collect();
        for (at, bytes) in tables.iter().enumerate() {
            let path = table_file(&folder, at);
            disk::replace_private(&path, bytes).map_err(LabError::io(format!("write `{path}`")))?;
        }
        let mut agents = Agents { list: Vec::with_capacity(seats.len()), folder };
        let mut of_node = BTreeMap::new();
        for (at, seat) in seats.iter().enumerate() {
            watch.check()?;
            watch.step("start agents", at as u64, 2 * seats.len() as u64);
            let number = of_node.entry(seat.node).or_insert(0u32);
            let agent = agents.start_one(lab, at, seat, *number, how)?;
            *number += 1;
            agents.list.push(agent);
        }
        for at in 0..agents.list.len() {
            watch.step("start agents", (seats.len() + at) as u64, 2 * seats.len() as u64);
            agents.wait_for(at, watch)?;
        }
        watch.step("start agents", 1, 1);
        Ok(agents)
    }

    fn start_one(
        &self,
        lab: &mut Lab,
        at: usize,
        seat: &JobEndpoint,
        number: u32,
        how: SendOptions<'_>,
    ) -> Result<Agent, LabError> {
        let file = |ending: &str| self.folder.join(format!("{at}.{ending}"));
        let (socket, log) = (file("sock"), file("log"));
        let mut options = File::options();
        let said = closc_files::open_own_file(&log, options.create(true).append(true).mode(0o600))
            .map_err(LabError::io(format!("open `{log}`")))?;
        // With a TUN device, the kernel drops its copies of the packets that agents receive. Without one, it processes
        // them too, which is only slower.
        let has_tun = Path::new("/dev/net/tun").exists();
        let tun = if has_tun { format!("closc{number}") } else { String::new() };
        let mut command = Command::new(how.program);
        command
            .args([
                "--socket",
                socket.as_str(),
                "run",
                "--table",
                table_file(&self.folder, seat.table).as_str(),
            ])
            .args(["--nic", &seat.address.to_string(), "--tun", &tun, "--state", file("json").as_str()])
            .args(["--ports", &port_names(lab.model(), seat)])
            .args(["--transport", how.transport, "--port-mbps", &how.port_mbps.to_string(), "--tied"])
            // Long probes have the size of data packets. Larger ones would occupy slow ports for too long.
            .args(["--long-probe-bytes", &how.packet_bytes.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(said);
        let child = lab.breakable()?.start(seat.node, &mut command)?;
        let planes = seat.ports.iter().map(Option::is_some).collect();
        Ok(Agent { name: seat.name.clone(), socket, log, planes, child })
    }

    fn wait_for(&mut self, at: usize, watch: &Watch<'_>) -> Result<(), LabError> {
        let agent = &mut self.list[at];
        let mut last = "it opened no socket".to_owned();
        for _ in 0..TRIES {
            watch.check()?;
            if let Ok(Some(status)) = agent.child.try_wait() {
                return Err(agent.fault(format!("it ended ({status}): {}", agent.tail())));
            }
            match Line::open(&agent.socket).and_then(|mut line| line.ask::<Status>(&Request::Status {})) {
                Ok(status) => match agent.silent(&status) {
                    None => return Ok(()),
                    Some(plane) => last = format!("the T0 of plane {plane} does not answer"),
                },
                Err(error) => last = error.to_string(),
            }
            sleep(PAUSE);
        }
        Err(agent.fault(format!("{last}: {}", agent.tail())))
    }

    /// Opens a connection to an agent.
    pub(super) fn line(&self, at: usize) -> Result<Line, LabError> {
        Line::open(&self.list[at].socket).map_err(|error| self.fault(at, error))
    }

    /// Returns the error of an agent.
    pub(super) fn fault(&self, at: usize, what: impl std::fmt::Display) -> LabError {
        self.list[at].fault(format!("{what}: {}", self.list[at].tail()))
    }
}

impl Agent {
    /// Returns the first plane with a cable whose T0 does not answer.
    fn silent(&self, status: &Status) -> Option<usize> {
        let answers =
            |plane: usize| status.planes.get(plane).is_some_and(|p| p.carrier && p.t0_answers == Some(true));
        (0..self.planes.len()).find(|plane| self.planes[*plane] && !answers(*plane))
    }

    fn fault(&self, what: String) -> LabError {
        LabError::Agent { nic: self.name.clone(), failure: what }
    }

    /// Returns the end of its log, on one line.
    fn tail(&self) -> String {
        let read = || -> std::io::Result<String> {
            let mut file = File::open(&self.log)?;
            let len = file.metadata()?.len();
            file.seek(SeekFrom::Start(len.saturating_sub(TAIL)))?;
            let bytes = closc_budget::read(file.take(TAIL), TAIL)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let text = read().unwrap_or_default();
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if lines.is_empty() { "it printed nothing".to_owned() } else { lines.join("; ") }
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        for agent in &mut self.list {
            // Closing its standard input ends the agent. The signal is for an agent that does not react.
            drop(agent.child.stdin.take());
            let _ = kill(Pid::from_raw(agent.child.id().cast_signed()), Signal::SIGTERM);
        }
        for agent in &mut self.list {
            let mut tries = 0;
            while !matches!(agent.child.try_wait(), Ok(Some(_)) | Err(_)) {
                if tries == END_TRIES {
                    let _ = agent.child.kill();
                    let _ = agent.child.wait();
                    break;
                }
                tries += 1;
                sleep(PAUSE);
            }
        }
        let _ = crate::backend::remove_folder(&self.folder);
    }
}

/// Names of a NIC's ports, plane by plane.
fn port_names(model: &Model, seat: &JobEndpoint) -> String {
    let names: Vec<&str> = seat.ports.iter().map(|port| port.map_or("", |port| model.end(port).1)).collect();
    names.join(",")
}

fn table_file(folder: &Utf8Path, at: usize) -> Utf8PathBuf {
    folder.join(format!("table-{at}.bin"))
}
