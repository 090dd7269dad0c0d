//! Reads `nic-qos.sh`: one function with the settings of every port, then one line per port.
//!
//! In: the script. Out: a [`NicQos`]. Invariants: unknown, missing and duplicate commands and options are errors. The
//! script is not executed.

use std::collections::BTreeSet;
use std::str::FromStr;

use super::error::ReadError;
use crate::model::tools::NicQos;

/// The file in the folder of a node.
pub(crate) const FILE: &str = "nic-qos.sh";

/// The required first line.
const INTERPRETER: &str = "#!/bin/sh";

/// Position of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinePosition {
    Top,
    Port,
    /// Inside the loop over both roles of DCQCN (reaction and notification point).
    Loop,
}

/// Required commands and options. Each must occur once, except `--dscp2prio`.
const WANTED: [&str; 11] = [
    "set -eu",
    "-d",
    "--trust",
    "--dscp2prio",
    "--prio_tc",
    "--tsa",
    "--tcbw",
    "--pfc",
    "--cable_len",
    "--prio2buffer",
    "cma_roce_mode",
];

/// Reads the script.
pub(crate) fn read(text: &str) -> Result<NicQos, ReadError> {
    let mut reader = Reader { qos: NicQos::default(), option_names: BTreeSet::new(), at: LinePosition::Top };
    let mut whole = String::new();
    for (line, text) in text.split('\n').enumerate() {
        // Another interpreter, or one with options, may ignore the remaining lines.
        if (line == 0 && text != INTERPRETER) || text.contains('\r') {
            return Err(ReadError::at(line + 1, format!("`{}` is not known here", text.escape_debug())));
        }
        let code = text.split(" #").next().unwrap_or_default().trim();
        if code.is_empty() || code.starts_with('#') {
            if !whole.is_empty() {
                return Err(ReadError::at(line + 1, "a command ends with a backslash"));
            }
            continue;
        }
        if let Some(part) = code.strip_suffix('\\') {
            if !text.ends_with('\\') {
                return Err(ReadError::at(line + 1, "a backslash is not at the end of its line"));
            }
            whole.push_str(part);
            continue;
        }
        whole.push_str(code);
        reader.line(&whole).map_err(|message| ReadError::at(line + 1, message))?;
        if let Some(port) = reader.qos.ports.last_mut().filter(|port| port.2 == 0) {
            port.2 = line + 1;
        }
        whole.clear();
    }
    if reader.at != LinePosition::Top || !whole.is_empty() {
        return Err(ReadError::new("the script ends inside a command"));
    }
    if let Some(missing) = WANTED.iter().find(|wanted| !reader.option_names.contains(**wanted)) {
        return Err(ReadError::new(format!("`{missing}` is missing")));
    }
    Ok(reader.qos)
}

struct Reader {
    qos: NicQos,
    option_names: BTreeSet<String>,
    at: LinePosition,
}

impl Reader {
    fn reject_duplicate(&mut self, what: &str) -> Result<(), String> {
        if self.option_names.insert(what.to_owned()) {
            Ok(())
        } else {
            Err(format!("`{what}` appears twice"))
        }
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let line = line.strip_suffix(">/dev/null").unwrap_or(line).trim();
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match (self.at, words.as_slice()) {
            (LinePosition::Top, ["set", "-eu"]) => self.reject_duplicate("set -eu"),
            (LinePosition::Top, ["port()", "{"]) => {
                self.at = LinePosition::Port;
                self.reject_duplicate("port()")
            }
            (LinePosition::Top, ["port", name, meters]) if self.option_names.contains("port()") => {
                self.qos.ports.push(((*name).to_owned(), number(meters)?, 0));
                Ok(())
            }
            (LinePosition::Port, ["}"]) => {
                self.at = LinePosition::Top;
                Ok(())
            }
            (LinePosition::Port, ["mlnx_qos", "-i", "\"$1\"", options @ ..]) => self.options(options),
            (LinePosition::Port, ["cma_roce_mode", "-d", "\"$1\"", "-p", "1", "-m", "2"]) => {
                self.reject_duplicate("cma_roce_mode")
            }
            (LinePosition::Port, ["cma_roce_tos", "-d", "\"$1\"", "-p", "1", "-t", tos]) => {
                self.qos.connection_tos = number(tos)?;
                self.reject_duplicate("cma_roce_tos")
            }
            (LinePosition::Port, ["for", "point", "in", "roce_np", "roce_rp;", "do"]) => {
                self.at = LinePosition::Loop;
                self.reject_duplicate("for")
            }
            (LinePosition::Loop, ["done"]) => {
                self.at = LinePosition::Port;
                Ok(())
            }
            (at, ["echo", value, file]) => self.write(at, value, file),
            _ => Err(format!("`{line}` is not known here")),
        }
    }

    fn options(&mut self, options: &[&str]) -> Result<(), String> {
        if options.is_empty() || !options.len().is_multiple_of(2) {
            return Err("`mlnx_qos` without an option, or with one without a value".to_owned());
        }
        for pair in options.chunks_exact(2) {
            let (option, value) = (pair[0], pair[1]);
            if option == "--dscp2prio" {
                let point = value.strip_prefix("set,").and_then(|point| point.split_once(','));
                let (point, priority) =
                    point.ok_or_else(|| format!("`{value}` does not set a code point"))?;
                if self.qos.code_points.insert(number(point)?, number(priority)?).is_some() {
                    return Err(format!("code point {point} is given twice"));
                }
                self.option_names.insert(option.to_owned());
                continue;
            }
            self.reject_duplicate(option)?;
            match (option, value) {
                ("-d", "os") | ("--trust", "dscp") | ("--cable_len", "\"$2\"") => {}
                ("--prio_tc", list) => self.qos.classes = numbers(list)?,
                ("--tcbw", list) => self.qos.shares = numbers(list)?,
                ("--prio2buffer", list) => self.qos.buffers = numbers(list)?,
                ("--tsa", list) => {
                    let strict = |word: &str| match word {
                        "strict" => Ok(true),
                        "ets" => Ok(false),
                        _ => Err(format!("`{word}` is not a queue scheduler")),
                    };
                    self.qos.strict = eight(list.split(',').map(strict).collect::<Result<_, _>>()?)?;
                }
                ("--pfc", list) => {
                    let paused = |word: &str| match word {
                        "1" => Ok(true),
                        "0" => Ok(false),
                        _ => Err(format!("`{word}` is neither 0 nor 1")),
                    };
                    self.qos.paused = eight(list.split(',').map(paused).collect::<Result<_, _>>()?)?;
                }
                _ => return Err(format!("`{option} {value}` is not known")),
            }
        }
        Ok(())
    }

    fn write(&mut self, at: LinePosition, value: &str, file: &str) -> Result<(), String> {
        let place = file.strip_prefix(">\"/sys/class/net/$1/ecn/").and_then(|file| file.strip_suffix('"'));
        match (at, place) {
            (LinePosition::Port, Some("roce_np/cnp_dscp")) => {
                self.qos.notifications.0 = Some(number(value)?);
                self.reject_duplicate("cnp_dscp")
            }
            (LinePosition::Port, Some("roce_np/cnp_802p_prio")) => {
                self.qos.notifications.1 = Some(number(value)?);
                self.reject_duplicate("cnp_802p_prio")
            }
            (LinePosition::Loop, Some(place)) => {
                let priority =
                    place.strip_prefix("$point/enable/").ok_or(format!("`{file}` is not known"))?;
                let on = match value {
                    "1" => true,
                    "0" => false,
                    _ => return Err(format!("`{value}` is neither 0 nor 1")),
                };
                match self.qos.governed.insert(number(priority)?, on) {
                    None => Ok(()),
                    Some(_) => Err(format!("priority {priority} is given twice")),
                }
            }
            _ => Err(format!("`{file}` is not known")),
        }
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a valid number"))
}

fn numbers(list: &str) -> Result<Vec<u8>, String> {
    eight(list.split(',').map(number).collect::<Result<_, _>>()?)
}

/// Checks that a list has eight values, one per priority.
fn eight<T>(list: Vec<T>) -> Result<Vec<T>, String> {
    if list.len() == 8 { Ok(list) } else { Err(format!("a list has {} values; expected 8", list.len())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "#!/bin/sh\nset -eu\nport() {\n    mlnx_qos -i \"$1\" -d os >/dev/null\n    \
        mlnx_qos -i \"$1\" --trust dscp >/dev/null\n    mlnx_qos -i \"$1\" \\\n        --dscp2prio set,0,0 \\\n        \
        --dscp2prio set,26,3\n    mlnx_qos -i \"$1\" --prio_tc 0,1,2,3,4,5,6,7 >/dev/null\n    mlnx_qos -i \"$1\" --tsa \
        ets,strict,strict,ets,strict,strict,strict,strict --tcbw 40,0,0,60,0,0,0,0 >/dev/null\n    mlnx_qos -i \"$1\" --pfc \
        0,0,0,1,0,0,0,0 --cable_len \"$2\" >/dev/null\n    mlnx_qos -i \"$1\" --prio2buffer 0,0,0,1,0,0,0,0 >/dev/null\n    \
        cma_roce_mode -d \"$1\" -p 1 -m 2 >/dev/null\n    cma_roce_tos -d \"$1\" -p 1 -t 104 >/dev/null\n    \
        for point in roce_np roce_rp; do\n        echo 1 >\"/sys/class/net/$1/ecn/$point/enable/3\"\n    done\n}\n\n\
        port nic0p0 3    # p0-t0-001 Ethernet0\n";

    #[test]
    fn a_script_is_read_whole_or_not_at_all() {
        let qos = read(SCRIPT).expect("it is whole");
        assert_eq!(qos.ports, [("nic0p0".to_owned(), 3, 20)]);
        assert_eq!(qos.code_points.into_iter().collect::<Vec<_>>(), [(0, 0), (26, 3)]);
        assert_eq!((qos.connection_tos, qos.governed.get(&3)), (104, Some(&true)));
        for (old, new) in [
            ("#!/bin/sh", "#!/bin/true"),
            ("#!/bin/sh", "#!/bin/sh -n"),
            ("#!/bin/sh\n", ""),
            ("set,0,0 \\\n", "set,0,0 \\\n# comment\n"),
            ("set,0,0 \\\n", "set,0,0 \\ # comment\n"),
            ("port nic0p0 3 ", "port nic0p0 3\r"),
            ("set -eu\n", ""),
            ("--trust dscp", "--trust pcp"),
            ("--pfc 0,0,0,1", "--pfc 0,0,1"),
            ("-m 2", "-m 1"),
            ("-d os", "-d fw"),
            ("}\n\nport", "}\nrm -rf /\nport"),
            ("cma_roce_mode -d", "ip link set down; cma_roce_mode -d"),
            ("set,26,3", "del,26,3"),
            ("\n}\n", "\n"),
        ] {
            assert!(SCRIPT.contains(old), "{old}");
            assert!(read(&SCRIPT.replace(old, new)).is_err(), "{old} -> {new}");
        }
    }
}
