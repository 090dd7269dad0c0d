//! Start options of the agent of each NIC, `closc/nic0.env` and so on.
//!
//! In: the intent of a node. Out: a file per NIC, which `closc-nic run --settings` and the systemd unit read.
//! Invariants: DSCPs come from the profile of the switches, by the same rule as in labs. Without path tables, no
//! files are written.

use closc_artefacts::path_table::{AgentCodes, Qos};
use closc_artefacts::paths;
use serde::Serialize;

use super::Files;
use crate::path_table;
use crate::{Artefact, RenderError};

/// Prometheus port of the agent of the first NIC. Other NICs have the next ports.
const METRICS: u16 = 9750;
/// Folder of the files on the node.
const FOLDER: &str = "/etc/closc";

#[derive(Serialize)]
struct View {
    name: String,
    fabric: String,
    profile: String,
    /// Path below the folder, as in the tree.
    table: String,
    address: String,
    ports: String,
    metrics: u16,
    data: u8,
    again: u8,
    control: u8,
    cut_at_last_hop: Option<u8>,
    folder: &'static str,
    unit: String,
}

pub(super) fn render(files: &Files<'_>) -> Result<Vec<Artefact>, RenderError> {
    let intent = files.intent;
    if !intent.routing.is_source_routed() {
        return Ok(Vec::new()); // W0903 reports this.
    }
    let qos: Qos = path_table::qos_of(intent.qos, intent.payload_mtu);
    let AgentCodes { data, retransmit: again, control, cut_at_last_hop } = qos.agent_codes();
    let of_nic = |nic: &closc_plan::NicIntent| {
        let zone = intent.has_t2.then_some(nic.nic.zone.0);
        let [_, table] = paths::path_table(zone, nic.nic.group + 1);
        let view = View {
            name: nic.name.to_string(),
            fabric: intent.fabric.to_owned(),
            profile: intent.qos.name().to_string(),
            table: table.to_string(),
            address: nic.address.to_string(),
            ports: format!("nic{}p{{plane}}", nic.number),
            metrics: METRICS + u16::from(nic.number),
            data,
            again,
            control,
            cut_at_last_hop,
            folder: FOLDER,
            unit: format!("nic{}", nic.number),
        };
        files.text(&format!("closc/nic{}.env", nic.number), "nic.env.j2", &view)
    };
    intent.nics.iter().map(of_nic).collect()
}
