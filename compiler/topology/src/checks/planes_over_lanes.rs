//! E0211: planes are more than the NIC's lanes, or do not divide them.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::{count, either};
use crate::draft::Draft;
use crate::field;

/// Planes are more than the NIC's lanes, or do not divide them.
pub(crate) static RULE: Rule = Rule {
    code: "E0211",
    title: "the planes do not divide the lanes of a NIC",
    what: "The number of planes divides the serial lanes of a NIC.",
    why: "Each plane takes whole lanes of every NIC; a NIC of four lanes cannot be plugged into eight \
           planes.",
    example: "planes: 8",
    fix: "Lower `planes`, or set `hosts.nic.lanes` where the NIC has more lanes than one for each 100G.",
};

/// Divides the lanes by the planes.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let (planes, lanes) = (draft.planes, draft.nic_lanes);
    if planes == 0 || lanes == 0 || lanes.is_multiple_of(planes) {
        return; // Zero is a matter of its own.
    }
    let nic = draft.doc.hosts.nic.speed;
    let stated = draft.states(field!("hosts.nic.lanes"));
    let lanes_label = if stated {
        count(lanes, "lane")
    } else {
        format!("{} by default, one for each 100G", count(lanes, "lane"))
    };
    let message = format!("{} cannot share the {} of a NIC", count(planes, "plane"), count(lanes, "lane"));
    let dividing = either((1..=lanes.min(16)).filter(|planes| lanes.is_multiple_of(*planes)));
    let at = if stated { draft.at(field!("hosts.nic.lanes")) } else { nic.span };
    let diagnostic = Diagnostic::error(&RULE, message)
        .at(draft.doc.planes.span, count(planes, "plane"))
        .and(at, lanes_label)
        .help(format!("use {dividing} planes"));
    out.push(if stated {
        diagnostic
    } else {
        diagnostic.help("or set `hosts.nic.lanes` to the lanes the NIC has")
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn planes_take_whole_lanes() {
        assert!(codes("planes: 8").contains(&"E0211"));
        assert_eq!(message("planes: 8", "E0211"), "8 planes cannot share the 4 lanes of a NIC");
        assert_eq!(codes("hosts: { nic: { speed: 400G, lanes: 3 } }"), ["E0211"]);
    }
}
