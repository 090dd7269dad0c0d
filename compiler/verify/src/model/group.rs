//! The path table of a T0 group, from its JSON and binary forms.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use closc_artefacts::Address;
use closc_paths::{Choice, Destination, Header, Kind, Table};
use smol_str::SmolStr;

use crate::model::cabling::{NodeId, SwitchId};
use crate::model::device::Mac;
use crate::model::place::Place;
use crate::model::segment::{Layout, Usid, slots};

/// The path table of a T0 group.
#[derive(Debug, Clone)]
#[expect(clippy::struct_field_names, reason = "zone and group are the words of the tables")]
pub(crate) struct Group {
    /// File of the JSON form, for the lines of violations.
    pub(crate) json: Utf8PathBuf,
    /// File of the binary form.
    pub(crate) binary: Utf8PathBuf,
    /// Bytes of the binary form, validated when they were read.
    pub(crate) bytes: Vec<u8>,
    pub(crate) header: Header,
    /// Zone, from 0.
    pub(crate) zone: u16,
    /// Group in the zone, from 0.
    pub(crate) group: u16,
    /// Layout of uSIDs.
    pub(crate) layout: Layout,
    /// The T0 of the group in each plane.
    pub(crate) planes: Vec<GroupPlane>,
    /// The NICs of the group.
    pub(crate) nics: Vec<GroupNic>,
    /// Traffic classes.
    pub(crate) classes: Vec<TrafficClass>,
    /// Name of the profile.
    pub(crate) profile: SmolStr,
    /// Code points of packets trimmed inside the fabric and at the last hop, if tables state them.
    pub(crate) trimmed_dscp: Option<(u8, u8)>,
    /// The longest round trip, and the values computed from it.
    pub(crate) delay: Option<closc_artefacts::path_table::Delay>,
    /// Names of denied elements, in the order of denials.
    pub(crate) denied_names: Vec<SmolStr>,
}

/// The T0 of a group in a plane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupPlane {
    /// Name of the T0.
    pub(crate) name: SmolStr,
    /// The T0, if the cable lists contain it.
    pub(crate) t0: Option<SwitchId>,
    /// MAC address of the T0.
    pub(crate) mac: Mac,
    /// First uSID of every segment list over this plane.
    pub(crate) usid: Usid,
}

/// A NIC of the group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupNic {
    /// Name, for example `su001-n004/nic2`.
    pub(crate) name: SmolStr,
    /// The node; `None` if no cable leads to a node with its name.
    pub(crate) node: Option<NodeId>,
    /// Number of the NIC in the node.
    pub(crate) number: u8,
    /// Downlink, from 0.
    pub(crate) downlink: u16,
    /// Inner address.
    pub(crate) address: Address,
}

/// A traffic class, as configured on hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrafficClass {
    pub(crate) name: SmolStr,
    /// Code points of the class.
    pub(crate) dscp: Vec<u8>,
    /// Traffic class in switches.
    pub(crate) class: u8,
    /// Whether packets of the class are trimmed instead of dropped.
    pub(crate) trim: bool,
}

impl Group {
    /// Opens the table for look-ups.
    pub(crate) fn table(&self) -> Table<'_> {
        Table::reopen(&self.bytes, self.header)
    }

    /// Returns a place in the JSON form.
    pub(crate) fn place(&self, needles: &[&str]) -> Place {
        Place::text(self.json.clone(), needles.iter().map(|needle| (*needle).to_owned()).collect())
    }

    /// Returns the place of a destination group.
    pub(crate) fn destination_place(&self, zone: u16, group: u16) -> Place {
        let zone = format!("\"zone\": {zone},");
        let group = format!("\"group\": {},", group + 1);
        if self.json.as_str().contains("/group-") {
            self.place(&["\"destinations\":", &group])
        } else {
            self.place(&["\"destinations\":", &zone, &group, "\"template\":"])
        }
    }

    /// Returns the name of the group: the name of its file.
    pub(crate) fn name(&self) -> &str {
        self.json.file_stem().unwrap_or_default()
    }

    /// Returns the place of a NIC in the table.
    pub(crate) fn nic_place(&self, nic: &GroupNic) -> Place {
        self.place(&["\"nics\":", &format!("\"name\": \"{}\"", nic.name)])
    }
}

/// Returns the first table that agrees with the majority.
pub(crate) fn common<'g>(groups: impl IntoIterator<Item = &'g Group>) -> Option<&'g Group> {
    let key = |group: &Group| {
        let h = *group.table().header();
        let numbers =
            [h.planes.into(), h.zones, h.groups, h.t0_uplinks, h.t1_uplinks, h.parallel0, h.parallel1];
        (numbers, format!("{:?}", group.layout))
    };
    let mut votes: BTreeMap<_, (usize, &Group)> = BTreeMap::new();
    for group in groups {
        votes.entry(key(group)).or_insert((0, group)).0 += 1;
    }
    votes.into_values().max_by_key(|(count, _)| *count).map(|(_, first)| first)
}

/// Returns the inner address of a position in the fabric, computed from the header of a table.
pub(crate) fn inner(header: &Header, zone: u16, group: u16, downlink: u16) -> Address {
    let place = u128::from(zone) << (16 - u32::from(header.zone_bits)) | (u128::from(group) + 1);
    Address::from(header.pool | place << 64 | (u128::from(downlink) + 1))
}

/// Returns the destination at a position in the fabric.
pub(crate) fn destination(table: &Table<'_>, zone: u16, group: u16, downlink: u16) -> Option<Destination> {
    table.destination(inner(table.header(), zone, group, downlink).octets())
}

/// Packs a choice into an entropy value.
pub(crate) fn entropy(header: &Header, choice: Choice) -> u32 {
    let high = u64::from(choice.t1_uplink) << header.plane_bits | u64::from(choice.plane);
    (high << header.uplink_bits | u64::from(choice.t0_uplink)) as u32
}

/// Returns the outer address and its uSIDs for a choice.
pub(crate) fn list(table: &Table<'_>, to: &Destination, choice: Choice) -> (Address, [Usid; 6]) {
    let address = Address::from(table.outer(to, entropy(table.header(), choice)).address);
    (address, slots(address))
}

/// Returns the number of uSIDs in a segment list.
pub(crate) fn length(kind: Kind) -> usize {
    match kind {
        Kind::Local => 2,
        Kind::Zone => 4,
        Kind::Far => 6,
    }
}
