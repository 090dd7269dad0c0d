//! E0601: a cable has an unknown medium.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use smol_str::SmolStr;

use crate::draft::Draft;
use crate::media::Medium;
use crate::read::Spanned;
use crate::suggest::{correct_value, format_list, shorten};

/// A cable has an unknown medium.
pub(crate) static RULE: Rule = Rule {
    code: "E0601",
    title: "an unknown medium",
    condition: "Every `medium` is one that closc supports.",
    impact: "The medium determines the reach of a cable and its entry in the bill of materials.",
    example: "cables: { t0-t1: { medium: dr44 } }",
    fix: "Use one of the media that the message lists.",
};

/// Checks every medium.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for medium in media(draft).filter(|medium| Medium::find(&medium.value).is_none()) {
        let words = Medium::all().iter().map(|medium| medium.keyword);
        let diagnostic = Diagnostic::error(&RULE, format!("there is no medium `{}`", shorten(&medium.value)))
            .at(medium.span, "not known")
            .note(format!("known: {}", format_list(words.clone())));
        out.push(correct_value(diagnostic, medium.span, ("medium", &medium.value), words));
    }
}

/// Returns every medium that is stated.
fn media<'a>(draft: &'a Draft<'_>) -> impl Iterator<Item = &'a Spanned<SmolStr>> {
    let cables = draft.doc.cables.iter();
    let kinds = cables.clone().flat_map(|cables| [&cables.nic_t0, &cables.t0_t1, &cables.t1_t2]).flatten();
    let zones =
        cables.flat_map(|cables| &cables.by_zone).flat_map(|zones| zones.0.iter().map(|(_, cable)| cable));
    let exceptions = draft.doc.exceptions.iter().flat_map(|exceptions| &exceptions.cables);
    let exceptions = exceptions.flat_map(|cables| cables.0.iter().map(|(_, cable)| cable));
    kinds.chain(zones).chain(exceptions).filter_map(|cable| cable.medium.as_ref())
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, findings, message};

    #[test]
    fn knows_media() {
        assert_eq!(codes("cables: { t0-t1: { medium: dr44 } }"), ["E0601"]);
        assert_eq!(codes("cables: { t0-t1: { medium: dr4 } }"), Vec::<&str>::new());
        assert_eq!(
            codes("exceptions: { cables: { p0-t0-001--p0-t1-001: { medium: wet-string } } }"),
            ["E0601"]
        );
        assert_eq!(message("cables: { nic-t0: { medium: DAC } }", "E0601"), "there is no medium `DAC`");
        let glass = findings("cables: { t0-t1: { medium: smf } }");
        assert!(glass.iter().next().unwrap().help[0].contains("`dr`, `fr` or `lr`"));
        // The correct name of another optic is not replaced by a similar one.
        for (word, meant) in [("cr4", "`dac`"), ("zr4", "`zr`"), ("dr44", "`dr4`"), ("DR4", "`dr4`")] {
            let found = findings(&format!("cables: {{ t0-t1: {{ medium: {word} }} }}"));
            let found = found.iter().next().unwrap();
            assert!(found.help[0].contains(meant), "{:?}", found.help);
            let is_edited = found.fixes.iter().any(|fix| fix.trust == closc_diagnostics::Trust::Sure);
            assert_eq!(is_edited, word == "DR4", "{word}");
        }
    }
}
