//! A design as a fabric file.
//!
//! In: a design and the requirements that it meets. Out: the text of a file with comments. Invariants: each
//! number is written once, and explained in a comment. Counts that the compiler derives are omitted.

use std::fmt::Write as _;

use closc_diagnostics::figures::number;
use closc_platform::capability::{Capability, Support};
use closc_platform::{FeatureSupport, Os, SkuFeature};

use crate::design::{Design, Side, ThirdTier, Tier};
use crate::need::Requirements;
use crate::release::StatedRelease;
use crate::routing::describe_routing;

/// Code of the warning about an assumed limit.
pub const ASSUMED: &str = "W0904";

/// Line of the file about an assumed limit.
const BEYOND: &str =
    "  W0904: allow  # a limit of the switches is assumed and not published: ask the vendor\n";

/// Line of the file about unused ports.
const UNUSED: &str =
    "  W0302: allow  # most ports of T1s are unused; no design of the search beats this one\n";

/// Line of the file about unused ports that growth needs, if the operating system cannot shut them.
const GROWING: &str = "  W0302: allow  # most ports of T1s are unused: they are for growth\n";

/// Maximum number of planes in the uSIDs of two-tier files that state no plan: three bits.
const PLANES_IN_USID: u16 = 8;

/// Reason for a separate block per plane, which leaves room for more switches and planes.
const SEGMENTS: &str = "each plane has a block of its own: uSIDs name more switches";

impl Design<'_> {
    /// Returns the QoS profiles that the switches may support, the best first.
    pub fn profiles(&self) -> &'static [&'static str] {
        let trims = |tier: &Tier<'_>| {
            tier.platform.feature_support(SkuFeature::Trimming, self.os, tier.cages_in_use(self.os))
                == FeatureSupport::Has
        };
        let is_hardware = self.tiers().all(|tier| tier.platform.buffer.is_some());
        let trims = self.os.support(Capability::Trimming) == Support::Whole && self.tiers().all(trims);
        match (is_hardware, trims) {
            (false, _) => &["none"],
            (true, true) => &["lossy-trim", "lossless", "none"],
            (true, false) => &["lossless", "none"],
        }
    }
}

/// Returns the fabric file of a design with a QoS profile. It allows the warning about assumed limits if the
/// design exceeds one. If the third tier of a later stage is given, the file sets the widths of that stage,
/// so that growth does not renumber.
pub fn text(
    need: &Requirements,
    design: &Design<'_>,
    (qos, is_firm): (&str, bool),
    later: Option<&ThirdTier<'_>>,
) -> String {
    let mut text = String::new();
    let routing = design.routing;
    let _ = write!(
        text,
        "\
# {places} NICs of {speed} in {planes} plane{many}{by_nic}, with {tiers} tier{tiers_many} of switches. `closc check` prints its counts.
# {growth}

fabric: {name}
planes: {planes}  # every NIC has a port of {port} in each
routing: {word}  # {how}
{zones}
hosts:
  groups: {groups}  # T0s of each plane{and_zone}
  per_group: {per_group}  # NICs on each of them
  nics_per_node: {node}
{rails}  nic: {{ speed: {speed}, lanes: {lanes} }}  # lanes are assumed: as many as its switch ports have

tiers:
",
        places = number(design.places().into()),
        speed = need.speed,
        planes = design.planes,
        by_nic = by_nic(design),
        growth = growth(need, design),
        many = if design.planes == 1 { "" } else { "s" },
        tiers = design.tiers().count(),
        tiers_many = if design.has_t1() { "s" } else { "" },
        name = need.name,
        port = design.port_speed,
        word = routing.keyword(),
        how = describe_routing(routing),
        zones = zones(design),
        groups = if design.has_t1() { design.groups } else { design.zones() },
        and_zone = and_zone(design),
        per_group = design.per_group,
        node = need.nics_per_node,
        rails = rails(need, design),
        lanes = design.nic_lanes(),
    );
    tiers(&mut text, need, design);
    segments(&mut text, design, later.or(design.third.as_ref()));
    cables(&mut text, design);
    let _ = write!(text, "\nqos: {qos}  # {}\n", profile_line(qos));
    if let Some(StatedRelease { release, reason }) = design.stated_release() {
        let os = design.os.keyword();
        let _ = write!(text, "\nreleases: {{ {os}: {release} }}  # the first {reason}\n");
    }
    warnings(&mut text, need, design, is_firm);
    text
}

/// Writes the warnings that the file explicitly allows.
fn warnings(text: &mut String, need: &Requirements, design: &Design<'_>, is_firm: bool) {
    let weaknesses = design.weaknesses();
    let is_for_growth = design.third.is_none() && free_ports(need, &design.t1) > 0;
    let is_spare = is_for_growth && shuts_ports(design.os);
    let is_dark = !is_spare && design.t1_is_dark();
    if !weaknesses.is_empty() || is_dark || !is_firm {
        text.push_str("\nwarnings:\n");
        let unused = if is_for_growth { GROWING } else { UNUSED };
        text.push_str(if is_dark { unused } else { "" });
        for weakness in weaknesses {
            let _ = writeln!(text, "  {}: allow  # {}", weakness.code(), weakness.text());
        }
        text.push_str(if is_firm { "" } else { BEYOND });
    }
}

/// Returns a description of growth without moving a plugged cable.
fn growth(need: &Requirements, design: &Design<'_>) -> String {
    let (largest, places) = (design.largest(), design.places());
    if largest <= places {
        return "It has no room to grow: `closc design --nics N --grow-to M` finds fabrics that have."
            .to_owned();
    }
    let per_step = if design.third.is_some() { places / design.zones() } else { places / design.groups };
    let highest = design.third.as_ref().map_or(&design.t1, |third| &third.tier);
    let spare = if spare(need, design.os, highest).is_empty() { "" } else { ", lower `spare` by as many" };
    let edit = match (&design.third, design.parallel) {
        (Some(third), _) => format!(
            "raise `zones`, at most to {},\n# and `tiers.t2.down.count` by {} for each of them{spare}",
            largest / per_step,
            third.ports_per_zone
        ),
        (None, _) if !design.has_t1() => format!(
            "raise `hosts.per_group` and `tiers.t0.down.count`, at most to {}",
            largest / design.zones().max(1)
        ),
        (None, parallel) => {
            let groups = largest / per_step;
            let units = if design.unit > 1 {
                format!("by {}, one for each rail", design.unit)
            } else {
                "by 1".to_owned()
            };
            format!(
                "raise `hosts.groups` {units}, at most to {groups},\n# and `tiers.t1.down.count` by {parallel} for each of them{spare}"
            )
        }
    };
    format!("To grow to {} NICs: {edit}; `closc grow OLD NEW` prints the cables.", number(largest.into()))
}

/// Writes the widths of addresses and uSIDs for three tiers.
fn segments(text: &mut String, design: &Design<'_>, third: Option<&ThirdTier<'_>>) {
    let routing = design.routing;
    let Some(third) = third else {
        if routing.is_source_routed() && design.planes > PLANES_IN_USID {
            let _ = write!(text, "\nsrv6: {{ plan: plane-in-block }}  # {SEGMENTS}\n");
        }
        return;
    };
    let stated = third.stated_bits();
    if routing.is_source_routed() {
        let widths = stated
            .map_or(String::new(), |[zone, index]| format!(", widths: {{ zone: {zone}, index: {index} }}"));
        let _ = write!(text, "\nsrv6: {{ plan: plane-in-block{widths} }}  # {SEGMENTS}\n");
    }
    if let Some([zone, _]) = stated {
        let zones = 1_u32 << zone;
        let _ = write!(text, "\naddresses: {{ widths: {{ zone: {zone} }} }}  # room for {zones} zones\n");
    }
}

fn zones(design: &Design<'_>) -> String {
    let zones = design.zones();
    match (&design.third, zones) {
        _ if !design.has_t1() => String::new(),
        (Some(_), _) => format!("zones: {zones}  # each of T0s and T1s, all under the T2s\n"),
        (None, 1) => String::new(),
        (None, _) => format!("zones: {zones}  # planes by NIC: only nodes join them\n"),
    }
}

fn by_nic(design: &Design<'_>) -> String {
    if design.planes_by_nic == 1 {
        String::new()
    } else {
        format!(" and {} planes by NIC", design.planes_by_nic)
    }
}

fn and_zone(design: &Design<'_>) -> &'static str {
    if design.has_t1() && design.zones() > 1 { " and zone" } else { "" }
}

fn rails(need: &Requirements, design: &Design<'_>) -> String {
    let (rails, zones) = (need.rails, design.planes_by_nic);
    match (rails, zones) {
        (1, _) => String::new(),
        _ if !design.has_t1() => {
            format!("  rails: {rails}  # NIC k of a node is on T0 k: only nodes join them\n")
        }
        (_, 1) => format!("  rails: {rails}  # NIC k of a node is on T0 k of its unit\n"),
        _ => format!(
            "  rails: {rails}  # each on T0s of its own\n  zones_per_node: {zones}  # a node has NICs in all zones\n"
        ),
    }
}

/// Writes a line for each tier.
fn tiers(text: &mut String, need: &Requirements, design: &Design<'_>) {
    let os = design.os.keyword();
    let ratio = format!(", oversubscription: \"{}\"", design.oversubscription());
    let ratio = if design.has_t1() { ratio } else { String::new() };
    let to_t1s = parallel(design.parallel);
    let _ = writeln!(
        text,
        "  t0: {{ platform: {}, os: {os}{}{to_t1s}{ratio} }}  # {} in all",
        design.t0.platform.id,
        ports(&design.t0, design.os, ""),
        number(design.t0.switches.into())
    );
    if !design.has_t1() {
        return;
    }
    let spare = |tier: &Tier<'_>| spare(need, design.os, tier);
    let for_growth = |spare: &str| if spare.is_empty() { "" } else { "; spare ports are for growth" };
    let kept = if design.third.is_some() { String::new() } else { spare(&design.t1) };
    let to_t2s = parallel(design.third.as_ref().map_or(1, |third| third.parallel));
    let _ = writeln!(
        text,
        "  t1: {{ platform: {}, os: {os}{}{to_t2s} }}  # {} in each plane{}, {} in all{}",
        design.t1.platform.id,
        ports(&design.t1, design.os, &kept),
        design.t1s(),
        and_zone(design),
        number(design.t1.switches.into()),
        for_growth(&kept)
    );
    if let Some(ThirdTier { tier, rows, ports_per_zone, .. }) = &design.third {
        let wiring = if *rows == 1 { String::new() } else { format!(", wiring: rows, rows: {rows}") };
        let kept = spare(tier);
        let _ = writeln!(
            text,
            "  t2: {{ platform: {}, os: {os}{}{wiring}, ports_per_zone: {ports_per_zone} }}  # {} in all{}",
            tier.platform.id,
            ports(tier, design.os, &kept),
            number(tier.switches.into()),
            for_growth(&kept)
        );
    }
}

/// Returns the setting for several cables to each switch of the next tier.
fn parallel(cables: u32) -> String {
    if cables > 1 { format!(", parallel: {cables}") } else { String::new() }
}

/// Returns the ports of a tier in the syntax of fabric files; `spare` is the text about spare downlinks.
fn ports(tier: &Tier<'_>, os: Os, spare: &str) -> String {
    let panel = &tier.platform.panel;
    let split = |side: Side| {
        let is_default = side.breakout == panel.default_breakout;
        if is_default { String::new() } else { format!(", breakout: {}", side.breakout) }
    };
    let half = u32::from(panel.cages / 2);
    let Some(up) = tier.up else {
        return format!(", down: {{ count: {}{spare}{} }}", tier.down.count, split(tier.down));
    };
    if let Some([of_down, of_up]) = tier.platform.hwsku_cages(os, tier.down.breakout, Some(up.breakout)) {
        return format!(
            ", down: {{ count: {}{spare}{}, cages: \"{}\" }}, up: {{ count: {}{}, cages: \"{}\" }}",
            tier.down.count,
            split(tier.down),
            of_down.cages,
            up.count,
            split(up),
            of_up.cages
        );
    }
    // Uplinks start at the middle of the panel, unless one side needs more than half of it.
    let first = match (tier.down.cages(), up.cages()) {
        (down, _) if down > half => format!(", first_cage: {down}"),
        (_, up) if up > half => format!(", first_cage: {}", u32::from(panel.cages) - up),
        _ => String::new(),
    };
    format!(
        ", down: {{ count: {}{spare}{} }}, up: {{ count: {}{}{first} }}",
        tier.down.count,
        split(tier.down),
        up.count,
        split(up)
    )
}

/// Returns the number of ports of the highest tier that are reserved for growth, if the requirements include
/// growth.
fn free_ports(need: &Requirements, highest: &Tier<'_>) -> u32 {
    let ports = u32::from(highest.platform.usable_ports(highest.down.breakout));
    need.limits.grow_to.map_or(0, |_| ports.saturating_sub(highest.down.count))
}

/// Returns the setting for ports that are reserved for growth. It is empty for systems that cannot shut them
/// (`W0803`).
fn spare(need: &Requirements, os: Os, highest: &Tier<'_>) -> String {
    match free_ports(need, highest) {
        ports if ports > 0 && shuts_ports(os) => format!(", spare: {ports}"),
        _ => String::new(),
    }
}

/// Returns whether an operating system shuts ports without a cable.
fn shuts_ports(os: Os) -> bool {
    !matches!(os.support(Capability::SparePorts), Support::Not(_))
}

fn cables(text: &mut String, design: &Design<'_>) {
    text.push_str(
        "\ncables:  # assumed, the longest of each kind; `closc place` computes them from a floor plan\n",
    );
    for (ends, kind, _) in design.cables_by_kind(&design.media()) {
        let _ = writeln!(text, "  {ends}: {{ length: {}, medium: {} }}", kind.length, kind.medium);
    }
}

fn profile_line(qos: &str) -> &'static str {
    match qos {
        "lossy-trim" => "full queues trim packets, so that receivers ask again at once",
        "lossless" => "full queues pause their senders",
        _ => "switches get no classes of their own",
    }
}
