//! Conversions of messages into entities and updates.

use crate::proto::v1;
use v1::entity::Entity as Case;
use v1::update::Type;

macro_rules! into_entity {
    ($($message:ident => $case:ident),+ $(,)?) => {$(
        impl From<v1::$message> for v1::Entity {
            fn from(message: v1::$message) -> Self {
                v1::Entity { entity: Some(Case::$case(message)) }
            }
        }
    )+};
}

into_entity! {
    ExternEntry => ExternEntry,
    TableEntry => TableEntry,
    ActionProfileMember => ActionProfileMember,
    ActionProfileGroup => ActionProfileGroup,
    MeterEntry => MeterEntry,
    DirectMeterEntry => DirectMeterEntry,
    CounterEntry => CounterEntry,
    DirectCounterEntry => DirectCounterEntry,
    PacketReplicationEngineEntry => PacketReplicationEngineEntry,
    ValueSetEntry => ValueSetEntry,
    RegisterEntry => RegisterEntry,
    DigestEntry => DigestEntry,
}

impl v1::Update {
    fn new(kind: Type, entity: impl Into<v1::Entity>) -> Self {
        v1::Update { r#type: kind.into(), entity: Some(entity.into()) }
    }

    /// Returns the update that adds an entity.
    pub fn insert(entity: impl Into<v1::Entity>) -> Self {
        v1::Update::new(Type::Insert, entity)
    }

    /// Returns the update that changes an existing entity to this one.
    pub fn modify(entity: impl Into<v1::Entity>) -> Self {
        v1::Update::new(Type::Modify, entity)
    }

    /// Returns the update that removes an entity; only the fields that identify it matter.
    pub fn delete(entity: impl Into<v1::Entity>) -> Self {
        v1::Update::new(Type::Delete, entity)
    }
}
