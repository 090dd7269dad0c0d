//! Runs a script against a data plane.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use thiserror::Error;

use super::script::{CounterIndex, Field, PacketPattern, Script, Statement};
use super::value::{add_match, key_field, number, put};
use crate::engine::Engine;
use crate::program::{Program, TableKind};
use crate::state::{ActionRef, Counter, Entry, GroupMember, Key, MemberAction, Table};

/// Ports that are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedPorts {
    /// Ports of packets and expectations. p4c's runner attaches only these.
    Named,
    /// All: a packet at a port that no line names is a fault.
    All,
}

/// A failed line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct ScriptFault {
    /// The line; the last one for an unexpected packet.
    pub(crate) line: usize,
    /// The error.
    pub(crate) problem: String,
}

/// Highest priority in STF. Ranks are this number minus the priority, because the smallest rank wins.
const HIGHEST: i32 = 1 << 30;

/// State of a run.
pub(super) struct Runner<'r> {
    pub(super) engine: &'r mut Engine,
    pub(super) program: Arc<Program>,
    now_ns: u64,
    sent: Vec<(u32, Vec<u8>)>,
    /// Nodes of multicast trees: instance and ports.
    pub(super) nodes: Vec<(u32, Vec<u32>)>,
    /// Nodes of each multicast group.
    pub(super) groups: BTreeMap<u32, Vec<usize>>,
    /// Entries by label: table and handle.
    labels: BTreeMap<String, (usize, u32)>,
}

impl Script {
    /// Runs the script against a data plane.
    pub fn run(&self, engine: &mut Engine, watched: CheckedPorts) -> Result<(), ScriptFault> {
        let program = Arc::clone(engine.program());
        let mut runner = Runner {
            engine,
            program,
            now_ns: 0,
            sent: Vec::new(),
            nodes: Vec::new(),
            groups: BTreeMap::new(),
            labels: BTreeMap::new(),
        };
        let mut expected: BTreeMap<u32, Vec<(usize, Option<PacketPattern>)>> = BTreeMap::new();
        let mut last = 0;
        let (mut all, mut named) = (watched == CheckedPorts::All, BTreeSet::new());
        for (line, statement) in &self.statements {
            last = *line;
            match statement {
                Statement::Expect(port, packet) => {
                    expected.entry(*port).or_default().push((*line, packet.clone()));
                }
                Statement::NoPacket => all = true,
                other => {
                    if let Statement::Packet(port, _) = other {
                        named.insert(*port);
                    }
                    runner.statement(other).map_err(|problem| ScriptFault { line: *line, problem })?;
                }
            }
        }
        let judged = |port: &u32| all || named.contains(port) || expected.contains_key(port);
        runner.sent.retain(|(port, _)| judged(port));
        compare(last, &expected, &runner.sent)
    }
}

/// Compares the packets of each port with the expected ones, in order.
fn compare(
    last: usize,
    expected: &BTreeMap<u32, Vec<(usize, Option<PacketPattern>)>>,
    sent: &[(u32, Vec<u8>)],
) -> Result<(), ScriptFault> {
    let mut by_port: BTreeMap<u32, Vec<&[u8]>> = BTreeMap::new();
    for (port, frame) in sent {
        by_port.entry(*port).or_default().push(frame);
    }
    for (port, wanted) in expected {
        let frames = by_port.remove(port).unwrap_or_default();
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
                problem: format!("port {port} sent an unexpected packet:\n  {found}"),
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

fn agrees(want: &PacketPattern, found: &str) -> bool {
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
                (default.action, default.args, default.next) =
                    (Some(action), args, spec.next_on_miss(action));
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
            Statement::Expect(..) | Statement::NoPacket | Statement::Nothing => Ok(()),
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
            add_match(field, spec.lookup, value, &mut key)?;
        }
        key.normalise(spec);
        let entry = Entry::new(action, self.now_ns);
        let inserted = self.engine.tables[at].insert(&key, entry);
        inserted.map(|handle| (at, handle)).map_err(|e| format!("table `{}`: {e}", spec.name))
    }

    /// Resolves the action of an entry: an action, or a member or group of the table's profile.
    fn entry_action(&self, table: usize, action: &str, args: &[Field]) -> Result<ActionRef, String> {
        let spec = &self.program.tables[table];
        let TableKind::Indirect(profile) = spec.kind else {
            let (action, args) = self.action(table, action, args)?;
            return Ok(ActionRef::Direct { action, args, next: spec.next_on_hit(action) });
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
        index: &CounterIndex,
        bytes: bool,
        op: &str,
        value: u64,
    ) -> Result<(), String> {
        let counter = match index {
            CounterIndex::Number(number) => self.counter(array, *number)?,
            CounterIndex::Entry(label) => self.direct_counter(array, label)?,
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
        let place = match index {
            CounterIndex::Number(number) => number.to_string(),
            CounterIndex::Entry(label) => format!("`{label}`"),
        };
        if holds { Ok(()) } else { Err(format!("counter `{array}` at {place} is {found}, not {op} {value}")) }
    }

    /// Returns the direct counter of an entry, by the name of the counter or of its table.
    fn direct_counter(&self, name: &str, label: &str) -> Result<Counter, String> {
        let counters = &self.program.direct_counters;
        let table = match find(counters.iter().map(|counter| &counter.name), name) {
            Ok(at) => &counters[at].table,
            Err(_) => name,
        };
        let at = find(self.program.tables.iter().map(|t| &t.name), table)?;
        let entry = self.engine.tables[at].get(self.handle(at, label)?).ok_or("the entry was removed")?;
        Ok(entry.counter)
    }

    /// Returns the labelled entry of a table.
    pub(super) fn handle(&self, table: usize, label: &str) -> Result<u32, String> {
        let label = self.labels.get(label).filter(|(of, _)| *of == table);
        label.map(|(_, handle)| *handle).ok_or_else(|| "no entry has this name".to_owned())
    }

    pub(super) fn counter(&self, array: &str, index: u32) -> Result<Counter, String> {
        let at = find(self.program.counters.iter().map(|a| &a.name), array)?;
        self.engine.arrays.counters[at]
            .get(index)
            .ok_or_else(|| format!("counter `{array}` has no index {index}"))
    }
}

/// Finds an object by its name, or by a unique suffix: after a dot, or anywhere, as in p4c's runner.
pub(super) fn find<'n>(names: impl Iterator<Item = &'n String>, name: &str) -> Result<usize, String> {
    let names: Vec<&String> = names.collect();
    if let Some(at) = names.iter().position(|full| *full == name) {
        return Ok(at);
    }
    for suffix in [format!(".{name}"), name.to_owned()] {
        let ending = names.iter().enumerate().filter(|(_, full)| full.ends_with(&suffix));
        match ending.map(|(at, _)| at).collect::<Vec<_>>()[..] {
            [] => {}
            [at] => return Ok(at),
            _ => return Err(format!("`{name}` is ambiguous")),
        }
    }
    Err(format!("`{name}` is not known"))
}
