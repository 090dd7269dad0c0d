//! V0302: both ends of a copper cable negotiate the speed and train the link, or both force the speed.
//!
//! In: the settings of ports, and the systems that the manifest lists as negotiating by default. Invariants: an end
//! whose language does not state the speed is not compared.

use crate::model::cabling::{Cable, DeviceId, End, Kind};
use crate::model::fabric::Fabric;
use crate::model::stated::{StatedSwitch, StatedValues};
use crate::model::switch::Switch;

/// Returns whether the port of a switch negotiates over copper; `None` for a node, or if the language of the
/// switch does not state the speed.
pub(crate) fn of(fabric: &Fabric, stated: Option<&StatedValues>, end: End) -> Option<bool> {
    let switch = switch(fabric, end)?;
    let default = by_release(switch, stated)?;
    let by_driver = || stated.is_some_and(|stated| negotiates_by_driver(switch, stated));
    Some(explicit(fabric, end).unwrap_or_else(|| default || by_driver()))
}

/// Returns the fault of negotiation at the two ends of a cable.
pub(crate) fn fault(fabric: &Fabric, stated: Option<&StatedValues>, cable: &Cable) -> Option<String> {
    if !cable.copper {
        return [cable.lower, cable.upper].into_iter().find_map(|end| optics_fault(fabric, end));
    }
    let upper = of(fabric, stated, cable.upper)?;
    let lower = match cable.kind {
        Kind::NicT0 => by_release(switch(fabric, cable.upper)?, stated),
        Kind::T0T1 | Kind::T1T2 => of(fabric, stated, cable.lower),
    }?;
    let verb = |negotiates: bool| if negotiates { "negotiates" } else { "forces the speed" };
    (lower != upper).then(|| {
        let [own, far] = [cable.upper, cable.lower].map(|end| fabric.cabling.end(end));
        let far = if cable.kind == Kind::NicT0 {
            "a port for NICs by the manifest".to_owned()
        } else {
            format!("`{far}`")
        };
        format!("`{own}` {}, and {far} {}", verb(upper), verb(lower))
    })
}

fn optics_fault(fabric: &Fabric, end: End) -> Option<String> {
    let is_wrong =
        !switch(fabric, end)?.language.negotiates_copper_only && explicit(fabric, end) == Some(true);
    is_wrong.then(|| format!("`{}` negotiates, which optical cables do not support", fabric.cabling.end(end)))
}

fn switch(fabric: &Fabric, end: End) -> Option<&Switch> {
    match end.party {
        DeviceId::Switch(id) => fabric.switch(id),
        DeviceId::Node(_) => None,
    }
}

fn explicit(fabric: &Fabric, end: End) -> Option<bool> {
    fabric.facts(end)?.wire.negotiates
}

/// Returns whether ports negotiate without a setting because of the driver of the switch.
fn negotiates_by_driver(switch: &Switch, stated: &StatedValues) -> bool {
    let is_own = |own: &&StatedSwitch| Some(&*own.hardware) == switch.hardware.as_deref();
    stated.switches.iter().filter(is_own).any(|own| own.states_autoneg)
}

/// Returns whether ports negotiate without a setting because of the release. `None` if the language does not state the
/// speed.
fn by_release(switch: &Switch, stated: Option<&StatedValues>) -> Option<bool> {
    let os = switch.language.os();
    let negotiates = |stated: &StatedValues| stated.switches.iter().any(|own| own.os == os && own.negotiates);
    stated.filter(|_| switch.language.wire[0]).map(negotiates)
}
