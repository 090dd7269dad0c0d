//! The packet buffer of a switch: checks that headroom fits, and computes the shared pool.
//!
//! In: a [`Memory`], the [`PortGroup`]s of a switch with their headroom, and the sharing of the profile. Out: the
//! [`Pools`] with all terms of the sum, or a [`Refusal`] with the calculation and suggestions. Invariants: allocations
//! never exceed the memory, and the shared pool has space for one packet per port.

mod dynamic;
mod error;
mod memory;
mod port;
mod refusal;

pub use dynamic::dynamic_limit;
pub use error::BufferError;
pub use memory::{Memory, Reservation, SpectrumPorts};
pub use port::{PortCheck, PortSum, check_port};
pub use refusal::{Refusal, RefusalLine, Suggestion};

use std::num::NonZeroU32;

use serde::Serialize;

use crate::codes::Percent;
use crate::explain::{Breakdown, Unit, exact};
use crate::headroom::{Headroom, HeadroomError, Model, Request};
use crate::profile::{BufferShares, Profile, SharedHeadroom};
use crate::units::Bytes;

/// Equal ports of a switch, with the same speed and cable length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortGroup {
    name: String,
    ports: u32,
    classes: u32,
    model: Model,
    request: Request,
    cell: Bytes,
    headroom: Headroom,
}

impl PortGroup {
    /// Computes the headroom of `ports` equal ports with `classes` lossless classes each; `cell` is the allocation unit
    /// of the platform.
    pub fn new(
        name: impl Into<String>,
        ports: u32,
        classes: u32,
        model: Model,
        request: Request,
        cell: Bytes,
    ) -> Result<Self, HeadroomError> {
        let headroom = model.headroom(&request, Some(cell))?;
        Ok(Self { name: name.into(), ports, classes, model, request, cell, headroom })
    }

    /// Returns the name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of ports.
    pub fn ports(&self) -> u32 {
        self.ports
    }

    /// Returns the number of lossless classes on each port.
    pub fn classes(&self) -> u32 {
        self.classes
    }

    /// Returns the request for the headroom.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Returns the headroom of one class of one port.
    pub fn headroom(&self) -> &Headroom {
        &self.headroom
    }

    /// Returns the total number of lossless groups on all ports.
    fn groups(&self) -> u64 {
        u64::from(self.ports) * u64::from(self.classes)
    }

    fn guaranteed_bytes(&self) -> Bytes {
        Bytes(self.headroom.size.0.saturating_mul(self.groups()))
    }

    fn pooled_bytes(&self) -> Bytes {
        Bytes(self.headroom.pooled.0.saturating_mul(self.groups()))
    }

    /// Returns the space for one packet per port, lossless or not.
    fn one_packet_each(&self) -> Bytes {
        Bytes(self.request.link().mtu().0.saturating_mul(u64::from(self.ports)))
    }
}

/// Rules of the profile for dividing the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Division {
    /// Sharing of headroom between ports.
    pub shared_headroom: Option<SharedHeadroom>,
    /// Fixed shares of the memory that is not reserved.
    pub shares: Option<BufferShares>,
}

impl Division {
    /// Returns the division of a profile.
    pub fn of(profile: &Profile) -> Self {
        Self { shared_headroom: profile.shared_headroom(), shares: profile.buffer_shares() }
    }

    fn ratio(self) -> NonZeroU32 {
        self.shared_headroom.map_or(NonZeroU32::MIN, |shared| shared.over_subscribe_ratio)
    }
}

/// Sizes of the pools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pools {
    /// The sum of the guaranteed bytes of all groups.
    pub guaranteed: Bytes,
    /// The pool from which headroom is taken (SONiC: `BUFFER_POOL|ingress_lossless_pool|xoff`).
    pub headroom: Bytes,
    /// The remaining bytes, which are shared (SONiC: `BUFFER_POOL|ingress_lossless_pool|size`).
    pub shared: Bytes,
    /// All steps, in order.
    pub terms: Breakdown,
}

/// Divides the memory of a switch, or returns the reason for failure and suggestions.
pub fn pools(memory: &Memory, groups: &[PortGroup], division: Division) -> Result<Pools, BufferError> {
    let sum = Sum::of(memory, groups, division);
    if sum.fits() {
        Ok(sum.into_pools(memory, groups, division))
    } else {
        Err(refuse(memory, groups, division))
    }
}

fn refuse(memory: &Memory, groups: &[PortGroup], division: Division) -> BufferError {
    BufferError::HeadroomDoesNotFit(Box::new(Refusal::new(memory, groups, division)))
}

/// The required bytes, and the memory that must hold them. Steps are not recorded, because refusals try many
/// combinations.
#[derive(Debug, Clone, Copy)]
struct Sum {
    memory: Bytes,
    reserved: Bytes,
    guaranteed: Bytes,
    headroom: Bytes,
    floor: Bytes,
    /// Maximum for the sum of guaranteed bytes and headroom, if the profile sets a fixed share.
    share: Option<Bytes>,
}

impl Sum {
    fn of(memory: &Memory, groups: &[PortGroup], division: Division) -> Self {
        let total = memory.total.round_down(memory.cell);
        let reserved = memory.reserved_sum();
        let free = Bytes(total.0.saturating_sub(reserved.0));
        Self {
            memory: total,
            reserved,
            guaranteed: groups.iter().map(PortGroup::guaranteed_bytes).sum(),
            headroom: headroom_pool(memory, groups, division),
            floor: groups.iter().map(PortGroup::one_packet_each).sum(),
            share: division.shares.map(|shares| shares.headroom.of(free)),
        }
    }

    /// Returns the bytes that are reserved before anything is shared.
    fn reserved_total(&self) -> Bytes {
        self.reserved + self.guaranteed + self.headroom
    }

    fn fits(&self) -> bool {
        let share = self.share.is_none_or(|share| self.guaranteed + self.headroom <= share);
        share && self.reserved_total() + self.floor <= self.memory
    }

    fn into_pools(self, memory: &Memory, groups: &[PortGroup], division: Division) -> Pools {
        let mut terms = Breakdown::default();
        let bytes = |bytes: Bytes| exact(bytes.0, 1_u8);
        let cells = format!("{} in whole cells of {}", memory.total.0, memory.cell.0);
        terms.bytes("memory", bytes(self.memory), cells, "platform");
        for Reservation { name, bytes: reserved, formula, source } in &memory.reserved {
            terms.bytes(name.clone(), bytes(*reserved), formula.clone(), source.clone());
        }
        for group in groups {
            let name = &group.name;
            let count = format!("{} ports x {} lossless classes", group.ports, group.classes);
            let size = format!("{count} x {} guaranteed", group.headroom.size.0);
            terms.bytes(format!("{name}: guaranteed"), bytes(group.guaranteed_bytes()), size, "headroom");
            let pooled = format!("{count} x {} XOFF", group.headroom.pooled.0);
            terms.bytes(
                format!("{name}: from the headroom pool"),
                bytes(group.pooled_bytes()),
                pooled,
                "headroom",
            );
        }
        let ratio = division.ratio();
        terms.push(
            "over-subscribe ratio",
            exact(ratio.get(), 1_u8),
            Unit::Ratio,
            "sum of headrooms / headroom pool",
            "profile: shared_headroom",
        );
        let private = memory.private_headroom;
        let formula = format!("(sum from the pool - {} private) / {ratio}, at least one group's", private.0);
        terms.bytes("headroom pool", bytes(self.headroom), formula, "SONiC shared headroom pool");
        let shared = Bytes(self.memory.0 - self.reserved_total().0);
        terms.bytes(
            "shared pool",
            bytes(shared),
            "memory - reserved - guaranteed - headroom pool",
            "SONiC ingress_lossless_pool",
        );
        Pools { guaranteed: self.guaranteed, headroom: self.headroom, shared, terms }
    }
}

/// Returns the size of the headroom pool: the sum without private headroom, divided by the ratio, but at least the
/// headroom of the largest group.
fn headroom_pool(memory: &Memory, groups: &[PortGroup], division: Division) -> Bytes {
    let sum: Bytes = groups.iter().map(PortGroup::pooled_bytes).sum();
    if sum == Bytes::ZERO {
        return Bytes::ZERO;
    }
    let beyond = sum.0.saturating_sub(memory.private_headroom.0);
    let largest = groups.iter().filter(|group| group.groups() > 0).map(|group| group.headroom.pooled.0).max();
    Bytes(beyond.div_ceil(u64::from(division.ratio().get())).max(largest.unwrap_or(0)))
}

impl Pools {
    /// Returns guaranteed bytes and headroom as a percentage of the memory, rounded down.
    pub fn headroom_percent(&self, memory: &Memory) -> Percent {
        let taken = u128::from((self.guaranteed + self.headroom).0) * 100;
        let percent = taken.checked_div(u128::from(memory.total.0)).unwrap_or(100).min(100);
        Percent::new(percent as u8).expect("capped at 100")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headroom::Link;
    use crate::profile::LosslessTraffic;
    use crate::units::{Length, Speed};

    /// Dell S6100 guide, p. 281: 12 ports of 40G with 2 lossless groups. Each group has 18 KB and needs 76 KB of
    /// headroom in the worst case; with 208 KB for everything else, this is 2,464 KB. With a shared pool, 35 KB per
    /// group are enough: 1,480 KB.
    #[test]
    fn the_published_example_of_sharing_comes_out() {
        const KB: u64 = 1024;
        let link = Link::new(Speed::gbps(40), Length::from_meters(300), Bytes(9216), 4).unwrap();
        let request = Request::new(link, LosslessTraffic::default(), false).unwrap();
        let mut group = PortGroup::new("ports", 12, 2, Model::Ieee, request, Bytes(208)).unwrap();
        (group.headroom.size, group.headroom.pooled) = (Bytes(18 * KB), Bytes(76 * KB));
        let mut memory = Memory::new(Bytes(16_000 * KB), Bytes(1));
        memory.reserved.push(Reservation {
            name: "rest".into(),
            bytes: Bytes(208 * KB),
            formula: "published".into(),
            source: "Dell S6100 guide".into(),
        });
        let taken = |division: Division| {
            let sum = Sum::of(&memory, std::slice::from_ref(&group), division);
            sum.reserved_total().0 / KB
        };
        assert_eq!(taken(Division::default()), 2_464);
        // 35 KB are 76 / 2.17, so the ratio is between 2 and 3.
        let share = |ratio: u32| Division {
            shared_headroom: Some(SharedHeadroom { over_subscribe_ratio: ratio.try_into().unwrap() }),
            shares: None,
        };
        assert!(taken(share(3)) < 1_480 && 1_480 < taken(share(2)));
    }
}
