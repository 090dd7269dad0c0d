//! Switches with gRPC servers: gNMI of SONiC, and P4Runtime.
//!
//! In: a fleet whose tree is compiled. Out: a server on loopback for each transport of each switch. Invariants:
//! pipelines run on the embedded switch, except that of Tofino, which only the chip vendor's compiler can compile. It
//! runs on a target without a data plane.

use std::net::SocketAddr;
use std::sync::Arc;

use closc_artefacts::carriers::Transport;
use closc_runtime::DeviceId;
use closc_runtime::testing::{FakeOptions, FakeTarget};
use closc_switch::{Endpoint, EngineConfig, Service, Switch, SwitchConfig};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::carriers::fleet::Fleet;
use crate::gnmi::GnmiSwitch;

/// The id of the only device at each address.
pub(crate) const DEVICE: DeviceId = DeviceId(1);

/// The highest port of the embedded switches, which the fabrics of these tests do not use.
const LAST_PORT: u32 = 1023;

/// Servers of one switch.
#[derive(Default)]
pub(crate) struct Servers {
    pub(crate) gnmi: Option<GnmiSwitch>,
    pub(crate) target: Option<Target>,
}

/// A P4Runtime server.
pub(crate) enum Target {
    Embedded(Endpoint),
    WithoutDataPlane(Box<FakeTarget>),
}

impl Target {
    pub(crate) fn address(&self) -> String {
        match self {
            Target::Embedded(endpoint) => endpoint.address().to_string(),
            Target::WithoutDataPlane(target) => target.address(),
        }
    }

    async fn start(is_embedded: bool) -> Self {
        if !is_embedded {
            let options = FakeOptions { device: DEVICE, ..FakeOptions::default() };
            let target = FakeTarget::with(options).await.expect("loopback has a port");
            return Target::WithoutDataPlane(Box::new(target));
        }
        let config = SwitchConfig {
            device_id: DEVICE.0,
            cpu_port: Some(LAST_PORT - 1),
            engine: EngineConfig { drop_port: LAST_PORT, ..EngineConfig::default() },
            ..SwitchConfig::default()
        };
        let (service, anywhere) =
            (Service::new([Arc::new(Switch::new(config))]), SocketAddr::from(([127, 0, 0, 1], 0)));
        Target::Embedded(Endpoint::serve(service, anywhere, None).await.expect("loopback has a port"))
    }
}

/// A SONiC switch that differs from its tree in one setting, and has some configuration of the site. Larger changes
/// would need a reload, which gNMI does not support.
fn gnmi(fleet: &Fleet, name: &str) -> GnmiSwitch {
    let text = fleet.place.read(&format!("a/switches/{name}/config_db.json"));
    let mut config: Value = serde_json::from_str(&text).expect("JSON");
    config["TACPLUS"] = json!({ "global": { "passkey": name } });
    for port in config["PORT"].as_object_mut().expect("it has ports").values_mut() {
        port["mtu"] = json!("1500");
    }
    let switch = GnmiSwitch::start(&config.to_string(), None);
    let mut held = switch.lock();
    held.daemon_state = held.ports();
    held.follows_after = Some(0);
    drop(held);
    switch
}

impl Servers {
    /// Starts the servers of a fleet.
    pub(crate) fn start(fleet: &mut Fleet) {
        let system = fleet.system;
        let (has_gnmi, has_target) = (system.has(Transport::SonicGnmi), system.has(Transport::P4Runtime));
        if !has_gnmi && !has_target {
            return;
        }
        let runtime = Runtime::new().expect("threads can be started");
        let names = fleet.names.clone();
        let started = runtime.block_on(async {
            let mut started = Vec::new();
            for name in names {
                let mut servers = Servers::default();
                if has_gnmi {
                    servers.gnmi = Some(gnmi(fleet, &name));
                }
                if has_target {
                    servers.target = Some(Target::start(system.name != "tofino").await);
                }
                started.push((name, servers));
            }
            started
        });
        fleet.servers = started.into_iter().collect();
        fleet.runtime = Some(runtime);
    }
}
