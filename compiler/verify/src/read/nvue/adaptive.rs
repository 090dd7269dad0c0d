//! Reads `router.adaptive-routing` of the switch or of a port.
//!
//! In: the mapping. Out: whether it is enabled, and which releases use this syntax. Invariants: thresholds and profiles
//! refer to files on the switch, so they are not read and are faults.

use super::fields::Fields;
use crate::model::device::Device;
use crate::read::error::ReadError;

/// Adaptive routing of the switch or of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AdaptiveRouting {
    pub(super) is_on: bool,
    /// Whether the syntax is that before 5.15: `enable` with `on` and `off`. Later releases use `state` with `enabled`
    /// and `disabled`.
    pub(super) is_old: bool,
}

/// Reads the setting; `None` if it is absent.
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
