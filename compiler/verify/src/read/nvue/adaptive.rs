//! Reads `router.adaptive-routing`, of the switch and of a port.
//!
//! In: the mapping. Out: whether it is on, and which releases have it in this form. Invariants: thresholds and profiles
//! refer to files of the switch, so they stay unread and are faults.

use super::fields::Fields;
use crate::model::device::Device;
use crate::read::error::ReadError;

/// A setting that is on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AdaptiveRouting {
    pub(super) is_on: bool,
    /// Whether it is written as before 5.15: `enable` with `on` and `off`, later `state` with `enabled` and `disabled`.
    pub(super) is_old: bool,
}

/// Reads it; `None` if nothing is set.
pub(super) fn read(
    parent: &mut Fields<'_>,
    device: &mut Device<'_>,
) -> Result<Option<AdaptiveRouting>, ReadError> {
    let mut own = parent.mapping("adaptive-routing")?;
    let found = match (own.text("enable")?, own.text("state")?) {
        (None, None) => None,
        (Some("on"), None) => Some(AdaptiveRouting { is_on: true, is_old: true }),
        (Some("off"), None) => Some(AdaptiveRouting { is_on: false, is_old: true }),
        (None, Some("enabled")) => Some(AdaptiveRouting { is_on: true, is_old: false }),
        (None, Some("disabled")) => Some(AdaptiveRouting { is_on: false, is_old: false }),
        (enable, state) => {
            let words: Vec<&str> = [enable, state].into_iter().flatten().collect();
            return Err(own.path("state").fault(format!("`adaptive-routing` is {words:?}")));
        }
    };
    own.finish(device);
    Ok(found)
}
