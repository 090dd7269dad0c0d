//! Binds BGP sessions to cables, and reports faults that are visible in one switch.
//!
//! In: a switch as its files describe it, and the cable lists. Out: a [`Speaker`]. Invariants: only sessions over
//! cables are kept.

use std::collections::HashMap;
use std::sync::Arc;

use super::binding::Binding;
use crate::model::bgp::{Config, Neighbour, Session, Speaker, Terms};
use crate::model::cabling::DeviceId;
use crate::model::device::Via;
use crate::model::fact::{FactKind, Term};
use crate::rules::bgp::{IDENTIFIER, NUMBERS, OWNED, SESSION, STRANGER};

/// Binds the BGP settings of a switch to its cables, and reports faults that are visible in the switch alone.
pub(crate) fn speaker(binding: &mut Binding<'_, '_>) -> Option<Speaker> {
    if !binding.context.routing.speaks_bgp() {
        return None;
    }
    let device = binding.device;
    let Some(config) = &device.bgp else {
        binding.findings.count_facts(&SESSION, 1);
        binding.report(&SESSION, FactKind::Bgp, "it does not speak BGP");
        return None;
    };
    binding.findings.count_facts(&NUMBERS, 1);
    if let Some(asn) = device.asn.filter(|asn| *asn != config.asn) {
        let message =
            format!("its configuration has autonomous system {asn}, but `frr.conf` has {}", config.asn);
        binding.report(&NUMBERS, FactKind::Device, &message);
    }
    binding.findings.count_facts(&IDENTIFIER, 1);
    if config.router_id.is_none() {
        binding.report(&IDENTIFIER, FactKind::Bgp, "it has no router id");
    }
    binding.findings.count_facts(&SESSION, 1);
    if config.process.ipv4 {
        binding.report(&SESSION, FactKind::Bgp, "its sessions carry IPv4 by default, without a filter");
    }
    check_networks(binding, config);
    let mut terms: Vec<Arc<Terms>> = Vec::new();
    let sessions = sessions(binding, config, &mut terms);
    Some(Speaker {
        asn: config.asn,
        router_id: config.router_id,
        networks: config.networks.clone(),
        process: binding.context.processes.intern(&config.process).1,
        terms,
        sessions,
    })
}

fn check_networks(binding: &mut Binding<'_, '_>, config: &Config<'_>) {
    let device = binding.device;
    for network in &config.networks {
        binding.findings.count_facts(&OWNED, 1);
        let routed = device.routes.iter().any(|route| route.prefix == *network);
        let message = if network.prefix_len() == 0 {
            format!("it announces the default route `{network}`")
        } else if routed || device.loopbacks.contains(network) {
            continue;
        } else {
            format!("it announces `{network}`, which is neither its loopback nor the prefix of a route")
        };
        binding.report(&OWNED, FactKind::Network(&network.to_string()), &message);
    }
    for loopback in device.loopbacks.iter().filter(|loopback| !config.networks.contains(loopback)) {
        binding.report(&OWNED, FactKind::Loopback, &format!("its loopback `{loopback}` is not announced"));
    }
    let nics = device.routes.iter().filter(|route| !matches!(route.via, Via::Blackhole));
    for route in nics {
        binding.findings.count_facts(&OWNED, 1);
        if !config.networks.iter().any(|network| network.contains(&route.prefix)) {
            let message = format!("`{}` leads to a NIC, but no announced prefix covers it", route.text);
            binding.report(&OWNED, FactKind::Route(&route.text), &message);
        }
    }
}

/// Binds neighbours to cables. Only sessions that can come up are kept.
fn sessions(
    binding: &mut Binding<'_, '_>,
    config: &Config<'_>,
    terms: &mut Vec<Arc<Terms>>,
) -> Vec<Option<Session>> {
    let device = binding.device;
    let plugs = binding.context.cabling.at_switch(binding.id);
    let mut sessions = vec![None; plugs.len()];
    let mut configured = vec![false; plugs.len()];
    let by_name: HashMap<&str, usize> =
        device.ports.iter().enumerate().map(|(at, port)| (&*port.name, at)).collect();
    let mut indexes: HashMap<&Terms, u16> = HashMap::new();
    for neighbour in &config.neighbours {
        binding.findings.count_facts(&STRANGER, 1);
        let about = FactKind::Session(&neighbour.name);
        let port = by_name.get(&*neighbour.name).copied();
        let slot = port.and_then(|port| binding.slots[port]).filter(|slot| {
            let plug = plugs[usize::from(*slot)];
            let (_, far) = binding.context.cabling.cable(plug.cable()).ends(plug.side());
            matches!(far.party, DeviceId::Switch(_))
        });
        let (Some(port), Some(slot)) = (port, slot) else {
            let message = format!("neighbour `{}` is not a port with a cable to a switch", neighbour.name);
            binding.report(&STRANGER, about, &message);
            continue;
        };
        if std::mem::replace(&mut configured[usize::from(slot)], true) {
            binding.report(&STRANGER, about, &format!("`{}` is a neighbour twice", neighbour.name));
            continue;
        }
        if let Some((about, why)) = silent(&device.ports[port], neighbour) {
            binding.report(&SESSION, about, &format!("port `{}` {why}", neighbour.name));
            continue;
        }
        let index = *indexes.entry(&neighbour.terms).or_insert_with(|| {
            terms.push(binding.context.terms.intern(&neighbour.terms).1);
            terms.len() as u16 - 1
        });
        sessions[usize::from(slot)] = Some(Session { remote: neighbour.remote, terms: index });
    }
    for (plug, configured) in plugs.iter().zip(configured) {
        let cabling = binding.context.cabling;
        let (own, far) = cabling.cable(plug.cable()).ends(plug.side());
        if let DeviceId::Switch(_) = far.party {
            binding.findings.count_facts(&SESSION, 1);
            if !configured {
                let name = cabling.names.text(own.port);
                let message = format!("port `{name}` leads to `{}`, but has no session", cabling.end(far));
                binding.unlike(&SESSION, FactKind::Bgp, Some(plug.cable()), &message);
            }
        }
    }
    sessions
}

/// Returns the setting because of which a session cannot come up, and the reason.
fn silent<'a>(
    port: &crate::model::device::Port<'_>,
    neighbour: &'a Neighbour<'_>,
) -> Option<(FactKind<'a>, &'static str)> {
    let name = &*neighbour.name;
    if !port.discovery.link_local {
        return Some((FactKind::Port(name), "has a session, but no link-local address"));
    }
    if !neighbour.terms.active {
        let about = FactKind::Terms(name, Term::Activation);
        return Some((about, "has a session that carries no IPv6 prefixes"));
    }
    let why = "has a session, but does not send router advertisements";
    (!port.discovery.advertises).then_some((FactKind::Address(name), why))
}
