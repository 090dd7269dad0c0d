//! Table entries: section 9.1.

use closc_runtime::proto::v1;

use super::List;
use crate::make::{
    Call, DROP, EntityResult, Field, Maker, exact, lpm, optional, range, ternary, with_action,
};
use crate::section::Section;
use crate::step::{DENIED, EXISTS, INVALID, NOT_FOUND, Step, accept, read, refuse};

const MARK: Call<'static> = ("mark", &[&[1]]);
const SET: Call<'static> = ("set_a", &[&[1]]);

pub(super) fn add(list: &mut List<'_>) {
    exact_and_lpm(list);
    ternary_and_range(list);
    range_and_optional(list);
    open_fields(list);
    shape_of_keys(list);
    priorities(list);
    actions(list);
    action_forms(list);
    default_entries(list);
    constants(list);
    wildcards(list);
    filters(list);
    direct_resources(list);
    idle(list);
}

/// The id and rule of a corner, and the table, key, priority and action of an entry that must be rejected.
type RejectedEntry<'c> = (&'static str, &'static str, &'static str, &'c [Field], i32, Call<'c>);

/// Adds corners that each insert one entry that must be rejected.
fn add_rejected(list: &mut List<'_>, section: Section, corners: &[RejectedEntry<'_>]) {
    for (id, rule, table, fields, priority, action) in corners {
        list.add(section, id, rule, |maker| {
            let entry = maker.entry(table, fields, *priority, *action)?;
            Ok(vec![refuse(v1::Update::insert(entry), INVALID)])
        });
    }
}

fn exact_and_lpm(list: &mut List<'_>) {
    let section = Section::MatchFormat;
    add_rejected(
        list,
        section,
        &[
            ("match-exact-left-out", "an exact field cannot be left out", "exact_dst", &[None], 0, DROP),
            ("match-exact-as-lpm", "an exact field takes no prefix", "exact_dst", &[lpm(&[1], 48)], 0, DROP),
            (
                "match-exact-as-ternary",
                "an exact field takes no mask",
                "exact_dst",
                &[ternary(&[1], &[0xff; 6])],
                0,
                DROP,
            ),
            (
                "match-lpm-as-exact",
                "a field of prefixes takes no exact value",
                "lpm_src",
                &[exact(&[1])],
                0,
                DROP,
            ),
            ("match-lpm-zero", "a prefix of no bits must be left out", "lpm_src", &[lpm(&[0], 0)], 0, DROP),
            ("match-lpm-long", "a prefix is not longer than its field", "lpm_src", &[lpm(&[1], 49)], 0, DROP),
            ("match-lpm-negative", "a prefix is not negative", "lpm_src", &[lpm(&[1], -1)], 0, DROP),
            ("match-lpm-host-bits", "bits behind a prefix are zero", "lpm_src", &[lpm(&[1], 47)], 0, DROP),
        ],
    );
    list.add(section, "match-lpm-all-bits", "a prefix may be as long as its field", |maker| {
        let entry = maker.entry("lpm_src", &[lpm(&[0xff; 6], 48)], 0, DROP)?;
        Ok(vec![accept(v1::Update::insert(entry.clone())), read(maker.all("lpm_src")?, [entry.into()])])
    });
    list.add(section, "match-lpm-left-out", "a prefix that is left out matches everything", |maker| {
        let any = maker.entry("lpm_src", &[None], 0, DROP)?;
        Ok(vec![
            accept(v1::Update::insert(any.clone())),
            refuse(v1::Update::insert(any.clone()), EXISTS),
            read(maker.all("lpm_src")?, [any.into()]),
        ])
    });
}

fn ternary_and_range(list: &mut List<'_>) {
    let section = Section::MatchFormat;
    let port = exact(&[1]);
    add_rejected(
        list,
        section,
        &[
            (
                "match-ternary-no-mask",
                "a mask of zeros must be left out",
                "ternary_kind",
                &[ternary(&[0], &[0]), port.clone()],
                1,
                MARK,
            ),
            (
                "match-ternary-outside-mask",
                "bits outside of the mask are zero",
                "ternary_kind",
                &[ternary(&[3], &[2]), port.clone()],
                1,
                MARK,
            ),
            (
                "match-ternary-as-exact",
                "a ternary field takes no exact value",
                "ternary_kind",
                &[exact(&[3]), port.clone()],
                1,
                MARK,
            ),
        ],
    );
}

fn range_and_optional(list: &mut List<'_>) {
    let section = Section::MatchFormat;
    add_rejected(
        list,
        section,
        &[
            (
                "match-range-everything",
                "a range of everything must be left out",
                "ranges",
                &[range(&[0], &[0xff, 0xff]), None],
                1,
                SET,
            ),
            (
                "match-range-backwards",
                "a range does not end before it begins",
                "ranges",
                &[range(&[2], &[1]), None],
                1,
                SET,
            ),
            (
                "match-range-as-ternary",
                "a range field takes no mask",
                "ranges",
                &[ternary(&[1], &[1]), None],
                1,
                SET,
            ),
            (
                "match-optional-as-exact",
                "an optional field is given as optional",
                "ranges",
                &[None, exact(&[1])],
                1,
                SET,
            ),
        ],
    );
}

fn open_fields(list: &mut List<'_>) {
    let section = Section::MatchFormat;
    list.add(section, "match-range-one-value", "a range may hold one value", |maker| {
        let entry = maker.entry("ranges", &[range(&[5], &[5]), None], 1, SET)?;
        Ok(vec![accept(v1::Update::insert(entry.clone())), read(maker.all("ranges")?, [entry.into()])])
    });
    list.add(section, "match-optional", "an optional field is given or left out", |maker| {
        let given = maker.entry("ranges", &[None, optional(&[0])], 1, SET)?;
        let without = maker.entry("ranges", &[None, None], 2, SET)?;
        Ok(vec![
            accept(v1::Update::insert(given.clone())),
            accept(v1::Update::insert(without.clone())),
            read(maker.all("ranges")?, [given.into(), without.into()]),
        ])
    });
    list.add(
        section,
        "match-ternary-left-out",
        "a ternary field that is left out matches everything",
        |maker| {
            let entry = maker.entry("ternary_kind", &[None, exact(&[1])], 3, MARK)?;
            Ok(vec![
                accept(v1::Update::insert(entry.clone())),
                read(maker.all("ternary_kind")?, [entry.into()]),
            ])
        },
    );
}

fn shape_of_keys(list: &mut List<'_>) {
    let section = Section::MatchFormat;
    let base = |maker: Maker<'_>| maker.entry("exact_dst", &[exact(&[1])], 0, DROP);
    list.add(section, "match-field-twice", "a field is given once", move |maker| {
        let mut entry = base(maker)?;
        entry.r#match.extend(entry.r#match.clone());
        Ok(vec![refuse(v1::Update::insert(entry), INVALID)])
    });
    list.add(
        section,
        "match-field-unknown",
        "a field that the table does not have is refused",
        move |maker| {
            let mut entry = base(maker)?;
            entry.r#match[0].field_id = 99;
            Ok(vec![refuse(v1::Update::insert(entry), INVALID)])
        },
    );
    list.add(section, "match-field-without-value", "a field without a value is refused", move |maker| {
        let mut entry = base(maker)?;
        entry.r#match[0].field_match_type = None;
        Ok(vec![refuse(v1::Update::insert(entry), INVALID)])
    });
    list.add(
        section,
        "match-table-unknown",
        "an entry of a table that does not exist is refused",
        move |maker| {
            let mut entry = base(maker)?;
            entry.table_id ^= 0x00ff_ff00;
            let zero = v1::TableEntry { table_id: 0, ..entry.clone() };
            let codes = &[tonic::Code::InvalidArgument, tonic::Code::NotFound];
            Ok(vec![
                Step::Write(v1::Update::insert(entry), codes),
                Step::Write(v1::Update::insert(zero), codes),
            ])
        },
    );
    list.add(section, "match-order-of-fields", "the fields of a key may come in any order", |maker| {
        let entry = maker.entry("ternary_kind", &[ternary(&[1], &[1]), exact(&[1])], 1, MARK)?;
        let mut reversed = entry.clone();
        reversed.r#match.reverse();
        Ok(vec![
            accept(v1::Update::insert(reversed)),
            refuse(v1::Update::insert(entry.clone()), EXISTS),
            accept(v1::Update::delete(entry)),
        ])
    });
}

fn priorities(list: &mut List<'_>) {
    let section = Section::MatchFormat;
    let at = |maker: Maker<'_>, priority| {
        maker.entry("ternary_kind", &[ternary(&[8, 0], &[0xff, 0]), exact(&[1])], priority, MARK)
    };
    list.add(
        section,
        "priority-needed",
        "an entry with a ternary field has a priority above 0",
        move |maker| {
            Ok(vec![
                refuse(v1::Update::insert(at(maker, 0)?), INVALID),
                refuse(v1::Update::insert(at(maker, -1)?), INVALID),
            ])
        },
    );
    list.add(section, "priority-needless", "an entry without such a field has none", |maker| {
        let lpm = maker.entry("lpm_src", &[lpm(&[1], 48)], 5, DROP)?;
        let exact = maker.entry("exact_dst", &[exact(&[1])], 5, DROP)?;
        Ok(vec![refuse(v1::Update::insert(lpm), INVALID), refuse(v1::Update::insert(exact), INVALID)])
    });
    list.add(section, "priority-of-the-key", "the priority is part of the key", move |maker| {
        Ok(vec![
            accept(v1::Update::insert(at(maker, 1)?)),
            refuse(v1::Update::insert(at(maker, 1)?), EXISTS),
            accept(v1::Update::insert(at(maker, 2)?)),
            refuse(v1::Update::modify(at(maker, 3)?), NOT_FOUND),
            refuse(v1::Update::delete(at(maker, 3)?), NOT_FOUND),
            accept(v1::Update::delete(at(maker, 1)?)),
            read(maker.all("ternary_kind")?, [at(maker, 2)?.into()]),
        ])
    });
    list.add(section, "priority-greatest", "a priority may be the greatest of its type", move |maker| {
        let entry = at(maker, i32::MAX)?;
        Ok(vec![accept(v1::Update::insert(entry.clone())), read(maker.all("ternary_kind")?, [entry.into()])])
    });
}

/// Returns an entry with a modified action call.
fn action_entry(maker: Maker<'_>, change: impl FnOnce(&mut v1::Action)) -> EntityResult<v1::TableEntry> {
    let mut call = maker.call(("send", &[&[1]]))?;
    change(&mut call);
    Ok(with_action(maker.key("exact_dst", &[exact(&[1])], 0)?, v1::table_action::Type::Action(call)))
}

fn actions(list: &mut List<'_>) {
    let section = Section::ActionSpecification;
    let mut refused = |id, rule, codes, make: fn(Maker<'_>) -> EntityResult<v1::TableEntry>| {
        list.add(section, id, rule, |maker| Ok(vec![refuse(v1::Update::insert(make(maker)?), codes)]));
    };
    refused("action-missing", "INSERT has an action", INVALID, |maker| {
        maker.key("exact_dst", &[exact(&[1])], 0)
    });
    refused("action-empty", "an action without a form is refused", INVALID, |maker| {
        let entry = maker.key("exact_dst", &[exact(&[1])], 0)?;
        Ok(v1::TableEntry { action: Some(v1::TableAction { r#type: None }), ..entry })
    });
    refused("action-argument-missing", "every parameter has a value", INVALID, |maker| {
        action_entry(maker, |call| call.params.clear())
    });
    refused("action-argument-twice", "a parameter has one value", INVALID, |maker| {
        action_entry(maker, |call| call.params.extend(call.params.clone()))
    });
    refused(
        "action-argument-unknown",
        "a parameter that the action does not have is refused",
        INVALID,
        |maker| action_entry(maker, |call| call.params[0].param_id = 77),
    );
    refused("action-argument-needless", "an action without parameters takes no value", INVALID, |maker| {
        let drop = maker.call(DROP)?.action_id;
        action_entry(maker, |call| call.action_id = drop)
    });
}

fn action_forms(list: &mut List<'_>) {
    let section = Section::ActionSpecification;
    let mut refused = |id, rule, codes, make: fn(Maker<'_>) -> EntityResult<v1::TableEntry>| {
        list.add(section, id, rule, |maker| Ok(vec![refuse(v1::Update::insert(make(maker)?), codes)]));
    };
    refused("action-foreign", "an action of another table is refused", INVALID, |maker| {
        maker.entry("lpm_src", &[lpm(&[1], 48)], 0, MARK)
    });
    refused(
        "action-unknown",
        "an action that does not exist is refused",
        &[tonic::Code::InvalidArgument, tonic::Code::NotFound],
        |maker| action_entry(maker, |call| call.action_id ^= 0x00ff_ff00),
    );
    refused(
        "action-default-only",
        "an action for the default entry alone is PERMISSION_DENIED",
        DENIED,
        |maker| maker.entry("lpm_src", &[lpm(&[1], 48)], 0, ("NoAction", &[])),
    );
    refused("action-member-of-direct-table", "a direct table takes no member", INVALID, |maker| {
        let member = v1::table_action::Type::ActionProfileMemberId(1);
        Ok(with_action(maker.key("exact_dst", &[exact(&[1])], 0)?, member))
    });
    refused("action-of-indirect-table", "an indirect table takes no action", INVALID, |maker| {
        maker.entry("one_of", &[exact(&[1])], 0, DROP)
    });
    refused("action-group-without-selector", "a table without a selector takes no group", INVALID, |maker| {
        let group = v1::table_action::Type::ActionProfileGroupId(1);
        Ok(with_action(maker.key("one_of", &[exact(&[1])], 0)?, group))
    });
    refused(
        "action-member-that-does-not-exist",
        "a member that does not exist is NOT_FOUND",
        NOT_FOUND,
        |maker| {
            let member = v1::table_action::Type::ActionProfileMemberId(4);
            Ok(with_action(maker.key("one_of", &[exact(&[1])], 0)?, member))
        },
    );
    refused(
        "action-group-that-does-not-exist",
        "a group that does not exist is NOT_FOUND",
        NOT_FOUND,
        |maker| {
            let group = v1::table_action::Type::ActionProfileGroupId(4);
            Ok(with_action(maker.key("spread_over", &[exact(&[1])], 0)?, group))
        },
    );
}

fn default_entries(list: &mut List<'_>) {
    let section = Section::DefaultEntry;
    list.add(
        section,
        "default-modify",
        "the default entry is changed by MODIFY and read as written",
        |maker| {
            let entry = maker.default("lpm_src", Some(("send", &[&[5]])))?;
            Ok(vec![
                accept(v1::Update::modify(entry.clone())),
                read(maker.default("lpm_src", None)?, [entry.into()]),
            ])
        },
    );
    list.add(
        section,
        "default-reset",
        "MODIFY without an action restores the action of the program",
        |maker| {
            let bare = maker.default("lpm_src", None)?;
            Ok(vec![
                accept(v1::Update::modify(maker.default("lpm_src", Some(("send", &[&[5]])))?)),
                accept(v1::Update::modify(bare.clone())),
                accept(v1::Update::modify(maker.default("lpm_src", Some(DROP))?)),
                read(bare, [maker.default("lpm_src", Some(DROP))?.into()]),
            ])
        },
    );
    list.add(section, "default-insert", "the default entry cannot be inserted", |maker| {
        Ok(vec![refuse(v1::Update::insert(maker.default("lpm_src", Some(DROP))?), INVALID)])
    });
    list.add(section, "default-delete", "the default entry cannot be deleted", |maker| {
        Ok(vec![refuse(v1::Update::delete(maker.default("lpm_src", None)?), INVALID)])
    });
    list.add(section, "default-with-key", "the default entry has no key", |maker| {
        let entry = maker.entry("lpm_src", &[lpm(&[1], 48)], 0, DROP)?;
        let entry = v1::TableEntry { is_default_action: true, ..entry };
        Ok(vec![refuse(v1::Update::modify(entry), INVALID)])
    });
    list.add(section, "default-with-priority", "the default entry has no priority", |maker| {
        let entry = v1::TableEntry { priority: 1, ..maker.default("lpm_src", Some(DROP))? };
        Ok(vec![refuse(v1::Update::modify(entry), INVALID)])
    });
    list.add(section, "default-constant", "a constant default entry is PERMISSION_DENIED", |maker| {
        Ok(vec![refuse(v1::Update::modify(maker.default("exact_dst", Some(DROP))?), DENIED)])
    });
    list.add(
        section,
        "default-is-not-an-entry",
        "a read of entries does not find the default entry",
        |maker| {
            Ok(vec![
                accept(v1::Update::modify(maker.default("lpm_src", Some(DROP))?)),
                read(maker.all("lpm_src")?, []),
            ])
        },
    );
}

fn constants(list: &mut List<'_>) {
    let section = Section::ConstantTables;
    list.add(section, "constant-read", "the entries of a constant table are read", |maker| {
        Ok(vec![Step::ReadCount(maker.all("constants")?.into(), 3)])
    });
    list.add(section, "constant-insert", "INSERT into a constant table is PERMISSION_DENIED", |maker| {
        let entry = maker.entry("constants", &[ternary(&[9], &[0xf])], 9, SET)?;
        Ok(vec![refuse(v1::Update::insert(entry), DENIED)])
    });
    list.add(section, "constant-modify", "MODIFY of an action there is PERMISSION_DENIED", |maker| {
        let entry = maker.entry("constants", &[ternary(&[1], &[0xff; 4])], 3, SET)?;
        Ok(vec![refuse(v1::Update::modify(entry), DENIED)])
    });
    list.add(section, "constant-delete", "DELETE there is PERMISSION_DENIED", |maker| {
        let entry = maker.key("constants", &[ternary(&[1], &[0xff; 4])], 3)?;
        Ok(vec![refuse(v1::Update::delete(entry), DENIED)])
    });
    list.add(section, "constant-is-const", "a client does not make a constant entry", |maker| {
        let entry = maker.entry("exact_dst", &[exact(&[1])], 0, DROP)?;
        let entry = v1::TableEntry { is_const: true, ..entry };
        Ok(vec![refuse(v1::Update::insert(entry), INVALID)])
    });
}

fn wildcards(list: &mut List<'_>) {
    let section = Section::TableWildcards;
    let two = |maker: Maker<'_>| -> EntityResult<[v1::TableEntry; 2]> {
        let one = maker.entry("exact_dst", &[exact(&[1])], 0, ("send", &[&[1]]))?;
        Ok([one, maker.entry("exact_dst", &[exact(&[2])], 0, DROP)?])
    };
    let begin = move |maker: Maker<'_>| -> EntityResult<Vec<Step>> {
        Ok(two(maker)?.map(|entry| accept(v1::Update::insert(entry))).into())
    };
    list.add(
        section,
        "read-all-tables",
        "table id 0 reads the entries of all tables, constant ones too",
        move |m| {
            let mut steps = begin(m)?;
            steps.push(Step::ReadCount(v1::TableEntry::default().into(), 5));
            Ok(steps)
        },
    );
    list.add(section, "read-one-table", "a table id reads the entries of that table", move |maker| {
        let mut steps = begin(maker)?;
        steps.push(read(maker.all("exact_dst")?, two(maker)?.map(Into::into)));
        steps.push(read(maker.all("lpm_src")?, []));
        Ok(steps)
    });
    list.add(section, "read-one-key", "a key reads one entry", move |maker| {
        let mut steps = begin(maker)?;
        let [one, _] = two(maker)?;
        steps.push(read(maker.key("exact_dst", &[exact(&[1])], 0)?, [one.into()]));
        Ok(steps)
    });
    list.add(section, "read-absent-key", "a key that no entry has reads nothing", move |maker| {
        let mut steps = begin(maker)?;
        steps.push(read(maker.key("exact_dst", &[exact(&[3])], 0)?, []));
        Ok(steps)
    });
    list.add(section, "read-by-action", "an action reads the entries with it", move |maker| {
        let mut steps = begin(maker)?;
        let [_, two] = two(maker)?;
        let call = v1::table_action::Type::Action(maker.call(DROP)?);
        steps.push(read(with_action(maker.all("exact_dst")?, call), [two.into()]));
        Ok(steps)
    });
}

fn filters(list: &mut List<'_>) {
    let section = Section::TableWildcards;
    list.add(section, "read-by-priority", "a priority reads the entries with it", |maker| {
        let at = |priority| maker.entry("ranges", &[range(&[1], &[2]), None], priority, SET);
        Ok(vec![
            accept(v1::Update::insert(at(1)?)),
            accept(v1::Update::insert(at(2)?)),
            read(maker.key("ranges", &[], 2)?, [at(2)?.into()]),
        ])
    });
    list.add(section, "read-by-metadata", "metadata read the entries with them", |maker| {
        let of = |key: u8, metadata: &[u8]| -> EntityResult<v1::TableEntry> {
            let entry = maker.entry("exact_dst", &[exact(&[key])], 0, DROP)?;
            Ok(v1::TableEntry { metadata: metadata.to_vec(), ..entry })
        };
        let request = v1::TableEntry { metadata: b"b".to_vec(), ..maker.all("exact_dst")? };
        Ok(vec![
            accept(v1::Update::insert(of(1, b"a")?)),
            accept(v1::Update::insert(of(2, b"b")?)),
            read(request, [of(2, b"b")?.into()]),
        ])
    });
    list.add(section, "read-unknown-table", "a table that does not exist cannot be read", |maker| {
        let table_id = maker.table_id("exact_dst")? ^ 0x00ff_ff00;
        let request = v1::TableEntry { table_id, ..Default::default() };
        let codes = &[tonic::Code::InvalidArgument, tonic::Code::NotFound];
        Ok(vec![Step::ReadFails(request.into(), codes)])
    });
}

fn direct_resources(list: &mut List<'_>) {
    let section = Section::DirectResources;
    let base = |maker: Maker<'_>| maker.entry("ternary_kind", &[None, exact(&[1])], 1, MARK);
    let counted = |packet_count, byte_count| Some(v1::CounterData { byte_count, packet_count });
    let config = v1::MeterConfig { cir: 10, cburst: 20, pir: 30, pburst: 40, eburst: 0 };
    list.add(section, "direct-counter-insert", "INSERT sets the counter that it gives", move |maker| {
        let entry = v1::TableEntry { counter_data: counted(3, 4), ..base(maker)? };
        let request = v1::TableEntry { counter_data: counted(0, 0), ..maker.all("ternary_kind")? };
        Ok(vec![accept(v1::Update::insert(entry.clone())), read(request, [entry.into()])])
    });
    list.add(section, "direct-counter-stays", "MODIFY without a counter leaves it", move |maker| {
        let entry = v1::TableEntry { counter_data: counted(3, 4), ..base(maker)? };
        let request = v1::TableEntry { counter_data: counted(0, 0), ..maker.all("ternary_kind")? };
        Ok(vec![
            accept(v1::Update::insert(entry.clone())),
            accept(v1::Update::modify(base(maker)?)),
            read(request, [entry.into()]),
        ])
    });
    list.add(
        section,
        "direct-counter-not-asked",
        "a counter that is not asked for is not read",
        move |maker| {
            let entry = v1::TableEntry { counter_data: counted(3, 4), ..base(maker)? };
            Ok(vec![
                accept(v1::Update::insert(entry)),
                read(maker.all("ternary_kind")?, [base(maker)?.into()]),
            ])
        },
    );
    list.add(section, "direct-meter-insert", "INSERT sets the meter that it gives", move |maker| {
        let entry = v1::TableEntry { meter_config: Some(config), ..base(maker)? };
        let asked = Some(v1::MeterConfig::default());
        let request = v1::TableEntry { meter_config: asked, ..maker.all("ternary_kind")? };
        Ok(vec![accept(v1::Update::insert(entry.clone())), read(request, [entry.into()])])
    });
    list.add(section, "direct-meter-reset", "MODIFY without a meter resets it", move |maker| {
        let entry = v1::TableEntry { meter_config: Some(config), ..base(maker)? };
        let asked = Some(v1::MeterConfig::default());
        let request = v1::TableEntry { meter_config: asked, ..maker.all("ternary_kind")? };
        Ok(vec![
            accept(v1::Update::insert(entry)),
            accept(v1::Update::modify(base(maker)?)),
            read(request, [base(maker)?.into()]),
        ])
    });
    list.add(section, "direct-counter-without", "a table without a counter takes none", move |maker| {
        let entry = maker.entry("exact_dst", &[exact(&[1])], 0, DROP)?;
        let entry = v1::TableEntry { counter_data: counted(1, 1), ..entry };
        Ok(vec![refuse(v1::Update::insert(entry), INVALID)])
    });
    list.add(section, "direct-meter-without", "a table without a meter takes none", move |maker| {
        let entry = maker.entry("exact_dst", &[exact(&[1])], 0, DROP)?;
        let entry = v1::TableEntry { meter_config: Some(config), ..entry };
        Ok(vec![refuse(v1::Update::insert(entry), INVALID)])
    });
}

fn idle(list: &mut List<'_>) {
    let section = Section::IdleTimeout;
    let base = |maker: Maker<'_>| maker.entry("lpm_src", &[lpm(&[1], 48)], 0, DROP);
    list.add(section, "idle-kept", "an idle timeout is read as it was written", move |maker| {
        let entry = v1::TableEntry { idle_timeout_ns: 3_600_000_000_123, ..base(maker)? };
        Ok(vec![accept(v1::Update::insert(entry.clone())), read(maker.all("lpm_src")?, [entry.into()])])
    });
    list.add(section, "idle-without-support", "a table without idle timeouts takes none", |maker| {
        let entry = maker.entry("exact_dst", &[exact(&[1])], 0, DROP)?;
        let entry = v1::TableEntry { idle_timeout_ns: 1, ..entry };
        Ok(vec![refuse(v1::Update::insert(entry), INVALID)])
    });
    list.add(
        section,
        "idle-last-hit-written",
        "the time since the last hit cannot be written",
        move |maker| {
            let entry = v1::TableEntry {
                time_since_last_hit: Some(v1::table_entry::IdleTimeout::default()),
                ..base(maker)?
            };
            Ok(vec![refuse(v1::Update::insert(entry), INVALID)])
        },
    );
    list.add(section, "idle-default-entry", "the default entry has no idle timeout", |maker| {
        let entry = v1::TableEntry { idle_timeout_ns: 1, ..maker.default("lpm_src", Some(DROP))? };
        Ok(vec![refuse(v1::Update::modify(entry), INVALID)])
    });
    list.add(
        section,
        "idle-last-hit-without-support",
        "a table without idle timeouts has no last hit",
        |maker| {
            let request = v1::TableEntry {
                time_since_last_hit: Some(v1::table_entry::IdleTimeout::default()),
                ..maker.all("exact_dst")?
            };
            Ok(vec![
                accept(v1::Update::insert(maker.entry("exact_dst", &[exact(&[1])], 0, DROP)?)),
                Step::ReadFails(request.into(), INVALID),
            ])
        },
    );
}
