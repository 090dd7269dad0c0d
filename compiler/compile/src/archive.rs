//! The tree as one `.tar.zst` file.
//!
//! In: a job. Out: an archive. Entries are in the order of the units, followed by the manifest and its
//! signature. They have no owner or time, so the same source results in the same bytes. The archive is a
//! sequence of zstd frames, each of which contains only complete entries. So [`crate::PackedTree`] unpacks at
//! most one frame to read a file. Other programs read the same `.tar.zst` as one tar file. Invariants: units
//! are rendered a few at a time. The file is complete and, with [`SyncMode::Yes`], synced to disk before it gets
//! its name. So concurrent runs never leave an incomplete file.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use camino::Utf8Path;
use closc_artefacts::{Entry, paths};
use closc_files::disk::{SyncMode, replace_with};
use closc_render::Artefact;
use rayon::prelude::*;

use crate::{CompileError, Job};

/// Units rendered at a time: enough to keep two cores busy, few enough to limit memory.
const BATCH: usize = 32;

/// zstd's own default.
const LEVEL: i32 = 3;

/// A frame ends once it holds this many bytes of entries: the configurations of three large switches, or many
/// small files. At [`LEVEL`], zstd's window has the same size, so text that switches share is stored once per
/// frame.
const FRAME: u64 = 2 << 20;

/// Writes an archive; `done` is called with the number of units just finished.
pub fn archive(
    job: &Job<'_>,
    place: &Utf8Path,
    sync: SyncMode,
    done: &dyn Fn(u64),
) -> Result<(), CompileError> {
    if place.file_name().is_none() {
        return Err(CompileError::Nameless(place.to_owned()));
    }
    let mut failed = None;
    let written = replace_with(place, sync, |file| {
        archive_into(job, (BufWriter::new(file), place), done).map(drop).map_err(|error| {
            failed = Some(error);
            io::Error::other("the archive is not complete")
        })
    });
    match (failed, written) {
        (Some(error), _) => Err(error),
        (None, written) => written.map_err(CompileError::file("write", place)),
    }
}

/// Writes an archive to any writer, and flushes it; `place` is its name in errors. The caller publishes or discards the
/// output.
pub fn archive_into<W: Write>(
    job: &Job<'_>,
    (into, place): (W, &Utf8Path),
    done: &dyn Fn(u64),
) -> Result<W, CompileError> {
    let write = |error| CompileError::File { operation: "write", path: place.to_owned(), error };
    let mut tar = tar::Builder::new(Frames::new(into).map_err(write)?);
    let mut files = BTreeMap::new();
    for batch in job.units.chunks(BATCH) {
        let rendered: Vec<Vec<Artefact>> =
            batch.par_iter().map(|unit| unit.render(job.plan, job.templates)).collect::<Result<_, _>>()?;
        for artefact in rendered.into_iter().flatten() {
            append(&mut tar, &artefact).map_err(write)?;
            files.insert(artefact.path, Entry::of(&artefact.bytes));
        }
        done(batch.len() as u64);
    }
    let manifest = job.manifest(files, job.is_partial())?.to_bytes();
    let signature = job.signatures(&manifest)?;
    append(&mut tar, &Artefact::new(paths::MANIFEST, manifest)).map_err(write)?;
    if let Some(signature) = signature {
        append(&mut tar, &Artefact::new(paths::SIGNATURE, signature)).map_err(write)?;
    }
    let whole = |mut into: W| into.flush().map(|()| into);
    tar.into_inner().and_then(Frames::finish).and_then(whole).map_err(write)
}

/// Compresses the bytes written to it, frame by frame.
struct Frames<W: Write> {
    /// The open frame; absent only between the end of one frame and the start of the next.
    open: Option<zstd::Encoder<'static, W>>,
    /// Uncompressed bytes in the open frame.
    bytes: u64,
}

impl<W: Write> Frames<W> {
    fn new(into: W) -> io::Result<Self> {
        Ok(Frames { open: Some(zstd::Encoder::new(into, LEVEL)?), bytes: 0 })
    }

    /// Ends the frame if it is large enough. Must be called between two entries.
    fn cut(&mut self) -> io::Result<()> {
        if self.bytes < FRAME {
            return Ok(());
        }
        let Some(open) = self.open.take() else { return Ok(()) };
        *self = Frames::new(open.finish()?)?;
        Ok(())
    }

    fn finish(self) -> io::Result<W> {
        self.open.ok_or_else(|| io::Error::other("the last frame failed"))?.finish()
    }
}

impl<W: Write> Write for Frames<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let open = self.open.as_mut().ok_or_else(|| io::Error::other("the last frame failed"))?;
        let written = open.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.open.as_mut().map_or(Ok(()), Write::flush)
    }
}

fn append<W: Write>(tar: &mut tar::Builder<Frames<W>>, artefact: &Artefact) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(artefact.bytes.len() as u64);
    header.set_mode(0o644);
    header.set_mtime(0);
    tar.append_data(&mut header, artefact.path.as_std_path(), artefact.bytes.as_slice())?;
    tar.get_mut().cut()
}
