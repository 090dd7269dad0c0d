//! `closc grow`: the work order for the growth of a fabric.

use closc_diagnostics::figures::format_count;
use closc_diff::grow::WorkOrder;

use crate::args::diff::GrowArgs;
use crate::args::{Args, Format};
use crate::commands::diff;
use crate::output::{self, Document, Outcome};

/// The cables to plug, pull or move.
pub(crate) const GROW: Document<WorkOrder> = Document::new("closc-grow/1");

/// Prints the work order.
pub fn run(args: &Args, command: &GrowArgs) -> anyhow::Result<Outcome> {
    let Some((old, new)) = diff::plans(args, &command.old, &command.new)? else { return Ok(Outcome::Failed) };
    let names = [&old, &new].map(|side| side.plan.name());
    if names[0] != names[1] {
        tracing::warn!(
            "`{}` and `{}` are different fabrics: grow a copy of the first file",
            names[0],
            names[1]
        );
    }
    let nics = [&old, &new].map(|side| side.plan.fabric().counts().nics);
    if nics[1] < nics[0] {
        tracing::warn!(
            "`{}` has {} and `{}` has {}: to grow, name the smaller fabric first",
            command.old,
            format_count(nics[0], "NIC"),
            command.new,
            format_count(nics[1], "NIC")
        );
    }
    let order = if command.minimal {
        WorkOrder::minimal(&old.plan, &new.plan)
    } else {
        WorkOrder::compare(&old.plan, &new.plan)
    };
    let minimal = order.minimal.as_ref().map(|minimal| minimal.summary(&command.new));
    let outcome = if order.is_empty() { Outcome::Fine } else { Outcome::Differences };
    if command.csv && args.format != Format::Json {
        if let Some(minimal) = minimal {
            tracing::warn!("{}", minimal.trim_end());
        }
        output::print(&order.csv())?;
        return Ok(outcome);
    }
    output::print_outcome(args, outcome, &GROW, &order, |order| {
        minimal.unwrap_or_default() + &order.summary()
    })
}
