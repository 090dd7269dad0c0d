//! A SONiC switch over the system's `ssh`.
//!
//! In: what the switch is to hold. Out: it holds that, confirmed and saved, or is as it was. Invariants: nothing is saved
//! before a new connection read back what was wanted; until then the switch takes it back by itself, also after a reboot.

use std::time::{Duration, Instant};

use closc_sonic::{Change, ConfigDb, Method, Patch};

use super::routing::{HeldRouting, RoutingChange, digest};
use super::script::{Applied, Claim, lease};
use super::ssh::{Failed, SshLink};
use super::{Done, SonicSwitch, counts, gnmi, owner, script};
use crate::event::EventKind;
use crate::fault::{Fault, Operation};
use crate::options::PushOptions;
use crate::progress::Progress;

/// State of a switch.
pub(super) struct Held {
    pub(super) config: ConfigDb,
    /// The digest of it that the switch computed.
    digest: String,
    /// Whether a change waits for its confirmation.
    is_pending: bool,
    /// What it has of `frr.conf`, where the tree has such a file.
    pub(super) routing: Option<HeldRouting>,
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
        let routed = self.switch.routed(&held, &made.method).await?;
        let mut updates = counts(&made.patch);
        updates += routed.as_ref().map(RoutingChange::counts).unwrap_or_default();
        progress.report(EventKind::Compared { updates });
        let n_entries = tree.tables().values().map(std::collections::BTreeMap::len).sum();
        if made.method == Method::Nothing && routed.is_none() {
            // A push that died before it could confirm what it did.
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
        let changes = self.left_over(&tree, routed.as_ref(), options, progress).await?;
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

    /// Reads back, and returns what is still to be done. Daemons of routing that start again take a while to run their file.
    async fn left_over(
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
            let Some(open) = self.switch.routed(&after, &Method::Nothing).await? else { return Ok(changes) };
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

    /// Reads what the daemons of the switch made of the configuration.
    pub(super) async fn applied(&self, options: &PushOptions, progress: &Progress) -> Result<String, Fault> {
        let operation = Operation::Reading { object: "APPL_DB".to_owned() };
        self.run(operation, script::read_state(), read_limit(options), (options, progress)).await
    }

    pub(super) async fn read(&self, options: &PushOptions, progress: &Progress) -> Result<Held, Fault> {
        let operation = Operation::Reading { object: "CONFIG_DB".to_owned() };
        let has_routing = self.switch.has_routing();
        let script = script::read(self.link, has_routing);
        let text = self.run(operation.clone(), script, read_limit(options), (options, progress)).await?;
        let invalid =
            |reason: String| Fault::Remote { operation: operation.clone(), reason, is_transient: false };
        let mut lines = text.splitn(if has_routing { 7 } else { 3 }, '\n');
        let mut line = || lines.next().unwrap_or_default();
        let (first, digest) = (line(), digest(line()).map_err(invalid)?);
        let routing = if has_routing {
            let [digest, file, running, daemons] = [line(), line(), line(), line()];
            Some(HeldRouting::read(digest, [file, running], daemons).map_err(invalid)?)
        } else {
            None
        };
        let dump = line();
        gnmi::weigh(dump.as_bytes(), options.client.memory_limit).map_err(&invalid)?;
        let config = ConfigDb::parse_dump(dump)
            .map_err(|error| invalid(format!("sonic-db-dump printed what is not CONFIG_DB: {error}")))?;
        Ok(Held { config, digest, is_pending: first == "pending", routing })
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

    async fn apply(
        &self,
        held: &Held,
        made: &Change,
        routed: Option<&RoutingChange>,
        with: (&PushOptions, &Progress),
    ) -> Result<u64, Fault> {
        let patches: Vec<String> = match &made.method {
            Method::Nothing | Method::Reload { .. } => Vec::new(),
            Method::Patch => made.steps(&held.config).iter().map(Patch::to_json).collect(),
        };
        let whole = matches!(made.method, Method::Reload { .. }).then(|| made.wanted.to_json());
        let confirm = self.switch.options.confirm;
        let script = |claim: Claim<'_>| {
            let applied = Applied {
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

    /// Has the switch run a script that takes its lease, and returns the number of the lease. The lease of a controller on this machine
    /// that is gone is taken over; another one is an error with its owner.
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
                let reason = format!("`{owner}` changes this switch, for at most {seconds} s more");
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

    /// Runs a script in a thread of its own.
    async fn start(
        &self,
        script: String,
        limit: Duration,
        options: &PushOptions,
    ) -> Result<Result<String, Failed>, Fault> {
        let bounds = (limit, options.client.memory_limit);
        let (ssh, config) = (self.link.ssh.clone(), self.switch.options.ssh_config.clone());
        let done = tokio::task::spawn_blocking(move || ssh.run(config.as_deref(), &script, bounds)).await;
        done.map_err(|error| Fault::Ended { reason: error.to_string() })
    }
}

/// The controller that holds the lease of a switch.
struct Holder {
    fence: u64,
    seconds: u64,
    owner: String,
}

impl Failed {
    /// Returns the holder of the lease that refused a script.
    fn holder(&self) -> Option<Holder> {
        let line = self.reason.rsplit("; ").next().filter(|_| self.code == Some(lease::HELD))?;
        let mut words = line.strip_prefix(lease::HOLDER)?.split_whitespace();
        let (fence, seconds) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let owner = words.next()?.chars().filter(|sign| !sign.is_control()).take(200).collect();
        Some(Holder { fence, seconds, owner })
    }
}

/// How long reading may take: never longer than the whole of a switch, as a process that reads cannot be cancelled.
fn read_limit(options: &PushOptions) -> Duration {
    READ_LIMIT.max(options.client.deadlines.read).min(options.timeout)
}

/// Time limit for reading or confirming: the slowest switches print their configuration in some seconds.
const READ_LIMIT: Duration = Duration::from_mins(1);

/// How often daemons that took commands are looked at before what they run is judged.
const LOOKS: u32 = 3;

/// Time limit of a rollback.
const ROLL_BACK_LIMIT: Duration = Duration::from_mins(15);
