//! V07: checks path tables, alone and against the layout of uSIDs.
//!
//! A table maps a destination and an entropy value to an address by additions: each choice adds a number to one field
//! of one uSID. It is therefore enough to check every template, and that each addition affects only its own field. Both
//! are checked by evaluating every (plane, uplink), every downlink, and the largest values of all fields at once.

use std::collections::BTreeMap;

use closc_artefacts::Address;
use closc_paths::{Choice, Destination, Kind, Table};
use rayon::prelude::*;

use super::load;
use crate::finding::{Findings, Violation};
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::group::{Group, common, destination, length, list};
use crate::model::place::Place;
use crate::model::segment::{GIB_MAX, Layout, SLOTS, Usid};
use crate::rules::tables::{FIELDS, HEADER, OWN, PROBES, TEMPLATE};

/// Checks each table alone and compares it with the others. `apart` contains tables that cannot be composed with them.
pub(crate) fn all(fabric: &Fabric, apart: &[Group]) -> Findings {
    let tables: Vec<&Group> = fabric.judged_groups().chain(apart).collect();
    let each: Vec<Findings> = tables
        .par_iter()
        .map(|group| {
            let mut findings = Findings::default();
            check(group, &mut findings);
            load::check(group, &mut findings);
            findings
        })
        .collect();
    let mut findings = each.into_iter().fold(Findings::default(), Findings::merge);
    let Some(first) = common(tables.iter().copied()) else { return findings };
    let mut of_zone: BTreeMap<u16, &Group> = BTreeMap::new();
    for group in &tables {
        agree(first, group, &mut findings);
        // Delays may differ between zones, because distances and NIC speeds may.
        let near = *of_zone.entry(group.zone).or_insert(group);
        findings.expect(near.delay == group.delay, &HEADER, || {
            let message = format!("`{}` and `{}` state different delays", group.name(), near.name());
            Violation::new(&HEADER, group.place(&["\"delay\":"]), message).and(near.place(&["\"delay\":"]))
        });
    }
    if !fabric.slice.is_whole() {
        return findings;
    }
    let wanted = usize::from(first.table().header().zones) * usize::from(first.table().header().groups);
    findings.expect(tables.len() == wanted, &HEADER, || {
        let message = format!("there are {} path tables for {wanted} groups", tables.len());
        Violation::new(&HEADER, first.place(&["\"group\":"]), message)
    });
    findings
}

/// Checks that a table agrees with the first one.
fn agree(first: &Group, group: &Group, findings: &mut Findings) {
    let (ours, theirs) = (*group.table().header(), *first.table().header());
    // The start of entropy sets differs between groups.
    let own =
        closc_paths::Header { zone: theirs.zone, group: theirs.group, t1_start: theirs.t1_start, ..ours };
    let same = (group.layout, group.trimmed_dscp) == (first.layout, first.trimmed_dscp);
    findings.expect(own == theirs && same, &HEADER, || {
        let message = format!("`{}` and `{}` state different fabrics", group.name(), first.name());
        Violation::new(&HEADER, group.place(&["\"segments\":"]), message).and(first.place(&["\"segments\":"]))
    });
    let header = group.table();
    let name = if header.header().t1_uplink_bits == 0 {
        format!("group-{:04}", group.group + 1)
    } else {
        format!("z{}-group-{:04}", group.zone, group.group + 1)
    };
    findings.expect(name == group.name(), &HEADER, || {
        let message = format!("`{}` holds the table of `{name}`", group.name());
        Violation::new(&HEADER, group.place(&["\"group\":"]), message)
    });
}

/// Compares the T0s of a table with the switches.
pub(crate) fn compare_t0s(fabric: &Fabric, findings: &mut Findings) {
    for group in &fabric.groups {
        for (plane, stated) in group.planes.iter().enumerate() {
            let Some(id) = stated.t0 else { continue };
            let Some(switch) = fabric.switch(id) else { continue };
            let mac = switch.mac.or_else(|| switch.ends.get(0).and_then(|end| end.mac));
            let fits = mac.is_none_or(|mac| mac == stated.mac)
                && switch.usids.first().is_none_or(|usid| *usid == stated.usid);
            findings.expect(fits, &OWN, || {
                let message = format!(
                    "`{}`: the table has MAC address {} and uSID {} for `{}`, which differ from the switch",
                    group.name(),
                    stated.mac,
                    stated.usid,
                    stated.name
                );
                let place = group.place(&["\"planes\":", &format!("\"plane\": {plane},"), "\"t0_mac\":"]);
                Violation::new(&OWN, place, message).and(fabric.place(id, FactKind::Segments))
            });
        }
    }
}

/// Checks templates, additions and probes of a table.
fn check(group: &Group, findings: &mut Findings) {
    let table = group.table();
    let work = Work { group, table, layout: &group.layout };
    for place in work.places() {
        work.template(place, findings);
    }
    work.fields(findings);
    work.probes(findings);
}

/// Zone and group.
type GroupPosition = (u16, u16);

struct Work<'a> {
    group: &'a Group,
    table: Table<'a>,
    layout: &'a Layout,
}

const FIRST: Choice = Choice { plane: 0, t0_uplink: 0, t1_uplink: 0 };

impl Work<'_> {
    fn group_position(&self) -> GroupPosition {
        (self.group.zone, self.group.group)
    }

    fn places(&self) -> impl Iterator<Item = GroupPosition> + use<> {
        let (zones, groups) = (self.table.header().zones, self.table.header().groups);
        (0..zones).flat_map(move |zone| (0..groups).map(move |group| (zone, group)))
    }

    /// Returns the uSIDs of a path by the layout; `None` if one does not fit.
    fn expected_usids(&self, to: GroupPosition, downlink: u16, choice: Choice) -> Option<[Usid; SLOTS]> {
        expected_usids(self.layout, self.table.header(), self.group_position(), to, downlink, choice)
    }

    fn template(&self, to: GroupPosition, findings: &mut Findings) {
        let expected = self.expected_usids(to, 0, FIRST);
        let found = destination(&self.table, to.0, to.1, 0);
        let fits = match (&found, expected) {
            (Some(found), Some(expected)) => {
                found.kind == kind(self.group_position(), to)
                    && self.address(found, FIRST) == address(self.layout, 0, expected)
            }
            _ => false,
        };
        findings.expect(fits, &TEMPLATE, || {
            let wanted =
                expected.map_or("nothing".to_owned(), |usids| address(self.layout, 0, usids).to_string());
            let found = found.map_or("nothing".to_owned(), |found| self.address(&found, FIRST).to_string());
            let message = format!(
                "`{}`: the template of group {} is {found}; expected {wanted}",
                self.group.name(),
                to.1 + 1
            );
            Violation::new(&TEMPLATE, self.group.destination_place(to.0, to.1), message)
                .and(Place::file(self.group.binary.clone()))
        });
    }

    fn address(&self, to: &Destination, choice: Choice) -> Address {
        list(&self.table, to, choice).0
    }

    /// Evaluates the table for every plane and uplink towards one group of each kind. Then evaluates it for
    /// every downlink of these groups, and with the largest values towards every group.
    fn fields(&self, findings: &mut Findings) {
        let h = *self.table.header();
        let last = Choice {
            plane: h.planes.saturating_sub(1),
            t0_uplink: h.t0_uplinks.saturating_sub(1),
            t1_uplink: h.t1_uplinks.saturating_sub(1),
        };
        let mut seen = [false; 3];
        for to in self.places() {
            self.one(to, h.nics.saturating_sub(1), last, findings);
            let kind = kind(self.group_position(), to);
            if std::mem::replace(&mut seen[length(kind) / 2 - 1], true) {
                continue;
            }
            let (t0, t1) = match kind {
                Kind::Local => (1, 1),
                Kind::Zone => (h.t0_uplinks, 1),
                Kind::Far => (h.t0_uplinks, h.t1_uplinks.max(1)),
            };
            // Uplinks are added independently, so every value of one is combined with the first and last value of the
            // other.
            let ends = |count: u16, at: u16| at == 0 || at + 1 == count;
            for plane in 0..h.planes {
                for t0_uplink in 0..t0 {
                    for t1_uplink in (0..t1).filter(|at| ends(t1, *at) || ends(t0, t0_uplink)) {
                        self.one(to, 0, Choice { plane, t0_uplink, t1_uplink }, findings);
                    }
                }
            }
            for downlink in 0..h.nics {
                self.one(to, downlink, FIRST, findings);
            }
        }
    }

    fn one(&self, to: GroupPosition, downlink: u16, choice: Choice, findings: &mut Findings) {
        let expected = self
            .expected_usids(to, downlink, choice)
            .filter(|usids| self.legal(usids, kind(self.group_position(), to), choice));
        let found = destination(&self.table, to.0, to.1, downlink).map(|to| self.address(&to, choice));
        let fits = expected.is_some_and(|usids| Some(address(self.layout, choice.plane, usids)) == found);
        findings.expect(fits, &FIELDS, || {
            let found = found.map_or("nothing".to_owned(), |found| found.to_string());
            let message = format!(
                "`{}`: the address of downlink {} of group {} over plane {}, T0 uplink {} and T1 uplink {} \
                 is {found}",
                self.group.name(),
                downlink + 1,
                to.1 + 1,
                choice.plane,
                choice.t0_uplink,
                choice.t1_uplink
            );
            Violation::new(&FIELDS, self.group.place(&["\"segments\":"]), message)
                .and(Place::file(self.group.binary.clone()))
        });
    }

    fn legal(&self, usids: &[Usid; SLOTS], kind: Kind, choice: Choice) -> bool {
        let (used, rest) = usids.split_at(length(kind));
        used.iter()
            .all(|usid| (1..=GIB_MAX).contains(&usid.0) && self.layout.is_of_plane(*usid, choice.plane))
            && rest.iter().all(|usid| usid.0 == 0)
            && used.last().is_some_and(|usid| self.layout.role(*usid) == self.layout.roles.nic)
    }

    fn probes(&self, findings: &mut Findings) {
        let h = self.table.header();
        let (zone, group) = self.group_position();
        for plane in 0..h.planes {
            for downlink in [0, h.nics.saturating_sub(1)] {
                let back = self.expected_usids(self.group_position(), downlink, Choice { plane, ..FIRST });
                let found = Address::from(self.table.t0_probe(plane, downlink));
                self.probe(("t0", plane), back, found, findings);
                for uplink in 0..h.t0_uplinks {
                    let choice = Choice { plane, t0_uplink: uplink, t1_uplink: 0 };
                    let around = t1_probe(self.layout, h, (zone, group), downlink, choice);
                    let found = Address::from(self.table.t1_probe(plane, uplink, downlink));
                    self.probe(("t1", plane), around, found, findings);
                    self.t2_probes(choice, downlink, findings);
                }
            }
        }
    }

    /// Checks T2 probes. The two uplinks are added independently: every T1 uplink is combined with the first and last
    /// T0 uplink, and vice versa.
    fn t2_probes(&self, choice: Choice, downlink: u16, findings: &mut Findings) {
        let h = self.table.header();
        let ends = |count: u16, at: u16| at == 0 || at + 1 == count;
        let all = ends(h.t0_uplinks, choice.t0_uplink);
        for t1_uplink in (0..h.t1_uplinks).filter(|at| all || ends(h.t1_uplinks, *at)) {
            let choice = Choice { t1_uplink, ..choice };
            let top = t2_probe(self.layout, h, self.group_position(), downlink, choice);
            let found = self.table.t2_probe(choice.plane, choice.t0_uplink, t1_uplink, downlink);
            self.probe(
                ("t2", choice.plane),
                top,
                found.map_or(Address::UNSPECIFIED, Address::from),
                findings,
            );
        }
    }

    fn probe(
        &self,
        (kind, plane): (&str, u8),
        expected: Option<[Usid; SLOTS]>,
        found: Address,
        findings: &mut Findings,
    ) {
        let expected = expected.map(|usids| address(self.layout, plane, usids));
        findings.expect(expected == Some(found), &PROBES, || {
            let expected = expected.map_or("nothing".to_owned(), |expected| expected.to_string());
            let message =
                format!("`{}`: a {kind} probe goes to {found}; expected {expected}", self.group.name());
            Violation::new(&PROBES, self.group.place(&["\"probes\":", &format!("\"{kind}\"")]), message)
                .and(Place::file(self.group.binary.clone()))
        });
    }
}

/// Returns the distance between two groups.
pub(crate) fn kind(from: GroupPosition, to: GroupPosition) -> Kind {
    if from.0 != to.0 {
        Kind::Far
    } else if from.1 != to.1 {
        Kind::Zone
    } else {
        Kind::Local
    }
}

/// Returns the segment list of a path by the layout.
pub(crate) fn expected_usids(
    layout: &Layout,
    h: &closc_paths::Header,
    from: GroupPosition,
    to: GroupPosition,
    downlink: u16,
    choice: Choice,
) -> Option<[Usid; SLOTS]> {
    let p = choice.plane;
    let (row, cable) = (choice.t0_uplink / h.parallel0, choice.t0_uplink % h.parallel0);
    let (step, above) = (choice.t1_uplink / h.parallel1, choice.t1_uplink % h.parallel1);
    let start = layout.t0(p, from.0, from.1, 0)?;
    let end = layout.nic(p, downlink)?;
    let up = |zone, cable| layout.t1(p, zone, row, cable);
    let down = layout.t0(p, to.0, to.1, cable);
    let none = Usid(0);
    Some(match kind(from, to) {
        Kind::Local => [start, end, none, none, none, none],
        Kind::Zone => [start, up(from.0, cable)?, down?, end, none, none],
        Kind::Far => {
            let before =
                u32::from(step) * u32::from(h.t2_step) + u32::from(layout.row_of(row)) * u32::from(h.t2_row);
            let top = layout.t2(p, before, above)?;
            [start, up(from.0, cable)?, top, up(to.0, above)?, down?, end]
        }
    })
}

/// Returns the segment list of a probe to a T1 and back.
fn t1_probe(
    layout: &Layout,
    h: &closc_paths::Header,
    own: GroupPosition,
    downlink: u16,
    choice: Choice,
) -> Option<[Usid; SLOTS]> {
    let (row, cable) = (choice.t0_uplink / h.parallel0, choice.t0_uplink % h.parallel0);
    let p = choice.plane;
    let none = Usid(0);
    Some([
        layout.t0(p, own.0, own.1, 0)?,
        layout.t1(p, own.0, row, cable)?,
        layout.t0(p, own.0, own.1, cable)?,
        layout.nic(p, downlink)?,
        none,
        none,
    ])
}

/// Returns the segment list of a probe to a T2 and back over the same cables.
fn t2_probe(
    layout: &Layout,
    h: &closc_paths::Header,
    own: GroupPosition,
    downlink: u16,
    choice: Choice,
) -> Option<[Usid; SLOTS]> {
    let [start, up, down, nic, ..] = t1_probe(layout, h, own, downlink, choice)?;
    let row = choice.t0_uplink / h.parallel0;
    let (step, cable) = (choice.t1_uplink / h.parallel1, choice.t1_uplink % h.parallel1);
    let before = u32::from(step) * u32::from(h.t2_step) + u32::from(layout.row_of(row)) * u32::from(h.t2_row);
    let top = layout.t2(choice.plane, before, cable)?;
    Some([start, up, top, layout.t1(choice.plane, own.0, row, cable)?, down, nic])
}

fn address(layout: &Layout, plane: u8, usids: [Usid; SLOTS]) -> Address {
    let block = u128::from(layout.block(plane).network());
    let list = usids.iter().fold(0u128, |list, usid| list << 16 | u128::from(usid.0));
    Address::from(block | list)
}
