//! A SONiC switch over the system's `ssh`.
//!
//! In: what the switch is to hold. Out: it holds that, confirmed and saved, or is as it was. Invariants: nothing is saved
//! before a new connection read back what was wanted; until then the switch takes it back by itself, also after a reboot.

use std::time::{Duration, Instant};

use closc_sonic::{Change, ConfigDb, Method, Patch};

use super::ssh::Ssh;
use super::{Done, SonicSwitch, counts, script};
use crate::event::EventKind;
use crate::fault::{Fault, Operation};
use crate::options::PushOptions;
use crate::progress::Progress;

/// How a switch is reached.
#[derive(Clone)]
pub(crate) struct SshLink {
    pub(crate) ssh: Ssh,
    /// The folder on the switch that keeps what is not confirmed.
    pub(crate) state: String,
}

/// What a switch holds.
pub(super) struct Held {
    pub(super) config: ConfigDb,
    /// The digest of it that the switch computed.
    digest: String,
    /// Whether a change waits for its confirmation.
    is_pending: bool,
}

/// A switch and how it is reached.
pub(super) struct OverSsh<'a> {
    pub(super) switch: &'a SonicSwitch,
    pub(super) link: &'a SshLink,
}

impl OverSsh<'_> {
    /// One attempt, from reading to confirming.
    pub(super) async fn once(
        &self,
        options: &PushOptions,
        progress: &Progress,
        done: &mut Done,
    ) -> Result<usize, Fault> {
        let tree = self.switch.wanted().await?;
        let held = self.read(options, progress).await?;
        let made = self.switch.change(&held.config, &tree)?;
        progress.report(EventKind::Compared { updates: counts(&made.patch) });
        let n_entries = tree.tables().values().map(std::collections::BTreeMap::len).sum();
        if made.method == Method::Nothing {
            // A push that died before it could confirm what it did.
            if held.is_pending {
                self.confirm(options, progress).await?;
            }
            progress.report(EventKind::Verified { entities: n_entries });
            return Ok(n_entries);
        }
        self.apply(&held, &made, progress).await?;
        let after = self.read_again(options, progress).await?;
        let left = self.switch.change(&after.config, &tree)?;
        if left.method != Method::Nothing {
            let changes = left.patch.operations.iter().map(closc_sonic::Operation::place).collect();
            let script = script::roll_back(&self.link.state);
            self.run(Operation::RollingBack, script, ROLL_BACK_LIMIT, progress).await?;
            return Err(Fault::Differs { changes });
        }
        self.confirm(options, progress).await?;
        done.sent += counts(&made.patch);
        progress.report(EventKind::Verified { entities: n_entries });
        Ok(n_entries)
    }

    /// Reads what the daemons of the switch made of the configuration.
    pub(super) async fn applied(&self, options: &PushOptions, progress: &Progress) -> Result<String, Fault> {
        let operation = Operation::Reading { object: "APPL_DB".to_owned() };
        let limit = READ_LIMIT.max(options.client.deadlines.read);
        self.run(operation, script::read_state(), limit, progress).await
    }

    pub(super) async fn read(&self, options: &PushOptions, progress: &Progress) -> Result<Held, Fault> {
        let operation = Operation::Reading { object: "CONFIG_DB".to_owned() };
        let limit = READ_LIMIT.max(options.client.deadlines.read);
        let text = self.run(operation.clone(), script::read(&self.link.state), limit, progress).await?;
        let invalid =
            |reason: String| Fault::Remote { operation: operation.clone(), reason, is_transient: false };
        let mut lines = text.splitn(3, '\n');
        let (first, second, dump) = (
            lines.next().unwrap_or_default(),
            lines.next().unwrap_or_default(),
            lines.next().unwrap_or_default(),
        );
        let digest = second.split(' ').next().unwrap_or_default();
        if digest.len() != 64 || !digest.chars().all(|sign| sign.is_ascii_hexdigit()) {
            return Err(invalid("sha256sum printed no digest".to_owned()));
        }
        let config = ConfigDb::parse_dump(dump)
            .map_err(|error| invalid(format!("sonic-db-dump printed what is no CONFIG_DB: {error}")))?;
        Ok(Held { config, digest: digest.to_owned(), is_pending: first == "pending" })
    }

    /// Reads back over a new connection, for as long as the switch would still wait for a confirmation: a reload takes
    /// its time.
    async fn read_again(&self, options: &PushOptions, progress: &Progress) -> Result<Held, Fault> {
        let start = Instant::now();
        loop {
            match self.read(options, progress).await {
                Err(Fault::Remote { is_transient: true, .. })
                    if start.elapsed() < self.switch.options.confirm / 2 =>
                {
                    tokio::time::sleep(options.pause.wait(3)).await;
                }
                read => return read,
            }
        }
    }

    async fn apply(&self, held: &Held, made: &Change, progress: &Progress) -> Result<(), Fault> {
        let patches: Vec<String> = match &made.method {
            Method::Nothing | Method::Reload { .. } => Vec::new(),
            Method::Patch => made.steps(&held.config).iter().map(Patch::to_json).collect(),
        };
        let whole = matches!(made.method, Method::Reload { .. }).then(|| made.wanted.to_json());
        let confirm = self.switch.options.confirm;
        let script = script::apply(&self.link.state, &held.digest, confirm, &patches, whole.as_deref());
        let limit = READ_LIMIT.max(self.switch.options.confirm);
        self.run(Operation::Writing, script, limit, progress).await.map(drop)
    }

    async fn confirm(&self, options: &PushOptions, progress: &Progress) -> Result<(), Fault> {
        let limit = READ_LIMIT.max(options.client.deadlines.read);
        self.run(Operation::Confirming, script::confirm(&self.link.state), limit, progress).await.map(drop)
    }

    async fn run(
        &self,
        operation: Operation,
        script: String,
        limit: Duration,
        progress: &Progress,
    ) -> Result<String, Fault> {
        progress.begin(operation.clone());
        let (ssh, config) = (self.link.ssh.clone(), self.switch.options.ssh_config.clone());
        let done = tokio::task::spawn_blocking(move || ssh.run(config.as_deref(), &script, limit)).await;
        match done {
            Ok(Ok(text)) => Ok(text),
            Ok(Err(failed)) => {
                Err(Fault::Remote { operation, reason: failed.reason, is_transient: failed.is_transient })
            }
            Err(error) => Err(Fault::Ended { reason: error.to_string() }),
        }
    }
}

/// How long reading or confirming may take: the slowest switches print their configuration in some seconds.
const READ_LIMIT: Duration = Duration::from_mins(1);

/// How long rolling back may take.
const ROLL_BACK_LIMIT: Duration = Duration::from_mins(15);
