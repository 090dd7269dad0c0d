//! Drains without a collector: orders all agents at once to deny the paths over an element, or to end such denials.
//!
//! Invariants: all agents are contacted at the same time, first for their denials and then with the order. A denial
//! that an agent already has is not ordered again. Only denials of drains are ended. An agent that does not answer, or
//! rejects the denial as that of its last path, is reported. It does not stop or delay the others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use closc_nic::agent::Ban;
use closc_plan::Plan;
use tokio::task::JoinSet;

use super::agents::{Line, sockets};
use super::reading::Reading;
use crate::ban::ban;
use crate::collector::{DRAIN, nic_of};
use crate::{Element, Order};

/// The result for one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrainResult {
    /// Its socket.
    pub socket: PathBuf,
    /// Number of denials that began or ended, or an error.
    pub outcome: Result<usize, String>,
}

/// Orders the agents whose sockets match patterns to deny paths over an element, or to end such denials. Results are in
/// the order of their sockets.
pub async fn drain(plan: &Arc<Plan>, nics: &[String], element: Element, is_on: bool) -> Vec<DrainResult> {
    let reading = Reading::default();
    let mut work = JoinSet::new();
    for socket in sockets(nics, []) {
        let (plan, reading) = (plan.clone(), reading.clone());
        work.spawn(async move {
            let done = one(&plan, (&socket, &reading), element, is_on).await;
            DrainResult { socket, outcome: done }
        });
    }
    let mut all = work.join_all().await;
    all.sort_unstable_by(|a, b| a.socket.cmp(&b.socket));
    all
}

async fn one(
    plan: &Plan,
    (socket, reading): (&Path, &Reading),
    element: Element,
    is_on: bool,
) -> Result<usize, String> {
    let (mut line, known) = Line::denials(socket, reading).await?;
    let nic = nic_of(plan, known.nic);
    let nic = nic.ok_or_else(|| format!("its NIC, {}, is not in this fabric", known.nic))?;
    let Some(scope) = ban(plan.topology(), element, nic) else { return Ok(0) };
    let wanted = Ban { reason: DRAIN.to_owned(), ..scope };
    let same = |own: &&Ban| Ban { id: None, ..(*own).clone() } == wanted;
    let known: Vec<u64> = known.denials.iter().filter(same).filter_map(|own| own.id).collect();
    let orders: Vec<Order> = match (is_on, known.is_empty()) {
        (true, true) => vec![Order::Deny(0, wanted)],
        (true, false) => Vec::new(),
        (false, _) => known.into_iter().map(|id| Order::Allow(0, id)).collect(),
    };
    for order in &orders {
        line.order(order).await?;
    }
    Ok(orders.len())
}
