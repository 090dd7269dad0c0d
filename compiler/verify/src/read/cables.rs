//! Reads `cables/plane-P.csv`.
//!
//! In: the lists of all planes. Out: [`Cabling`]. Invariants: an impossible row is reported with its line: a device in
//! two tiers, without a folder, or with more cables than slots. All other rows are used.

use camino::Utf8Path;
use closc_artefacts::cables::{COLUMNS, Row, State};
use closc_artefacts::{cables, paths};
use closc_qos::units::Length;
use hashbrown::HashMap;
use smol_str::SmolStr;

use crate::finding::{Findings, Violation};
use crate::model::cabling::cables::Cables;
use crate::model::cabling::{Cable, Cabling, DeviceId, End, Kind, List, NodeId, SwitchId};
use crate::model::names::Names;
use crate::model::place::Place;
use crate::model::segment::Tier;
use crate::model::stated::StatedValues;
use crate::read::error::ReadError;
use crate::read::media;
use crate::rules::cabling::{REACH, ROWS, STATED};

/// Lists that are read one after the other.
pub(crate) struct Lists<'s> {
    reader: Reader<'s>,
    switches: Vec<SmolStr>,
    /// Nodes, in the order of their first occurrence.
    nodes: Vec<SmolStr>,
    read: Vec<List>,
}

impl<'s> Lists<'s> {
    /// Starts with the switches and nodes that have a folder. Switches must be sorted.
    pub(crate) fn new(switches: Vec<SmolStr>, hosts: &[&str], stated: Option<&'s StatedValues>) -> Self {
        let reader = Reader::new(&switches, stated);
        let mut lists = Lists { reader, switches, nodes: Vec::new(), read: Vec::new() };
        for name in hosts {
            lists.node(name);
        }
        lists
    }

    /// Reads a list.
    pub(crate) fn read(&mut self, file: &Utf8Path, bytes: &[u8], findings: &mut Findings) {
        self.read.push(List { file: file.to_owned(), first: self.reader.cables.len() as u32 });
        self.nodes(bytes);
        if let Err(error) = self.reader.list(file, bytes, findings) {
            let place = error.line.map_or_else(|| Place::file(file), |line| Place::line(file, line));
            findings.report(Violation::new(&crate::rules::files::PARSES, place, error.message));
        }
    }

    /// Collects the names of nodes: the lower ends of cables to NICs.
    fn nodes(&mut self, bytes: &[u8]) {
        let mut last: &[u8] = &[];
        for line in bytes.split(|byte| *byte == b'\n') {
            let mut fields = line.split(|byte| *byte == b',').skip(1);
            let (Some(b"nic-t0"), Some(name)) = (fields.next(), fields.next()) else { continue };
            if name != std::mem::replace(&mut last, name)
                && let Ok(name) = std::str::from_utf8(name)
            {
                self.node(name);
            }
        }
    }

    /// Collects the name of a node. If a switch has the same name, the name counts as the switch, and the rows of the
    /// node are reported.
    fn node(&mut self, name: &str) {
        let party = DeviceId::Node(NodeId(self.nodes.len() as u32));
        match self.reader.parties.get(name) {
            Some(DeviceId::Node(_)) => return,
            Some(DeviceId::Switch(_)) if self.nodes.iter().any(|known| known == name) => return,
            Some(DeviceId::Switch(_)) => {}
            None => {
                self.reader.parties.insert(name.into(), party);
            }
        }
        self.nodes.push(name.into());
    }

    /// Finishes reading. Nodes are sorted by name.
    pub(crate) fn finish(self) -> Cabling {
        let Lists { reader: Reader { names, cables, .. }, switches, nodes, read } = self;
        let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
        order.sort_unstable_by_key(|at| &nodes[*at as usize]);
        let mut places = vec![0; nodes.len()];
        (0..).zip(&order).for_each(|(place, at)| places[*at as usize] = place);
        let nodes = order.iter().map(|at| nodes[*at as usize].clone()).collect();
        Cabling::new(names, (switches, nodes), cables.finish(&places), read)
    }
}

/// Returns the names of all devices at either end of a cable.
pub(crate) fn device_names(bytes: &[u8]) -> impl Iterator<Item = &str> {
    bytes.split(|byte| *byte == b'\n').skip(1).flat_map(|line| {
        let mut fields = line.split(|byte| *byte == b',').skip(2);
        [fields.next(), fields.nth(1)].into_iter().flatten().filter_map(|name| std::str::from_utf8(name).ok())
    })
}

struct Reader<'s> {
    /// Values that the manifest states about the fabric.
    stated_values: Option<&'s StatedValues>,
    names: Names,
    parties: HashMap<SmolStr, DeviceId>,
    /// Tier and plane of each switch, by its first cable, and the place of the row of that cable.
    switch_tiers: HashMap<SwitchId, (Tier, u8, Place)>,
    lengths: HashMap<SmolStr, u32>,
    cables: Cables,
    /// Number of cables of each device: switches, and nodes in the order of their first occurrence.
    ends: [Vec<u32>; 2],
}

/// Maximum number of cables of a device, because slots are 16-bit numbers.
const CABLES_MAX: u32 = 1 << 16;

impl<'s> Reader<'s> {
    fn new(switches: &[SmolStr], stated: Option<&'s StatedValues>) -> Self {
        let switch = |(at, name): (usize, &SmolStr)| (name.clone(), DeviceId::Switch(SwitchId(at as u32)));
        Reader {
            stated_values: stated,
            names: Names::default(),
            parties: switches.iter().enumerate().map(switch).collect(),
            switch_tiers: HashMap::new(),
            lengths: HashMap::new(),
            cables: Cables::default(),
            ends: [Vec::new(), Vec::new()],
        }
    }

    fn list(&mut self, file: &Utf8Path, bytes: &[u8], findings: &mut Findings) -> Result<(), ReadError> {
        let mut reader = csv::ReaderBuilder::new().from_reader(bytes);
        let header = reader.headers().map_err(|error| fault(&error))?.clone();
        if header.iter().ne(COLUMNS) {
            return Err(ReadError::at(1, format!("the first line is not `{}`", COLUMNS.join(","))));
        }
        let plane = paths::plane_of(file);
        let mut record = csv::StringRecord::new();
        loop {
            match reader.read_record(&mut record) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) => return Err(fault(&error)),
            }
            let line = record.position().map_or(0, |position| position.line() as usize);
            let row: Row<'_> = match plain(&record) {
                Some(row) => row,
                None => record.deserialize(Some(&header)).map_err(|error| fault(&error))?,
            };
            findings.count_facts(&ROWS, 1);
            match self.row(&row, plane, &Place::line(file, line), findings) {
                Ok(cable) => self.cables.push(&cable, line as u32),
                Err(RowError { message, conflicting_row: other }) => {
                    let violation = Violation::new(&ROWS, Place::line(file, line), message);
                    let violation = other.into_iter().fold(violation, Violation::and);
                    let lost = [row.lower_device, row.upper_device]
                        .into_iter()
                        .filter(|device| !self.parties.contains_key(*device))
                        .map(|device| Place::file(format!("switches/{device}")));
                    findings.report(lost.fold(violation, Violation::and));
                }
            }
        }
    }

    fn row(
        &mut self,
        row: &Row<'_>,
        plane: Option<u8>,
        place: &Place,
        findings: &mut Findings,
    ) -> Result<Cable, RowError> {
        if plane != Some(row.plane) {
            return Err(format!("the cable is in plane {}, but the list is not", row.plane).into());
        }
        let kind = match cables::Kind::from_word(row.kind) {
            Some(cables::Kind::NicT0) => Kind::NicT0,
            Some(cables::Kind::T0T1) => Kind::T0T1,
            Some(cables::Kind::T1T2) => Kind::T1T2,
            None => return Err(format!("`{}` is not a kind of cable", row.kind).into()),
        };
        let state = State::from_word(row.state)
            .ok_or_else(|| format!("`{}` is not a state of a cable", row.state))?;
        let (drained, isolated) = (state != State::Up, state == State::Isolated);
        let meters = self.meters(row.length)?;
        findings.count_facts(&REACH, 1);
        let lane = self.stated_values.and_then(|stated| media::lane(stated, kind));
        if let Some(message) = media::too_long(row.medium, meters, lane) {
            findings.report(Violation::new(&REACH, place.clone(), message));
        }
        findings.count_facts(&STATED, 1);
        let message =
            self.stated_values.and_then(|stated| media::not_stated(stated, row.kind, row.medium, meters));
        if let Some(message) = message {
            let stated = Place::text(paths::MANIFEST, vec!["\"cables\": [".to_owned()]);
            findings.report(Violation::new(&STATED, place.clone(), message).and(stated));
        }
        let lower = self.end(row.lower_device, row.lower_port, kind.lower(), row.plane, place)?;
        let upper = self.end(row.upper_device, row.upper_port, Some(kind.upper()), row.plane, place)?;
        if kind == Kind::NicT0
            && let Some(plane) = plane_of_port(row.lower_port).filter(|plane| *plane != row.plane)
        {
            let (device, port) = (row.lower_device, row.lower_port);
            let message = format!(
                "`{port}` of `{device}` is a port of plane {plane}, but the list is for plane {}",
                row.plane
            );
            findings.report(Violation::new(&ROWS, place.clone(), message));
        }
        for (end, device) in [(lower, row.lower_device), (upper, row.upper_device)] {
            if *self.count(end.party) == CABLES_MAX {
                return Err(format!("`{device}` has more than {CABLES_MAX} cables").into());
            }
        }
        *self.count(lower.party) += 1;
        *self.count(upper.party) += 1;
        let (plane, copper) = (row.plane, media::is_copper(row.medium));
        let uncoded = media::is_uncoded(row.medium);
        Ok(Cable { meters, plane, kind, drained, isolated, copper, uncoded, lower, upper })
    }

    /// Returns the number of cables of a device for changes.
    fn count(&mut self, party: DeviceId) -> &mut u32 {
        let (kind, at) = match party {
            DeviceId::Switch(id) => (0, id.0 as usize),
            DeviceId::Node(id) => (1, id.0 as usize),
        };
        let counts = &mut self.ends[kind];
        if counts.len() <= at {
            counts.resize(at + 1, 0);
        }
        &mut counts[at]
    }

    fn meters(&mut self, text: &str) -> Result<u32, String> {
        if let Some(meters) = self.lengths.get(text) {
            return Ok(*meters);
        }
        let length: Length = text.parse().map_err(|error| format!("{error}"))?;
        let meters = u32::try_from(length.meters_ceil()).map_err(|_| format!("`{text}` is too long"))?;
        self.lengths.insert(SmolStr::from(text), meters);
        Ok(meters)
    }

    /// Returns the end of a cable: at a switch if a tier is given, otherwise at a node.
    fn end(
        &mut self,
        device: &str,
        port: &str,
        tier: Option<Tier>,
        plane: u8,
        place: &Place,
    ) -> Result<End, RowError> {
        let party = *self.parties.get(device).ok_or_else(|| {
            format!("`{device}` has no folder below `switches/`, so its configuration is unknown")
        })?;
        match (party, tier) {
            (DeviceId::Node(_), None) => {}
            (DeviceId::Switch(switch), Some(tier)) => {
                let (known, home, other) =
                    self.switch_tiers.entry(switch).or_insert_with(|| (tier, plane, place.clone()));
                let message = if *known != tier {
                    format!("`{device}` is a {tier} here, but a {known} elsewhere")
                } else if *home != plane {
                    format!("`{device}` is in plane {plane} here, but in plane {home} elsewhere")
                } else {
                    return Ok(End { party, port: self.names.intern(port), slot: 0 });
                };
                return Err(RowError { message, conflicting_row: Some(other.clone()) });
            }
            (DeviceId::Node(_), Some(tier)) => {
                return Err(format!("`{device}` is a node, not a {tier}").into());
            }
            (DeviceId::Switch(_), None) => return Err(format!("`{device}` is a switch, not a node").into()),
        }
        Ok(End { party, port: self.names.intern(port), slot: 0 })
    }
}

/// Returns the plane of the NIC port `nicNpP`; `None` for other names.
fn plane_of_port(port: &str) -> Option<u8> {
    let (nic, plane) = port.strip_prefix("nic")?.split_once('p')?;
    nic.parse::<u16>().ok()?;
    plane.parse().ok()
}

/// Returns the fields of a row, if their types are correct.
fn plain(record: &csv::StringRecord) -> Option<Row<'_>> {
    let [plane, kind, lower_device, lower_port, upper_device, upper_port, length, medium, state] =
        std::array::from_fn(|at| record.get(at));
    Some(Row {
        plane: plane?.parse().ok()?,
        kind: kind?,
        lower_device: lower_device?,
        lower_port: lower_port?,
        upper_device: upper_device?,
        upper_port: upper_port?,
        length: length?,
        medium: medium?,
        state: state?,
    })
}

/// Reason why a row is impossible, and the row that it contradicts.
struct RowError {
    message: String,
    conflicting_row: Option<Place>,
}

impl From<String> for RowError {
    fn from(message: String) -> Self {
        RowError { message, conflicting_row: None }
    }
}

fn fault(error: &csv::Error) -> ReadError {
    let line = error.position().map(|position| position.line() as usize);
    ReadError { line, message: error.to_string(), file: None, unknown: false, path: Vec::new() }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// Slots are 16-bit numbers, so one cable too many would get the slot of the first one.
    #[test]
    fn a_device_with_more_cables_than_slots_is_refused_with_the_line() {
        let switches: Vec<SmolStr> = ["a", "b"].map(SmolStr::from).to_vec();
        let mut lists = Lists::new(switches, &[], None);
        let mut text = COLUMNS.join(",");
        let most = CABLES_MAX as usize;
        for at in 0..most + 2 {
            let node = at % (most - 1);
            let device = if at < most { "a" } else { "b" };
            let _ = write!(text, "\n0,nic-t0,n{node},nic0p0,{device},e{at},3m,dac,up");
        }
        text += "\n0,nic-t0,n,nic0p0,a,e,3m,dac,up\n";
        let mut findings = Findings::default();
        lists.read("cables/plane-0.csv".into(), text.as_bytes(), &mut findings);
        let cabling = lists.finish();
        let (_, violations) = findings.finish();
        let found: Vec<String> =
            violations.iter().map(|found| format!("{}: {}", found.place, found.message)).collect();
        assert_eq!(found, ["cables/plane-0.csv:65540: `a` has more than 65536 cables"]);
        assert_eq!(cabling.at_switch(SwitchId(0)).len(), most);
        assert_eq!(cabling.at_switch(SwitchId(1)).len(), 2);
        let last = cabling.at_switch(SwitchId(0))[most - 1];
        assert_eq!(cabling.cable(last.cable()).upper.slot, u16::MAX);
    }
}
