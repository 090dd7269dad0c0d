//! Parameters of a job, independent of the data plane.

use std::time::Duration;

use camino::Utf8PathBuf;
use closc_nic::agent::PIECE_HEADERS;
use closc_nic::choose::Transport;

use super::pattern::{Pattern, Work};

/// Bytes of an Ethernet header.
const ETHERNET: u32 = 14;

/// Maximum serialisation time of a packet. Agents count a packet as lost after 50 ms, and a full queue contains 64
/// packets or more.
pub(super) const PACKET_NS_MAX: u64 = 400_000;
/// Number of message slots in the memory region of a NIC.
pub(super) const PLACES: u64 = 1024;
/// Interval between samples.
pub(super) const SAMPLE: Duration = Duration::from_millis(100);
/// Number of packets in flight that keeps a port busy. The longest path has six ports in each direction, and some
/// packets wait in queues.
const PORT_PACKETS: u64 = 16;
/// Parameters of a job.
#[derive(Debug, Clone)]
pub struct Orders {
    /// The program `closc-nic`.
    pub program: Utf8PathBuf,
    /// Selection of paths.
    pub transport: Transport,
    /// Senders and receivers.
    pub pattern: Pattern,
    /// Bytes of a message.
    pub message_bytes: u64,
    /// Message bytes per packet.
    pub unit: u32,
    /// Maximum number of messages of a NIC in flight.
    pub max_in_flight: usize,
    /// Number of messages per NIC. If absent, messages are sent for the duration of the scenario.
    pub messages: Option<u64>,
    /// Rate of a NIC port in Mb/s.
    pub port_mbps: u32,
    /// Seed of the permutation.
    pub seed: u64,
    /// Timeout. If there are no arrivals for this time, messages in flight count as lost.
    pub patience: Duration,
    /// Interval of bursts. If absent, each arrival starts the next message.
    pub burst_interval: Option<Duration>,
    /// In virtual time: maximum length of random pauses during which an agent is not scheduled. If absent, agents run
    /// whenever they have work.
    pub stall: Option<Duration>,
}

impl Orders {
    /// Returns the bytes of the IP packets that carry data, as agents write them.
    pub(super) fn packet_bytes(&self) -> u32 {
        self.unit + u32::from(PIECE_HEADERS) - ETHERNET
    }

    /// Returns the goodput of full NIC ports, in Mb/s. `None` if a NIC may not have enough bytes in flight to fill its
    /// ports, or if the number of messages is fixed. The bytes must cover the longest path in both directions.
    /// `headers` is the number of header bytes of a packet.
    pub(super) fn full_mbps(&self, ports: f64, planes: u64, headers: u64) -> Option<f64> {
        let pieces = self.message_bytes.div_ceil(u64::from(self.unit));
        let frames = self.message_bytes + pieces * headers;
        let full = planes * PORT_PACKETS * (u64::from(self.unit) + headers);
        let fills = self.max_in_flight as u64 * self.message_bytes >= full && self.messages.is_none();
        let share = self.message_bytes as f64 / frames as f64;
        fills.then(|| ports * f64::from(self.port_mbps) * share)
    }

    /// Creates the messages of a job.
    pub(super) fn work(&self, nics: usize) -> Work {
        let work = Work::new(self.pattern, nics, self.max_in_flight, self.messages, self.seed);
        if self.burst_interval.is_some() { work.in_bursts() } else { work }
    }
}
