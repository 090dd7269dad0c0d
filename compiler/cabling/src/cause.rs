//! Causes of findings: one line for each place to check, most important first.
//!
//! In: findings, and the number of planned cables of each device. A cable counts once for each of its ends on
//! a device with a report. Out: [`Cause`]s. Invariants: every finding has exactly one cause. Causes that a
//! report shows directly are certain; explanations of missing neighbours are not.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::Plan;
use closc_topology::RackPlace;

use crate::locate::Device;
use crate::report::{Cause, DevicePort, Finding, PlannedCable};

/// Numbers of planned cables. A cable counts once for each of its ends on a device with a report.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// By the reporting device, and whether the ports face the NICs.
    near: BTreeMap<(Device, bool), usize>,
    /// By the device at the other end.
    far: BTreeMap<Device, usize>,
    /// Ports of T0s towards NICs.
    hosts: usize,
}

impl Tally {
    /// Counts a planned cable at an end on a reporting device.
    pub(crate) fn add(&mut self, near: Device, faces_nics: bool, far: Device) {
        *self.near.entry((near, faces_nics)).or_default() += 1;
        *self.far.entry(far).or_default() += 1;
        self.hosts += usize::from(matches!(far, Device::Node(_)));
    }
}

/// A reason for ports without a neighbour. Of reasons with equally many findings, the first in this order is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Silence {
    /// Nodes do not send LLDP.
    Hosts,
    /// A device does not receive LLDP.
    Deaf(Device),
    /// A device does not send LLDP, or is down.
    Mute(Device),
    /// Most ports of one side of a device have no neighbour, for an unknown reason.
    Side(Device, bool),
    /// Single ports of a device have no neighbour, for an unknown reason.
    Ports(Device),
}

/// Returns the causes of findings.
pub(crate) fn causes(plan: &Plan, tally: &Tally, findings: &[Finding]) -> Vec<Cause> {
    let (mut causes, mut silences) = (Vec::new(), Silences::default());
    for (at, finding) in findings.iter().enumerate() {
        let gaps = gaps(plan, finding);
        if gaps.is_empty() {
            causes.push(Cause { certain: true, text: certain_text(plan, finding), findings: vec![at] });
        }
        silences.add(at, &gaps);
    }
    causes.sort_by_key(|cause| !is_across(&findings[cause.findings[0]]));
    while let Some((silence, found)) = silences.take_likeliest(tally) {
        let text = text(plan, tally, findings, silence, &found);
        causes.push(Cause { certain: false, text, findings: found.into_iter().collect() });
    }
    causes
}

/// Findings about ends without a neighbour, by their possible reasons.
#[derive(Default)]
struct Silences {
    findings: BTreeMap<Silence, BTreeSet<usize>>,
    of: BTreeMap<usize, BTreeSet<Silence>>,
}

impl Silences {
    fn add(&mut self, at: usize, gaps: &[Gap]) {
        for Gap { near, far, faces_nics } in gaps.iter().copied() {
            let hosts = matches!(far, Device::Node(_)).then_some(Silence::Hosts);
            let others = [
                Silence::Deaf(near),
                Silence::Mute(far),
                Silence::Side(near, faces_nics),
                Silence::Ports(near),
            ];
            for silence in hosts.into_iter().chain(others) {
                self.findings.entry(silence).or_default().insert(at);
                self.of.entry(at).or_default().insert(silence);
            }
        }
    }

    /// Removes and returns the findings of the reason that explains most. Among equal ones, the broadest is chosen.
    fn take_likeliest(&mut self, tally: &Tally) -> Option<(Silence, BTreeSet<usize>)> {
        let is_single = |silence: Silence| matches!(silence, Silence::Ports(_));
        let counts =
            || self.findings.iter().map(|(silence, found)| (found.len(), std::cmp::Reverse(*silence)));
        let broad = counts().filter(|(count, silence)| explains(tally, silence.0, *count)).max();
        let best = broad.or_else(|| counts().filter(|(_, silence)| is_single(silence.0)).max());
        let (_, std::cmp::Reverse(silence)) = best.filter(|(count, _)| *count > 0)?;
        let taken = self.findings.remove(&silence)?;
        for at in &taken {
            for other in self.of.remove(at).unwrap_or_default() {
                if let Some(found) = self.findings.get_mut(&other) {
                    found.remove(at);
                }
            }
        }
        Some((silence, taken))
    }
}

/// Returns whether `count` findings are enough to assume a reason, compared with the number of cables that it
/// would affect.
fn explains(tally: &Tally, silence: Silence, count: usize) -> bool {
    let of = total(tally, silence);
    match silence {
        Silence::Hosts => count * 10 >= of * 9,
        Silence::Deaf(_) | Silence::Mute(_) => count == of && count > 1,
        Silence::Side(..) => count * 4 >= of * 3 && count > 1,
        Silence::Ports(_) => false,
    }
}

/// An end without a neighbour.
#[derive(Debug, Clone, Copy)]
struct Gap {
    near: Device,
    far: Device,
    faces_nics: bool,
}

/// Returns the ends that have no neighbour. Only missing and one-way findings have such ends.
fn gaps(plan: &Plan, finding: &Finding) -> Vec<Gap> {
    let (cable, silent) = match finding {
        Finding::Missing { cable, silent, .. } | Finding::OneWay { cable, silent } => (cable, silent),
        Finding::Exchanged { .. }
        | Finding::Wrong { .. }
        | Finding::Unknown { .. }
        | Finding::Unplanned { .. }
        | Finding::Speed { .. } => return Vec::new(),
    };
    let gap = |end: &DevicePort| {
        let faces_nics = *end == cable.upper;
        let far = if faces_nics { &cable.lower } else { &cable.upper };
        let (near, far) = (Device::find(plan, &end.device)?, Device::find(plan, &far.device)?);
        Some(Gap { near, far, faces_nics })
    };
    silent.iter().filter_map(gap).collect()
}

fn total(tally: &Tally, silence: Silence) -> usize {
    let near = |device, faces_nics| tally.near.get(&(device, faces_nics)).copied().unwrap_or(0);
    match silence {
        Silence::Hosts => tally.hosts,
        Silence::Deaf(device) | Silence::Ports(device) => near(device, true) + near(device, false),
        Silence::Mute(device) => tally.far.get(&device).copied().unwrap_or(0),
        Silence::Side(device, faces_nics) => near(device, faces_nics),
    }
}

fn text(
    plan: &Plan,
    tally: &Tally,
    findings: &[Finding],
    silence: Silence,
    found: &BTreeSet<usize>,
) -> String {
    let (count, of) = (found.len(), total(tally, silence));
    match silence {
        Silence::Hosts => format!("hosts send no LLDP: no neighbour at {count} of {of} ports towards hosts"),
        Silence::Deaf(device) => {
            format!(
                "{} receives no LLDP: no neighbour at any of its {of} ports",
                device_and_rack(plan, device)
            )
        }
        Silence::Mute(device) => {
            format!(
                "{} is down or sends no LLDP: not reported at the other end of {of} cables",
                device_and_rack(plan, device)
            )
        }
        Silence::Side(device, faces_nics) => {
            let ports = if faces_nics { "downlinks" } else { "uplinks" };
            format!("{}: no neighbour at {count} of {of} {ports}", device_and_rack(plan, device))
        }
        Silence::Ports(device) => {
            format!(
                "{}: no neighbour at {}",
                device_and_rack(plan, device),
                ports(plan, findings, device, found)
            )
        }
    }
}

/// Maximum number of ports that one line names.
const PORTS_SHOWN: usize = 8;

/// Lists the silent ports of a device, and marks those that are down.
fn ports(plan: &Plan, findings: &[Finding], device: Device, found: &BTreeSet<usize>) -> String {
    let name = device.name(plan);
    let of = |at: &usize| match &findings[*at] {
        Finding::Missing { silent, is_down, .. } => {
            let port = silent.iter().find(|end| end.device == name)?;
            Some(format!("{}{}", port.port, if *is_down { " (down)" } else { "" }))
        }
        Finding::OneWay { silent, .. } => {
            let port = silent.iter().find(|end| end.device == name)?;
            Some(format!("{} (the other end reports this one)", port.port))
        }
        Finding::Exchanged { .. }
        | Finding::Wrong { .. }
        | Finding::Unknown { .. }
        | Finding::Unplanned { .. }
        | Finding::Speed { .. } => None,
    };
    let all: Vec<String> = found.iter().filter_map(of).collect();
    let more = all.len().saturating_sub(PORTS_SHOWN);
    let shown = all[..all.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// Describes a finding whose cause is certain, with rack and unit of the device to repair.
fn certain_text(plan: &Plan, finding: &Finding) -> String {
    match finding {
        Finding::Exchanged { cables, .. } => match swap(plan, cables) {
            Some(swap) => format!("{finding}; {swap}"),
            None => finding.to_string(),
        },
        Finding::Wrong { seen: (end, _), .. }
        | Finding::Unknown { at: end, .. }
        | Finding::Unplanned { at: end, .. }
        | Finding::Speed { at: end, .. } => match place(plan, &end.device) {
            Some(place) => format!("{finding}; {} is in {place}", end.device),
            None => finding.to_string(),
        },
        Finding::Missing { .. } | Finding::OneWay { .. } => finding.to_string(),
    }
}

/// Describes the repair of two swapped cables at a device where both have an end. Returns `None` for another number
/// of cables, or without such a device.
fn swap(plan: &Plan, cables: &[PlannedCable]) -> Option<String> {
    let [a, b] = cables else { return None };
    let ends = [(&a.lower, &b.lower), (&a.upper, &b.upper)];
    let at_one = ends.into_iter().filter(|(one, other)| one.device == other.device);
    let steps: Vec<String> = at_one
        .map(|(one, other)| {
            let place = place(plan, &one.device).map_or_else(String::new, |place| format!(" ({place})"));
            format!("swap {} and {} of {}{place}", one.port, other.port, one.device)
        })
        .collect();
    (!steps.is_empty()).then(|| steps.join(", or "))
}

fn device_and_rack(plan: &Plan, device: Device) -> String {
    let name = device.name(plan);
    match place(plan, &name) {
        Some(place) => format!("{name} ({place})"),
        None => name,
    }
}

/// Returns rack and unit of a device, if the file has racks.
fn place(plan: &Plan, device: &str) -> Option<String> {
    let RackPlace { rack, unit, .. } = match Device::find(plan, device)? {
        Device::Switch(switch) => plan.topology().switch_place(switch)?,
        Device::Node(node) => plan.topology().node_place(node)?,
    };
    Some(format!("rack {rack}, U {unit}"))
}

fn is_across(finding: &Finding) -> bool {
    match finding {
        Finding::Exchanged { across_planes, .. } | Finding::Wrong { across_planes, .. } => *across_planes,
        Finding::Missing { .. }
        | Finding::OneWay { .. }
        | Finding::Unknown { .. }
        | Finding::Unplanned { .. }
        | Finding::Speed { .. } => false,
    }
}
