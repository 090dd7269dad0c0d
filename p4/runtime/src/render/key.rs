//! The key of an entry in readable form: `dst=fcbb::/32 port=1..9`.

use std::fmt::{self, Display as _};

use super::value::DisplayValue;
use crate::info::MatchField;
use crate::proto::v1;
use v1::field_match::FieldMatchType;

/// The fields of a key.
pub(super) struct Key<'a> {
    pub(super) fields: &'a [MatchField],
    pub(super) values: &'a [v1::FieldMatch],
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.values.is_empty() {
            return f.write_str("(any)");
        }
        for (position, value) in self.values.iter().enumerate() {
            f.write_str(if position == 0 { "" } else { " " })?;
            let field = self.fields.iter().find(|field| field.id == value.field_id);
            match field {
                Some(field) => write!(f, "{}=", short(self.fields, &field.name))?,
                None => write!(f, "{}=", value.field_id)?,
            }
            let type_of = field.map(|field| (field.name.as_str(), field.width));
            one(f, value.field_match_type.as_ref(), |value| DisplayValue { type_of, value })?;
        }
        Ok(())
    }
}

/// Returns the last part of a field's name if it is unique, or else the full name.
fn short<'n>(fields: &[MatchField], name: &'n str) -> &'n str {
    let last = |name: &'n str| name.rsplit('.').next().unwrap_or(name);
    let mine = last(name);
    let others = fields.iter().filter(|field| field.name.rsplit('.').next() == Some(mine)).count();
    if others > 1 { name } else { mine }
}

fn one<'v>(
    f: &mut fmt::Formatter<'_>,
    value: Option<&'v FieldMatchType>,
    shown: impl Fn(&'v [u8]) -> DisplayValue<'v>,
) -> fmt::Result {
    match value {
        None => f.write_str("?"),
        Some(FieldMatchType::Exact(exact)) => shown(&exact.value).fmt(f),
        Some(FieldMatchType::Optional(optional)) => shown(&optional.value).fmt(f),
        Some(FieldMatchType::Lpm(lpm)) => write!(f, "{}/{}", shown(&lpm.value), lpm.prefix_len),
        Some(FieldMatchType::Ternary(ternary)) => {
            write!(f, "{} & {}", shown(&ternary.value), shown(&ternary.mask))
        }
        Some(FieldMatchType::Range(range)) => write!(f, "{}..{}", shown(&range.low), shown(&range.high)),
        Some(FieldMatchType::Other(any)) => write!(f, "[{}]", any.type_url),
    }
}
