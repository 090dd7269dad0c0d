//! The grammar: one statement per line; `#` starts a comment; names may be quoted.
//!
//! ```text
//! add TABLE [PRIORITY] FIELD:VALUE... ACTION(PARAMETER:VALUE, ...) [= NAME]
//! member PROFILE ID ACTION(PARAMETER:VALUE, ...)
//! group PROFILE ID MEMBER[*WEIGHT]...
//! add TABLE FIELD:VALUE... member(id:ID)      or group(id:ID)
//! setdefault TABLE ACTION(PARAMETER:VALUE, ...)
//! packet PORT HEX...
//! expect PORT [HEX...]            `*` matches any digit, a final `$` the end of the packet; without HEX, any packet
//! no_packet                       no packet leaves through a port that no line names
//! wait | remove all
//! mirroring_add SESSION PORT | mirroring_add_mc SESSION GROUP | mirroring_delete SESSION | mirroring_get SESSION
//! mc_mgrp_create GROUP | mc_node_create INSTANCE PORT... | mc_node_associate GROUP NODE | mc_node_update NODE PORT...
//! register_write ARRAY INDEX VALUE | register_read ARRAY INDEX | register_reset ARRAY
//! counter_read ARRAY INDEX | counter_write ARRAY INDEX PACKETS BYTES
//! meter_set_rates METER NAME RATE:BURST...    direct meter of the entry with this label
//! meter_set_rates ARRAY INDEX RATE:BURST... | meter_array_set_rates ARRAY RATE:BURST... | meter_get_rates ARRAY INDEX
//! check_counter ARRAY(INDEX) [packets|bytes ==|!=|<|<=|>|>= NUMBER]
//! check_counter COUNTER($NAME) ...            direct counter of the entry with this label; or TABLE(NAME)
//! ```
//!
//! A value is decimal, `0x`, `0b` or `0o`. A `*` in it matches any digit. `/n` adds a prefix length, `&&&` a
//! mask, and `..` the end of a range. A rate is in units per microsecond.

use thiserror::Error;

use super::line::{Line, Token, strip_comment};

/// A script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Statements with their lines.
    pub(crate) statements: Vec<(usize, Statement)>,
}

/// A name and a value as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Name of a key field or parameter.
    pub(crate) name: String,
    pub(crate) value: String,
}

/// Pattern of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PacketPattern {
    /// Digits, `*` for any digit.
    pub(crate) digits: String,
    /// Whether the packet must end there.
    pub(crate) exact: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    /// Adds an entry.
    Add {
        table: String,
        /// Priority; the greatest wins.
        priority: Option<i32>,
        /// Match fields. An absent exact field matches zero, any other absent field matches everything.
        fields: Vec<Field>,
        /// The action.
        action: String,
        /// Its arguments.
        args: Vec<Field>,
        /// Label by which its counter is checked.
        label: Option<String>,
    },
    /// Adds a member to an action profile.
    Member {
        profile: String,
        /// Number of the member.
        id: u32,
        action: String,
        /// Its arguments.
        args: Vec<Field>,
    },
    /// Adds a group to an action profile.
    Group {
        profile: String,
        /// Number of the group.
        id: u32,
        /// Members with their weights.
        members: Vec<(u32, u32)>,
    },
    /// Sets the default action.
    SetDefault {
        table: String,
        action: String,
        /// Its arguments.
        args: Vec<Field>,
    },
    /// Sends a packet into a port.
    Packet(u32, Vec<u8>),
    /// Expects a packet from a port. Without a pattern, any packet is accepted.
    Expect(u32, Option<PacketPattern>),
    /// Expects no packet from ports that no line names.
    NoPacket,
    /// Resets all tables to the entries and default actions of the program.
    RemoveAll,
    /// A command of the control plane: name and arguments.
    Command(String, Vec<String>),
    /// Compares a counter.
    CheckCounter {
        /// The array, or a direct counter or its table.
        array: String,
        /// Index of the counter.
        index: CounterIndex,
        /// Whether to compare bytes instead of packets.
        bytes: bool,
        /// `==` and so on.
        op: String,
        /// Value to compare with.
        value: u64,
    },
    /// No effect: `wait`.
    Nothing,
}

/// A counter of an array or table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CounterIndex {
    /// By index.
    Number(u32),
    /// By the label of an entry.
    Entry(String),
}

/// An invalid line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct SyntaxFault {
    pub(crate) line: usize,
    /// The reason.
    pub(crate) problem: String,
}

impl Script {
    /// Reads a script.
    pub fn parse(text: &str) -> Result<Self, SyntaxFault> {
        let mut statements = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line_number = at + 1;
            let line = strip_comment(line);
            if !line.is_empty() {
                let statement =
                    statement(line).map_err(|problem| SyntaxFault { line: line_number, problem })?;
                statements.push((line_number, statement));
            }
        }
        Ok(Self { statements })
    }

    /// Returns the packets that the script sends, each with its port.
    pub fn packets(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.statements.iter().filter_map(|(_, statement)| match statement {
            Statement::Packet(port, frame) => Some((*port, frame.as_slice())),
            Statement::Add { .. }
            | Statement::Member { .. }
            | Statement::Group { .. }
            | Statement::SetDefault { .. }
            | Statement::Expect(..)
            | Statement::NoPacket
            | Statement::RemoveAll
            | Statement::Command(..)
            | Statement::CheckCounter { .. }
            | Statement::Nothing => None,
        })
    }
}

fn statement(line: &str) -> Result<Statement, String> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match word.to_ascii_lowercase().as_str() {
        "add" => add(rest),
        "member" => member(rest),
        "group" => group(rest),
        "setdefault" => {
            let mut line = Line::of(rest)?;
            let table = line.word("a table")?;
            let (action, args) = call_of(&mut line)?;
            line.end()?;
            Ok(Statement::SetDefault { table, action, args })
        }
        "packet" => {
            let (port, data) = port_of(rest)?;
            Ok(Statement::Packet(port, bytes(&data)?))
        }
        "expect" => {
            let (port, data) = port_of(rest)?;
            Ok(Statement::Expect(port, parse_expected(&data)?))
        }
        "no_packet" => Ok(Statement::NoPacket),
        "wait" => Ok(Statement::Nothing),
        "remove" => Ok(Statement::RemoveAll),
        "check_counter" => check_counter(rest),
        command => Ok(Statement::Command(command.to_owned(), command_args(rest)?)),
    }
}

/// Returns the arguments of a command. A rate and its burst are one argument, with the colon.
fn command_args(rest: &str) -> Result<Vec<String>, String> {
    let mut line = Line::of(rest)?;
    let mut args = Vec::new();
    while let Some(mut arg) = line.optional_word() {
        if line.take(&Token::Colon) {
            arg = format!("{arg}:{}", line.word("a burst")?);
        }
        args.push(arg);
    }
    line.end()?;
    Ok(args)
}

fn add(rest: &str) -> Result<Statement, String> {
    let mut line = Line::of(rest)?;
    let table = line.word("a table")?;
    let (mut priority, mut fields) = (None, Vec::new());
    let (action, args) = loop {
        let word = line.word("an action with `(`")?;
        if line.take(&Token::Open) {
            break (word, args_of(&mut line)?);
        } else if line.take(&Token::Colon) {
            fields.push(Field { name: word, value: line.word("a value")? });
        } else if priority.is_none() {
            priority = Some(word.parse().map_err(|_| format!("`{word}` is not a priority"))?);
        } else {
            return Err(format!("`{word}` is too much"));
        }
    };
    let label = match line.operator() {
        Some(operator) if operator == "=" => Some(line.word("a name behind `=`")?),
        Some(other) => return Err(format!("`{other}` is too much")),
        None => None,
    };
    line.end()?;
    Ok(Statement::Add { table, priority, fields, action, args, label })
}

/// Takes the name of a profile and a number.
fn profile_of(line: &mut Line) -> Result<(String, u32), String> {
    let profile = line.word("a profile")?;
    let id = line.word("a number")?;
    let id = id.parse().map_err(|_| format!("`{id}` is not a number"))?;
    Ok((profile, id))
}

fn member(rest: &str) -> Result<Statement, String> {
    let mut line = Line::of(rest)?;
    let (profile, id) = profile_of(&mut line)?;
    let (action, args) = call_of(&mut line)?;
    line.end()?;
    Ok(Statement::Member { profile, id, action, args })
}

fn group(rest: &str) -> Result<Statement, String> {
    let mut line = Line::of(rest)?;
    let (profile, id) = profile_of(&mut line)?;
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is not a number"));
    let mut members = Vec::new();
    while let Some(text) = line.optional_word() {
        members.push(match text.split_once('*') {
            Some((member, weight)) => (number(member)?, number(weight)?),
            None => (number(&text)?, 1),
        });
    }
    line.end()?;
    Ok(Statement::Group { profile, id, members })
}

fn call_of(line: &mut Line) -> Result<(String, Vec<Field>), String> {
    let name = line.word("an action")?;
    if !line.take(&Token::Open) {
        return Err(format!("`{name}` has no `(`"));
    }
    Ok((name, args_of(line)?))
}

/// Takes arguments up to the closing bracket.
fn args_of(line: &mut Line) -> Result<Vec<Field>, String> {
    let mut args = Vec::new();
    loop {
        if line.take(&Token::Close) {
            return Ok(args);
        } else if line.take(&Token::Comma) {
            continue;
        }
        let name = line.word("a parameter or `)`")?;
        if !line.take(&Token::Colon) {
            return Err(format!("`{name}` is not a `name:value`"));
        }
        args.push(Field { name, value: line.word("a value")? });
    }
}

fn port_of(rest: &str) -> Result<(u32, String), String> {
    let (port, data) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let port = port.parse().map_err(|_| format!("`{port}` is not a port"))?;
    Ok((port, data.split_whitespace().collect()))
}

fn bytes(digits: &str) -> Result<Vec<u8>, String> {
    if !digits.len().is_multiple_of(2) {
        return Err("an odd number of digits is not a whole bytes".to_owned());
    }
    if digits.is_empty() {
        return Ok(Vec::new());
    }
    crate::bits::parse_hex_bytes(digits).ok_or_else(|| format!("`{digits}` is not hexadecimal"))
}

fn parse_expected(data: &str) -> Result<Option<PacketPattern>, String> {
    if data.is_empty() {
        return Ok(None);
    }
    let (digits, exact) = data.strip_suffix('$').map_or((data, false), |digits| (digits, true));
    if digits.chars().all(|c| c == '*' || c.is_ascii_hexdigit()) {
        Ok(Some(PacketPattern { digits: digits.to_ascii_lowercase(), exact }))
    } else {
        Err(format!("`{digits}` is not hexadecimal"))
    }
}

fn check_counter(rest: &str) -> Result<Statement, String> {
    let problem = || "expected `check_counter ARRAY(INDEX) packets == NUMBER`".to_owned();
    let mut line = Line::of(rest)?;
    let array = line.word("a counter")?;
    if !line.take(&Token::Open) {
        return Err(problem());
    }
    let index = line.word("an index")?;
    // `$` marks the label and is not a part of it.
    let index = match index.parse() {
        Ok(number) => CounterIndex::Number(number),
        Err(_) => CounterIndex::Entry(index.strip_prefix('$').unwrap_or(&index).to_owned()),
    };
    if !line.take(&Token::Close) {
        return Err(problem());
    }
    let unit = line.optional_word().map(|unit| unit.to_ascii_lowercase());
    let bytes = match unit.as_deref() {
        Some("bytes") => true,
        Some("packets") | None => false,
        Some(_) => return Err(problem()),
    };
    let op = line.operator().unwrap_or_else(|| "==".to_owned());
    let value = line.optional_word().map_or(Ok(0), |value| value.parse()).map_err(|_| problem())?;
    line.end()?;
    Ok(Statement::CheckCounter { array, index, bytes, op, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_read() {
        let text = "# comment\nadd t 5 hdr.ip.dst:10.0/8 a.$valid$:1 send(port: 2, mac:0x3)\nexpect 1 00** $\nwait\n";
        let script = Script::parse(text).expect("all lines are statements");
        assert_eq!(script.statements.len(), 3);
        let field = |name: &str, value: &str| Field { name: name.to_owned(), value: value.to_owned() };
        let want = Statement::Add {
            table: "t".to_owned(),
            priority: Some(5),
            fields: vec![field("hdr.ip.dst", "10.0/8"), field("a.$valid$", "1")],
            action: "send".to_owned(),
            args: vec![field("port", "2"), field("mac", "0x3")],
            label: None,
        };
        assert_eq!(script.statements[0], (2, want));
        let want = PacketPattern { digits: "00**".to_owned(), exact: true };
        assert_eq!(script.statements[1], (3, Statement::Expect(1, Some(want))));
    }

    #[test]
    fn profiles_and_labels_are_read() {
        let text = "member p 3 send(port:1)\ngroup p 7 3 4*2\nadd t a:1 group(id:7) = mine\n\
                    check_counter \"t\"(mine) packets == 1\n";
        let script = Script::parse(text).expect("all lines are statements");
        let group = Statement::Group { profile: "p".to_owned(), id: 7, members: vec![(3, 1), (4, 2)] };
        assert_eq!(script.statements[1].1, group);
        assert!(
            matches!(&script.statements[2].1, Statement::Add { label: Some(label), .. } if label == "mine")
        );
        let Statement::CheckCounter { array, index, .. } = &script.statements[3].1 else { panic!("a check") };
        assert_eq!((array.as_str(), index), ("t", &CounterIndex::Entry("mine".to_owned())));
        assert!(Script::parse("add t a:1 send(port:1) mine").is_err());
        assert!(Script::parse("group p x 1").is_err());
    }

    #[test]
    fn quotes_and_marks_are_no_part_of_names() {
        let text = "add \"c.t\" 3 \"hdr.h.$valid$\" : 0b1 \"c.send\"(\"port\":1) = \"A\"\ncheck_counter cnt($A) bytes >= 3\n\
                    setdefault \"c.t\" \"c.send\"(port:1)\nmeter_set_rates \"c.m\" 2 0.5:4 1:5\n";
        let script = Script::parse(text).expect("all lines are statements");
        let field = |name: &str, value: &str| Field { name: name.to_owned(), value: value.to_owned() };
        let want = Statement::Add {
            table: "c.t".to_owned(),
            priority: Some(3),
            fields: vec![field("hdr.h.$valid$", "0b1")],
            action: "c.send".to_owned(),
            args: vec![field("port", "1")],
            label: Some("A".to_owned()),
        };
        assert_eq!(script.statements[0].1, want);
        let want = Statement::CheckCounter {
            array: "cnt".to_owned(),
            index: CounterIndex::Entry("A".to_owned()),
            bytes: true,
            op: ">=".to_owned(),
            value: 3,
        };
        assert_eq!(script.statements[1].1, want);
        assert!(
            matches!(&script.statements[2].1, Statement::SetDefault { table, action, .. } if table == "c.t" && action == "c.send")
        );
        let rates = ["c.m", "2", "0.5:4", "1:5"].map(str::to_owned).to_vec();
        assert_eq!(script.statements[3].1, Statement::Command("meter_set_rates".to_owned(), rates));
    }

    #[test]
    fn faults_name_the_line() {
        let fault = Script::parse("\npacket x 00").expect_err("x is not a port");
        assert_eq!(fault.to_string(), "line 2: `x` is not a port");
        assert!(Script::parse("packet 1 000").is_err());
        assert!(Script::parse("add t f:1 act").is_err());
    }
}
