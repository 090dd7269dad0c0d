//! When each queue is marked.
//!
//! In: the intent of a switch, its kinds of ports and its buffer. Out: thresholds by kind and queue. Invariants: a
//! queue is marked before it is full or pauses its senders; where the profile does not mark the last hop, no queue
//! of a port to a NIC is.

use std::collections::BTreeMap;

use closc_qos::codes::Queue;
use closc_qos::ecn::{Ecn, EcnContext, EcnError, EcnThresholds, Limit};
use closc_qos::profile::Class;

use super::kind::FullPanel;
use super::{PortKind, SwitchBuffers};
use crate::intent::DeviceIntent;

pub(super) fn marks(
    intent: &DeviceIntent<'_>,
    kinds: &[PortKind],
    buffers: &SwitchBuffers,
    full: FullPanel,
) -> Result<Vec<BTreeMap<Queue, EcnThresholds>>, EcnError> {
    let of_kind = |kind: &PortKind| {
        let mut found = BTreeMap::new();
        for (queue, classes) in intent.qos.queues() {
            if let Some(thresholds) = thresholds(intent, kind, classes[0], full, buffers)? {
                found.insert(queue, thresholds);
            }
        }
        Ok(found)
    };
    kinds.iter().map(of_kind).collect()
}

/// Returns the thresholds of a class on a kind of port; nothing where it is not marked.
fn thresholds(
    intent: &DeviceIntent<'_>,
    kind: &PortKind,
    class: &Class,
    full: FullPanel,
    buffers: &SwitchBuffers,
) -> Result<Option<EcnThresholds>, EcnError> {
    let rule = intent.qos.ecn_rule(class, kind.place);
    // Computed thresholds hold even when every port of the panel is full. Chosen ones are taken as they are, as long as one
    // full port can reach them.
    let users = match rule {
        Ecn::Computed(_) => full.ports,
        Ecn::Off | Ecn::Preset(_) | Ecn::Thresholds(_) | Ecn::Fill(_) => 1,
    };
    let limit = if class.pfc {
        Limit::Xoff(buffers.share(class.ingress_threshold, users))
    } else {
        Limit::Queue(buffers.share(class.egress_threshold, users))
    };
    rule.thresholds(&EcnContext {
        speed: kind.speed,
        cell: buffers.memory.cell,
        mtu: kind.mtu,
        place: kind.place,
        base_rtt: intent.base_rtt,
        limit,
    })
}
