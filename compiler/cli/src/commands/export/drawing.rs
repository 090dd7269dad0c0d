//! `closc export drawing`: a fabric, a plane or a switch as SVG or DOT.
//!
//! In: a fabric file and a name. Out: one file, written atomically.

use anyhow::Context as _;
use closc_plan::Plan;
use closc_report::{Form, Subject};

use super::list;
use crate::args::Args;
use crate::args::export::DrawingArgs;
use crate::output::{self, Outcome};
use crate::{input, names};

/// Writes the drawing.
pub(super) fn run(args: &Args, command: &DrawingArgs) -> anyhow::Result<Outcome> {
    output::check_extension(
        &command.out,
        &["svg", "dot", "gv"],
        "use `.svg`, or `.dot` for Graphviz, which draws other formats",
    )?;
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let subject = match &command.name {
        Some(name) => subject(&input.plan, name)?,
        None => Subject::Fabric,
    };
    let form = match command.out.extension() {
        Some("dot" | "gv") => Form::Dot,
        Some(_) | None => Form::Svg,
    };
    output::replace(&command.out, &closc_report::draw(&input.plan, subject, form))?;
    if command.out == output::STANDARD {
        return Ok(Outcome::Fine);
    }
    list(args, vec![command.out.to_string()])
}

fn subject(plan: &Plan, name: &str) -> anyhow::Result<Subject> {
    let Some(number) = name.strip_prefix("plane ").or_else(|| name.strip_prefix("plane=")) else {
        return Ok(Subject::Switch(names::switch(plan, name)?));
    };
    let number = number.parse().with_context(|| format!("`{name}` is not a plane: write `plane 0`"))?;
    Ok(Subject::Plane(names::plane(plan, number)?))
}
