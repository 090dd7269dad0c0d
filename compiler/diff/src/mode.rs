//! How a change can be rolled out: unnoticed, on a drained device, on a drained plane, or not at all.
//!
//! In: a change and the fabric it starts from. Out: [`RolloutMode`] with the reason. Invariants: the most careful of several
//! answers counts; what is not known to be harmless is not called so. What a setting of the fabric does is beside it, in
//! `change.rs`.

use closc_artefacts::Routing;
use closc_fabric::Fabric;
use closc_topology::{Link, TierId};

use crate::change::{Change, Exception, T2Setting, Thing, TierSetting, Turn};
use crate::population::is_drained;
use crate::verdict::{ALL, GROWS, at_once, beside, growth, hitless, planes, shrinks};

pub use crate::verdict::{Place, RolloutMode, Verdict};

/// Judges one change.
pub fn judge(change: &Change, old: &Fabric) -> Verdict {
    match change {
        Change::Setting(setting) => setting.verdict(old),
        // More switches of a tier are more ports of those beside it.
        Change::Count(tier, edit) if edit.new > edit.old => growth(old, beside(*tier)),
        Change::Count(tier, _) => shrinks(old, beside(*tier)),
        // The ports of the first zone are the first ones, whatever is kept for each.
        Change::T2(T2Setting::ZonePorts(_)) if old.topology().zones == 1 => hitless("no cable moves"),
        Change::T2(T2Setting::Wiring(_) | T2Setting::ZonePorts(_) | T2Setting::Rows(_)) => {
            planes(&[TierId::T1, TierId::T2], "cables move to other ports")
        }
        Change::Tier(tier, setting) => judge_tier(*tier, setting, old),
        Change::T2(T2Setting::T2Site(_)) | Change::Naming(..) => hitless("names carry no traffic"),
        Change::T2Added(_) => growth(old, &[TierId::T1]),
        Change::T2Removed(_) => planes(&[TierId::T1, TierId::T2], "paths over the third tier go"),
        Change::Exception(exception) => judge_exception(exception, old),
    }
}

fn judge_tier(tier: TierId, setting: &TierSetting, old: &Fabric) -> Verdict {
    match setting {
        // More ports are ports of its own.
        TierSetting::Down(edit) | TierSetting::Up(edit) if edit.new > edit.old => growth(old, &[tier]),
        TierSetting::Down(_) | TierSetting::Up(_) => shrinks(old, &[tier]),
        TierSetting::DownSpare(_) | TierSetting::UpSpare(_) => hitless("spare ports are shut"),
        TierSetting::Platform(_) | TierSetting::ByPlane(_) | TierSetting::ByZone(_) => {
            planes(&[tier], "switches are replaced")
        }
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
            Routing::EcmpStatic | Routing::BgpUnnumbered => {
                "what is drained is left only by devices whose artefacts change: see who they are by draining it alone"
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
