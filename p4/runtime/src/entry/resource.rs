//! Counters, meters, registers, value sets and digests by name. All of them except digests always exist, so they can
//! only be modified.

use crate::check::{Violation, check_counter, check_digest, check_meter, check_register, check_value_set};
use crate::info::Info;
use crate::proto::v1;
use v1::update::Type;

fn place(index: Option<i64>) -> Option<v1::Index> {
    index.map(|index| v1::Index { index })
}

/// Returns one cell of a counter array with its new value, or all cells without an index.
pub fn counter(
    info: &Info,
    name: &str,
    index: Option<i64>,
    data: v1::CounterData,
) -> Result<v1::CounterEntry, Violation> {
    let counter_id = info.counter(name)?.preamble.id;
    let entry = v1::CounterEntry { counter_id, index: place(index), data: Some(data) };
    check_counter(info, Type::Modify, &entry)?;
    Ok(entry)
}

/// Returns one cell of a meter array with its rates, or all cells without an index. Without rates, the meter
/// is reset to its default.
pub fn meter(
    info: &Info,
    name: &str,
    index: Option<i64>,
    config: Option<v1::MeterConfig>,
) -> Result<v1::MeterEntry, Violation> {
    let meter_id = info.meter(name)?.preamble.id;
    let entry = v1::MeterEntry { meter_id, index: place(index), config, counter_data: None };
    check_meter(info, Type::Modify, &entry)?;
    Ok(entry)
}

/// Returns one cell of a register array with its value, or all cells without an index.
pub fn register(
    info: &Info,
    name: &str,
    index: Option<i64>,
    data: v1::P4Data,
) -> Result<v1::RegisterEntry, Violation> {
    let register_id = info.register(name)?.preamble.id;
    let entry = v1::RegisterEntry { register_id, index: place(index), data: Some(data) };
    check_register(info, Type::Modify, &entry)?;
    Ok(entry)
}

/// Returns a value set with all of its values.
pub fn value_set(
    info: &Info,
    name: &str,
    members: Vec<v1::ValueSetMember>,
) -> Result<v1::ValueSetEntry, Violation> {
    let value_set_id = info.value_set(name)?.preamble.id;
    let entry = v1::ValueSetEntry { value_set_id, members };
    check_value_set(info, Type::Modify, &entry)?;
    Ok(entry)
}

/// Returns the entry that enables a digest, with the limits for its lists.
pub fn digest(
    info: &Info,
    name: &str,
    config: v1::digest_entry::Config,
) -> Result<v1::DigestEntry, Violation> {
    let digest_id = info.digest(name)?.preamble.id;
    let entry = v1::DigestEntry { digest_id, config: Some(config) };
    check_digest(info, Type::Insert, &entry)?;
    Ok(entry)
}
