//! Request of the command line.

use std::path::PathBuf;

use closc_runtime::server::TlsFiles;

use crate::program::DROP_PORT;

/// Address of the P4Runtime service where none is given. BMv2 listens on all interfaces there.
pub(super) const DEFAULT_ADDRESS: &str = "127.0.0.1:9559";

/// Least important messages to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Every step of a packet.
    Trace,
    /// Every packet.
    Debug,
    /// Event that happens once.
    Info,
    /// Suspicious values.
    Warn,
    /// The error.
    Error,
    /// None.
    Off,
}

/// Where messages go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LogTarget {
    /// To standard error.
    Console,
    /// To a file.
    File(PathBuf),
}

/// A switch to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Number by which controllers know it.
    pub(crate) device_id: u64,
    /// Ports and their interfaces.
    pub(crate) interfaces: Vec<(u32, String)>,
    /// Program to start with.
    pub(crate) program: Option<PathBuf>,
    /// P4Info of the program.
    pub(crate) p4info: Option<PathBuf>,
    /// Directory for captures.
    pub(crate) captures: Option<PathBuf>,
    /// Where messages go; nowhere without.
    pub(crate) log: Option<LogTarget>,
    /// Least important messages to show.
    pub(crate) level: Level,
    /// Address of the P4Runtime service.
    pub(crate) address: String,
    /// Certificates of the service.
    pub(crate) tls: Option<TlsFiles>,
    /// Address where packets of ports without interface are exchanged over gRPC.
    pub(crate) packet_address: Option<String>,
    /// Port that stands for the controller.
    pub(crate) cpu_port: Option<u32>,
    /// Port that means drop.
    pub(crate) drop_port: u32,
    /// Whether `@entry_restriction` and `@action_restriction` are enforced.
    pub(crate) restricts: bool,
    /// Queues of each port.
    pub(crate) priority_queues: usize,
    /// Options that were given and do nothing here, with the reason.
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
