//! Changes between two topologies, as typed values.
//!
//! In: two topologies. Out: [`Difference`], a list of [`Change`]s. Invariants: `diff(a, b).apply(a)` is `b` (places in
//! the text aside), and `apply` refuses a topology that is not the one the difference was made from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use closc_platform::{Breakout, Os, Platform};
use closc_qos::profile::Profile;
use closc_qos::units::Speed;
use closc_topology::naming::Pattern;
use closc_topology::usid::UsidLayout;
use closc_topology::{
    Cable, Domains, HostOs, HostOutput, HostSlot, Link, Nic, Pin, Pins, PlaneId, Routing, Services, Site,
    Switch, Tier, TierId, Topology, Wiring, ZoneId,
};
use ipnet::{IpNet, Ipv6Net};
use smol_str::SmolStr;

use crate::shown::Shown;

/// Hardware and operating system.
pub type Hardware = (Arc<Platform>, Os);

/// A value before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit<T> {
    /// The value before.
    pub old: T,
    /// The value after.
    pub new: T,
}

/// Whether something appears or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// It appears.
    On,
    /// It goes.
    Off,
}

/// Something that an exception names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thing {
    /// A plane.
    Plane(PlaneId),
    /// A switch.
    Switch(Switch),
    /// A NIC.
    Nic(Nic),
    /// A cable.
    Link(Link),
}

/// A change of `exceptions`.
#[derive(Debug, Clone, PartialEq)]
pub enum Exception {
    /// Something is declared absent, or no longer.
    Absent(Turn, Thing),
    /// Something is declared drained, or no longer.
    Drained(Turn, Thing),
    /// A cable differs from its kind, differs in another way, or no longer.
    Cable(Link, Edit<Option<Cable>>),
    /// A switch is of other hardware or operating system than its tier, or no longer.
    Device(Switch, Edit<Option<Hardware>>),
}

/// Devices that have a name pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// Switches of a tier.
    Tier(TierId),
    /// Nodes.
    Node,
}

/// One change.
#[derive(Debug, Clone)]
pub enum Change {
    /// A number or word of the fabric.
    Field(Box<Field>),
    /// A number or word of a tier.
    Tier(TierId, TierField),
    /// How devices are called.
    Naming(Named, Box<Edit<Pattern>>),
    /// The fabric gets a third tier.
    T2Added(Box<Tier>),
    /// The fabric loses its third tier.
    T2Removed(Box<Tier>),
    /// An exception.
    Exception(Exception),
}

/// Says that a difference does not belong to a topology.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// A value is not the one that the difference starts from.
    #[error("`{path}` is `{found}` and the difference starts from `{expected}`")]
    Moved {
        /// Dotted path of the value.
        path: String,
        /// What the topology has.
        found: String,
        /// What the difference starts from.
        expected: String,
    },
    /// The difference is about a third tier and there is none.
    #[error("the difference is about a T2 tier and the topology has none")]
    NoT2,
}

/// Writes the types, comparison and application of plain fields from one table.
macro_rules! fields {
    (
        $(#[$outer:meta])*
        $name:ident of $owner:ty {
            $( $(#[$inner:meta])* $variant:ident($type:ty) = $($part:ident).+, $path:literal; )*
        }
    ) => {
        $(#[$outer])*
        // There are as many as fields that were edited: a handful.
        #[allow(clippy::large_enum_variant)]
        #[derive(Debug, Clone, PartialEq)]
        pub enum $name {
            $( $(#[$inner])* $variant(Box<Edit<$type>>), )*
        }

        impl $name {
            /// The paths of all fields.
            #[cfg(test)]
            const PATHS: &'static [&'static str] = &[$($path),*];

            /// Compares all fields.
            pub(crate) fn compare(old: &$owner, new: &$owner) -> Vec<$name> {
                let mut found = Vec::new();
                $( if old.$($part).+ != new.$($part).+ {
                    let (old, new) = (old.$($part).+.clone(), new.$($part).+.clone());
                    found.push($name::$variant(Box::new(Edit { old, new })));
                } )*
                found
            }

            /// Writes the new value where the old one stands.
            pub(crate) fn apply(&self, owner: &mut $owner) -> Result<(), ApplyError> {
                match self {
                    $( $name::$variant(edit) => edit.put(&mut owner.$($part).+, self.path()), )*
                }
            }

            /// Returns the dotted path of the value, as the file has it.
            pub fn path(&self) -> &'static str {
                match self {
                    $( $name::$variant(_) => $path, )*
                }
            }

            /// Returns the value before and after, as text.
            pub fn values(&self) -> (String, String) {
                match self {
                    $( $name::$variant(edit) => (edit.old.shown(), edit.new.shown()), )*
                }
            }
        }
    };
}

fields! {
    /// A number or word of the fabric.
    Field of Topology {
        /// The name of the fabric.
        Name(SmolStr) = name, "fabric";
        /// Free text.
        Description(String) = description, "description";
        /// Number of planes.
        Planes(u8) = planes, "planes";
        /// Number of zones.
        Zones(u16) = zones, "zones";
        /// Where zones stand.
        Sites(Vec<Site>) = sites, "sites";
        /// How packets find their way.
        Routing(Routing) = routing, "routing";
        /// NICs on each T0.
        PerGroup(u16) = hosts.per_group, "hosts.per_group";
        /// NICs of a node.
        NicsPerNode(u8) = hosts.nics_per_node, "hosts.nics_per_node";
        /// Rails.
        Rails(u8) = hosts.rails, "hosts.rails";
        /// Speed of a NIC.
        NicSpeed(Speed) = hosts.nic_speed, "hosts.nic.speed";
        /// Lanes of a NIC.
        NicLanes(u8) = hosts.nic_lanes, "hosts.nic.lanes";
        /// What is generated for hosts.
        HostOs(HostOs) = hosts.os, "hosts.os";
        /// Files that are generated for every node.
        HostOutputs(BTreeSet<HostOutput>) = hosts.outputs, "hosts.outputs";
        /// Where NICs are plugged in.
        Slots(Vec<HostSlot>) = hosts.slots, "hosts.slots";
        /// How T1s are wired to T2s.
        T2Wiring(Wiring) = t2_wiring, "tiers.t2.wiring";
        /// T2 downlinks kept for each zone.
        T2ZonePorts(u16) = t2_zone_ports, "tiers.t2.ports_per_zone";
        /// T2 indices kept for each step.
        T2Rows(u16) = t2_rows, "tiers.t2.rows";
        /// The block of all segments.
        Block(Ipv6Net) = srv6.block, "srv6.block";
        /// How 16 bits name a role, a plane, a zone and an index.
        Layout(UsidLayout) = srv6.layout, "srv6.widths";
        /// What takes one uplink instead of a group.
        Pin(Pin) = ecmp.pin, "ecmp.pin";
        /// What takes one uplink, NIC by NIC.
        Pins(Arc<Pins>) = ecmp.pins, "ecmp.pins";
        /// Queue pairs of a connection.
        QueuePairs(u16) = ecmp.qps_per_connection, "ecmp.qps_per_connection";
        /// Pool of NIC addresses.
        HostPool(Ipv6Net) = addresses.hosts, "addresses.hosts";
        /// Pool of cable addresses.
        LinkPool(Ipv6Net) = addresses.links, "addresses.links";
        /// Pool of loopbacks.
        LoopbackPool(Ipv6Net) = addresses.loopbacks, "addresses.loopbacks";
        /// Pool of management addresses.
        ManagementPool(Option<IpNet>) = addresses.management, "addresses.management";
        /// Gateway of the management network.
        ManagementGateway(Option<std::net::IpAddr>) = addresses.management_gateway, "addresses.management_gateway";
        /// First autonomous system number.
        AsnBase(u32) = addresses.asn_base, "addresses.asn_base";
        /// Cables between NICs and T0s.
        NicT0(Cable) = cables.nic_t0, "cables.nic-t0";
        /// Cables between T0s and T1s.
        T0T1(Cable) = cables.t0_t1, "cables.t0-t1";
        /// Cables between T1s and T2s.
        T1T2(Option<Cable>) = cables.t1_t2, "cables.t1-t2";
        /// Cables between T1s and T2s of single zones.
        T1T2ByZone(BTreeMap<ZoneId, Cable>) = cables.t1_t2_by_zone, "cables.by_zone";
        /// Largest packet on a cable.
        LinkMtu(u16) = mtu.link, "mtu.link";
        /// Largest packet of a host.
        PayloadMtu(u16) = mtu.payload, "mtu.payload";
        /// Entropy values in use.
        EntropyActive(u16) = entropy.active, "entropy.active";
        /// Entropy values in reserve.
        EntropyBackup(u16) = entropy.backup, "entropy.backup";
        /// Entropy values below which a NIC retires no more.
        EntropyMin(u16) = entropy.min_active, "entropy.min_active";
        /// Seed of the choice of entropy values.
        EntropySeed(u64) = entropy.seed, "entropy.seed";
        /// Destination port of the transport.
        UdpPort(u16) = entropy.udp_port, "entropy.udp_port";
        /// Quality of service.
        Qos(Profile) = qos, "qos";
        /// Servers that every device receives.
        Services(Services) = services, "services";
        /// What fails together.
        Domains(Domains) = domains, "domains";
    }
}

fields! {
    /// A number or word of a tier.
    TierField of Tier {
        /// Switches in each plane and zone.
        Count(u16) = count, "count";
        /// Hardware.
        Platform(Arc<Platform>) = platform, "platform";
        /// Operating system.
        Os(Os) = os, "os";
        /// Downlinks in use.
        Down(u16) = down.count, "down";
        /// Downlinks kept free.
        DownSpare(u16) = down.spare, "down.spare";
        /// First cage of the downlinks.
        DownCage(u16) = down.first_cage, "down.first_cage";
        /// How cages of downlinks are split.
        DownBreakout(Breakout) = down.breakout, "down.breakout";
        /// Uplinks in use.
        Up(u16) = up.count, "up";
        /// Uplinks kept free.
        UpSpare(u16) = up.spare, "up.spare";
        /// First cage of the uplinks.
        UpCage(u16) = up.first_cage, "up.first_cage";
        /// How cages of uplinks are split.
        UpBreakout(Breakout) = up.breakout, "up.breakout";
        /// Parallel links to each upper neighbour.
        Parallel(u16) = parallel, "parallel";
        /// Hardware of single planes.
        ByPlane(BTreeMap<PlaneId, Hardware>) = by_plane, "by_plane";
    }
}

impl TierField {
    /// Returns the dotted path of the value in a tier, as the file has it: T0s are counted as groups of hosts.
    pub fn path_in(&self, tier: TierId) -> String {
        match (self, tier) {
            (TierField::Count(_), TierId::T0) => "hosts.groups".to_owned(),
            _ => format!("tiers.{}.{}", tier.word(), self.path()),
        }
    }
}

impl<T: Clone + PartialEq + Shown> Edit<T> {
    pub(crate) fn put(&self, place: &mut T, path: &str) -> Result<(), ApplyError> {
        if *place != self.old {
            return Err(ApplyError::Moved {
                path: path.to_owned(),
                found: place.shown(),
                expected: self.old.shown(),
            });
        }
        place.clone_from(&self.new);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Tells whether the language has a key at a path, by the schema that is generated from its types.
    fn is_key(root: &Value, path: &str) -> bool {
        let mut choices = vec![root];
        for key in path.split('.') {
            choices = choices
                .into_iter()
                .flat_map(|value| forms(root, value))
                .filter_map(|value| value["properties"].get(key))
                .collect();
        }
        !choices.is_empty()
    }

    /// Returns what a value may be: itself, what it refers to, and its choices.
    fn forms<'a>(root: &'a Value, value: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![value];
        if let Some(name) = value["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
            found.extend(forms(root, &root["$defs"][name]));
        }
        for choice in ["anyOf", "oneOf", "allOf"].iter().filter_map(|of| value[of].as_array()).flatten() {
            found.extend(forms(root, choice));
        }
        found
    }

    #[test]
    fn every_path_is_one_of_the_language() {
        let schema: Value = serde_json::from_str(&closc_topology::schema()).expect("the schema is JSON");
        assert!(is_key(&schema, "tiers.t1.up.first_cage") && !is_key(&schema, "cables.t1-t2.by_zone"));
        for path in Field::PATHS {
            assert!(is_key(&schema, path), "`{path}` is no key of the language");
        }
        for path in TierField::PATHS {
            let is_any =
                TierId::ALL.iter().any(|tier| is_key(&schema, &format!("tiers.{}.{path}", tier.word())));
            assert!(is_any, "`tiers.*.{path}` is no key of the language");
        }
        let count = TierField::Count(Box::new(Edit { old: 1, new: 2 }));
        for tier in TierId::ALL {
            assert!(is_key(&schema, &count.path_in(tier)), "{}", count.path_in(tier));
        }
    }
}
