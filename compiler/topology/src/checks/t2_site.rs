//! E0324: the T2s are in a site that does not exist.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;
use crate::suggest::{format_list, nearest};

/// The T2s are in a site that does not exist.
pub(crate) static RULE: Rule = Rule {
    code: "E0324",
    title: "the site of the T2s does not exist",
    condition: "`tiers.t2.site` is the name of one of `sites`.",
    impact: "All T2s are in one site. If every site had T2s, packets between sites would cross two of them. The \
           path T0, T1, T2, T2, T1, T0 and NIC needs seven uSIDs, and a container holds six. If switches \
           choose the path, packets go up once and down once.",
    example: "zones: 2\n\
              sites: [{ name: north, zones: [0] }, { name: south, zones: [1] }]\n\
              hosts: { groups: 64, per_group: 64 }\n\
              tiers: { t0: { up: 64 }, t1: { up: 64 }, t2: { platform: box-256x200g, os: sonic, ports_per_zone: 64, site: east } }",
    fix: "Write the name of a site, or remove `site`. Describe sites with their own T2s as separate fabrics.",
};

/// Looks the site up.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(site) = draft.doc.tiers.t2.as_ref().and_then(|t2| t2.site.as_ref()) else { return };
    let names: Vec<&str> = draft.doc.sites.iter().flatten().map(|site| site.name.value.as_str()).collect();
    if names.contains(&site.value.as_str()) {
        return;
    }
    let diagnostic = Diagnostic::error(&RULE, format!("site `{}` does not exist", site.value))
        .at(site.span, "not listed in `sites`");
    out.push(match nearest(&site.value, names.iter().copied()) {
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
        None if names.is_empty() => diagnostic
            .and(draft.at(field!("sites")), "no sites are defined")
            .help("define the sites in `sites`"),
        None => diagnostic.help(format!("use one of {}", format_list(names.iter().copied()))),
    });
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn t2s_are_in_a_site_of_the_file() {
        assert_eq!(message(RULE.example, "E0324"), "site `east` does not exist");
        assert!(!codes(&RULE.example.replace("east", "south")).contains(&"E0324"));
    }
}
