//! Placement of traffic, independent of who chooses paths.

use crate::pin::Routes;
use crate::split::Splits;

/// Placement of traffic.
#[derive(Debug, Clone)]
pub(crate) enum Placement {
    /// By weights of planes and uplinks.
    Sprayed(Splits),
    /// By one path for each slice and plane; nothing where all pins together would not gain.
    Pinned(Option<Routes>),
}
