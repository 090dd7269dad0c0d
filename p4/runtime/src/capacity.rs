//! Checks whether a switch has room for entities, according to the sizes in its P4Info.
//!
//! In: a P4Info, entities. Out: the first table or action profile that is too small. Invariants: the contents
//! of a profile are counted in the unit that it declares (P4Runtime section 9.2.3: weights or members). A
//! size that the P4Info does not contain is unlimited. [`crate::check`] checks the size of each group.

use std::collections::BTreeMap;
use std::fmt;

use crate::info::{ActionProfile, Info, SizeSemantics};
use crate::proto::v1;
use v1::entity::Entity;
use v1::table_action::Type;

/// More entities than a switch has room for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excess {
    /// The table or action profile.
    pub object: String,
    /// The unit that is counted.
    pub unit: CapacityUnit,
    /// Number of units that the entities need.
    pub needed: u64,
    /// Number of units that fit.
    pub size: u64,
}

/// The unit that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapacityUnit {
    /// Entries of a table.
    Entries,
    /// The sum of the weights in all groups of a profile.
    Weights,
    /// The members of a profile, or those in all its groups.
    Members,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Excess { object, unit: what, needed, size } = self;
        match what {
            CapacityUnit::Entries => write!(f, "{needed} entries for `{object}`, which holds {size}"),
            CapacityUnit::Weights => {
                write!(f, "the weights in all groups of `{object}` add up to {needed}; it holds {size}")
            }
            CapacityUnit::Members => write!(f, "{needed} members for `{object}`, which holds {size}"),
        }
    }
}

/// Units in use, by id of the table or profile.
#[derive(Default)]
struct UsedUnits {
    entries: BTreeMap<u32, u64>,
    spread: BTreeMap<u32, u64>,
    members: BTreeMap<u32, u64>,
}

/// Returns the first table or profile that is too small for the entities.
pub fn excess<'e>(info: &Info, entities: impl IntoIterator<Item = &'e v1::Entity>) -> Option<Excess> {
    let mut used = UsedUnits::default();
    for entity in entities {
        match &entity.entity {
            Some(Entity::TableEntry(entry)) if !entry.is_default_action => {
                *used.entries.entry(entry.table_id).or_default() += 1;
                let profile = info.table_by_id(entry.table_id).and_then(|table| table.profile.as_deref());
                let action = entry.action.as_ref().and_then(|action| action.r#type.as_ref());
                if let (Some(profile), Some(Type::ActionProfileActionSet(set))) = (profile, action) {
                    used.spread(profile, set.action_profile_actions.iter().map(|one| one.weight));
                }
            }
            Some(Entity::ActionProfileGroup(group)) => {
                if let Some(profile) = info.profile_by_id(group.action_profile_id) {
                    used.spread(profile, group.members.iter().map(|member| member.weight));
                }
            }
            Some(Entity::ActionProfileMember(member)) => {
                *used.members.entry(member.action_profile_id).or_default() += 1;
            }
            Some(_) | None => {}
        }
    }
    used.excess(info)
}

impl UsedUnits {
    fn spread(&mut self, profile: &ActionProfile, weights: impl Iterator<Item = i32>) {
        let count = |weight: i32| match profile.semantics {
            SizeSemantics::Weights => u64::try_from(weight).unwrap_or(0),
            SizeSemantics::Members { .. } => 1,
        };
        *self.spread.entry(profile.preamble.id).or_default() += weights.map(count).sum::<u64>();
    }

    fn excess(&self, info: &Info) -> Option<Excess> {
        let of = |object: &str, what, needed: u64, size: u64| {
            (size > 0 && needed > size).then(|| Excess {
                object: object.to_owned(),
                unit: what,
                needed,
                size,
            })
        };
        let tables = self.entries.iter().filter_map(|(id, needed)| {
            let table = info.table_by_id(*id)?;
            of(&table.preamble.name, CapacityUnit::Entries, *needed, table.size)
        });
        let groups = self.spread.iter().filter_map(|(id, needed)| {
            let profile = info.profile_by_id(*id)?;
            let what = match profile.semantics {
                SizeSemantics::Weights => CapacityUnit::Weights,
                SizeSemantics::Members { .. } => CapacityUnit::Members,
            };
            of(&profile.preamble.name, what, *needed, profile.size)
        });
        let members = self.members.iter().filter_map(|(id, needed)| {
            let profile = info.profile_by_id(*id)?;
            of(&profile.preamble.name, CapacityUnit::Members, *needed, profile.size)
        });
        tables.chain(groups).chain(members).next()
    }
}
