//! Arguments of the commands that run a fabric on this machine.

use std::net::SocketAddr;

use camino::Utf8PathBuf;
use clap::{Subcommand, ValueEnum};
use closc_lab::Extent;
use closc_lab::job::{Pattern, Transport};

use super::number;

/// Commands of `lab`.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Compile, start, program, test and stop a lab
    Run(RunArgs),
    /// Start a lab
    Up {
        /// Lab
        #[command(flatten)]
        lab: LabArgs,
        /// Target
        #[command(flatten)]
        target: TargetArgs,
    },
    /// Send a packet over every path and check counters
    Test {
        /// Lab
        #[command(flatten)]
        lab: LabArgs,
        /// Extent
        #[command(flatten)]
        extent: ExtentArgs,
    },
    /// Show running labs
    Status {
        /// Fabric file or compiled tree [default: all running labs]
        source: Option<Utf8PathBuf>,
        /// Accept a tree that was edited after compilation
        #[arg(long)]
        no_digests: bool,
    },
    /// Stop a lab
    Down(LabArgs),
    /// Swap two cables, and locate them by probes
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
    /// Cut a cable, and locate it by probes or flows
    Cut {
        /// Lab
        #[command(flatten)]
        lab: LabArgs,
        /// Cable
        cable: String,
        /// Also set both ports down, instead of only dropping packets
        #[arg(long)]
        down: bool,
        /// Leave the cable cut
        #[arg(long)]
        keep: bool,
    },
    /// Run a job while a scenario injects faults
    Job(JobArgs),
    /// Restore all cables
    Restore(LabArgs),
    /// Run the embedded switches of a lab (started by `up`)
    #[command(hide = true)]
    Serve {
        /// Compiled tree
        tree: Utf8PathBuf,
        /// Control socket
        socket: Utf8PathBuf,
        /// Address for P4Runtime
        #[arg(long)]
        listen: Option<SocketAddr>,
        /// Accept a tree that was edited after compilation
        #[arg(long)]
        no_digests: bool,
    },
}

/// Arguments of every lab command.
#[derive(Debug, clap::Args)]
pub struct LabArgs {
    /// Fabric file or compiled tree
    pub source: Utf8PathBuf,
    /// Accept a tree that was edited after compilation
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
    /// Leave the lab running
    #[arg(long)]
    pub keep: bool,
}

/// Arguments of `lab job`.
#[derive(Debug, clap::Args)]
pub struct JobArgs {
    /// Lab
    #[command(flatten)]
    pub lab: LabArgs,
    /// Scenario file with faults and expectations
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<Utf8PathBuf>,
    /// Path selection: spray (all good paths), flow (one by hash, as ECMP), static (the first)
    #[arg(long, value_name = "TRANSPORT", default_value = "spray")]
    pub transport: Transport,
    /// Repeat with another transport for comparison
    #[arg(long, value_name = "TRANSPORT")]
    pub beside: Option<Transport>,
    /// Traffic pattern
    #[arg(long, value_name = "PATTERN", default_value = "permutation")]
    pub pattern: Pattern,
    /// Message size in bytes
    #[arg(long, default_value_t = 32 << 10, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub bytes: u64,
    /// Packet size in bytes
    #[arg(long, default_value_t = 1400, value_parser = clap::value_parser!(u32).range(64..=8192))]
    pub unit: u32,
    /// Messages in flight per NIC
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=24))]
    pub outstanding: u16,
    /// Messages per NIC [default: send until the scenario ends]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub messages: Option<u64>,
    /// Duration in seconds without a scenario
    #[arg(long, default_value_t = 5, conflicts_with = "scenario", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub seconds: u64,
    /// Target [default: by the operating system of the tree]
    #[arg(long, value_enum)]
    pub target: Option<JobTarget>,
    /// Line rate in Mb/s, per NIC port on `linux`, per switch port on `embedded` [default: 1 on linux, 100 on
    /// embedded]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub port_mbps: Option<u32>,
    /// Send in bursts, one burst every N milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    pub every: Option<u64>,
    /// Stall agents at random for up to N milliseconds (virtual time)
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub stall: Option<u64>,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Seconds without arrivals before messages count as lost
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub patience: u64,
    /// Write a plot of goodput over time (SVG)
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<Utf8PathBuf>,
    /// Path of `closc-nic` [default: next to this program]
    #[arg(long, value_name = "PROGRAM")]
    pub nic_binary: Option<Utf8PathBuf>,
    /// Leave the lab running if this command started it
    #[arg(long)]
    pub keep: bool,
}

/// Carrier of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum JobTarget {
    /// Embedded P4 switches in virtual time, without privileges
    Embedded,
    /// Kernel SRv6 in network namespaces, as root
    Linux,
}

/// Target and switch program.
#[derive(Debug, clap::Args)]
pub struct TargetArgs {
    /// Target [default: by the operating system of the tree]
    #[arg(long, value_enum)]
    pub target: Option<Target>,
    /// Switch program of target `bmv2`; `closc` is the embedded switch
    #[arg(long, value_name = "PROGRAM", default_value = "simple_switch_grpc")]
    pub switch_program: String,
    /// Serve P4Runtime at a TCP address, without access control
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// Serve P4Runtime beyond loopback
    #[arg(long, requires = "listen")]
    pub plaintext: bool,
}

/// Program of the switches of a lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// Embedded P4 switches in one process, without privileges
    Embedded,
    /// One BMv2 process per switch in network namespaces, as root
    Bmv2,
    /// Kernel SRv6 in network namespaces, as root
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

/// Extent of a walk.
#[derive(Debug, clap::Args)]
pub struct ExtentArgs {
    /// Test only N random paths
    #[arg(long, value_name = "N", value_parser = number::paths())]
    pub sample: Option<u64>,
    /// Random seed [default: drawn and printed]
    #[arg(long, value_name = "SEED", requires = "sample")]
    pub seed: Option<u64>,
}

impl ExtentArgs {
    /// Returns the paths to walk: all of them, or a random sample.
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
