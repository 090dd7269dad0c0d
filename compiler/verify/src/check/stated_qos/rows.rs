//! Checks complete rows of buffers, marking and trimming. Every field that SONiC accepts must have the stated value, or
//! the value for a fabric without colours and reservations.

use std::collections::{BTreeMap, BTreeSet};

use super::{Difference, PortComparison, differs};

/// Returns all differences from the stated values.
pub(super) fn faults(port: &PortComparison<'_>) -> Vec<Difference> {
    let mut faults = Vec::new();
    faults.extend(trimming_fault(port));
    faults.extend(watchdog_fault(port));
    faults.extend(global_map_fault(port));
    for queue in port.queue_classes().into_keys() {
        faults.extend(reservation_fault(port, &format!("buffer of queue {queue}"), None));
    }
    for (group, class) in port.group_classes() {
        let lossless = class.pauses.is_some();
        let group = format!("buffer of group {group}");
        let own = port.of_port.and_then(|port| port.reserved_bytes).filter(|_| lossless);
        if !lossless || own.is_some() {
            faults.extend(reservation_fault(port, &group, own));
        }
        if lossless {
            faults.extend(resume_faults(port, &group));
        }
    }
    faults.extend(pool_faults(port));
    faults.extend(bound_faults(port));
    faults.extend(marking_faults(port));
    faults.sort_unstable();
    faults.dedup();
    faults
}

/// Returns a field of a row.
pub(super) fn field<'a>(row: &'a str, name: &str) -> Option<&'a str> {
    row.split(' ').find_map(|field| field.strip_prefix(name)?.strip_prefix('='))
}

fn number(row: &str, name: &str) -> Option<u64> {
    field(row, name)?.parse().ok()
}

/// Checks that the size and queue of trimmed packets are those of the platform. Their code point must depend on the
/// class, because it differs at the last hop.
fn trimming_fault(port: &PortComparison<'_>) -> Option<Difference> {
    let stated = port.of_switch?.trimming?;
    port.stated_qos.trimmed?;
    let row = port.qos.settings.get("trimming").map_or("", String::as_str);
    let fits = number(row, "size") == Some(stated.size_bytes)
        && number(row, "queue_index") == Some(stated.queue.into())
        && field(row, "dscp_value") == Some("from-tc");
    (!fits).then(|| {
        let message = format!(
            "is on a switch that trims with `{row}`; the manifest states {} bytes and queue {}",
            stated.size_bytes, stated.queue
        );
        differs("trimming", message)
    })
}

/// Checks that a map exists for packets from ports without their own map, such as the CPU port.
fn global_map_fault(port: &PortComparison<'_>) -> Option<Difference> {
    let row = port.qos.settings.get("PORT_QOS_MAP|global").map_or("", String::as_str);
    let mapped = field(row, "dscp_to_tc_map").is_some();
    let message = "is on a switch that has no map for packets from other ports (`PORT_QOS_MAP|global`)";
    (!mapped).then(|| differs("PORT_QOS_MAP|global", message))
}

/// Checks that exactly the queues with PFC have a watchdog if one is stated, and none otherwise.
fn watchdog_fault(port: &PortComparison<'_>) -> Option<Difference> {
    let paused = port.qos.settings.get("pfc_enable")?;
    let stated = port.of_switch.is_some_and(|own| own.watchdog.is_some());
    let watched = port.qos.settings.get("pfcwd_sw_enable");
    (watched.is_some() != stated || watched.is_some_and(|watched| watched != paused)).then(|| {
        let watched = watched.map_or("nothing", String::as_str);
        differs("pfcwd_sw_enable", format!("pauses queues {paused}, but its watchdog covers {watched}"))
    })
}

/// Checks the bytes reserved for a queue or group: the stated number for lossless groups, otherwise none.
fn reservation_fault(port: &PortComparison<'_>, what: &str, own: Option<u64>) -> Option<Difference> {
    let row = port.qos.settings.get(what).map_or("", String::as_str);
    let found = number(row, "size");
    (found != Some(own.unwrap_or(0))).then(|| {
        let found = field(row, "size").unwrap_or("nothing");
        differs(what, format!("reserves {found} as {what}; the manifest states {}", own.unwrap_or(0)))
    })
}

/// Checks the threshold at which a paused group resumes.
fn resume_faults(port: &PortComparison<'_>, group: &str) -> Option<Difference> {
    let (xon, offset) = port.of_port?.resumes?;
    let row = port.qos.settings.get(group)?;
    let fits = number(row, "xon") == Some(xon)
        && number(row, "xoff") == port.of_port?.headroom_bytes
        && field(row, "xon_offset").map(|text| text.parse().ok()) == offset.map(Some);
    (!fits).then(|| {
        let message =
            format!("resumes at `{row}` in {group}; the manifest states {xon} with offset {offset:?}");
        differs(group, message)
    })
}

/// Checks the type, mode and size of the pools that queues and groups use.
fn pool_faults(port: &PortComparison<'_>) -> Vec<Difference> {
    let Some(own) = port.of_switch else { return Vec::new() };
    let lossless = port.stated_qos.classes.iter().any(|class| class.pauses.is_some());
    let rows = &port.qos.settings;
    let paused: BTreeSet<&str> = port
        .queue_classes()
        .into_iter()
        .filter(|(_, class)| class.pauses.is_some())
        .filter_map(|(queue, _)| field(rows.get(&format!("buffer of queue {queue}"))?, "pool"))
        .collect();
    let mut faults = Vec::new();
    for (what, row) in rows {
        let kind = match what {
            what if what.starts_with("buffer of queue ") => "egress",
            what if what.starts_with("buffer of group ") => "ingress",
            _ => continue,
        };
        let Some(name) = field(row, "pool") else {
            faults.push(differs(what.as_str(), format!("has no pool for {what}")));
            continue;
        };
        let pool = port.qos.buffer_settings.get(&format!("pool {name}")).map_or("", String::as_str);
        let fixed = kind == "egress" && lossless && own.lossless_queue_bytes.is_some();
        let mode = if fixed { "static" } else { "dynamic" };
        let size = port.remaining_buffer.map(|room| match kind {
            // Accepted packets must not be dropped at egress.
            "egress" if fixed || paused.contains(name) => (room.total(), None),
            "ingress" if lossless => (room.shared_pool(), Some(room.headroom())),
            _ => (room.shared_pool(), None),
        });
        let fits = field(pool, "type") == Some(kind)
            && field(pool, "mode") == Some(mode)
            && size.is_none_or(|(size, xoff)| {
                number(pool, "size") == Some(size) && number(pool, "xoff") == xoff
            });
        if !fits {
            let size = size.map(|(size, xoff)| {
                let xoff = xoff.map_or(String::new(), |xoff| format!(" and {xoff} of headroom"));
                format!(", of {size} bytes{xoff}")
            });
            let size = size.unwrap_or_default();
            let message = format!("has `{pool}` as pool of {what}; expected {mode} and {kind}{size}");
            faults.push(differs(format!("pool {name}"), message));
        }
    }
    faults
}

/// Checks port limits in pools: nearly the complete pool if the ASIC has such limits, otherwise none.
fn bound_faults(port: &PortComparison<'_>) -> Vec<Difference> {
    let Some(buffer) = port.of_switch.and_then(|own| own.buffer) else { return Vec::new() };
    let used: BTreeSet<&str> = port
        .qos
        .settings
        .iter()
        .filter(|(what, _)| what.starts_with("buffer of "))
        .filter_map(|(_, row)| field(row, "pool"))
        .filter(|_| buffer.bounds_ports)
        .collect();
    let found =
        port.qos.settings.iter().filter_map(|(what, row)| Some((what.strip_prefix("quota of pool ")?, row)));
    let found: BTreeMap<&str, &String> = found.collect();
    let mut faults = Vec::new();
    for pool in used.iter().copied().chain(found.keys().copied()) {
        let meant = format!("dynamic_th=7 pool={pool} size=0");
        let own = found.get(pool).map_or("nothing", |row| row.as_str());
        if !buffer.bounds_ports || own != meant {
            let meant = if buffer.bounds_ports { &*meant } else { "nothing" };
            let message = format!("may use `{own}` of pool `{pool}`; expected `{meant}`");
            faults.push(differs(format!("quota of pool {pool}"), message));
        }
    }
    faults
}

/// Checks that all colours are marked equally, because the fabric does not use colours.
fn marking_faults(port: &PortComparison<'_>) -> Vec<Difference> {
    let rows = |queue: u8| {
        let name = format!("wred_profile of queue {queue}");
        Some((port.qos.settings.get(&name)?, port.qos.buffer_settings.get(&name).map_or("", String::as_str)))
    };
    let marked = port.of_port.into_iter().flat_map(|port| &port.marks);
    let drops = |queue: &u8| port.of_port.is_none_or(|port| !port.marks_alone.contains(queue));
    let fault = |(queue, (_, _, probability)): (&u8, &(u64, u64, u64))| {
        let (fixed, sized) = rows(*queue)?;
        let drops = drops(queue);
        let meant = format!(
            "ecn=ecn_all green_drop_probability={probability} red_drop_probability={probability} \
             wred_green_enable={drops} wred_red_enable={drops} wred_yellow_enable={drops} \
             yellow_drop_probability={probability}"
        );
        let alike = ["min", "max"].iter().all(|end| {
            let of = |colour: &str| number(sized, &format!("{colour}_{end}_threshold"));
            of("green").is_some() && of("red") == of("green") && of("yellow") == of("green")
        });
        (*fixed != meant || !alike).then(|| {
            let message =
                format!("marks queue {queue} with `{fixed} {sized}`; expected equal marking of all colours");
            differs(format!("wred_profile of queue {queue}"), message)
        })
    };
    marked.filter_map(fault).collect()
}
