//! Reads `backup-ports.json` and `nccl-topology.xml`.
//!
//! The topology has one element per line. Attributes may have any order; an unknown element or attribute is an error.

use super::error::ReadError;
use crate::model::library::{Backups, Pairing};

/// File of the backup ports, in the folder of a node.
pub(crate) const BACKUPS: &str = "backup-ports.json";

/// File of the topology of GPUs and NICs.
pub(crate) const TOPOLOGY: &str = "nccl-topology.xml";

/// Format of the file of backup ports.
const FORMAT: &str = "closc-backup-ports/1";

/// Reads backup ports.
pub(crate) fn backups(text: &str) -> Result<Backups, ReadError> {
    let backups: Backups = serde_json::from_str(text)?;
    if backups.format != FORMAT {
        return Err(ReadError::new(format!(
            "backup ports of format `{}`; expected `{FORMAT}`",
            backups.format
        )));
    }
    Ok(backups)
}

/// Form of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `<cpu ...>`.
    Opens,
    /// `</cpu>`.
    Closes,
    /// `<pci ... />`.
    Complete,
}

/// The innermost open element: none, `system`, `cpu`, the PCI switch of a GPU, or none after the end of `system`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    File,
    System,
    Cpu,
    Switch,
    End,
}

/// Reads the topology.
pub(crate) fn topology(text: &str) -> Result<Vec<Pairing>, ReadError> {
    let (mut depth, mut numa, mut pairings) = (Depth::File, 0, Vec::<Pairing>::new());
    for (at, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())) {
        if line.is_empty() || line.starts_with("<!--") && line.ends_with("-->") {
            continue;
        }
        let unknown = || ReadError::unknown(at, format!("`{line}` is not known to the proof"));
        let (form, name, attributes) = element(line).ok_or_else(unknown)?;
        depth = match (depth, form, name, attributes.as_slice()) {
            (Depth::File, Form::Opens, "system", [("version", "1")])
            | (Depth::Cpu, Form::Closes, "cpu", []) => Depth::System,
            (Depth::System, Form::Opens, "cpu", [("numaid", number)]) => {
                numa = number.parse().map_err(|_| unknown())?;
                Depth::Cpu
            }
            (
                Depth::Cpu,
                Form::Opens,
                "pci",
                [("busid", switch), ("class", "0x060400"), ("link_speed", speed), ("link_width", "16")],
            ) => {
                let (switch, link_speed) = ((*switch).to_owned(), (*speed).to_owned());
                pairings.push(Pairing { numa, line: at, switch, link_speed, ..Pairing::default() });
                Depth::Switch
            }
            (Depth::Switch, Form::Complete, "pci", [("busid", busid), ("class", class)]) => {
                let own = pairings.last_mut().ok_or_else(unknown)?;
                match *class {
                    "0x030200" if own.gpu.is_empty() => (*busid).clone_into(&mut own.gpu),
                    "0x020000" => own.nics.push((*busid).to_owned()),
                    _ => return Err(unknown()),
                }
                Depth::Switch
            }
            (Depth::Switch, Form::Closes, "pci", []) => Depth::Cpu,
            (Depth::System, Form::Closes, "system", []) => Depth::End,
            _ => return Err(unknown()),
        };
    }
    if depth == Depth::End { Ok(pairings) } else { Err(ReadError::new("the topology has no closing tag")) }
}

type Element<'a> = (Form, &'a str, Vec<(&'a str, &'a str)>);

/// Splits an element into its name and its attributes, sorted by name.
fn element(line: &str) -> Option<Element<'_>> {
    let body = line.strip_prefix('<')?.strip_suffix('>')?;
    if let Some(name) = body.strip_prefix('/') {
        return Some((Form::Closes, name.trim_end(), Vec::new()));
    }
    let (form, body) = match body.strip_suffix('/') {
        Some(body) => (Form::Complete, body),
        None => (Form::Opens, body),
    };
    let (name, mut rest) = body.split_once(' ').unwrap_or((body, ""));
    let mut attributes = Vec::new();
    while !rest.trim_start().is_empty() {
        let (key, after) = rest.split_once("=\"")?;
        let (value, after) = after.split_once('"')?;
        attributes.push((key.trim(), value));
        rest = after;
    }
    attributes.sort_unstable();
    Some((form, name, attributes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: &str = "<pci busid=\"ffff:ff:01.0\" class=\"0x060400\" link_speed=\"32.0 GT/s PCIe\" \
                          link_width=\"16\">\n";
    const DEVICES: &str = "<pci busid=\"0000:1a:00.0\" class=\"0x030200\"/>\n\
                           <pci busid=\"0000:18:00.0\" class=\"0x020000\"/>\n";

    fn file(inside: &str) -> String {
        format!("<system version=\"1\">\n<cpu numaid=\"1\">\n{SWITCH}{inside}</pci>\n</cpu>\n</system>\n")
    }

    #[test]
    fn the_topology_is_read() {
        let read = topology(&file(DEVICES)).expect("it is complete");
        let [own] = read.as_slice() else { panic!("one switch") };
        assert_eq!((own.numa, own.gpu.as_str(), own.nics.len(), own.line), (1, "0000:1a:00.0", 1, 3));
        let reordered = DEVICES.replace(
            "busid=\"0000:18:00.0\" class=\"0x020000\"",
            "class=\"0x020000\"  busid=\"0000:18:00.0\" ",
        );
        assert_eq!(topology(&file(&reordered)), Ok(read));
    }

    #[test]
    fn unknown_elements_are_errors() {
        for inside in [
            "<nic>\n",
            "<pci busid=\"0000:18:00.0\" class=\"0x010000\"/>\n",
            "<pci busid=\"0000:18:00.0\"/>\n",
            &DEVICES.replace("/>", " keep=\"1\"/>"),
            &DEVICES.repeat(2),
            "</pci>\n",
        ] {
            assert!(topology(&file(inside)).is_err(), "{inside}");
        }
        assert!(topology("<system version=\"1\">\n").is_err());
    }
}
