//! The state of binding one switch, and functions that report its faults.

use std::collections::BTreeMap;

use closc_artefacts::Routing;
use closc_diagnostics::Rule;
use hashbrown::HashMap;

use super::lanes::Lanes;
use super::nics::NicCables;
use crate::finding::{Findings, Violation};
use crate::model::bgp::{Process, Terms};
use crate::model::cabling::{CableId, Cabling, SwitchId};
use crate::model::device::{Device, Wire};
use crate::model::fabric::place;
use crate::model::fact::FactKind;
use crate::model::qos::PortQos;
use crate::model::segment::{Layout, Tier};
use crate::model::switch::next_hops::Lists;
use crate::model::switch::{Facts, FactsId, NamedValues, Pool};

/// Inputs for binding switches to the cable lists.
pub(crate) struct Context<'a> {
    /// The cable lists.
    pub(crate) cabling: &'a Cabling,
    /// Tier and plane of each switch, derived from its cables.
    pub(crate) positions: &'a HashMap<SwitchId, (Tier, u8)>,
    /// Layout of uSIDs; absent if hosts do not choose the path.
    pub(crate) layout: Option<&'a Layout>,
    /// Facts that many ports share.
    pub(crate) facts: &'a Pool<Facts>,
    /// QoS settings that many ports share.
    pub(crate) qos: &'a Pool<PortQos>,
    /// Lists of settings and lanes that many switches share.
    pub(crate) pairs: &'a Pool<NamedValues>,
    /// Lanes of ports, as written.
    pub(crate) lanes: &'a Lanes,
    /// Process settings that apply to all sessions of a switch, shared by many switches.
    pub(crate) processes: &'a Pool<Process>,
    /// Terms of sessions that many switches share.
    pub(crate) terms: &'a Pool<Terms>,
    /// Next hops that many routes share.
    pub(crate) next_hops: &'a Lists,
    /// Routing mode.
    pub(crate) routing: Routing,
    /// Switches without a cable: their names and planes.
    pub(crate) uncabled_switches: &'a BTreeMap<String, u8>,
    /// Switches that keep their factory MAC addresses, so neighbours resolve them.
    pub(crate) factory_macs: &'a [bool],
    /// Whether SONiC switches have the list of isolated ports.
    pub(crate) isolates: bool,
    /// The NIC at the lower end of each cable: its node and inner address.
    pub(crate) nics: &'a NicCables,
}

/// Key of the facts of a port: the fields, with QoS settings as an index into those of the switch.
pub(crate) type FactsKey = (bool, Wire, Option<u8>, Option<u32>, Option<bool>, Option<bool>, Option<u16>);

/// The state of binding one switch.
pub(crate) struct Binding<'c, 'd> {
    pub(crate) context: &'c Context<'c>,
    pub(crate) id: SwitchId,
    pub(crate) device: &'d Device<'d>,
    /// Slot of each port of the device; `None` without a cable.
    pub(crate) slots: Vec<Option<u16>>,
    /// Whether any port has a configured cable length.
    pub(crate) lengths: bool,
    /// Distinct port facts and their IDs: a switch has only a few.
    pub(crate) distinct_facts: Vec<(FactsKey, FactsId)>,
    pub(crate) findings: &'c mut Findings,
}

impl Context<'_> {
    /// Returns the plane of a switch by its cables, or the plane in the manifest if it has no cables.
    pub(crate) fn plane(&self, id: SwitchId) -> Option<u8> {
        let stated = || self.uncabled_switches.get(self.cabling.switch(id)).copied();
        self.positions.get(&id).map(|(_, plane)| *plane).or_else(stated)
    }
}

impl Binding<'_, '_> {
    /// Returns the plane of the switch by its cables. A switch without cables receives no packets, so its plane is that
    /// of the manifest, or 0.
    pub(crate) fn plane(&self) -> u8 {
        self.context.plane(self.id).unwrap_or_default()
    }

    pub(crate) fn name(&self) -> &str {
        self.context.cabling.switch(self.id)
    }

    /// Reports a violation about the switch.
    pub(crate) fn report(&mut self, rule: &'static Rule, about: FactKind<'_>, message: &str) {
        let violation = self.violation(rule, about, message);
        self.findings.report(violation);
    }

    /// Reports a contradiction between the switch and the cable list of its plane.
    pub(crate) fn unlike(
        &mut self,
        rule: &'static Rule,
        about: FactKind<'_>,
        cable: Option<CableId>,
        message: &str,
    ) {
        let cabling = self.context.cabling;
        let list = match cable {
            Some(cable) => Some(cabling.place(cable)),
            None => cabling.list_of(Some(self.plane())),
        };
        let violation = self.violation(rule, about, message);
        self.findings.report(list.into_iter().fold(violation, Violation::and));
    }

    fn violation(&self, rule: &'static Rule, about: FactKind<'_>, message: &str) -> Violation {
        let name = self.context.cabling.switch(self.id);
        Violation::new(
            rule,
            place(name, Some(self.device.language), self.device.routes_in_frr, about),
            format!("`{name}`: {message}"),
        )
    }
}
