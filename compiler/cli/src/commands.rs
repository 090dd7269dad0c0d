//! The commands: one file each.

mod audit;
mod cables;
mod check;
mod collect;
mod compile;
mod conformance;
mod control;
mod demo;
mod design;
mod diff;
mod drain;
mod drift;
mod explain;
mod export;
mod fix;
mod fmt;
mod grow;
mod import;
mod init;
mod lab;
mod man;
mod merge;
mod paths;
mod place;
mod platforms;
mod push;
mod schema;
pub mod switch;
mod te;
mod verify;
mod watch;
mod whatif;

use anyhow::bail;
use closc_diff::Toggle;

use crate::args::export::ExportCommand;
use crate::args::lab::LabCommand;
use crate::args::{Args, Command, Format};
use crate::output::{self, Outcome, UnsupportedFormat};

/// Runs the command of the command line.
pub fn run(args: &Args) -> anyhow::Result<Outcome> {
    check_format(args)?;
    match &args.command {
        Command::Check(command) => check::run(args, command),
        Command::Compile(command) => compile::run(args, command),
        Command::Verify(command) => verify::run(args, command),
        Command::Merge(command) => merge::run(args, command),
        Command::Diff(command) => diff::run(args, command),
        Command::Drain(command) => drain::run(args, command, Toggle::On),
        Command::Undrain(command) => drain::run(args, command, Toggle::Off),
        Command::Grow(command) => grow::run(args, command),
        Command::Cables(command) => cables::run(args, command),
        Command::Whatif(command) => whatif::run(args, command),
        Command::Paths(command) => paths::run(args, command),
        Command::Te(command) => te::run(args, command),
        Command::Explain(command) => explain::run(args, command),
        Command::Export(command) => export::run(args, command),
        Command::Schema(command) => schema::run(args, command),
        Command::Platforms(command) => platforms::run(args, command),
        Command::Design(command) => design::run(args, command),
        Command::Place(command) => place::run(args, command),
        Command::Init(command) => init::run(args, command),
        Command::Import(command) => import::run(args, command),
        Command::Fmt(command) => fmt::run(args, command),
        Command::Fix(command) => fix::run(args, command),
        Command::Lsp => Ok(closc_lsp::serve(&crate::input::options(args)).map(|()| Outcome::Fine)?),
        Command::Demo(command) => demo::run(args, command),
        Command::Lab(command) => lab::run(args, command),
        Command::Push(command) => push::run(args, command),
        Command::Drift(command) => drift::run(args, command),
        Command::Watch(command) => watch::run(args, command),
        Command::Collect(command) => collect::run(args, command),
        Command::Audit(command) => audit::run(args, command),
        Command::Switch { arguments } => switch::run(arguments.clone()),
        Command::Conformance(command) => conformance::run(args, command),
        Command::Completions { shell } => {
            output::print(&crate::complete::script(*shell)?)?;
            Ok(Outcome::Fine)
        }
        Command::Man(command) => man::run(args, command),
    }
}

/// Rejects an output format that the command does not have.
fn check_format(args: &Args) -> anyhow::Result<()> {
    let differs = matches!(args.command, Command::Diff(_) | Command::Drain(_) | Command::Undrain(_));
    let is_report = matches!(args.command, Command::Export(ExportCommand::Report(_)));
    let is_manual = matches!(args.command, Command::Man(_));
    let is_job = matches!(args.command, Command::Lab(LabCommand::Job(_)));
    let has_page = differs || ((is_report || is_manual || is_job) && args.format == Format::Markdown);
    let is_design = matches!(&args.command, Command::Design(command) if command.has_list());
    let is_tabular = matches!(args.command, Command::Export(ExportCommand::Tables(_)));
    let is_supported = match args.format {
        Format::Html => has_page || is_design,
        Format::Markdown => has_page,
        Format::Rows(closc_tables::Format::Csv) => is_tabular || is_design,
        Format::Rows(_) => is_tabular,
        Format::Human | Format::Json | Format::Github => true,
    };
    if !is_supported {
        let others = [
            ("human", true),
            ("html", has_page || is_design),
            ("markdown", has_page),
            ("csv", is_tabular || is_design),
            ("parquet", is_tabular),
        ];
        let others = others.into_iter().filter(|(_, has)| *has);
        // The message itself ends with `json` and `github`.
        let others: Vec<String> = others.map(|(word, _)| format!("`{word}`, ")).collect();
        bail!(UnsupportedFormat {
            verb: match &args.command {
                Command::Design(command) if !command.compare.is_empty() => format!("{} --compare", args.verb),
                Command::Design(command) if command.explain.is_some() => format!("{} --explain", args.verb),
                _ => args.verb.clone(),
            },
            format: args.format.keyword(),
            others: others.concat()
        });
    }
    Ok(())
}
