//! Arguments of the commands that talk to switches: `push`, `drift`, `watch`.

use std::net::SocketAddr;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use closc_compile::{Selection, Shard};
use closc_deploy::PushOptions;

use super::number;
use super::serve::ServeArgs;
use crate::tree::Keys;

/// Selection of switches, and access to them.
#[derive(Debug, Clone, clap::Args)]
pub struct FleetArgs {
    /// Compiled tree, or for `push` a plan saved by `push --out`
    pub source: Utf8PathBuf,
    /// Switch inventory (YAML or JSON), or `lab` for the running lab
    #[arg(long, short, value_name = "FILE")]
    pub inventory: Utf8PathBuf,
    /// Only these switches
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub device: Vec<String>,
    /// Only switches of these planes; the first is 0
    #[arg(long, value_name = "P", value_delimiter = ',', value_parser = number::plane)]
    pub plane: Vec<u8>,
    /// Only the planes of one shard, for example `3/8`; the first is `0/8`
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Only matching switches: `plane=3`, `device=p3-t0-*`
    #[arg(long, value_name = "TERMS", default_value = "")]
    pub select: Selection,
    /// Switches processed in parallel, up to 1024
    #[arg(long, value_name = "N", default_value_t = parallel(), value_parser = number::parallel())]
    pub max_parallel: u16,
    /// Require a signature by this public key (`.pub`); repeatable
    #[arg(long, value_name = "PUB")]
    pub require_signature: Vec<Utf8PathBuf>,
    /// Required number of signatures [default: all keys]
    #[arg(long, value_name = "N", requires = "require_signature", value_parser = number::from_1())]
    pub signatures: Option<u32>,
    /// Accept a signed tree that is older or expired; logged
    #[arg(long, requires = "require_signature")]
    pub allow_older: bool,
    /// Folder with site additions for SONiC (JSON)
    #[arg(long, value_name = "DIR")]
    pub overlay: Option<Utf8PathBuf>,
    /// OpenSSH client configuration file
    #[arg(long, value_name = "FILE")]
    pub ssh_config: Option<Utf8PathBuf>,
    /// Time limit per switch in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = PushOptions::default().timeout.as_secs(),
          value_parser = number::seconds())]
    pub timeout: u64,
    /// Time limit per call in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = PushOptions::default().client.deadlines.read.as_secs(),
          value_parser = number::seconds())]
    pub deadline: u64,
    /// Memory limit for the entries of one switch, in MiB
    #[arg(long, value_name = "MIB", default_value_t = mebibytes(), value_parser = number::mebibytes())]
    pub switch_memory: u32,
}

fn parallel() -> u16 {
    u16::try_from(PushOptions::default().max_parallel).unwrap_or(number::PARALLEL_MAX)
}

fn mebibytes() -> u32 {
    u32::try_from(PushOptions::default().client.memory_limit >> 20).unwrap_or(number::MEBIBYTES_MAX)
}

impl FleetArgs {
    /// Returns the arguments for all switches of a tree.
    pub fn of(tree: &Utf8Path, inventory: &Utf8Path) -> Self {
        let options = PushOptions::default();
        FleetArgs {
            source: tree.to_owned(),
            inventory: inventory.to_owned(),
            device: Vec::new(),
            plane: Vec::new(),
            shard: None,
            select: Selection::default(),
            require_signature: Vec::new(),
            signatures: None,
            allow_older: false,
            overlay: None,
            ssh_config: None,
            max_parallel: parallel(),
            timeout: options.timeout.as_secs(),
            deadline: options.client.deadlines.read.as_secs(),
            switch_memory: mebibytes(),
        }
    }

    /// Returns the keys that must have signed the tree.
    pub fn keys(&self) -> Keys<'_> {
        Keys { public: &self.require_signature, needed: self.signatures }
    }

    /// Returns the options that all commands share.
    pub fn options(&self) -> PushOptions {
        PushOptions {
            max_parallel: self.max_parallel.into(),
            timeout: Duration::from_secs(self.timeout),
            ..PushOptions::default()
        }
        .deadline(Duration::from_secs(self.deadline))
        .memory((self.switch_memory as usize).saturating_mul(1 << 20))
    }
}

/// Arguments of `drift`.
#[derive(Debug, clap::Args)]
pub(crate) struct DriftArgs {
    #[command(flatten)]
    pub fleet: FleetArgs,
    /// Also report down ports and missing routes or segments (SONiC)
    #[arg(long)]
    pub state: bool,
}

/// Arguments of `push`.
#[derive(Debug, clap::Args)]
pub struct PushArgs {
    #[command(flatten)]
    pub fleet: FleetArgs,
    /// Print the changes without sending them
    #[arg(long)]
    pub dry_run: bool,
    /// Save the changes for a later push
    #[arg(long, value_name = "FILE")]
    pub out: Option<Utf8PathBuf>,
    /// Failed switches tolerated; 0 stops at the first
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number::from_0())]
    pub max_failures: u32,
    /// Take over from another primary controller
    #[arg(long)]
    pub take_over: bool,
    /// Reload changed SONiC switches instead of patching them
    #[arg(long)]
    pub reload: bool,
    /// Seconds until an unconfirmed change is rolled back
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = number::seconds())]
    pub confirm: u64,
    /// Roll back the named push (SSH switches)
    #[arg(long, value_name = "RUN", value_parser = run_name, conflicts_with_all = ["out", "reload", "overlay"])]
    pub rollback: Option<String>,
    /// Command to run between planes; its failure stops the push
    #[arg(long, value_name = "COMMAND")]
    pub gate: Option<String>,
}

/// Checks the name of a push, which is used as a file name on switches.
fn run_name(text: &str) -> Result<String, String> {
    let is_plain = text.bytes().all(|sign| sign.is_ascii_alphanumeric() || sign == b'-');
    if is_plain && (1..=64).contains(&text.len()) && !text.starts_with('-') {
        return Ok(text.to_owned());
    }
    Err("expected the name that a push printed, such as `1795826112-4242`".to_owned())
}

/// Arguments of `watch`.
#[derive(Debug, clap::Args)]
pub struct WatchArgs {
    #[command(flatten)]
    pub fleet: FleetArgs,
    /// Seconds between checks of a switch
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = number::seconds())]
    pub interval: u64,
    /// Address for metrics and health
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9560")]
    pub listen: SocketAddr,
    /// Export switch counters: ports, classes, segments, marks, trims, drops
    #[arg(long)]
    pub counters: bool,
    #[command(flatten)]
    pub serve: ServeArgs,
}
