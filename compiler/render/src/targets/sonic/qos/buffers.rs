//! Buffers: `BUFFER_POOL`, `BUFFER_PROFILE`, `BUFFER_PG`, `BUFFER_QUEUE` and the lists of ports.
//!
//! In: the profile and the divided buffer. Out: rows. Invariants: trimming is an action of egress profiles only. A
//! lossless group has headroom for its speed and cable. Queues with the same function share a profile if they have
//! the threshold of its first class.

use std::collections::BTreeMap;

use closc_plan::PortKind;
use closc_qos::Bytes;
use closc_qos::codes::DynamicThreshold;
use closc_qos::headroom::{Headroom, Model};
use closc_qos::profile::Class;

use super::super::json::{Document, Row};
use super::super::repeated::Fields;
use super::Qos;

/// The pool of lossless groups. SONiC's buffermgrd looks for this name.
const INGRESS_LOSSLESS: &str = "ingress_lossless_pool";
const INGRESS_LOSSY: &str = "ingress_lossy_pool";
const EGRESS_LOSSLESS: &str = "egress_lossless_pool";
const EGRESS_LOSSY: &str = "egress_lossy_pool";

/// A run of consecutive queues or groups with the same profile.
struct Run {
    first: u8,
    last: u8,
    profile: String,
}

impl Run {
    /// Returns SONiC's key for it: `3`, or `3-4`.
    fn range(&self) -> String {
        if self.first == self.last { self.first.to_string() } else { format!("{}-{}", self.first, self.last) }
    }
}

impl Qos<'_> {
    /// Writes `BUFFER_POOL`.
    pub(in super::super) fn buffer_pools(&self, document: &mut Document) {
        let Some(buffers) = &self.switch.buffers else { return };
        let cell = buffers.memory.cell;
        let (total, shared) = (buffers.memory.total.round_down(cell), buffers.pools.shared.round_down(cell));
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
                table.row(&[EGRESS_LOSSY], |row| pool(row, "egress", shared, None));
                table.row(&[INGRESS_LOSSY], |row| pool(row, "ingress", shared, None));
                return;
            }
            // Accepted packets must be able to leave, so lossless queues may use the complete buffer.
            if self.one_egress_pool().is_some() {
                table.row(&[EGRESS_LOSSLESS], |row| {
                    row.text("mode", "static");
                    row.number("size", total.0);
                    row.text("type", "egress");
                });
            } else {
                table.row(&[EGRESS_LOSSLESS], |row| pool(row, "egress", total, None));
                table.row(&[EGRESS_LOSSY], |row| pool(row, "egress", shared, None));
            }
            let xoff = buffers.pools.headroom.round_up(cell);
            table.row(&[INGRESS_LOSSLESS], |row| pool(row, "ingress", shared, Some(xoff)));
        });
    }

    /// Writes `BUFFER_PROFILE`.
    pub(in super::super) fn buffer_profiles(&self, document: &mut Document) {
        let Some(buffers) = &self.switch.buffers else { return };
        let mut rows: BTreeMap<String, Fields> = BTreeMap::new();
        for class in self.profile.classes() {
            rows.entry(self.queue_profile(class)).or_insert_with(|| self.queue_fields(class));
            if class.pfc {
                for (kind, group) in self.kinds().iter().zip(&buffers.groups) {
                    let fields = || group_fields(class, group.headroom());
                    rows.entry(self.group_profile(class, kind)).or_insert_with(fields);
                    // The same profile under buffermgrd's own name. If buffermgrd's table has the cable length, it
                    // uses this profile for the group.
                    rows.entry(self.buffermgrd_name(class, kind)).or_insert_with(fields);
                }
            } else {
                let pool = if self.profile.is_lossless() { INGRESS_LOSSLESS } else { INGRESS_LOSSY };
                let fields = || plain_fields(pool, class.ingress_threshold, false);
                rows.entry(self.lossy_group_profile(class)).or_insert_with(fields);
            }
        }
        let (ingress, egress) = self.port_pools();
        for pool in ingress.into_iter().chain(egress) {
            // As in upstream SONiC: a port may use nearly all of a pool, and groups and queues divide it.
            let most = DynamicThreshold::MAX;
            rows.entry(port_profile(pool)).or_insert_with(|| plain_fields(pool, most, false));
        }
        document.table("BUFFER_PROFILE", |table| {
            for (name, fields) in &rows {
                table.repeat_row(&[name], fields);
            }
        });
    }

    /// Writes `BUFFER_PG`.
    pub(in super::super) fn buffer_groups(&self, document: &mut Document) {
        if self.switch.buffers.is_none() {
            return;
        }
        let by_kind = self.kinds().iter().map(|kind| rows(&self.group_runs(kind))).collect();
        document.table("BUFFER_PG", |table| table.ports(self.ports(), by_kind));
    }

    /// Writes `BUFFER_QUEUE`.
    pub(in super::super) fn buffer_queues(&self, document: &mut Document) {
        if self.switch.buffers.is_none() {
            return;
        }
        let rows = vec![rows(&self.queue_runs())];
        document.table("BUFFER_QUEUE", |table| table.ports(self.ports().map(|(name, _)| (name, 0)), rows));
    }

    fn group_runs(&self, kind: &PortKind) -> Vec<Run> {
        let groups = self.profile.priority_groups().into_iter().map(|(group, classes)| {
            let class = classes[0];
            let name =
                if class.pfc { self.group_profile(class, kind) } else { self.lossy_group_profile(class) };
            (group.get(), name)
        });
        runs(groups, Gaps::Kept)
    }

    fn queue_runs(&self) -> Vec<Run> {
        let queues = self.queues_in_use().into_iter();
        runs(queues.map(|(queue, class)| (queue.get(), self.queue_profile(class))), Gaps::Bridged)
    }

    /// Returns the name of a queue's profile. It is the function of the queue, so that queues with the same function
    /// share a profile. If the threshold of a class differs from the first such class, the name of the class is
    /// added.
    fn queue_profile(&self, class: &Class) -> String {
        let alike = |other: &&Class| other.pfc == class.pfc && other.trim == class.trim;
        let first = self.profile.classes().find(alike).map(|first| first.egress_threshold);
        let stem = match (class.pfc, class.trim) {
            (true, _) => "egress_lossless",
            (false, true) => "egress_trim",
            (false, false) => "egress_lossy",
        };
        profile_name(stem, (first != Some(class.egress_threshold)).then_some(class))
    }

    /// Returns the limit of a lossless queue, if one static egress pool holds all queues.
    fn one_egress_pool(&self) -> Option<Bytes> {
        self.switch.buffers.as_ref()?.lossless_queue_max
    }

    fn queue_fields(&self, class: &Class) -> Fields {
        match self.one_egress_pool() {
            Some(most) if class.pfc => Fields::new(|row| {
                row.text("pool", EGRESS_LOSSLESS);
                row.number("size", 0_u32);
                row.number("static_th", most.0);
            }),
            Some(_) => plain_fields(EGRESS_LOSSLESS, class.egress_threshold, class.trim),
            None => {
                let pool = if class.pfc { EGRESS_LOSSLESS } else { EGRESS_LOSSY };
                plain_fields(pool, class.egress_threshold, class.trim)
            }
        }
    }

    /// Writes `BUFFER_PORT_EGRESS_PROFILE_LIST`.
    pub(in super::super) fn egress_lists(&self, document: &mut Document) {
        self.port_lists(document, "BUFFER_PORT_EGRESS_PROFILE_LIST", &self.port_pools().1);
    }

    /// Writes `BUFFER_PORT_INGRESS_PROFILE_LIST`.
    pub(in super::super) fn ingress_lists(&self, document: &mut Document) {
        self.port_lists(document, "BUFFER_PORT_INGRESS_PROFILE_LIST", &self.port_pools().0);
    }

    /// Writes a list of port profiles. NVIDIA's ASICs limit the share of a port in each pool, in addition to the shares
    /// of its groups and queues. Without a list the port's share is 0.
    fn port_lists(&self, document: &mut Document, name: &'static str, pools: &[&'static str]) {
        if pools.is_empty() {
            return;
        }
        let list = pools.iter().map(|pool| port_profile(pool)).collect::<Vec<_>>().join(",");
        let fields = Fields::new(|row| row.text("profile_list", &list));
        document.table(name, |table| {
            for (port, _) in self.ports() {
                table.repeat_row(&[port], &fields);
            }
        });
    }

    /// Returns the ingress and the egress pools in which ports have a share.
    fn port_pools(&self) -> (Vec<&'static str>, Vec<&'static str>) {
        if self.switch.buffers.is_none() || !self.is_nvidia() {
            return (Vec::new(), Vec::new());
        }
        if self.profile.is_lossless() {
            (vec![INGRESS_LOSSLESS], vec![EGRESS_LOSSLESS, EGRESS_LOSSY])
        } else {
            (vec![INGRESS_LOSSY], vec![EGRESS_LOSSY])
        }
    }

    fn lossy_group_profile(&self, class: &Class) -> String {
        let first = self.profile.classes().find(|other| !other.pfc).map(|first| first.ingress_threshold);
        profile_name("ingress_lossy", (first != Some(class.ingress_threshold)).then_some(class))
    }

    /// Returns the name of a lossless group's profile.
    ///
    /// On NVIDIA's platforms, buffermgrd (`doSpeedUpdateTask`) removes a group when its port is shut down, if the
    /// group's profile has buffermgrd's own name. It restores the group only for cable lengths in the SKU's
    /// `pg_profile_lookup.ini`. It does not touch profiles with other names. On other platforms it does not remove
    /// groups, and a profile with buffermgrd's name already has the settings that buffermgrd would write.
    fn group_profile(&self, class: &Class, kind: &PortKind) -> String {
        if self.is_nvidia() {
            self.group_name("ingress_lossless", class, kind)
        } else {
            self.buffermgrd_name(class, kind)
        }
    }

    /// Returns the name that buffermgrd gives to a lossless group's profile.
    fn buffermgrd_name(&self, class: &Class, kind: &PortKind) -> String {
        self.group_name("pg_lossless", class, kind)
    }

    fn group_name(&self, stem: &str, class: &Class, kind: &PortKind) -> String {
        let first = self.profile.lossless().next().map(|first| first.ingress_threshold);
        let stem = format!("{stem}_{}_{}m", kind.speed.mbps(), kind.cable.meters_ceil());
        profile_name(&stem, (first != Some(class.ingress_threshold)).then_some(class))
    }

    /// Returns whether the ASIC is one of NVIDIA's.
    fn is_nvidia(&self) -> bool {
        let buffer = self.view.intent.platform.buffer.as_ref();
        let model = buffer.and_then(|buffer| buffer.headroom_model.parse::<Model>().ok());
        model.is_some_and(Model::is_nvidia)
    }
}

fn profile_name(stem: &str, odd: Option<&Class>) -> String {
    odd.map_or_else(|| format!("{stem}_profile"), |class| format!("{stem}_{}_profile", class.name))
}

/// Returns the name of the profile of a port's share of a pool: `port_egress_lossy_profile`.
fn port_profile(pool: &str) -> String {
    format!("port_{}_profile", pool.trim_end_matches("_pool"))
}

/// Fields of a profile that does not reserve buffer.
fn plain_fields(pool: &str, threshold: DynamicThreshold, trim: bool) -> Fields {
    Fields::new(|row| {
        row.show("dynamic_th", threshold);
        if trim {
            row.text("packet_discard_action", "trim");
        }
        row.text("pool", pool);
        // The model requires a size even if nothing is reserved.
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

/// Treatment of unused numbers between the items of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gaps {
    /// A run includes unused queues between others. The switch has these queues, but a profile has no effect on them.
    Bridged,
    /// A run of groups ends at an unused number, because buffermgrd compares ranges of lossless groups literally.
    Kept,
}

/// Joins consecutive items with the same profile.
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
    runs.iter()
        .map(|run| (format!("|{}", run.range()), Fields::new(|row| row.text("profile", &run.profile))))
        .collect()
}
