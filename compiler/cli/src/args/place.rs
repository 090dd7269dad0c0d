//! Arguments of `place`, and those of floor plans.

use camino::Utf8PathBuf;
use closc_qos::units::Length;

/// Trays of a floor plan.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TrayArgs {
    /// Positions of cross trays along the rows, as in `0m,14.4m` [default: as in the floor plan, or anywhere]
    #[arg(
        long,
        value_name = "X",
        value_delimiter = ',',
        requires = "floor",
        allow_hyphen_values = true,
        value_parser = parse_position
    )]
    pub crossings: Option<Vec<i64>>,
    /// Cable from a device up to the tray, with slack [default: as in the floor plan, or 2.5m]
    #[arg(long, value_name = "LENGTH", requires = "floor", value_parser = parse_on_floor)]
    pub drop: Option<Length>,
}

/// Longest distance on a floor: 10 km.
const FLOOR_MAX: Length = Length::from_meters(10_000);

/// Parses a distance on a floor.
fn parse_on_floor(text: &str) -> Result<Length, String> {
    let length: Length = text.parse().map_err(|error| format!("{error}"))?;
    if length <= FLOOR_MAX { Ok(length) } else { Err(format!("{length} is more than {FLOOR_MAX}")) }
}

/// Parses a position along the rows, in millimetres. It is negative on the other side of the origin.
fn parse_position(text: &str) -> Result<i64, String> {
    let (sign, distance) = text.strip_prefix('-').map_or((1, text), |distance| (-1, distance));
    Ok(sign * parse_on_floor(distance)?.millimeters().cast_signed())
}

/// Arguments of `place`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Columns of the floor plan: `rack`, `row`, `x`, `y` (metres), `units`, and `watts` for power limits."
)]
pub(crate) struct PlaceArgs {
    /// Fabric file without `racks`
    pub file: Utf8PathBuf,
    /// Floor plan, as CSV
    #[arg(long, value_name = "FILE")]
    pub floor: Utf8PathBuf,
    #[command(flatten)]
    pub trays: TrayArgs,
    /// Rack units of a node
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub node_units: u16,
    /// Power of a node in watts, if racks have limits
    #[arg(long, value_name = "WATTS", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub node_watts: Option<u32>,
    /// Rack units of a switch without a published height
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub switch_units: Option<u16>,
    /// Power of a switch without published figures, in watts, without modules
    #[arg(long, value_name = "WATTS", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub switch_watts: Option<u32>,
    /// Power of a module without published figures, in watts
    #[arg(long, value_name = "WATTS", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub module_watts: Option<u32>,
    /// Write the fabric file with `racks` and cable lengths, or `-` for stdout
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<Utf8PathBuf>,
    /// Write the floor plan with the devices of each rack, as CSV
    #[arg(long, value_name = "FILE")]
    pub placed: Option<Utf8PathBuf>,
    /// Replace existing output files
    #[arg(long)]
    pub force: bool,
}
