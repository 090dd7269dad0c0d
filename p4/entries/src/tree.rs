//! Entries and pipelines as files of the compiled tree.
//!
//! In: the entities of a switch, a pipeline. Out: `switches/<name>/entries.txtpb`, a standard `p4.v1.WriteRequest`
//! in text with a comment by names before each update, and once a tree the pipeline's P4Info and program. Always:
//! what is written here is read back to the same updates.

use closc_plan::DeviceIntent;
use closc_runtime::proto::v1;
use closc_runtime::text;
use v1::entity::Entity;

use crate::error::EntriesError;
use crate::pipeline::Pipeline;

/// Name of the entries of a switch, in its folder.
pub const ENTRIES_FILE: &str = "entries.txtpb";

/// Folder of the pipelines in the tree.
pub const PIPELINE_FOLDER: &str = "p4";

/// A file of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Path relative to the tree, with `/`.
    pub path: String,
    /// Content.
    pub text: String,
}

/// Renders the entries of a switch.
pub fn entries_file(pipeline: &Pipeline, intent: &DeviceIntent<'_>) -> Result<File, EntriesError> {
    let updates: Vec<v1::Update> = pipeline.entities(intent)?.into_iter().map(update).collect();
    let heading = format!("{}, pipeline {}", intent.name, pipeline.name());
    Ok(File {
        path: format!("switches/{}/{ENTRIES_FILE}", intent.name),
        text: text::write_entries(pipeline.info(), &heading, &updates),
    })
}

/// Returns the files that every switch of a pipeline shares.
pub fn pipeline_files(pipeline: &Pipeline) -> [File; 2] {
    let file = |ending: &str, text: &str| File {
        path: format!("{PIPELINE_FOLDER}/{}.{ending}", pipeline.name()),
        text: text.to_owned(),
    };
    [file("p4info.txtpb", pipeline.p4info()), file("bmv2.json", pipeline.bmv2())]
}

/// Returns the update that brings an entity about on a switch without entries: default entries are always there.
fn update(entity: v1::Entity) -> v1::Update {
    match &entity.entity {
        Some(Entity::TableEntry(entry)) if entry.is_default_action => v1::Update::modify(entity),
        _ => v1::Update::insert(entity),
    }
}
