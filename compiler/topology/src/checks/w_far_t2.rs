//! W0307: the T2s that join zones of one site are in another site.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// The T2s that join zones of one site are in another site.
pub(crate) static RULE: Rule = Rule {
    code: "W0307",
    title: "traffic between zones of one site crosses another site",
    condition: "If `tiers.t2.site` is set, every other site has one zone.",
    impact: "Packets between two zones pass a T2. If the T2 is in another site, they cross the long cables \
           twice.",
    example: "zones: 3\n\
              sites: [{ name: north, zones: [0] }, { name: south, zones: [1, 2] }]\n\
              hosts: { groups: 64, per_group: 64 }\n\
              tiers: { t0: { up: 64 }, t1: { up: 64 }, t2: { platform: box-256x200g, os: sonic, ports_per_zone: 64, site: north } }",
    fix: "Merge the zones of the site into one, or move the T2s to the site with most zones.",
};

/// Counts the zones of sites without T2s.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(at) = draft.doc.tiers.t2.as_ref().and_then(|t2| t2.site.as_ref()) else { return };
    let sites = draft.doc.sites.iter().flatten();
    for site in sites.filter(|site| site.name.value != at.value && site.zones.len() > 1) {
        let zones: Vec<String> = site.zones.iter().map(|zone| zone.value.to_string()).collect();
        let (name, there) = (&site.name.value, &at.value);
        out.push(
            Diagnostic::warning(
                &RULE,
                format!("traffic between zones {} of site `{name}` crosses site `{there}`", zones.join(", ")),
            )
            .at(site.name.span, "has no T2s")
            .and(draft.at(field!("tiers.t2.site")), "the T2s are there")
            .help(format!("make them one zone, or move the T2s to `{name}`")),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn sites_without_t2s_have_one_zone() {
        assert_eq!(
            message(RULE.example, "W0307"),
            "traffic between zones 1, 2 of site `south` crosses site `north`"
        );
        assert!(!codes(&RULE.example.replace("site: north }", "site: south }")).contains(&"W0307"));
    }
}
