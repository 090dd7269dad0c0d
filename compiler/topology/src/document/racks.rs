//! `racks`: where devices stand.

use smol_str::SmolStr;

use crate::choice::Face;
use crate::read::{Spanned, document, word};

document! {
    /// Where devices stand, as functions of position: so many of a kind in each rack, from a rack unit (U, 44.45 mm) up. It goes
    /// into lists of cables, labels, NetBox, reports and tables, and into no configuration.
    #[derive(Default)]
    pub struct RacksDoc as "Racks" {
        /// The units of a rack. Default: 42.
        #[schemars(range(min = 1))]
        pub height: Option<Spanned<u16>> = "height" => [],
        /// T0s.
        pub t0: Option<RackDoc> = "t0",
        /// T1s.
        pub t1: Option<RackDoc> = "t1",
        /// T2s.
        pub t2: Option<RackDoc> = "t2",
        /// Nodes.
        pub hosts: Option<RackDoc> = "hosts",
    }
}

document! {
    /// Rack positions of devices of a kind. Those of a plane, zone and tier fill racks by index; nodes by unit.
    pub struct RackDoc as "Rack" {
        /// The name of a rack: `{rack}`, and `{plane}` and `{zone}` for switches (T2s have no zone), `{zone}` and `{unit}` for nodes;
        /// with `per_row` also `{row}`. Where it does not say `{plane}`, planes share racks, the first one lowest. Capitals, `.` and
        /// `_` are allowed, numbers are written as in `naming`.
        pub name: Spanned<SmolStr> = "name" => [],
        /// Number per rack; of each plane, where planes share racks.
        #[schemars(range(min = 1))]
        pub per_rack: Spanned<u16> = "per_rack" => [],
        /// Number of racks of a row: `{row}` counts rows, and `{rack}` the racks of a row.
        #[schemars(range(min = 1))]
        pub per_row: Option<Spanned<u16>> = "per_row" => [],
        /// Rack units of each. Default: those of the tier's platform; nodes have no default.
        #[schemars(range(min = 1))]
        pub units: Option<Spanned<u16>> = "units" => [],
        /// The lowest unit of the first; units count from 1 at the bottom. Default: 1.
        #[schemars(range(min = 1))]
        pub first_unit: Option<Spanned<u16>> = "first_unit" => [],
        /// The side of the rack that its front panel is on. Default: `front`.
        pub face: Option<Spanned<Face>> = "face" => [],
    }
}

word!(Face, "side of a rack" {
    "front" => Face::Front,
    "rear" => Face::Rear,
});
