//! `frr.conf` of a SONiC switch: the installed file, the running configuration of FRR, and the changes from there to
//! the tree's file.
//!
//! In: the text of the tree, the installed file, `show running-config` of the `bgp` container. Out: [`RoutingChange`].
//! Invariants: file and daemons are compared separately, in FRR's own form; the daemons restart only if commands cannot
//! make the change.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use closc_artefacts::paths::FRR_CONF;
use closc_sonic::{FrrChange, FrrConfig, Method, Statement, with_site};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::device_drift::Difference;
use crate::difference::Counts;
use crate::fault::Fault;
use crate::state::ObjectDigest;

/// The routing of a switch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RoutingState {
    /// The installed file, if it exists.
    pub(super) file: Option<String>,
    /// The running configuration; `None` if the daemons do not answer.
    pub(super) running: Option<String>,
    /// The names of the running daemons.
    pub(super) daemons: String,
    /// The digest of both texts, as the switch computed it.
    pub(super) digest: String,
}

/// Method of applying a change of `frr.conf`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub(crate) enum RoutingMethod {
    /// Nothing differs.
    Nothing,
    /// The file is installed. The daemons already run its contents.
    Install,
    /// The file is installed, and commands of `vtysh` change the running configuration.
    Commands,
    /// The file is installed, and the `bgp` container restarts.
    Restart {
        /// The reasons why commands cannot make the change.
        reasons: Vec<String>,
    },
    /// The file is installed before `config reload`, which restarts the container.
    Reload,
}

/// The change of a switch's `frr.conf`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RoutingChange {
    pub(crate) method: RoutingMethod,
    /// The file of the tree.
    pub(crate) text: String,
    /// The lines for `vtysh`.
    pub(crate) commands: Vec<String>,
    /// The neighbours whose sessions the commands reset; `*` means all.
    pub(crate) resets: Vec<String>,
    /// The state before the change.
    pub(crate) live: ObjectDigest,
    /// The file to install: that of the tree, with the statements of the site.
    pub(super) file: String,
    installed: FrrChange,
    running: FrrChange,
}

impl RoutingState {
    /// Parses the output of a script: a digest, the file and the running configuration in base64 or `-`, and the names
    /// of daemons.
    pub(super) fn read(sum: &str, texts: [&str; 2], daemons: &str) -> Result<Self, String> {
        let text = |encoded: &str| {
            if encoded == "-" {
                return Ok(None);
            }
            let bytes = STANDARD.decode(encoded).map_err(|error| format!("`{FRR_CONF}`: {error}"))?;
            // A byte that is not UTF-8 makes a statement differ, so it is replaced.
            Ok::<_, String>(Some(String::from_utf8_lossy(&bytes).into_owned()))
        };
        let [file, running] = texts;
        let (file, running) = (text(file)?, text(running)?.filter(|text| !text.trim().is_empty()));
        Ok(RoutingState { file, running, daemons: daemons.to_owned(), digest: digest(sum)? })
    }

    /// Returns a digest of the switch's routing, in FRR's own form.
    pub(super) fn object(&self) -> ObjectDigest {
        let mut hasher = blake3::Hasher::new();
        let mut entities = 0;
        for text in [&self.file, &self.running] {
            let held = text.as_deref().map(FrrConfig::parse).unwrap_or_default();
            entities = held.len() as u64;
            hasher.update(&[u8::from(text.is_some())]);
            hasher.update(&entities.to_be_bytes());
            for statement in held.statements() {
                hasher.update(statement.to_string().as_bytes());
                hasher.update(b"\n");
            }
        }
        ObjectDigest { entities, blake3: hasher.finalize().to_string() }
    }

    /// Compares the routing with the file of the tree. `configured` is the method with which the same push
    /// changes CONFIG_DB; `is_asked` is set if a restart was requested.
    pub(super) fn change(&self, text: String, configured: &Method, is_asked: bool) -> RoutingChange {
        let wanted = FrrConfig::parse(&text);
        let file = self.file.as_deref().map(FrrConfig::parse).unwrap_or_default();
        let installed = FrrChange::diff(&file, &wanted);
        let daemons: Vec<&str> = self.daemons.split_whitespace().collect();
        let held = self.running.as_deref().map(FrrConfig::parse).unwrap_or_default();
        let running = FrrChange::diff(&held, &wanted.as_run_by(&daemons));
        let mut reasons = running.restart_reasons();
        if self.running.is_none() {
            reasons.push("the `bgp` container does not answer".to_owned());
        }
        if is_asked && !running.is_empty() {
            reasons.push("a reload was requested".to_owned());
        }
        let method = match configured {
            // This also applies without differences: the daemons restart, and take a while to apply the file.
            Method::Reload { .. } => RoutingMethod::Reload,
            Method::Nothing | Method::Patch if installed.is_empty() && running.is_empty() => {
                RoutingMethod::Nothing
            }
            Method::Nothing | Method::Patch if running.is_empty() => RoutingMethod::Install,
            Method::Nothing | Method::Patch if reasons.is_empty() => RoutingMethod::Commands,
            Method::Nothing | Method::Patch => RoutingMethod::Restart { reasons },
        };
        let (commands, resets) = match method {
            RoutingMethod::Commands => {
                (running.commands(), running.resets().into_iter().map(str::to_owned).collect())
            }
            RoutingMethod::Nothing
            | RoutingMethod::Install
            | RoutingMethod::Restart { .. }
            | RoutingMethod::Reload => (Vec::new(), Vec::new()),
        };
        let held = [&self.file, &self.running].into_iter().flatten();
        let file = held.fold(text.clone(), |file, held| with_site(&file, held));
        RoutingChange { method, text, commands, resets, live: self.object(), file, installed, running }
    }
}

impl RoutingChange {
    /// Returns whether there is nothing to do.
    pub(super) fn is_empty(&self) -> bool {
        self.method == RoutingMethod::Nothing
    }

    /// Returns whether the daemons restart, after which they take a while to apply the file.
    pub(super) fn is_restart(&self) -> bool {
        match self.method {
            RoutingMethod::Restart { .. } | RoutingMethod::Reload => true,
            RoutingMethod::Nothing | RoutingMethod::Install | RoutingMethod::Commands => false,
        }
    }

    /// Returns whether the wanted file is installed.
    pub(super) fn is_installed(&self) -> bool {
        self.installed.is_empty()
    }

    /// Returns the number of statements that differ, in the file and in the daemons together.
    pub(super) fn counts(&self) -> Counts {
        let count = |side: fn(&FrrChange) -> &Vec<Statement>| {
            let mut all: Vec<&Statement> = side(&self.installed).iter().chain(side(&self.running)).collect();
            all.sort_unstable();
            all.dedup();
            all.len() as u64
        };
        Counts {
            insert: count(|change| &change.missing),
            modify: 0,
            delete: count(|change| &change.unexpected),
        }
    }

    /// Returns the differences, for people.
    pub(super) fn differences(&self) -> Vec<Difference> {
        let mut lines = Vec::new();
        let sides =
            [(&self.installed, &self.running, "installed file"), (&self.running, &self.installed, "running")];
        for (number, (side, other, place)) in sides.into_iter().enumerate() {
            let line = |statement: &Statement, is_both: bool| {
                let place = if is_both { String::new() } else { format!(" ({place})") };
                format!("{FRR_CONF}{place} {statement}")
            };
            for statement in &side.missing {
                let is_both = other.missing.contains(statement);
                if !is_both || number == 0 {
                    lines.push(Difference::Missing { wanted: line(statement, is_both) });
                }
            }
            for statement in &side.unexpected {
                let is_both = other.unexpected.contains(statement);
                if !is_both || number == 0 {
                    lines.push(Difference::Unexpected { live: line(statement, is_both) });
                }
            }
        }
        lines
    }

    /// Lists the differences that remain after a push.
    pub(super) fn places(&self) -> Vec<String> {
        let name = |difference: Difference| match difference {
            Difference::Missing { wanted } | Difference::Changed { wanted, .. } => wanted,
            Difference::Unexpected { live } => live,
        };
        self.differences().into_iter().map(name).collect()
    }
}

/// Returns the digest that `sha256sum` printed.
pub(super) fn digest(line: &str) -> Result<String, String> {
    let digest = line.split(' ').next().unwrap_or_default();
    let is_one = digest.len() == 64 && digest.chars().all(|sign| sign.is_ascii_hexdigit());
    is_one.then(|| digest.to_owned()).ok_or_else(|| "sha256sum printed no digest".to_owned())
}

/// The change of `frr.conf` in a saved plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoutingPlan {
    /// The method of the change.
    pub(crate) how: RoutingMethod,
    /// The file.
    pub(crate) text: String,
    /// The lines for `vtysh`.
    pub(crate) commands: Vec<String>,
    /// The neighbours whose sessions the commands reset; `*` means all.
    pub(crate) resets: Vec<String>,
    /// The routing of the switch when the plan was made.
    pub(crate) live: ObjectDigest,
}

impl RoutingPlan {
    /// Returns the part of a change that is shown and saved.
    pub(crate) fn of(change: RoutingChange) -> Self {
        let RoutingChange { method, text, commands, resets, live, .. } = change;
        RoutingPlan { how: method, text, commands, resets, live }
    }

    /// Returns whether anything changes.
    pub(crate) fn changes(&self) -> bool {
        self.how != RoutingMethod::Nothing
    }

    /// Rejects a switch whose routing is in neither the state before the plan nor the state after it. If the file is
    /// already installed, an earlier push of the plan installed it.
    pub(super) fn check(&self, change: &RoutingChange) -> Result<(), Fault> {
        if change.is_empty() || (change.live != self.live && change.is_installed()) {
            return Ok(());
        }
        if change.live != self.live {
            return Err(Fault::Moved { changes: vec![format!("`{FRR_CONF}` has changed")] });
        }
        if change.method == self.how && change.commands == self.commands {
            return Ok(());
        }
        let reason = "the plan is inconsistent: the method for `frr.conf` differs from the one that it shows";
        Err(Fault::Ended { reason: reason.to_owned() })
    }
}
