//! The rules that readers, binders, checks and proofs apply, with one file per family.

use closc_diagnostics::Rule;

pub(crate) mod addresses;
pub(crate) mod bgp;
pub(crate) mod buffers;
pub(crate) mod cabling;
pub(crate) mod choices;
pub(crate) mod delivery;
pub(crate) mod files;
pub(crate) mod hash;
pub(crate) mod hosts;
pub(crate) mod limits;
pub(crate) mod load;
pub(crate) mod planes;
pub(crate) mod ports;
pub(crate) mod qos;
pub(crate) mod rings;
pub(crate) mod routes;
pub(crate) mod segments;
pub(crate) mod tables;

/// Returns all rules, sorted by code.
pub fn rules() -> Vec<&'static Rule> {
    let families: [&[&'static Rule]; 18] = [
        files::RULES,
        cabling::RULES,
        ports::RULES,
        addresses::RULES,
        segments::RULES,
        routes::RULES,
        tables::RULES,
        delivery::RULES,
        load::RULES,
        planes::RULES,
        qos::RULES,
        hash::RULES,
        hosts::RULES,
        limits::RULES,
        buffers::RULES,
        rings::RULES,
        choices::RULES,
        bgp::RULES,
    ];
    families.concat()
}
