//! Denials: paths that an administrator or a collector takes out of use, with the reason and the end time.

use closc_paths::{Choice, Destination, Scope, TableDenial};

/// Reason of a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Reason {
    /// An operator, or a program of the operator.
    Administrator = 0,
    /// Drained for maintenance.
    Drain = 1,
    /// The path loses some packets.
    GrayLoss = 2,
    /// Equipment on the path is broken or miswired.
    Fault = 3,
}

impl Reason {
    /// Returns the keyword.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Administrator => "administrator",
            Reason::Drain => "drain",
            Reason::GrayLoss => "gray-loss",
            Reason::Fault => "fault",
        }
    }

    /// Finds a reason by its keyword.
    pub fn of(name: &str) -> Option<Reason> {
        [Reason::Administrator, Reason::Drain, Reason::GrayLoss, Reason::Fault]
            .into_iter()
            .find(|r| r.name() == name)
    }
}

/// Paths that must not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denial {
    /// The plane; `None` for all planes.
    pub plane: Option<u8>,
    /// Restricts the denied paths of the plane.
    pub scope: Scope,
    /// The reason.
    pub reason: Reason,
    /// Time at which it ends automatically; `None` for never.
    pub until_ns: Option<u64>,
}

/// The identifier of a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DenialId(pub u64);

impl Denial {
    pub(crate) fn covers(&self, source: u16, to: &Destination, choice: Choice) -> bool {
        let plane = self.plane.unwrap_or(choice.plane);
        let denied = TableDenial { plane, reason: closc_paths::Reason::Drained, scope: self.scope };
        denied.covers(to.kind, source, (to.zone, to.group, to.downlink), choice)
    }
}

/// The denials in force.
#[derive(Debug, Clone)]
pub(crate) struct Denials {
    list: Vec<(DenialId, Denial)>,
    capacity: usize,
    next: u64,
}

impl Denials {
    pub(crate) fn new(room: usize) -> Self {
        Denials { list: Vec::with_capacity(room), capacity: room, next: 1 }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= self.capacity
    }

    pub(crate) fn add(&mut self, denial: Denial) -> DenialId {
        let id = DenialId(self.next);
        self.next += 1;
        self.list.push((id, denial));
        id
    }

    pub(crate) fn remove(&mut self, id: DenialId) -> Option<Denial> {
        let at = self.list.iter().position(|(other, _)| *other == id)?;
        Some(self.list.remove(at).1)
    }

    /// Removes one denial whose time is over.
    pub(crate) fn remove_expired(&mut self, now_ns: u64) -> Option<Denial> {
        let at = self.list.iter().position(|(_, d)| d.until_ns.is_some_and(|until| until <= now_ns))?;
        Some(self.list.remove(at).1)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (DenialId, Denial)> + '_ {
        self.list.iter().copied()
    }

    pub(crate) fn cover(&self, source: u16, to: &Destination, choice: Choice) -> bool {
        self.list.iter().any(|(_, denial)| denial.covers(source, to, choice))
    }
}
