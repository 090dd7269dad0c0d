//! The web page of the demo, on loopback.
//!
//! In: HTTP requests. Out: the page, the state as JSON, and requests of the user for the stage. Invariants: the
//! server listens on loopback only. Pages of other origins cannot send orders, because orders need a header that
//! browsers send only to the origin of the page.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread;

use anyhow::Context as _;
use closc_http::{Answer, Request};
use closc_lab::Fault;
use closc_lab::job::Action;
use serde::Deserialize;
use tokio::net::TcpListener;

use super::GRAY_PPM;
use super::stage::{Stage, Wish};

/// Required header of orders.
const ORDER: &str = "x-closc-demo";

const HEADERS: &[(&str, &str)] = &[
    ("x-content-type-options", "nosniff"),
    ("cache-control", "no-store"),
    ("referrer-policy", "no-referrer"),
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action \
         'none'; frame-ancestors 'none'",
    ),
];

/// The server, which ends with the process.
pub(super) struct Server {
    address: SocketAddr,
}

/// An order from the page.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", deny_unknown_fields)]
enum PageRequest {
    Cut { name: String },
    Loss { cable: String },
    NicPort { name: String },
    Plane { plane: u8 },
    Restore { name: Option<String> },
    Drain { name: String },
    Lift {},
    End {},
}

impl From<PageRequest> for Wish {
    fn from(asked: PageRequest) -> Wish {
        let breaks = |fault| Wish::Act(Action::Break(fault));
        match asked {
            PageRequest::Cut { name } => breaks(Fault::Cut(name)),
            PageRequest::Loss { cable } => breaks(Fault::Loss { cable, ppm: GRAY_PPM }),
            PageRequest::NicPort { name } => breaks(Fault::NicPort(name)),
            PageRequest::Plane { plane } => breaks(Fault::Plane(plane)),
            PageRequest::Restore { name } => Wish::Act(Action::Restore(name)),
            PageRequest::Drain { name } => Wish::Drain(name),
            PageRequest::Lift {} => Wish::LiftAll,
            PageRequest::End {} => Wish::End,
        }
    }
}

impl Server {
    /// Listens on a port of loopback.
    pub(super) fn start(port: u16, stage: Arc<Stage>) -> anyhow::Result<Server> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = runtime.block_on(TcpListener::bind(address));
        let listener = listener.with_context(|| format!("cannot listen on {address}"))?;
        let address = listener.local_addr()?;
        thread::Builder::new().name("page".to_owned()).spawn(move || {
            runtime
                .block_on(closc_http::serve(listener, None, move |request| answer(&stage, address, request)));
        })?;
        Ok(Server { address })
    }

    /// Returns the address that the server listens on.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

fn of(status: u16, content_type: &'static str, body: impl Into<String>) -> Answer {
    Answer { status, content_type, headers: HEADERS, body: body.into() }
}

fn answer(stage: &Stage, address: SocketAddr, request: &Request) -> Answer {
    let hosts = [address.to_string(), format!("localhost:{}", address.port())];
    if request.header("host").is_none_or(|host| hosts.iter().all(|own| own != host)) {
        return of(421, "text/plain; charset=utf-8", format!("open {address}\n"));
    }
    if request.is_post {
        return order(stage, request);
    }
    match request.path.as_str() {
        "/" => of(200, "text/html; charset=utf-8", include_str!("page/page.html")),
        "/page.js" => of(200, "text/javascript; charset=utf-8", include_str!("page/page.js")),
        "/page.css" => of(200, "text/css; charset=utf-8", include_str!("page/page.css")),
        "/state" => {
            let after = request.query.strip_prefix("after=").and_then(|text| text.parse().ok());
            of(200, "application/json", stage.json(after))
        }
        _ => of(404, "text/plain; charset=utf-8", "try /\n"),
    }
}

/// Passes an order to the stage.
fn order(stage: &Stage, request: &Request) -> Answer {
    if request.header(ORDER).is_none() {
        return of(403, "text/plain; charset=utf-8", "orders are accepted only from the page of the demo\n");
    }
    let asked = match serde_json::from_slice::<PageRequest>(&request.body) {
        Ok(asked) => asked,
        Err(error) => return of(400, "text/plain; charset=utf-8", format!("{error}\n")),
    };
    if stage.wish(asked.into()) {
        of(200, "text/plain; charset=utf-8", "ok\n")
    } else {
        of(503, "text/plain; charset=utf-8", "too many orders are waiting\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_request(path: &str, headers: &[(&str, &str)], body: Option<&str>) -> Answer {
        let request = Request {
            is_post: body.is_some(),
            path: path.to_owned(),
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            body: body.unwrap_or_default().as_bytes().to_vec(),
            ..Request::default()
        };
        answer(&Stage::default(), SocketAddr::from((Ipv4Addr::LOCALHOST, 80)), &request)
    }

    #[test]
    fn only_the_own_page_orders() {
        let own = ("host", "127.0.0.1:80");
        let cut = Some(r#"{"op":"cut","name":"p0-t1-001"}"#);
        assert_eq!(answer_request("/", &[own], None).status, 200);
        assert_eq!(answer_request("/", &[("host", "evil.example:80")], None).status, 421);
        assert_eq!(
            answer_request("/order", &[own], cut).status,
            403,
            "a form of another page has no such header"
        );
        assert_eq!(answer_request("/order", &[own, (ORDER, "1")], cut).status, 200);
        assert_eq!(answer_request("/order", &[own, (ORDER, "1")], Some("{}")).status, 400);
    }
}
