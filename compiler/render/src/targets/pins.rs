//! SONiC hardware with P4Runtime (PINS): the `config_db.json` beside the table entries of each switch.
//!
//! In: a [`DeviceIntent`]. Out: CONFIG_DB as that of SONiC, without what a controller writes: addresses of ports, neighbours and
//! routes are entries, and a row for them here would make a second router interface of the same port. Own segments are here,
//! as a controller has no table for them. Invariants: `id` of a
//! port is the number that entries name it by; the switch is device 1 to its controllers.

use closc_artefacts::paths;
use closc_plan::DeviceIntent;

use crate::targets::{Target, sonic};
use crate::{Artefact, RenderError, Templates};

/// The target of SONiC hardware with P4Runtime.
pub(super) struct Pins;

impl Target for Pins {
    fn device(&self, intent: &DeviceIntent<'_>, _: &Templates) -> Result<Vec<Artefact>, RenderError> {
        let path = paths::switch(&intent.name, paths::CONFIG_DB);
        Ok(vec![Artefact::new(path, sonic::config_db(intent, sonic::Routed::ByController)?)])
    }
}
