//! Quality of service of one switch, with every number worked out: headroom, pools, marking thresholds.
//!
//! In: the intent of a switch. Out: [`SwitchQos`], or why the profile and the hardware do not go together. Invariants:
//! read off the one profile that the hosts are rendered from; ports that are alike in place, speed, cable, lanes
//! and MTU are one [`PortKind`]; every number keeps its steps. What is not headroom is computed for a panel full
//! of ports, so that one more cable changes no threshold of the others.

mod buffer;
mod kind;
mod mark;

use std::collections::BTreeMap;

use closc_qos::QosError;
use closc_qos::codes::Queue;
use closc_qos::ecn::EcnThresholds;
use closc_qos::profile::WatchdogTimes;
use closc_topology::Switch;

pub use buffer::SwitchBuffers;
use kind::FullPanel;
pub use kind::PortKind;
use mark::Room;

use crate::intent::DeviceIntent;
use crate::plan::Plan;

/// Quality of service of one switch.
#[derive(Debug, Clone)]
pub struct SwitchQos {
    /// Its kinds of ports, in the order of their first port.
    pub kinds: Vec<PortKind>,
    /// Kind of each port, by index in [`DeviceIntent::ports`]; nothing for a port without a cable.
    pub ports: Vec<Option<usize>>,
    /// Its buffer, divided; absent on targets without one of their own, which do not pause.
    pub buffers: Option<SwitchBuffers>,
    /// When each queue is marked, by kind of port; a queue that is not marked is left out.
    pub marks: Vec<BTreeMap<Queue, EcnThresholds>>,
    /// Times of the watchdog, where the profile has one: those of a full panel, so that growth changes none.
    pub watchdog: Option<WatchdogTimes>,
}

impl SwitchQos {
    /// Works out what a switch is given.
    pub fn of(intent: &DeviceIntent<'_>) -> Result<Self, QosError> {
        let (kinds, ports) = kind::kinds(intent);
        let buffers = intent.platform.buffer.as_ref();
        let full = FullPanel::of(&intent.platform.panel, &intent.ports);
        let buffers =
            buffers.map(|buffer| SwitchBuffers::of(intent.qos, buffer, &kinds, full)).transpose()?;
        let room = match (&buffers, intent.os.queue_packets()) {
            (Some(buffers), _) => Some(Room::Shared { buffers, full }),
            (None, Some(packets)) => Some(Room::Own { packets }),
            (None, None) => None,
        };
        let marks = match room {
            Some(room) => mark::marks(intent, &kinds, room)?,
            None => vec![BTreeMap::new(); kinds.len()],
        };
        let watchdog = intent.qos.watchdog().map(|watchdog| watchdog.times(full.ports));
        Ok(SwitchQos { kinds, ports, buffers, marks, watchdog })
    }
}

impl Plan {
    /// Works out the quality of service of a switch.
    pub fn qos(&self, switch: Switch) -> Result<SwitchQos, QosError> {
        SwitchQos::of(&self.device(switch))
    }
}
