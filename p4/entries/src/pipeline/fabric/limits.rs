//! Rate limits of ports. `punt_limit` limits packets for the controller. `nic_class` limits the classes of packets from
//! a NIC.
//!
//! In: the profile and the ports of a switch. Out: entries with meters. Invariants: every port with a role
//! has a limit for packets to the controller. On a NIC port every strict class except data and
//! retransmissions has a rate. The class of trimmed packets, strict or not, has a rate too low for any packet.
//! Packets above a rate go to a class without a limit. Without such a class, `nic_class` has no entries.

use closc_plan::DeviceIntent;
use closc_qos::Place;
use closc_qos::codes::Dscp;
use closc_qos::profile::{Class, Role, Scheduler};
use closc_runtime::proto::v1;

use super::EntryBuilder;
use super::classes::{Kind, number_of, queues};
use crate::error::Fault;

/// Packets for the controller from one port: per second, and in a burst. LLDP sends at most one packet per
/// second, after a burst of five (IEEE 802.1AB-2016, 9.2.5.17 and 9.2.10). Ten are enough for a node with
/// two agents. All ports of a 512-port switch together send at most 5,120 packets per second, which one
/// processor core can read.
pub(super) const PUNTS: (u64, u64) = (10, 10);

/// The share of a NIC port that a strict class may use, in percent. An MRC selective acknowledgement has 158 bytes:
/// Ethernet with FCS 18, two IPv6 headers 80, UDP 8, BTH 12, SETH 28, congestion state 8, ICRC 4. One for
/// each packet of 4,096 bytes is 4 % of a port, one for each packet of 1,500 bytes is 10 %.
const STRICT_PERCENT: u64 = 10;

/// Bytes per second in one percent of 1 Mb/s.
const BYTES_OF_PERCENT: u64 = 1_250;

/// Bursts per second: a burst lasts 100 microseconds.
const BURSTS_PER_SECOND: u64 = 10_000;

/// Minimum size of a burst, in full packets.
const BURST_PACKETS: u64 = 16;

/// A limit that every packet exceeds: bytes per second, and bytes in a burst.
const ALLOW_NONE: (u64, u64) = (1, 1);

/// Rate of a class on a NIC port, and the class of packets above the rate.
pub(super) struct ClassLimit {
    pub(super) class: u8,
    /// Bytes per second.
    pub(super) rate: u64,
    /// Bytes in a burst.
    pub(super) burst: u64,
    /// Code point, class and queue of packets above the rate.
    pub(super) dscp: Dscp,
    pub(super) rest: u8,
    pub(super) queue: u8,
}

/// Returns the limits of the classes on a kind of port; none on ports that do not lead to a NIC. Data classes
/// have no limit, even if they are strict, because data is the purpose of the fabric.
pub(super) fn nic_classes(intent: &DeviceIntent<'_>, kind: Kind) -> impl Iterator<Item = ClassLimit> {
    let rest = (kind.place == Place::LastHop).then(|| free_class(intent)).flatten();
    rest.into_iter().flat_map(move |rest| {
        let number = number_of(intent, rest);
        let dscp = Dscp::all().find(|dscp| intent.qos.class_of(*dscp).name == rest.name);
        let dscp = rest.mark().or(dscp).unwrap_or(Dscp::MIN);
        let queue = queues(intent)[usize::from(number)];
        intent.qos.classes().filter_map(move |class| {
            let (rate, burst) = limit(class, kind)?;
            Some(ClassLimit { class: number_of(intent, class), rate, burst, dscp, rest: number, queue })
        })
    })
}

/// Returns the class for packets above a rate: the default class if it has no limit, otherwise the first
/// class without one. Returns `None` if every class has a limit. No limit is applied then, because packets
/// above a rate would have no class.
fn free_class<'i>(intent: &'i DeviceIntent<'_>) -> Option<&'i Class> {
    let default = intent.qos.default_class();
    std::iter::once(default).chain(intent.qos.classes()).find(|class| !is_limited(class))
}

fn is_limited(class: &Class) -> bool {
    match class.role {
        Role::Trimmed => true,
        Role::Data | Role::Retransmit => false,
        Role::Acknowledge | Role::Cts | Role::Cnp | Role::Control | Role::Other => {
            class.scheduler == Scheduler::Strict
        }
    }
}

/// Returns the limit of a class in bytes per second and bytes in a burst, or `None` if it has no limit.
fn limit(class: &Class, kind: Kind) -> Option<(u64, u64)> {
    if !is_limited(class) {
        return None;
    }
    if class.role == Role::Trimmed {
        return Some(ALLOW_NONE);
    }
    let rate = u64::from(kind.speed.mbps()) * BYTES_OF_PERCENT * STRICT_PERCENT;
    Some((rate, (rate / BURSTS_PER_SECOND).max(BURST_PACKETS * u64::from(kind.mtu))))
}

/// Returns a meter with one rate: packets are green or red.
fn meter((rate, burst): (u64, u64)) -> v1::MeterConfig {
    let (rate, burst) = (rate.cast_signed(), burst.cast_signed());
    v1::MeterConfig { cir: rate, cburst: burst, pir: rate, pburst: burst, ..Default::default() }
}

impl EntryBuilder<'_> {
    /// `punt_limit`: every port with a cable.
    pub(super) fn punt_limits(&mut self) -> Result<(), Fault> {
        if !self.form.limits {
            return Ok(());
        }
        for port in self.ports.cabled_ports().collect::<Vec<_>>() {
            let entry = self.info.entry("ingress.punt_limit")?.exact("ingress_port", port.number);
            self.push(entry.action("limit_punts", &[]).meter(meter(PUNTS)).build()?);
        }
        Ok(())
    }

    /// `nic_class`: every class with a limit, on every port that leads to a NIC.
    pub(super) fn nic_classes(&mut self) -> Result<(), Fault> {
        if !self.form.limits {
            return Ok(());
        }
        let intent = self.intent;
        for port in self.ports.cabled_ports().collect::<Vec<_>>() {
            for limit in nic_classes(intent, Kind::of(intent.switch.tier, port)) {
                let entry = self.info.entry("ingress.nic_class")?.exact("ingress_port", port.number);
                let entry = entry.exact("class", limit.class).meter(meter((limit.rate, limit.burst)));
                let arguments = [
                    ("dscp", limit.dscp.get().into()),
                    ("class", limit.rest.into()),
                    ("queue", limit.queue.into()),
                ];
                self.push(entry.action("limit_class", &arguments).build()?);
            }
        }
        Ok(())
    }
}
