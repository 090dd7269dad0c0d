//! Entries of the pipeline `fabric`: own segments, routes, neighbours, and port numbers.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::{Address, Prefix};
use closc_runtime::Info;
use closc_runtime::info::LookupError;
use closc_runtime::proto::v1;

use super::super::batch::{Batch, Neighbour, Segment};
use super::super::ip::Mac;
use super::{SwitchEntries, call, exact, lpm, number_of, param, prefix};
use crate::error::TreeFault;

/// Ids from the P4Info.
pub(super) struct Reader {
    port_role: u32,
    my_sid: u32,
    route: u32,
    by_port: u32,
    /// Id of a route's parameter that names the next hop.
    next_hop_param: u32,
    next_hop: u32,
    /// Id of a next hop's parameter with the neighbour's MAC address.
    dst_mac: u32,
}

impl Reader {
    pub(super) fn new(info: &Info) -> Result<Reader, LookupError> {
        let by_port = info.action("set_nexthop_id")?;
        Ok(Reader {
            port_role: info.table("ingress.port_role")?.preamble.id,
            my_sid: info.table("ingress.my_sid")?.preamble.id,
            route: info.table("ingress.ipv6_route")?.preamble.id,
            by_port: by_port.preamble.id,
            next_hop_param: by_port.param("nexthop_id")?.id,
            next_hop: info.table("ingress.nexthop")?.preamble.id,
            dst_mac: info.action("set_nexthop")?.param("dst_mac")?.id,
        })
    }

    /// Reads the entries of a switch with these ports.
    pub(super) fn read(
        &self,
        entries: &[v1::TableEntry],
        ports: &[&str],
    ) -> Result<SwitchEntries, TreeFault> {
        let of = |table: u32| entries.iter().filter(move |entry| entry.table_id == table);
        let known: BTreeSet<u128> = of(self.port_role).filter_map(exact).collect();
        let mut numbers = BTreeMap::new();
        for port in ports {
            let number = number(port).filter(|number| known.contains(&u128::from(*number)));
            let number = number.ok_or_else(|| TreeFault::Port((*port).to_owned()))?;
            numbers.insert((*port).to_owned(), number);
        }
        let names: BTreeMap<u16, &String> = numbers.iter().map(|(name, number)| (*number, name)).collect();
        let segment = |entry| Some(Segment { prefix: prefix(exact(entry)? << 80, 48)?, decapsulates: false });
        let way = |entry| {
            let (prefix, port) = self.next_hop(entry)?;
            Some((prefix, (*names.get(&port)?).clone()))
        };
        let neighbour = |entry| {
            // The id of a next hop is the number of its port.
            let port = names.get(&u16::try_from(exact(entry)?).ok()?)?;
            Some(((*port).clone(), self.neighbour(entry)?))
        };
        let batch = Batch {
            segments: of(self.my_sid).filter_map(segment).collect(),
            egress_ports: of(self.route).filter_map(way).collect(),
            neighbours: of(self.next_hop).filter_map(neighbour).collect(),
            ..Batch::default()
        };
        Ok((batch, numbers))
    }

    /// Returns the prefix of a route, and the port number that identifies its next hop.
    fn next_hop(&self, entry: &v1::TableEntry) -> Option<(Prefix, u16)> {
        let action = call(entry).filter(|action| action.action_id == self.by_port)?;
        Some((lpm(entry)?, u16::try_from(number_of(param(action, self.next_hop_param)?)?).ok()?))
    }

    /// Returns the neighbour of a next hop. Switches only have its MAC address.
    fn neighbour(&self, entry: &v1::TableEntry) -> Option<Neighbour> {
        let mac = Mac::from_number(number_of(param(call(entry)?, self.dst_mac)?)?);
        Some(Neighbour { address: Address::UNSPECIFIED, mac })
    }
}

/// Returns the number at the end of a port's name. Numbers on the front panel equal those of the pipeline.
fn number(port: &str) -> Option<u16> {
    let digits = port.len() - port.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    port[port.len() - digits..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_at_the_end_of_names() {
        assert_eq!((number("eth255"), number("eth1"), number("Ethernet0")), (Some(255), Some(1), Some(0)));
        assert_eq!((number("uplink"), number("eth99999"), number("")), (None, None, None));
    }
}
