//! `closc man`: manual pages of this program, for packages and builds from source.

use anyhow::Context as _;
use clap::CommandFactory as _;
use closc_files::disk;
use closc_manual::Manual;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Args, Format, ManArgs};
use crate::output::{self, Document, Outcome};

/// Written manual pages.
pub(crate) const MAN: Document<ManOutput> = Document::new("closc-man/1");

const MANUAL: Manual<'static> = Manual {
    section: "1",
    files: &[
        ("CLOSC_PLATFORMS", "Folder or file with the platforms of a site, as --platforms"),
        ("CLOSC_AUDIT_LOG", "Audit log file, as --audit-log"),
        ("CLOSC_RUNTIME", "Folder for the state of running labs, in place of the user's runtime folder"),
        (
            "CLOSC_YANG_MODELS",
            "Folder with SONiC's YANG models to check --overlay, in place of /usr/local/yang-models",
        ),
        ("RUST_LOG", "Log filter, in place of --verbose and --quiet"),
        ("NO_COLOR", "If it is set to anything, output has no colour"),
    ],
    examples: &[
        ("closc init --nics 1024 --planes 4 --speed 400G --out fabric.yaml", "Create a first fabric file"),
        ("closc check fabric.yaml", "Check it for errors, and print its counts"),
        ("closc compile fabric.yaml --out tree", "Write the configuration of every switch and node"),
        ("closc verify tree", "Prove from these files that packets arrive over every path"),
        ("closc diff git:main:fabric.yaml fabric.yaml --waves", "Review a change and its rollout order"),
        (
            "closc push tree --inventory switches.yaml --dry-run",
            "Show the changes that would be sent to switches",
        ),
        ("closc explain E0203", "Explain the code of an error"),
    ],
    see_also: &["closc-nic(1)", "bash(1)", "git(1)"],
};

/// Written output.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ManOutput {
    folder: String,
    pages: Vec<String>,
}

/// Writes the pages, or prints them as Markdown.
pub(super) fn run(args: &Args, command: &ManArgs) -> anyhow::Result<Outcome> {
    if args.format == Format::Markdown {
        output::print(&closc_manual::reference(Args::command()))?;
    }
    let Some(folder) = &command.out else { return Ok(Outcome::Fine) };
    let pages = MANUAL.pages(Args::command())?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make `{folder}`"))?;
    for page in &pages {
        let path = folder.join(&page.name);
        disk::replace(&path, &page.text).with_context(|| format!("cannot write `{path}`"))?;
    }
    if args.format == Format::Markdown {
        return Ok(Outcome::Fine);
    }
    let pages = pages.into_iter().map(|page| page.name).collect();
    let written = ManOutput { folder: folder.to_string(), pages };
    output::print_outcome(args, Outcome::Fine, &MAN, &written, |written| {
        format!("{} pages in {}\n", written.pages.len(), written.folder)
    })
}
