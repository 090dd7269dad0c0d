//! All data of the tree, ready for the proof.

use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::model::cabling::{Cable, CableId, Cabling, DeviceId, End, NodeId, Side, SwitchId};
use crate::model::fact::FactKind;
use crate::model::group::Group;
use crate::model::language::Language;
use crate::model::network::NicTables;
use crate::model::place::Place;
use crate::model::segment::{Layout, Usid};
use crate::model::switch::{EndState, Facts, Node, Switch};
use crate::slice::Slice;

/// All data of the tree.
#[derive(Debug)]
pub(crate) struct Fabric {
    /// Connections.
    pub(crate) cabling: Cabling,
    /// Layout of uSIDs; absent if hosts do not choose the path.
    pub(crate) layout: Option<Layout>,
    /// Switches by number; absent where the files do not parse.
    pub(crate) switches: Vec<Option<Switch>>,
    /// Nodes by number; absent where the tree does not describe them.
    pub(crate) nodes: Vec<Option<Node>>,
    /// Treatment of packets from each NIC, where switches choose the path. Read from files for netplan and
    /// systemd-networkd.
    pub(crate) tables: Vec<NicTables>,
    /// Whether each node has routes to other nodes.
    pub(crate) sprays: Vec<bool>,
    /// Path tables, zone by zone.
    pub(crate) groups: Vec<Group>,
    /// Values that many ports share.
    pub(crate) facts: Vec<Arc<Facts>>,
    /// Judged parts of the fabric. Tables of all groups are present, because paths lead to their NICs.
    pub(crate) slice: Slice,
}

/// Returns the place of a subject on a switch, or the folder of the switch if its language is unknown.
pub(crate) fn place(
    name: &str,
    language: Option<&'static Language>,
    routed_by_frr: bool,
    fact: FactKind<'_>,
) -> Place {
    let folder = Utf8PathBuf::from(closc_artefacts::paths::SWITCHES).join(name);
    let Some(language) = language else { return Place::file(folder) };
    let (file, target) = (language.place)(fact, routed_by_frr);
    Place::of(folder.join(file), target)
}

impl Fabric {
    /// Returns the path tables that are judged.
    pub(crate) fn judged_groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| self.slice.has_group(group.zone, group.group))
    }

    /// Returns a switch, if its files parsed.
    #[inline]
    pub(crate) fn switch(&self, id: SwitchId) -> Option<&Switch> {
        self.switches[id.0 as usize].as_ref()
    }

    /// Returns a node, if the tree describes it.
    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes[id.0 as usize].as_ref()
    }

    /// Returns the place of a subject on a switch.
    pub(crate) fn place(&self, id: SwitchId, about: FactKind<'_>) -> Place {
        let switch = self.switch(id);
        let by_frr = switch.is_some_and(|switch| switch.speaker.is_some());
        place(self.cabling.switch(id), switch.map(|switch| switch.language), by_frr, about)
    }

    /// Returns the place of the route of a uSID on a switch.
    pub(crate) fn route_place(&self, id: SwitchId, usid: Usid) -> Place {
        match &self.layout {
            Some(layout) => {
                let plane = self.switch(id).and_then(|switch| switch.plane).unwrap_or(0);
                self.place(id, FactKind::Route(&layout.prefix(plane, usid).to_string()))
            }
            None => self.place(id, FactKind::Routes),
        }
    }

    /// Returns the place where a path table lists the NICs of a T0.
    pub(crate) fn nics_place(&self, t0: DeviceId) -> Option<Place> {
        let DeviceId::Switch(t0) = t0 else { return None };
        let own = |group: &&Group| group.planes.iter().any(|plane| plane.t0 == Some(t0));
        self.groups.iter().find(own).map(|group| group.place(&["\"nics\":"]))
    }

    /// Returns the configuration of one end of a cable; `None` if the tree does not contain it.
    #[inline]
    pub(crate) fn end_state(&self, end: End) -> Option<EndState> {
        let ends = match end.party {
            DeviceId::Switch(switch) => &self.switch(switch)?.ends,
            DeviceId::Node(node) => &self.node(node)?.ends,
        };
        ends.get(usize::from(end.slot))
    }

    /// Returns the shared port values of one end of a cable.
    #[inline]
    pub(crate) fn facts(&self, end: End) -> Option<&Facts> {
        Some(self.end_state(end)?.facts.of(&self.facts))
    }

    /// Returns the cable in a slot of a switch, and which of its ends is at the switch.
    #[inline]
    pub(crate) fn slot_cable(&self, switch: SwitchId, slot: u16) -> (CableId, Cable, Side) {
        self.cabling.slot_cable(switch, slot)
    }
}
