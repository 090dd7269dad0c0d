//! DHCP data for new switches: their address, and the URL of their `ztp.json`.
//!
//! In: the management networks, a reservation for each switch. Out: files of Kea and of ISC dhcpd, of the version of
//! IP that the networks have. Invariants: only SONiC's zero touch provisioning receives the URL of the common
//! `ztp.json`. DHCP gives a switch the address that is in its configuration, so that it remains reachable there.

mod isc;
mod kea;

use std::collections::BTreeSet;
use std::net::IpAddr;

use closc_plan::Mac;
use closc_render::Artefact;
use ipnet::IpNet;

/// User class of `sonic-ztp` (option 77, in DHCPv6 option 15). The client sends the bare text. RFC 3004 requires a
/// length of one byte before it, RFC 8415 of two, so the text is also matched after such a length.
const USER_CLASS: &str = "SONiC-ZTP";

/// A network of management ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Network {
    /// Its addresses.
    pub pool: IpNet,
    /// Its gateway.
    pub gateway: IpAddr,
}

/// Properties that distinguish a switch from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identifier {
    /// The MAC address of the management port.
    Mac(Mac),
    /// The client identifier that `sonic-ztp` sends (option 61), made of product and serial number.
    Client(String),
}

impl Identifier {
    /// Returns the identifier of a switch of this hardware; `None` if the list does not have enough data.
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
    /// Its name.
    pub name: String,
    /// The value by which DHCP recognises it.
    pub identifier: Identifier,
    /// Its management address with the length of its network, where the fabric has such.
    pub address: Option<IpNet>,
    /// Its own `ztp.json`, if the common one does not lead to it.
    pub file: Option<String>,
}

/// Data for the DHCP servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dhcp {
    /// The management networks of the fabric, which do not overlap: the pool, and those of listed ports.
    pub networks: BTreeSet<Network>,
    /// The `ztp.json` of all switches, where there is one.
    pub file: Option<String>,
    /// The switches that DHCP can distinguish from others.
    pub reservations: Vec<Reservation>,
}

impl Dhcp {
    /// Returns whether the management network is one of IPv6.
    fn is_v6(&self) -> bool {
        self.networks.first().is_some_and(|network| network.pool.addr().is_ipv6())
    }

    /// Returns the reservations whose identifier this protocol has. In DHCPv6, a switch generates its identifier
    /// itself.
    fn known_reservations(&self) -> impl Iterator<Item = &Reservation> {
        let is_v6 = self.is_v6();
        self.reservations.iter().filter(move |one| !is_v6 || matches!(one.identifier, Identifier::Mac(_)))
    }

    /// Returns how many switches have a reservation.
    pub fn n_known(&self) -> usize {
        self.known_reservations().count()
    }

    /// Writes the files.
    pub fn render(&self) -> [Artefact; 2] {
        [kea::render(self), isc::render(self)]
    }
}
