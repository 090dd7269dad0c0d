//! The calls Write and Read: sections 12 and 13.

use closc_runtime::proto::v1;
use tonic::Code;
use v1::write_request::Atomicity;

use super::List;
use crate::make::{DROP, EntityResult, Maker, exact, lpm};
use crate::section::Section;
use crate::step::{
    ANY_FAILURE, EXISTS, IN_USE, INVALID, NOT_FOUND, OK, Sender, Step, accept, optional, read, refuse,
};

pub(super) fn add(list: &mut List<'_>) {
    write(list);
    batches(list);
    atomic(list);
    reads(list);
}

fn drop_entry(maker: Maker<'_>, key: u8) -> EntityResult<v1::TableEntry> {
    maker.entry("exact_dst", &[exact(&[key])], 0, DROP)
}

fn write(list: &mut List<'_>) {
    let section = Section::Write;
    list.add(
        section,
        "write-before-a-pipeline",
        "before the first pipeline a Write is FAILED_PRECONDITION",
        |_| Ok(vec![Step::WithoutPipeline(IN_USE)]),
    );
    list.add(section, "write-empty", "a Write without updates succeeds", |_| {
        Ok(vec![Step::WriteAs(Sender::primary(), Vec::new(), 0, OK)])
    });
    list.add(section, "write-insert-twice", "INSERT of an entity that exists is ALREADY_EXISTS", |maker| {
        let entry = drop_entry(maker, 1)?;
        Ok(vec![accept(v1::Update::insert(entry.clone())), refuse(v1::Update::insert(entry), EXISTS)])
    });
    list.add(
        section,
        "write-modify-absent",
        "MODIFY of an entity that does not exist is NOT_FOUND",
        |maker| Ok(vec![refuse(v1::Update::modify(drop_entry(maker, 1)?), NOT_FOUND)]),
    );
    list.add(
        section,
        "write-delete-absent",
        "DELETE of an entity that does not exist is NOT_FOUND",
        |maker| Ok(vec![refuse(v1::Update::delete(drop_entry(maker, 1)?), NOT_FOUND)]),
    );
    list.add(section, "write-delete-by-key", "DELETE considers the key alone", |maker| {
        let other = maker.entry("exact_dst", &[exact(&[1])], 0, ("send", &[&[3]]))?;
        Ok(vec![
            accept(v1::Update::insert(drop_entry(maker, 1)?)),
            accept(v1::Update::delete(other)),
            read(maker.all("exact_dst")?, []),
        ])
    });
    list.add(section, "write-atomicity-unknown", "an atomicity that does not exist is refused", |maker| {
        let codes = &[Code::InvalidArgument, Code::Unimplemented];
        let update = v1::Update::insert(drop_entry(maker, 1)?);
        Ok(vec![Step::WriteAs(Sender::primary(), vec![update], 9, codes), read(maker.all("exact_dst")?, [])])
    });
}

/// Returns a batch whose second update fails, because its key exists already. The first and the third are valid.
fn half_good(maker: Maker<'_>) -> EntityResult<Vec<v1::Update>> {
    let last = maker.entry("lpm_src", &[lpm(&[1, 0, 0, 0, 0, 0], 8)], 0, DROP)?;
    Ok(vec![
        v1::Update::insert(drop_entry(maker, 2)?),
        v1::Update::insert(drop_entry(maker, 1)?),
        v1::Update::insert(last),
    ])
}

fn batches(list: &mut List<'_>) {
    let section = Section::ErrorReporting;
    list.add(
        section,
        "errors-one-for-each",
        "a Write that fails has an error for each of its updates",
        |maker| {
            let codes = vec![OK, EXISTS, OK];
            Ok(vec![
                accept(v1::Update::insert(drop_entry(maker, 1)?)),
                Step::Batch(half_good(maker)?, Atomicity::ContinueOnError, codes),
            ])
        },
    );
    list.add(section, "errors-their-own-codes", "each update has the code of its own error", |maker| {
        let wide = maker.entry("exact_dst", &[exact(&[1; 7])], 0, DROP)?;
        let updates = vec![
            v1::Update::modify(drop_entry(maker, 9)?),
            v1::Update::insert(wide),
            v1::Update::insert(maker.key("exact_dst", &[exact(&[3])], 0)?),
            v1::Update::insert(drop_entry(maker, 4)?),
        ];
        let codes = vec![NOT_FOUND, crate::step::RANGE, INVALID, OK];
        Ok(vec![Step::Batch(updates, Atomicity::ContinueOnError, codes)])
    });
    list.add(
        section,
        "errors-call-unknown",
        "the call of a Write with failed updates ends with UNKNOWN",
        |maker| {
            let unknown: crate::step::Codes = &[Code::Unknown];
            Ok(vec![
                accept(v1::Update::insert(drop_entry(maker, 1)?)),
                Step::WriteAs(Sender::primary(), half_good(maker)?, 0, unknown),
            ])
        },
    );
    let section = Section::Atomicity;
    list.add(
        section,
        "atomicity-continue",
        "CONTINUE_ON_ERROR applies every update that can be applied",
        |maker| {
            let codes = vec![OK, EXISTS, OK];
            Ok(vec![
                accept(v1::Update::insert(drop_entry(maker, 1)?)),
                Step::Batch(half_good(maker)?, Atomicity::ContinueOnError, codes),
                Step::ReadCount(maker.all("exact_dst")?.into(), 2),
                Step::ReadCount(maker.all("lpm_src")?.into(), 1),
            ])
        },
    );
}

fn atomic(list: &mut List<'_>) {
    let section = Section::Atomicity;
    let mut all_or_nothing = |id, rule, good: bool, atomicity| {
        list.add(section, id, rule, move |maker| {
            if good {
                let updates = half_good(maker)?;
                return Ok(vec![
                    optional(Step::Batch(updates, atomicity, vec![OK])),
                    Step::ReadCount(maker.all("exact_dst")?.into(), 2),
                ]);
            }
            let batch = Step::Batch(half_good(maker)?, atomicity, vec![ANY_FAILURE]);
            Ok(vec![
                accept(v1::Update::insert(drop_entry(maker, 1)?)),
                optional(batch),
                read(maker.all("exact_dst")?, [drop_entry(maker, 1)?.into()]),
                read(maker.all("lpm_src")?, []),
            ])
        });
    };
    all_or_nothing(
        "atomicity-rollback-good",
        "ROLLBACK_ON_ERROR applies a batch without errors",
        true,
        Atomicity::RollbackOnError,
    );
    all_or_nothing(
        "atomicity-rollback-bad",
        "ROLLBACK_ON_ERROR undoes a batch with an error",
        false,
        Atomicity::RollbackOnError,
    );
    all_or_nothing(
        "atomicity-dataplane-good",
        "DATAPLANE_ATOMIC applies a batch without errors",
        true,
        Atomicity::DataplaneAtomic,
    );
    all_or_nothing(
        "atomicity-dataplane-bad",
        "DATAPLANE_ATOMIC applies nothing of a batch with an error",
        false,
        Atomicity::DataplaneAtomic,
    );
}

fn reads(list: &mut List<'_>) {
    let section = Section::Read;
    list.add(section, "read-unknown-device", "a Read of a device that does not exist is NOT_FOUND", |_| {
        Ok(vec![Step::ReadOf(0x7fff_ffff_ffff_fff1, NOT_FOUND)])
    });
    list.add(section, "read-empty-entity", "an entity without a case is INVALID_ARGUMENT", |_| {
        Ok(vec![Step::ReadFails(v1::Entity::default(), INVALID)])
    });
    list.add(section, "read-batch", "a Read may ask for several kinds of entities", |maker| {
        let requests = vec![
            maker.all("exact_dst")?.into(),
            maker.member("single", 0, None)?.into(),
            maker.counter(Some(1), None)?.into(),
        ];
        Ok(vec![
            accept(v1::Update::insert(drop_entry(maker, 1)?)),
            accept(v1::Update::insert(maker.member("single", 1, Some(DROP))?)),
            Step::ReadBatch(requests, 3),
        ])
    });
    list.add(section, "read-same-twice", "a kind may be asked for twice in a Read", |maker| {
        let requests = vec![maker.all("exact_dst")?.into(), maker.all("exact_dst")?.into()];
        Ok(vec![accept(v1::Update::insert(drop_entry(maker, 1)?)), Step::ReadBatch(requests, 2)])
    });
    list.add(section, "read-nothing", "a Read without entities finds nothing", |_| {
        Ok(vec![Step::ReadBatch(Vec::new(), 0)])
    });
}
