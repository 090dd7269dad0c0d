//! How traffic was placed, whoever decides where it goes.

use crate::pin::Routes;
use crate::split::Splits;

/// How traffic was placed.
#[derive(Debug, Clone)]
pub(crate) enum Placement {
    /// By weights of planes and uplinks.
    Sprayed(Splits),
    /// By one path for each slice and plane; nothing where all pins together would not gain.
    Pinned(Option<Routes>),
}
