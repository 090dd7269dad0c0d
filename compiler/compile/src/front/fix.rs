//! Automatic fixes.
//!
//! In: the text of a fabric. Out: the text with the fixes applied one after another, and its remaining
//! findings. Invariants: a fix that does not remove its finding is not repeated. Each fix is located in the
//! current text, so that fixes do not overlap.

use std::collections::BTreeSet;

use closc_diagnostics::{Diagnostic, Fix};

use super::Reading;
use super::disk::{FrontError, Options, read_text};
use super::source::Source;

/// Maximum number of fixes in one run.
const FIXES_MAX: usize = 1000;

/// A text after fixes.
pub struct FixedText {
    /// The text.
    pub text: String,
    /// The applied fixes, in order.
    pub applied_fixes: Vec<AppliedFix>,
    /// Result of reading the text.
    pub reading: Reading,
}

/// An applied fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedFix {
    /// The code of the finding.
    pub code: &'static str,
    /// The line of the finding, in the text before the fix.
    pub line: usize,
    /// The `help` text that describes the fix.
    pub help: String,
}

/// Applies the selected fixes.
pub fn fix(
    source: &Source,
    text: &str,
    options: &Options,
    is_wanted: impl Fn(&Diagnostic, &Fix) -> bool,
) -> Result<FixedText, FrontError> {
    let (mut text, mut made, mut seen) = (text.to_owned(), Vec::new(), BTreeSet::new());
    loop {
        let reading = read_text(source, text.as_bytes(), options)?;
        let next =
            if made.len() < FIXES_MAX { next(source, &text, &reading, &is_wanted, &mut seen) } else { None };
        let Some((edited, fix)) = next else { return Ok(FixedText { text, applied_fixes: made, reading }) };
        text = edited;
        made.push(fix);
    }
}

/// Applies the first selected fix that has not been applied yet.
fn next(
    source: &Source,
    text: &str,
    reading: &Reading,
    is_wanted: &impl Fn(&Diagnostic, &Fix) -> bool,
    seen: &mut BTreeSet<(String, String, usize)>,
) -> Option<(String, AppliedFix)> {
    let file = reading.sources.find(&source.to_string())?;
    for finding in &reading.diagnostics {
        for fix in finding.fixes.iter().filter(|fix| is_wanted(finding, fix)) {
            let edits = closc_topology::edits(file, text, &fix.changes);
            let Some(edited) = edits.and_then(|edits| closc_topology::apply(text, &edits)) else { continue };
            // A fix that left the number of such findings unchanged is not applied again.
            let alike = reading.diagnostics.iter().filter(|other| other.message == finding.message).count();
            if edited == text || !seen.insert((finding.message.clone(), fix.help.clone(), alike)) {
                continue;
            }
            let line = finding.span().map_or(1, |span| reading.sources.position(span).line);
            return Some((edited, AppliedFix { code: finding.rule.code, line, help: fix.help.clone() }));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use closc_diagnostics::Trust;

    use super::*;

    const FABRIC: &str = "fabric: pod # one\nplanes: 2\nhosts:\n  grops: 4\n  per_group: \"8\"\n  nic: { speed: 800Gbps, lanes: 8 }\n\
                          tiers:\n  t0: { platform: th5-512x100g, os: SONiC, up: 8 }\n  t1: { platform: th5-512x100, os: sonic }\nqos: none\n";

    fn read(is_wanted: impl Fn(&Diagnostic, &Fix) -> bool) -> FixedText {
        fix(&Source::File("pod.yaml".into()), FABRIC, &Options::default(), is_wanted).unwrap()
    }

    #[test]
    fn certain_fixes_are_applied_until_none_remains() {
        let fixed = read(|_, fix| fix.trust == Trust::Sure);
        let codes: Vec<_> = fixed.applied_fixes.iter().map(|made| (made.code, made.line)).collect();
        assert_eq!(codes, [("E0107", 4), ("E0109", 5), ("E0111", 6), ("E0112", 8)]);
        assert!(
            fixed.text.starts_with("fabric: pod # one\nplanes: 2\nhosts:\n  groups: 4\n  per_group: 8\n")
        );
        let left: Vec<_> = fixed.reading.diagnostics.iter().map(|found| found.rule.code).collect();
        assert!(left.contains(&"E0201"), "{left:?}");
    }

    /// Values that are similar to a known keyword but mean something else.
    #[test]
    fn values_of_closed_lists_are_not_edited() {
        for (from, to) in [
            ("qos: none", "qos: roce"),
            ("qos: none", "qos: loseless"),
            ("qos: none", "qos: None"),
            ("SONiC", "nxos"),
            ("SONiC", "sonik"),
            ("qos: none", "cables: { nic-t0: { length: 2mi } }\nqos: none"),
            ("qos: none", "cables: { nic-t0: { length: 2m, medium: cr4 } }\nqos: none"),
            ("qos: none", "cables: { nic-t0: { length: 2m, medium: zr4 } }\nqos: none"),
            ("planes: 2", "planes: 2\nrouting: ecmp-statik"),
        ] {
            let text = FABRIC.replace(from, to);
            let source = Source::File("pod.yaml".into());
            let fixed = fix(&source, &text, &Options::default(), |_, fix| fix.trust == Trust::Sure).unwrap();
            assert!(fixed.text.contains(to), "{to}: {}", fixed.text);
            assert!(fixed.reading.diagnostics.errors() > 1, "{to} has an error beside the platform");
        }
    }

    #[test]
    fn a_choice_is_made_where_it_is_asked_for() {
        let fixed =
            read(|finding, fix| fix.trust == Trust::Sure || ["E0201", "E0205"].contains(&finding.rule.code));
        assert!(fixed.text.contains("platform: th5-512x100g, os: sonic }\nqos"), "{}", fixed.text);
        assert!(fixed.reading.plan.is_some(), "{}\n{:?}", fixed.text, fixed.reading.diagnostics);
    }

    /// Two zones with NICs of two speeds: following the help results in a valid file, and does not loop.
    #[test]
    fn a_fix_for_one_zone_leaves_the_others_as_they_are() {
        for split in ["2x400G", "4x200G"] {
            let text = format!(
                "fabric: pod\nplanes: 1\nzones: 2\nrouting: bgp-unnumbered\n\
                 hosts: {{ groups: 8, per_group: 32, nic: {{ speed: 400G, lanes: 4 }}, nic_by_zone: {{ 1: {{ speed: 200G, lanes: 2 }} }} }}\n\
                 tiers:\n  t0: {{ platform: spectrum4-sn5600, os: nvue, down: {{ count: 32, breakout: {split} }}, up: {{ count: 16, breakout: 1x800G }} }}\n  \
                 t1: {{ platform: spectrum4-sn5600, os: nvue, up: {{ count: 8, breakout: 1x800G }} }}\n  \
                 t2: {{ platform: spectrum4-sn5600, os: nvue, down: {{ breakout: 1x800G }}, ports_per_zone: 16 }}\nqos: none\n"
            );
            let is_wanted = |finding: &Diagnostic, _: &Fix| finding.rule.code == "E0205";
            let fixed = fix(&Source::File("pod.yaml".into()), &text, &Options::default(), is_wanted).unwrap();
            assert_eq!(fixed.applied_fixes.len(), 1, "{}", fixed.text);
            assert!(fixed.text.contains("by_zone: { 1: { down: { breakout: 4x200G } } }"), "{}", fixed.text);
            assert!(fixed.text.contains("breakout: 2x400G"), "{}", fixed.text);
            assert!(fixed.reading.plan.is_some(), "{}\n{:?}", fixed.text, fixed.reading.diagnostics);
        }
    }
}
