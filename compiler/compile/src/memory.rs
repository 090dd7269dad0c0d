//! Compiles a plan into a tree in memory, without writing to the disk.

use closc_artefacts::{Entry, Memory, paths};
use closc_plan::Plan;
use closc_render::Templates;

use crate::{CompileError, Job, Part};

/// Compiles a complete plan with the built-in templates into memory, including the manifest.
pub fn compile_in_memory(plan: &Plan) -> Result<Memory, CompileError> {
    compile_part_in_memory(plan, Part::default())
}

/// Compiles a part of a plan in the same way.
pub fn compile_part_in_memory(plan: &Plan, part: Part) -> Result<Memory, CompileError> {
    let templates = Templates::builtin();
    let job = Job::new(plan, &templates, blake3::Hasher::new().finalize(), part)?;
    let mut memory = Memory::default();
    for unit in &job.units {
        for artefact in unit.render(plan, &templates)? {
            memory.files.insert(artefact.path, artefact.bytes);
        }
    }
    let files = memory.files.iter().map(|(path, bytes)| (path.clone(), Entry::of(bytes))).collect();
    memory.files.insert(paths::MANIFEST.into(), job.manifest(files, job.is_partial())?.to_bytes());
    Ok(memory)
}
