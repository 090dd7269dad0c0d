//! How a change can be rolled out: unnoticed, on a drained device, on a drained plane, or not at all.
//!
//! In: a change and the fabric it starts from. Out: [`RolloutMode`] with the reason. Invariants: the most careful of several
//! answers counts; what is not known to be harmless is not called so.

use std::sync::Arc;

use closc_artefacts::Routing;
use closc_fabric::Fabric;
use closc_platform::capability::Capability;
use closc_platform::{Os, Platform};
use closc_topology::{Link, PlaneId, Switch, TierId};

use crate::change::{Change, Exception, Setting, T2Setting, Thing, TierSetting, Turn};
use crate::population::is_drained;

/// How a change can be rolled out, from harmless to harmful.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RolloutMode {
    /// Nothing in use is touched.
    Hitless,
    /// These carry no traffic while they are touched.
    Drained(Vec<Place>),
    /// One plane after the other, each without traffic while it is touched.
    PlaneByPlane(Vec<TierId>),
    /// Every host and switch would have to change at the same moment.
    AtOnce,
}

/// What is drained while it is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A switch.
    Switch(Switch),
    /// A cable.
    Link(Link),
}

impl Place {
    /// Returns the plane it belongs to.
    pub fn plane(self) -> PlaneId {
        match self {
            Place::Switch(switch) => switch.plane,
            Place::Link(link) => link.plane(),
        }
    }
}

/// How a change can be rolled out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// How.
    pub mode: RolloutMode,
    /// Why.
    pub why: &'static str,
}

const ALL: [TierId; 3] = TierId::ALL;
const GROWS: &str = "what is new is up before hosts use it";
const POOLS: &str =
    "more lossless ports divide the buffer anew, and SONiC takes another BUFFER_POOL only at a reload";
const SHRINKS: &str = "what goes carries traffic until it is drained";

fn hitless(why: &'static str) -> Verdict {
    Verdict { mode: RolloutMode::Hitless, why }
}

/// Growth: nothing in use is touched, unless it gives lossless ports to switches of these tiers that divide a buffer.
/// Then the pools change, and SONiC's configuration updater refuses any change of `BUFFER_POOL`.
fn growth(old: &Fabric, tiers: &[TierId]) -> Verdict {
    let topology = old.topology();
    let divides = |(platform, os): &(Arc<Platform>, Os)| {
        platform.buffer.is_some() && os.renders(Capability::Thresholds) && os.renders(Capability::Pauses)
    };
    let touched = |id: &&TierId| {
        let Some(tier) = topology.tier(**id) else { return false };
        let odd = topology.exceptions.switches.iter().filter(|(switch, _)| switch.tier == **id);
        let own = (tier.platform.clone(), tier.os);
        divides(&own) || tier.by_plane.values().chain(odd.map(|(_, hardware)| hardware)).any(divides)
    };
    let tiers: Vec<TierId> = tiers.iter().filter(touched).copied().collect();
    if topology.qos.is_lossless() && !tiers.is_empty() {
        return planes(&tiers, POOLS);
    }
    hitless(GROWS)
}

/// Returns the tiers next to a tier.
fn beside(tier: TierId) -> &'static [TierId] {
    match tier {
        TierId::T1 => &[TierId::T0, TierId::T2],
        TierId::T0 | TierId::T2 => &[TierId::T1],
    }
}

fn planes(tiers: &[TierId], why: &'static str) -> Verdict {
    Verdict { mode: RolloutMode::PlaneByPlane(tiers.to_vec()), why }
}

fn at_once(why: &'static str) -> Verdict {
    Verdict { mode: RolloutMode::AtOnce, why }
}

/// Judges one change.
pub fn judge(change: &Change, old: &Fabric) -> Verdict {
    match change {
        Change::Setting(setting) => judge_setting(setting, old),
        // More switches of a tier are more ports of those beside it.
        Change::Count(tier, edit) if edit.new > edit.old => growth(old, beside(*tier)),
        Change::Count(tier, _) => planes(&[*tier], SHRINKS),
        Change::T2(T2Setting::Wiring(_) | T2Setting::ZonePorts(_) | T2Setting::Rows(_)) => {
            planes(&[TierId::T1, TierId::T2], "cables move to other ports")
        }
        Change::Tier(tier, setting) => judge_tier(*tier, setting, old),
        Change::Naming(..) => hitless("names carry no traffic"),
        Change::T2Added(_) => growth(old, &[TierId::T1]),
        Change::T2Removed(_) => planes(&[TierId::T1, TierId::T2], "paths over the third tier go"),
        Change::Exception(exception) => judge_exception(exception, old),
    }
}

fn judge_setting(setting: &Setting, old: &Fabric) -> Verdict {
    use TierId::{T0, T1, T2};
    let grows = |grown: bool, touched: &[TierId], tiers: &[TierId]| {
        if grown { growth(old, touched) } else { planes(tiers, SHRINKS) }
    };
    match setting {
        Setting::Name(_) | Setting::Description(_) | Setting::Sites(_) | Setting::Domains(_) => {
            hitless("names carry no traffic")
        }
        Setting::Services(_) => hitless("time and log servers carry no traffic of the fabric"),
        Setting::Zones(edit) => grows(edit.new > edit.old, &[T2], &ALL),
        Setting::PerGroup(edit) => grows(edit.new > edit.old, &[T0], &[T0]),
        Setting::EntropyActive(_)
        | Setting::EntropyBackup(_)
        | Setting::EntropyMin(_)
        | Setting::EntropySeed(_)
        | Setting::QueuePairs(_)
        | Setting::PayloadMtu(_) => hitless("hosts change, switches do not"),
        Setting::Pin(_) | Setting::Pins(_) => hitless("packets change uplinks, and arrive over either"),
        Setting::HostOs(_) | Setting::HostOutputs(_) => hitless("only the form of host artefacts changes"),
        Setting::Slots(_) => hitless("only the names of interfaces change, node by node"),
        Setting::NicsPerNode(_) | Setting::Rails(_) => at_once("NICs belong to other nodes"),
        Setting::Planes(_) | Setting::NicSpeed(_) | Setting::NicLanes(_) => {
            at_once("the ports of every NIC change their speed")
        }
        Setting::Routing(_) => at_once("hosts and switches must agree on how packets find their way"),
        Setting::Block(_) | Setting::Layout(_) => {
            at_once("a path names segments in every plane; hosts and switches must agree on them")
        }
        Setting::HostPool(_) => {
            at_once("a NIC has one address for all planes, and every connection names it")
        }
        Setting::LinkPool(_) => planes(&ALL, "both ends of every cable change their address"),
        Setting::LoopbackPool(_) | Setting::AsnBase(_) => planes(&ALL, "every switch changes its identity"),
        Setting::ManagementPool(_) | Setting::ManagementGateway(_) => {
            hitless("the management network carries no traffic of the fabric")
        }
        Setting::NicT0(_) => planes(&[T0], "every cable of the kind is unplugged, or was described wrongly"),
        Setting::T0T1(_) => {
            planes(&[T0, T1], "every cable of the kind is unplugged, or was described wrongly")
        }
        Setting::T1T2(_) | Setting::T1T2ByZone(_) => {
            planes(&[T1, T2], "every cable of the kind is unplugged, or was described wrongly")
        }
        Setting::LinkMtu(_) => planes(&ALL, "ports go down when their MTU changes"),
        Setting::UdpPort(_) => at_once("both ends of a connection must agree on the port"),
        Setting::Qos(_) => {
            planes(&ALL, "queues are rebuilt, and until hosts follow, what they mark meets the new queues")
        }
    }
}

fn judge_tier(tier: TierId, setting: &TierSetting, old: &Fabric) -> Verdict {
    match setting {
        // More ports are ports of its own.
        TierSetting::Down(edit) | TierSetting::Up(edit) if edit.new > edit.old => growth(old, &[tier]),
        TierSetting::Down(_) | TierSetting::Up(_) => planes(&[tier], SHRINKS),
        TierSetting::DownSpare(_) | TierSetting::UpSpare(_) => hitless("spare ports are shut"),
        TierSetting::Platform(_) | TierSetting::ByPlane(_) => planes(&[tier], "switches are replaced"),
        TierSetting::Os(_) => planes(&[tier], "switches are installed anew"),
        TierSetting::DownCage(_) | TierSetting::UpCage(_) => planes(&[tier], "cables move to other ports"),
        TierSetting::DownBreakout(_) | TierSetting::UpBreakout(_) => {
            planes(&[tier], "ports go down while their cages are split in another way")
        }
        TierSetting::Parallel(_) => match old.topology().routing {
            Routing::Srv6Static => {
                at_once("parallel cables have segments of their own: switches are renumbered")
            }
            Routing::EcmpStatic | Routing::BgpUnnumbered => planes(&ALL, "cables move to other ports"),
        },
    }
}

fn judge_exception(exception: &Exception, old: &Fabric) -> Verdict {
    let exceptions = &old.topology().exceptions;
    let drained = |places: Vec<Place>, why| Verdict { mode: RolloutMode::Drained(places), why };
    match exception {
        Exception::Drained(Turn::On, _) => hitless(match old.topology().routing {
            Routing::Srv6Static => "hosts stop using it; nothing else changes",
            Routing::EcmpStatic => "switches send past it before it is touched",
            Routing::BgpUnnumbered => {
                "it announces that it is a last resort (RFC 8326), and neighbours send past it"
            }
        }),
        Exception::Drained(Turn::Off, _) => hitless(match old.topology().routing {
            Routing::Srv6Static => "hosts use it again; it must be up before",
            Routing::EcmpStatic | Routing::BgpUnnumbered => "neighbours use it again; it must be up before",
        }),
        Exception::Absent(Turn::Off, thing) => match thing {
            Thing::Switch(switch) => growth(old, beside(switch.tier)),
            Thing::Link(Link::Fabric { lower, .. }) => {
                let upper = if lower.tier == TierId::T0 { TierId::T1 } else { TierId::T2 };
                growth(old, &[lower.tier, upper])
            }
            Thing::Link(Link::Host(_)) | Thing::Nic(_) => growth(old, &[TierId::T0]),
            Thing::Plane(_) => hitless(GROWS),
        },
        Exception::Absent(Turn::On, Thing::Switch(switch)) if is_drained(exceptions, *switch) => {
            hitless("it carries no traffic: it is drained")
        }
        Exception::Absent(Turn::On, Thing::Link(link)) if old.is_drained(*link) => {
            hitless("it carries no traffic: it is drained")
        }
        Exception::Absent(Turn::On, thing) => match thing {
            Thing::Switch(switch) => {
                drained(vec![Place::Switch(*switch)], "it carries traffic until it is drained")
            }
            Thing::Link(link) => drained(vec![Place::Link(*link)], "it carries traffic until it is drained"),
            Thing::Nic(_) | Thing::Plane(_) => hitless("its node is stopped before"),
        },
        Exception::Cable(link, _) if old.is_drained(*link) || !old.has_link(*link) => {
            hitless("it carries no traffic")
        }
        Exception::Cable(link, _) => {
            drained(vec![Place::Link(*link)], "the cable is unplugged, unless it was only described wrongly")
        }
        Exception::Device(switch, _) if is_drained(exceptions, *switch) || !old.has_switch(*switch) => {
            hitless("it carries no traffic")
        }
        Exception::Device(switch, _) => drained(vec![Place::Switch(*switch)], "the switch is replaced"),
    }
}
