//! Quality of service of a switch, table by table.
//!
//! In: a view and the values computed by the plan. Out: [`Qos`]. Each file of the module writes one group of tables.
//! Invariants: ports of one kind have equal settings, so their rows are built once and reused. Ports without a cable
//! have no settings.

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
    /// Creates the [`Qos`] of a switch from the values of the plan.
    pub(super) fn of(view: &'a View<'a>) -> Result<Self, RenderError> {
        let fault = |source| RenderError::Qos { device: view.intent.name.to_string(), source };
        let switch = SwitchQos::of(view.intent).map_err(fault)?;
        Ok(Qos { view, profile: view.intent.qos, switch })
    }

    /// Returns the name of the profile's maps.
    fn name(&self) -> &str {
        self.profile.name().as_str()
    }

    /// Returns the queue of packets trimmed here, if the platform has a fixed one.
    fn trim_queue(&self) -> Option<Queue> {
        self.profile.trimming()?;
        self.view.intent.platform.trim_queue(&self.view.intent.hardware)
    }

    /// Returns the queues in use, in ascending order, with their classes. These are the queues of the profile, and
    /// the platform's queue for packets trimmed here. Only unicast queues are included, because SONiC has no rows for
    /// others.
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

    /// Returns whether ports use PFC: the profile has lossless classes, and the platform has a buffer for their
    /// headroom.
    fn pauses(&self) -> bool {
        self.profile.is_lossless() && self.switch.buffers.is_some()
    }
}

/// Returns the keyword for a [`Place`] in names of tables.
fn keyword(place: Place) -> &'static str {
    match place {
        Place::LastHop => "last-hop",
        Place::Edge => "edge",
        Place::Fabric => "fabric",
    }
}
