//! The steps of a corner: a call, and the answers that the specification allows.

use closc_runtime::proto::v1;
use tonic::Code;
use v1::get_forwarding_pipeline_config_request::ResponseType;
use v1::set_forwarding_pipeline_config_request::Action;
use v1::write_request::Atomicity;

/// Codes of which one must come.
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

/// A request that names its sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sender {
    /// The device; that of the run if not given.
    pub(crate) device: Option<u64>,
    pub(crate) role: &'static str,
    /// The election id, relative to the primary's; none leaves it unset.
    pub(crate) election: Option<i64>,
}

impl Sender {
    /// Returns the primary.
    pub(crate) fn primary() -> Self {
        Sender { election: Some(0), ..Sender::default() }
    }
}

/// The configuration of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Config {
    None,
    /// The program of the run, with a cookie.
    Whole(u64),
    /// Without a P4Info.
    NoInfo,
    /// With a program that no target can read.
    Broken,
    /// With a P4Info in which two objects have one id.
    Inconsistent,
}

/// A message on a stream.
#[derive(Clone, Debug)]
pub(crate) enum Received {
    /// About arbitration: the code, and the election id relative to the primary's.
    Arbitration(Code, Option<i64>),
    /// The stream ends with one of these codes.
    End(Codes),
    /// An error with one of these codes about a packet-out, an acknowledgement or another message.
    Error(Codes, Details),
}

/// The message that an error on a stream is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Details {
    PacketOut,
    DigestListAck,
    Other,
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// One update; a refused one must change nothing.
    Write(v1::Update, Codes),
    /// Updates in one request, with the codes of each.
    Batch(Vec<v1::Update>, Atomicity, Vec<Codes>),
    /// A Write and a Read before the first pipeline.
    WithoutPipeline(Codes),
    /// A step that a server may not support: UNIMPLEMENTED ends the corner as not applicable.
    Optional(Box<Step>),
    /// A request by a sender, and the code of the call.
    WriteAs(Sender, Vec<v1::Update>, i32, Codes),
    /// Entities that are found, in any order.
    Read(v1::Entity, Vec<v1::Entity>),
    /// So many entities are found.
    ReadCount(v1::Entity, usize),
    /// A read that fails with one of these codes.
    ReadFails(v1::Entity, Codes),
    /// Several requests in one read, and how many entities they find together.
    ReadBatch(Vec<v1::Entity>, usize),
    /// A read of another device.
    ReadOf(u64, Codes),
    SetPipeline(Sender, i32, Config, Codes),
    /// Which parts come back: P4Info, program, cookie.
    GetPipeline(ResponseType, (bool, bool, Option<u64>)),
    /// The pipeline of a device that does not exist, or a number that is not of the enumeration.
    GetPipelineFails(Option<u64>, i32, Codes),
    Capabilities(u64, Codes),
    /// Opens a stream with an arbitration message.
    Open(&'static str, v1::MasterArbitrationUpdate, Option<i64>),
    /// Sends another arbitration message.
    Arbitrate(&'static str, v1::MasterArbitrationUpdate, Option<i64>),
    /// Sends a message on a stream; the one of the primary is called so.
    Send(&'static str, v1::stream_message_request::Update),
    Receive(&'static str, Received),
    Close(&'static str),
}

/// The name of the stream that every corner has.
pub(crate) const PRIMARY: &str = "primary";

/// An update that is applied.
pub(crate) fn accept(update: v1::Update) -> Step {
    Step::Write(update, OK)
}

/// An update that is refused.
pub(crate) fn refuse(update: v1::Update, codes: Codes) -> Step {
    Step::Write(update, codes)
}

/// What a read finds.
pub(crate) fn read(request: impl Into<v1::Entity>, found: impl IntoIterator<Item = v1::Entity>) -> Step {
    Step::Read(request.into(), found.into_iter().collect())
}

/// A step that a server may answer with UNIMPLEMENTED.
pub(crate) fn optional(step: Step) -> Step {
    Step::Optional(Box::new(step))
}

/// A pipeline that is set by the primary.
pub(crate) fn set(action: Action, config: Config, codes: Codes) -> Step {
    Step::SetPipeline(Sender::primary(), action.into(), config, codes)
}

/// An update that a server may do without.
pub(crate) fn try_accept(update: v1::Update) -> Step {
    optional(accept(update))
}
