//! `dhcpd.conf` and `dhcpd6.conf` of ISC dhcpd.
//!
//! In: networks and reservations. Out: statements that the server accepts as they are, or that a site
//! includes in its own configuration. Invariants: quoted texts do not contain quotes or backslashes, because
//! these do not occur in addresses, names and products.

use std::fmt::Write as _;
use std::net::IpAddr;

use closc_render::Artefact;
use ipnet::IpNet;

use super::{Dhcp, Identifier, Network, Reservation, USER_CLASS};

/// Differences between IPv4 and IPv6.
struct Keywords {
    file: &'static str,
    boot_file: &'static str,
    user_class: &'static str,
    /// Definition of the option for the user class, if dhcpd has no name for it.
    definition: &'static str,
    /// Size in bytes of the length field before the user class, if a client sends one.
    length: u8,
}

const V4: Keywords = Keywords {
    file: "ztp/dhcpd.conf",
    boot_file: "bootfile-name",
    user_class: "user-class",
    definition: "",
    length: 1,
};

const V6: Keywords = Keywords {
    file: "ztp/dhcpd6.conf",
    boot_file: "dhcp6.bootfile-url",
    user_class: "dhcp6.user-class",
    definition: "option dhcp6.user-class code 15 = string;\n\n",
    length: 2,
};

pub(super) fn render(dhcp: &Dhcp) -> Artefact {
    let words = if dhcp.is_v6() { &V6 } else { &V4 };
    let mut text = String::new();
    if let Some(file) = &dhcp.file {
        let (option, length) = (words.user_class, USER_CLASS.len());
        let at = |place: u8| format!("substring (option {option}, {place}, {length}) = \"{USER_CLASS}\"");
        text.push_str(words.definition);
        let _ = write!(
            text,
            "class \"sonic-ztp\" {{\n  match if {}\n    or {};\n  option {} \"{file}\";\n}}\n\n",
            at(0),
            at(words.length),
            words.boot_file
        );
    }
    for network in &dhcp.networks {
        subnet(&mut text, *network);
    }
    for one in dhcp.known_reservations() {
        host(&mut text, words, one);
    }
    Artefact::new(words.file, text)
}

fn subnet(text: &mut String, network: Network) {
    let _ = match (network.pool, network.gateway) {
        (IpNet::V4(pool), IpAddr::V4(gateway)) => {
            let (address, mask) = (pool.network(), pool.netmask());
            write!(text, "subnet {address} netmask {mask} {{\n  option routers {gateway};\n}}\n\n")
        }
        (pool, _) => write!(text, "subnet6 {} {{\n}}\n\n", pool.trunc()),
    };
}

fn host(text: &mut String, words: &Keywords, one: &Reservation) {
    let name = &one.name;
    let _ = writeln!(text, "host {name} {{");
    let _ = match &one.identifier {
        Identifier::Mac(mac) => writeln!(text, "  hardware ethernet {mac};"),
        Identifier::Client(id) => writeln!(text, "  option dhcp-client-identifier \"{id}\";"),
    };
    let _ = match one.address.map(|own| own.addr()) {
        Some(IpAddr::V4(address)) => writeln!(text, "  fixed-address {address};"),
        Some(IpAddr::V6(address)) => writeln!(text, "  fixed-address6 {address};"),
        None => Ok(()),
    };
    if words.file == V4.file {
        let _ = writeln!(text, "  option host-name \"{name}\";");
    }
    if let Some(file) = &one.file {
        let _ = writeln!(text, "  option {} \"{file}\";", words.boot_file);
    }
    text.push_str("}\n");
}
