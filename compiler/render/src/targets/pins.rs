//! SONiC hardware with P4Runtime (PINS): the `config_db.json` of each switch, in addition to its table entries.
//!
//! In: a [`DeviceIntent`]. Out: CONFIG_DB as for SONiC, without the settings that a controller writes. Addresses of
//! ports, neighbours and routes are table entries; a row for them would create a second router interface on the same
//! port. Own segments are included, because a controller has no table for them. Invariants: the `id` of a port is the
//! number used in entries; the device id of the switch is 1.

use closc_artefacts::paths;
use closc_plan::DeviceIntent;

use crate::targets::{Target, sonic};
use crate::{Artefact, RenderError, Templates};

/// The target of SONiC hardware with P4Runtime.
pub(super) struct Pins;

impl Target for Pins {
    fn device(&self, intent: &DeviceIntent<'_>, _: &Templates) -> Result<Vec<Artefact>, RenderError> {
        let path = paths::switch(&intent.name, paths::CONFIG_DB);
        Ok(vec![Artefact::new(path, sonic::config_db(intent, sonic::RouteWriter::ByController)?)])
    }
}
