//! Damage to a P4Runtime target by another controller: an entity is removed, changed or added, or another program is
//! set.

use std::sync::Arc;
use std::time::Duration;

use closc_artefacts::carriers::SwitchFile;
use closc_artefacts::paths;
use closc_entries::Pipeline;
use closc_runtime::client::{Client, Controller, Endpoint, Options, Session};
use closc_runtime::proto::v1;
use closc_runtime::proto::v1::set_forwarding_pipeline_config_request::Action;
use closc_runtime::{ElectionId, EntityKey, Info, entry, render};
use v1::entity::Entity;
use v1::field_match::FieldMatchType as Match;
use v1::update::Type;

use super::{Act, Damage, Pick, Victim};
use crate::carriers::servers::DEVICE;

/// Time limit that suffices on a loaded machine. It is reached only if an event never happens.
const PATIENCE: Duration = Duration::from_mins(5);

/// Maximum number of attempts to find a change that the target accepts.
const ATTEMPTS: usize = 400;

/// Damages the entries of a target, or its program.
pub(super) fn entity(victim: &Victim<'_>, file: SwitchFile, pick: &mut Pick<'_>) -> Option<Damage> {
    let (_, name) =
        paths::ENTRIES_OF.into_iter().find(|(own, _)| *own == file.name()).expect("it has a pipeline");
    let own = Pipeline::all().iter().find(|pipeline| pipeline.name() == name).expect("it is registered");
    let servers = &victim.fleet.servers[victim.name];
    let address = servers.target.as_ref().expect("it was started").address();
    let runtime = victim.fleet.runtime.as_ref().expect("servers were started");
    runtime.block_on(async {
        let endpoint = Endpoint::plain(&address).expect("an address");
        let client = Client::connect(&endpoint, DEVICE, Options::default()).await.expect("it listens");
        let controller = Controller::new(ElectionId(1 << 20));
        let session = Session::open(client, controller).await.expect("it takes controllers");
        session.wait_primary(PATIENCE).await.expect("no controller has a higher number");
        let damage = match pick(12) {
            0 => set_program(&session, own).await,
            _ => one(&session, own.info(), pick).await,
        };
        session.close().await;
        Some(damage)
    })
}

/// Sets another program.
async fn set_program(session: &Session, own: &Pipeline) -> Damage {
    let other = Pipeline::all().iter().find(|other| other.name() != own.name() && other.bmv2().is_some());
    let other = other.expect("there is another one").for_target();
    session.set_pipeline(Action::VerifyAndCommit, Some(&other)).await.expect("it is a program");
    Damage::new(Act::Emptied, "the program", &[&["runs pipeline"]])
}

/// Finds a change that the target accepts; an entity that others refer to cannot be removed.
async fn one(session: &Session, info: &Arc<Info>, pick: &mut Pick<'_>) -> Damage {
    let all = session.client().read(entry::wildcards(info)).await.expect("it answers");
    let held: Vec<v1::Entity> = all.into_iter().filter(|entity| !is_default(entity)).collect();
    for _ in 0..ATTEMPTS {
        let entity = &held[pick(held.len())];
        let (act, kind, changed) = match pick(3) {
            0 => (Act::Removed, Type::Delete, Some(entity.clone())),
            1 => (Act::Changed, Type::Modify, change_effect(entity, &held, pick)),
            _ => (Act::Added, Type::Insert, change_key(entity, pick)),
        };
        let Some(changed) = changed else { continue };
        let is_there = held.iter().any(|held| EntityKey::of(held) == EntityKey::of(&changed));
        if (act == Act::Added) == is_there {
            continue;
        }
        let update = v1::Update { r#type: kind.into(), entity: Some(changed.clone()) };
        if session.write(&[update]).await.is_err() {
            continue;
        }
        let line = render::entity(info, &changed).to_string();
        let head = line.split(" -> ").next().unwrap_or(&line).to_owned();
        return Damage::new(act, line, &[&[&head]]);
    }
    panic!("the target refuses every change")
}

fn is_default(entity: &v1::Entity) -> bool {
    matches!(&entity.entity, Some(Entity::TableEntry(entry)) if entry.is_default_action || entry.r#match.is_empty())
}

/// Returns the entity with another effect: the action of another entry in its table, or another weight.
fn change_effect(entity: &v1::Entity, held: &[v1::Entity], pick: &mut Pick<'_>) -> Option<v1::Entity> {
    let mut made = entity.clone();
    match made.entity.as_mut()? {
        Entity::TableEntry(entry) => {
            let others: Vec<&v1::TableEntry> = held
                .iter()
                .filter_map(|held| match &held.entity {
                    Some(Entity::TableEntry(other)) if other.table_id == entry.table_id => Some(other),
                    _ => None,
                })
                .filter(|other| other.action != entry.action)
                .collect();
            entry.action.clone_from(&others.get(pick(others.len().max(1)))?.action);
        }
        Entity::ActionProfileGroup(group) => {
            group.members.first_mut()?.weight += 1;
        }
        _ => return None,
    }
    Some(made)
}

/// Returns the entity with another key.
fn change_key(entity: &v1::Entity, pick: &mut Pick<'_>) -> Option<v1::Entity> {
    let mut made = entity.clone();
    let Some(Entity::TableEntry(entry)) = &mut made.entity else { return None };
    let at = pick(entry.r#match.len());
    match entry.r#match[at].field_match_type.as_mut()? {
        Match::Exact(exact) => {
            let last = exact.value.len().checked_sub(1)?;
            exact.value[last] ^= 1;
        }
        Match::Lpm(lpm) => {
            let last = usize::try_from(lpm.prefix_len).ok()?.checked_sub(1)? / 8;
            *lpm.value.get_mut(last)? ^= 1;
        }
        _ => return None,
    }
    Some(made)
}
