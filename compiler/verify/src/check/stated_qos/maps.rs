//! Checks that the maps between code points, classes, queues and groups are as stated. Trimmed packets must use the
//! queue of the class that their code point maps to.

use std::collections::BTreeMap;

use super::{Difference, PortComparison, differs};
use crate::model::stated::StatedClass;

/// Returns all differences from the stated values.
pub(super) fn faults(port: &PortComparison<'_>) -> Vec<Difference> {
    let mut faults = Vec::new();
    let mut expect = |map: &BTreeMap<u8, u8>, from: u8, to: u8, [name, what, which]: [&str; 3]| {
        if map.get(&from) != Some(&to) {
            let found = map.get(&from).map_or("nothing".to_owned(), u8::to_string);
            faults.push(differs(
                name,
                format!("maps {what} {from} to {which} {found}; the manifest states {to}"),
            ));
        }
    };
    let trimmed = trim_class(port);
    for class in &port.stated_qos.classes {
        expect(&port.qos.class_to_queue, class.tc, class.queue, ["tc_to_queue_map", "class", "queue"]);
        expect(&port.qos.class_to_group, class.tc, class.group, ["tc_to_pg_map", "class", "group"]);
        if let Some(priority) = class.pauses {
            expect(&port.qos.pause_queues, priority, class.queue, ["pfc_to_queue_map", "pause", "queue"]);
        }
    }
    if let Some((tc, class)) = trimmed {
        expect(&port.qos.class_to_queue, tc, class.queue, ["tc_to_queue_map", "class", "queue"]);
        expect(&port.qos.class_to_group, tc, class.group, ["tc_to_pg_map", "class", "group"]);
    }
    let own = |tc: &u8| port.stated_qos.classes.iter().any(|class| class.tc == *tc);
    let strange = |map: &BTreeMap<u8, u8>| {
        map.keys().find(|tc| !own(tc) && trimmed.map(|(own, _)| own) != Some(**tc)).copied()
    };
    let maps = [("tc_to_queue_map", &port.qos.class_to_queue), ("tc_to_pg_map", &port.qos.class_to_group)];
    for (name, map) in maps {
        let message = |tc| differs(name, format!("maps class {tc}, which is not in the manifest"));
        faults.extend(strange(map).map(message));
    }
    if let Some((tc, _)) = trimmed.filter(|(tc, _)| own(tc)) {
        let message = format!("gives trimmed packets class {tc}, which other packets have");
        faults.push(differs("trimming", message));
    }
    faults
}

/// Returns the traffic class of trimmed packets, and the class that their code point maps to.
fn trim_class<'a>(port: &PortComparison<'a>) -> Option<(u8, &'a StatedClass)> {
    let (dscp, _) = port.stated_qos.trimmed?;
    let tc = port.stated_qos.dscp.get(usize::from(dscp))?;
    let class = port.stated_qos.classes.iter().find(|class| class.tc == *tc)?;
    let given = super::rows::field(port.qos.settings.get("trimming")?, "tc_value")?;
    Some((given.parse().ok()?, class))
}
