//! Tests the client against BMv2, if `simple_switch_grpc` is installed. The tests cover the pipeline of the
//! repository, every kind of entity that BMv2 supports, and peculiarities of BMv2.

use std::net::Ipv6Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use closc_runtime::client::{
    Client, ClientError, Commit, Controller, Endpoint, Pipeline, PipelineChange, Primacy, Session,
};
use closc_runtime::entry::{self, GroupMember, wildcard, wildcards};
use closc_runtime::info::{ActionProfile, MatchKind, Scope, Table};
use closc_runtime::order::Order;
use closc_runtime::proto::v1;
use closc_runtime::value::{Value, Width};
use closc_runtime::{DeviceId, ElectionId, Info, canonical, text};
use tonic::Code;
use v1::set_forwarding_pipeline_config_request::Action;

use crate::common::{PATIENCE, options};

/// A running BMv2 without interfaces.
struct Bmv2(closc_skip::Bmv2);

impl Bmv2 {
    /// Starts BMv2, or prints why the test is skipped.
    #[track_caller]
    fn start() -> Option<Self> {
        let program = closc_skip::program("simple_switch_grpc")?;
        Some(Bmv2(closc_skip::Bmv2::start(&program, 0, &[]).expect("the program runs")))
    }

    async fn client(&self) -> Client {
        let endpoint = Endpoint::plain(&self.0.address()).expect("an address");
        let attempt = async || {
            loop {
                match Client::connect(&endpoint, DeviceId(0), options()).await {
                    Ok(client) => return client,
                    Err(error) if error.is_transient() => tokio::time::sleep(Duration::from_millis(20)).await,
                    Err(error) => panic!("{error}"),
                }
            }
        };
        tokio::time::timeout(PATIENCE, attempt()).await.expect("BMv2 starts")
    }

    async fn session(&self, election: u128) -> Session {
        let controller = Controller::new(ElectionId(election));
        Session::open(self.client().await, controller).await.expect("the stream opens")
    }
}

/// The compiled pipeline in the repository.
fn fabric() -> Option<Pipeline> {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pipelines/fabric");
    let p4info = std::fs::read_to_string(folder.join("fabric.p4info.txtpb")).ok();
    let config = std::fs::read(folder.join("fabric.bmv2.json")).ok();
    let Some((p4info, config)) = p4info.zip(config) else {
        closc_skip::skip(format_args!("no compiled pipeline in {}", folder.display()));
        return None;
    };
    let info = Info::new(text::read_p4info(&p4info).expect("p4c wrote it")).expect("p4c wrote it");
    Some(Pipeline::new(Arc::new(info), config.into()))
}

/// The first table whose key is one IPv6 prefix and whose entries have direct actions.
fn prefixes(info: &Info) -> &Table {
    let fits = |table: &Table| {
        matches!(table.fields(), [field] if field.kind == MatchKind::Lpm && field.width == Width::Bits(128))
            && table.profile.is_none()
            && table.size >= 1000
    };
    info.tables().iter().find(|table| fits(table)).expect("the fabric routes IPv6")
}

/// An action that entries of a table may use, with 1 for every argument.
fn any_action(table: &Table) -> (String, Vec<(&str, Value<'static>)>) {
    let usable = |scope| matches!(scope, Scope::Everywhere | Scope::EntriesOnly);
    let reference =
        table.actions().iter().find(|reference| usable(reference.scope)).expect("tables do something");
    let arguments = reference.action.params().iter().map(|param| (param.name.as_str(), 1u8.into()));
    (reference.action.preamble.name.clone(), arguments.collect())
}

fn prefix_entry(info: &Info, n: u32) -> v1::TableEntry {
    let table = prefixes(info);
    let (action, arguments) = any_action(table);
    let prefix = Ipv6Addr::from_bits(0xfcbb << 112 | u128::from(n) << 64);
    info.entry_of(table)
        .lpm(&table.fields()[0].name, prefix, 64)
        .action(&action, &arguments)
        .build()
        .expect("right")
}

/// A member, a group with it and an entry with the group, for the first selector of a program.
fn group_entities(info: &Info) -> Vec<v1::Entity> {
    let profile: &ActionProfile = info.profiles().iter().find(|profile| profile.with_selector).expect("WCMP");
    let table = info.table_by_id(profile.table_ids[0]).expect("it is used");
    let (action, arguments) = any_action(table);
    let name = &profile.preamble.name;
    let group_of = [
        GroupMember { id: 1, weight: 1, watch_port: None },
        GroupMember { id: 2, weight: 1, watch_port: None },
    ];
    let mut entry = info.entry_of(table);
    for field in table.fields() {
        entry = entry.exact(&field.name, 1u8);
    }
    vec![
        entry.group(5).build().expect("right").into(),
        entry::group(info, name, 5, &group_of, 8).expect("right").into(),
        entry::member(info, name, 1, &action, &arguments).expect("right").into(),
        entry::member(info, name, 2, &action, &arguments).expect("right").into(),
    ]
}

#[tokio::test]
async fn what_is_written_is_read_back_the_same() {
    let (Some(pipeline), Some(bmv2)) = (fabric(), Bmv2::start()) else { return };
    let session = bmv2.session(1).await;
    let info = pipeline.info();
    assert_eq!(session.ensure_pipeline(&pipeline, Commit::Clear).await, Ok(PipelineChange::Cleared));
    assert_eq!(session.ensure_pipeline(&pipeline, Commit::Clear).await, Ok(PipelineChange::Unchanged));

    let mut entities = group_entities(info);
    entities.extend((0..1000).map(|n| v1::Entity::from(prefix_entry(info, n))));
    entities.push(entry::multicast_group(3, &[entry::Copy { port: 1, instance: 1 }]).expect("right").into());
    let order = Order::new(info);
    let inserts = entities.iter().cloned().map(v1::Update::insert).collect();
    session.write_ordered(&order.arrange(inserts)).await.expect("all of it is right");

    let state = session.client().read_state(info).await.expect("BMv2 reads");
    for entity in &entities {
        let found = state.entities.iter().any(|read| canonical::is_equivalent(info, entity, read));
        assert!(found, "{}", closc_runtime::render::entity(info, entity));
    }
    let deletes = entities.into_iter().map(v1::Update::delete).collect();
    session.write_ordered(&order.arrange(deletes)).await.expect("references leave last");
    let left = session.client().read(vec![wildcard(prefixes(info).preamble.id)]).await.expect("BMv2 reads");
    assert_eq!(left, []);
}

#[tokio::test]
async fn every_refused_update_of_a_large_batch_is_named() {
    let (Some(pipeline), Some(bmv2)) = (fabric(), Bmv2::start()) else { return };
    let session = bmv2.session(1).await;
    session.commit_pipeline(&pipeline, Commit::Clear).await.expect("right");
    let inserts: Vec<v1::Update> =
        (0..4096).map(|n| v1::Update::insert(prefix_entry(pipeline.info(), n))).collect();
    session.write(&inserts).await.expect("new");
    let error = session.write(&inserts).await.expect_err("all are there");
    assert_eq!((error.n_applied, error.failed.len()), (0, 4096));
    assert!(error.failed.iter().all(|failed| failed.outcome.code == Code::AlreadyExists));
    let unknown = v1::TableEntry { table_id: 0x0277_7777, ..prefix_entry(pipeline.info(), 1) };
    let error = session.write(&[v1::Update::insert(unknown)]).await.expect_err("no such table");
    assert_eq!(error.failed[0].outcome.code, Code::InvalidArgument);
}

#[tokio::test]
async fn controllers_take_turns() {
    let (Some(pipeline), Some(bmv2)) = (fabric(), Bmv2::start()) else { return };
    let first = bmv2.session(10).await;
    assert!(matches!(first.primacy(), Primacy::Primary { .. }));
    let lower = bmv2.session(5).await;
    assert_eq!(lower.primacy(), Primacy::Backup { primary: Some(ElectionId(10)) });
    let higher = bmv2.session(20).await;
    assert!(matches!(higher.primacy(), Primacy::Primary { .. }));
    let mut watch = first.watch_primacy();
    watch.wait_for(|state| matches!(state, Primacy::Backup { .. })).await.expect("the first is notified");
    let refused = first.commit_pipeline(&pipeline, Commit::Clear).await;
    assert!(matches!(refused, Err(ClientError::NotPrimary { .. })), "{refused:?}");
    assert_eq!(first.take_over(PATIENCE).await, Ok(ElectionId(21)));
}

/// BMv2 cannot reconcile this program and then rejects every other one; the client recovers from this.
#[tokio::test]
async fn a_failed_reconciliation_does_not_lock_the_switch() {
    let (Some(pipeline), Some(bmv2)) = (fabric(), Bmv2::start()) else { return };
    let session = bmv2.session(1).await;
    let info = pipeline.info();
    // BMv2 crashes on a reconciliation without a program, so the client does not ask for one.
    session.commit_pipeline(&pipeline, Commit::Reconcile).await.expect("right");
    let inserts: Vec<v1::Update> = (0..10).map(|n| v1::Update::insert(prefix_entry(info, n))).collect();
    for commit in [Commit::Reconcile, Commit::Clear, Commit::SaveThenCommit, Commit::Reconcile] {
        session.write(&inserts).await.expect("the tables are empty");
        let change = session.commit_pipeline(&pipeline, commit).await.expect("there is always a way");
        let left =
            session.client().read(vec![wildcard(prefixes(info).preamble.id)]).await.expect("BMv2 reads");
        let expected = if change == PipelineChange::Reconciled { 10 } else { 0 };
        assert_eq!(left.len(), expected, "{commit:?} {change:?}");
        let left: Vec<v1::Update> = left.into_iter().map(v1::Update::delete).collect();
        session.write(&left).await.expect("they are there");
    }
    // A save without a commit blocks further pipelines too.
    session.set_pipeline(Action::VerifyAndSave, Some(&pipeline)).await.expect("right");
    session.commit_pipeline(&pipeline, Commit::Clear).await.expect("there is always a way");
}

#[tokio::test]
async fn a_switch_without_a_program_says_so() {
    let Some(bmv2) = Bmv2::start() else { return };
    let client = bmv2.client().await;
    assert_eq!(client.pipeline_cookie().await, Ok(None));
    let error = client.read(vec![wildcard(0)]).await.expect_err("no program");
    assert_eq!(error.code(), Some(Code::FailedPrecondition));
    assert!(client.capabilities().await.expect("it answers").p4runtime_api_version.starts_with("1."));
    if let Some(pipeline) = fabric() {
        assert_eq!(client.has_pipeline(&pipeline).await, Ok(false));
        assert!(!wildcards(pipeline.info()).is_empty());
    }
}
