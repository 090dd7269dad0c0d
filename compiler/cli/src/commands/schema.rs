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
    describe(&audit::AUDIT, &["audit verify"], "The number of lines of an audit log in an unbroken chain."),
    describe(&cables::CABLES, &["cables check"], "LLDP neighbours compared with the planned cabling."),
    describe(&check::CHECK, &["check"], "Counts of a fabric file."),
    describe(&check::CHECKS, &["check"], "Counts and findings of several fabric files."),
    describe(&explain::CODE, &["explain"], "A diagnostic code, with its page."),
    describe(&explain::CODES, &["explain"], "Every diagnostic code."),
    describe(&collect::COLLECT, &["collect"], "Summary of agent reports, verdicts and denials."),
    describe(&collect::ADDRESS, SERVED, "The meaning of an address; served as `/api/decode`."),
    describe(
        &collect::CABLES,
        SERVED,
        "The cables of a switch or NIC, with their state; served as `/api/cables`.",
    ),
    describe(
        &collect::CHANGES,
        SERVED,
        "The changes made by an order; the response to `POST /api/drain` and `/api/lift`.",
    ),
    describe(
        &collect::PATHS,
        SERVED,
        "The paths between two NICs, with their state; served as `/api/paths`.",
    ),
    describe(&collect::PLANE, SERVED, "The switches of a plane, with their state; served as `/api/plane`."),
    describe(&collect::SESSION, SERVED, "The client's permission to send orders; served as `/api/session`."),
    describe(&collect::SOURCES, SERVED, "Polled agents and switches; served as `/api/sources`."),
    describe(&compile::COMPILE, &["compile"], "The files of a tree that were written, kept and removed."),
    describe(&conformance::CONFORMANCE, &["conformance"], "Verdicts on a P4Runtime server, by section."),
    describe(&explain::device::DEVICE, &["explain"], "The complete configuration of one switch."),
    describe(&DIAGNOSTICS, ANY, "Findings of a file that has errors."),
    describe(
        &diff::DIFF,
        &["diff", "drain", "undrain"],
        "The differences between two fabrics, with impact and rollout.",
    ),
    describe(&DOCUMENTS, &["schema"], "The documents of this program."),
    describe(&drift::DRIFT, &["drift"], "The differences between running switches and a tree."),
    describe(
        &control::EVENT,
        &["push", "drift", "watch"],
        "Progress events of `push`, `drift` and `watch`, one per line on stderr.",
    ),
    describe(&ERROR, ANY, "An error that is not a finding in a file."),
    describe(&export::EXPORT, &["export"], "The files that were exported."),
    describe(&fix::FIX, &["fix"], "Fixes applied to fabric files."),
    describe(&fmt::FMT, &["fmt"], "Formatted fabric files."),
    describe(&grow::GROW, &["grow"], "The cables to plug, pull or move."),
    describe(&explain::headroom::HEADROOM, &["explain"], "The PFC headroom of a port, term by term."),
    describe(&import::IMPORT, &["import"], "The result of an import of existing cabling."),
    describe(&design::COMPARE, &["design"], "Two fabrics, number by number."),
    describe(&design::EXPLAIN, &["design"], "Why the search does not propose a fabric."),
    describe(&design::DESIGN, &["design"], "The designs that meet a need, the best first."),
    describe(&init::INIT, &["init"], "The fabric file that was written."),
    describe(&lab::CUT, &["lab cut"], "Findings of probes or flows about a cut cable."),
    describe(&lab::DOWN, &["lab down"], "The stopped lab."),
    describe(&lab::job::JOBS, &["lab job"], "Results of jobs in a lab."),
    describe(&lab::MISWIRE, &["lab miswire"], "Findings of the walk about two swapped cables."),
    describe(&lab::run::RUN, &["lab run"], "Results of one run: up, push, walk, down."),
    describe(&lab::STATUS, &["lab status", "lab restore"], "The status of a lab."),
    describe(&lab::TEST, &["lab test"], "Results of the walk: packets delivered and lost."),
    describe(&lab::UP, &["lab up"], "The started lab."),
    describe(&lab::LABS, &["lab status"], "The labs that are up."),
    describe(&man::MAN, &["man"], "The manual pages that were written."),
    describe(&diff::patches::PATCHES, &["diff"], "The index of `diff --patches`: switches and patch files."),
    describe(&paths::PATHS, &["paths"], "The paths between two NICs."),
    describe(&place::PLACE, &["place"], "Racks and cable lengths of a fabric on a floor plan."),
    describe(&platforms::PLATFORM, &["platforms"], "A platform in full."),
    describe(&platforms::PLATFORMS, &["platforms"], "The platforms of the catalogue."),
    describe(&push::PUSH, &["push"], "The result of a push."),
    describe(&SAVED, &["push"], "The planned changes of a push, saved by `push --out`."),
    describe(&push::PREVIEW, &["push"], "The planned changes of a push, printed by `push --dry-run`."),
    describe(
        &export::ranks::RANKS,
        &["export"],
        "Ranks of a job, and pairs of ranks across zones and units.",
    ),
    describe(&explain::TARGETS, &["explain"], "The capabilities that closc renders for each target."),
    describe(&te::TE, &["te"], "Placed demands, and the load of links."),
    describe(&verify::VERIFY, &["verify", "merge"], "Proved properties and violations of a tree."),
    describe(&whatif::AGAINST, &["whatif"], "Two fabrics side by side, with the impact of failures on each."),
    describe(&whatif::ANSWER, &["whatif"], "Remaining paths and bandwidth after the named failures."),
    describe(&whatif::EACH, &["whatif", "merge"], "The impact of one failure of each kind."),
    describe(&whatif::TRACE, &["whatif"], "Remaining bandwidth over time, with failures and repairs."),
    describe(&whatif::TRIALS, &["whatif"], "Remaining bandwidth after random failures."),
];

/// Commands whose documents are served over HTTP, but not printed.
const SERVED: &[&str] = &["collect"];

/// Keyword for documents of every command that reads a file.
const ANY: &[&str] = &["any"];

/// A document without its type parameter.
struct DocumentSchema {
    name: &'static str,
    commands: &'static [&'static str],
    summary: &'static str,
    body: fn(&mut SchemaGenerator) -> schemars::Schema,
}

/// A document in the list.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Entry {
    /// Kind and version.
    document: &'static str,
    /// Its description.
    about: &'static str,
    /// The commands that write it; `any` means all commands that read a file.
    commands: &'static [&'static str],
}

const fn describe<T: JsonSchema>(
    document: &Document<T>,
    commands: &'static [&'static str],
    about: &'static str,
) -> DocumentSchema {
    DocumentSchema { name: document.name, commands, summary: about, body: T::json_schema }
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
    let entry = |found: &DocumentSchema| Entry {
        document: found.name,
        about: found.summary,
        commands: found.commands,
    };
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
            add_name_field(root, self.name);
            let id = format!("urn:closc:{}", self.name.replace('/', ":"));
            root.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
            root.insert("$id".to_owned(), id.into());
            root.insert("title".to_owned(), self.name.into());
            root.insert("description".to_owned(), self.summary.into());
            if !definitions.is_empty() {
                root.insert("$defs".to_owned(), Value::Object(definitions));
            }
        }
        let mut text = serde_json::to_string_pretty(&sort_keys(root)).expect("a JSON value can be written");
        text.push('\n');
        text
    }
}

/// Adds the field with the name of the document: `schema`, or `format` for a saved plan, which has no `schema`.
fn add_name_field(root: &mut Map<String, Value>, name: &str) {
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

/// Sorts keys, because the order in a map depends on build features.
fn sort_keys(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().map(|(key, value)| (key, sort_keys(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sort_keys).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

#[cfg(test)]
mod tests;
