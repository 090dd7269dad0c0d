//! The queues of a switch with kernel forwarding, for the template of `tc.batch`.
//!
//! In: the intent and the values computed by the plan. Out: [`QueuesView`]; `None` if the profile has no settings for
//! queues. Invariants: each queue of the profile is a band of `ets`. Strict queues come first, and higher numbers
//! before lower ones. A code point is matched at a fixed offset of the outer header (`u32`), regardless of the inner
//! packet.

use std::collections::BTreeMap;

use closc_plan::{DeviceIntent, PortIntent, SwitchQos};
use closc_platform::capability::required_capabilities;
use closc_qos::codes::{Dscp, Queue};
use closc_qos::ecn::EcnThresholds;
use closc_qos::profile::{Class, Profile, Scheduler};
use serde::Serialize;

use crate::RenderError;

/// Packet size for computing the burst of `red`.
const PACKET: u64 = 1_000;

/// The queues of a switch.
#[derive(Debug, Serialize)]
pub(in crate::targets) struct QueuesView<'a> {
    profile: &'a str,
    /// Number of bands.
    bands: usize,
    /// Number of strict bands; empty for none.
    strict: String,
    /// `priomap`: the band, counted from 0, of packets that are not IPv6, once for each of the kernel's 16 priorities.
    others: String,
    filters: Vec<Filter>,
    ports: Vec<Port<'a>>,
}

/// Code points of a class.
#[derive(Debug, Serialize)]
struct Filter {
    pref: u32,
    what: String,
    band: String,
}

/// A port with a cable.
#[derive(Debug, Serialize)]
struct Port<'a> {
    name: &'a str,
    /// The other end, for a comment.
    far: &'a str,
    /// Bytes that each weighted band may send per round; empty for none.
    quanta: String,
    bands: Vec<Band>,
}

#[derive(Debug, Serialize)]
struct Band {
    number: String,
    handle: String,
    /// Limit of queued bytes.
    bytes: u64,
    marks: Option<Marks>,
}

/// ECN thresholds.
#[derive(Debug, Serialize)]
struct Marks {
    least: u64,
    most: u64,
    packet: u64,
    burst: u64,
    probability: String,
}

/// A queue of the profile.
struct ProfileQueue {
    queue: Queue,
    /// Absent for a strict queue.
    weight: Option<u8>,
}

impl<'a> QueuesView<'a> {
    /// Returns the queues of a switch; `None` if its profile has no settings for queues.
    pub(in crate::targets) fn of(intent: &'a DeviceIntent<'a>) -> Result<Option<Self>, RenderError> {
        let profile = intent.qos;
        let Some(packets) = intent.os.queue_packets().filter(|_| !required_capabilities(profile).is_empty())
        else {
            return Ok(None);
        };
        let fault = |source| RenderError::Qos { device: intent.name.to_string(), source };
        let switch = SwitchQos::of(intent).map_err(fault)?;
        let queues = order_queues(profile);
        let port = |(port, kind): (&'a PortIntent, &Option<usize>)| {
            Some(self::port(port, &queues, packets, &switch.marks[(*kind)?]))
        };
        let strict = queues.iter().filter(|own| own.weight.is_none()).count();
        let default = band(&queues, profile.default_class());
        Ok(Some(QueuesView {
            profile: profile.name().as_str(),
            bands: queues.len(),
            strict: if strict == 0 { String::new() } else { strict.to_string() },
            others: vec![default.to_string(); 16].join(" "),
            filters: filters(profile, &queues),
            ports: intent.ports.iter().zip(&switch.ports).filter_map(port).collect(),
        }))
    }
}

/// Returns the queues of a profile in the order of their bands.
fn order_queues(profile: &Profile) -> Vec<ProfileQueue> {
    let own = |(queue, classes): (&Queue, &Vec<&Class>)| {
        let weight = match classes[0].scheduler {
            Scheduler::Strict => None,
            Scheduler::Dwrr(weight) => Some(weight.get()),
        };
        ProfileQueue { queue: *queue, weight }
    };
    let mut queues: Vec<ProfileQueue> = profile.queues().iter().map(own).collect();
    queues.sort_by_key(|own| (own.weight.is_some(), std::cmp::Reverse(own.queue)));
    queues
}

/// Returns the band of a class, counted from 0.
fn band(queues: &[ProfileQueue], class: &Class) -> usize {
    queues.iter().position(|own| own.queue == class.queue).expect("every class has a queue of the profile")
}

/// Returns the class of a band in `ets`: counted from 1, in hexadecimal digits.
fn number(at: usize) -> String {
    format!("{:x}", at + 1)
}

/// Returns the filters for the code points of every class; the default class comes last.
fn filters(profile: &Profile, queues: &[ProfileQueue]) -> Vec<Filter> {
    let default = profile.default_class();
    let of_class = |class: &Class, first: u32, what: String| Filter {
        pref: first + u32::from(class.tc.get()),
        what,
        band: number(band(queues, class)),
    };
    let mut filters = Vec::new();
    for class in profile.classes().filter(|class| class.name != default.name) {
        let blocks = blocks(&class.dscp).into_iter();
        filters.extend(
            blocks.map(|(tos, mask)| of_class(class, 1, format!("ip6 priority {tos:#04x} {mask:#04x}"))),
        );
    }
    filters.push(of_class(default, 101, "u32 0 0".to_owned()));
    filters
}

/// Returns traffic-class bytes with masks that match exactly these code points: aligned blocks of at most 32.
fn blocks(codes: &[Dscp]) -> Vec<(u8, u8)> {
    let mut left: Vec<u8> = codes.iter().map(|code| code.get()).collect();
    left.sort_unstable();
    left.dedup();
    let mut found = Vec::new();
    while let Some(first) = left.first().copied() {
        let fits = |size: &u8| {
            first % size == 0 && (first..first + size).all(|code| left.binary_search(&code).is_ok())
        };
        let size = [32, 16, 8, 4, 2].into_iter().find(fits).unwrap_or(1);
        left.retain(|code| *code >= first + size);
        found.push((first << 2, !(size - 1) << 2));
    }
    found
}

fn port<'a>(
    port: &'a PortIntent,
    queues: &[ProfileQueue],
    packets: u32,
    marks: &BTreeMap<Queue, EcnThresholds>,
) -> Port<'a> {
    let least = queues.iter().filter_map(|own| own.weight).min().map_or(1, u64::from);
    // The smallest quantum is one packet, so that each band sends in every round.
    let quantum = |weight: u8| (u64::from(port.mtu) * u64::from(weight) + least / 2) / least;
    let quanta: Vec<String> =
        queues.iter().filter_map(|own| own.weight).map(|weight| quantum(weight).to_string()).collect();
    let bytes = u64::from(packets) * u64::from(port.mtu);
    let band = |(at, own): (usize, &ProfileQueue)| {
        let marks = marks.get(&own.queue);
        let first = if marks.is_some() { 0x20 } else { 0x10 };
        Band {
            number: number(at),
            handle: format!("{:x}", first + own.queue.get()),
            bytes: marks.map_or(bytes, |marks| bytes.max(2 * marks.max().0)),
            marks: marks.map(self::marks),
        }
    };
    Port {
        name: &port.physical.name,
        far: &port.description,
        quanta: quanta.join(" "),
        bands: queues.iter().enumerate().map(band).collect(),
    }
}

/// Returns the parameters of `red`. With a burst as long as the lower threshold, the average is half the current and
/// half the previous length: `tc` then uses its shortest memory (`tc_red_eval_ewma`).
fn marks(marks: &EcnThresholds) -> Marks {
    let least = marks.min().0;
    let burst = least.div_ceil(PACKET).max(1);
    Marks {
        least,
        most: marks.max().0,
        packet: least.div_ceil(burst).max(1),
        burst,
        probability: match marks.probability().get() {
            // `tc` counts in units of 2^-32, and 1 does not fit.
            100 => "0.999999".to_owned(),
            percent => format!("0.{percent:02}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_are_few_masks() {
        let codes = |codes: &[u8]| -> Vec<Dscp> {
            codes.iter().map(|code| Dscp::new(*code).expect("a code point")).collect()
        };
        let bulk: Vec<u8> = (11..=40).collect();
        let meant = [(0x2c, 0xfc), (0x30, 0xf0), (0x40, 0xc0), (0x80, 0xe0), (0xa0, 0xfc)];
        assert_eq!(blocks(&codes(&bulk)), meant);
        assert_eq!(blocks(&codes(&[46])), [(0xb8, 0xfc)]);
        assert_eq!(blocks(&codes(&[16, 12])), [(0x30, 0xfc), (0x40, 0xfc)]);
        assert_eq!(blocks(&[]), []);
        let all: Vec<u8> = (0..64).collect();
        assert_eq!(blocks(&codes(&all)), [(0x00, 0x80), (0x80, 0x80)]);
    }
}
