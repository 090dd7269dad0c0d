//! `warnings`: levels of warnings.

use closc_diagnostics::Level;

use crate::read::word;

word!(Level, "level" {
    "allow" => Level::Allow,
    "warn" => Level::Warn,
    "deny" => Level::Deny,
});
