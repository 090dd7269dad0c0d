//! Denials of a path table, compared with missing and drained elements.
//!
//! A path between two groups has independent parts: the sender's cable, the uplinks, and the receiver's cable. Its
//! state is that of its worst part. A denial (a box of paths) is therefore correct if all its choices for one part are
//! bad. Conversely, a bad part is a box that must be denied.

use closc_paths::{Kind, Reason, TableDenial};
use rayon::prelude::*;

use super::boxes::{ALL, Box6, DOWNLINK, Denials, GROUP, SOURCE, T1_UPLINK, UPLINK, ZONE};
use super::path_cables::{Direction, Level, PathCables, ZoneCables};
use crate::check::tables::kind;
use crate::finding::{Findings, Violation};
use crate::model::fabric::Fabric;
use crate::model::group::Group;
use crate::rules::delivery::{IDLE, LOST, UNDRAINED, WASTED};

/// Compares the denials of all tables with the usable cables. `lost` states whether missing paths are reported; it is
/// false if another rule has reported their cause.
pub(crate) fn check(fabric: &Fabric, ways: &PathCables, lost: bool) -> Findings {
    let planes = ways.judged_planes.len();
    (0..fabric.groups.len() * planes)
        .into_par_iter()
        .map(|at| {
            let mut findings = Findings::default();
            let group = &fabric.groups[at / planes];
            let all: Vec<TableDenial> = group.table().denials().collect();
            let plane = ways.judged_planes[at % planes];
            let in_plane = all.iter().filter(|denied| usize::from(denied.plane) == plane);
            let header = *group.table().header();
            let domain =
                [header.nics, header.t0_uplinks, header.t1_uplinks, header.zones, header.groups, header.nics];
            let denials = Denials::new(in_plane, domain);
            let mut work = Work {
                fabric,
                path_cables: ways,
                group,
                at: at / planes,
                plane,
                denials,
                lost,
                findings: &mut findings,
            };
            work.bad_is_denied();
            for (number, denied) in all.iter().enumerate().filter(|(_, d)| usize::from(d.plane) == plane) {
                work.check_denial(number, denied);
            }
            findings
        })
        .reduce(Findings::default, Findings::merge)
}

struct Work<'a> {
    fabric: &'a Fabric,
    path_cables: &'a PathCables,
    group: &'a Group,
    /// Index of the group.
    at: usize,
    plane: usize,
    denials: Denials,
    lost: bool,
    findings: &'a mut Findings,
}

impl Work<'_> {
    /// Checks that all bad paths are denied.
    fn bad_is_denied(&mut self) {
        let own = self.path_cables.group(self.at, self.plane);
        let numbers = self.path_cables.numbers;
        self.findings.count_facts(&LOST, (self.group.nics.len() + numbers.uplinks) as u64);
        if self.denials.deny_all() || self.group.nics.is_empty() {
            return;
        }
        for (nic, entry) in self.group.nics.iter().enumerate() {
            let mut paths = ALL;
            paths[SOURCE] = Some(entry.downlink);
            self.part(own.out.level(nic), paths, Kind::Local, || format!("from `{}`", entry.name));
        }
        let elsewhere = |kind| {
            let groups = self.fabric.groups.iter();
            groups.filter(|to| !to.nics.is_empty()).any(|to| self.kind(to) == kind)
        };
        let (zone, far) = (elsewhere(Kind::Zone), elsewhere(Kind::Far));
        if zone || far {
            let kind = if zone { Kind::Zone } else { Kind::Far };
            for uplink in 0..numbers.uplinks {
                let mut paths = ALL;
                paths[UPLINK] = Some(uplink as u16);
                self.part(own.up.level(uplink), paths, kind, || format!("over uplink {uplink}"));
            }
        }
        if far {
            self.middle();
        }
        for to in 0..self.fabric.groups.len() {
            self.towards(to);
        }
    }

    fn kind(&self, to: &Group) -> Kind {
        kind((self.group.zone, self.group.group), (to.zone, to.group))
    }

    /// Checks the paths between the T1s of two zones.
    fn middle(&mut self) {
        let ways = self.path_cables;
        let numbers = ways.numbers;
        let own = self.group.zone;
        let zones = (0..numbers.zones as u16).filter_map(|zone| Some((zone, ways.zone(zone, self.plane)?)));
        let is_bad = |(zone, there): &(u16, &ZoneCables)| {
            if *zone == own { !there.whole_up } else { !there.whole_down }
        };
        let bad: Vec<(u16, &ZoneCables)> = zones.filter(is_bad).collect();
        let uplinks = if bad.is_empty() { 0 } else { numbers.uplinks };
        for uplink in 0..uplinks {
            let row = ways.row(uplink) * numbers.t1_uplinks;
            for t1_uplink in 0..numbers.t1_uplinks {
                let mut paths = ALL;
                paths[UPLINK] = Some(uplink as u16);
                paths[T1_UPLINK] = Some(t1_uplink as u16);
                let at = row + t1_uplink;
                for (zone, there) in bad.iter().copied() {
                    let (level, paths, word) = if zone == own {
                        (there.up.level(at), paths, "out of the zone")
                    } else {
                        let mut into = paths;
                        into[ZONE] = Some(zone);
                        (there.down.level(at), into, "into another zone")
                    };
                    self.part(level, paths, Kind::Far, || {
                        format!("over T0 uplink {uplink} and T1 uplink {t1_uplink} {word}")
                    });
                }
            }
        }
    }

    /// Checks the paths near a destination group.
    fn towards(&mut self, to: usize) {
        let (ways, target) = (self.path_cables.group(to, self.plane), &self.fabric.groups[to]);
        if ways.whole || target.nics.is_empty() {
            return;
        }
        let kind = self.kind(target);
        let mut paths = ALL;
        paths[ZONE] = Some(target.zone);
        paths[GROUP] = Some(target.group);
        if kind != Kind::Local {
            for uplink in 0..self.path_cables.numbers.uplinks {
                let mut paths = paths;
                paths[UPLINK] = Some(uplink as u16);
                self.part(ways.down.level(uplink), paths, kind, || {
                    format!("over uplink {uplink} to `{}`", target.name())
                });
            }
        }
        for (nic, entry) in target.nics.iter().enumerate() {
            let mut paths = paths;
            paths[DOWNLINK] = Some(entry.downlink);
            self.part(ways.into.level(nic), paths, kind, || format!("to `{}`", entry.name));
        }
    }

    /// Checks a part that several paths share: if it is bad, all of them must be denied.
    fn part(&mut self, level: Level, paths: Box6, kind: Kind, what: impl FnOnce() -> String) {
        let (rule, why) = match level {
            Level::Missing if self.lost => (&LOST, "do not arrive and are not denied"),
            Level::Fine | Level::Missing => return,
            Level::Drained => (&UNDRAINED, "cross a drained cable and are in use"),
        };
        self.findings.count_facts(rule, 1);
        if self.denials.cover(paths, kind) {
            return;
        }
        let message = format!("`{}`: paths of plane {} {} {why}", self.group.name(), self.plane, what());
        let place = self.group.place(&["\"denied\":"]);
        let list = self.fabric.cabling.list_of(Some(self.plane as u8));
        self.findings.report(list.into_iter().fold(Violation::new(rule, place, message), Violation::and));
    }

    /// Checks that a denial covers only bad paths.
    fn check_denial(&mut self, number: usize, denied: &TableDenial) {
        let (rule, least, why) = match denied.reason {
            Reason::Absent => (&WASTED, Level::Missing, "denies paths as absent that arrive"),
            Reason::Drained => (&IDLE, Level::Drained, "denies paths as drained that cross no drained cable"),
        };
        self.findings.count_facts(rule, 1);
        let right = (0..self.fabric.groups.len())
            .filter(|to| self.in_scope(denied, &self.fabric.groups[*to]))
            .all(|to| self.path_level(denied, to) >= least);
        if !right {
            let name = self.group.denied_names.get(number).map_or("", |name| name.as_str());
            let message =
                format!("`{}`: the denial of `{name}` in plane {} {why}", self.group.name(), self.plane);
            let needle = format!("\"name\": \"{name}\"");
            let place = self.group.place(&["\"denied\":", &format!("\"plane\": {},", self.plane), &needle]);
            let list = self.fabric.cabling.list_of(Some(self.plane as u8));
            self.findings.report(list.into_iter().fold(Violation::new(rule, place, message), Violation::and));
        }
    }

    fn in_scope(&self, denied: &TableDenial, to: &Group) -> bool {
        let s = denied.scope;
        let kind = self.kind(to);
        s.zone.is_none_or(|zone| zone == to.zone)
            && s.group.is_none_or(|group| group == to.group)
            && (s.uplinks.is_none() || kind != Kind::Local)
            && (s.t1_uplinks.is_none() || kind == Kind::Far)
    }

    /// Returns the state of the best path of a denial towards a group. Parts are independent, so the best path combines
    /// the best choice for each part. Its state is the worst of these.
    fn path_level(&self, denied: &TableDenial, to: usize) -> Level {
        let s = denied.scope;
        let target = &self.fabric.groups[to];
        let (own, there) =
            (self.path_cables.group(self.at, self.plane), self.path_cables.group(to, self.plane));
        let source = best_level(&own.out, self.group, s.source);
        let receiver = best_level(&there.into, target, s.downlink);
        let middle = match self.kind(target) {
            Kind::Local => Level::Fine,
            Kind::Zone => self
                .uplinks(denied)
                .map(|u| own.up.level(u).max(there.down.level(u)))
                .min()
                .unwrap_or(Level::Missing),
            Kind::Far => self.far_level(denied, to),
        };
        source.max(middle).max(receiver)
    }

    fn uplinks(&self, denied: &TableDenial) -> impl Iterator<Item = usize> + use<> {
        range(denied.scope.uplinks, self.path_cables.numbers.uplinks)
    }

    fn far_level(&self, denied: &TableDenial, to: usize) -> Level {
        let numbers = self.path_cables.numbers;
        let zone = self.fabric.groups[to].zone;
        let (Some(out), Some(into)) =
            (self.path_cables.zone(self.group.zone, self.plane), self.path_cables.zone(zone, self.plane))
        else {
            return Level::Missing;
        };
        let (own, there) =
            (self.path_cables.group(self.at, self.plane), self.path_cables.group(to, self.plane));
        let level = |u: usize, m: usize| {
            let at = self.path_cables.row(u) * numbers.t1_uplinks + m;
            let ends = own.up.level(u).max(there.down.level(u));
            ends.max(out.up.level(at)).max(into.down.level(at))
        };
        self.uplinks(denied)
            .flat_map(|u| range(denied.scope.t1_uplinks, numbers.t1_uplinks).map(move |m| (u, m)))
            .map(|(u, m)| level(u, m))
            .min()
            .unwrap_or(Level::Missing)
    }
}

/// Returns the best state among the NICs of a group that a denial matches. Without such NICs the denial is correct, so
/// the result is `Missing`.
fn best_level(nics: &Direction, group: &Group, downlink: Option<u16>) -> Level {
    let open = group.nics.iter().enumerate().filter(|(_, nic)| downlink.is_none_or(|d| d == nic.downlink));
    open.map(|(at, _)| nics.level(at)).min().unwrap_or(Level::Missing)
}

fn range(limits: Option<(u16, u16)>, count: usize) -> std::ops::Range<usize> {
    match limits {
        None => 0..count,
        Some((first, last)) => usize::from(first)..(usize::from(last) + 1).min(count),
    }
}
