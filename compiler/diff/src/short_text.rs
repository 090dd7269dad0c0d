//! Values as text, in the notation of fabric files.
//!
//! In: a value of a topology. Out: short text. Invariants: equal values have equal text.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use closc_artefacts::{Prefix, Routing};
use closc_platform::{Breakout, Os, Platform, Release};
use closc_qos::profile::Profile;
use closc_qos::units::Speed;
use closc_topology::naming::Pattern;
use closc_topology::usid::{Role, UsidLayout};
use closc_topology::{
    AddressWidths, Cable, Cages, DomainBy, DomainPosition, DomainRule, HostOs, HostOutput, HostSlot,
    ManagementList, NicKind, PacketOrder, Pin, Pins, PlaneId, PortBlock, PortStage, RackRule, Racks,
    SegmentPlan, Services, Site, TierBalance, TierId, Wiring, ZoneId, ZoneTier,
};
use ipnet::{IpNet, Ipv6Net};
use smol_str::SmolStr;

/// A value that can be written as short text.
pub trait ShortText {
    /// Returns the value as short text.
    fn short_text(&self) -> String;
}

macro_rules! by_display {
    ($($type:ty),*) => {
        $( impl ShortText for $type {
            fn short_text(&self) -> String {
                self.to_string()
            }
        } )*
    };
}

by_display!(
    u8, u16, u32, u64, SmolStr, String, Speed, Ipv6Net, Prefix, IpNet, IpAddr, Breakout, Cages, Pattern
);

impl ShortText for bool {
    fn short_text(&self) -> String {
        if *self { "set".to_owned() } else { "not set".to_owned() }
    }
}

impl<T: ShortText> ShortText for Option<T> {
    fn short_text(&self) -> String {
        self.as_ref().map_or_else(|| "none".to_owned(), ShortText::short_text)
    }
}

impl<K: ShortText, V: ShortText> ShortText for BTreeMap<K, V> {
    fn short_text(&self) -> String {
        if self.is_empty() {
            return "none".to_owned();
        }
        let entries: Vec<String> =
            self.iter().map(|(k, v)| format!("{}: {}", k.short_text(), v.short_text())).collect();
        entries.join(", ")
    }
}

impl ShortText for DomainRule {
    fn short_text(&self) -> String {
        match self {
            DomainRule::Members(members) => format!("{} members", members.len()),
            DomainRule::Position(position) => {
                let DomainPosition { by, run, count, tiers } = position;
                let by = match by {
                    DomainBy::Kind(kind) => kind.to_string(),
                    DomainBy::Coordinates(by) => {
                        by.iter().map(|by| by.keyword()).collect::<Vec<_>>().join(", ")
                    }
                };
                let count = count.map_or_else(String::new, |count| format!(", {count} in turn"));
                let tiers: Vec<&str> = tiers.iter().map(|tier| tier.keyword()).collect();
                format!("by [{by}], runs of {run}{count}, {}", tiers.join(" "))
            }
        }
    }
}

impl ShortText for RackRule {
    fn short_text(&self) -> String {
        let RackRule { name, per_rack, per_row, units, first_unit, face } = self;
        let row = per_row.map_or_else(String::new, |racks| format!(", {racks} racks per row"));
        format!("{name}: {per_rack} of {units} U from unit {first_unit}{row}, {}", face.keyword())
    }
}

impl ShortText for Racks {
    fn short_text(&self) -> String {
        let Racks { height, t0, t1, t2, hosts } = self;
        let kinds = [("t0", t0), ("t1", t1), ("t2", t2), ("hosts", hosts)];
        let kinds = kinds
            .into_iter()
            .filter_map(|(key, rule)| Some(format!("; {key} {}", rule.as_ref()?.short_text())));
        format!("{height} units{}", kinds.collect::<String>())
    }
}

impl ShortText for PlaneId {
    fn short_text(&self) -> String {
        format!("plane {self}")
    }
}

impl ShortText for ZoneId {
    fn short_text(&self) -> String {
        format!("zone {self}")
    }
}

impl ShortText for Routing {
    fn short_text(&self) -> String {
        self.keyword().to_owned()
    }
}

impl ShortText for Arc<Pins> {
    fn short_text(&self) -> String {
        let plural =
            |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        match self.values().map(std::collections::BTreeMap::len).sum() {
            0 => "none".to_owned(),
            pins => format!("{} on {}", plural(pins, "pin"), plural(self.len(), "T0")),
        }
    }
}

impl ShortText for Arc<ManagementList> {
    fn short_text(&self) -> String {
        match self.len() {
            0 => "none".to_owned(),
            1 => "1 switch".to_owned(),
            switches => format!("{switches} switches"),
        }
    }
}

impl ShortText for Pin {
    fn short_text(&self) -> String {
        self.keyword().to_owned()
    }
}

impl ShortText for PacketOrder {
    fn short_text(&self) -> String {
        self.keyword().to_owned()
    }
}

impl ShortText for TierBalance {
    fn short_text(&self) -> String {
        if self.t0 == self.t1 && self.t1 == self.t2 {
            return self.t0.keyword().to_owned();
        }
        let of = |tier: TierId| format!("{} on {}s", self.of(tier).keyword(), tier.label());
        TierId::ALL.map(of).join(", ")
    }
}

impl ShortText for Release {
    fn short_text(&self) -> String {
        self.to_string()
    }
}

impl ShortText for Os {
    fn short_text(&self) -> String {
        self.keyword().to_owned()
    }
}

impl ShortText for HostOs {
    fn short_text(&self) -> String {
        match self {
            HostOs::None => "none".to_owned(),
            HostOs::Linux => "linux".to_owned(),
        }
    }
}

impl ShortText for BTreeSet<HostOutput> {
    fn short_text(&self) -> String {
        let words: Vec<&str> = self.iter().map(|output| output.keyword()).collect();
        if words.is_empty() { "none".to_owned() } else { words.join(", ") }
    }
}

impl ShortText for Vec<PortStage> {
    fn short_text(&self) -> String {
        let stages: Vec<String> = self.iter().map(PortStage::to_string).collect();
        if stages.is_empty() { "none".to_owned() } else { stages.join(", ") }
    }
}

impl ShortText for Vec<HostSlot> {
    fn short_text(&self) -> String {
        let slot = |slot: &HostSlot| {
            let HostSlot { pci, numa, gpu, power } = slot;
            let gpu = gpu.map(|gpu| format!(" with {gpu}")).unwrap_or_default();
            let power = power.as_ref().map(|power| format!(" fed by {power}")).unwrap_or_default();
            format!("{pci} on NUMA node {numa}{gpu}{power}")
        };
        let slots: Vec<String> = self.iter().map(slot).collect();
        if slots.is_empty() { "none".to_owned() } else { slots.join("; ") }
    }
}

impl ShortText for NicKind {
    fn short_text(&self) -> String {
        let cages = if self.cages > 1 { format!(" in {} cages", self.cages) } else { String::new() };
        format!("{} over {} lanes{cages}", self.speed, self.lanes)
    }
}

impl ShortText for ZoneTier {
    fn short_text(&self) -> String {
        let side = |block: &PortBlock| {
            let spare = if block.spare > 0 { format!(" and {} spare", block.spare) } else { String::new() };
            format!("{}{spare} of {} from cage {}", block.count, block.breakout, block.cages)
        };
        let (down, up) = (side(&self.down), side(&self.up));
        format!("{} with {}, down {down}, up {up}", self.platform.id, self.os.keyword())
    }
}

impl ShortText for SegmentPlan {
    fn short_text(&self) -> String {
        self.keyword().to_owned()
    }
}

impl ShortText for Wiring {
    fn short_text(&self) -> String {
        match self {
            Wiring::Full => "full".to_owned(),
            Wiring::Rows => "rows".to_owned(),
        }
    }
}

impl ShortText for Arc<Platform> {
    fn short_text(&self) -> String {
        self.id.to_string()
    }
}

impl ShortText for (Arc<Platform>, Os) {
    fn short_text(&self) -> String {
        format!("{} with {}", self.0.id, self.1.keyword())
    }
}

impl ShortText for Cable {
    fn short_text(&self) -> String {
        let Cable { length, medium } = self;
        format!("{length} {medium}")
    }
}

impl ShortText for Vec<Site> {
    fn short_text(&self) -> String {
        let site = |site: &Site| {
            let Site { name, zones } = site;
            let zones: Vec<String> = zones.iter().map(ToString::to_string).collect();
            format!("{name} (zones {})", zones.join(", "))
        };
        let sites: Vec<String> = self.iter().map(site).collect();
        if sites.is_empty() { "none".to_owned() } else { sites.join("; ") }
    }
}

impl ShortText for AddressWidths {
    fn short_text(&self) -> String {
        let AddressWidths { zone, index, plane, t0_downlink, t0_uplink, t1_uplink } = *self;
        let stated = [
            ("zone", Some(zone)),
            ("index", index),
            ("plane", plane),
            ("T0 downlink", t0_downlink),
            ("T0 uplink", t0_uplink),
            ("T1 uplink", t1_uplink),
        ];
        let widths = stated.into_iter().filter_map(|(name, bits)| Some(format!("{name} {}", bits?)));
        format!("{} bits", widths.collect::<Vec<_>>().join(" | "))
    }
}

impl ShortText for UsidLayout {
    fn short_text(&self) -> String {
        let codes: Vec<String> =
            Role::ALL.iter().map(|role| format!("{}={}", role.keyword(), self.code(*role))).collect();
        format!(
            "role {} | plane {} | zone {} | index {} bits, {}",
            self.role_bits,
            self.plane_bits,
            self.zone_bits,
            self.index_bits,
            codes.join(" ")
        )
    }
}

impl ShortText for Services {
    fn short_text(&self) -> String {
        let Services { ntp, syslog, snmp_contact, snmp_location } = self;
        let list = |word: &str, all: &[IpAddr]| {
            (!all.is_empty()).then(|| {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                format!("{word} {}", all.join(" "))
            })
        };
        let text = |word: &str, value: &Option<String>| value.as_ref().map(|value| format!("{word} {value}"));
        let parts = [
            list("ntp", ntp),
            list("syslog", syslog),
            text("snmp contact", snmp_contact),
            text("snmp location", snmp_location),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
    }
}

impl ShortText for Profile {
    fn short_text(&self) -> String {
        self.name().to_string()
    }
}
