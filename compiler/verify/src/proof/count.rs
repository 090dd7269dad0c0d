//! Number of paths that arrive.
//!
//! In: the usable cables. Out: [`PathCounts`]: the number of paths (sending NIC, plane, uplinks, receiving NIC) that
//! arrive, and how many of them are in use. Invariants: groups with equal cables are counted together, so the work
//! grows with the number of groups. Counts are exact.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bits::Bits;
use super::path_cables::{Direction, PathCables};
use crate::model::fabric::Fabric;

/// Numbers of paths, over ordered pairs of different NICs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PathCounts {
    /// Paths that the dimensions in path tables allow, including missing ones. Absent planes do not count.
    pub named: u128,
    /// Paths that arrive.
    pub arrive: u128,
    /// Paths that arrive without drained cables.
    pub in_use: u128,
    /// Paths between NICs of one T0 group that arrive, through one switch.
    pub local: u128,
    /// Paths between groups of a zone that arrive, through three switches.
    pub zone: u128,
    /// Paths between zones that arrive, through five switches.
    pub far: u128,
}

impl PathCounts {
    /// Adds the counts of other planes; `None` on overflow.
    pub(crate) fn checked_add(self, other: PathCounts) -> Option<PathCounts> {
        Some(PathCounts {
            named: self.named.checked_add(other.named)?,
            arrive: self.arrive.checked_add(other.arrive)?,
            in_use: self.in_use.checked_add(other.in_use)?,
            local: self.local.checked_add(other.local)?,
            zone: self.zone.checked_add(other.zone)?,
            far: self.far.checked_add(other.far)?,
        })
    }
}

/// Selects the paths that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathFilter {
    All,
    Arrive,
    InUse,
}

/// Numbers of paths by distance.
#[derive(Debug, Clone, Copy, Default)]
struct DistanceCounts {
    local: u128,
    zone: u128,
    far: u128,
}

impl DistanceCounts {
    fn sum(self) -> u128 {
        self.local + self.zone + self.far
    }
}

/// Counts all paths. Planes that are declared absent have none.
pub(crate) fn count(fabric: &Fabric, ways: &PathCables, absent_planes: &[u8]) -> PathCounts {
    let parts = |which| {
        ways.judged_planes
            .iter()
            .filter(|plane| !absent_planes.iter().any(|absent| usize::from(*absent) == **plane))
            .map(|plane| PathCounter { fabric, path_cables: ways, plane: *plane, filter: which }.parts())
            .fold(DistanceCounts::default(), |sum, part| DistanceCounts {
                local: sum.local + part.local,
                zone: sum.zone + part.zone,
                far: sum.far + part.far,
            })
    };
    let arrive = parts(PathFilter::Arrive);
    PathCounts {
        named: parts(PathFilter::All).sum(),
        arrive: arrive.sum(),
        in_use: parts(PathFilter::InUse).sum(),
        local: arrive.local,
        zone: arrive.zone,
        far: arrive.far,
    }
}

struct PathCounter<'a> {
    fabric: &'a Fabric,
    path_cables: &'a PathCables,
    plane: usize,
    filter: PathFilter,
}

/// Number of NICs by the usable uplinks of their group, for one zone and direction.
type Classes = BTreeMap<Bits, u128>;

impl PathCounter<'_> {
    fn bits(&self, direction: &Direction, len: usize) -> Bits {
        let mut bits = Bits::new(len);
        for at in 0..len {
            let counts = match self.filter {
                PathFilter::All => true,
                PathFilter::Arrive => direction.carries.get(at),
                PathFilter::InUse => direction.carries.get(at) && !direction.drained.get(at),
            };
            if counts {
                bits.set(at);
            }
        }
        bits
    }

    fn parts(&self) -> DistanceCounts {
        let numbers = self.path_cables.numbers;
        let mut up: Vec<Classes> = vec![Classes::new(); numbers.zones];
        let mut down: Vec<Classes> = vec![Classes::new(); numbers.zones];
        let mut parts = DistanceCounts::default();
        for (at, group) in self.fabric.groups.iter().enumerate() {
            let ways = self.path_cables.group(at, self.plane);
            let (out, into) =
                (self.bits(&ways.out, group.nics.len()), self.bits(&ways.into, group.nics.len()));
            let (senders, receivers) = (u128::from(out.count()), u128::from(into.count()));
            let ups = self.bits(&ways.up, numbers.uplinks);
            let downs = self.bits(&ways.down, numbers.uplinks);
            parts.local += senders * receivers - u128::from(out.count_both(&into));
            // Subtract pairs inside the group, which the sum over classes below counts as paths through T1s.
            parts.zone = parts.zone.wrapping_sub(senders * receivers * u128::from(ups.count_both(&downs)));
            *up[usize::from(group.zone)].entry(ups).or_default() += senders;
            *down[usize::from(group.zone)].entry(downs).or_default() += receivers;
        }
        for (from, ups) in up.iter().enumerate() {
            for (to, downs) in down.iter().enumerate() {
                let middle = (from != to).then(|| self.middle(from as u16, to as u16));
                for (up, senders) in ups {
                    for (down, receivers) in downs {
                        let pairs = senders * receivers;
                        match &middle {
                            None => {
                                let both = u128::from(up.count_both(down));
                                parts.zone = parts.zone.wrapping_add(pairs * both);
                            }
                            Some(middle) => parts.far += pairs * through(up, down, middle),
                        }
                    }
                }
            }
        }
        parts
    }

    /// Returns the number of usable T1 uplinks from one zone to another, for every uplink of a T0.
    fn middle(&self, from: u16, to: u16) -> Vec<u128> {
        let numbers = self.path_cables.numbers;
        let (Some(out), Some(into)) =
            (self.path_cables.zone(from, self.plane), self.path_cables.zone(to, self.plane))
        else {
            return vec![0; numbers.uplinks];
        };
        let len = numbers.uplinks / usize::from(numbers.parallel0) * numbers.t1_uplinks;
        let (out, into) = (self.bits(&out.up, len), self.bits(&into.down, len));
        let row = |uplink| {
            let start = self.path_cables.row(uplink) * numbers.t1_uplinks;
            (start..start + numbers.t1_uplinks).filter(|at| out.get(*at) && into.get(*at)).count() as u128
        };
        (0..numbers.uplinks).map(row).collect()
    }
}

fn through(up: &Bits, down: &Bits, middle: &[u128]) -> u128 {
    middle.iter().enumerate().filter(|(at, _)| up.get(*at) && down.get(*at)).map(|(_, count)| count).sum()
}
