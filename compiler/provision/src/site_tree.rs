//! Site additions to configurations that are replaced completely, as a YAML tree: user accounts, AAA, DNS,
//! SSH.
//!
//! In: the texts of a folder, one mapping each, and closc's configuration of a switch. Out: both merged.
//! Invariants: closc owns its settings for ports, queues, segments and routes. Texts with different values
//! for the same path are rejected, so their order does not matter. YAML 1.1 and 1.2 readers both parse keys
//! and strings as strings.
//!
//! ```yaml
//! devices: ["p*-t0-*"]
//! set: { system: { aaa: { user: { cumulus: { role: system-admin } } } } }
//! ```

use std::fmt::Write as _;

use closc_sonic::fits;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Paths that the site must not set, including everything below them. A name may end in `*`.
const OWN: [&[&str]; 4] = [&["interface", "swp*"], &["qos"], &["router"], &["vrf", "default"]];

/// Site additions.
#[derive(Debug, Default)]
pub struct SiteTree {
    files: Vec<(String, SiteFragment)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SiteFragment {
    #[serde(default)]
    devices: Vec<String>,
    set: Map<String, Value>,
}

/// Configuration of a switch.
#[derive(Debug)]
pub struct MergedConfig {
    /// The file.
    pub text: String,
    /// Paths of the values that the file sets, except those in `OWN`. Factory settings that are missing here
    /// are reported.
    pub places: Vec<String>,
}

impl SiteTree {
    /// Parses files, given by name and text.
    ///
    /// # Errors
    ///
    /// Returns the name of a file that is not YAML of this form.
    pub fn parse<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut made = SiteTree::default();
        for (name, text) in files {
            let part = serde_saphyr::from_str(text).map_err(|error| format!("`{name}`: {error}"))?;
            made.files.push((name.to_owned(), part));
        }
        Ok(made)
    }

    /// Merges the site's additions for a switch into the configuration that closc wrote.
    ///
    /// # Errors
    ///
    /// Rejects paths that closc owns, and two values for the same path.
    pub fn merge(&self, device: &str, own: &str) -> Result<MergedConfig, String> {
        let entries: Vec<Map<String, Value>> =
            serde_saphyr::from_str(own).map_err(|error| format!("`{device}`: {error}"))?;
        let set = entries.into_iter().find_map(|mut entry| entry.remove("set"));
        let Some(Value::Object(mut set)) = set else { return Err(format!("`{device}` has no `set`")) };
        let mut changed = false;
        for (file, part) in &self.files {
            if !part.devices.is_empty() && !part.devices.iter().any(|pattern| fits(pattern, device)) {
                continue;
            }
            changed = true;
            merge(&mut set, &part.set, &mut Vec::new())
                .map_err(|fault| format!("`{file}` for `{device}`: {fault}"))?;
        }
        let mut places = Vec::new();
        list(&set, &mut Vec::new(), &mut places);
        if !changed {
            return Ok(MergedConfig { text: own.to_owned(), places });
        }
        let first = own.lines().next().unwrap_or_default();
        let mut text = format!(
            "{first} Includes the additions of the site.
- set:
"
        );
        write(&mut text, &set, 4);
        Ok(MergedConfig { text, places })
    }
}

fn merge(
    own: &mut Map<String, Value>,
    site: &Map<String, Value>,
    path: &mut Vec<String>,
) -> Result<(), String> {
    for (key, value) in site {
        path.push(key.clone());
        let said = path.join(".");
        match (own.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(more)) => merge(below, more, path)?,
            (Some(known), value) if known == value => {}
            (Some(_), _) => return Err(format!("`{said}` already has another value")),
            (None, Value::Null) => {
                return Err(format!("`{said}` has no value; to leave it empty, write `{{}}`"));
            }
            (None, _) if is_own(path) => {
                return Err(format!("closc writes `{said}`: set it in the fabric file"));
            }
            // Paths that closc owns may be further down in the tree.
            (None, Value::Object(more)) => {
                let mut below = Map::new();
                merge(&mut below, more, path)?;
                own.insert(key.clone(), Value::Object(below));
            }
            (None, value) => {
                own.insert(key.clone(), value.clone());
            }
        }
        path.pop();
    }
    Ok(())
}

/// Lists the paths of leaves, except those that closc owns. An empty mapping counts as a leaf.
fn list(map: &Map<String, Value>, path: &mut Vec<String>, places: &mut Vec<String>) {
    for (key, value) in map {
        path.push(key.clone());
        match value {
            _ if is_own(path) => {}
            Value::Object(below) if !below.is_empty() => list(below, path, places),
            _ => places.push(path.join(".")),
        }
        path.pop();
    }
}

fn is_own(path: &[String]) -> bool {
    let fits = |(word, name): (&&str, &String)| match word.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => word == name,
    };
    OWN.iter().any(|own| path.len() >= own.len() && own.iter().zip(path).all(fits))
}

/// Writes a mapping as YAML that all parsers read in the same way.
pub(crate) fn write(out: &mut String, map: &Map<String, Value>, indent: usize) {
    for (key, value) in map {
        let _ = write!(out, "{:indent$}{}:", "", text(key));
        match value {
            Value::Object(below) if !below.is_empty() => {
                out.push('\n');
                write(out, below, indent + 2);
            }
            Value::String(value) => {
                let _ = writeln!(out, " {}", text(value));
            }
            // JSON is valid YAML.
            other => {
                let _ = writeln!(out, " {other}");
            }
        }
    }
}

/// Writes a string without quotes if all parsers read it as a string, and in quotes otherwise.
fn text(text: &str) -> String {
    let is_word = text.bytes().all(|sign| sign.is_ascii_alphanumeric() || sign == b'-' || sign == b'_');
    let starts = text.starts_with(|sign: char| sign.is_ascii_alphabetic());
    let is_taken = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"]
        .contains(&text.to_ascii_lowercase().as_str());
    if is_word && starts && !is_taken { text.to_owned() } else { Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN_TEXT: &str = "# a of b.\n- set:\n    interface:\n      swp1: { link: { mtu: 9216 } }\n    system:\n      hostname: 'a'\n      forwarding: {}\n";

    fn merge_site(site: &str) -> Result<MergedConfig, String> {
        SiteTree::parse([("site.yaml", site)])?.merge("a", OWN_TEXT)
    }

    #[test]
    fn both_parts_are_there_and_read_back() {
        let site =
            "set: { system: { aaa: { user: { '17': { role: 'on', 'full-name': 'a: b' } } }, hostname: a } }";
        let merged = merge_site(site).unwrap();
        assert!(merged.places.contains(&"system.aaa.user.17.role".to_owned()), "{:?}", merged.places);
        let back: Vec<Map<String, Value>> = serde_saphyr::from_str(&merged.text).unwrap();
        let user = &back[0]["set"]["system"]["aaa"]["user"]["17"];
        assert_eq!((user["role"].as_str(), user["full-name"].as_str()), (Some("on"), Some("a: b")));
        assert_eq!(back[0]["set"]["interface"]["swp1"]["link"]["mtu"], 9216);
        assert!(back[0]["set"]["system"]["forwarding"].is_object());
        assert!(merged.text.contains("\"17\":") && merged.text.contains("role: \"on\""), "{}", merged.text);
    }

    #[test]
    fn what_is_closcs_is_refused() {
        for (site, fault) in [
            ("set: { interface: { swp1: { link: { mtu: 1500 } } } }", "another value"),
            ("set: { interface: { swp1: { acl: {} } } }", "closc writes"),
            ("set: { interface: { swp9: {} } }", "closc writes"),
            ("set: { qos: {} }", "closc writes"),
            ("set: { vrf: { default: { router: {} } } }", "closc writes"),
            ("set: { system: { hostname: b } }", "another value"),
            ("set: { system: { dns: } }", "no value"),
            ("sets: {}", "site.yaml"),
        ] {
            let message = merge_site(site).map(|merged| merged.text).unwrap_err();
            assert!(message.contains(fault), "{site}: {message}");
        }
    }

    #[test]
    fn places_are_those_of_the_site() {
        let places = |site: &str| {
            let mut places = merge_site(site).unwrap().places;
            places.sort();
            places
        };
        let own = ["system.forwarding", "system.hostname"];
        assert_eq!(places("{ devices: [b], set: { system: { aaa: { user: { x: {} } } } } }"), own);
        let both =
            places("set: { system: { aaa: { user: { x: {} } } }, interface: { eth0: { type: eth } } }");
        assert!(
            both.contains(&"system.aaa.user.x".to_owned())
                && both.contains(&"interface.eth0.type".to_owned())
        );
        assert!(!both.iter().any(|place| place.starts_with("interface.swp")), "{both:?}");
    }
}
