//! Names of devices: functions of coordinates, and back.
//!
//! In: a coordinate, or a name. Out: the name, or the coordinate. Invariants: two devices never have the same name. A
//! name never changes when the fabric grows: numbers are padded to a fixed width, and only new names are longer.

mod pattern;

use serde::Serialize;
use smol_str::SmolStr;

pub use pattern::{NameCompletion, Numbers, Pattern, PatternError, Placeholder, narrow_names};

use crate::coordinate::{Node, PlaneId, Switch, TierId, ZoneId};

/// Maximum length of a name, which is that of a DNS label (RFC 1035 section 2.3.4).
pub const NAME_MAX: usize = 63;

/// Text between the two switches of a link's name.
pub const LINK_SEPARATOR: &str = "--";

/// Names of devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Naming {
    t0: Pattern,
    t1: Pattern,
    t2: Pattern,
    node: Pattern,
}

impl Naming {
    /// Coordinates of a T0 or T1 pattern.
    pub const ZONED: &[Placeholder] = &[Placeholder::Plane, Placeholder::Zone, Placeholder::Index];
    /// Coordinates of a T2 pattern.
    pub const SHARED: &[Placeholder] = &[Placeholder::Plane, Placeholder::Index];
    /// Coordinates of a node pattern.
    pub const NODE: &[Placeholder] = &[Placeholder::Zone, Placeholder::Unit, Placeholder::Node];

    /// Returns the default naming of a fabric: `p3-t0-017`, `su017-n004`; with zones `z1-p3-t0-017`, `z1-su017-n004`.
    pub fn default_for(zoned: bool) -> Self {
        let zone = if zoned { "z{zone}-" } else { "" };
        let parse =
            |text: String, allowed| Pattern::parse(&text, allowed).expect("the default patterns are legal");
        Naming {
            t0: parse(format!("{zone}p{{plane}}-t0-{{index:03}}"), Self::ZONED),
            t1: parse(format!("{zone}p{{plane}}-t1-{{index:03}}"), Self::ZONED),
            t2: parse("p{plane}-t2-{index:03}".to_owned(), Self::SHARED),
            node: parse(format!("{zone}su{{unit:03}}-n{{node:03}}"), Self::NODE),
        }
    }

    /// Replaces the pattern of a tier.
    #[must_use]
    pub fn with_tier(mut self, tier: TierId, pattern: Pattern) -> Self {
        match tier {
            TierId::T0 => self.t0 = pattern,
            TierId::T1 => self.t1 = pattern,
            TierId::T2 => self.t2 = pattern,
        }
        self
    }

    /// Replaces the pattern of the nodes.
    #[must_use]
    pub fn with_node(mut self, pattern: Pattern) -> Self {
        self.node = pattern;
        self
    }

    /// Returns the pattern of a tier.
    pub fn tier_pattern(&self, tier: TierId) -> &Pattern {
        match tier {
            TierId::T0 => &self.t0,
            TierId::T1 => &self.t1,
            TierId::T2 => &self.t2,
        }
    }

    /// Returns the pattern of the nodes.
    pub fn node_pattern(&self) -> &Pattern {
        &self.node
    }

    /// Returns the name of a switch.
    pub fn switch(&self, switch: Switch) -> SmolStr {
        let numbers = Numbers::default()
            .with(Placeholder::Plane, u16::from(switch.plane.0))
            .with(Placeholder::Zone, switch.zone.0)
            .with(Placeholder::Index, switch.index);
        self.tier_pattern(switch.tier).write(numbers)
    }

    /// Returns the name of a node.
    pub fn node(&self, node: Node) -> SmolStr {
        let numbers = Numbers::default()
            .with(Placeholder::Zone, node.zone.0)
            .with(Placeholder::Unit, node.unit)
            .with(Placeholder::Node, node.index);
        self.node.write(numbers)
    }

    /// Returns the name of a NIC of a node, for example `su017-n004/nic2`; NICs count from 0.
    pub fn nic(&self, node: Node, nic_in_node: u8) -> String {
        format!("{}/nic{nic_in_node}", self.node(node))
    }

    /// Returns the name of a NIC port, for example `su017-n004/nic2.p3`, which is also its cable's name.
    pub fn nic_port(&self, node: Node, nic_in_node: u8, plane: PlaneId) -> String {
        format!("{}/nic{nic_in_node}.p{plane}", self.node(node))
    }

    /// Returns the switch with a name, even if it is beyond the counts of the fabric.
    pub fn parse_switch(&self, name: &str) -> Option<Switch> {
        TierId::ALL.into_iter().find_map(|tier| {
            let numbers = self.tier_pattern(tier).read(name)?;
            Some(Switch {
                plane: PlaneId(u8::try_from(numbers.get(Placeholder::Plane)).ok()?),
                tier,
                zone: ZoneId(numbers.get(Placeholder::Zone)),
                index: numbers.get(Placeholder::Index),
            })
        })
    }

    /// Returns the correct form of a name with other padding, letter case or separators: `p0-t0-017` for `P0_T0_17`,
    /// `plane 1` for `plane1`, `p0-t0-001--p0-t1-001` for `p0-t0-001:p0-t1-001`. The element may not exist.
    pub(crate) fn nearest(&self, name: &str) -> Option<String> {
        let lower = name.to_ascii_lowercase();
        let plane = lower.strip_prefix("planes").or_else(|| lower.strip_prefix("plane"));
        let plane = plane.unwrap_or(&lower).trim_start_matches(['=', ':', '-', ' ']).parse::<u8>().ok();
        if let Some(plane) = plane {
            return Some(format!("plane {plane}"));
        }
        if let Some((lower, upper)) = name.split_once(LINK_SEPARATOR) {
            let (upper, number) = upper.split_at(upper.find('#').unwrap_or(upper.len()));
            return Some(format!("{}{LINK_SEPARATOR}{}{number}", self.nearest(lower)?, self.nearest(upper)?));
        }
        let (device, nic) = name.split_at(name.find(['/', ':']).unwrap_or(name.len()));
        let patterns = [&self.t0, &self.t1, &self.t2, &self.node];
        let written =
            patterns.iter().find_map(|pattern| Some(pattern.write(pattern.read_loosely(device)?)))?;
        let Some(end) = nic.get(1..) else { return Some(written.into()) };
        let port = format!("{written}/{}", end.to_ascii_lowercase());
        if self.parse_nic(&port).is_some() || self.parse_nic_port(&port).is_some() {
            return Some(port);
        }
        // A cable name with another separator between its two devices.
        self.parse_switch(&written)?;
        Some(format!(
            "{written}{LINK_SEPARATOR}{}",
            self.nearest(end).filter(|end| self.parse_switch(end).is_some())?
        ))
    }

    /// Returns the node with a name, even if it is beyond the counts of the fabric.
    pub fn parse_node(&self, name: &str) -> Option<Node> {
        let numbers = self.node.read(name)?;
        Some(Node {
            zone: ZoneId(numbers.get(Placeholder::Zone)),
            unit: numbers.get(Placeholder::Unit),
            index: numbers.get(Placeholder::Node),
        })
    }

    /// Returns the node and NIC number of a name such as `su017-n004/nic2`.
    pub fn parse_nic(&self, name: &str) -> Option<(Node, u8)> {
        let (node, nic) = name.split_once("/nic")?;
        Some((self.parse_node(node)?, canonical(nic)?))
    }

    /// Returns the node, NIC number and plane of a name such as `su017-n004/nic2.p3`.
    pub fn parse_nic_port(&self, name: &str) -> Option<(Node, u8, PlaneId)> {
        let (nic, plane) = name.split_once(".p")?;
        let (node, nic) = self.parse_nic(nic)?;
        Some((node, nic, PlaneId(canonical(plane)?)))
    }
}

/// Reads a number that is written without leading zeros or sign.
fn canonical(text: &str) -> Option<u8> {
    let value: u8 = text.parse().ok()?;
    (value.to_string() == text).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_names_are_short_and_readable() {
        let names = Naming::default_for(false);
        let t0 = Switch { plane: PlaneId(3), tier: TierId::T0, zone: ZoneId(0), index: 16 };
        let node = Node { zone: ZoneId(0), unit: 16, index: 3 };
        assert_eq!(names.switch(t0), "p3-t0-017");
        assert_eq!(names.node(node), "su017-n004");
        assert_eq!(names.nic(node, 2), "su017-n004/nic2");
        assert_eq!(names.nic_port(node, 2, PlaneId(3)), "su017-n004/nic2.p3");
        let zoned = Naming::default_for(true);
        assert_eq!(zoned.switch(Switch { zone: ZoneId(1), ..t0 }), "z1-p3-t0-017");
        assert_eq!(zoned.switch(Switch { tier: TierId::T2, ..t0 }), "p3-t2-017");
        assert_eq!(zoned.node(Node { zone: ZoneId(1), ..node }), "z1-su017-n004");
    }

    #[test]
    fn names_in_other_spellings_are_recognised() {
        let names = Naming::default_for(false);
        for (written, meant) in [
            ("p0-t0-17", "p0-t0-017"),
            ("P0-T0-017", "p0-t0-017"),
            ("p0_t0_17", "p0-t0-017"),
            ("SU1-N2/NIC0.P1", "su001-n002/nic0.p1"),
            ("su001-n002:nic0", "su001-n002/nic0"),
            ("P0-T0-1--P0-T1-2#2", "p0-t0-001--p0-t1-002#2"),
            ("Plane 1", "plane 1"),
            ("planes 1", "plane 1"),
            ("plane=1", "plane 1"),
            ("1", "plane 1"),
            ("p0-t0-001:p0-t1-1", "p0-t0-001--p0-t1-001"),
        ] {
            assert_eq!(names.nearest(written).as_deref(), Some(meant), "{written}");
        }
        assert_eq!(
            [
                "leaf1",
                "plane",
                "plane x",
                "p0-t3-1",
                "p0-t0-001:Ethernet0",
                "su001-n001:mlx5_0",
                "p0-t0-1/nic0"
            ]
            .map(|name| names.nearest(name)),
            [const { None }; 7]
        );
    }

    #[test]
    fn names_read_back() {
        for zoned in [false, true] {
            let names = Naming::default_for(zoned);
            let zone = ZoneId(u16::from(zoned));
            for tier in TierId::ALL {
                let zone = if tier == TierId::T2 { ZoneId(0) } else { zone };
                let switch = Switch { plane: PlaneId(15), tier, zone, index: 2046 };
                assert_eq!(names.parse_switch(&names.switch(switch)), Some(switch));
            }
            let node = Node { zone, unit: 0, index: 1023 };
            assert_eq!(names.parse_node(&names.node(node)), Some(node));
            assert_eq!(names.parse_nic(&names.nic(node, 7)), Some((node, 7)));
            assert_eq!(
                names.parse_nic_port(&names.nic_port(node, 7, PlaneId(0))),
                Some((node, 7, PlaneId(0)))
            );
        }
        let names = Naming::default_for(false);
        for name in
            ["su017-n004/nic02", "su017-n004/nic", "su017-n004/nic300", "su017-n004/nic2.p03", "/nic2"]
        {
            assert_eq!(names.parse_nic(name), None, "{name}");
            assert_eq!(names.parse_nic_port(name), None, "{name}");
        }
    }
}
