//! Arguments of the first commands of a user: `init`, `fmt` and `platforms`.

use camino::Utf8PathBuf;
use closc_artefacts::Routing;
use closc_platform::Os;
use closc_qos::units::Speed;

use super::number;

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Number of NICs [default: 1024, or asked on a terminal]
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub nics: Option<u32>,
    /// Planes, 1 to 16 [default: 4, or asked on a terminal]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u16).range(1..=16))]
    pub planes: Option<u16>,
    /// Total speed of a NIC [default: 400G, or asked on a terminal]
    #[arg(long, value_name = "SPEED")]
    pub speed: Option<Speed>,
    /// NICs per node
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub nics_per_node: u8,
    /// Switch platform [default: smallest that fits]
    #[arg(long, value_name = "NAME")]
    pub platform: Option<String>,
    /// Operating system [default: sonic, or the first of the platform]
    #[arg(long, value_name = "OS", value_parser = parse_os)]
    pub os: Option<Os>,
    /// Routing mode
    #[arg(long, value_name = "ROUTING", default_value = Routing::Srv6Static.word(), value_parser = parse_routing)]
    pub routing: Routing,
    /// Switch tiers, 2 or 3 [default: 2 if sufficient]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=3))]
    pub tiers: Option<u8>,
    /// Name of the fabric
    #[arg(long, value_name = "NAME", default_value = "fabric", value_parser = parse_name)]
    pub name: String,
    /// Output file, or `-` for stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub out: Utf8PathBuf,
    /// Replace an existing output file
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `fmt`.
#[derive(Debug, clap::Args)]
pub(crate) struct FmtArgs {
    /// Fabric files, or `-` for stdin to stdout
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<Utf8PathBuf>,
    /// Report files that would change, and exit with 2 if there are any
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
    /// Report edits without writing, and exit with 2 if there are any
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `platforms`.
#[derive(Debug, clap::Args)]
pub(crate) struct PlatformsArgs {
    /// Platform to show in full
    pub name: Option<String>,
    /// Print its file, to copy and change
    #[arg(long, requires = "name")]
    pub yaml: bool,
}

pub(super) fn parse_name(text: &str) -> Result<String, String> {
    let takes = |sign: char| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == '-';
    if text.is_empty() || text.len() > 63 || !text.chars().all(takes) {
        return Err("a fabric is named by `a`-`z`, `0`-`9` and `-`, at most 63 characters".to_owned());
    }
    Ok(text.to_owned())
}

pub(super) fn parse_os(text: &str) -> Result<Os, String> {
    Os::ALL.into_iter().find(|os| os.word() == text).ok_or_else(|| {
        let words: Vec<&str> = Os::ALL.into_iter().map(Os::word).collect();
        format!("there are {}", words.join(", "))
    })
}

pub(super) fn parse_routing(text: &str) -> Result<Routing, String> {
    let all = [Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered];
    all.into_iter()
        .find(|routing| routing.word() == text)
        .ok_or_else(|| format!("there are {}", all.map(Routing::word).join(", ")))
}
