//! The device itself: `DEVICE_METADATA`, `LOOPBACK_INTERFACE`, `SWITCH_HASH`, `CRM` and `FLEX_COUNTER_TABLE`.
//!
//! In: a view. Out: rows. Invariants: each tier has its own `type`, because SONiC derives its hash seed from it.

use closc_artefacts::{Prefix, Routing};
use closc_topology::TierId;

use super::json::Document;
use super::view::View;

/// Returns SONiC's device type for a tier.
///
/// `switch.json.j2` sets the seeds of the ECMP and LAG hashes from it: `ToRRouter` 0, `LeafRouter` 10, any type that
/// contains `SpineRouter` 25. Two tiers of one type would hash equally and leave half of the links unused.
pub(super) fn kind(tier: TierId) -> &'static str {
    match tier {
        TierId::T0 => "ToRRouter",
        TierId::T1 => "LeafRouter",
        TierId::T2 => "SpineRouter",
    }
}

/// Writes `DEVICE_METADATA`.
pub(super) fn metadata(document: &mut Document, view: &View<'_>) {
    let intent = view.intent;
    document.table("DEVICE_METADATA", |table| {
        table.row(&["localhost"], |row| {
            // With `bgp_asn` set, bgpcfgd redistributes static routes into BGP, so it is omitted without BGP.
            if let Some(asn) = intent.system.asn {
                row.number("bgp_asn", asn);
            }
            // All buffers are written, so the switch does not compute any.
            row.text("buffer_model", "traditional");
            row.text("cluster", intent.fabric);
            row.text("default_bgp_status", if intent.system.asn.is_some() { "up" } else { "down" });
            // closc writes PFC_WD itself if the profile has a watchdog, so SONiC must not start its default one.
            row.text("default_pfcwd_status", "disable");
            row.text("docker_routing_config_mode", config_mode(intent.routing));
            // `false` selects bgpcfgd, which supports static routes and SIDs; frrcfgd does not support SIDs.
            row.text("frr_mgmt_framework_config", "false");
            row.text("hostname", &intent.name);
            row.text("hwsku", &intent.hardware);
            row.show("mac", intent.system.mac);
            if let Some(sonic) = &intent.platform.sonic {
                row.text("platform", &sonic.platform);
            }
            row.text("synchronous_mode", "enable");
            row.text("type", kind(intent.switch.tier));
        });
    });
}

/// Returns where the configuration of FRR comes from: SONiC's tables, or closc's `frr.conf`.
fn config_mode(routing: Routing) -> &'static str {
    match routing {
        Routing::Srv6Static | Routing::EcmpStatic => "separated",
        Routing::BgpUnnumbered => "split-unified",
    }
}

/// Writes `NODE_CFG`, the P4Runtime device id. Each switch has its own address, so all have id 1.
pub(super) fn number(document: &mut Document) {
    document.table("NODE_CFG", |table| {
        table.row(&["integrated_circuit0"], |row| row.text("node-id", "1"));
    });
}

/// ECMP hash fields: the entropy of a RoCE flow is in its UDP source port. SONiC has no field for the destination
/// QP of the RoCE header.
const HASHED: [&str; 5] = ["DST_IP", "IP_PROTOCOL", "L4_DST_PORT", "L4_SRC_PORT", "SRC_IP"];

/// Writes `SWITCH_HASH`, if switches choose paths.
pub(super) fn write_switch_hash(document: &mut Document, view: &View<'_>) {
    match view.intent.routing {
        Routing::Srv6Static => {}
        Routing::EcmpStatic | Routing::BgpUnnumbered => document.table("SWITCH_HASH", |table| {
            table.row(&["GLOBAL"], |row| row.list("ecmp_hash", &HASHED));
        }),
    }
}

/// Writes `LOOPBACK_INTERFACE`.
pub(super) fn loopback(document: &mut Document, view: &View<'_>) {
    document.table("LOOPBACK_INTERFACE", |table| {
        table.bare(&["Loopback0"]);
        table.bare(&["Loopback0|", &Prefix::from(view.intent.system.loopback).to_string()]);
    });
}

/// Writes `CRM`, so that tables of the ASIC are polled often enough to detect a missing route or SID.
pub(super) fn resources(document: &mut Document) {
    document.table("CRM", |table| table.row(&["Config"], |row| row.text("polling_interval", "300")));
}

/// Writes `FLEX_COUNTER_TABLE`, which enables the counters for marked, trimmed and lost packets.
pub(super) fn counters(document: &mut Document, view: &View<'_>) {
    let lossless = view.intent.qos.is_lossless();
    let segments = view.intent.srv6.is_some();
    let groups = [
        ("BUFFER_POOL_WATERMARK", true),
        ("PFCWD", view.intent.qos.watchdog().is_some()),
        ("PG_DROP", lossless),
        ("PG_WATERMARK", lossless),
        ("PORT", true),
        ("PORT_BUFFER_DROP", true),
        ("QUEUE", true),
        ("QUEUE_WATERMARK", true),
        ("RIF", true),
        ("SRV6", segments),
        ("SWITCH", view.intent.qos.trimming().is_some()),
        ("WRED_ECN_PORT", true),
        ("WRED_ECN_QUEUE", true),
    ];
    document.table("FLEX_COUNTER_TABLE", |table| {
        for (group, _) in groups.into_iter().filter(|(_, wanted)| *wanted) {
            table.row(&[group], |row| row.text("FLEX_COUNTER_STATUS", "enable"));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seed in `switch.json.j2` for a type of device.
    fn seed(kind: &str) -> u8 {
        match kind {
            "ToRRouter" => 0,
            "LeafRouter" => 10,
            kind if kind.contains("SpineRouter") => 25,
            other => panic!("{other} has no seed"),
        }
    }

    #[test]
    fn no_two_tiers_hash_alike() {
        let mut seeds = TierId::ALL.map(|tier| seed(kind(tier)));
        seeds.sort_unstable();
        assert_eq!(seeds, [0, 10, 25]);
    }
}
