//! Metrics in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use closc_http::{Answer, Request};

use super::board::{Board, DeviceStatus, Role, WatchStatus};
use crate::counters::{Sums, escape_label};

/// One family of metrics with a value for each switch.
struct Family {
    name: &'static str,
    help: &'static str,
    kind: &'static str,
    value: fn(&DeviceStatus) -> Option<f64>,
}

const FAMILIES: &[Family] = &[
    Family {
        name: "closc_device_connected",
        help: "1 while there is a connection to the switch.",
        kind: "gauge",
        value: |device| Some(flag(device.role != Role::Away)),
    },
    Family {
        name: "closc_device_leading",
        help: "1 while this controller is primary.",
        kind: "gauge",
        value: |device| Some(flag(device.role == Role::Leading)),
    },
    Family {
        name: "closc_device_in_sync",
        help: "1 if the switch was in sync at the last check of this controller.",
        kind: "gauge",
        value: |device| Some(flag(device.in_sync)),
    },
    Family {
        name: "closc_device_in_sync_age_seconds",
        help: "Time since the switch was last in sync.",
        kind: "gauge",
        value: |device| device.in_sync_age_seconds,
    },
    Family {
        name: "closc_device_entities",
        help: "Entities that the switch held when it was last in sync.",
        kind: "gauge",
        value: |device| (device.role != Role::Watching).then_some(device.entities as f64),
    },
    Family {
        name: "closc_device_checks_total",
        help: "Number of checks of the switch.",
        kind: "counter",
        value: |device| Some(device.checks as f64),
    },
    Family {
        name: "closc_device_repairs_total",
        help: "Number of repairs of the switch.",
        kind: "counter",
        value: |device| Some(device.repairs as f64),
    },
    Family {
        name: "closc_device_pipelines_set_total",
        help: "Number of times that the pipeline was set.",
        kind: "counter",
        value: |device| Some(device.pipelines_set as f64),
    },
    Family {
        name: "closc_device_connections_total",
        help: "Number of connections that were opened.",
        kind: "counter",
        value: |device| Some(device.connections as f64),
    },
    Family {
        name: "closc_device_failures_total",
        help: "Number of failures.",
        kind: "counter",
        value: |device| Some(device.failures as f64),
    },
];

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

pub(super) fn answer(status: &WatchStatus) -> Answer {
    of_text(text(status))
}

/// Returns all counters of one switch.
pub(super) fn of_switch(board: &Board, request: &Request) -> Answer {
    let name = request.query.split('&').find_map(|part| part.strip_prefix("of=")).unwrap_or_default();
    match board.counters(name) {
        Some(counters) => of_text(counters.metrics("closc_device", ("device", name))),
        None => Answer::text(
            404,
            "no counters of this switch: the watch needs `--counters` and must be its primary\n",
        ),
    }
}

fn of_text(body: String) -> Answer {
    let content_type = "text/plain; version=0.0.4; charset=utf-8";
    Answer { status: 200, content_type, headers: &[], body }
}

fn text(status: &WatchStatus) -> String {
    let mut text = String::new();
    head(&mut text, "closc_devices", "Watched switches.", "gauge");
    line(&mut text, "closc_devices", "", status.devices.len() as f64);
    for family in FAMILIES {
        head(&mut text, family.name, family.help, family.kind);
        for (name, device) in &status.devices {
            if let Some(value) = (family.value)(device) {
                line(&mut text, family.name, &labels(name, device, ""), value);
            }
        }
    }
    let help = "Entries of a table that differed at the last check, for switches that are not repaired.";
    head(&mut text, "closc_device_differences", help, "gauge");
    for (name, device) in &status.devices {
        for (table, count) in &device.differences {
            let labels = labels(name, device, &format!(",table=\"{}\"", escape_label(table)));
            line(&mut text, "closc_device_differences", &labels, *count as f64);
        }
    }
    head(&mut text, "closc_device_updates_total", "Applied updates.", "counter");
    for (name, device) in &status.devices {
        let updates = device.updates;
        let kinds = [("insert", updates.insert), ("modify", updates.modify), ("delete", updates.delete)];
        for (kind, count) in kinds {
            let labels = labels(name, device, &format!(",kind=\"{kind}\""));
            line(&mut text, "closc_device_updates_total", &labels, count as f64);
        }
    }
    let help = "Switches of the tree that are not watched, by operating system.";
    head(&mut text, "closc_devices_left_alone", help, "gauge");
    for left in &status.left_alone {
        let labels = format!("{{os=\"{}\"}}", escape_label(&left.os));
        line(&mut text, "closc_devices_left_alone", &labels, left.switches as f64);
    }
    counters(&mut text, status);
    text
}

/// Family of sums, by class.
type ClassSum = fn(&Sums) -> &BTreeMap<u8, u64>;

/// Sums of the counters of switches; values per port or segment are served only switch by switch.
fn counters(text: &mut String, status: &WatchStatus) {
    let help = "1 if the counters of the switch were read at its last check.";
    head(text, "closc_device_counted", help, "gauge");
    for (name, device) in status.devices.iter().filter(|(_, device)| device.role != Role::Watching) {
        line(text, "closc_device_counted", &labels(name, device, ""), flag(device.counters.is_some()));
    }
    let counted: Vec<(&String, &DeviceStatus, Sums)> = status
        .devices
        .iter()
        .filter_map(|(name, device)| Some((name, device, device.counters.as_ref()?.sums())))
        .collect();
    if counted.is_empty() {
        return;
    }
    head(text, "closc_device_received_packets_total", "Received packets.", "counter");
    for (name, device, sums) in &counted {
        let labels = labels(name, device, "");
        line(text, "closc_device_received_packets_total", &labels, sums.received as f64);
    }
    let families: [(&str, &str, ClassSum); 3] = [
        ("closc_device_sent_packets_total", "Sent packets, by class.", |sums| &sums.sent),
        ("closc_device_ecn_marked_packets_total", "Sent packets with an ECN mark, by class.", |sums| {
            &sums.marked
        }),
        ("closc_device_trimmed_packets_total", "Sent packets that were trimmed, by class.", |sums| {
            &sums.trimmed
        }),
    ];
    for (family, help, of) in families {
        head(text, family, help, "counter");
        for (name, device, sums) in &counted {
            for (class, count) in of(sums) {
                let labels = labels(name, device, &format!(",class=\"{class}\""));
                line(text, family, &labels, *count as f64);
            }
        }
    }
    head(text, "closc_device_dropped_packets_total", "Dropped packets, by reason.", "counter");
    for (name, device, _) in &counted {
        for (reason, cell) in device.counters.iter().flat_map(|counters| &counters.drops) {
            let labels = labels(name, device, &format!(",reason=\"{}\"", escape_label(reason)));
            line(text, "closc_device_dropped_packets_total", &labels, cell.packets as f64);
        }
    }
}

fn labels(name: &str, device: &DeviceStatus, more: &str) -> String {
    let plane = device.plane.map(|plane| format!(",plane=\"{plane}\"")).unwrap_or_default();
    format!("{{device=\"{}\"{plane}{more}}}", escape_label(name))
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("a string takes everything");
}

fn line(text: &mut String, name: &str, labels: &str, value: f64) {
    writeln!(text, "{name}{labels} {value}").expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_the_form_that_scrapers_read() {
        let device =
            DeviceStatus { plane: Some(3), role: Role::Leading, in_sync: true, ..Default::default() };
        let devices = [("p3-t0-\"1\"".to_owned(), device)].into_iter().collect();
        let text = text(&WatchStatus { devices, ..Default::default() });
        assert!(text.contains("# TYPE closc_device_in_sync gauge\n"));
        assert!(text.contains("closc_device_in_sync{device=\"p3-t0-\\\"1\\\"\",plane=\"3\"} 1\n"), "{text}");
        assert!(text.contains(",kind=\"delete\"} 0\n"));
        let differences = BTreeMap::from([("STATIC_ROUTE".to_owned(), 2)]);
        let watched = DeviceStatus { role: Role::Watching, differences, ..Default::default() };
        let devices = [("t0".to_owned(), watched)].into_iter().collect();
        let status = WatchStatus { devices, ..Default::default() };
        let of_watched = super::text(&status);
        assert!(of_watched.contains("closc_device_differences{device=\"t0\",table=\"STATIC_ROUTE\"} 2\n"));
        assert!(!of_watched.contains("closc_device_entities{"), "SONiC counts no entities");
        assert!(!text.contains("age_seconds{"), "no age before the first check");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (_, value) = line.rsplit_once(' ').expect("a name and a value");
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
    }
}
