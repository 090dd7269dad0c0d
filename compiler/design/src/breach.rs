//! Reasons why a design does not meet the requirements, or why the search skips it.
//!
//! In: requirements and a design. Out: [`Breach`]es. Invariants: a design that the search returns has none.

use closc_artefacts::Routing;
use closc_diagnostics::figures::number;
use closc_platform::Os;
use closc_qos::units::Speed;
use smol_str::SmolStr;

use crate::design::{Design, links};
use crate::need::{LossShare, Ratio, Requirements};
use crate::rows::T2S_MIN;
use crate::space::{T1S_MIN, has_needless_third};

/// A reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Breach {
    /// Too few places for NICs: the places, and the required NICs.
    #[error("it has {} NIC places, and the need is {} NICs", number(u64::from(*.0)), number(u64::from(*.1)))]
    Nics(u32, u32),
    /// The NIC speed differs.
    #[error("its NICs have {0} over all planes, and the need is {1}")]
    Speed(Speed, Speed),
    /// A number of planes that is not listed.
    #[error("`--planes` does not include {0}")]
    Planes(u16),
    /// A number of planes by NIC that is not listed.
    #[error("`--planes-by-nic` does not include {0}")]
    ByNic(u32),
    /// A number of tiers that is not listed.
    #[error("`--tiers` does not include {0}")]
    Tiers(u8),
    /// A routing mode that is not listed.
    #[error("`--routing` does not include `{0}`")]
    Routing(Routing),
    /// An operating system that is not listed.
    #[error("`--os` does not include `{os}`", os = .0.keyword())]
    Os(Os),
    /// A platform that is not listed.
    #[error("`--platform` does not include `{0}`")]
    Platform(SmolStr),
    /// A platform of a vendor that is not listed.
    #[error("`--vendor` does not include `{1}`, the vendor of `{0}`")]
    Vendor(SmolStr, String),
    /// Too much oversubscription.
    #[error("its T0s have {0} bandwidth down to up, and `--oversubscription` is {1}")]
    Oversubscription(Ratio, Ratio),
    /// Too much loss if a T0 fails.
    #[error("a failed T0 costs a NIC more than the {0} of `--fail`")]
    T0Loss(LossShare),
    /// Too much loss if a T1 fails.
    #[error("a failed T1 costs a NIC more than the {0} of `--fail`")]
    T1Loss(LossShare),
    /// Too little room for growth.
    #[error("it holds {} NICs without moving a cable, and `--grow-to` is {}", number(u64::from(*.0)), number(u64::from(*.1)))]
    Growth(u32, u32),
    /// T1s below T2s with less bandwidth up than down.
    #[error("its T1s have {0} bandwidth down to up, and the search gives T1s as much up as down")]
    T1Bandwidth(Ratio),
    /// T1s that reach a single T2.
    #[error("each T1 reaches 1 T2, and the search starts at two")]
    SingleT2,
    /// Unnecessary T2s.
    #[error("its T1s have ports for all T0s, so it needs no T2s")]
    Needless,
    /// Too few T1s.
    #[error("each plane has {0} T1, and the search starts at two")]
    Single(u32),
}

/// Returns the reasons as messages.
pub fn breaches(need: &Requirements, design: &Design<'_>) -> Vec<String> {
    find_breaches(need, design).iter().map(ToString::to_string).collect()
}

fn find_breaches(need: &Requirements, design: &Design<'_>) -> Vec<Breach> {
    let limits = &need.limits;
    let mut found = shape(need, design);
    let ratio = design.oversubscription();
    // Without a tier above, traffic stays on a T0 and has full bandwidth.
    if design.has_t1() && !ratio.is_within(limits.oversubscription) {
        found.push(Breach::Oversubscription(ratio, limits.oversubscription));
    }
    let planes = u32::from(design.planes);
    let exceeds = |most: &LossShare, parts: u32| parts < most.min_parts();
    found.extend(limits.t0_loss.filter(|most| exceeds(most, planes)).map(Breach::T0Loss));
    let t1_loss = limits.t1_loss.filter(|_| design.has_t1());
    found.extend(t1_loss.filter(|most| exceeds(most, planes * design.t1s())).map(Breach::T1Loss));
    let largest = design.largest();
    found.extend(limits.grow_to.filter(|nics| *nics > largest).map(|nics| Breach::Growth(largest, nics)));
    let t1_ratio = design.t1_oversubscription().filter(|ratio| !ratio.is_within(Ratio::EVEN));
    found.extend(t1_ratio.map(Breach::T1Bandwidth));
    if design.third.as_ref().is_some_and(|third| links(&design.t1) / third.parallel.max(1) < T2S_MIN) {
        found.push(Breach::SingleT2);
    }
    if has_needless_third(need, design) {
        found.push(Breach::Needless);
    }
    if design.has_t1() && design.t1s() < T1S_MIN {
        found.push(Breach::Single(design.t1s()));
    }
    found
}

/// Returns the reasons about values that the requirements list, such as planes, tiers and routing modes.
fn shape(need: &Requirements, design: &Design<'_>) -> Vec<Breach> {
    let mut found = Vec::new();
    if design.places() < need.nics {
        found.push(Breach::Nics(design.places(), need.nics));
    }
    if need.port_speed(design.planes) != Some(design.port_speed) {
        let mbps = design.port_speed.mbps().saturating_mul(design.planes.into());
        found.push(Breach::Speed(Speed::from_mbps(mbps).unwrap_or(design.port_speed), need.speed));
    }
    if !need.planes.contains(&design.planes) {
        found.push(Breach::Planes(design.planes));
    }
    if !need.planes_by_nic.iter().any(|zones| u32::from(*zones) == design.planes_by_nic) {
        found.push(Breach::ByNic(design.planes_by_nic));
    }
    let tiers = design.tiers().count() as u8;
    if !need.tiers.contains(&tiers) {
        found.push(Breach::Tiers(tiers));
    }
    if !need.routings.contains(&design.routing) {
        found.push(Breach::Routing(design.routing));
    }
    if !need.operating_systems.contains(&design.os) {
        found.push(Breach::Os(design.os));
    }
    for tier in design.tiers() {
        let breach = Breach::Platform(tier.platform.id.clone());
        let is_named =
            need.platforms.is_empty() || need.platforms.iter().any(|name| tier.platform.id == name.as_str());
        if !is_named && !found.contains(&breach) {
            found.push(breach);
        }
        let breach = Breach::Vendor(tier.platform.id.clone(), tier.platform.vendor().to_owned());
        if !need.is_of_vendor(tier.platform) && !found.contains(&breach) {
            found.push(breach);
        }
    }
    found
}
