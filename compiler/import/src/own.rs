//! Names in closc's own form.
//!
//! In: names of devices. Out: the position that each name indicates. Invariants: a name in another form does
//! not indicate a position.

use closc_topology::{Naming, Node, Switch, TierId};

/// The position of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    Switch(Switch),
    Node(Node),
}

/// Returns the position that a name indicates.
pub(crate) fn place(naming: &Naming, name: &str) -> Option<Place> {
    let switch = naming.parse_switch(name).map(Place::Switch);
    switch.or_else(|| naming.parse_node(name).map(Place::Node))
}

/// Returns the default naming that at least one node, one T0 and one T1 follow. In such a network, a device
/// with another name is not a node or switch of the fabric.
pub(crate) fn naming<'a>(names: &(impl Iterator<Item = &'a str> + Clone)) -> Option<Naming> {
    [false, true].into_iter().map(Naming::default_for).find(|naming| {
        let is = |tier| names.clone().any(|name| naming.parse_switch(name).is_some_and(|at| at.tier == tier));
        is(TierId::T0) && is(TierId::T1) && names.clone().any(|name| naming.parse_node(name).is_some())
    })
}
