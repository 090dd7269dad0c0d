//! V14: tables fit the hardware, if its limits are known.

use closc_diagnostics::Rule;

/// Tables fit the hardware.
pub(crate) static FIT: Rule = Rule {
    code: "V1401",
    title: "a table is larger than the hardware supports",
    condition: "The hardware has room for all own segments, IPv6 routes and neighbours of a switch, if its limits \
           are known.",
    impact: "The switch drops entries that do not fit, in an arbitrary order.",
    example: "513 routes on a switch that supports 512",
    fix: "Choose a platform with larger tables, or fewer ports or groups, in the fabric file. `closc check` \
           tests the limits (E0902, E0903, E0905). Remove routes and neighbours that were added by hand.",
};

/// Hardware is known.
pub(crate) static HARDWARE: Rule = Rule {
    code: "V1402",
    title: "unknown hardware",
    condition: "The hardware of a switch (`hwsku`) is in the catalogue, if hardware limits are available. \
           Hardware that the manifest states and the catalogue lacks is a platform of the site, and its \
           limits are not checked.",
    impact: "Ports, lanes and buffers are those of another model. The switch rejects them or misbehaves.",
    example: "\"hwsku\": \"Force10-S6000\" on a switch of a fabric of Tomahawk 5",
    fix: "Restore `hwsku` in the edited `config_db.json`. For a platform of the site, set it in `tiers` or \
           `exceptions.devices`, and pass its `--platforms` to `compile` and `verify`.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[&FIT, &HARDWARE];
