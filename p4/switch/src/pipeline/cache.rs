//! Cache of compiled pipelines by content: a pipeline that controllers set on a thousand switches of a
//! process is compiled and stored once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use closc_runtime::proto::{config, v1};

use super::{Pipeline, PipelineError};

/// Pipelines in use, by the digest of their programs.
#[derive(Debug, Default)]
pub struct PipelineCache {
    restricts: bool,
    pipelines: Mutex<HashMap<[u8; 32], Vec<Weak<Pipeline>>>>,
}

impl PipelineCache {
    /// Returns a cache whose pipelines enforce `@entry_restriction` and `@action_restriction`.
    pub(crate) fn with_restrictions() -> Self {
        Self { restricts: true, ..Self::default() }
    }

    /// Compiles a program and binds a P4Info to it.
    pub(crate) fn compile(
        &self,
        p4info: config::P4Info,
        device_config: Bytes,
    ) -> Result<Pipeline, PipelineError> {
        if self.restricts {
            Pipeline::with_restrictions(p4info, device_config)
        } else {
            Pipeline::new(p4info, device_config)
        }
    }

    /// Returns the compiled pipeline of a configuration, from the cache if possible.
    pub(crate) fn get(&self, config: &v1::ForwardingPipelineConfig) -> Result<Arc<Pipeline>, PipelineError> {
        let p4info = config.p4info.as_ref().ok_or(PipelineError::NoInfo)?;
        let digest = *blake3::hash(&config.p4_device_config).as_bytes();
        // The lock is held while compiling, so that switches with the same pipeline wait for the first
        // compilation.
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        let known = pipelines.get(&digest).into_iter().flatten().filter_map(Weak::upgrade);
        if let Some(pipeline) = known.into_iter().find(|pipeline| pipeline.info().message() == p4info) {
            return Ok(pipeline);
        }
        let pipeline = Arc::new(self.compile(p4info.clone(), config.p4_device_config.clone())?);
        for known in pipelines.values_mut() {
            known.retain(|pipeline| pipeline.strong_count() > 0);
        }
        pipelines.retain(|_, known| !known.is_empty());
        pipelines.entry(digest).or_default().push(Arc::downgrade(&pipeline));
        Ok(pipeline)
    }
}
