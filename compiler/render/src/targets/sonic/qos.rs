//! Quality of service of a switch, table by table.
//!
//! In: a view and what the plan worked out. Out: [`Qos`], whose files write one group of tables each. Invariants: ports
//! of one kind are given the same, so their rows are written once and repeated; ports without a cable are given
//! nothing.

mod buffers;
mod maps;
mod pfc;
mod queues;

use std::collections::BTreeMap;

use closc_plan::{PortKind, SwitchQos};
use closc_qos::Place;
use closc_qos::codes::Queue;
use closc_qos::profile::{Class, Profile};

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

    /// Returns the one queue that packets trimmed here take, where the platform lets nobody choose it.
    fn trim_queue(&self) -> Option<Queue> {
        self.profile.trimming()?;
        self.view.intent.platform.trim_queue(&self.view.intent.hardware)
    }

    /// Returns the queues that packets are sent to and the class of each, rising: those of the profile, and the
    /// platform's own for packets trimmed here. Past the unicast queues nothing is set: SONiC has no rows for them.
    fn queues_in_use(&self) -> BTreeMap<Queue, &Class> {
        let mut queues: BTreeMap<Queue, &Class> =
            self.profile.queues().into_iter().map(|(queue, classes)| (queue, classes[0])).collect();
        let trimmed = self.profile.trimming().and_then(|trimming| self.profile.class(&trimming.class));
        if let (Some(queue), Some(class)) =
            (self.trim_queue().filter(|queue| queue.get() <= Queue::UNICAST_MAX), trimmed)
        {
            queues.entry(queue).or_insert(class);
        }
        queues
    }

    fn kinds(&self) -> &[PortKind] {
        &self.switch.kinds
    }

    /// Returns the name and the kind of each port with a cable, in order.
    fn ports(&self) -> impl Iterator<Item = (&str, usize)> + Clone {
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
