//! Reproducible random failures.
//!
//! In: kinds with a rate or a number, and a seed. Out: elements. Invariants: with a rate, whether an element
//! fails depends only on the seed and its coordinate. So a higher rate adds failures to those of a lower
//! rate, and after growth a fabric keeps its failures.

use std::fmt;
use std::str::FromStr;

use closc_topology::{Link, Nic, PlaneId, Switch};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::element::{Element, Elements, Kind, unknown};

/// Number or rate of failing elements of a kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Each element independently, with this probability.
    Part(f64),
    /// Exactly this many, chosen uniformly.
    Count(usize),
}

/// A kind of element, and how many of them fail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    /// Kind of failing elements.
    pub kind: Kind,
    /// Number or rate.
    pub rate: Rate,
}

impl FromStr for Draw {
    type Err = String;

    /// Reads `t0-t1=1%` or `t1=3`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, rate) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` has no rate: write `t0-t1=1%` or `t1=3`"))?;
        let kind = Kind::parse(kind.trim()).ok_or_else(|| unknown(kind.trim()))?;
        let rate = match rate.trim().strip_suffix('%') {
            Some(percent) => {
                let percent: f64 = percent
                    .trim()
                    .parse()
                    .map_err(|_| format!("`{rate}` is not a percentage; expected a number, as in `1%`"))?;
                if !(0.0..=100.0).contains(&percent) {
                    return Err(format!("`{rate}` is not between 0% and 100%"));
                }
                Rate::Part(percent / 100.0)
            }
            None => Rate::Count(rate.trim().parse().map_err(|_| {
                format!("`{rate}` is not a number of failures; a rate has a percent sign, as in `1%`")
            })?),
        };
        Ok(Draw { kind, rate })
    }
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rate {
            Rate::Part(part) => write!(f, "{}={}%", self.kind.keyword(), part * 100.0),
            Rate::Count(count) => write!(f, "{}={count}", self.kind.keyword()),
        }
    }
}

/// Error: the number of failures exceeds the number of elements, or the fabric has no element of the kind.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", describe(draw, *existing))]
pub struct DrawError {
    /// The request.
    pub draw: Draw,
    /// Number of existing elements.
    pub existing: usize,
}

/// Describes an error.
fn describe(draw: &Draw, existing: usize) -> String {
    let kind = draw.kind.keyword();
    match existing {
        0 => format!("`{draw}`: the fabric has no elements of kind `{kind}`"),
        _ => format!(
            "`{draw}` is more than the {existing} elements of kind `{kind}` in the fabric; expected at most {existing}, \
             or a percentage such as `{kind}=10%`"
        ),
    }
}

/// Draws the elements that fail, kind by kind.
pub fn draw(elements: &Elements<'_>, draws: &[Draw], seed: u64) -> Result<Vec<Element>, DrawError> {
    let mut failed = Vec::new();
    for draw in draws {
        let all = elements.all(draw.kind);
        if all.is_empty() {
            return Err(DrawError { draw: *draw, existing: 0 });
        }
        match draw.rate {
            Rate::Part(part) => failed.extend(all.into_iter().filter(|at| chance(seed, *at) < part)),
            Rate::Count(count) if count > all.len() => {
                return Err(DrawError { draw: *draw, existing: all.len() });
            }
            Rate::Count(count) => {
                let mut ranked: Vec<(u64, Element)> =
                    all.into_iter().map(|element| (hash(seed, element), element)).collect();
                ranked.sort_unstable();
                let mut first: Vec<Element> = ranked.into_iter().take(count).map(|(_, e)| e).collect();
                first.sort_unstable();
                failed.extend(first);
            }
        }
    }
    Ok(failed)
}

/// Returns a pseudo-random number from 0 up to but excluding 1.
fn chance(seed: u64, element: Element) -> f64 {
    (hash(seed, element) >> 11) as f64 / (1_u64 << 53) as f64
}

fn hash(seed: u64, element: Element) -> u64 {
    let (high, low) = place(element);
    mix(mix(mix(seed) ^ high) ^ low)
}

/// Returns a coordinate as two numbers: kind, plane and zone in the first, index and sub-index in the second.
fn place(element: Element) -> (u64, u64) {
    let high = |plane: PlaneId, zone: u16| {
        (element.kind() as u64) << 32 | u64::from(plane.0) << 16 | u64::from(zone)
    };
    let low = |index: u16, within: u16| u64::from(index) << 16 | u64::from(within);
    let of_nic = |nic: Nic, plane| (high(plane, nic.zone.0), low(nic.group, nic.downlink));
    let of_switch = |at: Switch, within| (high(at.plane, at.zone.0), low(at.index, within));
    let none = PlaneId(0);
    match element {
        Element::Link(Link::Host(port)) => of_nic(port.nic, port.plane),
        Element::Link(Link::Fabric { lower, up }) => of_switch(lower, up),
        Element::Switch(switch) => of_switch(switch, 0),
        Element::Cage(switch, cage) => {
            let (high, low) = of_switch(switch, cage);
            (high | u64::from(switch.tier.level()) << 24, low)
        }
        Element::Nic(nic) | Element::Adapter(nic) => of_nic(nic, none),
        Element::NicCage(nic, cage) => of_nic(nic, PlaneId(cage)),
        Element::Node(node) => (high(none, node.zone.0), low(node.unit, node.index)),
        Element::Group(zone, group) => (high(none, zone.0), low(group, 0)),
        Element::Plane(plane) => (high(plane, 0), 0),
        Element::Zone(zone) => (high(none, zone.0), 0),
        Element::Site(site) => (high(none, 0), u64::from(site)),
        Element::Domain(domain) => (high(none, 0), u64::from(domain)),
        Element::Span(site, lost) => (high(none, 0), u64::from(site) << 16 | u64::from(lost)),
    }
}

/// Mixes all bits of a number. It is a bijection, so different numbers stay different.
fn mix(value: u64) -> u64 {
    SplitMix64::seed_from_u64(value).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_numbers_are_read() {
        let draw: Draw = "t0-t1=1%".parse().unwrap();
        assert_eq!(draw, Draw { kind: Kind::T0T1, rate: Rate::Part(0.01) });
        assert_eq!("breakout = 3".parse::<Draw>().unwrap().to_string(), "transceiver=3");
        for (text, error) in [
            ("t0-t1", "no rate"),
            ("t9=1%", "unknown kind `t9`; expected one of t0-t1,"),
            ("t1=101%", "not between"),
            ("t1=NaN%", "not between"),
            ("t1=0.01", "a rate has a percent sign"),
        ] {
            assert!(text.parse::<Draw>().unwrap_err().contains(error), "{text}");
        }
    }
}
