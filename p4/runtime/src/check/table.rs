//! Checks of table entries, including the default entry.

use super::action::{Use, check_table_action};
use super::data::{check_colour_counters, check_config};
use super::matches::check_key;
use super::{Fault, Violation, at};
use crate::info::{Info, ObjectKind, Table};
use crate::proto::v1;
use v1::update::Type;

/// Checks the table entry of an insert, modify or delete.
pub(super) fn check(info: &Info, kind: Type, entry: &v1::TableEntry) -> Result<(), Violation> {
    let table = info.require_table(entry.table_id)?;
    match kind {
        Type::Delete => check_delete(table, entry),
        Type::Insert | Type::Modify | Type::Unspecified => check_table_entry(info, table, kind, entry),
    }
}

/// Checks the table entry of an insert or modify.
pub(crate) fn check_table_entry(
    info: &Info,
    table: &Table,
    kind: Type,
    entry: &v1::TableEntry,
) -> Result<(), Violation> {
    let err = |fault: Fault| Err(at(ObjectKind::Table, &table.preamble, fault));
    if entry.is_const {
        return err(Fault::IsConst);
    }
    check_table_key(table, entry)?;
    if entry.is_default_action {
        if kind == Type::Insert {
            return err(Fault::DefaultOnlyModify);
        }
    } else if table.is_const && (kind == Type::Insert || entry.action.is_some()) {
        return err(Fault::ConstTable);
    }
    match &entry.action {
        // P4Runtime 1.4: the default entry of an indirect table is constant too.
        Some(_)
            if entry.is_default_action
                && (table.const_default_action.is_some() || table.profile.is_some()) =>
        {
            return err(Fault::ConstDefault);
        }
        Some(action) => {
            let usage = if entry.is_default_action { Use::Default } else { Use::Entry };
            check_table_action(info, table, action, usage)?;
        }
        None if kind == Type::Insert => return err(Fault::NoAction),
        None => {}
    }
    check_attached(table, entry).map_err(|fault| at(ObjectKind::Table, &table.preamble, fault))?;
    // The default entry has no key that could be restricted.
    let restriction = table.restriction.as_ref().filter(|_| !entry.is_default_action);
    match restriction.and_then(|restriction| restriction.entry_violation(entry)) {
        Some(clause) => err(Fault::Restricted { subject: "entries", clause }),
        None => Ok(()),
    }
}

/// Checks the identity of an entry: its key and its priority.
pub(crate) fn check_table_key(table: &Table, entry: &v1::TableEntry) -> Result<(), Violation> {
    let err = |fault: Fault| Err(at(ObjectKind::Table, &table.preamble, fault));
    if entry.is_default_action {
        let bare = entry.r#match.is_empty() && entry.priority == 0 && entry.idle_timeout_ns == 0;
        return if bare { Ok(()) } else { err(Fault::DefaultWithKey) };
    }
    if table.fields().is_empty() {
        return err(Fault::Keyless);
    }
    check_key(ObjectKind::Table, &table.preamble.name, table.fields(), &entry.r#match)?;
    match (table.needs_priority(), entry.priority) {
        (true, ..=0) => err(Fault::NoPriority),
        (false, priority) if priority != 0 => err(Fault::NeedlessPriority { priority }),
        (true | false, _) => Ok(()),
    }
}

fn check_attached(table: &Table, entry: &v1::TableEntry) -> Result<(), Fault> {
    if entry.time_since_last_hit.is_some() {
        return Err(Fault::LastHit);
    }
    if entry.idle_timeout_ns != 0 && !table.idle_timeout {
        return Err(Fault::NoIdleTimeout);
    }
    if entry.idle_timeout_ns < 0 {
        return Err(Fault::Negative { name: "the idle timeout", value: entry.idle_timeout_ns });
    }
    if entry.counter_data.is_some() && table.direct_counter.is_none() {
        return Err(Fault::NoDirectCounter);
    }
    if (entry.meter_config.is_some() || entry.meter_counter_data.is_some()) && table.direct_meter.is_none() {
        return Err(Fault::NoDirectMeter);
    }
    check_config(entry.meter_config.as_ref())?;
    check_colour_counters(entry.meter_counter_data.as_ref())
}

fn check_delete(table: &Table, entry: &v1::TableEntry) -> Result<(), Violation> {
    if entry.is_default_action {
        return Err(at(ObjectKind::Table, &table.preamble, Fault::DefaultOnlyModify));
    }
    if table.is_const {
        return Err(at(ObjectKind::Table, &table.preamble, Fault::ConstTable));
    }
    if entry.is_const {
        return Err(at(ObjectKind::Table, &table.preamble, Fault::IsConst));
    }
    check_table_key(table, entry)
}

/// Checks that the entries of a table have the data that a read request asks for.
fn check_wanted(table: &Table, entry: &v1::TableEntry) -> Result<(), Fault> {
    if entry.time_since_last_hit.is_some() && (entry.is_default_action || !table.idle_timeout) {
        return Err(Fault::NoIdleTimeout);
    }
    if entry.counter_data.is_some() && table.direct_counter.is_none() {
        return Err(Fault::NoDirectCounter);
    }
    if (entry.meter_config.is_some() || entry.meter_counter_data.is_some()) && table.direct_meter.is_none() {
        return Err(Fault::NoDirectMeter);
    }
    Ok(())
}

/// Checks a read request for table entries.
pub(super) fn check_read(info: &Info, entry: &v1::TableEntry) -> Result<(), Violation> {
    if entry.table_id == 0 {
        return Ok(());
    }
    let table = info.require_table(entry.table_id)?;
    check_wanted(table, entry).map_err(|fault| at(ObjectKind::Table, &table.preamble, fault))?;
    if entry.r#match.is_empty() {
        return Ok(());
    }
    check_key(ObjectKind::Table, &table.preamble.name, table.fields(), &entry.r#match)
}
