//! Prometheus metrics of an agent.
//!
//! In: counters, channels, results of probes. Out: text. Invariants: rows are per plane, switch and group of NICs,
//! never per NIC or path. Their number is limited, see [`super::groups::GROUPS_MAX`].

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::agent::groups::{GroupCount, PlaneCount};
use crate::agent::{Agent, AgentContext, Counters, PlaneView, StatusView, TableView};
use crate::schedule::TurnPoint;

/// Paths to NICs of a group.
#[derive(Debug, Default)]
struct PathsCount {
    states: BTreeMap<&'static str, u64>,
    /// The shortest and the longest round trip, in microseconds.
    rtt: Option<(f64, f64)>,
    rtt_sum: f64,
    rtts: u32,
}

impl PathsCount {
    fn take_rtt(&mut self, us: f64) {
        let (least, most) = self.rtt.unwrap_or((us, us));
        self.rtt = Some((least.min(us), most.max(us)));
        (self.rtt_sum, self.rtts) = (self.rtt_sum + us, self.rtts + 1);
    }
}

impl Agent {
    /// Returns the metrics in the text format of Prometheus.
    pub fn metrics(&self, at: &AgentContext<'_>) -> String {
        let status = self.status(at);
        let mut out = Metrics::default();
        let TableView { fabric, checksum } = &status.table;
        let fabric = fabric.as_deref().unwrap_or_default();
        // The fabric name comes from the table file, which may contain any characters.
        let fabric: String = fabric.chars().filter(|sign| !matches!(sign, '"' | '\\' | '\n')).collect();
        let labels = format!("{{fabric=\"{fabric}\",checksum=\"{checksum}\"}}");
        out.gauge("table_info", "The path table in use", vec![(labels, 1.0)]);
        out.planes(&status.planes);
        self.probe_metrics(&mut out);
        out.capacity(&status);
        let groups = self.groups.with(self.channels.iter());
        out.groups(&groups);
        out.paths(&self.paths_by_group(&groups));
        let uplinks = self.groups.uplinks();
        let uplinks = uplinks.map(|((p, u), n)| (format!("{{plane=\"{p}\",uplink=\"{u}\"}}"), *n as f64));
        out.counter(
            "uplink_packets_lost_total",
            "Lost packets sent through an uplink to a T1",
            uplinks.collect(),
        );
        let changes = self.groups.changes();
        let changes = changes.map(|((to, why), n)| (format!("{{to=\"{to}\",cause=\"{why}\"}}"), *n as f64));
        out.counter("path_changes_total", "Changes of state of paths", changes.collect());
        out.counter(
            "events_total",
            "Events, as numbered by `closc-nic events`",
            vec![(String::new(), self.n_events as f64)],
        );
        out.rejections(&status.counters);
        out.gauge("findings", "Findings", vec![(String::new(), status.findings.len() as f64)]);
        out.gauge("denials", "Denials in force", vec![(String::new(), status.denials.len() as f64)]);
        out.0
    }

    fn probe_metrics(&self, out: &mut Metrics) {
        let (mut turns, mut damaged) = ((Vec::new(), Vec::new(), Vec::new()), Vec::new());
        let mut long = (Vec::new(), Vec::new());
        for (turn, record) in &self.records {
            let labels = match turn {
                TurnPoint::T0 { plane } => format!("{{plane=\"{plane}\",tier=\"0\"}}"),
                TurnPoint::T1 { plane, uplink } => {
                    format!("{{plane=\"{plane}\",tier=\"1\",uplink=\"{uplink}\"}}")
                }
                TurnPoint::T2 { plane, uplink, t1_uplink } => {
                    format!("{{plane=\"{plane}\",tier=\"2\",uplink=\"{uplink}\",t1_uplink=\"{t1_uplink}\"}}")
                }
            };
            turns.0.push((labels.clone(), record.sent as f64));
            turns.1.push((labels.clone(), record.lost as f64));
            long.0.push((labels.clone(), record.long.sent as f64));
            long.1.push((labels.clone(), record.long.lost as f64));
            // Only switches with damaged probes have a row. A healthy fabric has none.
            if record.damaged > 0 {
                damaged.push((labels.clone(), record.damaged as f64));
            }
            // The last round trip is obsolete if the switch does not answer or the port has no carrier.
            let carrier = self.ports.get(usize::from(turn.plane())).is_some_and(|port| port.carrier);
            if record.rtt_ns > 0 && carrier && !record.is_dead() {
                turns.2.push((labels, record.rtt_ns as f64 / 1e9));
            }
        }
        out.counter("probes_sent_total", "Probes to a switch", turns.0);
        out.counter("probes_lost_total", "Probes that did not return", turns.1);
        let help = "Lost probes that came back with changed bytes";
        out.counter("probes_damaged_total", help, damaged);
        out.counter("long_probes_sent_total", "Full-length probes to a switch", long.0);
        let help = "Full-length probes that did not return though a short one did";
        out.counter("long_probes_lost_total", help, long.1);
        out.gauge("probe_rtt_seconds", "Round trip of the last probe that returned", turns.2);
    }

    /// Counts the paths to each group.
    fn paths_by_group(&self, groups: &[(String, GroupCount)]) -> BTreeMap<String, PathsCount> {
        let mut out: BTreeMap<String, PathsCount> = BTreeMap::new();
        for channel in &self.channels {
            let labels = self.groups.label(channel.group);
            debug_assert!(groups.iter().any(|(known, _)| *known == labels));
            let count = out.entry(labels).or_default();
            for value in self.engine.values(channel.path) {
                *count.states.entry(value.state.name()).or_default() += 1;
                if value.rtt_ns > 0 {
                    count.take_rtt(f64::from(value.rtt_ns) / 1e3);
                }
            }
        }
        out
    }
}

/// Labels and a value.
type Row = (String, f64);

/// Text in the format of Prometheus.
#[derive(Default)]
struct Metrics(String);

impl Metrics {
    fn metric(&mut self, name: &str, kind: &str, help: &str, rows: Vec<Row>) {
        let _ = writeln!(self.0, "# HELP closc_nic_{name} {help}\n# TYPE closc_nic_{name} {kind}");
        for (labels, value) in rows {
            let _ = writeln!(self.0, "closc_nic_{name}{labels} {value}");
        }
    }

    fn gauge(&mut self, name: &str, help: &str, rows: Vec<Row>) {
        self.metric(name, "gauge", help, rows);
    }

    fn counter(&mut self, name: &str, help: &str, rows: Vec<Row>) {
        self.metric(name, "counter", help, rows);
    }

    fn planes(&mut self, planes: &[PlaneView]) {
        // Unknown values have no sample.
        let rows = |of: &dyn Fn(&PlaneView) -> Option<f64>| -> Vec<Row> {
            let row = |p: &PlaneView| Some((format!("{{plane=\"{}\"}}", p.plane), of(p)?));
            planes.iter().filter_map(row).collect()
        };
        let is = |is: bool| f64::from(u8::from(is));
        self.gauge("port_up", "Whether the port has a carrier", rows(&|p| Some(is(p.carrier))));
        self.gauge(
            "t0_up",
            "Whether the T0 answers probes; absent if the port has no carrier",
            rows(&|p| p.t0_answers.map(is)),
        );
        self.gauge(
            "t0_rtt_seconds",
            "Round trip of the last T0 probe; absent if the T0 does not answer",
            rows(&|p| p.t0_rtt_us.map(|rtt_us| rtt_us / 1e6)),
        );
        self.gauge(
            "t0_answer_age_seconds",
            "Time since the last answer of the T0",
            rows(&|p| p.t0_answered_ms_ago.map(|age_ms| age_ms / 1e3)),
        );
        self.counter("strays_total", "Received frames for other NICs", rows(&|p| Some(p.strays as f64)));
    }

    fn capacity(&mut self, status: &StatusView) {
        let one = |n: u64| vec![(String::new(), n as f64)];
        self.gauge("far_nics", "Far NICs with stored paths", one(status.channels.len() as u64));
        self.gauge(
            "far_nics_max",
            "Maximum number of far NICs with stored paths",
            one(status.channels_max as u64),
        );
        let k = &status.counters;
        self.counter(
            "made_room_total",
            "Far NICs whose stored paths were discarded to make room for another NIC",
            one(k.made_room),
        );
        self.counter(
            "no_room_total",
            "Packets to or from a NIC whose paths could not be stored",
            one(k.no_room),
        );
        self.counter(
            "not_ours_total",
            "Packets of the node that are not IPv6, or not addressed to a NIC",
            one(k.not_ours),
        );
    }

    /// Packets per group of NICs, and per plane where that is known.
    fn groups(&mut self, groups: &[(String, GroupCount)]) {
        let rows = |of: &dyn Fn(&GroupCount) -> u64| -> Vec<Row> {
            groups.iter().map(|(labels, count)| (format!("{{{labels}}}"), of(count) as f64)).collect()
        };
        let planes = |of: &dyn Fn(&PlaneCount) -> u64| -> Vec<Row> {
            let each = groups.iter().flat_map(|(labels, count)| {
                let planes = count.planes.iter().enumerate();
                planes.map(move |(plane, count)| (format!("{{{labels},plane=\"{plane}\"}}"), count))
            });
            each.map(|(labels, count)| (labels, of(count) as f64)).collect()
        };
        self.counter(
            "packets_sent_total",
            "Packets sent to NICs of a group over a plane",
            planes(&|p| p.sent),
        );
        self.counter("packets_lost_total", "Lost packets to NICs of a group", planes(&|p| p.lost));
        self.counter(
            "packets_late_total",
            "Packets that arrived after they were counted as lost",
            planes(&|p| p.late),
        );
        self.counter("packets_received_total", "Packets from NICs of a group", rows(&|g| g.received));
        self.counter(
            "packets_reordered_total",
            "Packets held until an earlier one arrived",
            rows(&|g| g.reordered),
        );
        self.counter("packets_missed_total", "Expected packets that did not arrive", rows(&|g| g.missed));
        self.counter("packets_duplicate_total", "Packets that arrived twice", rows(&|g| g.duplicates));
        self.counter("packets_cut_total", "Packets sent to a group and trimmed on the way", rows(&|g| g.cut));
        self.counter(
            "packets_forgotten_total",
            "Packets discarded from memory before their arrival or loss was known",
            rows(&|g| g.forgotten),
        );
    }

    /// Paths and their round trips per group of NICs.
    fn paths(&mut self, groups: &BTreeMap<String, PathsCount>) {
        let (mut states, mut rtts) = (Vec::new(), Vec::new());
        for (labels, count) in groups {
            for (state, n) in &count.states {
                states.push((format!("{{{labels},state=\"{state}\"}}"), *n as f64));
            }
            if let Some(rtt) = count.rtt {
                let mean = count.rtt_sum / f64::from(count.rtts);
                for (of, us) in [("least", rtt.0), ("mean", mean), ("most", rtt.1)] {
                    rtts.push((format!("{{{labels},of=\"{of}\"}}"), us / 1e6));
                }
            }
        }
        self.gauge("paths", "Paths to NICs of a group by state, for NICs with stored paths", states);
        self.gauge("path_rtt_seconds", "Round trip of probes over the paths to NICs of a group", rtts);
    }

    fn rejections(&mut self, k: &Counters) {
        let one = |n: u64| vec![(String::new(), n as f64)];
        let ignored = [
            ("outside", k.outside),
            ("wrong_cookie", k.wrong_cookie),
            ("malformed", k.malformed),
            ("damaged", k.damaged),
            ("other_version", k.other_version),
            ("stale", k.stale),
            ("refused_writes", k.refused_writes),
        ];
        let ignored = ignored.map(|(why, n)| (format!("{{why=\"{why}\"}}"), n as f64)).to_vec();
        self.counter("frames_ignored_total", "Received frames that were ignored", ignored);
        self.counter(
            "region_faults_total",
            "Failed reads and writes of the local memory region (`--region`)",
            one(k.region_faults),
        );
        self.counter("cut_total", "Trimmed packets received", one(k.cut));
        let repeated = vec![(String::new(), k.repeated as f64)];
        self.counter("repeated_total", "Pieces of writes that arrived again", repeated);
        self.counter("no_path_total", "Packets without a path", vec![(String::new(), k.no_path as f64)]);
    }
}
