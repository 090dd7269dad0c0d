//! E0201: a platform is not in the catalogue.

use std::collections::BTreeMap;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Platform;
use smol_str::SmolStr;

use crate::draft::{Draft, by_plane, by_zone};
use crate::read::Spanned;
use crate::suggest::{format_list, nearest, shorten};

/// A platform is not in the catalogue.
pub(crate) static RULE: Rule = Rule {
    code: "E0201",
    title: "an unknown platform",
    condition: "Every platform named in `tiers`, `by_plane`, `by_zone` and `exceptions.devices` is in the \
           catalogue.",
    impact: "Port names, breakouts, buffers and table sizes all come from the catalogue.",
    example: "tiers: { t1: { platform: th5-256x200 } }",
    fix: "Correct the name; the message proposes the nearest. For your own hardware, write a platform file, \
          and pass its folder with `--platforms` or the variable `CLOSC_PLATFORMS`.",
};

/// Checks every platform name. Many devices can have the same wrong name, so its advice is computed once.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let mut found: BTreeMap<&str, Advice<'_>> = BTreeMap::new();
    for name in names(draft) {
        // An error in the file of a platform has already been reported.
        if draft.catalogue.get(&name.value).is_some() || draft.catalogue.is_rejected(&name.value) {
            continue;
        }
        let diagnostic = Diagnostic::error(&RULE, format!("there is no platform `{}`", shorten(&name.value)))
            .at(name.span, "not in the catalogue");
        out.push(match found.entry(&name.value).or_insert_with(|| Advice::of(draft, &name.value)) {
            Advice::Meant(meant) => diagnostic.propose(name.span, *meant, format!("did you mean `{meant}`?")),
            Advice::Titled(titled) => diagnostic
                .note(format!("the catalogue has {} for this hardware", format_list(titled.iter().copied())))
                .help(format!("did you mean {}?", join_or(titled))),
            Advice::Few(few) => diagnostic
                .note(format!("the catalogue has {few}"))
                .help("`closc platforms` lists all; `--platforms` adds your own file"),
        });
    }
}

/// Suggestions for the name of an unknown platform.
enum Advice<'a> {
    /// The name is a misspelling of this one.
    Meant(&'a str),
    /// It is the name of a hwsku of these platforms, or in their titles.
    Titled(Vec<&'a str>),
    /// The list of the most similar names.
    Few(String),
}

impl<'a> Advice<'a> {
    fn of(draft: &'a Draft<'_>, name: &str) -> Self {
        let titled = similar_platforms(draft, name);
        let usual = || draft.catalogue.usual().map(|platform| platform.id.as_str());
        let is_plausible = draft.catalogue.plausible(name);
        let of_chip = |known: &&str| is_plausible(known);
        let near = nearest(name, usual().filter(of_chip))
            .or_else(|| nearest(name, draft.catalogue.ids().filter(of_chip)).filter(|_| titled.is_empty()));
        match near {
            Some(meant) => Advice::Meant(meant),
            None if !titled.is_empty() => Advice::Titled(titled),
            None => {
                Advice::Few(nearest_few(name, usual().filter(of_chip), draft.catalogue.ids().filter(of_chip)))
            }
        }
    }
}

/// Returns the platforms with a hwsku of this name or, if there are none, those whose title contains it,
/// comparing only letters and digits, without case: `Arista-7060X6`. Derived ones come last.
fn similar_platforms<'a>(draft: &'a Draft<'_>, name: &str) -> Vec<&'a str> {
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let wanted = plain(name);
    if !(4..=60).contains(&wanted.len()) {
        return Vec::new();
    }
    let holds = |title: &str| plain(title).contains(&wanted);
    let derived = draft.catalogue.iter().filter(|platform| platform.derived);
    let all: Vec<_> = draft.catalogue.usual().chain(derived).collect();
    let ids = |fits: &dyn Fn(&Platform) -> bool| -> Vec<&str> {
        all.iter().filter(|platform| fits(platform)).map(|platform| platform.id.as_str()).collect()
    };
    let is_own = |hwsku: &String| hwsku.eq_ignore_ascii_case(name);
    let first = ids(&|platform| platform.sonic.iter().any(|sonic| is_own(&sonic.hwsku)));
    if !first.is_empty() {
        return first;
    }
    let of_hwsku = ids(&|platform| {
        platform.sonic.iter().any(|sonic| sonic.hwskus.iter().any(|(_, hwsku)| is_own(hwsku)))
    });
    if of_hwsku.is_empty() { ids(&|platform| holds(&platform.title)) } else { of_hwsku }
}

/// Number of platforms that a message lists.
const FEW: usize = 6;

/// Lists the most similar names that are not derived, and counts all others.
fn nearest_few<'a>(
    name: &str,
    usual: impl Iterator<Item = &'a str>,
    all: impl Iterator<Item = &'a str>,
) -> String {
    let mut usual: Vec<&str> = usual.collect();
    let name = shorten(name);
    usual.sort_by_cached_key(|known| strsim::damerau_levenshtein(&name, known));
    usual.truncate(FEW);
    let more = all.count().saturating_sub(usual.len());
    let few = format_list(usual);
    if more == 0 { few } else { format!("{few} and {more} more") }
}

fn join_or(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some(_) | None => names.concat(),
    }
}

/// Returns whether the fabric uses a platform whose own file was rejected. Its tier then has no hardware, and the
/// error is reported in the platform's file.
pub(crate) fn names_rejected(draft: &Draft<'_>) -> bool {
    names(draft).any(|name| draft.catalogue.is_rejected(&name.value))
}

/// Returns every platform name in the file, with its place.
pub(super) fn names<'a>(draft: &'a Draft<'_>) -> impl Iterator<Item = &'a Spanned<SmolStr>> {
    let tiers = draft.tiers().map(|tier| &tier.name);
    let planes = draft.tiers().flat_map(|tier| by_plane(draft.doc, tier.id));
    let devices = draft.doc.exceptions.iter().flat_map(|exceptions| exceptions.devices.iter());
    let devices = devices.flat_map(|named| named.0.iter().map(|(_, device)| device));
    let overrides = planes.map(|(_, _, hardware)| hardware).chain(devices);
    let zones = draft.tiers().flat_map(|tier| by_zone(draft.doc, tier.id));
    let zones = zones.filter_map(|(_, hardware)| hardware.platform.as_ref());
    tiers.chain(overrides.filter_map(|hardware| hardware.platform.as_ref())).chain(zones)
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, findings, message};

    #[test]
    fn proposes_the_nearest_name() {
        assert_eq!(codes("tiers: { t1: { platform: th5-256x200 } }"), ["E0201"]);
        assert_eq!(codes("tiers: { t0: { by_plane: { 1: { platform: abc } } } }"), ["E0201"]);
        assert_eq!(codes("exceptions: { devices: { p0-t0-001: { platform: abc } } }"), ["E0201"]);
        assert_eq!(message("tiers: { t1: { platform: abc } }", "E0201"), "there is no platform `abc`");
        // Another chip is proposed only if the catalogue has no platform with this chip.
        let chips =
            [("th5-64x400g", "th5-64x800g"), ("th5-256x200", "th5-256x200g"), ("tg5-64x800g", "th5-64x800g")];
        for (written, meant) in chips {
            let found = findings(&format!("tiers: {{ t1: {{ platform: {written} }} }}"));
            assert_eq!(found.iter().next().unwrap().help, [format!("did you mean `{meant}`?")]);
        }
        let far = findings("tiers: { t1: { platform: th5-slim } }");
        let note = &far.iter().next().unwrap().notes[0];
        assert!(note.starts_with("the catalogue has `th5-64x800g`, `th5-128x400g`, "), "{note}");
        let unlike = findings("tiers: { t1: { platform: foo } }");
        let note = &unlike.iter().next().unwrap().notes[0];
        assert!(note.ends_with(" more") && note.split(", ").count() == 6, "{note}");
        let titled = findings("tiers: { t1: { platform: Arista-7060X6 } }");
        let help = &titled.iter().next().unwrap().help[0];
        assert!(help.starts_with("did you mean `th5-128x400g`, `th5-256x200g`"), "{help}");
        assert!(help.ends_with("or `arista-7060x6-64de`?"), "{help}");
    }
}
