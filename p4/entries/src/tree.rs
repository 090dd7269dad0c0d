//! Entries and pipelines as files of the compiled tree.
//!
//! In: the entities of a switch, and a pipeline. Out: one file of entries per switch
//! (`switches/<name>/entries.txtpb` for `fabric`), and the pipeline's P4Info and program once per tree.
//! Entries are a standard `p4.v1.WriteRequest` as text. A comment before each update shows it with names.
//! Invariants: reading a written file back gives the same updates.

use closc_artefacts::paths;
use closc_plan::DeviceIntent;
use closc_runtime::proto::v1;
use closc_runtime::text;
use v1::entity::Entity;

use crate::error::EntriesError;
use crate::pipeline::Pipeline;

/// A file of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Path relative to the tree, with `/` as separator.
    pub path: String,
    /// Content.
    pub text: String,
}

/// Renders the entries of a switch.
pub fn entries_file(pipeline: &Pipeline, intent: &DeviceIntent<'_>) -> Result<File, EntriesError> {
    let updates: Vec<v1::Update> = pipeline.entities(intent)?.into_iter().map(update).collect();
    let heading = format!("{}, pipeline {}", intent.name, pipeline.name());
    Ok(File {
        path: paths::switch(&intent.name, pipeline.file()).into_string(),
        text: text::write_entries(pipeline.info(), &heading, &updates),
    })
}

/// Returns the files that all switches with a pipeline share.
pub fn pipeline_files(pipeline: &Pipeline) -> Vec<File> {
    let name = pipeline.name();
    let file = |path: String, text: &str| File { path, text: text.to_owned() };
    let p4info = file(paths::p4info(name).into_string(), pipeline.p4info());
    let program = pipeline.bmv2().map(|bmv2| file(paths::bmv2(name).into_string(), bmv2));
    std::iter::once(p4info).chain(program).collect()
}

/// Returns the update that creates an entity on a switch without entries. Default entries always exist, so they are
/// modified.
fn update(entity: v1::Entity) -> v1::Update {
    match &entity.entity {
        Some(Entity::TableEntry(entry)) if entry.is_default_action => v1::Update::modify(entity),
        _ => v1::Update::insert(entity),
    }
}
