//! The report of an agent, parsed from its JSON answers.
//!
//! In: the answers to `status` and `metrics`. Out: a [`Report`]. Invariants: no input causes a panic. A report needs no
//! more memory than its text. Elements outside the fabric are not rejected here, but by the caller.

use std::net::Ipv6Addr;

use closc_nic::agent::{Ban, T0Port, TableView};
use closc_nic::long_probes::LongProbeView;
use closc_nic::schedule::TurnPoint;
use serde::Deserialize;
use thiserror::Error;

/// Maximum length of an answer of an agent.
pub const ANSWER_MAX: usize = 2 << 20;
/// Maximum number of turn points of one agent.
const TURNS_MAX: usize = 1 << 14;
/// Maximum number of denials of one agent.
const DENIALS_MAX: usize = 4096;
/// Maximum length of a fabric's name, and of a checksum.
const NAME_MAX: usize = 63;
const CHECKSUM_LEN: usize = 8;
/// Maximum number of planes.
const PLANES_MAX: u8 = 32;

/// Probes of one turn point since the agent started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count {
    /// The turn point.
    pub turn_point: TurnPoint,
    /// Probes sent.
    pub sent: u64,
    /// Probes that did not return.
    pub lost: u64,
}

/// Report of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The address of its NIC.
    pub nic: Ipv6Addr,
    /// Its path table; `None` for older agents.
    pub table: Option<TableView>,
    /// Its planes, and whether each port has a carrier.
    pub carriers: Vec<(u8, bool)>,
    /// Numbers of probes, sorted by turn point.
    pub counts: Vec<Count>,
    /// Number of lost probes that returned with changed bytes, for turn points with any.
    pub damaged_probes: Vec<(TurnPoint, u64)>,
    /// Turns for which full-length probes are lost or untested; `None` for agents that send none.
    pub long: Option<Vec<(TurnPoint, LongProbeView)>>,
    /// Its clock, and the time during which it could run, in nanoseconds; `None` for older agents.
    pub clock: Option<(u64, u64)>,
    /// Number of faults that the agent found itself.
    pub findings: usize,
    /// Its denials.
    pub denials: Vec<Ban>,
    /// Frames received for other NICs, by plane.
    pub strays: Vec<(u8, u64)>,
    /// By plane, the T0 port into which the port is plugged, if it is the wrong one.
    pub actual_ports: Vec<(u8, T0Port)>,
}

/// Why a report is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReportFault {
    /// The answer cannot be parsed.
    #[error("its {request} cannot be read: {reason}")]
    Unreadable {
        /// The request.
        request: &'static str,
        /// The error.
        reason: String,
    },
    /// The agent answered with an error.
    #[error("it rejects the request: {0}")]
    Refused(String),
    /// The report exceeds a limit.
    #[error("it has more than {max} {item}")]
    TooMany {
        /// The kind of item.
        item: &'static str,
        /// The maximum number.
        max: usize,
    },
    /// The NIC is not in the fabric.
    #[error("{0} is not the address of a NIC of the fabric")]
    Nic(Ipv6Addr),
    /// The path table belongs to another fabric.
    #[error(
        "its path table is for fabric `{0}`, not for this one: install the table of its group from this tree \
          on the node"
    )]
    Fabric(String),
    /// The NIC does not have this turn point.
    #[error("it probes {0:?}, which does not exist")]
    Turn(TurnPoint),
    /// More probes were lost than sent.
    #[error("it counts more losses than probes to {0:?}")]
    Counts(TurnPoint),
    /// The NIC is bound to another agent.
    #[error("it reports for `{nic}`, which is bound to the agent at {bound_source}")]
    Taken {
        /// The NIC.
        nic: String,
        /// The source that it is bound to.
        bound_source: String,
    },
    /// The source is bound to another NIC.
    #[error("it is bound to `{bound_nic}`, but reports for `{claimed_nic}`")]
    Bound {
        /// Its NIC.
        bound_nic: String,
        /// The NIC that it reports for.
        claimed_nic: String,
    },
    /// Another source claims the NIC too.
    #[error(
        "the agent at {other_source} also reports for `{nic}`, so neither counts: bind the NIC with `--nic \
         {nic}=SOCKET`"
    )]
    Contested {
        /// The NIC.
        nic: String,
        /// The other source.
        other_source: String,
    },
}

/// The relevant parts of a status.
#[derive(Deserialize)]
struct Status {
    nic: Ipv6Addr,
    #[serde(default)]
    table: Option<TableView>,
    planes: Vec<PlaneStatus>,
    #[serde(default)]
    findings: Vec<serde::de::IgnoredAny>,
    #[serde(default)]
    long: Option<Vec<LongProbeView>>,
    #[serde(default)]
    now_ns: Option<u64>,
    #[serde(default)]
    ran_ns: Option<u64>,
    denials: Vec<Ban>,
}

#[derive(Deserialize)]
struct PlaneStatus {
    plane: u8,
    carrier: bool,
    #[serde(default)]
    strays: u64,
    #[serde(default)]
    found_at: Option<T0Port>,
}

/// An error answer.
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

impl Report {
    /// Reads the answers to `status` and to `metrics`.
    pub fn read(status: &[u8], metrics: &[u8]) -> Result<Report, ReportFault> {
        let status: Status = answer("status", status)?;
        let metrics: String = answer("metrics", metrics)?;
        let many = [
            ("findings", status.findings.len(), TURNS_MAX),
            ("planes", status.planes.len(), usize::from(PLANES_MAX)),
            ("denials", status.denials.len(), DENIALS_MAX),
            ("switches to probe", status.long.as_ref().map_or(0, Vec::len), TURNS_MAX),
        ];
        if let Some((what, _, most)) = many.into_iter().find(|(_, n, most)| n > most) {
            return Err(ReportFault::TooMany { item: what, max: most });
        }
        let mut counts = counts(&metrics)?;
        counts.sort_unstable();
        let rows = metrics.lines().map(|line| row(line, "closc_nic_probes_damaged_total{"));
        let damaged: Vec<(TurnPoint, u64)> =
            rows.filter_map(Result::transpose).take(TURNS_MAX).collect::<Result<_, _>>()?;
        Ok(Report {
            nic: status.nic,
            table: status.table.map(short),
            carriers: status.planes.iter().map(|p| (p.plane, p.carrier)).collect(),
            counts,
            damaged_probes: damaged,
            clock: status.now_ns.zip(status.ran_ns),
            long: status
                .long
                .map(|long| long.into_iter().filter_map(|own| Some((turn_point(&own)?, own))).collect()),
            findings: status.findings.len(),
            denials: status.denials,
            strays: status.planes.iter().map(|p| (p.plane, p.strays)).collect(),
            actual_ports: status.planes.iter().filter_map(|p| Some((p.plane, p.found_at?))).collect(),
        })
    }
}

/// Returns the turn point of a long probe; `None` if the tier does not exist, or the uplinks do not match the
/// tier.
fn turn_point(long: &LongProbeView) -> Option<TurnPoint> {
    let plane = long.plane;
    match (long.tier, long.uplink, long.t1_uplink) {
        (0, None, None) => Some(TurnPoint::T0 { plane }),
        (1, Some(uplink), None) => Some(TurnPoint::T1 { plane, uplink }),
        (2, Some(uplink), Some(t1_uplink)) => Some(TurnPoint::T2 { plane, uplink, t1_uplink }),
        _ => None,
    }
}

/// Parses an answer, which may be an error.
pub(crate) fn answer<'a, T: Deserialize<'a>>(what: &'static str, line: &'a [u8]) -> Result<T, ReportFault> {
    serde_json::from_slice(line).map_err(|error| match serde_json::from_slice::<Refusal>(line) {
        Ok(refusal) => ReportFault::Refused(refusal.error.chars().take(200).collect()),
        Err(_) => ReportFault::Unreadable { request: what, reason: error.to_string() },
    })
}

/// Parses the numbers of probes per turn point from metrics in the format of Prometheus.
fn counts(metrics: &str) -> Result<Vec<Count>, ReportFault> {
    let mut counts: Vec<Count> = Vec::new();
    let mut lost: Vec<(TurnPoint, u64)> = Vec::new();
    for line in metrics.lines() {
        if counts.len().max(lost.len()) > TURNS_MAX {
            return Err(ReportFault::TooMany { item: "switches to probe", max: TURNS_MAX });
        }
        if let Some((turn, sent)) = row(line, "closc_nic_probes_sent_total{")? {
            counts.push(Count { turn_point: turn, sent, lost: 0 });
        } else if let Some((turn, n)) = row(line, "closc_nic_probes_lost_total{")? {
            lost.push((turn, n));
        }
    }
    counts.sort_unstable_by_key(|count| count.turn_point);
    counts.dedup_by_key(|count| count.turn_point);
    for (turn, n) in lost {
        if let Ok(at) = counts.binary_search_by_key(&turn, |count| count.turn_point) {
            counts[at].lost = n;
        }
    }
    Ok(counts)
}

/// Shortens a table's fabric name and checksum to their maximum lengths.
fn short(table: TableView) -> TableView {
    let cut = |text: String, most| text.chars().filter(|sign| !sign.is_control()).take(most).collect();
    TableView {
        fabric: table.fabric.map(|name| cut(name, NAME_MAX)),
        checksum: cut(table.checksum, CHECKSUM_LEN),
    }
}

/// Parses a sample of a metric: the turn point in its labels, and its value.
fn row(line: &str, family: &str) -> Result<Option<(TurnPoint, u64)>, ReportFault> {
    let Some(rest) = line.strip_prefix(family) else { return Ok(None) };
    let wrong = || {
        let reason = format!("`{}` is not a count of probes", line.chars().take(120).collect::<String>());
        ReportFault::Unreadable { request: "metrics", reason }
    };
    let (labels, value) = rest.split_once("} ").ok_or_else(wrong)?;
    let label = |name: &str| {
        let found = labels.split(',').find_map(|label| label.strip_prefix(name)?.strip_prefix("=\""));
        found.and_then(|value| value.strip_suffix('"'))
    };
    let number = |name: &str| label(name).and_then(|text| text.parse::<u16>().ok()).ok_or_else(wrong);
    let plane = u8::try_from(number("plane")?).ok().filter(|plane| *plane < PLANES_MAX).ok_or_else(wrong)?;
    let turn = match label("tier") {
        Some("0") => TurnPoint::T0 { plane },
        Some("1") => TurnPoint::T1 { plane, uplink: number("uplink")? },
        Some("2") => TurnPoint::T2 { plane, uplink: number("uplink")?, t1_uplink: number("t1_uplink")? },
        Some(_) | None => return Err(wrong()),
    };
    Ok(Some((turn, value.parse().map_err(|_| wrong())?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = r#"{"nic":"fd00::1","table":{"fabric":"pod","checksum":"0123abcd"},"planes":[{"plane":0,"carrier":true,"neighbour":true,"strays":7,
        "found_at":{"plane":1,"downlink":2}}],"findings":[{}],
        "denials":[{"id":3,"plane":1,"reason":"drain","until":12.5}],"counters":{"outside":7,"probes":1},"channels":[]}"#;

    fn metrics(text: &str) -> Vec<u8> {
        serde_json::to_vec(text).unwrap()
    }

    #[test]
    fn answers_are_read() {
        let text = "# HELP closc_nic_probes_sent_total Probes\n\
            closc_nic_probes_sent_total{plane=\"1\",tier=\"2\",uplink=\"3\",t1_uplink=\"4\"} 9\n\
            closc_nic_probes_sent_total{plane=\"0\",tier=\"0\"} 12\n\
            closc_nic_probes_lost_total{plane=\"0\",tier=\"0\"} 2\nclosc_nic_port_up{plane=\"0\"} 1\n";
        let report = Report::read(STATUS.as_bytes(), &metrics(text)).unwrap();
        assert_eq!((report.carriers, report.findings, report.strays), (vec![(0, true)], 1, vec![(0, 7)]));
        let table = TableView { fabric: Some("pod".into()), checksum: "0123abcd".into() };
        assert_eq!(report.table, Some(table));
        assert_eq!(report.actual_ports, [(0, T0Port { plane: 1, downlink: 2 })]);
        assert_eq!(report.long, None, "an older agent sends no long probes");
        let long = STATUS.replacen(
            "\"findings\"",
            r#""long":[{"plane":1,"tier":1,"uplink":3,"lost":6,"passes_bytes":1296,
            "loses_bytes":1304},{"plane":1,"tier":3,"lost":1}],"findings""#,
            1,
        );
        let long = Report::read(long.as_bytes(), &metrics(text)).unwrap().long.unwrap();
        assert_eq!(long.len(), 1, "tier 3 does not exist: {long:?}");
        assert_eq!((long[0].0, long[0].1.lost), (TurnPoint::T1 { plane: 1, uplink: 3 }, 6));
        assert_eq!(report.denials[0].until, Some(12.5));
        let t2 = TurnPoint::T2 { plane: 1, uplink: 3, t1_uplink: 4 };
        let expected = [(TurnPoint::T0 { plane: 0 }, 12, 2), (t2, 9, 0)].map(|(turn, sent, lost)| Count {
            turn_point: turn,
            sent,
            lost,
        });
        assert_eq!(report.counts, expected);
    }

    #[test]
    fn what_is_no_answer_is_said() {
        let says = |status: &str, text: &str| {
            Report::read(status.as_bytes(), &metrics(text)).expect_err("it is not an answer").to_string()
        };
        assert_eq!(says(r#"{"error":"not yet"}"#, ""), "it rejects the request: not yet");
        assert!(says("{", "").starts_with("its status cannot be read: EOF"));
        for wrong in
            ["{plane=\"0\"} 1", "{plane=\"300\",tier=\"0\"} 1", "{plane=\"0\",tier=\"0\"} x", "{", "{} 1"]
        {
            let line = format!("closc_nic_probes_sent_total{wrong}");
            assert!(says(STATUS, &line).contains("is not a count of probes"), "{line}");
        }
        let planes = vec![r#"{"plane":0,"carrier":true}"#; 33].join(",");
        let many = format!(r#"{{"nic":"fd00::1","planes":[{planes}],"denials":[]}}"#);
        assert_eq!(says(&many, ""), "it has more than 32 planes");
    }
}
