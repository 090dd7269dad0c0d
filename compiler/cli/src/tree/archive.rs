//! The tree as one `.tar.zst` file.
//!
//! In: a plan. Out: an archive whose entries are in the order of the units, the manifest last, without owner or
//! time, so that the same source gives the same bytes. Invariants: units are rendered a few at a time.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Entry, Manifest, paths};
use closc_plan::Plan;
use closc_render::{Artefact, Templates};
use indicatif::ProgressBar;
use rayon::prelude::*;

use crate::tree::unit::Unit;

/// Units rendered at a time: enough to keep two cores busy, few enough to stay small.
const BATCH: usize = 32;

/// zstd's own default.
const LEVEL: i32 = 3;

/// Writes an archive; `head` makes its manifest from the list of files. A file is first written beside its place
/// and renamed when it is complete.
pub fn write(
    plan: &Plan,
    templates: &Templates,
    units: &[Unit],
    place: &Utf8Path,
    bar: &ProgressBar,
    head: impl FnOnce(BTreeMap<Utf8PathBuf, Entry>) -> Manifest,
) -> anyhow::Result<()> {
    let name = place.file_name().with_context(|| format!("`{place}` names no file"))?;
    let partial = place.with_file_name(format!(".{name}.closc-new"));
    let result = fill(plan, templates, units, &partial, bar, head).and_then(|()| {
        std::fs::rename(&partial, place).with_context(|| format!("cannot rename `{partial}` to `{place}`"))
    });
    if result.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    result
}

fn fill(
    plan: &Plan,
    templates: &Templates,
    units: &[Unit],
    partial: &Utf8Path,
    bar: &ProgressBar,
    head: impl FnOnce(BTreeMap<Utf8PathBuf, Entry>) -> Manifest,
) -> anyhow::Result<()> {
    let file = File::create(partial).with_context(|| format!("cannot create `{partial}`"))?;
    let mut tar = tar::Builder::new(zstd::Encoder::new(BufWriter::new(file), LEVEL)?);
    let mut files = BTreeMap::new();
    for batch in units.chunks(BATCH) {
        let rendered: Vec<Vec<Artefact>> =
            batch.par_iter().map(|unit| unit.render(plan, templates)).collect::<anyhow::Result<_>>()?;
        for artefact in rendered.into_iter().flatten() {
            append(&mut tar, &artefact)?;
            files.insert(artefact.path, Entry::of(&artefact.bytes));
        }
        bar.inc(batch.len() as u64);
    }
    append(&mut tar, &Artefact::new(paths::MANIFEST, head(files).to_bytes()))?;
    tar.into_inner()?.finish()?.flush()?;
    Ok(())
}

fn append<W: Write>(tar: &mut tar::Builder<W>, artefact: &Artefact) -> anyhow::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(artefact.bytes.len() as u64);
    header.set_mode(0o644);
    header.set_mtime(0);
    tar.append_data(&mut header, artefact.path.as_std_path(), artefact.bytes.as_slice())?;
    Ok(())
}
