//! Measures how many packets one core sends: path chosen, headers written, frames handed to the kernel.

use std::net::Ipv6Addr;
use std::path::Path;
use std::time::Instant;

use closc_nic::agent::{Agent, At, Options};
use closc_nic::batch::Batch;
use closc_nic::io::run::{FRAME_MAX, Machine, new_epoch, open_table, read_table};
use closc_nic::region::Region;

/// Sends packets of the node without a node, and says how many left in a second.
pub(crate) fn send(
    table: &Path,
    nic: Ipv6Addr,
    to: Ipv6Addr,
    size: usize,
    count: u64,
) -> Result<String, Box<dyn std::error::Error>> {
    let bytes = read_table(table)?;
    let (table, downlink) = open_table(&bytes, nic)?;
    let started = Instant::now();
    let at = |table| At { table, now_ns: started.elapsed().as_nanos() as u64 + 1 };
    let options = Options { downlink, ..Options::default() };
    let mut agent = Agent::new(&at(&table), options, Region::Pattern { wrong: 0 }, new_epoch())?;
    let machine = Machine::open(&mut agent, &at(&table), downlink)?;
    if agent.ports().iter().all(|port| port.ethernet.is_none() || !port.carrier) {
        return Err("no port is up with a known neighbour".into());
    }
    if !(40..=8900).contains(&size) {
        return Err(format!("a packet has 40 to 8900 bytes, not {size}").into());
    }
    let mut packet = vec![0u8; size];
    packet[0] = 0x60;
    packet[4..6].copy_from_slice(&((size - 40) as u16).to_be_bytes());
    (packet[6], packet[7]) = (59, 64);
    packet[8..24].copy_from_slice(&nic.octets());
    packet[24..40].copy_from_slice(&to.octets());
    let mut batch = Batch::new(FRAME_MAX);
    let (mut made, mut sent) = (0, 0u64);
    let (began, busy_before) = (Instant::now(), processor_seconds());
    while made < count {
        let at = at(&table);
        while let Some(frame) = batch.free() {
            frame.payload()[..size].copy_from_slice(&packet);
            agent.spray(&at, &mut batch, size);
            made += 1;
        }
        sent += machine.send(&mut batch) as u64;
    }
    let (seconds, busy) = (began.elapsed().as_secs_f64(), processor_seconds() - busy_before);
    let rate = sent as f64 / seconds;
    let bits = rate * (size + 56) as f64 * 8.0 / 1e9;
    let each = sent as f64 / busy.max(0.01) / 1e6;
    let rate = rate / 1e6;
    Ok(format!(
        "{sent} of {made} packets of {size} bytes in {seconds:.2} s: {rate:.3} M/s, {bits:.2} Gb/s; {each:.3} M in a \
         second of processor time"
    ))
}

/// Processor time of this process so far: what a machine that does other things as well does not change.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let field =
        |n: usize| after_name.split_whitespace().nth(n).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    // User and system time, in ticks, of which Linux counts 100 a second.
    (field(11) + field(12)) / 100.0
}
