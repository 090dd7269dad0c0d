//! Quality of service of a switch, worked out once and then written table by table.
//!
//! In: a view and its profile. Out: [`Qos`], whose files write one group of tables each. Always: everything is
//! read off the one profile that the hosts are rendered from; ports that are alike in place, speed, cable, lanes
//! and MTU are told the same; ports without a cable are told nothing.

mod buffers;
mod kinds;
mod maps;
mod pfc;
mod queues;

use closc_qos::profile::Profile;

use self::buffers::Buffers;
use self::kinds::Kinds;
use self::queues::Marks;
use super::view::View;
use crate::RenderError;

/// Quality of service of a switch.
pub(super) struct Qos<'a> {
    view: &'a View<'a>,
    profile: &'a Profile,
    kinds: Kinds,
    /// Absent on targets without a packet buffer of their own, which neither mark nor pause.
    buffers: Option<Buffers>,
    marks: Marks,
}

impl<'a> Qos<'a> {
    /// Works out buffers and thresholds.
    pub(super) fn of(view: &'a View<'a>) -> Result<Self, RenderError> {
        let profile = view.intent.qos;
        let kinds = Kinds::of(view);
        let fault = |source| RenderError::Qos { device: view.intent.name.to_string(), source };
        let buffer = view.intent.platform.buffer.as_ref();
        let buffers = buffer.map(|buffer| Buffers::of(profile, buffer, &kinds)).transpose().map_err(fault)?;
        let marks = buffers.as_ref().map(|buffers| Marks::of(view, &kinds, buffers)).transpose().map_err(fault)?;
        Ok(Qos { view, profile, kinds, buffers, marks: marks.unwrap_or_default() })
    }
}
