//! Maps switches to hardware: serial numbers and MAC addresses from a site's list.
//!
//! In: CSV with a header. The columns `name`, `serial`, `mac` and `product` are read in any order and case,
//! as exported by NetBox and other programs. Out: [`Hardware`] by name. Invariants: a serial number is a
//! plain file name. No two rows share a name, a serial number or a MAC address. The errors of a list are
//! reported together, each with its line.

use std::collections::BTreeMap;
use std::fmt;

use closc_plan::Mac;
use thiserror::Error;

/// Maximum length of a serial number or product name.
const LONGEST: usize = 64;

/// Number of errors after which reading stops. A file of another kind has one on each line.
const FAULTS_MAX: usize = 20;

/// A serial number: letters, digits and, after the first character, also `.`, `_` and `-`. So it is a single
/// file name, and a single segment of a URL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Serial(String);

impl Serial {
    /// Reads a serial number.
    fn parse(text: &str) -> Option<Self> {
        let plain = |sign: char| sign.is_ascii_alphanumeric() || "._-".contains(sign);
        let begins = text.starts_with(|sign: char| sign.is_ascii_alphanumeric());
        (begins && text.len() <= LONGEST && text.chars().all(plain)).then(|| Serial(text.to_owned()))
    }
}

impl fmt::Display for Serial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The hardware of one switch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hardware {
    /// The line of the list, from 1.
    pub line: u64,
    /// The serial number, as in the EEPROM of the switch.
    pub serial: Option<Serial>,
    /// The MAC address of the management port.
    pub mac: Option<Mac>,
    /// The product name, as in the EEPROM.
    pub product: Option<String>,
}

/// An error in a list.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{line}: {message}")]
pub struct HardwareFault {
    /// The line, from 1.
    pub line: u64,
    /// The error, and the expected form.
    pub message: String,
}

/// The cell of each column in a record.
struct Columns {
    name: usize,
    serial: Option<usize>,
    mac: Option<usize>,
    product: Option<usize>,
}

impl Columns {
    fn find(header: &csv::StringRecord) -> Result<Self, String> {
        let find = |wanted: &str| header.iter().position(|cell| cell.eq_ignore_ascii_case(wanted));
        let columns = Columns {
            name: find("name").ok_or_else(|| missing_column("name", header))?,
            serial: find("serial").or_else(|| find("serial number")),
            mac: find("mac").or_else(|| find("mac address")),
            product: find("product").or_else(|| find("product name")),
        };
        if columns.serial.is_none() && columns.mac.is_none() {
            return Err(missing_column("serial` or `mac", header));
        }
        Ok(columns)
    }
}

fn missing_column(column: &str, header: &csv::StringRecord) -> String {
    let there: Vec<String> =
        header.iter().take(12).map(|cell| format!("`{}`", cell.escape_debug())).collect();
    format!("the header has no column `{column}`; its columns are {}", there.join(", "))
}

/// Reads a list.
///
/// # Errors
///
/// Returns the errors, each with its line. Reading stops after the row with the 20th error.
pub fn read(text: &str) -> Result<BTreeMap<String, Hardware>, Vec<HardwareFault>> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(closc_artefacts::separator(text.as_bytes()))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let refuse = |line: u64, message: String| vec![HardwareFault { line, message }];
    let header = reader.headers().map_err(|error| refuse(1, error.to_string()))?;
    let columns = Columns::find(header).map_err(|what| refuse(1, what))?;
    if let Some(line) =
        closc_artefacts::open_quote(text.as_bytes(), closc_artefacts::separator(text.as_bytes()))
    {
        return Err(refuse(line, closc_artefacts::OPEN_QUOTE.to_owned()));
    }
    let mut list = List::default();
    for record in reader.records() {
        match record {
            Ok(record) => list.row(&columns, &record),
            Err(error) => list.fault(error.position().map_or(1, csv::Position::line), &error.to_string()),
        }
        if list.faults.len() >= FAULTS_MAX {
            break;
        }
    }
    if list.faults.is_empty() { Ok(list.rows) } else { Err(list.faults) }
}

/// Rows and errors so far.
#[derive(Default)]
struct List {
    rows: BTreeMap<String, Hardware>,
    /// Serial numbers and MAC addresses, each with the line of its first use.
    first_lines: BTreeMap<String, u64>,
    faults: Vec<HardwareFault>,
}

impl List {
    fn fault(&mut self, line: u64, what: &str) {
        self.faults.push(HardwareFault { line, message: what.to_owned() });
    }

    fn row(&mut self, columns: &Columns, record: &csv::StringRecord) {
        let line = record.position().map_or(1, csv::Position::line);
        let cell = |at: Option<usize>| at.and_then(|at| record.get(at)).filter(|text| !text.is_empty());
        let Some(name) = cell(Some(columns.name)) else { return self.fault(line, "`name` is empty") };
        let mut row = Hardware { line, ..Hardware::default() };
        if let Some(text) = cell(columns.serial) {
            row.serial = Serial::parse(text);
            if row.serial.is_none() {
                self.fault(line, &format!(
                    "`{}` is not a serial number that fits in a URL; expected letters, digits and, after the \
                     first, `.`, `_` and `-`, at most {LONGEST} characters", text.escape_debug()
                ));
            }
            self.check_unique(line, "serial number", text);
        }
        if let Some(text) = cell(columns.mac) {
            row.mac = mac(text);
            match row.mac {
                Some(mac) => self.check_unique(line, "MAC address", &mac.to_string()),
                None => self.fault(
                    line,
                    &format!(
                        "`{}` is not the MAC address of a port; expected, for example, `0c:42:a1:00:00:01`",
                        text.escape_debug()
                    ),
                ),
            }
        }
        if let Some(text) = cell(columns.product) {
            if text.len() <= LONGEST
                && text.chars().all(|sign| sign.is_ascii_graphic() && !"\"\\".contains(sign))
            {
                row.product = Some(text.to_owned());
            } else {
                self.fault(line, &format!("`{}` is not a product name", text.escape_debug()));
            }
        }
        if let Some(other) = self.rows.insert(name.to_owned(), row) {
            self.fault(line, &format!("`{}` is also on line {}", name.escape_debug(), other.line));
        }
    }

    /// Checks that no other row has the same value.
    fn check_unique(&mut self, line: u64, what: &str, text: &str) {
        if let Some(other) = self.first_lines.insert(format!("{what} {text}"), line) {
            self.fault(line, &format!("the {what} `{}` is also on line {other}", text.escape_debug()));
        }
    }
}

/// Reads a MAC address in any of the forms `0c:42:..`, `0c-42-..`, `0c42.a100.0001` and `0c42a1000001`.
fn mac(text: &str) -> Option<Mac> {
    let digits: String = text.chars().filter(|sign| !":-.".contains(*sign)).collect();
    if digits.len() != 12 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; 6];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).ok()?;
    }
    // The address of a port is neither a multicast address nor all zeros.
    (bytes[0] & 1 == 0 && bytes != [0; 6]).then_some(Mac(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        read(text).expect_err("refused").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn lists_of_others_are_read_by_the_names_of_their_columns() {
        let text = "\u{feff}ID,Name,Status,Serial Number,MAC Address\n7, a ,active,MT2334X00001,0C42.A100.0001\n8,b,planned,,\n";
        let list = read(text).expect("right");
        assert_eq!(list["a"].serial.as_ref().map(ToString::to_string).as_deref(), Some("MT2334X00001"));
        assert_eq!(list["a"].mac.map(|mac| mac.to_string()).as_deref(), Some("0c:42:a1:00:00:01"));
        assert_eq!((list["b"].serial.clone(), list["b"].line), (None, 3));
    }

    #[test]
    fn serial_numbers_of_strangers_stay_in_their_folder() {
        for serial in [
            "..",
            ".",
            "../../etc/cron.d/x",
            "/etc/passwd",
            "a/b",
            "-rf",
            "a b",
            "a%2fb",
            "\u{e9}",
            "a\\b",
            "a?b#c",
        ] {
            let said = faults(&format!("name,serial\np0-t0-001,{serial}\n"));
            assert!(said[0].starts_with("2: ") && said[0].contains("is not a serial number"), "{said:?}");
        }
        assert!(faults(&format!("name,serial\na,{}\n", "x".repeat(65)))[0].contains("at most 64 characters"));
    }

    #[test]
    fn faults_have_their_lines_and_doubles_the_other_one_too() {
        let text = "name,serial,mac,product\na,S1,02:00:00:00:00:01,x\nb,S1,02-00-00-00-00-01,x\na,S2,,\n,S3,,\nc,S4,01:00:00:00:00:01,\nd,,,\"a\"\"b\"\n";
        assert_eq!(
            faults(text),
            [
                "3: the serial number `S1` is also on line 2",
                "3: the MAC address `02:00:00:00:00:01` is also on line 2",
                "4: `a` is also on line 2",
                "5: `name` is empty",
                "6: `01:00:00:00:00:01` is not the MAC address of a port; expected, for example, \
                  `0c:42:a1:00:00:01`",
                "7: `a\\\"b` is not a product name",
            ]
        );
        assert_eq!(
            faults("device,serial\na,b\n"),
            ["1: the header has no column `name`; its columns are `device`, `serial`"]
        );
        assert!(faults("name,serial\na\n")[0].starts_with("2: "));
        assert_eq!(faults(&format!("name,mac\n{}", "a,x\n".repeat(100))).len(), FAULTS_MAX + 1);
    }
}
