//! ECN thresholds of each queue.
//!
//! In: the intent of a switch, its kinds of ports and the buffer space of its queues. Out: thresholds by kind and
//! queue. Invariants: packets are marked before a queue is full or PFC pauses its senders. If the profile does not
//! mark the last hop, queues of ports to NICs are not marked.

use std::collections::BTreeMap;

use closc_qos::codes::Queue;
use closc_qos::ecn::{Ecn, EcnContext, EcnError, EcnThresholds, Limit};
use closc_qos::profile::Class;
use closc_qos::units::Bytes;

use super::kind::FullPanel;
use super::{PortKind, SwitchBuffers};
use crate::intent::DeviceIntent;

/// The highest threshold of a kernel queue. The kernel keeps scaled averages in 32 bits (`red_check_params`).
const THRESHOLD_MAX: Bytes = Bytes(1 << 29);

/// The buffer space that queues can use.
#[derive(Clone, Copy)]
pub(super) enum QueueSpace<'a> {
    /// Part of a buffer that all ports of the full panel share.
    Shared { buffers: &'a SwitchBuffers, full: FullPanel },
    /// A separate queue per class, with this number of full-size packets, or more if the thresholds require it.
    Own { packets: u32 },
}

impl QueueSpace<'_> {
    /// Returns the granularity of thresholds.
    fn cell(self) -> Bytes {
        match self {
            QueueSpace::Shared { buffers, .. } => buffers.memory.cell,
            QueueSpace::Own { .. } => Bytes(1),
        }
    }

    /// Returns the limit that the upper threshold of a class must stay below.
    fn limit(self, class: &Class, rule: Ecn, mtu: Bytes) -> Limit {
        match self {
            QueueSpace::Shared { buffers, full } => {
                // Computed thresholds are valid even if the queues of all ports fill at the same time.
                // Configured ones are accepted if a queue reaches them while all other ports are idle.
                let users = match rule {
                    Ecn::Computed(_) => full.ports,
                    Ecn::Off | Ecn::Preset(_) | Ecn::Thresholds(_) | Ecn::Fill(_) => 1,
                };
                if class.pfc {
                    Limit::Xoff(buffers.share(class.ingress_threshold, users))
                } else {
                    Limit::Queue(buffers.share(class.egress_threshold, users))
                }
            }
            QueueSpace::Own { packets } => Limit::Queue(match rule {
                Ecn::Fill(_) => Bytes(mtu.0.saturating_mul(packets.into())),
                Ecn::Off | Ecn::Preset(_) | Ecn::Thresholds(_) | Ecn::Computed(_) => THRESHOLD_MAX,
            }),
        }
    }
}

pub(super) fn marks(
    intent: &DeviceIntent<'_>,
    kinds: &[PortKind],
    space: QueueSpace<'_>,
) -> Result<Vec<BTreeMap<Queue, EcnThresholds>>, EcnError> {
    let of_kind = |kind: &PortKind| {
        let mut found = BTreeMap::new();
        for (queue, classes) in intent.qos.queues() {
            if let Some(thresholds) = thresholds(intent, kind, classes[0], space)? {
                found.insert(queue, thresholds);
            }
        }
        Ok(found)
    };
    kinds.iter().map(of_kind).collect()
}

/// Returns the thresholds of a class on a kind of port; `None` if it is not marked.
fn thresholds(
    intent: &DeviceIntent<'_>,
    kind: &PortKind,
    class: &Class,
    space: QueueSpace<'_>,
) -> Result<Option<EcnThresholds>, EcnError> {
    let rule = intent.qos.ecn_rule(class, kind.place);
    rule.thresholds(&EcnContext {
        speed: kind.speed,
        cell: space.cell(),
        mtu: kind.mtu,
        place: kind.place,
        base_rtt: intent.base_rtt,
        limit: space.limit(class, rule, kind.mtu),
    })
}
