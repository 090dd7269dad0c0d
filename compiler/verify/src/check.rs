//! What must hold, one file for each family of rules. A rule stands beside the check that applies it.

use closc_diagnostics::Rule;

pub(crate) mod addresses;
pub(crate) mod bgp;
pub(crate) mod buffers;
pub(crate) mod cabling;
pub(crate) mod files;
pub(crate) mod hash;
pub(crate) mod hosts;
pub(crate) mod lanes;
pub(crate) mod limits;
pub(crate) mod load;
pub(crate) mod nics;
pub(crate) mod planes;
pub(crate) mod ports;
pub(crate) mod qos;
pub(crate) mod routes;
pub(crate) mod segments;
pub(crate) mod tables;
pub(crate) mod told;

/// Returns every rule, in the order of codes.
pub fn rules() -> Vec<&'static Rule> {
    let families: [&[&'static Rule]; 18] = [
        files::RULES,
        cabling::RULES,
        ports::RULES,
        addresses::RULES,
        segments::RULES,
        routes::RULES,
        tables::RULES,
        crate::proof::RULES,
        load::RULES,
        planes::RULES,
        qos::RULES,
        hash::RULES,
        hosts::RULES,
        limits::RULES,
        buffers::RULES,
        crate::proof::buffers::RULES,
        crate::proof::chosen::RULES,
        bgp::RULES,
    ];
    families.concat()
}
