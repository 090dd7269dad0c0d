//! Tables: lists of cables, and lists of devices.
//!
//! | columns | written by |
//! |---|---|
//! | `a_device,a_port,b_device,b_port`, and if known `kind`, `a_cage`, `a_part`, `a_speed`, the same of b, `length`, `medium` | `closc export cables`, people |
//! | `lower_device,lower_port,upper_device,upper_port`, `kind`, `length`, `medium`, `state` | `cables/plane-P.csv` of a tree |
//! | `side_a_device,side_a_name,side_b_device,side_b_name`, `side_a_type`, `side_b_type`, `type`, `status`, `length`, `length_unit` | NetBox, import of cables |
//! | `Device A,Termination A,Device B,Termination B`, `Type`, `Status`, `Length` | NetBox, export of the table of cables |
//! | `name,role`, and `device_type` | NetBox, import and export of devices |

use closc_artefacts::cables::State;
use closc_artefacts::{OPEN_QUOTE, open_quote, record_line, separator};
use closc_diagnostics::figures::format_count;
use closc_qos::units::{Length, Speed};
use closc_topology::media::Medium;
use csv::{ReaderBuilder, StringRecord, Trim};
use smol_str::SmolStr;

use super::medium::medium;
use super::netbox::{self, Use};
use crate::network::{Cage, ExistingNetwork, FilePlace, Level, Row};

/// Columns of both ends: device, port, device, port.
const FORMS: [[&str; 4]; 4] = [
    ["a_device", "a_port", "b_device", "b_port"],
    ["lower_device", "lower_port", "upper_device", "upper_port"],
    ["side_a_device", "side_a_name", "side_b_device", "side_b_name"],
    ["device_a", "termination_a", "device_b", "termination_b"],
];

/// Reads a table. An unclosed quote, which would hide the rest, is an error.
pub(super) fn read(network: &mut ExistingNetwork, name: &str, text: &str) {
    let file = network.file(name);
    match open_quote(text.as_bytes(), separator(text.as_bytes())) {
        Some(line) => {
            network.fault(FilePlace { file, line: u32::try_from(line).unwrap_or(u32::MAX) }, OPEN_QUOTE);
        }
        None => rows(network, file, text),
    }
}

fn rows(network: &mut ExistingNetwork, file: u32, text: &str) {
    let mut reader = reader(text);
    let first = FilePlace { file, line: 1 };
    let titles: Vec<String> = match reader.headers() {
        Ok(record) => record.iter().map(|title| title.to_lowercase().replace(' ', "_")).collect(),
        Err(error) => return network.fault(first, format!("the header line cannot be read: {error}")),
    };
    let column = |title: &str| titles.iter().position(|other| other == title);
    let ends = FORMS.iter().find_map(|form| {
        let found: Vec<usize> = form.iter().filter_map(|title| column(title)).collect();
        <[usize; 4]>::try_from(found).ok()
    });
    let roles = column("name").zip(column("role").or_else(|| column("device_role")));
    if ends.is_none() && roles.is_none() {
        return network.fault(first, unknown_columns(&titles));
    }
    let model = column("device_type").or_else(|| column("type"));
    let side = Side::of(column);
    let mut record = StringRecord::new();
    loop {
        let at = |record: &StringRecord| {
            let start = record.position().map_or((0, 1), |start| (start.byte(), start.line()));
            let line = record_line(text.as_bytes(), start, None);
            FilePlace { file, line: u32::try_from(line).unwrap_or(u32::MAX) }
        };
        match reader.read_record(&mut record) {
            Ok(false) => return,
            Ok(true) => {}
            Err(error) => {
                let line = error.position().map_or(1, csv::Position::line);
                let at = FilePlace { file, line: u32::try_from(line).unwrap_or(u32::MAX) };
                let text = match error.kind() {
                    csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                        let columns = format_count(*len, "column");
                        format!("the line has {columns}: expected {expected_len}, as in the header")
                    }
                    _ => format!("it cannot be read: {error}"),
                };
                return network.fault(at, text);
            }
        }
        match (ends, roles) {
            (Some(ends), _) => cable(network, &record, ends, &side, at(&record)),
            (None, Some((name, role))) => {
                let (name, role) = (&record[name], &record[role]);
                network.roles.insert(SmolStr::new(name), SmolStr::new(role));
                if let Some(model) = model.and_then(|model| record.get(model)).filter(|text| !text.is_empty())
                {
                    network.models.insert(SmolStr::new(name), SmolStr::new(model));
                }
            }
            (None, None) => return,
        }
    }
}

/// Returns the message for a table that is neither a list of cables nor a list of devices.
fn unknown_columns(titles: &[String]) -> String {
    const SHOWN: usize = 8;
    let quoted =
        |titles: &[&str]| titles.iter().map(|title| format!("`{title}`")).collect::<Vec<_>>().join(", ");
    let own: Vec<&str> = titles.iter().map(String::as_str).filter(|title| !title.is_empty()).collect();
    if own.is_empty() {
        return "the file is empty: expected a list of cables or devices with a header line".to_owned();
    }
    let missing = |form: &[&'static str]| -> Vec<&'static str> {
        form.iter().filter(|title| !own.contains(title)).copied().collect()
    };
    let roles: [&'static str; 2] = ["name", "role"];
    let forms = FORMS.iter().map(<[&str; 4]>::as_slice).chain([roles.as_slice()]);
    let nearest = forms.map(|form| (missing(form), form)).min_by_key(|(missing, form)| {
        // If forms lack the same number of columns, take the one with the most columns in the table.
        (missing.len(), std::cmp::Reverse(form.len()))
    });
    if let Some((missing, form)) = nearest.filter(|(missing, form)| missing.len() * 2 < form.len() + 1) {
        return format!(
            "the header has no column {}: a list of {} has the columns `{}`",
            quoted(&missing),
            if form.len() == 2 { "devices" } else { "cables" },
            form.join(",")
        );
    }
    let more = if own.len() > SHOWN { ", ..." } else { "" };
    format!(
        "the columns {}{more} are not those of a list of cables or devices; help: rename them to \
         `a_device,a_port,b_device,b_port` (cables) or `name,role` (devices), or export both from NetBox",
        quoted(&own[..own.len().min(SHOWN)])
    )
}

fn reader(text: &str) -> csv::Reader<&[u8]> {
    let separator = separator(text.as_bytes());
    ReaderBuilder::new().delimiter(separator).trim(Trim::All).from_reader(text.as_bytes())
}

/// Columns other than the ends.
struct Side {
    kind: Option<usize>,
    speeds: [Option<usize>; 2],
    /// Columns of cages, and of parts.
    cages: [(Option<usize>, Option<usize>); 2],
    length: Option<usize>,
    unit: Option<usize>,
    medium: Option<usize>,
    kind_of_netbox: Option<usize>,
    types_of_netbox: [Option<usize>; 2],
    status_of_netbox: Option<usize>,
    state: Option<usize>,
}

impl Side {
    fn of(column: impl Fn(&str) -> Option<usize>) -> Self {
        let is_of_netbox = column("side_a_device").or(column("device_a")).is_some();
        let of_netbox = |title: &str| column(title).filter(|_| is_of_netbox);
        Side {
            kind: column("kind"),
            speeds: [column("a_speed"), column("b_speed")],
            cages: ["a", "b"].map(|end| (column(&format!("{end}_cage")), column(&format!("{end}_part")))),
            length: column("length"),
            unit: column("length_unit"),
            medium: column("medium"),
            kind_of_netbox: of_netbox("type"),
            types_of_netbox: ["side_a_type", "side_b_type"].map(of_netbox),
            status_of_netbox: of_netbox("status"),
            // Other lists may use the column `state` for something else.
            state: column("lower_device").and_then(|_| column("state")),
        }
    }
}

fn cable(network: &mut ExistingNetwork, record: &StringRecord, ends: [usize; 4], side: &Side, at: FilePlace) {
    let cell = |at: Option<usize>| at.and_then(|at| record.get(at)).filter(|text| !text.is_empty());
    let types = side.types_of_netbox.map(&cell);
    let uses = netbox::ends(types).and_then(|ends| Ok((ends, netbox::status(cell(side.status_of_netbox))?)));
    let status = match uses {
        Ok((Use::Other(what), _)) => return network.skip_link(what, at),
        Ok((_, status)) => status,
        Err(error) => return network.fault(at, error),
    };
    let [a, a_port, b, b_port] = ends.map(|column| record.get(column).unwrap_or_default());
    if [a, a_port, b, b_port].iter().any(|text| text.contains(',')) {
        return network.fault(at, "an end of this cable has several ports: write one line per port");
    }
    let levels = match cell(side.kind).map(levels_of).transpose() {
        Ok(levels) => levels,
        Err(error) => return network.fault(at, error),
    };
    let mut speeds = [None; 2];
    for (speed, column) in speeds.iter_mut().zip(side.speeds) {
        match cell(column).map(str::parse::<Speed>) {
            None => {}
            Some(Ok(value)) => *speed = Some(value),
            Some(Err(error)) => return network.fault(at, error.to_string()),
        }
    }
    let cages = match cages(side, cell) {
        Ok(cages) => cages,
        Err(error) => return network.fault(at, error),
    };
    let length = cell(side.length).map(|text| length(text, cell(side.unit).unwrap_or_default()));
    let length = match length.transpose() {
        Ok(length) => length,
        Err(error) => return network.fault(at, error),
    };
    let kind = cell(side.kind_of_netbox);
    let medium = match cell(side.medium).map(medium_of).transpose() {
        Ok(medium) => medium.or_else(|| kind.and_then(|kind| find_medium(network, kind, length, at))),
        Err(error) => return network.fault(at, error),
    };
    let other = kind.filter(|_| medium.is_none());
    let state = match cell(side.state).map_or(Ok(State::Up), state_of) {
        Ok(state) => state,
        Err(error) => return network.fault(at, error),
    };
    let row = Row {
        devices: [a, b],
        ports: [a_port, b_port],
        speeds,
        cages,
        spec: (length, medium),
        levels,
        is_drained: state != State::Up || status == Use::Leaving,
        is_isolated: state == State::Isolated,
        other_type: other,
    };
    let is_planned = status == Use::Planned;
    if is_planned || other.is_some() { network.defer(&row, is_planned, at) } else { network.add(&row, at) }
}

/// Parses a kind of cable into the tiers of its ends.
fn levels_of(kind: &str) -> Result<[Level; 2], String> {
    match kind {
        "nic-t0" => Ok([Level::Node, Level::T0]),
        "t0-t1" => Ok([Level::T0, Level::T1]),
        "t1-t2" => Ok([Level::T1, Level::T2]),
        other => Err(format!("unknown kind of cable `{other}`: expected `nic-t0`, `t0-t1` or `t1-t2`")),
    }
}

/// Reads the cages and their parts at both ends.
fn cages<'a>(
    side: &Side,
    cell: impl Fn(Option<usize>) -> Option<&'a str>,
) -> Result<[Option<Cage>; 2], String> {
    let mut cages = [None; 2];
    for (cage, (number, part)) in cages.iter_mut().zip(side.cages) {
        let Some(text) = cell(number) else { continue };
        let Ok(number) = text.parse() else {
            return Err(format!("unknown cage `{text}`: expected 0 to {}", u16::MAX));
        };
        let part = part.map(|column| cell(Some(column)).unwrap_or("0"));
        let parsed = part.map(|part| part.parse().map_err(|_| part)).transpose();
        let part = parsed
            .map_err(|part| format!("unknown part `{part}` of cage `{text}`: expected 0 to {}", u8::MAX))?;
        *cage = Some(Cage { number, part });
    }
    Ok(cages)
}

/// Parses the column `medium`.
fn medium_of(word: &str) -> Result<SmolStr, String> {
    if Medium::find(word).is_some() {
        return Ok(SmolStr::new(word));
    }
    let all: Vec<String> = Medium::all().iter().map(|medium| format!("`{}`", medium.keyword)).collect();
    Err(format!("unknown medium `{word}` in the column `medium`: expected one of {}", all.join(", ")))
}

/// Returns the medium of a NetBox type, if it has one. If the type can mean several media, a note is
/// recorded.
fn find_medium(
    network: &mut ExistingNetwork,
    kind: &str,
    length: Option<Length>,
    at: FilePlace,
) -> Option<SmolStr> {
    let meant = medium(kind, length)?;
    if !meant.is_sure {
        network.note(kind, Some(meant.medium), at);
    }
    Some(SmolStr::new_static(meant.medium))
}

/// Parses the state of a cable.
fn state_of(word: &str) -> Result<State, String> {
    State::from_word(word)
        .ok_or_else(|| format!("unknown state `{word}`: expected `up`, `drained` or `isolated`"))
}

/// Parses `30m`, `30.00 m`, or a number whose unit is in another column.
fn length(text: &str, unit: &str) -> Result<Length, String> {
    // Spreadsheets write `0,5` in locales with a decimal comma.
    let text = text.replace(',', ".");
    let plain: String = format!("{text}{unit}").chars().filter(|sign| !sign.is_whitespace()).collect();
    let digits = plain.find(|sign: char| sign.is_ascii_alphabetic()).unwrap_or(plain.len());
    let (number, unit) = plain.split_at(digits);
    let number =
        if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number}{unit}").parse::<Length>().map_err(|error| error.to_string())
}
