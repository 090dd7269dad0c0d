//! Task of a job, independent of its carrier.

use std::time::Duration;

use camino::Utf8PathBuf;
use closc_nic::agent::PIECE_HEADERS;
use closc_nic::choose::Transport;

use super::pattern::{Pattern, Work};

/// Bytes of an Ethernet header.
const ETHERNET: u32 = 14;

/// The longest that a packet may take to leave a port: agents take a packet for lost that is 50 ms late, and a full queue
/// holds 64 packets or more.
pub(super) const PACKET_NS_MAX: u64 = 400_000;
/// Messages of a NIC lie at so many places of its region.
pub(super) const PLACES: u64 = 1024;
/// The distance between samples.
pub(super) const SAMPLE: Duration = Duration::from_millis(100);
/// Packets under way with which a port is full: six ports there and six back, and as many that wait.
const PORT_PACKETS: u64 = 16;
/// Command.
#[derive(Debug, Clone)]
pub struct Orders {
    /// The program `closc-nic`.
    pub program: Utf8PathBuf,
    /// Path selection.
    pub transport: Transport,
    /// Senders and receivers.
    pub pattern: Pattern,
    /// Bytes of a message.
    pub message_bytes: u64,
    /// Bytes of a packet.
    pub unit: u32,
    /// Messages of a NIC under way.
    pub outstanding: usize,
    /// Messages of each NIC; without a number they are sent as long as the scenario lasts.
    pub messages: Option<u64>,
    /// Rate of a NIC port in Mb/s.
    pub port_mbps: u32,
    /// Seed of the permutation.
    pub seed: u64,
    /// When nothing arrived for so long, what is under way is lost.
    pub patience: Duration,
    /// Messages are sent in bursts, one each time that so long has passed; without it whenever one arrived.
    pub every: Option<Duration>,
    /// In virtual time: now and then an agent gets no processor, for so long at most; without it every agent runs when it has
    /// something to do.
    pub stall: Option<Duration>,
}

impl Orders {
    /// Returns the bytes of the IP packets that carry data, as agents write them.
    pub(super) fn packet_bytes(&self) -> u32 {
        self.unit + u32::from(PIECE_HEADERS) - ETHERNET
    }

    /// Returns the goodput of NIC ports that are full, in Mb/s; nothing where NICs have too few bytes under way to fill them, or
    /// a number of messages. A port is full with as many packets under way as take the longest way, there and back. Each has so many
    /// bytes of headers.
    pub(super) fn full_mbps(&self, ports: f64, planes: u64, headers: u64) -> Option<f64> {
        let pieces = self.message_bytes.div_ceil(u64::from(self.unit));
        let frames = self.message_bytes + pieces * headers;
        let full = planes * PORT_PACKETS * (u64::from(self.unit) + headers);
        let fills = self.outstanding as u64 * self.message_bytes >= full && self.messages.is_none();
        let share = self.message_bytes as f64 / frames as f64;
        fills.then(|| ports * f64::from(self.port_mbps) * share)
    }

    /// Plans the messages.
    pub(super) fn work(&self, nics: usize) -> Work {
        let work = Work::new(self.pattern, nics, self.outstanding, self.messages, self.seed);
        if self.every.is_some() { work.in_bursts() } else { work }
    }
}
