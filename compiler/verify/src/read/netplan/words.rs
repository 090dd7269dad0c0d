//! Keywords of netplan: those that are read, those that do not affect packets, and unknown ones.
//!
//! In: the file, as untyped values. Out: the first unknown keyword. Invariants: empty values have no effect, so any
//! keyword is accepted for them.

use serde_json::{Map, Value};

use crate::read::error::ReadError;
use crate::read::site::SiteGroup;

/// Keywords that are read, by parent.
const NETWORK: [&str; 3] = ["version", "renderer", "ethernets"];
const ETHERNET: [&str; 10] = [
    "match",
    "macaddress",
    "mtu",
    "dhcp4",
    "dhcp6",
    "accept-ra",
    "link-local",
    "addresses",
    "routes",
    "routing-policy",
];
const MATCH: [&str; 1] = ["name"];
const ROUTE: [&str; 5] = ["to", "via", "type", "metric", "table"];
const POLICY: [&str; 3] = ["from", "table", "priority"];

/// Keywords of an interface that do not affect packets: boot conditions, Wake-on-LAN, LLDP, and name servers.
pub(crate) const SITE: &[SiteGroup] = &[
    SiteGroup {
        settings: &["optional", "optional-addresses", "wakeonlan"],
        reason: "conditions of booting, and wake-on-LAN",
    },
    SiteGroup { settings: &["emit-lldp"], reason: "LLDP of the node" },
    SiteGroup { settings: &["nameservers"], reason: "name servers: no route of the fabric uses a name" },
];

/// Checks every keyword.
pub(super) fn check(text: &str, file: &Value) -> Result<(), ReadError> {
    let words = Words { text };
    words.reject_unknown_keys(Some(file), &["network"], "the file")?;
    let network = file.get("network");
    words.reject_unknown_keys(network, &NETWORK, "`network`")?;
    let ethernets = network.and_then(|network| network.get("ethernets")?.as_object());
    for (name, ethernet) in ethernets.into_iter().flatten() {
        let known: Vec<&str> = ETHERNET
            .into_iter()
            .chain(SITE.iter().flat_map(|group| group.settings.iter().copied()))
            .collect();
        words.reject_unknown_keys(Some(ethernet), &known, &format!("`{name}`"))?;
        words.reject_unknown_keys(ethernet.get("match"), &MATCH, &format!("what `{name}` matches"))?;
        for (list, known) in [("routes", &ROUTE[..]), ("routing-policy", &POLICY)] {
            for row in ethernet.get(list).and_then(Value::as_array).into_iter().flatten() {
                words.reject_unknown_keys(Some(row), known, &format!("`{list}` of `{name}`"))?;
            }
        }
    }
    Ok(())
}

struct Words<'a> {
    text: &'a str,
}

impl Words<'_> {
    /// Checks that every key of a mapping is known, or has an empty value.
    fn reject_unknown_keys(
        &self,
        mapping: Option<&Value>,
        known: &[&str],
        what: &str,
    ) -> Result<(), ReadError> {
        let Some(mapping) = mapping.and_then(Value::as_object) else { return Ok(()) };
        let strange = mapping.iter().find(|(word, value)| !known.contains(&word.as_str()) && !empty(value));
        strange.map_or(Ok(()), |(word, _)| Err(self.unknown(word, what)))
    }

    fn unknown(&self, word: &str, what: &str) -> ReadError {
        let said = format!("{word}:");
        let line = self.text.lines().position(|line| line.contains(&said)).map_or(1, |at| at + 1);
        ReadError::unknown(line, format!("`{word}` in {what} is not known to the proof"))
    }
}

fn empty(value: &Value) -> bool {
    value.is_null()
        || value.as_object().is_some_and(Map::is_empty)
        || value.as_array().is_some_and(Vec::is_empty)
}
