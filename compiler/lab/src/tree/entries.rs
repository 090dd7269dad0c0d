//! The entries of a P4 switch, `switches/<name>/entries.txtpb`, as far as a lab has to know them.
//!
//! In: the file and the P4Info beside it. Out: the same [`Batch`] as of other switches: own segments and ways; and
//! the numbers of its ports. Invariants: the entries get to the switch by a push; this reading only says what to expect
//! of it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv6Addr;

use camino::Utf8Path;
use closc_artefacts::paths;
use closc_runtime::proto::v1;
use closc_runtime::{Info, text};
use ipnet::Ipv6Net;
use v1::entity::Entity;

use super::batch::{Batch, Neighbour, Segment};
use super::contents::Contents;
use super::ip::Mac;
use crate::error::{LabError, TreeFault};

/// The pipeline that fabrics run.
pub(crate) const PIPELINE: &str = "fabric";

/// Reads the entries of one pipeline.
pub(super) struct Reader {
    port_role: u32,
    my_sid: u32,
    route: u32,
    by_port: u32,
    next_hop: u32,
    /// Number of the parameter of a next hop that is the neighbour's MAC address.
    dst_mac: u32,
}

impl Reader {
    /// Reads the P4Info of a tree; nothing where it has no P4 switches.
    pub(super) fn open(contents: &Contents) -> Result<Option<Reader>, LabError> {
        if !contents.has(paths::p4info(PIPELINE)) {
            return Ok(None);
        }
        let info = p4info(contents)?;
        let find = || -> Result<Reader, closc_runtime::info::LookupError> {
            Ok(Reader {
                port_role: info.table("ingress.port_role")?.preamble.id,
                my_sid: info.table("ingress.my_sid")?.preamble.id,
                route: info.table("ingress.ipv6_route")?.preamble.id,
                by_port: info.action("set_nexthop_id")?.preamble.id,
                next_hop: info.table("ingress.nexthop")?.preamble.id,
                dst_mac: info.action("set_nexthop")?.param("dst_mac")?.id,
            })
        };
        let path = contents.folder().join(paths::p4info(PIPELINE));
        find().map(Some).map_err(|error| LabError::tree(path)(TreeFault::P4(error.to_string())))
    }

    /// Reads the entries of a switch with these ports.
    pub(super) fn read(
        &self,
        contents: &Contents,
        path: &Utf8Path,
        ports: &[&str],
    ) -> Result<(Batch, BTreeMap<String, u16>), LabError> {
        let text = contents.text(path)?;
        let path = contents.folder().join(path);
        let fault = |what: String| LabError::tree(&path)(TreeFault::P4(what));
        let updates = text::read_entries(&text).map_err(|error| fault(error.to_string()))?;
        let entries: Vec<v1::TableEntry> = updates.into_iter().filter_map(table_entry).collect();
        let of = |table: u32| entries.iter().filter(move |entry| entry.table_id == table);
        let known: BTreeSet<u128> = of(self.port_role).filter_map(exact).collect();
        let mut numbers = BTreeMap::new();
        for port in ports {
            let number = number(port).filter(|number| known.contains(&u128::from(*number)));
            let number = number.ok_or_else(|| LabError::tree(&path)(TreeFault::Port((*port).to_owned())))?;
            numbers.insert((*port).to_owned(), number);
        }
        let names: BTreeMap<u16, &String> = numbers.iter().map(|(name, number)| (*number, name)).collect();
        let segment = |entry| Some(Segment { prefix: prefix(exact(entry)? << 80, 48)?, decapsulates: false });
        let way = |entry| {
            let (prefix, port) = self.way(entry)?;
            Some((prefix, (*names.get(&port)?).clone()))
        };
        let neighbour = |entry| {
            // A next hop has the number of its port.
            let port = names.get(&u16::try_from(exact(entry)?).ok()?)?;
            Some(((*port).clone(), self.neighbour(entry)?))
        };
        let batch = Batch {
            segments: of(self.my_sid).filter_map(segment).collect(),
            ways: of(self.route).filter_map(way).collect(),
            neighbours: of(self.next_hop).filter_map(neighbour).collect(),
            ..Batch::default()
        };
        Ok((batch, numbers))
    }

    /// The prefix of a route, and the port that its next hop is named by.
    fn way(&self, entry: &v1::TableEntry) -> Option<(Ipv6Net, u16)> {
        let Some(v1::field_match::FieldMatchType::Lpm(lpm)) = &entry.r#match.first()?.field_match_type else {
            return None;
        };
        let Some(v1::table_action::Type::Action(action)) = &entry.action.as_ref()?.r#type else {
            return None;
        };
        if action.action_id != self.by_port {
            return None;
        }
        let prefix = prefix(number_of(&lpm.value)?, u8::try_from(lpm.prefix_len).ok()?)?;
        Some((prefix, u16::try_from(number_of(&action.params.first()?.value)?).ok()?))
    }
}

impl Reader {
    /// Who is at the other end of a next hop; its address is of no use to a switch.
    fn neighbour(&self, entry: &v1::TableEntry) -> Option<Neighbour> {
        let Some(v1::table_action::Type::Action(action)) = &entry.action.as_ref()?.r#type else {
            return None;
        };
        let mac = action.params.iter().find(|param| param.param_id == self.dst_mac)?;
        let bytes = number_of(&mac.value)?.to_be_bytes();
        let mac = Mac(*bytes.last_chunk().expect("128 bits hold the 48 of an address"));
        Some(Neighbour { address: Ipv6Addr::UNSPECIFIED, mac })
    }
}

/// Reads the P4Info of a tree.
pub(crate) fn p4info(contents: &Contents) -> Result<Info, LabError> {
    let text = contents.text(paths::p4info(PIPELINE))?;
    let fault =
        |what: String| LabError::tree(contents.folder().join(paths::p4info(PIPELINE)))(TreeFault::P4(what));
    let message = text::read_p4info(&text).map_err(|error| fault(error.to_string()))?;
    Info::new(message).map_err(|error| fault(error.to_string()))
}

/// Returns the only key of an entry with one exact key.
pub(crate) fn exact(entry: &v1::TableEntry) -> Option<u128> {
    match &entry.r#match.first()?.field_match_type {
        Some(v1::field_match::FieldMatchType::Exact(exact)) => number_of(&exact.value),
        _ => None,
    }
}

fn table_entry(update: v1::Update) -> Option<v1::TableEntry> {
    match update.entity?.entity? {
        Entity::TableEntry(entry) if !entry.is_default_action => Some(entry),
        _ => None,
    }
}

/// Returns the number at the end of a port's name: front-panel numbers are the pipeline's port numbers.
fn number(port: &str) -> Option<u16> {
    let digits = port.len() - port.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    port[port.len() - digits..].parse().ok()
}

/// Returns the number that a byte string of the wire means.
fn number_of(bytes: &[u8]) -> Option<u128> {
    (bytes.len() <= 16).then(|| bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)))
}

fn prefix(bits: u128, length: u8) -> Option<Ipv6Net> {
    Ipv6Net::new(Ipv6Addr::from(bits), length).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_at_the_end_of_names() {
        assert_eq!((number("eth255"), number("eth1"), number("Ethernet0")), (Some(255), Some(1), Some(0)));
        assert_eq!((number("uplink"), number("eth99999"), number("")), (None, None, None));
    }

    #[test]
    fn byte_strings_are_numbers() {
        assert_eq!(number_of(&[0xfc, 0xbb]), Some(0xfcbb));
        assert_eq!((number_of(&[]), number_of(&[1; 17])), (Some(0), None));
    }
}
