//! The interface of a lab on any target: creation, configuration, moving cables.

use super::{Backend, FaultInjector, RoutedBackend};
use crate::LabError;
use crate::model::PortId;
use crate::progress::Watch;

/// A lab on one target.
pub(crate) trait Site: Backend + std::fmt::Debug {
    /// Returns existing objects that do not belong to this lab but have names that it needs.
    fn foreign(&self) -> Vec<String> {
        Vec::new()
    }

    /// Creates and configures the lab.
    fn make(&mut self, watch: &Watch<'_>) -> Result<(), LabError>;

    /// Configures existing devices again.
    fn configure(&mut self, watch: &Watch<'_>) -> Result<(), LabError>;

    /// Returns the interface for flows, if switches choose the path.
    fn routed_backend(&mut self) -> Option<&mut dyn RoutedBackend> {
        None
    }

    /// Returns the interface for breaking ports and cables while packets flow, if supported.
    fn breakable(&mut self) -> Option<&mut dyn FaultInjector> {
        None
    }

    /// Closes all open resources before the lab is removed.
    fn leave(&mut self) {}

    /// Pulls cables out of ports and connects other pairs. A port without a partner keeps its carrier.
    fn rewire(&mut self, moves: &Moves, watch: &Watch<'_>) -> Result<(), LabError>;
}

/// Cables to move.
#[derive(Debug)]
pub(crate) struct Moves {
    /// Ports whose cables are pulled out.
    pub(crate) ends: Vec<PortId>,
    /// Pairs of ports to connect afterwards.
    pub(crate) pairs: Vec<(PortId, Option<PortId>)>,
    /// Link layer at the ends.
    pub(crate) link_layer: LinkLayer,
}

/// Link layer at the ends of moved cables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkLayer {
    /// Neighbours are resolved again, so every frame is accepted. Only segments can stop packets.
    #[default]
    Open,
    /// Neighbours are static, as configured. Frames for another MAC address are also dropped.
    AsConfigured,
}
