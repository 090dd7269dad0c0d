//! E0401: there are more switches or NICs than a uSID can number.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::words::and_if;
use crate::choice::SegmentPlan;
use crate::draft::{Demand, Draft, DraftLayout};
use crate::field;
use crate::field::Field;
use crate::usid::{Role, UsidLayout};

/// There are more switches or NICs than a uSID can number.
pub(crate) static RULE: Rule = Rule {
    code: "E0401",
    title: "an index does not fit its uSID bits",
    condition: "The largest index of every role fits its bits of a uSID. T0s and T1s have the bits of `index`, \
           T2s and NICs those of `zone` and `index`. T0s, T1s and T2s have one uSID per parallel link, and \
           NICs of a T0 one each.",
    impact: "A truncated index names another switch, and packets arrive there.",
    example: "# 256 T0s in each plane, but 7 bits hold at most 127\n\
           srv6: { widths: { role: 2, plane: 3, zone: 4, index: 7 } }",
    fix: "Set `srv6.widths` as the message proposes. If the plane bits leave too few, set `srv6.plan: \
           plane-in-block`. Both rename every segment, so choose widths with room to grow.",
};

/// Compares the largest index of each role with its bits.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.is_source_routed() || draft.layout.sum() != 16 {
        return;
    }
    let demand = demand(draft);
    for (role, needed) in Role::ALL.into_iter().zip(demand.indices) {
        let bits = draft.layout.index_bits(role);
        let max = (1_u64 << bits.min(32)) - 1;
        let beyond = role == Role::T2 && draft.t2.as_ref().is_some_and(|t2| u16::try_from(t2.count).is_err());
        if needed <= max || beyond {
            continue; // It fits, or it exceeds 16 bits, which another rule reports.
        }
        let (arithmetic, path) = arithmetic(draft, role, needed);
        let shared = match role {
            Role::T0 | Role::T1 => "index",
            Role::Nic | Role::T2 => "zone and index",
        };
        let message =
            format!("{} need indices up to {needed}, but {bits} bits hold at most {max}", plural(role));
        let diagnostic = Diagnostic::error(&RULE, message).at(draft.at(path), arithmetic);
        let diagnostic = and_if(
            diagnostic,
            draft.stated_span(field!("srv6.widths.index")),
            format!("{shared}: {bits} bits"),
        );
        let widths = format!("widths are {}; {shared} of {bits} bits: 2^{bits} - 1 = {max}", draft.layout);
        out.push(propose(diagnostic.note(widths), draft));
    }
}

fn plural(role: Role) -> &'static str {
    match role {
        Role::T0 => "T0s",
        Role::T1 => "T1s",
        Role::T2 => "T2s",
        Role::Nic => "NICs of a T0",
    }
}

/// Explains how an index is computed.
fn arithmetic(draft: &Draft<'_>, role: Role, needed: u64) -> (String, Field) {
    let product = |number: u64, what: &str, parallel: u64| {
        if parallel > 1 {
            format!("{number} {what} x {parallel} parallel = {needed}")
        } else {
            format!("{number} {what}")
        }
    };
    match role {
        Role::T0 => (product(draft.groups, "T0s", draft.t0.parallel), field!("hosts.groups")),
        Role::T1 => {
            (product(draft.t1.count, "T1s", draft.t0.parallel.max(draft.t1.parallel)), field!("tiers.t0.up"))
        }
        Role::T2 => (
            product(draft.t2.as_ref().map_or(0, |t2| t2.count), "T2s", draft.t1.parallel),
            field!("tiers.t1.up"),
        ),
        Role::Nic => (format!("{} NICs", draft.per_group), field!("hosts.per_group")),
    }
}

/// Returns the numbers that a layout must hold.
pub(super) fn demand(draft: &Draft<'_>) -> Demand {
    let zoned = draft.t2.is_some();
    Demand {
        planes: draft.planes.max(1),
        zones: if zoned { draft.zones.max(1) } else { 1 },
        // In the order of `Role::ALL`: T0, T1, NIC, T2.
        indices: [
            draft.groups * draft.t0.parallel,
            draft.t1.count * draft.t0.parallel.max(draft.t1.parallel),
            draft.per_group,
            draft.t2.as_ref().map_or(0, |t2| t2.count * draft.t1.parallel),
        ],
    }
}

/// Suggests widths that fit, or else a plan whose uSIDs need no bits for the plane.
pub(super) fn propose(diagnostic: Diagnostic, draft: &Draft<'_>) -> Diagnostic {
    let (demand, codes) = (demand(draft), draft.layout.codes);
    if let Some(layout) = DraftLayout::propose(draft.layout.plan, &demand, codes) {
        let help = format!("set `srv6.widths: {layout}`");
        return diagnostic.set([(field!("srv6.widths").path(), layout.to_string())], help);
    }
    let in_block = SegmentPlan::PlaneInBlock;
    match DraftLayout::propose(in_block, &demand, codes) {
        Some(layout) if draft.layout.plan != in_block => {
            let default = UsidLayout::default_of(in_block, draft.t2.is_some());
            let default =
                UsidLayout { codes: draft.layout.finish().map_or(default.codes, |own| own.codes), ..default };
            let is_default = layout.finish() == Some(default) && !draft.states(field!("srv6.widths"));
            let widths = if is_default { String::new() } else { format!(" and `srv6.widths: {layout}`") };
            let help = format!(
                "no widths fit with the plane in the uSID: set `srv6.plan: {}`{widths}, which gives every plane its own block",
                in_block.keyword()
            );
            let plan = (field!("srv6.plan").path(), in_block.keyword().to_owned());
            if is_default {
                diagnostic.set([plan], help)
            } else {
                diagnostic.set([plan, (field!("srv6.widths").path(), layout.to_string())], help)
            }
        }
        Some(_) | None if draft.states(field!("srv6.roles")) => {
            let default = UsidLayout::DEFAULT.codes.map(u64::from);
            let fits = |plan| DraftLayout::propose(plan, &demand, default).is_some();
            diagnostic.help(if fits(draft.layout.plan) || fits(in_block) {
                "no widths fit these codes: use lower codes in `srv6.roles`, or remove it"
            } else {
                "no widths fit: make the fabric smaller, or split it"
            })
        }
        Some(_) | None => diagnostic.help("no widths fit: make the fabric smaller, or split it"),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, help, message};

    #[test]
    fn the_largest_index_fits() {
        assert_eq!(codes("srv6: { widths: { zone: 3, index: 8 } }"), ["E0401"]);
        assert_eq!(codes("srv6: { widths: { zone: 2, index: 9 } }"), Vec::<&str>::new());
        assert_eq!(
            message("srv6: { widths: { zone: 3, index: 8 } }", "E0401"),
            "T0s need indices up to 256, but 8 bits hold at most 255"
        );
    }

    /// A million NICs.
    const MILLION: &str = "planes: 8, zones: 16, hosts: { groups: 256, per_group: 256, nic: { speed: 800G, lanes: 8 } }, \
        tiers: { t0: { platform: th5-512x100g, up: 256 }, t1: { platform: th5-512x100g, up: 256 }, \
        t2: { platform: th5-512x100g, wiring: rows, rows: 8, ports_per_zone: 32 } }";

    #[test]
    fn what_does_not_fit_beside_the_plane_is_advised_to_leave_it_to_the_block() {
        let text = help(&format!("{{ {MILLION} }}"), "E0401");
        assert_eq!(
            text,
            "no widths fit with the plane in the uSID: set `srv6.plan: plane-in-block`, which gives every plane its own block"
        );
        let management = "addresses: { management: \"2001:db8:4000::/48\" }";
        let followed = format!("{{ {MILLION}, {management}, srv6: {{ plan: plane-in-block }} }}");
        assert_eq!(codes(&followed), Vec::<&str>::new());
    }

    /// The role codes of the file fit the proposed widths, so the file passes with them.
    #[test]
    fn proposed_widths_hold_the_codes_of_the_file() {
        let roles = |widths: &str| {
            format!(
                "{{ hosts: {{ groups: 100, per_group: 100, nics_per_node: 4, nic: {{ speed: 400G, lanes: 4 }} }}, \
                 tiers: {{ t0: {{ up: 100 }} }}, srv6: {{ roles: {{ nic: 5 }}, widths: {widths} }} }}"
            )
        };
        let text = help(&roles("{ role: 3, plane: 7, zone: 0, index: 6 }"), "E0401");
        let widths = text.strip_prefix("set `srv6.widths: ").and_then(|text| text.strip_suffix('`')).unwrap();
        assert_eq!(widths, "{role: 3, plane: 3, zone: 0, index: 10}");
        let found = codes(&roles(widths));
        assert!(!found.iter().any(|code| code.starts_with("E04")), "{found:?}");
        // If the codes do not fit any widths, the message names them as the reason, not the size of the fabric.
        let large = roles("{ role: 12, plane: 3, zone: 0, index: 1 }").replace("nic: 5", "nic: 4000");
        let text = help(&large, "E0401");
        assert_eq!(text, "no widths fit these codes: use lower codes in `srv6.roles`, or remove it");
    }

    #[test]
    fn parallel_links_take_indices_of_their_own() {
        let fragment = "{ zones: 2, hosts: { groups: 4, per_group: 4 }, \
            tiers: { t0: { up: 4 }, t1: { up: 34, parallel: 17 }, \
            t2: { platform: box-256x200g, wiring: rows, rows: 4000 } } }";
        assert!(codes(fragment).contains(&"E0401"));
        assert_eq!(message(fragment, "E0401"), "T2s need indices up to 68068, but 11 bits hold at most 2047");
    }
}
