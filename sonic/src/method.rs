//! Application of a change: method, interruption and duration.
//!
//! In: the live configuration, the target configuration, and the patch between them. Out: [`Method`], the ports that
//! bounce, and an [`Estimate`] with its source. Invariants: a change that SONiC's Generic Config Updater rejects is
//! never passed to it. The rules are those of `generic_config_updater` in sonic-utilities: its validators of fields and
//! its sorter.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config_db::ConfigDb;
use crate::patch::{Action, Operation, Patch};
use crate::validator::Updater;

/// Maximum number of ports that a patch adds, removes or moves to other lanes. It is assumed: sonic-utilities has
/// no limit, and the tests of sonic-mgmt patch one port at a time (`add_cluster/test_port_speed_change.py`).
/// SONiC can set lanes only when a port is created (`CreateOnlyFilter` of `patch_sorter.py`). So its updater
/// removes the port with all that refers to it, and adds both again.
const PORTS_MAX: usize = 2;

/// Maximum number of ports whose speed a patch changes. sonic-buildimage 23945 measured 3 minutes for one, 9
/// for two, hours for twelve.
const SPEEDS_MAX: usize = 1;

/// Seconds of one move of the updater: it sleeps 1 s after each and loads the YANG models before it.
const MOVE_S: u64 = 2;

/// Seconds that a speed change of one port takes.
const SPEED_S: u64 = 180;

/// Seconds after which sonic-mgmt gives up on a patch. A patch that would take longer becomes a reload.
pub(crate) const PATCH_MAX_S: u64 = 900;

/// Seconds within which sonic-mgmt expects all ports after a reload.
const RELOAD_S: u64 = 420;

/// The fields of `DEVICE_METADATA|localhost` that daemons apply while they run.
const METADATA_LIVE: [&str; 2] = ["cluster", "hostname"];

/// The fields of a buffer profile that may be replaced in place.
const PROFILE_LIVE: [&str; 2] = ["dynamic_th", "xoff"];

/// Tables whose entries belong to a port that is down while they change.
const BOUNCING: [&str; 6] = [
    "BUFFER_PG",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "BUFFER_QUEUE",
    "PORT_QOS_MAP",
    "QUEUE",
];

/// Application of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum Method {
    /// Nothing differs.
    Nothing,
    /// `config apply-patch`.
    Patch,
    /// The complete file and `config reload`, which interrupts every port.
    Reload {
        /// The reasons why a patch does not suffice.
        reasons: Vec<Reason>,
    },
}

/// The reason why a change needs a reload.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Reason {
    /// The updater refuses every change of a buffer pool.
    BufferPool {
        /// The pool.
        pool: String,
    },
    /// The updater refuses to change this field of a buffer profile.
    BufferProfile {
        /// The profile.
        profile: String,
        /// The field.
        field: String,
    },
    /// The updater of the release does not accept this change on this hwsku.
    Hwsku {
        /// Where the change is: `TABLE|key.field`.
        place: String,
        /// The hwsku.
        hwsku: String,
    },
    /// Daemons read the field when they start, and not again.
    Metadata {
        /// The field.
        field: String,
    },
    /// Ports are added or removed, or change lanes.
    Breakout {
        /// Number of ports.
        ports: usize,
    },
    /// Speeds change.
    Speed {
        /// Number of ports.
        ports: usize,
    },
    /// Ports that are up change to other maps, and the old maps are removed. The updater does not finish this in
    /// acceptable time.
    Maps {
        /// Number of ports.
        ports: usize,
    },
    /// The updater refuses to remove it.
    Removal {
        /// Where it is: `TABLE|key.field`.
        place: String,
    },
    /// The patch would take longer than sonic-mgmt waits for one.
    Slow {
        /// Seconds that it would take.
        seconds: u64,
    },
    /// The operator requested it.
    Asked,
}

/// A port that goes down and comes up again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bounce {
    /// The port.
    pub port: String,
    /// The changed tables that take it down.
    pub tables: BTreeSet<String>,
}

/// Duration of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Seconds.
    pub seconds: u64,
    /// Source of the number.
    pub source: Cow<'static, str>,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::BufferPool { pool } => write!(f, "SONiC changes buffer pool `{pool}` only by a reload"),
            Reason::BufferProfile { profile, field } => {
                write!(f, "SONiC changes `{field}` of buffer profile `{profile}` only by a reload")
            }
            Reason::Hwsku { place, hwsku } => {
                write!(f, "SONiC's updater does not change `{place}` on hwsku `{hwsku}`")
            }
            Reason::Metadata { field } => {
                write!(f, "daemons read `{field}` of DEVICE_METADATA only when they start")
            }
            Reason::Breakout { ports } => write!(
                f,
                "number of ports that are added, are removed, or change lanes: {ports}; closc patches up to \
                 {PORTS_MAX}, an assumed limit"
            ),
            Reason::Speed { ports } => write!(
                f,
                "ports change their speed: {ports}; a patch for several ports can take hours (sonic-buildimage 23945)"
            ),
            Reason::Maps { ports } => {
                write!(
                    f,
                    "SONiC's updater takes too long to replace QoS maps of ports that are up; \
                     number of ports: {ports}"
                )
            }
            Reason::Removal { place } => write!(f, "SONiC removes `{place}` only by a reload"),
            Reason::Slow { seconds } => {
                write!(f, "a patch would take about {seconds} s, more than the limit of {PATCH_MAX_S} s")
            }
            Reason::Asked => f.write_str("a reload was requested"),
        }
    }
}

/// Method, bounced ports and duration of a change.
pub(crate) struct Verdict {
    pub(crate) method: Method,
    pub(crate) bounces: Vec<Bounce>,
    pub(crate) estimate: Estimate,
}

/// Chooses the method for a patch, and computes its impact.
pub(crate) fn judge(live: &ConfigDb, wanted: &ConfigDb, patch: &Patch, reload: bool) -> Verdict {
    if patch.is_empty() {
        let estimate = Estimate { seconds: 0, source: "nothing differs".into() };
        return Verdict { method: Method::Nothing, bounces: Vec::new(), estimate };
    }
    let bounces = bounces(live, wanted, patch);
    let estimate = patch_estimate(&patch.operations, &bounces);
    let updater = Updater::of(live);
    let refused =
        |operation: &Operation| rejection_reason(operation).or_else(|| hwsku_rejection(&updater, operation));
    let mut reasons: BTreeSet<Reason> = patch.operations.iter().filter_map(refused).collect();
    reasons.extend(pools(live, wanted, patch));
    reasons.extend(ports(patch));
    reasons.extend(maps(live, patch));
    if estimate.seconds > PATCH_MAX_S {
        reasons.insert(Reason::Slow { seconds: estimate.seconds });
    }
    if reload {
        reasons.insert(Reason::Asked);
    }
    if reasons.is_empty() {
        return Verdict { method: Method::Patch, bounces, estimate };
    }
    let all = live.table("PORT").iter().filter(|(port, _)| is_up(live, port));
    let tables = BTreeSet::from(["(reload)".to_owned()]);
    let bounces = all.map(|(port, _)| Bounce { port: port.clone(), tables: tables.clone() }).collect();
    let estimate = Estimate {
        seconds: RELOAD_S,
        source: "sonic-mgmt's limit for all ports to come up after a reload".into(),
    };
    Verdict { method: Method::Reload { reasons: reasons.into_iter().collect() }, bounces, estimate }
}

fn is_up(config: &ConfigDb, port: &str) -> bool {
    config.text("PORT", port, "admin_status") == Some("up")
}

/// Returns why the updater cannot apply an operation.
fn rejection_reason(operation: &Operation) -> Option<Reason> {
    let key = operation.key.clone().unwrap_or_default();
    match (operation.table.as_str(), operation.field.as_deref(), &operation.action) {
        ("BUFFER_PROFILE", Some(field), Action::Replace(_)) if PROFILE_LIVE.contains(&field) => None,
        ("BUFFER_PROFILE", Some(field), _) => {
            Some(Reason::BufferProfile { profile: key, field: field.to_owned() })
        }
        ("DEVICE_METADATA", Some(field), _) if METADATA_LIVE.contains(&field) => None,
        ("DEVICE_METADATA", Some(field), _) => Some(Reason::Metadata { field: field.to_owned() }),
        ("PFC_WD", field, Action::Remove)
            if key == "GLOBAL" && field.is_none_or(|f| f == "POLL_INTERVAL") =>
        {
            Some(Reason::Removal { place: operation.place() })
        }
        ("LOOPBACK_INTERFACE", None, Action::Remove) if key == "Loopback0" => {
            Some(Reason::Removal { place: operation.place() })
        }
        _ => None,
    }
}

/// Returns a reason with the hwsku, if this release's updater rejects an operation on the hwsku.
fn hwsku_rejection(updater: &Updater<'_>, operation: &Operation) -> Option<Reason> {
    let hwsku = updater.refuses(operation)?.to_owned();
    Some(Reason::Hwsku { place: operation.place(), hwsku })
}

/// Returns a reason for each buffer pool that changes. An operation on the complete table changes the pools
/// of both configurations.
fn pools(live: &ConfigDb, wanted: &ConfigDb, patch: &Patch) -> BTreeSet<Reason> {
    let mut found = BTreeSet::new();
    for operation in patch.operations.iter().filter(|operation| operation.table == "BUFFER_POOL") {
        let keys = [live, wanted].into_iter().flat_map(|config| config.table("BUFFER_POOL").keys());
        match &operation.key {
            Some(pool) => drop(found.insert(Reason::BufferPool { pool: pool.clone() })),
            None => found.extend(keys.map(|pool| Reason::BufferPool { pool: pool.clone() })),
        }
    }
    found
}

/// Returns reasons if the patch adds or removes too many ports, or changes the lanes or speeds of too many.
fn ports(patch: &Patch) -> impl Iterator<Item = Reason> {
    let of = |operation: &&Operation| operation.table == "PORT";
    let moved =
        |operation: &&Operation| !matches!(operation.field.as_deref(), Some(field) if field != "lanes");
    let moved = patch.operations.iter().filter(of).filter(moved).count();
    let speeds = speeds(&patch.operations);
    let breakout = (moved > PORTS_MAX).then_some(Reason::Breakout { ports: moved });
    breakout.into_iter().chain((speeds > SPEEDS_MAX).then_some(Reason::Speed { ports: speeds }))
}

/// Returns a reason if maps of ports that are up are replaced and the old maps are removed. For two such ports SONiC's
/// updater searched for an order for more than four minutes. If the old maps stay, each field is one move, with its
/// port down.
fn maps(live: &ConfigDb, patch: &Patch) -> Option<Reason> {
    let mut gone = BTreeSet::new();
    for operation in patch.operations.iter().filter(|o| o.action == Action::Remove && o.field.is_none()) {
        let table = operation.table.as_str();
        let is_map =
            table.ends_with("_MAP") && table != "PORT_QOS_MAP" || table == "MAP_PFC_PRIORITY_TO_QUEUE";
        match &operation.key {
            Some(key) if is_map => drop(gone.insert(key.as_str())),
            None if is_map => gone.extend(live.table(table).keys().map(String::as_str)),
            Some(_) | None => {}
        }
    }
    let mut ports = BTreeSet::new();
    for operation in patch.operations.iter().filter(|o| o.table == "PORT_QOS_MAP") {
        let (Some(port), Some(field), Action::Replace(_)) =
            (&operation.key, &operation.field, &operation.action)
        else {
            continue;
        };
        let before = live.text("PORT_QOS_MAP", port, field);
        if is_up(live, port) && field.ends_with("_map") && before.is_some_and(|map| gone.contains(map)) {
            ports.insert(port);
        }
    }
    (!ports.is_empty()).then_some(Reason::Maps { ports: ports.len() })
}

fn speeds(operations: &[Operation]) -> usize {
    let of = |o: &&Operation| o.table == "PORT" && o.field.as_deref() == Some("speed");
    operations.iter().filter(of).count()
}

/// Returns the ports that are up before and after the change, and down in between.
fn bounces(live: &ConfigDb, wanted: &ConfigDb, patch: &Patch) -> Vec<Bounce> {
    let mut found: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for operation in &patch.operations {
        let table = operation.table.as_str();
        let keys: Vec<&str> = match &operation.key {
            Some(key) => vec![key],
            None => live.table(table).keys().chain(wanted.table(table).keys()).map(String::as_str).collect(),
        };
        // For these tables the updater takes the port down itself; changes of speed, FEC or lanes interrupt the link in
        // any case.
        let link = table == "PORT" && matches!(operation.field.as_deref(), Some("speed" | "fec" | "lanes"));
        if !link && !BOUNCING.contains(&table) {
            continue;
        }
        for key in keys {
            let port = key.split('|').next().unwrap_or(key);
            if is_up(live, port) && is_up(wanted, port) {
                found.entry(port).or_default().insert(table.to_owned());
            }
        }
    }
    found.into_iter().map(|(port, tables)| Bounce { port: port.to_owned(), tables }).collect()
}

/// Returns the seconds that one operation takes.
pub(crate) fn seconds_of(operation: &Operation, bounces: &[Bounce]) -> u64 {
    patch_estimate(std::slice::from_ref(operation), bounces).seconds
}

/// Estimates the duration. Each operation is a move. An operation that needs its port down is two more, because the
/// updater takes the port down and up for it.
fn patch_estimate(operations: &[Operation], bounces: &[Bounce]) -> Estimate {
    let down: BTreeSet<&str> = bounces.iter().map(|bounce| bounce.port.as_str()).collect();
    let is_down = |operation: &&Operation| {
        let port = operation.key.as_deref().and_then(|key| key.split('|').next());
        BOUNCING.contains(&operation.table.as_str()) && port.is_none_or(|port| down.contains(port))
    };
    let bounced = operations.iter().filter(is_down).count();
    let moves = u64::try_from(operations.len() + 2 * bounced).unwrap_or(u64::MAX);
    let speeds = u64::try_from(speeds(operations)).unwrap_or(u64::MAX);
    Estimate {
        seconds: moves.saturating_mul(MOVE_S).saturating_add(speeds.saturating_mul(SPEED_S)),
        source:
            "2 s per move of SONiC's updater, which sleeps 1 s after each; 180 s per changed speed, as in \
                 sonic-buildimage 23945"
                .into(),
    }
}
