//! HTTP server: metrics, JSON, and a web page.
//!
//! Invariants: an order is JSON with a token that readers do not have (`orders`). Input from a request is used in
//! answers only as text.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use closc_http::{Answer, LogState, Request};
use serde::{Deserialize, Serialize};

use super::document::{DocumentEnvelope, Failure, List, Session, names};
use super::orders::{Authority, Operators, Orderer};
use super::shared_state::{SharedState, now_ms};
use crate::collector::{Collector, OrderFault, PendingDenials};
use crate::view::{detail, metrics, switch_metrics};

/// The data that answers need.
pub(super) struct Page {
    web: bool,
    /// Scheme of its URLs.
    scheme: &'static str,
    address: SocketAddr,
    shared_state: Arc<SharedState>,
    authority: Authority,
}

impl Page {
    pub(super) fn new(
        web: bool,
        is_encrypted: bool,
        address: SocketAddr,
        shared: Arc<SharedState>,
        authority: Authority,
    ) -> Self {
        let scheme = if is_encrypted { "https" } else { "http" };
        Page { web, scheme, address, shared_state: shared, authority }
    }

    /// Returns whether other machines cannot read the traffic of a client.
    fn is_private(&self) -> bool {
        self.scheme == "https" || self.address.ip().is_loopback()
    }
}

/// Answers requests without a socket, as with `--web`, and does not save denials.
pub struct RequestHandler(Page);

impl RequestHandler {
    /// Makes a request handler for a collector.
    pub fn new(collector: Collector) -> RequestHandler {
        let shared = Arc::new(SharedState::new(collector, None, Arc::new(|_| Ok(())), None));
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let authority = Authority::open(Operators::default()).expect("there are random numbers");
        RequestHandler(Page::new(true, false, address, shared, authority))
    }

    /// Answers a request.
    pub fn answer(&self, request: &Request) -> Answer {
        answer(&self.0, request)
    }
}

/// Headers that restrict a browser to displaying an answer.
const HEADERS: &[(&str, &str)] = &[
    ("x-content-type-options", "nosniff"),
    ("cache-control", "no-store"),
    ("referrer-policy", "no-referrer"),
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
    ),
];

fn of(status: u16, content_type: &'static str, body: impl Into<String>) -> Answer {
    Answer { status, content_type, headers: HEADERS, body: body.into() }
}

fn json_of(status: u16, schema: &'static str, value: &impl Serialize) -> Answer {
    match serde_json::to_string(&DocumentEnvelope { schema, value }) {
        Ok(body) => of(status, "application/json", body),
        Err(error) => of(500, "text/plain; charset=utf-8", error.to_string()),
    }
}

fn fault(status: u16, why: impl std::fmt::Display) -> Answer {
    json_of(status, names::ERROR, &Failure { error: why.to_string() })
}

fn list_of(schema: &'static str, items: &[impl Serialize]) -> Answer {
    json_of(200, schema, &List { items })
}

/// Returns an answer, or the error that the fabric does not have the element.
fn answer_or_not_found<T>(value: Option<T>, what: &str, answer: impl FnOnce(T) -> Answer) -> Answer {
    value.map_or_else(|| fault(404, format_args!("the fabric has no such {what}")), answer)
}

/// Returns whether the host of a request is an address or `localhost`. An attacker may control other names.
fn is_address(host: &str) -> bool {
    let address = host.parse::<SocketAddr>().map(|address| address.ip());
    let address = address.or_else(|_| host.trim_matches(['[', ']']).parse::<IpAddr>());
    address.is_ok() || host.split(':').next() == Some("localhost")
}

/// Returns whether the host of a request is valid. Scrapers that do not use loopback may use a name.
fn is_for_us(page: &Page, host: &str) -> bool {
    is_address(host) || !page.address.ip().is_loopback()
}

/// Returns whether a request may give orders, or read their token. Without a certificate that proves the host name, an
/// attacker's page could have a name that resolves to this address.
fn is_proven(page: &Page, request: &Request) -> bool {
    page.scheme == "https" || request.header("host").is_none_or(is_address)
}

/// Answers a request.
pub(super) fn answer(page: &Page, request: &Request) -> Answer {
    if request.header("host").is_some_and(|host| !is_for_us(page, host)) {
        return fault(421, "unknown host name: use the IP address, or localhost");
    }
    if (request.is_post || request.path == "/api/session") && !is_proven(page, request) {
        return fault(421, "without TLS, orders need the IP address: use it instead of the host name");
    }
    if request.is_post {
        return if page.web {
            order(page, request)
        } else {
            fault(405, "only GET is served; orders need `--web`")
        };
    }
    match request.path.as_str() {
        "/metrics" => {
            let mut body = metrics(&page.shared_state.collector(), now_ms());
            body.extend(page.shared_state.log().map(LogState::metrics));
            of(200, "text/plain; version=0.0.4; charset=utf-8", body)
        }
        "/metrics/switch" => {
            let body = switch_metrics(&page.shared_state.collector(), &value(&request.query, "of"));
            body.map_or_else(
                || fault(404, "no counters of this switch: check that it is in the inventory and answers"),
                |body| of(200, "text/plain; version=0.0.4; charset=utf-8", body),
            )
        }
        "/healthz" if page.shared_state.log().is_some_and(LogState::is_failing) => {
            of(503, "text/plain; charset=utf-8", "the audit log cannot be written\n")
        }
        "/healthz" => of(200, "text/plain; charset=utf-8", "ok\n"),
        "/api/summary" => json_of(200, names::SUMMARY, &page.shared_state.collector().summary(now_ms())),
        "/api/sources" => list_of(names::SOURCES, &page.shared_state.collector().source_views()),
        "/api/plane" | "/api/cables" | "/api/paths" | "/api/decode" => details(page, request),
        "/api/session" if page.web => {
            let apply = page.shared_state.collector().options().apply;
            let is_operator = apply && page.authority.is_operator(&request.client);
            let token = is_operator.then(|| page.authority.session.clone());
            json_of(200, names::SESSION, &Session { token, apply })
        }
        "/" if page.web => of(200, "text/html; charset=utf-8", include_str!("../web/page.html")),
        "/page.js" if page.web => of(200, "text/javascript; charset=utf-8", include_str!("../web/page.js")),
        "/page.css" if page.web => of(200, "text/css; charset=utf-8", include_str!("../web/page.css")),
        _ => fault(404, "try /metrics, /healthz or /api/summary; with `--web` also /"),
    }
}

/// Returns a value of a query, decoded.
fn value(query: &str, name: &str) -> String {
    let raw =
        query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default();
    let mut out = Vec::with_capacity(raw.len());
    let mut bytes = raw.bytes();
    while let Some(byte) = bytes.next() {
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        out.push(match byte {
            b'+' => b' ',
            b'%' => match (digit(bytes.next()), digit(bytes.next())) {
                (Some(high), Some(low)) => (high * 16 + low) as u8,
                _ => b'?',
            },
            byte => byte,
        });
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn details(page: &Page, request: &Request) -> Answer {
    let of = |name: &str| value(&request.query, name);
    let (collector, now) = (page.shared_state.collector(), now_ms());
    match request.path.as_str() {
        "/api/plane" => {
            let plane = of("plane").parse().ok();
            let tiers = plane.and_then(|plane| collector.plane_items(plane, now));
            answer_or_not_found(tiers, "plane", |tiers| list_of(names::PLANE, &tiers))
        }
        "/api/cables" => {
            let cables = collector.cable_items(&of("of"), now);
            answer_or_not_found(cables, "switch, NIC or cable", |cables| list_of(names::CABLES, &cables))
        }
        "/api/paths" => {
            let paths = collector.path_items(&of("from"), &of("to"), now);
            answer_or_not_found(paths, "pair of NICs", |paths| list_of(names::PATHS, &paths))
        }
        _ => {
            let address = of("address").parse().ok();
            let decoded = address.and_then(|address| detail::decode(collector.plan(), address));
            answer_or_not_found(decoded, "address", |decoded| json_of(200, names::ADDRESS, &decoded))
        }
    }
}

/// An order from the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    token: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    why: Option<String>,
    #[serde(default)]
    minutes: Option<u32>,
    #[serde(default)]
    id: Option<u64>,
}

/// Maximum duration of a drain on the page: a week.
const MINUTES_MAX: u32 = 7 * 24 * 60;

/// Carries out an order of an operator.
fn order(page: &Page, request: &Request) -> Answer {
    let is_json = request.header("content-type").is_some_and(|kind| kind.starts_with("application/json"));
    let host = request.header("host").unwrap_or_default();
    // A browser sends the origin of the page. A page of another origin must not give orders.
    let from_us = request.header("origin").is_none_or(|origin| origin == format!("{}://{host}", page.scheme));
    let Ok(order) = serde_json::from_slice::<Order>(&request.body) else {
        return fault(400, "an order is JSON with `token`, and `name` or `id`");
    };
    if !is_json || !from_us {
        return fault(403, "only the page of this address may send orders");
    }
    let reason = order.why.as_deref();
    let orderer = match page.authority.accept(&request.client, &order.token, page.is_private(), reason) {
        Ok(orderer) => orderer,
        Err(why) => {
            let client = &request.client;
            tracing::warn!(address = ?client.address, subject = ?client.subject, "an order is refused: {why}");
            return fault(403, why);
        }
    };
    let mut collector = page.shared_state.collector();
    let now = now_ms();
    let next = match (request.path.as_str(), &order.name, order.id) {
        ("/api/drain", Some(name), None) => {
            let minutes = order.minutes.unwrap_or(60).clamp(1, MINUTES_MAX);
            let why = order.why.as_deref().unwrap_or("drained by the page");
            collector.drain(name, why, u64::from(minutes) * 60_000, now)
        }
        ("/api/lift", None, Some(id)) => collector.lift(id, now),
        _ => return fault(404, "try /api/drain with `name` or /api/lift with `id`"),
    };
    commit_denials(page, &mut collector, next, &orderer)
}

fn commit_denials(
    page: &Page,
    collector: &mut Collector,
    next: Result<PendingDenials, OrderFault>,
    orderer: &Orderer,
) -> Answer {
    match next {
        Err(why @ OrderFault::DryRun) => fault(403, why),
        Err(why) => fault(409, why),
        Ok(next) => {
            let changes = next.changes.clone();
            match page.shared_state.change(collector, next, Some(orderer)) {
                Ok(()) => list_of(names::CHANGES, &changes),
                Err(why) => fault(503, why),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_queries_are_read() {
        let query = "from=su001-n001%2Fnic0&to=fd00%3A%3a1&x=%zz&y=%4&z=a+b";
        assert_eq!(
            ["from", "to", "x", "y", "z", "none"].map(|name| value(query, name)),
            ["su001-n001/nic0", "fd00::1", "?", "?", "a b", ""]
        );
    }

    /// Formerly a page whose name resolved to a collector could read the token and drain, unless the collector used
    /// loopback.
    #[test]
    fn a_name_without_a_certificate_reads_no_token() {
        let page = |scheme: &'static str| {
            let plan = Arc::new(crate::testing::eight_planes());
            let (collector, _) =
                Collector::new(plan, crate::Options::default(), crate::Denials::default(), 0);
            let RequestHandler(page) = RequestHandler::new(collector);
            Page { scheme, address: SocketAddr::from(([192, 0, 2, 1], 9751)), ..page }
        };
        let ask = |page: &Page, path: &str, host: &str, is_post: bool| {
            let headers = vec![("host".to_owned(), host.to_owned())];
            let request = Request { is_post, path: path.to_owned(), headers, ..Request::default() };
            answer(page, &request).status
        };
        let (plain, encrypted) = (page("http"), page("https"));
        assert_eq!(ask(&plain, "/api/session", "evil.example:9751", false), 421);
        assert_eq!(ask(&plain, "/api/drain", "evil.example:9751", true), 421);
        assert_eq!(ask(&plain, "/metrics", "collector.example:9751", false), 200);
        assert_eq!(ask(&plain, "/api/session", "192.0.2.1:9751", false), 200);
        assert_eq!(ask(&encrypted, "/api/session", "collector.example:9751", false), 200);
    }
}
