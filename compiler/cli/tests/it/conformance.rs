//! `closc conformance` against the embedded switch: exit codes, table and JSON document.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use closc_switch::{Endpoint, EngineConfig, Service, Switch, SwitchConfig};
use serde_json::Value;

use crate::common::Place;

/// A switch in this process, and the runtime that serves it.
struct SwitchServer {
    endpoint: Endpoint,
    _runtime: tokio::runtime::Runtime,
}

impl SwitchServer {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let engine = EngineConfig { priority_queues: 8, ..EngineConfig::default() };
        let config = SwitchConfig { device_id: 3, cpu_port: Some(510), engine, ..SwitchConfig::default() };
        let service = Service::new([Arc::new(Switch::new(config))]);
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let endpoint = runtime.block_on(Endpoint::serve(service, anywhere, None)).expect("a free port");
        SwitchServer { endpoint, _runtime: runtime }
    }

    fn address(&self) -> String {
        self.endpoint.address().to_string()
    }
}

#[test]
fn the_embedded_switch_passes_and_the_document_fits_its_schema() {
    let (place, served) = (Place::new(), SwitchServer::new());
    let address = served.address();
    let text = place.ends(0, &["conformance", &address, "--device-id", "3"]);
    let total =
        text.lines().find(|line| line.starts_with("P4Runtime 1.5.0")).expect("a row for all sections");
    let numbers: Vec<u32> =
        total.split_whitespace().skip(2).map(|word| word.parse().expect("a number")).collect();
    assert!(numbers[0] > 150 && numbers[1] == 0, "{text}");

    let replaced = ["conformance", &address, "--device-id", "3", "--replace", "--section", "9.5,17"];
    let document = place.json(0, &replaced);
    assert_eq!(document["specification"], "1.5.0");
    assert_eq!(document["failed"], 0);
    let sections: Vec<&Value> =
        document["sections"].as_array().expect("a list").iter().map(|section| &section["number"]).collect();
    assert_eq!(sections, ["9.5.1", "9.5.2", "17"]);
    let one = ["conformance", &address, "--device-id", "3", "--replace", "--corner", "group-insert"];
    assert_eq!(place.json(0, &one)["passed"], 1);
}

#[test]
fn what_is_not_judged_is_said_why() {
    let (place, served) = (Place::new(), SwitchServer::new());
    let address = served.address();
    let unknown = place.ends(1, &["conformance", &address, "--device-id", "3", "--section", "99"]);
    assert!(unknown.contains("section `99` has no corner"), "{unknown}");
    let unknown = place.ends(1, &["conformance", &address, "--device-id", "3", "--corner", "none"]);
    assert!(unknown.contains("unknown corner `none`"), "{unknown}");
    place.ends(0, &["conformance", &address, "--device-id", "3", "--section", "17"]);
    let running = place.ends(1, &["conformance", &address, "--device-id", "3"]);
    assert!(running.contains("device 3 runs a pipeline") && running.contains("--replace"), "{running}");
    place.write("other.json", "{}");
    let program = ["--device-config", "other.json"];
    let args = [&["conformance", &address, "--device-id", "3", "--replace"][..], &program].concat();
    let refused = place.ends(1, &args);
    assert!(refused.contains("the program cannot be set"), "{refused}");
    let nowhere = place.ends(1, &["conformance", "unix:/nowhere/switch.sock"]);
    assert!(nowhere.contains("/nowhere/switch.sock"), "{nowhere}");
}
