//! Entries of the pipeline `sai`: neighbours, and port numbers of router interfaces.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use closc_runtime::Info;
use closc_runtime::info::LookupError;
use closc_runtime::proto::v1;

use super::super::batch::{Batch, Neighbour};
use super::super::ip::Mac;
use super::{SwitchEntries, call, exact_bytes, number_of, param};
use crate::error::TreeFault;

/// Ids from the P4Info.
pub(super) struct Reader {
    interface: u32,
    interface_id: u32,
    leaves: [Leaves; 2],
    neighbour: u32,
    neighbour_interface: u32,
    neighbour_address: u32,
    dst_mac: u32,
}

/// Ids of an action that sets the port of a router interface.
struct Leaves {
    id: u32,
    port: u32,
}

impl Reader {
    pub(super) fn new(info: &Info) -> Result<Reader, LookupError> {
        let leaves = |name: &str| -> Result<Leaves, LookupError> {
            let action = info.action(name)?;
            Ok(Leaves { id: action.preamble.id, port: action.param("port")?.id })
        };
        let (interface, neighbour) = (info.table("router_interface_table")?, info.table("neighbor_table")?);
        Ok(Reader {
            interface: interface.preamble.id,
            interface_id: interface.field("router_interface_id")?.id,
            leaves: [leaves("unicast_set_port_and_src_mac")?, leaves("set_port_and_src_mac")?],
            neighbour: neighbour.preamble.id,
            neighbour_interface: neighbour.field("router_interface_id")?.id,
            neighbour_address: neighbour.field("neighbor_id")?.id,
            dst_mac: info.action("set_dst_mac")?.param("dst_mac")?.id,
        })
    }

    /// Reads the entries of a switch with these ports. Router interfaces have the names of ports.
    pub(super) fn read(
        &self,
        entries: &[v1::TableEntry],
        ports: &[&str],
    ) -> Result<SwitchEntries, TreeFault> {
        let of = |table: u32| entries.iter().filter(move |entry| entry.table_id == table);
        let known: BTreeMap<String, u16> =
            of(self.interface).filter_map(|entry| self.interface(entry)).collect();
        let number = |port: &&str| {
            let number = known.get(*port).copied();
            number
                .map(|number| ((*port).to_owned(), number))
                .ok_or_else(|| TreeFault::Interface((*port).to_owned()))
        };
        let numbers = ports.iter().map(number).collect::<Result<_, _>>()?;
        let neighbours = of(self.neighbour).filter_map(|entry| self.neighbour(entry)).collect();
        Ok((Batch { neighbours, ..Batch::default() }, numbers))
    }

    /// Returns the name of a router interface, and the number of its port.
    fn interface(&self, entry: &v1::TableEntry) -> Option<(String, u16)> {
        let call = call(entry)?;
        let leaves = self.leaves.iter().find(|leaves| leaves.id == call.action_id)?;
        let port = text(param(call, leaves.port)?)?.parse().ok()?;
        Some((text(key(entry, self.interface_id)?)?.to_owned(), port))
    }

    /// Returns the name of a router interface, and its neighbour.
    fn neighbour(&self, entry: &v1::TableEntry) -> Option<(String, Neighbour)> {
        let mac = Mac::from_number(number_of(param(call(entry)?, self.dst_mac)?)?);
        let address = Ipv6Addr::from(number_of(key(entry, self.neighbour_address)?)?);
        let name = text(key(entry, self.neighbour_interface)?)?.to_owned();
        Some((name, Neighbour { address: address.into(), mac }))
    }
}

/// Returns the bytes of an exact key, by its field id.
fn key(entry: &v1::TableEntry, field: u32) -> Option<&[u8]> {
    entry.r#match.iter().find(|found| found.field_id == field).and_then(exact_bytes)
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}
