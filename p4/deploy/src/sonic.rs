//! A switch that runs SONiC, reached with the system's `ssh`.
//!
//! In: a compiled `config_db.json`, the site's overlay, an address. Out: the switch holds what both say, confirmed and
//! saved, or is as it was. Invariants: nothing is saved before a new connection read back what was wanted; until then the
//! switch takes it back by itself, also after a reboot; what is not closc's is not touched.

mod script;
mod ssh;

use std::sync::Arc;
use std::time::{Duration, Instant};

use closc_sonic::{Change, ConfigDb, Method, Overlay, Patch, StateFault, change, state_faults};

pub(crate) use ssh::{Ssh, is_host, is_state, is_user};

use crate::device_drift::{DeviceDrift, Difference};
use crate::difference::Counts;
use crate::event::EventKind;
use crate::fault::{Fault, Operation};
use crate::options::PushOptions;
use crate::progress::Progress;
use crate::report::{PipelineStep, Pushed};
use crate::switch::{Switch, Work};
use crate::tree::Tree;

/// What holds for all SONiC switches of a fleet.
#[derive(Debug, Clone)]
pub struct SonicOptions {
    /// What the site adds.
    pub overlay: Overlay,
    /// Whether drift is also ports, routes and segments that are not as the configuration has them.
    pub state: bool,
    /// Whether to reload where a patch would do.
    pub reload: bool,
    /// How long a switch waits for a confirmation before it takes a change back.
    pub confirm: Duration,
    /// A configuration of `ssh` in place of the user's.
    pub ssh_config: Option<String>,
}

impl Default for SonicOptions {
    fn default() -> Self {
        SonicOptions {
            overlay: Overlay::default(),
            state: false,
            reload: false,
            confirm: Duration::from_mins(15),
            ssh_config: None,
        }
    }
}

/// A SONiC switch.
#[derive(Clone)]
pub(crate) struct SonicSwitch {
    pub(crate) name: String,
    pub(crate) plane: Option<u8>,
    pub(crate) ssh: Ssh,
    /// The folder on the switch that keeps what is not confirmed.
    pub(crate) state: String,
    pub(crate) tree: Arc<Tree>,
    pub(crate) options: Arc<SonicOptions>,
}

/// What a switch holds.
struct Held {
    config: ConfigDb,
    /// The digest of it that the switch computed.
    digest: String,
    /// Whether a change waits for its confirmation.
    is_pending: bool,
}

impl Switch for SonicSwitch {
    fn name(&self) -> &str {
        &self.name
    }

    fn plane(&self) -> Option<u8> {
        self.plane
    }

    fn wave(&self) -> usize {
        0
    }

    fn push<'a>(&'a self, options: &'a PushOptions, progress: &'a Progress) -> Work<'a, Pushed> {
        Box::pin(self.until_good(options, progress))
    }

    fn drift<'a>(&'a self, options: &'a PushOptions, progress: &'a Progress) -> Work<'a, DeviceDrift> {
        Box::pin(self.compare(options, progress))
    }
}

impl SonicSwitch {
    async fn until_good(&self, options: &PushOptions, progress: &Progress) -> Result<Pushed, Fault> {
        let mut sent = Counts::default();
        let mut attempt = 1;
        loop {
            match self.once(options, progress, &mut sent).await {
                Ok(entities) => {
                    let pipeline = PipelineStep::Unchanged;
                    return Ok(Pushed {
                        pipeline,
                        updates: sent,
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

    /// One attempt, from reading to confirming.
    async fn once(
        &self,
        options: &PushOptions,
        progress: &Progress,
        sent: &mut Counts,
    ) -> Result<usize, Fault> {
        let tree = self.wanted().await?;
        let held = self.read(options, progress).await?;
        let made = self.change(&held.config, &tree)?;
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
        let left = self.change(&after.config, &tree)?;
        if left.method != Method::Nothing {
            let changes = left.patch.operations.iter().map(closc_sonic::Operation::place).collect();
            let script = script::roll_back(&self.state);
            self.run(Operation::RollingBack, script, ROLL_BACK_LIMIT, progress).await?;
            return Err(Fault::Differs { changes });
        }
        self.confirm(options, progress).await?;
        *sent += counts(&made.patch);
        progress.report(EventKind::Verified { entities: n_entries });
        Ok(n_entries)
    }

    async fn compare(&self, options: &PushOptions, progress: &Progress) -> Result<DeviceDrift, Fault> {
        let tree = self.wanted().await?;
        let held = self.read(options, progress).await?;
        let made = self.change(&held.config, &tree)?;
        let faults =
            if self.options.state { self.state(&tree, options, progress).await? } else { Vec::new() };
        if made.patch.is_empty() && faults.is_empty() {
            return Ok(DeviceDrift::None);
        }
        let mut objects = std::collections::BTreeMap::new();
        for operation in &made.patch.operations {
            *objects.entry(operation.table.clone()).or_default() += 1;
        }
        let differences = made.patch.operations.iter().map(|o| difference(&held.config, o));
        let mut differences: Vec<Difference> = differences.collect();
        for fault in &faults {
            let (object, difference) = undone(fault);
            *objects.entry(object.to_owned()).or_default() += 1;
            differences.push(difference);
        }
        Ok(DeviceDrift::Entries { objects, differences })
    }

    /// Compares what the tree asks for with what the daemons of the switch made of it.
    async fn state(
        &self,
        tree: &ConfigDb,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<Vec<StateFault>, Fault> {
        let operation = Operation::Reading { object: "APPL_DB".to_owned() };
        let limit = READ_LIMIT.max(options.client.deadlines.read);
        let text = self.run(operation.clone(), script::read_state(), limit, progress).await?;
        state_faults(tree, &text).map_err(|error| Fault::Remote {
            operation,
            reason: format!("sonic-db-dump printed what is no APPL_DB: {error}"),
            is_transient: false,
        })
    }

    /// Works out what a push would do.
    pub(crate) async fn plan(&self, options: &PushOptions, progress: &Progress) -> Result<Change, Fault> {
        let tree = self.wanted().await?;
        let held = self.read(options, progress).await?;
        self.change(&held.config, &tree)
    }

    fn change(&self, live: &ConfigDb, tree: &ConfigDb) -> Result<Change, Fault> {
        let made = change(&self.name, live, tree, &self.options.overlay, self.options.reload);
        made.map_err(|error| Fault::Site { reason: error.to_string() })
    }

    async fn wanted(&self) -> Result<ConfigDb, Fault> {
        let (tree, name) = (self.tree.clone(), self.name.clone());
        match tokio::task::spawn_blocking(move || tree.config_db(&name)).await {
            Ok(Ok(config)) => Ok(config),
            Ok(Err(error)) => Err(Fault::Tree(Box::new(error))),
            Err(error) => Err(Fault::Ended { reason: error.to_string() }),
        }
    }

    async fn read(&self, options: &PushOptions, progress: &Progress) -> Result<Held, Fault> {
        let operation = Operation::Reading { object: "CONFIG_DB".to_owned() };
        let limit = READ_LIMIT.max(options.client.deadlines.read);
        let text = self.run(operation.clone(), script::read(&self.state), limit, progress).await?;
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
                    if start.elapsed() < self.options.confirm / 2 =>
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
        let confirm = self.options.confirm;
        let script = script::apply(&self.state, &held.digest, confirm, &patches, whole.as_deref());
        let limit = READ_LIMIT.max(self.options.confirm);
        self.run(Operation::Writing, script, limit, progress).await.map(drop)
    }

    async fn confirm(&self, options: &PushOptions, progress: &Progress) -> Result<(), Fault> {
        let limit = READ_LIMIT.max(options.client.deadlines.read);
        self.run(Operation::Confirming, script::confirm(&self.state), limit, progress).await.map(drop)
    }

    async fn run(
        &self,
        operation: Operation,
        script: String,
        limit: Duration,
        progress: &Progress,
    ) -> Result<String, Fault> {
        progress.begin(operation.clone());
        let (ssh, config) = (self.ssh.clone(), self.options.ssh_config.clone());
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

fn counts(patch: &Patch) -> Counts {
    let (insert, modify, delete) = patch.counts();
    let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    Counts { insert: wide(insert), modify: wide(modify), delete: wide(delete) }
}

/// Shows an operation as a difference.
fn difference(live: &ConfigDb, operation: &closc_sonic::Operation) -> Difference {
    let place = operation.place();
    let before = || {
        let entry = live.entry(&operation.table, operation.key.as_deref()?)?;
        match &operation.field {
            Some(field) => entry.get(field).map(ToString::to_string),
            None => Some(shown(entry)),
        }
    };
    match &operation.action {
        closc_sonic::Action::Add(content) => Difference::Missing { wanted: format!("{place} {content}") },
        closc_sonic::Action::Replace(value) => Difference::Changed {
            wanted: format!("{place} {value}"),
            live: format!("{place} {}", before().unwrap_or_default()),
        },
        closc_sonic::Action::Remove => {
            Difference::Unexpected { live: format!("{place} {}", before().unwrap_or_default()) }
        }
    }
}

/// Shows what a switch does not do, with the table of APPL_DB that it is missed in.
fn undone(fault: &StateFault) -> (&'static str, Difference) {
    match fault {
        StateFault::Port { port, status: Some(status) } => {
            let line = |status: &str| format!("PORT_TABLE:{port}.oper_status {status}");
            ("PORT_TABLE", Difference::Changed { wanted: line("up"), live: line(status) })
        }
        StateFault::Port { port, status: None } => {
            ("PORT_TABLE", Difference::Missing { wanted: format!("PORT_TABLE:{port}.oper_status up") })
        }
        StateFault::Route { key } => {
            ("ROUTE_TABLE", Difference::Missing { wanted: format!("the route of STATIC_ROUTE|{key}") })
        }
        StateFault::Segment { key } => (
            "SRV6_MY_SID_TABLE",
            Difference::Missing { wanted: format!("the segment of SRV6_MY_SIDS|{key}") },
        ),
    }
}

fn shown(entry: &closc_sonic::Entry) -> String {
    entry.iter().map(|(field, value)| format!("{field}={value}")).collect::<Vec<_>>().join(" ")
}
