//! Racks of a file.
//!
//! In: `racks`, the counts of the fabric, and its hardware. Out: rules, and every fault. Invariants: if the rules
//! have no fault, two devices never use the same unit, and no device is above the top of a rack. The check does not
//! iterate over devices.

mod overlap;

use closc_diagnostics::Span;

use super::hardware::Hardware;
use crate::choice::Face;
use crate::coordinate::TierId;
use crate::document::{FabricDoc, RackDoc};
use crate::naming::{NAME_MAX, Numbers, Pattern, Placeholder};
use crate::rack::{RackRule, Racks};
use crate::shape::Shape;

/// Units of a standard rack.
const HEIGHT: u16 = 42;

/// Coordinates in the rack name of T0s or T1s.
const ZONED: [Placeholder; 4] = [Placeholder::Plane, Placeholder::Zone, Placeholder::Rack, Placeholder::Row];
/// Coordinates in the rack name of T2s.
const SHARED: [Placeholder; 3] = [Placeholder::Plane, Placeholder::Rack, Placeholder::Row];
/// Coordinates in the rack name of nodes.
const NODES: [Placeholder; 4] = [Placeholder::Zone, Placeholder::Unit, Placeholder::Rack, Placeholder::Row];

/// Finding: place, reason, related places, and suggestion.
#[derive(Debug, Clone)]
pub(crate) struct RackFault {
    pub(crate) span: Span,
    pub(crate) message: String,
    pub(crate) label: String,
    pub(crate) related: Option<(Span, String)>,
    pub(crate) help: String,
}

/// The racks of a draft.
#[derive(Debug, Clone, Default)]
pub(crate) struct DraftRacks {
    pub(crate) racks: Option<Racks>,
    pub(crate) faults: Vec<RackFault>,
}

/// A kind of device: its place in racks, and its counts.
struct Kind<'a> {
    /// Its key in `racks`.
    key: &'static str,
    tier: Option<TierId>,
    doc: &'a RackDoc,
    allowed: &'static [Placeholder],
    /// Number of planes, or 1 for devices without a plane.
    planes: u16,
    zones: u16,
    /// Step between the zones that have such devices.
    zone_step: u16,
    units: u16,
    /// Devices in each plane, zone and unit.
    devices: u16,
}

impl<'a> Kind<'a> {
    fn switches(tier: TierId, doc: &'a RackDoc, shape: &Shape) -> Self {
        let is_top = tier == TierId::T2;
        Kind {
            key: tier.keyword(),
            tier: Some(tier),
            doc,
            allowed: if is_top { &SHARED } else { &ZONED },
            planes: shape.planes,
            zones: if is_top { 1 } else { shape.zones },
            zone_step: 1,
            units: 1,
            devices: shape.count(tier),
        }
    }

    fn nodes(doc: &'a RackDoc, shape: &Shape) -> Self {
        Kind {
            key: "hosts",
            tier: None,
            doc,
            allowed: &NODES,
            planes: 1,
            zones: shape.zones,
            zone_step: shape.zones_per_node,
            units: shape.units(),
            devices: shape.nodes_per_unit(),
        }
    }

    /// Returns the number of racks of one plane, zone and unit.
    fn racks(&self, rule: &RackRule) -> u16 {
        self.devices.div_ceil(rule.per_rack.max(1))
    }
}

impl DraftRacks {
    /// Reads the racks of a file.
    pub(super) fn new(doc: &FabricDoc, shape: &Shape, hardware: &[Hardware]) -> Self {
        let Some(stated) = &doc.racks else { return DraftRacks::default() };
        let mut draft = DraftRacks::default();
        let height = stated.height.map_or(HEIGHT, |height| height.value);
        if let Some(zero) = stated.height.filter(|height| height.value == 0) {
            draft.fault(
                zero.span,
                "`racks.height` is 0; expected at least 1".to_owned(),
                "",
                "write the number of units of a rack",
            );
        }
        let mut kinds = Vec::new();
        for (tier, rack) in [(TierId::T0, &stated.t0), (TierId::T1, &stated.t1), (TierId::T2, &stated.t2)] {
            let Some(rack) = rack else { continue };
            if tier == TierId::T2 && doc.tiers.t2.is_none() {
                let message = "`racks.t2` places a tier that the fabric does not have".to_owned();
                draft.fault(rack.name.span, message, "there are no T2s", "remove `racks.t2`");
                continue;
            }
            kinds.push(Kind::switches(tier, rack, shape));
        }
        kinds.extend(stated.hosts.as_ref().map(|rack| Kind::nodes(rack, shape)));
        let mut known: Vec<(&Kind<'_>, RackRule)> = Vec::new();
        for kind in &kinds {
            let Some(rule) = draft.rule(kind, hardware, height) else { continue };
            for (other, of_other) in &known {
                draft.faults.extend(overlap::fault((kind, &rule), (other, of_other)));
            }
            known.push((kind, rule));
        }
        let of = |key: &str| known.iter().find(|(kind, _)| kind.key == key).map(|(_, rule)| rule.clone());
        draft.racks = Some(Racks { height, t0: of("t0"), t1: of("t1"), t2: of("t2"), hosts: of("hosts") });
        draft
    }

    fn fault(&mut self, span: Span, message: String, label: impl Into<String>, help: impl Into<String>) {
        self.faults.push(RackFault { span, message, label: label.into(), related: None, help: help.into() });
    }

    /// Reads the rack rule of a kind of device; `None` if there is a fault.
    fn rule(&mut self, kind: &Kind<'_>, hardware: &[Hardware], height: u16) -> Option<RackRule> {
        let (key, doc, before) = (kind.key, kind.doc, self.faults.len());
        let name = match Pattern::parse_place(&doc.name.value, kind.allowed) {
            Ok(name) => Some(name),
            Err(error) => {
                self.fault(
                    doc.name.span,
                    format!("`racks.{key}.name` is not a pattern"),
                    error.to_string(),
                    "correct the pattern",
                );
                None
            }
        };
        let numbers = [
            ("per_rack", Some(doc.per_rack)),
            ("per_row", doc.per_row),
            ("units", doc.units),
            ("first_unit", doc.first_unit),
        ];
        for (field, number) in numbers {
            if let Some(zero) = number.filter(|number| number.value == 0) {
                self.fault(
                    zero.span,
                    format!("`racks.{key}.{field}` is 0; expected at least 1"),
                    "",
                    "write a number of 1 or more",
                );
            }
        }
        let units = self.units(kind, hardware)?;
        let rule = RackRule {
            name: name?,
            per_rack: doc.per_rack.value,
            per_row: doc.per_row.map(|racks| racks.value),
            units,
            first_unit: doc.first_unit.map_or(1, |unit| unit.value),
            face: doc.face.map_or(Face::Front, |face| face.value),
        };
        if self.faults.len() > before {
            return None;
        }
        self.unsaid(kind, &rule);
        self.check_height(kind, &rule, height);
        self.long(kind, &rule);
        (self.faults.len() == before).then_some(rule)
    }

    /// Returns the height of a device in units; `None` if neither the file nor the catalogue has it. Reports
    /// platforms that are higher than this.
    fn units(&mut self, kind: &Kind<'_>, hardware: &[Hardware]) -> Option<u16> {
        let mut kinds = hardware.iter().filter(|own| Some(own.tier) == kind.tier).peekable();
        let usual = kinds.peek().map(|own| &own.platform);
        let stated = kind.doc.units;
        let units =
            stated.map(|units| units.value).or_else(|| usual.and_then(|platform| platform.rack_units));
        let Some(units) = units else {
            let label = match (kind.tier, usual) {
                (None, _) => "the file does not set the height of a node".to_owned(),
                (Some(_), Some(platform)) => format!("the catalogue has no height for `{}`", platform.id),
                // The platform is unknown, which is a fault of its own.
                (Some(_), None) => return None,
            };
            let message = format!("`racks.{}` lacks `units`", kind.key);
            self.fault(
                kind.doc.name.span,
                message,
                label,
                "write `units`, the number of rack units of each device",
            );
            return None;
        };
        for own in kinds {
            let Some(high) = own.platform.rack_units.filter(|high| *high > units) else { continue };
            let place = stated.map_or(kind.doc.name.span, |units| units.span);
            self.faults.push(RackFault {
                span: own.platform_span,
                message: format!(
                    "{} needs {high} units, but `racks.{}` gives it {units}",
                    own.subject, kind.key
                ),
                label: format!("`{}` is {high} units high", own.platform.id),
                related: Some((place, format!("{units} units each"))),
                help: format!("write `units: {high}`"),
            });
        }
        Some(units)
    }

    /// Rejects a pattern that gives several racks the same name.
    fn unsaid(&mut self, kind: &Kind<'_>, rule: &RackRule) {
        let racks = kind.racks(rule);
        let per_row = rule.per_row.unwrap_or(u16::MAX);
        let numbers = [
            (Placeholder::Zone, kind.zones / kind.zone_step, "zones"),
            (Placeholder::Unit, kind.units, "units of nodes"),
            (Placeholder::Rack, racks.min(per_row), "racks"),
            (Placeholder::Row, racks.div_ceil(per_row), "rows"),
        ];
        for (field, count, what) in numbers {
            if count > 1 && !rule.name.mentions(field) {
                let message = format!("`racks.{}` gives racks of {count} {what} the same name", kind.key);
                let message =
                    if field == Placeholder::Rack { message.replacen("racks of ", "", 1) } else { message };
                let word = field.keyword();
                self.fault(
                    kind.doc.name.span,
                    message,
                    format!("does not contain `{{{word}}}`"),
                    format!("add `{{{word}}}`"),
                );
            }
        }
        if rule.per_row.is_none() && rule.name.mentions(Placeholder::Row) {
            let message =
                format!("`racks.{}` uses rows, but does not set the number of racks per row", kind.key);
            self.fault(
                kind.doc.name.span,
                message,
                "`{row}` without `per_row`",
                "write `per_row`, or remove `{row}`",
            );
        }
    }

    /// Rejects devices above the top of a rack.
    fn check_height(&mut self, kind: &Kind<'_>, rule: &RackRule, height: u16) {
        let (first, end) = rule.span(u64::from(kind.planes));
        if end - 1 <= u64::from(height) {
            return;
        }
        let planes = if rule.shares_planes() && kind.planes > 1 {
            format!("{} planes x ", kind.planes)
        } else {
            String::new()
        };
        let message = format!("`racks.{}` reaches unit {}, but a rack has {height}", kind.key, end - 1);
        let label = format!("{planes}{} devices x {} units from unit {first} up", rule.per_rack, rule.units);
        let room = (u64::from(height) + 1).saturating_sub(first) * u64::from(rule.per_rack) / (end - first);
        let help = match room {
            0 => {
                "start at a lower unit, add `{plane}` to the name, or set a larger `racks.height`".to_owned()
            }
            fits => format!("set `per_rack: {fits}`, or a larger `racks.height`"),
        };
        self.fault(kind.doc.per_rack.span, message, label, help);
    }

    /// Rejects names that are too long.
    fn long(&mut self, kind: &Kind<'_>, rule: &RackRule) {
        let last = |count: u16| count.saturating_sub(1);
        let longest = Numbers::default()
            .with(Placeholder::Plane, last(kind.planes))
            .with(Placeholder::Zone, last(kind.zones))
            .with(Placeholder::Unit, last(kind.units));
        let racks = kind.racks(rule);
        // The longest name of a row is that of its last rack.
        let per_row = rule.per_row.unwrap_or(u16::MAX).min(racks.max(1));
        let longest = longest
            .with(Placeholder::Row, last(racks.div_ceil(per_row)))
            .with(Placeholder::Rack, last(per_row));
        let name = rule.name.write(longest);
        if name.len() > NAME_MAX {
            let message = format!(
                "names of `racks.{}` have up to {} characters; the maximum is {NAME_MAX}",
                kind.key,
                name.len()
            );
            self.fault(kind.doc.name.span, message, format!("for example `{name}`"), "shorten the pattern");
        }
    }
}
