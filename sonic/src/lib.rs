//! Configuration of SONiC switches: the part of CONFIG_DB and `frr.conf` that closc owns, its differences from a
//! compiled tree, and the change that removes them.
//!
//! In: the live configuration, the tree's part, the site's overlay. Out: a [`Change`]: the complete target
//! configuration, an RFC 6902 patch towards it, and how it is applied. Invariants: this crate uses no file, clock or
//! network. Settings that closc does not own are unchanged. Equal inputs give equal bytes.
//!
//! ```text
//! live ──┐
//! tree ──┼─ target (ownership) ─ complete configuration ─ patch (difference) ─ method (apply-patch or reload)
//! site ──┘
//! ```

mod change;
mod config_db;
mod frr;
mod method;
mod overlay;
mod ownership;
mod parts;
mod patch;
mod state;
mod validator;

pub use change::{Change, TargetError, change};
pub use config_db::{ConfigDb, Entry, Field, ParseError, Table};
pub use frr::{FrrChange, FrrConfig, Statement, with_site};
pub use method::{Bounce, Estimate, Method, Reason};
pub use overlay::{Overlay, OverlayError, fits};
pub use ownership::{Fields, IF_GIVEN, OWNED, OwnedTable, Rows, SITE_FIRST, Share, owned_part, owned_table};
pub use parts::Bounds;
pub use patch::{Action, Content, Operation, Patch};
pub use state::{StateFault, state_faults};
