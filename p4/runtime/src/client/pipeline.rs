//! Setting and comparing pipelines.

use tonic::Code;

use super::connect::Client;
use super::error::{ClientError, Rpc};
use super::session::Session;
use crate::pipeline::Pipeline;
use crate::proto::v1;
use v1::get_forwarding_pipeline_config_request::ResponseType;
use v1::set_forwarding_pipeline_config_request::Action;

/// The method for activating a pipeline that differs from the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commit {
    /// Tables are emptied. A target that supports only reconciliation for later pipelines keeps the current
    /// entries.
    Clear,
    /// Current entries are kept. If the target cannot keep them, tables are emptied.
    Reconcile,
    /// The pipeline is saved first and then committed, or both in one step if the target cannot do that. BMv2 loses its
    /// entries in the first step.
    SaveThenCommit,
}

/// Result of activating a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipelineChange {
    /// The target already had the pipeline.
    Unchanged,
    /// The pipeline was activated. The target confirmed that it kept the entries, or supports no other method.
    Reconciled,
    /// The pipeline was activated, and tables are empty.
    Cleared,
}

impl Client {
    /// Gets the requested parts of the pipeline, or `None` if the target has no pipeline.
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
            // BMv2 without a program returns a status code instead of an empty answer.
            Err(ClientError::Rpc { code: Code::FailedPrecondition, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Gets the cookie of the pipeline, or `None` if the target has no pipeline or the pipeline has no cookie.
    pub async fn pipeline_cookie(&self) -> Result<Option<u64>, ClientError> {
        let config = self.pipeline(ResponseType::CookieOnly).await?;
        Ok(config.and_then(|config| config.cookie).map(|cookie| cookie.cookie))
    }

    /// Returns whether the target runs the pipeline. The cookies are compared first. If they differ or one is missing,
    /// the complete pipelines are compared, because each controller chooses its own cookies.
    ///
    /// A pipeline without a device configuration cannot be set on a target, so only its P4Info is compared.
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
    /// Sets a pipeline with one action. `pipeline` is `None` for `Commit`, which has no pipeline.
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

    /// Checks on the target whether it could run a pipeline. Returns `None` if the target does not support `VERIFY`.
    pub async fn verify_pipeline(&self, pipeline: &Pipeline) -> Result<Option<()>, ClientError> {
        match self.set_pipeline(Action::Verify, Some(pipeline)).await {
            Ok(()) => Ok(Some(())),
            Err(error) if error.code() == Some(Code::Unimplemented) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Activates a pipeline unless the target already runs it.
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

    /// Activates a pipeline, even if the target already runs it.
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
            // BMv2 rejects every pipeline while another one is saved but not committed, such as after a failed
            // reconciliation. A commit ends that state. If this was not the cause, the second attempt fails too.
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

    /// SONiC hardware accepts the first pipeline only with `VERIFY_AND_COMMIT`, and every later one only with
    /// `RECONCILE_AND_COMMIT`. If that fails too, its error is the one to report.
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

    /// Returns `None` if the target cannot reconcile, or cannot reconcile these two pipelines. An invalid pipeline is
    /// rejected again by the fallback, whose error gives the reason.
    async fn reconcile(&self, pipeline: &Pipeline) -> Result<Option<PipelineChange>, ClientError> {
        // A target without a pipeline has no entries to keep, and BMv2 crashes on the request.
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

/// Returns whether a target rejected the request itself, rather than the controller that sent it.
fn is_refused_as_such(error: &ClientError) -> bool {
    let code = error.code();
    matches!(
        code,
        Some(Code::Unimplemented | Code::InvalidArgument | Code::Unknown | Code::FailedPrecondition)
    )
}
