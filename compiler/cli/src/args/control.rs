//! Arguments of the commands that talk to switches: `push`, `drift`, `watch`.

use std::net::SocketAddr;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use closc_compile::{Selection, Shard};
use closc_deploy::PushOptions;

use super::number;
use super::serve::ServeArgs;

/// Which switches, and how to reach them.
#[derive(Debug, Clone, clap::Args)]
pub struct FleetArgs {
    /// Compiled tree; for `push` also a plan that `push --out` saved
    pub source: Utf8PathBuf,
    /// Where the switches are: YAML or JSON, one entry a switch; `lab` for those of the fabric's lab
    #[arg(long, short, value_name = "FILE")]
    pub inventory: Utf8PathBuf,
    /// Only these switches
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub device: Vec<String>,
    /// Only switches of these planes, by the cable lists of the tree; planes count from 0
    #[arg(long, value_name = "P", value_delimiter = ',')]
    pub plane: Vec<u8>,
    /// Only the planes of this shard, for example `3/8`; they count from 0
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Only what all terms hold for: `plane=3`, `device=p3-t0-*`
    #[arg(long, value_name = "TERMS", default_value = "")]
    pub select: Selection,
    /// Switches worked on at the same time, up to 1024
    #[arg(long, value_name = "N", default_value_t = parallel(), value_parser = number::parallel())]
    pub max_parallel: u16,
    /// Refuse a tree that is not signed by this key, the `.pub` file beside the one of `compile --sign`
    #[arg(long, value_name = "PUB")]
    pub require_signature: Option<Utf8PathBuf>,
    /// What the site adds to SONiC switches: a folder of JSON files, by table and device pattern
    #[arg(long, value_name = "DIR")]
    pub overlay: Option<Utf8PathBuf>,
    /// Configuration of `ssh` for SONiC switches, in place of your own
    #[arg(long, value_name = "FILE")]
    pub ssh_config: Option<Utf8PathBuf>,
    /// Seconds that one switch may take
    #[arg(long, value_name = "SECONDS", default_value_t = PushOptions::default().timeout.as_secs(),
          value_parser = number::seconds())]
    pub timeout: u64,
    /// Seconds that a switch may take to answer a call
    #[arg(long, value_name = "SECONDS", default_value_t = PushOptions::default().client.deadlines.read.as_secs(),
          value_parser = number::seconds())]
    pub deadline: u64,
    /// MiB of memory that the entries of one switch may take while they are read
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
            require_signature: None,
            overlay: None,
            ssh_config: None,
            max_parallel: parallel(),
            timeout: options.timeout.as_secs(),
            deadline: options.client.deadlines.read.as_secs(),
            switch_memory: mebibytes(),
        }
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
    /// Of SONiC switches, also name ports that are not up, and routes and segments that are not programmed
    #[arg(long)]
    pub state: bool,
}

/// Arguments of `push`.
#[derive(Debug, clap::Args)]
pub struct PushArgs {
    #[command(flatten)]
    pub fleet: FleetArgs,
    /// Print exactly what would be sent, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Save what would be sent, to be pushed later as it stands
    #[arg(long, value_name = "FILE")]
    pub out: Option<Utf8PathBuf>,
    /// Switches that may fail before no further one is begun; 0 stops at the first
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number::from_0())]
    pub max_failures: u32,
    /// Become primary where another controller is
    #[arg(long)]
    pub take_over: bool,
    /// Reload SONiC switches that change, also where a patch would do
    #[arg(long)]
    pub reload: bool,
    /// Seconds after which a SONiC switch takes back a change that nobody confirmed
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = number::seconds())]
    pub confirm: u64,
    /// Command run after each plane but the last, with the plane as its argument; the push goes on if it succeeds
    #[arg(long, value_name = "COMMAND")]
    pub gate: Option<String>,
}

/// Arguments of `watch`.
#[derive(Debug, clap::Args)]
pub struct WatchArgs {
    #[command(flatten)]
    pub fleet: FleetArgs,
    /// Seconds between two looks at a switch
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = number::seconds())]
    pub interval: u64,
    /// Where metrics and health are served
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9560")]
    pub listen: SocketAddr,
    /// Read what switches count after each look and serve it with the metrics: ports, classes, segments, marks, trims, drops
    #[arg(long)]
    pub counters: bool,
    #[command(flatten)]
    pub serve: ServeArgs,
}
