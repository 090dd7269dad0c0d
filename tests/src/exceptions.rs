//! Exceptions for small fabrics: planes, switches, NICs and cables that are absent or drained, longer cables.
//!
//! In: a shape. Out: the shape with an `exceptions` section. Invariants: each name exists in the shape and
//! occurs once; plane 0 is neither absent nor drained, so one plane always remains.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use closc_topology::{Link, Nic, NicPort, PlaneId, Switch, TierId, Topology, ZoneId};
use proptest::prelude::*;

use crate::shape::{Shape, islands, three_tiers, try_plan, two_tiers};

/// Change of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Absent,
    Drained,
    Longer,
}

/// A random element and its change, as numbers that are reduced to the range of the shape.
#[derive(Debug, Clone, Copy)]
struct Pick {
    element: u8,
    fate: Fate,
    numbers: [u16; 4],
}

/// Makes small fabrics with exceptions.
pub fn shapes_with_exceptions() -> impl Strategy<Value = Shape> {
    (shapes(), picks(0..4)).prop_map(|(shape, picks)| with(&shape, &picks))
}

/// Makes small fabrics of several parts that are connected only through nodes, with exceptions.
pub fn islands_with_exceptions() -> impl Strategy<Value = Shape> {
    (islands(), picks(0..6)).prop_map(|(shape, picks)| with(&shape, &picks))
}

/// Makes pairs of fabrics of several parts that are connected only through nodes. In the second, each count
/// that can grow is larger, smaller or equal, and other elements have exceptions.
pub fn regrown_islands() -> impl Strategy<Value = (Shape, Shape)> {
    let by = any::<[u8; 5]>().prop_map(|by| by.map(|by| i32::from(by % 3) - 1));
    (islands(), by, picks(0..4), picks(0..6))
        .prop_map(|(shape, by, old, new)| (with(&shape, &old), with(&shape.resize(by), &new)))
}

/// Makes small fabrics with many absent elements, including switches without cables.
pub fn sparse_shapes() -> impl Strategy<Value = Shape> {
    (shapes(), picks(6..24)).prop_map(|(shape, mut picks)| {
        picks.iter_mut().filter(|pick| pick.fate == Fate::Longer).for_each(|pick| pick.fate = Fate::Absent);
        with(&shape, &picks)
    })
}

/// Makes small fabrics whose NICs lack some or all planes.
pub fn shapes_without_planes() -> impl Strategy<Value = Shape> {
    let port = any::<[u16; 4]>().prop_map(|numbers| Pick { element: 2, fate: Fate::Absent, numbers });
    let ports = prop::collection::vec(port, 1..8);
    (shapes(), ports, picks(0..3)).prop_map(|(shape, ports, picks)| with(&shape, &[ports, picks].concat()))
}

/// Makes pairs of fabrics of the same size that share some of their exceptions.
pub fn related_shapes() -> impl Strategy<Value = (Shape, Shape)> {
    (shapes(), picks(0..4), picks(0..4), picks(0..4)).prop_map(|(shape, both, old, new)| {
        let side = |own: &[Pick]| with(&shape, &[&both, own].concat());
        (side(&old), side(&new))
    })
}

/// Makes pairs of fabrics with exceptions. Each count that can grow is larger, smaller or equal in the
/// second. Exceptions name elements of both fabrics, or of one.
pub fn regrown() -> impl Strategy<Value = (Shape, Shape)> {
    let by = prop_oneof![
        any::<[u8; 5]>().prop_map(|by| by.map(|by| i32::from(by % 3))),
        any::<[u8; 5]>().prop_map(|by| by.map(|by| i32::from(by % 3) - 1))
    ];
    (shapes(), by, picks(0..4), picks(0..8), any::<bool>()).prop_filter_map(
        "both are fabrics",
        |(shape, by, old, new, keeps)| {
            let grown = shape.resize(by);
            try_plan(&grown.yaml()).ok()?;
            let picks = if keeps { [old.clone(), new].concat() } else { new };
            Some((with(&shape, &old), with(&grown, &picks)))
        },
    )
}

fn shapes() -> impl Strategy<Value = Shape> {
    let small = two_tiers().prop_filter("few enough pairs to walk", |shape| {
        shape.groups * shape.per_group <= 16 && shape.planes <= 6
    });
    prop_oneof![small, three_tiers()]
}

fn picks(count: Range<usize>) -> impl Strategy<Value = Vec<Pick>> {
    let fate = prop_oneof![Just(Fate::Absent), Just(Fate::Drained), Just(Fate::Longer)];
    let pick = (0..5u8, fate, any::<[u16; 4]>()).prop_map(|(what, fate, numbers)| Pick {
        element: what,
        fate,
        numbers,
    });
    prop::collection::vec(pick, count)
}

/// Adds exceptions to a shape, except those that contradict earlier ones.
fn with(shape: &Shape, picks: &[Pick]) -> Shape {
    let plan = shape.plan();
    let mut named: BTreeMap<String, Fate> = BTreeMap::new();
    let mut found = Shape { exceptions: text(&named), ..shape.clone() };
    for pick in picks {
        let Some((name, fate)) = resolve(plan.topology(), *pick) else { continue };
        let mut more = named.clone();
        more.entry(name).or_insert(fate);
        let next = Shape { exceptions: text(&more), ..shape.clone() };
        if try_plan(&next.yaml()).is_ok() {
            (named, found) = (more, next);
        }
    }
    found
}

fn text(named: &BTreeMap<String, Fate>) -> String {
    let list = |fate| named.iter().filter(move |(_, own)| **own == fate).map(|(name, _)| name);
    let mut text = String::from("exceptions:\n");
    for (key, fate) in [("absent", Fate::Absent), ("drained", Fate::Drained)] {
        let _ = writeln!(text, "  {key}:{}", if list(fate).next().is_none() { " []" } else { "" });
        for name in list(fate) {
            let _ = writeln!(text, "    - {name}");
        }
    }
    let _ = writeln!(text, "  cables:{}", if list(Fate::Longer).next().is_none() { " {}" } else { "" });
    for (at, name) in list(Fate::Longer).enumerate() {
        let _ = writeln!(text, "    {name}: {{ length: {}m, medium: virtual }}", 7 + at);
    }
    text
}

/// Returns the name of the picked element, with a change that is possible for it.
fn resolve(topology: &Topology, pick: Pick) -> Option<(String, Fate)> {
    let [a, b, c, d] = pick.numbers;
    let plane = PlaneId((a % u16::from(topology.planes)) as u8);
    let zone = ZoneId(b % topology.zones);
    let nic = Nic { zone, group: c % topology.hosts.groups, downlink: d % topology.hosts.per_group };
    let switch = |tier: TierId| {
        topology.tier(tier)?;
        let count = topology.count(tier);
        let zone = if tier == TierId::T2 { ZoneId(0) } else { zone };
        Some(Switch { plane, tier, zone, index: c % count })
    };
    let gone = if pick.fate == Fate::Longer { Fate::Drained } else { pick.fate };
    match pick.element {
        0 => {
            let found = switch(TierId::ALL[usize::from(d % 3)])?;
            // With rows, some T2 indices are unused.
            let there = found.tier != TierId::T2 || found.index % topology.t2_rows() < topology.t1_count;
            there.then(|| (topology.naming.switch(found).to_string(), gone))
        }
        1 => {
            let (node, number) = topology.node_of(nic);
            Some((topology.naming.nic(node, number), Fate::Absent))
        }
        2 => Some((topology.link_name(Link::Host(NicPort { plane, nic }))?, pick.fate)),
        3 if plane.0 > 0 => Some((format!("plane {plane}"), gone)),
        _ => {
            let lower = switch(TierId::ALL[usize::from(b % 2)])?;
            let ups = topology.tier(lower.tier)?.up.count;
            let up = d.checked_rem(ups)?;
            Some((topology.link_name(Link::Fabric { lower, up })?, pick.fate))
        }
    }
}
