//! Determines whether nodes send segment lists, and accept packets for their segments.

use closc_artefacts::Prefix;

use crate::forward::carry::carries;
use crate::model::cabling::{Cable, DeviceId, Side};
use crate::model::fabric::Fabric;
use crate::model::segment::Usid;
use crate::model::switch::Gateway;

/// Returns whether the NIC at the lower end of a cable sends segment lists that begin with a uSID over the cable. Nodes
/// without files count as configured correctly.
pub(crate) fn sends(fabric: &Fabric, cable: &Cable, first: Option<Usid>) -> bool {
    let DeviceId::Node(id) = cable.lower.party else { return false };
    let Some(node) = fabric.node(id) else { return true };
    let slot = usize::from(cable.lower.slot);
    let Some(first) = first else { return false };
    let answers = node.ends.get(slot).is_some_and(|end| end.configured);
    let way = node.first.get(slot).is_some_and(|ways| ways.contains(&(first, true)));
    answers && way && carries(fabric, cable, Side::Lower, Gateway::Peer)
}

/// Returns whether the NIC at the lower end of a cable accepts packets for a segment.
pub(crate) fn accepts(fabric: &Fabric, cable: &Cable, segment: Prefix) -> bool {
    let DeviceId::Node(id) = cable.lower.party else { return false };
    fabric.node(id).is_none_or(|node| node.decapsulates.binary_search(&segment).is_ok())
}
