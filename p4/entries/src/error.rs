//! Reasons why an intent has no entries in a pipeline.

use closc_qos::QosError;
use closc_runtime::capacity::Excess;
use closc_runtime::check::Violation;
use closc_runtime::info::LookupError;

/// The reason why an intent cannot be expressed in a pipeline.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EntriesError {
    /// The pipeline cannot name a port of the switch.
    #[error(
        "`{device}`: port `{port}` has the number {number}; pipeline `{pipeline}` supports {min_port} to {max}"
    )]
    Port {
        /// The switch.
        device: String,
        /// The port, as the device names it.
        port: String,
        /// Its number.
        number: u16,
        /// The pipeline.
        pipeline: &'static str,
        /// The least number a front port can have.
        min_port: u16,
        /// The largest number a front port can have.
        max: u16,
    },
    /// More traffic classes than the pipeline supports.
    #[error(
        "`{device}`: QoS profile `{profile}` has {classes} classes, pipeline `{pipeline}` supports {max}"
    )]
    Classes {
        /// The switch.
        device: String,
        /// The profile.
        profile: String,
        /// Its classes.
        classes: usize,
        /// The pipeline.
        pipeline: &'static str,
        /// Classes that the pipeline supports.
        max: usize,
    },
    /// More than a table or a profile holds.
    #[error("`{device}`: {excess}")]
    Full {
        /// The switch.
        device: String,
        /// The full table or profile, and the needed size.
        excess: Excess,
    },
    /// Shares of one route that a group cannot hold.
    #[error("`{device}`: the shares of route {prefix} add up to {total}; a group of `{profile}` holds {max}")]
    Group {
        /// The switch.
        device: String,
        /// The route.
        prefix: String,
        /// The sum of its shares, divided by their greatest common divisor.
        total: u64,
        /// The action profile.
        profile: String,
        /// The largest sum that a group supports.
        max: u64,
    },
    /// Marking thresholds cannot be computed.
    #[error("`{device}`: quality of service: {source}")]
    Qos {
        /// The switch.
        device: String,
        /// The error of the computation.
        source: QosError,
    },
    /// A marking probability that the pipeline cannot express.
    #[error(
        "`{device}`: pipeline `{pipeline}` cannot mark up to {percent} % between {min} and {max} cells; expected at \
         most {} %, because its ramps have 2^n cells", max_marking_percent(*min, *max)
    )]
    Ramp {
        /// The switch.
        device: String,
        /// The pipeline.
        pipeline: &'static str,
        /// Depth in cells up to which no packet is marked.
        min: u64,
        /// Depth in cells above which every packet is marked.
        max: u64,
        /// Marking probability just below `max`, in percent.
        percent: u32,
    },
    /// The P4Info lacks an object that the entries of the pipeline use, or a value does not fit.
    #[error("`{device}`: pipeline `{pipeline}`: {source}")]
    Pipeline {
        /// The switch.
        device: String,
        /// The pipeline.
        pipeline: &'static str,
        /// The error.
        source: Box<Violation>,
    },
    /// An enum of the P4Info lacks a member.
    #[error("pipeline `{pipeline}`: enum `{name}` has no member `{member}`")]
    NoMember {
        /// The pipeline.
        pipeline: &'static str,
        /// The enum.
        name: &'static str,
        /// The missing member.
        member: &'static str,
    },
}

/// Returns the highest marking probability just below `max`, in percent, that a ramp of 2^n cells from `min` allows.
fn max_marking_percent(min: u64, max: u64) -> u64 {
    let span = max.saturating_sub(min).max(1);
    span * 100 / span.next_power_of_two()
}

/// An error, with or without the name of its switch.
#[derive(Debug)]
pub(crate) enum Fault {
    Violation(Box<Violation>),
    Error(EntriesError),
}

impl From<Violation> for Fault {
    fn from(violation: Violation) -> Self {
        Fault::Violation(Box::new(violation))
    }
}

impl From<LookupError> for Fault {
    fn from(error: LookupError) -> Self {
        Violation::from(error).into()
    }
}

impl From<EntriesError> for Fault {
    fn from(error: EntriesError) -> Self {
        Fault::Error(error)
    }
}
