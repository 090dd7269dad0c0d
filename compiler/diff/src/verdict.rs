//! Rules for how a change can be rolled out, and for side effects of a changed setting.
//!
//! In: values and fabrics before and after. Out: [`Verdict`]s and notes. Invariants: this module does not
//! list settings: `change.rs` selects the rule for each setting.

use std::sync::Arc;

use closc_fabric::Fabric;
use closc_plan::AddressPlan;
use closc_platform::{Os, Platform};
use closc_qos::ecn::Ecn;
use closc_qos::profile::Profile;
use closc_topology::{Link, PlaneId, Switch, TierId, ZoneId};

/// Rollout modes of a change, from the least to the most disruptive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RolloutMode {
    /// Elements in use do not change, except for routes that gain next hops that already forward.
    Hitless,
    /// Traffic leaves elements before they are removed. Other elements that carry traffic do not change.
    Leaves,
    /// Nodes are changed one after the other and are down in the meantime. Existing switches do not change.
    NodeByNode,
    /// These elements are drained while they change.
    Drained(Vec<Place>),
    /// Switches of these tiers are drained and changed, one plane after the other.
    PlaneByPlane(Vec<TierId>),
    /// Every host and switch would have to change at the same moment.
    AtOnce,
}

/// Elements drained while they are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A switch.
    Switch(Switch),
    /// A cable.
    Link(Link),
}

impl Place {
    /// Returns the plane to which it belongs.
    pub fn plane(self) -> PlaneId {
        match self {
            Place::Switch(switch) => switch.plane,
            Place::Link(link) => link.plane(),
        }
    }
}

/// Rollout of a change, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Rollout mode.
    pub mode: RolloutMode,
    /// Reason.
    pub reason: &'static str,
}

pub(crate) const ALL: [TierId; 3] = TierId::ALL;
pub(crate) const GROWS: &str = "new elements are up before hosts use them";
pub(crate) const JOINS: &str = "new elements forward before routes gain them, and routes gain next hops in place, in any order of switches";
pub(crate) const SHRINKS: &str = "removed elements carry traffic until they are drained";

pub(crate) fn hitless(why: &'static str) -> Verdict {
    Verdict { mode: RolloutMode::Hitless, reason: why }
}

/// The fabrics before and after.
pub(crate) struct Sides<'a> {
    pub(crate) old: &'a Fabric,
    pub(crate) new: &'a Fabric,
}

impl Sides<'_> {
    /// Returns whether the ports of NICs have the same speed in every zone that both sides have.
    pub(crate) fn keep_port_speeds(&self) -> bool {
        let (old, new) = (self.old.topology(), self.new.topology());
        (0..old.zones.min(new.zones)).map(ZoneId).all(|zone| old.port_speed(zone) == new.port_speed(zone))
    }

    /// Returns whether switches of both fabrics keep their management addresses.
    fn keep_management(&self) -> bool {
        let [old, new] = [self.old, self.new].map(|side| AddressPlan::new(side.topology()));
        let mut both = self.old.switches().filter(|switch| self.new.has_switch(*switch));
        both.all(|switch| old.management(switch) == new.management(switch))
    }

    /// Returns whether T0s have the MAC addresses of NIC ports in their configuration.
    fn has_static_neighbours(&self) -> bool {
        let mut t0s = self.old.switches().filter(|switch| switch.tier == TierId::T0);
        t0s.any(|switch| self.old.topology().hardware(switch).1.has_static_neighbours())
    }
}

/// Returns the verdict for growth: nothing in use changes, unless switches of these tiers get more lossless
/// ports and divide a buffer among them.
pub(crate) fn growth(old: &Fabric, tiers: &[TierId]) -> Verdict {
    let why = if old.topology().routing.is_source_routed() { GROWS } else { JOINS };
    pools(old, tiers).unwrap_or(hitless(why))
}

/// Returns the verdict for smaller counts: traffic leaves elements before they are removed, and remaining
/// devices lose ports that have become unused.
pub(crate) fn shrinks(old: &Fabric, tiers: &[TierId]) -> Verdict {
    pools(old, tiers).unwrap_or(Verdict { mode: RolloutMode::Leaves, reason: SHRINKS })
}

/// Returns the verdict for a changed number of spare ports.
pub(crate) fn change_spare_ports(old: &Fabric, tiers: &[TierId]) -> Verdict {
    pools(old, tiers).unwrap_or(hitless("no cable uses these ports"))
}

/// Returns the verdict for a changed number of lossless ports. It is `None` unless an operating system in
/// these tiers applies new buffer pools only at a reload.
pub(crate) fn pools(old: &Fabric, tiers: &[TierId]) -> Option<Verdict> {
    let topology = old.topology();
    let reload = |(platform, os): &(Arc<Platform>, Os)| platform.buffer.as_ref().and(os.pools_at_reload());
    let of_tier = |id: TierId| {
        let tier = topology.tier(id)?;
        let odd = topology.exceptions.switches.iter().filter(|(switch, _)| switch.tier == id);
        let zones = tier.by_zone.values().map(|own| (own.platform.clone(), own.os));
        let own = [(tier.platform.clone(), tier.os)].into_iter().chain(zones);
        let single = tier.by_plane.values().chain(odd.map(|(_, hardware)| hardware)).cloned();
        own.chain(single).find_map(|hardware| reload(&hardware)).map(|why| (id, why))
    };
    let (tiers, reasons): (Vec<TierId>, Vec<&str>) = tiers.iter().filter_map(|id| of_tier(*id)).unzip();
    let why = reasons.first().filter(|_| topology.qos.is_lossless())?;
    Some(planes(&tiers, why))
}

/// Returns whether the reason of a verdict is that buffer pools change only at a reload.
pub(crate) fn is_of_pools(why: &str) -> bool {
    Os::ALL.into_iter().any(|os| os.pools_at_reload() == Some(why))
}

/// Returns the tiers next to a tier.
pub(crate) fn adjacent_tiers(tier: TierId) -> &'static [TierId] {
    match tier {
        TierId::T1 => &[TierId::T0, TierId::T2],
        TierId::T0 | TierId::T2 => &[TierId::T1],
    }
}

pub(crate) fn planes(tiers: &[TierId], why: &'static str) -> Verdict {
    Verdict { mode: RolloutMode::PlaneByPlane(tiers.to_vec()), reason: why }
}

pub(crate) fn at_once(why: &'static str) -> Verdict {
    Verdict { mode: RolloutMode::AtOnce, reason: why }
}

/// Returns whether switches mark packets at thresholds that are computed from the delay of the longest path.
pub(crate) fn has_computed_marks(profile: &Profile) -> bool {
    profile.classes().any(|class| matches!(class.ecn, Ecn::Computed(_)))
}

/// Rules for the rollout of a changed setting, derived from the values before and after.
pub(crate) mod rule {
    use std::collections::BTreeSet;

    use closc_artefacts::Family;
    use closc_fabric::Fabric;
    use closc_platform::Os;
    use closc_topology::TierId::{T0, T1, T2};
    use closc_topology::{AddressWidths, HostOutput, Racks, TierBalance, TierId, Topology};

    use super::{
        ALL, RolloutMode, Sides, Verdict, at_once, growth, has_computed_marks, hitless, planes, shrinks,
    };
    use crate::population::{is_upgraded, keeps_nics};

    /// Returns the reason for other cables. The longest path decides computed ECN thresholds of switches, and the
    /// round-trip time in files of hosts.
    fn explain_cables(sides: &Sides<'_>) -> &'static str {
        let all = [sides.old, sides.new];
        let marks = all.iter().any(|side| has_computed_marks(&side.topology().qos));
        match (marks, all.iter().any(|side| states_delays(side.topology()))) {
            (true, true) => {
                "a cable is down while it is replaced, and ECN thresholds of switches and round-trip times of hosts follow \
                 the longest path"
            }
            (true, false) => {
                "a cable is down while it is replaced, and ECN thresholds of switches follow the longest path"
            }
            (false, true) => {
                "a cable is down while it is replaced, and round-trip times of hosts follow the longest path"
            }
            (false, false) => "a cable is down while it is replaced",
        }
    }

    /// Returns whether files of hosts contain round-trip times.
    fn states_delays(topology: &Topology) -> bool {
        topology.routing.is_source_routed() || topology.hosts.outputs.contains(&HostOutput::Nic)
    }

    pub(crate) fn names<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        hitless("names carry no traffic")
    }

    #[allow(clippy::ref_option)]
    pub(crate) fn racks(old: &Option<Racks>, new: &Option<Racks>, _: &Sides<'_>) -> Verdict {
        if old.is_some() && new.is_some() {
            planes(&ALL, "devices at another place are moved, or were described wrongly")
        } else {
            hitless("only lists and labels contain places of devices, not configurations")
        }
    }

    pub(crate) fn services<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        hitless("time and log servers carry no traffic of the fabric")
    }

    /// Without a release in the file, one is assumed.
    pub(crate) fn releases<T>(_: &T, _: &T, sides: &Sides<'_>) -> Verdict {
        let (old, new) = (sides.old.topology(), sides.new.topology());
        if Os::ALL.into_iter().all(|os| old.release(os) == new.release(os)) {
            return hitless("the release is the one that is assumed without the setting");
        }
        let upgraded = sides.old.switches().filter(|switch| is_upgraded(sides.old, sides.new, *switch));
        let upgraded: BTreeSet<TierId> = upgraded.map(|switch| switch.tier).collect();
        if upgraded.is_empty() {
            return hitless("no switch runs an operating system whose release changes");
        }
        let tiers: Vec<TierId> = upgraded.into_iter().collect();
        planes(&tiers, "switches are upgraded to another release, and an upgrade reboots them")
    }

    pub(crate) fn management<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        hitless("the management network carries no traffic of the fabric")
    }

    pub(crate) fn hosts_only<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        hitless("only hosts receive this setting")
    }

    pub(crate) fn isolation<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        hitless("an access list without ports drops nothing")
    }

    pub(crate) fn host_files<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        hitless("only the form of host artefacts changes")
    }

    pub(crate) fn interface_names<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        hitless("only the names of interfaces change, node by node")
    }

    pub(crate) fn uplinks<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        hitless("packets move to other uplinks, and arrive over old and new ones")
    }

    /// If balancing changes in a tier, its switches reload their forwarding.
    // The macros of `change.rs` pass values by reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(crate) fn balance(old: &TierBalance, new: &TierBalance, _: &Sides<'_>) -> Verdict {
        let differs = |tier: &TierId| old.of(*tier) != new.of(*tier);
        let tiers: Vec<TierId> = ALL.into_iter().filter(differs).collect();
        planes(&tiers, "switches reload their forwarding when their balancing changes")
    }

    pub(crate) fn zones<T: PartialOrd>(old: &T, new: &T, sides: &Sides<'_>) -> Verdict {
        if new > old { growth(sides.old, &[T2]) } else { shrinks(sides.old, &[T2]) }
    }

    pub(crate) fn nics<T: PartialOrd>(old: &T, new: &T, sides: &Sides<'_>) -> Verdict {
        if new > old { growth(sides.old, &[T0]) } else { shrinks(sides.old, &[T0]) }
    }

    pub(crate) fn nodes<T>(_: &T, _: &T, sides: &Sides<'_>) -> Verdict {
        if keeps_nics(sides.old, sides.new) {
            return growth(sides.old, &[T0]);
        }
        at_once("NICs belong to other nodes")
    }

    /// Returns the verdict for changed speed, lanes, cages or number of ports of NICs. If ports keep their
    /// speed, NICs are replaced and switches do not change.
    pub(crate) fn nic_ports<T>(_: &T, _: &T, sides: &Sides<'_>) -> Verdict {
        if sides.keep_port_speeds() {
            let why = "NICs are replaced by others with the same port speed";
            Verdict { mode: RolloutMode::NodeByNode, reason: why }
        } else {
            at_once("the ports of NICs change their speed")
        }
    }

    pub(crate) fn planes_of<T: PartialOrd>(old: &T, new: &T, sides: &Sides<'_>) -> Verdict {
        match (sides.keep_port_speeds(), new > old) {
            (false, _) => at_once("the ports of NICs change their speed"),
            (true, true) => growth(sides.old, &[]),
            (true, false) => shrinks(sides.old, &[]),
        }
    }

    pub(crate) fn paths<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        at_once("hosts and switches must use the same routing mode")
    }

    pub(crate) fn segments<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        at_once("a path names segments in every plane; hosts and switches must agree on them")
    }

    /// Returns the verdict for a changed segment plan. A switch has one block, so no file describes an
    /// intermediate state between two segment plans. `Migration` describes the procedure.
    pub(crate) fn segment_plan<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        at_once("every segment moves to another block, and switches have one at a time")
    }

    pub(crate) fn nic_addresses<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        at_once("a NIC has one address for all planes, and every connection names it")
    }

    // The macros of `change.rs` pass values by reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(crate) fn address_widths(old: &AddressWidths, new: &AddressWidths, sides: &Sides<'_>) -> Verdict {
        // `judge` adds the effect of widths of planes and ports.
        let zone = if old.zone == new.zone { None } else { judge_zone_width(sides) };
        zone.unwrap_or_else(|| {
            if sides.keep_management() {
                hitless("no address changes")
            } else {
                hitless("only management addresses change, which carry no traffic of the fabric")
            }
        })
    }

    /// Judges another width of the zone. Returns `None` if devices and hosts do not use it. Only IPv6 and MAC
    /// addresses of NICs have places that depend on it. All addresses of zone 0 are the same with every
    /// width.
    fn judge_zone_width(sides: &Sides<'_>) -> Option<Verdict> {
        let all = || [sides.old, sides.new].into_iter().map(Fabric::topology);
        let has_zones = all().all(|side| side.zones > 1);
        let is_v6 = all().all(|side| side.addresses.hosts.family() == Family::V6);
        let has_t2 = all().all(|side| side.t2.is_some());
        if has_zones && is_v6 {
            return Some(at_once("the zone moves to other bits in addresses of NICs and their ports"));
        }
        if has_zones && sides.has_static_neighbours() {
            return Some(at_once(
                "the zone moves to other bits in MAC addresses of NIC ports, which T0s have as neighbours",
            ));
        }
        if is_v6 && all().any(|side| side.routing.has_static_groups()) && all().any(Topology::has_t1) {
            let tiers: &[TierId] = if has_t2 { &ALL } else { &[T0] };
            return Some(planes(
                tiers,
                "the prefix of a zone gets another length, and switches replace their routes to it",
            ));
        }
        if is_v6 && all().any(|side| side.routing.is_source_routed()) {
            return Some(hitless("no address changes; only path tables state the width"));
        }
        (has_t2 && all().any(|side| side.routing.speaks_bgp())).then(|| {
            planes(&[T2], "no address changes, but T2s accept another number of prefixes from each zone")
        })
    }

    pub(crate) fn transport<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        at_once("both ends of a connection must agree on the port")
    }

    pub(crate) fn cable_addresses<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        planes(&ALL, "both ends of every cable change their address")
    }

    pub(crate) fn identity<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        planes(&ALL, "every switch changes its identity")
    }

    pub(crate) fn nic_cables<T>(_: &T, _: &T, sides: &Sides<'_>) -> Verdict {
        planes(&[T0], explain_cables(sides))
    }

    pub(crate) fn t1_cables<T>(_: &T, _: &T, sides: &Sides<'_>) -> Verdict {
        planes(&[T0, T1], explain_cables(sides))
    }

    pub(crate) fn t2_cables<T>(_: &T, _: &T, sides: &Sides<'_>) -> Verdict {
        planes(&[T1, T2], explain_cables(sides))
    }

    pub(crate) fn zone_cables<T>(_: &T, _: &T, sides: &Sides<'_>) -> Verdict {
        planes(&[T1, T2], explain_cables(sides))
    }

    pub(crate) fn port_mtu<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        planes(
            &ALL,
            "until both ends of a cable have the same MTU, the smaller one drops longer packets, and some systems restart the port",
        )
    }

    pub(crate) fn queues<T>(_: &T, _: &T, _: &Sides<'_>) -> Verdict {
        planes(
            &ALL,
            "queues are rebuilt, and until hosts have the new settings, their packets arrive with the old DSCP values",
        )
    }
}

/// Side effects of a changed setting, derived from the values before and after.
pub(crate) mod note {
    use std::collections::BTreeSet;

    use closc_diagnostics::figures::number;
    use closc_plan::Plan;
    use closc_topology::{ManagementList, Nic, Pins, Switch, TierBalance, TierId};

    // The macros of `change.rs` pass values by reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(crate) fn balance(old: &TierBalance, new: &TierBalance, _: &Plan) -> Option<String> {
        let reorders = |all: &TierBalance| TierId::ALL.into_iter().any(|tier| all.of(tier).reorders());
        let starts = !reorders(old) && reorders(new);
        starts.then(|| "reorders packets: set up NICs for any order first".to_owned())
    }

    // The macros of `change.rs` pass values by reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(crate) fn isolation(_: &bool, new: &bool, _: &Plan) -> String {
        let does = if *new { "adds" } else { "removes" };
        format!("{does} the access list of isolated ports on every SONiC switch")
    }

    pub(crate) fn segments<T>(_: &T, _: &T, _: &Plan) -> String {
        "renumbers every segment".to_owned()
    }

    pub(crate) fn listed(old: &ManagementList, new: &ManagementList, plan: &Plan) -> Option<String> {
        let differs = |switch: &&Switch| old.get(*switch) != new.get(*switch);
        let moved: BTreeSet<&Switch> = old.keys().chain(new.keys()).filter(differs).collect();
        let first = *moved.first()?;
        let shown = |list: &ManagementList| match list.get(first) {
            Some(port) => format!("{} over {}", port.address, port.gateway),
            None => "no listed address".to_owned(),
        };
        let more = match moved.len() - 1 {
            0 => String::new(),
            1 => ", and that of one more switch".to_owned(),
            more => format!(", and those of {} more switches", number(more as u64)),
        };
        let name = plan.topology().naming.switch(*first);
        Some(format!("moves the management port of {name} from {} to {}{more}", shown(old), shown(new)))
    }

    pub(crate) fn pinned(old: &Pins, new: &Pins, plan: &Plan) -> Option<String> {
        let uplink = |pins: &Pins, (switch, nic): (Switch, Nic)| pins.get(&switch)?.get(&nic).copied();
        let all = |pins: &Pins| -> Vec<(Switch, Nic)> {
            pins.iter().flat_map(|(switch, nics)| nics.keys().map(|nic| (*switch, *nic))).collect()
        };
        let places: BTreeSet<(Switch, Nic)> = all(old).into_iter().chain(all(new)).collect();
        let moved: Vec<(Switch, Nic)> =
            places.into_iter().filter(|place| uplink(old, *place) != uplink(new, *place)).collect();
        // A pin that only the old side has may be for a NIC that does not exist, and has no name, in the new
        // plan.
        let first = *moved.iter().find(|place| uplink(new, **place).is_some())?;
        let shown = |pins: &Pins| match uplink(pins, first) {
            Some(uplink) => format!("uplink {uplink}"),
            None => "all uplinks".to_owned(),
        };
        let more = match moved.len() - 1 {
            0 => String::new(),
            1 => ", and one more pin changes".to_owned(),
            more => format!(", and {} more pins change", number(more as u64)),
        };
        let (topology, (switch, nic)) = (plan.topology(), first);
        let (node, of_node) = topology.node_of(nic);
        let (switch, nic) = (topology.naming.switch(switch), topology.naming.nic(node, of_node));
        Some(format!("{switch} sends to {nic} by {} in place of {}{more}", shown(new), shown(old)))
    }

    pub(crate) fn systems<T>(_: &T, _: &T, _: &Plan) -> String {
        "renumbers every autonomous system".to_owned()
    }

    pub(crate) fn entropy<T>(_: &T, _: &T, _: &Plan) -> String {
        "every NIC draws other entropy values".to_owned()
    }
}
