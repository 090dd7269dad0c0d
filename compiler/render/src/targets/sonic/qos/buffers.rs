//! Buffers: `BUFFER_POOL`, `BUFFER_PROFILE`, `BUFFER_PG` and `BUFFER_QUEUE`.
//!
//! In: the profile, the platform's buffer, the kinds of ports. Out: pool sizes and profiles. Always: what is
//! reserved, what is kept for headroom and what is shared add up to the buffer; trimming is an action of egress
//! profiles only; a lossless group has headroom for its speed and cable.

use std::collections::BTreeMap;

use closc_platform::Buffer;
use closc_qos::buffer::{Division, Memory, PortGroup, SpectrumPorts, dynamic_limit, pools};
use closc_qos::codes::DynamicThreshold;
use closc_qos::headroom::{Headroom, Link, Model, Request};
use closc_qos::profile::{Class, Profile};
use closc_qos::{Bytes, QosError};

use super::super::json::{Document, Fields, Row};
use super::Qos;
use super::kinds::{Kind, Kinds};

/// The pool of lossless groups. SONiC's buffermgrd looks for this name.
const INGRESS_LOSSLESS: &str = "ingress_lossless_pool";
const INGRESS_LOSSY: &str = "ingress_lossy_pool";
const EGRESS_LOSSLESS: &str = "egress_lossless_pool";
const EGRESS_LOSSY: &str = "egress_lossy_pool";

/// How the buffer of a switch is shared out.
pub(super) struct Buffers {
    /// Shared by all ports, without what is kept for headroom.
    shared: Bytes,
    /// Allocation unit.
    pub(super) cell: Bytes,
    /// The whole buffer.
    total: Bytes,
    /// Kept for the headroom of all lossless groups together.
    headroom: Bytes,
    /// Headroom of a lossless group by kind of port; empty in a lossy profile.
    groups: Vec<Headroom>,
}

/// A run of neighbouring queues or groups that are told the same.
struct Run {
    first: u8,
    last: u8,
    profile: String,
}

impl Run {
    /// Returns the key SONiC has for it: `3`, or `3-4`.
    fn range(&self) -> String {
        if self.first == self.last { self.first.to_string() } else { format!("{}-{}", self.first, self.last) }
    }
}

impl Buffers {
    /// Works out headroom and pools.
    pub(super) fn of(profile: &Profile, buffer: &Buffer, kinds: &Kinds) -> Result<Self, QosError> {
        let model: Model = buffer.headroom_model.parse()?;
        let memory = memory(model, profile, buffer, kinds);
        let groups = groups(model, profile, memory.cell, kinds)?;
        let pools = pools(&memory, &groups, Division::of(profile))?;
        Ok(Buffers {
            shared: pools.shared.round_down(memory.cell),
            cell: memory.cell,
            total: memory.total.round_down(memory.cell),
            headroom: pools.headroom.round_up(memory.cell),
            groups: groups.iter().map(|group| group.headroom().clone()).collect(),
        })
    }

    /// Returns what one of `users` of the shared pool gets when all want as much as they can.
    pub(super) fn share(&self, threshold: DynamicThreshold, users: u32) -> Bytes {
        dynamic_limit(self.shared, threshold, users)
    }
}

/// The buffer and what is taken beforehand, which NVIDIA publishes and others do not.
fn memory(model: Model, profile: &Profile, buffer: &Buffer, kinds: &Kinds) -> Memory {
    let Model::Spectrum(asic) = model else { return Memory::new(buffer.total, buffer.cell) };
    let lossy = profile.priority_groups().values().filter(|classes| !classes[0].pfc).count();
    let lossy = u32::try_from(lossy).unwrap_or(u32::MAX);
    let (up, eight) = (kinds.links(), kinds.links_with_lanes(8));
    let ports = SpectrumPorts {
        up,
        up_eight_lanes: eight,
        lossless: if profile.is_lossless() { up } else { 0 },
        lossy_groups: up * lossy,
        lossy_groups_eight_lanes: eight * lossy,
    };
    Memory::spectrum(asic, buffer.total, ports, profile.shared_headroom().is_some())
}

/// Headroom by kind of port; nothing for a lossy profile.
fn groups(model: Model, profile: &Profile, cell: Bytes, kinds: &Kinds) -> Result<Vec<PortGroup>, QosError> {
    let classes = u32::try_from(profile.lossless().count()).unwrap_or(u32::MAX);
    if classes == 0 {
        return Ok(Vec::new());
    }
    let group = |(kind, ports): &(Kind, u32)| {
        let link = Link::new(kind.speed, kind.cable(), Bytes(u64::from(kind.mtu)), kind.lanes)?;
        PortGroup::new(kind.word(), *ports, classes, model, Request::of(link, profile)?, cell)
    };
    kinds.kinds.iter().map(group).collect()
}

impl Qos<'_> {
    /// Writes `BUFFER_POOL`.
    pub(in super::super) fn buffer_pools(&self, document: &mut Document) {
        let Some(buffers) = &self.buffers else { return };
        let pool = |row: &mut Row<'_>, kind: &str, size: Bytes, xoff: Option<Bytes>| {
            row.text("mode", "dynamic");
            row.number("size", size.0);
            row.text("type", kind);
            if let Some(xoff) = xoff {
                row.number("xoff", xoff.0);
            }
        };
        document.table("BUFFER_POOL", |table| {
            if !self.profile.is_lossless() {
                table.row(&[EGRESS_LOSSY], |row| pool(row, "egress", buffers.shared, None));
                table.row(&[INGRESS_LOSSY], |row| pool(row, "ingress", buffers.shared, None));
                return;
            }
            // What was let in must get out: lossless queues may take the whole buffer.
            table.row(&[EGRESS_LOSSLESS], |row| pool(row, "egress", buffers.total, None));
            table.row(&[EGRESS_LOSSY], |row| pool(row, "egress", buffers.shared, None));
            table.row(&[INGRESS_LOSSLESS], |row| {
                pool(row, "ingress", buffers.shared, Some(buffers.headroom));
            });
        });
    }

    /// Writes `BUFFER_PROFILE`.
    pub(in super::super) fn buffer_profiles(&self, document: &mut Document) {
        let Some(buffers) = &self.buffers else { return };
        let mut rows: BTreeMap<String, Fields> = BTreeMap::new();
        for class in self.profile.classes() {
            rows.entry(self.queue_profile(class)).or_insert_with(|| queue_fields(class));
            if class.pfc {
                for ((kind, _), headroom) in self.kinds.kinds.iter().zip(&buffers.groups) {
                    let fields = || group_fields(class, headroom);
                    rows.entry(self.group_profile(class, kind)).or_insert_with(fields);
                }
            } else {
                let pool = if self.profile.is_lossless() { INGRESS_LOSSLESS } else { INGRESS_LOSSY };
                let fields = || plain_fields(pool, class.ingress_threshold, false);
                rows.entry(self.lossy_group_profile(class)).or_insert_with(fields);
            }
        }
        document.table("BUFFER_PROFILE", |table| {
            for (name, fields) in &rows {
                table.again(&[name], fields);
            }
        });
    }

    /// Writes `BUFFER_PG`.
    pub(in super::super) fn buffer_groups(&self, document: &mut Document) {
        if self.buffers.is_none() {
            return;
        }
        let by_kind: Vec<Vec<(String, Fields)>> =
            self.kinds.kinds.iter().map(|(kind, _)| rows(&self.group_runs(kind))).collect();
        document.table("BUFFER_PG", |table| {
            self.each_port(|name, kind| {
                for (range, fields) in &by_kind[kind] {
                    table.again(&[name, "|", range], fields);
                }
            });
        });
    }

    /// Writes `BUFFER_QUEUE`.
    pub(in super::super) fn buffer_queues(&self, document: &mut Document) {
        if self.buffers.is_none() {
            return;
        }
        let rows = rows(&self.queue_runs());
        document.table("BUFFER_QUEUE", |table| {
            self.each_port(|name, _| {
                for (range, fields) in &rows {
                    table.again(&[name, "|", range], fields);
                }
            });
        });
    }

    /// Calls with the name and the kind of each port with a cable, in order.
    pub(super) fn each_port(&self, mut call: impl FnMut(&str, usize)) {
        for (place, kind) in &self.kinds.ports {
            call(self.view.ports[*place].name, *kind);
        }
    }

    fn group_runs(&self, kind: &Kind) -> Vec<Run> {
        let groups = self.profile.priority_groups().into_iter().map(|(group, classes)| {
            let class = classes[0];
            let name =
                if class.pfc { self.group_profile(class, kind) } else { self.lossy_group_profile(class) };
            (group.get(), name)
        });
        runs(groups, Gaps::Kept)
    }

    fn queue_runs(&self) -> Vec<Run> {
        let queues = self.profile.queues().into_iter();
        runs(queues.map(|(queue, classes)| (queue.get(), self.queue_profile(classes[0]))), Gaps::Bridged)
    }

    /// Names the profile of a queue by what the queue does, so that queues that do the same share one; a class
    /// whose threshold is not that of the first such class is named with it.
    fn queue_profile(&self, class: &Class) -> String {
        let alike = |other: &&Class| other.pfc == class.pfc && other.trim == class.trim;
        let first = self.profile.classes().find(alike).map(|first| first.egress_threshold);
        let stem = match (class.pfc, class.trim) {
            (true, _) => "egress_lossless",
            (false, true) => "egress_trim",
            (false, false) => "egress_lossy",
        };
        named(stem, (first != Some(class.egress_threshold)).then_some(class))
    }

    fn lossy_group_profile(&self, class: &Class) -> String {
        let first = self.profile.classes().find(|other| !other.pfc).map(|first| first.ingress_threshold);
        named("ingress_lossy", (first != Some(class.ingress_threshold)).then_some(class))
    }

    /// Names the profile of a lossless group as buffermgrd would, so that it finds its work done.
    fn group_profile(&self, class: &Class, kind: &Kind) -> String {
        let first = self.profile.lossless().next().map(|first| first.ingress_threshold);
        let stem = format!("pg_lossless_{}_{}m", kind.speed.mbps(), kind.meters);
        named(&stem, (first != Some(class.ingress_threshold)).then_some(class))
    }
}

fn named(stem: &str, odd: Option<&Class>) -> String {
    odd.map_or_else(|| format!("{stem}_profile"), |class| format!("{stem}_{}_profile", class.name))
}

fn queue_fields(class: &Class) -> Fields {
    let pool = if class.pfc { EGRESS_LOSSLESS } else { EGRESS_LOSSY };
    plain_fields(pool, class.egress_threshold, class.trim)
}

/// A profile that reserves nothing.
fn plain_fields(pool: &str, threshold: DynamicThreshold, trim: bool) -> Fields {
    Fields::new(|row| {
        row.show("dynamic_th", threshold);
        if trim {
            row.text("packet_discard_action", "trim");
        }
        row.text("pool", pool);
        // The model demands a size even where nothing is reserved.
        row.number("size", 0_u32);
    })
}

fn group_fields(class: &Class, headroom: &Headroom) -> Fields {
    Fields::new(|row| {
        row.show("dynamic_th", class.ingress_threshold);
        row.text("pool", INGRESS_LOSSLESS);
        row.number("size", headroom.size.0);
        row.number("xoff", headroom.xoff.0);
        row.number("xon", headroom.xon.0);
        if let Some(offset) = headroom.xon_offset {
            row.number("xon_offset", offset.0);
        }
    })
}

/// Whether a run may reach over numbers that nobody uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gaps {
    /// Queues: an unused one between two others exists too, and harms nobody.
    Bridged,
    /// Groups: buffermgrd compares ranges of lossless groups literally.
    Kept,
}

/// Joins neighbours that are told the same.
fn runs(items: impl Iterator<Item = (u8, String)>, gaps: Gaps) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (number, profile) in items {
        match runs.last_mut() {
            Some(run) if run.profile == profile && (gaps == Gaps::Bridged || run.last + 1 == number) => {
                run.last = number;
            }
            _ => runs.push(Run { first: number, last: number, profile }),
        }
    }
    runs
}

fn rows(runs: &[Run]) -> Vec<(String, Fields)> {
    runs.iter().map(|run| (run.range(), Fields::new(|row| row.text("profile", &run.profile)))).collect()
}
