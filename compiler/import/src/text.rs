//! The text of a fabric file.
//!
//! In: counts, hardware and exceptions. Out: text. Invariants: breakouts, first cages, parallel links and names are
//! written only if they differ from the defaults.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use closc_artefacts::Routing;
use closc_topology::{AddressWidths, TierId};
use smol_str::SmolStr;

use crate::fit::{Block, Fit};
use crate::network::CableSpec;
use crate::shape::Numbers;

/// Hardware of a tier, and of its parts with different hardware.
#[derive(Debug, Clone)]
pub(crate) struct TierHardware {
    pub(crate) base: Fit,
    pub(crate) by_plane: BTreeMap<u16, Fit>,
    pub(crate) by_zone: BTreeMap<u16, Fit>,
}

/// Settings that cables do not show. They are assumed, except a routing mode from the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) routing: Routing,
    pub(crate) srv6: SmolStr,
    pub(crate) qos: &'static str,
}

/// Lengths and media, by kind of cable.
#[derive(Debug, Clone, Default)]
pub(crate) struct CableSpecs {
    pub(crate) kinds: BTreeMap<&'static str, CableSpec>,
    pub(crate) by_zone: BTreeMap<u16, CableSpec>,
}

/// Differences from the counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exceptions {
    pub(crate) absent: Vec<String>,
    pub(crate) drained: Vec<String>,
    pub(crate) isolated: Vec<String>,
    pub(crate) cables: Vec<(String, CableSpec)>,
    pub(crate) devices: Vec<(String, TierId, Fit)>,
}

/// Comments on values that are neither in the lists nor on the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct AssumptionNotes {
    /// Comment for each tier.
    pub(crate) tiers: [&'static str; 3],
    /// Comment for the NICs of nodes.
    pub(crate) nics: &'static str,
    /// Comment for speed, lanes and cages of a NIC.
    pub(crate) nic: &'static str,
    /// Assumed lengths and media by kind of cable, as in `length 2m`.
    pub(crate) cables: BTreeMap<&'static str, Vec<String>>,
    /// Whether routing is assumed.
    pub(crate) is_routing: bool,
}

/// Returns the comment to append to a value; it is empty if the text is empty.
fn comment(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("  # {text}") }
}

/// The contents of a fabric file.
pub(crate) struct File<'a> {
    pub(crate) name: &'a str,
    pub(crate) numbers: &'a Numbers,
    pub(crate) tiers: &'a [Option<TierHardware>; 3],
    pub(crate) settings: &'a Settings,
    pub(crate) specs: &'a CableSpecs,
    pub(crate) naming: &'a [(&'static str, String)],
    pub(crate) exceptions: &'a Exceptions,
    pub(crate) assumed: &'a AssumptionNotes,
}

/// Writes breakout and first cage if they differ from the platform's defaults.
fn block(out: &mut Vec<String>, own: Block, usual: Block) {
    if own.breakout != usual.breakout {
        out.push(format!("breakout: {}", own.breakout));
    }
    if own.first_cage != usual.first_cage {
        out.push(format!("first_cage: {}", own.first_cage));
    }
}

/// Returns `KEY: COUNT`, or a mapping if breakout or first cage differ from the defaults. Returns `None` if
/// all values are defaults.
fn ports(key: &str, count: Option<u16>, own: Block, usual: Block) -> Option<String> {
    ports_and_spare(key, (count, 0), own, usual)
}

/// Like [`ports`], with reserved ports.
fn ports_and_spare(
    key: &str,
    (count, spare): (Option<u16>, u16),
    own: Block,
    usual: Block,
) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend((spare > 0).then(|| format!("spare: {spare}")));
    block(&mut parts, own, usual);
    match (count, parts.is_empty()) {
        (Some(count), true) => Some(format!("{key}: {count}")),
        (None, true) => None,
        (Some(count), false) => Some(format!("{key}: {{ count: {count}, {} }}", parts.join(", "))),
        (None, false) => Some(format!("{key}: {{ {} }}", parts.join(", "))),
    }
}

fn hardware(fit: &Fit) -> Vec<String> {
    vec![format!("platform: {}", fit.platform.id), format!("os: {}", fit.os.keyword())]
}

fn tier(tier: TierId, hardware_of: &TierHardware, numbers: &Numbers) -> String {
    let TierHardware { base, by_plane, by_zone } = hardware_of;
    let usual = |is_up| Fit::default_block(&base.platform, is_up);
    let mut parts = hardware(base);
    let third = numbers.third.as_ref();
    match tier {
        TierId::T0 => {
            parts.extend(ports("down", None, base.down, usual(false)));
            let spare = numbers.order.as_ref().map_or(0, |order| order.up_spare);
            if numbers.t1_count > 0 {
                parts.extend(ports_and_spare("up", (Some(numbers.stage().up), spare), base.up, usual(true)));
            }
            parts.extend((numbers.t0_parallel > 1).then(|| format!("parallel: {}", numbers.t0_parallel)));
            parts.extend(numbers.order.as_ref().map(|order| {
                let stages: Vec<String> = order.stages.iter().map(ToString::to_string).collect();
                format!("port_order: [{}]", stages.join(", "))
            }));
        }
        TierId::T1 => {
            let spare = numbers.order.as_ref().map_or(0, |order| order.down_spare);
            parts.extend(ports_and_spare("down", (None, spare), base.down, usual(false)));
            if let Some(third) = third {
                parts.extend(ports("up", Some(third.up), base.up, usual(true)));
                parts.extend((third.parallel > 1).then(|| format!("parallel: {}", third.parallel)));
            }
        }
        TierId::T2 => {
            parts.extend(ports("down", None, base.down, usual(false)));
            if let Some(third) = third {
                parts.extend(third.rows.map(|rows| format!("wiring: rows, rows: {rows}")));
                parts.push(format!("ports_per_zone: {}", third.ports_per_zone));
            }
        }
    }
    let mut nested = String::new();
    if !by_plane.is_empty() {
        let each = by_plane.iter().map(|(plane, fit)| format!("{plane}: {{ {} }}", hardware(fit).join(", ")));
        let _ = write!(nested, ", by_plane: {{ {} }}", each.collect::<Vec<_>>().join(", "));
    }
    if !by_zone.is_empty() {
        let each = by_zone.iter().map(|(zone, fit)| {
            let mut parts = hardware(fit);
            parts.extend(ports("down", None, fit.down, Fit::default_block(&fit.platform, false)));
            if tier != TierId::T2 && (tier == TierId::T0 || third.is_some()) {
                parts.extend(ports("up", None, fit.up, Fit::default_block(&fit.platform, true)));
            }
            format!("{zone}: {{ {} }}", parts.join(", "))
        });
        let _ = write!(nested, ", by_zone: {{ {} }}", each.collect::<Vec<_>>().join(", "));
    }
    format!("  {}: {{ {}{nested} }}", tier.keyword(), parts.join(", "))
}

fn spec_mapping((length, medium): &CableSpec) -> Option<String> {
    let length = length.map(|length| format!("length: {length}"));
    let medium = medium.as_ref().map(|medium| format!("medium: {medium}"));
    let parts: Vec<String> = length.into_iter().chain(medium).collect();
    (!parts.is_empty()).then(|| format!("{{ {} }}", parts.join(", ")))
}

fn map(counts: &BTreeMap<u16, u16>) -> String {
    let each: Vec<String> = counts.iter().map(|(zone, count)| format!("{zone}: {count}")).collect();
    format!("{{ {} }}", each.join(", "))
}

/// The NIC of a node. It has one port per plane, so its lanes and speed are the sums over these ports.
fn nic(planes: u16, fit: &Fit, cages: u16) -> String {
    let split = fit.down.breakout;
    let lanes =
        u16::from((fit.platform.panel.lanes / split.ports.max(1)).max(1)).saturating_mul(planes).min(255);
    let lanes = lanes - lanes % planes;
    let mbps = u64::from(split.speed.mbps()) * u64::from(planes);
    let speed = match mbps {
        whole if whole.is_multiple_of(1_000) => format!("{}G", whole / 1_000),
        other => format!("{other}M"),
    };
    let cages = if cages > 1 { format!(", cages: {cages}") } else { String::new() };
    format!("{{ speed: {speed}, lanes: {}{cages} }}", lanes.max(planes))
}

/// Writes the NIC, and the NICs of zones with a different one.
fn nics(out: &mut String, t0: &TierHardware, numbers: &Numbers, assumed: &AssumptionNotes) {
    let usual = numbers.usual_nic_cages();
    let nic_of = nic(numbers.planes, &t0.base, usual);
    let _ = writeln!(out, "  nic: {nic_of}{}", comment(assumed.nic));
    let by_zone: Vec<String> = (0..numbers.zones)
        .map(|zone| (zone, t0.by_zone.get(&zone).unwrap_or(&t0.base), numbers.nic_cages_of(zone)))
        .filter(|(_, fit, cages)| *cages != usual || fit.down.breakout.speed != t0.base.down.breakout.speed)
        .map(|(zone, fit, cages)| format!("{zone}: {}", nic(numbers.planes, fit, cages)))
        .collect();
    if !by_zone.is_empty() {
        let _ = writeln!(out, "  nic_by_zone: {{ {} }}{}", by_zone.join(", "), comment(assumed.nic));
    }
}

/// Writes the width of the zone in addresses, if zones or T0 groups do not fit the default. If they fit no width, the
/// checks report it.
fn write_address_widths(out: &mut String, numbers: &Numbers) {
    let default = AddressWidths::default();
    if let Some(own) = default.with_room_for(numbers.zones.into(), numbers.groups.into())
        && own != default
    {
        let _ = writeln!(out, "addresses: {{ widths: {{ zone: {} }} }}{}", own.zone, comment("assumed"));
    }
}

/// Writes the file.
pub(crate) fn text(file: &File<'_>) -> String {
    let File { name, numbers, tiers, settings, specs, naming, exceptions, assumed } = file;
    let mut out = format!(
        "# Imported from the cables of an existing network. Values that the lists do not contain are marked as assumed.\n\
         fabric: {name}\n"
    );
    let _ = writeln!(out, "planes: {}", numbers.planes);
    let mark = if assumed.is_routing { "assumed" } else { "" };
    let _ = writeln!(out, "routing: {}{}", settings.routing.keyword(), comment(mark));
    if numbers.third.is_some() || numbers.zones_per_node > 1 {
        let _ = writeln!(out, "zones: {}", numbers.zones);
    }
    write_address_widths(&mut out, numbers);
    let _ = writeln!(out, "hosts:\n  groups: {}", numbers.groups);
    if !numbers.groups_by_zone.is_empty() {
        let _ = writeln!(out, "  groups_by_zone: {}", map(&numbers.groups_by_zone));
    }
    let _ = writeln!(out, "  per_group: {}", numbers.per_group);
    if !numbers.per_group_by_zone.is_empty() {
        let _ = writeln!(out, "  per_group_by_zone: {}", map(&numbers.per_group_by_zone));
    }
    let mark = comment(assumed.nics);
    let _ =
        writeln!(out, "  nics_per_node: {}{mark}\n  rails: {}{mark}", numbers.nics_per_node, numbers.rails);
    if numbers.zones_per_node > 1 {
        let _ = writeln!(out, "  zones_per_node: {}{mark}", numbers.zones_per_node);
    }
    if let Some(t0) = &tiers[0] {
        nics(&mut out, t0, numbers, assumed);
    }
    out.push_str("tiers:\n");
    for ((id, found), mark) in TierId::ALL.into_iter().zip(tiers.iter()).zip(assumed.tiers) {
        if let Some(found) = found {
            out.push_str(&tier(id, found, numbers));
            let _ = writeln!(out, "{}", comment(mark));
        }
    }
    if !settings.srv6.is_empty() {
        let _ = writeln!(out, "srv6: {{ {} }}{}", settings.srv6, comment("assumed"));
    }
    cables(&mut out, specs, assumed);
    let _ = writeln!(out, "qos: {}  # assumed", settings.qos);
    if !naming.is_empty() {
        out.push_str("naming:\n");
        for (key, pattern) in *naming {
            let _ = writeln!(out, "  {key}: \"{pattern}\"");
        }
    }
    except(&mut out, exceptions, assumed);
    out
}

fn cables(out: &mut String, specs: &CableSpecs, assumed: &AssumptionNotes) {
    let kind = |(kind, own): (&&'static str, &CableSpec)| {
        let values = assumed.cables.get(kind).map(|values| values.join(", ")).unwrap_or_default();
        let mark = if values.is_empty() { String::new() } else { format!("  # {values} assumed") };
        match spec_mapping(own) {
            Some(own) => format!("  {kind}: {own}{mark}\n"),
            None if mark.is_empty() => String::new(),
            None => format!("  # {kind}: {values} assumed\n"),
        }
    };
    let kinds = specs.kinds.iter().map(kind).collect::<String>();
    let zones: Vec<String> = specs
        .by_zone
        .iter()
        .filter_map(|(zone, own)| Some(format!("{zone}: {}", spec_mapping(own)?)))
        .collect();
    if kinds.is_empty() && zones.is_empty() {
        return;
    }
    let has_values = !zones.is_empty() || specs.kinds.values().any(|own| spec_mapping(own).is_some());
    out.push_str(if has_values { "cables:\n" } else { "# cables:\n" });
    out.push_str(&kinds);
    if !zones.is_empty() {
        let _ = writeln!(out, "  by_zone: {{ {} }}", zones.join(", "));
    }
}

fn except(out: &mut String, exceptions: &Exceptions, assumed: &AssumptionNotes) {
    let Exceptions { absent, drained, isolated, cables, devices } = exceptions;
    let lists = [("absent", absent), ("drained", drained), ("isolated", isolated)];
    if lists.iter().all(|(_, names)| names.is_empty()) && cables.is_empty() && devices.is_empty() {
        return;
    }
    out.push_str("exceptions:\n");
    for (key, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
        let _ = writeln!(out, "  {key}:");
        for name in *names {
            let _ = writeln!(out, "    - \"{name}\"");
        }
    }
    if !cables.is_empty() {
        out.push_str("  cables:\n");
        for (name, own) in cables {
            if let Some(own) = spec_mapping(own) {
                let _ = writeln!(out, "    \"{name}\": {own}");
            }
        }
    }
    if !devices.is_empty() {
        out.push_str("  devices:\n");
        for (name, tier, fit) in devices {
            let mark = TierId::ALL.into_iter().zip(assumed.tiers).find(|(own, _)| own == tier);
            let mark = comment(mark.map_or("", |(_, mark)| mark));
            let _ = writeln!(out, "    \"{name}\": {{ {} }}{mark}", hardware(fit).join(", "));
        }
    }
}
