//! W0801: an override has no effect.

use std::collections::BTreeSet;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};

use crate::checks::words::and_if;
use crate::coordinate::{Link, Subject};
use crate::document::HardwareDoc;
use crate::draft::{Draft, DraftBlock, DraftCable, DraftTier, by_plane, by_zone};
use crate::field::FieldPath;
use crate::{TierId, field, tier_field};

/// An override has no effect.
pub(crate) static RULE: Rule = Rule {
    code: "W0801",
    title: "an override changes nothing",
    condition: "Every override of a plane, zone, device or cable differs from what it overrides.",
    impact: "The override is obsolete, or has the wrong value.",
    example: "exceptions: { devices: { p0-t0-001: { os: sonic } } }",
    fix: "Remove the override, or write the intended value.",
};

/// Compares overrides with the values that they override.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for tier in draft.tiers() {
        for (plane, span, doc) in by_plane(draft.doc, tier.id) {
            let os = tier_field!(tier.id, "by_plane.*.os").with_key(plane);
            if same_hardware(doc, tier) && !is_refused(draft, os, doc.os.is_some()) {
                warn(&format!("plane {plane} of the {}s", tier.id.label()), span, Some(tier.name.span), out);
            }
        }
    }
    zones(draft, out);
    let refused = RefusedOverrides::of(draft);
    for (entry, doc) in draft.exceptions.devices() {
        let Ok(Subject::Switch(switch)) = entry.subject else { continue };
        let Some(tier) = draft.tier(switch.tier) else { continue };
        let is_own = tier.by_plane.contains_key(&switch.plane) || tier.in_zone(switch.zone).is_some();
        if !is_own && same_hardware(doc, tier) && !refused.contains(entry.span) {
            warn(&format!("`{}`", entry.name), entry.span, Some(tier.name.span), out);
        }
    }
    for (zone, cable) in &draft.cables.by_zone {
        if draft.cables.t1_t2.as_ref().is_some_and(|kind| kind.cable == cable.cable) {
            let other = draft.stated_span(field!("cables.t1-t2"));
            warn(&format!("the T1 to T2 cables of zone {}", zone.value), zone.span, other, out);
        }
    }
    pins(draft, out);
    for (entry, doc) in draft.exceptions.cables() {
        let Ok(Subject::Link(link)) = entry.subject else { continue };
        let kind = draft.kind_of(link);
        if refused.contains(entry.span) {
            continue;
        }
        if DraftCable::over(kind, Some(doc)).cable == *kind {
            warn(&format!("cable `{}`", entry.name), entry.span, draft.stated_span(field!("cables")), out);
        }
    }
}

/// Finds pins to uplinks whose cable or T1 is absent.
fn pins(draft: &Draft<'_>, out: &mut Diagnostics) {
    let absent: BTreeSet<Subject> =
        draft.exceptions.absent.iter().filter_map(|entry| entry.subject.as_ref().ok().copied()).collect();
    for ((lower, _), (up, span)) in draft.pins.pins.iter().filter(|_| !absent.is_empty()) {
        let upper = draft.shape.upper(*lower, *up).map(|(upper, _)| Subject::Switch(upper));
        let link = Subject::Link(Link::Fabric { lower: *lower, up: *up });
        if [Some(link), upper].into_iter().flatten().any(|subject| absent.contains(&subject)) {
            let name = draft.names.naming.switch(*lower);
            out.push(
                Diagnostic::warning(&RULE, format!("a pin to uplink {up} of `{name}` changes nothing"))
                    .at(*span, "the cable of this uplink is absent")
                    .help("name another uplink, or remove the line"),
            );
        }
    }
}

/// Compares the settings of single zones with those of all zones.
fn zones(draft: &Draft<'_>, out: &mut Diagnostics) {
    for tier in draft.tiers() {
        for own in &tier.by_zone {
            let is_same = |own: &DraftBlock, whole: &DraftBlock| {
                (own.breakout, own.cages, own.first_cage, own.first_port)
                    == (whole.breakout, whole.cages, whole.first_cage, whole.first_port)
            };
            let hardware = own.platform.id == tier.name.value && Some(own.os) == tier.os;
            let os = zone_os(tier.id, own.zone.value);
            let is_refused = os.is_some_and(|os| {
                let docs = by_zone(draft.doc, tier.id).iter();
                let is_known =
                    docs.clone().any(|(zone, doc)| zone.value == own.zone.value && doc.os.is_some());
                is_refused(draft, os, is_known)
            });
            if hardware && !is_refused && is_same(&own.down, &tier.down) && is_same(&own.up, &tier.up) {
                let what = format!("zone {} of the {}s", own.zone.value, tier.id.label());
                warn(&what, own.zone.span, Some(tier.name.span), out);
            }
        }
    }
    let places = draft.places();
    for (zone, _) in draft.doc.hosts.nic_by_zone.iter().flat_map(|zones| &zones.0) {
        let whole = &places[0];
        let Some(own) = places.iter().find(|place| place.zone == Some(zone.value)) else { continue };
        if (own.nic.value, own.lanes) == (whole.nic.value, whole.lanes) {
            warn(&format!("the NIC of zone {}", zone.value), zone.span, Some(whole.nic.span), out);
        }
    }
    for (zone, nics) in draft.doc.hosts.per_group_by_zone.iter().flat_map(|zones| &zones.0) {
        if u64::from(nics.value) == draft.per_group {
            let other = draft.stated_span(field!("hosts.per_group"));
            warn(&format!("the NICs of a T0 group of zone {}", zone.value), zone.span, other, out);
        }
    }
}

/// Returns whether the file names an unknown operating system at `os`. The override is then not compared,
/// because its operating system is not known.
fn is_refused(draft: &Draft<'_>, os: FieldPath, is_known: bool) -> bool {
    !is_known && draft.states(os)
}

/// Devices and cables with a value that the loader rejected, so that the document lacks it.
struct RefusedOverrides {
    /// Offsets of the keys of devices and cables.
    keys: BTreeSet<u32>,
    faults: BTreeSet<u32>,
}

impl RefusedOverrides {
    fn of(draft: &Draft<'_>) -> Self {
        let faults = draft.faults.iter().filter_map(Diagnostic::span).map(|span| span.start).collect();
        let devices = draft.exceptions.devices().map(|(entry, _)| entry);
        let overridden = devices.chain(draft.exceptions.cables().map(|(entry, _)| entry));
        RefusedOverrides { keys: overridden.map(|entry| entry.span.start).collect(), faults }
    }

    /// Returns whether a fault is between a key and the next.
    fn contains(&self, key: Span) -> bool {
        let next = self.keys.range(key.end..).next().copied().unwrap_or(u32::MAX);
        self.faults.range(key.end..next).next().is_some()
    }
}

/// Returns the path of a zone's operating system; `None` for T2s, which are in no zone.
fn zone_os(tier: TierId, zone: u16) -> Option<FieldPath> {
    match tier {
        TierId::T0 => Some(field!("tiers.t0.by_zone.*.os").with_key(zone)),
        TierId::T1 => Some(field!("tiers.t1.by_zone.*.os").with_key(zone)),
        TierId::T2 => None,
    }
}

fn same_hardware(doc: &HardwareDoc, tier: &DraftTier) -> bool {
    doc.platform.as_ref().is_none_or(|platform| platform.value == tier.name.value)
        && doc.os.is_none_or(|os| Some(os.value) == tier.os)
}

fn warn(what: &str, span: Span, other: Option<Span>, out: &mut Diagnostics) {
    let diagnostic =
        Diagnostic::warning(&RULE, format!("the override of {what} changes nothing")).at(span, "");
    out.push(and_if(diagnostic, other, "is the same").help("remove it, or write the intended value"));
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn overrides_differ() {
        assert_eq!(codes("exceptions: { devices: { p0-t0-001: { os: sonic } } }"), ["W0801"]);
        assert!(!codes("exceptions: { devices: { p0-t0-001: { os: frr } } }").contains(&"W0801"));
        assert_eq!(codes("tiers: { t0: { by_plane: { 1: { platform: box-256x200g } } } }"), ["W0801"]);
        assert_eq!(codes("exceptions: { cables: { p0-t0-001--p0-t1-001: { length: 30m } } }"), ["W0801"]);
        let zones = "zones: 2, cables: { t1-t2: { length: 30m }, by_zone: { 1: { length: 30m } } }, \
                     tiers: { t1: { up: 64 }, t2: { platform: box-256x200g, os: sonic } }";
        assert!(codes(&format!("{{ {zones} }}")).contains(&"W0801"));
        assert_eq!(
            message("exceptions: { cables: { p0-t0-001--p0-t1-001: {} } }", "W0801"),
            "the override of cable `p0-t0-001--p0-t1-001` changes nothing"
        );
    }
}
