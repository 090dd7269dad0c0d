//! Validates configurations with an overlay against SONiC's own YANG models, if these are installed.
//!
//! In: an overlay, and the configurations of a tree. Out: an error with the switch and the message of the models;
//! warnings about tables without a model, and about missing models. Invariants: only the first of several switches
//! with the same overlay files is validated. If the models also reject a configuration without the overlay, the
//! overlay is not at fault. SONiC's Python module `sonic_yang` reads the models, if it is installed for the `python3`
//! of the search path.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_sonic::{ConfigDb, Overlay};
use serde::Deserialize;

/// Python program that reads the models, and prints one line of JSON per configuration.
const JUDGE: &str = include_str!("models/judge.py");

/// Folder in which SONiC installs its models; [`FOLDER_VARIABLE`] overrides it.
const FOLDER: &str = "/usr/local/yang-models";

const FOLDER_VARIABLE: &str = "CLOSC_YANG_MODELS";

/// Maximum number of configurations that are validated; each can take several seconds.
const KINDS_MAX: usize = 64;

/// Validates the configurations of some switches with an overlay. `config` returns that of one switch from the tree.
pub(in crate::commands) fn check(
    folder: &Utf8Path,
    overlay: &Overlay,
    switches: &[&str],
    config: impl Fn(&str) -> anyhow::Result<ConfigDb>,
) -> anyhow::Result<()> {
    let kinds = overlay.kinds(switches);
    if kinds.is_empty() {
        return Ok(());
    }
    let mut models = match Models::start() {
        Ok(models) => models,
        Err(why) => {
            tracing::warn!("overlay `{folder}` is not checked by SONiC's YANG models: {why}");
            return Ok(());
        }
    };
    let mut unknown = BTreeSet::new();
    for switch in kinds.iter().take(KINDS_MAX) {
        let tree = config(switch)?;
        let context = || format!("overlay `{folder}`");
        let whole = closc_provision::initial_config(switch, &tree, overlay).with_context(context)?;
        let verdict = models.judge(&whole).with_context(context)?;
        unknown.extend(verdict.unknown.into_iter().filter(|table| tree.table(table).is_empty()));
        let Some(with) = verdict.error else { continue };
        match models.judge(&tree).with_context(context)?.error {
            None => bail!(
                "overlay `{folder}`: SONiC's YANG models reject the configuration of `{switch}` with it: {with}"
            ),
            Some(without) => tracing::warn!(
                "SONiC's YANG models reject the configuration of `{switch}` without overlay `{folder}` too, so they do not \
                 check it: {without}"
            ),
        }
    }
    if !unknown.is_empty() {
        let tables: Vec<String> = unknown.iter().map(|table| format!("`{table}`")).collect();
        tracing::warn!(
            "SONiC has no YANG model of {} in overlay `{folder}`, so nothing checks it",
            tables.join(", ")
        );
    }
    if kinds.len() > KINDS_MAX {
        tracing::warn!(
            "SONiC's YANG models checked overlay `{folder}` on {KINDS_MAX} of {} switches that other files of it apply to",
            kinds.len()
        );
    }
    Ok(())
}

/// Output of the Python program.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    /// The models are loaded.
    Ready,
    /// The models cannot be loaded, with the reason.
    Missing(String),
    Verdict(Verdict),
}

#[derive(Debug, Deserialize)]
struct Verdict {
    /// Why the models reject the configuration.
    error: Option<String>,
    /// Its tables without a model.
    unknown: Vec<String>,
}

/// The models in a child process, which ends when this value is dropped.
struct Models {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Models {
    /// Loads the models. The error contains the reason why they cannot be loaded.
    fn start() -> Result<Self, String> {
        let folder = std::env::var_os(FOLDER_VARIABLE).unwrap_or_else(|| OsString::from(FOLDER));
        let mut child = Command::new("python3")
            .arg("-c")
            .arg(JUDGE)
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("`python3`: {error}"))?;
        let (Some(asks), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("`python3` has no pipes".to_owned());
        };
        let mut models = Models { child, asks, answers: BufReader::new(answers) };
        match models.answer() {
            Ok(Answer::Ready) => Ok(models),
            Ok(Answer::Missing(why)) => Err(why),
            Ok(Answer::Verdict(_)) => Err("`python3` answers before it is asked".to_owned()),
            Err(error) => Err(format!("{error:#}")),
        }
    }

    fn judge(&mut self, config: &ConfigDb) -> anyhow::Result<Verdict> {
        let said = serde_json::to_string(config.tables()).context("text keys and no floats")?;
        writeln!(self.asks, "{said}").context("the reader of SONiC's YANG models ended")?;
        match self.answer()? {
            Answer::Verdict(verdict) => Ok(verdict),
            Answer::Ready | Answer::Missing(_) => bail!("the reader of SONiC's YANG models gave no verdict"),
        }
    }

    fn answer(&mut self) -> anyhow::Result<Answer> {
        let mut line = String::new();
        self.answers.read_line(&mut line).context("`python3`")?;
        serde_json::from_str(&line).context("the reader of SONiC's YANG models ended without an answer")
    }
}

impl Drop for Models {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
