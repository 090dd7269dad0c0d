//! Arguments of `import`.

use camino::Utf8PathBuf;
use closc_artefacts::Routing;
use closc_platform::Os;

use super::new::{parse_name, parse_os, parse_routing};

/// Arguments of `import`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  closc import cables/point-to-point-*.csv --out fabric.yaml
  closc import netbox-devices.csv netbox-cables.csv --out fabric.yaml --map names.csv
  closc import lab.clab.yml --nodes 'client*' --out fabric.yaml
  closc import lldp/ --out fabric.yaml          # a folder of `lldpctl -f json0`, named after their devices

Exit codes: 0 every cable is where the file says, 1 it is no Clos, or failed, 2 some cables are elsewhere")]
pub(crate) struct ImportArgs {
    /// Lists of cables (CSV of closc or NetBox, or with the columns `a_device,a_port,b_device,b_port`), lists of devices with
    /// `name,role`, a topology of containerlab, or what devices see (LLDP): `DEVICE=FILE`, or a folder
    #[arg(required = true, value_name = "[DEVICE=]FILE|DIR")]
    pub(crate) files: Vec<Utf8PathBuf>,
    /// File to write, or `-` for standard output; it must not be there
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Utf8PathBuf,
    /// Where to write names of the plant that are others in the file, as CSV; needed where there are some
    #[arg(long, value_name = "FILE")]
    pub(crate) map: Option<Utf8PathBuf>,
    /// Name of the fabric
    #[arg(long, value_name = "NAME", default_value = "imported", value_parser = parse_name)]
    pub(crate) name: String,
    /// Names of nodes, with `*` for any characters, where the cables do not tell them from switches
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub(crate) nodes: Vec<String>,
    /// Platform of the switches, or of those of a tier: `t0=NAME`; found by the names of ports where it is not given
    #[arg(long, value_name = "[TIER=]NAME", value_delimiter = ',')]
    pub(crate) platform: Vec<String>,
    /// Operating system of the switches
    #[arg(long, value_name = "OS", value_parser = parse_os)]
    pub(crate) os: Option<Os>,
    /// How packets find their way; cables do not tell
    #[arg(long, value_name = "ROUTING", value_parser = parse_routing)]
    pub(crate) routing: Option<Routing>,
}
