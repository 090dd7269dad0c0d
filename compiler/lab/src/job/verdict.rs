//! Whether a job was what a scenario expects.
//!
//! In: a report, what is expected. Out: what is not so, in words. Invariants: a step that could not be done, or that the job
//! was over before, is never passed over; a number that could not be measured does not meet anything.

use closc_nic::choose::Transport;

use super::report::{Report, StepReport, Unmet};
use super::scenario::Expect;
use super::timeline::Timeline;

/// Percent of the plan that goodput has at least unless the scenario has an expectation of goodput.
const OF_PLAN: f64 = 80.0;
const SHORT: &str = "no stretch after a step is long enough to be compared";
const NOTHING_LEFT: &str =
    "nothing should be left in any stretch after a step that is long enough to be compared";

/// Compares.
pub(crate) fn judge(report: &Report, timeline: &Timeline, expect: &Expect) -> Vec<Unmet> {
    let mut unmet = Vec::new();
    steps(report, timeline, &mut unmet);
    let mut say = |expected, found: String| unmet.push(Unmet { expected, found });
    if report.wrong_bytes > 0 {
        say("messages", format!("{} bytes arrived that were not sent", report.wrong_bytes));
    }
    let messages = &report.messages;
    if let Some(most) = expect.lost_messages.filter(|most| messages.lost > *most) {
        say("lost_messages", format!("{} of {} messages lost, {most} may be", messages.lost, messages.sent));
    }
    goodput(report, expect, &mut unmet);
    plan(report, expect, &mut unmet);
    if let Some(most) = expect.recovered_within {
        recovery(report, most.as_secs_f64() * 1e3, &mut unmet);
    }
    if let Some(most) = expect.left_within {
        leaving(report, most.as_secs_f64() * 1e6, &mut unmet);
    }
    if let Some(most) = expect.slowest_message {
        let mut say = |found: String| unmet.push(Unmet { expected: "slowest_message", found });
        let most_ms = most.as_secs_f64() * 1e3;
        let slowest = messages.slowest_ms.filter(|slowest| *slowest > most_ms);
        if let Some(slowest) = slowest {
            say(format!("a message took {slowest:.0} ms, {most_ms:.0} ms at most"));
        } else if messages.lost > 0 {
            say(format!("{} messages never arrived", messages.lost));
        }
    }
    unmet
}

/// Steps that were not done.
fn steps(report: &Report, timeline: &Timeline, unmet: &mut Vec<Unmet>) {
    let mut say = |found: String| unmet.push(Unmet { expected: "steps", found });
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

/// Stretches with less goodput than is expected, or none that could be compared.
fn goodput(report: &Report, expect: &Expect, unmet: &mut Vec<Unmet>) {
    let mut say = |expected, found: String| unmet.push(Unmet { expected, found });
    if let Some(least) = expect.goodput_min_percent {
        for phase in &report.phases {
            if let Some(found) = phase.percent.filter(|found| *found < least) {
                say("goodput_min_percent", format!("{found:.1} % {}, {least} % at least", phase.name()));
            }
        }
    }
    if let Some(least) = expect.goodput_of_plan_percent {
        for phase in &report.phases {
            // Where nothing should be left, nothing can be missing.
            let found = phase.percent.filter(|_| phase.plan_percent > 0.0);
            let of_plan = found.map(|found| 100.0 * found / phase.plan_percent);
            if let Some(found) = of_plan.filter(|found| *found < least) {
                let plan = phase.plan_percent;
                let text = format!("{found:.1} % of the {plan:.1} % that should be left {}", phase.name());
                say("goodput_of_plan_percent", format!("{text}, {least} % at least"));
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

/// Compares with the plan where the scenario has no expectation of goodput: what ports carry before anything breaks, and what is left
/// after each step. The plan is that of senders that spray, in virtual time: elsewhere a busy machine is behind it, too.
fn plan(report: &Report, expect: &Expect, unmet: &mut Vec<Unmet>) {
    if report.setting.transport != Transport::Spray.name() || !report.setting.virtual_time {
        return;
    }
    let mut say = |found: String| {
        unmet.push(Unmet { expected: "goodput", found: format!("{found}, {OF_PLAN} % at least") });
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
    for phase in report.phases.iter().skip(1) {
        // Where nothing should be left, nothing can be missing.
        let found = phase.percent.filter(|_| phase.plan_percent > 0.0);
        let of_plan = found.map(|found| 100.0 * found / phase.plan_percent);
        if let Some(found) = of_plan.filter(|found| *found < OF_PLAN) {
            let plan = phase.plan_percent;
            say(format!("{found:.1} % of the {plan:.1} % that should be left {}", phase.name()));
        }
    }
}

/// Steps after which a path was used for longer than is expected after the first word that it lost a packet. Where nobody had word
/// of a loss there was nothing to leave; that nothing was lost is no less than is expected.
fn leaving(report: &Report, most_us: f64, unmet: &mut Vec<Unmet>) {
    for step in &report.steps {
        if let Some(used_us) = step.after_signal_us.filter(|used_us| *used_us > most_us) {
            let found = format!(
                "a path was used for {:.1} ms after the first word of a loss after {}, {:.1} ms at most",
                used_us / 1e3,
                step.what,
                most_us / 1e3
            );
            unmet.push(Unmet { expected: "left_within", found });
        }
    }
}

/// Steps after which goodput was not back in time, or that the job ended too soon after. Of steps that leave nothing the first
/// later one that leaves something is judged; without such a step nothing ever recovers.
fn recovery(report: &Report, most_ms: f64, unmet: &mut Vec<Unmet>) {
    let mut say = |found: String| unmet.push(Unmet { expected: "recovered_within", found });
    if let Some(last) = report.steps.last().filter(|step| step.is_outage) {
        say(format!("not at all after {}: no path is left, and no later step brings one back", last.what));
    }
    let is_compared = |step: &&StepReport| step.failed.is_none() && !step.is_overtaken && !step.is_outage;
    for step in report.steps.iter().filter(is_compared) {
        let (what, left) = (&step.what, report.job_s - step.at_s);
        match step.recovered_ms {
            Some(took) if took <= most_ms => {}
            Some(took) => say(format!("{took:.0} ms after {what}, {most_ms:.0} ms at most")),
            None if step.is_judged => say(format!("not at all after {what}")),
            None => say(format!("not measured after {what}: the job went on for {left:.1} s")),
        }
    }
}
