//! Arguments of `init`, `fmt`, `fix` and `platforms`.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use camino::Utf8PathBuf;
use closc_artefacts::Routing;
use closc_platform::{Os, Release};
use closc_qos::units::Speed;

use super::number;

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "On a terminal, `init` asks for values without an option. Without any of these options, it reads\n\
                  answers from a pipe: NICs, speed, rails, platforms and the design, one per line."
)]
pub(crate) struct InitArgs {
    /// Number of NICs [default: 1024, or asked on a terminal]
    #[arg(long, value_name = "N", value_parser = number::nics)]
    pub nics: Option<u32>,
    /// Numbers of planes to try, each 1 to 16
    #[arg(
        long, value_name = "P", value_delimiter = ',', default_value = "1,2,4,8",
        value_parser = clap::value_parser!(u16).range(1..=16)
    )]
    pub planes: Vec<u16>,
    /// Total speed of a NIC [default: 400G, or asked on a terminal]
    #[arg(long, value_name = "SPEED")]
    pub speed: Option<Speed>,
    /// NICs per node
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub nics_per_node: u8,
    /// Rails: T0s over which the NICs of a node are spread [default: 1, or asked on a terminal]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub rails: Option<u8>,
    /// Switch platforms to try, separated by commas [default: all hardware, or asked on a terminal]
    #[arg(long, value_name = "NAMES")]
    pub platform: Option<List>,
    /// Operating system [default: those of the platforms, or sonic, nvue and eos]
    #[arg(long, value_name = "OS", value_parser = parse_os)]
    pub os: Option<Os>,
    /// Routing mode
    #[arg(long, value_name = "ROUTING", default_value = Routing::Srv6Static.keyword(), value_parser = parse_routing)]
    pub routing: Routing,
    /// Switch tiers, 1 to 3 [default: all are tried]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    pub tiers: Option<u8>,
    /// Number of NICs after growth without moving cables
    #[arg(long, value_name = "N", value_parser = number::nics)]
    pub grow_to: Option<u32>,
    /// Name of the fabric
    #[arg(long, value_name = "NAME", default_value = "fabric", value_parser = parse_name)]
    pub name: String,
    /// Output file, or `-` for stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub out: Utf8PathBuf,
    /// Replace an existing output file
    #[arg(long)]
    pub force: bool,
    /// Number of the design to write [default: 1, or asked on a terminal]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    pub pick: Option<u8>,
}

/// Names that are separated by commas. `all` stands for an empty list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct List(pub Vec<String>);

impl FromStr for List {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty() && *name != "all");
        Ok(List(names.map(str::to_owned).collect()))
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("all") } else { f.write_str(&self.0.join(",")) }
    }
}

/// Arguments of `fmt`.
#[derive(Debug, clap::Args)]
pub(crate) struct FmtArgs {
    /// Fabric files, or `-` for stdin to stdout
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<Utf8PathBuf>,
    /// Report files that would change; exit code 2 if any
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `fix`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 no errors remain, 1 errors remain, 2 a file would change (`--check`)")]
pub(crate) struct FixArgs {
    /// Fabric files, or `-` for stdin to stdout
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<Utf8PathBuf>,
    /// Also apply the first suggestion of findings with this code
    #[arg(long, value_name = "CODE")]
    pub code: Vec<String>,
    /// Report edits without writing; exit code 2 if any
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `platforms`.
#[derive(Debug, clap::Args)]
pub(crate) struct PlatformsArgs {
    /// Platform to show in full
    pub name: Option<String>,
    /// Print its catalogue file as a template
    #[arg(long, requires = "name")]
    pub yaml: bool,
    /// Measure a switch over SSH, and print its catalogue file
    #[arg(long, value_name = "[USER@]HOST", conflicts_with = "name")]
    pub measure: Option<String>,
    /// Operating system of the switch to measure [default: sonic]
    #[arg(long, value_name = "OS", value_parser = parse_os, requires = "measure")]
    pub os: Option<Os>,
    /// Print an overlay file that keeps factory settings
    #[arg(long, value_name = "OS", value_parser = parse_os, conflicts_with_all = ["name", "measure"])]
    pub skeleton: Option<Os>,
    /// Release of that operating system
    #[arg(long, requires = "skeleton")]
    pub release: Option<Release>,
    /// OpenSSH client configuration file
    #[arg(long, value_name = "FILE", requires = "measure")]
    pub ssh_config: Option<Utf8PathBuf>,
}

pub(super) fn parse_name(text: &str) -> Result<String, String> {
    let takes = |sign: char| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == '-';
    if text.is_empty() || text.len() > 63 || !text.chars().all(takes) {
        return Err("expected `a`-`z`, `0`-`9` and `-`, at most 63 characters".to_owned());
    }
    Ok(text.to_owned())
}

pub(super) fn parse_os(text: &str) -> Result<Os, String> {
    Os::ALL.into_iter().find(|os| os.keyword() == text).ok_or_else(|| {
        let words: Vec<&str> = Os::ALL.into_iter().map(Os::keyword).collect();
        format!("expected one of {}", words.join(", "))
    })
}

pub(super) fn parse_routing(text: &str) -> Result<Routing, String> {
    let all = [Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered];
    all.into_iter()
        .find(|routing| routing.keyword() == text)
        .ok_or_else(|| format!("expected one of {}", all.map(Routing::keyword).join(", ")))
}
