//! Answers of SONiC switches over gNMI, read by `closc drift`. A server on loopback answers each Get request with the
//! input.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use closc_runtime::proto::gnmi::g_nmi_server::{GNmi, GNmiServer};
use closc_runtime::proto::gnmi::{
    CapabilityRequest, CapabilityResponse, Encoding, GetRequest, GetResponse, Notification, Path, PathElem,
    SetRequest, SetResponse, SubscribeRequest, SubscribeResponse, TypedValue, Update, typed_value,
};
use prost::Message as _;
use tokio::runtime::Runtime;
use tonic::codegen::BoxStream;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

use crate::surfaces::kinds::Numbers;
use crate::surfaces::measure::{self, Usage};
use crate::surfaces::{Kind, Reader, Surface, common, make_input, ssh};

pub(crate) static SURFACE: Surface = Surface {
    name: "gNMI",
    kinds: KINDS.len() + ssh::CONFIGS.len(),
    make,
    open: || Some(Box::new(Switch::new())),
};

/// Messages without a configuration.
const KINDS: &[Kind] = &[
    ("wide paths", |n, size| answer(n, size, |n| update(path(n, 200, 0), "{}"))),
    ("paths with keys", |n, size| answer(n, size, |n| update(path(n, 3, 300), "{}"))),
    ("one long path", |n, size| answer(n, 0, |n| update(path(n, size / 8, 0), "{}"))),
    ("empty updates", |n, size| answer(n, size, |_| Update::default())),
    ("empty notifications", |_, size| {
        let notification = vec![Notification::default(); size / 2];
        GetResponse { notification, ..GetResponse::default() }.encode_to_vec()
    }),
    ("other values", |n, size| {
        answer(n, size, |n| {
            let value = typed_value::Value::UintVal(n.next());
            Update { val: Some(TypedValue { value: Some(value) }), ..Update::default() }
        })
    }),
    ("counts of duplicates", |n, size| {
        answer(n, size, |n| Update { duplicates: n.next() as u32, ..update(path(n, 2, 0), "{}") })
    }),
    ("many values", |n, size| answer(n, size, |n| update(path(n, 2, 0), "{\"PORT\":{}}"))),
    ("noise in a value", |n, size| {
        let noise: Vec<u8> = (0..size / 8).flat_map(|_| n.next().to_le_bytes()).collect();
        one(noise)
    }),
];

fn make(number: usize, size: usize) -> (&'static str, Vec<u8>) {
    match ssh::CONFIGS.get(number % (KINDS.len() + ssh::CONFIGS.len())) {
        Some((kind, make)) => {
            // The message and the path add some bytes to the configuration.
            let text = make(&mut Numbers::new(number as u64), size.saturating_sub(500));
            (kind, one(nest_rows(&text).into_bytes()))
        }
        None => make_input(KINDS, number, size),
    }
}

/// Nests rows in their tables, instead of keys `TABLE|KEY`.
fn nest_rows(text: &str) -> String {
    text.replace("|Ethernet", "\":{\"Ethernet").replace("\"value\":", "")
}

fn one(json: Vec<u8>) -> Vec<u8> {
    let value = typed_value::Value::JsonIetfVal(json.into());
    let update = Update { val: Some(TypedValue { value: Some(value) }), ..Update::default() };
    let notification = vec![Notification { update: vec![update], ..Notification::default() }];
    GetResponse { notification, ..GetResponse::default() }.encode_to_vec()
}

fn path(numbers: &mut Numbers, elements: usize, keys: usize) -> Path {
    let elem = (0..elements).map(|_| PathElem {
        name: numbers.up_to(9_999).to_string(),
        key: (0..keys).map(|_| (numbers.next().to_string(), "x".to_owned())).collect(),
    });
    Path { origin: "sonic-db".to_owned(), elem: elem.collect(), ..Path::default() }
}

fn update(path: Path, json: &'static str) -> Update {
    let value = typed_value::Value::JsonIetfVal(json.as_bytes().into());
    Update { path: Some(path), val: Some(TypedValue { value: Some(value) }), ..Update::default() }
}

/// A message with several notifications of updates, until it has its size.
fn answer(numbers: &mut Numbers, size: usize, item: impl Fn(&mut Numbers) -> Update) -> Vec<u8> {
    let mut response = GetResponse::default();
    let (mut bytes, mut update) = (0, Vec::new());
    while bytes <= size && bytes < 950_000 {
        let next = item(numbers);
        bytes += next.encoded_len() + 4;
        update.push(next);
        if update.len() > 100 {
            let update = std::mem::take(&mut update);
            response.notification.push(Notification { update, ..Notification::default() });
        }
    }
    response.notification.push(Notification { update, ..Notification::default() });
    response.encode_to_vec()
}

/// The answer to each Get request.
#[derive(Clone, Default)]
struct Service(Arc<Mutex<GetResponse>>);

#[tonic::async_trait]
impl GNmi for Service {
    type SubscribeStream = BoxStream<SubscribeResponse>;

    async fn capabilities(
        &self,
        _: Request<CapabilityRequest>,
    ) -> Result<Response<CapabilityResponse>, Status> {
        let encodings = [Encoding::Json, Encoding::JsonIetf];
        Ok(Response::new(CapabilityResponse {
            supported_encodings: encodings.map(Into::into).to_vec(),
            g_nmi_version: "0.7.0".to_owned(),
            ..CapabilityResponse::default()
        }))
    }

    async fn get(&self, request: Request<GetRequest>) -> Result<Response<GetResponse>, Status> {
        // Such keys exist only in the checkpoint of an earlier change, which this switch does not have.
        let paths = &request.get_ref().path;
        if paths.iter().flat_map(|path| &path.elem).any(|step| step.name.contains("~1")) {
            return Err(Status::not_found("No valid entry found"));
        }
        Ok(Response::new(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()))
    }

    async fn set(&self, _: Request<SetRequest>) -> Result<Response<SetResponse>, Status> {
        Err(Status::unimplemented("this switch is read only"))
    }

    async fn subscribe(
        &self,
        _: Request<Streaming<SubscribeRequest>>,
    ) -> Result<Response<Self::SubscribeStream>, Status> {
        Err(Status::unimplemented("this switch is for Get"))
    }
}

struct Switch {
    place: common::Place,
    service: Service,
    _runtime: Runtime,
}

impl Switch {
    fn new() -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let service = Service::default();
        let port = runtime.block_on(async {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let incoming = TcpIncoming::bind(address).expect("loopback has a port");
            let port = incoming.local_addr().expect("it is bound").port();
            let server = GNmiServer::new(service.clone()).max_encoding_message_size(4 << 20);
            tokio::spawn(async move {
                drop(Server::builder().add_service(server).serve_with_incoming(incoming).await);
            });
            port
        });
        let place = ssh::tree(&format!("sonic-gnmi, address: 127.0.0.1, port: {port}"));
        let mut switch = Switch { place, service, _runtime: runtime };
        let text = switch.place.read("tree/switches/p0-t0-001/config_db.json");
        let usage = switch.read("", &one(text.into_bytes()));
        assert_eq!(usage.code, 0, "{}", switch.place.read("said"));
        switch
    }
}

impl Reader for Switch {
    fn read(&mut self, _: &str, input: &[u8]) -> Usage {
        let answer = GetResponse::decode(input).expect("a message");
        *self.service.0.lock().unwrap_or_else(PoisonError::into_inner) = answer;
        measure::command(&ssh::drift(), &self.place, None)
    }
}
