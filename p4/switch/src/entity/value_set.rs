//! Parser value sets.

use closc_runtime::check::{KeyPart, MatchOperand};
use closc_runtime::info::{MatchKind, ValueSet};
use closc_runtime::proto::v1;
use closc_runtime::value::{Width, encode_number};
use v1::entity::Entity;
use v1::field_match::{self, FieldMatchType};

use super::page::Page;
use super::undo::Undo;
use super::{Fault, Store, entity};
use crate::bits::mask128;
use crate::pipeline::ValueSetBinding;
use crate::state::SetMatch;

impl Store {
    pub(super) fn write_value_set(
        &mut self,
        info: &ValueSet,
        members: &[Vec<KeyPart<'_>>],
    ) -> Result<(), Fault> {
        let id = info.preamble.id;
        let binding = self.pipeline.value_set(id).ok_or(Fault::NotFound { kind: "value set", id })?;
        let members: Result<Vec<Vec<SetMatch>>, Fault> =
            members.iter().map(|member| encode(binding, member)).collect();
        let (set, members) = (binding.index, members?);
        let old = self.engine.sets[set].members().to_vec();
        self.engine.sets[set].set(members);
        self.remember(|| Undo::ValueSet { set, members: old });
        Ok(())
    }

    pub(super) fn read_value_sets(&self, request: &v1::ValueSetEntry, out: &mut Page) {
        let id = request.value_set_id;
        let infos = self.pipeline.info().value_sets().iter().enumerate();
        for (part, info) in infos.filter(|(_, s)| id == 0 || s.preamble.id == id) {
            let value_set_id = info.preamble.id;
            let Some(binding) = self.pipeline.value_set(value_set_id) else { continue };
            let members = self.engine.sets[binding.index].members();
            let full = out.put(part, 0, || {
                let members =
                    members.iter().map(|member| v1::ValueSetMember { r#match: decode(info, member) });
                let entry = v1::ValueSetEntry { value_set_id, members: members.collect() };
                Some(entity(Entity::ValueSetEntry(entry)))
            });
            if full.is_break() {
                return;
            }
        }
    }
}

/// Returns the parts of a member in the order of the parser's key; omitted fields match anything.
fn encode(binding: &ValueSetBinding, given: &[KeyPart<'_>]) -> Result<Vec<SetMatch>, Fault> {
    let part = |(place, (_, width)): (usize, &(u32, u32))| {
        let number = |bytes: &[u8]| {
            let place = || "a value of a value set".to_owned();
            Width::Bits(128).decode(bytes).map_err(|_| Fault::TooWide { place: place(), bits: 128 })
        };
        // A field that is translated from text has no width for controllers and is matched exactly.
        let all = if *width == 0 { u128::MAX } else { mask128(*width) };
        let Some(found) = given.iter().find(|part| part.place == place) else {
            return Ok(SetMatch::Masked { value: 0, mask: 0 });
        };
        Ok(match found.value {
            MatchOperand::Exact(value) | MatchOperand::Optional(value) => {
                SetMatch::Masked { value: number(value)?, mask: all }
            }
            MatchOperand::Ternary { value, mask } => {
                SetMatch::Masked { value: number(value)?, mask: number(mask)? }
            }
            MatchOperand::Lpm { value, prefix } => {
                let low = width.saturating_sub(prefix);
                SetMatch::Masked { value: number(value)?, mask: all & !mask128(low) }
            }
            MatchOperand::Range { low, high } => SetMatch::Range { low: number(low)?, high: number(high)? },
        })
    };
    binding.fields.iter().enumerate().map(part).collect()
}

fn decode(info: &ValueSet, member: &[SetMatch]) -> Vec<v1::FieldMatch> {
    let part = |(field, part): (&closc_runtime::info::MatchField, &SetMatch)| {
        let found = match (part, &field.kind) {
            (SetMatch::Range { low, high }, _) => {
                let (low, high) = (encode_number(*low), encode_number(*high));
                FieldMatchType::Range(field_match::Range { low, high })
            }
            (SetMatch::Masked { mask: 0, .. }, _) => return None,
            (SetMatch::Masked { value, .. }, MatchKind::Exact) => {
                FieldMatchType::Exact(field_match::Exact { value: encode_number(*value) })
            }
            (SetMatch::Masked { value, .. }, MatchKind::Optional) => {
                FieldMatchType::Optional(field_match::Optional { value: encode_number(*value) })
            }
            (SetMatch::Masked { value, mask }, MatchKind::Lpm) => {
                let prefix_len = mask.count_ones().cast_signed();
                FieldMatchType::Lpm(field_match::Lpm { value: encode_number(*value), prefix_len })
            }
            (
                SetMatch::Masked { value, mask },
                MatchKind::Ternary | MatchKind::Range | MatchKind::Other(_),
            ) => {
                let (value, mask) = (encode_number(*value), encode_number(*mask));
                FieldMatchType::Ternary(field_match::Ternary { value, mask })
            }
        };
        Some(v1::FieldMatch { field_id: field.id, field_match_type: Some(found) })
    };
    info.fields.iter().zip(member).filter_map(part).collect()
}
