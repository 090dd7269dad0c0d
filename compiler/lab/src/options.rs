//! Start of labs, and the folder of their state.

use std::net::SocketAddr;
use std::thread::available_parallelism;

use camino::Utf8PathBuf;

use crate::name::FabricName;
use crate::target::Target;
use crate::tree::Digests;

/// Start of a lab.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder that remembers what is up.
    pub runtime: Utf8PathBuf,
    /// Threads.
    pub jobs: usize,
    /// Most devices brought up on one machine.
    pub devices_max: usize,
    /// Program of the switches; that of the tree if not given.
    pub target: Option<Target>,
    /// Whether files that were changed after they were compiled are refused.
    pub digests: Digests,
    /// Lifetime of embedded switches.
    pub life: Life,
    /// Address of P4Runtime of embedded switches; by default a socket of the lab's owner.
    pub listen: Option<SocketAddr>,
    /// The program that each switch of target `bmv2` is, with its first arguments: one that takes the command line of
    /// `simple_switch_grpc`.
    pub switch: Vec<String>,
}

/// Lifetime of embedded switches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Life {
    /// As long as the lab is open in this process.
    Within,
    /// In a process of their own, until the lab is taken down. These words are run, with the folder of the tree and
    /// the path of a socket behind them; it calls [`serve`](crate::backend::embedded::serve) with both.
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

/// Where labs are remembered: `/run/closc/lab` for root, else the user's own runtime folder.
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
