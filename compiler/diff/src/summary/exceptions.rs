//! Lines for exceptions: drained and absent elements, and other cables or hardware.
//!
//! In: changes of exceptions. Out: one line for all exceptions with the same text. Invariants: names are in the order
//! of coordinates.

use std::collections::{BTreeMap, BTreeSet};

use closc_plan::Plan;
use closc_topology::{Cable, Field, Link, PlaneId, Switch, field};

use super::{Kind, limit_names, simple};
use crate::change::{Edit, Exception, ExceptionTarget, Hardware, Toggle};
use crate::effect::link_name;
use crate::report::{Line, Options, Sign};
use crate::short_text::ShortText;
use crate::words::{names, planes_text, plural, tier as tier_word};

/// Exceptions with the same key share a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct LineKey {
    subject: &'static str,
    sign: Sign,
    /// The verb before the names.
    verb: &'static str,
    one: String,
    many: String,
    /// Text after the names.
    rest: String,
}

/// Writes one line for all exceptions with the same key: `changes`, and `others` that only follow from changes.
/// Elements that neither fabric has are counted by field.
pub(super) fn lines(
    changes: &[&Exception],
    others: &[Exception],
    old: &Plan,
    new: &Plan,
    options: Options,
) -> Vec<Line> {
    let (present, missing): (Vec<&Exception>, Vec<&Exception>) =
        others.iter().partition(|exception| [old, new].iter().any(|plan| has_target(exception, plan)));
    let mut found: BTreeMap<LineKey, Vec<(Option<PlaneId>, String)>> = BTreeMap::new();
    let changes = changes.iter().map(|exception| change_entry(exception, old, new));
    for (alike, plane, name) in
        changes.chain(present.into_iter().map(|exception| passive_entry(exception, old, new)))
    {
        found.entry(alike).or_default().push((plane, name));
    }
    let lines = found.into_iter().map(|(alike, things)| line(&alike, things, options));
    lines.chain(missing_lines(&missing, old, new)).collect()
}

/// Returns whether a fabric has the element of an exception.
fn has_target(exception: &Exception, plan: &Plan) -> bool {
    let fabric = plan.fabric();
    match target(exception) {
        ExceptionTarget::Plane(plane) => plane.0 < fabric.topology().planes,
        ExceptionTarget::Switch(switch) => fabric.has_switch(switch),
        ExceptionTarget::Nic(nic) => fabric.has_nic(nic),
        ExceptionTarget::Link(link) => fabric.has_link(link),
    }
}

fn target(exception: &Exception) -> ExceptionTarget {
    match exception {
        Exception::Absent(_, target) | Exception::Drained(_, target) => *target,
        Exception::Isolated(_, link) | Exception::Cable(link, _) => ExceptionTarget::Link(*link),
        Exception::Device(switch, _) => ExceptionTarget::Switch(*switch),
    }
}

/// Numbers of elements, by their noun in the singular and plural.
type CountByNoun = BTreeMap<(String, String), u64>;

/// Writes one line for each field whose value differs only in elements that neither fabric has, such as positions that
/// a smaller zone keeps free.
fn missing_lines(missing: &[&Exception], old: &Plan, new: &Plan) -> Vec<Line> {
    let mut found: BTreeMap<(&'static str, &'static str), CountByNoun> = BTreeMap::new();
    for exception in missing {
        let is_on = match exception {
            Exception::Absent(toggle, _) | Exception::Drained(toggle, _) | Exception::Isolated(toggle, _) => {
                *toggle == Toggle::On
            }
            Exception::Cable(_, edit) => edit.new.is_some(),
            Exception::Device(_, edit) => edit.new.is_some(),
        };
        let field = match exception {
            Exception::Absent(_, target) => absence_field(*target, if is_on { new } else { old }),
            Exception::Drained(..) => field!("exceptions.drained"),
            Exception::Isolated(..) => field!("exceptions.isolated"),
            Exception::Cable(..) => field!("exceptions.cables"),
            Exception::Device(..) => field!("exceptions.devices"),
        };
        let verb = match (exception, is_on) {
            (Exception::Absent(..), true) => "omits",
            (Exception::Absent(..), false) => "no longer omits",
            (_, true) => "lists",
            (_, false) => "no longer lists",
        };
        *found
            .entry((field.path(), verb))
            .or_default()
            .entry(target_nouns(target(exception)))
            .or_default() += 1;
    }
    let line = |((subject, verb), kinds): ((&'static str, _), CountByNoun)| {
        let counts = kinds.iter().map(|((one, many), count)| plural(*count, one, many));
        let counts = counts.collect::<Vec<_>>().join(", ");
        let text = format!("{verb} {counts} that neither fabric has");
        Line { count: kinds.values().sum(), ..simple(Sign::Change, subject, text) }
    };
    found.into_iter().map(line).collect()
}

/// Returns the noun of an element in the singular and plural.
fn target_nouns(target: ExceptionTarget) -> (String, String) {
    let one = match target {
        ExceptionTarget::Plane(_) => "plane".to_owned(),
        ExceptionTarget::Switch(switch) => tier_word(switch.tier).to_owned(),
        ExceptionTarget::Nic(_) => "NIC".to_owned(),
        ExceptionTarget::Link(link) => format!("{} cable", Kind::of(link).keyword()),
    };
    let many = format!("{one}s");
    (one, many)
}

fn line(alike: &LineKey, things: Vec<(Option<PlaneId>, String)>, options: Options) -> Line {
    let count = things.len() as u64;
    let planes: BTreeSet<PlaneId> = things.iter().filter_map(|(plane, _)| *plane).collect();
    let planes: Vec<PlaneId> = planes.into_iter().collect();
    let what = match things.as_slice() {
        [(_, only)] if alike.one.is_empty() => format!("`{only}`"),
        [(_, only)] => format!("{} `{only}`", alike.one),
        more => {
            let shown = names(more.iter().map(|(_, name)| name.clone()), super::FIRST);
            let planes =
                if planes.is_empty() { String::new() } else { format!(" in {}", planes_text(&planes)) };
            format!("{}{planes} ({shown})", plural(count, &alike.one, &alike.many))
        }
    };
    let text = format!("{} {what}{}", alike.verb, alike.rest).trim_start().to_owned();
    let names = limit_names(things.into_iter().map(|(_, name)| name), options);
    Line { count, names, ..simple(alike.sign, alike.subject, text) }
}

/// An exception: its key, plane and name.
type ExceptionEntry = (LineKey, Option<PlaneId>, String);

/// Returns the key of an exception for an element that only one side has. It needs no action.
fn passive_entry(exception: &Exception, old: &Plan, new: &Plan) -> ExceptionEntry {
    let (field, turn, thing, verbs, rests) = match exception {
        Exception::Absent(turn, thing) => (
            absence_field(*thing, if *turn == Toggle::On { new } else { old }),
            turn,
            thing,
            ["omit", "no longer omit"],
            [": removed by another change", ": added by another change"],
        ),
        Exception::Drained(turn, thing) => (
            field!("exceptions.drained"),
            turn,
            thing,
            ["added as drained:", "removed while drained:"],
            ["", ""],
        ),
        Exception::Isolated(turn, link) => {
            let (field, verbs) =
                (field!("exceptions.isolated"), ["added as isolated:", "removed while isolated:"]);
            let at = usize::from(*turn == Toggle::Off);
            return target_entry(
                field.path(),
                Sign::Change,
                verbs[at],
                ExceptionTarget::Link(*link),
                [new, old][at],
            );
        }
        Exception::Cable(..) | Exception::Device(..) => return change_entry(exception, old, new),
    };
    let at = usize::from(*turn == Toggle::Off);
    let mut found = target_entry(field.path(), Sign::Change, verbs[at], *thing, [new, old][at]);
    rests[at].clone_into(&mut found.0.rest);
    found
}

/// Returns the field that makes an element absent in a plan: the field for the size of its zone, or the list
/// of absent elements.
fn absence_field(thing: ExceptionTarget, lacking: &Plan) -> Field {
    let sizes = &lacking.topology().zone_sizes;
    let field = match thing {
        ExceptionTarget::Switch(switch) => sizes.field_of_switch(switch),
        ExceptionTarget::Nic(nic) => sizes.field_of_nic(nic),
        ExceptionTarget::Plane(_) | ExceptionTarget::Link(_) => None,
    };
    field.unwrap_or(field!("exceptions.absent"))
}

/// Returns the key of an exception that is a change.
fn change_entry(exception: &Exception, old: &Plan, new: &Plan) -> ExceptionEntry {
    match exception {
        Exception::Absent(turn, thing) => {
            let (sign, verb, plan, lacking) = match turn {
                Toggle::On => (Sign::Remove, "remove", old, new),
                Toggle::Off => (Sign::Add, "add", new, old),
            };
            target_entry(absence_field(*thing, lacking).path(), sign, verb, *thing, plan)
        }
        Exception::Drained(turn, thing) => {
            let (verb, plan) = match turn {
                Toggle::On => ("drain", new),
                Toggle::Off => ("undrain", old),
            };
            target_entry(field!("exceptions.drained").path(), Sign::Change, verb, *thing, plan)
        }
        Exception::Isolated(turn, link) => {
            let (verb, plan) = match turn {
                Toggle::On => ("isolate", new),
                Toggle::Off => ("end the isolation of", old),
            };
            target_entry(
                field!("exceptions.isolated").path(),
                Sign::Change,
                verb,
                ExceptionTarget::Link(*link),
                plan,
            )
        }
        Exception::Cable(link, edit) => cable_entry(*link, edit, old, new),
        Exception::Device(switch, edit) => device_entry(*switch, edit, old, new),
    }
}

/// Returns the key of a changed cable, with its length and medium before and after.
fn cable_entry(link: Link, edit: &Edit<Option<Cable>>, old: &Plan, new: &Plan) -> ExceptionEntry {
    let plan = if edit.new.is_some() { new } else { old };
    let cable = |side: &Option<Cable>, plan: &Plan| match side {
        Some(cable) => cable.short_text(),
        None if plan.fabric().has_link(link) => plan.topology().cable(link).short_text(),
        None => "none".to_owned(),
    };
    let rest = format!(": {} -> {}", cable(&edit.old, old), cable(&edit.new, new));
    let mut found =
        target_entry(field!("exceptions.cables").path(), Sign::Change, "", ExceptionTarget::Link(link), plan);
    found.0.rest = rest;
    found
}

/// Returns the key of changed hardware of a switch, with the hardware before and after.
fn device_entry(switch: Switch, edit: &Edit<Option<Hardware>>, old: &Plan, new: &Plan) -> ExceptionEntry {
    let plan = if edit.new.is_some() { new } else { old };
    let hardware = |side: &Option<Hardware>, plan: &Plan| match side {
        Some(hardware) => hardware.short_text(),
        None if plan.fabric().has_switch(switch) => {
            let (platform, os) = plan.topology().hardware(switch);
            (platform.clone(), os).short_text()
        }
        None => "none".to_owned(),
    };
    let rest = format!(": {} -> {}", hardware(&edit.old, old), hardware(&edit.new, new));
    let mut found = target_entry(
        field!("exceptions.devices").path(),
        Sign::Change,
        "",
        ExceptionTarget::Switch(switch),
        plan,
    );
    found.0.rest = rest;
    found
}

fn target_entry(
    subject: &'static str,
    sign: Sign,
    verb: &'static str,
    thing: ExceptionTarget,
    plan: &Plan,
) -> ExceptionEntry {
    let naming = &plan.topology().naming;
    let (one, many) = target_nouns(thing);
    let (one, plane, name) = match thing {
        // The name of a plane contains the noun.
        ExceptionTarget::Plane(plane) => (String::new(), None, format!("plane {plane}")),
        ExceptionTarget::Switch(switch) => (one, Some(switch.plane), naming.switch(switch).to_string()),
        ExceptionTarget::Nic(nic) => {
            let (node, number) = plan.topology().node_of(nic);
            (one, None, naming.nic(node, number))
        }
        ExceptionTarget::Link(link) => (one, Some(link.plane()), link_name(link, plan)),
    };
    let verb_of_one = LineKey { subject, sign, verb, one, many, rest: String::new() };
    (verb_of_one, plane, name)
}
