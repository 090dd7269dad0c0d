//! Configuration of SONiC switches: what of CONFIG_DB and of `frr.conf` is closc's, what differs from a compiled tree, and the change
//! that leads there.
//!
//! In: what a switch holds, what the tree says, what the site adds. Out: a [`Change`]: the whole configuration that the
//! switch is to hold, an RFC 6902 patch towards it, and the way to apply it. Invariants: nothing here touches a file, a
//! clock or a network; what is not closc's leaves as it came; the same input makes the same bytes.
//!
//! ```text
//! live ──┐
//! tree ──┼─ target (ownership) ─ whole configuration ─ patch (difference) ─ method (apply-patch or reload)
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
pub use ownership::{Fields, IF_GIVEN, OWNED, Owned, Rows, SITE_FIRST, Share, owned, owned_part};
pub use parts::Bounds;
pub use patch::{Action, Content, Operation, Patch};
pub use state::{StateFault, state_faults};
