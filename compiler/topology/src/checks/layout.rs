//! E0218: the platform or the fabric does not support a layout.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use smol_str::SmolStr;

use crate::coordinate::TierId;
use crate::draft::{Draft, DraftTier};
use crate::read::Spanned;
use crate::suggest::{format_list, nearest, shorten};

/// The platform or the fabric does not support a layout.
pub(crate) static RULE: Rule = Rule {
    code: "E0218",
    title: "the layout cannot be used",
    condition: "`layout` is the name of a layout of the tier's platform, and closc supports that layout.",
    impact: "The layout decides which cages are uplinks and how they are split.",
    example: "tiers: { t0: { layout: d1u1 } }",
    fix: "Use a layout that the message lists, or list the cages with `down.cages` and `up.cages`.",
};

/// Checks the layout of every tier.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for tier in draft.tiers() {
        let Some(name) = layout_name(draft, tier.id) else { continue };
        if let Some(found) = judge(tier, name) {
            out.push(found);
        }
    }
}

/// Returns whether a tier has a layout that E0218 reports. Its ports are then not known, so other rules say nothing
/// about them.
pub(crate) fn is_unusable(draft: &Draft<'_>, tier: TierId) -> bool {
    let own = draft.tiers().find(|own| own.id == tier);
    own.is_some_and(|own| layout_name(draft, tier).is_some_and(|name| judge(own, name).is_some()))
}

fn layout_name<'a>(draft: &'a Draft<'_>, tier: TierId) -> Option<&'a Spanned<SmolStr>> {
    let tiers = &draft.doc.tiers;
    match tier {
        TierId::T0 => tiers.t0.layout.as_ref(),
        TierId::T1 => tiers.t1.as_ref().and_then(|t1| t1.layout.as_ref()),
        TierId::T2 => tiers.t2.as_ref().and_then(|t2| t2.layout.as_ref()),
    }
}

fn judge(tier: &DraftTier, name: &Spanned<SmolStr>) -> Option<Diagnostic> {
    let platform = tier.platform.as_ref()?;
    let shown = shorten(&name.value);
    let Some(layout) = platform.layouts.get(name.value.as_str()) else {
        let known = platform.layouts.keys().map(String::as_str);
        let message = format!("`{}` has no layout `{shown}`", platform.id);
        let diagnostic =
            Diagnostic::error(&RULE, message).at(name.span, "").and(tier.name.span, "of this platform");
        return Some(match nearest(&name.value, known.clone()) {
            Some(meant) => diagnostic.propose(name.span, meant, format!("did you mean `{meant}`?")),
            None if platform.layouts.is_empty() => {
                diagnostic.help("it has none: list the cages with `down.cages` and `up.cages`")
            }
            None => diagnostic.help(format!("use {}, or list the cages", format_list(known))),
        });
    };
    let reason = layout.refused.as_ref()?;
    let message = format!("layout `{shown}` of `{}` cannot be used: {reason}", platform.id);
    Some(Diagnostic::error(&RULE, message).at(name.span, "").help("use another layout or platform"))
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn layouts_are_those_of_the_platform() {
        assert_eq!(codes("tiers: { t0: { layout: d1u1 } }"), ["E0218"]);
        assert_eq!(
            message("tiers: { t0: { layout: d1u1 } }", "E0218"),
            "`box-256x200g` has no layout `d1u1`"
        );
    }

    /// The ports of the tier are not known without its layout: their cages and speeds are not compared.
    #[test]
    fn a_refused_layout_is_the_only_finding_about_its_ports() {
        let found = codes("tiers: { t0: { platform: th5-512x100g, layout: d448u15-lag } }");
        assert!(found.contains(&"E0218"), "{found:?}");
        assert!(!found.contains(&"E0206") && !found.contains(&"E0208"), "{found:?}");
    }
}
