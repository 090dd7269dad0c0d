//! A SONiC switch over gNMI.
//!
//! In: the target state of the switch. Out: the switch runs it and would boot with it, or a fault reports how
//! far the push got. Invariants: changes that a patch cannot make are rejected before anything is sent. After
//! each Set of changes, even a failed one, the switch is read over a new connection, because a failed Set may
//! have been applied. Every successful Set saves, so there is no rollback.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use closc_artefacts::paths::FRR_CONF;
use closc_platform::FactorySetting;
use closc_runtime::client::ClientError;
use closc_runtime::gnmi::GnmiClient;
use closc_runtime::proto::gnmi::{Encoding, Path, SetRequest};
use closc_sonic::{Action, Change, ConfigDb, Content, Method, OWNED, Operation as Difference, Patch, Reason};
use prost::Message as _;
use tonic::Code;

use super::gnmi::{self, BOUNDS, GnmiLink, SET_MAX};
use super::{PushCounts, SonicSwitch, counts};
use crate::event::EventKind;
use crate::factory::FactoryState;
use crate::fault::{Fault, Operation};
use crate::options::PushOptions;
use crate::progress::Progress;

/// Time limit of a Set: 600 s for the updater, and 60 s each for a checkpoint and for saving, which the
/// server waits for.
const SET_LIMIT: Duration = Duration::from_mins(15);

/// Maximum number of Sets in one attempt; a switch that needs more does not converge.
const SETS_MAX: usize = 64;

/// Tables of daemon state: database, table, and the separator between table and key.
const APPLIED: [(&str, &str, &str); 12] = [
    ("APPL_DB", "PORT_TABLE", ":"),
    ("APPL_DB", "ROUTE_TABLE", ":"),
    ("APPL_DB", "SRV6_MY_SID_TABLE", ":"),
    ("APPL_DB", "BUFFER_POOL_TABLE", ":"),
    ("APPL_DB", "BUFFER_PROFILE_TABLE", ":"),
    ("APPL_DB", "BUFFER_PG_TABLE", ":"),
    ("APPL_DB", "BUFFER_QUEUE_TABLE", ":"),
    ("APPL_DB", "BUFFER_PORT_INGRESS_PROFILE_LIST_TABLE", ":"),
    ("APPL_DB", "BUFFER_PORT_EGRESS_PROFILE_LIST_TABLE", ":"),
    ("APPL_DB", "LLDP_ENTRY_TABLE", ":"),
    ("STATE_DB", "BUFFER_MAX_PARAM_TABLE", "|"),
    ("STATE_DB", "ACL_TABLE_TABLE", "|"),
];

/// Number of retries while a switch does not answer: its server may restart after a Set.
const READ_BACK: u32 = 8;

/// Number of reads while a switch still answers with the state before a Set; the pauses add up to about 40 s.
const LOOKS: u32 = 12;

/// Tables whose changes may cut the connection of the push, or stop the server.
const REACHED_BY: [&str; 5] = ["GNMI", "GNMI_CLIENT_CERT", "MGMT_INTERFACE", "MGMT_VRF_CONFIG", "TELEMETRY"];

/// A switch and its connection.
pub(super) struct GnmiPush<'a> {
    pub(super) switch: &'a SonicSwitch,
    pub(super) link: &'a GnmiLink,
}

/// Returns how a change is applied, for people, or the reason why it cannot be applied.
pub(super) fn describe_change(change: &Change, held: &ConfigDb) -> Result<String, Fault> {
    check(change, held)?;
    let n_sets = change.parts(held, BOUNDS).len();
    let sets = if n_sets == 1 { "one gNMI Set".to_owned() } else { format!("{n_sets} gNMI Sets") };
    Ok(format!("{sets}, saved at once, without rollback"))
}

/// Rejects changes that cannot be made over gNMI.
fn check(change: &Change, held: &ConfigDb) -> Result<(), Fault> {
    if let Method::Reload { reasons } = &change.method {
        let reasons = reasons.iter().map(Reason::to_string).collect();
        return Err(Fault::NeedsReload { reasons });
    }
    let refused = |reason: String| Err(Fault::Site { reason });
    let cuts = |operation: &&Difference| REACHED_BY.contains(&operation.table.as_str());
    if let Some(operation) = change.patch.operations.iter().find(cuts) {
        return refused(format!(
            "`{}` changes how the switch is reached, and gNMI has no rollback: push this switch over \
             sonic-ssh",
            operation.place()
        ));
    }
    for part in change.parts(held, BOUNDS) {
        request(&part)?;
    }
    Ok(())
}

/// Returns the Set of a part, if the server accepts it.
fn request(part: &Patch) -> Result<SetRequest, Fault> {
    let refused = |reason: String| Fault::Site { reason };
    let request = gnmi::set(part).map_err(|place| {
        refused(format!(
            "SONiC's gNMI server cannot find `{place}` because of `~` or `/`: push this switch over sonic-ssh"
        ))
    })?;
    match request.encoded_len() {
        bytes if bytes > SET_MAX => Err(refused(format!(
            "a Set of {bytes} bytes exceeds the {SET_MAX} that SONiC's gNMI server accepts: push this switch \
             over sonic-ssh"
        ))),
        _ => Ok(request),
    }
}

impl GnmiPush<'_> {
    /// One attempt, from reading to reading back.
    pub(super) async fn attempt_push(
        &self,
        options: &PushOptions,
        progress: &Progress,
        done: &mut PushCounts,
    ) -> Result<usize, Fault> {
        let tree = self.switch.target_config().await?;
        let mut held = self.read(&tree, options, progress).await?;
        let mut left = self.switch.change(&held, &tree)?;
        progress.report(EventKind::Compared { updates: counts(&left.patch) });
        check(&left, &held)?;
        if left.method != Method::Nothing && self.read(&tree, options, progress).await? != held {
            return Err(concurrent_change());
        }
        let all = left.patch.operations.len();
        for _ in 0..SETS_MAX {
            let Some(part) = left.parts(&held, BOUNDS).into_iter().next() else {
                if done.is_unsaved {
                    self.save(&held, options, progress, done).await?;
                }
                let n_entries = tree.tables().values().map(BTreeMap::len).sum();
                progress.report(EventKind::Verified { entities: n_entries });
                return Ok(n_entries);
            };
            let answer = self.set(&request(&part)?, options, progress).await;
            match answer {
                Ok(()) => done.is_unsaved = false,
                Err(_) => done.is_unsaved = true,
            }
            held = match (self.read_back(&tree, options, progress).await, &answer) {
                (Err(fault), Err(error)) => return Err(unknown_outcome(error, &fault)),
                (held, _) => held?,
            };
            left = self.switch.change(&held, &tree)?;
            let open = unapplied_operations(&part, &left);
            if open.is_empty() {
                done.sent += counts(&part);
                progress.report(EventKind::Written {
                    updates: all.saturating_sub(left.patch.operations.len()),
                    of: all,
                });
                continue;
            }
            return Err(match answer {
                Ok(()) => Fault::Differs { changes: open },
                Err(error) => set_failure(&error, &part, &open),
            });
        }
        Err(Fault::Differs { changes: left.patch.operations.iter().map(Difference::place).collect() })
    }

    /// Makes the server save the running configuration: it does not save after a failed Set, or if an earlier
    /// push was interrupted during its Set.
    async fn save(
        &self,
        held: &ConfigDb,
        options: &PushOptions,
        progress: &Progress,
        done: &mut PushCounts,
    ) -> Result<(), Fault> {
        let unsaved = |reason: &str| Fault::Remote {
            operation: progress.begin(Operation::Confirming),
            reason: format!("the switch runs the target state but did not save it: {reason}"),
            is_transient: false,
        };
        let Some(request) = gnmi::save_request(held) else {
            return Err(unsaved("it has no host name to set again"));
        };
        self.set(&request, options, progress).await.map_err(|error| unsaved(&error.to_string()))?;
        done.is_unsaved = false;
        Ok(())
    }

    async fn set(
        &self,
        request: &SetRequest,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<(), ClientError> {
        // The server closes connections that are idle for 5 s.
        let client =
            GnmiClient::connect(&self.link.endpoint, self.link.login.clone(), options.client).await?;
        progress.begin(Operation::Writing);
        client.set(request, SET_LIMIT).await.map(drop)
    }

    /// Reads back, with retries while the switch does not answer.
    async fn read_back(
        &self,
        tree: &ConfigDb,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<ConfigDb, Fault> {
        let mut n_failed = 0;
        loop {
            match self.read(tree, options, progress).await {
                Err(fault @ Fault::Call { .. }) if fault.is_transient() && n_failed < READ_BACK => {
                    tokio::time::sleep(options.pause.wait(n_failed)).await;
                    n_failed += 1;
                }
                read => return read,
            }
        }
    }

    /// Reads the CONFIG_DB of the switch. A push that lost its connection may still be running, so this waits for its
    /// end.
    pub(super) async fn read(
        &self,
        tree: &ConfigDb,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<ConfigDb, Fault> {
        // gNMI serves only databases, so it is unknown whether the switch has these files.
        if self.switch.undelivered_files.iter().any(|missed| missed.file == FRR_CONF) {
            FactorySetting::boot_files().for_each(|file| progress.factory(file, FactoryState::Unknown));
        }
        for n_looks in 0..LOOKS {
            if let Some(config) = self.look(tree, options, progress).await? {
                return Ok(config);
            }
            tokio::time::sleep(options.pause.wait(n_looks)).await;
        }
        Err(checkpoint())
    }

    /// Reads over a new connection; `None` if the server answers with the state before a Set.
    async fn look(
        &self,
        tree: &ConfigDb,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<Option<ConfigDb>, Fault> {
        let line = self.connect(options, progress).await?;
        line.progress.begin(line.read_operation());
        let config = match line.value(gnmi::path(line.database, &[])).await {
            Ok(Some(text)) => line.parse_config(&text)?,
            Ok(None) => return Err(line.invalid("it has no value")),
            Err(Fault::Call { source, .. }) if source.code() == Some(Code::ResourceExhausted) => {
                // By default the server sends at most 4 MiB.
                line.by_table(self.tables(tree)?).await?
            }
            Err(fault) => return Err(fault),
        };
        let Some(path) = gnmi::of_checkpoint(&config) else { return Ok(Some(config)) };
        let is_old = line.value(path).await?.is_some_and(|text| gnmi::has_fields(&text));
        Ok((!is_old).then_some(config))
    }

    /// Returns the tables that the target state may have.
    fn tables(&self, tree: &ConfigDb) -> Result<BTreeSet<String>, Fault> {
        let site = self.switch.overlay().additions(&self.switch.name, tree);
        let site = site.map_err(|error| Fault::Site { reason: error.to_string() })?;
        let owned = OWNED.iter().map(|owned| owned.table.to_owned());
        Ok(owned.chain(site.tables().keys().cloned()).collect())
    }

    /// Reads the daemons' state, in the form of `sonic-db-dump`.
    pub(super) async fn read_daemon_state(
        &self,
        options: &PushOptions,
        progress: &Progress,
    ) -> Result<String, Fault> {
        let mut line = Line { database: "APPL_DB", ..self.connect(options, progress).await? };
        line.progress.begin(line.read_operation());
        let mut dump = serde_json::Map::new();
        // ASIC_DB mixes ports with all other objects, so it is not read over gNMI.
        for (database, table, separator) in APPLIED {
            line.database = database;
            let Some(text) = line.value(gnmi::path(line.database, &[table])).await? else { continue };
            let entries: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text)
                .map_err(|error| line.invalid(&format!("table `{table}` is not an object: {error}")))?;
            for (key, fields) in entries {
                dump.insert(
                    format!("{table}{separator}{key}"),
                    serde_json::json!({ "type": "hash", "value": fields }),
                );
            }
        }
        Ok(serde_json::Value::Object(dump).to_string())
    }

    async fn connect<'a>(&self, options: &'a PushOptions, progress: &'a Progress) -> Result<Line<'a>, Fault> {
        let operation = progress.begin(Operation::Connecting);
        let call = |source| Fault::Call { operation: operation.clone(), source };
        let client = GnmiClient::connect(&self.link.endpoint, self.link.login.clone(), options.client);
        let client = client.await.map_err(call)?;
        let has = client.capabilities().await.map_err(call)?;
        if !has.supported_encodings.contains(&Encoding::JsonIetf.into()) {
            return Err(Fault::Remote {
                operation,
                reason: "its gNMI server does not accept JSON_IETF, so it is not SONiC's".to_owned(),
                is_transient: false,
            });
        }
        Ok(Line { client, database: "CONFIG_DB", options, progress })
    }
}

/// A connection with the database that is read over it.
struct Line<'a> {
    client: GnmiClient,
    database: &'static str,
    options: &'a PushOptions,
    progress: &'a Progress,
}

impl Line<'_> {
    fn read_operation(&self) -> Operation {
        Operation::Reading { object: self.database.to_owned() }
    }

    fn invalid(&self, reason: &str) -> Fault {
        let reason = format!("the answer is not an {}: {reason}", self.database);
        Fault::Remote { operation: self.read_operation(), reason, is_transient: false }
    }

    fn parse_config(&self, text: &str) -> Result<ConfigDb, Fault> {
        ConfigDb::parse(text).map_err(|error| self.invalid(&error.to_string()))
    }

    /// Returns the JSON at a path; `None` if the path has no value.
    async fn value(&self, path: Path) -> Result<Option<String>, Fault> {
        // For a missing value some versions answer with an error, others with an empty answer.
        let answer = match self.client.get(&gnmi::get(path)).await {
            Ok(answer) => answer,
            Err(error) if error.code() == Some(Code::NotFound) => return Ok(None),
            Err(source) => return Err(Fault::Call { operation: self.read_operation(), source }),
        };
        let text = gnmi::json(&answer, self.options.client.memory_limit);
        text.map(|text| text.map(str::to_owned)).map_err(|reason| self.invalid(&reason))
    }

    /// Reads a configuration table by table.
    async fn by_table(&self, tables: BTreeSet<String>) -> Result<ConfigDb, Fault> {
        let (mut config, mut bytes) = (ConfigDb::default(), 0);
        for table in tables {
            let Some(text) = self.value(gnmi::path(self.database, &[&table])).await? else { continue };
            bytes += text.len();
            if bytes > self.options.client.memory_limit {
                return Err(self
                    .invalid(&format!("its tables have more than {bytes} bytes, the limit for one switch")));
            }
            let one =
                self.parse_config(&format!("{{{}:{text}}}", serde_json::Value::from(table.as_str())))?;
            config.replace(&table, one.table(&table).clone());
        }
        Ok(config)
    }
}

/// A place: a table, with key and field if it is a part of the table.
type Place<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

/// Returns every place that an operation sets or removes.
fn places(operation: &Difference) -> Vec<Place<'_>> {
    let (table, key) = (operation.table.as_str(), operation.key.as_deref());
    match &operation.action {
        Action::Add(Content::Table(entries)) => {
            entries.keys().map(|key| (table, Some(key.as_str()), None)).collect()
        }
        _ => vec![(table, key, operation.field.as_deref())],
    }
}

/// Returns whether one place contains the other.
fn overlap(one: Place<'_>, other: Place<'_>) -> bool {
    let same = |one: Option<&str>, other: Option<&str>| one.is_none() || other.is_none() || one == other;
    one.0 == other.0 && same(one.1, other.1) && (one.1.is_none() || other.1.is_none() || same(one.2, other.2))
}

/// Returns the operations of a part that are not applied yet.
fn unapplied_operations(part: &Patch, left: &Change) -> Vec<String> {
    let mut by_table: BTreeMap<&str, Vec<Place<'_>>> = BTreeMap::new();
    for place in left.patch.operations.iter().flat_map(places) {
        by_table.entry(place.0).or_default().push(place);
    }
    let is_open = |operation: &&Difference| {
        let Some(left) = by_table.get(operation.table.as_str()) else { return false };
        places(operation).iter().any(|place| left.iter().any(|other| overlap(*place, *other)))
    };
    part.operations.iter().filter(is_open).map(Difference::place).collect()
}

/// Reports the outcome of a part whose Set failed.
fn set_failure(error: &ClientError, part: &Patch, open: &[String]) -> Fault {
    let all = part.operations.len();
    let applied = match all - open.len() {
        0 => "no change was applied".to_owned(),
        some => format!("{some} of {all} changes were applied"),
    };
    let (reason, is_transient) = match error {
        ClientError::Rpc { message, .. } if is_at_work(message) => {
            (format!("{error}; another Set is in progress or was interrupted: {REMEDY}"), true)
        }
        ClientError::Rpc { message, .. } if message.starts_with("Timeout") => {
            (format!("{error}; the switch is still applying it; push again later"), false)
        }
        ClientError::Rpc { .. } => {
            (format!("{error}; see the system log of the switch"), error.is_transient())
        }
        ClientError::Deadline { .. } => {
            (format!("{error}; the switch may still be applying it; push again later"), false)
        }
        _ => (error.to_string(), error.is_transient()),
    };
    Fault::Remote { operation: Operation::Writing, reason: format!("{reason}; {applied}"), is_transient }
}

/// Reports that a Set failed with an unknown outcome.
fn unknown_outcome(error: &ClientError, fault: &Fault) -> Fault {
    Fault::Remote {
        operation: Operation::Writing,
        reason: format!("{error}; the applied part is unknown, because reading it failed: {fault}"),
        is_transient: error.is_transient() && fault.is_transient(),
    }
}

/// Returns whether a Set was rejected because the checkpoint of another one exists.
fn is_at_work(message: &str) -> bool {
    let message = message.to_lowercase();
    message.contains("checkpoint") && message.contains("exist")
}

/// Advice for a leftover checkpoint.
const REMEDY: &str =
    "if none is in progress, delete its checkpoint with `sudo config delete-checkpoint /etc/sonic/config`";

/// The server answers with the state before a Set.
fn checkpoint() -> Fault {
    Fault::Remote {
        operation: Operation::Reading { object: "CONFIG_DB".to_owned() },
        reason: format!(
            "the switch returns the state before a Set that is in progress or was interrupted: {REMEDY}"
        ),
        is_transient: true,
    }
}

/// The switch was changed by another party in the meantime.
fn concurrent_change() -> Fault {
    Fault::Remote {
        operation: Operation::Writing,
        reason: "the configuration changed after it was read".to_owned(),
        is_transient: true,
    }
}
