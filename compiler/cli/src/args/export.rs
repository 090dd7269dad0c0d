//! Arguments of `export`, with one variant for each export.

use camino::Utf8PathBuf;
use clap::Subcommand;
use closc_cabling::list::LabelPattern;
use closc_provision::ztp::Address;
use closc_qos::units::Bytes;
use closc_tables::Table;
use closc_topology::HostOutput;

pub(crate) mod integrations;
pub(crate) mod nvidia;

use integrations::{
    ContainerlabArgs, ResourcesArgs, SchedulerArgs, SimulationArgs, SonicMgmtArgs, TelemetryArgs,
};
use nvidia::{AirArgs, LaunchKitArgs};

use super::number;
use super::place::TrayArgs;

/// Kinds of exports.
#[derive(Debug, Subcommand)]
pub enum ExportCommand {
    /// Write NIC, netplan, networkd, NCCL and agent files of nodes
    Host(HostArgs),
    /// Write a Mininet script with P4 switches
    Mininet(MininetArgs),
    /// Write Kubernetes objects that give pods access to NICs
    Kubernetes(KubernetesArgs),
    /// Write cable lists, labels, bill of materials, NetBox, PTM
    Cables(CablesArgs),
    /// Write the order: switches, modules, cables, power by rack
    Order(OrderArgs),
    /// Write a self-contained HTML report, or Markdown for a wiki
    Report(ReportArgs),
    /// Draw a fabric, plane or switch as SVG or DOT
    Drawing(DrawingArgs),
    /// Write data tables as CSV, JSON lines or Parquet
    Tables(TablesArgs),
    /// Write entropy value profiles for MRC NIC controllers
    Mrc(MrcArgs),
    /// Write zero-touch provisioning files for SONiC
    Ztp(ZtpArgs),
    /// Write an Ansible inventory and playbook
    Ansible(AnsibleArgs),
    /// Place the ranks of a job close together (Slurm, MPI)
    Ranks(RanksArgs),
    /// Write topology files for schedulers (Slurm, Kueue, topograph)
    Scheduler(SchedulerArgs),
    /// Write inputs for simulators (infragraph, ASTRA-sim, htsim, ns-3)
    Simulation(SimulationArgs),
    /// Write a containerlab topology with all configurations
    Containerlab(ContainerlabArgs),
    /// Write a testbed for sonic-mgmt, the tests of the SONiC project
    SonicMgmt(SonicMgmtArgs),
    /// Write the topology file of NVIDIA k8s-launch-kit
    L8k(LaunchKitArgs),
    /// Write a simulation for NVIDIA Air
    Air(AirArgs),
    /// Write all resources in the form of a Terraform state
    Resources(ResourcesArgs),
    /// Write monitoring targets (Prometheus, gNMIc, sFlow)
    Telemetry(TelemetryArgs),
}

/// Arguments of `export host`.
#[derive(Debug, clap::Args)]
pub struct HostArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Nodes, for example `su001-n001`
    #[arg(required = true, value_name = "NODE")]
    pub nodes: Vec<String>,
    /// Output folder; files go to `hosts/NODE/`
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Only these kinds of files
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = parse_output)]
    pub only: Vec<HostOutput>,
}

/// Arguments of `export mininet`.
#[derive(Debug, clap::Args)]
pub struct MininetArgs {
    /// Fabric file or compiled tree
    pub source: Utf8PathBuf,
    /// Output script
    #[arg(long, short, value_name = "FILE")]
    pub out: Utf8PathBuf,
    /// Default switch program; `closc` is the embedded switch
    #[arg(long, value_name = "PROGRAM", default_value = "simple_switch_grpc")]
    pub switch: String,
}

/// Arguments of `export kubernetes`.
#[derive(Debug, clap::Args)]
pub struct KubernetesArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Output folder; files go to `kubernetes/`
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Namespace of the network operator
    #[arg(long, value_name = "NAME", default_value = "nvidia-network-operator", value_parser = integrations::namespace)]
    pub operator_namespace: String,
    /// Namespace of the pods
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = integrations::namespace)]
    pub namespace: String,
    /// Container image with `closc-nic` and iproute2; adds a DaemonSet for the agents
    #[arg(long, value_name = "IMAGE", value_parser = integrations::image)]
    pub agent_image: Option<String>,
    /// Release of the NVIDIA network operator, for example `v26.7.0`
    #[arg(long, value_name = "VERSION", value_parser = integrations::operator_release)]
    pub release: Option<String>,
    /// Dynamic resource allocation: adds claims for `spectrum-x/`, with this GPU for each NIC
    #[arg(long, value_name = "GPU")]
    pub dra: Option<nvidia::Gpu>,
}

/// Arguments of `export cables`.
#[derive(Debug, clap::Args)]
pub(crate) struct CablesArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Output folder; files go to `cables/`
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Label pattern with fields such as {cable}, {device} and {port}
    #[arg(long, value_name = "PATTERN", default_value = LabelPattern::DEFAULT)]
    pub label: LabelPattern,
    /// Only these planes; the first is 0
    #[arg(long, value_name = "P", value_delimiter = ',', value_parser = number::plane)]
    pub plane: Vec<u8>,
}

/// Arguments of `export report`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Output file, or `-` for stdout
    #[arg(long, short, value_name = "FILE")]
    pub out: Utf8PathBuf,
    /// Show changes since this fabric file or `git:REV:PATH`
    #[arg(long, value_name = "OLD", conflicts_with = "changes")]
    pub since: Option<String>,
    /// Show a difference saved by `diff --out`
    #[arg(long, value_name = "FILE")]
    pub changes: Option<Utf8PathBuf>,
}

/// Arguments of `export drawing`.
#[derive(Debug, clap::Args)]
pub(crate) struct DrawingArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// `plane 3`, or a switch such as `p3-t0-017` [default: the fabric]
    pub name: Option<String>,
    /// Output file, DOT if it ends in `.dot` or `.gv`, or `-` for SVG on stdout
    #[arg(long, short, value_name = "FILE")]
    pub out: Utf8PathBuf,
}

/// Arguments of `export order`.
#[derive(Debug, clap::Args)]
pub(crate) struct OrderArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Floor plan from `place --placed`, which gives cable lengths
    #[arg(long, value_name = "FILE")]
    pub floor: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub trays: TrayArgs,
    /// Output folder
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
}

/// Arguments of `export tables`.
#[derive(Debug, clap::Args)]
pub(crate) struct TablesArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Output folder
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Only these tables [default: all; `paths` needs `--pair`]
    #[arg(long, value_name = "TABLE", value_delimiter = ',', value_parser = parse_table)]
    pub only: Vec<Table>,
    /// Only rows of these planes and rows without a plane; the first is 0
    #[arg(long, value_name = "P", value_delimiter = ',', value_parser = number::plane)]
    pub plane: Vec<u8>,
    /// NIC pair `FROM,TO` whose paths to write; repeatable
    #[arg(long, value_name = "FROM,TO", value_parser = parse_pair)]
    pub pair: Vec<(String, String)>,
}

/// Arguments of `export mrc`.
#[derive(Debug, clap::Args)]
pub struct MrcArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Sending nodes, for example `su001-n001`
    #[arg(required = true, value_name = "NODE")]
    pub nodes: Vec<String>,
    /// Receiving NICs, one profile each; a node means its NIC on the sender's rail
    #[arg(long, required = true, value_name = "NIC|NODE", value_delimiter = ',')]
    pub to: Vec<String>,
    /// Output folder; files go to `mrc/NODE/nicN.json`
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Maximum values per profile (`ev_max_count_profile`)
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub max_values: Option<u32>,
    /// Alignment of the value count (`ev_count_align`)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::from_1())]
    pub align: u32,
    /// Maximum values of all profiles (`ev_max_count`)
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub max_all_values: Option<u32>,
    /// Maximum number of profiles (`ev_max_profiles`)
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub max_profiles: Option<u32>,
}

/// Arguments of `export ztp`.
#[derive(Debug, clap::Args)]
pub(crate) struct ZtpArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Output folder; files go to `ztp/`
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// URL of the served `ztp/` folder, for example `http://192.0.2.80/ztp`
    #[arg(long, value_name = "URL")]
    pub url: Address,
    /// Hardware CSV: `name`, `serial`, `mac` (management port), `product`
    #[arg(long, value_name = "FILE")]
    pub serials: Option<Utf8PathBuf>,
    /// Folder with site additions, as for `push`
    #[arg(long, value_name = "DIR")]
    pub overlay: Option<Utf8PathBuf>,
}

/// Arguments of `export ansible`.
#[derive(Debug, clap::Args)]
pub(crate) struct AnsibleArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Output folder; files go to `ansible/`
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Folder with site additions: SONiC JSON, NVUE YAML, EOS conf
    #[arg(long, value_name = "DIR")]
    pub overlay: Option<Utf8PathBuf>,
}

/// Arguments of `export ranks`.
#[derive(Debug, clap::Args)]
pub struct RanksArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Output folder; files go to `ranks/`
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Ranks per tensor-parallel group
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::from_1())]
    pub tp: u32,
    /// Ranks per data-parallel group
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub dp: u32,
    /// Pipeline stages
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::from_1())]
    pub pp: u32,
    /// GPUs per node [default: one per NIC or adapter]
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub gpus_per_node: Option<u32>,
    /// File with free nodes, one per line [default: all nodes]
    #[arg(long, value_name = "FILE")]
    pub free: Option<Utf8PathBuf>,
    /// Bytes per step to the next tensor-parallel rank; 0 for none
    #[arg(long, value_name = "BYTES", default_value = "8GB")]
    pub tp_bytes: Bytes,
    /// Bytes per step to the next data-parallel rank; 0 for none
    #[arg(long, value_name = "BYTES", default_value = "2GB")]
    pub dp_bytes: Bytes,
    /// Bytes per step exchanged with the next pipeline stage; 0 for none
    #[arg(long, value_name = "BYTES", default_value = "500MB")]
    pub pp_bytes: Bytes,
}

fn parse_table(text: &str) -> Result<Table, String> {
    Table::ALL.into_iter().find(|table| table.name() == text).ok_or_else(|| {
        let names: Vec<&str> = Table::ALL.into_iter().map(Table::name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once(',') {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => Ok((from.to_owned(), to.to_owned())),
        Some(_) | None => Err("expected `FROM,TO`".to_owned()),
    }
}

fn parse_output(text: &str) -> Result<HostOutput, String> {
    HostOutput::ALL.into_iter().find(|output| output.keyword() == text).ok_or_else(|| {
        let words: Vec<&str> = HostOutput::ALL.into_iter().map(HostOutput::keyword).collect();
        format!("expected one of {}", words.join(", "))
    })
}
