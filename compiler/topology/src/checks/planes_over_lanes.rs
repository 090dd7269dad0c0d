//! E0211: there are more planes than NIC lanes, or the lanes cannot be divided evenly over the planes.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::{choice, count};
use crate::draft::{Draft, Place};
use crate::field;

/// There are more planes than NIC lanes, or the lanes cannot be divided evenly over the planes.
pub(crate) static RULE: Rule = Rule {
    code: "E0211",
    title: "the planes do not divide the lanes of a NIC",
    condition: "The number of planes divides the serial lanes of a NIC.",
    impact: "Each plane uses whole lanes of every NIC, so a NIC with four lanes cannot be connected to eight \
           planes.",
    example: "planes: 8",
    fix: "Lower `planes`, or set `hosts.nic.lanes` if the NIC has more than one lane per 100G.",
};

/// Divides the lanes by the planes, place by place.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for place in draft.places() {
        if let Some(found) = divide(draft, &place) {
            out.push(found);
        }
    }
}

fn divide(draft: &Draft<'_>, place: &Place<'_>) -> Option<Diagnostic> {
    let (planes, lanes) = (draft.planes, place.lanes);
    if planes == 0 || lanes == 0 || lanes.is_multiple_of(planes) {
        return None; // Other rules report zero.
    }
    let stated = place.lanes_stated;
    let lanes_label = if stated.is_some() {
        count(lanes, "lane")
    } else {
        format!("{} by default, one for each 100G", count(lanes, "lane"))
    };
    let (shares, zone) = (count(planes, "plane"), place.of_zone());
    let message = format!("{shares} cannot share the {} of a NIC{zone} equally", count(lanes, "lane"));
    let dividing = choice((1..=lanes.min(16)).filter(|planes| lanes.is_multiple_of(*planes)));
    let diagnostic = Diagnostic::error(&RULE, message)
        .at(draft.doc.planes.span, count(planes, "plane"))
        .and(stated.unwrap_or(place.nic.span), lanes_label)
        .help(format!("use {dividing} planes"));
    let path = match place.zone {
        Some(_) => field!("hosts.nic_by_zone"),
        None => field!("hosts.nic.lanes"),
    };
    Some(match stated {
        Some(_) => diagnostic,
        None => diagnostic.help(format!("or set `{path}` to the lanes the NIC has")),
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn planes_take_whole_lanes() {
        assert!(codes("planes: 8").contains(&"E0211"));
        assert_eq!(message("planes: 8", "E0211"), "8 planes cannot share the 4 lanes of a NIC equally");
        assert_eq!(codes("hosts: { nic: { speed: 400G, lanes: 3 } }"), ["E0211"]);
    }
}
