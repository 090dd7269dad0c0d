//! Sets and returns the pipeline of a switch.

use std::sync::Arc;

use closc_runtime::proto::v1;
use thiserror::Error;
use tonic::{Code, Status};
use v1::forwarding_pipeline_config::Cookie;
use v1::get_forwarding_pipeline_config_request::ResponseType;
use v1::set_forwarding_pipeline_config_request::Action;

use super::{LoadedPipeline, Switch, lock};
use crate::entity::{ReconcileError, Store};
use crate::pipeline::{Pipeline, PipelineError};

/// The reason why a pipeline is not set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// The request has no action.
    #[error("the request names no action")]
    NoAction,
    /// The action needs a configuration.
    #[error("the request has no configuration")]
    NoConfig,
    /// COMMIT uses the saved configuration.
    #[error("COMMIT takes the configuration that was saved before, the request brings another")]
    NeedlessConfig,
    /// No configuration has been saved.
    #[error("no configuration was saved that could be committed")]
    NothingSaved,
    /// The configuration is invalid.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// The state of the old pipeline does not fit the new one.
    #[error(transparent)]
    Irreconcilable(#[from] ReconcileError),
}

impl From<ConfigError> for Status {
    fn from(error: ConfigError) -> Self {
        let code = match &error {
            ConfigError::NothingSaved => Code::NotFound,
            ConfigError::NoAction
            | ConfigError::NoConfig
            | ConfigError::NeedlessConfig
            | ConfigError::Pipeline(_)
            | ConfigError::Irreconcilable(_) => Code::InvalidArgument,
        };
        Status::new(code, error.to_string())
    }
}

/// Parts of a pipeline to return.
pub(crate) type PipelineParts = ResponseType;

impl Switch {
    /// Verifies, saves or commits a pipeline.
    pub fn set_pipeline(
        &self,
        action: Action,
        config: Option<&v1::ForwardingPipelineConfig>,
    ) -> Result<(), ConfigError> {
        let _control = lock(&self.control);
        match action {
            Action::Unspecified => Err(ConfigError::NoAction),
            Action::Verify => self.compile(config).map(drop),
            Action::VerifyAndSave => {
                let loaded = self.load(config)?;
                let replaced = lock(&self.state).saved_pipeline.replace(loaded);
                // The replaced state can be large, so it is dropped without the lock.
                drop(replaced);
                Ok(())
            }
            Action::VerifyAndCommit => self.load(config).map(|loaded| self.run(loaded)),
            Action::Commit if config.is_some() => Err(ConfigError::NeedlessConfig),
            Action::Commit => {
                let saved = lock(&self.state).saved_pipeline.take();
                saved.map(|loaded| self.run(loaded)).ok_or(ConfigError::NothingSaved)
            }
            Action::ReconcileAndCommit => self.reconcile(config),
        }
    }

    fn compile(&self, config: Option<&v1::ForwardingPipelineConfig>) -> Result<Arc<Pipeline>, ConfigError> {
        Ok(self.cache.get(config.ok_or(ConfigError::NoConfig)?)?)
    }

    /// Returns a pipeline in its initial state.
    fn load(&self, config: Option<&v1::ForwardingPipelineConfig>) -> Result<LoadedPipeline, ConfigError> {
        let pipeline = self.compile(config)?;
        Ok(self.prepare(pipeline, config.and_then(|config| config.cookie)))
    }

    fn prepare(&self, pipeline: Arc<Pipeline>, cookie: Option<Cookie>) -> LoadedPipeline {
        if let Some(doubt) = pipeline.program().doubt_drop_port(self.config.engine.drop_port) {
            tracing::warn!("device {}: {doubt}", self.config.device_id);
        }
        let mut store = Store::new(pipeline, self.config.engine);
        let state = lock(&self.state);
        for (port, queue) in &state.queues {
            store.engine_mut().set_queue(*port, Some(*queue));
        }
        for port in &state.down {
            store.set_port(*port, false);
        }
        LoadedPipeline { store, cookie }
    }

    /// Makes a pipeline process packets.
    fn run(&self, loaded: LoadedPipeline) {
        let mut state = lock(&self.state);
        let replaced = (state.running.replace(loaded), state.saved_pipeline.take());
        drop(state);
        drop(replaced);
    }

    fn reconcile(&self, config: Option<&v1::ForwardingPipelineConfig>) -> Result<(), ConfigError> {
        let mut loaded = self.load(config)?;
        let now_ns = self.now_ns();
        // Packets must not change the old state once it is being copied.
        let mut state = lock(&self.state);
        if let Some(old) = &state.running {
            loaded.store.adopt(now_ns, &old.store)?;
        }
        let replaced = (state.running.replace(loaded), state.saved_pipeline.take());
        drop(state);
        drop(replaced);
        Ok(())
    }

    /// Returns the requested parts of the pipeline that processes packets.
    pub(crate) fn pipeline_config(&self, requested: PipelineParts) -> Option<v1::ForwardingPipelineConfig> {
        let (pipeline, cookie) = {
            let state = lock(&self.state);
            let loaded = state.running.as_ref()?;
            (Arc::clone(loaded.store.pipeline()), loaded.cookie)
        };
        let (info, program) = match requested {
            ResponseType::All => (true, true),
            ResponseType::CookieOnly => (false, false),
            ResponseType::P4infoAndCookie => (true, false),
            ResponseType::DeviceConfigAndCookie => (false, true),
        };
        Some(v1::ForwardingPipelineConfig {
            p4info: info.then(|| pipeline.info().message().clone()),
            p4_device_config: if program { pipeline.device_config().clone() } else { bytes::Bytes::new() },
            cookie,
        })
    }

    /// Runs a compiled pipeline at once, as VERIFY_AND_COMMIT does.
    pub fn run_pipeline(&self, pipeline: Arc<Pipeline>) {
        let _control = lock(&self.control);
        self.run(self.prepare(pipeline, None));
    }
}
