//! Cages and ports of a switch.
//!
//! In: the intent and its queues. Out: [`CageView`]s of split and disabled cages, [`PortView`]s in the order of the
//! panel. Invariants: all ports of a cage have the same split. A cage is disabled if another one uses its lanes.

use std::collections::BTreeMap;

use closc_plan::{Connection, DeviceIntent, PortIntent};
use serde::Serialize;

use super::super::wire::needs_code;
use super::qos::QosView;
use super::quote;

/// A cage that is split or disabled.
#[derive(Debug, Serialize)]
pub(super) struct CageView {
    number: u16,
    /// If absent, the cage is disabled.
    split: Option<SplitView>,
}

/// Breakout of a cage.
#[derive(Debug, Serialize)]
struct SplitView {
    ports: usize,
    lanes: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct PortView<'a> {
    name: &'a str,
    description: String,
    mtu: u16,
    speed: String,
    correction: &'static str,
    /// If absent, the port is shut down.
    link: Option<LinkView>,
}

/// Connection of a port.
#[derive(Debug, Serialize)]
struct LinkView {
    /// Absent if both ends use link-local addresses.
    address: Option<String>,
    /// The name of two profiles: the ECN thresholds of the port, and the DSCP of trimmed packets.
    kind: String,
    /// The name of its PFC profile.
    pauses: Option<String>,
    /// Whether adaptive routing is on. If the switch uses it, it is on for every port to a switch. A next-hop group
    /// hashes flows if it is off on one of its ports.
    adaptive: bool,
}

/// Returns the cages of a switch that are split or disabled.
pub(super) fn cages(intent: &DeviceIntent<'_>) -> Vec<CageView> {
    let panel = &intent.platform.panel;
    let mut found: BTreeMap<u16, CageView> = BTreeMap::new();
    for port in &intent.ports {
        let physical = &port.physical;
        let lanes = physical.lanes.len().max(1);
        if physical.subport > 0 {
            let split = Some(SplitView { ports: usize::from(panel.lanes) / lanes, lanes });
            found.insert(physical.panel, CageView { number: physical.panel, split });
        }
        for number in physical.panel + 1..physical.panel + panel.number_step {
            found.entry(number).or_insert(CageView { number, split: None });
        }
    }
    found.into_values().collect()
}

/// Returns the ports of a switch, in the order of the panel.
pub(super) fn ports<'a>(intent: &'a DeviceIntent<'a>, qos: &QosView) -> Vec<PortView<'a>> {
    let mut order: Vec<usize> = (0..intent.ports.len()).collect();
    order.sort_by_key(|at| (intent.ports[*at].physical.panel, intent.ports[*at].physical.subport));
    let port = |at: usize| {
        let own = &intent.ports[at];
        let adaptive = intent.balance.is_some() && own.faces_switch();
        self::port(own, qos.of_port(at), adaptive)
    };
    order.into_iter().map(port).collect()
}

fn port(port: &PortIntent, of_port: Option<(String, Option<String>)>, adaptive: bool) -> PortView<'_> {
    let physical = &port.physical;
    let link = |(connection, (kind, pauses)): (&Connection, (String, Option<String>))| LinkView {
        address: (!connection.unnumbered).then(|| connection.address.to_string()),
        kind,
        pauses,
        adaptive,
    };
    PortView {
        name: &physical.name,
        description: quote(&port.description),
        mtu: port.mtu,
        speed: format!("{}G", physical.speed.mbps() / 1_000),
        correction: if needs_code(port) { "rs" } else { "off" },
        link: port.connection.as_ref().zip(of_port).map(link),
    }
}
