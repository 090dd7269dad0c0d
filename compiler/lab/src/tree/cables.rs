//! The cable lists, `cables/*.csv`.

use closc_artefacts::cables::{Kind, Row, State};
use closc_artefacts::paths;

use super::contents::Contents;
use crate::error::{LabError, TreeFault};
use crate::name::{DeviceName, Interface, NameFault};

/// A cable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CableRow {
    /// The plane it belongs to.
    pub plane: u8,
    /// Kind of its ends.
    pub kind: Kind,
    /// The end nearer to the NICs.
    pub lower: CableEnd,
    /// The other end.
    pub upper: CableEnd,
    /// Whether it must not carry new traffic.
    pub drained: bool,
}

/// An end of a cable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CableEnd {
    /// The device.
    pub device: String,
    /// Its port, in the naming of the device.
    pub port: String,
}

/// Reads all cable lists.
pub(super) fn read_all(contents: &Contents) -> Result<Vec<CableRow>, LabError> {
    let mut cables = Vec::new();
    for path in super::files(contents, paths::CABLES, "csv", "cable list")? {
        let text = contents.text(path)?;
        cables.extend(parse(&text).map_err(LabError::tree(contents.folder().join(path)))?);
    }
    Ok(cables)
}

fn parse(text: &str) -> Result<Vec<CableRow>, TreeFault> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers()?.clone();
    let mut record = csv::StringRecord::new();
    let mut cables = Vec::new();
    while reader.read_record(&mut record)? {
        cables.push(cable(&record.deserialize(Some(&header))?)?);
    }
    Ok(cables)
}

fn cable(row: &Row<'_>) -> Result<CableRow, TreeFault> {
    let word = |what, word: &str| TreeFault::Word { column: what, value: word.to_owned() };
    Ok(CableRow {
        plane: row.plane,
        kind: Kind::from_word(row.kind).ok_or_else(|| word("kind", row.kind))?,
        lower: end(row.lower_device, row.lower_port)?,
        upper: end(row.upper_device, row.upper_port)?,
        drained: State::from_word(row.state).ok_or_else(|| word("state", row.state))? != State::Up,
    })
}

fn end(device: &str, port: &str) -> Result<CableEnd, TreeFault> {
    let fault = |error: NameFault| TreeFault::Name(error.to_string());
    Ok(CableEnd {
        device: device.parse::<DeviceName>().map_err(fault)?.into(),
        port: port.parse::<Interface>().map_err(fault)?.into(),
    })
}

#[cfg(test)]
mod tests {
    use closc_artefacts::cables::HEADER;

    use super::*;

    #[test]
    fn cables_are_read_by_their_columns() {
        let text = format!(
            "{HEADER}1,nic-t0,n1,nic0p1,p1-t0-001,eth1,3m,dac,up\n\
             1,t0-t1,p1-t0-001,eth3,p1-t1-001,eth1,30m,dr4,drained\n"
        );
        let cables = parse(&text).unwrap();
        assert_eq!(cables.len(), 2);
        assert_eq!((cables[0].plane, cables[0].lower.port.as_str(), cables[0].drained), (1, "nic0p1", false));
        assert!(cables[1].drained);
    }

    #[test]
    fn a_line_that_does_not_parse_says_where() {
        let error = parse(&format!("{HEADER}one,t0-t1,a,b,c,d,e,f,up\n")).unwrap_err();
        assert!(error.to_string().contains("line: 2"), "{error}");
        let error = parse(&format!("{HEADER}1,t0-t1,a,b,c,d,30m,dr4,absent\n")).unwrap_err();
        assert_eq!(error.to_string(), "`absent` is not a state of a cable");
    }
}
