//! Telemetry settings of an operating system: gNMI, node exporter and sFlow.
//!
//! In: the `telemetry` of `templates/<os>/os.yaml`. Out: [`Telemetry`]. Invariants: a subscription names the feature
//! that its counters depend on, because gNMI servers reject paths of counters that do not exist.

use serde::Deserialize;

/// Telemetry settings of an operating system.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// gNMI server, if there is one.
    pub gnmi: Option<Gnmi>,
    /// The port of Prometheus's node exporter, if one runs on the switch.
    pub node_exporter: Option<u16>,
    /// Format of the sFlow settings, which the operator adds to the configuration.
    pub sflow: Sflow,
    /// Reason why in-band telemetry (INT, IFA, IOAM) is not used.
    pub without_inband: String,
}

/// Format of the sFlow settings, which the operator adds to the configuration.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sflow {
    /// Tables of CONFIG_DB.
    ConfigDb,
    /// A YAML tree, below `set`.
    Nvue,
    /// EOS commands.
    Eos,
    /// Not supported, with the reason.
    Not(String),
}

/// A gNMI server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gnmi {
    /// Default TCP port of the server.
    pub port: u16,
    /// Encoding of values, as a keyword of gNMIc.
    pub encoding: String,
    /// The subscriptions of a collector.
    pub subscriptions: Vec<Subscription>,
}

/// A subscription of a collector.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscription {
    /// Name of the subscription, one word.
    pub name: String,
    /// The target of the prefix, if the server has several.
    #[serde(default)]
    pub target: Option<String>,
    /// Paths in gNMI syntax.
    pub paths: Vec<String>,
    /// Whether updates are sent on change instead of at a sample interval.
    #[serde(default)]
    pub on_change: bool,
    /// Feature that a fabric must use for these counters to exist.
    #[serde(default)]
    pub needs: Option<Need>,
}

/// A feature that a fabric must use for certain counters to exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// Lossless classes (PFC).
    Lossless,
    /// PFC watchdog.
    Watchdog,
    /// Trimmed packets.
    Trimming,
    /// Segments (SRv6).
    Segments,
}
