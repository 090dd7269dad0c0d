//! V04: addresses are unique and outside the block of segments, and management gateways are in their subnets.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cable, CableId, DeviceId, SwitchId};
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::language::Language;
use crate::rules::addresses::{BLOCK, MANAGEMENT, UNIQUE};

/// Checks addresses of the whole fabric.
pub(crate) fn check(fabric: &Fabric, findings: &mut Findings) {
    switches(fabric, findings);
    cables(fabric, findings);
    nics(fabric, findings);
}

fn switches(fabric: &Fabric, findings: &mut Findings) {
    let (mut loopbacks, mut macs, mut management) = (Owners::default(), Owners::default(), Owners::default());
    let mut gateways = Vec::new();
    let mut managed: HashMap<&'static Language, (usize, Option<SwitchId>)> = HashMap::new();
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        for loopback in &switch.loopbacks {
            loopbacks.add(fabric, loopback.addr(), id, FactKind::Loopback, findings);
            findings.expect(loopback.prefix_len() == 128, &UNIQUE, || {
                let message = format!("the loopback of `{}` is `{loopback}`", fabric.cabling.switch(id));
                Violation::new(&UNIQUE, fabric.place(id, FactKind::Loopback), message)
            });
            block(fabric, loopback.addr(), id, FactKind::Loopback, findings);
        }
        if switch.loopbacks.is_empty() && switch.language.addresses {
            let message = format!("`{}` has no loopback", fabric.cabling.switch(id));
            findings.count_facts(&UNIQUE, 1);
            findings.report(Violation::new(&UNIQUE, fabric.place(id, FactKind::Loopback), message));
        }
        let mac = switch.mac.or_else(|| switch.ends.get(0).and_then(|end| end.mac));
        if let Some(mac) = mac {
            let port = fabric.cabling.at_switch(id).first().map_or("", |plug| {
                let (own, _) = fabric.cabling.cable(plug.cable()).ends(plug.side());
                fabric.cabling.names.text(own.port)
            });
            macs.add(fabric, mac, id, FactKind::Mac(port), findings);
        }
        for (address, gateway) in &switch.management {
            management.add(fabric, address.addr(), id, FactKind::Management, findings);
            gateways.extend(gateway.map(|gateway| (*address, gateway, id)));
        }
        let entry = managed.entry(switch.language).or_default();
        if switch.management.is_empty() {
            entry.1 = entry.1.or(Some(id));
        } else {
            entry.0 += 1;
        }
    }
    for (language, (some, without)) in managed {
        findings.count_facts(&MANAGEMENT, 1);
        let topic = format_args!("management of {}", language.name);
        findings.record_common_value(&MANAGEMENT, topic, &(some > 0));
        if let (1.., Some(id)) = (some, without) {
            let name = fabric.cabling.switch(id);
            let message = format!("`{name}` has no management address, but other switches have one");
            findings.report(Violation::new(&MANAGEMENT, fabric.place(id, FactKind::Management), message));
        }
    }
    for (address, gateway, id) in gateways {
        let fits = address.contains(&gateway) && !management.0.contains_key(&gateway);
        findings.expect(fits, &MANAGEMENT, || {
            let message = format!(
                "`{}` has management address {address}, but its gateway {gateway} is in another subnet or is \
                 a switch",
                fabric.cabling.switch(id)
            );
            Violation::new(&MANAGEMENT, fabric.place(id, FactKind::Management), message)
        });
    }
}

/// The last owner of each value.
struct Owners<K>(HashMap<K, SwitchId>);

impl<K> Default for Owners<K> {
    fn default() -> Self {
        Owners(HashMap::new())
    }
}

impl<K: Hash + Eq + std::fmt::Display + Copy> Owners<K> {
    fn add(&mut self, fabric: &Fabric, key: K, id: SwitchId, about: FactKind<'_>, findings: &mut Findings) {
        findings.count_facts(&UNIQUE, 1);
        if let Some(other) = self.0.insert(key, id) {
            let names = [other, id].map(|id| fabric.cabling.switch(id));
            let message = format!("`{}` and `{}` both have {key}", names[0], names[1]);
            let violation = Violation::new(&UNIQUE, fabric.place(id, about), message);
            findings.report(violation.and(fabric.place(other, about)));
        }
    }
}

fn block(
    fabric: &Fabric,
    address: closc_artefacts::Address,
    id: SwitchId,
    about: FactKind<'_>,
    findings: &mut Findings,
) {
    let Some(layout) = &fabric.layout else { return };
    let around = layout.block_around(address);
    findings.expect(around.is_none(), &BLOCK, || {
        let message = format!(
            "`{}` has address {address}, which is inside the block `{}`",
            fabric.cabling.switch(id),
            around.map_or_else(String::new, |block| block.to_string())
        );
        Violation::new(&BLOCK, fabric.place(id, about), message)
    });
}

/// Checks that cables have their own prefixes, outside the block.
fn cables(fabric: &Fabric, findings: &mut Findings) {
    for cable in fabric.cabling.cables() {
        for end in [cable.upper, cable.lower] {
            let Some(address) = fabric.end_state(end).and_then(|state| state.address) else { continue };
            if let DeviceId::Switch(id) = end.party {
                block(fabric, address, id, FactKind::Address(fabric.cabling.names.text(end.port)), findings);
            }
        }
    }
    prefixes(fabric, findings);
}

/// Checks that no two cables have the same prefix. Because there may be millions of prefixes, their 8-byte
/// hashes are compared first.
fn prefixes(fabric: &Fabric, findings: &mut Findings) {
    let prefix = |cable: Cable| {
        let address = [cable.upper, cable.lower].iter().find_map(|end| fabric.end_state(*end)?.address)?;
        Some(u128::from(address) >> 1)
    };
    let mut numbers: Vec<u64> = Vec::with_capacity(fabric.cabling.cables().len());
    numbers.extend(fabric.cabling.cables().filter_map(prefix).map(number));
    findings.count_facts(&UNIQUE, numbers.len() as u64);
    numbers.sort_unstable();
    let twice = numbers.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
    let twice: HashSet<u64> = twice.collect();
    if twice.is_empty() {
        return;
    }
    drop(numbers);
    let all = fabric.cabling.cables().zip(0u32..).filter_map(|(cable, at)| Some((prefix(cable)?, at)));
    let mut prefixes: Vec<(u128, u32)> = all.filter(|(prefix, _)| twice.contains(&number(*prefix))).collect();
    prefixes.sort_unstable();
    for pair in prefixes.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let cables = [pair[0].1, pair[1].1].map(|at| fabric.cabling.cable(CableId(at)));
        let [first, second] = cables.map(|cable| fabric.cabling.describe(&cable));
        let message = format!("`{first}` and `{second}` have the same prefix");
        let place = |at: usize| {
            crate::check::ports::place(fabric, cables[at].upper, crate::check::ports::Aspect::Address)
        };
        findings.report(Violation::new(&UNIQUE, place(0), message).and(place(1)));
    }
}

/// Hashes a prefix to eight bytes. Different prefixes almost never have the same hash.
fn number(prefix: u128) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let high = ((prefix >> 64) as u64).wrapping_mul(ODD);
    ((prefix as u64) ^ high.rotate_left(32)).wrapping_mul(ODD)
}

fn nics(fabric: &Fabric, findings: &mut Findings) {
    let Some(layout) = &fabric.layout else { return };
    for group in fabric.judged_groups() {
        findings.count_facts(&BLOCK, group.nics.len() as u64);
        for nic in group.nics.iter().filter(|nic| layout.block_around(nic.address).is_some()) {
            let message = format!("`{}` has address {}, which is inside the block", nic.name, nic.address);
            findings.report(Violation::new(&BLOCK, group.nic_place(nic), message));
        }
    }
}
