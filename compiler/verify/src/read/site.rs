//! What a site sets as it likes: single settings, each with the reason why it moves no packet of the fabric.
//!
//! Invariants: readers go by lists of these and by nothing else, so a setting beside, below or behind one of them is a violation
//! unless it is in a list itself.

/// Settings that are harmless for one reason.
pub(crate) struct SiteGroup {
    /// The settings.
    pub(crate) settings: &'static [&'static str],
    /// Why none of them can move a packet.
    pub(crate) why: &'static str,
}

/// A setting that a site makes as it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SiteSetting {
    /// The file that it is in.
    pub file: &'static str,
    /// The setting, as the file has it; `*` stands for any name, `**` for anything below.
    pub setting: &'static str,
    /// Why it moves no packet of the fabric.
    pub why: &'static str,
}
