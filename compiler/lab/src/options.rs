//! Options of labs, and their runtime folder.

use std::net::SocketAddr;
use std::thread::available_parallelism;

use camino::Utf8PathBuf;

use crate::name::FabricName;
use crate::target::Target;
use crate::tree::Digests;

/// Options of a lab.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder in which running labs are recorded.
    pub runtime: Utf8PathBuf,
    /// Number of threads.
    pub jobs: usize,
    /// Maximum number of devices on one machine.
    pub devices_max: usize,
    /// Target; by default the one that fits the tree.
    pub target: Option<Target>,
    /// Whether files that differ from the manifest are rejected.
    pub digests: Digests,
    /// Lifetime of embedded switches.
    pub life: Life,
    /// P4Runtime address of embedded switches; by default a socket that only the owner of the lab can use.
    pub listen: Option<SocketAddr>,
    /// Program and first arguments for each switch of target `bmv2`. It must accept the command line of
    /// `simple_switch_grpc`.
    pub switch: Vec<String>,
}

/// Lifetime of embedded switches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Life {
    /// As long as the lab is open in this process.
    Within,
    /// In a separate process, until the lab is stopped. The value is its command line, to which the folder of the tree
    /// and the path of a socket are appended. The command must call [`serve`](crate::backend::embedded::serve) with
    /// both.
    Process(Vec<String>),
}

impl Default for Options {
    fn default() -> Self {
        Options {
            runtime: runtime(),
            jobs: available_parallelism().map_or(2, usize::from),
            devices_max: 16_384,
            target: None,
            digests: Digests::Compared,
            life: Life::Within,
            listen: None,
            switch: vec!["simple_switch_grpc".to_owned()],
        }
    }
}

impl Options {
    /// Returns the folder of a fabric's lab: sockets, inventory, logs.
    pub fn folder(&self, fabric: &FabricName) -> Utf8PathBuf {
        self.runtime.join(&**fabric)
    }
}

/// Default folder for the records of labs: `/run/closc/lab` for root, otherwise the runtime folder of the user.
fn runtime() -> Utf8PathBuf {
    let user = nix::unistd::geteuid();
    if user.is_root() {
        return Utf8PathBuf::from("/run/closc/lab");
    }
    match std::env::var("XDG_RUNTIME_DIR") {
        Ok(folder) if !folder.is_empty() => Utf8PathBuf::from(folder).join("closc/lab"),
        Ok(_) | Err(_) => Utf8PathBuf::from(format!("/tmp/closc-{user}/lab")),
    }
}
