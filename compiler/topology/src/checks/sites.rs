//! E0318: a zone is in no site, in two, or does not exist.

use std::collections::BTreeMap;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Span};

use crate::draft::Draft;
use crate::field;

/// A zone is in no site, in two, or does not exist.
pub(crate) static RULE: Rule = Rule {
    code: "E0318",
    title: "sites do not cover the zones",
    condition: "If `sites` is set, every zone is in exactly one site, site names are unique, and every zone in a \
           site exists.",
    impact: "Cable lengths, placement and documents depend on the site. A zone in two sites, or in none, \
           would get the wrong ones.",
    example: "sites: [{ name: north, zones: [0, 1] }]",
    fix: "List every zone once.",
};

/// Checks the sites.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(sites) = &draft.doc.sites else { return };
    let mut zones: BTreeMap<u16, (Span, &str)> = BTreeMap::new();
    let mut names: BTreeMap<&str, Span> = BTreeMap::new();
    for site in sites {
        if let Some(first) = names.insert(&site.name.value, site.name.span) {
            out.push(
                Diagnostic::error(&RULE, format!("two sites are named `{}`", site.name.value))
                    .at(site.name.span, "again here")
                    .and(first, "first here")
                    .help("give each site its own name"),
            );
        }
        for zone in &site.zones {
            if u64::from(zone.value) >= draft.zones {
                let last = draft.zones.saturating_sub(1);
                out.push(
                    Diagnostic::error(
                        &RULE,
                        format!("no zone {} in this fabric; expected 0 to {last}", zone.value),
                    )
                    .at(zone.span, format!("in site `{}`", site.name.value))
                    .and(draft.at(field!("zones")), format!("{} zones", draft.zones)),
                );
            } else if let Some((first, other)) = zones.insert(zone.value, (zone.span, &site.name.value)) {
                out.push(
                    Diagnostic::error(&RULE, format!("zone {} is in two sites", zone.value))
                        .at(zone.span, format!("in `{}` here", site.name.value))
                        .and(first, format!("in `{other}` here"))
                        .help("list every zone once"),
                );
            }
        }
    }
    let missing: Vec<String> = (0..draft.zones)
        .filter(|zone| !zones.contains_key(&(*zone as u16)))
        .map(|zone| zone.to_string())
        .take(9)
        .collect();
    if !missing.is_empty() && u16::try_from(draft.zones).is_ok() {
        out.push(
            Diagnostic::error(&RULE, format!("zone {} is in no site", missing.join(", ")))
                .at(draft.at(field!("sites")), "lists other zones only")
                .help("list every zone once"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn every_zone_has_one_site() {
        assert_eq!(codes("sites: [{ name: north, zones: [0] }]"), Vec::<&str>::new());
        assert_eq!(codes("sites: [{ name: north, zones: [0, 1] }]"), ["E0318"]);
        assert_eq!(codes("sites: [{ name: north, zones: [0] }, { name: south, zones: [0] }]"), ["E0318"]);
        assert_eq!(codes("sites: [{ name: north, zones: [0] }, { name: north, zones: [] }]"), ["E0318"]);
        assert_eq!(message("sites: []", "E0318"), "zone 0 is in no site");
    }
}
