//! Queues: `SCHEDULER`, `WRED_PROFILE` and `QUEUE`.
//!
//! In: the profile and the thresholds of the plan. Out: a scheduler for each class, and a WRED profile for each queue,
//! [`closc_qos::Place`] and speed. Invariants: a queue that the plan does not mark has no `wred_profile`.

use std::collections::BTreeMap;

use closc_plan::PortKind;
use closc_qos::codes::Queue;
use closc_qos::ecn::EcnThresholds;
use closc_qos::profile::{Class, Scheduler};

use super::super::json::{Document, Row};
use super::super::repeated::Fields;
use super::{Qos, keyword};

impl Qos<'_> {
    /// Writes `SCHEDULER`: one row for each class, so that a change of a weight changes one line.
    pub(in super::super) fn schedulers(&self, document: &mut Document) {
        let mut classes: Vec<&Class> = self.profile.classes().collect();
        classes.sort_by(|a, b| a.name.cmp(&b.name));
        document.table("SCHEDULER", |table| {
            for class in classes {
                table.row(&[class.name.as_str()], |row| match class.scheduler {
                    Scheduler::Strict => row.text("type", "STRICT"),
                    Scheduler::Dwrr(weight) => {
                        row.text("type", "DWRR");
                        row.number("weight", weight.get());
                    }
                });
            }
        });
    }

    /// Writes `WRED_PROFILE`.
    pub(in super::super) fn marking(&self, document: &mut Document) {
        let of_kind = |(kind, marks): (&PortKind, &BTreeMap<Queue, EcnThresholds>)| {
            let name = |(queue, thresholds): (&Queue, &EcnThresholds)| {
                (mark_name(*queue, kind), Fields::new(|row| mark(row, thresholds)))
            };
            marks.iter().map(name).collect::<Vec<_>>()
        };
        let rows: BTreeMap<String, Fields> =
            self.kinds().iter().zip(&self.switch.marks).flat_map(of_kind).collect();
        document.table("WRED_PROFILE", |table| {
            for (name, fields) in &rows {
                table.repeat_row(&[name], fields);
            }
        });
    }

    /// Writes `QUEUE`.
    pub(in super::super) fn queues(&self, document: &mut Document) {
        let of_kind = |kind| {
            let queues = self.queues_in_use().into_iter();
            queues.map(|(queue, class)| (format!("|{queue}"), self.queue(kind, queue, class))).collect()
        };
        let by_kind = (0..self.kinds().len()).map(of_kind).collect();
        document.table("QUEUE", |table| table.ports(self.ports(), by_kind));
    }

    fn queue(&self, kind: usize, queue: Queue, class: &Class) -> Fields {
        Fields::new(|row| {
            row.text("scheduler", class.name.as_str());
            if self.switch.marks[kind].contains_key(&queue) {
                row.text("wred_profile", &mark_name(queue, &self.kinds()[kind]));
            }
        })
    }
}

/// Returns the name of a WRED profile, which consists of the properties that its thresholds depend on. Kinds that
/// differ only in cable or lanes share it.
fn mark_name(queue: Queue, kind: &PortKind) -> String {
    format!("q{queue}-{}-{}", keyword(kind.place), kind.speed.mbps())
}

/// Writes thresholds for all three colours. The fabric does not use colours, but with green alone the ASIC would
/// choose the other thresholds.
fn mark(row: &mut Row<'_>, thresholds: &EcnThresholds) {
    let (min, max) = (thresholds.min().0, thresholds.max().0);
    let probability = thresholds.probability().get();
    row.text("ecn", "ecn_all");
    row.number("green_drop_probability", probability);
    row.number("green_max_threshold", max);
    row.number("green_min_threshold", min);
    row.number("red_drop_probability", probability);
    row.number("red_max_threshold", max);
    row.number("red_min_threshold", min);
    let drops = if thresholds.drops() { "true" } else { "false" };
    row.text("wred_green_enable", drops);
    row.text("wred_red_enable", drops);
    row.text("wred_yellow_enable", drops);
    row.number("yellow_drop_probability", probability);
    row.number("yellow_max_threshold", max);
    row.number("yellow_min_threshold", min);
}
