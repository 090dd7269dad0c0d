//! Reads `DEVICE_NEIGHBOR_METADATA`: addresses, hardware and types of neighbouring switches.
//!
//! In: the table. Out: a [`Peer`] for each row. Invariants: unknown fields are not judged, because they do not affect
//! packets. An invalid address is an error.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use closc_artefacts::Address;
use serde::Deserialize;
use serde::de::DeserializeSeed as _;

use crate::model::peer::Peer;
use crate::read::json::{Rows, Str};

/// A row of the table.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    hwsku: Option<Str<'a>>,
    #[serde(borrow)]
    lo_addr: Option<Str<'a>>,
    #[serde(borrow)]
    lo_addr_v6: Option<Str<'a>>,
    #[serde(borrow)]
    mgmt_addr: Option<Str<'a>>,
    #[serde(borrow)]
    mgmt_addr_v6: Option<Str<'a>>,
    #[serde(borrow, rename = "type")]
    kind: Option<Str<'a>>,
}

/// Reads the table.
pub(super) fn read(table: &str) -> Result<Arc<[Peer]>, serde_json::Error> {
    let mut peers = Vec::new();
    let mut each = |name: Cow<'_, str>, row: Row<'_>| {
        let wrong = |text: &str| format!("`{text}` is not an address");
        let of = |text: &Option<Str<'_>>| -> Result<Option<Address>, String> {
            text.as_ref().map(|text| text.0.parse().map_err(|_| wrong(&text.0))).transpose()
        };
        let fourth: Option<Ipv4Addr> =
            row.mgmt_addr.as_ref().map(|text| text.0.parse().map_err(|_| wrong(&text.0))).transpose()?;
        let management = match (fourth, of(&row.mgmt_addr_v6)?) {
            (Some(_), Some(_)) => return Err(format!("`{name}` has management addresses of both families")),
            (Some(address), None) => Some(IpAddr::V4(address)),
            (None, address) => address.map(Address::ip),
        };
        let loopback = match (of(&row.lo_addr)?, of(&row.lo_addr_v6)?) {
            (Some(_), Some(_)) => return Err(format!("`{name}` has loopbacks of both families")),
            (v4, v6) => v4.or(v6),
        };
        let text = |text: &Option<Str<'_>>| text.as_ref().map(|text| text.0.to_string());
        let (hardware, kind) = (text(&row.hwsku), text(&row.kind));
        peers.push(Peer::new(&name, loopback, management, (hardware.as_deref(), kind.as_deref())));
        Ok(())
    };
    let mut json = serde_json::Deserializer::from_str(table);
    Rows::new(&mut each).deserialize(&mut json)?;
    Ok(peers.into())
}
