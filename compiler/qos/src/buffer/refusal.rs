//! Reason why headroom does not fit, with numbers and suggestions.
//!
//! In: a memory, the port groups that exceed it, and the division. Out: a [`Refusal`]. Invariants: every suggestion
//! with a number was tried and fits. If a port has a lossless class, there are at least two suggestions.

use std::fmt;
use std::num::NonZeroU32;

use serde::Serialize;

use super::{Division, Memory, PortGroup, Sum};
use crate::headroom::Model;
use crate::profile::SharedHeadroom;
use crate::units::{Bytes, Length, Nanoseconds, Speed};

/// Headroom that exceeds the buffer of a switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The share of each group of ports, largest first.
    pub lines: Vec<RefusalLine>,
    /// Sum of guaranteed bytes and headroom pool.
    pub needed: Bytes,
    /// Reserved amounts.
    pub reserved: Bytes,
    /// Space for one packet per port, which must remain in the shared pool.
    pub floor: Bytes,
    /// The memory in whole cells.
    pub memory: Bytes,
    /// Maximum headroom, if the profile sets a fixed share.
    pub share: Option<Bytes>,
    /// Suggestions.
    pub ways: Vec<Suggestion>,
}

/// The share of one group of ports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusalLine {
    /// Name of the group.
    pub name: String,
    /// Number of ports.
    pub ports: u32,
    /// Number of lossless classes on each port.
    pub classes: u32,
    /// Speed of the ports.
    pub speed: Speed,
    /// Length of the cables.
    pub cable: Length,
    /// Headroom of one class of one port.
    pub each: Bytes,
    /// Headroom of all classes of all ports.
    pub sum: Bytes,
}

/// A suggestion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suggestion {
    /// Make the class lossy on the cable, and mark early.
    Lossy {
        /// The group of ports.
        group: String,
        /// Bytes in flight on the cable in both directions: the minimum ECN threshold that keeps the link full.
        ecn_min: Bytes,
    },
    /// Terminate PFC at a device with deep buffers before the long cable.
    TerminateAtDci {
        /// The group of ports.
        group: String,
        /// The headroom that this device needs for one class of one port.
        each: Bytes,
    },
    /// Use a shorter cable.
    ShorterCable {
        /// The group of ports.
        group: String,
        /// The maximum length that fits, in whole metres.
        longest: Length,
    },
    /// Use fewer lossless classes.
    FewerClasses {
        /// Maximum number that fits.
        classes: u32,
    },
    /// Share headroom between the ports.
    ShareHeadroom {
        /// The smallest ratio that fits.
        over_subscribe_ratio: NonZeroU32,
    },
    /// Use a platform with more buffer.
    DeeperBuffer {
        /// Required size.
        memory: Bytes,
    },
}

/// Longer cables leave the building and end at a DCI (data centre interconnect) device.
const LONG_HAUL: Length = Length::from_meters(2_000);
/// Maximum ratio to suggest. Larger ratios would be too risky; SONiC's default is 2.
const LARGEST_RATIO: u32 = 8;

impl Refusal {
    pub(super) fn new(memory: &Memory, groups: &[PortGroup], division: Division) -> Self {
        let sum = Sum::of(memory, groups, division);
        let mut lines: Vec<RefusalLine> =
            groups.iter().filter(|group| group.groups() > 0).map(RefusalLine::of).collect();
        lines.sort_by(|a, b| b.sum.cmp(&a.sum).then_with(|| a.name.cmp(&b.name)));
        Self {
            lines,
            needed: sum.guaranteed + sum.headroom,
            reserved: sum.reserved,
            floor: sum.floor,
            memory: sum.memory,
            share: sum.share,
            ways: suggestions(memory, groups, division, &sum),
        }
    }
}

impl RefusalLine {
    fn of(group: &PortGroup) -> Self {
        let link = group.request.link();
        Self {
            name: group.name.clone(),
            ports: group.ports,
            classes: group.classes,
            speed: link.speed(),
            cable: link.cable(),
            each: group.headroom.total(),
            sum: group.guaranteed_bytes() + group.pooled_bytes(),
        }
    }
}

fn suggestions(memory: &Memory, groups: &[PortGroup], division: Division, sum: &Sum) -> Vec<Suggestion> {
    let fits = |groups: &[PortGroup], division: Division| Sum::of(memory, groups, division).fits();
    let mut ways = Vec::new();
    let worst = groups.iter().max_by_key(|group| group.guaranteed_bytes() + group.pooled_bytes());
    if let Some(worst) = worst.filter(|group| group.groups() > 0) {
        let (link, group) = (worst.request.link(), worst.name.clone());
        // 5 ns per metre in both directions: 0.01 ns per millimetre.
        let round_trip = Nanoseconds(link.cable().millimeters().div_ceil(100));
        let in_flight = link.speed().bytes_in(round_trip).max(Bytes(2 * link.mtu().0));
        ways.push(Suggestion::Lossy { group: group.clone(), ecn_min: in_flight });
        if link.cable() >= LONG_HAUL {
            ways.push(Suggestion::TerminateAtDci { group: group.clone(), each: worst.headroom.total() });
        }
        if let Some(longest) = longest_that_fits(groups, worst, |groups| fits(groups, division)) {
            ways.push(Suggestion::ShorterCable { group, longest });
        }
    }
    let most = groups.iter().map(|group| group.classes).max().unwrap_or(0);
    let fewer = (1..most).rev().find(|classes| {
        let capped: Vec<_> = groups.iter().map(|group| group.with_classes_at_most(*classes)).collect();
        fits(&capped, division)
    });
    ways.extend(fewer.map(|classes| Suggestion::FewerClasses { classes }));
    ways.extend(sharing_that_fits(groups, division, fits));
    ways.push(Suggestion::DeeperBuffer { memory: deeper(memory, sum, division) });
    ways
}

/// Returns the maximum cable length of a group, in whole metres, with which the headroom fits; `None` if 1 m
/// does not fit.
fn longest_that_fits(
    groups: &[PortGroup],
    worst: &PortGroup,
    fits: impl Fn(&[PortGroup]) -> bool,
) -> Option<Length> {
    let fits = |meters: u64| {
        let cable = Length::from_millimeters(meters * 1000);
        let shorter: Option<Vec<_>> = groups
            .iter()
            .map(|group| if group == worst { group.with_cable(cable) } else { Some(group.clone()) })
            .collect();
        shorter.is_some_and(|groups| fits(&groups))
    };
    // Invariant: `low` fits and `high` does not.
    let (mut low, mut high) = (1, worst.request.link().cable().meters_ceil());
    if low >= high || !fits(low) {
        return None;
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(Length::from_millimeters(low * 1000))
}

/// Returns the smallest sharing ratio with which the headroom fits.
fn sharing_that_fits(
    groups: &[PortGroup],
    division: Division,
    fits: impl Fn(&[PortGroup], Division) -> bool,
) -> Option<Suggestion> {
    let shared: Vec<_> = groups.iter().map(PortGroup::with_shared_headroom).collect::<Option<_>>()?;
    let current = division.ratio().get();
    let ratio = (current + 1..=LARGEST_RATIO).filter_map(NonZeroU32::new).find(|ratio| {
        let shared_headroom = Some(SharedHeadroom { over_subscribe_ratio: *ratio });
        fits(&shared, Division { shared_headroom, ..division })
    });
    ratio.map(|over_subscribe_ratio| Suggestion::ShareHeadroom { over_subscribe_ratio })
}

/// Computes the memory size with which the headroom would fit.
fn deeper(memory: &Memory, sum: &Sum, division: Division) -> Bytes {
    let plain = sum.reserved_total() + sum.floor;
    let by_share = division.shares.map_or(Bytes::ZERO, |shares| {
        let needed = u128::from((sum.guaranteed + sum.headroom).0) * 100;
        let share = u128::from(shares.headroom.get()).max(1);
        sum.reserved + Bytes(u64::try_from(needed.div_ceil(share)).unwrap_or(u64::MAX))
    });
    plain.max(by_share).round_up(memory.cell)
}

impl PortGroup {
    fn with_cable(&self, cable: Length) -> Option<Self> {
        let request = self.request.with_cable(cable).ok()?;
        let headroom = self.model.headroom(&request, Some(self.cell)).ok()?;
        Some(Self { request, headroom, ..self.clone() })
    }

    fn with_classes_at_most(&self, classes: u32) -> Self {
        Self { classes: self.classes.min(classes), ..self.clone() }
    }

    /// Returns the group with headroom from a shared pool; `None` if the model has no such pool.
    fn with_shared_headroom(&self) -> Option<Self> {
        match self.model {
            Model::Spectrum(_) | Model::Tofino2 | Model::Chip(_) => {
                let request = self.request.with_shared_headroom();
                let headroom = self.model.headroom(&request, Some(self.cell)).ok()?;
                Some(Self { request, headroom, ..self.clone() })
            }
            Model::Ieee | Model::Classic(_) => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lossless headroom does not fit: ")?;
        for (place, line) in self.lines.iter().enumerate() {
            let plus = if place == 0 { "" } else { " + " };
            let RefusalLine { name, ports, classes, speed, cable, each, sum: _ } = line;
            let class = if *classes == 1 { "class" } else { "classes" };
            let ports = format!("{ports} port{}", if *ports == 1 { "" } else { "s" });
            write!(f, "{plus}{ports} x {classes} {class} x {} (`{name}`, {speed}, {cable})", each.human())?;
        }
        let Self { needed, reserved, floor, memory, share, .. } = self;
        write!(f, " need {}", needed.human())?;
        if let Some(share) = share {
            write!(f, ", of which the profile grants {}", share.human())?;
        }
        let packet = "one packet per port";
        let (reserved, floor, memory) = (reserved.human(), floor.human(), memory.human());
        write!(f, "; with {reserved} reserved and {packet} ({floor}) the buffer of {memory} is too small")
    }
}

impl fmt::Display for Suggestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lossy { group, ecn_min } => write!(
                f,
                "make the class lossy on `{group}` and mark early, with an ECN minimum of {} (the bytes in \
                 flight on the cable in both directions)",
                ecn_min.human()
            ),
            Self::TerminateAtDci { group, each } => write!(
                f,
                "end PFC at a DCI box in front of `{group}`, with {} of buffer for each lossless class of each \
                 port",
                each.human()
            ),
            Self::ShorterCable { group, longest } => {
                write!(f, "shorten the cables of `{group}` to {longest} or less")
            }
            Self::FewerClasses { classes: 1 } => write!(f, "have one lossless class"),
            Self::FewerClasses { classes } => write!(f, "have {classes} lossless classes or fewer"),
            Self::ShareHeadroom { over_subscribe_ratio } => {
                write!(
                    f,
                    "let ports share headroom: `shared_headroom: {{over_subscribe_ratio: {over_subscribe_ratio}}}`"
                )
            }
            Self::DeeperBuffer { memory } => {
                write!(f, "use a platform with at least {} of buffer", memory.human())
            }
        }
    }
}
