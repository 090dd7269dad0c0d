//! Members, groups, and one-shot sets of actions: section 9.2.

use closc_runtime::proto::v1;
use v1::action_profile_action_set::{ActionSelectionMode, SizeSemantics};
use v1::action_profile_group::member::WatchKind;
use v1::table_action::Type as ActionForm;

use super::List;
use crate::make::{Call, DROP, EntityResult, Maker, exact, set_of, with_action};
use crate::section::Section;
use crate::step::{
    EXISTS, FULL, IN_USE, INVALID, NOT_FOUND, Step, accept, optional, read, refuse, try_accept,
};

const SEND: Call<'static> = ("send", &[&[1]]);

/// The profile with a selector, and the profile without one.
const GROUPS: &str = "spread";
const PLAIN: &str = "single";

pub(super) fn add(list: &mut List<'_>) {
    members(list);
    members_in_use(list);
    groups(list);
    group_members(list);
    sizes(list);
    weights(list);
    watch_ports(list);
    sets(list);
    selection(list);
}

fn insert(maker: Maker<'_>, profile: &str, id: u32) -> EntityResult<Step> {
    Ok(accept(v1::Update::insert(maker.member(profile, id, Some(SEND))?)))
}

fn members(list: &mut List<'_>) {
    let section = Section::Members;
    list.add(section, "member-insert", "a member is inserted and read", |maker| {
        let one = maker.member(PLAIN, 1, Some(SEND))?;
        Ok(vec![
            accept(v1::Update::insert(one.clone())),
            refuse(v1::Update::insert(one.clone()), EXISTS),
            read(maker.member(PLAIN, 0, None)?, [one.into()]),
        ])
    });
    list.add(section, "member-modify", "a member is changed", |maker| {
        let two = maker.member(PLAIN, 1, Some(DROP))?;
        Ok(vec![
            refuse(v1::Update::modify(two.clone()), NOT_FOUND),
            insert(maker, PLAIN, 1)?,
            accept(v1::Update::modify(two.clone())),
            read(maker.member(PLAIN, 1, None)?, [two.into()]),
        ])
    });
    list.add(section, "member-delete", "a member is deleted by its id alone", |maker| {
        let bare = maker.member(PLAIN, 1, None)?;
        Ok(vec![
            refuse(v1::Update::delete(bare.clone()), NOT_FOUND),
            insert(maker, PLAIN, 1)?,
            accept(v1::Update::delete(bare)),
            read(maker.member(PLAIN, 0, None)?, []),
        ])
    });
    list.add(section, "member-zero", "0 is not the id of a member", |maker| {
        Ok(vec![refuse(v1::Update::insert(maker.member(PLAIN, 0, Some(SEND))?), INVALID)])
    });
    list.add(section, "member-without-action", "a member has an action", |maker| {
        Ok(vec![refuse(v1::Update::insert(maker.member(PLAIN, 1, None)?), INVALID)])
    });
    list.add(section, "member-foreign-action", "a member has an action of the table", |maker| {
        let member = maker.member(PLAIN, 1, Some(("mark", &[&[1]])))?;
        Ok(vec![refuse(v1::Update::insert(member), INVALID)])
    });
    list.add(section, "member-unknown-profile", "a profile that does not exist is refused", |maker| {
        let mut member = maker.member(PLAIN, 1, Some(SEND))?;
        member.action_profile_id ^= 0x00ff_ff00;
        let codes = &[tonic::Code::InvalidArgument, tonic::Code::NotFound];
        Ok(vec![Step::Write(v1::Update::insert(member), codes)])
    });
    list.add(section, "member-full", "a profile that is full is RESOURCE_EXHAUSTED", |maker| {
        let size = u32::try_from(maker.info.profile(PLAIN)?.size).unwrap_or(0);
        let mut steps: EntityResult<Vec<Step>> = (1..=size).map(|id| insert(maker, PLAIN, id)).collect();
        if let Ok(steps) = &mut steps {
            steps.push(refuse(v1::Update::insert(maker.member(PLAIN, size + 1, Some(SEND))?), FULL));
        }
        steps
    });
}

fn members_in_use(list: &mut List<'_>) {
    let section = Section::Members;
    list.add(
        section,
        "member-used-by-an-entry",
        "a member that an entry uses is FAILED_PRECONDITION",
        |maker| {
            let key = maker.key("one_of", &[exact(&[1])], 0)?;
            let entry = with_action(key, ActionForm::ActionProfileMemberId(1));
            Ok(vec![
                insert(maker, PLAIN, 1)?,
                accept(v1::Update::insert(entry.clone())),
                refuse(v1::Update::delete(maker.member(PLAIN, 1, None)?), IN_USE),
                read(maker.all("one_of")?, [entry.clone().into()]),
                accept(v1::Update::delete(entry)),
                accept(v1::Update::delete(maker.member(PLAIN, 1, None)?)),
            ])
        },
    );
    list.add(
        section,
        "member-used-by-a-group",
        "a member that a group uses is FAILED_PRECONDITION",
        |maker| {
            Ok(vec![
                insert(maker, GROUPS, 1)?,
                accept(v1::Update::insert(maker.group(GROUPS, 1, &[(1, 1)])?)),
                refuse(v1::Update::delete(maker.member(GROUPS, 1, None)?), IN_USE),
                accept(v1::Update::modify(maker.group(GROUPS, 1, &[])?)),
                accept(v1::Update::delete(maker.member(GROUPS, 1, None)?)),
            ])
        },
    );
}

fn groups(list: &mut List<'_>) {
    let section = Section::Groups;
    list.add(section, "group-insert", "a group is inserted and read", |maker| {
        let group = maker.group(GROUPS, 1, &[(1, 1), (2, 3)])?;
        Ok(vec![
            insert(maker, GROUPS, 1)?,
            insert(maker, GROUPS, 2)?,
            accept(v1::Update::insert(group.clone())),
            refuse(v1::Update::insert(group.clone()), EXISTS),
            read(maker.group(GROUPS, 0, &[])?, [group.into()]),
        ])
    });
    list.add(section, "group-modify", "MODIFY replaces all members of a group", |maker| {
        let second = maker.group(GROUPS, 1, &[(2, 2)])?;
        Ok(vec![
            insert(maker, GROUPS, 1)?,
            insert(maker, GROUPS, 2)?,
            refuse(v1::Update::modify(second.clone()), NOT_FOUND),
            accept(v1::Update::insert(maker.group(GROUPS, 1, &[(1, 1)])?)),
            accept(v1::Update::modify(second.clone())),
            read(maker.group(GROUPS, 1, &[])?, [second.into()]),
        ])
    });
    list.add(section, "group-delete", "a group is deleted by its id alone", |maker| {
        let bare = maker.group(GROUPS, 1, &[])?;
        Ok(vec![
            refuse(v1::Update::delete(bare.clone()), NOT_FOUND),
            insert(maker, GROUPS, 1)?,
            accept(v1::Update::insert(maker.group(GROUPS, 1, &[(1, 1)])?)),
            accept(v1::Update::delete(bare)),
            read(maker.group(GROUPS, 0, &[])?, []),
        ])
    });
    list.add(section, "group-used", "a group that an entry uses is FAILED_PRECONDITION", |maker| {
        let key = maker.key("spread_over", &[exact(&[1])], 0)?;
        let entry = with_action(key, ActionForm::ActionProfileGroupId(1));
        Ok(vec![
            insert(maker, GROUPS, 1)?,
            accept(v1::Update::insert(maker.group(GROUPS, 1, &[(1, 1)])?)),
            accept(v1::Update::insert(entry.clone())),
            refuse(v1::Update::delete(maker.group(GROUPS, 1, &[])?), IN_USE),
            accept(v1::Update::delete(entry)),
            accept(v1::Update::delete(maker.group(GROUPS, 1, &[])?)),
        ])
    });
}

fn group_members(list: &mut List<'_>) {
    let section = Section::Groups;
    list.add(section, "group-zero", "0 is not the id of a group", |maker| {
        Ok(vec![refuse(v1::Update::insert(maker.group(GROUPS, 0, &[])?), INVALID)])
    });
    list.add(section, "group-without-selector", "a profile without a selector has no groups", |maker| {
        Ok(vec![refuse(v1::Update::insert(maker.group(PLAIN, 1, &[])?), INVALID)])
    });
    list.add(
        section,
        "group-member-missing",
        "a group of a member that does not exist is NOT_FOUND",
        |maker| Ok(vec![refuse(v1::Update::insert(maker.group(GROUPS, 1, &[(9, 1)])?), NOT_FOUND)]),
    );
    list.add(section, "group-member-twice", "a group has a member once", |maker| {
        let group = maker.group(GROUPS, 1, &[(1, 1), (1, 1)])?;
        Ok(vec![insert(maker, GROUPS, 1)?, refuse(v1::Update::insert(group), INVALID)])
    });
    list.add(section, "group-shared-member", "a member may be in several groups", |maker| {
        let (one, two) = (maker.group(GROUPS, 1, &[(1, 1)])?, maker.group(GROUPS, 2, &[(1, 4)])?);
        Ok(vec![
            insert(maker, GROUPS, 1)?,
            accept(v1::Update::insert(one.clone())),
            accept(v1::Update::insert(two.clone())),
            read(maker.group(GROUPS, 0, &[])?, [one.into(), two.into()]),
        ])
    });
}

fn sized_group(maker: Maker<'_>, weights: [i32; 2], max_size: i32) -> EntityResult<v1::ActionProfileGroup> {
    let group = maker.group(GROUPS, 1, &[(1, weights[0]), (2, weights[1])])?;
    Ok(v1::ActionProfileGroup { max_size, ..group })
}

fn sizes(list: &mut List<'_>) {
    let section = Section::Groups;
    let members = |maker: Maker<'_>| -> EntityResult<Vec<Step>> {
        Ok(vec![insert(maker, GROUPS, 1)?, insert(maker, GROUPS, 2)?])
    };
    list.add(section, "group-max-size-kept", "a maximum size is read as it was written", move |maker| {
        let mut steps = members(maker)?;
        let group = sized_group(maker, [1, 3], 4)?;
        steps.push(accept(v1::Update::insert(group.clone())));
        steps.push(read(maker.group(GROUPS, 1, &[])?, [group.into()]));
        Ok(steps)
    });
    list.add(section, "group-max-size-negative", "a maximum size is not negative", move |maker| {
        let mut steps = members(maker)?;
        steps.push(refuse(v1::Update::insert(sized_group(maker, [1, 1], -1)?), INVALID));
        Ok(steps)
    });
    list.add(section, "group-max-size-changed", "a maximum size cannot be changed", move |maker| {
        let mut steps = members(maker)?;
        steps.push(accept(v1::Update::insert(sized_group(maker, [1, 1], 4)?)));
        steps.push(refuse(v1::Update::modify(sized_group(maker, [1, 1], 8)?), INVALID));
        Ok(steps)
    });
    list.add(section, "group-above-max-size", "a group is not larger than its maximum size", move |maker| {
        let codes = &[tonic::Code::InvalidArgument, tonic::Code::ResourceExhausted];
        let mut steps = members(maker)?;
        steps.push(Step::Write(v1::Update::insert(sized_group(maker, [2, 2], 3)?), codes));
        Ok(steps)
    });
}

fn weights(list: &mut List<'_>) {
    let section = Section::Groups;
    let mut refused = |id, rule, weight| {
        list.add(section, id, rule, move |maker| {
            let group = maker.group(GROUPS, 1, &[(1, weight)])?;
            Ok(vec![insert(maker, GROUPS, 1)?, refuse(v1::Update::insert(group), INVALID)])
        });
    };
    refused("group-weight-zero", "a weight is above 0", 0);
    refused("group-weight-negative", "a weight is not negative", -1);
}

fn watch_group(maker: Maker<'_>, port: &[u8]) -> EntityResult<v1::ActionProfileGroup> {
    let mut group = maker.group(GROUPS, 1, &[(1, 1)])?;
    group.members[0].watch_kind = Some(WatchKind::WatchPort(port.to_vec()));
    Ok(group)
}

fn watch_ports(list: &mut List<'_>) {
    let section = Section::Groups;
    list.add(section, "group-watch-port", "a watched port is read in its shortest form", |maker| {
        Ok(vec![
            insert(maker, GROUPS, 1)?,
            try_accept(v1::Update::insert(watch_group(maker, &[0, 1])?)),
            read(maker.group(GROUPS, 1, &[])?, [watch_group(maker, &[1])?.into()]),
        ])
    });
    list.add(
        section,
        "group-watch-no-port",
        "a port that the device does not have is INVALID_ARGUMENT",
        |maker| {
            let step = refuse(v1::Update::insert(watch_group(maker, &[1, 0xff, 0xff, 0xff])?), INVALID);
            Ok(vec![insert(maker, GROUPS, 1)?, optional(step)])
        },
    );
}

fn sets(list: &mut List<'_>) {
    let section = Section::OneShot;
    list.add(section, "set-insert", "an entry with its own set is read as it was written", |maker| {
        let entry = maker.set(1, &[1, 2, 3])?;
        Ok(vec![
            accept(v1::Update::insert(entry.clone())),
            refuse(v1::Update::insert(maker.set(1, &[1])?), EXISTS),
            read(maker.all("spread_over")?, [entry.into()]),
        ])
    });
    list.add(section, "set-modify", "MODIFY replaces the set", |maker| {
        let second = maker.set(1, &[4])?;
        Ok(vec![
            refuse(v1::Update::modify(second.clone()), NOT_FOUND),
            accept(v1::Update::insert(maker.set(1, &[1, 2])?)),
            accept(v1::Update::modify(second.clone())),
            read(maker.all("spread_over")?, [second.into()]),
        ])
    });
    list.add(section, "set-delete", "DELETE removes the entry with its set", |maker| {
        Ok(vec![
            accept(v1::Update::insert(maker.set(1, &[1, 2])?)),
            accept(v1::Update::delete(maker.key("spread_over", &[exact(&[1])], 0)?)),
            read(maker.all("spread_over")?, []),
        ])
    });
    list.add(section, "set-weight", "a weight of a set is above 0", |maker| {
        Ok(vec![
            refuse(v1::Update::insert(maker.set(1, &[1, 0])?), INVALID),
            refuse(v1::Update::insert(maker.set(1, &[-1])?), INVALID),
        ])
    });
    list.add(section, "set-foreign-action", "a set has actions of the table", |maker| {
        let mut entry = maker.set(1, &[1])?;
        set_of(&mut entry).action_profile_actions[0].action = Some(maker.call(("mark", &[&[1]]))?);
        Ok(vec![refuse(v1::Update::insert(entry), INVALID)])
    });
    list.add(section, "set-without-action", "each part of a set has an action", |maker| {
        let mut entry = maker.set(1, &[1])?;
        set_of(&mut entry).action_profile_actions[0].action = None;
        Ok(vec![refuse(v1::Update::insert(entry), INVALID)])
    });
    list.add(section, "set-of-direct-table", "a direct table takes no set", |maker| {
        let mut entry = maker.set(1, &[1])?;
        let key = maker.key("exact_dst", &[exact(&[1])], 0)?;
        let set = ActionForm::ActionProfileActionSet(set_of(&mut entry).clone());
        Ok(vec![refuse(v1::Update::insert(with_action(key, set)), INVALID)])
    });
    list.add(section, "set-beside-members", "a selector takes sets, or members and groups", |maker| {
        Ok(vec![
            accept(v1::Update::insert(maker.set(1, &[1])?)),
            refuse(v1::Update::insert(maker.member(GROUPS, 1, Some(SEND))?), INVALID),
        ])
    });
    list.add(section, "members-beside-set", "a selector with members takes no set", |maker| {
        Ok(vec![insert(maker, GROUPS, 1)?, refuse(v1::Update::insert(maker.set(1, &[1])?), INVALID)])
    });
}

fn selection_entry(maker: Maker<'_>, mode: i32, size: i32) -> EntityResult<v1::TableEntry> {
    let mut entry = maker.set(1, &[1, 2])?;
    let set = set_of(&mut entry);
    (set.action_selection_mode, set.size_semantics) = (mode, size);
    Ok(entry)
}

fn selection(list: &mut List<'_>) {
    let section = Section::OneShot;
    let mut kept = |id, rule, mode: i32, size: i32| {
        list.add(section, id, rule, move |maker| {
            let entry = selection_entry(maker, mode, size)?;
            Ok(vec![
                try_accept(v1::Update::insert(entry.clone())),
                read(maker.all("spread_over")?, [entry.into()]),
            ])
        });
    };
    kept("set-hash", "a set that is chosen from by hash", ActionSelectionMode::Hash.into(), 0);
    kept("set-random", "a set that is chosen from at random", ActionSelectionMode::Random.into(), 0);
    kept("set-sum-of-weights", "a set whose size is its weights", 0, SizeSemantics::SumOfWeights.into());
    kept("set-sum-of-members", "a set whose size is its members", 0, SizeSemantics::SumOfMembers.into());
    let mut refused = |id, rule, mode, size| {
        list.add(section, id, rule, move |maker| {
            Ok(vec![refuse(v1::Update::insert(selection_entry(maker, mode, size)?), INVALID)])
        });
    };
    refused("set-unknown-mode", "a selection mode that does not exist is INVALID_ARGUMENT", 9, 0);
    refused("set-unknown-size", "a size semantics that does not exist is INVALID_ARGUMENT", 0, 9);
}
