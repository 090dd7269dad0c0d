//! Quality of service of a switch, table by table.
//!
//! In: a view and what the plan worked out. Out: [`Qos`], whose files write one group of tables each. Always: ports
//! of one kind are told the same, so their rows are written once and repeated; ports without a cable are told
//! nothing.

mod buffers;
mod maps;
mod pfc;
mod queues;

use closc_plan::{PortKind, SwitchQos};
use closc_qos::profile::Profile;
use closc_qos::profile::maps::Place;

use super::view::View;
use crate::RenderError;

/// Quality of service of a switch.
pub(super) struct Qos<'a> {
    view: &'a View<'a>,
    profile: &'a Profile,
    switch: SwitchQos,
}

impl<'a> Qos<'a> {
    /// Takes what the plan works out for the switch.
    pub(super) fn of(view: &'a View<'a>) -> Result<Self, RenderError> {
        let fault = |source| RenderError::Qos { device: view.intent.name.to_string(), source };
        let switch = SwitchQos::of(view.intent).map_err(fault)?;
        Ok(Qos { view, profile: view.intent.qos, switch })
    }

    /// The name of the profile's maps.
    fn name(&self) -> &str {
        self.profile.name().as_str()
    }

    fn kinds(&self) -> &[PortKind] {
        &self.switch.kinds
    }

    /// Returns the name and the kind of each port with a cable, in order.
    fn ports(&self) -> impl Iterator<Item = (&str, usize)> {
        self.view.ports.iter().filter_map(|port| Some((port.name, self.switch.ports[port.index]?)))
    }

    /// Says whether ports pause: the profile has lossless classes and the target has a buffer to pause for.
    fn pauses(&self) -> bool {
        self.profile.is_lossless() && self.switch.buffers.is_some()
    }
}

/// Returns the word for a place in names of tables.
fn word(place: Place) -> &'static str {
    match place {
        Place::LastHop => "last-hop",
        Place::Edge => "edge",
        Place::Fabric => "fabric",
    }
}
