//! Loads and lowers arbitrary bytes as a fabric file, and shows the findings, without a panic.
//!
//! In: bytes. Out: none. Invariants: the result is either a topology, or an error with its position in the file.

use std::sync::OnceLock;

use closc_diagnostics::{Sources, show};
use closc_platform::Catalogue;
use closc_topology::{PlaneId, Switch, TierId, Topology, ZoneId};

static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();

/// Computes the uSID of the last switch of each tier, which must not wrap.
fn segments(topology: &Topology) {
    if !topology.routing.is_source_routed() {
        return;
    }
    let (below, above) = (topology.t0.parallel, topology.t1.parallel);
    for (tier, parallel) in [(TierId::T0, below), (TierId::T1, below.max(above)), (TierId::T2, above)] {
        let Some(index) = topology.count(tier).checked_sub(1) else { continue };
        let zone = if tier == TierId::T2 { 0 } else { topology.zones - 1 };
        let last = Switch { plane: PlaneId(topology.planes - 1), tier, zone: ZoneId(zone), index };
        let usid = topology.srv6.layout.switch(last, parallel, parallel - 1);
        assert!(usid.0 != 0 && usid.0 <= closc_topology::GIB_MAX);
    }
}

/// Runs one input.
pub(crate) fn run(bytes: &[u8]) {
    let catalogue = CATALOGUE.get_or_init(Catalogue::builtin);
    let mut sources = Sources::new();
    let (topology, found) = match closc_topology::load(&mut sources, "fuzz.yaml", bytes) {
        Ok(document) => closc_topology::lower(&document, catalogue, &sources),
        Err(found) => (None, found),
    };
    assert_eq!(topology.is_none(), found.has_errors());
    for finding in &found {
        assert!(finding.span().is_some(), "{} has no place", finding.rule.code);
        let _ = show::text::one(finding, &sources, show::text::Colour::Plain);
    }
    if let Some(topology) = topology {
        segments(&topology);
        for nic in [0, topology.hosts.per_group - 1] {
            let nic =
                closc_topology::Nic { zone: ZoneId(0), group: topology.hosts.groups - 1, downlink: nic };
            let (node, number) = topology.node_of(nic);
            assert_eq!(topology.nic_of(node, number), nic);
        }
    }
}
