//! Compares a job with the expectations of its scenario.
//!
//! In: a report and the expectations. Out: unmet expectations, as text. Invariants: steps that failed, or that the
//! job did not reach, are always reported. A value that could not be measured does not meet an expectation.

use closc_nic::choose::Transport;

use super::report::{FailedExpectation, Report, StepReport};
use super::scenario::Expect;
use super::timeline::Timeline;

/// Minimum goodput in percent of the expected goodput, if the scenario does not set an expectation of goodput.
const OF_PLAN: f64 = 80.0;
const SHORT: &str = "no interval after a step is long enough for a comparison";
const NOTHING_LEFT: &str =
    "no capacity is left in any interval after a step that is long enough for a comparison";

/// Compares a report with expectations.
pub(crate) fn judge(report: &Report, timeline: &Timeline, expect: &Expect) -> Vec<FailedExpectation> {
    let mut unmet = Vec::new();
    steps(report, timeline, &mut unmet);
    let mut say = |expected, found: String| unmet.push(FailedExpectation { expected, found });
    if report.wrong_bytes > 0 {
        say("messages", format!("{} bytes arrived that were not sent", report.wrong_bytes));
    }
    let messages = &report.messages;
    if let Some(most) = expect.lost_messages.filter(|most| messages.lost > *most) {
        let found = format!("{} of {} messages lost; expected at most {most}", messages.lost, messages.sent);
        say("lost_messages", found);
    }
    goodput(report, expect, &mut unmet);
    plan(report, expect, &mut unmet);
    if let Some(most) = expect.recovered_within {
        recovery(report, most.as_secs_f64() * 1e3, &mut unmet);
    }
    if let Some(most) = expect.left_within {
        path_use(report, most.as_secs_f64() * 1e6, &mut unmet);
    }
    if let Some(most) = expect.slowest_message {
        let mut say = |found: String| unmet.push(FailedExpectation { expected: "slowest_message", found });
        let most_ms = most.as_secs_f64() * 1e3;
        let slowest = messages.slowest_ms.filter(|slowest| *slowest > most_ms);
        if let Some(slowest) = slowest {
            say(format!("a message took {slowest:.0} ms; expected at most {most_ms:.0} ms"));
        } else if messages.lost > 0 {
            say(format!("{} messages never arrived", messages.lost));
        }
    }
    unmet
}

/// Reports steps that were not executed.
fn steps(report: &Report, timeline: &Timeline, unmet: &mut Vec<FailedExpectation>) {
    let mut say = |found: String| unmet.push(FailedExpectation { expected: "steps", found });
    for step in &report.steps {
        if let Some(why) = &step.failed {
            say(format!("{} at {:.1} s was not done: {why}", step.what, step.at_s));
        }
    }
    for step in timeline.steps.iter().skip(report.steps.len()) {
        let (what, at_s, over_s) = (step.action.to_string(), step.at.as_secs_f64(), report.job_s);
        say(format!("{what} at {at_s:.1} s was not done: the job was over at {over_s:.1} s"));
    }
}

/// Reports phases with less goodput than expected, or that none of the phases can be compared.
fn goodput(report: &Report, expect: &Expect, unmet: &mut Vec<FailedExpectation>) {
    let mut say = |expected, found: String| unmet.push(FailedExpectation { expected, found });
    if let Some(least) = expect.goodput_min_percent {
        for phase in &report.phases {
            if let Some(found) = phase.percent.filter(|found| *found < least) {
                let found = format!("{found:.1} % {}; expected at least {least} %", phase.name());
                say("goodput_min_percent", found);
            }
        }
    }
    if let Some(least) = expect.goodput_of_plan_percent {
        for phase in &report.phases {
            // If no capacity remains, the expectation is met.
            let found = phase.percent.filter(|_| phase.plan_percent > 0.0);
            let of_plan = found.map(|found| 100.0 * found / phase.plan_percent);
            if let Some(found) = of_plan.filter(|found| *found < least) {
                let plan = phase.plan_percent;
                let text = format!("{found:.1} % of the {plan:.1} % that should be left {}", phase.name());
                say("goodput_of_plan_percent", format!("{text}; expected at least {least} %"));
            }
        }
    }
    let later = || report.phases.iter().skip(1);
    let compares = expect.goodput_min_percent.is_some() || expect.goodput_of_plan_percent.is_some();
    if compares && !report.steps.is_empty() && later().all(|phase| phase.percent.is_none()) {
        let no_before = report.before_mbps.is_none_or(|before| before <= 0.0);
        let why = if no_before { "nothing arrived before the first step" } else { SHORT };
        say("goodput", format!("not measured: {why}"));
    } else if expect.goodput_of_plan_percent.is_some()
        && !report.steps.is_empty()
        && later().all(|phase| phase.percent.is_none() || phase.plan_percent <= 0.0)
    {
        say("goodput_of_plan_percent", format!("not measured: {NOTHING_LEFT}"));
    }
}

/// Compares goodput with the expected one before the first step. Does the same after each step, if the scenario does
/// not set an expectation of goodput. This applies only to spraying senders in virtual time, because a real machine
/// may be loaded.
fn plan(report: &Report, expect: &Expect, unmet: &mut Vec<FailedExpectation>) {
    if report.setting.transport != Transport::Spray.name() || !report.setting.virtual_time {
        return;
    }
    let has_path = report.steps.iter().all(|step| !step.is_outage);
    let messages = &report.messages;
    if expect.lost_messages.is_none() && messages.lost > 0 && has_path {
        let found = format!("{} of {} messages lost; expected none", messages.lost, messages.sent);
        unmet.push(FailedExpectation { expected: "lost_messages", found });
    }
    let mut say = |found: String| {
        let found = format!("{found}; expected at least {OF_PLAN} %");
        unmet.push(FailedExpectation { expected: "goodput", found });
    };
    if let (Some(before), Some(plan)) = (report.before_mbps, report.plan_mbps)
        && before < plan * OF_PLAN / 100.0
    {
        let percent = 100.0 * before / plan;
        say(format!("{before:.1} of {plan:.1} Mb/s that ports carry before the first step ({percent:.0} %)"));
    }
    if expect.goodput_min_percent.is_some() || expect.goodput_of_plan_percent.is_some() {
        return;
    }
    let is_measured = report.phases.iter().skip(1).any(|phase| phase.percent.is_some());
    if report.plan_mbps.is_some() && !report.steps.is_empty() && !is_measured {
        let found = format!("not measured: {SHORT}");
        unmet.push(FailedExpectation { expected: "goodput", found });
        return;
    }
    for phase in report.phases.iter().skip(1) {
        // If no capacity remains, the expectation is met.
        let found = phase.percent.filter(|_| phase.plan_percent > 0.0);
        let of_plan = found.map(|found| 100.0 * found / phase.plan_percent);
        if let Some(found) = of_plan.filter(|found| *found < OF_PLAN) {
            let plan = phase.plan_percent;
            say(format!("{found:.1} % of the {plan:.1} % that should be left {}", phase.name()));
        }
    }
}

/// Reports steps after which a path was used for too long after the first sign of a loss. If there is none, the
/// expectation is met.
fn path_use(report: &Report, most_us: f64, unmet: &mut Vec<FailedExpectation>) {
    for step in &report.steps {
        if let Some(used_us) = step.after_signal_us.filter(|used_us| *used_us > most_us) {
            let found = format!(
                "a path was used for {:.1} ms after the first report of a loss after {}; expected at most \
                 {:.1} ms",
                used_us / 1e3,
                step.what,
                most_us / 1e3
            );
            unmet.push(FailedExpectation { expected: "left_within", found });
        }
    }
}

/// Reports steps after which goodput did not recover in time, or that were too close to the end of the job. After a
/// step that leaves no capacity, the time counts from the next step that restores some. If there is none, goodput
/// never recovers.
fn recovery(report: &Report, most_ms: f64, unmet: &mut Vec<FailedExpectation>) {
    let mut say = |found: String| unmet.push(FailedExpectation { expected: "recovered_within", found });
    if let Some(last) = report.steps.last().filter(|step| step.is_outage) {
        say(format!("not at all after {}: no path is left, and no later step restores one", last.what));
    }
    let is_compared = |step: &&StepReport| step.failed.is_none() && !step.is_overtaken && !step.is_outage;
    for step in report.steps.iter().filter(is_compared) {
        let (what, left) = (&step.what, report.job_s - step.at_s);
        match step.recovered_ms {
            Some(took) if took <= most_ms => {}
            Some(took) => say(format!("{took:.0} ms after {what}; expected at most {most_ms:.0} ms")),
            None if step.is_judged => say(format!("not at all after {what}")),
            None => say(format!("not measured after {what}: the job went on for {left:.1} s")),
        }
    }
}
