//! What the command line asks for.

use std::path::PathBuf;

/// Address of the P4Runtime service where none is given. BMv2 listens on all interfaces there.
pub(super) const DEFAULT_ADDRESS: &str = "127.0.0.1:9559";

/// Least important messages to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Every step of a packet.
    Trace,
    /// Every packet.
    Debug,
    /// What happens once.
    Info,
    /// What looks wrong.
    Warn,
    /// What is wrong.
    Error,
    /// None.
    Off,
}

/// Where messages go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogTarget {
    /// To standard error.
    Console,
    /// To a file.
    File(PathBuf),
}

/// Files for TLS, as PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate chain of the switch.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// Authority that controllers must be signed by.
    pub client_authority: Option<PathBuf>,
    /// Certificates of controllers that were revoked.
    pub revoked: Option<PathBuf>,
}

/// A switch to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Number by which controllers know it.
    pub device_id: u64,
    /// Ports and their interfaces.
    pub interfaces: Vec<(u32, String)>,
    /// Program to start with.
    pub program: Option<PathBuf>,
    /// P4Info of the program.
    pub p4info: Option<PathBuf>,
    /// Directory for captures.
    pub captures: Option<PathBuf>,
    /// Where messages go; nowhere without.
    pub log: Option<LogTarget>,
    /// Least important messages to show.
    pub level: Level,
    /// Address of the P4Runtime service.
    pub address: String,
    /// Certificates of the service.
    pub tls: Option<TlsFiles>,
    /// Address where packets of ports without interface are exchanged over gRPC.
    pub packet_address: Option<String>,
    /// Port that stands for the controller.
    pub cpu_port: Option<u32>,
    /// Port that means drop.
    pub drop_port: u32,
    /// Queues of each port.
    pub priority_queues: usize,
    /// Options that were given and do nothing here, with the reason.
    pub notes: Vec<String>,
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
            drop_port: 511,
            priority_queues: 1,
            notes: Vec::new(),
        }
    }
}
