//! A program for a target, with the cookie that identifies the program.
//!
//! In: a P4Info and a device configuration. Out: a [`Pipeline`]. Invariants: the same program has the same cookie
//! everywhere.

use std::sync::Arc;

use bytes::Bytes;
use prost::Message as _;

use crate::info::{Info, InfoError};
use crate::proto::config;
#[cfg(feature = "transport")]
use crate::proto::v1;

/// A program for a target: the P4Info for the controller, the device configuration for the target, and the cookie of
/// both.
#[derive(Debug, Clone)]
pub struct Pipeline {
    pub(crate) info: Arc<Info>,
    pub(crate) device_config: Bytes,
    pub(crate) cookie: u64,
}

impl Pipeline {
    /// Returns the pipeline of a P4Info and a device configuration (for BMv2 its JSON). The cookie is computed from
    /// both, so the same program has the same cookie everywhere.
    pub fn new(info: Arc<Info>, device_config: Bytes) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&info.message().encode_to_vec());
        hasher.update(&device_config);
        let mut cookie = [0; 8];
        hasher.finalize_xof().fill(&mut cookie);
        // The cookie is never 0, which would look like a missing cookie.
        let cookie = u64::from_be_bytes(cookie).max(1);
        Pipeline { info, device_config, cookie }
    }

    /// Returns the pipeline of a P4Info message.
    pub fn from_message(p4info: config::P4Info, device_config: Bytes) -> Result<Self, InfoError> {
        Ok(Pipeline::new(Arc::new(Info::new(p4info)?), device_config))
    }

    /// Returns the P4Info.
    pub fn info(&self) -> &Arc<Info> {
        &self.info
    }

    /// Returns the device configuration, which the target runs.
    pub fn device_config(&self) -> &Bytes {
        &self.device_config
    }

    /// Returns the cookie, which identifies the pipeline.
    pub fn cookie(&self) -> u64 {
        self.cookie
    }

    /// Returns the message that sets this pipeline.
    #[cfg(feature = "transport")]
    pub(crate) fn message(&self) -> v1::ForwardingPipelineConfig {
        v1::ForwardingPipelineConfig {
            p4info: Some(self.info.message().clone()),
            p4_device_config: self.device_config.clone(),
            cookie: Some(v1::forwarding_pipeline_config::Cookie { cookie: self.cookie }),
        }
    }

    /// Returns whether a configuration that was read from a target is this pipeline, as far as the target reports it.
    #[cfg(feature = "transport")]
    pub(crate) fn is(&self, read: &v1::ForwardingPipelineConfig) -> bool {
        let config_unknown = read.p4_device_config.is_empty();
        read.p4info.as_ref() == Some(self.info.message())
            && (config_unknown || read.p4_device_config == self.device_config)
    }
}
