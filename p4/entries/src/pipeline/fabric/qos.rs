//! Classes, marking and trimming: `dscp_class`, `trim` and `ecn`.
//!
//! In: the profile and the ports of a switch. Out: entries. Invariants: hosts are rendered from the same profile.
//! Packets to a NIC are not marked if the profile does not mark the last hop. Marking starts before trimming.
//!
//! The pipeline counts a queue in packets or cells, depending on its [`Form`]. The profile counts it in bytes.

use std::collections::BTreeMap;

use closc_artefacts::{StatedSwitch, StatedTrimming};
use closc_plan::DeviceIntent;
use closc_qos::Bytes;
use closc_qos::Place;
use closc_qos::codes::Dscp;
use closc_qos::ecn::{Ecn, EcnContext, EcnError, Limit};
use closc_qos::profile::Class;
use closc_qos::units::Speed;
use closc_runtime::proto::v1;
use closc_topology::Side;

use super::classes::{CLASSES_MAX, Kind, number_of, queues};
use super::{EntryBuilder, Form, Port, limits};
use crate::error::{EntriesError, Fault};

/// Capacity of a queue in packets, on targets without a stated buffer: the default of BMv2.
const QUEUE_PACKETS: u64 = 64;

/// The largest queue depth that the pipeline can represent, `bit<19>`.
const DEPTH_MAX: u64 = (1 << 19) - 1;

/// Parts per million in one percent.
const PPM_PER_PERCENT: u32 = 10_000;

/// Thresholds from which packets of a class are marked, in the pipeline's unit of queue depth.
#[derive(Debug, Clone, Copy)]
pub(in crate::pipeline) struct Marks {
    class: u8,
    pub(in crate::pipeline) min: u64,
    pub(in crate::pipeline) max: u64,
    pub(in crate::pipeline) probability_ppm: u32,
}

/// Adds the marking, trimming and rate limits of a switch to its values in the manifest.
pub(in crate::pipeline) fn add_values_of_form(
    form: &Form,
    intent: &DeviceIntent<'_>,
    switch: &mut StatedSwitch,
) -> Result<(), EntriesError> {
    for port in &mut switch.ports {
        let side = if port.down { Side::Down } else { Side::Up };
        let Some(speed) = Speed::from_mbps(port.speed_mbps) else { continue };
        let kind = Kind::at(intent.switch.tier, side, speed, port.mtu);
        port.marks = marks(form, intent, kind)?
            .into_iter()
            .map(|marks| (marks.class, (marks.min, marks.max, marks.probability_ppm.into())))
            .collect();
        let trims = intent.qos.trimming().is_some();
        if form.limits {
            port.punts = Some(limits::PUNTS);
            port.nic_classes = limits::nic_classes(intent, kind)
                .map(|limit| {
                    let rest = [limit.dscp.get(), limit.rest, limit.queue].map(u64::from);
                    (limit.class, [limit.rate, limit.burst, rest[0], rest[1], rest[2]])
                })
                .collect();
        }
        port.trim_packets = trims.then(|| trim_depth(queue(intent, (form.unit)(intent, port.mtu))));
    }
    switch.trimming = intent.qos.trimming().map(|trimming| {
        let class = number_of(intent, intent.qos.class_of(trimming.fabric_dscp));
        let queue = queues(intent)[usize::from(class)];
        StatedTrimming {
            size_bytes: intent.platform.trim_size(intent.os, trimming.size).0,
            queue,
            maps_classes: false,
        }
    });
    Ok(())
}

impl EntryBuilder<'_> {
    /// Renders the three tables for quality of service.
    pub(super) fn qos_entries(&mut self) -> Result<(), Fault> {
        let classes = self.intent.qos.classes().count();
        if classes > CLASSES_MAX {
            return Err(EntriesError::Classes {
                device: self.intent.name.to_string(),
                profile: self.intent.qos.name().to_string(),
                classes,
                pipeline: self.form.name,
                max: CLASSES_MAX,
            }
            .into());
        }
        self.code_points()?;
        self.trimming()?;
        self.marking()
    }

    /// `dscp_class`: every code point except those of class 0 in queue 0, the default for packets without an entry.
    fn code_points(&mut self) -> Result<(), Fault> {
        let intent = self.intent;
        let queues = queues(intent);
        for dscp in Dscp::all() {
            let class = number_of(intent, intent.qos.class_of(dscp));
            let queue = queues[usize::from(class)];
            if (class, queue) != (0, 0) {
                let entry = self.info.entry("ingress.dscp_class")?.exact("dscp", dscp.get());
                let arguments = [("class", class.into()), ("queue", queue.into())];
                self.push(entry.action("set_class", &arguments).build()?);
            }
        }
        Ok(())
    }

    /// `trim`: every class that is trimmed, on every port with a cable.
    fn trimming(&mut self) -> Result<(), Fault> {
        let intent = self.intent;
        let Some(trimming) = intent.qos.trimming() else { return Ok(()) };
        let size = intent.platform.trim_size(intent.os, trimming.size).0;
        for port in self.ports.cabled_ports().collect::<Vec<_>>() {
            let kind = Kind::of(intent.switch.tier, port);
            let dscp = match kind.place {
                Place::LastHop => trimming.last_hop_dscp,
                Place::Edge | Place::Fabric => trimming.fabric_dscp,
            };
            let depth = trim_depth(queue(intent, (self.form.unit)(intent, kind.mtu)));
            for class in intent.qos.classes().filter(|class| class.trim) {
                let entry = self.info.entry("egress.trim")?.exact("egress_port", port.number);
                let entry = entry.exact("class", number_of(intent, class));
                let arguments = [
                    ("depth_packets", depth.into()),
                    ("size_bytes", size.into()),
                    ("trimmed_dscp", dscp.get().into()),
                ];
                self.push(entry.action("set_trim", &arguments).build()?);
            }
        }
        Ok(())
    }

    /// `ecn`: every class that is marked, on every port that marks it.
    fn marking(&mut self) -> Result<(), Fault> {
        let intent = self.intent;
        let mut by_kind: BTreeMap<Kind, Vec<Marks>> = BTreeMap::new();
        for port in self.ports.cabled_ports().collect::<Vec<_>>() {
            let kind = Kind::of(intent.switch.tier, port);
            if let std::collections::btree_map::Entry::Vacant(vacant) = by_kind.entry(kind) {
                vacant.insert(marks(self.form, intent, kind)?);
            }
            for marks in &by_kind[&kind] {
                self.push_marks(port, *marks)?;
            }
        }
        Ok(())
    }

    fn push_marks(&mut self, port: Port<'_>, marks: Marks) -> Result<(), Fault> {
        let entry = self.info.entry("egress.ecn")?.exact("egress_port", port.number);
        let entry = entry.exact("class", marks.class);
        let arguments = (self.form.marking)(marks).ok_or_else(|| EntriesError::Ramp {
            device: self.intent.name.to_string(),
            pipeline: self.form.name,
            min: marks.min,
            max: marks.max,
            percent: marks.probability_ppm / PPM_PER_PERCENT,
        })?;
        let entry: v1::TableEntry = entry.action("set_ecn_thresholds", &arguments).build()?;
        self.push(entry);
        Ok(())
    }
}

/// Returns the capacity of a queue, in units of `unit` bytes.
fn queue(intent: &DeviceIntent<'_>, unit: u64) -> u64 {
    let shared = intent.platform.buffer.as_ref().map(|buffer| buffer.total.0 / unit.max(1));
    shared.unwrap_or(QUEUE_PACKETS).clamp(QUEUE_PACKETS, DEPTH_MAX)
}

/// Returns the depth from which packets are trimmed, for a queue with this capacity. The egress pipeline processes a
/// packet only after the queue, so trimming has to begin before the queue is full. One eighth stays free for packets
/// that arrive in the meantime.
fn trim_depth(queue: u64) -> u64 {
    queue - queue / 8
}

/// Computes the thresholds of every class on a kind of port.
fn marks(form: &Form, intent: &DeviceIntent<'_>, kind: Kind) -> Result<Vec<Marks>, EntriesError> {
    let fault =
        |source: EcnError| EntriesError::Qos { device: intent.name.to_string(), source: source.into() };
    let unit = (form.unit)(intent, kind.mtu).max(1);
    let mut all = Vec::new();
    for class in intent.qos.classes() {
        let thresholds = intent.qos.ecn_rule(class, kind.place);
        let thresholds =
            thresholds.thresholds(&context(intent, unit, kind, class, thresholds)).map_err(fault)?;
        let Some(thresholds) = thresholds else { continue };
        let units = |bytes: Bytes| bytes.0.div_ceil(unit);
        let min = units(thresholds.min());
        all.push(Marks {
            class: number_of(intent, class),
            min,
            max: units(thresholds.max()).max(min + 1).min(DEPTH_MAX),
            probability_ppm: u32::from(thresholds.probability().get()) * PPM_PER_PERCENT,
        });
    }
    Ok(all)
}

/// Returns the inputs from which thresholds are computed. Computed thresholds adapt to a small buffer: their
/// limit is the capacity of the actual queue, or the trim depth of a trimmed class. Thresholds set by a
/// profile or file are used as they are, even if they are above the capacity of this target's queue.
fn context(intent: &DeviceIntent<'_>, unit: u64, kind: Kind, class: &Class, rule: Ecn) -> EcnContext {
    let queue = queue(intent, unit);
    let units = match rule {
        Ecn::Computed(_) | Ecn::Fill(_) if class.trim => trim_depth(queue),
        Ecn::Computed(_) | Ecn::Fill(_) => queue,
        Ecn::Off | Ecn::Preset(_) | Ecn::Thresholds(_) => DEPTH_MAX,
    };
    EcnContext {
        speed: kind.speed,
        cell: Bytes(unit),
        mtu: Bytes(u64::from(kind.mtu)),
        place: kind.place,
        base_rtt: intent.base_rtt,
        limit: Limit::Queue(Bytes(units * unit)),
    }
}
