//! `cables`: what cables are made of and how long they are.

use closc_qos::units::Length;
use schemars::JsonSchema;
use smol_str::SmolStr;

use crate::read::{Named, Spanned, mapping};

/// Cables by kind. Lengths decide headroom, round-trip times and what a medium can reach.
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(rename = "Cables", deny_unknown_fields)]
pub struct CablesDoc {
    /// From a NIC to its T0. Default: `{length: 3m, medium: dac}`.
    #[schemars(rename = "nic-t0")]
    pub nic_t0: Option<CableDoc>,
    /// From a T0 to a T1. Default: `{length: 30m, medium: dr}`.
    #[schemars(rename = "t0-t1")]
    pub t0_t1: Option<CableDoc>,
    /// From a T1 to a T2. Default: `{length: 500m, medium: dr}`.
    #[schemars(rename = "t1-t2")]
    pub t1_t2: Option<CableDoc>,
    /// Other T1 to T2 cables for single zones, by zone: those in another building.
    pub by_zone: Option<Named<u16, CableDoc>>,
}

mapping!(CablesDoc { nic_t0 = "nic-t0", t0_t1 = "t0-t1", t1_t2 = "t1-t2", by_zone = "by_zone" });

/// A cable: how long and of what. What is absent is as for its kind.
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(rename = "Cable", deny_unknown_fields)]
pub struct CableDoc {
    /// Its length.
    pub length: Option<Spanned<Length>>,
    /// What it is made of, for example `dac`, `aoc`, `dr4` or `zr`.
    pub medium: Option<Spanned<SmolStr>>,
}

mapping!(CableDoc { length = "length", medium = "medium" });
