//! Arguments of the commands that run a fabric on this machine.

use std::net::SocketAddr;

use camino::Utf8PathBuf;
use clap::{Subcommand, ValueEnum};
use closc_lab::Extent;

/// Commands of `lab`.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Do everything: compile, bring up, program, walk every path, take down
    Run(RunArgs),
    /// Bring a fabric up
    Up {
        /// Lab
        #[command(flatten)]
        lab: LabArgs,
        /// Target
        #[command(flatten)]
        target: TargetArgs,
    },
    /// Send packets over every path of every pair and check arrival and counters
    Test {
        /// Lab
        #[command(flatten)]
        lab: LabArgs,
        /// Extent
        #[command(flatten)]
        extent: ExtentArgs,
    },
    /// Tell what is up
    Status {
        /// Fabric file or compiled tree; every lab of this machine if not given
        source: Option<Utf8PathBuf>,
        /// Take files of a tree that were changed after they were compiled
        #[arg(long)]
        no_digests: bool,
    },
    /// Take everything down again
    Down(LabArgs),
    /// Swap two cables, show what is lost, and say which cables they are
    Miswire {
        /// Lab
        #[command(flatten)]
        lab: LabArgs,
        /// First cable, for example `p0-t0-001--p0-t1-001`
        first: String,
        /// Second cable
        second: String,
        /// Leave the cables swapped
        #[arg(long)]
        keep: bool,
    },
    /// Cut a cable, probe, and say which cable is cut
    Cut {
        /// Lab
        #[command(flatten)]
        lab: LabArgs,
        /// Cable
        cable: String,
        /// Leave the cable cut
        #[arg(long)]
        keep: bool,
    },
    /// Put every cable back where it belongs
    Restore(LabArgs),
    /// Be the process that embedded switches live in; `up` starts it
    #[command(hide = true)]
    Serve {
        /// Compiled tree
        tree: Utf8PathBuf,
        /// Socket by which packets get in and cables are moved
        socket: Utf8PathBuf,
        /// Serve P4Runtime at an address
        #[arg(long)]
        listen: Option<SocketAddr>,
        /// Take files that are not what was compiled
        #[arg(long)]
        no_digests: bool,
    },
}

/// Arguments of every lab command.
#[derive(Debug, clap::Args)]
pub struct LabArgs {
    /// Fabric file or compiled tree
    pub source: Utf8PathBuf,
    /// Take files of a tree that were changed after they were compiled
    #[arg(long)]
    pub no_digests: bool,
}

/// Arguments of `lab run`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// Lab
    #[command(flatten)]
    pub lab: LabArgs,
    /// Target
    #[command(flatten)]
    pub target: TargetArgs,
    /// Extent
    #[command(flatten)]
    pub extent: ExtentArgs,
    /// Leave the lab up
    #[arg(long)]
    pub keep: bool,
}

/// What runs the switches.
#[derive(Debug, clap::Args)]
pub struct TargetArgs {
    /// What runs the switches; what fits the tree if not given
    #[arg(long, value_enum)]
    pub target: Option<Target>,
    /// Program that each switch of target `bmv2` is; `closc` is the embedded switch
    #[arg(long, value_name = "PROGRAM", default_value = "simple_switch_grpc")]
    pub switch_program: String,
    /// Let embedded switches serve P4Runtime at an address and not at a socket of yours; whoever reaches it can program them
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
}

/// What runs the switches of a lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// Embedded P4 switches, all in one process; needs no privilege
    Embedded,
    /// A BMv2 process for each switch, in network namespaces; needs root and `simple_switch_grpc`
    Bmv2,
    /// The kernel's own SRv6 in network namespaces; needs root
    Linux,
}

impl From<Target> for closc_lab::Target {
    fn from(target: Target) -> Self {
        match target {
            Target::Embedded => closc_lab::Target::Embedded,
            Target::Bmv2 => closc_lab::Target::Bmv2,
            Target::Linux => closc_lab::Target::Linux,
        }
    }
}

/// How much is walked.
#[derive(Debug, clap::Args)]
pub struct ExtentArgs {
    /// Walk only so many paths, chosen at random
    #[arg(long, value_name = "N")]
    pub sample: Option<u64>,
    /// Seed of the choice; a random one is taken and printed if not given
    #[arg(long, value_name = "SEED", requires = "sample")]
    pub seed: Option<u64>,
}

impl ExtentArgs {
    /// Returns how much is walked.
    pub fn extent(&self) -> Extent {
        let random = || {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            u64::from(now.unwrap_or_default().subsec_nanos())
        };
        match self.sample {
            None => Extent::Everything,
            Some(paths) => Extent::Sample { paths, seed: self.seed.unwrap_or_else(random) },
        }
    }
}
