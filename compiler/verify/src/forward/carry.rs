//! Determines whether a cable carries a frame.
//!
//! In: a cable, the sending end, and the next hop of the route. Out: yes or no. Invariants: a receiving NIC without
//! files in the tree counts as configured correctly. Callers decide whether a NIC without files sends.

use crate::check::bgp::comes_up;
use crate::model::cabling::{Cable, DeviceId, Side};
use crate::model::fabric::Fabric;
use crate::model::language::NeighbourResolution;
use crate::model::switch::Gateway;

/// Returns whether a cable carries a frame from one side to the other.
pub(crate) fn carries(fabric: &Fabric, cable: &Cable, from: Side, gateway: Gateway) -> bool {
    let (own, far) = cable.ends(from);
    let Some(near) = fabric.end_state(own) else { return false };
    let ours = near.facts.of(&fabric.facts);
    if !near.configured || !ours.up {
        return false;
    }
    let Some(there) = fabric.end_state(far) else {
        // A NIC without files counts as configured correctly; a switch whose files do not parse does not.
        return matches!(far.party, DeviceId::Node(_)) && gateway != Gateway::Other;
    };
    let theirs = there.facts.of(&fabric.facts);
    let wire = agree_if_known(ours.wire.speed, theirs.wire.speed)
        && agree_if_known(ours.wire.mtu, theirs.wire.mtu)
        && agree_if_known(ours.wire.fec, theirs.wire.fec);
    // If the ingress filter of the far port is for another kind of neighbour, it drops the packet.
    let accepted = theirs.faces_nic.is_none_or(|nic| nic == matches!(own.party, DeviceId::Node(_)));
    if !there.configured || !theirs.up || !wire || !accepted {
        return false;
    }
    // With BGP at both ends, each end receives the address of the other in the session.
    if let (DeviceId::Switch(_), DeviceId::Switch(_), Gateway::Peer) = (own.party, far.party, gateway)
        && comes_up(fabric, own, far)
    {
        return true;
    }
    let resolved = match gateway {
        Gateway::Other => false,
        Gateway::Unneeded => true,
        Gateway::Peer => match (near.address, there.address) {
            (Some(a), Some(b)) => u128::from(a) ^ u128::from(b) == 1,
            // A far end whose language has no addresses is reached by its MAC address.
            (Some(_), None) => lacks_addresses(fabric, far.party),
            (None, _) => false,
        },
    };
    let addressed = match (near.neighbour, there.mac) {
        (Some(expected), Some(mac)) => expected == mac,
        // Without a static neighbour, the address is resolved. NICs, nodes and switches with factory MAC addresses
        // answer. Such switches also resolve all their neighbours.
        (None, _) => {
            matches!(far.party, DeviceId::Node(_)) || asks(fabric, own.party) || asks(fabric, far.party)
        }
        (Some(_), None) => true,
    };
    resolved && addressed
}

fn agree_if_known<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b,
        (None, _) | (_, None) => true,
    }
}

/// Returns whether a device resolves the MAC address of every neighbour.
fn asks(fabric: &Fabric, party: DeviceId) -> bool {
    match party {
        DeviceId::Switch(id) => {
            fabric.switch(id).is_some_and(|switch| switch.language.asks == NeighbourResolution::All)
        }
        DeviceId::Node(_) => false,
    }
}

fn lacks_addresses(fabric: &Fabric, party: DeviceId) -> bool {
    match party {
        DeviceId::Switch(id) => fabric.switch(id).is_some_and(|switch| !switch.language.addresses),
        DeviceId::Node(_) => false,
    }
}
