//! Arguments of `export`: one enum line for each export.

use camino::Utf8PathBuf;
use clap::Subcommand;
use closc_cabling::list::LabelPattern;
use closc_provision::ztp::Address;
use closc_qos::units::Bytes;
use closc_tables::Table;
use closc_topology::HostOutput;

pub(crate) mod outside;

use outside::{ContainerlabArgs, ResourcesArgs, SchedulerArgs, SimulationArgs, TelemetryArgs};

use super::number;

/// What can be exported.
#[derive(Debug, Subcommand)]
pub enum ExportCommand {
    /// Write the files of single nodes: NIC classes, netplan, systemd-networkd, NCCL, settings of agents
    Host(HostArgs),
    /// Write a Mininet script of P4 switches, BMv2 or embedded ones
    Mininet(MininetArgs),
    /// Write Kubernetes objects that hand the NICs of all nodes to pods
    Kubernetes(KubernetesArgs),
    /// Write the cables for who plugs, buys and documents them: list with labels, bill, NetBox, PTM
    Cables(CablesArgs),
    /// Write a page for a browser: drawing, devices, search, paths and failures, in one file that loads nothing; `--format markdown` for a wiki
    Report(ReportArgs),
    /// Draw a fabric, a plane, or a switch with its neighbours: SVG, or DOT for Graphviz
    Drawing(DrawingArgs),
    /// Write tables of devices, links, ports, addresses, uSIDs, routes and paths: `--format csv`, `jsonl` or `parquet`
    Tables(TablesArgs),
    /// Write explicit entropy value profiles, probes and denied ports for the controllers of MRC NICs
    Mrc(MrcArgs),
    /// Write what SONiC switches out of the box fetch (`ztp.json`), and the DHCP options that lead them there
    Ztp(ZtpArgs),
    /// Write an Ansible inventory of all switches, and a play that brings each its configuration
    Ansible(AnsibleArgs),
    /// Place the ranks of a job so that little crosses zones, and write Slurm's tree, a hostfile and a rankfile
    Ranks(RanksArgs),
    /// Write where nodes stand for schedulers: Slurm's trees and blocks, Kueue, node labels, topograph
    Scheduler(SchedulerArgs),
    /// Write the fabric and flows for a simulator: infragraph, ASTRA-sim, htsim, ns-3
    Simulation(SimulationArgs),
    /// Write a containerlab topology, with the configuration of each device bound in
    Containerlab(ContainerlabArgs),
    /// Write all that there is as resources with addresses, in the form of a Terraform state: fabric, switches, nodes, NICs, cables
    Resources(ResourcesArgs),
    /// Write what reads the counters of switches and nodes: targets for Prometheus, gNMI subscriptions for gNMIc, sFlow
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
    /// Folder to write `hosts/NODE/` into
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Write only these kinds
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = parse_output)]
    pub only: Vec<HostOutput>,
}

/// Arguments of `export mininet`.
#[derive(Debug, clap::Args)]
pub struct MininetArgs {
    /// Fabric file or compiled tree
    pub source: Utf8PathBuf,
    /// Script to write
    #[arg(long, short, value_name = "FILE")]
    pub out: Utf8PathBuf,
    /// Program of each switch where the script names no other; `closc` is the embedded switch
    #[arg(long, value_name = "PROGRAM", default_value = "simple_switch_grpc")]
    pub switch: String,
}

/// Arguments of `export kubernetes`.
#[derive(Debug, clap::Args)]
pub struct KubernetesArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Folder to write `kubernetes/` into
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Namespace of the network operator
    #[arg(long, value_name = "NAME", default_value = "nvidia-network-operator")]
    pub operator_namespace: String,
    /// Namespace of the pods
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub namespace: String,
    /// Image with `closc-nic` and `ip` (iproute2) in it: a DaemonSet is written that runs the agent of each NIC
    #[arg(long, value_name = "IMAGE", value_parser = outside::image)]
    pub agent_image: Option<String>,
    /// Release of the NVIDIA network operator, for the versions of its parts, for example `v26.7.0`
    #[arg(long, value_name = "VERSION")]
    pub release: Option<String>,
}

/// Arguments of `export cables`.
#[derive(Debug, clap::Args)]
pub(crate) struct CablesArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Folder to write `cables/` into
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// What is on the label at each end; words: {cable}, {plane}, {device}, {port}, {cage}, {rack}, {unit}, and {far_device}, {far_port}, ...
    #[arg(long, value_name = "PATTERN", default_value = LabelPattern::DEFAULT)]
    pub label: LabelPattern,
    /// Only these planes; planes count from 0
    #[arg(long, value_name = "P", value_delimiter = ',')]
    pub plane: Vec<u8>,
}

/// Arguments of `export report`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// File to write; `-` for standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Utf8PathBuf,
    /// Show what changed since this fabric file, or `git:REV:PATH`
    #[arg(long, value_name = "OLD", conflicts_with = "changes")]
    pub since: Option<String>,
    /// Show a saved difference (`closc diff OLD FILE --out changes.json`)
    #[arg(long, value_name = "FILE")]
    pub changes: Option<Utf8PathBuf>,
}

/// Arguments of `export drawing`.
#[derive(Debug, clap::Args)]
pub(crate) struct DrawingArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// What to draw: `plane 3`, or a switch, for example `p3-t0-017`; the fabric if not given
    pub name: Option<String>,
    /// Drawing to write, DOT where its name ends in `.dot` or `.gv`; `-` for SVG on standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Utf8PathBuf,
}

/// Arguments of `export tables`.
#[derive(Debug, clap::Args)]
pub(crate) struct TablesArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Folder to write the tables into
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Only these: devices, links, ports, addresses, sids, routes, paths; all if not given, `paths` where there are pairs
    #[arg(long, value_name = "TABLE", value_delimiter = ',', value_parser = parse_table)]
    pub only: Vec<Table>,
    /// Only rows of these planes, and of none; planes count from 0
    #[arg(long, value_name = "P", value_delimiter = ',')]
    pub plane: Vec<u8>,
    /// Two NICs whose paths are written, as `FROM,TO`; a node means its first NIC, or that of the sender's rail; may be
    /// given several times
    #[arg(long, value_name = "FROM,TO", value_parser = parse_pair)]
    pub pair: Vec<(String, String)>,
}

/// Arguments of `export mrc`.
#[derive(Debug, clap::Args)]
pub struct MrcArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Nodes whose NICs send, for example `su001-n001`
    #[arg(required = true, value_name = "NODE")]
    pub nodes: Vec<String>,
    /// NICs that they send to, a profile each; of a node the NIC of the sender's rail
    #[arg(long, required = true, value_name = "NIC|NODE", value_delimiter = ',')]
    pub to: Vec<String>,
    /// Folder to write `mrc/NODE/nicN.json` into
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Values that the device takes in a profile (`ev_max_count_profile`)
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub max_values: Option<u32>,
    /// Number of which the count of values is a multiple (`ev_count_align`)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::from_1())]
    pub align: u32,
    /// Values that the device takes in all profiles together (`ev_max_count`)
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub max_all_values: Option<u32>,
    /// Profiles that the device takes (`ev_max_profiles`)
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub max_profiles: Option<u32>,
}

/// Arguments of `export ztp`.
#[derive(Debug, clap::Args)]
pub(crate) struct ZtpArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Folder to write `ztp/` into
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Where `ztp/` is served, for example `http://192.0.2.80/ztp`
    #[arg(long, value_name = "URL")]
    pub url: Address,
    /// CSV of the hardware: columns `name`, `serial`, `mac` (of the management port), `product`
    #[arg(long, value_name = "FILE")]
    pub serials: Option<Utf8PathBuf>,
    /// Folder with what the site adds to the configuration, as for `push`
    #[arg(long, value_name = "DIR")]
    pub overlay: Option<Utf8PathBuf>,
}

/// Arguments of `export ansible`.
#[derive(Debug, clap::Args)]
pub(crate) struct AnsibleArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Folder to write `ansible/` into
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Folder with what the site adds: JSON for SONiC, as for `push`, and YAML for Cumulus Linux
    #[arg(long, value_name = "DIR")]
    pub overlay: Option<Utf8PathBuf>,
}

/// Arguments of `export ranks`.
#[derive(Debug, clap::Args)]
pub struct RanksArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Folder to write `ranks/` into
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Ranks of a tensor-parallel group
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::from_1())]
    pub tp: u32,
    /// Ranks of a data-parallel group
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub dp: u32,
    /// Pipeline stages
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number::from_1())]
    pub pp: u32,
    /// GPUs of a node; as many as NICs if not given
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub gpus_per_node: Option<u32>,
    /// Names of the nodes that are free, one a line; all if not given
    #[arg(long, value_name = "FILE")]
    pub free: Option<Utf8PathBuf>,
    /// What a rank sends to the next of its tensor-parallel group in a step; 0 if nothing
    #[arg(long, value_name = "BYTES", default_value = "8GB")]
    pub tp_bytes: Bytes,
    /// What a rank sends to the next of its data-parallel group in a step; 0 if nothing
    #[arg(long, value_name = "BYTES", default_value = "2GB")]
    pub dp_bytes: Bytes,
    /// What a rank exchanges with the next stage in a step; 0 if nothing
    #[arg(long, value_name = "BYTES", default_value = "500MB")]
    pub pp_bytes: Bytes,
}

fn parse_table(text: &str) -> Result<Table, String> {
    Table::ALL.into_iter().find(|table| table.name() == text).ok_or_else(|| {
        let names: Vec<&str> = Table::ALL.into_iter().map(Table::name).collect();
        format!("there are {}", names.join(", "))
    })
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once(',') {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => Ok((from.to_owned(), to.to_owned())),
        Some(_) | None => Err("a pair is `FROM,TO`".to_owned()),
    }
}

fn parse_output(text: &str) -> Result<HostOutput, String> {
    HostOutput::ALL.into_iter().find(|output| output.word() == text).ok_or_else(|| {
        let words: Vec<&str> = HostOutput::ALL.into_iter().map(HostOutput::word).collect();
        format!("there are {}", words.join(", "))
    })
}
