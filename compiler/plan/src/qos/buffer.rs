//! Division of the buffer of a switch.
//!
//! In: the profile, the platform's buffer, the kinds of ports. Out: [`SwitchBuffers`]. Invariants: reservations,
//! headroom and shared pool add up to the buffer. If they do not fit, the error contains the difference.

use closc_platform::Buffer;
use closc_qos::Place;
use closc_qos::QosError;
use closc_qos::buffer::{Division, Memory, Pools, PortGroup, SpectrumPorts, dynamic_limit, pools};
use closc_qos::codes::DynamicThreshold;
use closc_qos::headroom::{Headroom, HeadroomError, Link, Model, Request};
use closc_qos::profile::Profile;
use closc_qos::units::Bytes;

use super::PortKind;
use super::kind::FullPanel;

/// The buffer of a switch and its division.
#[derive(Debug, Clone)]
pub struct SwitchBuffers {
    /// Total size and reservations.
    pub memory: Memory,
    /// Ports with their headroom, one group per kind of port; empty for a lossy profile.
    pub groups: Vec<PortGroup>,
    /// Headroom pool and shared pool.
    pub pools: Pools,
    /// The limit of a lossless queue, if one static egress pool holds all queues of a lossless profile.
    pub lossless_queue_max: Option<Bytes>,
}

impl SwitchBuffers {
    /// Computes headroom and pools.
    pub(super) fn of(
        profile: &Profile,
        buffer: &Buffer,
        kinds: &[PortKind],
        full: FullPanel,
    ) -> Result<Self, QosError> {
        let model: Model = buffer.headroom_model.parse()?;
        let memory = memory(model, profile, buffer, kinds, full);
        let groups = groups(model, profile, memory.cell, kinds)?;
        let pools = pools(&memory, &groups, Division::of(profile))?;
        let lossless_queue_max = buffer.lossless_queue_max.filter(|_| profile.is_lossless());
        Ok(SwitchBuffers { memory, groups, pools, lossless_queue_max })
    }

    /// Returns the headroom of a lossless class on a kind of port; `None` for a lossy profile.
    pub fn headroom(&self, kind: usize) -> Option<&Headroom> {
        self.groups.get(kind).map(PortGroup::headroom)
    }

    /// Returns the share of the shared pool that each of `users` gets if all use as much as possible.
    pub fn share(&self, threshold: DynamicThreshold, users: u32) -> Bytes {
        dynamic_limit(self.pools.shared, threshold, users)
    }
}

/// Returns the buffer and its reservations. Only NVIDIA publishes reservations. Ports of eight lanes reserve less
/// than twice as much as others, so the finest split is an upper bound for any mix.
fn memory(model: Model, profile: &Profile, buffer: &Buffer, kinds: &[PortKind], full: FullPanel) -> Memory {
    let Model::Spectrum(asic) = model else { return Memory::new(buffer.total, buffer.cell) };
    let lossy = profile.priority_groups().values().filter(|classes| !classes[0].pfc).count();
    let lossy = u32::try_from(lossy).unwrap_or(u32::MAX);
    let eight_lanes = if full.lanes == 8 { full.ports } else { 0 };
    let ports = SpectrumPorts {
        up: full.ports,
        up_eight_lanes: eight_lanes,
        lossless: if profile.is_lossless() { full.ports } else { 0 },
        lossless_cabled: if profile.is_lossless() { kinds.iter().map(|kind| kind.ports).sum() } else { 0 },
        lossy_groups: full.ports.saturating_mul(lossy),
        lossy_groups_eight_lanes: eight_lanes.saturating_mul(lossy),
    };
    Memory::spectrum(asic, buffer.total, ports, profile.shared_headroom().is_some())
}

/// Returns the headroom by kind of port; empty for a lossy profile.
fn groups(
    model: Model,
    profile: &Profile,
    cell: Bytes,
    kinds: &[PortKind],
) -> Result<Vec<PortGroup>, HeadroomError> {
    let classes = u32::try_from(profile.lossless().count()).unwrap_or(u32::MAX);
    if classes == 0 {
        return Ok(Vec::new());
    }
    let group = |kind: &PortKind| {
        let link = Link::new(kind.speed, kind.cable, kind.mtu, kind.lanes)?;
        let request = Request::of(link, profile)?;
        PortGroup::new(name(kind.place), kind.ports, classes, model, request, cell)
    };
    kinds.iter().map(group).collect()
}

/// Returns the name of ports of a place for error messages.
fn name(place: Place) -> &'static str {
    match place {
        Place::LastHop => "ports to NICs",
        Place::Edge => "uplinks",
        Place::Fabric => "fabric ports",
    }
}
