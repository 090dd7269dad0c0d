//! Counters, meters, registers, value sets, digests and externs: sections 9.3, 9.4 and 9.6 to 9.9.

#![expect(clippy::unnecessary_wraps, reason = "a value may be left out of an entity, so values are options")]

use closc_runtime::proto::v1;
use v1::p4_data::Data;

use super::List;
use crate::make::{Call, EntityResult, Maker, exact};
use crate::section::Section;
use crate::step::{
    EXISTS, FULL, INVALID, NOT_FOUND, RANGE, Step, accept, optional, read, refuse, try_accept,
};

const MARK: Call<'static> = ("mark", &[&[1]]);

pub(super) fn add(list: &mut List<'_>) {
    counters(list);
    direct_counters(list);
    meters(list);
    direct_meters(list);
    value_sets(list);
    registers(list);
    register_types(list);
    digests(list);
    externs(list);
}

/// Adds the corners that all indexed arrays have in common.
fn indices(
    list: &mut List<'_>,
    section: Section,
    [wrong_type, negative, past_the_end]: [&'static str; 3],
    make: fn(Maker<'_>, Option<i64>) -> EntityResult<v1::Entity>,
    size: fn(Maker<'_>) -> EntityResult<u64>,
) {
    list.add(section, wrong_type, "a cell is neither inserted nor deleted", move |maker| {
        Ok(vec![
            refuse(v1::Update::insert(make(maker, Some(0))?), INVALID),
            refuse(v1::Update::delete(make(maker, Some(0))?), INVALID),
        ])
    });
    list.add(section, negative, "an index below 0 is INVALID_ARGUMENT", move |maker| {
        Ok(vec![
            refuse(v1::Update::modify(make(maker, Some(-1))?), INVALID),
            Step::ReadFails(make(maker, Some(-1))?, INVALID),
        ])
    });
    list.add(section, past_the_end, "an index past the end is OUT_OF_RANGE", move |maker| {
        let size = i64::try_from(size(maker)?).unwrap_or(i64::MAX);
        Ok(vec![
            refuse(v1::Update::modify(make(maker, Some(size))?), RANGE),
            Step::ReadFails(make(maker, Some(size))?, RANGE),
        ])
    });
}

fn counters(list: &mut List<'_>) {
    let section = Section::Counters;
    indices(
        list,
        section,
        ["counter-only-modify", "counter-negative-index", "counter-past-the-end"],
        |maker, index| Ok(maker.counter(index, Some((1, 1)))?.into()),
        |maker| Ok(maker.info.counter("ports")?.size),
    );
    list.add(section, "counter-modify", "a counter is set and read", |maker| {
        let set = maker.counter(Some(3), Some((5, 6)))?;
        Ok(vec![accept(v1::Update::modify(set)), read(maker.counter(Some(3), None)?, [set.into()])])
    });
    list.add(
        section,
        "counter-all",
        "without an index all counters of the array are set and read",
        |maker| {
            let set = |index| maker.counter(Some(index), Some((7, 8)));
            let size = maker.info.counter("ports")?.size;
            let last = size.cast_signed() - 1;
            Ok(vec![
                accept(v1::Update::modify(maker.counter(None, Some((7, 8)))?)),
                Step::ReadCount(maker.counter(None, None)?.into(), size as usize),
                read(maker.counter(Some(0), None)?, [set(0)?.into()]),
                read(maker.counter(Some(last), None)?, [set(last)?.into()]),
            ])
        },
    );
    list.add(section, "counter-without-data", "a counter without data is not changed", |maker| {
        let set = maker.counter(Some(3), Some((5, 6)))?;
        Ok(vec![
            accept(v1::Update::modify(set)),
            accept(v1::Update::modify(maker.counter(Some(3), None)?)),
            read(maker.counter(Some(3), None)?, [set.into()]),
        ])
    });
    list.add(section, "counter-every-array", "counter id 0 reads the counters of all arrays", |maker| {
        let sizes = maker.info.counters().iter().map(|counter| counter.size as usize);
        Ok(vec![Step::ReadCount(v1::CounterEntry::default().into(), sizes.sum())])
    });
}

fn direct(maker: Maker<'_>) -> EntityResult<(v1::TableEntry, v1::TableEntry)> {
    let fields = [None, exact(&[1])];
    Ok((maker.entry("ternary_kind", &fields, 1, MARK)?, maker.key("ternary_kind", &fields, 1)?))
}

fn direct_counter(key: v1::TableEntry, data: Option<(i64, i64)>) -> v1::DirectCounterEntry {
    let data = data.map(|(packet_count, byte_count)| v1::CounterData { byte_count, packet_count });
    v1::DirectCounterEntry { table_entry: Some(key), data }
}

fn direct_counters(list: &mut List<'_>) {
    let section = Section::Counters;
    list.add(section, "direct-counter-modify", "the counter of an entry is set and read", |maker| {
        let (entry, key) = direct(maker)?;
        let set = direct_counter(key.clone(), Some((3, 4)));
        Ok(vec![
            accept(v1::Update::insert(entry)),
            accept(v1::Update::modify(set.clone())),
            read(direct_counter(key, None), [set.into()]),
        ])
    });
    list.add(
        section,
        "direct-counter-no-entry",
        "the counter of an entry that does not exist is NOT_FOUND",
        |maker| {
            let (_, key) = direct(maker)?;
            Ok(vec![refuse(v1::Update::modify(direct_counter(key, Some((1, 1)))), NOT_FOUND)])
        },
    );
    list.add(section, "direct-counter-only-modify", "the counter of an entry is only modified", |maker| {
        let (entry, key) = direct(maker)?;
        Ok(vec![
            accept(v1::Update::insert(entry)),
            refuse(v1::Update::insert(direct_counter(key.clone(), Some((1, 1)))), INVALID),
            refuse(v1::Update::delete(direct_counter(key, None)), INVALID),
        ])
    });
    list.add(section, "direct-counter-goes", "a new entry has a counter of 0", |maker| {
        let (entry, key) = direct(maker)?;
        Ok(vec![
            accept(v1::Update::insert(entry.clone())),
            accept(v1::Update::modify(direct_counter(key.clone(), Some((3, 4))))),
            accept(v1::Update::delete(key.clone())),
            accept(v1::Update::insert(entry)),
            read(direct_counter(key.clone(), None), [direct_counter(key, Some((0, 0))).into()]),
        ])
    });
}

const RATES: v1::MeterConfig = v1::MeterConfig { cir: 10, cburst: 20, pir: 30, pburst: 40, eburst: 0 };

fn meters(list: &mut List<'_>) {
    let section = Section::Meters;
    indices(
        list,
        section,
        ["meter-only-modify", "meter-negative-index", "meter-past-the-end"],
        |maker, index| Ok(maker.meter(index, Some(RATES))?.into()),
        |maker| Ok(maker.info.meter("port_meter")?.size),
    );
    list.add(section, "meter-modify", "a meter is set and read", |maker| {
        let set = maker.meter(Some(3), Some(RATES))?;
        Ok(vec![accept(v1::Update::modify(set)), read(maker.meter(Some(3), None)?, [set.into()])])
    });
    list.add(section, "meter-reset", "a meter without rates is as the program made it", |maker| {
        let bare = maker.meter(Some(3), None)?;
        Ok(vec![
            accept(v1::Update::modify(maker.meter(Some(3), Some(RATES))?)),
            accept(v1::Update::modify(bare)),
            read(bare, [bare.into()]),
        ])
    });
    list.add(section, "meter-all", "without an index all meters of the array are set and read", |maker| {
        let size = maker.info.meter("port_meter")?.size as usize;
        Ok(vec![
            accept(v1::Update::modify(maker.meter(None, Some(RATES))?)),
            Step::ReadCount(maker.meter(None, None)?.into(), size),
            read(maker.meter(Some(0), None)?, [maker.meter(Some(0), Some(RATES))?.into()]),
        ])
    });
    let mut refused = |id, rule, config| {
        list.add(section, id, rule, move |maker| {
            Ok(vec![refuse(v1::Update::modify(maker.meter(Some(1), Some(config))?), INVALID)])
        });
    };
    let wrong = v1::MeterConfig { pir: 5, ..RATES };
    refused("meter-peak-below", "a peak rate is not below the committed rate", wrong);
    refused("meter-negative", "a rate is not negative", v1::MeterConfig { cir: -1, ..RATES });
    let excess = v1::MeterConfig { eburst: 1, ..RATES };
    refused("meter-excess-burst", "a meter of two rates has no excess burst", excess);
    list.add(section, "meter-counters-cleared", "counters of colours are only cleared", |maker| {
        let one = Some(v1::CounterData { byte_count: 1, packet_count: 1 });
        let data = v1::MeterCounterData { green: one, ..Default::default() };
        let set = v1::MeterEntry { counter_data: Some(data), ..maker.meter(Some(1), Some(RATES))? };
        Ok(vec![optional(refuse(v1::Update::modify(set), INVALID))])
    });
}

fn direct_meter(key: v1::TableEntry, config: Option<v1::MeterConfig>) -> v1::DirectMeterEntry {
    v1::DirectMeterEntry { table_entry: Some(key), config, counter_data: None }
}

fn direct_meters(list: &mut List<'_>) {
    let section = Section::Meters;
    list.add(section, "direct-meter-modify", "the meter of an entry is set, read and reset", |maker| {
        let (entry, key) = direct(maker)?;
        let set = direct_meter(key.clone(), Some(RATES));
        let bare = direct_meter(key, None);
        Ok(vec![
            accept(v1::Update::insert(entry)),
            accept(v1::Update::modify(set.clone())),
            read(bare.clone(), [set.into()]),
            accept(v1::Update::modify(bare.clone())),
            read(bare.clone(), [bare.into()]),
        ])
    });
    list.add(
        section,
        "direct-meter-no-entry",
        "the meter of an entry that does not exist is NOT_FOUND",
        |maker| {
            let (_, key) = direct(maker)?;
            Ok(vec![refuse(v1::Update::modify(direct_meter(key, Some(RATES))), NOT_FOUND)])
        },
    );
    list.add(section, "direct-meter-only-modify", "the meter of an entry is only modified", |maker| {
        let (entry, key) = direct(maker)?;
        Ok(vec![
            accept(v1::Update::insert(entry)),
            refuse(v1::Update::insert(direct_meter(key.clone(), Some(RATES))), INVALID),
            refuse(v1::Update::delete(direct_meter(key, None)), INVALID),
        ])
    });
}

fn value_sets(list: &mut List<'_>) {
    let section = Section::ValueSets;
    list.add(section, "value-set-modify", "a value set is replaced and read", |maker| {
        let set = maker.value_set(&[&[0x77, 0x77], &[0x88]])?;
        Ok(vec![
            try_accept(v1::Update::modify(set.clone())),
            read(maker.value_set(&[])?, [set.into()]),
            accept(v1::Update::modify(maker.value_set(&[])?)),
            read(maker.value_set(&[])?, [maker.value_set(&[])?.into()]),
        ])
    });
    list.add(section, "value-set-only-modify", "a value set is neither inserted nor deleted", |maker| {
        Ok(vec![
            optional(refuse(v1::Update::insert(maker.value_set(&[&[1]])?), INVALID)),
            optional(refuse(v1::Update::delete(maker.value_set(&[])?), INVALID)),
        ])
    });
    list.add(section, "value-set-full", "more values than the set holds are RESOURCE_EXHAUSTED", |maker| {
        let size = maker.info.value_set("kinds")?.size as usize;
        let bytes: Vec<[u8; 1]> = (1..).take(size + 1).map(|value| [value]).collect();
        let values: Vec<&[u8]> = bytes.iter().map(<[u8; 1]>::as_slice).collect();
        Ok(vec![optional(refuse(v1::Update::modify(maker.value_set(&values)?), FULL))])
    });
    list.add(section, "value-set-twice", "a value that is there twice is ALREADY_EXISTS", |maker| {
        Ok(vec![optional(refuse(v1::Update::modify(maker.value_set(&[&[1], &[1]])?), EXISTS))])
    });
    list.add(section, "value-set-wide", "a value wider than its field is OUT_OF_RANGE", |maker| {
        Ok(vec![optional(refuse(v1::Update::modify(maker.value_set(&[&[1, 0, 0]])?), RANGE))])
    });
}

fn number(bytes: &[u8]) -> Option<Data> {
    Some(Data::Bitstring(bytes.to_vec()))
}

fn registers(list: &mut List<'_>) {
    let section = Section::Registers;
    list.add(section, "register-modify", "a register is set and read", |maker| {
        let set = maker.register(Some(3), number(&[0x12, 0x34]))?;
        Ok(vec![
            try_accept(v1::Update::modify(set.clone())),
            read(maker.register(Some(3), None)?, [set.into()]),
        ])
    });
    list.add(section, "register-never-written", "a register that was never written is zero", |maker| {
        let zero = maker.register(Some(3), number(&[0]))?;
        Ok(vec![
            try_accept(v1::Update::modify(maker.register(Some(2), number(&[1]))?)),
            read(maker.register(Some(3), None)?, [zero.clone().into()]),
            accept(v1::Update::modify(zero)),
        ])
    });
    list.add(
        section,
        "register-all",
        "without an index all registers of the array are set and read",
        |maker| {
            let size = maker.info.register("last_seen")?.size as usize;
            Ok(vec![
                try_accept(v1::Update::modify(maker.register(None, number(&[9]))?)),
                Step::ReadCount(maker.register(None, None)?.into(), size),
                read(maker.register(Some(0), None)?, [maker.register(Some(0), number(&[9]))?.into()]),
            ])
        },
    );
    list.add(section, "register-only-modify", "a register is neither inserted nor deleted", |maker| {
        Ok(vec![
            optional(refuse(v1::Update::insert(maker.register(Some(0), number(&[1]))?), INVALID)),
            optional(refuse(v1::Update::delete(maker.register(Some(0), None)?), INVALID)),
        ])
    });
    list.add(section, "register-negative-index", "an index below 0 is INVALID_ARGUMENT", |maker| {
        Ok(vec![optional(refuse(v1::Update::modify(maker.register(Some(-1), number(&[1]))?), INVALID))])
    });
    list.add(section, "register-past-the-end", "an index past the end is OUT_OF_RANGE", |maker| {
        let size = maker.info.register("last_seen")?.size.cast_signed();
        Ok(vec![optional(refuse(v1::Update::modify(maker.register(Some(size), number(&[1]))?), RANGE))])
    });
}

fn register_types(list: &mut List<'_>) {
    let section = Section::Registers;
    list.add(section, "register-wide", "a value wider than the register is OUT_OF_RANGE", |maker| {
        let set = maker.register(Some(0), number(&[1, 0, 0, 0, 0, 0, 0]))?;
        Ok(vec![optional(refuse(v1::Update::modify(set), RANGE))])
    });
    list.add(section, "register-type", "a value of another type is INVALID_ARGUMENT", |maker| {
        let of = |data| maker.register(Some(0), Some(data));
        let tuple = Data::Tuple(v1::P4StructLike::default());
        Ok(vec![
            optional(refuse(v1::Update::modify(of(Data::Bool(true))?), INVALID)),
            optional(refuse(v1::Update::modify(of(tuple)?), INVALID)),
        ])
    });
}

fn digests(list: &mut List<'_>) {
    let section = Section::Digests;
    list.add(section, "digest-insert", "a digest is configured and read", |maker| {
        let entry = maker.digest(Some((0, 1, 1_000_000)))?;
        Ok(vec![
            try_accept(v1::Update::insert(entry)),
            refuse(v1::Update::insert(entry), EXISTS),
            read(maker.digest(None)?, [entry.into()]),
        ])
    });
    list.add(section, "digest-modify", "the configuration of a digest is changed", |maker| {
        let entry = maker.digest(Some((5, 6, 7)))?;
        Ok(vec![
            optional(refuse(v1::Update::modify(entry), NOT_FOUND)),
            accept(v1::Update::insert(maker.digest(Some((1, 1, 1)))?)),
            accept(v1::Update::modify(entry)),
            read(maker.digest(None)?, [entry.into()]),
        ])
    });
    list.add(section, "digest-delete", "a digest that is deleted is not read", |maker| {
        let bare = maker.digest(None)?;
        Ok(vec![
            optional(refuse(v1::Update::delete(bare), NOT_FOUND)),
            accept(v1::Update::insert(maker.digest(Some((1, 1, 1)))?)),
            accept(v1::Update::delete(bare)),
            read(v1::DigestEntry::default(), []),
        ])
    });
}

fn externs(list: &mut List<'_>) {
    list.add(Section::Externs, "extern-unknown", "an extern that does not exist is refused", |_| {
        let entry = v1::ExternEntry { extern_type_id: 0x81_00_00_01, extern_id: 1, entry: None };
        let codes = &[tonic::Code::InvalidArgument, tonic::Code::NotFound, tonic::Code::Unimplemented];
        Ok(vec![Step::Write(v1::Update::modify(entry), codes)])
    });
}
