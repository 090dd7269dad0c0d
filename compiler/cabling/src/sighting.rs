//! Neighbour report of a device about one port.

use closc_qos::units::Speed;

/// A port of the reporting device, and its neighbours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sighting {
    /// The port, in the naming of the device.
    pub port: String,
    /// Neighbours at the other end. There are several if a hub or another agent is connected.
    pub neighbours: Vec<Neighbour>,
    /// The current speed, if the report contains it.
    pub speed: Option<Speed>,
    /// Whether the port is reported down.
    pub is_down: bool,
}

/// A neighbour, as it describes itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighbour {
    /// System name (802.1AB section 8.5.6), if it sends one.
    pub system: Option<String>,
    /// Chassis id, often a MAC address.
    pub chassis: Option<String>,
    /// Possible names of its port: port id and port description, in this order.
    pub ports: Vec<String>,
}

impl Neighbour {
    /// Returns the memory of the neighbour, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let texts = self.ports.iter().chain(&self.system).chain(&self.chassis);
        size_of::<Self>() + texts.map(|text| size_of::<String>() + text.len()).sum::<usize>()
    }

    /// Returns the best available name of the neighbour.
    pub(crate) fn label(&self) -> String {
        let device = self.system.as_deref().or(self.chassis.as_deref()).unwrap_or("a device without a name");
        match self.ports.first() {
            Some(port) => format!("{device} {port}"),
            None => device.to_owned(),
        }
    }
}
