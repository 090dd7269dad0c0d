//! Health as JSON: status 200 if every switch is in sync or has another primary, otherwise 503 with the remaining
//! switches.

use closc_http::Answer;
use serde_json::json;

use super::board::{Role, WatchStatus};

pub(super) fn answer(status: &WatchStatus) -> Answer {
    let trouble = status.devices.iter().filter(|(_, device)| !device.is_good()).map(|(name, device)| {
        json!({
            "device": name,
            "role": device.role,
            "fault": device.fault.as_ref().map(ToString::to_string),
        })
    });
    let body = json!({
        "healthy": status.is_good(),
        "devices": status.devices.len(),
        "leading": status.count(|device| device.role == Role::Leading),
        "watching": status.count(|device| device.role == Role::Watching),
        "standing-by": status.count(|device| device.role == Role::StandingBy),
        "away": status.count(|device| device.role == Role::Away),
        "in-sync": status.count(|device| device.in_sync),
        "trouble": trouble.collect::<Vec<_>>(),
    });
    let code = if status.is_good() { 200 } else { 503 };
    Answer { status: code, content_type: "application/json", headers: &[], body: format!("{body:#}\n") }
}
