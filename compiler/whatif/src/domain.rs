//! Domains of shared fate that a fabric file does not know: power feeds, racks, ducts, line cards.
//!
//! In: lines of `DOMAIN,ELEMENT`. Out: domains with their members, or every fault with its line. Always: a domain is not
//! a member of a domain.

use std::collections::BTreeMap;

use crate::element::{Element, Elements};
use crate::lines::{self, LineError};

/// Elements that fail together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// What fails with it.
    pub members: Vec<Element>,
}

/// First line of a list.
const HEADER: [&str; 2] = ["domain", "element"];

/// Reads a list of domains, in the order of their names.
pub fn read(elements: &Elements<'_>, text: &str) -> Result<Vec<Domain>, Vec<LineError>> {
    let mut domains: BTreeMap<String, Vec<Element>> = BTreeMap::new();
    let mut faults = Vec::new();
    for row in lines::rows(text, &HEADER) {
        let found = row.and_then(|row| {
            let [name, element] = row.fields;
            let bad = |why: String| LineError { line: row.line, why };
            if name.is_empty() || name.contains(char::is_whitespace) {
                return Err(bad(format!("`{name}` is no name of a domain: write one word")));
            }
            let members = elements.parse(&element).map_err(bad)?;
            Ok((name, members))
        });
        match found {
            Ok((name, members)) => domains.entry(name).or_default().extend(members),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() {
        Ok(domains.into_iter().map(|(name, members)| Domain { name, members }).collect())
    } else {
        Err(faults)
    }
}
