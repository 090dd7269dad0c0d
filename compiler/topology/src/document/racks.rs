//! `racks`: rack positions of devices.

use smol_str::SmolStr;

use crate::choice::Face;
use crate::read::{Spanned, document, word};

document! {
    /// Racks of devices, computed from their coordinates. Each rack has a fixed number of devices, mounted from a given
    /// rack unit (U, 44.45 mm) upwards. Rack positions are in cable lists, labels, NetBox files, reports and tables,
    /// but not in configurations.
    #[derive(Default)]
    pub struct RacksDoc as "Racks" {
        /// Units per rack. Default: 42.
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
    /// Rack positions of one kind of device. The switches of a plane, zone and tier fill racks in the order of their
    /// indices. So do the nodes of a unit.
    pub struct RackDoc as "Rack" {
        /// A pattern of rack names with `{rack}`. Names of switches can have `{plane}` and, except for T2s,
        /// `{zone}`. Names of nodes can have `{zone}` and `{unit}`. With `per_row`, names can have `{row}`. Without
        /// `{plane}`, planes share racks, with plane 0 at the bottom. Capitals, `.` and `_` are permitted, and fields
        /// are written as in `naming`.
        pub name: Spanned<SmolStr> = "name" => [],
        /// Devices per rack, or per rack and plane if planes share racks.
        #[schemars(range(min = 1))]
        pub per_rack: Spanned<u16> = "per_rack" => [],
        /// Racks per row: `{row}` counts rows, and `{rack}` the racks of a row.
        #[schemars(range(min = 1))]
        pub per_row: Option<Spanned<u16>> = "per_row" => [],
        /// Height of a device in rack units. Default: that of the tier's platform. Nodes have no default.
        #[schemars(range(min = 1))]
        pub units: Option<Spanned<u16>> = "units" => [],
        /// The lowest unit of the first device. Units count from 1 at the bottom. Default: 1.
        #[schemars(range(min = 1))]
        pub first_unit: Option<Spanned<u16>> = "first_unit" => [],
        /// The side of the rack with the device's front panel. Default: `front`.
        pub face: Option<Spanned<Face>> = "face" => [],
    }
}

word!(Face, "side of a rack" {
    "front" => Face::Front,
    "rear" => Face::Rear,
});
