//! Reads `cables/plane-P.csv`.
//!
//! In: the lists of all planes. Out: [`Cabling`]. Invariants: a row that cannot be right (a device in two tiers, a
//! device that nothing describes) is reported with its line; the others are used.

use camino::Utf8PathBuf;
use closc_artefacts::cables::{COLUMNS, Row, State};
use closc_artefacts::{cables, paths};
use closc_qos::units::Length;
use hashbrown::{HashMap, HashSet};
use smol_str::SmolStr;

use crate::finding::{Findings, Violation};
use crate::model::cabling::{Cable, Cabling, End, Kind, List, NodeId, Party, SwitchId};
use crate::model::names::Names;
use crate::model::place::Place;
use crate::model::segment::Tier;
use crate::model::stated::Stated;
use crate::read::error::ReadError;
use crate::read::media;
use crate::rules::cabling::{REACH, ROWS, STATED};

/// Reads all lists. `switches` and `hosts` are the names of those that have a folder, in order.
pub(crate) fn read(
    lists: &[(Utf8PathBuf, Vec<u8>)],
    switches: Vec<SmolStr>,
    hosts: &[&str],
    stated: Option<&Stated>,
    findings: &mut Findings,
) -> Cabling {
    let nodes = node_names(lists, hosts);
    let mut reader = Reader::new(&switches, &nodes, stated);
    let mut all = Vec::new();
    for (file, bytes) in lists {
        all.push(List { file: file.clone(), first: reader.cables.len() as u32 });
        if let Err(error) = reader.list(file, bytes, findings) {
            let place = error.line.map_or_else(|| Place::file(file), |line| Place::line(file, line));
            findings.broken(Violation::new(&crate::rules::files::PARSES, place, error.message));
        }
    }
    let Reader { names, cables, .. } = reader;
    Cabling::new(names, (switches, nodes), cables, all)
}

/// The names of all devices at either end of a cable.
pub(crate) fn device_names(lists: &[(Utf8PathBuf, Vec<u8>)]) -> HashSet<&[u8]> {
    let lines = lists.iter().flat_map(|(_, bytes)| bytes.split(|byte| *byte == b'\n').skip(1));
    let ends = lines.flat_map(|line| {
        let mut fields = line.split(|byte| *byte == b',').skip(2);
        [fields.next(), fields.nth(1)]
    });
    ends.flatten().collect()
}

/// The names of all nodes: the lower ends of cables to NICs, and those that have a folder.
fn node_names(lists: &[(Utf8PathBuf, Vec<u8>)], hosts: &[&str]) -> Vec<SmolStr> {
    let mut names: HashSet<&[u8]> = hosts.iter().map(|name| name.as_bytes()).collect();
    for line in lists.iter().flat_map(|(_, bytes)| bytes.split(|byte| *byte == b'\n')) {
        let mut fields = line.split(|byte| *byte == b',').skip(1);
        if let (Some(b"nic-t0"), Some(name)) = (fields.next(), fields.next()) {
            names.insert(name);
        }
    }
    let mut names: Vec<SmolStr> =
        names.into_iter().filter_map(|name| std::str::from_utf8(name).ok()).map(SmolStr::from).collect();
    names.sort_unstable();
    names
}

struct Reader<'s> {
    /// What the manifest states of the fabric.
    stated: Option<&'s Stated>,
    names: Names,
    parties: HashMap<SmolStr, Party>,
    /// Tier and plane of each switch, by the first cable that says, and where that is.
    known: HashMap<SwitchId, (Tier, u8, Place)>,
    lengths: HashMap<SmolStr, u32>,
    cables: Vec<Cable>,
}

impl<'s> Reader<'s> {
    fn new(switches: &[SmolStr], nodes: &[SmolStr], stated: Option<&'s Stated>) -> Self {
        let switch = |(at, name): (usize, &SmolStr)| (name.clone(), Party::Switch(SwitchId(at as u32)));
        let node = |(at, name): (usize, &SmolStr)| (name.clone(), Party::Node(NodeId(at as u32)));
        // A name that is both stands for the switch, and the rows of the node are reported.
        let parties = nodes.iter().enumerate().map(node).chain(switches.iter().enumerate().map(switch));
        Reader {
            stated,
            names: Names::default(),
            parties: parties.collect(),
            known: HashMap::new(),
            lengths: HashMap::new(),
            cables: Vec::new(),
        }
    }

    fn list(&mut self, file: &Utf8PathBuf, bytes: &[u8], findings: &mut Findings) -> Result<(), ReadError> {
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
            let row: Row<'_> = record.deserialize(Some(&header)).map_err(|error| fault(&error))?;
            findings.checked(&ROWS, 1);
            match self.row(&row, plane, &Place::line(file, line), findings) {
                Ok(cable) => self.cables.push(cable),
                Err(Wrong { message, other }) => {
                    let violation = Violation::new(&ROWS, Place::line(file, line), message);
                    let violation = other.into_iter().fold(violation, Violation::and);
                    let lost = [row.lower_device, row.upper_device]
                        .into_iter()
                        .filter(|device| !self.parties.contains_key(*device))
                        .map(|device| Place::file(format!("switches/{device}")));
                    findings.broken(lost.fold(violation, Violation::and));
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
    ) -> Result<Cable, Wrong> {
        if plane != Some(row.plane) {
            return Err(format!("the cable is of plane {}, and the list is not", row.plane).into());
        }
        let kind = match cables::Kind::from_word(row.kind) {
            Some(cables::Kind::NicT0) => Kind::NicT0,
            Some(cables::Kind::T0T1) => Kind::T0T1,
            Some(cables::Kind::T1T2) => Kind::T1T2,
            None => return Err(format!("`{}` is no kind of cable", row.kind).into()),
        };
        let drained = match State::from_word(row.state) {
            Some(state) => state == State::Drained,
            None => return Err(format!("`{}` is no state of a cable", row.state).into()),
        };
        let meters = self.meters(row.length)?;
        findings.checked(&REACH, 1);
        let mbps = self.stated.and_then(|stated| media::speed(stated, kind));
        if let Some(message) = media::too_long(row.medium, meters, mbps) {
            findings.broken(Violation::new(&REACH, place.clone(), message));
        }
        findings.checked(&STATED, 1);
        let message = self.stated.and_then(|stated| media::not_stated(stated, row.kind, row.medium, meters));
        if let Some(message) = message {
            let stated = Place::text(paths::MANIFEST, vec!["\"cables\": [".to_owned()]);
            findings.broken(Violation::new(&STATED, place.clone(), message).and(stated));
        }
        let lower = self.end(row.lower_device, row.lower_port, kind.lower(), row.plane, place)?;
        let upper = self.end(row.upper_device, row.upper_port, Some(kind.upper()), row.plane, place)?;
        let line = place.line.unwrap_or(0) as u32;
        Ok(Cable { line, meters, plane: row.plane, kind, drained, lower, upper })
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

    /// An end: a switch of a tier, or a node where no tier is given.
    fn end(
        &mut self,
        device: &str,
        port: &str,
        tier: Option<Tier>,
        plane: u8,
        place: &Place,
    ) -> Result<End, Wrong> {
        let party = *self.parties.get(device).ok_or_else(|| {
            format!("`{device}` has no folder below `switches/`, so nothing says what it does")
        })?;
        match (party, tier) {
            (Party::Node(_), None) => {}
            (Party::Switch(switch), Some(tier)) => {
                let (known, home, other) =
                    self.known.entry(switch).or_insert_with(|| (tier, plane, place.clone()));
                let message = if *known != tier {
                    format!("`{device}` is a {tier} here and a {known} elsewhere")
                } else if *home != plane {
                    format!("`{device}` is in plane {plane} here and in plane {home} elsewhere")
                } else {
                    return Ok(End { party, port: self.names.intern(port), slot: 0 });
                };
                return Err(Wrong { message, other: Some(other.clone()) });
            }
            (Party::Node(_), Some(tier)) => return Err(format!("`{device}` is a node and no {tier}").into()),
            (Party::Switch(_), None) => return Err(format!("`{device}` is a switch and no node").into()),
        }
        Ok(End { party, port: self.names.intern(port), slot: 0 })
    }
}

/// Why a row cannot be, and the row that it contradicts.
struct Wrong {
    message: String,
    other: Option<Place>,
}

impl From<String> for Wrong {
    fn from(message: String) -> Self {
        Wrong { message, other: None }
    }
}

fn fault(error: &csv::Error) -> ReadError {
    let line = error.position().map(|position| position.line() as usize);
    ReadError { line, message: error.to_string(), file: None, unknown: false }
}
