//! E0208: the cages of downlinks and uplinks overlap.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use super::layout;
use crate::coordinate::Side;
use crate::draft::{Draft, DraftBlock, Hardware};

/// The cages of downlinks and uplinks overlap.
pub(crate) static RULE: Rule = Rule {
    code: "E0208",
    title: "downlinks and uplinks share cages",
    condition: "No lane of a cage is used by both downlinks and uplinks. Both may share a cage \
           only if the file sets which ports each of them uses.",
    impact: "A port cannot be both. Uplinks start at the middle of the panel whatever the counts, so more \
           downlinks do not move them.",
    example: "hosts: { per_group: 192 }\n\
           tiers: { t0: { up: 64 } }",
    fix: "Set `first_cage` of the uplinks to a cage after the last one of the downlinks, or list the cages \
           of both sides. To share a cage, set which ports each side uses: `breakout: 1x800G(4)` takes only \
           four lanes, and `first_port: 2` leaves the first two ports to the other side.",
};

/// Checks every kind of switch with ports on both sides.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for hardware in &draft.hardware {
        let (down, up) = (&hardware.down, &hardware.up);
        let cages = u64::from(hardware.platform.panel.cages);
        if up.count == 0
            || down.count == 0
            || down.cages_with(up) > cages
            || down.lacks_cages()
            || up.lacks_cages()
            || layout::is_unusable(draft, hardware.tier)
        {
            continue; // One side only, or another rule reports the count or the list.
        }
        let Some(met) = down.meets(up, hardware.platform.panel.lanes) else { continue };
        if down.cages.is_some() || up.cages.is_some() || down.is_part() || up.is_part() {
            out.push(of_sets(draft, hardware, met));
            continue;
        }
        let (down_end, up_end) = (down.end(), up.end());
        let path = hardware.path_of(Side::Up);
        let count = if hardware.zone.is_none() { format!("count: {}, ", up.count) } else { String::new() };
        let block = format!("{{{count}first_cage: {}}}", first_free(down_end, up, cages));
        let down_at = draft.ports_of(hardware, Side::Down);
        out.push(
            Diagnostic::error(
                &RULE,
                format!("downlinks and uplinks of {} share cages of the panel", hardware.subject),
            )
            .at(draft.ports_of(hardware, Side::Up), cages_text("uplinks", up.first_cage, up_end))
            .and(down_at, cages_text("downlinks", down.first_cage, down_end))
            .note(format!(
                "cages are numbered from 0; uplinks start at cage {} of {cages} unless `first_cage` is set",
                cages / 2
            ))
            .set([(&path, block.clone())], format!("set `{path}` to `{block}`")),
        );
    }
}

/// Reports a cage that both sides need, if a side lists its cages or leaves lanes of a cage to the other.
fn of_sets(draft: &Draft<'_>, hardware: &Hardware, met: u64) -> Diagnostic {
    let used = |block: &DraftBlock| match (&block.cages, block.breakout) {
        (Some(set), Some(breakout)) => format!("{breakout} in cages {set}"),
        (_, Some(breakout)) => format!("{breakout} in cages {} to {}", block.first_cage, block.end() - 1),
        (_, None) => String::new(),
    };
    Diagnostic::error(&RULE, format!("downlinks and uplinks of {} both need cage {met}", hardware.subject))
        .at(draft.ports_of(hardware, Side::Up), format!("uplinks are {}", used(&hardware.up)))
        .and(draft.ports_of(hardware, Side::Down), format!("downlinks are {}", used(&hardware.down)))
        .help("list the cages of both sides with `cages`, or give each side a part of the cage: `breakout: 1x800G(4)`, `first_port: 2`")
}

/// Returns the first cage for uplinks that leaves downlinks the most room to grow.
fn first_free(down_end: u64, up: &DraftBlock, cages: u64) -> u64 {
    down_end.max(cages.saturating_sub(up.cages()))
}

fn cages_text(what: &str, first: u64, end: u64) -> String {
    format!("{what} use cages {first} to {}", end.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn uplinks_start_in_the_middle() {
        let fragment = "{ hosts: { per_group: 192 }, tiers: { t0: { up: 64 } } }";
        assert!(codes(fragment).contains(&"E0208"));
        assert_eq!(message(fragment, "E0208"), "downlinks and uplinks of each T0 share cages of the panel");
        let moved = "{ hosts: { per_group: 192 }, tiers: { t0: { up: { count: 64, first_cage: 48 }, oversubscription: \"3:1\" } } }";
        assert_eq!(codes(moved), Vec::<&str>::new());
    }

    #[test]
    fn sets_of_cages() {
        let with = |t0: &str| codes(&format!("tiers: {{ t0: {{ {t0} }} }}"));
        // The downlinks take the cages that are not listed.
        assert_eq!(with("up: { count: 128, cages: [8-23, 40-55] }"), Vec::<&str>::new());
        assert_eq!(with("down: { cages: 0-31 }, up: { count: 128, cages: [8-23, 40-55] }"), ["E0208"]);
        assert_eq!(with("down: { cages: [0-7, 24-39, 56-63] }, up: 128"), Vec::<&str>::new());
        assert_eq!(with("up: { count: 128, cages: [8-23, 40-54] }"), ["E0209"]);
        assert_eq!(with("up: { count: 128, cages: [8-23, 49-64] }"), ["E0209"]);
        assert_eq!(with("up: { count: 128, cages: [8-23, 20-55] }"), ["E0124"]);
        // Sides share a cage only where the file states each side's part of it.
        assert_eq!(with("down: { cages: 0-31 }, up: { count: 128, cages: 31-63, first_port: 2 }"), ["E0208"]);
        assert_eq!(
            with("up: { count: 126, first_cage: 32, first_port: 4 }, oversubscription: \"64:63\""),
            ["E0209"]
        );
        assert_eq!(
            message(
                "tiers: { t0: { down: { cages: 0-31 }, up: { count: 128, cages: [8-23, 40-55] } } }",
                "E0208"
            ),
            "downlinks and uplinks of each T0 both need cage 8"
        );
    }
}
