//! The connection of a controller to one switch, and the program that the switch runs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use closc_artefacts::Files;
use closc_runtime::client::{Client, ClientError, ClientTls, Controller, Endpoint, Options, Pipeline};
use closc_runtime::order::Order;
use closc_runtime::{DeviceId, ElectionId, Info, RoleName};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use tonic::transport::Channel;

use crate::inventory::{Defaults, Device, Inventory, InventoryError, Tls};

/// A switch and its P4Runtime connection.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Its plane, if known.
    pub plane: Option<u8>,
    /// Its wave in a push. Waves run one after the other, and the planes of a wave too.
    pub wave: usize,
    /// Connection.
    pub dial: Dial,
    /// Its P4Runtime device id.
    pub device: DeviceId,
    /// Role of the controller.
    pub controller: Controller,
}

/// Connection to a target.
#[derive(Debug, Clone)]
pub enum Dial {
    /// Over the network.
    Address(Endpoint),
    /// Over the network, with certificates that are read again for each connection.
    Renewed(Endpoint, Renewal),
    /// Over an existing channel, for example within one process.
    Channel(Channel),
}

/// Reads the certificates of an endpoint again.
#[derive(Clone)]
pub struct Renewal(Arc<dyn Fn() -> Result<Endpoint, InventoryError> + Send + Sync>);

impl fmt::Debug for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renewal").finish_non_exhaustive()
    }
}

impl Target {
    /// Returns the target of an inventory entry; certificates are read from `files`.
    pub fn from_inventory(
        name: &str,
        device: &Device,
        defaults: &Defaults,
        files: &dyn Files,
    ) -> Result<Self, InventoryError> {
        let endpoint = endpoint(name, device, defaults, files)?;
        let role = device.role.as_ref().or(defaults.role.as_ref()).cloned().unwrap_or_default();
        let election = device.election_id.or(defaults.election_id).unwrap_or(1);
        Ok(Target {
            name: name.to_owned(),
            plane: device.plane,
            wave: 0,
            dial: Dial::Address(endpoint),
            device: DeviceId(device.device_id),
            controller: Controller {
                election: Some(ElectionId(election.into())),
                role: RoleName::new(role),
                role_config: None,
            },
        })
    }

    /// Makes every connection read the certificates of the inventory again, so that new ones need no restart.
    pub(crate) fn renew_certificates(
        &mut self,
        device: &Device,
        defaults: &Defaults,
        files: &Arc<dyn Files>,
    ) {
        if device.tls.is_none() && defaults.tls.is_none() {
            return;
        }
        if let Dial::Address(first) = &self.dial {
            let (name, device, defaults) = (self.name.clone(), device.clone(), defaults.clone());
            let files = files.clone();
            let renew = move || endpoint(&name, &device, &defaults, &*files);
            self.dial = Dial::Renewed(first.clone(), Renewal(Arc::new(renew)));
        }
    }

    /// Connects.
    pub async fn connect(&self, options: Options) -> Result<Client, ClientError> {
        match &self.dial {
            Dial::Address(endpoint) => Client::connect(endpoint, self.device, options).await,
            Dial::Renewed(before, Renewal(renew)) => {
                let now = renew().unwrap_or_else(|error| {
                    tracing::warn!("certificates are unchanged: {error}");
                    before.clone()
                });
                Client::connect(&now, self.device, options).await
            }
            Dial::Channel(channel) => Ok(Client::over(channel.clone(), &self.name, self.device, options)),
        }
    }
}

impl Inventory {
    /// Returns the devices as targets, with certificates that are read again for each connection. Patterns are ignored.
    pub fn targets(&self, files: &Arc<dyn Files>) -> Result<Vec<Target>, InventoryError> {
        let target = |(name, device): (&String, &Device)| {
            let mut target = Target::from_inventory(name, device, &self.defaults, &**files)?;
            target.renew_certificates(device, &self.defaults, files);
            Ok(target)
        };
        self.devices.iter().map(target).collect()
    }
}

/// Returns the endpoint of a device, with certificates from `files`.
fn endpoint(
    name: &str,
    device: &Device,
    defaults: &Defaults,
    files: &dyn Files,
) -> Result<Endpoint, InventoryError> {
    let nothing = Tls::default();
    let tls = match (&device.tls, &defaults.tls) {
        (None, None) => None,
        (own, shared) => Some(own.as_ref().unwrap_or(&nothing).or(shared.as_ref().unwrap_or(&nothing))),
    };
    let endpoint = match tls {
        None => Endpoint::plain(&device.endpoint),
        Some(tls) => Endpoint::tls(&device.endpoint, read_tls(name, &tls, files)?),
    };
    endpoint.map_err(|error| InventoryError::Device { device: name.to_owned(), reason: error.to_string() })
}

/// Size limit of a certificate or key: they stay in memory for each switch.
const PEM_MAX: usize = 1 << 20;

pub(crate) fn read_tls(name: &str, tls: &Tls, files: &dyn Files) -> Result<ClientTls, InventoryError> {
    let read = |what: &'static str, path: &str| {
        let failed = |reason: String| InventoryError::File {
            device: name.to_owned(),
            purpose: what,
            path: path.to_owned(),
            reason,
        };
        let bytes = files.read(path).map_err(|error| failed(error.to_string()))?;
        if bytes.len() > PEM_MAX { Err(failed(format!("has more than {PEM_MAX} bytes"))) } else { Ok(bytes) }
    };
    let fault = |reason: &str| InventoryError::Device { device: name.to_owned(), reason: reason.to_owned() };
    let Some(ca) = &tls.ca else { return Err(fault("TLS needs `ca`, the authority that signs targets")) };
    let identity = match (&tls.cert, &tls.key) {
        (Some(cert), Some(key)) => Some((read("certificate", cert)?, read("key", key)?)),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => return Err(fault("`cert` and `key` must be set together")),
    };
    Ok(ClientTls { authority: read("authority", ca)?, identity, server_name: tls.server_name.clone() })
}

/// A pipeline, and the write order that its P4Info requires.
#[derive(Debug)]
pub struct Program {
    name: String,
    pipeline: Pipeline,
    order: Order,
    is_kept: bool,
}

impl Program {
    /// Creates a program with a name.
    pub fn new(name: impl Into<String>, pipeline: Pipeline) -> Self {
        let order = Order::new(pipeline.info());
        Program { name: name.into(), pipeline, order, is_kept: false }
    }

    /// Creates the program of a switch that keeps the pipeline it runs, so that it is never set.
    pub(crate) fn with_kept_pipeline(pipeline: Pipeline) -> Self {
        Program { is_kept: true, ..Program::new("kept", pipeline) }
    }

    /// Returns whether the program is the one that a switch already runs and keeps.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the pipeline.
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Returns the P4Info, indexed by name.
    pub fn info(&self) -> &Arc<Info> {
        self.pipeline.info()
    }

    /// Returns the order in which objects of the program are written.
    pub fn order(&self) -> &Order {
        &self.order
    }
}

/// The cookie of a pipeline, as shown in messages and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cookie(pub u64);

impl fmt::Display for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#018x}", self.0)
    }
}

impl serde::Serialize for Cookie {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Cookie {
    fn schema_name() -> Cow<'static, str> {
        "Cookie".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^0x[0-9a-f]{16}$",
            "description": "The number of a pipeline, in hexadecimal"
        })
    }
}

impl<'de> serde::Deserialize<'de> for Cookie {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = text.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
        number.map(Cookie).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not a cookie")))
    }
}

/// Programs by name, each once.
pub(crate) type Programs = BTreeMap<String, Arc<Program>>;
