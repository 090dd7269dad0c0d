//! One canonical form for each entity, so that a written entity can be compared with the one read back.
//!
//! Targets may drop leading zeros or keep them, sort lists or not, and return counters that were not requested. After
//! [`normalise`] two entities are equal if and only if they have the same meaning for a controller.

use crate::info::{Action, Info, MatchField};
use crate::proto::v1;
use crate::value::{Width, bits};
use v1::entity::Entity;
use v1::field_match::FieldMatchType;
use v1::packet_replication_engine_entry::Type as Replication;
use v1::replica::PortKind;
use v1::table_action::Type as ActionForm;

/// Brings an entity into the canonical form and clears the values that only the data plane changes.
pub fn normalise(info: &Info, entity: &mut v1::Entity) {
    match entity.entity.as_mut() {
        None | Some(Entity::ExternEntry(_) | Entity::RegisterEntry(_) | Entity::DigestEntry(_)) => {}
        Some(Entity::TableEntry(entry)) => table_entry(info, entry),
        Some(Entity::ActionProfileMember(member)) => {
            if let Some(call) = &mut member.action {
                action(info, call);
            }
        }
        Some(Entity::ActionProfileGroup(group)) => {
            for member in &mut group.members {
                if let Some(v1::action_profile_group::member::WatchKind::WatchPort(port)) =
                    &mut member.watch_kind
                {
                    strip(port);
                }
            }
            group.members.sort_by_key(|member| member.member_id);
        }
        Some(Entity::MeterEntry(entry)) => entry.counter_data = None,
        Some(Entity::CounterEntry(entry)) => entry.data = None,
        Some(Entity::DirectMeterEntry(entry)) => {
            entry.counter_data = None;
            if let Some(entry) = &mut entry.table_entry {
                table_entry(info, entry);
            }
        }
        Some(Entity::DirectCounterEntry(entry)) => {
            entry.data = None;
            if let Some(entry) = &mut entry.table_entry {
                table_entry(info, entry);
            }
        }
        Some(Entity::PacketReplicationEngineEntry(entry)) => match &mut entry.r#type {
            Some(Replication::MulticastGroupEntry(group)) => replicas(&mut group.replicas),
            Some(Replication::CloneSessionEntry(session)) => replicas(&mut session.replicas),
            None => {}
        },
        Some(Entity::ValueSetEntry(entry)) => value_set(info, entry),
    }
}

/// Returns whether two entities have the same meaning, regardless of their form.
pub fn is_equivalent(info: &Info, one: &v1::Entity, other: &v1::Entity) -> bool {
    if one == other {
        return true;
    }
    let (mut one, mut other) = (one.clone(), other.clone());
    normalise(info, &mut one);
    normalise(info, &mut other);
    one == other
}

fn table_entry(info: &Info, entry: &mut v1::TableEntry) {
    entry.counter_data = None;
    entry.meter_counter_data = None;
    entry.time_since_last_hit = None;
    let table = info.table_by_id(entry.table_id);
    matches(table.map_or(&[], |table| table.fields()), &mut entry.r#match);
    match entry.action.as_mut().and_then(|action| action.r#type.as_mut()) {
        Some(ActionForm::Action(call)) => action(info, call),
        Some(ActionForm::ActionProfileActionSet(set)) => action_set(info, set),
        Some(ActionForm::ActionProfileMemberId(_) | ActionForm::ActionProfileGroupId(_)) | None => {}
    }
}

fn action_set(info: &Info, set: &mut v1::ActionProfileActionSet) {
    if let Some(call) = &mut set.group_action {
        action(info, call);
    }
    for weighted in &mut set.action_profile_actions {
        if let Some(call) = &mut weighted.action {
            action(info, call);
        }
        if let Some(v1::action_profile_action::WatchKind::WatchPort(port)) = &mut weighted.watch_kind {
            strip(port);
        }
    }
    set.action_profile_actions.sort_by_cached_key(prost::Message::encode_to_vec);
}

fn matches(fields: &[MatchField], key: &mut Vec<v1::FieldMatch>) {
    let place = |id: u32| fields.iter().position(|field| field.id == id);
    for value in key.iter_mut() {
        let width = place(value.field_id).map(|place| fields[place].width);
        if width == Some(Width::Text) {
            continue;
        }
        match value.field_match_type.as_mut() {
            Some(FieldMatchType::Exact(exact)) => strip(&mut exact.value),
            Some(FieldMatchType::Optional(optional)) => strip(&mut optional.value),
            Some(FieldMatchType::Lpm(lpm)) => strip(&mut lpm.value),
            Some(FieldMatchType::Ternary(ternary)) => {
                strip(&mut ternary.value);
                strip(&mut ternary.mask);
            }
            Some(FieldMatchType::Range(range)) => {
                strip(&mut range.low);
                strip(&mut range.high);
            }
            Some(FieldMatchType::Other(_)) | None => {}
        }
    }
    key.retain(|value| !is_everything(place(value.field_id).map(|place| fields[place].width), value));
    if !key.is_sorted_by_key(|value| place(value.field_id)) {
        key.sort_by_key(|value| place(value.field_id));
    }
}

fn is_everything(width: Option<Width>, value: &v1::FieldMatch) -> bool {
    match &value.field_match_type {
        None => true,
        Some(FieldMatchType::Lpm(lpm)) => lpm.prefix_len == 0,
        Some(FieldMatchType::Ternary(ternary)) => bits::is_zero(&ternary.mask),
        Some(FieldMatchType::Range(range)) => {
            let top = width.is_some_and(|width| bits::is_all_ones(&range.high, width.bits()));
            bits::is_zero(&range.low) && top
        }
        Some(FieldMatchType::Exact(_) | FieldMatchType::Optional(_) | FieldMatchType::Other(_)) => false,
    }
}

fn action(info: &Info, call: &mut v1::Action) {
    let known = info.action_by_id(call.action_id).map(AsRef::as_ref);
    let find = |id: u32| known.and_then(|action: &Action| action.param_by_id(id));
    for argument in &mut call.params {
        if find(argument.param_id).map(|(_, param)| param.width) != Some(Width::Text) {
            strip(&mut argument.value);
        }
    }
    if !call.params.is_sorted_by_key(|argument| find(argument.param_id).map(|(place, _)| place)) {
        call.params.sort_by_key(|argument| find(argument.param_id).map(|(place, _)| place));
    }
}

fn value_set(info: &Info, entry: &mut v1::ValueSetEntry) {
    let set = info.value_set_by_id(entry.value_set_id);
    for member in &mut entry.members {
        matches(set.map_or(&[], |set| &set.fields), &mut member.r#match);
    }
    entry.members.sort_by_cached_key(prost::Message::encode_to_vec);
}

#[expect(deprecated, reason = "older targets still return ports by number")]
fn replicas(replicas: &mut [v1::Replica]) {
    for replica in &mut *replicas {
        match &mut replica.port_kind {
            Some(PortKind::EgressPort(number)) => {
                replica.port_kind = Some(PortKind::Port(crate::value::encode_number((*number).into())));
            }
            Some(PortKind::Port(port)) => strip(port),
            None => {}
        }
        // Backups keep their order, because it expresses preference.
        replica.backup_replicas.iter_mut().for_each(|backup| strip(&mut backup.port));
    }
    replicas.sort_by_cached_key(prost::Message::encode_to_vec);
}

fn strip(bytes: &mut Vec<u8>) {
    let zeros = bytes.len() - bits::strip(bytes).len();
    if zeros > 0 {
        bytes.drain(..zeros);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn pad(bytes: &mut Vec<u8>) {
        bytes.insert(0, 0);
    }

    #[test]
    fn what_a_target_may_change_does_not_count() {
        let info = sample::info();
        let entry = info.entry("acl").expect("known");
        let entry = entry
            .exact("is_valid", true)
            .ternary("src_addr", 1u8 as u128 * 16, 0xf0u8)
            .priority(3)
            .action("egress.mark", &[("class", 3u8.into())])
            .build()
            .expect("right");
        let mut read = entry.clone();
        read.r#match.reverse();
        for field in &mut read.r#match {
            match field.field_match_type.as_mut() {
                Some(FieldMatchType::Exact(exact)) => pad(&mut exact.value),
                Some(FieldMatchType::Ternary(ternary)) => {
                    pad(&mut ternary.value);
                    pad(&mut ternary.mask);
                }
                _ => {}
            }
        }
        read.counter_data = Some(v1::CounterData { byte_count: 0, packet_count: 12 });
        let range = v1::field_match::Range { low: vec![0], high: vec![0xff, 0xff] };
        read.r#match
            .push(v1::FieldMatch { field_id: 2, field_match_type: Some(FieldMatchType::Range(range)) });
        assert!(is_equivalent(&info, &entry.into(), &read.into()));
    }

    #[test]
    fn what_a_controller_changes_does() {
        let info = sample::info();
        let entry = |class: u8| {
            let entry = info.entry("finish").expect("known").default_entry();
            v1::Entity::from(entry.action("mark", &[("class", class.into())]).build().expect("right"))
        };
        assert!(is_equivalent(&info, &entry(1), &entry(1)));
        assert!(!is_equivalent(&info, &entry(1), &entry(2)));
    }

    #[test]
    fn the_order_of_members_and_copies_does_not_count() {
        use crate::entry::{Copy, GroupMember, group, multicast_group};
        let info = sample::info();
        let of = |id| GroupMember { id, weight: 1, watch_port: Some(7) };
        let one = group(&info, "wcmp", 1, &[of(1), of(2)], 0).expect("right");
        let other = group(&info, "wcmp", 1, &[of(2), of(1)], 0).expect("right");
        assert!(is_equivalent(&info, &one.into(), &other.into()));
        let copies = [Copy { port: 300, instance: 1 }, Copy { port: 2, instance: 1 }];
        let one = multicast_group(1, &copies).expect("right");
        let other = multicast_group(1, &[copies[1], copies[0]]).expect("right");
        assert!(is_equivalent(&info, &one.into(), &other.into()));
    }
}
