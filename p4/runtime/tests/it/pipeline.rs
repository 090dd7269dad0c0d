//! Setting pipelines: the client compares first, sets only a pipeline that differs, and falls back if a target lacks an
//! action.

use closc_runtime::client::{ClientError, Commit, Pipeline, PipelineChange};
use closc_runtime::proto::v1;
use closc_runtime::testing::{FakeTarget, Script};
use tonic::Code;
use v1::get_forwarding_pipeline_config_request::ResponseType;
use v1::set_forwarding_pipeline_config_request::Action;

use crate::common::{PATIENCE, info, inserts, open, options, pipeline, primary};

fn other_pipeline() -> Pipeline {
    Pipeline::new(info(), "another program".into())
}

#[tokio::test]
async fn a_pipeline_is_set_once() {
    let target = FakeTarget::start().await.expect("loopback has a port");
    let session = open(&target, options(), 1).await;
    assert_eq!(session.client().pipeline(ResponseType::All).await, Ok(None));
    assert_eq!(session.client().pipeline_cookie().await, Ok(None));
    let change = session.ensure_pipeline(&pipeline(), Commit::Clear).await;
    assert_eq!(change, Ok(PipelineChange::Cleared));
    session.write(&inserts(&info(), 3)).await.expect("right");
    assert_eq!(session.ensure_pipeline(&pipeline(), Commit::Clear).await, Ok(PipelineChange::Unchanged));
    assert_eq!(target.entities().len(), 3, "an equal pipeline is not pushed again");
    assert_eq!(session.ensure_pipeline(&other_pipeline(), Commit::Clear).await, Ok(PipelineChange::Cleared));
    assert_eq!(target.entities().len(), 0);
    let read =
        session.client().pipeline(ResponseType::DeviceConfigAndCookie).await.expect("there").expect("set");
    assert_eq!((read.p4info, &read.p4_device_config[..]), (None, &b"another program"[..]));
}

#[tokio::test]
async fn cookies_stand_for_the_pipeline_everywhere() {
    assert_eq!(pipeline().cookie(), pipeline().cookie());
    assert_ne!(pipeline().cookie(), other_pipeline().cookie());
}

#[tokio::test]
async fn a_pipeline_without_cookie_is_compared_as_a_whole() {
    let target = FakeTarget::start().await.expect("loopback has a port");
    target.restart_with(&pipeline());
    let session = open(&target, options(), 1).await;
    assert_eq!(session.client().pipeline_cookie().await, Ok(None));
    assert_eq!(session.ensure_pipeline(&pipeline(), Commit::Clear).await, Ok(PipelineChange::Unchanged));
    assert_eq!(session.ensure_pipeline(&other_pipeline(), Commit::Clear).await, Ok(PipelineChange::Cleared));
}

#[tokio::test]
async fn the_cookie_of_another_controller_makes_no_other_pipeline() {
    let target = FakeTarget::start().await.expect("loopback has a port");
    let session = primary(&target, options()).await;
    let n_set = target.n_pipelines();
    target.recookie(7);
    assert_eq!(session.client().pipeline_cookie().await, Ok(Some(7)));
    assert_eq!(session.ensure_pipeline(&pipeline(), Commit::Clear).await, Ok(PipelineChange::Unchanged));
    assert_eq!(target.n_pipelines(), n_set);
    assert_eq!(session.client().has_pipeline(&other_pipeline()).await, Ok(false));
}

#[tokio::test]
async fn a_target_that_commits_once_is_reconciled() {
    let target = FakeTarget::start().await.expect("loopback has a port");
    target.set_script(Script { commits_once: true, ..Script::default() });
    let session = primary(&target, options()).await;
    session.write(&inserts(&info(), 3)).await.expect("right");
    let change = session.commit_pipeline(&other_pipeline(), Commit::Clear).await;
    assert_eq!((change, target.entities().len()), (Ok(PipelineChange::Reconciled), 3));
    // The reported error is the answer to the action that the target normally accepts.
    let script = Script { commits_once: true, ..Script::default() };
    target.set_script(script.without_action(Action::ReconcileAndCommit));
    for commit in [Commit::Clear, Commit::Reconcile] {
        let refused = session.commit_pipeline(&pipeline(), commit).await.expect_err("neither is taken");
        assert!(refused.to_string().contains("this pipeline action is not known here"), "{refused}");
    }
    // A target that has no pipeline and lacks `VERIFY_AND_COMMIT` stays without one.
    target.restart();
    let script = Script::default().without_action(Action::VerifyAndCommit);
    target.set_script(script);
    let session = open(&target, options(), 2).await;
    assert!(session.commit_pipeline(&pipeline(), Commit::Clear).await.is_err());
    assert_eq!(target.pipeline(), None);
}

#[tokio::test]
async fn a_target_that_came_back_with_another_pipeline_gets_ours() {
    let target = FakeTarget::start().await.expect("loopback has a port");
    let session = primary(&target, options()).await;
    let mut watch = session.watch_primacy();
    watch.mark_unchanged();
    target.restart_with(&other_pipeline());
    watch.changed().await.expect("the session lives");
    session.wait_primary(PATIENCE).await.expect("it is back");
    assert_eq!(session.client().has_pipeline(&pipeline()).await, Ok(false));
    assert_eq!(session.ensure_pipeline(&pipeline(), Commit::Reconcile).await, Ok(PipelineChange::Reconciled));
}

#[tokio::test]
async fn entries_are_kept_where_the_target_can() {
    let target = FakeTarget::start().await.expect("loopback has a port");
    let session = primary(&target, options()).await;
    session.write(&inserts(&info(), 3)).await.expect("right");
    let change = session.commit_pipeline(&other_pipeline(), Commit::Reconcile).await;
    assert_eq!((change, target.entities().len()), (Ok(PipelineChange::Reconciled), 3));
    target.set_script(Script::default().without_action(Action::ReconcileAndCommit));
    let change = session.commit_pipeline(&pipeline(), Commit::Reconcile).await;
    assert_eq!((change, target.entities().len()), (Ok(PipelineChange::Cleared), 0), "falls back");
}

#[tokio::test]
async fn saving_falls_back_to_one_step_and_verifying_to_not_knowing() {
    let target = FakeTarget::start().await.expect("loopback has a port");
    let session = primary(&target, options()).await;
    let change = session.commit_pipeline(&other_pipeline(), Commit::SaveThenCommit).await;
    assert_eq!(change, Ok(PipelineChange::Cleared));
    assert_eq!(session.verify_pipeline(&pipeline()).await, Ok(Some(())));
    let script = Script::default().without_action(Action::VerifyAndSave).without_action(Action::Verify);
    target.set_script(script);
    let change = session.commit_pipeline(&pipeline(), Commit::SaveThenCommit).await;
    assert_eq!(change, Ok(PipelineChange::Cleared));
    assert_eq!(session.client().has_pipeline(&pipeline()).await, Ok(true));
    assert_eq!(session.verify_pipeline(&pipeline()).await, Ok(None));
}

#[tokio::test]
async fn only_theprimary_session_sets_a_pipeline() {
    let target = FakeTarget::start().await.expect("loopback has a port");
    let primary_session = open(&target, options(), 10).await;
    let backup = open(&target, options(), 5).await;
    let refused = backup.ensure_pipeline(&pipeline(), Commit::Clear).await;
    assert!(matches!(refused, Err(ClientError::NotPrimary { .. })), "{refused:?}");
    let nothing_saved =
        primary_session.set_pipeline(Action::Commit, None).await.expect_err("nothing is saved");
    assert_eq!(nothing_saved.code(), Some(Code::NotFound));
}
