//! Limits of ports: packets for the controller, and classes that a NIC does not choose freely (`punt_limit`, `nic_class`).
//!
//! In: the profile and the ports of a switch. Out: entries with meters. Invariants: every port with a role has a limit for the
//! controller; on a port of a NIC every strict class has a rate, and the class of trimmed packets one below any packet. Packets
//! above a rate go to a class that has none.

use closc_plan::DeviceIntent;
use closc_qos::Place;
use closc_qos::codes::Dscp;
use closc_qos::profile::{Class, Role, Scheduler};
use closc_runtime::proto::v1;

use super::Maker;
use super::classes::{Kind, number_of, queues};
use crate::error::Fault;

/// Packets for the controller from one port, per second and at once. LLDP sends one packet a second at the most, after a burst of
/// five (IEEE 802.1AB-2016, 9.2.5.7 and 9.2.5.22); ten leave room for a node with two agents. All ports of a switch of 512 ports
/// together send 5,120 packets a second, which one processor core reads.
pub(super) const PUNTS: (u64, u64) = (10, 10);

/// The part of a NIC port that a strict class may take, in percent. A selective acknowledgement of MRC takes 158 bytes (Ethernet with
/// its check sequence 18, two IPv6 headers 80, UDP 8, BTH 12, SETH 28, congestion state 8, ICRC 4). One for each packet of 4,096
/// bytes is 4 % of a port, one for each packet of 1,500 bytes is 10 %.
const STRICT_PERCENT: u64 = 10;

/// Bytes per second of a percent of a megabit per second.
const BYTES_OF_PERCENT: u64 = 1_250;

/// Parts of a second that a burst lasts: 100 microseconds.
const BURSTS_PER_SECOND: u64 = 10_000;

/// Full packets that a burst holds at the least.
const BURST_PACKETS: u64 = 16;

/// A limit that no packet keeps, in bytes per second and bytes at once.
const NONE: (u64, u64) = (1, 1);

/// Rate of a class on a NIC port, and the class of the rest.
pub(super) struct ClassLimit {
    pub(super) class: u8,
    /// Bytes per second.
    pub(super) rate: u64,
    /// Bytes at once.
    pub(super) burst: u64,
    /// Code point, class and queue of packets above that.
    pub(super) dscp: Dscp,
    pub(super) rest: u8,
    pub(super) queue: u8,
}

/// Returns the limits of the classes on a kind of port. Data that a profile puts before everything has none: it is what the
/// fabric is for.
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

/// Returns the class that packets go to: the default one, or the first without a limit. Where every class has one, none is worth
/// protecting from another.
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

/// Returns bytes per second and bytes at once.
fn limit(class: &Class, kind: Kind) -> Option<(u64, u64)> {
    if !is_limited(class) {
        return None;
    }
    if class.role == Role::Trimmed {
        return Some(NONE);
    }
    let rate = u64::from(kind.speed.mbps()) * BYTES_OF_PERCENT * STRICT_PERCENT;
    Some((rate, (rate / BURSTS_PER_SECOND).max(BURST_PACKETS * u64::from(kind.mtu))))
}

/// Returns a meter with one rate: packets are green or red.
fn meter((rate, burst): (u64, u64)) -> v1::MeterConfig {
    let (rate, burst) = (rate.cast_signed(), burst.cast_signed());
    v1::MeterConfig { cir: rate, cburst: burst, pir: rate, pburst: burst, ..Default::default() }
}

impl Maker<'_> {
    /// `punt_limit`: every port with a cable.
    pub(super) fn punt_limits(&mut self) -> Result<(), Fault> {
        if !self.form.limits {
            return Ok(());
        }
        for port in self.ports.cabled().collect::<Vec<_>>() {
            let entry = self.info.entry("ingress.punt_limit")?.exact("ingress_port", port.number);
            self.push(entry.action("limit_punts", &[]).meter(meter(PUNTS)).build()?);
        }
        Ok(())
    }

    /// `nic_class`: every class with a limit, on every port of a NIC.
    pub(super) fn nic_classes(&mut self) -> Result<(), Fault> {
        if !self.form.limits {
            return Ok(());
        }
        let intent = self.intent;
        for port in self.ports.cabled().collect::<Vec<_>>() {
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
