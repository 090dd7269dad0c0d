//! The grammar: one statement a line, `#` starts a comment.
//!
//! ```text
//! add TABLE [PRIORITY] FIELD:VALUE... ACTION(PARAMETER:VALUE, ...) [= NAME]
//! member PROFILE ID ACTION(PARAMETER:VALUE, ...)
//! group PROFILE ID MEMBER[*WEIGHT]...
//! add TABLE FIELD:VALUE... member(id:ID)      or group(id:ID)
//! setdefault TABLE ACTION(PARAMETER:VALUE, ...)
//! packet PORT HEX...
//! expect PORT [HEX...]            * stands for any digit, a final $ for the end of the packet
//! no_packet | wait | remove all
//! mirroring_add SESSION PORT | mirroring_add_mc SESSION GROUP
//! mc_mgrp_create GROUP | mc_node_create INSTANCE PORT... | mc_node_associate GROUP NODE
//! register_write ARRAY INDEX VALUE | counter_read ARRAY INDEX
//! check_counter ARRAY(INDEX) [packets|bytes] [==|!=|<|<=|>|>=] NUMBER
//! check_counter TABLE(NAME) ...               the direct counter of the entry called so
//! ```
//!
//! A value is decimal, `0x` or `0b`; `*` in it stands for any digit, `/n` ends a prefix, `&&&` a mask, `..` a range.

use thiserror::Error;

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
    /// Its value.
    pub(crate) value: String,
}

/// What a packet must look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    /// Digits, `*` for any.
    pub(crate) digits: String,
    /// Whether nothing may follow.
    pub(crate) exact: bool,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    /// Adds an entry.
    Add {
        /// The table.
        table: String,
        /// Greatest wins.
        priority: Option<i32>,
        /// What it matches; fields left out match everything.
        fields: Vec<Field>,
        /// The action.
        action: String,
        /// Its arguments.
        args: Vec<Field>,
        /// Name by which a counter is checked.
        label: Option<String>,
    },
    /// Adds a member to an action profile.
    Member {
        /// The profile.
        profile: String,
        /// Number of the member.
        id: u32,
        /// The action.
        action: String,
        /// Its arguments.
        args: Vec<Field>,
    },
    /// Adds a group to an action profile.
    Group {
        /// The profile.
        profile: String,
        /// Number of the group.
        id: u32,
        /// Members with their weights.
        members: Vec<(u32, u32)>,
    },
    /// Sets the default action.
    SetDefault {
        /// The table.
        table: String,
        /// The action.
        action: String,
        /// Its arguments.
        args: Vec<Field>,
    },
    /// Sends a packet in by a port.
    Packet(u32, Vec<u8>),
    /// Expects a packet from a port; any where none is given.
    Expect(u32, Option<Expected>),
    /// Removes all entries.
    RemoveAll,
    /// A command of the control plane: name and arguments.
    Command(String, Vec<String>),
    /// Compares a counter.
    CheckCounter {
        /// The array, or the table of a direct counter.
        array: String,
        /// Which counter: a number, or the name of an entry.
        index: String,
        /// Whether bytes are compared, or packets.
        bytes: bool,
        /// `==` and so on.
        op: String,
        /// With what.
        value: u64,
    },
    /// Says nothing: `wait` and `no_packet`.
    Nothing,
}

/// A line that is no statement.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct SyntaxFault {
    /// The line.
    pub(crate) line: usize,
    /// What is wrong with it.
    pub(crate) problem: String,
}

impl Script {
    /// Reads a script.
    pub fn parse(text: &str) -> Result<Self, SyntaxFault> {
        let mut statements = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line_number = at + 1;
            let line = line.split('#').next().unwrap_or_default().trim();
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
            let (table, call) =
                rest.split_once(char::is_whitespace).ok_or("a table and an action are needed")?;
            let (action, args) = call_of(call.trim())?;
            Ok(Statement::SetDefault { table: table.to_owned(), action, args })
        }
        "packet" => {
            let (port, data) = port_of(rest)?;
            Ok(Statement::Packet(port, bytes(&data)?))
        }
        "expect" => {
            let (port, data) = port_of(rest)?;
            Ok(Statement::Expect(port, expected(&data)?))
        }
        "wait" | "no_packet" => Ok(Statement::Nothing),
        "remove" => Ok(Statement::RemoveAll),
        "check_counter" => check_counter(rest),
        command => {
            let args = rest.split_whitespace().map(str::to_owned).collect();
            Ok(Statement::Command(command.to_owned(), args))
        }
    }
}

fn add(rest: &str) -> Result<Statement, String> {
    let open = rest.find('(').ok_or("no action with `(` is given")?;
    let head = rest[..open].trim_end();
    let (matches, action) =
        head.rsplit_once(char::is_whitespace).ok_or("a table and an action are needed")?;
    let close = rest.rfind(')').ok_or("the action has no `)`")?;
    let after = rest[close + 1..].trim();
    let label = match after.strip_prefix('=') {
        Some(label) => Some(label.trim().to_owned()),
        None if after.is_empty() => None,
        None => return Err(format!("`{after}` is too much")),
    };
    let (_, args) = call_of(&format!("{action}{}", &rest[open..=close]))?;
    let matches = matches.replace(": ", ":").replace(" :", ":");
    let mut words = matches.split_whitespace();
    let table = words.next().ok_or("a table is needed")?.to_owned();
    let (mut priority, mut fields) = (None, Vec::new());
    for word in words {
        match word.rsplit_once(':') {
            Some((name, value)) => fields.push(Field { name: name.to_owned(), value: value.to_owned() }),
            None => priority = Some(word.parse().map_err(|_| format!("`{word}` is no priority"))?),
        }
    }
    Ok(Statement::Add { table, priority, fields, action: action.to_owned(), args, label })
}

/// Splits the name of a profile and a number from what follows them.
fn profile_of(rest: &str) -> Result<(String, u32, &str), String> {
    let problem = || "a profile and a number are needed".to_owned();
    let (profile, rest) = rest.split_once(char::is_whitespace).ok_or_else(problem)?;
    let (id, rest) = rest.trim().split_once(char::is_whitespace).ok_or_else(problem)?;
    let id = id.parse().map_err(|_| format!("`{id}` is no number"))?;
    Ok((profile.to_owned(), id, rest.trim()))
}

fn member(rest: &str) -> Result<Statement, String> {
    let (profile, id, call) = profile_of(rest)?;
    let (action, args) = call_of(call)?;
    Ok(Statement::Member { profile, id, action, args })
}

fn group(rest: &str) -> Result<Statement, String> {
    let (profile, id, members) = profile_of(rest)?;
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is no number"));
    let member = |text: &str| match text.split_once('*') {
        Some((member, weight)) => Ok((number(member)?, number(weight)?)),
        None => Ok((number(text)?, 1)),
    };
    let members: Result<Vec<(u32, u32)>, String> = members.split_whitespace().map(member).collect();
    Ok(Statement::Group { profile, id, members: members? })
}

fn call_of(text: &str) -> Result<(String, Vec<Field>), String> {
    let (name, rest) = text.split_once('(').ok_or_else(|| format!("`{text}` has no `(`"))?;
    let inside = rest.trim_end().strip_suffix(')').ok_or_else(|| format!("`{text}` has no `)`"))?;
    let mut args = Vec::new();
    for part in inside.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once(':').ok_or_else(|| format!("`{part}` is no `name:value`"))?;
        args.push(Field { name: name.trim().to_owned(), value: value.trim().to_owned() });
    }
    Ok((name.trim().to_owned(), args))
}

fn port_of(rest: &str) -> Result<(u32, String), String> {
    let (port, data) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let port = port.parse().map_err(|_| format!("`{port}` is no port"))?;
    Ok((port, data.split_whitespace().collect()))
}

fn bytes(digits: &str) -> Result<Vec<u8>, String> {
    if !digits.len().is_multiple_of(2) {
        return Err("an odd number of digits is no whole bytes".to_owned());
    }
    if digits.is_empty() {
        return Ok(Vec::new());
    }
    crate::bits::parse_hex_bytes(digits).ok_or_else(|| format!("`{digits}` is not hexadecimal"))
}

fn expected(data: &str) -> Result<Option<Expected>, String> {
    if data.is_empty() {
        return Ok(None);
    }
    let (digits, exact) = data.strip_suffix('$').map_or((data, false), |digits| (digits, true));
    if digits.chars().all(|c| c == '*' || c.is_ascii_hexdigit()) {
        Ok(Some(Expected { digits: digits.to_ascii_lowercase(), exact }))
    } else {
        Err(format!("`{digits}` is not hexadecimal"))
    }
}

fn check_counter(rest: &str) -> Result<Statement, String> {
    let problem = || "expected `check_counter ARRAY(INDEX) packets == NUMBER`".to_owned();
    let (array, rest) = rest.split_once('(').ok_or_else(problem)?;
    let (index, rest) = rest.split_once(')').ok_or_else(problem)?;
    let index = index.trim().to_owned();
    let mut words = rest.split_whitespace().peekable();
    let bytes = words.peek() == Some(&"bytes");
    if matches!(words.peek(), Some(&("bytes" | "packets"))) {
        words.next();
    }
    let op = words.next().unwrap_or("==").to_owned();
    let value = words.next().unwrap_or("0").parse().map_err(|_| problem())?;
    Ok(Statement::CheckCounter { array: array.trim().trim_matches('"').to_owned(), index, bytes, op, value })
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
        let want = Expected { digits: "00**".to_owned(), exact: true };
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
        assert_eq!((array.as_str(), index.as_str()), ("t", "mine"));
        assert!(Script::parse("add t a:1 send(port:1) mine").is_err());
        assert!(Script::parse("group p x 1").is_err());
    }

    #[test]
    fn faults_name_the_line() {
        let fault = Script::parse("\npacket x 00").expect_err("x is no port");
        assert_eq!(fault.to_string(), "line 2: `x` is no port");
        assert!(Script::parse("packet 1 000").is_err());
        assert!(Script::parse("add t f:1 act").is_err());
    }
}
