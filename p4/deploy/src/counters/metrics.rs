//! Counters of a switch in the text format of Prometheus.
//!
//! In: [`Counters`]. Out: sums for a list of all switches, or every port and class of one. Invariants: every program
//! that serves counters uses this code, so that the families of different programs differ only in their prefix.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Cell, Counters};

/// Counters of a switch, over all of its ports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums {
    /// Packets received.
    pub received: u64,
    /// Packets sent, by class; classes that sent nothing are missing.
    pub sent: BTreeMap<u8, u64>,
    /// Of these, packets that were marked.
    pub marked: BTreeMap<u8, u64>,
    /// Of these, packets that were trimmed.
    pub trimmed: BTreeMap<u8, u64>,
}

impl Counters {
    /// Returns the sums over all ports.
    pub fn sums(&self) -> Sums {
        let by_class = |cells: &BTreeMap<(u16, u8), Cell>| {
            let mut classes: BTreeMap<u8, u64> = BTreeMap::new();
            for ((_, class), cell) in cells.iter().filter(|(_, cell)| cell.packets > 0) {
                *classes.entry(*class).or_default() += cell.packets;
            }
            classes
        };
        Sums {
            received: self.received.values().map(|cell| cell.packets).sum(),
            sent: by_class(&self.sent),
            marked: by_class(&self.marked),
            trimmed: by_class(&self.trimmed),
        }
    }

    /// Returns all counters of the switch, per port and segment. `prefix` begins the names of families, and `label`
    /// names the switch.
    pub fn metrics(&self, prefix: &str, (label, switch): (&str, &str)) -> String {
        let mut text = Text {
            prefix,
            switch_label: format!("{label}=\"{}\"", escape_label(switch)),
            lines: String::new(),
        };
        let port = |port: &u16| format!(",port=\"{port}\"");
        let came = self.received.iter();
        let packets = came.clone().map(|(at, cell)| (port(at), cell.packets));
        text.family("port_received_packets_total", "Packets received on a port.", packets);
        let bytes = came.map(|(at, cell)| (port(at), cell.bytes));
        text.family("port_received_bytes_total", "Bytes received on a port.", bytes);
        let both = |(port, class): &(u16, u8)| format!(",port=\"{port}\",class=\"{class}\"");
        let cells = [
            ("port_sent", "sent on a port, by class", &self.sent, true),
            ("port_ecn_marked", "sent on a port with an ECN mark, by class", &self.marked, false),
            ("port_trimmed", "trimmed on a port, by class", &self.trimmed, false),
        ];
        for (family, what, cells, has_bytes) in cells {
            let packets = cells.iter().map(|(at, cell)| (both(at), cell.packets));
            text.family(&format!("{family}_packets_total"), &format!("Packets {what}."), packets);
            if has_bytes {
                let bytes = cells.iter().map(|(at, cell)| (both(at), cell.bytes));
                text.family(&format!("{family}_bytes_total"), &format!("Bytes {what}."), bytes);
            }
        }
        let segments =
            self.segments.iter().map(|(sid, cell)| (format!(",segment=\"{sid:04x}\""), cell.packets));
        text.family("segment_packets_total", "Packets that a segment processed.", segments);
        let drops = self
            .drops
            .iter()
            .map(|(reason, cell)| (format!(",reason=\"{}\"", escape_label(reason)), cell.packets));
        text.family("switch_dropped_total", "Packets dropped.", drops);
        text.lines
    }
}

/// Families of one switch.
struct Text<'a> {
    prefix: &'a str,
    /// The label that names the switch.
    switch_label: String,
    /// Output so far.
    lines: String,
}

impl Text<'_> {
    fn family(&mut self, name: &str, help: &str, rows: impl Iterator<Item = (String, u64)>) {
        let (prefix, own) = (self.prefix, &self.switch_label);
        let _ = writeln!(self.lines, "# HELP {prefix}_{name} {help}\n# TYPE {prefix}_{name} counter");
        for (labels, value) in rows {
            let _ = writeln!(self.lines, "{prefix}_{name}{{{own}{labels}}} {value}");
        }
    }
}

/// Returns a label value, escaped for Prometheus.
pub(crate) fn escape_label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_leave_out_what_never_happened() {
        let cell = |packets| Cell { packets, bytes: 10 * packets };
        let counters = Counters {
            received: BTreeMap::from([(1, cell(3)), (512, cell(4))]),
            sent: BTreeMap::from([((1, 0), cell(0)), ((1, 3), cell(5)), ((512, 3), cell(2))]),
            segments: BTreeMap::from([(0x1801, cell(6))]),
            drops: BTreeMap::from([("NO_\"ROUTE".to_owned(), cell(1))]),
            ..Counters::default()
        };
        let sums = counters.sums();
        assert_eq!((sums.received, sums.sent), (7, BTreeMap::from([(3, 7)])));
        let text = counters.metrics("closc_x", ("device", "p0-t0-001"));
        for line in [
            "closc_x_port_received_bytes_total{device=\"p0-t0-001\",port=\"512\"} 40\n",
            "closc_x_port_sent_packets_total{device=\"p0-t0-001\",port=\"1\",class=\"3\"} 5\n",
            "closc_x_segment_packets_total{device=\"p0-t0-001\",segment=\"1801\"} 6\n",
            "closc_x_switch_dropped_total{device=\"p0-t0-001\",reason=\"NO_\\\"ROUTE\"} 1\n",
            "# TYPE closc_x_port_trimmed_packets_total counter\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }
}
