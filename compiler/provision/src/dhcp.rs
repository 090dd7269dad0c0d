//! DHCP data for new switches: their address, and the URL of their `ztp.json`.
//!
//! In: the management networks, and a reservation for each switch. Out: files for Kea and ISC dhcpd, for the
//! IP version of the networks. Invariants: only SONiC's zero touch provisioning receives the URL of the
//! common `ztp.json`. DHCP assigns a switch the address in its configuration, so that it remains reachable at
//! that address.

mod isc;
mod kea;

use std::collections::BTreeSet;
use std::net::IpAddr;

use closc_plan::Mac;
use closc_render::Artefact;
use ipnet::IpNet;

/// User class of `sonic-ztp` (option 77, in DHCPv6 option 15). The client sends only the text. RFC 3004
/// requires a one-byte length before it, and RFC 8415 a two-byte length, so the text is also matched after
/// such a length.
const USER_CLASS: &str = "SONiC-ZTP";

/// A network for management ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Network {
    /// Addresses of the network.
    pub pool: IpNet,
    /// Gateway of the network.
    pub gateway: IpAddr,
}

/// A property by which a switch is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identifier {
    /// The MAC address of the management port.
    Mac(Mac),
    /// The client identifier that `sonic-ztp` sends (option 61), made of product and serial number.
    Client(String),
}

impl Identifier {
    /// Returns the identifier of a switch of this hardware. `None` if the site's hardware list has neither a
    /// MAC address, nor a product with a serial number.
    pub fn of(hardware: &crate::hardware::Hardware) -> Option<Self> {
        let client = || {
            let (product, serial) = (hardware.product.as_ref()?, hardware.serial.as_ref()?);
            Some(Identifier::Client(format!("SONiC##{product}##{serial}")))
        };
        hardware.mac.map(Identifier::Mac).or_else(client)
    }
}

/// Settings of one switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// Name of the switch.
    pub name: String,
    /// The value by which DHCP recognises the switch.
    pub identifier: Identifier,
    /// Management address with prefix length, if the fabric has management addresses.
    pub address: Option<IpNet>,
    /// URL of the switch's own `ztp.json`. Set if the serial number is unknown, because the common one then cannot
    /// redirect to it.
    pub file: Option<String>,
}

/// Data for the DHCP servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dhcp {
    /// The network of `addresses.management`, and those of the addresses in `addresses.management_list`. They
    /// do not overlap.
    pub networks: BTreeSet<Network>,
    /// URL of the common `ztp.json` of all switches, if there is one.
    pub file: Option<String>,
    /// Reservations of the switches that DHCP can recognise.
    pub reservations: Vec<Reservation>,
}

impl Dhcp {
    /// Returns whether the management network uses IPv6.
    fn is_v6(&self) -> bool {
        self.networks.first().is_some_and(|network| network.pool.addr().is_ipv6())
    }

    /// Returns the reservations whose identifier this protocol supports. In DHCPv6, a switch generates its
    /// client identifier itself, so only MAC addresses identify it.
    fn known_reservations(&self) -> impl Iterator<Item = &Reservation> {
        let is_v6 = self.is_v6();
        self.reservations.iter().filter(move |one| !is_v6 || matches!(one.identifier, Identifier::Mac(_)))
    }

    /// Returns the number of switches with a reservation that this IP version supports.
    pub fn n_known(&self) -> usize {
        self.known_reservations().count()
    }

    /// Writes the files.
    pub fn render(&self) -> [Artefact; 2] {
        [kea::render(self), isc::render(self)]
    }
}
