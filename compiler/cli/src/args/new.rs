//! Arguments of the commands that somebody starts with: `init`, `fmt` and `platforms`.

use camino::Utf8PathBuf;
use closc_artefacts::Routing;
use closc_platform::Os;
use closc_qos::units::Speed;

use super::number;

/// Arguments of `init`.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// NICs of the fabric; asked for on a terminal, else 1,024
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub nics: Option<u32>,
    /// Planes, 1 to 16: every NIC has a port in each; asked for on a terminal, else 4
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u16).range(1..=16))]
    pub planes: Option<u16>,
    /// Speed of a NIC, all its ports together; asked for on a terminal, else 400G
    #[arg(long, value_name = "SPEED")]
    pub speed: Option<Speed>,
    /// NICs of a node
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub nics_per_node: u8,
    /// Platform of all switches; the one of the catalogue that takes the fewest ports if not given
    #[arg(long, value_name = "NAME")]
    pub platform: Option<String>,
    /// Operating system of all switches; SONiC, or the first that the platform has, if not given
    #[arg(long, value_name = "OS", value_parser = parse_os)]
    pub os: Option<Os>,
    /// How packets find their way
    #[arg(long, value_name = "ROUTING", default_value = Routing::Srv6Static.word(), value_parser = parse_routing)]
    pub routing: Routing,
    /// Tiers of switches, 2 or 3; two where they are enough if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=3))]
    pub tiers: Option<u8>,
    /// Name of the fabric
    #[arg(long, value_name = "NAME", default_value = "fabric", value_parser = parse_name)]
    pub name: String,
    /// File to write, where there is none yet; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub out: Utf8PathBuf,
}

/// Arguments of `fmt`.
#[derive(Debug, clap::Args)]
pub(crate) struct FmtArgs {
    /// Fabric files, or `-` for standard input to standard output
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<Utf8PathBuf>,
    /// Write nothing; say which files would change, and end with 2 if there are any
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `fix`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 no error is left, 1 there are errors, 2 with `--check`: something would change"
)]
pub(crate) struct FixArgs {
    /// Fabric files, or `-` for standard input to standard output
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<Utf8PathBuf>,
    /// Also follow the first help of findings of this code, where something else may have been meant
    #[arg(long, value_name = "CODE")]
    pub code: Vec<String>,
    /// Write nothing; say what would change, and end with 2 if there is anything
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `platforms`.
#[derive(Debug, clap::Args)]
pub(crate) struct PlatformsArgs {
    /// One platform, in full
    pub name: Option<String>,
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
