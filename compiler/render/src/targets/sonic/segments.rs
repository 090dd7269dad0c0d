//! Segments: `SRV6_MY_LOCATORS` and `SRV6_MY_SIDS`.
//!
//! In: a view. Out: rows. Invariants: one uN for each locator and nothing else, which is the subset that every target
//! supports. The function part is 0 bits long. The rules, with the defects that they avoid:
//!
//! - one locator, one uN per switch (sonic-buildimage 24938: if SIDs are spread over several locators, only one SID
//!   reaches the ASIC). Parallel links need one locator each; checks then report that, and `verify` counts the SIDs;
//! - `func_len` is written as 0 (24454: with its default of 16, a reload programs the SID as plain End);
//! - locators come before SIDs (21826: a SID that arrives first is lost);
//! - no SID has an interface or a VRF (FRR 19981, 25448: uA and uDT46 depend on objects that may not exist yet).
//!
//! Two more rules are enforced elsewhere. A rollout removes SIDs before their locators (22690: staticd crashes
//! otherwise). The image has a device `sr0`, on which FRR installs static SIDs (21857).

use super::json::Document;
use super::view::View;

/// Writes `SRV6_MY_LOCATORS`.
pub(super) fn locators(document: &mut Document, view: &View<'_>) {
    let Some(srv6) = &view.intent.srv6 else { return };
    document.table("SRV6_MY_LOCATORS", |table| {
        for (at, locator) in srv6.locators.iter().enumerate() {
            let block = srv6.block.prefix_len();
            table.row(&["loc", &number(at)], |row| {
                row.number("arg_len", 0_u32);
                row.number("block_len", block);
                row.number("func_len", 0_u32);
                row.number("node_len", locator.prefix.prefix_len() - block);
                // SONiC expects an address here, not a prefix: the lengths are separate fields.
                row.show("prefix", locator.prefix.network());
                row.text("vrf", "default");
            });
        }
    });
}

/// Writes `SRV6_MY_SIDS`.
///
/// `decap_dscp_mode` is set although packets are not decapsulated here: the SID's flavour depends on whether it is
/// set, and SONiC's own tests run with `pipe`.
pub(super) fn sids(document: &mut Document, view: &View<'_>) {
    let Some(srv6) = &view.intent.srv6 else { return };
    document.table("SRV6_MY_SIDS", |table| {
        for (at, locator) in srv6.locators.iter().enumerate() {
            table.row(&["loc", &number(at), "|", &locator.prefix.to_string()], |row| {
                row.text("action", "uN");
                row.text("decap_dscp_mode", "pipe");
            });
        }
    });
}

/// Returns the number of a locator, counted from 1.
fn number(at: usize) -> String {
    (at + 1).to_string()
}
