//! An explained device as text.

use std::fmt::Write as _;

use closc_diagnostics::figures::format_count;

use super::bgp::{Bgp, Side};
use super::{Explanation, Hop, Route};

/// Writes a device for a terminal.
pub(super) fn human(e: &Explanation) -> String {
    let mut text = format!("{}: {} number {} of plane {}", e.switch, e.tier, e.index, e.plane);
    let _ = writeln!(text, ", {} on {}", e.os, e.platform);
    let _ = writeln!(text, "  loopback {}, MAC {}", e.loopback, e.mac);
    if let Some(management) = &e.management {
        let _ = writeln!(text, "  management {management}");
    }
    if let Some(place) = &e.place {
        let top = place.unit + u32::from(place.units) - 1;
        let units =
            if place.units == 1 { format!("unit {top}") } else { format!("units {} to {top}", place.unit) };
        let _ = writeln!(text, "  rack {}, {units}, {}", place.rack, place.face);
    }
    if !e.segments.is_empty() {
        let _ = writeln!(text, "  own segments: {}", e.segments.join(", "));
    }
    let _ = writeln!(text, "\n{:<14} {:<6} {:<28} {:<14} address", "port", "speed", "connected to", "cable");
    for port in &e.ports {
        let (to, cable) = (port.connected.as_deref(), port.cable.as_deref());
        let address = port.address.as_deref().unwrap_or("-");
        let _ = writeln!(
            text,
            "{:<14} {:<6} {:<28} {:<14} {address}",
            port.name,
            port.speed,
            to.unwrap_or("- (shut)"),
            cable.unwrap_or("-")
        );
    }
    let _ = writeln!(text, "\n{:<26} over", "route");
    for route in &e.routes {
        let _ = writeln!(text, "{:<26} {}", route.prefix, over(route));
    }
    if let Some(bgp) = &e.bgp {
        sessions(&mut text, bgp);
    }
    text
}

/// Describes the ports of a route, grouped by weight if weights differ.
fn over(route: &Route) -> String {
    if route.over.is_empty() {
        return "blackhole".to_owned();
    }
    let why = route.why.map_or_else(String::new, |why| format!("  ({why})"));
    let is_even =
        route.over.iter().all(|hop| hop.weight == 1 && hop.left.as_deref().is_none_or(|l| l == "1/1"));
    if is_even && route.left_out.is_empty() {
        return format!("{}{why}", ports(&route.over.iter().collect::<Vec<_>>()));
    }
    let mut parts = Vec::new();
    for of_weight in equal_hops(&route.over) {
        let left = of_weight[0].left.as_deref().map_or_else(String::new, |left| format!(" ({left} left)"));
        parts.push(format!("weight {}{left}: {}", of_weight[0].weight, ports(&of_weight)));
    }
    for out in equal_hops(&route.left_out) {
        let left = out[0].left.as_deref().unwrap_or("0/1");
        parts.push(format!("not used ({left} left): {}", ports(&out)));
    }
    format!("{}{why}", parts.join("; "))
}

/// Groups next hops with equal weight and remaining capacity, in the order of their first members.
fn equal_hops(hops: &[Hop]) -> Vec<Vec<&Hop>> {
    let mut found: Vec<Vec<&Hop>> = Vec::new();
    for hop in hops {
        match found.iter_mut().find(|same| (same[0].weight, &same[0].left) == (hop.weight, &hop.left)) {
            Some(same) => same.push(hop),
            None => found.push(vec![hop]),
        }
    }
    found
}

fn ports(hops: &[&Hop]) -> String {
    hops.iter().map(|hop| hop.port.as_str()).collect::<Vec<_>>().join(", ")
}

fn sessions(text: &mut String, bgp: &Bgp) {
    let _ = writeln!(
        text,
        "\nBGP: AS {}, up to {} per prefix",
        bgp.asn,
        format_count(bgp.multipath.into(), "path")
    );
    let _ = writeln!(text, "  announces {}", bgp.announces.join(", "));
    let accepts: Vec<String> =
        bgp.accepts.iter().map(|accepts| format!("/{} in {}", accepts.length, accepts.within)).collect();
    let _ = writeln!(text, "  accepts {}", accepts.join(", "));
    for side in &bgp.sides {
        let _ = writeln!(text, "  {}: {}", side.direction, rules(side));
    }
    let timers = &bgp.timers;
    let _ = writeln!(
        text,
        "  failures are detected after {} ms by BFD, {} s by BGP; a session above its prefix limit is retried after {} min",
        timers.bfd_interval_ms * u32::from(timers.bfd_multiplier),
        timers.hold_s,
        timers.retry_min
    );
    let _ = writeln!(text, "\n{:<14} {:<20} {:<11} side", "session", "neighbour", "AS");
    for session in &bgp.sessions {
        let drained = if session.drained { ", drained: a last resort" } else { "" };
        let _ = writeln!(
            text,
            "{:<14} {:<20} {:<11} {}{drained}",
            session.port, session.neighbour, session.asn, session.direction
        );
    }
}

/// Describes the paths that are accepted from a side and announced to it.
fn rules(side: &Side) -> String {
    let accepted = match side.longest_accepted {
        Some(longest) => format!("accepts paths of at most {longest} AS"),
        None => "accepts paths of any length".to_owned(),
    };
    let announced = match side.longest_announced {
        Some(0) => "announces its own only".to_owned(),
        Some(longest) => format!("announces its own and paths of at most {longest} AS"),
        None => "announces all it uses".to_owned(),
    };
    let bandwidth = match side.bandwidth {
        Some("cable") => ", with the bandwidth of a cable",
        Some(_) => ", with the sum of their bandwidths",
        None => "",
    };
    format!("{accepted}, ends the session beyond {} prefixes; {announced}{bandwidth}", side.prefixes_max)
}
