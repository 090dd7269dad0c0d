//! The cable lists, `cables/*.csv`.

use serde::Deserialize;

use super::contents::Contents;
use super::name::{DeviceName, Interface};
use crate::error::{LabError, TreeFault};

/// A cable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CableRow {
    /// The plane it belongs to.
    pub plane: u8,
    /// What it connects, for example `t0-t1`.
    pub kind: String,
    /// The end nearer to the NICs.
    pub lower: CableEnd,
    /// The other end.
    pub upper: CableEnd,
    /// Whether it carries no new traffic.
    pub drained: bool,
}

/// An end of a cable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CableEnd {
    /// The device.
    pub device: String,
    /// Its port, as it names it.
    pub port: String,
}

/// A line of the file; columns that a lab has no use for are left out.
#[derive(Debug, Deserialize)]
struct Line {
    plane: u8,
    kind: String,
    lower_device: DeviceName,
    lower_port: Interface,
    upper_device: DeviceName,
    upper_port: Interface,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Up,
    Drained,
    Absent,
}

/// Reads all cable lists.
pub(super) fn read_all(contents: &Contents) -> Result<Vec<CableRow>, LabError> {
    let mut cables = Vec::new();
    for path in super::files(contents, "cables", "csv", "cable list")? {
        let text = contents.text(path)?;
        cables.extend(parse(&text).map_err(LabError::tree(contents.folder().join(path)))?);
    }
    Ok(cables)
}

fn parse(text: &str) -> Result<Vec<CableRow>, TreeFault> {
    let mut cables = Vec::new();
    for line in csv::Reader::from_reader(text.as_bytes()).deserialize() {
        let line: Line = line?;
        if line.state != State::Absent {
            cables.push(CableRow {
                plane: line.plane,
                kind: line.kind,
                lower: CableEnd { device: line.lower_device.into(), port: line.lower_port.into() },
                upper: CableEnd { device: line.upper_device.into(), port: line.upper_port.into() },
                drained: line.state == State::Drained,
            });
        }
    }
    Ok(cables)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "plane,kind,lower_device,lower_port,upper_device,upper_port,length,medium,state\n";

    #[test]
    fn cables_that_are_absent_are_left_out() {
        let text = format!(
            "{HEADER}1,nic-t0,n1,nic0p1,p1-t0-001,eth1,3m,dac,up\n\
             1,t0-t1,p1-t0-001,eth3,p1-t1-001,eth1,30m,dr4,drained\n\
             1,t0-t1,p1-t0-001,eth4,p1-t1-002,eth1,30m,dr4,absent\n"
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
    }
}
