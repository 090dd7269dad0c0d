//! `closc place`: racks and cable lengths of a fabric from a floor plan.
//!
//! In: a fabric file and a floor plan. Out: the file with `racks` and with the longest cable of each kind, and the
//! floor plan with devices. Invariants: the written file has no errors. A medium changes only if its reach is too
//! short, and the change is printed.

mod edit;
mod show;

use anyhow::{Context as _, bail};
use closc_cabling::floor::{
    Floor, FloorError, NodeSize, PlaceError, Placement, TrayOptions, UnpublishedSizes, place,
};
use closc_compile::front::{self, Reading, Source};
use closc_plan::Plan;

use crate::args::place::{PlaceArgs, TrayArgs};
use crate::args::{Args, Format};
use crate::input;
use crate::output::{self, Document, Outcome};
use edit::Cables;

pub(crate) use show::PlacedFabric;

/// The placement.
pub(crate) const PLACE: Document<PlacedFabric> = Document::new("closc-place/1");

/// Maximum size of a floor plan in bytes: a few hundred thousand racks.
const FLOOR_MAX: u64 = 1 << 24;

/// Maximum number of placements until media are final. Each step replaces a medium with one of longer reach.
const STEPS: usize = 8;

/// Places a fabric.
pub(super) fn run(args: &Args, command: &PlaceArgs) -> anyhow::Result<Outcome> {
    for file in command.out.iter().chain(&command.placed) {
        output::reject_existing(file, command.force)?;
    }
    let text = output::read(&command.file, closc_files::TEXT_MAX)?;
    let floor = floor(&command.floor, &command.trays)?;
    let Some(first) = plan(args, command, &text)? else { return Ok(Outcome::Failed) };
    if first.topology().racks.is_some() {
        bail!("`{}` has `racks` already: remove them, and `place` writes new ones", command.file);
    }
    let Some((placement, cables, text)) = repeat_placement(args, command, (&first, &text, &floor))? else {
        return Ok(Outcome::Failed);
    };
    if let Some(out) = &command.placed {
        output::replace(out, &show::csv(&floor, &placement)?)?;
    }
    if let Some(out) = &command.out {
        output::replace(out, &text)?;
        if out == output::STANDARD {
            return Ok(Outcome::Fine);
        }
    }
    let shown = PlacedFabric::new(&floor, &placement, &cables, first.topology());
    if !(args.quiet && args.format == Format::Human) {
        output::result(args.format, &PLACE, &shown, PlacedFabric::text)?;
    }
    Ok(Outcome::Fine)
}

/// Reads a floor plan.
pub(super) fn floor(path: &camino::Utf8Path, trays: &TrayArgs) -> anyhow::Result<Floor> {
    let drop = trays.drop.map(closc_qos::units::Length::millimeters);
    let trays = TrayOptions { crossings: trays.crossings.clone(), drop };
    let floor: Result<Floor, FloorError> = Floor::read(&output::read(path, FLOOR_MAX)?, trays);
    floor.with_context(|| format!("cannot read `{path}`"))
}

/// Repeats the placement until the medium of every cable reaches from rack to rack.
fn repeat_placement(
    args: &Args,
    command: &PlaceArgs,
    (first, original, floor): (&Plan, &str, &Floor),
) -> anyhow::Result<Option<(Placement, Cables, String)>> {
    let mut cables = Cables::of(first.topology());
    let mut current: Option<Plan> = None;
    for _ in 0..STEPS {
        let placement = place_on_floor(command, current.as_ref().unwrap_or(first), floor)?;
        let reached = cables.with_lengths(first.topology(), placement.longest)?;
        let text = edit::with_cables(original, &reached)
            .with_context(|| format!("`{}` cannot be changed line by line", command.file))?;
        if reached == cables {
            let text = edit::with_racks(&text, &placement.racks);
            let is_valid = plan(args, command, &text)?.is_some();
            return Ok(is_valid.then_some((placement, cables, text)));
        }
        current = plan(args, command, &text)?;
        if current.is_none() {
            return Ok(None);
        }
        cables = reached;
    }
    bail!("media and racks depend on each other in a loop: set `cables` in `{}`", command.file)
}

/// Places the devices of a plan.
fn place_on_floor(command: &PlaceArgs, plan: &Plan, floor: &Floor) -> Result<Placement, PlaceError> {
    let node = NodeSize { units: command.node_units, watts: command.node_watts };
    let unpublished = UnpublishedSizes {
        units: command.switch_units,
        watts: command.switch_watts,
        module_watts: command.module_watts,
    };
    place(plan, floor, node, unpublished)
}

/// Returns the plan of a text; `None` if it has errors, which were shown.
fn plan(args: &Args, command: &PlaceArgs, text: &str) -> anyhow::Result<Option<Plan>> {
    let source = Source::parse(command.file.as_str())?;
    let Reading { plan, diagnostics, sources } =
        front::read_text(&source, text.as_bytes(), &input::options(args))?;
    if plan.is_none() {
        input::show(args, &diagnostics, &sources);
    }
    Ok(plan)
}
