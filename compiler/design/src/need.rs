//! The requirements: number and speed of NICs, and the limits of a design.
//!
//! In: numbers from a command line. Out: a [`Requirements`]. Invariants: it does not prescribe the structure of the
//! fabric. The search covers all structures that it permits.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use closc_artefacts::Routing;
use closc_platform::{Os, Platform};
use closc_qos::units::{Length, Speed};

/// The full bandwidth of a NIC, in millionths. Losses use the same unit.
pub(crate) const WHOLE: u32 = 1_000_000;

/// The requirements that a fabric must meet.
#[derive(Debug, Clone)]
pub struct Requirements {
    /// Name of the fabric.
    pub name: String,
    /// Number of NICs.
    pub nics: u32,
    /// Speed of a NIC, all its ports together.
    pub speed: Speed,
    /// NICs of a node.
    pub nics_per_node: u8,
    /// T0 groups over which the NICs of a node are spread.
    pub rails: u8,
    /// Numbers of planes to try.
    pub planes: Vec<u16>,
    /// Numbers of planes by NIC to try. The NICs of a node are divided among this many sets of switches,
    /// which are connected only by the nodes.
    pub planes_by_nic: Vec<u8>,
    /// Numbers of tiers to try: 1, 2, 3.
    pub tiers: Vec<u8>,
    /// Routing modes to try.
    pub routings: Vec<Routing>,
    /// Operating systems to try.
    pub operating_systems: Vec<Os>,
    /// Platforms to try, by name; all hardware in the catalogue if the list is empty.
    pub platforms: Vec<String>,
    /// Vendors whose platforms are tried; all if the list is empty.
    pub vendors: Vec<String>,
    /// Numbers of NICs of the stages between the first one and `limits.grow_to`, in ascending order.
    pub middle_stages: Vec<u32>,
    /// Length of the longest cable between a NIC and a T0.
    pub nic_cable: Length,
    /// Limits that a design must meet.
    pub limits: Limits,
}

impl Requirements {
    /// Returns the speed of a NIC's port in each of `planes` planes; `None` if it is not a whole number of Mb/s.
    pub fn port_speed(&self, planes: u16) -> Option<Speed> {
        let planes = u32::from(planes);
        let mbps = self.speed.mbps();
        let is_whole = planes > 0 && mbps.is_multiple_of(planes);
        if is_whole { Speed::from_mbps(mbps / planes) } else { None }
    }

    /// Returns the minimum number of uplinks with which a T0 that has `per_group` NICs stays within the
    /// oversubscription. Returns `None` if the number overflows.
    pub(crate) fn min_uplinks(&self, per_group: u32, down: Speed, up: Speed) -> Option<u32> {
        let most = self.limits.oversubscription;
        let down = u64::from(per_group) * u64::from(down.mbps()) * u64::from(most.up);
        u32::try_from(down.div_ceil(u64::from(up.mbps()) * u64::from(most.down))).ok()
    }

    /// Returns whether a platform is of one of the vendors to try.
    pub(crate) fn is_of_vendor(&self, platform: &Platform) -> bool {
        self.vendors.is_empty() || self.vendors.iter().any(|vendor| vendor == platform.vendor())
    }

    /// Returns the number of nodes.
    pub(crate) fn nodes(&self) -> u32 {
        self.nics / u32::from(self.nics_per_node)
    }

    /// Returns the numbers of NICs of all stages after the first.
    pub(crate) fn later_stages(&self) -> impl Iterator<Item = u32> {
        self.middle_stages.iter().copied().chain(self.limits.grow_to)
    }

    /// Returns the numbers of nodes of all stages.
    pub(crate) fn nodes_of_stages(&self) -> impl Iterator<Item = u32> {
        let later = self.later_stages().map(|nics| nics.max(self.nics).div_ceil(self.nics_per_node.into()));
        std::iter::once(self.nodes()).chain(later)
    }

    /// Returns the number of nodes after growth.
    pub(crate) fn nodes_later(&self) -> u32 {
        self.limits.grow_to.unwrap_or(0).max(self.nics).div_ceil(self.nics_per_node.into())
    }

    /// Returns the number of NICs that a node has on each of its T0s.
    pub(crate) fn nics_per_t0(&self) -> u32 {
        u32::from(self.nics_per_node) / u32::from(self.rails)
    }
}

/// Limits of a design.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum ratio of bandwidth down to bandwidth up of a T0.
    pub oversubscription: Ratio,
    /// Maximum share of a NIC's bandwidth lost when a T0 fails.
    pub t0_loss: Option<LossShare>,
    /// Maximum share of a NIC's bandwidth lost when a T1 fails.
    pub t1_loss: Option<LossShare>,
    /// Number of NICs to which the design must be able to grow without moving a cable that is already plugged in.
    pub grow_to: Option<u32>,
}

/// A share of a NIC's bandwidth, above 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LossShare {
    /// In millionths.
    millionths: NonZeroU32,
}

impl LossShare {
    /// Returns a share from its millionths; `None` if it is 0 or more than the whole.
    pub fn from_millionths(millionths: u32) -> Option<Self> {
        let millionths = NonZeroU32::new(millionths).filter(|share| share.get() <= WHOLE)?;
        Some(LossShare { millionths })
    }

    /// Returns the share in millionths.
    pub fn millionths(self) -> u32 {
        self.millionths.get()
    }

    /// Returns the minimum number of equal parts of which none exceeds the share.
    pub(crate) fn min_parts(self) -> u32 {
        WHOLE.div_ceil(self.millionths.get())
    }
}

impl fmt::Display for LossShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = self.millionths.get();
        let decimals = format!("{:04}", share % 10_000);
        let decimals = decimals.trim_end_matches('0');
        let point = if decimals.is_empty() { "" } else { "." };
        write!(f, "{}{point}{decimals}%", share / 10_000)
    }
}

/// A ratio of bandwidths, down to up, in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    /// Down to the NICs.
    pub down: u32,
    /// Up from the T0.
    pub up: u32,
}

/// Error for a text that is not a ratio.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a ratio; write two whole numbers from 1 to 65535, as in `2:1`")]
pub struct RatioError(String);

impl Ratio {
    /// The same bandwidth down and up.
    pub const EVEN: Ratio = Ratio { down: 1, up: 1 };

    /// Returns a ratio in lowest terms; `None` if a number is 0.
    pub fn new(down: u64, up: u64) -> Option<Self> {
        let divisor = gcd(down, up).max(1);
        let (down, up) = (down / divisor, up / divisor);
        let whole = |number: u64| u32::try_from(number).ok().filter(|number| *number > 0);
        Some(Ratio { down: whole(down)?, up: whole(up)? })
    }

    /// Returns whether this ratio of down to up is at most another one.
    pub fn is_within(self, most: Ratio) -> bool {
        u64::from(self.down) * u64::from(most.up) <= u64::from(most.down) * u64::from(self.up)
    }
}

/// Returns the greatest common divisor.
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl FromStr for Ratio {
    type Err = RatioError;

    fn from_str(text: &str) -> Result<Self, RatioError> {
        let number = |part: &str| part.parse::<u16>().ok().map(u64::from);
        let parts = text.split_once(':').and_then(|(down, up)| Ratio::new(number(down)?, number(up)?));
        parts.ok_or_else(|| RatioError(text.to_owned()))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.down, self.up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_in_lowest_terms_and_compare_exactly() {
        let ratio = |text: &str| text.parse::<Ratio>().unwrap();
        assert_eq!(ratio("4:2").to_string(), "2:1");
        assert!(ratio("16:15").is_within(ratio("15:14")) && !ratio("15:14").is_within(ratio("16:15")));
        for wrong in ["", "2", "2:", ":1", "0:1", "1:0", "-1:1", "2:1:1", "65536:1"] {
            assert!(wrong.parse::<Ratio>().is_err(), "{wrong}");
        }
    }
}
