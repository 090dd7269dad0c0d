//! Values of the fabric in the manifest, which readers of the tree need to check its files.
//!
//! In: a plan. Out: [`StatedValues`]: ports and buffers of each kind of switch, and the numbers of the QoS profile.
//! Invariants: only one switch of each kind ([`Plan::kinds`]) is computed, so the work does not grow with the fabric.
//! Listed management ports are written one by one.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::cables::Kind;
use closc_artefacts::{
    Family, Prefix, StatedAddresses, StatedBalance, StatedBuffer, StatedCable, StatedClass, StatedHosts,
    StatedManagement, StatedManagementWidths, StatedNotifications, StatedPort, StatedQos, StatedSwitch,
    StatedTrimming, StatedValues, StatedWatchdog, StatedWidths, StatedWiring,
};
use closc_platform::Breakout;
use closc_platform::capability::{Capability, Support};
use closc_qos::QosError;
use closc_qos::codes::{Dscp, Queue};
use closc_qos::ecn::Ecn;
use closc_qos::headroom::Model;
use closc_qos::host::HostQos;
use closc_qos::profile::{Profile, Scheduler, WatchdogAction, WatchdogTimes};
use closc_topology::{
    Addresses, Cable, Cables, HostOutput, Link, ManagementPort, Side, Switch, TierId, Topology,
};
use ipnet::IpNet;
use smol_str::SmolStr;

use crate::bgp;
use crate::host::{queue_pairs, reorders};
use crate::intent::DeviceIntent;
use crate::plan::Plan;
use crate::qos::{SwitchBuffers, SwitchQos};

/// Properties by which switches are distinguished in the manifest: tier, platform, operating system and split of cages.
type SwitchKey<'a> = (TierId, SmolStr, &'a str, [Breakout; 2]);

impl Plan {
    /// Returns the values of the fabric. `add` adds values that depend on the target of a switch.
    pub fn stated_values<E: From<QosError>>(
        &self,
        add: impl Fn(&DeviceIntent<'_>, &mut StatedSwitch) -> Result<(), E>,
    ) -> Result<StatedValues, E> {
        // For each kind: index in the result, and whether that switch has a port in use. If not, a later switch
        // replaces it.
        let mut kinds: BTreeMap<SwitchKey<'_>, (usize, bool)> = BTreeMap::new();
        let mut stated = StatedValues::default();
        let mut profile = None;
        for switch in self.kinds() {
            let (platform, os) = self.topology().hardware(switch);
            let splits = self.topology().blocks(switch).map(|block| block.breakout);
            let kind = (switch.tier, platform.id.clone(), os.keyword(), splits);
            let intent = self.device(switch);
            profile.get_or_insert(intent.qos);
            let mut own = self::switch(switch, &intent)?;
            add(&intent, &mut own)?;
            let in_use = !own.ports.is_empty();
            match kinds.get(&kind).copied() {
                None => {
                    kinds.insert(kind, (stated.switches.len(), in_use));
                    stated.switches.push(own);
                }
                Some((at, false)) => {
                    kinds.insert(kind, (at, in_use));
                    stated.switches[at] = own;
                }
                // A switch of the same kind with cables of other lengths.
                Some((at, true)) => join(&mut stated.switches[at].ports, own.ports),
            }
        }
        stated.qos = profile.map(qos).unwrap_or_default();
        stated.sessions = self.topology().routing.speaks_bgp().then_some(bgp::TIMERS);
        stated.hosts = hosts(self.topology());
        stated.cables = cables(self.topology());
        let has_addresses = self
            .kinds()
            .into_iter()
            .any(|switch| !matches!(self.os(switch).support(Capability::Loopback), Support::Not(_)));
        stated.addresses = has_addresses.then(|| self.stated_addresses());
        stated.management = self.listed_management();
        stated.isolation = self.topology().exceptions.has_isolation;
        stated.wiring = (!self.is_source_routed()).then(|| wiring(self.topology()));
        Ok(stated)
    }
}

impl Plan {
    /// Returns the listed management ports of existing switches whose target has one.
    fn listed_management(&self) -> BTreeMap<String, StatedManagement> {
        let listed = &self.topology().addresses.management_list;
        let own = |(switch, port): (&Switch, &ManagementPort)| {
            let stated = StatedManagement { address: port.address, gateway: port.gateway };
            (self.switch_name(*switch).to_string(), stated)
        };
        let has_port = |switch: Switch| {
            let support = self.os(switch).support(Capability::Management);
            self.fabric().has_switch(switch) && !matches!(support, Support::Not(_))
        };
        listed.iter().filter(|(switch, _)| has_port(**switch)).map(own).collect()
    }

    fn stated_addresses(&self) -> StatedAddresses {
        let topology = self.topology();
        let pools = &topology.addresses;
        let numbered = |count: u16| Some(count).filter(|count| *count > 1 && !topology.routing.speaks_bgp());
        StatedAddresses {
            links: pools.links,
            loopbacks: pools.loopbacks,
            management: pools.management,
            gateway: self.addresses().pool_gateway(),
            t0_t1: numbered(topology.t0.parallel),
            t1_t2: numbered(topology.t1.parallel).filter(|_| topology.t2.is_some()),
            rows: numbered(topology.t2_rows()).filter(|_| topology.t2.is_some()),
            widths: pools.widths.index.map(|index| StatedManagementWidths { zone: pools.widths.zone, index }),
            ipv4: has_widths(pools).then(|| {
                let widths = topology.ipv4_widths();
                let (plane, zone, downlink) = (widths.plane, widths.zone, widths.downlink);
                StatedWidths { plane, zone, downlink, uplinks: widths.uplinks }
            }),
            t0_places: topology
                .uplink_places()
                .filter(|_| !topology.routing.speaks_bgp())
                .unwrap_or_default()
                .to_vec(),
        }
    }
}

/// Returns whether the addresses of some pool depend on the widths.
fn has_widths(pools: &Addresses) -> bool {
    let fabric = [pools.hosts, pools.links, pools.loopbacks].map(Prefix::family);
    let management = pools.management.filter(|pool| match pool {
        IpNet::V4(pool) => pool.prefix_len() > pools.widths.management_v4_max(),
        IpNet::V6(_) => false,
    });
    fabric.contains(&Family::V4) || management.is_some()
}

/// Numbers of neighbours and cables of switches without absent elements.
fn wiring(topology: &Topology) -> StatedWiring {
    let above = |tier: TierId| topology.tier(tier).map_or((0, 0), |tier| (tier.up.count, tier.parallel));
    let ((_, t0_t1), (t1_up, t1_t2)) = (above(TierId::T0), above(TierId::T1));
    let has_t2 = topology.t2.is_some();
    StatedWiring {
        t0_t1,
        t1_t2: if has_t2 { t1_t2 } else { 0 },
        t2s_above: if has_t2 { t1_up / t1_t2.max(1) } else { 0 },
        t1s_below: if has_t2 { topology.t1s_below(0).count() as u16 } else { 0 },
    }
}

/// Cables of every kind: the defaults, cables of single zones, and single cables.
fn cables(topology: &Topology) -> BTreeSet<StatedCable> {
    let Cables { nic_t0, t0_t1, t1_t2, t1_t2_by_zone } = &topology.cables;
    let above = t1_t2.iter().chain(t1_t2_by_zone.values()).map(|cable| (Kind::T1T2, cable));
    let own = topology.exceptions.cables.iter().map(|(link, cable)| (kind(*link), cable));
    let all = [(Kind::NicT0, nic_t0), (Kind::T0T1, t0_t1)].into_iter().chain(above).chain(own);
    let stated = |(kind, cable): (Kind, &Cable)| StatedCable {
        kind: kind.keyword().to_owned(),
        meters: cable.length.meters_ceil(),
        medium: cable.medium.to_string(),
    };
    all.map(stated).collect()
}

fn kind(link: Link) -> Kind {
    match link {
        Link::Host(_) => Kind::NicT0,
        Link::Fabric { lower, .. } if lower.tier == TierId::T0 => Kind::T0T1,
        Link::Fabric { .. } => Kind::T1T2,
    }
}

/// Settings of nodes, if files are written for their NIC drivers or collective libraries.
fn hosts(topology: &Topology) -> Option<StatedHosts> {
    let outputs = &topology.hosts.outputs;
    if !outputs.contains(&HostOutput::Nic) && !outputs.contains(&HostOutput::Nccl) {
        return None;
    }
    let qos = HostQos::of(&topology.qos);
    let notifications = qos.dcqcn.map(|dcqcn| StatedNotifications {
        dscp: dcqcn.cnp_dscp.get(),
        priority: dcqcn.cnp_priority.get(),
        governed: dcqcn.priorities.iter().map(|priority| priority.get()).collect(),
    });
    Some(StatedHosts {
        reach: topology.addresses.hosts.to_string(),
        queue_pairs: queue_pairs(topology),
        has_rails: topology.hosts.rails > 1,
        nics_per_adapter: topology.has_adapters().then_some(topology.hosts.nics_per_adapter),
        reorders: reorders(topology),
        data_dscp: qos.rdma.data.dscp.get(),
        clear_to_send_dscp: qos.rdma.nccl_fifo_tc.map(|tos| tos >> 2),
        notifications,
    })
}

/// Adds the ports that differ from the known ones in side, speed, lanes, MTU or cable length.
fn join(ports: &mut Vec<StatedPort>, more: Vec<StatedPort>) {
    let kind = |port: &StatedPort| (port.down, port.speed_mbps, port.lanes, port.mtu, port.meters);
    for port in more {
        if !ports.iter().any(|known| kind(known) == kind(&port)) {
            ports.push(port);
        }
    }
}

fn switch(switch: Switch, intent: &DeviceIntent<'_>) -> Result<StatedSwitch, QosError> {
    let qos = SwitchQos::of(intent)?;
    let mut ports: Vec<StatedPort> = Vec::new();
    for (port, kind) in intent.ports.iter().zip(&qos.ports) {
        let Some(at) = *kind else { continue };
        let kind = &qos.kinds[at];
        let headroom = qos.buffers.as_ref().and_then(|buffers| buffers.headroom(at));
        let marks = qos.marks[at].iter().map(|(queue, marks)| {
            (queue.get(), (marks.min().0, marks.max().0, marks.probability().get().into()))
        });
        let stated = StatedPort {
            down: port.at.side == Side::Down,
            speed_mbps: kind.speed.mbps(),
            lanes: kind.lanes,
            mtu: port.mtu,
            meters: kind.cable.meters_ceil(),
            headroom_bytes: headroom.map(|headroom| headroom.xoff.0),
            reserved_bytes: headroom.map(|headroom| headroom.size.0),
            pooled_bytes: headroom.map(|headroom| headroom.pooled.0),
            resumes: headroom.map(|headroom| (headroom.xon.0, headroom.xon_offset.map(|offset| offset.0))),
            marks: marks.collect(),
            marks_alone: { qos.marks[at].iter() }
                .filter(|(_, marks)| !marks.drops())
                .map(|(queue, _)| queue.get())
                .collect(),
            trim_packets: None,
            nic_classes: BTreeMap::new(),
            punts: None,
            marks_by_room: by_room(intent, &qos, at),
        };
        if !ports.contains(&stated) {
            ports.push(stated);
        }
    }
    let most = qos.buffers.as_ref().and_then(|buffers| buffers.lossless_queue_max).map(|most| most.0);
    Ok(StatedSwitch {
        tier: tier(switch.tier).to_owned(),
        os: intent.os.keyword().to_owned(),
        hardware: intent.hardware.to_string(),
        platform: intent.platform.sonic.as_ref().map(|sonic| sonic.platform.clone()),
        buffer: buffer(intent, &qos),
        lossless_queue_bytes: most,
        trimming: trimming(intent),
        watchdog: qos.watchdog.and_then(|times| watchdog(intent.qos, times)),
        balance: intent
            .balance
            .map(|own| StatedBalance { kind: own.kind.keyword().to_owned(), groups: own.groups }),
        negotiates: intent.os.negotiates(intent.release) == Some(true)
            && intent
                .ports
                .iter()
                .any(|port| port.connection.as_ref().is_some_and(|own| own.cable.is_copper())),
        states_autoneg: intent.platform.states_autoneg(intent.os),
        ports,
    })
}

/// Returns the numbers that determine the sizes of buffer pools.
fn buffer(intent: &DeviceIntent<'_>, qos: &SwitchQos) -> Option<StatedBuffer> {
    let SwitchBuffers { memory, .. } = qos.buffers.as_ref()?;
    let total = memory.total.round_down(memory.cell);
    let cabled: u32 = qos.kinds.iter().map(|kind| kind.ports).sum();
    let model = intent.platform.buffer.as_ref()?.headroom_model.parse::<Model>().ok()?;
    let shared = intent.qos.shared_headroom();
    Some(StatedBuffer {
        total_bytes: total.0,
        free_bytes: total.0.saturating_sub(memory.reserved_sum().0),
        cell_bytes: memory.cell.0,
        headroom_ratio: shared.map_or(1, |shared| shared.over_subscribe_ratio.get()),
        private_bytes: memory.private_headroom.0.checked_div(cabled.into()).unwrap_or(0),
        bounds_ports: model.is_nvidia(),
    })
}

/// Returns the queues of a kind of port whose thresholds depend on the shared pool, each with the size of the
/// pool in bytes.
fn by_room(intent: &DeviceIntent<'_>, qos: &SwitchQos, kind: usize) -> BTreeMap<u8, u64> {
    let Some(buffers) = &qos.buffers else { return BTreeMap::new() };
    let sized = |queue: &Queue| {
        let classes = intent.qos.queues();
        let rule = classes.get(queue).map(|classes| intent.qos.ecn_rule(classes[0], qos.kinds[kind].place));
        matches!(rule, Some(Ecn::Fill(_) | Ecn::Computed(_)))
    };
    let queues = qos.marks[kind].keys().filter(|queue| sized(queue));
    queues.map(|queue| (queue.get(), buffers.pools.shared.0)).collect()
}

/// Returns the size and queue of trimmed packets. The queue is that of the hwsku, if it has a fixed one,
/// otherwise that of the class.
fn trimming(intent: &DeviceIntent<'_>) -> Option<StatedTrimming> {
    let trimming = intent.qos.trimming().filter(|_| !intent.platform.is_software())?;
    let class = intent.qos.class(&trimming.class)?;
    let queue = intent.platform.trim_queue(&intent.hardware).unwrap_or(class.queue);
    Some(StatedTrimming {
        size_bytes: intent.platform.trim_size(intent.os, trimming.size).0,
        queue: queue.get(),
        maps_classes: intent.os.has_hwskus() && intent.platform.clears_unmapped_dscp(&intent.hardware),
    })
}

fn tier(tier: TierId) -> &'static str {
    match tier {
        TierId::T0 => "t0",
        TierId::T1 => "t1",
        TierId::T2 => "t2",
    }
}

fn qos(profile: &Profile) -> StatedQos {
    let classes = profile.classes().map(|class| StatedClass {
        tc: class.tc.get(),
        queue: class.queue.get(),
        group: class.priority_group.get(),
        weight: match class.scheduler {
            Scheduler::Strict => None,
            Scheduler::Dwrr(weight) => Some(weight.get()),
        },
        priority: Some(class.priority.get()).filter(|priority| *priority != class.tc.get()),
        pauses: class.pfc.then(|| class.priority.get()),
        trims: class.trim,
        ingress_th: class.ingress_threshold.to_string(),
        egress_th: class.egress_threshold.to_string(),
    });
    StatedQos {
        name: profile.name().as_str().to_owned(),
        dscp: Dscp::all().map(|dscp| profile.class_of(dscp).tc.get()).collect(),
        classes: classes.collect(),
        trimmed: profile.trimming().map(|trim| (trim.fabric_dscp.get(), trim.last_hop_dscp.get())),
    }
}

fn watchdog(profile: &Profile, times: WatchdogTimes) -> Option<StatedWatchdog> {
    let action = match profile.watchdog()?.action {
        WatchdogAction::Drop => "drop",
        WatchdogAction::Forward => "forward",
        WatchdogAction::Alert => "alert",
    };
    Some(StatedWatchdog {
        action: action.to_owned(),
        detection_ms: times.detection.millis_ceil(),
        restoration_ms: times.restoration.millis_ceil(),
        poll_ms: times.poll.millis_ceil(),
    })
}
