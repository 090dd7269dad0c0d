//! A SONiC switch, independent of its transport.
//!
//! In: a compiled `config_db.json` and `frr.conf`, the site's overlay, an address. Out: the switch holds the
//! compiled configuration together with the overlay, or is unchanged, or a fault reports how far the push
//! got. Invariants: settings that closc does not own are not touched; a switch is read before anything is
//! applied and read back afterwards.

mod differences;
mod gnmi;
mod over_gnmi;
mod over_ssh;
mod owner;
mod ports;
mod routing;
mod script;
mod sonic_target;
mod ssh;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use closc_artefacts::carriers::{SwitchFile, Transport, UndeliveredFile};
use closc_artefacts::paths::FRR_CONF;
use closc_sonic::{Change, ConfigDb, Method, Overlay, Patch, StateFault, change, state_faults};

pub(crate) use gnmi::GnmiLink;
pub(crate) use ports::PortMoves;
pub(crate) use routing::{RoutingMethod, RoutingPlan};
pub(crate) use script::{put, wrap_script};
pub(crate) use sonic_target::SonicPlan;
pub(crate) use ssh::{Ssh, SshLink, is_host, is_state, is_user};

use crate::device_drift::{DeviceDrift, Difference};
use crate::difference::Counts;
use crate::event::EventKind;
use crate::fault::{Fault, Operation};
use crate::options::{PushOptions, SequenceGuard};
use crate::progress::Progress;
use crate::report::{PipelineStep, PushSummary};
use crate::state::StateDigest;
use crate::switch::{Switch, Work};
use crate::tree::{Tree, TreeError};

use differences::{difference, undone};
use over_gnmi::GnmiPush;
use over_ssh::{SonicState, SshPush};
use routing::RoutingChange;
use sonic_target::SonicTarget;

/// Common values of all SONiC switches of a fleet.
#[derive(Debug, Clone)]
pub struct SonicOptions {
    /// Additions of the site.
    pub overlay: Overlay,
    /// Whether drift also compares the state of daemons: ports, routes, segments and buffers.
    pub state: bool,
    /// Whether to reload even if a patch would suffice.
    pub reload: bool,
    /// Time that a switch waits for a confirmation before it rolls back. Over gNMI there is no rollback.
    pub confirm: Duration,
    /// An `ssh` configuration file to use instead of the user's.
    pub ssh_config: Option<String>,
    /// Sequence number of the signed tree; `None` if no signature is required. Over SSH the switch stores it.
    pub release: Option<SequenceGuard>,
    /// The name of this controller in leases of switches over SSH.
    pub owner: String,
}

impl Default for SonicOptions {
    fn default() -> Self {
        SonicOptions {
            overlay: Overlay::default(),
            state: false,
            reload: false,
            confirm: Duration::from_mins(15),
            ssh_config: None,
            release: None,
            owner: owner::of_this_process(),
        }
    }
}

/// A SONiC switch.
#[derive(Clone)]
pub(crate) struct SonicSwitch {
    pub(crate) name: String,
    pub(crate) plane: Option<u8>,
    pub(crate) link: Link,
    pub(crate) goal: SonicGoal,
    /// Its wave in a push.
    pub(crate) wave: usize,
    pub(crate) options: Arc<SonicOptions>,
    /// Files of the tree that no transport of the switch carries.
    pub(crate) undelivered_files: Vec<UndeliveredFile>,
}

/// Target state of a SONiC switch.
#[derive(Clone)]
pub(crate) enum SonicGoal {
    /// The state of the tree.
    Tree(Arc<Tree>),
    /// The changes of a plan, if the switch is in the state for which the plan was made.
    Plan { plan: Arc<SonicPlan>, resolved: Arc<OnceLock<SonicTarget>> },
}

impl SonicGoal {
    pub(crate) fn of_plan(plan: SonicPlan) -> Self {
        SonicGoal::Plan { plan: Arc::new(plan), resolved: Arc::default() }
    }
}

/// Connection to a SONiC switch.
#[derive(Clone)]
pub(crate) enum Link {
    Ssh(SshLink),
    Gnmi(GnmiLink),
}

impl Link {
    /// Returns the transport, which determines the files that the link carries.
    pub(crate) fn transport(&self) -> Transport {
        match self {
            Link::Ssh(_) => Transport::SonicSsh,
            Link::Gnmi(_) => Transport::SonicGnmi,
        }
    }
}

/// Result of a push so far, over all attempts.
#[derive(Debug, Default)]
struct PushCounts {
    sent: Counts,
    /// Whether the running configuration may be lost in a reboot. Over gNMI the saved configuration cannot be
    /// read, and an earlier push may have been interrupted between a change and its saving.
    is_unsaved: bool,
}

impl Switch for SonicSwitch {
    fn name(&self) -> &str {
        &self.name
    }

    fn plane(&self) -> Option<u8> {
        self.plane
    }

    fn wave(&self) -> usize {
        self.wave
    }

    fn push<'a>(&'a self, options: &'a PushOptions, progress: &'a Progress) -> Work<'a, PushSummary> {
        Box::pin(self.until_good(options, progress))
    }

    fn drift<'a>(&'a self, options: &'a PushOptions, progress: &'a Progress) -> Work<'a, DeviceDrift> {
        Box::pin(self.compare(options, progress))
    }
}

impl SonicSwitch {
    /// Returns the switch with a plan as its target.
    pub(crate) fn of_plan(&self, plan: SonicPlan) -> Self {
        SonicSwitch { goal: SonicGoal::of_plan(plan), ..self.clone() }
    }

    async fn until_good(&self, options: &PushOptions, progress: &Progress) -> Result<PushSummary, Fault> {
        let is_unsaved = matches!(self.link, Link::Gnmi(_));
        let mut done = PushCounts { is_unsaved, ..PushCounts::default() };
        let mut attempt = 1;
        loop {
            match self.attempt_push(options, progress, &mut done).await {
                Ok(entities) => {
                    let pipeline = PipelineStep::Unchanged;
                    return Ok(PushSummary {
                        pipeline,
                        updates: done.sent,
                        entities,
                        attempts: attempt,
                        left_out: Vec::new(),
                    });
                }
                Err(fault) if attempt < options.attempts && fault.is_transient() => {
                    progress.report(EventKind::Retrying { attempt, fault });
                    tokio::time::sleep(options.pause.wait(attempt - 1)).await;
                    attempt += 1;
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    /// One attempt.
    async fn attempt_push(
        &self,
        options: &PushOptions,
        progress: &Progress,
        done: &mut PushCounts,
    ) -> Result<usize, Fault> {
        self.resolve(options, progress).await?;
        match &self.link {
            Link::Ssh(link) => SshPush { switch: self, link }.attempt_push(options, progress, done).await,
            Link::Gnmi(link) => GnmiPush { switch: self, link }.attempt_push(options, progress, done).await,
        }
    }

    /// Reads a switch with a plan, and computes its target state from the plan.
    async fn resolve(&self, options: &PushOptions, progress: &Progress) -> Result<(), Fault> {
        let SonicGoal::Plan { plan, resolved } = &self.goal else { return Ok(()) };
        if resolved.get().is_none() {
            let held = self.read_config(&ConfigDb::default(), options, progress).await?;
            let found = plan.resolve(&self.name, &held)?;
            resolved.get_or_init(|| found);
        }
        Ok(())
    }

    /// Returns the additions to the part that closc owns.
    fn overlay(&self) -> Cow<'_, Overlay> {
        match &self.goal {
            SonicGoal::Tree(_) => Cow::Borrowed(&self.options.overlay),
            SonicGoal::Plan { plan, resolved } => resolved
                .get()
                .map_or_else(|| Cow::Owned(plan.overlay()), |found| Cow::Borrowed(&found.overlay)),
        }
    }

    async fn compare(&self, options: &PushOptions, progress: &Progress) -> Result<DeviceDrift, Fault> {
        let tree = self.target_config().await?;
        let (held, routed) = self.read_with_routing(&tree, options, progress).await?;
        let made = self.change(&held, &tree)?;
        let faults =
            if self.options.state { self.state(&tree, options, progress).await? } else { Vec::new() };
        if made.patch.is_empty() && faults.is_empty() && routed.is_none() {
            return Ok(DeviceDrift::None);
        }
        let mut objects = BTreeMap::new();
        for operation in &made.patch.operations {
            *objects.entry(operation.table.clone()).or_default() += 1;
        }
        let differences = made.patch.operations.iter().map(|o| difference(&held, o));
        let mut differences: Vec<Difference> = differences.collect();
        for fault in &faults {
            let (object, difference) = undone(fault);
            *objects.entry(object.to_owned()).or_default() += 1;
            differences.push(difference);
        }
        let of_routing = routed.map(|routed| routed.differences()).unwrap_or_default();
        if !of_routing.is_empty() {
            objects.insert(FRR_CONF.to_owned(), of_routing.len() as u64);
            differences.extend(of_routing);
        }
        Ok(DeviceDrift::Entries { objects, differences })
    }

    /// Reads the switch and compares its routing with the tree's; the change is `None` if they agree, and
    /// always over gNMI.
    async fn read_with_routing(
        &self,
        tree: &ConfigDb,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<(ConfigDb, Option<RoutingChange>), Fault> {
        let Link::Ssh(link) = &self.link else {
            return Ok((self.read_config(tree, options, progress).await?, None));
        };
        let held = SshPush { switch: self, link }.read(options, progress).await?;
        let method = self.change(&held.config, tree)?.method;
        let routed = self.compare_routing(&held, &method).await?;
        Ok((held.config, routed))
    }

    /// Returns whether the link carries a file with routing.
    fn has_routing(&self) -> bool {
        match &self.goal {
            SonicGoal::Tree(tree) => {
                self.link.transport().carries(SwitchFile::FrrConf) && tree.has(&self.name, FRR_CONF)
            }
            SonicGoal::Plan { plan, .. } => plan.routing.is_some(),
        }
    }

    /// Compares the routing of a switch with the wanted one; `None` if they agree, or if the routing was not
    /// read.
    async fn compare_routing(
        &self,
        held: &SonicState,
        configured: &Method,
    ) -> Result<Option<RoutingChange>, Fault> {
        let Some(routing) = &held.routing else { return Ok(None) };
        let change = match &self.goal {
            SonicGoal::Tree(tree) => {
                let (tree, name) = (tree.clone(), self.name.clone());
                let text = read_blocking(move || tree.frr_conf(&name)).await?;
                routing.change(text, configured, self.options.reload)
            }
            SonicGoal::Plan { plan, .. } => {
                let Some(planned) = &plan.routing else { return Ok(None) };
                let change = routing.change(planned.text.clone(), configured, plan.is_reload_asked());
                planned.check(&change)?;
                change
            }
        };
        Ok((!change.is_empty()).then_some(change))
    }

    /// Reads the CONFIG_DB of the switch.
    async fn read_config(
        &self,
        tree: &ConfigDb,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<ConfigDb, Fault> {
        match &self.link {
            Link::Ssh(link) => {
                SshPush { switch: self, link }.read(options, progress).await.map(|held| held.config)
            }
            Link::Gnmi(link) => GnmiPush { switch: self, link }.read(tree, options, progress).await,
        }
    }

    /// Compares the tree with the state of the switch's daemons.
    async fn state(
        &self,
        tree: &ConfigDb,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<Vec<StateFault>, Fault> {
        let text = match &self.link {
            Link::Ssh(link) => SshPush { switch: self, link }.read_daemon_state(options, progress).await?,
            Link::Gnmi(link) => GnmiPush { switch: self, link }.read_daemon_state(options, progress).await?,
        };
        state_faults(tree, &text).map_err(|error| Fault::Remote {
            operation: Operation::Reading { object: "APPL_DB".to_owned() },
            reason: format!("the switch returned an invalid APPL_DB: {error}"),
            is_transient: false,
        })
    }

    /// Computes what a push would do.
    pub(crate) async fn plan(&self, options: &PushOptions, progress: &Progress) -> Result<SonicPlan, Fault> {
        let tree = self.target_config().await?;
        let (held, routed) = self.read_with_routing(&tree, options, progress).await?;
        let change = self.change(&held, &tree)?;
        let patched_by = match &self.link {
            Link::Ssh(_) => "config apply-patch".to_owned(),
            Link::Gnmi(_) => over_gnmi::describe_change(&change, &held)?,
        };
        Ok(SonicPlan {
            routing: routed.map(RoutingPlan::of),
            undelivered_files: self.undelivered_files.clone(),
            ..SonicPlan::new(self.plane, change, &held, patched_by, ports::has_number(&held))
        })
    }

    /// Reads the switch, and returns a digest of each table that closc owns in part or entirely. Over SSH,
    /// the routing has its own digest.
    pub(crate) async fn digest(
        &self,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<StateDigest, Fault> {
        let Link::Ssh(link) = &self.link else {
            let tree = self.target_config().await?;
            return Ok(sonic_target::digest_of_own(&self.read_config(&tree, options, progress).await?));
        };
        let held = SshPush { switch: self, link }.read(options, progress).await?;
        let mut digest = sonic_target::digest_of_own(&held.config);
        let routing = held.routing.map(|routing| (FRR_CONF.to_owned(), routing.object()));
        digest.objects.extend(routing);
        Ok(digest)
    }

    fn change(&self, live: &ConfigDb, tree: &ConfigDb) -> Result<Change, Fault> {
        let reload = match &self.goal {
            SonicGoal::Tree(_) => self.options.reload,
            SonicGoal::Plan { plan, .. } => plan.is_reload_asked(),
        };
        let made = change(&self.name, live, tree, &self.overlay(), reload);
        let made = made.map_err(|error| Fault::Site { reason: error.to_string() })?;
        if let SonicGoal::Plan { plan, .. } = &self.goal {
            let others = made.patch.operations.iter().filter(|operation| !plan.has(operation));
            let moved: Vec<String> = others.map(|other| format!("`{}` has changed", other.place())).collect();
            if !moved.is_empty() {
                return Err(Fault::Moved { changes: moved });
            }
        }
        Ok(made)
    }

    async fn target_config(&self) -> Result<ConfigDb, Fault> {
        let tree = match &self.goal {
            SonicGoal::Tree(tree) => tree.clone(),
            SonicGoal::Plan { resolved, .. } => {
                // Callers have read the switch before.
                let found = resolved.get().map(|found| found.tree.clone());
                return found.ok_or_else(|| Fault::Ended { reason: "the switch was not read".to_owned() });
            }
        };
        let name = self.name.clone();
        read_blocking(move || tree.config_db(&name)).await
    }
}

/// Reads a file of the tree on a blocking thread, so that the threads that serve connections are not blocked.
async fn read_blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, TreeError> + Send + 'static,
) -> Result<T, Fault> {
    match tokio::task::spawn_blocking(read).await {
        Ok(read) => read.map_err(|error| Fault::Tree(Box::new(error))),
        Err(error) => Err(Fault::Ended { reason: error.to_string() }),
    }
}

fn counts(patch: &Patch) -> Counts {
    let (insert, modify, delete) = patch.counts();
    let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    Counts { insert: wide(insert), modify: wide(modify), delete: wide(delete) }
}
