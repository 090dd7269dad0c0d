//! Runs a script against a data plane.

use std::collections::BTreeMap;
use std::sync::Arc;

use num_bigint::BigInt;
use thiserror::Error;

use super::script::{Expected, Field, Script, Statement};
use crate::bits;
use crate::engine::Engine;
use crate::program::{self, MatchKind, Program, TableKind, TableMatch};
use crate::state::{ActionRef, CloneSession, Counter, Entry, GroupMember, Key, MemberAction, Replica, Table};

/// A line that did not come true.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct ScriptFault {
    /// The line, or the last one where a packet came that nobody expected.
    pub(crate) line: usize,
    /// What is wrong.
    pub(crate) problem: String,
}

/// Priority of STF, where the greatest wins, against which entries are ranked.
const HIGHEST: i32 = 1 << 30;

/// State of a run.
struct Runner<'r> {
    engine: &'r mut Engine,
    program: Arc<Program>,
    now_ns: u64,
    sent: Vec<(u32, Vec<u8>)>,
    /// Nodes of multicast trees: instance and ports.
    nodes: Vec<(u32, Vec<u32>)>,
    /// Entries by name: table and handle.
    labels: BTreeMap<String, (usize, u32)>,
}

impl Script {
    /// Runs the script against a data plane.
    pub fn run(&self, engine: &mut Engine) -> Result<(), ScriptFault> {
        let program = Arc::clone(engine.program());
        let mut runner = Runner {
            engine,
            program,
            now_ns: 0,
            sent: Vec::new(),
            nodes: Vec::new(),
            labels: BTreeMap::new(),
        };
        let mut expected: BTreeMap<u32, Vec<(usize, Option<Expected>)>> = BTreeMap::new();
        let mut last = 0;
        for (line, statement) in &self.statements {
            last = *line;
            if let Statement::Expect(port, packet) = statement {
                expected.entry(*port).or_default().push((*line, packet.clone()));
            } else {
                runner.statement(statement).map_err(|problem| ScriptFault { line: *line, problem })?;
            }
        }
        compare(last, &expected, &runner.sent)
    }
}

/// Compares what each port sent with what was expected of it, in order.
fn compare(
    last: usize,
    expected: &BTreeMap<u32, Vec<(usize, Option<Expected>)>>,
    sent: &[(u32, Vec<u8>)],
) -> Result<(), ScriptFault> {
    let mut by_port: BTreeMap<u32, Vec<&[u8]>> = BTreeMap::new();
    for (port, frame) in sent {
        by_port.entry(*port).or_default().push(frame);
    }
    for (port, wanted) in expected {
        let frames = by_port.remove(port).unwrap_or_default();
        if wanted.iter().any(|(_, packet)| packet.is_none()) && !frames.is_empty() {
            continue;
        }
        for (at, (line, packet)) in wanted.iter().enumerate() {
            let fault = |problem| ScriptFault { line: *line, problem };
            let Some(frame) = frames.get(at) else {
                return Err(fault(format!(
                    "port {port} sent {} packets, {} are expected",
                    frames.len(),
                    wanted.len()
                )));
            };
            let found = digits(frame);
            if let Some(want) = packet.as_ref().filter(|want| !agrees(want, &found)) {
                let end = if want.exact { "$" } else { "" };
                return Err(fault(format!("port {port} sent\n  {found}\nexpected\n  {}{end}", want.digits)));
            }
        }
        if let Some(extra) = frames.get(wanted.len()) {
            let found = digits(extra);
            return Err(ScriptFault {
                line: last,
                problem: format!("port {port} sent one more packet:\n  {found}"),
            });
        }
    }
    match by_port.first_key_value() {
        Some((port, frames)) => {
            let found = digits(frames[0]);
            Err(ScriptFault {
                line: last,
                problem: format!("port {port} sent a packet that nobody expects:\n  {found}"),
            })
        }
        None => Ok(()),
    }
}

fn digits(frame: &[u8]) -> String {
    use std::fmt::Write;
    frame.iter().fold(String::with_capacity(frame.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn agrees(want: &Expected, found: &str) -> bool {
    let digits = want.digits.chars().zip(found.chars()).all(|(want, found)| want == '*' || want == found);
    digits && if want.exact { found.len() == want.digits.len() } else { found.len() >= want.digits.len() }
}

impl Runner<'_> {
    fn statement(&mut self, statement: &Statement) -> Result<(), String> {
        match statement {
            Statement::Add { table, priority, fields, action, args, label } => {
                let place = self.add(table, *priority, fields, action, args)?;
                self.labels.extend(label.clone().map(|label| (label, place)));
                Ok(())
            }
            Statement::Member { profile, id, action, args } => self.member(profile, *id, action, args),
            Statement::Group { profile, id, members } => {
                let at = find(self.program.profiles.iter().map(|p| &p.name), profile)?;
                let part = |(member, weight): &(u32, u32)| GroupMember {
                    member: *member,
                    weight: *weight,
                    watch: None,
                };
                let members = members.iter().map(part).collect();
                self.engine.profiles[at].add_group(*id, 0, members).map_err(|e| e.to_string())
            }
            Statement::SetDefault { table, action, args } => {
                let at = find(self.program.tables.iter().map(|t| &t.name), table)?;
                let (action, args) = self.action(at, action, args)?;
                let spec = &self.program.tables[at];
                let default = &mut self.engine.tables[at].default;
                (default.action, default.args, default.next) = (Some(action), args, spec.after_miss(action));
                Ok(())
            }
            Statement::Packet(port, data) => {
                self.now_ns += 1_000_000;
                self.engine.receive(self.now_ns, *port, data, &mut self.sent);
                Ok(())
            }
            Statement::RemoveAll => {
                self.engine.tables = self.program.tables.iter().map(Table::new).collect();
                Ok(())
            }
            Statement::CheckCounter { array, index, bytes, op, value } => {
                self.check_counter(array, index, *bytes, op, *value)
            }
            Statement::Command(command, args) => self.command(command, args),
            Statement::Expect(..) | Statement::Nothing => Ok(()),
        }
    }

    fn add(
        &mut self,
        table: &str,
        priority: Option<i32>,
        fields: &[Field],
        action: &str,
        args: &[Field],
    ) -> Result<(usize, u32), String> {
        let at = find(self.program.tables.iter().map(|t| &t.name), table)?;
        let action = self.entry_action(at, action, args)?;
        let spec = &self.program.tables[at];
        let mut key = Key { priority: HIGHEST - priority.unwrap_or(0), ..Key::default() };
        let mut given = vec![None; spec.key.len()];
        for field in fields {
            given[key_field(spec, &field.name)?] = Some(field.value.as_str());
        }
        for (field, value) in spec.key.iter().zip(given) {
            add_match(field, spec.matching, value, &mut key)?;
        }
        key.normalise(spec);
        let entry = Entry::new(action, self.now_ns);
        let inserted = self.engine.tables[at].insert(&key, entry);
        inserted.map(|handle| (at, handle)).map_err(|e| format!("table `{}`: {e}", spec.name))
    }

    /// Finds what an entry does: an action, or a member or group of the table's profile.
    fn entry_action(&self, table: usize, action: &str, args: &[Field]) -> Result<ActionRef, String> {
        let spec = &self.program.tables[table];
        let TableKind::Indirect(profile) = spec.kind else {
            let (action, args) = self.action(table, action, args)?;
            return Ok(ActionRef::Direct { action, args, next: spec.after_hit(action) });
        };
        let id = args
            .iter()
            .find(|arg| arg.name == "id")
            .ok_or("`member(id:...)` or `group(id:...)` is needed")?;
        let id = u32::try_from(&number(&id.value)?).map_err(|_| format!("`{}` is too large", id.value))?;
        let profile = &self.engine.profiles[profile as usize];
        let found = match action {
            "member" => profile.member_slot(id).map(ActionRef::Member),
            "group" => profile.group_slot(id).map(ActionRef::Group),
            other => return Err(format!("`{other}` is neither `member` nor `group`")),
        };
        found.ok_or_else(|| format!("{action} {id} does not exist"))
    }

    fn member(&mut self, profile: &str, id: u32, action: &str, args: &[Field]) -> Result<(), String> {
        let at = find(self.program.profiles.iter().map(|p| &p.name), profile)?;
        let kind = TableKind::Indirect(at as u16);
        let table = self.program.tables.iter().position(|table| table.kind == kind);
        let table = table.ok_or_else(|| format!("no table uses profile `{profile}`"))?;
        let (action, args) = self.action(table, action, args)?;
        let member = MemberAction { action, args };
        self.engine.profiles[at].add_member(id, member).map_err(|e| e.to_string())
    }

    fn action(&self, table: usize, name: &str, args: &[Field]) -> Result<(u16, Box<[u64]>), String> {
        let table = &self.program.tables[table];
        let candidates: Vec<u16> = table.actions.iter().map(|(action, _)| *action).collect();
        let at = find(candidates.iter().map(|at| &self.program.actions[*at as usize].name), name)?;
        let action = &self.program.actions[candidates[at] as usize];
        let mut words = vec![0; action.words];
        for arg in args {
            let param = action.params.iter().position(|(name, _)| *name == arg.name);
            let param =
                param.ok_or_else(|| format!("action `{}` has no parameter `{}`", action.name, arg.name))?;
            put(&number(&arg.value)?, action.params[param].1, &mut words[action.range(param)]);
        }
        Ok((candidates[at], words.into()))
    }

    fn check_counter(
        &self,
        array: &str,
        index: &str,
        bytes: bool,
        op: &str,
        value: u64,
    ) -> Result<(), String> {
        let counter = match index.parse() {
            Ok(number) => self.counter(array, number)?,
            Err(_) => self.direct_counter(array, index)?,
        };
        let found = if bytes { counter.bytes } else { counter.packets };
        let holds = match op {
            "==" => found == value,
            "!=" => found != value,
            "<" => found < value,
            "<=" => found <= value,
            ">" => found > value,
            ">=" => found >= value,
            other => return Err(format!("comparison `{other}` is not known")),
        };
        if holds { Ok(()) } else { Err(format!("counter `{array}` at {index} is {found}, not {op} {value}")) }
    }

    fn direct_counter(&self, table: &str, label: &str) -> Result<Counter, String> {
        let at = find(self.program.tables.iter().map(|t| &t.name), table)?;
        let (_, handle) =
            self.labels.get(label).filter(|(table, _)| *table == at).ok_or("no entry has this name")?;
        let entry = self.engine.tables[at].get(*handle).ok_or("the entry was removed")?;
        Ok(entry.counter)
    }

    fn counter(&self, array: &str, index: u32) -> Result<Counter, String> {
        let at = find(self.program.counters.iter().map(|a| &a.name), array)?;
        self.engine.arrays.counters[at]
            .get(index)
            .ok_or_else(|| format!("counter `{array}` has no index {index}"))
    }

    fn command(&mut self, command: &str, args: &[String]) -> Result<(), String> {
        let arg =
            |at: usize| args.get(at).map(String::as_str).ok_or(format!("`{command}` needs more arguments"));
        let small = |at: usize| -> Result<u32, String> {
            u32::try_from(&number(arg(at)?)?)
                .map_err(|_| format!("`{command}`: argument {} is too large", at + 1))
        };
        match command {
            "mirroring_add" => {
                let replicas = vec![Replica { instance: 0, port: small(1)? }];
                let session = CloneSession { replicas, ..CloneSession::default() };
                self.engine.replication.sessions.insert(small(0)?, session);
            }
            "mirroring_add_mc" => {
                let replicas = self.engine.replication.replicas(small(1)?).to_vec();
                let session = CloneSession { replicas, ..CloneSession::default() };
                self.engine.replication.sessions.insert(small(0)?, session);
            }
            "mirroring_delete" => drop(self.engine.replication.sessions.remove(&small(0)?)),
            "mc_mgrp_create" => drop(self.engine.replication.groups.insert(small(0)?, Vec::new())),
            "mc_node_create" => {
                let ports: Result<Vec<u32>, String> = (1..args.len()).map(small).collect();
                self.nodes.push((small(0)?, ports?));
            }
            "mc_node_associate" => {
                let node = self.nodes.get(small(1)? as usize).ok_or("the node does not exist")?;
                let group = self.engine.replication.groups.entry(small(0)?).or_default();
                group.extend(node.1.iter().map(|port| Replica { instance: node.0, port: *port }));
            }
            "register_write" => {
                let at = find(self.program.registers.iter().map(|r| &r.name), arg(0)?)?;
                let mut words = vec![0; self.program.registers[at].words()];
                bits::set_big(&mut words, &number(arg(2)?)?);
                self.engine.arrays.registers[at].set(u64::from(small(1)?), &words);
            }
            "register_read" => {
                let at = find(self.program.registers.iter().map(|r| &r.name), arg(0)?)?;
                let found = self.engine.arrays.registers[at].get(u64::from(small(1)?));
                found.ok_or_else(|| format!("register `{}` has no index {}", args[0], args[1]))?;
            }
            "counter_read" => drop(self.counter(arg(0)?, small(1)?)?),
            other => return Err(format!("command `{other}` is not known")),
        }
        Ok(())
    }
}

/// Finds an object by name, or by the only name that ends with it.
fn find<'n>(names: impl Iterator<Item = &'n String>, name: &str) -> Result<usize, String> {
    let suffix = format!(".{name}");
    let (mut found, mut others) = (None, false);
    for (at, full) in names.enumerate() {
        if full == name {
            return Ok(at);
        }
        if full.ends_with(&suffix) {
            others = found.is_some();
            found = Some(at);
        }
    }
    match found {
        Some(at) if !others => Ok(at),
        Some(_) => Err(format!("`{name}` is ambiguous")),
        None => Err(format!("`{name}` is not known")),
    }
}

fn key_field(table: &program::Table, name: &str) -> Result<usize, String> {
    // Stack elements are written `stack$0` where brackets would not do.
    let bracketed = match name.split_once('$') {
        Some((stack, rest)) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            format!("{stack}[{}]{}", &rest[..end], &rest[end..])
        }
        _ => name.to_owned(),
    };
    let plain = |key: &str| key.trim_end_matches('$').replace(".$valid", ".valid");
    let wanted = plain(&bracketed.replace(".isValid()", ".valid"));
    let exact = table.key.iter().position(|field| plain(&field.name) == wanted);
    let suffix = format!(".{wanted}");
    let ending = || table.key.iter().position(|field| plain(&field.name).ends_with(&suffix));
    exact.or_else(ending).ok_or_else(|| format!("table `{}` has no key field `{name}`", table.name))
}

/// Adds one field of an entry to its key.
fn add_match(
    field: &program::KeyField,
    matching: TableMatch,
    value: Option<&str>,
    key: &mut Key,
) -> Result<(), String> {
    let words = |number: &BigInt| {
        let mut words = vec![0; field.words as usize];
        put(number, field.bits, &mut words);
        words
    };
    let all: BigInt = (BigInt::from(1) << field.bits) - 1_u8;
    let (low, high) = match (value, field.kind) {
        (None, MatchKind::Exact | MatchKind::Valid) => return Err(format!("`{}` is missing", field.name)),
        (None, MatchKind::Range) => (BigInt::ZERO, all),
        (None, MatchKind::Lpm | MatchKind::Ternary) => (BigInt::ZERO, BigInt::ZERO),
        (Some(text), MatchKind::Range) => match text.split_once("..") {
            Some((low, high)) => (number(low)?, number(high)?),
            None => (number(text)?, number(text)?),
        },
        (Some(text), MatchKind::Exact | MatchKind::Valid) => (number(text)?, all),
        (Some(text), MatchKind::Lpm | MatchKind::Ternary) => masked(text, field.bits)?,
    };
    if field.kind == MatchKind::Lpm && matching == TableMatch::Lpm {
        key.prefix = high.count_ones();
    }
    key.value.extend(words(&low));
    key.mask.extend(words(&high));
    Ok(())
}

trait CountOnes {
    fn count_ones(&self) -> u32;
}

impl CountOnes for BigInt {
    fn count_ones(&self) -> u32 {
        self.iter_u64_digits().map(u64::count_ones).sum()
    }
}

/// Reads a value with its mask: wildcards, a prefix length, or an explicit mask.
fn masked(text: &str, bits: u32) -> Result<(BigInt, BigInt), String> {
    let all: BigInt = (BigInt::from(1) << bits) - 1_u8;
    if let Some((value, mask)) = text.split_once("&&&") {
        return Ok((number(value)?, number(mask)?));
    }
    if let Some((value, prefix)) = text.split_once('/') {
        let prefix: u32 = prefix.parse().map_err(|_| format!("`{prefix}` is no prefix length"))?;
        let low =
            bits.checked_sub(prefix).ok_or_else(|| format!("prefix {prefix} is longer than {bits} bits"))?;
        let host: BigInt = (BigInt::from(1) << low) - 1_u8;
        return Ok((number(value)?, all - host));
    }
    if !text.contains('*') {
        return Ok((number(text)?, all));
    }
    let (base, digits) = text.split_at(2.min(text.len()));
    let (shift, any) = match base {
        "0x" => (4, 0xf_u8),
        "0b" => (1, 1),
        _ => return Err(format!("`{text}`: `*` needs `0x` or `0b`")),
    };
    let mask = digits.chars().fold(BigInt::ZERO, |sum, c| (sum << shift) + if c == '*' { 0 } else { any });
    Ok((number(&text.replace('*', "0"))?, mask))
}

fn number(text: &str) -> Result<BigInt, String> {
    let parsed = match text.get(..2) {
        Some("0x" | "0X") => BigInt::parse_bytes(&text.as_bytes()[2..], 16),
        Some("0b" | "0B") => BigInt::parse_bytes(&text.as_bytes()[2..], 2),
        _ => BigInt::parse_bytes(text.as_bytes(), 10),
    };
    parsed.ok_or_else(|| format!("`{text}` is no number"))
}

fn put(value: &BigInt, bits: u32, words: &mut [u64]) {
    bits::set_big(words, value);
    bits::truncate(words, bits as usize);
}
