//! Measurements on the ports of this host: choosing a path, sending packets on one core, probing.
//!
//! In: the table, a NIC to send to. Out: one line per figure, and the shares of processor time that were stolen and
//! idle. Alternatively, the cost of the kernel's receive timestamps. Invariants: processor time is that of this thread,
//! including the kernel's work on its behalf. If switches are namespaces of the same kernel, it includes their work.

use std::fmt::{self, Write as _};
use std::hint::black_box;
use std::net::Ipv6Addr;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use closc_nic::agent::{Agent, AgentContext, Counters, Options};
use closc_nic::batch::Batch;
use closc_nic::io::machine::Machine;
use closc_nic::io::ports::Names;
use closc_nic::io::run::{FRAME_MAX, GATHER_NS, is_of, new_epoch, open_table, read_table};
use closc_nic::io::sys::{Inbox, stamp, thread_time};
use closc_nic::region::Region;
use closc_nic::schedule::Schedule;
use closc_paths::Table;
use closc_paths_engine::{Capacity, Engine};

mod machine;
mod stamps;

use machine::{Shares, memory};
pub(crate) use stamps::Stamps;

type Fault = Box<dyn std::error::Error>;

/// Returns the processor time of this thread in seconds. Of all clocks, it is affected least by other load on
/// the machine.
fn processor() -> f64 {
    thread_time().as_secs_f64()
}

/// Number of path choices that are timed.
const PICKS: u32 = 10_000_000;
/// Probes per second, and the duration of probing.
const PROBES: u64 = 2_048;
const PROBING: Duration = Duration::from_secs(3);
/// Longest sleep between two turns.
const LOOK_NS: u64 = 100_000_000;

/// A benchmark.
pub(crate) struct Bench {
    pub(crate) table: PathBuf,
    pub(crate) nic: Ipv6Addr,
    pub(crate) fabric: Option<String>,
    pub(crate) to: Ipv6Addr,
    pub(crate) sizes: Vec<usize>,
    pub(crate) count: u64,
    /// Whether to measure sending only.
    pub(crate) sending: bool,
    pub(crate) stamps: Stamps,
    pub(crate) xdp: bool,
    pub(crate) ports: Names,
}

impl Bench {
    /// Runs all measurements.
    pub(crate) fn run(&self) -> Result<String, Fault> {
        if let Some(size) = self.sizes.iter().find(|size| !(40..=8900).contains(*size)) {
            return Err(format!("a packet of {size} bytes cannot be measured; expected 40 to 8900").into());
        }
        if self.sending && self.stamps == Stamps::Compare {
            return Err("`--stamps compare` also measures probes; omit `--sending`".into());
        }
        let bytes = read_table(&self.table)?;
        let (table, downlink) = open_table(&bytes, self.nic)?;
        is_of(&table, self.fabric.as_deref())?;
        let before = Shares::read();
        let mut said = match self.stamps {
            Stamps::Compare => self.stamps(&table, downlink)?,
            Stamps::On | Stamps::Off => self.figures(&table, downlink)?,
        };
        let _ = writeln!(said, "{:.1} MiB of memory at most", memory());
        let _ = writeln!(said, "{}", before.since());
        Ok(said)
    }

    /// Runs each measurement once.
    fn figures(&self, table: &Table<'_>, downlink: u16) -> Result<String, Fault> {
        let stamped = self.stamps == Stamps::On;
        let mut said = if self.sending { String::new() } else { self.picks(table, downlink)? };
        for size in &self.sizes {
            let _ = writeln!(said, "{}", self.send(table, downlink, *size, (self.count, stamped))?);
        }
        for tiers in (0..=2).filter(|_| !self.sending) {
            said += &self.probe(table, downlink, tiers, stamped)?;
        }
        Ok(said)
    }

    /// Returns the options for probing up to this tier; `None` if no more switches are probed than with the tier below.
    fn probe_options(table: &Table<'_>, downlink: u16, probe_tiers: u8) -> Option<Options> {
        let turns = |tiers| Schedule::new(table, downlink, (tiers, 1), 1).turn_points().len() as u64;
        if probe_tiers > 0 && turns(probe_tiers) == turns(probe_tiers - 1) {
            return None;
        }
        let probe_period_ns = turns(probe_tiers) * 1_000_000_000 / PROBES;
        Some(Options { probe_tiers, probe_period_ns, ..Options::default() })
    }

    /// Measures the time to choose a path.
    fn picks(&self, table: &Table<'_>, downlink: u16) -> Result<String, Fault> {
        let options = Options::default();
        let mut engine = Engine::new(table, downlink, options.engine, Capacity::of(table, 4))?;
        let path = engine.open(table, self.to.octets(), 1)?;
        let busy = processor();
        for _ in 0..PICKS {
            black_box(engine.pick(black_box(path)));
        }
        let each = (processor() - busy) * 1e9 / f64::from(PICKS);
        Ok(format!("{each:.1} ns of processor time to choose a path\n"))
    }

    fn open(
        &self,
        at: &AgentContext<'_>,
        options: Options,
        downlink: u16,
        stamped: bool,
    ) -> Result<(Agent, Machine), Fault> {
        let options = Options { downlink, ..options };
        let mut agent = Agent::new(at, options, Region::Pattern { wrong: 0 }, new_epoch())?;
        let machine = Machine::open(&mut agent, at, downlink, &self.ports, None)?;
        stamp(machine.packets.as_fd(), stamped)?;
        if agent.ports().iter().all(|port| port.ethernet.is_none() || !port.carrier) {
            return Err("no port is up with a known neighbour".into());
        }
        Ok((agent, machine))
    }

    /// Sends generated packets of a node: chooses a path, writes headers and passes frames to the kernel.
    fn send(
        &self,
        table: &Table<'_>,
        downlink: u16,
        size: usize,
        (count, stamped): (u64, bool),
    ) -> Result<SendCost, Fault> {
        let started = Instant::now();
        let at = || AgentContext { table, now_ns: started.elapsed().as_nanos() as u64 + 1 };
        let (mut agent, mut machine) = self.open(&at(), Options::default(), downlink, stamped)?;
        if self.xdp {
            machine.use_xdp();
        }
        let mut packet = vec![0u8; size];
        packet[0] = 0x60;
        packet[4..6].copy_from_slice(&((size - 40) as u16).to_be_bytes());
        (packet[6], packet[7]) = (59, 64);
        packet[8..24].copy_from_slice(&self.nic.octets());
        packet[24..40].copy_from_slice(&self.to.octets());
        let mut batch = Batch::new(FRAME_MAX);
        let (mut made, mut sent, mut handing) = (0, 0u64, 0.0);
        let (began, busy) = (Instant::now(), processor());
        while made < count {
            let at = at();
            while let Some(frame) = batch.free() {
                frame.payload()[..size].copy_from_slice(&packet);
                agent.spray(&at, &mut batch, size);
                made += 1;
            }
            let before = processor();
            sent += machine.send(&mut batch) as u64;
            handing += processor() - before;
        }
        machine.flush();
        let (seconds, seconds_busy) = (began.elapsed().as_secs_f64(), processor() - busy);
        Ok(SendCost { size, generated: made, sent, seconds, seconds_busy, seconds_handing: handing })
    }

    /// Probes switches in bursts, as the agent does, and handles the answers. A second run sends frames that no switch
    /// accepts. The difference is the work of switches in the same kernel.
    fn probe(&self, table: &Table<'_>, downlink: u16, tiers: u8, stamped: bool) -> Result<String, Fault> {
        let Some(options) = Self::probe_options(table, downlink, tiers) else { return Ok(String::new()) };
        let run = |unheard| ProbeCost::run(self, (table, downlink), options, (unheard, stamped));
        let (all, alone) = (run(false)?, run(true)?);
        let (each, sending) = (all.probe_cost_us(all.seconds_busy), all.probe_cost_us(all.seconds_sending));
        let own = each - sending + alone.probe_cost_us(alone.seconds_sending);
        let share = |each: f64| each * all.probes as f64 / all.seconds / 1e4;
        let beyond = ["", " and T1s", ", T1s and T2s"][usize::from(tiers.min(2))];
        Ok(format!(
            "{} probes of T0s{beyond} in {:.2} s, {} answered: {each:.1} us of processor time each, {:.1} % of a core; {own:.1} us, \
             {:.1} %, without the switches; answers waited {:.0} us to be read (median; 99th percentile {:.0} us), which round trips \
             do not count\n",
            all.probes,
            all.seconds,
            all.answers,
            share(each),
            share(own),
            all.wait_us(0.5),
            all.wait_us(0.99)
        ))
    }
}

/// The cost of sending.
struct SendCost {
    size: usize,
    generated: u64,
    sent: u64,
    seconds: f64,
    /// Processor time: total, and the part spent in the kernel's send calls.
    seconds_busy: f64,
    seconds_handing: f64,
}

impl SendCost {
    /// Returns millions of packets per second of processor time.
    fn packet_rate(&self) -> f64 {
        self.sent as f64 / self.seconds_busy.max(0.01) / 1e6
    }
}

impl fmt::Display for SendCost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SendCost { size, generated: made, sent, seconds, .. } = self;
        let rate = *sent as f64 / seconds;
        let bits = rate * (size + 56) as f64 * 8.0 / 1e9;
        let (rate, each) = (rate / 1e6, self.packet_rate());
        let kernel = 100.0 * self.seconds_handing / self.seconds_busy.max(0.01);
        write!(
            out,
            "{sent} of {made} packets of {size} bytes in {seconds:.2} s: {rate:.3} M/s, {bits:.2} Gb/s; {each:.3} M in a \
             second of processor time, {kernel:.0} % of it the kernel's"
        )
    }
}

/// The cost of probes.
struct ProbeCost {
    probes: u64,
    answers: u64,
    seconds: f64,
    /// Processor time: total, and the part spent in the kernel's send calls.
    seconds_busy: f64,
    seconds_sending: f64,
    /// Times that answers waited to be read, in ascending order.
    waits_ns: Vec<u64>,
}

impl ProbeCost {
    /// Sends probes for the duration `PROBING`. With `unheard`, frames go to a MAC address that no switch has.
    fn run(
        bench: &Bench,
        (table, downlink): (&Table<'_>, u16),
        options: Options,
        (unheard, stamped): (bool, bool),
    ) -> Result<ProbeCost, Fault> {
        let started = Instant::now();
        let at = || AgentContext { table, now_ns: started.elapsed().as_nanos() as u64 + 1 };
        let (mut agent, mut machine) = bench.open(&at(), options, downlink, stamped)?;
        if unheard {
            for plane in 0..agent.ports().len() {
                let port = agent.ports()[plane];
                let ethernet = port.ethernet.map(|mut head| {
                    head[..6].copy_from_slice(&[2, 0, 0, 0, 0, 0]);
                    head
                });
                agent.port(&at(), plane as u8, ethernet, port.carrier);
            }
        }
        let (mut batch, mut inbox) = (Batch::new(FRAME_MAX), Inbox::new(FRAME_MAX));
        let (mut gathered, mut seconds_sending, mut waited_ns) = (false, 0.0, Vec::new());
        let (began, busy) = (Instant::now(), processor());
        while began.elapsed() < PROBING {
            let now_ns = at().now_ns;
            let most_ns = if gathered { GATHER_NS } else { LOOK_NS };
            let wait_ns = agent.next_due_ns(now_ns).saturating_sub(now_ns).min(most_ns);
            agent.waits(wait_ns);
            let came = machine.wait(wait_ns, gathered);
            let at = at();
            for frame in 0..if came { inbox.fill(machine.packets.as_fd()) } else { 0 } {
                waited_ns.push(inbox.wait_ns(frame));
                agent.receive_late(&at, inbox.wait_ns(frame), inbox.frame(frame), &mut batch, &mut |_| ());
            }
            let probes = agent.counters().probes;
            agent.tick(&at, &mut batch, &mut |_| ());
            gathered = agent.counters().probes > probes && agent.is_quiet();
            let before = processor();
            machine.send(&mut batch);
            machine.flush();
            seconds_sending += processor() - before;
        }
        let (seconds, seconds_busy) = (began.elapsed().as_secs_f64(), processor() - busy);
        let &Counters { probes, probe_answers: answers, .. } = agent.counters();
        waited_ns.sort_unstable();
        Ok(ProbeCost { probes, answers, seconds, seconds_busy, seconds_sending, waits_ns: waited_ns })
    }

    /// Returns a quantile of the times that answers waited.
    fn wait_us(&self, share: f64) -> f64 {
        let at = (self.waits_ns.len() as f64 * share) as usize;
        self.waits_ns.get(at).map_or(0.0, |ns| *ns as f64 / 1e3)
    }

    /// Returns microseconds per probe.
    fn probe_cost_us(&self, seconds: f64) -> f64 {
        seconds * 1e6 / self.probes.max(1) as f64
    }
}
