//! Quality of service of one switch, with every number computed: headroom, pools, marking thresholds.
//!
//! In: the intent of a switch. Out: [`SwitchQos`], or why the hardware does not support the profile. Invariants:
//! switches and hosts are rendered from the same profile. Ports with equal place, speed, cable, lanes and MTU form
//! one [`PortKind`]. Every number keeps the steps of its calculation. Everything except headroom is computed for a
//! full panel. So with a lossy profile, an additional cable does not change thresholds of existing ports. With a
//! lossless profile, the headroom of an additional cable reduces the shared pool, and the thresholds that the pool
//! limits.

mod buffer;
mod kind;
mod mark;

use std::collections::BTreeMap;

use closc_platform::Buffer;
use closc_qos::QosError;
use closc_qos::codes::Queue;
use closc_qos::ecn::EcnThresholds;
use closc_qos::profile::WatchdogTimes;
use closc_topology::Switch;

pub use buffer::SwitchBuffers;
use kind::FullPanel;
pub use kind::PortKind;
use mark::QueueSpace;

use crate::intent::DeviceIntent;
use crate::plan::Plan;

/// Quality of service of one switch.
#[derive(Debug, Clone)]
pub struct SwitchQos {
    /// Its kinds of ports, in the order of their first port.
    pub kinds: Vec<PortKind>,
    /// Kind of each port, by index in [`DeviceIntent::ports`]; `None` for a port without a cable.
    pub ports: Vec<Option<usize>>,
    /// Division of its buffer; absent on targets without a shared buffer. These do not support PFC.
    pub buffers: Option<SwitchBuffers>,
    /// ECN thresholds of each queue, by kind of port; queues without marking are omitted.
    pub marks: Vec<BTreeMap<Queue, EcnThresholds>>,
    /// Times of the watchdog, if the profile has one. They are computed for a full panel, so growth does not change
    /// them.
    pub watchdog: Option<WatchdogTimes>,
}

impl SwitchQos {
    /// Computes the QoS settings of a switch.
    pub fn of(intent: &DeviceIntent<'_>) -> Result<Self, QosError> {
        let (kinds, ports) = kind::kinds(intent);
        let under = |buffer: &Buffer| buffer.under(intent.os, intent.release, &intent.hardware);
        let buffers = intent.platform.buffer.as_ref().map(under);
        let full = FullPanel::of(&intent.platform.panel, &intent.ports);
        let buffers =
            buffers.map(|buffer| SwitchBuffers::of(intent.qos, &buffer, &kinds, full)).transpose()?;
        let space = match (&buffers, intent.os.queue_packets()) {
            (Some(buffers), _) => Some(QueueSpace::Shared { buffers, full }),
            (None, Some(packets)) => Some(QueueSpace::Own { packets }),
            (None, None) => None,
        };
        let marks = match space {
            Some(space) => mark::marks(intent, &kinds, space)?,
            None => vec![BTreeMap::new(); kinds.len()],
        };
        let watchdog = intent.qos.watchdog().map(|watchdog| watchdog.times(full.ports));
        Ok(SwitchQos { kinds, ports, buffers, marks, watchdog })
    }
}

impl Plan {
    /// Computes the QoS settings of a switch.
    pub fn qos(&self, switch: Switch) -> Result<SwitchQos, QosError> {
        SwitchQos::of(&self.device(switch))
    }
}
