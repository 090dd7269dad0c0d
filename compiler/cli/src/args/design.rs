//! Arguments of `design`.

use std::ops::RangeInclusive;
use std::str::FromStr;

use camino::Utf8PathBuf;
use clap::ValueEnum;
use closc_artefacts::Routing;
use closc_design::{LossShare, Ratio};
use closc_platform::Os;
use closc_qos::units::{Length, Speed};

use super::{basics, number};

/// Operating systems of hardware switches.
const HARDWARE: &str = "sonic,nvue,eos";

/// Returns the operating systems of hardware switches.
pub(crate) fn oses() -> impl Iterator<Item = Os> {
    HARDWARE.split(',').filter_map(|word| basics::parse_os(word).ok())
}

/// Options of the search for designs, which conflict with `--compare`.
const OF_NEEDS: [&str; 20] = [
    "nics",
    "speed",
    "nics_per_node",
    "rails",
    "planes",
    "planes_by_nic",
    "tiers",
    "routing",
    "os",
    "platform",
    "vendor",
    "oversubscription",
    "fail",
    "nic_cable",
    "grow_to",
    "stages",
    "objective",
    "show",
    "name",
    "out",
];

/// Arguments of `design`.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("size").args(["nics", "stages", "compare"]).required(true).multiple(true),
    after_help = "Prints the designs that no other design beats in every number. The first is the best by \
                  `--objective`.\nThe best by each other objective follow, then the rest by `--objective`.\n\
                  Designs that exceed an assumed limit are last.\n\
                  Each was checked: its file has no finding but known faults of a release (W0203), which the list \
                  prints.\n`--pick N --out FILE` writes one."
)]
pub(crate) struct DesignArgs {
    /// Number of NICs
    #[arg(long, value_name = "N", value_parser = number::nics, conflicts_with = "stages")]
    pub nics: Option<u32>,
    /// Total speed of a NIC
    #[arg(long, value_name = "SPEED", default_value = "400G")]
    pub speed: Speed,
    /// NICs per node
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub nics_per_node: u8,
    /// Rails: T0s over which the NICs of a node are spread
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub rails: u8,
    /// Numbers of planes to try, each 1 to 16: `2`, `1..4`
    #[arg(long, value_name = "P", value_delimiter = ',', default_value = "1,2,4,8", value_parser = number::range(16))]
    pub planes: Vec<RangeInclusive<u8>>,
    /// Numbers of planes by NIC to try: NIC k of a node in plane k
    #[arg(
        long, value_name = "P", value_delimiter = ',', default_value = "1", value_parser = number::range(16)
    )]
    pub planes_by_nic: Vec<RangeInclusive<u8>>,
    /// Numbers of switch tiers to try, each 1 to 3: `2`, `1..3`
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1..3", value_parser = number::range(3))]
    pub tiers: Vec<RangeInclusive<u8>>,
    /// Routing modes to try, or `any`
    #[arg(
        long, value_name = "ROUTING", value_delimiter = ',', default_value = "any", value_parser = RoutingChoice::from_str
    )]
    pub routing: Vec<RoutingChoice>,
    /// Operating systems to try
    #[arg(long, value_name = "OS", value_delimiter = ',', default_value = HARDWARE, value_parser = basics::parse_os)]
    pub os: Vec<Os>,
    /// Platforms to try [default: all hardware with a known buffer size]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub platform: Vec<String>,
    /// Vendors of the hardware to try: `nvidia`, `arista` [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "platform")]
    pub vendor: Vec<String>,
    /// Maximum oversubscription at a T0, downlinks to uplinks
    #[arg(long, value_name = "RATIO", default_value = "1:1")]
    pub oversubscription: Ratio,
    /// Maximum bandwidth that a NIC loses in a failure: `t0<=12.5%`, `t1<=10%`
    #[arg(long, value_name = "LIMIT", value_delimiter = ',')]
    pub fail: Vec<FailLimit>,
    /// Length of the longest cable to a NIC, which decides between copper and fibre
    #[arg(long, value_name = "LENGTH", default_value = "2m")]
    pub nic_cable: Length,
    /// Number of NICs after growth without moving cables
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub grow_to: Option<u32>,
    /// Numbers of NICs, stage by stage, with the fewest moved cables
    #[arg(
        long, value_name = "N", value_delimiter = ',', value_parser = number::from_1(),
        conflicts_with = "grow_to"
    )]
    pub stages: Vec<u32>,
    /// Explain why this fabric file is not among the designs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["compare", "out"])]
    pub explain: Option<Utf8PathBuf>,
    /// Compare two fabric files number by number
    #[arg(long, value_name = "FILE", num_args = 2, conflicts_with_all = OF_NEEDS)]
    pub compare: Vec<Utf8PathBuf>,
    /// CSV file with prices: `item,price`
    #[arg(long, value_name = "FILE")]
    pub prices: Option<Utf8PathBuf>,
    /// Sort designs by this objective, best first
    #[arg(long, value_enum, default_value_t = Objective::Balanced)]
    pub objective: Objective,
    /// Maximum number of designs printed, 1 to 255
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u8).range(1..))]
    pub show: u8,
    /// Number of the design to write with `--out`
    #[arg(
        long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..),
        requires = "out"
    )]
    pub pick: u8,
    /// Number of the stage to write with `--out`
    #[arg(
        long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=32),
        requires = "out"
    )]
    pub stage: u8,
    /// Name of the fabric
    #[arg(long, value_name = "NAME", default_value = "fabric", value_parser = basics::parse_name)]
    pub name: String,
    /// Write the fabric file of the design, or `-` for stdout
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<Utf8PathBuf>,
    /// Replace an existing output file
    #[arg(long, requires = "out")]
    pub force: bool,
}

impl DesignArgs {
    /// Returns whether a list of designs is printed. The list has additional output formats.
    pub(crate) fn has_list(&self) -> bool {
        self.compare.is_empty() && self.explain.is_none()
    }
}

/// A routing mode to try, or every one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoutingChoice {
    Any,
    One(Routing),
}

impl FromStr for RoutingChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "any" {
            return Ok(Self::Any);
        }
        basics::parse_routing(text).map(Self::One).map_err(|expected| format!("{expected}, any"))
    }
}

/// Order of designs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Objective {
    /// Number of switches, among designs with at most 10 % more bandwidth of switch ports than the least
    Balanced,
    /// Sum of the prices of `--prices`
    Cost,
    /// Number of switches
    Switches,
    /// Bandwidth of all switch ports
    Capacity,
    /// Cables between switches
    Cables,
    /// Loss when a switch fails
    Resilience,
    /// Typical power, by published figures
    Power,
}

impl Objective {
    /// Returns the objective of the search.
    pub fn of(self) -> closc_design::Objective {
        match self {
            Objective::Balanced => closc_design::Objective::Balanced,
            Objective::Cost => closc_design::Objective::Cost,
            Objective::Switches => closc_design::Objective::Switches,
            Objective::Capacity => closc_design::Objective::Capacity,
            Objective::Cables => closc_design::Objective::Cables,
            Objective::Resilience => closc_design::Objective::Resilience,
            Objective::Power => closc_design::Objective::Power,
        }
    }
}

/// Maximum loss when one switch of a tier fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailLimit {
    /// Loss for a T0.
    T0(LossShare),
    /// Loss for a T1.
    T1(LossShare),
}

impl FromStr for FailLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a limit; write `t0<=50%` or `t1<=12.5%`, with a percentage above 0 and at most 100, and at \
                 most four decimals"
            )
        };
        let (tier, most) = text.split_once("<=").ok_or_else(wrong)?;
        let share =
            most.trim().strip_suffix('%').and_then(|most| parse_percent(most.trim())).ok_or_else(wrong)?;
        match tier.trim() {
            "t0" => Ok(FailLimit::T0(share)),
            "t1" => Ok(FailLimit::T1(share)),
            "t2" => Err(format!(
                "`{text}` is not a limit: only T0s and T1s have limits; write `t0<=50%` or `t1<=10%`, and read the loss with \
                 a T2 in the list of designs"
            )),
            _ => Err(wrong()),
        }
    }
}

/// Parses a percentage with at most four decimals.
fn parse_percent(text: &str) -> Option<LossShare> {
    const DECIMALS: usize = 4;
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |digits: &str, most: usize| {
        !digits.is_empty() && digits.len() <= most && digits.bytes().all(|digit| digit.is_ascii_digit())
    };
    if !is_number(whole, 3) || !is_number(decimals, DECIMALS) {
        return None;
    }
    let millionths: u32 = format!("{whole}{decimals:0<DECIMALS$}").parse().ok()?;
    LossShare::from_millionths(millionths)
}
