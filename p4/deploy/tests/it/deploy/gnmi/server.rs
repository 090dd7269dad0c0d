//! A SONiC switch for tests, with a configuration in memory. It speaks gNMI as SONiC's own server does, including its
//! pitfalls.
//!
//! The rules are facts of sonic-net/sonic-gnmi (`gnmi_server/server.go`, `sonic_data_client/mixed_db_client.go` and
//! `json_client.go`) and of sonic-host-services (`host_modules/gcu.py`), August 2026.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use closc_runtime::proto::gnmi::g_nmi_server::{GNmi, GNmiServer};
use closc_runtime::proto::gnmi::{
    CapabilityRequest, CapabilityResponse, Encoding, GetRequest, GetResponse, Notification, Path, SetRequest,
    SetResponse, SubscribeRequest, SubscribeResponse, TypedValue, Update, UpdateResult, get_request,
    typed_value, update_result,
};
use prost::Message as _;
use serde_json::{Map, Value};
use tokio::task::JoinHandle;
use tonic::codegen::BoxStream;
use tonic::metadata::MetadataMap;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Server, ServerTlsConfig};
use tonic::{Request, Response, Status, Streaming};

/// Size limit of a message, in both directions.
const MESSAGE_MAX: usize = 4 << 20;

/// Called with the name of every call, before the switch handles it.
pub(crate) type Hook = Arc<dyn Fn(&str) + Send + Sync>;

/// A switch, and its misbehaviour.
#[derive(Default)]
pub(crate) struct Switch {
    /// Running state: tables, entries, fields.
    pub(crate) running: Value,
    /// Configuration after a reboot.
    pub(crate) saved_config: Value,
    /// State of the daemons: tables of APPL_DB.
    pub(crate) daemon_state: Value,
    /// `/etc/sonic/config.cp.json`, while it exists.
    pub(crate) checkpoint: Option<Value>,
    /// Configuration of a root delete with a root update, which the server does not apply.
    pub(crate) ignored_config: Option<Value>,
    /// The received calls.
    pub(crate) calls: Vec<String>,
    /// User and password, if required.
    pub(crate) login: Option<(String, String)>,
    /// Answers the next Set with an error, but applies it.
    pub(crate) fails_after: bool,
    /// Dies in the next Set, before the updater starts: the checkpoint stays.
    pub(crate) dies: bool,
    /// Changes its configuration before the call with this number, from 1.
    pub(crate) moves_at: usize,
    /// Removes its checkpoint before the call with this number, from 1.
    pub(crate) ends_at: usize,
    /// Number of calls after which its daemons have the running ports; `None` is never.
    pub(crate) follows_after: Option<usize>,
    /// Number of calls since they last had them.
    stale_calls: usize,
    /// The running configuration before each Set.
    pub(crate) set_snapshots: Vec<Value>,
    /// Never answers a Get.
    pub(crate) stalls: bool,
    /// Called at every call.
    pub(crate) hook: Option<Hook>,
}

/// A switch that listens.
pub(crate) struct GnmiSwitch {
    pub(crate) address: SocketAddr,
    switch: Arc<Mutex<Switch>>,
    task: JoinHandle<()>,
}

#[derive(Clone)]
struct Service(Arc<Mutex<Switch>>);

impl GnmiSwitch {
    /// Starts a switch on a free port of loopback that runs and has saved a configuration.
    pub(crate) fn start(config: &str, tls: Option<ServerTlsConfig>) -> Self {
        let running: Value = serde_json::from_str(config).expect("JSON");
        let switch = Switch { saved_config: running.clone(), running, ..Switch::default() };
        let switch = Arc::new(Mutex::new(switch));
        let incoming =
            TcpIncoming::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("loopback has a port");
        let address = incoming.local_addr().expect("it is bound");
        let service = GNmiServer::new(Service(switch.clone()))
            .max_decoding_message_size(16 * MESSAGE_MAX)
            .max_encoding_message_size(16 * MESSAGE_MAX);
        let mut builder = Server::builder();
        if let Some(tls) = tls {
            builder = builder.tls_config(tls).expect("the certificates are right");
        }
        let router = builder.add_service(service);
        let task = tokio::spawn(async move {
            // The test notices its end as a broken connection.
            drop(router.serve_with_incoming(incoming).await);
        });
        GnmiSwitch { address, switch, task }
    }

    /// Returns the switch, for inspection or for setting a fault.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Switch> {
        self.switch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for GnmiSwitch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An operation of a JSON patch: its name, its pointer, its value.
type Step<'r> = (&'r str, Vec<String>, Option<Value>);

/// An object of JSON.
type Object = Map<String, Value>;

fn object<'v>(value: Option<&'v Value>, what: &str) -> Result<&'v Object, String> {
    value.and_then(Value::as_object).ok_or_else(|| format!("Invalid {what}"))
}

impl Switch {
    fn begin(&mut self, call: &str, metadata: &MetadataMap) -> Result<(), Status> {
        if let Some(hook) = &self.hook {
            hook(call);
        }
        self.calls.push(call.to_owned());
        self.set_snapshots.extend((call == "Set").then(|| self.running.clone()));
        self.follow();
        if self.moves_at == self.calls.len() {
            self.running["DNS_NAMESERVER"] = serde_json::json!({ "192.0.2.54": {} });
        }
        if self.ends_at == self.calls.len() {
            self.checkpoint = None;
        }
        let Some((user, password)) = &self.login else { return Ok(()) };
        let has = |key: &str, value: &str| metadata.get(key).is_some_and(|given| given == value);
        if has("username", user) && has("password", password) {
            Ok(())
        } else {
            Err(Status::unauthenticated("Unauthenticated"))
        }
    }

    /// Makes the daemons follow the configuration, with a delay of some calls.
    fn follow(&mut self) {
        let Some(late) = self.follows_after else { return };
        let made = self.ports();
        if self.daemon_state == made {
            self.stale_calls = 0;
        } else if self.stale_calls >= late {
            (self.daemon_state, self.stale_calls) = (made, 0);
        } else {
            self.stale_calls += 1;
        }
    }

    /// State of the daemons for the running ports, none of which has a link.
    pub(crate) fn ports(&self) -> Value {
        let ports = self.running["PORT"].as_object().into_iter().flat_map(Map::keys);
        let up = |port: &String| (port.clone(), serde_json::json!({ "oper_status": "down" }));
        serde_json::json!({ "PORT_TABLE": Value::Object(ports.map(up).collect()) })
    }

    /// Returns the value at a path of a database, in the form of Redis or of a checkpoint.
    fn value(&self, database: &str, steps: &[String]) -> Result<Option<Value>, String> {
        match (database, &self.checkpoint) {
            ("CONFIG_DB", Some(checkpoint)) => match of_checkpoint(checkpoint, steps) {
                Ok(value) => Ok(Some(value)),
                // Data that the checkpoint lacks is read from the database.
                Err(_) => of_redis(&self.running, steps),
            },
            ("CONFIG_DB", None) => of_redis(&self.running, steps),
            ("APPL_DB" | "STATE_DB", _) => of_redis(&self.daemon_state, steps),
            _ => Err("Invalid target".to_owned()),
        }
    }

    fn save(&mut self) {
        self.saved_config = self.running.clone();
    }

    /// Applies a JSON patch, or rejects it, as SONiC's updater does.
    fn apply(&mut self, patch: &[Step<'_>]) -> Result<(), String> {
        let mut after = self.running.clone();
        for (op, steps, value) in patch {
            let unescaped: Vec<String> =
                steps.iter().map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
            let (last, parents) = unescaped.split_last().ok_or("Error: no pointer")?;
            let missing = || format!("Error: can't {op} a non-existent object '{}'", unescaped.join("/"));
            let mut place = &mut after;
            for parent in parents {
                place = place.get_mut(parent).ok_or_else(missing)?;
            }
            let place = place.as_object_mut().ok_or_else(missing)?;
            if *op != "add" && !place.contains_key(last) {
                return Err(missing());
            }
            match value {
                Some(value) => drop(place.insert(last.clone(), value.clone())),
                None => drop(place.remove(last)),
            }
        }
        let tables = object(Some(&after), "configuration")?;
        if tables.values().any(|table| table.as_object().is_none_or(Map::is_empty)) {
            return Err("Error: given patch is not valid because it will result in empty tables".to_owned());
        }
        if self.running.get("BUFFER_POOL") != after.get("BUFFER_POOL") {
            return Err("Error: Modification of BUFFER_POOL table is illegal".to_owned());
        }
        if after["WRED_PROFILE"].get("refused").is_some() {
            return Err("Error: validating function returned False".to_owned());
        }
        self.running = after;
        Ok(())
    }

    fn set(&mut self, request: &SetRequest) -> Result<(), Status> {
        let unknown = |error: String| Status::unknown(error);
        let all =
            request.delete.iter().chain(request.replace.iter().chain(&request.update).flat_map(|u| &u.path));
        let origin = origin(request.prefix.as_ref(), all.clone())?;
        if origin != "sonic-db" {
            return Err(Status::unimplemented("Translib write is disabled"));
        }
        for path in all {
            let (database, _) = place(request.prefix.as_ref(), path)?;
            if database != "CONFIG_DB" {
                return Err(Status::unknown(format!("Set RPC does not support {database}")));
            }
        }
        let root =
            |path: &Path| place(request.prefix.as_ref(), path).is_ok_and(|(_, steps)| steps.is_empty());
        let root_update = |update: &Update| update.path.as_ref().is_some_and(root);
        match (request.delete.as_slice(), request.replace.as_slice(), request.update.as_slice()) {
            // It is checked and written to a file in the container, and not applied.
            ([path], [], [update]) if root(path) && root_update(update) => {
                self.ignored_config = Some(content(update).map_err(unknown)?);
                Ok(())
            }
            ([], [update], []) if root_update(update) => {
                self.running = content(update).map_err(unknown)?;
                self.save();
                Ok(())
            }
            _ => self.patch(request),
        }
    }

    /// A Set of paths: creates a checkpoint, applies one JSON patch, and saves.
    fn patch(&mut self, request: &SetRequest) -> Result<(), Status> {
        if self.checkpoint.is_some() {
            return Err(Status::unknown("Error: Checkpoint '/etc/sonic/config' already exists"));
        }
        if std::mem::take(&mut self.dies) {
            self.checkpoint = Some(self.running.clone());
            return Err(Status::unavailable("the server ended"));
        }
        let patch = json_patch(&self.running, request).map_err(Status::unknown)?;
        if patch.is_empty() {
            return Ok(());
        }
        self.apply(&patch).map_err(Status::unknown)?;
        if std::mem::take(&mut self.fails_after) {
            return Err(Status::unknown("Error: Failed to apply patch on the following scopes"));
        }
        self.save();
        Ok(())
    }
}

/// Returns the server's JSON patch for a Set. The server looks up removed and replaced values in the checkpoint, and
/// omits or rejects those that are missing there.
fn json_patch<'r>(running: &Value, request: &'r SetRequest) -> Result<Vec<Step<'r>>, String> {
    let prefix = request.prefix.as_ref();
    let mut checkpoint = running.clone();
    let mut patch = Vec::new();
    for path in &request.delete {
        let (_, steps) = place(prefix, path).map_err(|status| status.message().to_owned())?;
        if remove(&mut checkpoint, &steps).is_ok() {
            patch.push(("remove", steps, None));
        }
    }
    for (op, updates) in [("replace", &request.replace), ("add", &request.update)] {
        for update in updates {
            let path = update.path.as_ref().ok_or("Invalid gnmi path")?;
            let (_, steps) = place(prefix, path).map_err(|status| status.message().to_owned())?;
            let value = content(update)?;
            if op == "replace" {
                remove(&mut checkpoint, &steps)?;
            }
            add(&mut checkpoint, &steps, &value)?;
            patch.push((op, steps, Some(value)));
        }
    }
    Ok(patch)
}

/// The value of an update; CONFIG_DB accepts only JSON_IETF.
fn content(update: &Update) -> Result<Value, String> {
    match update.val.as_ref().and_then(|val| val.value.as_ref()) {
        Some(typed_value::Value::JsonIetfVal(bytes)) if !bytes.is_empty() => {
            serde_json::from_slice(bytes).map_err(|error| format!("Fail to parse: {error}"))
        }
        _ => Err("Value encoding is not IETF JSON".to_owned()),
    }
}

/// Decodes `~1` as `/` in a key, but no other escape.
fn decode_steps(steps: &[String]) -> Vec<String> {
    let fix =
        |(number, step): (usize, &String)| if number == 1 { step.replace("~1", "/") } else { step.clone() };
    steps.iter().enumerate().map(fix).collect()
}

/// Removes a value from a checkpoint, and containers that become empty.
fn remove(checkpoint: &mut Value, steps: &[String]) -> Result<(), String> {
    let steps = decode_steps(steps);
    let (last, parents) = steps.split_last().ok_or("Invalid db table Path")?;
    let mut place = &mut *checkpoint;
    for parent in parents {
        place = place.get_mut(parent).ok_or_else(|| format!("Invalid entry {parent}"))?;
    }
    let place = place.as_object_mut().ok_or("Invalid entry")?;
    place.remove(last).ok_or_else(|| format!("Invalid field {last}"))?;
    if place.is_empty() && !parents.is_empty() {
        return remove(checkpoint, parents);
    }
    Ok(())
}

fn add(checkpoint: &mut Value, steps: &[String], value: &Value) -> Result<(), String> {
    let is_right = match steps.len() {
        1 | 2 => value.is_object(),
        3 => value.is_string() || value.is_array(),
        _ => false,
    };
    if !is_right {
        return Err("Invalid field".to_owned());
    }
    let steps = decode_steps(steps);
    let mut place = checkpoint;
    for step in &steps {
        place = &mut place[step.as_str()];
    }
    *place = value.clone();
    Ok(())
}

fn of_checkpoint(checkpoint: &Value, steps: &[String]) -> Result<Value, String> {
    let mut place = checkpoint;
    for step in decode_steps(steps) {
        place = place.get(&step).ok_or_else(|| format!("Invalid entry {step}"))?;
    }
    Ok(place.clone())
}

/// Returns a value in the form of Redis: an empty list becomes an empty text, which is read as a list with one empty
/// value.
fn of_redis(running: &Value, steps: &[String]) -> Result<Option<Value>, String> {
    let mut place = running;
    for (number, step) in steps.iter().enumerate() {
        match place.get(step) {
            Some(found) => place = found,
            None if number == 0 => return Err(format!("Failed to find {step}")),
            None => return Err(format!("No valid entry found for path {}", steps.join("/"))),
        }
    }
    let mut value = place.clone();
    fill(&mut value);
    Ok(Some(value))
}

fn fill(value: &mut Value) {
    match value {
        Value::Array(values) if values.is_empty() => values.push(Value::from("")),
        Value::Object(map) => map.values_mut().for_each(fill),
        _ => {}
    }
}

fn origin<'p>(prefix: Option<&Path>, paths: impl Iterator<Item = &'p Path>) -> Result<String, Status> {
    if let Some(prefix) = prefix.filter(|prefix| !prefix.origin.is_empty()) {
        return Ok(prefix.origin.clone());
    }
    let mut origins: Vec<&str> = paths.map(|path| path.origin.as_str()).collect();
    origins.dedup();
    match origins.as_slice() {
        [] => Ok(String::new()),
        [one] => Ok((*one).to_owned()),
        _ => Err(Status::unimplemented("Origin conflict in path")),
    }
}

/// Returns the database of a path, and the steps in it.
fn place(prefix: Option<&Path>, path: &Path) -> Result<(String, Vec<String>), Status> {
    let elems = prefix.iter().flat_map(|prefix| &prefix.elem).chain(&path.elem);
    let names: Vec<String> = elems.map(|elem| elem.name.clone()).collect();
    match names.as_slice() {
        [database, here, steps @ ..] if here == "localhost" => Ok((database.clone(), steps.to_vec())),
        [_, _, ..] => Err(Status::not_found("Unsupported namespace/container")),
        _ => Err(Status::unimplemented("Invalid elem length")),
    }
}

fn check_size(bytes: usize, what: &str) -> Result<(), Status> {
    if bytes <= MESSAGE_MAX {
        return Ok(());
    }
    Err(Status::resource_exhausted(format!(
        "grpc: {what} message larger than max ({bytes} vs. {MESSAGE_MAX})"
    )))
}

impl Service {
    fn lock(&self) -> MutexGuard<'_, Switch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[tonic::async_trait]
impl GNmi for Service {
    type SubscribeStream = BoxStream<SubscribeResponse>;

    async fn capabilities(
        &self,
        request: Request<CapabilityRequest>,
    ) -> Result<Response<CapabilityResponse>, Status> {
        self.lock().begin("Capabilities", request.metadata())?;
        let encodings = [Encoding::Json, Encoding::JsonIetf, Encoding::Proto];
        Ok(Response::new(CapabilityResponse {
            supported_encodings: encodings.map(Into::into).to_vec(),
            g_nmi_version: "0.7.0".to_owned(),
            ..CapabilityResponse::default()
        }))
    }

    async fn get(&self, request: Request<GetRequest>) -> Result<Response<GetResponse>, Status> {
        let stalls = {
            let mut switch = self.lock();
            switch.begin("Get", request.metadata())?;
            switch.stalls
        };
        if stalls {
            std::future::pending::<()>().await;
        }
        let request = request.into_inner();
        if request.r#type() != get_request::DataType::All {
            return Err(Status::unimplemented("unsupported request type"));
        }
        if !matches!(request.encoding(), Encoding::Json | Encoding::JsonIetf | Encoding::Proto) {
            return Err(Status::unimplemented("unsupported encoding"));
        }
        if origin(request.prefix.as_ref(), request.path.iter())? != "sonic-db" {
            return Err(Status::not_found("no such path in any YANG model"));
        }
        let mut answer = GetResponse::default();
        for path in &request.path {
            let (database, steps) = place(request.prefix.as_ref(), path)?;
            let value = self.lock().value(&database, &steps).map_err(Status::not_found)?;
            let Some(value) = value else { continue };
            if request.encoding() != Encoding::JsonIetf {
                return Err(Status::not_found("Unknown encoding"));
            }
            let json = typed_value::Value::JsonIetfVal(value.to_string().into_bytes().into());
            let update = Update {
                path: Some(path.clone()),
                val: Some(TypedValue { value: Some(json) }),
                ..Update::default()
            };
            answer.notification.push(Notification { update: vec![update], ..Notification::default() });
        }
        check_size(answer.encoded_len(), "trying to send")?;
        Ok(Response::new(answer))
    }

    async fn set(&self, request: Request<SetRequest>) -> Result<Response<SetResponse>, Status> {
        let mut switch = self.lock();
        switch.begin("Set", request.metadata())?;
        let request = request.into_inner();
        check_size(request.encoded_len(), "received")?;
        switch.set(&request)?;
        let result = |path: &Option<Path>, op: update_result::Operation| UpdateResult {
            path: path.clone(),
            op: op.into(),
            ..UpdateResult::default()
        };
        let gone =
            request.delete.iter().map(|path| result(&Some(path.clone()), update_result::Operation::Delete));
        let changed =
            request.replace.iter().map(|update| result(&update.path, update_result::Operation::Replace));
        let come = request.update.iter().map(|update| result(&update.path, update_result::Operation::Update));
        let response = gone.chain(changed).chain(come).collect();
        Ok(Response::new(SetResponse { prefix: request.prefix, response, ..SetResponse::default() }))
    }

    async fn subscribe(
        &self,
        _: Request<Streaming<SubscribeRequest>>,
    ) -> Result<Response<Self::SubscribeStream>, Status> {
        Err(Status::unimplemented("this switch is for Get and Set"))
    }
}
