//! V1106 and V1107: quality of service is as the fabric states in its manifest, and losses are counted.

mod maps;
mod ranked;
mod rows;

use std::collections::{BTreeSet, HashSet};

use crate::check::profile::{own, port};
use crate::finding::{Findings, Violation};
use crate::model::about::About;
use crate::model::cabling::{Kind, SwitchId};
use crate::model::fabric::Fabric;
use crate::model::language::Numbering;
use crate::model::qos::PortQos;
use crate::model::stated::{Stated, StatedPort, StatedQos, StatedSwitch};
use crate::model::switch::{FactsId, Switch};
use crate::rules::qos::{COUNTERS, STATED};

/// Counters without which losses are not seen: of pools, ports, queues, interfaces and marks.
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

/// Counters of fabrics that pause.
const COUNTED_PAUSES: [&str; 2] = ["PG_DROP", "PG_WATERMARK"];

/// Compares every switch with what is stated.
pub(crate) fn check(fabric: &Fabric, stated: &Stated, findings: &mut Findings) {
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        // A language without error correction of ports has no quality of service of its own either, but P4.
        let ranked = switch.language.classes == Numbering::Ranked;
        if !ranked && !switch.language.states_peers {
            continue;
        }
        if switch.language.states_peers {
            counters(fabric, id, (switch, stated), findings);
            pools(fabric, id, (switch, stated), findings);
        }
        ports(fabric, id, (switch, stated), ranked, findings);
    }
}

fn counters(fabric: &Fabric, id: SwitchId, (switch, stated): (&Switch, &Stated), findings: &mut Findings) {
    let qos = &stated.qos;
    let own = switch.tier.and_then(|tier| own(stated, switch, tier));
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
            Violation::new(&COUNTERS, fabric.place(id, About::Settings), message)
        });
    }
}

fn pools(fabric: &Fabric, id: SwitchId, (switch, stated): (&Switch, &Stated), findings: &mut Findings) {
    let Some(meant) = switch.tier.and_then(|tier| own(stated, switch, tier)?.pool_bytes) else { return };
    let found = switch.pools.map_or(0, |pools| pools.ingress);
    findings.expect(near(found, meant), &STATED, || {
        let message = format!(
            "`{}` shares {found} bytes of buffer, and {meant} are stated for its tier",
            fabric.cabling.switch(id)
        );
        Violation::new(&STATED, fabric.place(id, About::Pools), message)
    });
}

/// What depends on the room that other ports leave differs from switch to switch, but not by that much.
fn near(found: u64, meant: u64) -> bool {
    found >= meant / 2 && found <= meant.saturating_mul(2)
}

fn ports(
    fabric: &Fabric,
    id: SwitchId,
    (switch, stated): (&Switch, &Stated),
    ranked: bool,
    findings: &mut Findings,
) {
    let own = switch.tier.and_then(|tier| own(stated, switch, tier));
    let mut seen: HashSet<(FactsId, Kind, u32)> = HashSet::new();
    for (slot, end) in switch.ends.iter().enumerate().filter(|(_, end)| end.configured) {
        let (_, cable, side) = fabric.plugged(id, slot as u16);
        findings.checked(&STATED, 1);
        if !seen.insert((end.facts, cable.kind, cable.meters)) {
            continue;
        }
        let Some(qos) = end.facts.of(&fabric.facts).qos.as_ref() else { continue };
        let work = Compared {
            qos,
            stated: &stated.qos,
            of_port: own
                .and_then(|own| port(own, cable, side))
                // Buffers are cut for a length; entries of a pipeline know none.
                .filter(|port| ranked || port.meters == u64::from(cable.meters)),
            last_hop: cable.kind == Kind::NicT0,
            of_switch: own,
            ranked,
        };
        let unmeasured = work.buffered()
            && switch.language.states_peers
            && stated.qos.classes.iter().any(|class| class.pauses.is_some())
            && end.facts.of(&fabric.facts).length_m.is_none();
        let unmeasured =
            unmeasured.then(|| "has no cable length, by which SONiC cuts its headroom".to_owned());
        let unstated = work.unstated(switch.pools.is_some()).map(str::to_owned);
        for message in work.faults().into_iter().chain(unmeasured).chain(unstated) {
            let name = fabric.cabling.names.text(cable.ends(side).0.port);
            let message = format!("`{}`: port `{name}` {message}", fabric.cabling.switch(id));
            findings.broken(Violation::new(&STATED, fabric.place(id, About::Qos(name)), message));
        }
    }
}

/// A kind of port, and what is stated of it.
struct Compared<'a> {
    qos: &'a PortQos,
    stated: &'a StatedQos,
    of_port: Option<&'a StatedPort>,
    last_hop: bool,
    of_switch: Option<&'a StatedSwitch>,
    /// Whether classes are numbered by rank.
    ranked: bool,
}

impl Compared<'_> {
    fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = self.classes().into_iter().collect();
        faults.extend(self.trimming());
        if self.ranked {
            faults.extend(ranked::faults(self));
        } else {
            faults.extend(self.queues());
        }
        if self.buffered() {
            faults.extend(self.pauses());
            faults.extend(self.marks());
            faults.extend(maps::faults(self));
            faults.extend(rows::faults(self));
        }
        faults
    }

    /// What the manifest does not state of a port, so that nothing would be compared with it.
    fn unstated(&self, has_pools: bool) -> Option<&'static str> {
        if self.ranked {
            return None;
        }
        if has_pools && !self.buffered() {
            return Some("has a buffer, and none is stated for its tier");
        }
        if !self.buffered() {
            return None;
        }
        let pauses = self.stated.classes.iter().any(|class| class.pauses.is_some());
        match self.of_port {
            None => Some("has a cable of a length that is not stated for its tier"),
            Some(port) if pauses && (port.headroom_bytes.is_none() || port.reserved_bytes.is_none()) => {
                Some("pauses, and no headroom is stated for it")
            }
            Some(_) => None,
        }
    }

    /// Tells whether the switch has a buffer that is shared out.
    fn buffered(&self) -> bool {
        self.of_switch.is_some_and(|own| own.pool_bytes.is_some())
    }

    fn number(&self, tc: u8) -> u8 {
        let below = || self.stated.classes.iter().filter(|class| class.tc < tc).count() as u8;
        if self.ranked { below() } else { tc }
    }

    fn classes(&self) -> Option<String> {
        let wrong =
            self.stated.dscp.iter().enumerate().find(|(dscp, class)| {
                self.qos.dscp_to_class.get(&(*dscp as u8)) != Some(&self.number(**class))
            });
        let (dscp, class) = wrong?;
        Some(format!("does not map code point {dscp} to class {}", self.number(*class)))
    }

    fn trimming(&self) -> Option<String> {
        let meant: BTreeSet<u8> = self
            .stated
            .classes
            .iter()
            .filter(|class| class.trims && self.stated.trimmed.is_some())
            .map(|class| self.number(class.tc))
            .collect();
        let found: BTreeSet<u8> = self.qos.trims.iter().copied().collect();
        if meant != found {
            return Some(format!("trims classes {found:?} and not {meant:?}"));
        }
        let (fabric, last_hop) = self.stated.trimmed.filter(|_| !meant.is_empty())?;
        let meant = if self.last_hop { last_hop } else { fabric };
        (self.qos.trimmed != Some(meant)).then(|| format!("does not give trimmed packets code point {meant}"))
    }

    /// Schedulers and buffer thresholds, by queue and group.
    fn queues(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for class in &self.stated.classes {
            let queue = class.queue;
            let meant = class
                .weight
                .map_or_else(|| "type=STRICT".to_owned(), |weight| format!("type=DWRR weight={weight}"));
            let found = self.qos.settings.get(&format!("scheduler of queue {queue}"));
            // Several classes may share a queue, which one of them names.
            let shared = self.stated.classes.iter().filter(|other| other.queue == queue).count() > 1;
            if found.is_none_or(|found| *found != meant && !shared) {
                let found = found.map_or("no scheduler", String::as_str);
                faults.push(format!("has `{found}` for queue {queue} and not `{meant}`"));
            }
            let threshold = |what: String, meant: &str| {
                let found = self.qos.settings.get(&what);
                let has = |text: &String| text.split(' ').any(|field| field == meant);
                (!found.is_some_and(has) && !shared).then(|| {
                    let found = found.map_or("nothing", String::as_str);
                    format!("has `{found}` as {what} and not `{meant}`")
                })
            };
            if self.buffered() {
                // In one static egress pool a lossless queue has a number of bytes.
                let most = self.of_switch.and_then(|own| own.lossless_queue_bytes);
                let egress = most.filter(|_| class.pauses.is_some()).map_or_else(
                    || format!("dynamic_th={}", class.egress_th),
                    |most| format!("static_th={most}"),
                );
                faults.extend(threshold(format!("buffer of queue {queue}"), &egress));
                if self.stated.classes.iter().filter(|other| other.group == class.group).count() == 1 {
                    let ingress = format!("dynamic_th={}", class.ingress_th);
                    faults.extend(threshold(format!("buffer of group {}", class.group), &ingress));
                }
            }
        }
        faults
    }

    fn pauses(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let meant: BTreeSet<u8> = self.stated.classes.iter().filter_map(|class| class.pauses).collect();
        let found: BTreeSet<u8> = self.qos.pauses.iter().copied().collect();
        if meant != found {
            faults.push(format!("pauses {found:?} and not {meant:?}"));
        }
        if let (Some(least), false) = (self.of_port.and_then(|port| port.headroom_bytes), found.is_empty())
            && let Some((group, xoff)) = self.qos.xoff.iter().find(|(_, xoff)| **xoff < least)
        {
            faults.push(format!("has headroom of {xoff} bytes in group {group}, and {least} are stated"));
        }
        let Some(watchdog) =
            self.of_switch.and_then(|own| own.watchdog.as_ref()).filter(|_| !meant.is_empty())
        else {
            return faults;
        };
        let text = |name: &str| self.qos.settings.get(&format!("watchdog {name}")).map(String::as_str);
        let at_least = |name: &str, least: u64| {
            text(name).and_then(|text| text.parse::<u64>().ok()).is_some_and(|found| found >= least)
        };
        // SONiC takes 100 ms to 5 s, and 60 s (sonic-pfcwd YANG).
        let in_range = |name: &str, most: u64| {
            text(name).and_then(|text| text.parse::<u64>().ok()).is_some_and(|found| found <= most)
        };
        let fits = text("action") == Some(&*watchdog.action)
            && at_least("detection_time", watchdog.detection_ms)
            && at_least("restoration_time", watchdog.restoration_ms)
            && in_range("detection_time", 5_000.min(2 * watchdog.detection_ms))
            && in_range("restoration_time", 60_000.min(2 * watchdog.restoration_ms))
            && self.qos.settings.get("PFC_WD|global") == Some(&format!("POLL_INTERVAL={}", watchdog.poll_ms));
        if !fits {
            faults.push("has no watchdog as it is stated".to_owned());
        }
        faults
    }

    fn marks(&self) -> Vec<String> {
        let Some(port) = self.of_port else { return Vec::new() };
        let mut faults = Vec::new();
        let queue = |class: &u8| self.qos.class_to_queue.get(class).copied();
        let found: BTreeSet<u8> = self.qos.marks.keys().filter_map(queue).collect();
        let meant: BTreeSet<u8> = port.marks.keys().copied().collect();
        if found != meant {
            faults.push(format!("marks in queues {found:?} and not {meant:?}"));
        }
        for (class, (least, most, probability)) in &self.qos.marks {
            let Some(stated) = queue(class).and_then(|queue| port.marks.get(&queue)) else { continue };
            if !near(*least, stated.0) || !near(*most, stated.1) || *probability != stated.2 {
                faults.push(format!(
                    "marks class {class} from {least} to {most} bytes with {probability} %, and {}, {} and {} are stated",
                    stated.0, stated.1, stated.2
                ));
            }
        }
        faults
    }
}
