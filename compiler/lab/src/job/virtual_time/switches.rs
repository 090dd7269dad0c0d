//! The switches: the P4 program with the entries of the tree, cabled as in the cable lists, with queues of limited
//! rate.
//!
//! In: a tree. Out: a fabric of embedded switches with a simulated clock, and their counters. Invariants: forwarding,
//! marking and trimming depend only on the entries of the tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use closc_artefacts::paths;
use closc_runtime::proto::v1;
use closc_runtime::{Info, text};
use closc_switch::{
    Corruption, Delivery, EngineConfig, Fabric, FabricConfig, LinkEnd, LostPacket, Node, PipelineCache,
    QueueConfig, Rate, Switch, SwitchConfig,
};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use v1::entity::Entity;
use v1::set_forwarding_pipeline_config_request::Action;
use v1::write_request::Atomicity;

use super::super::orders::Orders;
use super::super::report::SwitchCounters;
use crate::LabError;
use crate::backend::p4;
use crate::model::{Model, PortId};
use crate::progress::Watch;
use crate::target::Target;
use crate::tree::{DeviceKind, Program, Software, Tree, p4info};

/// Number of priority queues of a port. Each strict class has its own queue, above that of the other classes.
const QUEUES: usize = 8;
/// Queue length in packets without trimming, as in BMv2.
const QUEUE_PACKETS: u64 = 64;
/// Maximum number of listed ports with full queues.
const FULL_MAX: usize = 8;
/// Number of simultaneous packets above which several threads process them.
const PARALLEL_FROM: usize = 128;

/// Returns the serialisation time of these bytes at a port.
pub(super) fn packet_ns(bytes: u64, port_mbps: u32) -> u64 {
    bytes * 8000 / u64::from(port_mbps.max(1))
}

/// Ids from the P4Info.
struct Ids {
    trim: u32,
    trim_depth: u32,
    trimmed: u32,
    ecn_marked: u32,
}

/// The switches of a fabric.
pub(super) struct Switches {
    fabric: Fabric,
    /// Switch port of each port number; `None` for ports of NICs.
    ends: Vec<Option<LinkEnd>>,
    ids: Ids,
}

impl Switches {
    pub(super) fn new(
        tree: &Tree,
        model: &Model,
        orders: &Orders,
        watch: &Watch<'_>,
    ) -> Result<Switches, LabError> {
        let other = tree
            .devices
            .iter()
            .find(|(_, device)| device.kind == DeviceKind::Switch && device.software != Software::P4);
        if let Some((name, _)) = other {
            return Err(LabError::WrongTarget { target: Target::Embedded, switch: name.clone() });
        }
        let ids =
            ids(&p4info(&tree.contents, Program::Fabric)?).map_err(|message| wrong("P4Info", &message))?;
        let config = FabricConfig {
            latency_ns: super::CABLE_NS,
            parallel_from: PARALLEL_FROM,
            keeps_lost: true,
            ..FabricConfig::default()
        };
        let mut fabric = Fabric::new(config);
        let mut nodes: BTreeMap<&str, Node> = BTreeMap::new();
        let cache = Arc::new(PipelineCache::default());
        let special = p4::SpecialPorts::of(tree, Program::Fabric)?;
        for (name, device_id) in p4::device_ids(tree) {
            // Every switch has its own random sequence.
            let seed = orders.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ device_id;
            let engine = EngineConfig { priority_queues: QUEUES, seed, drop_port: special.drop };
            let (cpu_port, clock) = (Some(special.cpu), fabric.clock());
            let switch =
                Switch::with_cache(SwitchConfig { device_id, cpu_port, engine, clock }, Arc::clone(&cache));
            nodes.insert(name, fabric.add(Arc::new(switch)));
        }
        program(tree, &fabric, &nodes, &ids, orders, watch)?;
        let end = |port: PortId| {
            let (device, name) = model.end(port);
            let device = &model.devices[device.0].name;
            let number = tree.devices.get(device)?.numbers.get(name)?;
            Some(LinkEnd { node: *nodes.get(device.as_str())?, port: u32::from(*number) })
        };
        let ends: Vec<Option<LinkEnd>> = model.all_ports().map(end).collect();
        let mut switches = Switches { fabric, ends, ids };
        for port in model.all_ports().filter(|port| port.is_lower()) {
            switches.plug(port.number(), port.peer().number())?;
        }
        Ok(switches)
    }

    /// Returns the switch port of a port number.
    pub(super) fn end(&self, port: u32) -> Option<LinkEnd> {
        self.ends.get(port as usize).copied().flatten()
    }

    /// Returns every switch port with its port number.
    pub(super) fn ends(&self) -> impl Iterator<Item = (u32, LinkEnd)> + '_ {
        (0..).zip(&self.ends).filter_map(|(port, end)| Some((port, (*end)?)))
    }

    /// Connects two ports. Cables of NICs are not links between switches, so they are ignored.
    pub(super) fn plug(&mut self, a: u32, b: u32) -> Result<(), LabError> {
        if let (Some(one), Some(other)) = (self.end(a), self.end(b)) {
            self.fabric.link(one, other).map_err(|error| LabError::Process(error.to_string()))?;
        }
        Ok(())
    }

    /// Removes the cable at a port.
    pub(super) fn unplug(&mut self, port: u32) {
        if let Some(end) = self.end(port) {
            self.fabric.unlink(end);
        }
    }

    /// Cuts or restores the link at a port.
    pub(super) fn set_link(&mut self, port: u32, up: bool) {
        if let Some(end) = self.end(port) {
            self.fabric.set_link(end, up);
        }
    }

    /// Makes the link at a port drop packets. Returns whether it is a link between switches.
    pub(super) fn set_loss(&mut self, port: u32, ppm: u32, seed: u64) -> bool {
        self.end(port).is_some_and(|end| self.fabric.set_loss(end, ppm, seed))
    }

    /// Makes the link at a port drop IP packets longer than `mtu`. Returns whether it is a link between switches.
    pub(super) fn set_mtu(&mut self, port: u32, mtu: Option<u16>) -> bool {
        self.end(port).is_some_and(|end| self.fabric.set_mtu(end, mtu))
    }

    /// Lets frames that leave a port towards another switch change bytes. Returns whether it is a link between
    /// switches.
    pub(super) fn set_corruption(&mut self, port: u32, corruption: Option<Corruption>) -> bool {
        self.end(port).is_some_and(|end| self.fabric.set_corruption(end, corruption))
    }

    /// Returns the time of the next event.
    pub(super) fn next_ns(&self) -> u64 {
        self.fabric.next_ns().unwrap_or(u64::MAX)
    }

    /// Processes packets up to a time, and delivers those that leave towards NICs.
    pub(super) fn run_before(&mut self, end_ns: u64, deliver: impl FnMut(Delivery)) {
        self.fabric.run_before(end_ns, deliver);
    }

    /// Removes and returns the lost packets.
    pub(super) fn take_lost(&mut self) -> Vec<LostPacket> {
        self.fabric.take_lost()
    }

    /// Sends a packet into a port at a time.
    pub(super) fn inject(&mut self, at_ns: u64, end: LinkEnd, frame: Vec<u8>) {
        self.fabric.inject_at(at_ns, end.node, end.port, frame);
    }

    /// Returns the ports with drops because of full queues, most drops first.
    fn full(&self, model: &Model) -> Vec<(String, u64)> {
        let ports: BTreeMap<(u32, u32), u32> =
            self.ends().map(|(number, end)| ((end.node.0, end.port), number)).collect();
        let name = |node: u32, port: u32| {
            let number = ports.get(&(node, port)).and_then(|number| model.port_of(*number));
            number.map_or_else(|| format!("port {port}"), |port| model.port_name(port))
        };
        let drops = |(node, switch): (Node, &Arc<Switch>)| {
            let drops = switch.queue_drops();
            drops.into_iter().map(move |(port, n)| (node.0, port, n)).collect::<Vec<_>>()
        };
        let mut full: Vec<(String, u64)> =
            self.fabric.switches().flat_map(drops).map(|(node, port, n)| (name(node, port), n)).collect();
        full.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        full
    }

    /// Returns the sums of the counters of all switches.
    pub(super) fn counters(&self, model: &Model) -> Result<SwitchCounters, LabError> {
        let all: Vec<&Arc<Switch>> = self.fabric.switches().map(|(_, switch)| switch).collect();
        let sum = |counter_id: u32| -> Result<u64, LabError> {
            let asked = [v1::CounterEntry { counter_id, index: None, data: None }.into()];
            let one = |switch: &&Arc<Switch>| {
                let found = switch.read(&asked).map_err(|error| wrong("counters", &error.to_string()))?;
                let packets = |entity: &v1::Entity| match &entity.entity {
                    Some(Entity::CounterEntry(entry)) => {
                        entry.data.as_ref().map_or(0, |data| data.packet_count.cast_unsigned())
                    }
                    Some(_) | None => 0,
                };
                Ok(found.entities.iter().map(packets).sum::<u64>())
            };
            all.par_iter().map(one).sum::<Result<u64, LabError>>()
        };
        let mut full = self.full(model);
        let dropped = full.iter().map(|(_, n)| n).sum();
        full.truncate(FULL_MAX);
        let (ecn_marked, trimmed) = (sum(self.ids.ecn_marked)?, sum(self.ids.trimmed)?);
        Ok(SwitchCounters { ecn_marked, trimmed, dropped, full })
    }
}

fn wrong(device: &str, message: &str) -> LabError {
    LabError::P4Runtime { device: device.to_owned(), message: message.to_owned() }
}

fn ids(info: &Info) -> Result<Ids, String> {
    let find = || -> Result<Ids, closc_runtime::info::LookupError> {
        Ok(Ids {
            trim: info.table("egress.trim")?.preamble.id,
            trim_depth: info.action("set_trim")?.param("depth_packets")?.id,
            trimmed: info.counter("egress.trimmed")?.preamble.id,
            ecn_marked: info.counter("egress.ecn_marked")?.preamble.id,
        })
    };
    find().map_err(|error| error.to_string())
}

/// Loads the program and the entries into every switch, and sets queues at every port with a cable.
fn program(
    tree: &Tree,
    fabric: &Fabric,
    nodes: &BTreeMap<&str, Node>,
    ids: &Ids,
    orders: &Orders,
    watch: &Watch<'_>,
) -> Result<(), LabError> {
    let message = text::read_p4info(&tree.contents.text(paths::p4info(Program::Fabric.name()))?);
    let config = v1::ForwardingPipelineConfig {
        p4info: Some(message.map_err(|error| wrong("P4Info", &error.to_string()))?),
        p4_device_config: tree.contents.read(paths::bmv2(Program::Fabric.name()))?.into(),
        cookie: None,
    };
    let rate = Rate::Bits(u64::from(orders.port_mbps) * 1_000_000);
    let one = |(name, node): (&&str, &Node)| -> Result<(), LabError> {
        watch.check()?;
        let Some((switch, device)) = fabric.switch(*node).zip(tree.devices.get(*name)) else { return Ok(()) };
        let set = switch.set_pipeline(Action::VerifyAndCommit, Some(&config));
        set.map_err(|error| wrong(name, &error.to_string()))?;
        let entries = tree.contents.text(paths::switch(name, paths::ENTRIES))?;
        let updates = text::read_entries(&entries).map_err(|error| wrong(name, &error.to_string()))?;
        let outcomes = switch.write(&updates, Atomicity::ContinueOnError);
        let outcomes = outcomes.map_err(|error| wrong(name, &error.to_string()))?;
        if let Some(refused) = outcomes.iter().find(|outcome| !outcome.is_ok()) {
            return Err(wrong(name, &format!("an entry is refused: {refused:?}")));
        }
        let depths = depths(ids, &updates);
        for number in device.numbers.values().map(|number| u32::from(*number)) {
            let depth = depths.get(&number).copied().unwrap_or(QUEUE_PACKETS);
            switch.set_queue(number, Some(QueueConfig { rate, depth: depth as usize }));
        }
        Ok(())
    };
    nodes.par_iter().map(one).collect()
}

/// Returns the queue length of each port in packets. Entries contain the depth at which trimming starts, which is
/// seven eighths of the length.
fn depths(ids: &Ids, updates: &[v1::Update]) -> BTreeMap<u32, u64> {
    let number = |bytes: &[u8]| bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    let entries = updates.iter().filter_map(|update| match update.entity.as_ref()?.entity.as_ref()? {
        Entity::TableEntry(entry) if entry.table_id == ids.trim => Some(entry),
        _ => None,
    });
    let depth = |entry: &v1::TableEntry| {
        let key = match entry.r#match.first()?.field_match_type.as_ref()? {
            v1::field_match::FieldMatchType::Exact(exact) => number(&exact.value),
            _ => return None,
        };
        let Some(v1::table_action::Type::Action(action)) = &entry.action.as_ref()?.r#type else {
            return None;
        };
        let cut = action.params.iter().find(|param| param.param_id == ids.trim_depth)?;
        Some((key as u32, (number(&cut.value) * 8).div_ceil(7)))
    };
    entries.filter_map(depth).collect()
}
