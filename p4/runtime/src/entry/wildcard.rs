//! Entities of read requests that match more than one entity.

use crate::info::Info;
use crate::proto::v1;
use v1::packet_replication_engine_entry::Type as Case;

/// Returns the entity that reads all entries of one table.
pub fn wildcard(table_id: u32) -> v1::Entity {
    v1::TableEntry { table_id, ..Default::default() }.into()
}

/// Returns one entity for each part of the state that a controller writes: members, groups, the entries and the default
/// entry of each table, multicast groups, clone sessions, value sets, digests and meters.
///
/// One entity per table keeps responses small; some targets return a complete table in one message. Counters and
/// registers are not included, because the data plane changes them. A profile whose tables use only sets of actions
/// (`@oneshot`, as in PINS) has neither members nor groups, and BMv2 rejects requests for them.
pub fn wildcards(info: &Info) -> Vec<v1::Entity> {
    let mut entities: Vec<v1::Entity> = Vec::new();
    let one_shot =
        |id: &u32| info.table_by_id(*id).is_some_and(|table| table.preamble.is_annotated("oneshot"));
    for profile in info.profiles() {
        if !profile.table_ids.is_empty() && profile.table_ids.iter().all(one_shot) {
            continue;
        }
        let action_profile_id = profile.preamble.id;
        entities.push(v1::ActionProfileMember { action_profile_id, ..Default::default() }.into());
        if profile.with_selector {
            entities.push(v1::ActionProfileGroup { action_profile_id, ..Default::default() }.into());
        }
    }
    for table in info.tables() {
        let table_id = table.preamble.id;
        if !table.fields().is_empty() {
            // P4Runtime 1.3, section 9.1.4: a meter is returned only if the request asks for it.
            let meter_config = table.direct_meter.is_some().then(v1::MeterConfig::default);
            entities.push(v1::TableEntry { table_id, meter_config, ..Default::default() }.into());
        }
        if table.const_default_action.is_none() {
            entities.push(v1::TableEntry { table_id, is_default_action: true, ..Default::default() }.into());
        }
    }
    let replication = [
        Case::MulticastGroupEntry(v1::MulticastGroupEntry::default()),
        Case::CloneSessionEntry(v1::CloneSessionEntry::default()),
    ];
    entities.extend(replication.map(|case| v1::PacketReplicationEngineEntry { r#type: Some(case) }.into()));
    for set in info.value_sets() {
        entities.push(v1::ValueSetEntry { value_set_id: set.preamble.id, members: Vec::new() }.into());
    }
    for digest in info.digests() {
        entities.push(v1::DigestEntry { digest_id: digest.preamble.id, config: None }.into());
    }
    for meter in info.meters() {
        entities.push(v1::MeterEntry { meter_id: meter.preamble.id, ..Default::default() }.into());
    }
    entities
}
