//! Any bytes as a fabric file: loaded, lowered and shown, without a panic.
//!
//! In: bytes. Out: nothing. Always: either there is a topology, or there is an error with a place.

#![no_main]

use std::sync::OnceLock;

use closc_diagnostics::{Sources, show};
use closc_platform::Catalogue;
use libfuzzer_sys::fuzz_target;

static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
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
        for nic in [0, topology.hosts.per_group - 1] {
            let nic = closc_topology::Nic { zone: closc_topology::ZoneId(0), group: topology.t0.count - 1, downlink: nic };
            let (node, number) = topology.node_of(nic);
            assert_eq!(topology.nic_of(node, number), nic);
        }
    }
});
