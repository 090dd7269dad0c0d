//! Identity of an entity: a target treats two entities with the same key as one.
//!
//! Keys can be compared and hashed quickly, and they sort entities by kind, object and key. They do not
//! depend on leading zeros, the order of fields, or explicit match-all fields.

use std::cell::RefCell;

use crate::proto::v1;
use crate::value::bits;
use v1::entity::Entity;
use v1::field_match::FieldMatchType;
use v1::packet_replication_engine_entry::Type as Replication;

thread_local! {
    /// Buffer for building keys before their length is known.
    static BYTES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The identity of an entity.
///
/// A range over all values is recognised only with the width of its field. Normalise entities that may have one with
/// [`crate::canonical`] first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityKey(Box<[u8]>);

impl EntityKey {
    /// Returns the key of an entity, or `None` if the entity or an identifying part of it is not set.
    pub fn of(entity: &v1::Entity) -> Option<Self> {
        BYTES.with_borrow_mut(|bytes| {
            bytes.clear();
            Self::build(&mut Builder(bytes), entity)?;
            // A single allocation of the exact length.
            Some(EntityKey(bytes.as_slice().into()))
        })
    }

    fn build(key: &mut Builder<'_>, entity: &v1::Entity) -> Option<()> {
        match entity.entity.as_ref()? {
            Entity::ActionProfileMember(member) => {
                key.kind(1).number(member.action_profile_id).number(member.member_id);
            }
            Entity::ActionProfileGroup(group) => {
                key.kind(2).number(group.action_profile_id).number(group.group_id);
            }
            Entity::PacketReplicationEngineEntry(entry) => match entry.r#type.as_ref()? {
                Replication::MulticastGroupEntry(group) => {
                    key.kind(3).number(group.multicast_group_id);
                }
                Replication::CloneSessionEntry(session) => {
                    key.kind(4).number(session.session_id);
                }
            },
            Entity::TableEntry(entry) => key.kind(5).table_entry(entry),
            Entity::ValueSetEntry(entry) => {
                key.kind(6).number(entry.value_set_id);
            }
            Entity::MeterEntry(entry) => key.kind(7).number(entry.meter_id).index(entry.index),
            Entity::DirectMeterEntry(entry) => key.kind(8).table_entry(entry.table_entry.as_ref()?),
            Entity::CounterEntry(entry) => key.kind(9).number(entry.counter_id).index(entry.index),
            Entity::DirectCounterEntry(entry) => key.kind(10).table_entry(entry.table_entry.as_ref()?),
            Entity::RegisterEntry(entry) => key.kind(11).number(entry.register_id).index(entry.index),
            Entity::DigestEntry(entry) => {
                key.kind(12).number(entry.digest_id);
            }
            Entity::ExternEntry(entry) => {
                // Only the extern knows which part identifies an entry, so the complete entry is the key.
                key.kind(13).number(entry.extern_type_id).number(entry.extern_id);
                if let Some(any) = &entry.entry {
                    key.bytes(any.type_url.as_bytes());
                    key.bytes(&any.value);
                }
            }
        }
        Some(())
    }

    /// Returns the key of a table entry.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn of_table_entry(entry: &v1::TableEntry) -> Self {
        let mut bytes = Vec::new();
        Builder(&mut bytes).kind(5).table_entry(entry);
        EntityKey(bytes.into_boxed_slice())
    }

    /// Returns the key as bytes, for a hash or index that the caller builds.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

struct Builder<'b>(&'b mut Vec<u8>);

impl Builder<'_> {
    fn kind(&mut self, kind: u8) -> &mut Self {
        self.0.push(kind);
        self
    }

    fn number(&mut self, number: u32) -> &mut Self {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    fn index(&mut self, index: Option<v1::Index>) {
        // A missing index means all cells, and sorts first.
        if let Some(index) = index {
            self.0.extend_from_slice(&(index.index.cast_unsigned() ^ 1 << 63).to_be_bytes());
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u32);
        self.0.extend_from_slice(bytes);
    }

    fn table_entry(&mut self, entry: &v1::TableEntry) {
        self.number(entry.table_id);
        self.0.push(u8::from(entry.is_default_action));
        if entry.is_default_action {
            return;
        }
        self.number(entry.priority.cast_unsigned());
        let mut last = 0;
        if entry.r#match.iter().all(|field| std::mem::replace(&mut last, field.field_id) <= field.field_id) {
            for field in &entry.r#match {
                self.field(field);
            }
        } else {
            let mut fields: Vec<&v1::FieldMatch> = entry.r#match.iter().collect();
            fields.sort_by_key(|field| field.field_id);
            for field in fields {
                self.field(field);
            }
        }
    }

    fn field(&mut self, field: &v1::FieldMatch) {
        let id = field.field_id;
        match field.field_match_type.as_ref() {
            None => {}
            Some(FieldMatchType::Exact(exact)) => self.values(id, 1, &[&exact.value]),
            Some(FieldMatchType::Optional(optional)) => self.values(id, 2, &[&optional.value]),
            Some(FieldMatchType::Lpm(lpm)) if lpm.prefix_len == 0 => {}
            Some(FieldMatchType::Lpm(lpm)) => {
                self.values(id, 3, &[&lpm.value]);
                self.number(lpm.prefix_len.cast_unsigned());
            }
            Some(FieldMatchType::Ternary(ternary)) if bits::is_zero(&ternary.mask) => {}
            Some(FieldMatchType::Ternary(ternary)) => self.values(id, 4, &[&ternary.value, &ternary.mask]),
            Some(FieldMatchType::Range(range)) => self.values(id, 5, &[&range.low, &range.high]),
            Some(FieldMatchType::Other(any)) => {
                self.number(id);
                self.0.push(6);
                self.bytes(any.type_url.as_bytes());
                self.bytes(&any.value);
            }
        }
    }

    fn values(&mut self, id: u32, kind: u8, values: &[&[u8]]) {
        self.number(id);
        self.0.push(kind);
        for value in values {
            self.bytes(bits::strip(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(field_id: u32, value: &[u8]) -> v1::FieldMatch {
        let value = value.to_vec();
        let exact = v1::field_match::Exact { value };
        v1::FieldMatch { field_id, field_match_type: Some(FieldMatchType::Exact(exact)) }
    }

    fn lpm(field_id: u32, value: &[u8], prefix_len: i32) -> v1::FieldMatch {
        let lpm = v1::field_match::Lpm { value: value.to_vec(), prefix_len };
        v1::FieldMatch { field_id, field_match_type: Some(FieldMatchType::Lpm(lpm)) }
    }

    fn key(r#match: Vec<v1::FieldMatch>, priority: i32) -> EntityKey {
        let entry = v1::TableEntry { table_id: 1, r#match, priority, ..Default::default() };
        EntityKey::of(&entry.into()).expect("the entity is set")
    }

    #[test]
    fn the_same_thing_written_otherwise_has_the_same_key() {
        let one = key(vec![exact(1, &[5]), lpm(2, &[8, 0], 12)], 0);
        assert_eq!(key(vec![lpm(2, &[0, 8, 0], 12), exact(1, &[0, 5])], 0), one);
        assert_eq!(key(vec![exact(1, &[5]), lpm(2, &[0], 0)], 0), key(vec![exact(1, &[5])], 0));
    }

    #[test]
    fn different_things_have_different_keys() {
        let keys = [
            key(vec![exact(1, &[5])], 0),
            key(vec![exact(1, &[5])], 1),
            key(vec![exact(2, &[5])], 0),
            key(vec![lpm(1, &[5], 8)], 0),
            key(vec![lpm(1, &[5], 9)], 0),
            key(vec![], 0),
            EntityKey::of(
                &v1::TableEntry { table_id: 1, is_default_action: true, ..Default::default() }.into(),
            )
            .expect("set"),
            EntityKey::of(&v1::CounterEntry { counter_id: 1, index: None, data: None }.into()).expect("set"),
            EntityKey::of(
                &v1::CounterEntry { counter_id: 1, index: Some(v1::Index { index: 0 }), data: None }.into(),
            )
            .expect("set"),
        ];
        for (position, one) in keys.iter().enumerate() {
            for other in &keys[position + 1..] {
                assert_ne!(one, other);
            }
        }
    }

    #[test]
    fn what_is_not_part_of_the_key_does_not_count() {
        let bare = v1::TableEntry { table_id: 1, ..Default::default() };
        let full = v1::TableEntry { metadata: vec![1], idle_timeout_ns: 5, ..bare.clone() };
        assert_eq!(EntityKey::of_table_entry(&bare), EntityKey::of_table_entry(&full));
        assert_eq!(EntityKey::of(&v1::Entity::default()), None);
    }
}
