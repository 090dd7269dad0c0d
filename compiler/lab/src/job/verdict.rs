//! Whether a job was what a scenario expects.
//!
//! In: a report, what is expected. Out: what is not so, in words. Invariants: a step that could not be done, or that the job
//! was over before, is never passed over; a number that could not be measured does not meet anything.

use super::report::{Report, Unmet};
use super::scenario::Expect;
use super::timeline::Timeline;

/// Compares.
pub(crate) fn judge(report: &Report, timeline: &Timeline, expect: &Expect) -> Vec<Unmet> {
    let mut unmet = Vec::new();
    let mut say = |expected, found: String| unmet.push(Unmet { expected, found });
    for step in &report.steps {
        if let Some(why) = &step.failed {
            say("steps", format!("{} at {:.1} s was not done: {why}", step.what, step.at_s));
        }
    }
    for step in timeline.steps.iter().skip(report.steps.len()) {
        let (what, at_s, over_s) = (step.action.to_string(), step.at.as_secs_f64(), report.job_s);
        say("steps", format!("{what} at {at_s:.1} s was not done: the job was over at {over_s:.1} s"));
    }
    if report.wrong_bytes > 0 {
        say("messages", format!("{} bytes arrived that were not sent", report.wrong_bytes));
    }
    let messages = &report.messages;
    if let Some(most) = expect.lost_messages.filter(|most| messages.lost > *most) {
        say("lost_messages", format!("{} of {} messages lost, {most} may be", messages.lost, messages.sent));
    }
    if let Some(least) = expect.goodput_min_percent {
        for phase in &report.phases {
            if let Some(found) = phase.percent.filter(|found| *found < least) {
                say("goodput_min_percent", format!("{found:.1} % {}, {least} % at least", phase.name()));
            }
        }
    }
    if let Some(least) = expect.goodput_of_plan_percent {
        for phase in &report.phases {
            let of_plan = phase.percent.map(|found| 100.0 * found / phase.plan_percent.max(0.01));
            if let Some(found) = of_plan.filter(|found| *found < least) {
                let plan = phase.plan_percent;
                let text = format!("{found:.1} % of the {plan:.1} % that should be left {}", phase.name());
                say("goodput_of_plan_percent", format!("{text}, {least} % at least"));
            }
        }
    }
    if let Some(most) = expect.recovered_within {
        let most_ms = most.as_secs_f64() * 1e3;
        for step in report.steps.iter().filter(|step| step.failed.is_none() && step.is_judged) {
            match step.recovered_ms {
                Some(took) if took <= most_ms => {}
                Some(took) => say(
                    "recovered_within",
                    format!("{took:.0} ms after {}, {most_ms:.0} ms at most", step.what),
                ),
                None => say("recovered_within", format!("not at all after {}", step.what)),
            }
        }
    }
    if let Some(most) = expect.slowest_message {
        let most_ms = most.as_secs_f64() * 1e3;
        let slowest = messages.slowest_ms.filter(|slowest| *slowest > most_ms);
        if let Some(slowest) = slowest {
            say("slowest_message", format!("a message took {slowest:.0} ms, {most_ms:.0} ms at most"));
        } else if messages.lost > 0 {
            say("slowest_message", format!("{} messages never arrived", messages.lost));
        }
    }
    unmet
}
