//! Placement of traffic, whether hosts or switches choose paths.

use crate::pin::Routes;
use crate::split::Splits;

/// Placement of traffic.
#[derive(Debug, Clone)]
pub(crate) enum Placement {
    /// By weights of planes and uplinks.
    Sprayed(Splits),
    /// By one path per slice and plane; `None` if the routing mode has no pins, or if they would not lower
    /// the largest utilisation.
    Pinned(Option<Routes>),
}
