//! A SONiC switch over the system's `ssh`.
//!
//! In: the target state of the switch. Out: the switch runs it, confirmed and saved, or is unchanged.
//! Invariants: nothing is saved until a new connection has read back the target state; until then the switch
//! rolls back automatically, even after a reboot.

use std::time::{Duration, Instant};

use closc_platform::FactorySetting;
use closc_sonic::{Change, ConfigDb, Method, Patch};

use super::routing::{RoutingChange, RoutingState, digest};
use super::script::{Claim, ScriptChanges, lease};
use super::ssh::{ScriptFailure, SshLink};
use super::{PushCounts, SonicSwitch, counts, gnmi, owner, script};
use crate::event::EventKind;
use crate::factory::FactoryState;
use crate::fault::{Fault, Operation};
use crate::options::PushOptions;
use crate::progress::Progress;

/// State of a switch.
pub(super) struct SonicState {
    pub(super) config: ConfigDb,
    /// The digest of the state, as the switch computed it.
    digest: String,
    /// Whether a change waits for its confirmation.
    is_pending: bool,
    /// Its routing, if the tree has an `frr.conf`.
    pub(super) routing: Option<RoutingState>,
}

/// A switch and its connection.
pub(super) struct SshPush<'a> {
    pub(super) switch: &'a SonicSwitch,
    pub(super) link: &'a SshLink,
}

impl SshPush<'_> {
    /// One attempt, from reading to confirming.
    pub(super) async fn attempt_push(
        &self,
        options: &PushOptions,
        progress: &Progress,
        done: &mut PushCounts,
    ) -> Result<usize, Fault> {
        let tree = self.switch.target_config().await?;
        let held = self.read(options, progress).await?;
        let made = self.switch.change(&held.config, &tree)?;
        let routed = self.switch.compare_routing(&held, &made.method).await?;
        let mut updates = counts(&made.patch);
        updates += routed.as_ref().map(RoutingChange::counts).unwrap_or_default();
        progress.report(EventKind::Compared { updates });
        let n_entries = tree.tables().values().map(std::collections::BTreeMap::len).sum();
        if made.method == Method::Nothing && routed.is_none() {
            // An earlier push may have been interrupted before it could confirm its change.
            let (state, confirm) = (&self.link.state, self.switch.options.confirm);
            if held.is_pending {
                let script = |claim: Claim<'_>| script::confirm_of_before(state, confirm, claim);
                self.claim(Operation::Confirming, script, READ_LIMIT, (options, progress)).await?;
            } else if self.switch.options.release.is_some() {
                let script = |claim: Claim<'_>| script::remember(state, confirm, claim);
                self.claim(Operation::Confirming, script, READ_LIMIT, (options, progress)).await?;
            }
            progress.report(EventKind::Verified { entities: n_entries });
            return Ok(n_entries);
        }
        let fence = self.apply(&held, &made, routed.as_ref(), (options, progress)).await?;
        let changes = self.remaining_differences(&tree, routed.as_ref(), options, progress).await?;
        if !changes.is_empty() {
            let script = script::roll_back(&self.link.state, fence);
            self.run(Operation::RollingBack, script, ROLL_BACK_LIMIT, (options, progress)).await?;
            return Err(Fault::Differs { changes });
        }
        self.confirm(fence, options, progress).await?;
        done.sent += updates;
        progress.report(EventKind::Verified { entities: n_entries });
        Ok(n_entries)
    }

    /// Reads back, and returns the remaining differences. After a restart, routing daemons take a while to
    /// apply their file.
    async fn remaining_differences(
        &self,
        tree: &ConfigDb,
        routed: Option<&RoutingChange>,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<Vec<String>, Fault> {
        let (start, mut n_looks) = (Instant::now(), 0);
        loop {
            let after = self.read_again(options, progress).await?;
            let left = self.switch.change(&after.config, tree)?;
            let mut changes: Vec<String> =
                left.patch.operations.iter().map(closc_sonic::Operation::place).collect();
            let Some(open) = self.switch.compare_routing(&after, &Method::Nothing).await? else {
                return Ok(changes);
            };
            let is_starting = routed.is_some_and(RoutingChange::is_restart);
            let may_look =
                if is_starting { start.elapsed() < self.switch.options.confirm / 2 } else { n_looks < LOOKS };
            if may_look && changes.is_empty() {
                tokio::time::sleep(options.pause.wait(n_looks)).await;
                n_looks += 1;
                continue;
            }
            changes.extend(open.places());
            return Ok(changes);
        }
    }

    /// Reads the state of the switch's daemons.
    pub(super) async fn read_daemon_state(
        &self,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<String, Fault> {
        let operation = Operation::Reading { object: "APPL_DB".to_owned() };
        self.run(operation, script::read_state(), read_limit(options), (options, progress)).await
    }

    pub(super) async fn read(&self, options: &PushOptions, progress: &Progress) -> Result<SonicState, Fault> {
        let operation = Operation::Reading { object: "CONFIG_DB".to_owned() };
        let has_routing = self.switch.has_routing();
        let script = script::read(self.link, has_routing);
        let text = self.run(operation.clone(), script, read_limit(options), (options, progress)).await?;
        let invalid =
            |reason: String| Fault::Remote { operation: operation.clone(), reason, is_transient: false };
        let mut lines = text.splitn(if has_routing { 7 } else { 3 }, '\n');
        let mut line = || lines.next().unwrap_or_default();
        let mut first = line().split(' ');
        let is_pending = first.next() == Some("pending");
        for setting in first.filter_map(boot_file) {
            progress.factory(setting, FactoryState::Present);
        }
        let digest = digest(line()).map_err(invalid)?;
        let routing = if has_routing {
            let [digest, file, running, daemons] = [line(), line(), line(), line()];
            Some(RoutingState::read(digest, [file, running], daemons).map_err(invalid)?)
        } else {
            None
        };
        let dump = line();
        gnmi::weigh(dump.as_bytes(), options.client.memory_limit).map_err(&invalid)?;
        let config = ConfigDb::parse_dump(dump)
            .map_err(|error| invalid(format!("sonic-db-dump printed an invalid CONFIG_DB: {error}")))?;
        Ok(SonicState { config, digest, is_pending, routing })
    }

    /// Reads back over a new connection, with retries for half of the confirmation time, because a reload takes a
    /// while.
    async fn read_again(&self, options: &PushOptions, progress: &Progress) -> Result<SonicState, Fault> {
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

    async fn apply(
        &self,
        held: &SonicState,
        made: &Change,
        routed: Option<&RoutingChange>,
        with: (&PushOptions, &Progress),
    ) -> Result<u64, Fault> {
        let patches: Vec<String> = match &made.method {
            Method::Nothing | Method::Reload { .. } => Vec::new(),
            Method::Patch => made.steps(&held.config).iter().map(Patch::to_json).collect(),
        };
        let whole = matches!(made.method, Method::Reload { .. }).then(|| made.target.to_json());
        let confirm = self.switch.options.confirm;
        let script = |claim: Claim<'_>| {
            let applied = ScriptChanges {
                digest: &held.digest,
                patches: &patches,
                file: whole.as_deref(),
                routing: routed.zip(held.routing.as_ref().map(|routing| routing.digest.as_str())),
                claim,
            };
            script::apply(self.link, confirm, &applied)
        };
        let limit = READ_LIMIT.max(self.switch.options.confirm);
        self.claim(Operation::Writing, script, limit, with).await
    }

    /// Runs a script that takes the lease of the switch, and returns the number of the lease. A lease whose owner ran
    /// on this machine and is gone is taken over; any other lease is an error that names its owner.
    async fn claim(
        &self,
        operation: Operation,
        script: impl Fn(Claim<'_>) -> String,
        limit: Duration,
        (options, progress): (&PushOptions, &Progress),
    ) -> Result<u64, Fault> {
        let own = &self.switch.options;
        let fault = |reason: String, is_transient| Fault::Remote {
            operation: operation.clone(),
            reason,
            is_transient,
        };
        let mut dead = None;
        loop {
            let claim = Claim { owner: &own.owner, dead, release: own.release };
            progress.begin(operation.clone());
            let failed = match self.start(script(claim), limit, options).await? {
                Ok(text) => {
                    let fence = text.lines().next().and_then(|line| line.trim().parse().ok());
                    return fence.ok_or_else(|| fault("the switch printed no lease".to_owned(), false));
                }
                Err(failed) => failed,
            };
            let Some(holder) = failed.holder() else { return Err(fault(failed.reason, failed.is_transient)) };
            if dead == Some(holder.fence) || !owner::is_gone(&holder.owner) {
                let Holder { owner, seconds, .. } = holder;
                let reason = format!("`{owner}` is changing this switch, for at most {seconds} s more");
                return Err(fault(reason, false));
            }
            dead = Some(holder.fence);
        }
    }

    async fn confirm(&self, fence: u64, options: &PushOptions, progress: &Progress) -> Result<(), Fault> {
        let limit = READ_LIMIT.max(options.client.deadlines.read);
        let script = script::confirm(&self.link.state, fence, self.switch.options.release);
        self.run(Operation::Confirming, script, limit, (options, progress)).await.map(drop)
    }

    async fn run(
        &self,
        operation: Operation,
        script: String,
        limit: Duration,
        (options, progress): (&PushOptions, &Progress),
    ) -> Result<String, Fault> {
        progress.begin(operation.clone());
        self.start(script, limit, options).await?.map_err(|failed| Fault::Remote {
            operation,
            reason: failed.reason,
            is_transient: failed.is_transient,
        })
    }

    /// Runs a script in a separate thread.
    async fn start(
        &self,
        script: String,
        limit: Duration,
        options: &PushOptions,
    ) -> Result<Result<String, ScriptFailure>, Fault> {
        let bounds = (limit, options.client.memory_limit);
        let (ssh, config) = (self.link.ssh.clone(), self.switch.options.ssh_config.clone());
        let done = tokio::task::spawn_blocking(move || ssh.run(config.as_deref(), &script, bounds)).await;
        done.map_err(|error| Fault::Ended { reason: error.to_string() })
    }
}

/// Returns the row of a file that SONiC reads at boot.
fn boot_file(name: &str) -> Option<&'static FactorySetting> {
    FactorySetting::boot_files().find(|setting| setting.place.rsplit('/').next() == Some(name))
}

/// The controller that holds the lease of a switch.
struct Holder {
    fence: u64,
    seconds: u64,
    owner: String,
}

impl ScriptFailure {
    /// Returns the holder of the lease because of which a script was rejected.
    fn holder(&self) -> Option<Holder> {
        let line = self.reason.rsplit("; ").next().filter(|_| self.code == Some(lease::HELD))?;
        let mut words = line.strip_prefix(lease::HOLDER)?.split_whitespace();
        let (fence, seconds) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let owner = words.next()?.chars().filter(|sign| !sign.is_control()).take(200).collect();
        Some(Holder { fence, seconds, owner })
    }
}

/// Returns the time limit for reading: at most the timeout of a switch, because a process that reads cannot be
/// cancelled.
fn read_limit(options: &PushOptions) -> Duration {
    READ_LIMIT.max(options.client.deadlines.read).min(options.timeout)
}

/// Time limit for reading or confirming: the slowest switches print their configuration within seconds.
const READ_LIMIT: Duration = Duration::from_mins(1);

/// Number of additional reads after daemons received commands, before their state counts as different.
const LOOKS: u32 = 3;

/// Time limit of a rollback.
const ROLL_BACK_LIMIT: Duration = Duration::from_mins(15);
