//! What a fabric file says, word for word: every value with its place, nothing filled in, nothing checked but
//! its shape.
//!
//! In: the text. Out: a [`Document`]. Invariants: the JSON Schema is generated from these types, and their doc
//! comments are the language reference.

mod addresses;
mod cables;
mod domains;
mod exceptions;
mod hosts;
mod qos;
mod srv6;
mod tiers;
mod tuning;

use closc_diagnostics::{Diagnostics, SourceId};
use schemars::JsonSchema;
use smol_str::SmolStr;

pub use addresses::{AddressesDoc, ServicesDoc, SnmpDoc};
pub use cables::{CableDoc, CablesDoc};
pub use domains::DomainDoc;
pub use exceptions::ExceptionsDoc;
pub use hosts::{HostsDoc, NicDoc, SlotDoc};
pub use qos::QosDoc;
pub use srv6::{RolesDoc, Srv6Doc, WidthsDoc};
pub use tiers::{HardwareDoc, PortsDoc, T0Doc, T1Doc, T2Doc, TiersDoc};
pub use tuning::{EcmpDoc, EntropyDoc, MtuDoc, NamingDoc};

use crate::model::{Routing, Spans};
use crate::read::{MappingType, Named, Spanned, mapping, word};

/// A fabric file that has the right shape.
#[derive(Debug, Clone)]
pub struct Document {
    /// What it says.
    pub file: FabricDoc,
    /// Where it says it, by dotted path.
    pub spans: Spans,
    /// The file of `ecmp.pins`, once somebody who may read files has added it; or why it cannot be read.
    pub pins: Option<Result<SourceId, String>>,
    /// Single values that are not what they should be; in `file` they are as if nobody had written them.
    pub faults: Diagnostics,
}

impl Document {
    /// Returns the path of the file of pins, as it is written: below the folder of the fabric file.
    pub fn pins_file(&self) -> Option<&str> {
        self.file.ecmp.as_ref()?.pins.as_ref().map(|file| file.value.as_str())
    }
}

/// A fabric file. Keys that start with `x-` are ignored at this level; they are a place for anchors.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(rename = "Fabric", deny_unknown_fields)]
pub struct FabricDoc {
    /// The name of the fabric: `a`-`z`, `0`-`9` and `-`, at most 63 characters.
    pub fabric: Spanned<SmolStr>,
    /// Free text about the fabric.
    pub description: Option<Spanned<String>>,
    /// The number of planes, 1 to 16. Every NIC has one port in each.
    #[schemars(range(min = 1, max = 16))]
    pub planes: Spanned<u16>,
    /// How packets find their way. Default: `srv6-static`.
    pub routing: Option<Spanned<Routing>>,
    /// The NICs, and how they are attached to the T0s.
    pub hosts: HostsDoc,
    /// The number of zones under the T2 tier. Default: 1. More than one needs `tiers.t2`.
    #[schemars(range(min = 1))]
    pub zones: Option<Spanned<u16>>,
    /// Where the zones stand, by name, for several buildings. Each zone is in one site.
    pub sites: Option<Vec<SiteDoc>>,
    /// The switches, tier by tier.
    pub tiers: TiersDoc,
    /// Segment identifiers, for `routing: srv6-static`.
    pub srv6: Option<Srv6Doc>,
    /// How traffic is spread over uplinks, for `routing: ecmp-static` and `bgp-unnumbered`.
    pub ecmp: Option<EcmpDoc>,
    /// Address pools. Every address is a pool and coordinates.
    pub addresses: Option<AddressesDoc>,
    /// Cables by kind: what each is made of and how long it is.
    pub cables: Option<CablesDoc>,
    /// The largest packets.
    pub mtu: Option<MtuDoc>,
    /// Entropy values of the host path tables.
    pub entropy: Option<EntropyDoc>,
    /// The QoS profile: the name of one, or a mapping that makes one. Default: `lossy-trim`.
    pub qos: Option<QosDoc>,
    /// Patterns of device names.
    pub naming: Option<NamingDoc>,
    /// Servers that every switch uses.
    pub services: Option<ServicesDoc>,
    /// What fails together, by the name of its kind: power feeds, racks, rows. `closc whatif` asks what each costs.
    pub domains: Option<Named<SmolStr, DomainDoc>>,
    /// What differs from the numbers: what is absent, drained, or made of something else.
    pub exceptions: Option<ExceptionsDoc>,
}

mapping!(FabricDoc, true {
    fabric = "fabric",
    description = "description",
    planes = "planes",
    routing = "routing",
    hosts = "hosts",
    zones = "zones",
    sites = "sites",
    tiers = "tiers",
    srv6 = "srv6",
    ecmp = "ecmp",
    addresses = "addresses",
    cables = "cables",
    mtu = "mtu",
    entropy = "entropy",
    qos = "qos",
    naming = "naming",
    services = "services",
    domains = "domains",
    exceptions = "exceptions",
});

/// A place that some zones are in.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(rename = "Site", deny_unknown_fields)]
pub struct SiteDoc {
    /// Its name.
    pub name: Spanned<SmolStr>,
    /// The zones that stand there, from 0.
    pub zones: Vec<Spanned<u16>>,
}

mapping!(SiteDoc { name = "name", zones = "zones" });

word!(Routing, "way of routing" {
    "srv6-static" => Routing::Srv6Static,
    "ecmp-static" => Routing::EcmpStatic,
    "bgp-unnumbered" => Routing::BgpUnnumbered,
});

/// Every mapping of the language: its name in the schema and its keys in the order of the reference.
pub(crate) const MAPPINGS: &[(&str, &[&str])] = &[
    ("Fabric", FabricDoc::KEYS),
    ("Hosts", HostsDoc::KEYS),
    ("Nic", NicDoc::KEYS),
    ("Slot", SlotDoc::KEYS),
    ("Tiers", TiersDoc::KEYS),
    ("T0", T0Doc::KEYS),
    ("T1", T1Doc::KEYS),
    ("T2", T2Doc::KEYS),
    ("PortBlock", PortsDoc::KEYS),
    ("Hardware", HardwareDoc::KEYS),
    ("Site", SiteDoc::KEYS),
    ("Srv6", Srv6Doc::KEYS),
    ("Widths", WidthsDoc::KEYS),
    ("Roles", RolesDoc::KEYS),
    ("Ecmp", EcmpDoc::KEYS),
    ("Addresses", AddressesDoc::KEYS),
    ("Cables", CablesDoc::KEYS),
    ("Cable", CableDoc::KEYS),
    ("Mtu", MtuDoc::KEYS),
    ("Entropy", EntropyDoc::KEYS),
    ("Naming", NamingDoc::KEYS),
    ("Services", ServicesDoc::KEYS),
    ("Snmp", SnmpDoc::KEYS),
    ("Domain", DomainDoc::KEYS),
    ("Exceptions", ExceptionsDoc::KEYS),
];
