//! The ports of a SONiC switch as P4Runtime controllers identify them: by the `id` in CONFIG_DB.
//!
//! In: the live and the wanted CONFIG_DB of a switch. Out: [`PortMoves`], and the moment when the daemons have every
//! port. Invariants: entries may name a port that has an id and is admin up; whether it is operationally up also
//! depends on the other end.

use std::collections::BTreeMap;

use closc_sonic::{ConfigDb, Method, StateFault};

use super::SonicSwitch;
use crate::dependents::PortIds;
use crate::event::EventKind;
use crate::fault::{Fault, Operation};
use crate::options::PushOptions;
use crate::progress::Progress;

/// Ports listed by name in messages.
const NAMED: usize = 4;

/// Effect of a change on the ports that entries may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PortMoves {
    /// Ids that are removed, or move to another port.
    pub(crate) removed_ids: PortIds,
    /// Ids that are added, or move to another port.
    pub(crate) added_ids: PortIds,
    /// Whether the switch has a device id, without which it accepts no controller.
    pub(crate) has_number: bool,
    /// Whether all daemons restart, so that no entry is left.
    pub(crate) is_reload: bool,
}

/// Returns whether a switch has a P4Runtime device id.
pub(super) fn has_number(config: &ConfigDb) -> bool {
    config.table("NODE_CFG").values().any(|entry| entry.contains_key("node-id"))
}

/// Returns the ports that entries may name, by id: those that are enabled.
fn by_id(config: &ConfigDb) -> BTreeMap<&str, &str> {
    let ports = config.table("PORT").keys().map(String::as_str);
    let on = ports.filter(|port| config.text("PORT", port, "admin_status") == Some("up"));
    on.filter_map(|port| Some((config.text("PORT", port, "id")?, port))).collect()
}

/// Returns the ids of one configuration that are missing in the other, or belong to another port there.
fn missing_ids(of: &ConfigDb, other: &ConfigDb) -> PortIds {
    let other = by_id(other);
    let gone = by_id(of).into_iter().filter(|(id, port)| other.get(id) != Some(port));
    gone.map(|(id, _)| id.to_owned()).collect()
}

impl SonicSwitch {
    /// Reads the switch and returns the effect of a push on its ports.
    pub(crate) async fn moves(&self, options: &PushOptions, progress: &Progress) -> Result<PortMoves, Fault> {
        self.resolve(options, progress).await?;
        let tree = self.target_config().await?;
        let held = self.read_config(&tree, options, progress).await?;
        let change = self.change(&held, &tree)?;
        Ok(PortMoves {
            removed_ids: missing_ids(&held, &change.target),
            added_ids: missing_ids(&change.target, &held),
            has_number: has_number(&held),
            is_reload: matches!(change.method, Method::Reload { .. }),
        })
    }

    /// Waits, within the timeout of a switch, until its daemons have every port that entries may name.
    pub(crate) async fn until_there(&self, options: &PushOptions, progress: &Progress) -> Result<(), Fault> {
        let tree = self.target_config().await?;
        let mut n_looks = 0;
        let mut said = Vec::new();
        loop {
            let missing = match self.absent(&tree, options, progress).await {
                Ok(missing) => missing,
                // The daemons restart after a reload.
                Err(fault) if fault.is_transient() => {
                    tokio::time::sleep(options.pause.wait(n_looks)).await;
                    n_looks += 1;
                    continue;
                }
                Err(fault) => return Err(fault),
            };
            if missing.is_empty() {
                return Ok(());
            }
            progress.begin(Operation::Waiting { condition: list_ports(&missing) });
            if missing != said {
                progress.report(EventKind::Waiting { ports: missing.clone() });
                said = missing;
            }
            tokio::time::sleep(options.pause.wait(n_looks)).await;
            n_looks += 1;
        }
    }

    /// Returns the ports with an id that the daemons do not have.
    async fn absent(
        &self,
        tree: &ConfigDb,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<Vec<String>, Fault> {
        let faults = self.state(tree, options, progress).await?;
        let known = by_id(tree);
        let absent = faults.into_iter().filter_map(|fault| match fault {
            StateFault::Port { port, status: None } => known.values().any(|p| **p == *port).then_some(port),
            StateFault::Port { status: Some(_), .. }
            | StateFault::Route { .. }
            | StateFault::Segment { .. }
            | StateFault::Buffer { .. }
            | StateFault::ResourceLimit { .. }
            | StateFault::Pauses { .. }
            | StateFault::AccessList { .. }
            | StateFault::Neighbour { .. }
            | StateFault::Blind { .. } => None,
        });
        Ok(absent.collect())
    }
}

fn list_ports(ports: &[String]) -> String {
    let more = ports.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more} in PORT_TABLE", ports[..ports.len().min(NAMED)].join(", "))
}
