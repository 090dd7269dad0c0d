//! PFC: the priorities for which it is enabled in the chip.
//!
//! In: `PORT_QOS_MAP` of a configuration, ports of ASIC_DB and their names from COUNTERS_DB. Out: faults. Invariants:
//! if ASIC_DB was not read, nothing is compared. orchagent copies that table to no other database, so only ASIC_DB has
//! the result.

use super::{StateFault, SwitchDatabases};
use crate::config_db::ConfigDb;

/// The attribute of a port: a bit mask of priorities.
const PRIORITIES: &str = "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL";

/// The same for the sending direction, if the directions differ.
const SENT: &str = "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_TX";

/// The mode: whether the directions differ.
const MODE: &str = "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_MODE";

/// Finds ports whose PFC priorities differ from the configuration.
pub(super) fn faults(config: &ConfigDb, applied: &SwitchDatabases<'_>, faults: &mut Vec<StateFault>) {
    for port in config.table("PORT_QOS_MAP").keys() {
        let Some(attributes) = applied.chip_port(port) else { continue };
        let text = |name: &str| attributes.get(name).map(ToString::to_string);
        let is_separate = text(MODE).is_some_and(|mode| mode.ends_with("_SEPARATE"));
        let live = text(if is_separate { SENT } else { PRIORITIES });
        let live = live.and_then(|bits| bits.parse().ok()).unwrap_or(0);
        let wanted = config.text("PORT_QOS_MAP", port, "pfc_enable").unwrap_or_default();
        let numbers = wanted.split(',').filter_map(|number| number.trim().parse::<u32>().ok());
        let wanted = numbers.filter(|number| *number < 8).fold(0_u8, |bits, number| bits | 1 << number);
        if live != wanted {
            faults.push(StateFault::Pauses { port: port.clone(), expected: wanted, live });
        }
    }
}
