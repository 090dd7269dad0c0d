//! Arguments of `import`.

use camino::Utf8PathBuf;
use closc_artefacts::Routing;
use closc_platform::Os;

use super::basics::{parse_name, parse_os, parse_routing};

/// Arguments of `import`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  closc import cables/point-to-point-*.csv --out fabric.yaml
  closc import netbox-devices.csv netbox-cables.csv --out fabric.yaml --map names.csv
  closc import lab.clab.yml --nodes 'client*' --out fabric.yaml
  closc import lldp/ --out fabric.yaml          # a folder of `lldpctl -f json0`, named after their devices

Exit codes: 0 all cables match the new file, 1 failure or not a Clos, 2 some cables differ")]
pub(crate) struct ImportArgs {
    /// Cable lists (CSV of closc or NetBox, or columns `a_device,a_port,b_device,b_port`), device lists
    /// (`name,role`), a containerlab topology, or LLDP reports (`DEVICE=FILE` or a folder)
    #[arg(required = true, value_name = "[DEVICE=]FILE|DIR")]
    pub(crate) files: Vec<Utf8PathBuf>,
    /// Output file, or `-` for stdout
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Utf8PathBuf,
    /// CSV output of names that change; required if any name changes
    #[arg(long, value_name = "FILE")]
    pub(crate) map: Option<Utf8PathBuf>,
    /// Replace existing output files
    #[arg(long)]
    pub(crate) force: bool,
    /// Name of the fabric
    #[arg(long, value_name = "NAME", default_value = "imported", value_parser = parse_name)]
    pub(crate) name: String,
    /// Name patterns of nodes, for example `client*`
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub(crate) nodes: Vec<String>,
    /// Switch platform, or per tier `t0=NAME` [default: by port names]
    #[arg(long, value_name = "[TIER=]NAME", value_delimiter = ',')]
    pub(crate) platform: Vec<String>,
    /// Operating system of the switches
    #[arg(long, value_name = "OS", value_parser = parse_os)]
    pub(crate) os: Option<Os>,
    /// Routing mode
    #[arg(long, value_name = "ROUTING", value_parser = parse_routing)]
    pub(crate) routing: Option<Routing>,
}
