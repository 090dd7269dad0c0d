//! Defaults of addresses, packet sizes and entropy values.

use std::ops::RangeInclusive;
use std::sync::Arc;

use closc_artefacts::{Family, Prefix};
use closc_platform::Balance;

use super::number;
use crate::choice::{Pin, TierBalance};
use crate::document::{AddressWidthsDoc, AddressesDoc, EcmpDoc, EntropyDoc, MtuDoc};
use crate::model::{Addresses, Ecmp, Entropy, Mtu, Topology};
use crate::read::Spanned;
use crate::widths::AddressWidths;

/// First private number of 32 bits (RFC 6996 section 5).
const DEFAULT_ASN: u32 = 4_200_000_000;
/// Default MTU of SONiC ports, and the maximum in SONiC's YANG model.
const DEFAULT_LINK_MTU: u16 = 9216;
/// Common jumbo frame size of hosts.
const DEFAULT_PAYLOAD: u16 = 9000;
/// RoCEv2 (IANA: roce).
const DEFAULT_UDP_PORT: u16 = 4791;
/// Entropy values in use per plane. Published sets have 128 to 256 over eight planes; more than about 100 bring
/// little gain.
const ACTIVE_PER_PLANE: u64 = 16;

/// Returns the pools, stated or default.
pub(super) fn addresses(doc: Option<&AddressesDoc>) -> Addresses {
    let doc = doc.cloned().unwrap_or_default();
    // Unique local addresses (RFC 4193), so that addresses of a file without pools are not routed elsewhere.
    let pool = |stated: Option<crate::read::Spanned<Prefix>>, default: &str| {
        stated.map_or_else(|| default.parse().expect("the default pools are prefixes"), |stated| stated.value)
    };
    let hosts = pool(doc.hosts, "fd00:c105:1::/48");
    let (links, loopbacks) = match hosts.family() {
        // Shared and private addresses (RFC 6598, RFC 1918) that neither 10.0.0.0/8 nor container bridges use.
        Family::V4 => ("100.64.0.0/10", "192.168.0.0/16"),
        Family::V6 => ("fd00:c105:2::/48", "fd00:c105:3::/64"),
    };
    Addresses {
        hosts,
        links: pool(doc.links, links),
        loopbacks: pool(doc.loopbacks, loopbacks),
        management: doc.management.map(|pool| pool.value),
        management_gateway: doc.management_gateway.map(|gateway| gateway.value),
        management_list: Arc::default(),
        asn_base: doc.asn_base.map_or(DEFAULT_ASN, |asn| asn.value),
        widths: widths(doc.widths.as_ref()),
    }
}

/// Returns the bits of coordinates; widths out of range, which E0504 reports, are replaced by the default.
fn widths(doc: Option<&AddressWidthsDoc>) -> AddressWidths {
    let doc = doc.cloned().unwrap_or_default();
    let within = |stated: Option<Spanned<u8>>, range: RangeInclusive<u8>| {
        stated.map(|bits| bits.value).filter(|bits| range.contains(bits))
    };
    AddressWidths {
        zone: within(doc.zone, AddressWidths::ZONE_MIN..=AddressWidths::ZONE_MAX)
            .unwrap_or(AddressWidths::ZONE),
        index: within(doc.index, 1..=AddressWidths::INDEX_MAX),
        plane: within(doc.plane, 0..=AddressWidths::PLANE_MAX),
        t0_downlink: within(doc.t0_downlink, 1..=AddressWidths::PORT_MAX),
        t0_uplink: within(doc.t0_uplink, 1..=AddressWidths::PORT_MAX),
        t1_uplink: within(doc.t1_uplink, 1..=AddressWidths::PORT_MAX),
    }
}

/// Returns the packet sizes, stated or default. The default MTU of a link is at most that of every operating system in
/// use.
pub(super) fn mtu(doc: Option<&MtuDoc>, ports_max: Option<u16>) -> Mtu {
    let doc = doc.cloned().unwrap_or_default();
    let usual = ports_max.map_or(DEFAULT_LINK_MTU, |max| max.min(DEFAULT_LINK_MTU));
    let link = doc.link.map_or(usual, |link| link.value);
    let room = link.saturating_sub(Topology::ENCAPSULATION.0 as u16);
    Mtu { link, payload: doc.payload.map_or(room.min(DEFAULT_PAYLOAD), |payload| payload.value) }
}

/// Maximum queue pairs of a connection by default: the number with which Llama 3 was trained. Each queue pair takes
/// memory on the NIC.
const QPS_PER_CONNECTION: u64 = 16;

/// Returns how traffic is spread, stated or default. The default is one flow per uplink, at most 16.
pub(super) fn ecmp(doc: Option<&EcmpDoc>, uplinks: u64) -> Ecmp {
    let doc = doc.cloned().unwrap_or_default();
    let qps = number(doc.qps_per_connection, uplinks.clamp(1, QPS_PER_CONNECTION));
    Ecmp {
        pin: doc.pin.map_or(Pin::None, |pin| pin.value),
        pins: Arc::default(),
        qps_per_connection: u16::try_from(qps).unwrap_or(u16::MAX),
        balance: balance(&doc),
    }
}

/// Returns how switches choose among next hops: as stated for their tier, else as stated for all tiers.
fn balance(doc: &EcmpDoc) -> TierBalance {
    let usual = doc.balance.map_or(Balance::Hash, |balance| balance.value);
    let own = doc.balance_by_tier.clone().unwrap_or_default();
    let of = |stated: Option<Spanned<Balance>>| stated.map_or(usual, |own| own.value);
    TierBalance { t0: of(own.t0), t1: of(own.t1), t2: of(own.t2) }
}

/// Returns the entropy values, stated or default. By default, a plane has at most as many of them as a T0 has uplinks.
pub(super) fn entropy(doc: Option<&EntropyDoc>, planes: u64, uplinks: u64) -> Entropy {
    let doc = doc.cloned().unwrap_or_default();
    let planes = planes.clamp(1, 16);
    let default_active = ACTIVE_PER_PLANE.min(uplinks).max(1) * planes;
    let active = number(doc.active, default_active);
    let left = uplinks.saturating_sub(active.div_ceil(planes));
    let backup = number(doc.backup, (active / planes).min(left) * planes);
    let clamp = |value: u64| u16::try_from(value).unwrap_or(u16::MAX);
    Entropy {
        active: clamp(active),
        backup: clamp(backup),
        min_active: clamp(number(doc.min_active, active / 2)),
        seed: number(doc.seed, 0),
        udp_port: doc.udp_port.map_or(DEFAULT_UDP_PORT, |port| port.value),
    }
}
