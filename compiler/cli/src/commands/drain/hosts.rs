//! Orders hosts to stop using all paths over a drained element, or to use them again.
//!
//! In: an element, and sockets of agents or the address of a collector. Out: a line on stderr, and one for each agent
//! that does not comply. Invariants: an agent that does not answer delays the command by at most its timeout. A
//! collector is contacted over loopback only, because orders carry its token.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_collect::{Element, io};
use closc_diff::Toggle;
use closc_plan::Plan;
use serde_json::{Value, json};

use crate::limits;
use crate::output;

/// Time limit for an answer of the collector.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum size of an answer of the collector.
const ANSWER_MAX: u64 = 16 << 20;
/// A drain at the collector expires after a week. Path tables that are compiled from the file deny the paths as long
/// as the element is drained in the file.
const MINUTES: u32 = 7 * 24 * 60;

/// Sends orders to agents; returns how many comply, and how many do not.
pub(super) fn agents(
    plan: &Plan,
    nics: &[String],
    name: &str,
    turn: Toggle,
) -> anyhow::Result<(usize, usize)> {
    let element = element(plan, name)?;
    let (plan, is_on) = (Arc::new(plan.clone()), matches!(turn, Toggle::On));
    limits::raise_open_files();
    // A single thread is faster here, because more threads would have to be started and scheduled for each answer.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the asynchronous runtime")?;
    let asked = runtime.block_on(io::drain(&plan, nics, element, is_on));
    if asked.is_empty() {
        bail!("no agent was asked: `--nic` does not name a socket");
    }
    let mut refused = 0;
    for agent in &asked {
        if let Err(why) = &agent.outcome {
            refused += 1;
            output::say(format_args!("{}: {why}", agent.socket.display()));
        }
    }
    let done = asked.len() - refused;
    let word = if is_on { "use no path" } else { "use paths again" };
    output::say(format_args!("{done} of {} agents {word} over `{name}`", asked.len()));
    Ok((done, refused))
}

/// Orders a collector to drain or undrain, which it passes on to its agents.
pub(super) fn collector(
    plan: &Plan,
    address: SocketAddr,
    token: Option<&Utf8Path>,
    name: &str,
    turn: Toggle,
) -> anyhow::Result<()> {
    if !address.ip().is_loopback() {
        bail!("`{address}` is on another machine: forward its port (`ssh -L`), and name 127.0.0.1");
    }
    let key = element(plan, name)?.key(plan);
    ask(address, "GET", "/api/session", None)
        .context("a collector accepts orders only if it was started with `--apply --web`")?;
    let token = match token {
        Some(path) => String::from_utf8(closc_files::secret_at(path, closc_files::KEY_MAX)?)
            .with_context(|| format!("`{path}` is not a token file"))?,
        None => bail!("the collector needs the token of its operators: name its file with `--token`"),
    };
    let token = token.trim();
    let reason = if matches!(turn, Toggle::On) { "closc drain" } else { "closc undrain" };
    match turn {
        Toggle::On => {
            let order = json!({ "token": token, "name": key, "why": reason, "minutes": MINUTES });
            ask(address, "POST", "/api/drain", Some(&order))?;
        }
        Toggle::Off => {
            let summary = ask(address, "GET", "/api/summary", None)?;
            let all = summary["denials"].as_array().map(Vec::as_slice).unwrap_or_default();
            let own = all.iter().filter(|denial| {
                denial["element"] == *key && denial["reason"] == "drain" && denial["stage"] == "applied"
            });
            let ids: Vec<&Value> = own.map(|denial| &denial["id"]).collect();
            if ids.is_empty() {
                bail!("the collector has no drain of `{name}`");
            }
            for id in ids {
                ask(address, "POST", "/api/lift", Some(&json!({ "token": token, "id": id, "why": reason })))?;
            }
        }
    }
    let word = if matches!(turn, Toggle::On) { "denies" } else { "lifts" };
    output::say(format_args!("the collector at {address} {word} `{name}`"));
    Ok(())
}

fn element(plan: &Plan, name: &str) -> anyhow::Result<Element> {
    Element::parse(plan, name).with_context(|| format!("hosts have no paths over `{name}`"))
}

/// Sends a request to a collector; returns its JSON answer.
fn ask(address: SocketAddr, method: &str, path: &str, order: Option<&Value>) -> anyhow::Result<Value> {
    let said = || format!("the collector at {address} does not answer");
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).with_context(said)?;
    stream.set_read_timeout(Some(PATIENCE)).with_context(said)?;
    stream.set_write_timeout(Some(PATIENCE)).with_context(said)?;
    let body = order.map(Value::to_string).unwrap_or_default();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).with_context(said)?;
    let answer = closc_budget::read(stream, ANSWER_MAX).with_context(said)?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").with_context(said)?;
    let value: Value = serde_json::from_str(body).unwrap_or(Value::Null);
    if head.split(' ').nth(1) == Some("200") && !value.is_null() {
        return Ok(value);
    }
    let why = value["error"].as_str().unwrap_or(body.trim()).chars().take(300).collect::<String>();
    bail!("the collector at {address} refuses: {why}")
}
