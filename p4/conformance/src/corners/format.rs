//! The encoding of values: section 8.

use closc_runtime::proto::v1;

use super::List;
use crate::make::{DROP, EntityResult, Maker, exact, lpm, ternary};
use crate::section::Section;
use crate::step::{EXISTS, INVALID, RANGE, Step, accept, read, refuse};

pub(super) fn add(list: &mut List<'_>) {
    defaults(list);
    symmetry(list);
    bytestrings(list);
    too_wide(list);
}

fn defaults(list: &mut List<'_>) {
    list.add(
        Section::DefaultValues,
        "default-update-type",
        "an update without a type is INVALID_ARGUMENT",
        |maker| {
            let entry = maker.entry("exact_dst", &[exact(&[1])], 0, DROP)?;
            let update = v1::Update { r#type: 0, entity: Some(entry.into()) };
            Ok(vec![refuse(update, INVALID)])
        },
    );
    list.add(
        Section::DefaultValues,
        "default-update-type-unknown",
        "an update of a type that does not exist is INVALID_ARGUMENT",
        |maker| {
            let entry = maker.entry("exact_dst", &[exact(&[1])], 0, DROP)?;
            let of = |kind| v1::Update { r#type: kind, entity: Some(entry.clone().into()) };
            Ok(vec![refuse(of(9), INVALID), refuse(of(-1), INVALID)])
        },
    );
    list.add(
        Section::DefaultValues,
        "default-entity",
        "an update without an entity is INVALID_ARGUMENT",
        |_| {
            let bare = v1::Update { r#type: 1, entity: None };
            let empty = v1::Update { r#type: 1, entity: Some(v1::Entity::default()) };
            Ok(vec![refuse(bare, INVALID), refuse(empty, INVALID)])
        },
    );
    list.add(
        Section::DefaultValues,
        "default-fields-stay-unset",
        "fields that were not written are unset when they are read",
        |maker| {
            let entry = maker.entry("lpm_src", &[lpm(&[1, 0, 0, 0, 0, 0], 8)], 0, DROP)?;
            Ok(vec![accept(v1::Update::insert(entry.clone())), read(maker.all("lpm_src")?, [entry.into()])])
        },
    );
}

fn symmetry(list: &mut List<'_>) {
    list.add(
        Section::Symmetry,
        "symmetry-metadata",
        "metadata and controller metadata of an entry are read as they were written",
        |maker| {
            let metadata = b"of the controller".to_vec();
            let entry = maker.entry("exact_dst", &[exact(&[1])], 0, DROP)?;
            let entry = v1::TableEntry { metadata, ..entry };
            Ok(vec![accept(v1::Update::insert(entry.clone())), read(maker.all("exact_dst")?, [entry.into()])])
        },
    );
    list.add(
        Section::Symmetry,
        "symmetry-modify",
        "after MODIFY the new state is read, and only it",
        |maker| {
            let with = |port: &[u8]| maker.entry("exact_dst", &[exact(&[1])], 0, ("send", &[port]));
            Ok(vec![
                accept(v1::Update::insert(with(&[1])?)),
                accept(v1::Update::modify(with(&[2])?)),
                read(maker.all("exact_dst")?, [with(&[2])?.into()]),
            ])
        },
    );
    list.add(
        Section::Symmetry,
        "symmetry-read-is-written-back",
        "what is read can be written again",
        |maker| {
            let entry = maker.entry("ternary_kind", &[ternary(&[8, 0], &[0xff, 0]), exact(&[1])], 7, MARK)?;
            Ok(vec![
                accept(v1::Update::insert(entry.clone())),
                read(maker.all("ternary_kind")?, [entry.clone().into()]),
                accept(v1::Update::modify(entry.clone())),
                read(maker.all("ternary_kind")?, [entry.into()]),
            ])
        },
    );
}

const MARK: crate::make::Call<'static> = ("mark", &[&[1]]);

fn exact_entry(maker: Maker<'_>, key: &[u8], port: &[u8]) -> EntityResult<v1::TableEntry> {
    maker.entry("exact_dst", &[exact(key)], 0, ("send", &[port]))
}

fn bytestrings(list: &mut List<'_>) {
    list.add(
        Section::Bytestrings,
        "bytes-leading-zeros-read",
        "leading zeros of a value are accepted, and the shortest form is read",
        |maker| {
            Ok(vec![
                accept(v1::Update::insert(exact_entry(maker, &[0, 0, 7], &[0, 9])?)),
                read(maker.all("exact_dst")?, [exact_entry(maker, &[7], &[9])?.into()]),
            ])
        },
    );
    list.add(
        Section::Bytestrings,
        "bytes-same-key",
        "values that differ in leading zeros are one key",
        |maker| {
            Ok(vec![
                accept(v1::Update::insert(exact_entry(maker, &[0, 7], &[9])?)),
                refuse(v1::Update::insert(exact_entry(maker, &[7], &[9])?), EXISTS),
                accept(v1::Update::delete(exact_entry(maker, &[0, 0, 0, 7], &[9])?)),
                read(maker.all("exact_dst")?, []),
            ])
        },
    );
    list.add(
        Section::Bytestrings,
        "bytes-longer-than-the-field",
        "zeros beyond the width of the field are accepted",
        |maker| {
            Ok(vec![
                accept(v1::Update::insert(exact_entry(maker, &[0, 0, 0, 0, 0, 0, 0, 0, 1], &[0, 0, 0, 1])?)),
                read(maker.all("exact_dst")?, [exact_entry(maker, &[1], &[1])?.into()]),
            ])
        },
    );
    list.add(Section::Bytestrings, "bytes-zero", "zero is one byte", |maker| {
        Ok(vec![
            accept(v1::Update::insert(exact_entry(maker, &[0, 0], &[0, 0])?)),
            read(maker.all("exact_dst")?, [exact_entry(maker, &[0], &[0])?.into()]),
        ])
    });
    list.add(Section::Bytestrings, "bytes-greatest", "the greatest value of a width is accepted", |maker| {
        let entry = exact_entry(maker, &[0xff; 6], &[1, 0xff])?;
        Ok(vec![accept(v1::Update::insert(entry.clone())), read(maker.all("exact_dst")?, [entry.into()])])
    });
}

fn too_wide(list: &mut List<'_>) {
    let mut wide = |id, rule, make: fn(Maker<'_>) -> EntityResult<v1::TableEntry>| {
        list.add(Section::Bytestrings, id, rule, |maker| -> EntityResult<Vec<Step>> {
            Ok(vec![refuse(v1::Update::insert(make(maker)?), RANGE)])
        });
    };
    wide("bytes-wide-key", "a key wider than its field is OUT_OF_RANGE", |maker| {
        exact_entry(maker, &[1, 0, 0, 0, 0, 0, 0], &[1])
    });
    wide("bytes-wide-argument", "an argument of 10 bits for a parameter of 9 is OUT_OF_RANGE", |maker| {
        exact_entry(maker, &[1], &[2, 0])
    });
    wide("bytes-empty-key", "a key without bytes is OUT_OF_RANGE", |maker| exact_entry(maker, &[], &[1]));
    wide("bytes-empty-argument", "an argument without bytes is OUT_OF_RANGE", |maker| {
        exact_entry(maker, &[1], &[])
    });
    wide("bytes-wide-lpm", "a prefix wider than its field is OUT_OF_RANGE", |maker| {
        maker.entry("lpm_src", &[lpm(&[1, 0, 0, 0, 0, 0, 0], 48)], 0, DROP)
    });
    wide("bytes-wide-ternary", "a ternary value wider than its field is OUT_OF_RANGE", |maker| {
        maker.entry("ternary_kind", &[ternary(&[1, 0, 0], &[0xff, 0xff]), exact(&[1])], 1, MARK)
    });
    wide("bytes-wide-mask", "a mask wider than its field is OUT_OF_RANGE", |maker| {
        maker.entry("ternary_kind", &[ternary(&[1], &[1, 0xff, 0xff]), exact(&[1])], 1, MARK)
    });
    wide("bytes-empty-mask", "a mask without bytes is OUT_OF_RANGE", |maker| {
        maker.entry("ternary_kind", &[ternary(&[1], &[]), exact(&[1])], 1, MARK)
    });
    wide("bytes-wide-range", "the end of a range wider than its field is OUT_OF_RANGE", |maker| {
        maker.entry("ranges", &[crate::make::range(&[1], &[1, 0, 0]), None], 1, ("set_a", &[&[1]]))
    });
    wide("bytes-wide-optional", "an optional value wider than its field is OUT_OF_RANGE", |maker| {
        maker.entry("ranges", &[None, crate::make::optional(&[1, 0])], 1, ("set_a", &[&[1]]))
    });
}
