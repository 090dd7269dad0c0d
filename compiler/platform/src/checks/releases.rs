//! E1016: releases of SONiC are among the supported ones.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use crate::file::File;
use crate::{Os, Release, Releases};

pub(crate) static RULE: Rule = Rule {
    code: "E1016",
    title: "unknown SONiC release in a platform file",
    condition: "closc supports each SONiC release in a platform file: `since`, `trimming_since` and \
           `ecmp_width.since` in `sonic`, and `until` in `buffer.older` and `panel.older_naming`.",
    impact: "closc compares these releases with the one in the fabric file. With a release that does not \
           exist, closc would treat a hwsku as missing, or a limit as valid, in every fabric.",
    example: "sonic: {hwsku: Site-Switch, platform: x86_64-site, since: \"202612\"}",
    fix: "Write one of the releases that the message lists. If all of them have the hwsku, omit the key.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    let known = Os::ALL.into_iter().filter(|os| os.has_hwskus()).filter_map(Os::releases);
    let known: Vec<&Releases> = known.collect();
    let mut require = |release: Option<Release>, key: String, span| {
        if let Some(release) = release.filter(|release| !known.iter().any(|of| of.supports(*release))) {
            let message = format!("unknown SONiC release `{release}` in `{key}`");
            found.push(Diagnostic::error(&RULE, message).at(span, "").help(format!(
                "write one of {}",
                known.first().map(|of| of.description()).unwrap_or_default()
            )));
        }
    };
    if let Some(section) = &file.sonic {
        let span = section.span(source);
        require(section.value.since, "sonic.since".to_owned(), span);
        for (hwsku, facts) in &section.value.facts {
            let key = |name: &str| format!("sonic.facts.{hwsku}.{name}");
            require(facts.since, key("since"), span);
            require(facts.trimming_since, key("trimming_since"), span);
            let width = facts.ecmp_width.as_ref().and_then(|width| width.since);
            require(width, key("ecmp_width.since"), span);
        }
    }
    let panel = file.panel.cages.span(source);
    require(file.panel.older_naming.map(|older| older.until), "panel.older_naming.until".to_owned(), panel);
    if let Some(buffer) = &file.buffer {
        for older in &buffer.older {
            require(Some(older.until), "buffer.older.until".to_owned(), buffer.total.span(source));
        }
    }
}
