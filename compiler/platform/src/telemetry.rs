//! Reading of a switch's counters while it runs.
//!
//! In: the `telemetry` of `templates/<os>/os.yaml`. Out: [`Telemetry`]. Invariants: a subscription states its condition
//! on the fabric, because servers reject paths of missing counters.

use serde::Deserialize;

/// Reading of a switch's counters while it runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// Its gNMI server, if it has one.
    pub gnmi: Option<Gnmi>,
    /// The port of Prometheus's node exporter, if one runs on the switch.
    pub node_exporter: Option<u16>,
    /// sFlow settings of a site.
    pub sflow: Sflow,
    /// Why in-band telemetry (INT, IFA, IOAM) is not used.
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
    /// Not supported, with the reason.
    Not(String),
}

/// A gNMI server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gnmi {
    /// The TCP port on which it listens by default.
    pub port: u16,
    /// Encoding of values, in words of gNMIc.
    pub encoding: String,
    /// The subscriptions of a collector.
    pub subscriptions: Vec<Subscription>,
}

/// A subscription of a collector.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscription {
    /// Its name, one word.
    pub name: String,
    /// The target of the prefix, if the server has several.
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
