//! E1011: the features go together.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};

use crate::file::{Feature, File};

pub(crate) static RULE: Rule = Rule {
    code: "E1011",
    title: "features do not go together",
    what: "A feature is listed once, `ua` comes with `un`, `pfc` comes with a `buffer` section, and a `trimming` \
           section, whose smallest size is at most its largest, comes with `trimming`.",
    why: "A uA SID is reached by way of a uN, and headroom cannot be computed without the size of buffer and cell.",
    example: "features: [ua, ecn]",
    fix: "Add what is missing, or take the feature out.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    if let Some(section) = &file.trimming {
        let place = section.span(source);
        if !file.has(Feature::Trimming) {
            let message = "there is a `trimming` section, and `features` does not list `trimming`";
            found.push(Diagnostic::error(&RULE, message).at(place, "never used"));
        }
        let (min, max) = (section.value.size_min, section.value.size_max);
        if let Some(max) = max.filter(|max| *max < min) {
            let message = format!("`trimming` takes no size: `size_min` is {min}, `size_max` is {max}");
            found.push(Diagnostic::error(&RULE, message).at(place, ""));
        }
    }
    for (index, at) in file.features.iter().enumerate() {
        let word = at.value.word();
        if let Some(first) = file.features[..index].iter().find(|other| other.value == at.value) {
            let message = format!("feature `{word}` is listed twice");
            found.push(
                Diagnostic::error(&RULE, message)
                    .at(at.span(source), "again")
                    .and(first.span(source), "first"),
            );
        }
        let lacks = match at.value {
            Feature::Ua if !file.has(Feature::Un) => "`un` in `features`",
            Feature::Pfc if file.buffer.is_none() => "a `buffer` section",
            Feature::Un | Feature::Ua | Feature::Trimming | Feature::Pfc | Feature::Ecn | Feature::QpHash => {
                continue;
            }
        };
        let message = format!("feature `{word}` needs {lacks}");
        found.push(Diagnostic::error(&RULE, message).at(at.span(source), ""));
    }
}
