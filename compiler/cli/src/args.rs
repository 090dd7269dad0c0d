//! What can be written on the command line.

pub mod cables;
pub mod collect;
pub mod control;
pub mod diff;
pub mod export;
pub mod import;
pub mod lab;
mod levels;
pub mod new;
mod number;
pub mod serve;
pub mod te;
pub mod whatif;

use std::ffi::{OsStr, OsString};

use camino::Utf8PathBuf;
use clap::builder::PossibleValue;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use closc_compile::{Part, Selection, Shard};

/// Compile a multi-plane Clos fabric from one YAML file
#[derive(Debug, Parser)]
#[command(name = "closc", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 fine, 1 failed or something does not hold, 2 there are differences, 64 wrong usage"
)]
pub struct Args {
    /// Say more on stderr; twice for everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Print nothing of what succeeds but findings, and draw no progress bar
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Form of results and messages
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Folder or file with site platforms, read after the built-in catalogue
    #[arg(long, global = true, value_name = "PATH", env = "CLOSC_PLATFORMS")]
    pub platforms: Vec<Utf8PathBuf>,
    /// Append who changes what, and what comes of it, to this file, or to `journald` or `syslog`: `push`, `watch`, `collect`, `drain`, `undrain`
    #[arg(long, global = true, value_name = "FILE", env = "CLOSC_AUDIT_LOG")]
    pub audit_log: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub levels: levels::LevelArgs,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// Reads the command line.
pub(crate) fn parse() -> Result<Args, clap::Error> {
    let mut command = Args::command();
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    filled(&command, &matches)?;
    let args = Args::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    args.levels.check()?;
    Ok(args)
}

/// Refuses values that are empty: what an unset variable of a script leaves is no file, folder or name.
fn filled(command: &clap::Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    for id in matches.ids() {
        let is_given = matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        let mut values = matches.try_get_raw(id.as_str()).ok().flatten().into_iter().flatten();
        if is_given && values.any(OsStr::is_empty) {
            let name = command.get_arguments().find(|own| own.get_id() == id);
            let name = name.map_or_else(|| id.to_string(), ToString::to_string);
            return Err(clap::Error::raw(
                ErrorKind::InvalidValue,
                format!("`{name}` is given an empty value\n"),
            ));
        }
    }
    match matches.subcommand() {
        Some((name, inner)) => command.find_subcommand(name).map_or(Ok(()), |command| filled(command, inner)),
        None => Ok(()),
    }
}

/// Tells whether JSON is asked for on a command line that cannot be read.
pub(crate) fn asks_for_json(line: impl Iterator<Item = OsString>) -> bool {
    let words: Vec<OsString> = line.take_while(|word| word != "--").collect();
    words.iter().any(|word| word == "--format=json")
        || words.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
}

/// Form of results and messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text for people.
    Human,
    /// JSON for tools.
    Json,
    /// Annotations for GitHub workflows.
    Github,
    /// For a pull request or a wiki: differences, `export report` and `man`.
    Markdown,
    /// For a browser: differences only.
    Html,
    /// Rows for data tools: `export tables` only.
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
        let (word, help) = match self {
            Format::Human => ("human", "Text for people"),
            Format::Json => ("json", "JSON for tools"),
            Format::Github => ("github", "Annotations for GitHub workflows"),
            Format::Markdown => (
                "markdown",
                "For a pull request or a wiki: differences, `lab job`, `export report` and `man` only",
            ),
            Format::Html => ("html", "For a browser: differences only"),
            Format::Rows(form) => (form.extension(), "For data tools: `export tables` only"),
        };
        Some(PossibleValue::new(word).help(help))
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check fabric files and count what they describe
    Check(CheckArgs),
    /// Compile a fabric file into a tree of artefacts
    Compile(CompileArgs),
    /// Prove from the files of a compiled tree that every path arrives, over the links it names
    Verify(VerifyArgs),
    /// Put the verdict of a fabric together from summaries of its parts, which `verify --summary` wrote
    Merge(MergeArgs),
    /// Compare two fabrics: what changes, what it does to traffic, how to roll it out
    Diff(diff::DiffArgs),
    /// Declare a switch, plane or cable drained, and show what that does
    Drain(diff::DrainArgs),
    /// Take a switch, plane or cable back into service, and show what that does
    Undrain(diff::DrainArgs),
    /// Print the cables to plug, pull or move from one fabric to a larger one
    Grow(diff::GrowArgs),
    /// Compare the cables that devices see with the plan
    #[command(subcommand)]
    Cables(cables::CablesCommand),
    /// Tell what failures cost: paths and bandwidth left to all pairs, and who is cut off
    Whatif(whatif::WhatifArgs),
    /// Print the paths between two NICs, hop by hop
    Paths(PathsArgs),
    /// Place a demand matrix: pins, and utilisation against ECMP and the optimum
    Te(te::TeArgs),
    /// Explain a diagnostic code, a device or a headroom
    Explain(ExplainArgs),
    /// Write files for other programs: hosts, schedulers, orchestrators
    #[command(subcommand)]
    Export(export::ExportCommand),
    /// Print the JSON Schema of fabric files, or of a document that commands print
    Schema(SchemaArgs),
    /// List the platforms of the catalogue, or say what one of them has: cages, splits, buffer, limits, sources
    Platforms(new::PlatformsArgs),
    /// Write a fabric file of a size, with comments
    Init(new::InitArgs),
    /// Write the fabric file of a plant that stands, from its cables: CSV, NetBox, containerlab, LLDP
    Import(import::ImportArgs),
    /// Format fabric files; comments stay, and what they say does not change
    Fmt(new::FmtArgs),
    /// Follow the helps of findings that a program can follow: misspelled keys and words, quotes, units
    Fix(new::FixArgs),
    /// Serve an editor at standard input and output: findings as one types, computed values, completion, fixes
    Lsp,
    /// Bring a compiled fabric up on this machine and walk it
    #[command(subcommand)]
    Lab(lab::LabCommand),
    /// Bring live switches to what a compiled tree says, over P4Runtime
    Push(control::PushArgs),
    /// Tell how live switches differ from a compiled tree
    Drift(control::DriftArgs),
    /// Keep live switches as a compiled tree says, with metrics and a standby
    Watch(control::WatchArgs),
    /// Ask the agents of a fabric, name what is broken, keep denials, serve metrics and a page
    Collect(collect::CollectArgs),
    /// Run the embedded switch with the arguments of `simple_switch_grpc`
    #[command(disable_help_flag = true)]
    Switch {
        /// Arguments; `closc switch --help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Print the script that lets a shell complete: words, files, codes, and names of the fabric file on the line
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write manual pages; `--format markdown` prints all of them as one page
    Man(ManArgs),
}

/// Arguments of `schema`.
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// A document such as `closc-verify/1`, or `documents`, which lists them; fabric files if nothing is given
    #[arg(value_name = "DOCUMENT")]
    pub document: Option<String>,
}

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Folder to write `closc.1` and a page for each command into, for example `~/.local/share/man/man1`
    #[arg(long, short, value_name = "DIR", required_unless_present = "format")]
    pub out: Option<Utf8PathBuf>,
}

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// Fabric files, or `-` for standard input; each is checked, whatever is wrong with the others
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<Utf8PathBuf>,
}

/// Arguments of `compile`.
#[derive(Debug, clap::Args)]
pub struct CompileArgs {
    /// Fabric file, or `-` for standard input
    pub file: Utf8PathBuf,
    /// Folder to write, or archive if it ends in `.tar.zst`; an older tree is replaced whole or not at all
    #[arg(long, short, value_name = "DIR", required_unless_present = "archive")]
    pub out: Option<Utf8PathBuf>,
    /// Write a `.tar.zst` archive
    #[arg(long, value_name = "FILE")]
    pub archive: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub part: PartArgs,
    /// Threads, up to 1024; as many as there are processors if 0 or not given
    #[arg(long, short, value_name = "N", value_parser = number::threads())]
    pub jobs: Option<u16>,
    /// Folder whose templates replace shipped ones of the same name
    #[arg(long, value_name = "DIR")]
    pub templates: Option<Utf8PathBuf>,
    /// Render everything again, also what the last run already wrote; replace a tree whose manifest cannot be read
    #[arg(long)]
    pub force: bool,
    /// Sign the manifest with this Ed25519 key, as `ssh-keygen -t ed25519` makes it
    #[arg(long, value_name = "KEY")]
    pub sign: Option<Utf8PathBuf>,
    /// Do not wait until the tree is on the disk: for RAM disks; elsewhere a loss of power may leave no tree
    #[arg(long)]
    pub no_sync: bool,
}

/// Which part of a fabric.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PartArgs {
    /// Only this shard of so many, for example `3/8`; they count from 0, and together are the fabric
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Only what all terms hold for: `plane=3`, `zone=1`, `tier=t0` (or `tier=hosts`), `device=p3-t0-*`
    #[arg(long, value_name = "TERMS", default_value = "")]
    pub select: Selection,
}

impl PartArgs {
    /// Returns the part.
    pub fn part(&self) -> Part {
        Part::new(self.shard, self.select.clone())
    }
}

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 everything holds, 1 something does not, or the tree could not be verified"
)]
pub struct VerifyArgs {
    /// Compiled tree
    pub tree: Utf8PathBuf,
    /// Also walk every path one by one where there are at most this many; 0 walks none
    #[arg(long, value_name = "N", default_value_t = 1 << 20)]
    pub walk: u64,
    /// Show at most this many violations of each rule; 0 only counts them
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = number::from_0())]
    pub shown: u32,
    #[command(flatten)]
    pub part: PartArgs,
    /// Parts with path tables of other groups, which the proof of a plane reads
    #[arg(long, value_name = "TREE", num_args = 1..)]
    pub tables: Vec<Utf8PathBuf>,
    /// Write what `merge` has to know of what was judged
    #[arg(long, value_name = "FILE")]
    pub summary: Option<Utf8PathBuf>,
    /// Do not hold files against the digests of the manifest
    #[arg(long, conflicts_with = "key")]
    pub no_digests: bool,
    /// Refuse a tree that is not signed by this key, the `.pub` file beside the one of `compile --sign`
    #[arg(long, value_name = "PUB")]
    pub key: Option<Utf8PathBuf>,
    /// Threads, up to 1024; as many as there are processors if 0 or not given
    #[arg(long, short, value_name = "N", value_parser = number::threads())]
    pub jobs: Option<u16>,
}

/// Arguments of `merge`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 everything holds, 1 something does not, or the parts make no whole")]
pub(crate) struct MergeArgs {
    /// Summaries of all parts that `verify --summary` wrote, or what `whatif --shard I/N --format json` printed for all shards
    #[arg(required = true, value_name = "SUMMARY")]
    pub summaries: Vec<Utf8PathBuf>,
}

/// Arguments of `paths`.
#[derive(Debug, clap::Args)]
pub struct PathsArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Sending NIC, for example `su001-n001/nic0`; a node means its first NIC
    pub from: String,
    /// Receiving NIC; a node means the NIC on the sender's rail
    pub to: String,
    /// Print only the path of this entropy value, decimal or 0x hexadecimal; 0 is one
    #[arg(long, value_name = "N", value_parser = parse_number)]
    pub ev: Option<u32>,
    /// Leave out paths over these switches, cables or planes
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub avoid: Vec<String>,
    /// Print only paths of this plane; planes count from 0
    #[arg(long, value_name = "P")]
    pub plane: Option<u8>,
    /// Print at most this many paths
    #[arg(long, value_name = "N", value_parser = number::from_1())]
    pub limit: Option<u32>,
}

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
pub struct ExplainArgs {
    /// A code such as `E0203`; `codes`; `targets`; `device FILE SWITCH`; or `headroom FILE SWITCH PORT`
    #[arg(required = true, num_args = 1..=4, value_name = "WHAT")]
    pub what: Vec<String>,
}

fn parse_number(text: &str) -> Result<u32, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|error| format!("`{text}` is no 32-bit number: {error}"))
}
