//! V11: QoS settings are equal where they must be equal, and different where they must differ.
//!
//! Ports of a switch with the same position, cable length and settings are checked together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use closc_diagnostics::Rule;

use super::profile;
use crate::finding::{Findings, Violation, digest};
use crate::model::cabling::{Kind, Side, SwitchId};
use crate::model::device::Wire;
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::group::{Group, TrafficClass};
use crate::model::language::{Language, Numbering};
use crate::model::qos::{PortQos, difference};
use crate::model::stated::{StatedQos, StatedValues};
use crate::model::switch::{FactsId, Switch};
use crate::rules::qos::{ALIKE, CLASSES, MARKS, PAUSES, TRIMMING};

/// Position of a port on the path of packets that leave through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Place {
    LastHop,
    Edge,
    Fabric,
}

/// Ports of one switch with equal settings.
struct PortGroup {
    switch: SwitchId,
    place: Place,
    facts: FactsId,
    meters: u32,
    /// The first of these ports.
    slot: u16,
    count: u64,
    qos: Arc<PortQos>,
}

/// Returns whether ports to NICs also mark.
fn marks_last_hop(stated: Option<&StatedValues>) -> bool {
    let t0s = stated.into_iter().flat_map(|stated| &stated.switches).filter(|switch| switch.tier == "t0");
    t0s.flat_map(|switch| &switch.ports).any(|port| port.down && !port.marks.is_empty())
}

/// The setting that maps code points to classes.
const CODE_POINTS: &str = "dscp_to_tc_map";

/// The setting that maps the class of trimmed packets to a code point.
const TRIMMED: &str = "tc_to_dscp_map";

/// Checks all ports.
pub(crate) fn check(fabric: &Fabric, stated: Option<&StatedValues>, findings: &mut Findings) {
    let sorts: Vec<PortGroup> = fabric
        .cabling
        .switch_ids()
        .filter_map(|id| Some((id, fabric.switch(id)?)))
        .flat_map(|(id, switch)| sorts(fabric, id, switch))
        .collect();
    let classes = fabric.groups.first().map_or(&[][..], |group| group.classes.as_slice());
    let model = common(fabric, &sorts.iter().collect::<Vec<_>>());
    // Languages that number classes by rank are excluded, because their numbers differ.
    let named = common(fabric, &sorts.iter().filter(|sort| !is_ranked(fabric, sort)).collect::<Vec<_>>());
    if let Some(model) = &model {
        findings.record_common_value(&CLASSES, "code points of ports", &model.dscp_to_class);
        findings.record_common_value(&PAUSES, "paused priorities of ports", &model.pauses);
    }
    let last_hop = marks_last_hop(stated);
    for sort in &sorts {
        let mut work = Work {
            fabric,
            port_group: sort,
            classes,
            model: model.as_deref(),
            profile_model: named.as_deref(),
            last_hop,
            findings,
        };
        work.all();
    }
    asymmetric(fabric, &sorts, findings);
    compare_equal_ports((fabric, stated), &sorts, findings);
    tables(fabric, findings);
    if let Some(stated) = stated.filter(|stated| !stated.qos.classes.is_empty()) {
        for group in fabric.judged_groups() {
            findings.count_facts(&CLASSES, 1);
            if let Some(fault) = unlike_stated(group, &stated.qos) {
                let message = format!("`{}` {fault}", group.name());
                findings.report(Violation::new(&CLASSES, group.place(&["\"qos\":"]), message));
            }
        }
    }
}

/// Compares the classes of a path table with the manifest: hosts set code points from the former, and switches queue by
/// the latter.
fn unlike_stated(group: &Group, stated: &StatedQos) -> Option<String> {
    if group.profile != stated.name {
        return Some(format!("names profile `{}`, but the fabric uses `{}`", group.profile, stated.name));
    }
    if group.trimmed_dscp != stated.trimmed {
        return Some("gives trimmed packets other code points than the fabric".to_owned());
    }
    for meant in &stated.classes {
        let Some(class) = group.classes.iter().find(|class| class.class == meant.tc) else {
            return Some(format!("has no class for traffic class {}", meant.tc));
        };
        if class.trim != meant.trims {
            let word = if meant.trims { "trims" } else { "does not trim" };
            return Some(format!("differs for class `{}`, which the fabric {word}", class.name));
        }
    }
    let strays = |class: &TrafficClass| {
        let other = |dscp: &&u8| stated.dscp.get(usize::from(**dscp)) != Some(&class.class);
        let dscp = class.dscp.iter().find(other)?;
        Some(format!("gives code point {dscp} to class `{}`, but the fabric does not", class.name))
    };
    group.classes.iter().find_map(strays)
}

fn sorts(fabric: &Fabric, id: SwitchId, switch: &Switch) -> Vec<PortGroup> {
    let mut sorts: Vec<PortGroup> = Vec::new();
    for (slot, end) in switch.ends.iter().enumerate() {
        let (_, cable, side) = fabric.slot_cable(id, slot as u16);
        let place = match (cable.kind, side) {
            (Kind::NicT0, _) => Place::LastHop,
            (Kind::T0T1, Side::Lower) => Place::Edge,
            (Kind::T0T1, Side::Upper) | (Kind::T1T2, _) => Place::Fabric,
        };
        let same = |sort: &&mut PortGroup| {
            sort.facts == end.facts && sort.place == place && sort.meters == cable.meters
        };
        if let Some(sort) = sorts.iter_mut().find(same) {
            sort.count += 1;
        } else {
            let qos = end.configured.then(|| end.facts.of(&fabric.facts).qos.clone()).flatten();
            sorts.extend(qos.map(|qos| PortGroup {
                switch: id,
                place,
                facts: end.facts,
                meters: cable.meters,
                slot: slot as u16,
                count: 1,
                qos,
            }));
        }
    }
    sorts
}

/// Returns the most frequent QoS settings of ports, by code points and pauses.
fn common(fabric: &Fabric, sorts: &[&PortGroup]) -> Option<Arc<PortQos>> {
    /// Traffic class of each code point, and the priorities with PFC.
    type FrequentMarks<'a> = (&'a BTreeMap<u8, u8>, &'a [u8]);
    let mut votes: BTreeMap<FrequentMarks<'_>, (u64, &Arc<PortQos>)> = BTreeMap::new();
    let pauses = |sort: &PortGroup| pauses_and_trims(fabric, sort);
    let some = sorts.iter().copied().any(pauses);
    for sort in sorts.iter().copied().filter(|sort| !some || pauses(sort)) {
        let vote = votes.entry((&sort.qos.dscp_to_class, &sort.qos.pauses)).or_insert((0, &sort.qos));
        vote.0 += sort.count;
    }
    votes.into_values().max_by_key(|(count, _)| *count).map(|(_, qos)| Arc::clone(qos))
}

/// Returns whether the language of a port numbers classes by rank.
fn is_ranked(fabric: &Fabric, sort: &PortGroup) -> bool {
    fabric.switch(sort.switch).is_some_and(|switch| switch.language.classes == Numbering::Ranked)
}

/// Returns whether the language of a port can express PFC and trimming.
fn pauses_and_trims(fabric: &Fabric, sort: &PortGroup) -> bool {
    fabric.switch(sort.switch).is_some_and(|switch| switch.language.quality.pauses_and_trims())
}

struct Work<'a> {
    fabric: &'a Fabric,
    port_group: &'a PortGroup,
    classes: &'a [TrafficClass],
    model: Option<&'a PortQos>,
    /// The most frequent values of ports whose language uses the class numbers of the profile.
    profile_model: Option<&'a PortQos>,
    /// Whether ports to NICs also mark.
    last_hop: bool,
    findings: &'a mut Findings,
}

/// Returns the names of the switch and the first port of a group of ports.
fn port<'a>(fabric: &'a Fabric, sort: &PortGroup) -> (&'a str, &'a str) {
    let (_, cable, side) = fabric.slot_cable(sort.switch, sort.slot);
    (fabric.cabling.switch(sort.switch), fabric.cabling.names.text(cable.ends(side).0.port))
}

fn violation(
    fabric: &Fabric,
    port_group: &PortGroup,
    (rule, setting): (&'static Rule, &str),
    message: &str,
) -> Violation {
    let (switch, port) = port(fabric, port_group);
    let others =
        if port_group.count > 1 { format!(" and {} more", port_group.count - 1) } else { String::new() };
    let place = fabric.place(port_group.switch, FactKind::Setting(port, setting));
    Violation::new(rule, place, format!("`{switch}`: port `{port}`{others} {message}"))
}

impl Work<'_> {
    fn expect(
        &mut self,
        holds: bool,
        (rule, setting): (&'static Rule, &str),
        message: impl FnOnce() -> String,
    ) {
        self.findings.count_facts(rule, self.port_group.count);
        if !holds {
            self.findings.report(violation(self.fabric, self.port_group, (rule, setting), &message()));
        }
    }

    fn all(&mut self) {
        let qos = Arc::clone(&self.port_group.qos);
        self.code_points(&qos);
        // A language may be unable to express PFC and trimming. The compiler rejects fabrics that need them on a switch
        // with such a language, so these settings are not compared.
        let says_all = pauses_and_trims(self.fabric, self.port_group);
        if says_all {
            self.pauses(&qos);
        }
        // The path tables determine which classes are trimmed.
        if !self.classes.is_empty() {
            if says_all {
                self.trimming(&qos);
                self.trimmed_marks(&qos);
            }
            self.marks(&qos);
        }
    }

    /// Returns the number of a class on the switch: a P4 target numbers classes by ascending traffic class.
    fn number(&self, class: &TrafficClass) -> u8 {
        if is_ranked(self.fabric, self.port_group) {
            self.classes.iter().filter(|other| other.class < class.class).count() as u8
        } else {
            class.class
        }
    }

    fn trimmed_classes(&self) -> BTreeSet<u8> {
        self.classes.iter().filter(|class| class.trim).map(|class| self.number(class)).collect()
    }

    fn code_points(&mut self, qos: &PortQos) {
        self.expect(qos.dscp_to_class.len() == 64, (&CLASSES, CODE_POINTS), || {
            format!("maps {} of 64 code points", qos.dscp_to_class.len())
        });
        let wrong = self.classes.iter().find_map(|class| {
            let number = self.number(class);
            let dscp = class.dscp.iter().find(|dscp| qos.dscp_to_class.get(dscp) != Some(&number))?;
            Some((class.name.clone(), *dscp, qos.dscp_to_class.get(dscp).copied()))
        });
        let dscp = wrong.as_ref().map_or(0, |(_, dscp, _)| *dscp);
        self.expect(wrong.is_none(), (&CLASSES, &*format!("{CODE_POINTS} {dscp}")), || {
            let (name, dscp, found) = wrong.unwrap_or_default();
            let found = found.map_or("no class".to_owned(), |class| format!("class {class}"));
            format!("maps code point {dscp}, which the path tables give to `{name}`, to {found}")
        });
        if let Some(model) = self.profile_model.filter(|_| !is_ranked(self.fabric, self.port_group)) {
            let same = model.dscp_to_class == qos.dscp_to_class;
            self.expect(same, (&CLASSES, CODE_POINTS), || {
                "maps code points differently from most ports".to_owned()
            });
        }
        let queues = qos.dscp_to_class.values().all(|class| qos.class_to_queue.contains_key(class));
        self.expect(queues, (&CLASSES, "tc_to_queue_map"), || {
            "has a traffic class without a queue".to_owned()
        });
    }

    fn pauses(&mut self, qos: &PortQos) {
        let show = |list: &[u8]| {
            let list: Vec<String> = list.iter().map(u8::to_string).collect();
            if list.is_empty() { "nothing".to_owned() } else { list.join(", ") }
        };
        if let Some(model) = self.model {
            self.expect(model.pauses == qos.pauses, (&PAUSES, "pfc_enable"), || {
                format!("pauses {}; most ports pause {}", show(&qos.pauses), show(&model.pauses))
            });
        }
        let group = |priority: &u8| qos.pause_groups.get(priority).copied().unwrap_or(*priority);
        let queue = |priority: &u8| qos.pause_queues.get(priority).copied().unwrap_or(*priority);
        let stops = |priority: &&u8, class: &u8| {
            qos.class_to_queue.get(class) == Some(&queue(priority))
                || qos.class_to_group.get(class) == Some(&group(priority))
        };
        let trimmed = self.trimmed_classes();
        let wrong = qos.pauses.iter().find(|priority| trimmed.iter().any(|class| stops(priority, class)));
        self.expect(wrong.is_none(), (&PAUSES, "pfc_enable"), || {
            format!("pauses {}, which stops a class that is trimmed", wrong.copied().unwrap_or_default())
        });
        let wanted: BTreeSet<u8> = qos.pauses.iter().map(group).collect();
        let found: BTreeSet<u8> = qos.headroom.iter().copied().collect();
        let odd = wanted.symmetric_difference(&found).next().copied().unwrap_or_default();
        let headroom = format!("buffer of group {odd}");
        self.expect(wanted == found, (&PAUSES, &*headroom), || {
            let list = |set: &BTreeSet<u8>| show(&set.iter().copied().collect::<Vec<_>>());
            format!("has headroom for groups {}, but pauses stop groups {}", list(&found), list(&wanted))
        });
    }

    /// Returns the name of the setting that trims a class.
    fn trims(&self, class: u8) -> String {
        match self.port_group.qos.class_to_queue.get(&class) {
            Some(queue) if !is_ranked(self.fabric, self.port_group) => format!("buffer of queue {queue}"),
            _ => format!("trimming of class {class}"),
        }
    }

    fn trimming(&mut self, qos: &PortQos) {
        let wanted = self.trimmed_classes();
        let found: BTreeSet<u8> = qos.trims.iter().copied().collect();
        let odd = wanted.symmetric_difference(&found).next().copied().unwrap_or_default();
        let setting = self.trims(odd);
        let agrees = self.fabric.groups.is_empty() || wanted == found;
        self.expect(agrees, (&TRIMMING, &*setting), || {
            format!("trims classes {found:?}; the path tables state {wanted:?}")
        });
        self.expect(wanted.is_empty() || qos.trimmed_dscp.is_some(), (&TRIMMING, TRIMMED), || {
            "does not give trimmed packets their own code point".to_owned()
        });
        if let Some(dscp) = qos.trimmed_dscp {
            let class = qos.dscp_to_class.get(&dscp);
            let safe = class.is_some_and(|class| !wanted.contains(class));
            self.expect(safe, (&TRIMMING, TRIMMED), || {
                format!("gives trimmed packets code point {dscp}, whose class is trimmed again")
            });
        }
    }

    /// Checks the code points of trimmed packets, by which hosts distinguish a congested path from a busy receiver.
    fn trimmed_marks(&mut self, qos: &PortQos) {
        let last_hop = self.port_group.place == Place::LastHop;
        let stated = self.fabric.groups.first().and_then(|group| group.trimmed_dscp);
        let wanted = stated.map(|(fabric, last)| if last_hop { last } else { fabric });
        self.findings.count_facts(&TRIMMING, self.port_group.count);
        if qos.trimmed_dscp != wanted {
            let word =
                |mark: Option<u8>| mark.map_or("no code point".to_owned(), |m| format!("code point {m}"));
            let (has, says) = (word(qos.trimmed_dscp), word(wanted));
            let message = format!("gives trimmed packets {has}; the path tables state {says}");
            let mut violation = violation(self.fabric, self.port_group, (&TRIMMING, TRIMMED), &message);
            if let Some(group) = self.fabric.groups.first() {
                violation = violation.and(group.place(&["\"qos\":", "\"trimmed\":"]));
            }
            self.findings.report(violation);
        }
    }

    fn marks(&mut self, qos: &PortQos) {
        let rising = qos.marks.values().all(|(least, most, probability)| least < most && *probability > 0);
        self.expect(rising, (&MARKS, "marks"), || {
            "starts to mark at or above where it is certain".to_owned()
        });
        let trimmed = self.trimmed_classes();
        if trimmed.is_empty() {
            return;
        }
        if self.port_group.place == Place::LastHop && !self.last_hop {
            self.expect(qos.marks.is_empty(), (&MARKS, "marks"), || {
                format!("leads to a NIC and marks classes {:?}", qos.marks.keys())
            });
        } else {
            let all = trimmed.iter().all(|class| qos.marks.contains_key(class));
            self.expect(all, (&MARKS, "marks"), || {
                format!("marks classes {:?}, but not all of {trimmed:?}", qos.marks.keys())
            });
        }
    }
}

/// Checks that the code point of packets trimmed at the last hop differs from that of packets trimmed earlier.
fn asymmetric(fabric: &Fabric, sorts: &[PortGroup], findings: &mut Findings) {
    let mut votes: BTreeMap<bool, BTreeMap<u8, u64>> = BTreeMap::new();
    for sort in sorts {
        if let Some(dscp) = sort.qos.trimmed_dscp {
            *votes.entry(sort.place == Place::LastHop).or_default().entry(dscp).or_default() += sort.count;
        }
    }
    let meant: BTreeMap<bool, u8> = votes
        .iter()
        .filter_map(|(last, votes)| Some((*last, *votes.iter().max_by_key(|(_, count)| **count)?.0)))
        .collect();
    for (last, dscp) in &meant {
        let at = if *last { "at the last hop" } else { "before the last hop" };
        findings.record_common_value(&TRIMMING, format_args!("trimmed packets {at}"), dscp);
    }
    let same = meant.len() == 2 && meant.get(&true) == meant.get(&false);
    for sort in sorts {
        let Some(dscp) = sort.qos.trimmed_dscp else { continue };
        let wanted = meant[&(sort.place == Place::LastHop)];
        findings.expect(dscp == wanted && !same, &TRIMMING, || {
            let message = if same {
                format!("gives trimmed packets code point {dscp}, at the last hop and elsewhere")
            } else {
                format!("gives trimmed packets code point {dscp}; most ports at its position give {wanted}")
            };
            violation(fabric, sort, (&TRIMMING, TRIMMED), &message)
        });
    }
}

/// The properties that equal ports share: language, hardware, position, wire settings and cable length.
type PortKind<'a> = (&'static Language, &'a str, Place, Wire, u32);

/// The properties that equal switches share: the number of ports of each kind, which share the buffer.
type PortCounts = Vec<(Place, Wire, u32, u64)>;

/// Returns the hardware of a switch: as named in its files, or else in the manifest.
fn hardware<'a>(fabric: &'a Fabric, stated: Option<&'a StatedValues>, id: SwitchId) -> Option<&'a str> {
    let switch = fabric.switch(id)?;
    let in_manifest =
        || Some(&*profile::stated_switch(fabric, stated?, (id, switch), switch.tier?)?.hardware);
    switch.hardware.as_deref().or_else(in_manifest)
}

/// Checks that equal ports have equal settings, and reports those that differ from the majority.
fn compare_equal_ports(
    (fabric, stated): (&Fabric, Option<&StatedValues>),
    sorts: &[PortGroup],
    findings: &mut Findings,
) {
    let like = |sort: &PortGroup, hardware| {
        let switch = fabric.switch(sort.switch)?;
        Some((switch.language, hardware, sort.place, sort.facts.of(&fabric.facts).wire, sort.meters))
    };
    let mut ports: HashMap<PortKind<'_>, Vec<&PortGroup>> = HashMap::new();
    let mut switches: HashMap<(PortKind<'_>, PortCounts), Vec<&PortGroup>> = HashMap::new();
    for own in sorts.chunk_by(|a, b| a.switch == b.switch) {
        let mut build: PortCounts = own
            .iter()
            .map(|sort| (sort.place, sort.facts.of(&fabric.facts).wire, sort.meters, sort.count))
            .collect();
        build.sort_unstable();
        let hardware = own.first().and_then(|sort| hardware(fabric, stated, sort.switch)).unwrap_or_default();
        for sort in own {
            let Some(like) = like(sort, hardware) else { continue };
            ports.entry(like).or_default().push(sort);
            switches.entry((like, build.clone())).or_default().push(sort);
        }
    }
    let named = |(language, hardware, place, ..): &PortKind<'_>| {
        format!("{place:?} ports of {hardware} with {}", language.name)
    };
    for (like, sorts) in ports {
        let of = format!("settings of {} #{}", named(&like), digest(&like));
        compare_settings(fabric, (&sorts, &of), of_ports, findings);
    }
    for (build, sorts) in switches {
        let of = format!("sizes of {} #{}", named(&build.0), digest(&build));
        compare_settings(fabric, (&sorts, &of), of_switches, findings);
    }
}

/// Settings of a port, by name.
type Settings<'a> = BTreeMap<&'a str, &'a str>;

/// Returns whether a setting is the same on all ports of a switch and depends on the slowest one, such as watchdog
/// times.
fn is_of_switch(name: &str) -> bool {
    name.starts_with("watchdog ") || name == "PFC_WD|global"
}

/// Returns the settings that must be the same on equal ports.
fn of_ports(qos: &PortQos) -> Settings<'_> {
    let all = qos.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    all.filter(|(name, _)| !is_of_switch(name)).collect()
}

/// Returns the settings that must be the same on ports of equal switches.
fn of_switches(qos: &PortQos) -> Settings<'_> {
    let own = qos.settings.iter().filter(|(name, _)| is_of_switch(name));
    own.chain(&qos.buffer_settings).map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn compare_settings(
    fabric: &Fabric,
    (sorts, of): (&[&PortGroup], &str),
    part: fn(&PortQos) -> Settings<'_>,
    findings: &mut Findings,
) {
    let mut votes: BTreeMap<Settings<'_>, u64> = BTreeMap::new();
    for sort in sorts {
        *votes.entry(part(&sort.qos)).or_default() += sort.count;
    }
    let Some((meant, _)) = votes.iter().max_by_key(|(_, count)| **count) else { return };
    findings.record_common_value(&ALIKE, of, meant);
    for sort in sorts {
        findings.count_facts(&ALIKE, sort.count);
        if let Some((name, own, others)) = difference(&part(&sort.qos), meant) {
            let message = format!("has `{own}` as {name}; equal ports have `{others}`");
            findings.report(violation(fabric, sort, (&ALIKE, name), &message));
        }
    }
}

/// Checks that all path tables contain the same classes.
fn tables(fabric: &Fabric, findings: &mut Findings) {
    let mut votes: Vec<(&Group, u64)> = Vec::new();
    let equal = |a: &Group, b: &Group| a.classes == b.classes && a.profile == b.profile;
    for group in fabric.judged_groups() {
        match votes.iter_mut().find(|(model, _)| equal(model, group)) {
            Some(vote) => vote.1 += 1,
            None => votes.push((group, 1)),
        }
    }
    let Some(meant) = votes.iter().max_by_key(|(_, count)| *count).map(|(model, _)| *model) else { return };
    for group in fabric.judged_groups() {
        findings.expect(equal(group, meant), &CLASSES, || {
            let message =
                format!("`{}` and `{}` state different classes of traffic", group.name(), meant.name());
            Violation::new(&CLASSES, group.place(&["\"qos\":"]), message)
        });
    }
}
