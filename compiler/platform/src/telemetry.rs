//! Reading of a switch's counters while it runs.
//!
//! In: the `telemetry` of `templates/<os>/os.yaml`. Out: [`Telemetry`]. Invariants: a subscription that needs something of the
//! fabric says so, as a server refuses paths of counters that are not there.

use serde::Deserialize;

/// Reading of a switch's counters while it runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// Its gNMI server, where it has one.
    pub gnmi: Option<Gnmi>,
    /// The port of Prometheus's node exporter, where one runs beside.
    pub node_exporter: Option<u16>,
    /// sFlow settings of a site.
    pub sflow: Sflow,
    /// Why nothing is put into packets on their way (INT, IFA, IOAM).
    pub without_inband: String,
}

/// sFlow settings of a site.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sflow {
    /// Tables of CONFIG_DB.
    ConfigDb,
    /// A tree of YAML, below `set`.
    Nvue,
    /// Lines of EOS.
    Eos,
    /// Not at all, and why.
    Not(String),
}

/// A gNMI server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gnmi {
    /// The TCP port that it listens on unless a site says otherwise.
    pub port: u16,
    /// Encoding of values, in words of gNMIc.
    pub encoding: String,
    /// Request.
    pub subscriptions: Vec<Subscription>,
}

/// Something that a collector asks for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscription {
    /// Its name, one word.
    pub name: String,
    /// The target of the prefix, where the server has several.
    #[serde(default)]
    pub target: Option<String>,
    /// Paths, as gNMI writes them.
    pub paths: Vec<String>,
    /// Whether it is sent when it changes, not in intervals.
    #[serde(default)]
    pub on_change: bool,
    /// Condition on a fabric for such a counter.
    #[serde(default)]
    pub needs: Option<Need>,
}

/// Condition on a fabric for certain counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// Classes that are paused (PFC).
    Lossless,
    /// The watchdog of pauses.
    Watchdog,
    /// Trimmed packets.
    Trimming,
    /// Segments (SRv6).
    Segments,
}
