//! Arguments of `te`.

use camino::Utf8PathBuf;

/// Arguments of `te`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 every demand is carried, 1 failure or a demand that does not fit")]
pub struct TeArgs {
    /// Fabric file, or `-` for stdin
    pub file: Utf8PathBuf,
    /// Traffic matrix: CSV with `source`, `destination` and `mbps`, `gbps` or `tbps` (Parquet with that build
    /// feature)
    #[arg(long, short, value_name = "FILE")]
    pub demand: Utf8PathBuf,
    /// Failed switches, cables, NICs, nodes or planes
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub fail: Vec<String>,
    /// Write the pins as JSON, or CSV if it ends in `.csv` (input of `ecmp.pins`)
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<Utf8PathBuf>,
    /// Flows per NIC, destination and plane, for hashing
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub flows: u32,
    /// Hash seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Accepted distance from the optimum, 0 to 100 percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = parse_tolerance)]
    pub tolerance: f64,
    /// Slices of a group's downlinks with separate pins, for hashing
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub slices: u16,
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    let number: f64 =
        text.trim_end_matches('%').trim().parse().map_err(|_| format!("`{text}` is not a number"))?;
    if (0.0..=100.0).contains(&number) {
        Ok(number)
    } else {
        Err(format!("`{text}` is out of range; expected 0 to 100"))
    }
}
