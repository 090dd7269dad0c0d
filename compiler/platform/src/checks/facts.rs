//! E1017: facts are about hwskus of the file, and each has a source.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use super::format_list;
use crate::file::{File, SonicFile};
use crate::nearest::nearest;

pub(crate) static RULE: Rule = Rule {
    code: "E1017",
    title: "a fact has no hwsku or no source",
    condition: "Each name in `sonic.facts` is a hwsku of the same file. Each `published`, `measured`, `assumed` and \
           `lacking` has a text: the source of the fact, or the reason for the assumption.",
    impact: "closc would ignore facts about a misspelled hwsku, and then accept a fabric that the switch cannot forward. \
           Without a source, a fact cannot be checked.",
    example: "sonic: {hwsku: Site-Switch, platform: x86_64-site, facts: {Site-Swich: {un: {lacking: tested}}}}",
    fix: "Correct the name of the hwsku, or write the source.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    for (limit, provenance) in &file.limits.provenance {
        if provenance.parts().1.trim().is_empty() {
            let message = format!("`provenance` of `{}` has no source", limit.keyword());
            found.push(
                Diagnostic::error(&RULE, message).at(file.limits.my_sids.span(source), "in these limits"),
            );
        }
    }
    let Some(section) = &file.sonic else { return };
    let known = hwskus(&section.value);
    for (hwsku, facts) in &section.value.facts {
        let mut push = |message: String, label: String| {
            found.push(Diagnostic::error(&RULE, message).at(section.span(source), label));
        };
        if !known.contains(&hwsku.as_str()) {
            let label = match nearest(hwsku, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("has {}", format_list(&known)),
            };
            push(format!("`facts` of `{hwsku}`: the file has no hwsku of this name"), label);
        }
        let claims = [("un", &facts.un), ("trimming", &facts.trimming)];
        let claims = claims.into_iter().filter_map(|(key, claim)| Some((key, claim.as_ref()?.parts().1)));
        let width = facts.ecmp_width.as_ref().map(|width| ("ecmp_width", width.source.parts().1));
        for (key, _) in claims.chain(width).filter(|(_, text)| text.trim().is_empty()) {
            push(format!("`{key}` of `{hwsku}` has no source"), String::new());
        }
    }
}

/// Returns the names of all hwskus of a file.
fn hwskus(section: &SonicFile) -> Vec<&str> {
    let others = section.hwskus.iter().map(|one| one.hwsku.as_str());
    std::iter::once(section.hwsku.as_str()).chain(others).collect()
}
