//! E1011: the features go together.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use crate::file::{Feature, File};
use crate::read::span;

pub(crate) static RULE: Rule = Rule {
    code: "E1011",
    title: "features do not go together",
    what: "A feature is listed once, `ua` comes with `un`, and `pfc` comes with a `buffer` section.",
    why: "A uA SID is reached by way of a uN, and headroom cannot be computed without the size of buffer and cell.",
    example: "features: [ua, ecn]",
    fix: "Add what is missing, or take the feature out.",
};

/// Tells whether a file lists a feature.
pub(crate) fn has(file: &File, feature: Feature) -> bool {
    file.features.iter().any(|at| at.value == feature)
}

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    for (index, at) in file.features.iter().enumerate() {
        let word = at.value.word();
        if let Some(first) = file.features[..index].iter().find(|other| other.value == at.value) {
            let message = format!("feature `{word}` is listed twice");
            found.push(
                Diagnostic::error(&RULE, message)
                    .at(span(source, at), "again")
                    .and(span(source, first), "first"),
            );
        }
        let lacks = match at.value {
            Feature::Ua if !has(file, Feature::Un) => "`un` in `features`",
            Feature::Pfc if file.buffer.is_none() => "a `buffer` section",
            Feature::Un | Feature::Ua | Feature::Trimming | Feature::Pfc | Feature::Ecn | Feature::QpHash => {
                continue;
            }
        };
        let message = format!("feature `{word}` needs {lacks}");
        found.push(Diagnostic::error(&RULE, message).at(span(source, at), ""));
    }
}
