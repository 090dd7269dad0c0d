//! `cables`: medium and length of cables.

use closc_qos::units::Length;
use smol_str::SmolStr;

use crate::read::{NameMap, Spanned, document};

document! {
    /// Cables by kind. Lengths determine headroom and round-trip times, and are compared with the reach of the
    /// medium.
    #[derive(Default)]
    pub struct CablesDoc as "Cables" {
        /// From a NIC to its T0. Default: `{length: 3m, medium: dac}`, with a shorter length where the medium does not
        /// reach 3 m.
        pub nic_t0: Option<CableDoc> = "nic-t0" => [T0, HOSTS, LISTS],
        /// From a T0 to a T1. Default: `{length: 30m, medium: dr}`.
        pub t0_t1: Option<CableDoc> = "t0-t1" => [T0, T1, TABLES, LISTS],
        /// From a T1 to a T2. Default: `{length: 500m, medium: dr}`.
        pub t1_t2: Option<CableDoc> = "t1-t2" => [T1, T2, TABLES, LISTS],
        /// T1 to T2 cables of zones that differ from `t1-t2`, by zone, for example in another building.
        pub by_zone: Option<NameMap<u16, CableDoc>> = "by_zone" => [T1, T2, TABLES, LISTS],
    }
}

document! {
    /// Length and medium of a cable. Omitted fields have the values of its kind.
    #[derive(Default)]
    pub struct CableDoc as "Cable" {
        /// Its length.
        pub length: Option<Spanned<Length>> = "length",
        /// Medium, for example `dac`, `aoc`, `dr4` or `zr`.
        pub medium: Option<Spanned<SmolStr>> = "medium",
    }
}
