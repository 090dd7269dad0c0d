//! A forwarding pipeline: a compiled program and its P4Info, with ids of the P4Info bound to indices of the program.
//!
//! In: the `ForwardingPipelineConfig` of a controller. Out: a [`Pipeline`], immutable and shared by every
//! switch that runs it. Invariants: a bound object has the same fields in the P4Info and in the program, so a
//! valid entity can be applied. Objects that the compiler removed from the program stay unbound.

mod bind;
mod cache;
mod legacy;
mod numeric_info;
mod proof;
mod texts;
mod unused_params;

pub(crate) use bind::{
    ActionBinding, DigestBinding, PacketLayout, ParamBinding, ProfileBinding, TableBinding, ValueSetBinding,
};
pub use cache::PipelineCache;
pub(crate) use texts::{TextType, Texts};

use std::sync::Arc;

use bytes::Bytes;
use closc_runtime::info::{Info, InfoError};
use closc_runtime::proto::config;
use thiserror::Error;

use crate::Error;
use crate::program::Program;
use bind::Bindings;

/// A configuration that the switch cannot run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PipelineError {
    /// The program cannot be read.
    #[error("the device config is not a program that this switch runs: {0}")]
    Program(#[from] Error),
    /// The P4Info is inconsistent.
    #[error("the P4Info is not valid: {0}")]
    Info(#[from] InfoError),
    /// The configuration has no P4Info.
    #[error("the configuration has no P4Info")]
    NoInfo,
    /// The configuration has no program.
    #[error("the configuration has no device config, this switch needs the JSON of the BMv2 backend there")]
    NoProgram,
    /// Program and P4Info come from different compilations; lists all differences.
    #[error("the P4Info and the program come from different compilations: {}", .0.join("; "))]
    Bind(Vec<String>),
}

/// A program with its P4Info.
#[derive(Debug)]
pub struct Pipeline {
    program: Arc<Program>,
    info: Info,
    device_config: Bytes,
    bindings: Bindings,
    texts: Texts,
}

impl Pipeline {
    /// Compiles a program and binds a P4Info to it. `@entry_restriction` and `@action_restriction` are not enforced, as
    /// in BMv2.
    pub fn new(p4info: config::P4Info, device_config: Bytes) -> Result<Self, PipelineError> {
        Self::bind(Info::without_restrictions(p4info)?, device_config)
    }

    /// Like [`Pipeline::new`], enforcing the annotations.
    pub fn with_restrictions(p4info: config::P4Info, device_config: Bytes) -> Result<Self, PipelineError> {
        Self::bind(Info::new(p4info)?, device_config)
    }

    fn bind(info: Info, device_config: Bytes) -> Result<Self, PipelineError> {
        if device_config.is_empty() {
            return Err(PipelineError::NoProgram);
        }
        let mut program = Program::from_json(&legacy::unwrap(&device_config))?;
        unused_params::keep(&info, &mut program);
        let bindings = Bindings::new(&info, &program).map_err(PipelineError::Bind)?;
        let texts = Texts::new(&info, &program, &bindings);
        Ok(Self { program: Arc::new(program), info, device_config, bindings, texts })
    }

    /// Compiles a program without a P4Info, which controllers cannot write to.
    pub(crate) fn without_info(device_config: Bytes) -> Result<Self, PipelineError> {
        let program = Program::from_json(&legacy::unwrap(&device_config))?;
        let (info, bindings) = (Info::default(), Bindings::default());
        let texts = Texts::default();
        Ok(Self { program: Arc::new(program), info, device_config, bindings, texts })
    }

    /// Binds the fields of a table to positions that its key does not have. This simulates a defect that
    /// entry validation does not detect.
    #[cfg(test)]
    pub(crate) fn misbind(&mut self, table: u32) {
        if let Some(binding) = self.bindings.tables.get_mut(&table) {
            binding.fields.fill(usize::MAX);
        }
    }

    /// Returns the program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Returns the P4Info.
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// Returns the types that controllers represent as text.
    pub(crate) fn texts(&self) -> &Texts {
        &self.texts
    }

    /// Returns the original device config.
    pub(crate) fn device_config(&self) -> &Bytes {
        &self.device_config
    }

    pub(crate) fn table(&self, id: u32) -> Option<&TableBinding> {
        self.bindings.tables.get(&id)
    }

    pub(crate) fn profile(&self, id: u32) -> Option<&ProfileBinding> {
        self.bindings.profiles.get(&id)
    }

    /// Returns the index of a counter array, or of a meter or register array, of the program.
    pub(crate) fn array(&self, id: u32) -> Option<usize> {
        self.bindings.arrays.get(&id).copied()
    }

    pub(crate) fn value_set(&self, id: u32) -> Option<&ValueSetBinding> {
        self.bindings.value_sets.get(&id)
    }

    pub(crate) fn digest(&self, id: u32) -> Option<&DigestBinding> {
        self.bindings.digests.get(&id)
    }

    /// Returns the header of packets to the controller.
    pub(crate) fn packet_in(&self) -> &PacketLayout {
        &self.bindings.packet_in
    }

    /// Returns the header of packets from the controller.
    pub(crate) fn packet_out(&self) -> &PacketLayout {
        &self.bindings.packet_out
    }

    /// Returns the id of a digest by the number used in actions.
    pub(crate) fn digest_id(&self, number: u32) -> Option<u32> {
        self.bindings.digests.iter().find(|(_, binding)| binding.number == number).map(|(id, _)| *id)
    }
}
