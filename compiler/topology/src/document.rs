//! A fabric file as it is written: every value with its place. Defaults are not filled in, and only the shape is
//! checked.
//!
//! In: the text. Out: a [`FabricDoc`]. Invariants: every field is declared once. The declaration determines
//! the JSON Schema, the language reference (the doc comments), the paths of messages and the artefacts that a
//! change affects.

mod addresses;
mod cables;
mod domains;
mod exceptions;
mod hosts;
mod qos;
mod racks;
mod srv6;
mod tiers;
mod tuning;
mod warnings;

use closc_artefacts::Routing;
use closc_diagnostics::Level;
use closc_platform::{Os, Release};
use smol_str::SmolStr;

pub use addresses::{AddressWidthsDoc, AddressesDoc, ServicesDoc, SnmpDoc};
pub use cables::{CableDoc, CablesDoc};
pub use domains::DomainDoc;
pub use exceptions::ExceptionsDoc;
pub use hosts::{HostsDoc, NicDoc, SlotDoc};
pub use qos::QosDoc;
pub use racks::{RackDoc, RacksDoc};
pub use srv6::{RolesDoc, Srv6Doc, WidthsDoc};
pub use tiers::{
    HardwareDoc, PortBlockDoc, PortStageDoc, PortsDoc, SplitDoc, T0Doc, T1Doc, T2Doc, TiersDoc,
    ZoneHardwareDoc,
};
pub use tuning::{BalanceByTierDoc, EcmpDoc, EntropyDoc, MtuDoc, NamingDoc};

use crate::read::{NameMap, Spanned, document, word};

document! {
    /// A fabric file. Top-level keys that start with `x-` are ignored; use them to define YAML anchors.
    pub struct FabricDoc as "Fabric" with anchors {
        /// The name of the fabric: `a`-`z`, `0`-`9` and `-`, at most 63 characters.
        pub fabric: Spanned<SmolStr> = "fabric" => [ALL],
        /// Free text about the fabric.
        pub description: Option<Spanned<String>> = "description" => [],
        /// The number of planes, 1 to 16. Every NIC has one port in each.
        #[schemars(range(min = 1, max = 16))]
        pub planes: Spanned<u16> = "planes" => [ALL],
        /// Routing mode. Default: `srv6-static`.
        pub routing: Option<Spanned<Routing>> = "routing" => [ALL],
        /// The NICs, and how they are attached to the T0s.
        pub hosts: HostsDoc = "hosts",
        /// The number of zones under the T2 tier. Default: 1. More than one needs `tiers.t2`, or nodes with NICs in all
        /// zones (`hosts.zones_per_node`).
        #[schemars(range(min = 1))]
        pub zones: Option<Spanned<u16>> = "zones" => [ALL],
        /// Locations of the zones, by name, for several buildings. Each zone is in one site.
        pub sites: Option<Vec<SiteDoc>> = "sites" => [],
        /// The switches, tier by tier.
        pub tiers: TiersDoc = "tiers",
        /// Releases of operating systems on switches, as in `{ sonic: 202511, frr: 10.5.4 }`. They determine the
        /// generated configuration and the known faults that are reported (W0203). Default: `sonic` and `pins`
        /// 202511, `frr` 10.5.4, `eos` 4.35, `nvue` 5.16.
        pub releases: Option<NameMap<Os, Spanned<Release>>> = "releases" => [SWITCHES],
        /// Segment identifiers, for `routing: srv6-static`.
        pub srv6: Option<Srv6Doc> = "srv6" => [ALL],
        /// Spreading of traffic over uplinks, for `routing: ecmp-static` and `bgp-unnumbered`.
        pub ecmp: Option<EcmpDoc> = "ecmp",
        /// Address pools. An address consists of its pool and coordinates.
        pub addresses: Option<AddressesDoc> = "addresses",
        /// Cables by kind: medium and length.
        pub cables: Option<CablesDoc> = "cables",
        /// Maximum packet sizes.
        pub mtu: Option<MtuDoc> = "mtu",
        /// Entropy values of the host path tables.
        pub entropy: Option<EntropyDoc> = "entropy",
        /// The QoS profile: a name, or a mapping that defines one. Default: `lossy-trim`.
        pub qos: Option<QosDoc> = "qos" => [ALL],
        /// Patterns of device names.
        pub naming: Option<NamingDoc> = "naming",
        /// Servers that all switches use.
        pub services: Option<ServicesDoc> = "services" => [SWITCHES],
        /// Failure domains, by the name of their kind: power feeds, racks, rows. `closc whatif` shows the impact of each.
        pub domains: Option<NameMap<SmolStr, DomainDoc>> = "domains" => [NODES],
        /// Rack positions of devices, for cable lists, labels, NetBox, reports and tables.
        pub racks: Option<RacksDoc> = "racks" => [],
        /// Differences from the counts: absent, drained and isolated elements, other hardware and cables.
        pub exceptions: Option<ExceptionsDoc> = "exceptions" => [NAMED],
        /// Levels of warnings, by code: `allow` hides one, `deny` makes it an error. Options of the command line
        /// (`--allow`, `--warn`, `--deny`) override these.
        pub warnings: Option<NameMap<SmolStr, Level>> = "warnings" => [],
    }
}

document! {
    /// The location of one or more zones.
    pub struct SiteDoc as "Site" {
        /// Its name.
        pub name: Spanned<SmolStr> = "name",
        /// The zones in this site, from 0.
        pub zones: Vec<Spanned<u16>> = "zones",
    }
}

word!(Routing, "routing mode" {
    "srv6-static" => Routing::Srv6Static,
    "ecmp-static" => Routing::EcmpStatic,
    "bgp-unnumbered" => Routing::BgpUnnumbered,
});
