//! Changes of buffers, watchdog and marking that SONiC's updater accepts, by hwsku, switch model and release.
//!
//! In: a hwsku, the switch model, and the release that a switch runs. Out: whether an operation passes the
//! updater's validators. The rows are facts of sonic-utilities, `gcu_field_operation_validators.conf.json`
//! and `field_operation_validators.py`, branches 202411, 202505, 202511, 202605 and master as of July 2026.
//! Invariants: if a change depends on the hwsku, a hwsku without a row is rejected, as the updater does.

use crate::config_db::ConfigDb;
use crate::patch::{Action, Operation};

/// A branch of SONiC, by year and month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Branch(u32);

/// The release that is assumed if a switch does not report its own.
const ASSUMED: Branch = Branch(202_511);

/// From this branch on the updater accepts complete buffer profiles, and any change of `WRED_PROFILE`.
const WHOLE_PROFILES: Branch = Branch(202_511);

/// From this branch on the updater accepts changes of `WRED_PROFILE` for profiles of any name.
const NAMED_MARKING: Branch = Branch(202_505);

/// The branch after every released one.
const MASTER: Branch = Branch(u32::MAX);

/// The fields of `WRED_PROFILE` that older updaters can change.
const REPLACEABLE_WRED_FIELDS: [&str; 3] =
    ["green_drop_probability", "green_max_threshold", "green_min_threshold"];

/// Comparison of a hwsku with a row.
enum Match {
    /// For NVIDIA: the complete name.
    Exact,
    /// For Broadcom: a part of the name.
    Part,
}

/// hwskus whose ASIC is known to the updater, from a branch on.
struct Row {
    by: Match,
    from: Branch,
    hwskus: &'static [&'static str],
}

const ROWS: &[Row] = &[
    Row {
        by: Match::Exact,
        from: Branch(202_411),
        hwskus: &[
            "ACS-MSN2700",
            "ACS-MSN4600",
            "ACS-MSN4600C",
            "Mellanox-SN4600C-D112C8",
            "Mellanox-SN4600C-C64",
            "Mellanox-SN4600C-D100C12S2",
            "Mellanox-SN4600C-D48C40",
            "ACS-SN4280",
            "Mellanox-SN4280-O28",
            "Mellanox-SN4280-C48",
            "Mellanox-SN4280-O8C40",
            "Mellanox-SN4280-O8V40",
            "ACS-MSN4700",
            "Mellanox-SN4700-O32",
            "Mellanox-SN4700-V64",
            "Mellanox-SN4700-C128",
            "Mellanox-SN4700-O28",
            "Mellanox-SN4700-O8C48",
            "Mellanox-SN4700-O8V48",
            "Mellanox-SN4700-V48C32",
            "Mellanox-SN4700-A96C8V8",
            "ACS-SN5400",
            "ACS-SN5600",
            "Mellanox-SN5600-O128",
            "Mellanox-SN5600-V256",
            "Mellanox-SN5600-C256S1",
            "Mellanox-SN5600-C224O8",
            "Mellanox-SN5610N-C256S2",
            "Mellanox-SN5610N-C224O8",
        ],
    },
    Row {
        by: Match::Exact,
        from: Branch(202_505),
        hwskus: &["Mellanox-SN4280-O8C80", "ACS-SN5640", "Mellanox-SN5640-C512S2", "Mellanox-SN5640-C448O16"],
    },
    Row {
        by: Match::Exact,
        from: Branch(202_511),
        hwskus: &[
            "Mellanox-SN4280-O4X96",
            "Mellanox-SN5640-C512X2",
            "Mellanox-SN5640-C508O1X2",
            "Mellanox-SN5640-O128X2",
        ],
    },
    Row {
        by: Match::Exact,
        from: MASTER,
        hwskus: &[
            "ACS-SN6600_LD",
            "Mellanox-SN6600_LD-P128C2",
            "Mellanox-SN6600_LD-P64O128C2",
            "ACS-SN6810_LD",
        ],
    },
    Row {
        by: Match::Part,
        from: Branch(202_411),
        hwskus: &[
            "Force10-S6000",
            "Arista-7060CX-32S-C32",
            "Arista-7060CX-32S-D48C8",
            "Arista-7260CX3-C64",
            "Arista-7260CX3-Q64",
            "Arista-7260CX3-D108C8",
            "Arista-7260CX3-D108C10",
            "Nokia-IXR7220-H3",
            "Nokia-IXR7220-H4-64D",
            "Nokia-IXR7220-H4-32D",
            "Nokia-IXR7220-H5-64D",
            "Arista-7060X6-64DE",
            "Arista-7060X6-64PE",
            "Nokia-IXR7250E-36x100G",
            "Nokia-IXR7250E-36x400G",
        ],
    },
    Row {
        by: Match::Part,
        from: Branch(202_505),
        hwskus: &["Nokia-IXR7220-H5-64O", "Nokia-IXR7220-H5-32D", "Nokia-IXR7220-D4-36D"],
    },
    Row {
        by: Match::Part,
        from: Branch(202_511),
        hwskus: &["Arista-7280R4-32QF-32DF-64O", "Arista-7280R4K-32QF-32DF-64O"],
    },
    Row {
        by: Match::Part,
        from: Branch(202_605),
        hwskus: &["Nokia-IXR7220-H6-64", "Nokia-IXR7220-H6-P128", "Nokia-IXR7220-H6-O256"],
    },
];

/// From this branch on the updater accepts changes on Teralynx, which it identifies by the ASIC of the image.
/// On the images of all other ASICs, the updater can change the headroom of every known hwsku.
const TERALYNX: Branch = Branch(202_511);

/// Switch models whose `platform_asic` is `marvell-teralynx` (sonic-buildimage 086b03bd).
const TERALYNX_PLATFORMS: [&str; 7] = [
    "x86_64-cel_midstone-r0",
    "x86_64-marvell_d64p512t-r0",
    "x86_64-marvell_dbmvtx9180-r0",
    "x86_64-netberg_aurora_715-r0",
    "x86_64-supermicro_sse_t7132s-r0",
    "x86_64-wistron_6512_32r-r0",
    "x86_64-wistron_sw_to3200k-r0",
];

/// The updater of one switch.
pub(crate) struct Updater<'a> {
    hwsku: Option<&'a str>,
    /// Whether its image is for Teralynx.
    is_teralynx: bool,
    branch: Branch,
}

impl<'a> Updater<'a> {
    /// Returns the updater of a switch, by its hwsku and the release in its `VERSIONS`.
    pub(crate) fn of(live: &'a ConfigDb) -> Self {
        let version = live.text("VERSIONS", "DATABASE", "VERSION");
        Updater {
            hwsku: live.text("DEVICE_METADATA", "localhost", "hwsku"),
            is_teralynx: live
                .text("DEVICE_METADATA", "localhost", "platform")
                .is_some_and(|platform| TERALYNX_PLATFORMS.contains(&platform)),
            branch: version.and_then(branch).unwrap_or(ASSUMED),
        }
    }

    /// Returns the hwsku, if the updater rejects an operation on it.
    pub(crate) fn refuses(&self, operation: &Operation) -> Option<&'a str> {
        let hwsku = self.hwsku?;
        let is_known = if self.is_teralynx { self.branch >= TERALYNX } else { self.knows(hwsku) };
        let is_whole = operation.field.is_none();
        let is_taken = match operation.table.as_str() {
            "PFC_WD" => is_known && !is_new_watchdog(operation),
            "BUFFER_PROFILE" if is_whole => self.branch >= WHOLE_PROFILES,
            "BUFFER_PROFILE" => is_known && self.tunes_profile(operation),
            "WRED_PROFILE" => self.branch >= WHOLE_PROFILES || is_known && self.tunes_marking(operation),
            _ => true,
        };
        (!is_taken).then_some(hwsku)
    }

    /// Returns whether the updater lists a hwsku.
    fn knows(&self, hwsku: &str) -> bool {
        let hwsku = hwsku.to_lowercase();
        ROWS.iter().filter(|row| row.from <= self.branch).any(|row| {
            row.hwskus.iter().map(|known| known.to_lowercase()).any(|known| match row.by {
                Match::Exact => known == hwsku,
                Match::Part => hwsku.contains(&known),
            })
        })
    }

    /// Returns whether the updater recognises the field of a buffer profile, and supports headroom on the ASIC. Older
    /// updaters compare the path without the parts that contain a digit, so they recognise only the fields of profiles
    /// with a digit in their name, such as `pg_lossless_400000_5m_profile`.
    fn tunes_profile(&self, operation: &Operation) -> bool {
        let has_digit = |key: &str| key.bytes().any(|sign| sign.is_ascii_digit());
        let is_found = self.branch >= WHOLE_PROFILES || operation.key.as_deref().is_some_and(has_digit);
        is_found && !(self.is_teralynx && operation.field.as_deref() == Some("xoff"))
    }

    /// Returns whether an older updater accepts a change of marking.
    fn tunes_marking(&self, operation: &Operation) -> bool {
        let is_threshold =
            operation.field.as_deref().is_some_and(|field| REPLACEABLE_WRED_FIELDS.contains(&field));
        let is_replaced = matches!(operation.action, Action::Replace(_));
        let is_named = operation.key.as_deref().is_some_and(|key| key.eq_ignore_ascii_case("azure_lossless"));
        is_threshold && is_replaced && (is_named || self.branch >= NAMED_MARKING)
    }
}

/// Returns whether an operation adds the complete table or its global entry. The validator rejects
/// both: it expects the keys of the value to be field names, and finds port names or an upper-case name.
fn is_new_watchdog(operation: &Operation) -> bool {
    let is_global = operation.key.as_deref() == Some("GLOBAL") && operation.field.is_none();
    (operation.key.is_none() || is_global) && !matches!(operation.action, Action::Remove)
}

/// Parses the branch in a version of CONFIG_DB: `version_202511_01`, or `version_master_01`.
fn branch(version: &str) -> Option<Branch> {
    let name = version.strip_prefix("version_")?.split('_').next()?;
    if name == "master" {
        return Some(MASTER);
    }
    let digits = name.len() == 6 && name.bytes().all(|sign| sign.is_ascii_digit());
    name.parse().ok().filter(|_| digits).map(Branch)
}
