//! V1106 and V1107: QoS settings match the manifest, and losses are counted.

mod beyond;
mod maps;
mod ports;
mod ranked;
mod remaining_buffer;
mod rows;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ptr;

use crate::check::profile::{port, stated_switch};
use crate::finding::{Findings, Violation};
use crate::model::cabling::{Kind, SwitchId};
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::language::{Numbering, Quality};
use crate::model::qos::PortQos;
use crate::model::stated::{StatedClass, StatedPort, StatedQos, StatedSwitch, StatedValues};
use crate::model::switch::{FactsId, Switch};
use crate::rules::qos::{COUNTERS, STATED};
use remaining_buffer::RemainingBuffer;

/// Counters that make losses visible: for pools, ports, queues, interfaces and ECN marks.
const COUNTED: [&str; 8] = [
    "BUFFER_POOL_WATERMARK",
    "PORT",
    "PORT_BUFFER_DROP",
    "QUEUE",
    "QUEUE_WATERMARK",
    "RIF",
    "WRED_ECN_PORT",
    "WRED_ECN_QUEUE",
];

/// Counters for fabrics with PFC.
const COUNTED_PAUSES: [&str; 2] = ["PG_DROP", "PG_WATERMARK"];

/// A difference between a port and the stated values.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Difference {
    message: String,
    /// The setting that differs, as named by the reader.
    setting: String,
}

/// Creates a difference.
fn differs(setting: impl Into<String>, message: impl Into<String>) -> Difference {
    Difference { message: message.into(), setting: setting.into() }
}

/// Compares every switch with the manifest.
pub(crate) fn check(fabric: &Fabric, stated: &StatedValues, findings: &mut Findings) {
    let mut sound = HashSet::new();
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        let ranked = switch.language.classes == Numbering::Ranked;
        if !ranked && switch.language.quality == Quality::Unstated {
            continue;
        }
        let room = remaining_buffer::of(fabric, id, (switch, stated));
        if switch.language.quality == Quality::Whole {
            counters(fabric, id, (switch, stated), findings);
            pools(fabric, id, (switch, room), findings);
        }
        ports(fabric, id, (switch, stated), (ranked, room), (&mut sound, findings));
    }
}

/// Everything that the result for a port depends on. If a port has no faults, equal ports on any switch are not checked
/// again.
#[derive(PartialEq, Eq, Hash)]
struct PortKey {
    facts: FactsId,
    quality: Quality,
    ranked: bool,
    last_hop: bool,
    /// The stated values of the port and its switch, compared by their addresses in memory.
    of_port: Option<*const StatedPort>,
    of_switch: Option<*const StatedSwitch>,
    remaining_buffer: Option<RemainingBuffer>,
    has_pools: bool,
}

fn counters(
    fabric: &Fabric,
    id: SwitchId,
    (switch, stated): (&Switch, &StatedValues),
    findings: &mut Findings,
) {
    let qos = &stated.qos;
    let own = switch.tier.and_then(|tier| stated_switch(fabric, stated, (id, switch), tier));
    let on: HashSet<&str> = switch.counters.iter().map(|(name, _)| name.as_str()).collect();
    let pauses = qos.classes.iter().any(|class| class.pauses.is_some());
    let watched = own.and_then(|own| own.watchdog.as_ref()).map(|_| "PFCWD");
    let trims = qos.trimmed.map(|_| "SWITCH");
    let segments = fabric.layout.is_some().then_some("SRV6");
    let wanted = COUNTED
        .into_iter()
        .chain(COUNTED_PAUSES.into_iter().filter(|_| pauses))
        .chain(watched)
        .chain(trims)
        .chain(segments);
    for name in wanted {
        findings.expect(on.contains(name), &COUNTERS, || {
            let message = format!("`{}`: counters `{name}` are off", fabric.cabling.switch(id));
            Violation::new(&COUNTERS, fabric.place(id, FactKind::Counter(name)), message)
        });
    }
}

fn pools(
    fabric: &Fabric,
    id: SwitchId,
    (switch, room): (&Switch, Option<RemainingBuffer>),
    findings: &mut Findings,
) {
    let Some(room) = room else { return };
    let meant = room.shared_pool().saturating_add(room.headroom());
    let found = switch.pools.map_or(0, |pools| pools.ingress);
    findings.expect(found == meant, &STATED, || {
        let message = format!(
            "`{}` shares {found} bytes of buffer; the manifest leaves {meant} for its tier and cables",
            fabric.cabling.switch(id)
        );
        Violation::new(&STATED, fabric.place(id, FactKind::Pools), message)
    });
}

fn ports(
    fabric: &Fabric,
    id: SwitchId,
    (switch, stated): (&Switch, &StatedValues),
    (ranked, room): (bool, Option<RemainingBuffer>),
    (sound, findings): (&mut HashSet<PortKey>, &mut Findings),
) {
    let own = switch.tier.and_then(|tier| stated_switch(fabric, stated, (id, switch), tier));
    let mut seen: HashSet<(FactsId, Kind, u32)> = HashSet::new();
    for (slot, end) in switch.ends.iter().enumerate().filter(|(_, end)| end.configured) {
        let (_, cable, side) = fabric.slot_cable(id, slot as u16);
        findings.count_facts(&STATED, 1);
        if !seen.insert((end.facts, cable.kind, cable.meters)) {
            continue;
        }
        let name = fabric.cabling.names.text(cable.ends(side).0.port);
        let broken = |about: FactKind<'_>, message: &str| {
            let message = format!("`{}`: port `{name}` {message}", fabric.cabling.switch(id));
            Violation::new(&STATED, fabric.place(id, about), message)
        };
        let quality = switch.language.quality;
        let Some(qos) = end.facts.of(&fabric.facts).qos.as_ref() else {
            if matches!(quality, Quality::Ports(_)) && !needs_none(quality, &stated.qos) {
                findings.report(broken(FactKind::Qos(name), "has no QoS configuration of its own"));
            }
            continue;
        };
        let work = PortComparison {
            qos,
            stated_qos: &stated.qos,
            of_port: own.and_then(|own| {
                // Buffer settings depend on the cable length; P4 table entries and kernel queues do not.
                let any_length = ranked || own.buffer.is_none();
                port(own, &cable, side).filter(|port| any_length || port.meters == u64::from(cable.meters))
            }),
            last_hop: cable.kind == Kind::NicT0,
            of_switch: own,
            remaining_buffer: room,
            ranked,
            quality,
        };
        let sort = work.key(end.facts, switch.pools.is_some());
        if sound.contains(&sort) {
            continue;
        }
        let measured = end.facts.of(&fabric.facts).length_m.is_some();
        let faults = work.all(measured, switch.pools.is_some());
        for fault in &faults {
            findings.report(broken(FactKind::Setting(name, &fault.setting), &fault.message));
        }
        if faults.is_empty() {
            sound.insert(sort);
        }
    }
}

/// Returns whether a port may keep the default settings. In a language without PFC and trimming, a single class needs
/// no settings.
fn needs_none(quality: Quality, stated: &StatedQos) -> bool {
    !quality.pauses_and_trims() && stated.classes.len() == 1
}

/// A group of equal ports, and their stated values.
struct PortComparison<'a> {
    qos: &'a PortQos,
    stated_qos: &'a StatedQos,
    of_port: Option<&'a StatedPort>,
    last_hop: bool,
    of_switch: Option<&'a StatedSwitch>,
    /// Remaining buffer of the switch.
    remaining_buffer: Option<RemainingBuffer>,
    /// Whether classes are numbered by rank.
    ranked: bool,
    /// QoS functions that the language can express.
    quality: Quality,
}

impl PortComparison<'_> {
    fn key(&self, facts: FactsId, has_pools: bool) -> PortKey {
        PortKey {
            facts,
            quality: self.quality,
            ranked: self.ranked,
            last_hop: self.last_hop,
            of_port: self.of_port.map(ptr::from_ref),
            of_switch: self.of_switch.map(ptr::from_ref),
            remaining_buffer: self.remaining_buffer,
            has_pools,
        }
    }

    /// Returns all differences. A value that cannot be compared, because the port or the manifest lacks it, counts as
    /// one.
    fn all(&self, measured: bool, has_pools: bool) -> Vec<Difference> {
        let pauses = self.stated_qos.classes.iter().any(|class| class.pauses.is_some());
        let unmeasured = self.has_buffer() && self.quality == Quality::Whole && pauses && !measured;
        let unmeasured = unmeasured
            .then(|| differs("cable length", "has no cable length, from which SONiC computes its headroom"));
        let unstated = self.unstated_property(has_pools).map(|message| differs("cable length", message));
        self.faults().into_iter().chain(unmeasured).chain(unstated).collect()
    }

    fn faults(&self) -> Vec<Difference> {
        let mut faults: Vec<Difference> = self.classes().into_iter().collect();
        if self.quality.pauses_and_trims() {
            faults.extend(self.trimming());
        }
        if self.ranked {
            faults.extend(ranked::faults(self));
        } else if let Quality::Ports(bounds) = self.quality {
            faults.extend(ports::faults(self, bounds));
            faults.extend(self.marks());
            return faults;
        } else {
            faults.extend(self.queues());
            faults.extend(beyond::faults(self));
        }
        if self.has_buffer() {
            faults.extend(self.pauses());
            faults.extend(self.marks());
            faults.extend(maps::faults(self));
            faults.extend(rows::faults(self));
        }
        faults
    }

    /// Returns a property of the port that cannot be compared, because the manifest does not state it.
    fn unstated_property(&self, has_pools: bool) -> Option<&'static str> {
        if self.ranked {
            return None;
        }
        if has_pools && !self.has_buffer() {
            return Some("has a buffer, but the manifest states none for its tier");
        }
        if !self.has_buffer() {
            return None;
        }
        let pauses = self.stated_qos.classes.iter().any(|class| class.pauses.is_some());
        match self.of_port {
            None => Some("has a cable of a length that the manifest does not state for its tier"),
            Some(port)
                if pauses
                    && [port.headroom_bytes, port.reserved_bytes, port.pooled_bytes].contains(&None) =>
            {
                Some("pauses, but the manifest states no headroom for it")
            }
            Some(_) => None,
        }
    }

    /// Returns whether the files of the switch divide its buffer; P4 table entries never do.
    fn has_buffer(&self) -> bool {
        !self.ranked && self.of_switch.is_some_and(|own| own.buffer.is_some())
    }

    fn number(&self, tc: u8) -> u8 {
        let below = || self.stated_qos.classes.iter().filter(|class| class.tc < tc).count() as u8;
        if self.ranked { below() } else { tc }
    }

    fn classes(&self) -> Option<Difference> {
        let wrong =
            self.stated_qos.dscp.iter().enumerate().find(|(dscp, class)| {
                self.qos.dscp_to_class.get(&(*dscp as u8)) != Some(&self.number(**class))
            });
        let (dscp, class) = wrong?;
        let message = format!("does not map code point {dscp} to class {}", self.number(*class));
        Some(differs(format!("dscp_to_tc_map {dscp}"), message))
    }

    fn trimming(&self) -> Option<Difference> {
        let meant: BTreeSet<u8> = self
            .stated_qos
            .classes
            .iter()
            .filter(|class| class.trims && self.stated_qos.trimmed.is_some())
            .map(|class| self.number(class.tc))
            .collect();
        let found: BTreeSet<u8> = self.qos.trims.iter().copied().collect();
        if meant != found {
            let class = meant.symmetric_difference(&found).next().copied().unwrap_or_default();
            let message = format!("trims classes {found:?}; the manifest states {meant:?}");
            return Some(differs(self.trims(class), message));
        }
        let (fabric, last_hop) = self.stated_qos.trimmed.filter(|_| !meant.is_empty())?;
        let meant = if self.last_hop { last_hop } else { fabric };
        (self.qos.trimmed_dscp != Some(meant)).then(|| {
            let name = if self.ranked { "trimming of classes" } else { "tc_to_dscp_map" };
            differs(name, format!("does not give trimmed packets code point {meant}"))
        })
    }

    /// Returns the name of the setting that trims a class.
    fn trims(&self, class: u8) -> String {
        match self.qos.class_to_queue.get(&class) {
            Some(queue) if !self.ranked => format!("buffer of queue {queue}"),
            _ => format!("trimming of class {class}"),
        }
    }

    /// Returns for each queue the class that determines its settings: the first of its classes. The platform's queue
    /// for trimmed packets has the class of trimmed packets.
    fn queue_classes(&self) -> BTreeMap<u8, &StatedClass> {
        let mut queues = BTreeMap::new();
        for class in &self.stated_qos.classes {
            queues.entry(class.queue).or_insert(class);
        }
        let trimmed =
            self.stated_qos.trimmed.and_then(|(dscp, _)| self.stated_qos.dscp.get(usize::from(dscp)));
        let class = self.stated_qos.classes.iter().find(|class| Some(&class.tc) == trimmed);
        let trimming = self.of_switch.and_then(|own| own.trimming);
        // SONiC has no rows for queues above the unicast queues.
        if let (Some(class), Some(trimming)) = (class, trimming.filter(|trimming| trimming.queue < 8)) {
            queues.entry(trimming.queue).or_insert(class);
        }
        queues
    }

    /// Returns for each priority group the class that determines its settings: the first of its classes.
    fn group_classes(&self) -> BTreeMap<u8, &StatedClass> {
        let mut groups = BTreeMap::new();
        for class in &self.stated_qos.classes {
            groups.entry(class.group).or_insert(class);
        }
        groups
    }

    /// Compares schedulers and buffer thresholds, by queue and priority group.
    fn queues(&self) -> Vec<Difference> {
        let mut faults = Vec::new();
        for (queue, class) in self.queue_classes() {
            let meant = class
                .weight
                .map_or_else(|| "type=STRICT".to_owned(), |weight| format!("type=DWRR weight={weight}"));
            let found = self.qos.settings.get(&format!("scheduler of queue {queue}"));
            if found != Some(&meant) {
                let found = found.map_or("no scheduler", String::as_str);
                let message = format!("has `{found}` for queue {queue}; the manifest states `{meant}`");
                faults.push(differs(format!("scheduler of queue {queue}"), message));
            }
            // In a single static egress pool, a lossless queue has a fixed number of bytes.
            let most = self.of_switch.and_then(|own| own.lossless_queue_bytes);
            let egress = most.filter(|_| class.pauses.is_some()).map_or_else(
                || format!("dynamic_th={}", class.egress_th),
                |most| format!("static_th={most}"),
            );
            faults.extend(self.threshold(&format!("buffer of queue {queue}"), &egress));
        }
        for class in &self.stated_qos.classes {
            let ingress = format!("dynamic_th={}", class.ingress_th);
            faults.extend(self.threshold(&format!("buffer of group {}", class.group), &ingress));
        }
        // Classes of the same group produce the same message.
        faults.dedup();
        faults
    }

    /// Checks that the share of a queue or group in its pool is exactly the stated one.
    fn threshold(&self, what: &str, meant: &str) -> Option<Difference> {
        let found = self.qos.settings.get(what).filter(|_| self.has_buffer());
        let thresholds = |text: &str| {
            let fields =
                text.split(' ').filter(|field| field.split('=').next().is_some_and(|n| n.ends_with("_th")));
            fields.map(str::to_owned).collect::<Vec<String>>()
        };
        let fits = found.is_some_and(|found| thresholds(found) == [meant]);
        (self.has_buffer() && !fits).then(|| {
            let found = found.map_or("nothing", String::as_str);
            differs(what, format!("has `{found}` as {what}; the manifest states `{meant}`"))
        })
    }

    fn pauses(&self) -> Vec<Difference> {
        let mut faults = Vec::new();
        let meant: BTreeSet<u8> = self.stated_qos.classes.iter().filter_map(|class| class.pauses).collect();
        let found: BTreeSet<u8> = self.qos.pauses.iter().copied().collect();
        if meant != found {
            faults.push(differs("pfc_enable", format!("pauses {found:?}; the manifest states {meant:?}")));
        }
        if let (Some(meant), false) = (self.of_port.and_then(|port| port.headroom_bytes), found.is_empty())
            && let Some((group, xoff)) = self.qos.xoff.iter().find(|(_, xoff)| **xoff != meant)
        {
            let message =
                format!("has headroom of {xoff} bytes in group {group}; the manifest states {meant}");
            faults.push(differs(format!("buffer of group {group}"), message));
        }
        let Some(watchdog) =
            self.of_switch.and_then(|own| own.watchdog.as_ref()).filter(|_| !meant.is_empty())
        else {
            return faults;
        };
        let meant = [
            ("watchdog action", watchdog.action.clone()),
            ("watchdog detection_time", watchdog.detection_ms.to_string()),
            ("watchdog restoration_time", watchdog.restoration_ms.to_string()),
            ("PFC_WD|global", format!("POLL_INTERVAL={}", watchdog.poll_ms)),
        ];
        for (name, meant) in meant {
            let found = self.qos.settings.get(name);
            if found != Some(&meant) {
                let found = found.map_or("nothing", String::as_str);
                faults.push(differs(name, format!("has `{found}` as {name}; the manifest states `{meant}`")));
            }
        }
        faults
    }

    fn marks(&self) -> Vec<Difference> {
        let Some(port) = self.of_port else { return Vec::new() };
        let mut faults = Vec::new();
        let queue = |class: &u8| self.qos.class_to_queue.get(class).copied();
        let found: BTreeSet<u8> = self.qos.marks.keys().filter_map(queue).collect();
        let meant: BTreeSet<u8> = port.marks.keys().copied().collect();
        if found != meant {
            let queue = found.symmetric_difference(&meant).next().copied().unwrap_or_default();
            let message = format!("marks in queues {found:?}; the manifest states {meant:?}");
            faults.push(differs(format!("wred_profile of queue {queue}"), message));
        }
        for (class, (least, most, probability)) in &self.qos.marks {
            let Some(stated) = queue(class).and_then(|queue| port.marks.get(&queue)) else { continue };
            let own = self.remaining_buffer.zip(port.marks_by_room.get(&queue(class).unwrap_or_default()));
            if !remaining_buffer::marks((*least, *most, *probability), *stated, own, port.mtu) {
                let message = format!(
                    "marks class {class} from {least} to {most} bytes with {probability} %; the manifest \
                     states {}, {} and {}",
                    stated.0, stated.1, stated.2
                );
                let queue = queue(class).unwrap_or_default();
                faults.push(differs(format!("wred_profile of queue {queue}"), message));
            }
        }
        faults
    }
}
