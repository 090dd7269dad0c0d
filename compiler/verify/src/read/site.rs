//! Settings that sites may choose freely, each with the reason why it does not affect packets of the fabric.
//!
//! Invariants: readers accept only settings in such lists, so any other setting is a violation, even next to or below a
//! listed one.

/// Settings that are harmless for the same reason.
pub(crate) struct SiteGroup {
    pub(crate) settings: &'static [&'static str],
    /// Reason why none of them affects packets.
    pub(crate) reason: &'static str,
}

/// A setting that sites may choose freely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SiteSetting {
    /// File that contains the setting.
    pub file: &'static str,
    /// The setting, as in the file. `*` stands for any name, `**` for any settings below.
    pub setting: &'static str,
    /// Reason why it does not affect packets of the fabric.
    pub reason: &'static str,
}
