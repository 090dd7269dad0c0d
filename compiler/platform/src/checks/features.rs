//! E1011: features are consistent.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId};
use closc_qos::codes::Queue;

use crate::file::{Feature, File};

pub(crate) static RULE: Rule = Rule {
    code: "E1011",
    title: "features are inconsistent",
    condition: "A feature is listed once. `ua` needs `un`, and `pfc` needs a `buffer` section. A `trimming` \
           section needs the feature `trimming`, and its smallest size is at most its largest. With SONiC, \
           its queues are 0 to 7.",
    impact: "A packet reaches a uA SID through a uN. Headroom depends on the size of buffer and cell. orchagent \
           rejects all trimming settings if their queue is not a unicast queue (sonic-mgmt 26172).",
    example: "features: [ua, ecn]",
    fix: "Add what is missing, or remove the feature.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    if let Some(section) = &file.trimming {
        let place = section.span(source);
        if !file.has(Feature::Trimming) {
            let message = "there is a `trimming` section, but `features` does not list `trimming`";
            found.push(Diagnostic::error(&RULE, message).at(place, "never used"));
        }
        let (min, max) = (section.value.size_min, section.value.size_max);
        if let Some(max) = max.filter(|max| *max < min) {
            let message = format!("`size_min` of `trimming` is {min}, expected at most `size_max` ({max})");
            found.push(Diagnostic::error(&RULE, message).at(place, ""));
        }
        let queues = section.value.queue.iter().chain(section.value.queues.values());
        let runs = file.os.value.iter().any(|os| os.has_hwskus());
        if let Some(queue) = queues.filter(|_| runs).find(|queue| queue.get() > Queue::UNICAST_MAX) {
            let message =
                format!("`trimming` has queue {queue}, expected 0 to {} with SONiC", Queue::UNICAST_MAX);
            found.push(Diagnostic::error(&RULE, message).at(place, "rejected by the switch"));
        }
    }
    for (index, at) in file.features.iter().enumerate() {
        let word = at.value.keyword();
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
