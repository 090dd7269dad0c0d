//! The uSID layout as the file states it, and one to suggest if it does not fit.

use super::number;
use crate::choice::SegmentPlan;
use crate::document::Srv6Doc;
use crate::usid::{GIB_MAX, Role, UsidLayout};

/// Widths and codes, which may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DraftLayout {
    pub(crate) plan: SegmentPlan,
    pub(crate) role: u64,
    pub(crate) plane: u64,
    pub(crate) zone: u64,
    pub(crate) index: u64,
    /// By [`Role::ALL`].
    pub(crate) codes: [u64; 4],
}

/// The numbers that must fit into a layout.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demand {
    pub(crate) planes: u64,
    pub(crate) zones: u64,
    /// The largest index of each role, by [`Role::ALL`]; 0 for a role that is not used.
    pub(crate) indices: [u64; 4],
}

impl DraftLayout {
    /// Returns the stated layout. Omitted values are those of the default.
    pub(super) fn new(doc: Option<&Srv6Doc>, has_t2: bool) -> Self {
        let plan = doc.and_then(|srv6| srv6.plan).map_or(SegmentPlan::PlaneInUsid, |plan| plan.value);
        let default = UsidLayout::default_of(plan, has_t2);
        let widths = doc.and_then(|srv6| srv6.widths.clone()).unwrap_or_default();
        let roles = doc.and_then(|srv6| srv6.roles.clone()).unwrap_or_default();
        DraftLayout {
            plan,
            role: number(widths.role, default.role_bits.into()),
            plane: number(widths.plane, default.plane_bits.into()),
            zone: number(widths.zone, default.zone_bits.into()),
            index: number(widths.index, default.index_bits.into()),
            codes: [
                number(roles.t0, default.code(Role::T0).into()),
                number(roles.t1, default.code(Role::T1).into()),
                number(roles.nic, default.code(Role::Nic).into()),
                number(roles.t2, default.code(Role::T2).into()),
            ],
        }
    }

    /// Returns the widths in the order of the bits.
    pub(crate) fn widths(&self) -> [(&'static str, u64); 4] {
        [("role", self.role), ("plane", self.plane), ("zone", self.zone), ("index", self.index)]
    }

    /// Returns the sum of the widths.
    pub(crate) fn sum(&self) -> u64 {
        self.role + self.plane + self.zone + self.index
    }

    /// Returns the number of index bits of a role. T2s and NICs also use the bits of the zone.
    pub(crate) fn index_bits(&self, role: Role) -> u64 {
        match role {
            Role::T0 | Role::T1 => self.index,
            Role::T2 | Role::Nic => self.index + self.zone,
        }
    }

    /// Returns the code of a role.
    pub(crate) fn code(&self, role: Role) -> u64 {
        let place = Role::ALL.iter().position(|r| *r == role).expect("every role is one of all");
        self.codes[place]
    }

    /// Returns the largest uSID of a role whose largest index is `index`.
    pub(crate) fn largest(&self, role: Role, demand: &Demand, index: u64) -> u64 {
        let zone = match role {
            Role::T0 | Role::T1 => demand.zones.saturating_sub(1),
            Role::T2 | Role::Nic => 0,
        };
        let shift = |value: u64, bits: u64| value.checked_shl(bits as u32).unwrap_or(u64::MAX);
        let low = self.zone + self.index;
        shift(self.code(role), self.plane + low)
            .saturating_add(shift(self.planes_in_usid(demand) - 1, low))
            .saturating_add(shift(zone, self.index))
            .saturating_add(index)
    }

    /// Returns how many planes uSIDs distinguish.
    pub(crate) fn planes_in_usid(&self, demand: &Demand) -> u64 {
        match self.plan {
            SegmentPlan::PlaneInUsid => demand.planes.max(1),
            SegmentPlan::PlaneInBlock => 1,
        }
    }

    /// Returns whether every number of a fabric fits its bits.
    pub(crate) fn holds(&self, demand: &Demand) -> bool {
        self.sum() == 16
            && self.codes.iter().all(|code| *code < 1 << self.role.min(16))
            && bits(self.planes_in_usid(demand)) <= self.plane
            && bits(demand.zones) <= self.zone
            && Role::ALL
                .iter()
                .zip(demand.indices)
                .all(|(role, index)| index < 1 << self.index_bits(*role).min(32))
    }

    /// Returns whether every uSID of a fabric is in the global block.
    fn fits(&self, demand: &Demand) -> bool {
        self.holds(demand)
            && Role::ALL
                .iter()
                .zip(demand.indices)
                .all(|(role, index)| index == 0 || self.largest(*role, demand, index) <= u64::from(GIB_MAX))
    }

    /// Finds widths that fit a plan and the codes of the file. If the index leaves enough bits, they have room for
    /// eight planes and the default number of zones.
    pub(crate) fn propose(plan: SegmentPlan, demand: &Demand, codes: [u64; 4]) -> Option<DraftLayout> {
        let zoned = demand.indices[3] > 0;
        let roomy = UsidLayout::default_of(plan, zoned);
        let zone_max = if demand.zones > 1 { u64::from(roomy.zone_bits) } else { 0 };
        let (planes, plane_max) = match plan {
            SegmentPlan::PlaneInUsid => (demand.planes, u64::from(roomy.plane_bits)),
            SegmentPlan::PlaneInBlock => (1, 0),
        };
        let widths = |needed: u64, roomy: u64| (needed..=needed.max(roomy)).rev();
        let least = bits(codes.iter().max().map_or(1, |code| code.saturating_add(1))).max(2);
        for role in least..=least.max(3) {
            for plane in widths(bits(planes), plane_max) {
                for zone in widths(bits(demand.zones), zone_max) {
                    let Some(index) = 16_u64.checked_sub(role + plane + zone) else { continue };
                    let layout = DraftLayout { plan, role, plane, zone, index, codes };
                    if layout.fits(demand) {
                        return Some(layout);
                    }
                }
            }
        }
        None
    }

    /// Returns the layout for the topology; `None` if the widths do not add up to 16, or a code exceeds 16
    /// bits.
    pub(crate) fn finish(&self) -> Option<UsidLayout> {
        let byte = |value: u64| u8::try_from(value).ok();
        let mut codes = [0; 4];
        for (code, draft) in codes.iter_mut().zip(self.codes) {
            *code = u16::try_from(draft).ok()?;
        }
        (self.sum() == 16).then_some(UsidLayout {
            role_bits: byte(self.role)?,
            plane_bits: byte(self.plane)?,
            zone_bits: byte(self.zone)?,
            index_bits: byte(self.index)?,
            codes,
        })
    }
}

/// Returns the bits that distinguish `values` values.
fn bits(values: u64) -> u64 {
    u64::from(64 - values.saturating_sub(1).leading_zeros())
}

impl std::fmt::Display for DraftLayout {
    /// Writes the widths as in a file.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [role, plane, zone, index] = self.widths().map(|(_, width)| width);
        write!(f, "{{role: {role}, plane: {plane}, zone: {zone}, index: {index}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT_CODES: [u64; 4] = [0, 1, 2, 3];

    #[test]
    fn proposes_the_layout_of_sixteen_planes() {
        let demand = Demand { planes: 16, zones: 1, indices: [512, 256, 256, 0] };
        assert_eq!(
            DraftLayout::propose(SegmentPlan::PlaneInUsid, &demand, DEFAULT_CODES).unwrap().to_string(),
            "{role: 2, plane: 4, zone: 0, index: 10}"
        );
    }

    #[test]
    fn makes_room_for_a_third_tier_below_the_end_of_the_global_block() {
        // With two role bits the T2s of planes 4 to 7 would start at 0xe000.
        let demand = Demand { planes: 8, zones: 4, indices: [100, 100, 100, 100] };
        assert_eq!(
            DraftLayout::propose(SegmentPlan::PlaneInUsid, &demand, DEFAULT_CODES).unwrap().to_string(),
            "{role: 3, plane: 3, zone: 3, index: 7}"
        );
    }

    #[test]
    fn proposes_widths_of_a_million_nics_where_the_block_says_the_plane() {
        let demand = Demand { planes: 8, zones: 16, indices: [256, 256, 256, 2048] };
        assert_eq!(DraftLayout::propose(SegmentPlan::PlaneInUsid, &demand, DEFAULT_CODES), None);
        assert_eq!(
            DraftLayout::propose(SegmentPlan::PlaneInBlock, &demand, DEFAULT_CODES).unwrap().to_string(),
            "{role: 2, plane: 0, zone: 4, index: 10}"
        );
    }

    #[test]
    fn proposes_widths_for_the_codes_of_the_file() {
        let demand = Demand { planes: 16, zones: 1, indices: [512, 256, 256, 0] };
        let of = |codes| {
            DraftLayout::propose(SegmentPlan::PlaneInUsid, &demand, codes).map(|layout| layout.to_string())
        };
        // With two role bits, uSIDs of code 3 are beyond the global block from plane 8 on, so roles need a third bit.
        assert_eq!(of([0, 1, 3, 2]), None);
        assert_eq!(of([2, 1, 0, 3]).as_deref(), Some("{role: 2, plane: 4, zone: 0, index: 10}"));
        let small = Demand { indices: [100, 100, 100, 0], ..demand };
        let of_small =
            |codes| DraftLayout::propose(SegmentPlan::PlaneInUsid, &small, codes).map(|l| l.to_string());
        assert_eq!(of_small([0, 1, 3, 2]).as_deref(), Some("{role: 3, plane: 4, zone: 0, index: 9}"));
        assert_eq!(of_small([0, 1, 9, 2]).as_deref(), Some("{role: 4, plane: 4, zone: 0, index: 8}"));
    }

    #[test]
    fn proposes_nothing_where_nothing_fits() {
        let demand = Demand { planes: 16, zones: 16, indices: [4000, 10, 10, 10] };
        assert_eq!(DraftLayout::propose(SegmentPlan::PlaneInUsid, &demand, DEFAULT_CODES), None);
    }
}
