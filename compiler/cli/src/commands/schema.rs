//! `closc schema`: the JSON Schema of fabric files, of platform files, or of a document that commands print.
//!
//! In: the serialized types. Out: schemas (2020-12). Invariants: every document of this program is in [`ALL`]. A schema
//! is generated from its type, and allows new fields, as `docs/cli.md` promises.

use std::fmt::Write as _;

use anyhow::bail;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    audit, cables, check, collect, compile, conformance, control, design, diff, drift, explain, export, fix,
    fmt, grow, import, init, lab, man, paths, place, platforms, push, te, verify, whatif,
};
use crate::args::{Args, SchemaArgs};
use crate::output::{self, DIAGNOSTICS, Document, ERROR, Items, Outcome};

/// The committed schema of fabric files; a test compares it with the types.
const FABRIC: &str = include_str!("../../../../topologies/topology.schema.json");

/// The committed schema of platform files; a test of their crate compares it with the types.
const PLATFORM: &str = include_str!("../../../platform/platform.schema.json");

/// The documents of this program.
pub(crate) const DOCUMENTS: Document<Items<Entry>> = Document::new("closc-documents/1");

/// The plan that `push --out` saves.
const SAVED: Document<closc_deploy::PlanFile> = Document::new(closc_deploy::PlanFile::FORMAT);

/// Every document, with the commands that write it and its description.
const ALL: &[DocumentSchema] = &[
    described(&audit::AUDIT, &["audit verify"], "The number of lines of an audit log in an unbroken chain."),
    described(&cables::CABLES, &["cables check"], "LLDP neighbours compared with the planned cabling."),
    described(&check::CHECK, &["check"], "Counts of a fabric file."),
    described(&check::CHECKS, &["check"], "Counts and findings of several fabric files."),
    described(&explain::CODE, &["explain"], "A diagnostic code, with its page."),
    described(&explain::CODES, &["explain"], "Every diagnostic code."),
    described(&collect::COLLECT, &["collect"], "Summary of agent reports, verdicts and denials."),
    described(&collect::ADDRESS, SERVED, "The meaning of an address; served as `/api/decode`."),
    described(
        &collect::CABLES,
        SERVED,
        "The cables of a switch or NIC, with their state; served as `/api/cables`.",
    ),
    described(
        &collect::CHANGES,
        SERVED,
        "The changes made by an order; the response to `POST /api/drain` and `/api/lift`.",
    ),
    described(
        &collect::PATHS,
        SERVED,
        "The paths between two NICs, with their state; served as `/api/paths`.",
    ),
    described(&collect::PLANE, SERVED, "The switches of a plane, with their state; served as `/api/plane`."),
    described(&collect::SESSION, SERVED, "The client's permission to send orders; served as `/api/session`."),
    described(&collect::SOURCES, SERVED, "Polled agents and switches; served as `/api/sources`."),
    described(&compile::COMPILE, &["compile"], "The files of a tree that were written, kept and removed."),
    described(&conformance::CONFORMANCE, &["conformance"], "Verdicts on a P4Runtime server, by section."),
    described(&explain::device::DEVICE, &["explain"], "The complete configuration of one switch."),
    described(&DIAGNOSTICS, ANY, "Findings of a file that has errors."),
    described(
        &diff::DIFF,
        &["diff", "drain", "undrain"],
        "The differences between two fabrics, with impact and rollout.",
    ),
    described(&DOCUMENTS, &["schema"], "The documents of this program."),
    described(&drift::DRIFT, &["drift"], "The differences between running switches and a tree."),
    described(
        &control::EVENT,
        &["push", "drift", "watch"],
        "Progress events of `push`, `drift` and `watch`, one per line on stderr.",
    ),
    described(&ERROR, ANY, "An error that is not a finding in a file."),
    described(&export::EXPORT, &["export"], "The files that were exported."),
    described(&fix::FIX, &["fix"], "Fixes applied to fabric files."),
    described(&fmt::FMT, &["fmt"], "Formatted fabric files."),
    described(&grow::GROW, &["grow"], "The cables to plug, pull or move."),
    described(&explain::headroom::HEADROOM, &["explain"], "The PFC headroom of a port, term by term."),
    described(&import::IMPORT, &["import"], "The result of an import of existing cabling."),
    described(&design::COMPARE, &["design"], "Two fabrics, number by number."),
    described(&design::EXPLAIN, &["design"], "Why the search does not propose a fabric."),
    described(&design::DESIGN, &["design"], "The designs that meet a need, the best first."),
    described(&init::INIT, &["init"], "The fabric file that was written."),
    described(&lab::CUT, &["lab cut"], "Findings of probes or flows about a cut cable."),
    described(&lab::DOWN, &["lab down"], "The stopped lab."),
    described(&lab::job::JOBS, &["lab job"], "Results of jobs in a lab."),
    described(&lab::MISWIRE, &["lab miswire"], "Findings of the walk about two swapped cables."),
    described(&lab::run::RUN, &["lab run"], "Results of one run: up, push, walk, down."),
    described(&lab::STATUS, &["lab status", "lab restore"], "The status of a lab."),
    described(&lab::TEST, &["lab test"], "Results of the walk: packets delivered and lost."),
    described(&lab::UP, &["lab up"], "The started lab."),
    described(&lab::LABS, &["lab status"], "The labs that are up."),
    described(&man::MAN, &["man"], "The manual pages that were written."),
    described(&diff::patches::PATCHES, &["diff"], "The index of `diff --patches`: switches and patch files."),
    described(&paths::PATHS, &["paths"], "The paths between two NICs."),
    described(&place::PLACE, &["place"], "Racks and cable lengths of a fabric on a floor plan."),
    described(&platforms::PLATFORM, &["platforms"], "A platform in full."),
    described(&platforms::PLATFORMS, &["platforms"], "The platforms of the catalogue."),
    described(&push::PUSH, &["push"], "The result of a push."),
    described(&SAVED, &["push"], "The planned changes of a push, saved by `push --out`."),
    described(&push::PREVIEW, &["push"], "The planned changes of a push, printed by `push --dry-run`."),
    described(
        &export::ranks::RANKS,
        &["export"],
        "Ranks of a job, and pairs of ranks across zones and units.",
    ),
    described(&explain::TARGETS, &["explain"], "The capabilities that closc renders for each target."),
    described(&te::TE, &["te"], "Placed demands, and the load of links."),
    described(&verify::VERIFY, &["verify", "merge"], "Proved properties and violations of a tree."),
    described(
        &whatif::AGAINST,
        &["whatif"],
        "Two fabrics side by side, with the impact of failures on each.",
    ),
    described(&whatif::ANSWER, &["whatif"], "Remaining paths and bandwidth after the named failures."),
    described(&whatif::EACH, &["whatif", "merge"], "The impact of one failure of each kind."),
    described(&whatif::TRACE, &["whatif"], "Remaining bandwidth over time, with failures and repairs."),
    described(&whatif::TRIALS, &["whatif"], "Remaining bandwidth after random failures."),
];

/// Commands of documents that are served over HTTP, but not printed.
const SERVED: &[&str] = &["collect"];

/// For documents of every command that reads a file.
const ANY: &[&str] = &["any"];

/// A document without its type parameter.
struct DocumentSchema {
    name: &'static str,
    commands: &'static [&'static str],
    about: &'static str,
    body: fn(&mut SchemaGenerator) -> schemars::Schema,
}

/// A document as it is listed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Entry {
    /// Kind and version.
    document: &'static str,
    /// Its description.
    about: &'static str,
    /// The commands that write it; `any` stands for all commands that read a file.
    commands: &'static [&'static str],
}

const fn described<T: JsonSchema>(
    document: &Document<T>,
    commands: &'static [&'static str],
    about: &'static str,
) -> DocumentSchema {
    DocumentSchema { name: document.name, commands, about, body: T::json_schema }
}

/// Prints a schema, or lists the documents.
pub(super) fn run(args: &Args, command: &SchemaArgs) -> anyhow::Result<Outcome> {
    match command.document.as_deref() {
        None => output::print(FABRIC)?,
        Some("documents") => list(args)?,
        Some("platform") => output::print(PLATFORM)?,
        Some(name) => {
            let Some(found) = ALL.iter().find(|described| described.name == name) else {
                bail!("there is no document `{name}`; `closc schema documents` lists them");
            };
            output::print(&found.schema())?;
        }
    }
    Ok(Outcome::Fine)
}

fn list(args: &Args) -> anyhow::Result<()> {
    let entry =
        |found: &DocumentSchema| Entry { document: found.name, about: found.about, commands: found.commands };
    let entries: Vec<Entry> = ALL.iter().map(entry).collect();
    output::results(args.format, &DOCUMENTS, &entries, |entries| {
        entries.iter().fold(String::new(), |mut text, entry| {
            let _ = writeln!(text, "{:<24} {}", entry.document, entry.about);
            text
        })
    })
}

impl DocumentSchema {
    /// Returns the schema, ending in a line break.
    fn schema(&self) -> String {
        let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        let mut root = (self.body)(&mut generator).to_value();
        let definitions = generator.take_definitions(true);
        if let Some(root) = root.as_object_mut() {
            named(root, self.name);
            let id = format!("urn:closc:{}", self.name.replace('/', ":"));
            root.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
            root.insert("$id".to_owned(), id.into());
            root.insert("title".to_owned(), self.name.into());
            root.insert("description".to_owned(), self.about.into());
            if !definitions.is_empty() {
                root.insert("$defs".to_owned(), Value::Object(definitions));
            }
        }
        let mut text = serde_json::to_string_pretty(&sorted(root)).expect("a JSON value can be written");
        text.push('\n');
        text
    }
}

/// Adds the field that names the document: `schema`, or `format` for a saved plan, which has only that.
fn named(root: &mut Map<String, Value>, name: &str) {
    let properties = root.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let Some(properties) = properties.as_object_mut() else { return };
    let is_saved = name == SAVED.name;
    if properties.contains_key("format") {
        properties.insert("format".to_owned(), serde_json::json!({ "const": name }));
    }
    if is_saved {
        return;
    }
    properties.insert("schema".to_owned(), serde_json::json!({ "const": name }));
    let required = root.entry("required").or_insert_with(|| Value::Array(Vec::new()));
    if let Some(required) = required.as_array_mut() {
        required.insert(0, "schema".into());
    }
}

/// Sorts keys, because the order in a map depends on features of the build.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

#[cfg(test)]
mod tests;
