//! `kea-dhcp4.json` and `kea-dhcp6.json`.
//!
//! In: networks and reservations. Out: a configuration that Kea accepts as it is, or that a site includes in
//! its own. Invariants: the site configures interfaces, lease times and address pools.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::IpAddr;

use closc_render::Artefact;
use ipnet::IpNet;
use serde_json::{Map, Value, json};

use super::{Dhcp, Identifier, Network, Reservation, USER_CLASS};

/// Differences between IPv4 and IPv6.
struct Keywords {
    file: &'static str,
    root: &'static str,
    subnet: &'static str,
    boot_file: &'static str,
    user_class: u8,
    /// Size in bytes of the length field before the user class, if a client sends one.
    length: u8,
}

const V4: Keywords = Keywords {
    file: "ztp/kea-dhcp4.json",
    root: "Dhcp4",
    subnet: "subnet4",
    boot_file: "boot-file-name",
    user_class: 77,
    length: 1,
};

const V6: Keywords = Keywords {
    file: "ztp/kea-dhcp6.json",
    root: "Dhcp6",
    subnet: "subnet6",
    boot_file: "bootfile-url",
    user_class: 15,
    length: 2,
};

pub(super) fn render(dhcp: &Dhcp) -> Artefact {
    let words = if dhcp.is_v6() { &V6 } else { &V4 };
    let mut root = Map::new();
    if let Some(file) = &dhcp.file {
        root.insert("client-classes".to_owned(), json!([class(words, file)]));
    }
    if dhcp.networks.is_empty() {
        root.insert("reservations-global".to_owned(), json!(true));
        root.insert(
            "reservations".to_owned(),
            dhcp.known_reservations().map(|one| reservation(words, one)).collect(),
        );
    } else {
        let mut reservations: BTreeMap<IpNet, Vec<Value>> = BTreeMap::new();
        for one in dhcp.known_reservations() {
            let Some(own) = one.address else { continue };
            reservations.entry(own.trunc()).or_default().push(reservation(words, one));
        }
        let subnets = dhcp.networks.iter().zip(1..).map(|(network, id)| {
            let own = reservations.remove(&network.pool.trunc()).unwrap_or_default();
            subnet(network, id, own.into())
        });
        root.insert(words.subnet.to_owned(), subnets.collect());
    }
    crate::json(words.file, &json!({ (words.root): root }))
}

fn subnet(network: &Network, id: u32, reservations: Value) -> Value {
    let mut subnet = json!({ "id": id, "subnet": network.pool.trunc().to_string() });
    subnet["reservations"] = reservations;
    // IPv6 hosts learn their routers from router advertisements.
    if let IpAddr::V4(gateway) = network.gateway {
        subnet["option-data"] = json!([{ "name": "routers", "data": gateway.to_string() }]);
    }
    subnet
}

fn class(words: &Keywords, file: &str) -> Value {
    let (option, length) = (words.user_class, USER_CLASS.len());
    let at = |place: u8| format!("substring(option[{option}].hex,{place},{length}) == '{USER_CLASS}'");
    json!({
        "name": "sonic-ztp",
        "test": format!("{} or {}", at(0), at(words.length)),
        "option-data": [boot_file(words, file)],
    })
}

fn boot_file(words: &Keywords, file: &str) -> Value {
    json!({ "name": words.boot_file, "data": file })
}

fn reservation(words: &Keywords, one: &Reservation) -> Value {
    let mut made = json!({ "hostname": one.name });
    match &one.identifier {
        Identifier::Mac(mac) => made["hw-address"] = json!(mac.to_string()),
        Identifier::Client(text) => made["client-id"] = json!(hex(text)),
    }
    match one.address.map(|own| own.addr()) {
        Some(IpAddr::V4(address)) => made["ip-address"] = json!(address.to_string()),
        Some(IpAddr::V6(address)) => made["ip-addresses"] = json!([address.to_string()]),
        None => {}
    }
    if let Some(file) = &one.file {
        made["option-data"] = json!([boot_file(words, file)]);
    }
    made
}

fn hex(text: &str) -> String {
    text.bytes().fold(String::with_capacity(2 * text.len()), |mut made, byte| {
        let _ = write!(made, "{byte:02x}");
        made
    })
}
