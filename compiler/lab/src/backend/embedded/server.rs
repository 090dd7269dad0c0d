//! The switches of a lab in one process: connected according to the cable lists and programmed over P4Runtime. A Unix
//! socket accepts packets and orders to move cables.
//!
//! In: a tree and the path of a socket. Out: a lab that runs until it is asked to stop or dropped. Invariants: every
//! switch has its own device id at a common P4Runtime endpoint, which is a socket in the folder of the lab unless an
//! address is requested. Switches are empty until a push.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use closc_switch::{
    Clock, Delivery, Endpoint, EndpointError, EngineConfig, Fabric, FabricConfig, LinkEnd, Node,
    PipelineCache, Service, Switch, SwitchConfig,
};
use hashbrown::HashMap;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::wire::{Answer, Frame, Request};
use crate::LabError;
use crate::backend::p4::{self, SpecialPorts};
use crate::model::{Model, PortId};
use crate::progress::Interrupt;
use crate::tree::{Digests, Software, Tree};

/// Name of the socket of P4Runtime, next to that of the lab.
const P4RUNTIME: &str = "p4runtime.sock";

/// Maximum delay of a packet from a controller, in milliseconds.
const TICK_MS: u16 = 10;

/// Interval of checks for a stop request.
const PAUSE: Duration = Duration::from_millis(20);

/// Timeout for the rest of a message.
const PATIENCE: Duration = Duration::from_secs(20);

/// Running switches; they stop when dropped.
#[derive(Debug)]
pub struct SwitchServer {
    endpoint: String,
    socket: Utf8PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SwitchServer {
    /// Returns the P4Runtime endpoint in the form of inventories.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Waits until a client stops the lab over its socket, or until it is interrupted.
    pub fn wait(self, interrupt: &Interrupt) {
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) && !interrupt.is_set() {
            sleep(PAUSE);
        }
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of the fabric panicked");
        }
    }
}

impl Drop for SwitchServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.join();
        // Removing the sockets shows that the server has stopped.
        for socket in [&self.socket, &self.socket.with_file_name(P4RUNTIME)] {
            let _ = fs::remove_file(socket);
        }
    }
}

/// Starts the switches of a compiled tree without pipelines, and a socket for clients.
pub fn serve(
    tree: &Utf8Path,
    socket: &Utf8Path,
    digests: Digests,
    listen: Option<SocketAddr>,
) -> Result<SwitchServer, LabError> {
    let tree = Tree::read_with(tree, digests)?;
    let model = Model::of(&tree)?;
    run(&tree, &model, socket, listen)
}

/// Like [`serve`], for a tree that is already loaded.
pub(super) fn run(
    tree: &Tree,
    model: &Model,
    socket: &Utf8Path,
    listen: Option<SocketAddr>,
) -> Result<SwitchServer, LabError> {
    let site = Site::new(tree, model)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(LabError::io("start the asynchronous runtime"))?;
    let service = Service::new(site.fabric.switches().map(|(_, switch)| Arc::clone(switch)));
    let served = runtime
        .block_on(P4RuntimeAddress::start(service, socket, listen))
        .map_err(|error| LabError::Start { program: "P4Runtime".to_owned(), message: error.to_string() })?;
    let endpoint = served.endpoint();
    let what = || format!("listen on `{socket}`");
    let _ = fs::remove_file(socket);
    let listener = UnixListener::bind(socket).map_err(LabError::io(what()))?;
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let address = endpoint.clone();
    let work = move || {
        site.run(&listener, &address, &stopped);
        drop(served);
        runtime.shutdown_timeout(Duration::from_millis(200));
    };
    let thread = std::thread::Builder::new().name("lab".to_owned()).spawn(work);
    let thread = thread.map_err(LabError::io("start a thread"))?;
    Ok(SwitchServer { endpoint, socket: socket.to_owned(), stop, thread: Some(thread) })
}

/// Address at which P4Runtime is served.
enum P4RuntimeAddress {
    /// At a socket in the folder of the lab, which only its owner can access.
    Socket(Endpoint<PathBuf>),
    /// At an address.
    Network(Endpoint),
}

impl P4RuntimeAddress {
    async fn start(
        service: Service,
        socket: &Utf8Path,
        listen: Option<SocketAddr>,
    ) -> Result<P4RuntimeAddress, EndpointError> {
        if let Some(address) = listen {
            Endpoint::serve(service, address, None).await.map(P4RuntimeAddress::Network)
        } else {
            let path = socket.with_file_name(P4RUNTIME);
            Endpoint::serve_unix(service, path.as_std_path()).await.map(P4RuntimeAddress::Socket)
        }
    }

    /// Returns the endpoint in the form of inventories.
    fn endpoint(&self) -> String {
        match self {
            P4RuntimeAddress::Socket(endpoint) => format!("unix:{}", endpoint.path().display()),
            P4RuntimeAddress::Network(endpoint) => endpoint.address().to_string(),
        }
    }
}

/// Switches and cables.
struct Site {
    fabric: Fabric,
    /// The switch and the port on it, by port number in the model; `None` for ports of NICs.
    ends: Vec<Option<LinkEnd>>,
    numbers: HashMap<LinkEnd, u32>,
    /// The connected port of each port, by number.
    mates: Vec<Option<u32>>,
}

impl Site {
    fn new(tree: &Tree, model: &Model) -> Result<Site, LabError> {
        let clock = Clock::wall();
        let mut fabric = Fabric::new(FabricConfig { clock: clock.clone(), ..FabricConfig::default() });
        let cache = Arc::new(PipelineCache::default());
        let mut nodes: BTreeMap<&str, Node> = BTreeMap::new();
        let special = SpecialPorts::all(tree)?;
        for (name, device_id) in p4::device_ids(tree) {
            let program = tree.devices.get(name).and_then(|device| device.program);
            let Some(special) = program.and_then(|program| special.get(&program)) else { continue };
            let engine = EngineConfig { drop_port: special.drop, ..EngineConfig::default() };
            let (cpu_port, clock) = (Some(special.cpu), clock.clone());
            let config = SwitchConfig { device_id, cpu_port, engine, clock };
            let switch = Switch::with_cache(config, Arc::clone(&cache));
            nodes.insert(name, fabric.add(Arc::new(switch)));
        }
        let end = |port: PortId| {
            let (device, name) = model.end(port);
            let device = &model.devices[device.0].name;
            let number =
                tree.devices.get(device).filter(|d| d.software == Software::P4)?.numbers.get(name)?;
            Some(LinkEnd { node: *nodes.get(device.as_str())?, port: u32::from(*number) })
        };
        let ends: Vec<Option<LinkEnd>> = model.all_ports().map(end).collect();
        let numbers = (0..).zip(&ends).filter_map(|(number, end)| Some(((*end)?, number))).collect();
        let mates = vec![None; ends.len()];
        let mut site = Site { fabric, ends, numbers, mates };
        for port in model.all_ports().filter(|port| port.is_lower()) {
            site.plug(port.number(), port.peer().number()).map_err(LabError::Process)?;
        }
        Ok(site)
    }

    /// Serves clients until it is asked to stop.
    fn run(mut self, listener: &UnixListener, address: &str, stop: &AtomicBool) {
        let mut guests: Vec<UnixStream> = Vec::new();
        while !stop.load(Ordering::Acquire) {
            // Deliver packets that controllers sent.
            self.fabric.run_until(u64::MAX, |_| {});
            let ready = match ready(listener, &guests) {
                Ok(ready) => ready,
                Err(error) => {
                    tracing::error!("the socket of the lab: {error}");
                    return;
                }
            };
            let came = ready.first().copied().unwrap_or(false);
            let mut staying = Vec::with_capacity(guests.len() + 1);
            for (mut guest, speaks) in guests.into_iter().zip(&ready[1..]) {
                match if *speaks { self.serve(&mut guest, address) } else { Ok(RequestResult::Next) } {
                    Ok(RequestResult::Next) => staying.push(guest),
                    Ok(RequestResult::Gone) => {}
                    Ok(RequestResult::Stop) => return,
                    Err(error) => tracing::warn!("the socket of the lab: {error}"),
                }
            }
            guests = staying;
            if came {
                match listener.accept().and_then(|(stream, _)| patient(stream)) {
                    Ok(stream) => guests.push(stream),
                    Err(error) => tracing::warn!("the socket of the lab: {error}"),
                }
            }
        }
    }

    /// Serves one request of a client.
    fn serve(&mut self, stream: &mut UnixStream, address: &str) -> io::Result<RequestResult> {
        let Some(request) = Request::read(stream)? else { return Ok(RequestResult::Gone) };
        let (answer, turn) = match request {
            Request::Exchange(frames) => (Answer::Frames(self.exchange(frames)), RequestResult::Next),
            Request::Follow(frames) => (self.follow(frames), RequestResult::Next),
            Request::Plug { out, pairs } => (self.rewire(&out, &pairs), RequestResult::Next),
            Request::Where => (Answer::Address(address.to_owned()), RequestResult::Next),
            Request::Stop => (Answer::Done, RequestResult::Stop),
        };
        answer.write(stream)?;
        Ok(turn)
    }

    fn exchange(&mut self, frames: Vec<Frame>) -> Vec<Frame> {
        let left = self.carry(frames).into_iter();
        left.filter_map(|left| Some(Frame { port: self.peer_port(left.port)?, ..left })).collect()
    }

    /// Sends packets into cables and returns those that leave switches towards NICs.
    fn carry(&mut self, frames: Vec<Frame>) -> Vec<Frame> {
        for frame in frames {
            if let Some(end) = self.peer_port(frame.port).and_then(|mate| self.ends[mate as usize]) {
                self.fabric.inject(end.node, end.port, frame.bytes);
            }
        }
        let mut out = Vec::new();
        let numbers = &self.numbers;
        self.fabric.run_until(u64::MAX, |Delivery { node, port, frame, .. }| {
            let number = numbers.get(&LinkEnd { node, port });
            out.extend(number.map(|port| Frame { port: *port, bytes: frame }));
        });
        out
    }

    /// Returns the packets at the ports that they enter, and at the switch ports that they leave.
    fn follow(&mut self, frames: Vec<Frame>) -> Answer {
        self.fabric.keep_entered();
        let mut left = self.carry(frames);
        let own = |(end, bytes)| Some(Frame { port: *self.numbers.get(&end)?, bytes });
        let mut entered: Vec<Frame> = self.fabric.take_entered().into_iter().filter_map(own).collect();
        let out = left
            .iter()
            .filter_map(|frame| Some(Frame { port: self.peer_port(frame.port)?, ..frame.clone() }));
        let out: Vec<Frame> = out.collect();
        // A packet that arrives at a port was sent by the connected port. Nodes count their own packets.
        let sender = |frame: &Frame| {
            let mate = self.peer_port(frame.port).filter(|mate| self.ends[*mate as usize].is_some())?;
            Some(Frame { port: mate, ..frame.clone() })
        };
        left.extend(entered.iter().filter_map(sender));
        entered.extend(out);
        Answer::Passed { left, entered }
    }

    fn rewire(&mut self, out: &[u32], pairs: &[(u32, u32)]) -> Answer {
        let known = |port: &u32| (*port as usize) < self.ends.len();
        if !out.iter().chain(pairs.iter().flat_map(|(a, b)| [a, b])).all(known) {
            return Answer::Failed("there is no such port".to_owned());
        }
        for port in out {
            self.unplug(*port);
        }
        match pairs.iter().try_for_each(|(a, b)| self.plug(*a, *b)) {
            Ok(()) => Answer::Done,
            Err(message) => Answer::Failed(message),
        }
    }

    fn peer_port(&self, port: u32) -> Option<u32> {
        self.mates.get(port as usize).copied().flatten()
    }

    fn unplug(&mut self, port: u32) {
        if let Some(mate) = self.mates[port as usize].take() {
            self.mates[mate as usize] = None;
            if let (Some(end), Some(_)) = (self.ends[port as usize], self.ends[mate as usize]) {
                self.fabric.unlink(end);
            }
        }
    }

    fn plug(&mut self, a: u32, b: u32) -> Result<(), String> {
        if let (Some(one), Some(other)) = (self.ends[a as usize], self.ends[b as usize]) {
            self.fabric.link(one, other).map_err(|error| error.to_string())?;
        }
        self.mates[a as usize] = Some(b);
        self.mates[b as usize] = Some(a);
        Ok(())
    }
}

/// The next step after a request.
enum RequestResult {
    Next,
    Gone,
    Stop,
}

/// A client that stops in the middle of a message must not block the lab.
fn patient(stream: UnixStream) -> io::Result<UnixStream> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Waits briefly until a client connects or sends: new connections first, then requests.
fn ready(listener: &UnixListener, guests: &[UnixStream]) -> io::Result<Vec<bool>> {
    let all = std::iter::once(listener.as_fd()).chain(guests.iter().map(UnixStream::as_fd));
    let mut waits: Vec<PollFd<'_>> = all.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
    match poll(&mut waits, PollTimeout::from(TICK_MS)) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => {}
        Err(errno) => return Err(errno.into()),
    }
    Ok(waits.iter().map(|wait| wait.any() == Some(true)).collect())
}
