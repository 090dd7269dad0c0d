//! The event loop: waits, reads, runs the agent, writes.
//!
//! In: the setup. Out: nothing; a signal ends the loop. Invariants: privileges are dropped before the first
//! packet. The loop is one thread; only metrics have a separate thread. A table that cannot be read is
//! reported, and the old one stays in use.

use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Read};
use std::net::{Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, lchown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use camino::Utf8PathBuf;
use closc_paths::Table;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::agent::{Agent, AgentContext, Bans, Options};
use crate::api;
use crate::batch::{BATCH, Batch};
use crate::io::descriptor_store::{self, InheritedDescriptors};
use crate::io::hold::Hold;
use crate::io::machine::Machine;
use crate::io::notify::Manager;
use crate::io::orders::{self, OrderStart, Orders};
use crate::io::ports::Names;
use crate::io::scrape::{Port, Scrapes};
use crate::io::serve::Server;
use crate::io::setup::{self, SetupFault};
use crate::io::state::State;
use crate::io::sys::{self, Inbox, PollRequest};
use crate::io::tun::Tun;
use crate::io::{serve, state};
use crate::region::Region;

/// Maximum length of a frame, including the Ethernet header.
pub const FRAME_MAX: usize = 9600;
/// Ports are checked at this interval, and when the kernel reports a change.
const LOOK_NS: u64 = 1_000_000_000;
/// Maximum number of packets of the node read in a row if frames are sent by AF_XDP sockets.
const XDP_BATCH: usize = 4 * BATCH;
/// Frames of a batch that are reserved for answers.
const SPARE: usize = 4;
/// Time for which received frames are collected after a burst of probes, if no other traffic is pending. A wake-up per
/// answer would cost several times as much as the answer.
pub const GATHER_NS: u64 = 50_000;

/// Setup.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The table's file.
    pub table: PathBuf,
    /// The NIC's address.
    pub nic: Ipv6Addr,
    /// The required fabric of the table; `None` to accept any.
    pub fabric: Option<String>,
    /// Name of the TUN device; `None` to read no packets of the node.
    pub tun: Option<String>,
    /// Path of the socket for requests.
    pub socket: PathBuf,
    /// Group whose members may query the agent over the socket, but not change its state.
    pub socket_group: Option<String>,
    /// Audit log of denials and reloads.
    pub audit_log: Option<Utf8PathBuf>,
    /// Address for scrapes by Prometheus.
    pub metrics: Option<SocketAddr>,
    /// File for denials.
    pub state: Option<PathBuf>,
    /// File with the memory region for writes; `None` for a test pattern.
    pub region: Option<PathBuf>,
    /// The user to switch to.
    pub user: Option<String>,
    /// Whether to end when standard input ends.
    pub tied: bool,
    /// Whether to send frames by AF_XDP sockets.
    pub xdp: bool,
    /// Names of the NIC's ports.
    pub ports: Names,
    /// Options of the agent.
    pub agent: Options,
}

/// Maximum size of a table file: about a thousand times the size for the largest fabrics.
const TABLE_MAX: u64 = 256 << 20;

/// Reads the file of a table.
pub fn read_table(path: &Path) -> Result<Vec<u8>, SetupFault> {
    state::regular(path, TABLE_MAX, 0)
        .map_err(|error| SetupFault::Open { resource: format!("`{}`", path.display()), error })
}

/// Reads a regular text file of at most `most` bytes.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let bytes = state::regular(path, most, 0)?;
    String::from_utf8(bytes).map_err(|_| ErrorKind::InvalidData.into())
}

/// Opens a table and finds a NIC's downlink in it.
pub fn open_table(bytes: &[u8], nic: Ipv6Addr) -> Result<(Table<'_>, u16), SetupFault> {
    let table = Table::open(bytes).map_err(|fault| SetupFault::Table(fault.to_string()))?;
    let to = table.destination(nic.octets());
    let to =
        to.ok_or_else(|| SetupFault::Table(format!("{nic} is not the address of a NIC of this fabric")))?;
    let h = table.header();
    if (to.zone, to.group) != (h.zone, h.group) {
        let text = format!(
            "{nic} is in group {} of zone {}, but the table is for group {} of zone {}: use the file of its \
             group",
            to.group + 1,
            to.zone,
            h.group + 1,
            h.zone
        );
        return Err(SetupFault::Table(text));
    }
    Ok((table, to.downlink))
}

/// Rejects a table of a fabric other than the required one.
pub fn is_of(table: &Table<'_>, fabric: Option<&str>) -> Result<(), SetupFault> {
    match (fabric, table.fabric()) {
        (Some(wanted), Some(other)) if wanted != other => Err(SetupFault::Table(format!(
            "the table is for fabric `{}`, not `{wanted}`: use the file of that fabric's tree",
            other.escape_default()
        ))),
        (Some(wanted), None) => Err(SetupFault::Table(format!(
            "the table does not name fabric `{wanted}`, because an older `closc` wrote it: compile the \
             fabric again"
        ))),
        (None | Some(_), _) => Ok(()),
    }
}

/// Returns whether an address belongs to this machine.
pub fn is_here(address: Ipv6Addr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// Returns an epoch that differs from that of the previous process.
pub fn new_epoch() -> u16 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // The value changes every 17 ms and repeats after 18 minutes.
    (since.as_nanos() >> 24) as u16 ^ std::process::id() as u16
}

fn unix_now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Runs an agent until a signal ends it.
pub fn run(setup: &Setup) -> Result<(), SetupFault> {
    let opened = InheritedDescriptors::from_environment(setup.tun.as_deref());
    let mut bytes = read_table(&setup.table)?;
    let (table, _) = open_table(&bytes, setup.nic)?;
    check_table(setup, &table)?;
    let user = setup.user.as_deref().map(setup::user).transpose()?;
    state_folder(setup, user)?;
    let _held = reserve(setup)?;
    let kept = load_state(setup)?;
    let fabric = fabric(setup, &table, &kept)?;
    let done = run_with(setup, &mut bytes, (&kept, opened), fabric);
    if setup.tun.is_some() && sys::is_root() {
        // The kernel removes the routes with the device. Remove the rules too, even if the agent failed to start,
        // unless the manager keeps the device.
        let (table, _) = open_table(&bytes, setup.nic)?;
        setup::clean(&table, setup.nic);
    }
    done
}

/// Runs an agent that holds its NIC. On return, `bytes` contains the last table.
fn run_with(
    setup: &Setup,
    bytes: &mut Vec<u8>,
    (kept, opened): (&State, InheritedDescriptors),
    fabric: Option<String>,
) -> Result<(), SetupFault> {
    let open = |what: &str| {
        let what = what.to_owned();
        move |error| SetupFault::Open { resource: what, error }
    };
    let (table, downlink) = open_table(bytes, setup.nic)?;
    let started = Instant::now();
    let clock = || started.elapsed().as_nanos() as u64 + 1;
    let at = AgentContext { table: &table, now_ns: clock() };
    let region = region(setup)?;
    let options = Options { downlink, process_secret: process_secret()?, ..setup.agent };
    check_cookie(&options);
    let mut agent = Agent::new(&at, options, region, new_epoch())
        .map_err(|fault| SetupFault::Table(fault.to_string()))?;
    restore(setup, &mut agent, &at, &kept.bans);
    let tun = setup.tun.as_deref().map(|name| tun(name, opened.tun, &table, &agent)).transpose()?;
    let mut machine = Machine::open(&mut agent, &at, downlink, &setup.ports, opened.packets)?;
    if setup.xdp {
        machine.use_xdp();
    }
    let links = sys::open_links().map_err(open("a netlink socket"))?;
    let metrics = metrics_port(setup)?;
    let mut server = server(setup)?;
    drop_privileges(setup, fabric.as_deref(), &agent)?;
    server.set_orders(orders(setup, bytes)?);
    let manager = Manager::from_environment().map_err(open("the socket of the service manager"))?;
    let scrapes = metrics.map(|port| port.serve().map_err(open("a thread for metrics"))).transpose()?;
    let flags = flags();
    keep(&manager, tun.as_ref(), &machine);
    manager.ready();
    tracing::debug!(nic = %setup.nic, table = %setup.table.display(), xdp = setup.xdp, "the agent is ready");
    let mut loop_state = LoopState {
        setup,
        tun,
        links,
        server,
        scrapes,
        flags,
        reload_since: None,
        manager,
        agent,
        downlink,
        fabric,
    };
    loop {
        let (table, _) = open_table(bytes, setup.nic)?;
        let Some(next) = loop_state.serve(&table, &mut machine, &clock) else { break };
        *bytes = next;
    }
    loop_state.end();
    Ok(())
}

/// Warns if cookies are computed without a secret.
fn check_cookie(options: &Options) {
    if options.secret.is_none() {
        tracing::warn!(
            "cookies are computed from addresses, so any host can forge messages: set `--cookie FILE`"
        );
    }
}

/// Passes the TUN device and the socket for frames to the manager, for the next process.
fn keep(manager: &Manager, tun: Option<&Tun>, machine: &Machine) {
    let tun = tun.map(|tun| (descriptor_store::TUN, tun.file().as_fd()));
    for (name, descriptor) in tun.into_iter().chain([(descriptor_store::PACKETS, machine.packets.as_fd())]) {
        if let Err(error) = manager.store(name, descriptor) {
            tracing::warn!(
                "a restart will lose packets, because the service manager cannot keep `{name}`: {error}"
            );
        }
    }
}

/// Opens the socket for requests.
fn server(setup: &Setup) -> Result<Server, SetupFault> {
    let group = setup.socket_group.as_deref().map(setup::group).transpose()?;
    Server::open(&setup.socket, group)
}

/// Saves the fabric for the next start, even without denials, and switches to the agent's user.
fn drop_privileges(setup: &Setup, fabric: Option<&str>, agent: &Agent) -> Result<(), SetupFault> {
    if let Err(why) = save(setup, fabric, agent) {
        tracing::error!("{why}");
    }
    let Some(user) = &setup.user else { return Ok(()) };
    switch_user(setup, user)?;
    // The folder may belong to another user. Check now that it is writable, before a denial must be saved.
    save(setup, fabric, agent).map_err(|why| SetupFault::State(why, user.clone()))
}

/// Opens the TUN device, unless the previous process left it, and adds the routes to it.
fn tun(name: &str, kept: Option<OwnedFd>, table: &Table<'_>, agent: &Agent) -> Result<Tun, SetupFault> {
    let fault = |error| SetupFault::Open { resource: format!("TUN device `{name}`"), error };
    let routes = if kept.is_some() { setup::complete } else { setup::routes };
    let tun = kept.map_or_else(|| sys::open_tun(name), Ok).map_err(fault)?;
    let index = sys::interface_index(name).ok_or_else(|| io::ErrorKind::NotFound.into()).map_err(fault)?;
    routes(table, (name, index), agent.address(), agent.segments())?;
    Ok(Tun::new(File::from(tun)))
}

/// Registers flags that signals set: those that end the agent, and the one that requests a reload of the table.
fn flags() -> [Arc<AtomicBool>; 3] {
    [SIGTERM, SIGINT, SIGHUP].map(|signal| {
        let flag = Arc::new(AtomicBool::new(false));
        // If a handler cannot be installed, the signal ends the process, which is acceptable.
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
        flag
    })
}

/// Reads the state saved by the previous process.
fn load_state(setup: &Setup) -> Result<State, SetupFault> {
    let Some(path) = &setup.state else { return Ok(State::default()) };
    state::load(path).map_err(|error| SetupFault::Open { resource: format!("`{}`", path.display()), error })
}

/// Returns the fabric: the required one, that of the table, or that of the previous process. Rejects a table and
/// denials of different fabrics.
fn fabric(setup: &Setup, table: &Table<'_>, kept: &State) -> Result<Option<String>, SetupFault> {
    let ours = setup.fabric.as_deref().or(table.fabric());
    if let Some(path) = &setup.state {
        kept.suits(path, setup.nic, ours)?;
    }
    let known = ours.or(kept.fabric.as_deref());
    // If only the saved state names a fabric, a table without a name is rejected.
    is_of(table, known)?;
    Ok(known.map(str::to_owned))
}

/// Restores saved denials.
fn restore(setup: &Setup, agent: &mut Agent, at: &AgentContext<'_>, bans: &Bans) {
    let Some(path) = &setup.state else { return };
    let _span = tracing::error_span!("restore").entered();
    for fault in agent.restore(at, bans, unix_now()) {
        tracing::warn!("a denial saved in `{}` is not in force: {fault}", path.display());
    }
}

/// Saves the denials in force, with their fabric and NIC.
fn save(setup: &Setup, fabric: Option<&str>, agent: &Agent) -> Result<(), String> {
    let Some(path) = &setup.state else { return Ok(()) };
    let state = State { fabric: fabric.map(str::to_owned), nic: Some(setup.nic), bans: agent.bans() };
    state::save(path, &state)
        .map_err(|error| format!("denials are not saved in `{}`: {error}", path.display()))
}

/// Opens the audit log as the agent's user, because that user also reopens it after a rotation.
fn orders(setup: &Setup, table: &[u8]) -> Result<Orders, SetupFault> {
    let operator = setup.socket_group.is_some().then(sys::user);
    Orders::open(operator, setup.audit_log.as_deref(), (&setup.table.to_string_lossy(), table))
}

/// Opens the port for Prometheus, if one is configured.
fn metrics_port(setup: &Setup) -> Result<Option<Port>, SetupFault> {
    let open = |address: SocketAddr| {
        let what = format!("{address}, for metrics");
        Port::open(address).map_err(|error| SetupFault::Open { resource: what, error })
    };
    setup.metrics.map(open).transpose()
}

/// A secret of this process: 32 random bytes.
fn process_secret() -> Result<[u8; 32], SetupFault> {
    let mut secret = [0; 32];
    let read = File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut secret));
    let what = "`/dev/urandom`".to_owned();
    read.map(|()| secret).map_err(|error| SetupFault::Open { resource: what, error })
}

/// Removes the kernel state of an agent that no longer runs.
///
/// # Errors
///
/// Returns the error in the table, or that the agent is running.
pub fn clean(path: &Path, nic: Ipv6Addr, fabric: Option<&str>) -> Result<(), SetupFault> {
    let bytes = read_table(path)?;
    let (table, _) = open_table(&bytes, nic)?;
    is_of(&table, fabric)?;
    let _held = hold_nic(nic)?;
    setup::clean(&table, nic);
    Ok(())
}

/// Reserves the NIC and the state file for this process.
fn reserve(setup: &Setup) -> Result<(Hold, Option<Hold>), SetupFault> {
    let nic = hold_nic(setup.nic)?;
    let state = setup.state.as_ref().map(|path| {
        Hold::file(path).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => SetupFault::Held(format!("`{}`", path.display())),
            _ => SetupFault::Open { resource: format!("`{}.lock`", path.display()), error },
        })
    });
    Ok((nic, state.transpose()?))
}

/// Reserves a NIC, unless another agent has it.
fn hold_nic(nic: Ipv6Addr) -> Result<Hold, SetupFault> {
    Hold::nic(nic).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => SetupFault::Held(format!("the NIC {nic}")),
        _ => SetupFault::Open { resource: format!("the name of the NIC {nic}"), error },
    })
}

/// Rejects a table that is for another fabric, or that does not fit the ports. Warns about missing
/// interfaces, and if the NIC's address is not on this machine.
fn check_table(setup: &Setup, table: &Table<'_>) -> Result<(), SetupFault> {
    is_of(table, setup.fabric.as_deref())?;
    setup.ports.fit(table.header().planes)?;
    let named = (0..table.header().planes).filter_map(|plane| setup.ports.of(plane));
    let absent: Vec<String> = named
        .filter(|name| !name.is_empty() && sys::interface_index(name).is_none())
        .map(|name| format!("`{name}`"))
        .collect();
    if !absent.is_empty() {
        let names = absent.join(", ");
        tracing::warn!("`--ports` names interfaces that do not exist yet: {names}");
    }
    if !is_here(setup.nic) {
        tracing::warn!("{} is not an address of this machine; is it the NIC of another node?", setup.nic);
    }
    Ok(())
}

fn region(setup: &Setup) -> Result<Region, SetupFault> {
    let Some(path) = &setup.region else { return Ok(Region::Pattern { wrong: 0 }) };
    let open = |error| SetupFault::Open { resource: format!("region `{}`", path.display()), error };
    let file = File::options().read(true).write(true).open(path).map_err(open)?;
    let len = file.metadata().map_err(open)?.len();
    Ok(Region::File(file, len))
}

/// Creates the folder of the state file for the user only. An existing folder keeps its owner, because it may have
/// other uses.
fn state_folder(setup: &Setup, user: Option<(u32, u32)>) -> Result<(), SetupFault> {
    let folder = setup.state.as_ref().and_then(|path| path.parent()).filter(|f| !f.as_os_str().is_empty());
    let (Some(folder), Some((uid, gid))) = (folder, user) else { return Ok(()) };
    let made = match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) => lchown(folder, Some(uid), Some(gid)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    };
    made.map_err(|error| SetupFault::Open { resource: format!("`{}`", folder.display()), error })
}

/// Switches to a user. Files and sockets that need root must be open before.
fn switch_user(setup: &Setup, user: &str) -> Result<(), SetupFault> {
    let (uid, gid) = setup::user(user)?;
    if let Some(path) = setup.state.as_ref().filter(|path| path.exists()) {
        // Do not follow a link, because other users may have write access to the folder.
        lchown(path, Some(uid), Some(gid))
            .map_err(|error| SetupFault::Open { resource: format!("`{}`", path.display()), error })?;
    }
    sys::become_user(uid, gid).map_err(|error| SetupFault::Become(user.to_owned(), error))
}

/// State that is kept when a new table is loaded.
struct LoopState<'a> {
    setup: &'a Setup,
    tun: Option<Tun>,
    links: OwnedFd,
    server: Server,
    scrapes: Option<Scrapes>,
    flags: [Arc<AtomicBool>; 3],
    /// Time of the first attempt to log a reload requested by a signal, while another process holds the audit log.
    reload_since: Option<u64>,
    manager: Manager,
    agent: Agent,
    downlink: u16,
    /// The fabric, fixed while the agent runs: the required one, or that of the first table with a name.
    fabric: Option<String>,
}

impl LoopState<'_> {
    /// Runs with one table. Returns the bytes of the next table, or `None` at the end.
    fn serve(
        &mut self,
        table: &Table<'_>,
        machine: &mut Machine,
        clock: &dyn Fn() -> u64,
    ) -> Option<Vec<u8>> {
        let mut batch = Batch::new(FRAME_MAX);
        let mut inbox = Inbox::new(FRAME_MAX);
        let (mut fds, mut ready): (Vec<PollRequest>, Vec<bool>) = (Vec::new(), Vec::new());
        let (mut busy, mut asked_ns, mut gathers) = (false, 0, false);
        loop {
            fds.clear();
            fds.push(PollRequest::read(if gathers { -1 } else { machine.packets.as_raw_fd() }));
            fds.push(PollRequest::read(self.links.as_raw_fd()));
            fds.push(PollRequest::read(self.tun.as_ref().map_or(-1, |tun| tun.file().as_raw_fd())));
            fds.push(PollRequest::read(if self.setup.tied { std::io::stdin().as_raw_fd() } else { -1 }));
            fds.push(PollRequest::read(self.scrapes.as_ref().map_or(-1, Scrapes::fd)));
            self.server.fds(&mut fds);
            let due = self.max_wait_ns(clock(), machine, busy, gathers);
            self.agent.waits(due);
            sys::wait(&fds, &mut ready, due);
            if self.flags[0].load(Ordering::Relaxed) || self.flags[1].load(Ordering::Relaxed) {
                return None;
            }
            if ready.get(3).copied().unwrap_or(false) && has_ended(&mut std::io::stdin()) {
                return None;
            }
            let at = AgentContext { table, now_ns: clock() };
            let links_changed = ready.get(1).copied().unwrap_or(false);
            if links_changed {
                drain(&self.links);
            }
            if links_changed || at.now_ns.saturating_sub(machine.last_check_ns) >= LOOK_NS {
                let ask = at.now_ns.saturating_sub(asked_ns) >= LOOK_NS;
                asked_ns = if ask { at.now_ns } else { asked_ns };
                machine.look(&mut self.agent, &at, self.downlink, ask);
            }
            let came = gathers || ready.first().copied().unwrap_or(false);
            busy = came && self.packets(table, clock, machine, &mut batch, &mut inbox);
            if ready.get(2).copied().unwrap_or(false) {
                busy |= self.node(&at, machine, &mut batch);
            }
            // Read the clock again, so that the time spent so far does not count in the next round trip.
            let at = AgentContext { table, now_ns: clock() };
            let probes = self.agent.counters().probes;
            self.tick(&at, &mut batch);
            gathers = self.agent.counters().probes > probes && self.agent.is_quiet();
            busy |= self.agent.pump(&at, &mut batch);
            machine.send(&mut batch);
            machine.flush();
            if let Some(scrapes) = self.scrapes.as_mut().filter(|_| ready.get(4).copied().unwrap_or(false)) {
                scrapes.answer(|| self.agent.metrics(&at) + &self.server.orders().metrics());
            }
            self.manager.notify_watchdog(at.now_ns);
            let asked = ready.iter().skip(5).any(|ready| *ready) || self.server.is_waited_for();
            if let Some(next) = self.next_table(&at, asked) {
                return Some(next);
            }
        }
    }

    /// Returns how long the loop may wait: not at all if there is more to read, and briefly if frames are gathered.
    fn max_wait_ns(&self, now_ns: u64, machine: &Machine, busy: bool, gathers: bool) -> u64 {
        if busy || self.server.has_lines() {
            return 0;
        }
        let due = self
            .agent
            .next_due_ns(now_ns)
            .min(machine.last_check_ns + LOOK_NS)
            .min(self.manager.next_due_ns());
        let due = due.saturating_sub(now_ns);
        let holds = self.server.has_held() || self.reload_since.is_some();
        let due = due.min(if holds { orders::RETRY_NS } else { u64::MAX });
        due.min(if gathers { GATHER_NS } else { u64::MAX })
    }

    /// Answers pending requests. Returns the next table if a request or a signal asks for it.
    fn next_table(&mut self, at: &AgentContext<'_>, asked: bool) -> Option<Vec<u8>> {
        let next = if asked { self.requests(at) } else { None };
        if next.is_some() || !self.flags[2].load(Ordering::Relaxed) {
            return next;
        }
        let begun = self.server.orders().begin_by_signal((at.now_ns, self.reload_since));
        if begun == OrderStart::Later {
            self.reload_since.get_or_insert(at.now_ns);
            return None;
        }
        self.reload_since = None;
        self.flags[2].store(false, Ordering::Relaxed);
        match begun {
            OrderStart::Yes => self.reload(at),
            OrderStart::Refused(why) => {
                tracing::error!("{why}");
                None
            }
            OrderStart::Later => None,
        }
    }

    /// Handles a batch of frames. Returns whether there may be more.
    fn packets(
        &mut self,
        table: &Table<'_>,
        clock: &dyn Fn() -> u64,
        machine: &mut Machine,
        batch: &mut Batch,
        inbox: &mut Inbox,
    ) -> bool {
        let n = inbox.fill(machine.packets.as_fd());
        // Frames waited in the socket until `fill` read them, so the time is taken after it.
        let at = &AgentContext { table, now_ns: clock() };
        for frame in 0..n {
            if batch.free_frames() < SPARE {
                machine.send(batch);
            }
            let tun = &mut self.tun;
            let (waited_ns, bytes) = (inbox.wait_ns(frame), inbox.frame(frame));
            self.agent.receive_late(at, waited_ns, bytes, batch, &mut |packet| to_node(tun, packet));
        }
        machine.send(batch);
        machine.flush();
        n == BATCH
    }

    /// Runs the agent's timers, and passes buffered packets to the node.
    fn tick(&mut self, at: &AgentContext<'_>, batch: &mut Batch) {
        let tun = &mut self.tun;
        self.agent.tick(at, batch, &mut |packet| to_node(tun, packet));
        if let Some(tun) = tun {
            tun.flush();
        }
    }

    /// Reads packets of the node: at most one batch, or several with AF_XDP.
    fn node(&mut self, at: &AgentContext<'_>, machine: &mut Machine, batch: &mut Batch) -> bool {
        let Some(tun) = &mut self.tun else { return false };
        let (agent, most) = (&mut self.agent, setup::inner_mtu(at.table));
        let mut more = true;
        let (mut sent, most_sent) = (0, if machine.xdp.is_some() { XDP_BATCH } else { BATCH });
        while more && sent < most_sent {
            more = tun.read(|len, write| {
                if batch.free_frames() <= SPARE {
                    machine.send(batch);
                }
                sent += 1;
                // The device's MTU is not larger, so a longer packet is not expected.
                if let Some(frame) = batch.free().filter(|_| len <= most) {
                    write(&mut frame.payload()[..len]);
                    agent.spray(at, batch, len);
                }
            });
        }
        machine.send(batch);
        machine.flush();
        more
    }

    fn requests(&mut self, at: &AgentContext<'_>) -> Option<Vec<u8>> {
        let (setup, fabric) = (self.setup, self.fabric.as_deref());
        let save = &mut |agent: &Agent| save(setup, fabric, agent);
        let serve::Round { reload } = self.server.read(&mut self.agent, at, unix_now(), save);
        self.server.answer_writes(&self.agent, at);
        let next = if reload { self.reload(at) } else { None };
        self.server.flush();
        next
    }

    /// Passes packets that wait for earlier ones to the node, because the next process does not have them.
    fn end(&mut self) {
        let tun = &mut self.tun;
        self.agent.flush(&mut |packet| to_node(tun, packet));
        if let Some(tun) = tun {
            tun.flush();
        }
    }

    fn save(&self) {
        if let Err(why) = save(self.setup, self.fabric.as_deref(), &self.agent) {
            tracing::error!("{why}");
        }
    }

    /// Reloads the table file. An error is reported, and the old table stays in use.
    fn reload(&mut self, at: &AgentContext<'_>) -> Option<Vec<u8>> {
        let _span = tracing::error_span!("reload", table = %self.setup.table.display()).entered();
        let tried = read_table(&self.setup.table).and_then(|bytes| {
            let (table, _) = open_table(&bytes, self.setup.nic)?;
            is_of(&table, self.fabric.as_deref())?;
            let new = AgentContext { table: &table, now_ns: at.now_ns };
            let ended = self.agent.reload(at, &new).map_err(|fault| SetupFault::Table(fault.to_string()))?;
            let first = table.fabric().filter(|_| self.fabric.is_none()).map(str::to_owned);
            Ok((bytes, ended, first))
        });
        match tried {
            Ok((bytes, ended, first)) => {
                for (id, fault) in &ended {
                    tracing::warn!("denial {id} ends with the new path table: {fault}");
                }
                let changed = !ended.is_empty() || first.is_some();
                self.fabric = self.fabric.take().or(first);
                if changed {
                    self.save();
                }
                let numbers: Vec<u64> = ended.iter().map(|(id, _)| *id).collect();
                self.end_reload(json!({
                    "reloaded": self.setup.table.display().to_string(),
                    "denials_ended": numbers,
                }));
                self.server.flush();
                tracing::debug!(bytes = bytes.len(), denials_ended = ended.len(), "the table is in use");
                Some(bytes)
            }
            Err(fault) => {
                tracing::error!("the table is unchanged: {fault}");
                self.end_reload(api::fault(fault));
                None
            }
        }
    }

    /// Logs the result of a reload, and answers the clients that asked for it.
    fn end_reload(&mut self, answer: Value) {
        let logged = self.server.orders().end(&answer);
        self.server.answer_reloads(&logged.map_or_else(api::fault, |()| answer));
    }
}

/// Returns whether the input has ended. Data is discarded.
fn has_ended(input: &mut impl Read) -> bool {
    let mut bytes = [0; 256];
    // A read error also counts as the end. Otherwise the loop would spin.
    !input.read(&mut bytes).is_ok_and(|n| n > 0)
}

fn to_node(tun: &mut Option<Tun>, packet: &[u8]) {
    if let Some(tun) = tun {
        tun.write(packet);
    }
}

fn drain(links: &OwnedFd) {
    let Ok(copy) = links.try_clone() else { return };
    let mut file = File::from(copy);
    let mut bytes = [0; 8192];
    while file.read(&mut bytes).is_ok_and(|n| n > 0) {}
}
