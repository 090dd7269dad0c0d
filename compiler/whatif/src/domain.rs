//! Failure domains (power feeds, racks, ducts, line cards) from the fabric file or from a list.
//!
//! In: a fabric, or lines of `DOMAIN,ELEMENT`. Out: domains with their members, or up to 100 errors with
//! their line numbers. Invariants: domains are not nested.

use std::collections::BTreeMap;

use closc_fabric::Fabric;
use closc_topology::{DomainRule, Subject};

use crate::element::{Domain, Element, Elements};
use crate::lines::{self, LineError};

/// Returns the domains of a fabric file, ordered by kind, then by their first switch.
pub fn of_fabric(fabric: &Fabric) -> Vec<Domain> {
    let topology = fabric.topology();
    let mut domains = Vec::new();
    for (kind, rule) in &topology.domains {
        match rule {
            DomainRule::Members(members) => {
                let members = members.iter().map(|subject| Element::from(*subject)).collect();
                domains.push(Domain { name: kind.to_string(), members });
            }
            DomainRule::Position(_) => {
                let mut known = BTreeMap::new();
                for switch in fabric.switches() {
                    let Some(name) = topology.domain(kind, switch) else { continue };
                    let at = *known.entry(name.clone()).or_insert(domains.len());
                    if at == domains.len() {
                        domains.push(Domain { name: name.into(), members: Vec::new() });
                    }
                    domains[at].members.push(Element::Switch(switch));
                }
            }
        }
    }
    domains
}

impl From<Subject> for Element {
    fn from(subject: Subject) -> Self {
        match subject {
            Subject::Plane(plane) => Element::Plane(plane),
            Subject::Switch(switch) => Element::Switch(switch),
            Subject::Node(node) => Element::Node(node),
            Subject::Nic(nic) => Element::Nic(nic),
            Subject::Link(link) => Element::Link(link),
        }
    }
}

/// First line of a list.
const HEADER: [&str; 2] = ["domain", "element"];

/// Reads a list of domains. Returns them sorted by name.
pub fn read(elements: &Elements<'_>, text: &str) -> Result<Vec<Domain>, Vec<LineError>> {
    let mut domains: BTreeMap<String, Vec<Element>> = BTreeMap::new();
    let mut faults = Vec::new();
    let mut named = 0;
    for row in lines::rows(text, &HEADER) {
        if faults.len() >= lines::FAULTS_MAX {
            break;
        }
        let found = row.and_then(|row| {
            let [name, element] = row.fields;
            let bad = |why: String| LineError { line: row.line, reason: why };
            if name.is_empty() || name.contains(char::is_whitespace) {
                return Err(bad(format!(
                    "`{name}` is not a valid failure domain name; expected a name without spaces"
                )));
            }
            let members = elements.parse(&element).map_err(bad)?;
            named += members.len();
            if named > lines::NAMED_MAX {
                return Err(LineError::too_much(row.line));
            }
            Ok((name, members))
        });
        match found {
            Ok((name, members)) => domains.entry(name).or_default().extend(members),
            Err(fault) => faults.push(fault),
        }
        if named > lines::NAMED_MAX {
            break;
        }
    }
    if faults.is_empty() {
        Ok(domains.into_iter().map(|(name, members)| Domain { name, members }).collect())
    } else {
        Err(faults)
    }
}
