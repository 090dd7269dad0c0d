//! Output: results on stdout, messages on stderr.

use std::fmt::Display;
use std::io::{ErrorKind, Write as _};
use std::marker::PhantomData;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use closc_diagnostics::printable;
use closc_diagnostics::show::json::JsonDiagnostic;
use closc_files::disk;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Args, Format};

/// Result of a command, which determines the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Exit 0.
    Fine,
    /// Exit 1, after the reasons were shown.
    Failed,
    /// Exit 2.
    Differences,
}

/// Starts the log on stderr. The filter is `log` if given, else `RUST_LOG`; by default warnings, or more with `-v`.
pub fn start_log(log: Option<&closc_log::Filter>, verbose: u8, quiet: bool) {
    let level = match (quiet, verbose) {
        (true, _) | (false, 0) => "warn",
        (false, 1) => "info",
        (false, _) => "debug",
    };
    let wanted = std::env::var("RUST_LOG").ok().filter(|_| log.is_none());
    let parsed = wanted.as_deref().map(str::parse::<closc_log::Filter>);
    let filter = match (log, &parsed) {
        (Some(filter), _) | (None, Some(Ok(filter))) => filter.clone(),
        (None, Some(Err(_)) | None) => level.parse().expect("a level alone is a filter"),
    };
    closc_log::start(filter, None);
    if let (Some(wanted), Some(Err(error))) = (&wanted, &parsed) {
        tracing::warn!("`RUST_LOG={wanted}` is ignored: {error}");
    }
}

/// Meaning of `-` as a path: standard input or output.
pub const STANDARD: &str = "-";

/// Exit code for an invalid command line (`EX_USAGE` of `sysexits.h`).
pub const USAGE: u8 = 64;

/// Errors of a command line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub &'static str);

/// Option values that contradict each other, or that no fabric can have: exit 64.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct OptionsError(pub(crate) String);

/// A command does not support the requested output format: exit 64.
#[derive(Debug, thiserror::Error)]
#[error("`closc {verb}` does not support `--format {format}`; use {others}`json` or `github`")]
pub(crate) struct UnsupportedFormat {
    pub(crate) verb: String,
    pub(crate) format: &'static str,
    /// Formats of this command besides `json` and `github`, each followed by a comma.
    pub(crate) others: String,
}

/// A kind of document: its name, and the type that is written. `commands/schema.rs` lists all of them.
pub struct Document<T> {
    /// Kind and version, for example `closc-check/1`. It is the value of `schema`, the first field.
    pub name: &'static str,
    of: PhantomData<fn() -> T>,
}

impl<T> Document<T> {
    /// Names a kind of document.
    pub const fn new(name: &'static str) -> Self {
        Document { name, of: PhantomData }
    }
}

/// Items of a document that is a list.
#[derive(JsonSchema)]
pub(crate) struct Items<T> {
    #[expect(dead_code, reason = "only its form is asked for: what is written borrows its items")]
    items: Vec<T>,
}

/// Errors and warnings of a file that has errors.
pub(crate) const DIAGNOSTICS: Document<Findings<'static>> = Document::new("closc-diagnostics/1");

/// Findings of a fabric file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Findings<'a> {
    /// Errors and warnings, in the order of the file.
    pub diagnostics: Vec<JsonDiagnostic<'a>>,
}

/// Why a command failed.
pub(crate) const ERROR: Document<Failure> = Document::new("closc-error/1");

/// Message after a failed command.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Failure {
    /// The error with its causes.
    error: String,
}

/// A document as it is written.
#[derive(Serialize)]
struct Envelope<'a, T> {
    schema: &'a str,
    #[serde(flatten)]
    value: &'a T,
}

/// A document that is a list, as it is written.
#[derive(Serialize)]
struct List<'a, T> {
    schema: &'a str,
    items: &'a [T],
}

/// Writes a document as JSON.
pub fn document<T: Serialize>(document: &Document<T>, value: &T) -> anyhow::Result<String> {
    let text = serde_json::to_string_pretty(&Envelope { schema: document.name, value });
    Ok(text.context("the result has no JSON form")? + "\n")
}

/// Prints a document to stderr as one line, for programs that follow the progress.
pub fn say_document<T: Serialize>(document: &Document<T>, value: &T) {
    if let Ok(line) = serde_json::to_string(&Envelope { schema: document.name, value }) {
        say(line);
    }
}

/// Prints a result as a document, or as the text that `human` returns.
pub fn result<T: Serialize>(
    format: Format,
    document: &Document<T>,
    value: &T,
    human: impl FnOnce(&T) -> String,
) -> anyhow::Result<()> {
    match format {
        Format::Json => print(&self::document(document, value)?),
        Format::Human | Format::Github | Format::Markdown | Format::Html | Format::Rows(_) => {
            print(&human(value))
        }
    }
}

/// Like [`result`], for a list.
pub fn results<T: Serialize>(
    format: Format,
    document: &Document<Items<T>>,
    items: &[T],
    human: impl FnOnce(&[T]) -> String,
) -> anyhow::Result<()> {
    match format {
        Format::Json => {
            let text = serde_json::to_string_pretty(&List { schema: document.name, items });
            print(&(text.context("the result has no JSON form")? + "\n"))
        }
        Format::Human | Format::Github | Format::Markdown | Format::Html | Format::Rows(_) => {
            print(&human(items))
        }
    }
}

/// Prints the result of a command, and returns its outcome. With `--quiet`, the result of a successful command is
/// printed only as a document.
pub(crate) fn print_outcome<T: Serialize>(
    args: &Args,
    outcome: Outcome,
    document: &Document<T>,
    value: &T,
    human: impl FnOnce(&T) -> String,
) -> anyhow::Result<Outcome> {
    if args.format == Format::Json || !is_silent(args, outcome) {
        result(args.format, document, value, human)?;
    }
    Ok(outcome)
}

/// Returns whether the result of a command is not printed.
pub(crate) fn is_silent(args: &Args, outcome: Outcome) -> bool {
    args.quiet && outcome == Outcome::Fine
}

/// Reads a text of at most `max` bytes from a file or standard input.
pub fn read(path: &Utf8Path, max: u64) -> anyhow::Result<String> {
    Ok(closc_files::read_user_text(input_path(path), max)?)
}

/// Returns the path to read from: `-` is standard input.
pub(crate) fn input_path(path: &Utf8Path) -> &Utf8Path {
    if path == STANDARD { Utf8Path::new("/dev/stdin") } else { path }
}

/// Returns whether a file is written to standard output. Nothing else is then printed there.
pub(crate) fn is_standard(path: Option<&Utf8PathBuf>) -> bool {
    path.is_some_and(|path| path == STANDARD)
}

/// Prints text to stdout. A closed pipe is not an error, because the command has done its work.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints a line to stderr. A closed pipe changes neither the work nor the exit code.
pub fn say(line: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}

/// Prints text with untrusted parts, such as messages of a switch; replaces unsafe characters.
pub fn plain(text: &str) -> anyhow::Result<()> {
    print(&printable::lines(text))
}

/// Writes a file atomically, even if the power fails; `-` is standard output.
pub fn replace(path: &Utf8Path, text: &str) -> anyhow::Result<()> {
    if path == STANDARD {
        return print(text);
    }
    disk::replace(path, text.as_bytes()).with_context(|| format!("cannot write `{path}`"))
}

/// Rejects an output file that exists, unless it may be replaced. Used for files that users edit, such as fabric
/// files.
pub fn reject_existing(path: &Utf8Path, force: bool) -> anyhow::Result<()> {
    if path != STANDARD && !force && path.symlink_metadata().is_ok() {
        anyhow::bail!("`{path}` exists: name another file, or replace it with `--force`");
    }
    Ok(())
}

/// Rejects an output file with the extension of another format.
pub(crate) fn check_extension(out: &Utf8Path, written: &[&str], advice: &str) -> anyhow::Result<()> {
    const FORMATS: [&str; 36] = [
        "bmp", "csv", "doc", "docx", "dot", "drawio", "eps", "gif", "gv", "htm", "html", "jpeg", "jpg",
        "json", "markdown", "md", "mmd", "odg", "ods", "odt", "pdf", "png", "ppt", "pptx", "ps", "puml",
        "rtf", "svg", "tex", "tif", "tiff", "vsd", "vsdx", "webp", "xls", "xlsx",
    ];
    let extension = out.extension().map(str::to_ascii_lowercase).unwrap_or_default();
    if FORMATS.contains(&&*extension) && !written.contains(&&*extension) {
        anyhow::bail!("`{out}`: the format `{extension}` is not supported: {advice}");
    }
    Ok(())
}

/// Returns an error with its causes, omitting those that its text already contains.
pub fn reason(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string).collect::<Vec<_>>() {
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// Prints the reason why a command failed.
pub fn failure(error: &anyhow::Error, format: Format) {
    // The text can contain untrusted names and messages.
    let text = printable::lines(&reason(error));
    match format {
        Format::Human | Format::Markdown | Format::Html | Format::Rows(_) => {
            say(format_args!("error: {text}"));
        }
        Format::Json => {
            if let Ok(document) = document(&ERROR, &Failure { error: text }) {
                let _ = print(&document);
            }
        }
        Format::Github => {
            let text = text.replace('%', "%25").replace('\n', "%0A");
            let _ = print(&format!("::error ::{text}\n"));
        }
    }
}
