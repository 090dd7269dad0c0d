//! Arguments of `te`.

use camino::Utf8PathBuf;

/// Arguments of `te`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 every demand is carried, 1 failed, or a demand finds no path or no room"
)]
pub struct TeArgs {
    /// Fabric file, or `-` for standard input
    pub file: Utf8PathBuf,
    /// Demands: CSV with the columns `source`, `destination` and `mbps`, `gbps` or `tbps`; Parquet, too, in a binary built
    /// with the feature `parquet`
    #[arg(long, short, value_name = "FILE")]
    pub demand: Utf8PathBuf,
    /// Take switches, cables, NICs, nodes or planes away before placing
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub fail: Vec<String>,
    /// Write the pins; a name that ends in `.csv` makes CSV, with `ecmp-static` the file that `ecmp.pins` takes; any other
    /// JSON
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<Utf8PathBuf>,
    /// Flows from each NIC of a source to a destination in each plane, for hashing
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub flows: u32,
    /// Seed of the hash
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How far above the bound a cable may stay, in percent, from 0 to 100
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = parse_tolerance)]
    pub tolerance: f64,
    /// Slices of a group's downlinks, each with a path of its own, where switches hash
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub slices: u16,
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    let number: f64 =
        text.trim_end_matches('%').trim().parse().map_err(|_| format!("`{text}` is no number"))?;
    if (0.0..=100.0).contains(&number) { Ok(number) } else { Err(format!("`{text}` is not from 0 to 100")) }
}
