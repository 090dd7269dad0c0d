//! The buffer of a switch, divided.
//!
//! In: the profile, the platform's buffer, the kinds of ports. Out: [`SwitchBuffers`]. Invariants: what is reserved,
//! what is kept for headroom and what is shared add up to the buffer, or the refusal says by how much they do not.

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

/// The buffer of a switch, divided.
#[derive(Debug, Clone)]
pub struct SwitchBuffers {
    /// All of it, and what is taken beforehand.
    pub memory: Memory,
    /// Ports with their headroom, one group for each kind of port; empty in a lossy profile.
    pub groups: Vec<PortGroup>,
    /// Headroom and the rest to share.
    pub pools: Pools,
}

impl SwitchBuffers {
    /// Works out headroom and pools.
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
        Ok(SwitchBuffers { memory, groups, pools })
    }

    /// Returns the headroom of a lossless class on a kind of port; nothing in a lossy profile.
    pub fn headroom(&self, kind: usize) -> Option<&Headroom> {
        self.groups.get(kind).map(PortGroup::headroom)
    }

    /// Returns what one of `users` of the shared pool gets when all want as much as they can.
    pub fn share(&self, threshold: DynamicThreshold, users: u32) -> Bytes {
        dynamic_limit(self.pools.shared, threshold, users)
    }
}

/// The buffer and what is taken beforehand, which NVIDIA publishes and others do not. Ports of eight lanes take less
/// than twice as much as others, so the finest split is enough for any mix.
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

/// Headroom by kind of port; nothing for a lossy profile.
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

/// Names ports of a place in a refusal.
fn name(place: Place) -> &'static str {
    match place {
        Place::LastHop => "ports to NICs",
        Place::Edge => "uplinks",
        Place::Fabric => "fabric ports",
    }
}
