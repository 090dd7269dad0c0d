//! Writes CONFIG_DB as JSON, table by table, without building it in memory first.
//!
//! In: tables in ascending order, rows as key and fields. Out: JSON. Invariants: tables and the fields of a row are
//! in ascending order, so equal rows give equal bytes. Every value is a string or an array of strings, as in Redis.
//! An empty table is omitted. A row is one line, except that a row with a field per port has one line per field. So a
//! change of a port changes one line, and the file of a switch with 512 ports stays well below a megabyte.

use std::fmt::{self, Display, Write as _};

use super::repeated::{Fields, Kinds, block};

/// Maximum number of digits of a `u64`.
const U64_DIGITS: usize = 20;

/// Text before the name of a table, after the comma that ends the previous one.
const OPENING: &[u8] = b"\n    \"";

/// Text between the name of a table and its first key.
const FIRST_KEY: &[u8] = b"\": {\n        \"";

/// CONFIG_DB being written.
pub(super) struct Document {
    out: Vec<u8>,
    last: &'static str,
}

/// A table being written.
pub(super) struct Table<'a> {
    out: &'a mut Vec<u8>,
    name: &'static str,
    first: bool,
    rows: usize,
}

/// The fields of a row being written.
pub(super) struct Row<'a> {
    out: &'a mut Vec<u8>,
    last: &'static str,
}

impl Document {
    /// Creates a document with an initial capacity in bytes.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        let mut out = Vec::with_capacity(bytes);
        out.push(b'{');
        Document { out, last: "" }
    }

    /// Writes a table. Call it in ascending order of names. A table without rows is omitted.
    pub(super) fn table(&mut self, name: &'static str, rows: impl FnOnce(&mut Table<'_>)) {
        assert!(self.last < name, "table {name} comes after {}", self.last);
        let first = self.last.is_empty();
        let mut table = Table { out: &mut self.out, name, first, rows: 0 };
        rows(&mut table);
        if table.rows > 0 {
            table.out.extend_from_slice(b"\n    }");
            self.last = name;
        }
    }

    /// Ends the file and returns it.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        self.out.extend_from_slice(b"\n}\n");
        std::mem::take(&mut self.out)
    }
}

impl Table<'_> {
    /// Writes a row. Its key is the concatenation of `key`.
    pub(super) fn row(&mut self, key: &[&str], fields: impl FnOnce(&mut Row<'_>)) {
        self.key(key);
        braces(self.out, fields);
    }

    /// Writes a row without fields.
    pub(super) fn bare(&mut self, key: &[&str]) {
        self.row(key, |_| {});
    }

    /// Writes a row with prepared fields.
    pub(super) fn repeat_row(&mut self, key: &[&str], fields: &Fields) {
        self.key(key);
        self.out.extend_from_slice(&fields.0);
    }

    /// Writes the rows of ports. Each port has the rows of its kind, whose key suffixes are appended to the port name
    /// unchanged.
    pub(super) fn ports<'n>(&mut self, ports: impl Iterator<Item = (&'n str, usize)> + Clone, kinds: Kinds) {
        let block = block(ports.clone(), kinds, |kinds| {
            let mut text = Vec::new();
            let mut table = Table { out: &mut text, name: self.name, first: true, rows: 0 };
            for (port, kind) in ports {
                for (rest, fields) in &kinds[kind] {
                    table.repeat_row(&[port, rest], fields);
                }
            }
            let rows = table.rows;
            // The reusable text omits the opening of the table, which depends on the text before it.
            let opening = if rows > 0 { OPENING.len() + self.name.len() + FIRST_KEY.len() } else { 0 };
            text.drain(..opening);
            (text, rows)
        });
        if block.rows > 0 {
            self.begin_key();
            self.out.extend_from_slice(&block.text);
            self.rows += block.rows;
        }
    }

    /// Writes a row that maps small numbers to small numbers.
    pub(super) fn map<K: Into<i64>, V: Into<i64>>(
        &mut self,
        key: &[&str],
        map: impl IntoIterator<Item = (K, V)>,
    ) {
        self.key(key);
        self.out.push(b'{');
        let start = self.out.len();
        for (from, to) in map {
            if self.out.len() > start {
                self.out.extend_from_slice(b", ");
            }
            show(self.out, from.into());
            self.out.extend_from_slice(b": ");
            show(self.out, to.into());
        }
        self.out.push(b'}');
    }

    /// Writes a row whose field names are names of the device, such as ports. There can be many, so each has its own
    /// line.
    pub(super) fn texts<'n>(&mut self, key: &[&str], fields: impl IntoIterator<Item = (&'n str, String)>) {
        self.key(key);
        self.out.push(b'{');
        let start = self.out.len();
        for (name, value) in fields {
            if self.out.len() > start {
                self.out.push(b',');
            }
            self.out.extend_from_slice(b"\n            ");
            text(self.out, name);
            self.out.extend_from_slice(b": ");
            text(self.out, &value);
        }
        self.out.extend_from_slice(b"\n        }");
    }

    fn key(&mut self, key: &[&str]) {
        self.begin_key();
        self.rows += 1;
        for part in key {
            escape(self.out, part);
        }
        self.out.extend_from_slice(b"\": ");
    }

    fn begin_key(&mut self) {
        if self.rows > 0 {
            return self.out.extend_from_slice(b",\n        \"");
        }
        if !self.first {
            self.out.push(b',');
        }
        self.out.extend_from_slice(OPENING);
        self.out.extend_from_slice(self.name.as_bytes());
        self.out.extend_from_slice(FIRST_KEY);
    }
}

impl Row<'_> {
    /// Writes a field. Call it in ascending order of names.
    pub(super) fn text(&mut self, name: &'static str, value: &str) {
        self.name(name);
        text(self.out, value);
    }

    /// Writes a field with the `Display` text of a value.
    pub(super) fn show(&mut self, name: &'static str, value: impl Display) {
        self.name(name);
        show(self.out, value);
    }

    /// Writes a field with an unsigned number.
    pub(super) fn number(&mut self, name: &'static str, value: impl Into<u64>) {
        self.name(name);
        self.out.push(b'"');
        digits(self.out, value.into());
        self.out.push(b'"');
    }

    /// Writes a field of several values that SONiC stores in one string, separated by commas.
    pub(super) fn commas<T: Display>(&mut self, name: &'static str, values: impl IntoIterator<Item = T>) {
        self.name(name);
        self.out.push(b'"');
        for (at, value) in values.into_iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            display(self.out, value);
        }
        self.out.push(b'"');
    }

    /// Writes a field of several values that SONiC stores as a list.
    pub(super) fn list(&mut self, name: &'static str, values: &[&str]) {
        self.name(name);
        self.out.push(b'[');
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.out.extend_from_slice(b", ");
            }
            text(self.out, value);
        }
        self.out.push(b']');
    }

    fn name(&mut self, name: &'static str) {
        debug_assert!(self.last < name, "field {name} comes after {}", self.last);
        if !self.last.is_empty() {
            self.out.extend_from_slice(b", ");
        }
        self.last = name;
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\": ");
    }
}

impl Fields {
    /// Writes the fields of a row.
    pub(super) fn new(fields: impl FnOnce(&mut Row<'_>)) -> Self {
        let mut out = Vec::new();
        braces(&mut out, fields);
        Fields(out)
    }
}

fn braces(out: &mut Vec<u8>, fields: impl FnOnce(&mut Row<'_>)) {
    out.push(b'{');
    fields(&mut Row { out, last: "" });
    out.push(b'}');
}

fn text(out: &mut Vec<u8>, value: &str) {
    out.push(b'"');
    escape(out, value);
    out.push(b'"');
}

fn show(out: &mut Vec<u8>, value: impl Display) {
    out.push(b'"');
    display(out, value);
    out.push(b'"');
}

/// Writes the `Display` text of a value as the contents of a JSON string.
fn display(out: &mut Vec<u8>, value: impl Display) {
    let _ = write!(JsonString(out), "{value}");
}

/// The contents of a JSON string.
struct JsonString<'a>(&'a mut Vec<u8>);

impl fmt::Write for JsonString<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape(self.0, text);
        Ok(())
    }
}

fn digits(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; U64_DIGITS];
    let mut at = U64_DIGITS;
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Writes text as the contents of a JSON string. Names need no escapes, so only free text takes the slow path. The
/// fast path checks all bytes in a loop that the compiler vectorizes.
fn escape(out: &mut Vec<u8>, text: &str) {
    let odd = |byte: u8| u8::from(byte < b' ') | u8::from(byte == b'"') | u8::from(byte == b'\\');
    if text.bytes().fold(0, |found, byte| found | odd(byte)) == 0 {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    let quoted = serde_json::to_string(text).expect("text is always JSON");
    out.extend_from_slice(&quoted.as_bytes()[1..quoted.len() - 1]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(rows: impl FnOnce(&mut Document)) -> String {
        let mut document = Document::with_capacity(64);
        rows(&mut document);
        String::from_utf8(document.finish()).unwrap()
    }

    #[test]
    fn a_row_is_a_line() {
        let text = write(|document| {
            document.table("CRM", |_| {});
            document.table("PORT", |table| {
                table.row(&["Ethernet", "0"], |row| {
                    row.text("alias", "etp1");
                    row.number("speed", 100_000_u32);
                });
                table.bare(&["Ethernet4"]);
            });
            document.table("QUEUE", |table| {
                let fields = Fields::new(|row| row.show("scheduler", 7));
                table.repeat_row(&["Ethernet0|3"], &fields);
                table.map(&["map"], [(0_i64, 1_i64), (63, 15)]);
                table.texts(&["ports"], [("Ethernet0", "5m".to_owned()), ("Ethernet4", "40m".to_owned())]);
            });
        });
        let expected = r#"{
    "PORT": {
        "Ethernet0": {"alias": "etp1", "speed": "100000"},
        "Ethernet4": {}
    },
    "QUEUE": {
        "Ethernet0|3": {"scheduler": "7"},
        "map": {"0": "1", "63": "15"},
        "ports": {
            "Ethernet0": "5m",
            "Ethernet4": "40m"
        }
    }
}
"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn rows_of_ports_are_the_same_the_second_time() {
        let kinds =
            |word: &str| vec![vec![("|0".to_owned(), Fields::new(|row| row.text("a", word)))], vec![]];
        let one = |word: &str, ports: &[(&str, usize)], before: bool| {
            write(|document| {
                if before {
                    document.table("PORT", |table| table.bare(&["x"]));
                }
                document.table("QUEUE", |table| {
                    table.ports(ports.iter().copied(), kinds(word));
                    table.bare(&["global"]);
                });
            })
        };
        let plain = "{\n    \"QUEUE\": {\n        \"p|0\": {\"a\": \"b\"},\n        \"r|0\": {\"a\": \"b\"},\n        \"global\": {}\n    }\n}\n";
        let ports = [("p", 0), ("q", 1), ("r", 0)];
        for _ in 0..2 {
            assert_eq!(one("b", &ports, false), plain);
            assert_eq!(
                one("b", &ports, true),
                plain.replace("{\n    \"QUEUE", "{\n    \"PORT\": {\n        \"x\": {}\n    },\n    \"QUEUE")
            );
            assert_eq!(one("c", &ports, false), plain.replace("\"b\"", "\"c\""));
            assert_eq!(one("b", &ports[..2], false), plain.replace("        \"r|0\": {\"a\": \"b\"},\n", ""));
            assert_eq!(one("b", &[("p", 0), ("r", 1)], false), one("b", &ports[..2], false));
            assert_eq!(
                one("b", &[("q", 1)], false),
                "{\n    \"QUEUE\": {\n        \"global\": {}\n    }\n}\n"
            );
        }
    }

    #[test]
    fn whatever_a_user_writes_stays_json() {
        let free = "say \"hi\"\\\n\u{1}\u{7f} \u{e9}\u{1f600}";
        let text = write(|document| {
            document.table("SNMP", |table| table.row(&[free], |row| row.text("Contact", free)));
        });
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["SNMP"][free]["Contact"], free);
    }

    #[test]
    fn numbers_have_no_leading_zero() {
        for value in [0, 7, 10, 4_294_967_295, u64::MAX] {
            let mut out = Vec::new();
            digits(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
    }

    #[test]
    #[should_panic(expected = "table PORT comes after QUEUE")]
    fn tables_ascend() {
        write(|document| {
            document.table("QUEUE", |table| table.bare(&["Ethernet0|0"]));
            document.table("PORT", |table| table.bare(&["Ethernet0"]));
        });
    }
}
