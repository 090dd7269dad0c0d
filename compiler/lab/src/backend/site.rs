//! Parts of a lab on any target: creation, configuration, moved cables.

use super::{Backend, Breakable, Routed};
use crate::LabError;
use crate::model::PortId;
use crate::progress::Watch;

/// Everything a lab of one target consists of.
pub(crate) trait Site: Backend + std::fmt::Debug {
    /// Names what is in the way and not ours.
    fn foreign(&self) -> Vec<String> {
        Vec::new()
    }

    /// Makes everything.
    fn make(&mut self, watch: &Watch<'_>) -> Result<(), LabError>;

    /// Configures again what is there.
    fn configure(&mut self, watch: &Watch<'_>) -> Result<(), LabError>;

    /// Returns what follows flows, where switches choose the path.
    fn routed(&mut self) -> Option<&mut dyn Routed> {
        None
    }

    /// Returns what breaks ports and cables while packets flow, where that can be done.
    fn breakable(&mut self) -> Option<&mut dyn Breakable> {
        None
    }

    /// Lets go of everything that is open, before it is removed.
    fn leave(&mut self) {}

    /// Pulls cables out of ports and plugs others in; a port that is paired with nothing gets a cable that ends
    /// nowhere, with its carrier.
    fn rewire(&mut self, moves: &Moves, watch: &Watch<'_>) -> Result<(), LabError>;
}

/// Cables that change places.
#[derive(Debug)]
pub(crate) struct Moves {
    /// Ports whose cables are pulled out.
    pub(crate) ends: Vec<PortId>,
    /// Connections at that time.
    pub(crate) pairs: Vec<(PortId, Option<PortId>)>,
    /// Link layer at the ends.
    pub(crate) link_layer: LinkLayer,
}

/// Link layer at the ends of moved cables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkLayer {
    /// Neighbours there are resolved anew: every frame gets through, and segments alone must stop packets.
    #[default]
    Open,
    /// Neighbours are static, as configured: frames for another MAC address are dropped as well.
    AsConfigured,
}
