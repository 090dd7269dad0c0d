//! Setting and comparing pipelines.

use tonic::Code;

use super::connect::Client;
use super::error::{ClientError, Rpc};
use super::session::Session;
use crate::pipeline::Pipeline;
use crate::proto::v1;
use v1::get_forwarding_pipeline_config_request::ResponseType;
use v1::set_forwarding_pipeline_config_request::Action;

/// Activation of a pipeline that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commit {
    /// With empty tables; where the target empties none for a pipeline that is not its first, with the entries of now.
    Clear,
    /// With the entries of now; where the target cannot, with empty tables.
    Reconcile,
    /// Saved first and then committed; where the target cannot, in one step. BMv2 loses its entries with the
    /// first step.
    SaveThenCommit,
}

/// Result of activating a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipelineChange {
    /// It was in force already.
    Unchanged,
    /// It is now, and the target says that it kept the entries, or knows no other way to change it.
    Reconciled,
    /// It is now, and tables are empty.
    Cleared,
}

impl Client {
    /// Gets the parts of the pipeline that are asked for, `None` where the target has no pipeline.
    pub async fn pipeline(
        &self,
        parts: ResponseType,
    ) -> Result<Option<v1::ForwardingPipelineConfig>, ClientError> {
        let request = v1::GetForwardingPipelineConfigRequest {
            device_id: self.target.device.0,
            response_type: parts.into(),
        };
        let deadline = self.target.options.deadlines.get_pipeline;
        let answer =
            self.unary::<v1::GetForwardingPipelineConfigResponse>(Rpc::GetPipeline, deadline, &request);
        match answer.await {
            Ok(response) => Ok(response.config),
            // BMv2 without a program says so with a code instead of an empty answer.
            Err(ClientError::Rpc { code: Code::FailedPrecondition, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Gets the number of the pipeline, `None` where the target has no pipeline or the pipeline no number.
    pub async fn pipeline_cookie(&self) -> Result<Option<u64>, ClientError> {
        let config = self.pipeline(ResponseType::CookieOnly).await?;
        Ok(config.and_then(|config| config.cookie).map(|cookie| cookie.cookie))
    }

    /// Says whether the target runs the pipeline: by the cookie, or by the whole of it where there is no cookie or another
    /// one, as each controller numbers pipelines by itself.
    ///
    /// A pipeline without a device configuration is nothing that a target could be made to run, so it is compared by its
    /// P4Info.
    pub async fn has_pipeline(&self, pipeline: &Pipeline) -> Result<bool, ClientError> {
        if pipeline.device_config.is_empty() {
            let config = self.pipeline(ResponseType::P4infoAndCookie).await?;
            let p4info = config.and_then(|config| config.p4info);
            return Ok(p4info.is_some_and(|p4info| p4info == *pipeline.info.message()));
        }
        if self.pipeline_cookie().await? == Some(pipeline.cookie) {
            return Ok(true);
        }
        let config = self.pipeline(ResponseType::All).await?;
        Ok(config.is_some_and(|config| pipeline.is(&config)))
    }
}

impl Session {
    /// Sets a pipeline by one action; `None` is for `Commit`, which goes without.
    pub async fn set_pipeline(&self, action: Action, pipeline: Option<&Pipeline>) -> Result<(), ClientError> {
        let election_id = Some(self.require_primary()?.into());
        let target = &self.client().target;
        #[expect(deprecated, reason = "older targets know roles by number")]
        let request = v1::SetForwardingPipelineConfigRequest {
            device_id: target.device.0,
            role_id: self.role().number(),
            role: self.role().name().to_owned(),
            election_id,
            action: action.into(),
            config: pipeline.map(Pipeline::message),
        };
        let deadline = target.options.deadlines.set_pipeline;
        let answer = self.client().unary(Rpc::SetPipeline, deadline, &request).await;
        match answer {
            Ok(v1::SetForwardingPipelineConfigResponse {}) => Ok(()),
            Err(error) => Err(self.demote_on_denial(error)),
        }
    }

    /// Asks whether the target could run a pipeline; `None` where it cannot say.
    pub async fn verify_pipeline(&self, pipeline: &Pipeline) -> Result<Option<()>, ClientError> {
        match self.set_pipeline(Action::Verify, Some(pipeline)).await {
            Ok(()) => Ok(Some(())),
            Err(error) if error.code() == Some(Code::Unimplemented) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Brings a pipeline into force unless it is already.
    pub async fn ensure_pipeline(
        &self,
        pipeline: &Pipeline,
        commit: Commit,
    ) -> Result<PipelineChange, ClientError> {
        if self.client().has_pipeline(pipeline).await? {
            return Ok(PipelineChange::Unchanged);
        }
        self.commit_pipeline(pipeline, commit).await
    }

    /// Brings a pipeline into force, whatever the target runs now.
    pub async fn commit_pipeline(
        &self,
        pipeline: &Pipeline,
        commit: Commit,
    ) -> Result<PipelineChange, ClientError> {
        let preferred = match commit {
            Commit::Clear => None,
            Commit::Reconcile => self.reconcile(pipeline).await?,
            Commit::SaveThenCommit => self.save_then_commit(pipeline).await?,
        };
        match preferred {
            Some(change) => Ok(change),
            None => self.clear(pipeline).await,
        }
    }

    async fn clear(&self, pipeline: &Pipeline) -> Result<PipelineChange, ClientError> {
        match self.set_pipeline(Action::VerifyAndCommit, Some(pipeline)).await {
            Ok(()) => {}
            // BMv2 refuses every pipeline while another one is half set, as a failed reconciliation or a save
            // leaves it. A commit ends that state; whether there was one shows in the second attempt.
            Err(error) if error.code() == Some(Code::Unknown) => {
                let ended = self.set_pipeline(Action::Commit, None).await;
                if ended.is_err() {
                    return Err(error);
                }
                self.set_pipeline(Action::VerifyAndCommit, Some(pipeline)).await?;
            }
            Err(error) if error.code() == Some(Code::Unimplemented) => {
                return self.change_first(pipeline, error).await;
            }
            Err(error) => return Err(error),
        }
        Ok(PipelineChange::Cleared)
    }

    /// SONiC hardware takes the first pipeline by `VERIFY_AND_COMMIT`, and every further one by `RECONCILE_AND_COMMIT` alone.
    /// Its answer to that is the reason that counts.
    async fn change_first(
        &self,
        pipeline: &Pipeline,
        refused: ClientError,
    ) -> Result<PipelineChange, ClientError> {
        if self.client().pipeline(ResponseType::CookieOnly).await?.is_none() {
            return Err(refused);
        }
        self.set_pipeline(Action::ReconcileAndCommit, Some(pipeline)).await?;
        Ok(PipelineChange::Reconciled)
    }

    /// `None` where the target does not reconcile, or not from what it runs now to this. A pipeline that is wrong
    /// in itself is refused again by the fall-back, which then says why.
    async fn reconcile(&self, pipeline: &Pipeline) -> Result<Option<PipelineChange>, ClientError> {
        // There is nothing to keep on a target without a pipeline, and BMv2 dies when it is asked to.
        if self.client().pipeline(ResponseType::CookieOnly).await?.is_none() {
            return Ok(None);
        }
        match self.set_pipeline(Action::ReconcileAndCommit, Some(pipeline)).await {
            Ok(()) => Ok(Some(PipelineChange::Reconciled)),
            Err(error) if is_refused_as_such(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn save_then_commit(&self, pipeline: &Pipeline) -> Result<Option<PipelineChange>, ClientError> {
        match self.set_pipeline(Action::VerifyAndSave, Some(pipeline)).await {
            Ok(()) => self.set_pipeline(Action::Commit, None).await.map(|()| Some(PipelineChange::Cleared)),
            Err(error) if error.code() == Some(Code::Unimplemented) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Says whether a target refused what it was asked to do, rather than who asked.
fn is_refused_as_such(error: &ClientError) -> bool {
    let code = error.code();
    matches!(
        code,
        Some(Code::Unimplemented | Code::InvalidArgument | Code::Unknown | Code::FailedPrecondition)
    )
}
