//! Containerlab topologies: `topology.nodes` and `topology.links`, with links in the brief and in the
//! extended form.
//!
//! Source: containerlab.dev/manual/topo-def-file. Links to the host, the management network, macvlan or
//! VXLAN, and dummy links, are not cables of a fabric. Such links are skipped and counted.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_saphyr::{DuplicateKeyPolicy, Error, Options, Spanned};
use smol_str::SmolStr;

use crate::network::{ExistingNetwork, FilePlace, Row};

#[derive(Deserialize)]
struct File {
    topology: Topology,
}

#[derive(Deserialize)]
struct Topology {
    #[serde(default)]
    nodes: BTreeMap<String, Option<Node>>,
    #[serde(default)]
    links: Vec<Spanned<Link>>,
}

#[derive(Deserialize)]
struct Node {
    group: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Link {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    endpoints: Vec<Endpoint>,
}

/// An end of a link: `node:interface`, or a mapping with both.
struct Endpoint(String, String);

impl<'de> Deserialize<'de> for Endpoint {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Endpoint;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`node:interface`, or `node` and `interface`")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Endpoint, E> {
                let (node, port) = text.split_once(':').ok_or_else(|| {
                    E::custom(format_args!("unknown end `{text}`: expected `node:interface`"))
                })?;
                Ok(Endpoint(node.to_owned(), port.to_owned()))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Endpoint, A::Error> {
                let (mut node, mut port) = (None, None);
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "node" => node = Some(map.next_value::<String>()?),
                        "interface" => port = Some(map.next_value::<String>()?),
                        _ => {
                            map.next_value::<serde::de::IgnoredAny>()?;
                        }
                    }
                }
                let missing = |key| serde::de::Error::missing_field(key);
                Ok(Endpoint(node.ok_or_else(|| missing("node"))?, port.ok_or_else(|| missing("interface"))?))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Reads a topology.
pub(super) fn read(network: &mut ExistingNetwork, name: &str, text: &str) {
    let file = network.file(name);
    let topology = match serde_saphyr::from_str_with_options::<File>(text, options()) {
        Ok(file) => file.topology,
        Err(error) => {
            let line = error.location().map_or(1, |location| location.line());
            return network.fault(FilePlace { file, line: line_of(line) }, why(&error));
        }
    };
    for (node, what) in &topology.nodes {
        let Some(what) = what else { continue };
        let label = ["role", "tier"].iter().find_map(|key| what.labels.get(*key));
        if let Some(role) = label.or(what.group.as_ref()) {
            network.roles.insert(SmolStr::new(node), SmolStr::new(role));
        }
    }
    let numbered = |end: &Endpoint| {
        end.1.strip_prefix("eth").is_some_and(|number| number.bytes().all(|sign| sign.is_ascii_digit()))
    };
    network.is_numbered |= topology.links.iter().any(|link| link.value.endpoints.iter().any(numbered));
    for link in &topology.links {
        let at = FilePlace { file, line: line_of(link.defined.line()) };
        let leads_out = |end: &Endpoint| {
            matches!(end.0.as_str(), "host" | "mgmt-net" | "macvlan" | "vxlan" | "vxlan-stitch")
        };
        match link.value.endpoints.as_slice() {
            _ if link.value.kind.as_deref().is_some_and(|kind| kind != "veth") => network.skipped_links += 1,
            ends if ends.iter().any(leads_out) => network.skipped_links += 1,
            [a, b] => {
                let known = [a, b].into_iter().find(|end| !topology.nodes.contains_key(&end.0));
                if let Some(Endpoint(unknown, _)) = known {
                    network.fault(at, format!("`topology.nodes` has no `{unknown}`"));
                    continue;
                }
                network.add(&Row { devices: [&a.0, &b.0], ports: [&a.1, &b.1], ..Row::default() }, at);
            }
            ends => network.fault(at, format!("this link has {} ends: expected 2", ends.len())),
        }
    }
}

fn line_of(line: u64) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// Returns the parser's message, without the position at its end.
fn why(error: &Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let first = first.split(" at line ").next().unwrap_or_default();
    format!("not a containerlab topology: {first}")
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 32,
            max_nodes: 8_000_000,
            max_events: 32_000_000,
            max_aliases: 10_000,
            max_anchors: 1_000,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        with_snippet: false,
    }
}
