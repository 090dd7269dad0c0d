//! The messages of SONiC's gNMI server: paths of its databases, patches as Set requests, contents of answers.
//!
//! In: patches and tables. Out: messages, and configurations from them. Invariants: requests contain nothing
//! that the server would silently omit; the size of an answer is checked before it is parsed. The message
//! formats are taken from sonic-net/sonic-gnmi, `sonic_data_client/mixed_db_client.go` and `json_client.go`
//! (August 2026).

use closc_runtime::client::Endpoint;
use closc_runtime::gnmi::Login;
use closc_runtime::proto::gnmi::{
    Encoding, GetRequest, GetResponse, Path, PathElem, SetRequest, TypedValue, Update, get_request,
    typed_value,
};
use closc_sonic::{Action, Bounds, ConfigDb, Operation, Patch};

/// Connection to a switch.
#[derive(Clone)]
pub(crate) struct GnmiLink {
    pub(crate) endpoint: Endpoint,
    pub(crate) login: Option<Login>,
}

/// The origin of paths into SONiC's own databases.
const ORIGIN: &str = "sonic-db";

/// The name space of a switch with one ASIC.
const HERE: &str = "localhost";

/// Maximum size of a Set in bytes: the server's default limit.
pub(super) const SET_MAX: usize = 4 << 20;

/// Limits of one Set. A path is longer in gNMI than in a JSON patch, so a quarter of the bytes leaves room for any. The
/// server waits 600 s for the updater, and the updater may take twice the estimate.
pub(super) const BOUNDS: Bounds = Bounds { bytes: 1 << 20, seconds: 300 };

/// Returns the path of a place in a database; without steps, of the complete database.
pub(super) fn path(database: &str, steps: &[&str]) -> Path {
    let names = [database, HERE].into_iter().chain(steps.iter().copied());
    let elem = names.map(|name| PathElem { name: name.to_owned(), ..PathElem::default() }).collect();
    Path { origin: ORIGIN.to_owned(), elem, ..Path::default() }
}

/// Returns the request to read one path.
pub(super) fn get(path: Path) -> GetRequest {
    GetRequest {
        path: vec![path],
        r#type: get_request::DataType::All.into(),
        encoding: Encoding::JsonIetf.into(),
        ..GetRequest::default()
    }
}

/// Returns a patch as a Set, or the operation that SONiC's server would omit or reject. Before the server
/// calls the updater it looks up replaced and deleted paths. In keys it decodes `~1` as `/`, but no other
/// escape of JSON pointers.
pub(super) fn set(patch: &Patch) -> Result<SetRequest, String> {
    let mut request = SetRequest::default();
    for operation in &patch.operations {
        let place = pointer_path(operation);
        let value = |content: serde_json::Result<Vec<u8>>| {
            let json = content.expect("text and lists have a form in JSON").into();
            Some(TypedValue { value: Some(typed_value::Value::JsonIetfVal(json)) })
        };
        match &operation.action {
            Action::Add(content) => {
                let val = value(serde_json::to_vec(content));
                request.update.push(Update { path: Some(place), val, ..Update::default() });
            }
            Action::Replace(field) => {
                findable(operation)?;
                let val = value(serde_json::to_vec(field));
                request.replace.push(Update { path: Some(place), val, ..Update::default() });
            }
            Action::Remove => {
                findable(operation)?;
                request.delete.push(place);
            }
        }
    }
    Ok(request)
}

/// Returns a Set without changes, which makes the server save the running configuration.
pub(super) fn save_request(config: &ConfigDb) -> Option<SetRequest> {
    let (key, field) = ("localhost", "hostname");
    let value = config.entry("DEVICE_METADATA", key)?.get(field)?;
    let json = serde_json::to_vec(value).expect("text has a form in JSON").into();
    let val = Some(TypedValue { value: Some(typed_value::Value::JsonIetfVal(json)) });
    let path = Some(path("CONFIG_DB", &["DEVICE_METADATA", key, field]));
    Some(SetRequest { update: vec![Update { path, val, ..Update::default() }], ..SetRequest::default() })
}

/// Returns the path of an operation: the server copies its steps into a JSON pointer unchanged.
fn pointer_path(operation: &Operation) -> Path {
    let escaped = |text: &str| text.replace('~', "~0").replace('/', "~1");
    let steps = [Some(&operation.table), operation.key.as_ref(), operation.field.as_ref()];
    let steps: Vec<String> = steps.into_iter().flatten().map(|text| escaped(text)).collect();
    path("CONFIG_DB", &steps.iter().map(String::as_str).collect::<Vec<_>>())
}

fn findable(operation: &Operation) -> Result<(), String> {
    let plain = |text: &Option<String>, signs: &[char]| !text.as_deref().unwrap_or_default().contains(signs);
    let is_findable = !operation.table.contains(['~', '/'])
        && plain(&operation.key, &['~'])
        && plain(&operation.field, &['~', '/']);
    if is_findable { Ok(()) } else { Err(operation.place()) }
}

/// Returns a path that the server finds in a checkpoint but not in the database: it decodes `~1` as `/` only in
/// checkpoints. `None` if no entry is suitable. While `/etc/sonic/config.cp.json` exists, the server answers from that
/// checkpoint, which has the state before the Set that created it.
pub(super) fn of_checkpoint(config: &ConfigDb) -> Option<Path> {
    let entries =
        config.tables().iter().flat_map(|(name, table)| table.iter().map(move |entry| (name, entry)));
    let mut fit =
        entries.filter(|(_, (key, entry))| key.contains('/') && !key.contains('~') && !entry.is_empty());
    let (table, (key, _)) = fit.next()?;
    Some(path("CONFIG_DB", &[table, &key.replace('/', "~1")]))
}

/// Returns the JSON of an answer to a request for one path; `None` if it has no value.
pub(super) fn json(answer: &GetResponse, memory_limit: usize) -> Result<Option<&str>, String> {
    let mut values = answer.notification.iter().flat_map(|notification| &notification.update);
    let Some(update) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err("it has several values for one path".to_owned());
    }
    let Some(typed_value::Value::JsonIetfVal(bytes)) = update.val.as_ref().and_then(|val| val.value.as_ref())
    else {
        return Err("its value is not JSON_IETF".to_owned());
    };
    let text = std::str::from_utf8(bytes).map_err(|_| "its value is not UTF-8".to_owned())?;
    weigh(bytes, memory_limit)?;
    Ok(Some(text))
}

/// Rejects JSON that would take more memory than the limit for a switch.
pub(super) fn weigh(text: &[u8], memory_limit: usize) -> Result<(), String> {
    if closc_budget::decoded_json_bytes(text) <= memory_limit {
        return Ok(());
    }
    let bytes = text.len();
    Err(format!(
        "{bytes} bytes of JSON would take more than {memory_limit} bytes of memory, the limit for one switch"
    ))
}

/// Returns whether a value is an object that is not empty.
pub(super) fn has_fields(text: &str) -> bool {
    let read = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text);
    read.is_ok_and(|map| !map.is_empty())
}

#[cfg(test)]
mod tests {
    use closc_sonic::{Overlay, change};

    use super::*;

    fn config(text: &str) -> ConfigDb {
        ConfigDb::parse(text).expect("right")
    }

    fn format_path(path: &Path) -> String {
        path.elem.iter().map(|elem| elem.name.as_str()).collect::<Vec<_>>().join("/")
    }

    #[test]
    fn a_patch_is_a_set() {
        let live =
            config(r#"{ "STATIC_ROUTE": { "fd00::/48": { "nexthop": "fe80::1" }, "fd01::/48": {} } }"#);
        let tree = config(
            r#"{ "STATIC_ROUTE": { "fd00::/48": { "nexthop": "fe80::2" } },
                 "SWITCH_HASH": { "GLOBAL": { "ecmp_hash": ["DST_IP", "SRC_IP"] } } }"#,
        );
        let made = change("a", &live, &tree, &Overlay::default(), false).expect("they go together");
        let request = set(&made.patch).expect("nothing of it is left out");
        let paths = |updates: &[Update]| {
            updates
                .iter()
                .map(|update| format_path(update.path.as_ref().expect("it has one")))
                .collect::<Vec<_>>()
        };
        assert_eq!(paths(&request.update), ["CONFIG_DB/localhost/SWITCH_HASH"]);
        assert_eq!(paths(&request.replace), ["CONFIG_DB/localhost/STATIC_ROUTE/fd00::~148/nexthop"]);
        assert_eq!(
            request.delete.iter().map(format_path).collect::<Vec<_>>(),
            ["CONFIG_DB/localhost/STATIC_ROUTE/fd01::~148"]
        );
        assert!(
            request
                .update
                .iter()
                .all(|update| update.path.as_ref().is_some_and(|path| path.origin == ORIGIN))
        );
    }

    #[test]
    fn what_the_server_would_leave_out_is_not_asked_of_it() {
        let live = config(r#"{ "NEIGH": { "a~b": { "neigh": "x" }, "c": { "neigh": "x" } } }"#);
        let tree = config(r#"{ "NEIGH": { "c": { "neigh": "x" }, "d~e": { "neigh": "x" } } }"#);
        let made = change("a", &live, &tree, &Overlay::default(), false).expect("they go together");
        assert_eq!(set(&made.patch), Err("NEIGH|a~b".to_owned()));
    }

    #[test]
    fn answers_are_weighed() {
        let answer = |text: &str| {
            let value = typed_value::Value::JsonIetfVal(text.as_bytes().to_vec().into());
            let update = Update { val: Some(TypedValue { value: Some(value) }), ..Update::default() };
            GetResponse {
                notification: vec![closc_runtime::proto::gnmi::Notification {
                    update: vec![update],
                    ..Default::default()
                }],
                ..GetResponse::default()
            }
        };
        assert_eq!(json(&answer(r#"{"a":{}}"#), 1000), Ok(Some(r#"{"a":{}}"#)));
        assert!(json(&answer(&"{}:".repeat(100)), 1000).is_err_and(|why| why.contains("300 bytes of JSON")));
        assert_eq!(json(&GetResponse::default(), 1000), Ok(None));
        assert!(!has_fields("{}") && !has_fields("[1]") && has_fields(r#"{"a":"b"}"#));
    }
}
