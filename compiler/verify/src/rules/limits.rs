//! V14: tables fit the hardware, where its limits are given.

use closc_diagnostics::Rule;

/// Tables fit.
pub(crate) static FIT: Rule = Rule {
    code: "V1401",
    title: "a table is larger than the hardware's",
    what: "Own segments, IPv6 routes and neighbours of a switch are at most as many as its hardware takes, \
           where the limits of the hardware are given.",
    why: "The switch drops entries that do not fit, in an arbitrary order.",
    example: "513 routes on a switch that takes 512",
    fix: "Use a larger platform, or fewer ports.",
};

/// Hardware is known.
pub(crate) static HARDWARE: Rule = Rule {
    code: "V1402",
    title: "hardware that the catalogue does not have",
    what: "The hardware that a switch names (`hwsku`) is in the catalogue, where the limits of hardware are given. Hardware \
           that the manifest states and the catalogue lacks is a platform of the site: its limits are not judged.",
    why: "Ports, lanes and buffers are those of another box; the switch refuses them, or does something else.",
    example: "\"hwsku\": \"Force10-S6000\" on a switch of a fabric of Tomahawk 5",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&FIT, &HARDWARE];
