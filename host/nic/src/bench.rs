//! Measures on the ports that there are: how fast a path is chosen, how many packets one core sends, what probes cost.
//!
//! In: the table, a NIC to send to. Out: a line for each figure, and how much of the machine others had meanwhile.
//! Invariants: processor time is that of this process, with what the kernel does in its name: where switches are namespaces
//! of the same kernel, their work as well.

use std::fmt::Write as _;
use std::hint::black_box;
use std::net::Ipv6Addr;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use closc_nic::agent::{Agent, At, Options};
use closc_nic::batch::Batch;
use closc_nic::io::run::{FRAME_MAX, Machine, new_epoch, open_table, read_table};
use closc_nic::io::sys::Inbox;
use closc_nic::region::Region;
use closc_paths::Table;
use closc_paths_engine::{Capacity, Engine};

mod machine;

use machine::{Shares, memory, processor};

type Fault = Box<dyn std::error::Error>;

/// Picks that are timed.
const PICKS: u32 = 10_000_000;
/// Probes a second, and for how long they are sent.
const PROBES: u64 = 2_048;
const PROBING: Duration = Duration::from_secs(3);

/// What is measured.
pub(crate) struct Bench {
    pub(crate) table: PathBuf,
    pub(crate) nic: Ipv6Addr,
    pub(crate) to: Ipv6Addr,
    pub(crate) sizes: Vec<usize>,
    pub(crate) count: u64,
}

impl Bench {
    /// Measures all of it.
    pub(crate) fn run(&self) -> Result<String, Fault> {
        if let Some(size) = self.sizes.iter().find(|size| !(40..=8900).contains(*size)) {
            return Err(format!("a packet has 40 to 8900 bytes, not {size}").into());
        }
        let bytes = read_table(&self.table)?;
        let (table, downlink) = open_table(&bytes, self.nic)?;
        let before = Shares::read();
        let mut said = self.picks(&table, downlink)?;
        for size in &self.sizes {
            said += &self.send(&table, downlink, *size)?;
        }
        said += &Self::probe(&table, downlink)?;
        let _ = writeln!(said, "{:.1} MiB of memory at the most", memory());
        let _ = writeln!(said, "{}", before.since());
        Ok(said)
    }

    /// Times the choice of a path.
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

    fn open(at: &At<'_>, options: Options, downlink: u16) -> Result<(Agent, Machine), Fault> {
        let options = Options { downlink, ..options };
        let mut agent = Agent::new(at, options, Region::Pattern { wrong: 0 }, new_epoch())?;
        let machine = Machine::open(&mut agent, at, downlink)?;
        if agent.ports().iter().all(|port| port.ethernet.is_none() || !port.carrier) {
            return Err("no port is up with a known neighbour".into());
        }
        Ok((agent, machine))
    }

    /// Sends packets of the node without a node: path chosen, headers written, frames handed to the kernel.
    fn send(&self, table: &Table<'_>, downlink: u16, size: usize) -> Result<String, Fault> {
        let started = Instant::now();
        let at = || At { table, now_ns: started.elapsed().as_nanos() as u64 + 1 };
        let (mut agent, machine) = Self::open(&at(), Options::default(), downlink)?;
        let mut packet = vec![0u8; size];
        packet[0] = 0x60;
        packet[4..6].copy_from_slice(&((size - 40) as u16).to_be_bytes());
        (packet[6], packet[7]) = (59, 64);
        packet[8..24].copy_from_slice(&self.nic.octets());
        packet[24..40].copy_from_slice(&self.to.octets());
        let mut batch = Batch::new(FRAME_MAX);
        let (mut made, mut sent) = (0, 0u64);
        let (began, busy) = (Instant::now(), processor());
        while made < self.count {
            let at = at();
            while let Some(frame) = batch.free() {
                frame.payload()[..size].copy_from_slice(&packet);
                agent.spray(&at, &mut batch, size);
                made += 1;
            }
            sent += machine.send(&mut batch) as u64;
        }
        let (seconds, busy) = (began.elapsed().as_secs_f64(), processor() - busy);
        let rate = sent as f64 / seconds;
        let bits = rate * (size + 56) as f64 * 8.0 / 1e9;
        let each = sent as f64 / busy.max(0.01) / 1e6;
        let rate = rate / 1e6;
        Ok(format!(
            "{sent} of {made} packets of {size} bytes in {seconds:.2} s: {rate:.3} M/s, {bits:.2} Gb/s; {each:.3} M in a \
             second of processor time\n"
        ))
    }

    /// Probes switches, as the agent does in bursts, and takes the answers.
    fn probe(table: &Table<'_>, downlink: u16) -> Result<String, Fault> {
        let started = Instant::now();
        let at = || At { table, now_ns: started.elapsed().as_nanos() as u64 + 1 };
        let turns = closc_nic::schedule::Schedule::new(table, downlink, 1, 1).turns().len() as u64;
        let probe_period_ns = turns * 1_000_000_000 / PROBES;
        let (mut agent, machine) =
            Self::open(&at(), Options { probe_period_ns, ..Options::default() }, downlink)?;
        let (mut batch, mut inbox) = (Batch::new(FRAME_MAX), Inbox::new(FRAME_MAX));
        let (began, busy) = (Instant::now(), processor());
        while began.elapsed() < PROBING {
            let now_ns = at().now_ns;
            let wait_ns = agent.due_at(now_ns).saturating_sub(now_ns).min(10_000_000);
            agent.waits(wait_ns);
            machine.wait(wait_ns);
            let at = at();
            for frame in 0..inbox.fill(machine.packets.as_fd()) {
                agent.receive(&at, inbox.frame(frame), &mut batch, &mut |_| ());
            }
            agent.tick(&at, &mut batch, &mut |_| ());
            machine.send(&mut batch);
        }
        let (seconds, busy) = (began.elapsed().as_secs_f64(), processor() - busy);
        let probes = agent.counters().probes;
        let each = busy * 1e6 / probes.max(1) as f64;
        let share = busy / seconds * 100.0;
        Ok(format!(
            "{probes} probes in {seconds:.2} s: {each:.1} us of processor time each, {share:.1} % of a core\n"
        ))
    }
}
