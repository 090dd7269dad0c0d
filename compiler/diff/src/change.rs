//! Changes between two topologies, as typed values.
//!
//! In: two topologies. Out: [`Difference`], a list of [`Change`]s. Invariants: `Difference::between(a,
//! b).apply(a)` is `b` (except for source positions), and `apply` rejects a topology that does not have every
//! old value of the difference.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use closc_artefacts::Prefix;
use closc_artefacts::Routing;
use closc_plan::Plan;
use closc_platform::{Breakout, Os, Platform, Release};
use closc_qos::profile::Profile;
use closc_qos::units::Speed;
use closc_topology::naming::Pattern;
use closc_topology::usid::UsidLayout;
use closc_topology::{
    AddressWidths, Cable, Cages, Domains, Field, HostOs, HostOutput, HostSlot, Link, ManagementList, Nic,
    NicKind, PacketOrder, Pin, Pins, PlaneId, PortStage, Racks, SegmentPlan, Services, Site, Switch, T2,
    Tier, TierBalance, TierId, Topology, Wiring, ZoneId, ZoneTier, field, tier_field,
};
use ipnet::{IpNet, Ipv6Net};
use smol_str::SmolStr;

use crate::short_text::ShortText;
use crate::verdict::{Sides, Verdict, note, rule};

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

/// Whether something is added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toggle {
    /// It is added.
    On,
    /// It is removed.
    Off,
}

/// An element that an exception names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExceptionTarget {
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
    /// An element becomes absent, or is no longer absent.
    Absent(Toggle, ExceptionTarget),
    /// An element becomes drained, or is no longer drained.
    Drained(Toggle, ExceptionTarget),
    /// A cable becomes isolated, or is no longer isolated.
    Isolated(Toggle, Link),
    /// The exception for a cable's length or medium is added, changed or removed.
    Cable(Link, Edit<Option<Cable>>),
    /// The exception for a switch's hardware or operating system is added, changed or removed.
    Device(Switch, Edit<Option<Hardware>>),
}

/// Devices that have a name pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamedDevices {
    /// Switches of a tier.
    Tier(TierId),
    /// Nodes.
    Node,
}

/// One change.
#[derive(Debug, Clone)]
pub enum Change {
    /// A setting of the fabric.
    Setting(Box<Setting>),
    /// Number of switches of a tier in each plane and zone.
    Count(TierId, Edit<u16>),
    /// A setting of a tier.
    Tier(TierId, TierSetting),
    /// A setting that only the third tier has.
    T2(T2Setting),
    /// Names of devices.
    Naming(NamedDevices, Box<Edit<Pattern>>),
    /// The fabric gets a third tier.
    T2Added(Box<T2>),
    /// The fabric loses its third tier.
    T2Removed(Box<T2>),
    /// An exception.
    Exception(Exception),
}

/// The reason why a difference cannot be applied to a topology.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// A value in the topology is not the old value of the difference.
    #[error("`{field}` is `{actual}`, but the difference starts from `{expected}`")]
    Moved {
        /// The field of the value.
        field: Field,
        /// Value in the topology.
        actual: String,
        /// Old value of the difference.
        expected: String,
    },
    /// The difference changes a third tier, which the topology does not have.
    #[error("the difference changes a T2 tier, but the topology has none")]
    NoT2,
}

/// Generates the types, comparison and application of plain settings from one table.
macro_rules! settings {
    (
        $(#[$outer:meta])*
        $name:ident of $owner:ty {
            $( $(#[$inner:meta])* $variant:ident($type:ty) = $($part:ident).+; )*
        }
    ) => {
        $(#[$outer])*
        // A difference contains only the few settings that were edited, so the size of the enum does not
        // matter.
        #[allow(clippy::large_enum_variant)]
        #[derive(Debug, Clone, PartialEq)]
        pub enum $name {
            $( $(#[$inner])* $variant(Box<Edit<$type>>), )*
        }

        impl $name {
            /// Compares all settings.
            pub(crate) fn compare(old: &$owner, new: &$owner) -> Vec<$name> {
                let mut found = Vec::new();
                $( if old.$($part).+ != new.$($part).+ {
                    let (old, new) = (old.$($part).+.clone(), new.$($part).+.clone());
                    found.push($name::$variant(Box::new(Edit { old, new })));
                } )*
                found
            }

            /// Replaces the old value with the new one.
            fn put(&self, owner: &mut $owner, field: Field) -> Result<(), ApplyError> {
                match self {
                    $( $name::$variant(edit) => edit.put(&mut owner.$($part).+, field), )*
                }
            }

            /// Returns the value before and after, as text.
            pub fn values(&self) -> (String, String) {
                match self {
                    $( $name::$variant(edit) => (edit.old.short_text(), edit.new.short_text()), )*
                }
            }
        }
    };
}

/// Returns the note of most settings: none.
fn no_note<T>(_: &Edit<T>, _: &Plan) -> Option<String> {
    None
}

/// Generates the settings of the fabric, each with its field, the rule for rolling out a change, and an optional note.
macro_rules! fabric_settings {
    ($( $(#[$inner:meta])* $variant:ident($type:ty) = $($part:ident).+, $path:literal
        => $rule:ident $(, $note:ident)?; )*) => {
        settings! {
            /// A setting of the fabric.
            Setting of Topology { $( $(#[$inner])* $variant($type) = $($part).+; )* }
        }

        // Rejects at compile time a setting whose field does not declare the artefacts that it affects.
        $( const _: Field = Field::with_artefacts($path); )*

        impl Setting {
            /// Returns the field in the fabric file.
            pub fn field(&self) -> Field {
                match self {
                    $( Setting::$variant(_) => field!($path), )*
                }
            }

            /// Returns how a change of this setting can be rolled out.
            pub(crate) fn verdict(&self, sides: &Sides<'_>) -> Verdict {
                match self {
                    $( Setting::$variant(edit) => rule::$rule(&edit.old, &edit.new, sides), )*
                }
            }

            /// Returns the side effects of a change, if it has any.
            pub(crate) fn note(&self, plan: &Plan) -> Option<String> {
                match self {
                    $( Setting::$variant(edit) => no_note(edit, plan)$(.or_else(|| note::$note(&edit.old, &edit.new, plan).into()))?, )*
                }
            }
        }
    };
}

/// Generates the settings that only the third tier has, each with its field.
macro_rules! t2_settings {
    ($( $(#[$inner:meta])* $variant:ident($type:ty) = $($part:ident).+, $path:literal; )*) => {
        settings! {
            /// A setting that only the third tier has.
            T2Setting of T2 { $( $(#[$inner])* $variant($type) = $($part).+; )* }
        }

        impl T2Setting {
            /// Returns the field in the fabric file.
            pub fn field(&self) -> Field {
                match self {
                    $( T2Setting::$variant(_) => field!($path), )*
                }
            }
        }
    };
}

/// Generates the settings of a tier, each with its field in every tier that has it.
macro_rules! tier_settings {
    ($( $(#[$inner:meta])* $variant:ident($type:ty) = $($part:ident).+, $($tier:ident $path:literal),+; )*) => {
        settings! {
            /// A setting of a tier.
            TierSetting of Tier { $( $(#[$inner])* $variant($type) = $($part).+; )* }
        }

        impl TierSetting {
            /// Returns the field in the fabric file. It exists for every changed setting, because settings
            /// that the tier does not have are equal on both sides.
            pub fn field(&self, tier: TierId) -> Field {
                match self {
                    $( TierSetting::$variant(_) => match tier {
                        $( TierId::$tier => field!($path), )+
                        #[allow(unreachable_patterns)]
                        TierId::T0 | TierId::T1 | TierId::T2 => tier_field!(tier),
                    }, )*
                }
            }
        }
    };
}

fabric_settings! {
    /// The name of the fabric.
    Name(SmolStr) = name, "fabric" => names;
    /// Free text.
    Description(String) = description, "description" => names;
    /// Number of planes.
    Planes(u8) = planes, "planes" => planes_of;
    /// Number of zones.
    Zones(u16) = zones, "zones" => zones;
    /// Sites of zones.
    Sites(Vec<Site>) = sites, "sites" => names;
    /// Routing mode.
    Routing(Routing) = routing, "routing" => paths;
    /// NICs on each T0.
    PerGroup(u16) = hosts.per_group, "hosts.per_group" => nics;
    /// NICs of a node.
    NicsPerNode(u8) = hosts.nics_per_node, "hosts.nics_per_node" => nodes;
    /// NICs of an adapter.
    NicsPerAdapter(u8) = hosts.nics_per_adapter, "hosts.nics_per_adapter" => nic_ports;
    /// Rails.
    Rails(u8) = hosts.rails, "hosts.rails" => nodes;
    /// Number of zones over which the NICs of a node are spread.
    ZonesPerNode(u8) = hosts.zones_per_node, "hosts.zones_per_node" => nodes;
    /// Speed of a NIC.
    NicSpeed(Speed) = hosts.nic_speed, "hosts.nic.speed" => nic_ports;
    /// Lanes of a NIC.
    NicLanes(u8) = hosts.nic_lanes, "hosts.nic.lanes" => nic_ports;
    /// Cages of a NIC.
    NicCages(u8) = hosts.nic_cages, "hosts.nic.cages" => nic_ports;
    /// NICs of zones that differ from the default.
    NicByZone(BTreeMap<ZoneId, NicKind>) = hosts.nic_by_zone, "hosts.nic_by_zone" => nic_ports;
    /// Operating system of hosts, which selects their generated files.
    HostOs(HostOs) = hosts.os, "hosts.os" => host_files;
    /// The order in which NICs need packets.
    PacketOrder(PacketOrder) = hosts.packet_order, "hosts.packet_order" => hosts_only;
    /// Files that are generated for every node.
    HostOutputs(BTreeSet<HostOutput>) = hosts.outputs, "hosts.outputs" => host_files;
    /// PCI slots of a node's NICs.
    Slots(Vec<HostSlot>) = hosts.slots, "hosts.slots" => interface_names;
    /// The block of plane 0, from which those of other planes follow.
    Block(Ipv6Net) = srv6.first_block, "srv6.block" => segments, segments;
    /// Position of the plane in an address.
    SegmentPlan(SegmentPlan) = srv6.plan, "srv6.plan" => segment_plan, segments;
    /// Layout of the 16 bits of a uSID: role, plane, zone and index.
    Layout(UsidLayout) = srv6.layout, "srv6.widths" => segments, segments;
    /// Destinations that use one uplink instead of a group.
    Pin(Pin) = ecmp.pin, "ecmp.pin" => uplinks;
    /// Uplinks of single destination NICs.
    Pins(Arc<Pins>) = ecmp.pins, "ecmp.pins" => uplinks, pinned;
    /// The method by which switches select a next hop.
    Balance(TierBalance) = ecmp.balance, "ecmp.balance" => balance, balance;
    /// Queue pairs of a connection.
    QueuePairs(u16) = ecmp.qps_per_connection, "ecmp.qps_per_connection" => hosts_only;
    /// Pool of NIC addresses.
    HostPool(Prefix) = addresses.hosts, "addresses.hosts" => nic_addresses;
    /// Pool of cable addresses.
    LinkPool(Prefix) = addresses.links, "addresses.links" => cable_addresses;
    /// Pool of loopbacks.
    LoopbackPool(Prefix) = addresses.loopbacks, "addresses.loopbacks" => identity;
    /// Pool of management addresses.
    ManagementPool(Option<IpNet>) = addresses.management, "addresses.management" => management;
    /// Gateway of the management network.
    ManagementGateway(Option<std::net::IpAddr>) = addresses.management_gateway, "addresses.management_gateway" => management;
    /// Listed management ports.
    ManagementList(Arc<ManagementList>) = addresses.management_list, "addresses.management_list" => management, listed;
    /// First autonomous system number.
    AsnBase(u32) = addresses.asn_base, "addresses.asn_base" => identity, systems;
    /// Bits per coordinate in addresses.
    AddressWidths(AddressWidths) = addresses.widths, "addresses.widths" => address_widths;
    /// Cables between NICs and T0s.
    NicT0(Cable) = cables.nic_t0, "cables.nic-t0" => nic_cables;
    /// Cables between T0s and T1s.
    T0T1(Cable) = cables.t0_t1, "cables.t0-t1" => t1_cables;
    /// Cables between T1s and T2s.
    T1T2(Option<Cable>) = cables.t1_t2, "cables.t1-t2" => t2_cables;
    /// Cables between T1s and T2s of single zones.
    T1T2ByZone(BTreeMap<ZoneId, Cable>) = cables.t1_t2_by_zone, "cables.by_zone" => zone_cables;
    /// Largest packet on a cable.
    LinkMtu(u16) = mtu.link, "mtu.link" => port_mtu;
    /// Largest packet of a host.
    PayloadMtu(u16) = mtu.payload, "mtu.payload" => hosts_only;
    /// Entropy values in use.
    EntropyActive(u16) = entropy.active, "entropy.active" => hosts_only;
    /// Entropy values in reserve.
    EntropyBackup(u16) = entropy.backup, "entropy.backup" => hosts_only;
    /// Number of entropy values below which a NIC does not retire any.
    EntropyMin(u16) = entropy.min_active, "entropy.min_active" => hosts_only;
    /// Seed for the choice of entropy values.
    EntropySeed(u64) = entropy.seed, "entropy.seed" => hosts_only, entropy;
    /// Destination port of the transport.
    UdpPort(u16) = entropy.udp_port, "entropy.udp_port" => transport;
    /// Releases of operating systems.
    Releases(BTreeMap<Os, Release>) = releases, "releases" => releases;
    /// Quality of service.
    Qos(Profile) = qos, "qos" => queues;
    /// Servers that every device receives.
    Services(Services) = services, "services" => services;
    /// Failure domains.
    Domains(Domains) = domains, "domains" => host_files;
    /// The access list of isolated ports.
    Isolation(bool) = exceptions.has_isolation, "exceptions.isolated" => isolation, isolation;
    /// Racks of devices.
    Racks(Option<Racks>) = racks, "racks" => racks;
}

tier_settings! {
    /// Hardware.
    Platform(Arc<Platform>) = platform, T0 "tiers.t0.platform", T1 "tiers.t1.platform", T2 "tiers.t2.platform";
    /// Operating system.
    Os(Os) = os, T0 "tiers.t0.os", T1 "tiers.t1.os", T2 "tiers.t2.os";
    /// Downlinks in use.
    Down(u16) = down.count, T0 "tiers.t0.down", T1 "tiers.t1.down", T2 "tiers.t2.down";
    /// Downlinks kept free.
    DownSpare(u16) = down.spare, T0 "tiers.t0.down.spare", T1 "tiers.t1.down.spare", T2 "tiers.t2.down.spare";
    /// Cages of the downlinks: the first one, or a list.
    DownCage(Cages) = down.cages, T0 "tiers.t0.down.first_cage", T1 "tiers.t1.down.first_cage", T2 "tiers.t2.down.first_cage";
    /// First port of the first downlink cage.
    DownPort(u8) = down.first_port, T0 "tiers.t0.down.first_port", T1 "tiers.t1.down.first_port", T2 "tiers.t2.down.first_port";
    /// Breakout of downlink cages.
    DownBreakout(Breakout) = down.breakout, T0 "tiers.t0.down.breakout", T1 "tiers.t1.down.breakout", T2 "tiers.t2.down.breakout";
    /// Uplinks in use.
    Up(u16) = up.count, T0 "tiers.t0.up", T1 "tiers.t1.up";
    /// Uplinks kept free.
    UpSpare(u16) = up.spare, T0 "tiers.t0.up.spare", T1 "tiers.t1.up.spare";
    /// Cages of the uplinks: the first one, or a list.
    UpCage(Cages) = up.cages, T0 "tiers.t0.up.first_cage", T1 "tiers.t1.up.first_cage";
    /// First port of the first uplink cage.
    UpPort(u8) = up.first_port, T0 "tiers.t0.up.first_port", T1 "tiers.t1.up.first_port";
    /// Breakout of uplink cages.
    UpBreakout(Breakout) = up.breakout, T0 "tiers.t0.up.breakout", T1 "tiers.t1.up.breakout";
    /// Parallel links to each upper neighbour.
    Parallel(u16) = parallel, T0 "tiers.t0.parallel", T1 "tiers.t1.parallel";
    /// Stages of growth whose port order is kept.
    PortOrder(Vec<PortStage>) = port_order, T0 "tiers.t0.port_order";
    /// Hardware of single planes.
    ByPlane(BTreeMap<PlaneId, Hardware>) = by_plane, T0 "tiers.t0.by_plane", T1 "tiers.t1.by_plane", T2 "tiers.t2.by_plane";
    /// Hardware and ports of single zones.
    ByZone(BTreeMap<ZoneId, ZoneTier>) = by_zone, T0 "tiers.t0.by_zone", T1 "tiers.t1.by_zone";
}

t2_settings! {
    /// Wiring between T1s and T2s.
    Wiring(Wiring) = wiring, "tiers.t2.wiring";
    /// T2 downlinks reserved for each zone.
    ZonePorts(u16) = zone_ports, "tiers.t2.ports_per_zone";
    /// T2 indices reserved for each step.
    Rows(u16) = rows, "tiers.t2.rows";
    /// The site that T2s are in.
    T2Site(Option<SmolStr>) = site, "tiers.t2.site";
}

/// Returns the field that counts the switches of a tier. T0s are counted as groups of hosts.
pub(crate) fn count_field(tier: TierId) -> Field {
    match tier {
        TierId::T0 => field!("hosts.groups"),
        TierId::T1 => field!("tiers.t1.count"),
        TierId::T2 => field!("tiers.t2.count"),
    }
}

impl Setting {
    /// Replaces the old value with the new one.
    pub(crate) fn apply(&self, topology: &mut Topology) -> Result<(), ApplyError> {
        self.put(topology, self.field())
    }
}

impl Setting {
    /// Returns whether the routing of neither side reads the value.
    pub(crate) fn is_unread(&self, old: &Topology, new: &Topology) -> bool {
        let readers = self.field().readers();
        [old, new].iter().all(|side| !readers.contains(&side.routing))
    }

    /// Returns whether the file of either side contains the value, and not only a default.
    pub(crate) fn is_stated(&self, old: &Topology, new: &Topology) -> bool {
        let fields: &[Field] = match self {
            // Defaults of widths depend on the segment plan.
            Setting::Layout(_) => &[field!("srv6.widths"), field!("srv6.roles"), field!("srv6.plan")],
            _ => &[self.field()],
        };
        fields.iter().any(|field| [old, new].iter().any(|side| side.spans.stated_span(*field).is_some()))
    }
}

impl T2Setting {
    /// Replaces the old value with the new one.
    pub(crate) fn apply(&self, t2: &mut T2) -> Result<(), ApplyError> {
        self.put(t2, self.field())
    }
}

impl TierSetting {
    /// Replaces the old value with the new one.
    pub(crate) fn apply(&self, id: TierId, tier: &mut Tier) -> Result<(), ApplyError> {
        self.put(tier, self.field(id))
    }
}

impl NamedDevices {
    /// Returns the field in the fabric file.
    pub fn field(self) -> Field {
        match self {
            NamedDevices::Tier(TierId::T0) => field!("naming.t0"),
            NamedDevices::Tier(TierId::T1) => field!("naming.t1"),
            NamedDevices::Tier(TierId::T2) => field!("naming.t2"),
            NamedDevices::Node => field!("naming.node"),
        }
    }
}

impl<T: Clone + PartialEq + ShortText> Edit<T> {
    pub(crate) fn put(&self, place: &mut T, field: Field) -> Result<(), ApplyError> {
        if *place != self.old {
            return Err(ApplyError::Moved {
                field,
                actual: place.short_text(),
                expected: self.old.short_text(),
            });
        }
        place.clone_from(&self.new);
        Ok(())
    }
}
