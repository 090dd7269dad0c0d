//! Command-line arguments.

pub mod audit;
pub mod basics;
pub mod cables;
pub mod collect;
pub(crate) mod conformance;
pub mod control;
pub(crate) mod demo;
pub(crate) mod design;
pub mod diff;
pub mod export;
pub mod import;
pub mod lab;
mod levels;
mod number;
mod paths;
pub(crate) mod place;
pub mod serve;
pub mod te;
pub(crate) mod verbs;
pub mod whatif;

use std::ffi::{OsStr, OsString};

use camino::Utf8PathBuf;
use clap::builder::PossibleValue;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use closc_artefacts::Date;
use closc_compile::{Part, Selection, Shard};

/// Compile and prove multi-plane Clos networks for AI training
#[derive(Debug, Parser)]
#[command(name = "closc", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 success, 1 failure or failed check, 2 differences, 64 wrong usage")]
pub struct Args {
    /// Log more to stderr; twice for all messages
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Print only warnings and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Output format of results and messages
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Folder or file with site platforms
    #[arg(long, global = true, value_name = "PATH", env = "CLOSC_PLATFORMS")]
    pub platforms: Vec<Utf8PathBuf>,
    /// Append an audit record of each change to a file, `journald` or `syslog`
    #[arg(long, global = true, value_name = "FILE", env = "CLOSC_AUDIT_LOG")]
    pub audit_log: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub levels: levels::LevelArgs,
    /// Command
    #[command(subcommand)]
    pub command: Command,
    /// Name of the command, such as `export report`
    #[arg(skip)]
    pub verb: String,
    /// Why a path is of the wrong kind.
    #[arg(skip)]
    pub path_fault: Option<String>,
}

/// Reads the command line.
pub(crate) fn parse() -> Result<Args, clap::Error> {
    let mut command = verbs::group_commands(Args::command());
    let matches = command.try_get_matches_from_mut(std::env::args_os()).map_err(verbs::add_advice)?;
    reject_empty(&command, &matches)?;
    let mut args = Args::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    args.levels.check()?;
    args.verb = verb(&matches);
    args.path_fault = paths::fault(&command, &matches);
    Ok(args)
}

/// Returns the command's name with those of its subcommands.
fn verb(matches: &ArgMatches) -> String {
    match matches.subcommand() {
        Some((name, inner)) => format!("{name} {}", verb(inner)).trim_end().to_owned(),
        None => String::new(),
    }
}

/// Rejects empty values, which result from unset shell variables.
fn reject_empty(command: &clap::Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    for id in matches.ids() {
        let is_given = matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        let mut values = matches.try_get_raw(id.as_str()).ok().flatten().into_iter().flatten();
        if is_given && values.any(OsStr::is_empty) {
            let name = command.get_arguments().find(|own| own.get_id() == id);
            let name = name.map_or_else(|| id.to_string(), ToString::to_string);
            return Err(clap::Error::raw(
                ErrorKind::InvalidValue,
                format!("`{name}` needs a value, not an empty string\n"),
            ));
        }
    }
    match matches.subcommand() {
        Some((name, inner)) => {
            command.find_subcommand(name).map_or(Ok(()), |command| reject_empty(command, inner))
        }
        None => Ok(()),
    }
}

/// Returns whether an invalid command line requests JSON.
pub(crate) fn asks_for_json(line: impl Iterator<Item = OsString>) -> bool {
    let words: Vec<OsString> = line.take_while(|word| word != "--").collect();
    words.iter().any(|word| word == "--format=json")
        || words.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}

/// Form of results and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text for users.
    Human,
    /// JSON for tools.
    Json,
    /// Annotations for GitHub workflows.
    Github,
    /// Markdown for a pull request or a wiki.
    Markdown,
    /// HTML for a browser (`diff`, `drain`, `undrain`, `design`).
    Html,
    /// Rows for data tools.
    Rows(closc_tables::Format),
}

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        use closc_tables::Format::{Csv, Jsonl, Parquet};
        &[
            Format::Human,
            Format::Json,
            Format::Github,
            Format::Markdown,
            Format::Html,
            Format::Rows(Csv),
            Format::Rows(Jsonl),
            Format::Rows(Parquet),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Format::Human => "Text for people",
            Format::Json => "JSON for tools",
            Format::Github => "Annotations for GitHub workflows",
            Format::Markdown => {
                "For a pull request or wiki (`diff`, `drain`, `undrain`, `lab job`, `export report`, `man`)"
            }
            Format::Html => "For a browser (`diff`, `drain`, `undrain`, `design`)",
            Format::Rows(closc_tables::Format::Csv) => "For data tools (`export tables`, `design`)",
            Format::Rows(_) => "For data tools (`export tables`)",
        };
        Some(PossibleValue::new(self.keyword()).help(help))
    }
}

impl Format {
    /// Returns the value of `--format`.
    pub(crate) fn keyword(self) -> &'static str {
        match self {
            Format::Human => "human",
            Format::Json => "json",
            Format::Github => "github",
            Format::Markdown => "markdown",
            Format::Html => "html",
            Format::Rows(form) => form.extension(),
        }
    }
}

/// Action.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check fabric files and print their counts
    Check(CheckArgs),
    /// Compile a fabric file into a tree of artefacts
    Compile(CompileArgs),
    /// Prove from a compiled tree that packets arrive over every path
    Verify(VerifyArgs),
    /// Merge partial `verify` results
    Merge(MergeArgs),
    /// Compare two fabrics: changes, traffic impact, rollout order
    Diff(diff::DiffArgs),
    /// Drain a switch, plane or cable, and show the impact
    Drain(diff::DrainArgs),
    /// Return a switch, plane or cable to service, and show the impact
    Undrain(diff::DrainArgs),
    /// Print the cables to plug, pull or move for a larger fabric
    Grow(diff::GrowArgs),
    /// Compare LLDP neighbours with the planned cabling
    #[command(subcommand)]
    Cables(cables::CablesCommand),
    /// Show the impact of failures on paths and bandwidth
    Whatif(whatif::WhatifArgs),
    /// Print the paths between two NICs, hop by hop
    Paths(PathsArgs),
    /// Place a traffic matrix and compare it with ECMP and the optimum
    Te(te::TeArgs),
    /// Explain a diagnostic code, a device or a headroom
    Explain(ExplainArgs),
    /// Write files for hosts, schedulers and other tools
    #[command(subcommand)]
    Export(export::ExportCommand),
    /// Print the JSON Schema of fabric files or of JSON output
    Schema(SchemaArgs),
    /// List switch platforms, or show one in full
    Platforms(basics::PlatformsArgs),
    /// Find the fabrics that meet a need, and compare them
    Design(design::DesignArgs),
    /// Place a fabric on a floor plan: racks and cable lengths
    Place(place::PlaceArgs),
    /// Create a commented fabric file for a NIC count
    Init(basics::InitArgs),
    /// Create a fabric file from existing cabling
    Import(import::ImportArgs),
    /// Format fabric files
    Fmt(basics::FmtArgs),
    /// Apply automatic fixes (typos, quotes, units)
    Fix(basics::FixArgs),
    /// Run the language server
    Lsp,
    /// Show a fabric under faults in a browser, without root
    Demo(demo::DemoArgs),
    /// Run a compiled fabric on this machine
    #[command(subcommand)]
    Lab(lab::LabCommand),
    /// Apply a compiled tree to switches
    Push(control::PushArgs),
    /// Compare running switches with a compiled tree
    Drift(control::DriftArgs),
    /// Repair drift of running switches continuously
    Watch(control::WatchArgs),
    /// Locate faults from the reports of host agents
    Collect(collect::CollectArgs),
    /// Check audit logs
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Run the embedded switch with the arguments of `simple_switch_grpc`
    #[command(disable_help_flag = true)]
    Switch {
        /// Arguments; `closc switch --help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Test a P4Runtime server against the specification
    Conformance(conformance::ConformanceArgs),
    /// Print a shell completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write manual pages
    Man(ManArgs),
}

impl Command {
    /// Returns the filter of log messages, if the command has its own.
    pub(crate) fn log(&self) -> Option<&closc_log::Filter> {
        match self {
            Command::Collect(args) => args.log.as_ref(),
            _ => None,
        }
    }
}

/// Arguments of `schema`.
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// Document such as `closc-verify/1`, `platform` for platform files, or `documents` for a list [default: fabric files]
    #[arg(value_name = "DOCUMENT")]
    pub document: Option<String>,
}

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Output folder, for example `~/.local/share/man/man1`
    #[arg(long, short, value_name = "DIR", required_unless_present = "format")]
    pub out: Option<Utf8PathBuf>,
}

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Fabric files, or `-` for stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<Utf8PathBuf>,
}

/// Arguments of `compile`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompileArgs {
    /// Fabric file, or `-` for stdin
    pub file: Utf8PathBuf,
    /// Output folder, or archive ending in `.tar.zst`; replaced atomically
    #[arg(long, short, value_name = "DIR", required_unless_present = "archive")]
    pub out: Option<Utf8PathBuf>,
    /// Write a `.tar.zst` archive
    #[arg(long, value_name = "FILE")]
    pub archive: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub part: PartArgs,
    /// Threads, up to 1024; 0 for one per processor [default: 0]
    #[arg(long, short, value_name = "N", value_parser = number::threads())]
    pub jobs: Option<u16>,
    /// Folder with templates that override the built-in ones
    #[arg(long, value_name = "DIR")]
    pub templates: Option<Utf8PathBuf>,
    /// Render all files, and replace an unreadable tree
    #[arg(long)]
    pub force: bool,
    /// Sign the manifest with this Ed25519 key (OpenSSH); repeatable
    #[arg(long, value_name = "KEY")]
    pub sign: Vec<Utf8PathBuf>,
    /// Sequence number of the signed tree; newer trees have higher ones
    #[arg(long, value_name = "N", requires = "sign", value_parser = clap::value_parser!(u64).range(1..1_000_000_000_000_000))]
    pub sequence: Option<u64>,
    /// Last valid day of the signed tree, YYYY-MM-DD
    #[arg(long, value_name = "DATE", requires = "sequence")]
    pub expires: Option<Date>,
    /// Skip syncing to disk (unsafe on power failure)
    #[arg(long)]
    pub no_sync: bool,
}

/// Selection of a part of a fabric.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PartArgs {
    /// Only one shard, for example `3/8`; the first is `0/8`
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Only matching parts: `plane=3`, `zone=1`, `tier=t0`, `tier=hosts`, `device=p3-t0-*`
    #[arg(long, value_name = "TERMS", default_value = "")]
    pub select: Selection,
}

impl PartArgs {
    /// Returns the selected part of the fabric.
    pub fn part(&self) -> Part {
        Part::new(self.shard, self.select.clone())
    }
}

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 everything is proved, 1 a rule is violated or the tree is unreadable")]
pub(crate) struct VerifyArgs {
    /// Compiled tree
    pub tree: Utf8PathBuf,
    /// Walk each path if there are at most N; 0 disables
    #[arg(long, value_name = "N", default_value_t = 1 << 20)]
    pub walk: u64,
    /// Maximum violations printed per rule; 0 only counts
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = number::from_0())]
    pub shown: u32,
    #[command(flatten)]
    pub part: PartArgs,
    /// Trees with the path tables of other groups
    #[arg(long, value_name = "TREE", num_args = 1..)]
    pub tables: Vec<Utf8PathBuf>,
    /// Write a partial result for `merge`
    #[arg(long, value_name = "FILE")]
    pub summary: Option<Utf8PathBuf>,
    /// Ignore the digests of the manifest
    #[arg(long, conflicts_with = "key")]
    pub no_digests: bool,
    /// Require a signature by this public key (`.pub`); repeatable
    #[arg(long, value_name = "PUB")]
    pub key: Vec<Utf8PathBuf>,
    /// Required number of signatures [default: all keys]
    #[arg(long, value_name = "N", requires = "key", value_parser = number::from_1())]
    pub signatures: Option<u32>,
    /// Threads, up to 1024; 0 for one per processor [default: 0]
    #[arg(long, short, value_name = "N", value_parser = number::threads())]
    pub jobs: Option<u16>,
}

/// Arguments of `merge`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 everything is proved, 1 a rule is violated or a part is missing")]
pub(crate) struct MergeArgs {
    /// Files from `verify --summary`, or JSON output of `whatif --shard`
    #[arg(required = true, value_name = "SUMMARY")]
    pub summaries: Vec<Utf8PathBuf>,
}

/// Arguments of `paths`.
#[derive(Debug, clap::Args)]
pub struct PathsArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Sending NIC (`su001-n001/nic0`), or node (its first NIC)
    pub from: String,
    /// Receiving NIC, or node (its NIC on the sender's rail)
    pub to: String,
    /// Print only the path of this entropy value (decimal or 0x)
    #[arg(long, value_name = "N", value_parser = parse_number)]
    pub ev: Option<u32>,
    /// Skip paths over these switches, cables or planes
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub avoid: Vec<String>,
    /// Print only paths of this plane; the first is 0
    #[arg(long, value_name = "P")]
    pub plane: Option<u8>,
    /// Maximum number of paths printed
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub limit: Option<u32>,
}

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// Code such as `E0203`, `codes`, `targets`, `device FILE SWITCH` or `headroom FILE SWITCH PORT`
    #[arg(required = true, num_args = 1..=4, value_name = "WHAT")]
    pub what: Vec<String>,
}

fn parse_number(text: &str) -> Result<u32, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|error| format!("`{text}` is not a 32-bit number: {error}"))
}
