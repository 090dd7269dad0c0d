//! `srv6`: the block and how 16 bits are cut up.

use ipnet::Ipv6Net;
use schemars::JsonSchema;

use crate::read::{PrefixText, Spanned, mapping};

/// Segment identifiers: micro segments of 16 bits in a block of 32 (F3216).
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(rename = "Srv6", deny_unknown_fields)]
pub struct Srv6Doc {
    /// The block that all uSIDs share, a /32. Default: `fcbb:bbbb::/32`.
    #[schemars(with = "Option<PrefixText>")]
    pub block: Option<Spanned<Ipv6Net>>,
    /// How the 16 bits of a uSID are cut up. Default: 2, 3, 0, 11; with a T2 tier 2, 3, 3, 8. A change renames
    /// every segment of the fabric.
    pub widths: Option<WidthsDoc>,
    /// The code of each role. Default: T0 0, T1 1, NIC 2, T2 3.
    pub roles: Option<RolesDoc>,
}

mapping!(Srv6Doc { block = "block", widths = "widths", roles = "roles" });

/// How the 16 bits of a uSID are cut up, most significant bits first. What is absent keeps its default; the sum
/// must be 16.
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(rename = "Widths", deny_unknown_fields)]
pub struct WidthsDoc {
    /// Bits of the role code.
    #[schemars(range(min = 2, max = 16))]
    pub role: Option<Spanned<u8>>,
    /// Bits of the plane.
    #[schemars(range(max = 16))]
    pub plane: Option<Spanned<u8>>,
    /// Bits of the zone, in the uSIDs of T0s and T1s.
    #[schemars(range(max = 16))]
    pub zone: Option<Spanned<u8>>,
    /// Bits of the index.
    #[schemars(range(max = 16))]
    pub index: Option<Spanned<u8>>,
}

mapping!(WidthsDoc { role = "role", plane = "plane", zone = "zone", index = "index" });

/// The code of each role.
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(rename = "Roles", deny_unknown_fields)]
pub struct RolesDoc {
    /// T0s. Default: 0.
    pub t0: Option<Spanned<u16>>,
    /// T1s. Default: 1.
    pub t1: Option<Spanned<u16>>,
    /// NICs: the downlinks of T0s. Default: 2.
    pub nic: Option<Spanned<u16>>,
    /// T2s. Default: 3.
    pub t2: Option<Spanned<u16>>,
}

mapping!(RolesDoc { t0 = "t0", t1 = "t1", nic = "nic", t2 = "t2" });
