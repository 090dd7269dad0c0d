//! Rollout mode of a change: hitless, node by node, on a drained device, on a drained plane, or with the
//! fabric stopped.
//!
//! In: a change, and the fabrics before and after. Out: [`RolloutMode`] with the reason. Invariants: of
//! several modes, the most careful one applies. A change counts as harmless only if it is known to be.
//! `change.rs` lists the rule for each setting of the fabric.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use closc_artefacts::Routing;
use closc_fabric::Fabric;
use closc_platform::{Os, Platform};
use closc_topology::{Link, PlaneId, PortBlock, Switch, Tier, TierId, ZoneId, ZoneTier};

use crate::change::{Change, Edit, Exception, ExceptionTarget, Setting, T2Setting, TierSetting, Toggle};
use crate::population::{Population, has_common_cages, has_same_order, is_drained, is_replaced};
use crate::renumbering::verdict;
use crate::verdict::{
    ALL, GROWS, Sides, adjacent_tiers, at_once, change_spare_ports, growth, hitless, planes, pools, shrinks,
};

pub use crate::verdict::{Place, RolloutMode, Verdict};

/// Judges one change between two fabrics, and returns its most careful verdict.
pub fn judge(change: &Change, old: &Fabric, new: &Fabric) -> Verdict {
    let own = judge_elements(change, old, new);
    let addresses = judge_addresses(change, old, new);
    addresses.filter(|addresses| addresses.mode > own.mode).unwrap_or(own)
}

/// Returns all verdicts on a change: by the elements that it adds, removes or changes, and by the IPv4 addresses that
/// it renumbers. A change to larger hardware can get both.
pub(crate) fn judge_all(
    change: &Change,
    old: &Fabric,
    new: &Fabric,
) -> impl Iterator<Item = Verdict> + use<> {
    [judge_elements(change, old, new)].into_iter().chain(judge_addresses(change, old, new))
}

/// Returns whether the reason of a verdict on a change is that of the IPv4 addresses that it renumbers.
pub(crate) fn is_of_addresses(reason: &str, change: &Change, old: &Fabric, new: &Fabric) -> bool {
    judge_addresses(change, old, new).is_some_and(|addresses| addresses.reason == reason)
}

/// Judges one change by the IPv4 addresses that it renumbers. Returns `None` if there are none.
fn judge_addresses(change: &Change, old: &Fabric, new: &Fabric) -> Option<Verdict> {
    affects_widths(change).then(|| verdict(old.topology(), new.topology())).flatten()
}

/// Returns whether a change only concerns files: no hardware, cable or operating system changes with it. Switches whose
/// files stay the same then need no drain.
pub(crate) fn concerns_only_files(change: &Change) -> bool {
    let Change::Setting(setting) = change else { return false };
    matches!(
        **setting,
        Setting::Balance(_)
            | Setting::LinkPool(_)
            | Setting::LoopbackPool(_)
            | Setting::AsnBase(_)
            | Setting::AddressWidths(_)
            | Setting::LinkMtu(_)
            | Setting::Qos(_)
    )
}

/// Returns whether a change concerns the length or the medium of cables.
pub(crate) fn concerns_cables(change: &Change) -> bool {
    let Change::Setting(setting) = change else { return false };
    matches!(**setting, Setting::NicT0(_) | Setting::T0T1(_) | Setting::T1T2(_) | Setting::T1T2ByZone(_))
}

/// Returns whether a change concerns the releases of operating systems.
pub(crate) fn concerns_releases(change: &Change) -> bool {
    matches!(change, Change::Setting(setting) if matches!(**setting, Setting::Releases(_)))
}

/// Returns whether a change only replaces values in existing entries of switches, or concerns only cables or hosts.
/// Switches that another release upgrades get their configuration as a whole.
pub(crate) fn keeps_entries(change: &Change) -> bool {
    let Change::Setting(setting) = change else { return false };
    concerns_cables(change)
        || concerns_releases(change)
        || matches!(
            **setting,
            Setting::AsnBase(_)
                | Setting::Balance(_)
                | Setting::LinkMtu(_)
                | Setting::PayloadMtu(_)
                | Setting::PacketOrder(_)
                | Setting::QueuePairs(_)
                | Setting::EntropyActive(_)
                | Setting::EntropyBackup(_)
                | Setting::EntropyMin(_)
                | Setting::EntropySeed(_)
        )
}

/// Returns whether bit widths in IPv4 addresses depend on the changed value.
fn affects_widths(change: &Change) -> bool {
    match change {
        Change::Setting(setting) => {
            matches!(**setting, Setting::Planes(_) | Setting::PerGroup(_) | Setting::AddressWidths(_))
        }
        Change::Tier(
            TierId::T0,
            TierSetting::Platform(_) | TierSetting::DownBreakout(_) | TierSetting::UpBreakout(_),
        )
        | Change::Tier(TierId::T1, TierSetting::Platform(_) | TierSetting::UpBreakout(_)) => true,
        Change::Tier(..)
        | Change::Count(..)
        | Change::T2(_)
        | Change::Naming(..)
        | Change::T2Added(_)
        | Change::T2Removed(_)
        | Change::Exception(_) => false,
    }
}

/// Judges one change by the elements that it adds, removes or changes.
fn judge_elements(change: &Change, old: &Fabric, new: &Fabric) -> Verdict {
    match change {
        Change::Setting(setting) if setting.is_unread(old.topology(), new.topology()) => {
            hitless("this routing mode does not use the setting")
        }
        Change::Setting(setting) => setting.verdict(&Sides { old, new }),
        // More switches in a tier use more ports on switches of the adjacent tiers.
        Change::Count(tier, edit) if edit.new > edit.old => growth(old, adjacent_tiers(*tier)),
        Change::Count(tier, _) => shrinks(old, adjacent_tiers(*tier)),
        // These settings assign ports to cables. A cable moves if its port differs.
        Change::T2(T2Setting::Wiring(_) | T2Setting::ZonePorts(_) | T2Setting::Rows(_)) => {
            if moves(old, new) {
                planes(&[TierId::T1, TierId::T2], "cables move to other ports")
            } else {
                hitless("no cable moves")
            }
        }
        Change::Tier(tier, setting) => judge_tier(*tier, setting, old, new),
        Change::T2(T2Setting::T2Site(_)) | Change::Naming(..) => hitless("names carry no traffic"),
        Change::T2Added(_) => growth(old, &[TierId::T1]),
        Change::T2Removed(_) => planes(&[TierId::T1, TierId::T2], "paths over the third tier are removed"),
        Change::Exception(exception) => judge_exception(exception, old, new),
    }
}

fn judge_tier(tier: TierId, setting: &TierSetting, old: &Fabric, new: &Fabric) -> Verdict {
    match setting {
        // T2s reserve downlinks for each zone. A smaller reserve removes no cable.
        TierSetting::Down(edit)
            if tier == TierId::T2
                && edit.new < edit.old
                && Population::compare(old, new).cables.removed.is_empty() =>
        {
            change_spare_ports(old, &[tier])
        }
        // These are ports of the tier itself.
        TierSetting::Down(edit) | TierSetting::Up(edit) if edit.new > edit.old => growth(old, &[tier]),
        TierSetting::Down(_) | TierSetting::Up(_) if removes_no_cable(old, new) => {
            pools(old, &[tier]).unwrap_or(hitless("the cables of these ports move to other ports"))
        }
        TierSetting::Down(_) | TierSetting::Up(_) => shrinks(old, &[tier]),
        TierSetting::DownSpare(_) | TierSetting::UpSpare(_) => hitless("spare ports are shut"),
        TierSetting::Platform(edit) if edit.old.hardware() == edit.new.hardware() => {
            planes(&[tier], "switches reload for another port layout of the same hardware")
        }
        TierSetting::Platform(_) | TierSetting::ByPlane(_) => planes(&[tier], "switches are replaced"),
        TierSetting::ByZone(edit) => judge_zones(tier, edit, old, new),
        TierSetting::Os(_) => planes(&[tier], "switches are reinstalled"),
        TierSetting::DownCage(_)
        | TierSetting::UpCage(_)
        | TierSetting::DownPort(_)
        | TierSetting::UpPort(_) => planes(&[tier], move_reason(old, new, "names of ports change")),
        TierSetting::DownBreakout(_) | TierSetting::UpBreakout(_) => {
            planes(&[tier], "ports go down while their breakout changes")
        }
        TierSetting::Parallel(_) => match old.topology().routing {
            Routing::Srv6Static => {
                at_once("parallel cables have segments of their own: switches are renumbered")
            }
            Routing::EcmpStatic | Routing::BgpUnnumbered => {
                planes(&ALL, move_reason(old, new, "the number of cables per bundle changes"))
            }
        },
        TierSetting::PortOrder(_) if has_same_order(old.topology(), new.topology()) => {
            hitless("no cable moves")
        }
        TierSetting::PortOrder(_) => {
            planes(&[TierId::T0, TierId::T1], move_reason(old, new, "the order of ports changes"))
        }
    }
}

/// Returns the reason for a change of ports: moved cables, or `other` if all existing cables stay in their
/// ports.
fn move_reason(old: &Fabric, new: &Fabric, other: &'static str) -> &'static str {
    if Population::compare(old, new).moved.is_empty() { other } else { "cables move to other ports" }
}

/// Returns whether cables move, and every cable stays.
fn removes_no_cable(old: &Fabric, new: &Fabric) -> bool {
    let Population { cables, moved, .. } = Population::compare(old, new);
    cables.removed.is_empty() && !moved.is_empty()
}

/// Judges a change of hardware or ports in single zones. Only zones that both sides have count.
fn judge_zones(tier: TierId, edit: &Edit<BTreeMap<ZoneId, ZoneTier>>, old: &Fabric, new: &Fabric) -> Verdict {
    let [before, after] = [old, new].map(|fabric| fabric.topology().tier(tier));
    let (Some(before), Some(after)) = (before, after) else {
        return hitless("only one of the two fabrics has the tier");
    };
    let zones = touched_zones(tier, edit, old, new);
    let replaced = |zone: &ZoneId| hardware(before, *zone) != hardware(after, *zone);
    if zones.iter().any(replaced) {
        return planes(&[tier], "switches of single zones are replaced");
    }
    if !zones.is_empty() {
        return planes(&[tier], "ports of single zones move, or the breakout of their cages changes");
    }
    let ports = |of: &Tier| u32::from(of.down.count) + u32::from(of.up.count);
    match ports(after).cmp(&ports(before)) {
        Ordering::Less => shrinks(old, &[tier]),
        Ordering::Equal => hitless("no port of a zone moves"),
        Ordering::Greater => growth(old, &[tier]),
    }
}

/// Returns the zones of both sides in which switches of a tier are replaced or ports change. A different
/// number of ports does not count here, because that is growth or its reverse.
pub(crate) fn touched_zones(
    tier: TierId,
    edit: &Edit<BTreeMap<ZoneId, ZoneTier>>,
    old: &Fabric,
    new: &Fabric,
) -> BTreeSet<ZoneId> {
    let [before, after] = [old, new].map(|fabric| fabric.topology().tier(tier));
    let (Some(before), Some(after)) = (before, after) else { return BTreeSet::new() };
    let common = old.topology().zones.min(new.topology().zones);
    let is_used = |block: PortBlock| block.count + block.spare > 0;
    let is_other = |one: PortBlock, other: PortBlock| {
        let port = |block: PortBlock| (block.first_port, block.breakout);
        let is_same = port(one) == port(other) && has_common_cages(&one, &other);
        is_used(one) && is_used(other) && !is_same
    };
    let differs = |zone: &ZoneId| {
        hardware(before, *zone) != hardware(after, *zone)
            || is_other(before.down_ports(*zone), after.down_ports(*zone))
            || is_other(before.up_ports(*zone), after.up_ports(*zone))
    };
    let named = edit.old.keys().chain(edit.new.keys()).copied();
    named.filter(|zone| zone.0 < common).filter(differs).collect()
}

fn hardware(tier: &Tier, zone: ZoneId) -> (&Arc<Platform>, Os) {
    tier.by_zone.get(&zone).map_or((&tier.platform, tier.os), |own| (&own.platform, own.os))
}

/// Returns whether a T1-T2 cable of both fabrics is at another port in the new one.
fn moves(old: &Fabric, new: &Fabric) -> bool {
    let (before, after) = (old.topology(), new.topology());
    let ups = before.t1.up.count.min(after.t1.up.count);
    let planes = 0..before.planes.min(after.planes);
    let t1s = (0..before.zones.min(after.zones))
        .flat_map(|zone| (0..before.t1_count.min(after.t1_count)).map(move |index| (ZoneId(zone), index)));
    let mut links = t1s.flat_map(|(zone, index)| {
        (0..ups).map(move |up| (Switch { plane: PlaneId(0), tier: TierId::T1, zone, index }, up))
    });
    links.any(|(lower, up)| {
        // All planes have the same wiring; only exceptions can be specific to a plane.
        let link = |plane: u8| Link::Fabric { lower: Switch { plane: PlaneId(plane), ..lower }, up };
        old.upper_end(link(0)) != new.upper_end(link(0))
            && planes.clone().any(|plane| old.has_link(link(plane)) && new.has_link(link(plane)))
    })
}

fn judge_exception(exception: &Exception, old: &Fabric, new: &Fabric) -> Verdict {
    let exceptions = &old.topology().exceptions;
    let drained = |places: Vec<Place>, why| Verdict { mode: RolloutMode::Drained(places), reason: why };
    match exception {
        Exception::Drained(Toggle::On, _) => hitless(match old.topology().routing {
            Routing::Srv6Static => "hosts stop using it; nothing else changes",
            Routing::EcmpStatic | Routing::BgpUnnumbered => {
                "only devices whose artefacts change stop using it; drain it alone to list them"
            }
        }),
        Exception::Drained(Toggle::Off, _) => hitless(match old.topology().routing {
            Routing::Srv6Static => "hosts use it again; it must be up first",
            Routing::EcmpStatic | Routing::BgpUnnumbered => "neighbours use it again; it must be up first",
        }),
        Exception::Absent(Toggle::Off, thing) => match thing {
            ExceptionTarget::Switch(switch) => growth(old, adjacent_tiers(switch.tier)),
            ExceptionTarget::Link(Link::Fabric { lower, .. }) => {
                let upper = if lower.tier == TierId::T0 { TierId::T1 } else { TierId::T2 };
                growth(old, &[lower.tier, upper])
            }
            ExceptionTarget::Link(Link::Host(_)) | ExceptionTarget::Nic(_) => growth(old, &[TierId::T0]),
            ExceptionTarget::Plane(_) => hitless(GROWS),
        },
        Exception::Absent(Toggle::On, ExceptionTarget::Switch(switch)) if is_drained(exceptions, *switch) => {
            hitless("it carries no traffic: it is drained")
        }
        Exception::Absent(Toggle::On, ExceptionTarget::Link(link)) if old.is_drained(*link) => {
            hitless("it carries no traffic: it is drained")
        }
        Exception::Absent(Toggle::On, thing) => match thing {
            ExceptionTarget::Switch(switch) => {
                drained(vec![Place::Switch(*switch)], "it carries traffic until it is drained")
            }
            ExceptionTarget::Link(link) => {
                drained(vec![Place::Link(*link)], "it carries traffic until it is drained")
            }
            ExceptionTarget::Nic(_) | ExceptionTarget::Plane(_) => hitless("its node is stopped first"),
        },
        Exception::Isolated(Toggle::On, link) if old.is_drained(*link) || !old.has_link(*link) => {
            hitless("hosts do not use it; its ports drop all IPv6 packets except ICMPv6")
        }
        Exception::Isolated(Toggle::On, link) => drained(
            vec![Place::Link(*link)],
            "hosts stop using it before its ports drop all IPv6 packets except ICMPv6",
        ),
        Exception::Isolated(Toggle::Off, _) => hitless("its ports forward packets again before hosts use it"),
        Exception::Cable(link, _) if old.is_drained(*link) || !old.has_link(*link) => {
            hitless("it carries no traffic")
        }
        Exception::Cable(link, _) => {
            drained(vec![Place::Link(*link)], "the cable is unplugged, unless it was only described wrongly")
        }
        Exception::Device(switch, _) => judge_device(*switch, old, new),
    }
}

/// Judges a change of a switch's hardware or operating system.
fn judge_device(switch: Switch, old: &Fabric, new: &Fabric) -> Verdict {
    if is_drained(&old.topology().exceptions, switch) || !old.has_switch(switch) {
        return hitless("it carries no traffic");
    }
    let why = if is_replaced(old, new, switch) {
        "the switch is replaced"
    } else {
        "the switch reloads with another operating system or port layout"
    };
    Verdict { mode: RolloutMode::Drained(vec![Place::Switch(switch)]), reason: why }
}
