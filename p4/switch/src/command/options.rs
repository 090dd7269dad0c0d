//! Options of the command line.

use std::path::PathBuf;

use closc_runtime::server::TlsFiles;

use crate::program::DROP_PORT;

/// Default address of the P4Runtime service. BMv2 listens on all interfaces by default.
pub(super) const DEFAULT_ADDRESS: &str = "127.0.0.1:9559";

/// Minimum level of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Every step of a packet.
    Trace,
    /// Every packet.
    Debug,
    /// Single events.
    Info,
    /// Suspicious conditions.
    Warn,
    /// Errors.
    Error,
    /// No messages.
    Off,
}

/// Destination of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LogTarget {
    /// To standard error.
    Console,
    /// To a file.
    File(PathBuf),
}

/// Options of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Device id in P4Runtime.
    pub(crate) device_id: u64,
    /// Ports and their interfaces.
    pub(crate) interfaces: Vec<(u32, String)>,
    /// Program to start with.
    pub(crate) program: Option<PathBuf>,
    /// P4Info of the program.
    pub(crate) p4info: Option<PathBuf>,
    /// Folder for captures.
    pub(crate) captures: Option<PathBuf>,
    /// Destination of messages; `None` for no messages.
    pub(crate) log: Option<LogTarget>,
    /// Minimum level of messages.
    pub(crate) level: Level,
    /// Address of the P4Runtime service.
    pub(crate) address: String,
    /// Certificates of the service.
    pub(crate) tls: Option<TlsFiles>,
    /// Address at which packets of ports without an interface are exchanged over gRPC.
    pub(crate) packet_address: Option<String>,
    /// Port of the controller.
    pub(crate) cpu_port: Option<u32>,
    /// Port number that means drop.
    pub(crate) drop_port: u32,
    /// Whether `@entry_restriction` and `@action_restriction` are enforced.
    pub(crate) restricts: bool,
    /// Number of queues per port.
    pub(crate) priority_queues: usize,
    /// Options that were given and have no effect, with the reason.
    pub(crate) notes: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            device_id: 0,
            interfaces: Vec::new(),
            program: None,
            p4info: None,
            captures: None,
            log: None,
            level: Level::Info,
            address: DEFAULT_ADDRESS.to_owned(),
            tls: None,
            packet_address: None,
            cpu_port: None,
            drop_port: DROP_PORT,
            restricts: false,
            priority_queues: 1,
            notes: Vec::new(),
        }
    }
}
