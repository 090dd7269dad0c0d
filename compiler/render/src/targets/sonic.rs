//! SONiC: one `config_db.json` for each switch, and `frr.conf` if it runs BGP.
//!
//! In: a [`DeviceIntent`]. Out: CONFIG_DB as JSON, tables in alphabetical order, ports in natural order. With BGP the
//! routing is in `frr.conf` (`docker_routing_config_mode: split-unified`), which uses the templates of FRR.
//! Invariants: SONiC's own YANG models accept CONFIG_DB. Every table that is written has a model, because SONiC
//! silently skips others. Properties that the models do not check hold by construction: names of ports in routes,
//! lists of equal length, headroom that fits the buffer.
//!
//! `FEATURE`, `COPP`, `VERSIONS` and passwords are omitted, because `config reload` merges this file into the
//! defaults of the image.

mod device;
mod isolation;
mod json;
mod management;
mod neighbours;
mod ports;
mod qos;
mod repeated;
mod routes;
mod segments;
mod view;

use closc_artefacts::paths;
use closc_plan::DeviceIntent;

use self::json::Document;
use self::qos::Qos;
use self::view::View;
use crate::targets::{Target, frr};
use crate::{Artefact, RenderError, Templates};

/// Bytes per port in the file, for the initial capacity.
const BYTES_PER_PORT: usize = 1_536;

/// The SONiC target.
pub struct Sonic;

impl Target for Sonic {
    fn device(&self, intent: &DeviceIntent<'_>, templates: &Templates) -> Result<Vec<Artefact>, RenderError> {
        let path = |file: &str| paths::switch(&intent.name, file);
        let mut artefacts =
            vec![Artefact::new(path(paths::CONFIG_DB), config_db(intent, RouteWriter::ByConfiguration)?)];
        if intent.bgp.is_some() {
            let text = templates.render("sonic/frr.conf.j2", &intent.name, &frr::View::of(intent)?)?;
            artefacts.push(Artefact::new(path(paths::FRR_CONF), text));
        }
        Ok(artefacts)
    }
}

/// Writer of port addresses, neighbours and routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RouteWriter {
    /// CONFIG_DB, or `frr.conf`.
    ByConfiguration,
    /// A controller, over P4Runtime. CONFIG_DB has only the ids of the switch and its ports.
    ByController,
}

/// Writes every table, in alphabetical order.
pub(super) fn config_db(intent: &DeviceIntent<'_>, routed: RouteWriter) -> Result<Vec<u8>, RenderError> {
    let view = &View::of(intent, routed);
    let qos = Qos::of(view)?;
    let out = &mut Document::with_capacity((intent.ports.len() + 8) * BYTES_PER_PORT);
    isolation::rules(out, view);
    isolation::list(out, view);
    isolation::kind(out, view);
    qos.buffer_groups(out);
    qos.buffer_pools(out);
    qos.egress_lists(out);
    qos.ingress_lists(out);
    qos.buffer_profiles(out);
    qos.buffer_queues(out);
    qos.cables(out);
    device::resources(out);
    device::metadata(out, view);
    neighbours::ports(out, view);
    neighbours::devices(out, view);
    qos.code_points(out);
    device::counters(out, view);
    if routed == RouteWriter::ByConfiguration {
        ports::interfaces(out, view);
    }
    management::discovery(out);
    device::loopback(out, view);
    qos.write_pfc_queues(out);
    management::address(out, view);
    management::port(out, view);
    match routed {
        RouteWriter::ByConfiguration => neighbours::addresses(out, view),
        RouteWriter::ByController => device::number(out),
    }
    management::time(out, view);
    management::time_servers(out, view);
    qos.pausing_groups(out);
    qos.watchdog(out);
    ports::ports(out, view);
    qos.port_maps(out);
    qos.queues(out);
    qos.schedulers(out);
    management::inventory(out, view);
    segments::locators(out, view);
    segments::sids(out, view);
    if routed == RouteWriter::ByConfiguration {
        routes::routes(out, view);
    }
    device::write_switch_hash(out, view);
    qos.write_trimming(out);
    management::log_servers(out, view);
    qos.write_tc_to_dscp(out);
    qos.class_groups(out);
    qos.class_queues(out);
    qos.marking(out);
    Ok(out.finish())
}
