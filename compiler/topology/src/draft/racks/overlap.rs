//! Kinds of devices that share racks.
//!
//! In: two kinds of device with their rack rules. Out: a fault if both use the same unit of a rack. Invariants: the
//! rack names of the kind with fewer racks are written and looked up in the other kind, up to a bound. Above it,
//! patterns that could give equal names count as a fault.

use smol_str::SmolStr;

use super::{Kind, RackFault};
use crate::naming::{Numbers, Placeholder};
use crate::rack::RackRule;

/// Maximum number of names to try.
const TRIED_MAX: u64 = 65_536;

type RackOccupant<'a> = (&'a Kind<'a>, &'a RackRule);

/// Returns a fault if two kinds use the same unit of a rack.
pub(super) fn fault(own: RackOccupant<'_>, other: RackOccupant<'_>) -> Option<RackFault> {
    let span = |(kind, rule): RackOccupant<'_>| rule.span(u64::from(kind.planes));
    let ((first, end), (other_first, other_end)) = (span(own), span(other));
    if first >= other_end || other_first >= end || !own.1.name.overlaps(&other.1.name) {
        return None;
    }
    let unit = first.max(other_first);
    let shared = common_rack(own, other)?;
    let ((kind, _), (other_kind, _)) = (own, other);
    Some(RackFault {
        span: kind.doc.name.span,
        message: format!(
            "`racks.{}` and `racks.{}` both use unit {unit} of {shared}",
            other_kind.key, kind.key
        ),
        label: format!("units {first} to {}", end - 1),
        related: Some((other_kind.doc.name.span, format!("units {other_first} to {}", other_end - 1))),
        help: format!("start one above the other: `first_unit: {}`", end.min(other_end)),
    })
}

/// Returns the rack that both kinds use. If there are too many names to try, the result says that they may share one.
fn common_rack(own: RackOccupant<'_>, other: RackOccupant<'_>) -> Option<String> {
    let (few, many) = if count(own) <= count(other) { (own, other) } else { (other, own) };
    if count(few) > TRIED_MAX {
        return Some("racks that may have the same name".to_owned());
    }
    names(few).find(|name| has(many, name)).map(|name| format!("rack `{name}`"))
}

/// Returns the number of values of each coordinate of a name.
fn counts((kind, rule): RackOccupant<'_>) -> [u16; 4] {
    let planes = if rule.shares_planes() { 1 } else { kind.planes };
    [planes, kind.zones, kind.units, kind.racks(rule)]
}

fn count(of: RackOccupant<'_>) -> u64 {
    counts(of).into_iter().map(u64::from).fold(1, u64::saturating_mul)
}

/// Returns every rack name of a kind.
fn names(of: RackOccupant<'_>) -> impl Iterator<Item = SmolStr> {
    let [planes, zones, units, racks] = counts(of);
    let (step, rule) = (usize::from(of.0.zone_step), of.1.clone());
    let of_planes =
        (0..planes).flat_map(move |plane| (0..zones).step_by(step).map(move |zone| (plane, zone)));
    let places = of_planes.flat_map(move |(plane, zone)| (0..units).map(move |unit| (plane, zone, unit)));
    places.flat_map(move |place| (0..racks).map(move |rack| (place, rack))).map(
        move |((plane, zone, unit), rack)| {
            let numbers = Numbers::default()
                .with(Placeholder::Plane, plane)
                .with(Placeholder::Zone, zone)
                .with(Placeholder::Unit, unit);
            rule.name.write(rule.rack_numbers(numbers, rack))
        },
    )
}

/// Returns whether a kind has a rack of this name.
fn has(of: RackOccupant<'_>, name: &str) -> bool {
    let Some(numbers) = of.1.name.read(name) else { return false };
    let [planes, zones, units, racks] = counts(of);
    let per_row = of.1.per_row.unwrap_or(u16::MAX);
    let (row, rack) = (numbers.get(Placeholder::Row), numbers.get(Placeholder::Rack));
    let in_row = rack < per_row && u32::from(row) * u32::from(per_row) + u32::from(rack) < u32::from(racks);
    in_row
        && numbers.get(Placeholder::Plane) < planes
        && numbers.get(Placeholder::Zone) < zones
        && numbers.get(Placeholder::Zone).is_multiple_of(of.0.zone_step)
        && numbers.get(Placeholder::Unit) < units
}
