//! Queues: `SCHEDULER`, `WRED_PROFILE` and `QUEUE`.
//!
//! In: the profile, the kinds of ports, the buffers. Out: a scheduler for each class, thresholds for each queue,
//! place and speed. Always: a queue that is marked is marked before it is full or pauses its senders; where the
//! profile does not mark the last hop, no port to a NIC has a `wred_profile`.

use std::collections::BTreeMap;

use closc_qos::codes::Queue;
use closc_qos::ecn::{Ecn, EcnContext, EcnThresholds, Limit};
use closc_qos::profile::{Class, Scheduler};
use closc_qos::{Bytes, QosError};

use super::super::json::{Document, Fields, Row};
use super::super::view::View;
use super::Qos;
use super::buffers::Buffers;
use super::kinds::{Kind, Kinds};

/// When packets are marked.
#[derive(Default)]
pub(super) struct Marks {
    /// Thresholds by the name of their profile.
    profiles: BTreeMap<String, EcnThresholds>,
    /// Name of the profile of each queue that is marked, by kind of port.
    queues: Vec<BTreeMap<Queue, String>>,
}

impl Marks {
    /// Works out the thresholds of every queue of every kind of port.
    pub(super) fn of(view: &View<'_>, kinds: &Kinds, buffers: &Buffers) -> Result<Self, QosError> {
        let mut marks = Marks::default();
        for (kind, _) in &kinds.kinds {
            let mut queues = BTreeMap::new();
            for (queue, classes) in view.intent.qos.queues() {
                if let Some(found) = thresholds(view, kind, classes[0], kinds.links(), buffers)? {
                    let name = format!("q{queue}-{}-{}", kind.word(), kind.speed.mbps());
                    marks.profiles.insert(name.clone(), found);
                    queues.insert(queue, name);
                }
            }
            marks.queues.push(queues);
        }
        Ok(marks)
    }
}

/// Returns the thresholds of a class on a kind of port; nothing where it is not marked.
fn thresholds(
    view: &View<'_>,
    kind: &Kind,
    class: &Class,
    links: u32,
    buffers: &Buffers,
) -> Result<Option<EcnThresholds>, QosError> {
    let rule = view.intent.qos.ecn_rule(class, kind.place);
    // Computed thresholds hold even when every port is full. Chosen ones are taken as they are, as long as one
    // full port can reach them.
    let users = match rule {
        Ecn::Computed(_) => links,
        Ecn::Off | Ecn::Preset(_) | Ecn::Thresholds(_) | Ecn::Fill(_) => 1,
    };
    let limit = if class.pfc {
        Limit::Xoff(buffers.share(class.ingress_threshold, users))
    } else {
        Limit::Queue(buffers.share(class.egress_threshold, users))
    };
    rule.thresholds(&EcnContext {
        speed: kind.speed,
        cell: buffers.cell,
        mtu: Bytes(u64::from(kind.mtu)),
        place: kind.place,
        base_rtt: view.intent.base_rtt,
        limit,
    })
}

impl Qos<'_> {
    /// Writes `SCHEDULER`: one row for each class, so that a change of weight is a change of one line.
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
        document.table("WRED_PROFILE", |table| {
            for (name, thresholds) in &self.marks.profiles {
                table.row(&[name], |row| mark(row, thresholds));
            }
        });
    }

    /// Writes `QUEUE`.
    pub(in super::super) fn queues(&self, document: &mut Document) {
        let by_kind: Vec<Vec<(String, Fields)>> = (0..self.kinds.kinds.len())
            .map(|kind| {
                let queues = self.profile.queues().into_iter();
                queues.map(|(queue, classes)| (queue.to_string(), self.queue(kind, queue, classes[0]))).collect()
            })
            .collect();
        document.table("QUEUE", |table| {
            self.each_port(|name, kind| {
                for (queue, fields) in &by_kind[kind] {
                    table.again(&[name, "|", queue], fields);
                }
            });
        });
    }

    fn queue(&self, kind: usize, queue: Queue, class: &Class) -> Fields {
        Fields::new(|row| {
            row.text("scheduler", class.name.as_str());
            if let Some(profile) = self.marks.queues.get(kind).and_then(|queues| queues.get(&queue)) {
                row.text("wred_profile", profile);
            }
        })
    }
}

/// Writes thresholds for all three colours: colours are nothing this fabric uses, and green alone would leave
/// the others to the ASIC.
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
    row.text("wred_green_enable", "true");
    row.text("wred_red_enable", "true");
    row.text("wred_yellow_enable", "true");
    row.number("yellow_drop_probability", probability);
    row.number("yellow_max_threshold", max);
    row.number("yellow_min_threshold", min);
}
