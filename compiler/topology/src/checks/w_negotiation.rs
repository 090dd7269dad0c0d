//! W0601: one end of a copper cable negotiates, and the other forces its speed.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Os;

use crate::choice::HostOutput;
use crate::coordinate::PlaneId;
use crate::draft::{Draft, DraftTier};
use crate::field;

/// One end of a copper cable negotiates, and the other forces its speed.
pub(crate) static RULE: Rule = Rule {
    code: "W0601",
    title: "the ends of copper cables disagree about auto-negotiation",
    condition: "Both ends of a copper cable negotiate speed and train the link, or both force the speed. In the generated \
           configuration, SONiC and EOS force it, SONiC on NVIDIA's ASICs by `autoneg: off`. Cumulus Linux forces it up to 5.13 and negotiates from 5.14. NICs \
           negotiate by default; `.link` units (`networkd` and `hosts.slots`) set what the T0 needs. Without them, there is \
           a warning if `hosts.outputs` lists `netplan` or `networkd`, which configure the ports of NICs otherwise.",
    impact: "A port that negotiates finds no partner at a port that forces, and the link stays down.",
    example: "hosts: { groups: 128 }\n\
           tiers:\n\
           \x20 t0: { platform: spectrum4-sn5600, os: nvue, down: { breakout: 4x200G }, up: { count: 128, breakout: 4x200G } }\n\
           \x20 t1: { platform: spectrum4-sn5600, os: sonic, down: { breakout: 4x200G } }\n\
           cables: { t0-t1: { length: 2m, medium: dac } }",
    fix: "Run one operating system at both ends, use optical cables, or set auto-negotiation at one end in \
           the site's own configuration: for a NIC `ethtool -s nic0p0 autoneg off speed 400000`. `closc verify` compares \
           the ends of a cable between switches (V0302).",
};

/// Checks the cables of NICs, and compares the two ends of every kind of cable between switches, plane by
/// plane and zone by zone.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    nics(draft, out);
    let t2 = draft.t2.as_ref().zip(draft.cables.t1_t2.as_ref());
    let kinds = std::iter::once((field!("cables.t0-t1"), &draft.cables.t0_t1, &draft.t0, &draft.t1))
        .chain(t2.map(|(t2, cable)| (field!("cables.t1-t2"), cable, &draft.t1, t2)));
    for (path, cable, lower, upper) in kinds {
        if !cable.cable.is_copper() {
            continue;
        }
        let Some([below, above]) = disagreement(draft, lower, upper) else { continue };
        let (negotiates, forces) =
            if negotiates(draft, below) == Some(true) { (below, above) } else { (above, below) };
        let (lower, upper) = (lower.id.label(), upper.id.label());
        let words = |os: Os| match draft.release(os) {
            Some((release, _)) => format!("`{}` {release}", os.keyword()),
            None => format!("`{}`", os.keyword()),
        };
        let message = format!(
            "{} negotiates over the copper cables between {lower}s and {upper}s, {} does not",
            words(negotiates),
            words(forces)
        );
        out.push(
            Diagnostic::warning(&RULE, message)
                .at(cable.medium_span.unwrap_or_else(|| draft.at(path)), "copper")
                .and(draft.t0.os_span.max(draft.t1.os_span), "the other operating system")
                .help("use optical cables, or one operating system at both ends"),
        );
    }
}

/// Warns if a T0 forces the speed of its NICs over copper, and the files of their ports cannot state it.
fn nics(draft: &Draft<'_>, out: &mut Diagnostics) {
    let (hosts, cable) = (&draft.doc.hosts, &draft.cables.nic_t0);
    let outputs = hosts.outputs.iter().flatten();
    let configures = |output: HostOutput| matches!(output, HostOutput::Networkd | HostOutput::Netplan);
    let has_units =
        hosts.slots.is_some() && outputs.clone().any(|output| output.value == HostOutput::Networkd);
    let Some(output) = outputs.clone().find(|output| configures(output.value)).filter(|_| !has_units) else {
        return;
    };
    let forces = |os: &Os| negotiates(draft, *os) == Some(false);
    let systems = draft.t0.os.into_iter().chain(draft.t0.by_plane.values().map(|(_, os)| *os));
    let Some(os) = systems.chain(draft.t0.by_zone.iter().map(|zone| zone.os)).find(forces) else { return };
    if !cable.cable.is_copper() {
        return;
    }
    let message =
        format!("T0s with `{}` force the speed over copper, but no file sets it on the NICs", os.keyword());
    out.push(
        Diagnostic::warning(&RULE, message)
            .at(output.span, "these files do not set speeds; NICs negotiate by default")
            .and(cable.medium_span.unwrap_or_else(|| draft.at(field!("cables.nic-t0"))), "copper")
            .help("add `hosts.slots` and `networkd` to `hosts.outputs`, or run `ethtool -s PORT autoneg off speed MBPS` at boot"),
    );
}

fn negotiates(draft: &Draft<'_>, os: Os) -> Option<bool> {
    os.negotiates(draft.release(os).map(|(release, _)| release))
}

/// Returns the operating systems of both tiers in the first plane and zone where only one end of a cable
/// negotiates.
fn disagreement(draft: &Draft<'_>, lower: &DraftTier, upper: &DraftTier) -> Option<[Os; 2]> {
    let stated = lower.by_zone.iter().chain(&upper.by_zone).map(|zone| Some(zone.zone.value));
    let zones: Vec<Option<u16>> = std::iter::once(None).chain(stated).collect();
    let planes = u8::try_from(draft.planes.min(16)).unwrap_or(16);
    let places = (0..planes).flat_map(|plane| zones.iter().map(move |zone| (PlaneId(plane), *zone)));
    let mut ends =
        places.filter_map(|(plane, zone)| Some([of(lower, plane, zone)?, of(upper, plane, zone)?]));
    ends.find(|ends| {
        let [below, above] = ends.map(|os| negotiates(draft, os));
        below.is_some() && above.is_some() && below != above
    })
}

/// Returns the operating system of a tier's switches in a plane and zone.
fn of(tier: &DraftTier, plane: PlaneId, zone: Option<u16>) -> Option<Os> {
    if let Some((_, os)) = tier.by_plane.get(&plane) {
        return Some(*os);
    }
    let own = tier.by_zone.iter().find(|own| Some(own.zone.value) == zone);
    own.map(|own| own.os).or(tier.os)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn ends_agree_by_system_and_release() {
        assert_eq!(
            message(RULE.example, "W0601"),
            "`nvue` 5.16 negotiates over the copper cables between T0s and T1s, `sonic` 202511 does not"
        );
        let older = format!("{}\nreleases: {{ nvue: \"5.13\" }}\nqos: none", RULE.example);
        assert!(!codes(&older).contains(&"W0601"));
        assert!(!codes(&RULE.example.replace("dac", "aoc")).contains(&"W0601"));
        assert!(!codes(&RULE.example.replace("os: nvue", "os: sonic")).contains(&"W0601"));
        let hosts = |outputs: &str| format!("hosts: {{ outputs: [{outputs}] }}");
        assert_eq!(
            message(&hosts("netplan"), "W0601"),
            "T0s with `sonic` force the speed over copper, but no file sets it on the NICs"
        );
        assert!(codes(&hosts("networkd")).contains(&"W0601"));
        assert!(!codes(&hosts("nic")).contains(&"W0601"));
        let optical = format!("{}\ncables: {{ nic-t0: {{ medium: aoc }} }}", hosts("netplan"));
        assert!(!codes(&optical).contains(&"W0601"));
        let slots = r#"hosts: { nics_per_node: 1, outputs: [networkd], slots: [{ pci: "0000:18:00.0" }] }"#;
        assert!(!codes(slots).contains(&"W0601"));
        let plane = RULE.example.replace("os: sonic,", "os: nvue, by_plane: { 1: { os: sonic } },");
        assert!(codes(&plane).contains(&"W0601"));
    }
}
