//! V0206: ports with the same name have the same serial lanes on all switches with the same hardware.

use std::collections::{BTreeMap, HashMap};

use closc_platform::Hardware;
use smol_str::SmolStr;

use crate::finding::{Findings, Violation};
use crate::model::cabling::SwitchId;
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::switch::NamedValues;
use crate::rules::cabling::LANES;

/// Checks the lanes of all switches. Switches with equal ports share a list of lanes, so there are only a few lists.
pub(crate) fn check(fabric: &Fabric, known: &BTreeMap<String, Hardware>, findings: &mut Findings) {
    let mut lists: BTreeMap<(&str, &NamedValues), Vec<SwitchId>> = BTreeMap::new();
    for (hardware, lanes, ids) in by_list(fabric).into_values() {
        findings.count_facts(&LANES, (lanes.len() * ids.len()) as u64);
        lists.entry((hardware, lanes)).or_default().extend(ids);
    }
    let mut votes: HashMap<(&str, &SmolStr, usize), BTreeMap<&SmolStr, usize>> = HashMap::new();
    for ((hardware, lanes), ids) in &lists {
        for (port, lanes) in *lanes {
            *votes.entry((hardware, port, count(lanes))).or_default().entry(lanes).or_default() += ids.len();
        }
    }
    // Every port of known hardware is compared with the platform instead.
    for ((hardware, port, lanes), votes) in
        votes.iter().filter(|((hardware, ..), _)| !known.contains_key(*hardware))
    {
        if let Some((usual, _)) = votes.iter().max_by_key(|vote| *vote.1) {
            findings.record_common_value(
                &LANES,
                format_args!("port {port} of {lanes} lanes of {hardware}"),
                usual,
            );
        }
    }
    for ((hardware, lanes), ids) in &lists {
        let mut seen: HashMap<&str, &SmolStr> = HashMap::new();
        for (port, own) in *lanes {
            let twice = lanes_of(own).split(',').find_map(|lane| seen.insert(lane, port));
            let votes = votes
                .get(&(*hardware, port, count(own)))
                .and_then(|votes| votes.iter().max_by_key(|vote| *vote.1));
            let usual = votes.map(|(lanes, _)| *lanes);
            let message = match (twice, usual) {
                (Some(other), _) => format!("ports `{other}` and `{port}` share a lane of `{own}`"),
                (None, Some(usual)) if usual != own => {
                    format!("port `{port}` is `{own}`, but `{usual}` on other switches")
                }
                (None, _) => continue,
            };
            for id in ids {
                let place = fabric.place(*id, FactKind::Port(port));
                let message = format!("`{}`: {message}", fabric.cabling.switch(*id));
                findings.report(Violation::new(&LANES, place, message));
            }
        }
    }
}

/// Checks that all ports exist on their hardware, if it is known.
pub(crate) fn chassis(fabric: &Fabric, known: &BTreeMap<String, Hardware>, findings: &mut Findings) {
    for (hardware, lanes, ids) in by_list(fabric).into_values() {
        let Some(own) = known.get(hardware) else { continue };
        findings.count_facts(&LANES, (lanes.len() * ids.len()) as u64);
        let has = |(port, physical): &&(SmolStr, SmolStr)| {
            own.ports().contains(&(port.clone(), physical.to_string()))
        };
        let absent: Vec<&(SmolStr, SmolStr)> = lanes.iter().filter(|port| !has(port)).collect();
        for id in ids {
            for (port, physical) in &absent {
                let place = fabric.place(id, FactKind::Port(port));
                let name = fabric.cabling.switch(id);
                let message = format!("`{name}`: the hardware has no port `{port}` with `{physical}`");
                findings.report(Violation::new(&LANES, place, message));
            }
        }
    }
}

/// Switches with the same hardware that share one list of lanes.
type LaneOwners<'f> = BTreeMap<(&'f str, *const NamedValues), (&'f str, &'f NamedValues, Vec<SwitchId>)>;

fn by_list(fabric: &Fabric) -> LaneOwners<'_> {
    let mut lists = LaneOwners::new();
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id).filter(|switch| !switch.lanes.is_empty()) else { continue };
        let hardware = switch.hardware.as_deref().unwrap_or_default();
        let lanes: &NamedValues = &switch.lanes;
        lists
            .entry((hardware, std::ptr::from_ref(lanes)))
            .or_insert_with(|| (hardware, lanes, Vec::new()))
            .2
            .push(id);
    }
    lists
}

/// Returns the lanes of a port, without its alias and cage.
fn lanes_of(port: &str) -> &str {
    port.split(' ').next().unwrap_or(port)
}

/// Returns the number of lanes of a port. The lanes of a port name differ with the breakout of its cage.
fn count(port: &str) -> usize {
    lanes_of(port).split(',').count()
}
