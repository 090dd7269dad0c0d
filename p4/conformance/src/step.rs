//! The steps of a corner: each is a call with the answers that the specification allows.

use closc_runtime::proto::v1;
use tonic::Code;
use v1::get_forwarding_pipeline_config_request::ResponseType;
use v1::set_forwarding_pipeline_config_request::Action;
use v1::write_request::Atomicity;

/// Allowed status codes.
pub(crate) type Codes = &'static [Code];

pub(crate) const OK: Codes = &[Code::Ok];
pub(crate) const INVALID: Codes = &[Code::InvalidArgument];
pub(crate) const RANGE: Codes = &[Code::OutOfRange];
pub(crate) const DENIED: Codes = &[Code::PermissionDenied];
pub(crate) const NOT_FOUND: Codes = &[Code::NotFound];
pub(crate) const EXISTS: Codes = &[Code::AlreadyExists];
pub(crate) const IN_USE: Codes = &[Code::FailedPrecondition];
pub(crate) const FULL: Codes = &[Code::ResourceExhausted];

/// Any code of a failed update.
pub(crate) const ANY_FAILURE: Codes = &[
    Code::Cancelled,
    Code::Unknown,
    Code::InvalidArgument,
    Code::NotFound,
    Code::AlreadyExists,
    Code::FailedPrecondition,
    Code::Aborted,
    Code::Internal,
];

/// The sender of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sender {
    /// The device, or `None` for the device of the run.
    pub(crate) device: Option<u64>,
    pub(crate) role: &'static str,
    /// The election id relative to the primary's, or `None` if it is not set.
    pub(crate) election: Option<i64>,
}

impl Sender {
    /// Returns the primary of the default role.
    pub(crate) fn primary() -> Self {
        Sender { election: Some(0), ..Sender::default() }
    }
}

/// The pipeline configuration of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Config {
    None,
    /// The program of the run, with this cookie.
    Whole(u64),
    /// The program without a P4Info.
    NoInfo,
    /// A device configuration that no target can read.
    Broken,
    /// A P4Info in which two objects have the same id.
    Inconsistent,
}

/// An expected message on a stream.
#[derive(Clone, Debug)]
pub(crate) enum ExpectedMessage {
    /// An arbitration update: the status code, and the election id relative to the primary's.
    Arbitration(Code, Option<i64>),
    /// The end of the stream with one of these codes.
    End(Codes),
    /// An error with one of these codes, about a message of this kind.
    Error(Codes, Details),
}

/// The kind of message that an error on a stream is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Details {
    PacketOut,
    DigestListAck,
    Other,
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Writes one update; if it is rejected, nothing may change.
    Write(v1::Update, Codes),
    /// Writes several updates in one request; the codes are per update.
    Batch(Vec<v1::Update>, Atomicity, Vec<Codes>),
    /// The codes of a Write and a Read before the first pipeline.
    WithoutPipeline(Codes),
    /// A step that a server may not support: UNIMPLEMENTED ends the corner as not applicable.
    Optional(Box<Step>),
    /// Sends a request as this sender; the codes are those of the call.
    WriteAs(Sender, Vec<v1::Update>, i32, Codes),
    /// Reads an entity; the result is these entities, in any order.
    Read(v1::Entity, Vec<v1::Entity>),
    /// Reads an entity; the result is this number of entities.
    ReadCount(v1::Entity, usize),
    /// Reads an entity, which fails with one of these codes.
    ReadFails(v1::Entity, Codes),
    /// Reads several entities in one request; the result is this number of entities in all.
    ReadBatch(Vec<v1::Entity>, usize),
    /// Reads from another device, which fails with one of these codes.
    ReadOf(u64, Codes),
    SetPipeline(Sender, i32, Config, Codes),
    /// Gets the pipeline; the result has these parts: P4Info, device configuration, cookie.
    GetPipeline(ResponseType, (bool, bool, Option<u64>)),
    /// Gets the pipeline of an unknown device, or with an unknown response type, which fails with one of these codes.
    GetPipelineFails(Option<u64>, i32, Codes),
    Capabilities(u64, Codes),
    /// Opens a stream with an arbitration message.
    Open(&'static str, v1::MasterArbitrationUpdate, Option<i64>),
    /// Sends another arbitration message.
    Arbitrate(&'static str, v1::MasterArbitrationUpdate, Option<i64>),
    /// Sends a message on the stream with this name; that of the primary is [`PRIMARY`].
    Send(&'static str, v1::stream_message_request::Update),
    Receive(&'static str, ExpectedMessage),
    Close(&'static str),
}

/// The name of the primary's stream, which exists in every corner.
pub(crate) const PRIMARY: &str = "primary";

/// Returns the step for an update that must be applied.
pub(crate) fn accept(update: v1::Update) -> Step {
    Step::Write(update, OK)
}

/// Returns the step for an update that must be rejected.
pub(crate) fn refuse(update: v1::Update, codes: Codes) -> Step {
    Step::Write(update, codes)
}

/// Returns the step for a read with these results.
pub(crate) fn read(request: impl Into<v1::Entity>, found: impl IntoIterator<Item = v1::Entity>) -> Step {
    Step::Read(request.into(), found.into_iter().collect())
}

/// Returns a step that a server may answer with UNIMPLEMENTED.
pub(crate) fn optional(step: Step) -> Step {
    Step::Optional(Box::new(step))
}

/// Returns the step with which the primary sets a pipeline.
pub(crate) fn set(action: Action, config: Config, codes: Codes) -> Step {
    Step::SetPipeline(Sender::primary(), action.into(), config, codes)
}

/// Returns the step for an update that must be applied, unless the server answers with UNIMPLEMENTED.
pub(crate) fn try_accept(update: v1::Update) -> Step {
    optional(accept(update))
}
