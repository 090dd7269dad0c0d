//! Default actions and entries of the program itself.

use serde_json::Value;

use super::super::control::{ConstEntry, ConstMatch, DefaultEntry, KeyField, MatchKind};
use super::Builder;
use crate::json::{self, EntryKey};
use crate::{Error, bits};

impl Builder<'_> {
    /// Compiles the default action of a table.
    pub(super) fn default_entry(
        &self,
        table: &json::Table,
        place: &str,
    ) -> Result<Option<DefaultEntry>, Error> {
        let Some(entry) = &table.default_entry else { return Ok(None) };
        let action = self.action_ids.get(&entry.action_id, place)?;
        let args = self.arguments(action, &entry.action_data, place)?;
        Ok(Some(DefaultEntry { action, args, constant: entry.action_const }))
    }

    /// Compiles the entries of a table.
    pub(super) fn const_entries(
        &self,
        table: &json::Table,
        key: &[KeyField],
        place: &str,
    ) -> Result<Option<Vec<ConstEntry>>, Error> {
        let Some(entries) = &table.entries else { return Ok(None) };
        if table.kind != "simple" {
            return Err(Error::invalid(place, "only a table without action profile can have entries"));
        }
        let compile = |entry: &json::Entry| {
            if entry.match_key.len() != key.len() {
                let problem =
                    format!("an entry has {} fields, the key has {}", entry.match_key.len(), key.len());
                return Err(Error::invalid(place, problem));
            }
            let matches: Result<Vec<ConstMatch>, Error> = entry
                .match_key
                .iter()
                .zip(key)
                .map(|(found, field)| const_match(found, field, place))
                .collect();
            let action = self.action_ids.get(&entry.action_entry.action_id, place)?;
            let priority = i32::try_from(entry.priority)
                .map_err(|_| Error::invalid(place, format!("priority {} is out of range", entry.priority)))?;
            let args = self.arguments(action, &entry.action_entry.action_data, place)?;
            Ok(ConstEntry { matches: matches?, action, args, priority })
        };
        entries.iter().map(compile).collect::<Result<Vec<_>, _>>().map(Some)
    }

    fn arguments(&self, action: u16, data: &[String], place: &str) -> Result<Box<[u64]>, Error> {
        let action = &self.actions[action as usize];
        if action.params.len() != data.len() {
            let problem = format!(
                "action `{}` takes {} arguments, {} are given",
                action.name,
                action.params.len(),
                data.len()
            );
            return Err(Error::invalid(place, problem));
        }
        let mut args = vec![0; action.words];
        for (at, text) in data.iter().enumerate() {
            let value = words(text, action.params[at].1, place)?;
            args[action.range(at)].copy_from_slice(&value);
        }
        Ok(args.into())
    }
}

/// Parses a hexadecimal number into the words of a value of `width` bits; higher bits are dropped, as in BMv2.
pub(super) fn words(text: &str, width: u32, place: &str) -> Result<Box<[u64]>, Error> {
    let value = bits::parse_hex(text)
        .ok_or_else(|| Error::invalid(place, format!("`{text}` is not a hexadecimal number")))?;
    let mut words = vec![0; bits::words_for(width as usize)];
    bits::set_big(&mut words, &value);
    bits::truncate(&mut words, width as usize);
    Ok(words.into())
}

/// Returns the words of a mask over the first `prefix` of `width` bits.
pub(crate) fn prefix_mask(prefix: u32, width: u32) -> Box<[u64]> {
    let mut words = vec![u64::MAX; bits::words_for(width as usize)];
    bits::truncate(&mut words, width as usize);
    let low = width.saturating_sub(prefix);
    for (at, word) in words.iter_mut().enumerate() {
        *word &= !bits::mask64(low.saturating_sub(at as u32 * 64));
    }
    words.into()
}

fn const_match(found: &EntryKey, field: &KeyField, place: &str) -> Result<ConstMatch, Error> {
    let given = |part: Option<&str>, what: &str| match part {
        Some(text) => words(text, field.bits, place),
        None => Err(Error::invalid(place, format!("an entry gives no {what} for `{}`", field.name))),
    };
    let key = || given(found.key.as_ref().and_then(Value::as_str), "key");
    let full = || prefix_mask(field.bits, field.bits);
    let (value, mask, prefix) = match field.kind {
        MatchKind::Exact => (key()?, full(), field.bits),
        MatchKind::Valid => {
            let valid = found.key.as_ref().and_then(Value::as_bool).unwrap_or(false);
            (Box::from([u64::from(valid)]), full(), field.bits)
        }
        MatchKind::Lpm => {
            let prefix = found.prefix_length.and_then(|n| u32::try_from(n).ok()).filter(|n| *n <= field.bits);
            let prefix = prefix
                .ok_or_else(|| Error::invalid(place, format!("`{}` has no prefix length", field.name)))?;
            (key()?, prefix_mask(prefix, field.bits), prefix)
        }
        MatchKind::Ternary => (key()?, given(found.mask.as_deref(), "mask")?, 0),
        MatchKind::Range => (given(found.start.as_deref(), "start")?, given(found.end.as_deref(), "end")?, 0),
    };
    if found.match_type != field.kind.name() {
        let problem = format!("`{}` is matched by `{}` in an entry", field.name, found.match_type);
        return Err(Error::invalid(place, problem));
    }
    Ok(ConstMatch { value, mask, prefix })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_masks_cross_words() {
        assert_eq!(*prefix_mask(48, 128), [0, 0xffff_ffff_ffff_0000]);
        assert_eq!(*prefix_mask(0, 32), [0]);
        assert_eq!(*prefix_mask(32, 32), [0xffff_ffff]);
        assert_eq!(*prefix_mask(65, 128), [1 << 63, u64::MAX]);
    }
}
