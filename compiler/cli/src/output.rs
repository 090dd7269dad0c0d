//! Where text goes: results to stdout, messages to stderr.

use std::io::Write as _;

use anyhow::Context as _;
use camino::Utf8Path;
use serde::Serialize;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

use crate::args::Format;

/// How a command ended, in the sense of the exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Exit 0.
    Fine,
    /// Exit 1, after the reasons were shown.
    Failed,
    /// Exit 2.
    Differences,
}

/// Starts the log on stderr: warnings only, or more with `-v`; `RUST_LOG` overrides.
pub fn start_log(verbose: u8, quiet: bool) {
    let level = match (quiet, verbose) {
        (true, _) => "error",
        (false, 0) => "warn",
        (false, 1) => "info",
        (false, _) => "debug",
    };
    let wanted = std::env::var("RUST_LOG").ok();
    let parsed = wanted.as_deref().map(str::parse::<Targets>);
    let filter = match &parsed {
        Some(Ok(filter)) => filter.clone(),
        Some(Err(_)) | None => level.parse().expect("a level alone is a filter"),
    };
    let messages = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).without_time();
    tracing_subscriber::registry().with(filter).with(messages).init();
    if let (Some(wanted), Some(Err(error))) = (&wanted, &parsed) {
        tracing::warn!("`RUST_LOG={wanted}` is not read: {error}");
    }
}

/// Prints a result as JSON, or as the text that `human` makes of it.
pub fn result<T: Serialize>(
    format: Format,
    value: &T,
    human: impl FnOnce(&T) -> String,
) -> anyhow::Result<()> {
    let text = match format {
        Format::Json => serde_json::to_string_pretty(value).context("the result has no JSON form")? + "\n",
        Format::Human | Format::Github | Format::Markdown | Format::Html => human(value),
    };
    print(&text)
}

/// Prints text to stdout.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes a file whole or not at all.
pub fn replace(path: &Utf8Path, text: &str) -> anyhow::Result<()> {
    let partial = path.with_file_name(format!(".{}.closc-new", path.file_name().unwrap_or("result")));
    std::fs::write(&partial, text).with_context(|| format!("cannot write `{partial}`"))?;
    std::fs::rename(&partial, path).with_context(|| format!("cannot rename `{partial}` to `{path}`"))
}

/// Shows why a command failed.
pub fn failure(error: &anyhow::Error, format: Format) {
    let text = format!("{error:#}");
    match format {
        Format::Human | Format::Markdown | Format::Html => eprintln!("error: {text}"),
        Format::Json => println!("{}", serde_json::json!({ "error": text })),
        Format::Github => println!("::error ::{}", text.replace('%', "%25").replace('\n', "%0A")),
    }
}

/// Tells whether an error only means that the reader of our output went away.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}
