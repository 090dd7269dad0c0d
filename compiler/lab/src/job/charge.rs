//! Attributes lost packets to the steps of a scenario.
//!
//! In: losses, the path of each, the completed steps. Out: losses with the step that caused each. Invariants: a loss is
//! attributed to a fault on the packet's path, whenever that fault began. Without such a fault, it is attributed to the
//! last step before the loss.
//!
//! On the kernel, only the senders report losses, with the time of transmission. So a packet sent shortly before a
//! step may have to be attributed to it. This requires that the packet could still be in flight, and that the step
//! affected a cable of its path.

use std::collections::{BTreeMap, BTreeSet};

use super::record::{Loss, Mark};
use super::scenario::Action;
use super::timeline::TimedStep;
use crate::LabError;
use crate::lab::fault::{Fault, Harm};
use crate::model::{CableId, Model};

/// Maximum time in flight: agents count a packet as lost after this time.
const WAY_NS: u64 = 50_000_000;

/// Likelihood that a faulty cable loses a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LossLikelihood {
    /// The packet is lost.
    Sure,
    /// The packet may be lost.
    Possible,
}

/// Faults of each cable: the steps that caused them, in order.
type CableFaults = BTreeMap<CableId, Vec<(usize, LossLikelihood)>>;

/// Origin of loss reports, which determines their precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Witness {
    /// Exact: a loss has the time at which it happened.
    Exact,
    /// From senders: a loss has the time at which the packet was sent.
    Senders,
}

/// For each step, the cables on which it loses packets, and all faulty cables after it.
#[derive(Debug, Default)]
pub(super) struct StepFaults {
    by: Vec<BTreeSet<CableId>>,
    active_faults: Vec<CableFaults>,
}

impl StepFaults {
    /// Finds the effects of steps.
    pub(super) fn of(steps: &[TimedStep], model: &Model) -> Result<StepFaults, LabError> {
        let mut touched = StepFaults::default();
        let mut standing: Vec<(usize, &Fault, Harm)> = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let mut by = BTreeSet::new();
            match &step.action {
                Action::Break(fault) => {
                    let harm = fault.harm(model)?;
                    by.extend(harm.cables());
                    standing.push((number, fault, harm));
                }
                Action::Restore(_) => {
                    let (left, repaired): (Vec<_>, Vec<_>) =
                        standing.into_iter().partition(|(_, fault, _)| step.active_faults.contains(fault));
                    // Moving a cable back unplugs it first. Other repairs do not lose packets.
                    let moved = repaired.iter().filter(|(_, _, harm)| matches!(harm, Harm::Swapped(..)));
                    by.extend(moved.flat_map(|(_, _, harm)| harm.cables()));
                    standing = left;
                }
            }
            let mut after = CableFaults::new();
            for (since, _, harm) in &standing {
                let danger = match harm {
                    Harm::Down(_) | Harm::Swapped(..) => LossLikelihood::Sure,
                    Harm::Lossy(..) | Harm::Narrow(..) => LossLikelihood::Possible,
                };
                for cable in harm.cables() {
                    after.entry(cable).or_default().push((*since, danger));
                }
            }
            touched.by.push(by);
            touched.active_faults.push(after);
        }
        Ok(touched)
    }

    /// Attributes each loss to a step, by the path of the packet. The step of a loss before the first step is
    /// `None`.
    pub(super) fn charge(
        &self,
        losses: &mut [Loss],
        marks: &[Mark],
        witness: Witness,
        mut cables: impl FnMut(usize, &Loss) -> Vec<CableId>,
    ) {
        for (at, loss) in losses.iter_mut().enumerate() {
            let next = marks.partition_point(|mark| mark.span_ns.0 <= loss.lost_ns);
            let in_force = next.checked_sub(1);
            let path = cables(at, loss);
            loss.step = in_force;
            let killer = in_force.and_then(|step| self.killer(step, (&path, loss.in_switch), marks));
            if let Some(killer) = killer {
                loss.step = Some(killer);
            } else if witness == Witness::Senders {
                let soon = marks[next..].iter().take_while(|mark| mark.span_ns.0 - loss.lost_ns <= WAY_NS);
                let mut soon = next..next + soon.count();
                let takes = |step: &usize| {
                    let by = self.by.get(*step).filter(|_| marks[*step].failed.is_none());
                    by.is_some_and(|by| path.iter().any(|cable| by.contains(cable)))
                };
                if let Some(killer) = soon.find(takes) {
                    (loss.step, loss.lost_ns) = (Some(killer), marks[killer].span_ns.0);
                }
            }
        }
    }

    /// Returns the step that broke the first cable of the path that drops all packets. If there is none, returns the
    /// step of the first cable that drops some packets, unless a switch dropped this packet.
    fn killer(&self, step: usize, (path, in_switch): (&[CableId], bool), marks: &[Mark]) -> Option<usize> {
        let broken = self.active_faults.get(step)?;
        let met = || path.iter().filter_map(|cable| broken.get(cable)).flatten();
        let done = |since: &usize| marks.get(*since).is_some_and(|mark| mark.failed.is_none());
        let first = |of: LossLikelihood| {
            met().find(|(since, danger)| *danger == of && done(since)).map(|(since, _)| *since)
        };
        first(LossLikelihood::Sure).or_else(|| first(LossLikelihood::Possible).filter(|_| !in_switch))
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::LossReport;
    use super::*;

    const MS: u64 = 1_000_000;

    fn step_faults(by: &[&[usize]], after: &[&[(usize, usize)]]) -> StepFaults {
        let by = by.iter().map(|set| set.iter().map(|n| CableId(*n)).collect()).collect();
        let broken = |of: &&[(usize, usize)]| {
            of.iter().map(|(cable, step)| (CableId(*cable), vec![(*step, LossLikelihood::Sure)])).collect()
        };
        StepFaults { by, active_faults: after.iter().map(broken).collect() }
    }

    /// Returns, per packet, the step to which it is attributed and the time of its loss in ms. Paths alternate between
    /// cable 0 of plane 0 and cable 1 of plane 1.
    fn attribute(touched: &StepFaults, at: &[u64], sent: &[u64]) -> Vec<(Option<usize>, u64)> {
        attribute_by_witness(touched, Witness::Senders, at, sent)
    }

    fn attribute_by_witness(
        touched: &StepFaults,
        witness: Witness,
        at: &[u64],
        sent: &[u64],
    ) -> Vec<(Option<usize>, u64)> {
        let marks: Vec<Mark> =
            at.iter().map(|ms| Mark { span_ns: (ms * MS, (ms + 5) * MS), failed: None }).collect();
        let loss = |(n, ms): (usize, &u64)| {
            let word = LossReport {
                from: 0,
                to: 1,
                entropy: n as u32 % 2,
                sent_ns: ms * MS,
                known_ns: Some((ms + 9) * MS),
            };
            Loss { lost_ns: ms * MS, step: None, in_switch: false, is_probe: false, report: Some(word) }
        };
        let mut losses: Vec<Loss> = sent.iter().enumerate().map(loss).collect();
        touched.charge(&mut losses, &marks, witness, |_, loss| {
            loss.report.iter().map(|word| CableId(word.entropy as usize)).collect()
        });
        losses.iter().map(|loss| (loss.step, loss.lost_ns / MS)).collect()
    }

    /// The first step cuts plane 0, the second plane 1, and the third repairs both.
    fn two_planes() -> StepFaults {
        step_faults(&[&[0], &[1], &[]], &[&[(0, 0)], &[(0, 0), (1, 1)], &[]])
    }

    #[test]
    fn what_was_under_way_is_charged_to_the_step_that_cut_its_path() {
        let (steps, at) = (two_planes(), [2000, 2500, 3500]);
        // Packets are sent alternately over planes 0 and 1.
        let of = |sent: &[u64]| attribute(&steps, &at, sent);
        assert_eq!(of(&[1999, 1999]), [(Some(0), 2000), (None, 1999)], "plane 1 was not cut then");
        assert_eq!(of(&[2001, 2499]), [(Some(0), 2001), (Some(1), 2500)]);
        assert_eq!(
            of(&[2499, 2400]),
            [(Some(0), 2499), (Some(0), 2400)],
            "broken before, or sent too long ago"
        );
        assert_eq!(of(&[3499, 3499]), [(Some(0), 3499), (Some(1), 3499)], "what comes back takes nothing");
        assert_eq!(of(&[3600, 3600]), [(Some(2), 3600), (Some(2), 3600)], "nothing is broken any more");
    }

    #[test]
    fn two_cuts_at_one_moment_are_charged_each_with_its_own() {
        let steps = two_planes();
        // On the kernel, ports go down one after the other; in virtual time, simultaneously.
        let kernel = attribute(&steps, &[2000, 2090, 3500], &[2100, 2100, 2001, 2050, 1990, 1990]);
        let step: Vec<_> = kernel.iter().map(|(step, _)| *step).collect();
        assert_eq!(step, [Some(0), Some(1), Some(0), Some(1), Some(0), None]);
        let exact =
            attribute_by_witness(&steps, Witness::Exact, &[2000, 2000, 3500], &[2000, 2001, 1999, 1999]);
        assert_eq!(exact, [(Some(0), 2000), (Some(1), 2001), (None, 1999), (None, 1999)]);
    }

    #[test]
    fn of_steps_in_a_row_the_one_is_charged_that_concerns_the_path() {
        let steps = step_faults(&[&[0], &[], &[1]], &[&[(0, 0)], &[(0, 0)], &[(0, 0), (1, 2)]]);
        assert_eq!(attribute(&steps, &[1500, 1500, 1520], &[1499, 1499]), [(Some(0), 1500), (Some(2), 1520)]);
    }

    #[test]
    fn what_nothing_passes_is_charged_before_what_loses_some() {
        let mut steps = StepFaults::default();
        let broken = [
            (CableId(0), vec![(0, LossLikelihood::Possible)]),
            (CableId(1), vec![(1, LossLikelihood::Sure)]),
        ];
        steps.active_faults = vec![CableFaults::from([broken[0].clone()]), CableFaults::from(broken)];
        let mark = |failed: Option<&str>| Mark { span_ns: (0, 0), failed: failed.map(str::to_owned) };
        let path = [CableId(0), CableId(1)];
        let marks = [mark(None), mark(None)];
        assert_eq!(steps.killer(1, (&path, false), &marks), Some(1));
        assert_eq!(steps.killer(1, (&path[..1], false), &marks), Some(0));
        assert_eq!(
            steps.killer(1, (&path, false), &[mark(None), mark(Some("no"))]),
            Some(0),
            "what was not done breaks nothing"
        );
        assert_eq!(steps.killer(0, (&path[1..], false), &marks), None);
        assert_eq!(steps.killer(0, (&path, true), &marks), None, "a queue was full");
    }
}
