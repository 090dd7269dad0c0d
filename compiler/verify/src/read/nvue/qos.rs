//! Reads `qos`: maps of the switch, profiles of ports, pools, and shares of the buffer.
//!
//! In: the mapping, and the profiles of each port. Out: a [`QosConfig`] in which names are resolved. Invariants: the
//! number of a class is its switch priority. References to undefined objects are faults.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::{Fields, canonical};
use super::interface::PortSettings;
use super::place::{FILE, fact};
use crate::model::device::{Device, FaultKind};
use crate::model::place::Fact;
use crate::model::qos::{PortQos, QosConfig};
use crate::read::error::ReadError;

/// Trimming of packets that do not fit the queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trimming {
    /// Size of a trimmed packet in bytes.
    pub(super) size: u16,
    /// Switch priority of trimmed packets.
    pub(super) priority: u8,
    /// Code point of trimmed packets; if absent, the egress port sets it.
    pub(super) dscp: Option<u8>,
}

/// The profile of ports without their own profile (Quality of Service, all sections).
const ALL_PORTS: &str = "default-global";

/// ECN thresholds by queue: minimum, maximum, percent.
type Marks = BTreeMap<u8, (u64, u64, u64)>;

/// Default thresholds: traffic class 0 is marked even on ports without a profile (Quality of Service, Congestion
/// Control).
const UNSAID: [(u8, (u64, u64, u64)); 1] = [(0, (150_000, 1_500_000, 100))];

/// PFC settings of a profile: priorities and cable length.
#[derive(Debug, Default)]
struct Pauses {
    priorities: Vec<u8>,
    metres: u32,
}

/// All settings below `qos`.
#[derive(Debug, Default)]
pub(super) struct QosReader {
    pub(super) trimming: Option<Trimming>,
    dscp_to_class: BTreeMap<u8, u8>,
    class_to_queue: BTreeMap<u8, u8>,
    schedulers: BTreeMap<String, BTreeMap<u8, String>>,
    marks: BTreeMap<String, Marks>,
    remarks: BTreeMap<String, BTreeMap<u8, u8>>,
    pauses: BTreeMap<String, Pauses>,
    /// Polling interval in milliseconds, and number of polls.
    watchdog: (u32, u32),
    /// Priorities of the pool of lossless classes, if there is one.
    lossless: Option<BTreeSet<u8>>,
    settings: BTreeMap<String, String>,
}

/// Parses a key as a number up to `most`.
fn number<'v>(mapping: &Fields<'v>, key: &'v str, most: u8) -> Result<u8, ReadError> {
    let found = canonical(key).filter(|number| *number <= most);
    found.ok_or_else(|| {
        let name = mapping.keys().last().copied().unwrap_or_default();
        mapping.path(key).fault(format!("`{name}` has no `{key}`"))
    })
}

impl QosReader {
    /// Reads the mapping.
    pub(super) fn read(mut qos: Fields<'_>, device: &mut Device<'_>) -> Result<Self, ReadError> {
        let mut reader = QosReader { watchdog: (100, 3), ..QosReader::default() };
        reader.maps(&mut qos, device)?;
        reader.queues(&mut qos, device)?;
        reader.read_remarks(&mut qos, device)?;
        reader.read_pauses(&mut qos, device)?;
        reader.pools(&mut qos, device)?;
        reader.shares(&mut qos, device)?;
        qos.finish(device);
        Ok(reader)
    }

    fn maps(&mut self, qos: &mut Fields<'_>, device: &mut Device<'_>) -> Result<(), ReadError> {
        let mut all = qos.mapping("mapping")?;
        let mut own = all.mapping("default-global")?;
        let trust = own.text("trust")?;
        let codes = own.mapping("dscp")?;
        for (code, value) in codes.entries() {
            let mut below = Fields::of(codes.path(code), Some(value))?;
            if let Some(class) = below.number::<u8>("switch-priority")?.filter(|class| *class < 8) {
                self.dscp_to_class.insert(number(&codes, code, 63)?, class);
            }
            below.finish(device);
        }
        if trust != Some("l3") {
            self.dscp_to_class.clear();
        }
        own.finish(device);
        all.finish(device);
        let mut all = qos.mapping("egress-queue-mapping")?;
        let mut own = all.mapping("default-global")?;
        let classes = own.mapping("switch-priority")?;
        for (class, value) in classes.entries() {
            let mut below = Fields::of(classes.path(class), Some(value))?;
            if let Some(queue) = below.number::<u8>("traffic-class")?.filter(|queue| *queue < 8) {
                self.class_to_queue.insert(number(&classes, class, 7)?, queue);
            }
            below.finish(device);
        }
        own.finish(device);
        all.finish(device);
        Ok(())
    }

    fn queues(&mut self, qos: &mut Fields<'_>, device: &mut Device<'_>) -> Result<(), ReadError> {
        let all = qos.mapping("egress-scheduler")?;
        for (name, value) in all.entries() {
            let mut own = Fields::of(all.path(name), Some(value))?;
            let queues = own.mapping("traffic-class")?;
            let found = self.schedulers.entry(name.to_owned()).or_default();
            for (queue, value) in queues.entries() {
                let mut below = Fields::of(queues.path(queue), Some(value))?;
                let share: Option<u8> = below.number("bw-percent")?;
                let served = match (below.text("mode")?, share) {
                    (Some("strict"), None) => "strict".to_owned(),
                    (Some("dwrr"), Some(share)) => format!("percent {share}"),
                    (mode, share) => format!("{mode:?} {share:?}"),
                };
                found.insert(number(&queues, queue, 7)?, served);
                below.finish(device);
            }
            own.finish(device);
        }
        self.marks.insert(ALL_PORTS.to_owned(), Marks::from(UNSAID));
        let all = qos.mapping("congestion-control")?;
        for (name, value) in all.entries() {
            let mut own = Fields::of(all.path(name), Some(value))?;
            let queues = own.mapping("traffic-class")?;
            let mut found = Marks::from(UNSAID);
            for (queue, value) in queues.entries() {
                let mut below = Fields::of(queues.path(queue), Some(value))?;
                let at = number(&queues, queue, 7)?;
                let marks = (
                    below.number("min-threshold")?.unwrap_or(150_000),
                    below.number("max-threshold")?.unwrap_or(1_500_000),
                    below.number("probability")?.unwrap_or(100),
                );
                if below.text("red")?.unwrap_or("disable") != "disable" {
                    let message = format!("`{}` has random early drops", queues.path(queue));
                    device.fault(FaultKind::Qos, FILE, queues.path(queue).to("red").fact(), message);
                }
                match below.text("ecn")? {
                    Some("enable") => found.insert(at, marks),
                    Some("disable") => found.remove(&at),
                    // The documentation does not state the default in a profile.
                    None => {
                        let message =
                            format!("`{}` has no `ecn`; expected `enable` or `disable`", queues.path(queue));
                        device.fault(FaultKind::Qos, FILE, queues.path(queue).fact(), message);
                        found.remove(&at)
                    }
                    Some(other) => {
                        let message = format!("`{}` is `{other}`", queues.path(queue).to_string() + ".ecn");
                        return Err(queues.path(queue).to("ecn").fault(message));
                    }
                };
                below.finish(device);
            }
            self.marks.insert(name.to_owned(), found);
            own.finish(device);
        }
        Ok(())
    }

    fn read_remarks(&mut self, qos: &mut Fields<'_>, device: &mut Device<'_>) -> Result<(), ReadError> {
        let all = qos.mapping("remark")?;
        for (name, value) in all.entries() {
            let mut own = Fields::of(all.path(name), Some(value))?;
            let classes = own.mapping("switch-priority")?;
            let found = self.remarks.entry(name.to_owned()).or_default();
            for (class, value) in classes.entries() {
                let mut below = Fields::of(classes.path(class), Some(value))?;
                if let Some(dscp) = below.number::<u8>("dscp")?.filter(|dscp| *dscp < 64) {
                    found.insert(number(&classes, class, 7)?, dscp);
                }
                below.finish(device);
            }
            // `rewrite` is not read, so it is a fault: it would also rewrite packets that are not trimmed.
            own.finish(device);
        }
        Ok(())
    }

    fn read_pauses(&mut self, qos: &mut Fields<'_>, device: &mut Device<'_>) -> Result<(), ReadError> {
        let all = qos.mapping("pfc")?;
        for (name, value) in all.entries() {
            let mut own = Fields::of(all.path(name), Some(value))?;
            let mut priorities: Vec<u8> = own.mapping("switch-priority")?.set()?;
            for side in ["tx", "rx"] {
                if own.text(side)? != Some("enable") {
                    priorities.clear();
                }
            }
            let metres = own.number("cable-length")?.unwrap_or(10);
            priorities.sort_unstable();
            self.pauses.insert(name.to_owned(), Pauses { priorities, metres });
            own.finish(device);
        }
        let mut watchdog = qos.mapping("pfc-watchdog")?;
        let poll = watchdog.number("polling-interval")?.unwrap_or(self.watchdog.0);
        let looks = watchdog.number("robustness")?.unwrap_or(self.watchdog.1);
        self.watchdog = (poll, looks);
        watchdog.finish(device);
        Ok(())
    }

    fn pools(&mut self, qos: &mut Fields<'_>, device: &mut Device<'_>) -> Result<(), ReadError> {
        let mut all = qos.mapping("traffic-pool")?;
        let mut seen: Vec<u8> = Vec::new();
        let mut sum = 0_u64;
        for name in ["default-lossless", "default-lossy"] {
            let is_there = all.has(name);
            let mut own = all.mapping(name)?;
            let percent = own.number::<u8>("memory-percent")?;
            let priorities: Vec<u8> = own.mapping("switch-priority")?.set()?;
            own.finish(device);
            sum += u64::from(percent.unwrap_or(0));
            seen.extend(&priorities);
            if is_there && percent.unwrap_or(0) == 0 {
                let message = format!("pool `{name}` has no memory");
                device.fault(FaultKind::Qos, FILE, fact(&["qos", "traffic-pool", name]), message);
            }
            if let Some(percent) = percent {
                self.settings.insert(format!("pool {name}"), percent.to_string());
            }
            if is_there && name == "default-lossless" {
                self.lossless = Some(priorities.into_iter().collect());
            }
        }
        seen.sort_unstable();
        if self.lossless.is_some() && (seen != [0, 1, 2, 3, 4, 5, 6, 7] || sum > 100) {
            let message = format!("pools use {sum} percent of the buffer, with switch priorities {seen:?}");
            device.fault(FaultKind::Qos, FILE, fact(&["qos", "traffic-pool"]), message);
        }
        all.finish(device);
        Ok(())
    }

    fn shares(&mut self, qos: &mut Fields<'_>, device: &mut Device<'_>) -> Result<(), ReadError> {
        let mut all = qos.mapping("advance-buffer-config")?;
        let mut own = all.mapping("default-global")?;
        for (key, name) in [
            ("ingress-lossless-buffer", "ingress of lossless"),
            ("egress-lossless-buffer", "egress of lossless"),
        ] {
            let mut below = own.mapping(key)?;
            self.share(name.to_owned(), &mut below)?;
            below.finish(device);
        }
        let mut ingress = own.mapping("ingress-lossy-buffer")?;
        let mut groups = ingress.mapping("priority-group")?;
        let mut bulk = groups.mapping("bulk")?;
        self.share("ingress of others".to_owned(), &mut bulk)?;
        bulk.finish(device);
        groups.finish(device);
        ingress.finish(device);
        let mut egress = own.mapping("egress-lossy-buffer")?;
        let queues = egress.mapping("traffic-class")?;
        for (queue, value) in queues.entries() {
            let mut below = Fields::of(queues.path(queue), Some(value))?;
            let name = format!("egress of queue {}", number(&queues, queue, 7)?);
            self.share(name, &mut below)?;
            below.finish(device);
        }
        egress.finish(device);
        own.finish(device);
        all.finish(device);
        Ok(())
    }

    fn share(&mut self, name: String, below: &mut Fields<'_>) -> Result<(), ReadError> {
        let Some(alpha) = below.text("shared-alpha")? else { return Ok(()) };
        let exponent = (-7_i32..=6).find(|exponent| {
            let power = 1_u32 << exponent.unsigned_abs();
            alpha == if *exponent < 0 { format!("alpha_1_{power}") } else { format!("alpha_{power}") }
        });
        let exponent = exponent.or((alpha == "alpha_infinity").then_some(7));
        let exponent =
            exponent.ok_or_else(|| below.path("shared-alpha").fault(format!("`{alpha}` is not an alpha")))?;
        self.settings.insert(name, exponent.to_string());
        Ok(())
    }

    /// Returns the profiles of a port: its own ones, or else those for all ports.
    fn effective(&self, own: &PortSettings) -> PortSettings {
        let or = |own: &Option<String>, is_there: bool| {
            own.clone().or_else(|| is_there.then(|| ALL_PORTS.to_owned()))
        };
        PortSettings {
            marks: or(&own.marks, self.marks.contains_key(ALL_PORTS)),
            scheduler: or(&own.scheduler, self.schedulers.contains_key(ALL_PORTS)),
            remark: or(&own.remark, self.remarks.contains_key(ALL_PORTS)),
            pauses: or(&own.pauses, self.pauses.contains_key(ALL_PORTS)),
            ..own.clone()
        }
    }

    /// Resolves the names, sets the index of each port, and reports undefined profiles.
    pub(super) fn finish(
        &self,
        attached: &BTreeMap<u16, PortSettings>,
        device: &mut Device<'_>,
    ) -> QosConfig {
        let mut config = QosConfig::default();
        let mut known: BTreeMap<PortSettings, u16> = BTreeMap::new();
        let mut lost: BTreeMap<String, Fact> = BTreeMap::new();
        for (at, own) in attached {
            let own = &self.effective(own);
            let Some(port) = device.ports.get_mut(usize::from(*at)).filter(|port| port.up) else { continue };
            port.length_m = own.pauses.as_ref().and_then(|name| Some(self.pauses.get(name)?.metres));
            if let Some(index) = known.get(own) {
                port.qos = Some(*index);
                continue;
            }
            let index = config.ports.len() as u16;
            port.qos = Some(index);
            known.insert(own.clone(), index);
            config.ports.push(self.port(own));
            let there = [
                (
                    "congestion-control",
                    &own.marks,
                    own.marks.as_ref().is_some_and(|name| self.marks.contains_key(name)),
                ),
                (
                    "egress-scheduler",
                    &own.scheduler,
                    own.scheduler.as_ref().is_some_and(|name| self.schedulers.contains_key(name)),
                ),
                (
                    "remark",
                    &own.remark,
                    own.remark.as_ref().is_some_and(|name| self.remarks.contains_key(name)),
                ),
                ("pfc", &own.pauses, own.pauses.as_ref().is_some_and(|name| self.pauses.contains_key(name))),
            ];
            let port = port.name.to_string();
            for (kind, name, _) in there.into_iter().filter(|(.., there)| !there) {
                let fact = || fact(&["interface", &port, "qos", kind, "profile"]);
                if let Some(name) = name {
                    lost.entry(name.clone()).or_insert_with(fact);
                }
            }
        }
        for (name, fact) in lost {
            let message = format!("profile `{name}` is referenced, but does not exist");
            device.fault(FaultKind::Dangling, FILE, fact, message);
        }
        config
    }

    fn port(&self, own: &PortSettings) -> PortQos {
        let mut settings = self.settings.clone();
        let scheduler = own.scheduler.as_ref().and_then(|name| self.schedulers.get(name));
        for (queue, served) in scheduler.into_iter().flatten() {
            settings.insert(format!("queue {queue}"), served.clone());
        }
        let pauses = own.pauses.as_ref().and_then(|name| self.pauses.get(name));
        let pauses: Vec<u8> = pauses.map(|pauses| pauses.priorities.clone()).unwrap_or_default();
        if own.watched {
            settings.insert("watchdog polling-interval".to_owned(), self.watchdog.0.to_string());
            settings.insert("watchdog looks".to_owned(), self.watchdog.1.to_string());
        }
        let marks = own.marks.as_ref().and_then(|name| self.marks.get(name));
        let none = Marks::new();
        let marks = marks.unwrap_or(&none);
        let of_class =
            self.class_to_queue.iter().filter_map(|(class, queue)| Some((*class, *marks.get(queue)?)));
        let sized = marks.iter().map(|(queue, (least, most, percent))| {
            (format!("marks of queue {queue}"), format!("{least} to {most} bytes, {percent} percent"))
        });
        let remark = own.remark.as_ref().and_then(|name| self.remarks.get(name));
        let trimmed =
            self.trimming.and_then(|trim| trim.dscp.or_else(|| remark?.get(&trim.priority).copied()));
        if let Some(trim) = self.trimming {
            settings.insert("trimmed to".to_owned(), format!("{} bytes", trim.size));
            settings.insert("class of trimmed".to_owned(), trim.priority.to_string());
        }
        let trims = self.class_to_queue.iter().filter(|(_, queue)| own.trims.contains(queue));
        let identity = |class: &u8| (*class, *class);
        let room = self.lossless.iter().flatten().copied().filter(|class| pauses.contains(class));
        PortQos {
            dscp_to_class: self.dscp_to_class.clone(),
            class_to_queue: self.class_to_queue.clone(),
            class_to_group: self.class_to_queue.keys().map(identity).collect(),
            pause_queues: pauses
                .iter()
                .filter_map(|class| Some((*class, *self.class_to_queue.get(class)?)))
                .collect(),
            headroom: room.collect(),
            trims: if self.trimming.is_some() {
                trims.map(|(class, _)| *class).collect()
            } else {
                Vec::new()
            },
            trimmed_dscp: trimmed,
            marks: of_class.collect(),
            pauses,
            settings,
            buffer_settings: sized.collect(),
            ..PortQos::default()
        }
    }
}
