//! `srv6`: the block, and the layout of the 16 bits of a uSID.

use ipnet::Ipv6Net;

use crate::choice::SegmentPlan;
use crate::read::{PrefixText, Spanned, document, word};

word!(SegmentPlan, "address plan", SegmentPlan::keyword);

document! {
    /// uSIDs: 16 bits each, in a block of 32 bits, format F3216.
    #[derive(Default)]
    pub struct Srv6Doc as "Srv6" {
        /// Position of the plane in an address. With `plane-in-usid` it is in every uSID. With `plane-in-block` each
        /// plane has its own block, so that uSIDs have more bits for zone and index. A change renames every segment
        /// of the fabric. Default: `plane-in-usid`.
        pub plan: Option<Spanned<SegmentPlan>> = "plan",
        /// The block of all uSIDs, a /32. With `plan: plane-in-block` it is the block of plane 0. Plane p has the p-th
        /// block after it, and 16 blocks are reserved. Default: `fcbb:bbbb::/32`.
        #[schemars(with = "Option<PrefixText>")]
        pub block: Option<Spanned<Ipv6Net>> = "block",
        /// Layout of the 16 bits of a uSID. Default: role 2, plane 3, zone 0, index 11. With a T2 tier, zone is 3 and
        /// index 8. Default with `plan: plane-in-block`: role 2, plane 0, zone 0, index 14. With a T2 tier, zone is 4
        /// and index 10. A change renames every segment of the fabric.
        pub widths: Option<WidthsDoc> = "widths",
        /// The code of each role. Default: T0 0, T1 1, NIC 2, T2 3.
        pub roles: Option<RolesDoc> = "roles",
    }
}

document! {
    /// Layout of the 16 bits of a uSID, most significant bits first. Omitted fields have their default. The sum must
    /// be 16.
    #[derive(Default)]
    pub struct WidthsDoc as "Widths" {
        /// Bits of the role code.
        #[schemars(range(min = 2, max = 16))]
        pub role: Option<Spanned<u8>> = "role",
        /// Bits of the plane, 0 with `plan: plane-in-block`.
        #[schemars(range(max = 16))]
        pub plane: Option<Spanned<u8>> = "plane",
        /// Bits of the zone, in the uSIDs of T0s and T1s.
        #[schemars(range(max = 16))]
        pub zone: Option<Spanned<u8>> = "zone",
        /// Bits of the index.
        #[schemars(range(max = 16))]
        pub index: Option<Spanned<u8>> = "index",
    }
}

document! {
    /// The code of each role.
    #[derive(Default)]
    pub struct RolesDoc as "Roles" {
        /// T0s. Default: 0.
        pub t0: Option<Spanned<u16>> = "t0",
        /// T1s. Default: 1.
        pub t1: Option<Spanned<u16>> = "t1",
        /// NICs: the downlinks of T0s. Default: 2.
        pub nic: Option<Spanned<u16>> = "nic",
        /// T2s. Default: 3.
        pub t2: Option<Spanned<u16>> = "t2",
    }
}
