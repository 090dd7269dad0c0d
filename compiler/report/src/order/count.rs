//! Counts of switches and modules, in total and by rack.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use closc_cabling::list::Entry;
use closc_cabling::modules::{self, ModuleKind};
use closc_plan::Plan;
use closc_platform::{Os, Platform};
use smol_str::SmolStr;

/// A kind of switch.
#[derive(Debug, Clone)]
pub(super) struct SwitchKind {
    pub platform: Arc<Platform>,
    pub os: Os,
}

/// Switches of a rack.
#[derive(Debug, Default)]
pub(super) struct Rack {
    /// Its name; absent for switches without a place.
    pub name: Option<SmolStr>,
    pub switches: u64,
    pub units: Option<u64>,
    pub typical: Option<u64>,
    pub maximum: Option<u64>,
    /// Switches and modules without published power.
    pub unpublished_parts: BTreeSet<String>,
}

/// Result of counting.
pub(super) struct OrderCounts {
    pub switches: Vec<(SwitchKind, u64)>,
    pub modules: Vec<(ModuleKind, u64)>,
    pub racks: Vec<Rack>,
}

/// Counts all switches, and the modules in their cages and in those of NICs.
pub(super) fn count(plan: &Plan, entries: &[Entry]) -> OrderCounts {
    let fabric = plan.fabric();
    let topology = plan.topology();
    let mut kinds: BTreeMap<(SmolStr, &str), (SwitchKind, u64)> = BTreeMap::new();
    let mut modules: BTreeMap<ModuleKind, u64> = BTreeMap::new();
    let mut racks: BTreeMap<Option<SmolStr>, Rack> = BTreeMap::new();
    for switch in fabric.switches() {
        let (platform, os) = topology.hardware(switch);
        let kind = || (SwitchKind { platform: Arc::clone(platform), os }, 0);
        kinds.entry((platform.id.clone(), os.keyword())).or_insert_with(kind).1 += 1;
        let own = modules::modules(plan, switch);
        let name = topology.switch_place(switch).map(|place| place.rack);
        let rack = racks.entry(name.clone()).or_insert_with(|| Rack::new(name));
        rack.add(platform, &own);
        for (kind, count) in own {
            *modules.entry(kind).or_default() += count;
        }
    }
    for entry in entries.iter().filter(|entry| entry.kind == "nic-t0") {
        *modules.entry(ModuleKind::of_nic(plan, &entry.medium)).or_default() += entry.lower_cages;
    }
    let modules = modules.into_iter().filter(|(kind, count)| *count > 0 && !kind.is_assembly());
    OrderCounts {
        switches: kinds.into_values().collect(),
        modules: modules.collect(),
        racks: racks.into_values().collect(),
    }
}

impl Rack {
    fn new(name: Option<SmolStr>) -> Self {
        Rack { name, units: Some(0), typical: Some(0), maximum: Some(0), ..Rack::default() }
    }

    /// Adds a switch with its modules.
    fn add(&mut self, platform: &Platform, modules: &BTreeMap<ModuleKind, u64>) {
        self.switches += 1;
        self.units = sum(self.units, platform.rack_units.map(u64::from));
        let power = platform.power.as_ref();
        let (typical, maximum) =
            (power.and_then(|power| power.typical_watts), power.and_then(|power| power.maximum_watts));
        self.add_power(typical.map(u64::from), maximum.map(u64::from), || platform.id.to_string());
        for (kind, count) in modules {
            let power = kind.power();
            let of = |watts: u32| u64::from(watts) * count;
            let name = || format!("{} {} x {}", kind.medium, kind.lanes, kind.lane);
            self.add_power(power.map(|power| of(power.0)), power.map(|power| of(power.1)), name);
        }
    }

    fn add_power(&mut self, typical: Option<u64>, maximum: Option<u64>, name: impl Fn() -> String) {
        self.typical = sum(self.typical, typical);
        self.maximum = sum(self.maximum, maximum);
        if typical.is_none() || maximum.is_none() {
            let which = if typical.is_some() { " (maximum)" } else { "" };
            self.unpublished_parts.insert(name() + which);
        }
    }
}

fn sum(known: Option<u64>, more: Option<u64>) -> Option<u64> {
    Some(known? + more?)
}
