//! Which step a lost packet is charged to, where only its sender is asked.
//!
//! In: losses with the time at which they were sent, the steps that were done. Out: the same with the time at which they count as
//! lost. Invariants: a packet that was sent before a step counts as lost at that step only if it could still be on its way, its
//! path takes a cable that the step cut, moved or made lossy, and no fault that stood before concerns that path.

use std::collections::BTreeSet;

use super::record::{Loss, Mark, Word};
use super::scenario::Action;
use super::timeline::Bound;
use crate::LabError;
use crate::lab::fault::{Fault, Harm};
use crate::model::{CableId, Model};

/// The longest that a packet is taken to be on its way: what is so late agents call lost.
const WAY_NS: u64 = 50_000_000;

/// The cables that each step takes packets from, and those that are not as they should be after it.
#[derive(Debug, Default)]
pub(super) struct Touched {
    by: Vec<BTreeSet<CableId>>,
    after: Vec<BTreeSet<CableId>>,
}

impl Touched {
    /// Looks up what steps do.
    pub(super) fn of(steps: &[Bound], model: &Model) -> Result<Touched, LabError> {
        let mut touched = Touched::default();
        let mut before: &[Fault] = &[];
        for step in steps {
            let mut by = BTreeSet::new();
            match &step.action {
                Action::Break(fault) => by.extend(fault.harm(model)?.cables()),
                // A cable that is moved back is unplugged; others only come up.
                Action::Restore(_) => {
                    for fault in before.iter().filter(|fault| !step.standing.contains(fault)) {
                        if let Harm::Swapped(a, b) = fault.harm(model)? {
                            by.extend([a, b]);
                        }
                    }
                }
            }
            let mut after = BTreeSet::new();
            for fault in &step.standing {
                after.extend(fault.harm(model)?.cables());
            }
            touched.by.push(by);
            touched.after.push(after);
            before = &step.standing;
        }
        Ok(touched)
    }

    /// Says for each loss when it counts as lost: when it was sent, or when a step took the path from under it.
    pub(super) fn charge(
        &self,
        losses: &mut [Loss],
        marks: &[Mark],
        mut cables: impl FnMut(&Word) -> Vec<CableId>,
    ) {
        for loss in losses {
            let Some(word) = &loss.word else { continue };
            let next = marks.partition_point(|mark| mark.span_ns.0 <= word.sent_ns);
            let soon =
                marks[next..].iter().take_while(|mark| mark.span_ns.0 - word.sent_ns <= WAY_NS).count();
            if soon == 0 {
                continue;
            }
            let path = cables(word);
            let meets = |set: Option<&BTreeSet<CableId>>| {
                set.is_some_and(|set| path.iter().any(|cable| set.contains(cable)))
            };
            if next.checked_sub(1).is_some_and(|before| meets(self.after.get(before))) {
                continue;
            }
            let killer = (next..next + soon).find(|step| meets(self.by.get(*step)));
            if let Some(step) = killer {
                loss.lost_ns = marks[step].span_ns.0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn touched(by: &[&[usize]], after: &[&[usize]]) -> Touched {
        let sets = |of: &[&[usize]]| of.iter().map(|set| set.iter().map(|n| CableId(*n)).collect()).collect();
        Touched { by: sets(by), after: sets(after) }
    }

    /// When packets count as lost, in ms, of paths over cable 0 of plane 0 and 1 of plane 1, in turn.
    fn charged(touched: &Touched, at: &[u64], sent: &[u64]) -> Vec<u64> {
        let marks: Vec<Mark> =
            at.iter().map(|ms| Mark { span_ns: (ms * MS, (ms + 5) * MS), failed: None }).collect();
        let loss = |(n, ms): (usize, &u64)| {
            let word = Word {
                from: 0,
                to: 1,
                entropy: n as u32 % 2,
                sent_ns: ms * MS,
                known_ns: Some((ms + 9) * MS),
            };
            Loss { lost_ns: ms * MS, word: Some(word) }
        };
        let mut losses: Vec<Loss> = sent.iter().enumerate().map(loss).collect();
        touched.charge(&mut losses, &marks, |word| vec![CableId(word.entropy as usize)]);
        losses.iter().map(|loss| loss.lost_ns / MS).collect()
    }

    #[test]
    fn what_was_under_way_is_charged_to_the_step_that_cut_its_path() {
        // Plane 0 goes at 2,000, plane 1 at 2,500, all come back at 3,500.
        let steps = touched(&[&[0], &[1], &[]], &[&[0], &[0, 1], &[]]);
        let at = [2000, 2500, 3500];
        // Sent by turns over plane 0 and 1.
        assert_eq!(charged(&steps, &at, &[1999, 1999]), [2000, 1999], "plane 1 was not cut then");
        assert_eq!(charged(&steps, &at, &[2001, 2499]), [2001, 2500]);
        assert_eq!(charged(&steps, &at, &[2499, 2400]), [2499, 2400], "broken before, or sent too long ago");
        assert_eq!(charged(&steps, &at, &[3499, 3600]), [3499, 3600], "what comes back takes nothing");
    }

    #[test]
    fn of_steps_in_a_row_the_one_is_charged_that_concerns_the_path() {
        let steps = touched(&[&[0], &[], &[1]], &[&[0], &[], &[1]]);
        assert_eq!(charged(&steps, &[1500, 1500, 1520], &[1499, 1499]), [1500, 1520]);
    }
}
