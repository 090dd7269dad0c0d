//! A switch on network interfaces: one thread that receives, forwards and sends in batches.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use thiserror::Error;

use super::pcap::PcapWriter;
use super::raw::{BATCH, Batch, RawSocket};
use crate::switch::{Outbox, Ports, Switch};

/// Maximum sleep, and thus the maximum delay of a stop or of a queued packet.
const LONGEST_SLEEP: Duration = Duration::from_millis(10);

/// Interval between checks of the interface state.
const STATE_INTERVAL: Duration = Duration::from_millis(500);

/// An interface that cannot be used.
#[derive(Debug, Error)]
pub enum InterfaceError {
    /// It cannot be opened.
    #[error("interface `{name}` cannot be opened: {error}")]
    Open {
        /// Its name.
        name: String,
        /// The error.
        error: io::Error,
    },
    /// Two interfaces have the same port.
    #[error("port {port} is given to `{first}` and to `{second}`")]
    PortTwice {
        /// The port.
        port: u32,
        /// One interface.
        first: String,
        /// The other.
        second: String,
    },
    /// A capture cannot be written.
    #[error("the capture `{name}` cannot be written: {error}")]
    Capture {
        /// Its file.
        name: String,
        /// The error.
        error: io::Error,
    },
}

type Capture = Mutex<PcapWriter<BufWriter<File>>>;

struct Interface {
    name: String,
    socket: RawSocket,
    captures: Option<(Capture, Capture)>,
}

impl Interface {
    /// Receives at most one batch, so that other interfaces are not delayed.
    fn receive(&self, switch: &Switch, port: u32, batch: &mut Batch, outbox: &mut Outbox) {
        match self.socket.receive(batch) {
            Ok(count) if count > 0 => {}
            // The packet is gone, or the interface went down; its state is checked soon.
            Ok(_) | Err(_) => return,
        }
        if let Some((file, _)) = &self.captures {
            capture(file, calendar_ns(switch), batch.frames());
        }
        switch.receive_all(batch.frames().map(|frame| (port, frame)), outbox);
    }

    fn transmit(&self, calendar_ns: u64, frames: &[&[u8]]) {
        let mut rest = frames;
        while !rest.is_empty() {
            let taken = self.socket.send(rest);
            if taken == rest.len() {
                break;
            }
            // The rejected frame is lost; the following ones are tried.
            rest = &rest[taken + 1..];
        }
        if let Some((_, out)) = &self.captures {
            capture(out, calendar_ns, frames.iter().copied());
        }
    }
}

fn capture<'f>(file: &Capture, calendar_ns: u64, frames: impl Iterator<Item = &'f [u8]>) {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    for frame in frames {
        if let Err(error) = file.write(calendar_ns, frame) {
            tracing::error!("a capture cannot be written: {error}");
            return;
        }
    }
    if let Err(error) = file.flush() {
        tracing::error!("a capture cannot be written: {error}");
    }
}

/// Interfaces by port.
pub(crate) struct Interfaces {
    interfaces: BTreeMap<u32, Interface>,
    stop: AtomicBool,
}

impl std::fmt::Debug for Interfaces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.interfaces.iter().map(|(port, interface)| (port, &interface.name));
        f.debug_map().entries(names).finish()
    }
}

impl Interfaces {
    /// Opens interfaces. With a folder, received and sent packets are captured there.
    pub(crate) fn open(ports: &[(u32, String)], captures: Option<&Path>) -> Result<Self, InterfaceError> {
        let mut interfaces: BTreeMap<u32, Interface> = BTreeMap::new();
        for (port, name) in ports {
            if let Some(known) = interfaces.get(port) {
                let (first, second) = (known.name.clone(), name.clone());
                return Err(InterfaceError::PortTwice { port: *port, first, second });
            }
            let socket =
                RawSocket::open(name).map_err(|error| InterfaceError::Open { name: name.clone(), error })?;
            let captures = match captures {
                Some(folder) => Some((open(folder, name, "in")?, open(folder, name, "out")?)),
                None => None,
            };
            interfaces.insert(*port, Interface { name: name.clone(), socket, captures });
        }
        Ok(Self { interfaces, stop: AtomicBool::new(false) })
    }

    /// Returns whether a port has an interface.
    pub(crate) fn has(&self, port: u32) -> bool {
        self.interfaces.contains_key(&port)
    }

    /// Makes [`Interfaces::run`] return.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// Forwards packets until it is stopped; packets for ports without an interface are passed to `others`.
    pub(crate) fn run(&self, switch: &Switch, others: &dyn Ports) -> io::Result<()> {
        let (mut batch, mut outbox) = (Batch::new(), Outbox::new());
        let mut due_ns = None;
        let mut looked: Option<Instant> = None;
        while !self.stop.load(Ordering::Acquire) {
            if looked.is_none_or(|at| at.elapsed() >= STATE_INTERVAL) {
                for (port, interface) in &self.interfaces {
                    switch.set_port(*port, interface.socket.is_up());
                }
                looked = Some(Instant::now());
            }
            let ready = self.wait(switch, due_ns)?;
            for (port, interface) in
                self.interfaces.iter().zip(&ready).filter(|(_, ready)| **ready).map(|(i, _)| i)
            {
                interface.receive(switch, *port, &mut batch, &mut outbox);
                self.transmit(switch, others, &mut outbox);
            }
            due_ns = switch.tick(&mut outbox);
            self.transmit(switch, others, &mut outbox);
        }
        Ok(())
    }

    /// Waits until a packet arrives or work is due; returns the interfaces with packets.
    fn wait(&self, switch: &Switch, due_ns: Option<u64>) -> io::Result<Vec<bool>> {
        let now_ns = switch.now_ns();
        let left = due_ns.map_or(LONGEST_SLEEP, |due| Duration::from_nanos(due.saturating_sub(now_ns)));
        let left = left.min(LONGEST_SLEEP).as_micros().div_ceil(1000) as u16;
        let sockets = self.interfaces.values().map(|interface| interface.socket.as_fd());
        let mut fds: Vec<PollFd> = sockets.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        match poll(&mut fds, PollTimeout::from(left)) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(fds.iter().map(|fd| fd.any() == Some(true)).collect())
    }

    /// Sends the packets of an outbox, grouped by port.
    fn transmit(&self, switch: &Switch, others: &dyn Ports, outbox: &mut Outbox) {
        if outbox.is_empty() {
            return;
        }
        let now = calendar_ns(switch);
        let mut by_port: BTreeMap<u32, Vec<&[u8]>> = BTreeMap::new();
        for (port, at_ns, frame) in outbox.packets() {
            if self.has(port) {
                by_port.entry(port).or_insert_with(|| Vec::with_capacity(BATCH)).push(frame);
            } else {
                others.send(port, at_ns, frame);
            }
        }
        for (port, frames) in by_port {
            if let Some(interface) = self.interfaces.get(&port) {
                interface.transmit(now, &frames);
            }
        }
        outbox.clear();
    }
}

fn open(folder: &Path, interface: &str, direction: &str) -> Result<Capture, InterfaceError> {
    let file = folder.join(format!("{interface}_{direction}.pcap"));
    let error = |error| InterfaceError::Capture { name: file.display().to_string(), error };
    let mut new = File::options();
    let own =
        closc_files::open_own_file(&file, new.write(true).create(true).truncate(true)).map_err(error)?;
    Ok(Mutex::new(PcapWriter::new(BufWriter::new(own)).map_err(error)?))
}

fn calendar_ns(switch: &Switch) -> u64 {
    switch.config().clock.calendar_ns(switch.now_ns())
}

impl Ports for Interfaces {
    fn send(&self, port: u32, at_ns: u64, frame: &[u8]) {
        if let Some(interface) = self.interfaces.get(&port) {
            let _ = at_ns;
            let calendar = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            interface.transmit(calendar.unwrap_or_default().as_nanos() as u64, &[frame]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_are_regular_files_only() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("other"), "another file").expect("it can be written");
        std::os::unix::fs::symlink(at("other"), at("s1-eth1_in.pcap")).expect("it can be linked");
        nix::unistd::mkfifo(&at("s1-eth1_out.pcap"), nix::sys::stat::Mode::S_IRWXU)
            .expect("a pipe can be made");
        for (direction, why) in [("in", "it is a symbolic link"), ("out", "it is not a regular file")] {
            let said = open(folder.path(), "s1-eth1", direction).map(drop).expect_err("it is refused");
            assert!(said.to_string().ends_with(&format!("cannot be written: {why}")), "{said}");
        }
        assert_eq!(std::fs::read_to_string(at("other")).expect("it is there"), "another file");
        assert!(open(folder.path(), "s1-eth2", "in").is_ok());
    }
}
