//! Arguments of the exports for tools of NVIDIA.

use camino::Utf8PathBuf;
use clap::ValueEnum;
use closc_artefacts::Family;
use closc_exports::air::{IMAGES, NODE};
use closc_platform::Os;
use closc_render::kubernetes::ClaimedGpu;

use super::integrations::image;

/// Arguments of `export l8k`.
#[derive(Debug, clap::Args)]
pub(crate) struct LaunchKitArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Output folder; the file is `topology.json`
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// IP version of the pools, which limits the size [default: that of `addresses.hosts`]
    #[arg(long, value_name = "VERSION")]
    pub ip_version: Option<IpVersion>,
}

/// Arguments of `export air`.
#[derive(Debug, clap::Args)]
pub(crate) struct AirArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Output folder; files are `NAME.air.json` and `names.csv`
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Keep all names and write plain interfaces, which k8s-launch-kit does not read
    #[arg(long)]
    pub plain: bool,
    /// Image of an operating system or of `node`, for example `nvue=cumulus-vx-5.16.1`; repeatable
    #[arg(long, value_name = "NAME=IMAGE", value_parser = parse_image)]
    pub image: Vec<(String, String)>,
    /// Model of the emulated NICs
    #[arg(long, value_name = "MODEL", default_value = "connectx8", value_parser = image, conflicts_with = "plain")]
    pub nic_model: String,
    /// IP version of the pools of k8s-launch-kit [default: that of `addresses.hosts`]
    #[arg(long, value_name = "VERSION", conflicts_with = "plain")]
    pub ip_version: Option<IpVersion>,
}

/// An IP version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IpVersion {
    /// A /31 per port
    Ipv4,
    /// A /64 per port
    Ipv6,
}

impl From<IpVersion> for Family {
    fn from(version: IpVersion) -> Self {
        match version {
            IpVersion::Ipv4 => Family::V4,
            IpVersion::Ipv6 => Family::V6,
        }
    }
}

/// The GPU in the claim of a NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Gpu {
    /// No GPU
    None,
    /// Any GPU of the node
    Any,
    /// A GPU with the PCIe root of the NIC
    PcieRoot,
}

impl From<Gpu> for ClaimedGpu {
    fn from(gpu: Gpu) -> Self {
        match gpu {
            Gpu::None => ClaimedGpu::None,
            Gpu::Any => ClaimedGpu::Any,
            Gpu::PcieRoot => ClaimedGpu::PcieRoot,
        }
    }
}

fn parse_image(text: &str) -> Result<(String, String), String> {
    let names = || Os::ALL.into_iter().map(Os::keyword).chain([NODE]);
    let Some((name, value)) = text.split_once('=').filter(|(name, _)| names().any(|own| own == *name)) else {
        let usual: Vec<String> = IMAGES.iter().map(|(name, image)| format!("{name}={image}")).collect();
        return Err(format!("expected NAME=IMAGE; the defaults are {}", usual.join(", ")));
    };
    Ok((name.to_owned(), image(value)?))
}
