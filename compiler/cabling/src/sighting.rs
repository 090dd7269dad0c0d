//! Report of a device about a port.

use closc_qos::units::Speed;

/// A port of the device that reports, and what it sees there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sighting {
    /// The port, as the device names it.
    pub port: String,
    /// Neighbours seen at the other end; several where a hub, or an agent beside the switch, is in between.
    pub neighbours: Vec<Neighbour>,
    /// The speed it runs at, where the report says so.
    pub speed: Option<Speed>,
    /// Whether it is down, where the report says so.
    pub is_down: bool,
}

/// A neighbour in its own words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighbour {
    /// System name (802.1AB section 8.5.6), absent where it does not send one.
    pub system: Option<String>,
    /// Chassis id, often a MAC address.
    pub chassis: Option<String>,
    /// Possible names of its port: port id and port description, in this order.
    pub ports: Vec<String>,
}

impl Neighbour {
    /// Returns the memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let texts = self.ports.iter().chain(&self.system).chain(&self.chassis);
        size_of::<Self>() + texts.map(|text| size_of::<String>() + text.len()).sum::<usize>()
    }

    /// Returns the neighbour as a person would name it.
    pub(crate) fn label(&self) -> String {
        let device = self.system.as_deref().or(self.chassis.as_deref()).unwrap_or("a device without a name");
        match self.ports.first() {
            Some(port) => format!("{device} {port}"),
            None => device.to_owned(),
        }
    }
}
