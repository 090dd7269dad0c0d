//! Table entries built field by field.

use std::time::Duration;

use super::action::{Arguments, action};
use crate::check::{Fault, Place, Violation, check_table_entry, check_table_key};
use crate::info::{Info, LookupError, MatchField, ObjectKind, Table};
use crate::proto::v1;
use crate::value::{Value, bits};
use v1::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};
use v1::table_action::Type;

/// Builds an entry of one table. The first error is kept and returned by `build`, so that calls can be chained.
#[derive(Debug, Clone)]
#[must_use]
pub struct EntryBuilder<'i> {
    info: &'i Info,
    table: &'i Table,
    entry: v1::TableEntry,
    fault: Option<Box<Violation>>,
}

impl Info {
    /// Starts an entry of the table with a name.
    pub fn entry(&self, table: &str) -> Result<EntryBuilder<'_>, LookupError> {
        Ok(self.entry_of(self.table(table)?))
    }

    /// Starts an entry of a table.
    pub fn entry_of<'i>(&'i self, table: &'i Table) -> EntryBuilder<'i> {
        let r#match = Vec::with_capacity(table.fields().len());
        let entry = v1::TableEntry { table_id: table.preamble.id, r#match, ..Default::default() };
        EntryBuilder { info: self, table, entry, fault: None }
    }
}

impl<'i> EntryBuilder<'i> {
    /// Matches a field that equals a value.
    pub fn exact<'v>(self, field: &str, value: impl Into<Value<'v>>) -> Self {
        let value = value.into();
        self.field(field, |field| {
            let value = field.width.encode(&value)?;
            Ok(Some(FieldMatchType::Exact(Exact { value })))
        })
    }

    /// Matches the first bits of a field; a prefix of 0 bits omits the field.
    pub fn lpm<'v>(self, field: &str, value: impl Into<Value<'v>>, prefix: u32) -> Self {
        let value = value.into();
        self.field(field, |field| {
            let value = field.width.encode(&value)?;
            let prefix_len = i32::try_from(prefix).unwrap_or(i32::MAX);
            match prefix {
                0 if bits::is_zero(&value) => Ok(None),
                0 => Err(Fault::HostBits { length: 0 }),
                _ => Ok(Some(FieldMatchType::Lpm(Lpm { value, prefix_len }))),
            }
        })
    }

    /// Matches the bits of a field under a mask; an empty mask omits the field.
    pub fn ternary<'v, 'm>(
        self,
        field: &str,
        value: impl Into<Value<'v>>,
        mask: impl Into<Value<'m>>,
    ) -> Self {
        let (value, mask) = (value.into(), mask.into());
        self.field(field, |field| {
            let (value, mask) = (field.width.encode(&value)?, field.width.encode(&mask)?);
            match (bits::is_zero(&mask), bits::is_zero(&value)) {
                (true, true) => Ok(None),
                (true, false) => Err(Fault::OutsideMask),
                (false, _) => Ok(Some(FieldMatchType::Ternary(Ternary { value, mask }))),
            }
        })
    }

    /// Matches a field in a range, both ends included; a range of all values omits the field.
    pub fn range<'l, 'h>(self, field: &str, low: impl Into<Value<'l>>, high: impl Into<Value<'h>>) -> Self {
        let (low, high) = (low.into(), high.into());
        self.field(field, |field| {
            let (low, high) = (field.width.encode(&low)?, field.width.encode(&high)?);
            let everything = bits::is_zero(&low) && bits::is_all_ones(&high, field.width.bits());
            Ok((!everything).then_some(FieldMatchType::Range(Range { low, high })))
        })
    }

    /// Matches an optional field that equals a value; without this call the field matches everything.
    pub fn optional<'v>(self, field: &str, value: impl Into<Value<'v>>) -> Self {
        let value = value.into();
        self.field(field, |field| {
            let value = field.width.encode(&value)?;
            Ok(Some(FieldMatchType::Optional(Optional { value })))
        })
    }

    /// Sets the priority; the highest one wins.
    pub fn priority(mut self, priority: i32) -> Self {
        self.entry.priority = priority;
        self
    }

    /// Uses an action of the table.
    pub fn action(mut self, name: &str, arguments: Arguments<'_>) -> Self {
        let call = self.table.action(name).map_err(Violation::from);
        match call.and_then(|reference| action(&reference.action, arguments)) {
            Ok(call) => self.table_action(Type::Action(call)),
            Err(violation) => {
                self.keep(violation);
                self
            }
        }
    }

    /// Uses the action of a member of the table's action profile.
    pub fn member(self, id: u32) -> Self {
        self.table_action(Type::ActionProfileMemberId(id))
    }

    /// Distributes packets over the members of a group of the table's selector.
    pub fn group(self, id: u32) -> Self {
        self.table_action(Type::ActionProfileGroupId(id))
    }

    /// Distributes packets over a set of actions that belongs to this entry; see [`super::action_set`].
    pub fn action_set(self, set: v1::ActionProfileActionSet) -> Self {
        self.table_action(Type::ActionProfileActionSet(set))
    }

    fn table_action(mut self, action: Type) -> Self {
        self.entry.action = Some(v1::TableAction { r#type: Some(action) });
        self
    }

    /// Makes this the default entry, which has no key.
    pub fn default_entry(mut self) -> Self {
        self.entry.is_default_action = true;
        self
    }

    /// Asks for a notification if no packet hits the entry for this time.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.entry.idle_timeout_ns = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX);
        self
    }

    /// Stores metadata of the controller with the entry.
    pub fn metadata(mut self, metadata: impl Into<Vec<u8>>) -> Self {
        self.entry.metadata = metadata.into();
        self
    }

    /// Sets the direct meter.
    pub fn meter(mut self, config: v1::MeterConfig) -> Self {
        self.entry.meter_config = Some(config);
        self
    }

    /// Sets the direct counter.
    pub fn counter(mut self, data: v1::CounterData) -> Self {
        self.entry.counter_data = Some(data);
        self
    }

    /// Returns the entry if it is complete.
    pub fn build(self) -> Result<v1::TableEntry, Violation> {
        let kind =
            if self.entry.is_default_action { v1::update::Type::Modify } else { v1::update::Type::Insert };
        let (info, table) = (self.info, self.table);
        let entry = self.finish()?;
        check_table_entry(info, table, kind, &entry)?;
        Ok(entry)
    }

    /// Returns only the key of the entry, for a delete or a read; no action is needed.
    pub fn build_key(self) -> Result<v1::TableEntry, Violation> {
        let table = self.table;
        let entry = self.finish()?;
        check_table_key(table, &entry)?;
        Ok(entry)
    }

    fn finish(mut self) -> Result<v1::TableEntry, Violation> {
        if let Some(fault) = self.fault {
            return Err(*fault);
        }
        let place = |id: u32| self.table.field_by_id(id).map(|(place, _)| place);
        if !self.entry.r#match.is_sorted_by_key(|field| place(field.field_id)) {
            self.entry.r#match.sort_by_key(|field| place(field.field_id));
        }
        Ok(self.entry)
    }

    fn field(
        mut self,
        name: &str,
        encode: impl FnOnce(&MatchField) -> Result<Option<FieldMatchType>, Fault>,
    ) -> Self {
        let table: &'i Table = self.table;
        let field = match table.field(name) {
            Ok(field) => field,
            Err(error) => {
                self.keep(error.into());
                return self;
            }
        };
        match encode(field) {
            Ok(None) => {}
            Ok(value) => {
                self.entry.r#match.push(v1::FieldMatch { field_id: field.id, field_match_type: value });
            }
            Err(fault) => {
                let part = Some((ObjectKind::MatchField, field.name.clone()));
                let place = Place { kind: ObjectKind::Table, name: table.preamble.name.clone(), part };
                self.keep(Violation { place: Some(Box::new(place)), fault });
            }
        }
        self
    }

    fn keep(&mut self, violation: Violation) {
        self.fault.get_or_insert_with(|| Box::new(violation));
    }
}
