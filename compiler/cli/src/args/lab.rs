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
    /// Cut a cable, send probes, or flows where switches choose the path, and say which cable is cut
    Cut {
        /// Lab
        #[command(flatten)]
        lab: LabArgs,
        /// Cable
        cable: String,
        /// Take both ports down, too, which switches of the kernel notice; otherwise both stay up and nothing arrives
        #[arg(long)]
        down: bool,
        /// Leave the cable cut
        #[arg(long)]
        keep: bool,
    },
    /// Run a job on the lab while a scenario breaks and mends it; exit 1 if it is not as the scenario expects
    Job(JobArgs),
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

/// Arguments of `lab job`.
#[derive(Debug, clap::Args)]
pub struct JobArgs {
    /// Lab
    #[command(flatten)]
    pub lab: LabArgs,
    /// Scenario: what breaks when, and what is expected (docs/labs.md)
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<Utf8PathBuf>,
    /// How paths are chosen: spray over all that are good, flow (one by a hash, as ECMP does), static (the first)
    #[arg(long, value_name = "TRANSPORT", default_value = "spray")]
    pub transport: Transport,
    /// Run the same with another transport, and show it beside; expectations are of the first alone
    #[arg(long, value_name = "TRANSPORT")]
    pub beside: Option<Transport>,
    /// Who sends to whom: permutation, all-to-all, ring, incast, bisection
    #[arg(long, value_name = "PATTERN", default_value = "permutation")]
    pub pattern: Pattern,
    /// Bytes of a message
    #[arg(long, default_value_t = 32 << 10, value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub bytes: u64,
    /// Bytes of a packet
    #[arg(long, default_value_t = 1400, value_parser = clap::value_parser!(u32).range(64..=8192))]
    pub unit: u32,
    /// Messages of a NIC under way
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=24))]
    pub outstanding: u16,
    /// Messages of each NIC; without it they are sent for as long as the scenario lasts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub messages: Option<u64>,
    /// Seconds to send for, without a scenario
    #[arg(long, default_value_t = 5, conflicts_with = "scenario", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub seconds: u64,
    /// What carries it: `linux`, the kernel and its clock; `embedded`, P4 switches in this process and virtual time. What fits
    /// the tree if not given
    #[arg(long, value_enum)]
    pub target: Option<JobTarget>,
    /// Line rate of every NIC port in Mb/s: low enough that processors are not what is measured; 1 on `linux` if not given. On
    /// `embedded` every port of every switch has it, and it is 100 if not given
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub port_mbps: Option<u32>,
    /// Send in bursts: each NIC sends as many messages as it may have under way once in so many milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    pub every: Option<u64>,
    /// In virtual time: now and then an agent gets no processor, for so many milliseconds at most, as on a machine that others
    /// use too
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub stall: Option<u64>,
    /// Seed of a permutation; in virtual time of all chance
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Seconds without an arrival after which messages under way are lost
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub patience: u64,
    /// Draw goodput over time
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<Utf8PathBuf>,
    /// The program `closc-nic`; the one beside this program if not given
    #[arg(long, value_name = "PROGRAM")]
    pub nic_binary: Option<Utf8PathBuf>,
    /// Leave the lab up that this brought up
    #[arg(long)]
    pub keep: bool,
}

/// What carries a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum JobTarget {
    /// Embedded P4 switches in this process, and a clock that is moved; needs no privilege
    Embedded,
    /// The kernel's own SRv6 in network namespaces; needs root
    Linux,
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
    #[arg(long, value_name = "N", value_parser = number::paths())]
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
