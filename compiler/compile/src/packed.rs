//! A tree in one `.tar.zst` file or object, read in place.
//!
//! In: an archive that [`crate::archive()`] wrote: a sequence of zstd frames, each with complete entries of a
//! tar file. Out: [`PackedTree`], which reads files in any order. Invariants: archives are untrusted. An
//! archive is scanned once, with limits on sizes and counts. Memory holds the position of each file, and the
//! contents of one file at a time. An archive with a link, a duplicate name or a name outside the tree is
//! rejected, and the error states its position.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{FILE_MAX, Files, paths};
use closc_budget::OverLimit;

use crate::blob::{Blob, LocalFile, OffsetReader};

/// Maximum number of entries of an archive: more than the largest fabric has files.
const ENTRIES_MAX: u64 = 1 << 22;

/// Maximum size of all files of an archive: more than the largest fabric has.
const TOTAL_MAX: u64 = 1 << 40;

/// Maximum size of a frame: the largest file, and 64 MiB for other entries, headers and padding.
const FRAME_MAX: u64 = FILE_MAX + (64 << 20);

/// Maximum length of a name.
const NAME_MAX: u64 = 4096;

/// The highest ratio of unpacked to packed bytes. Configurations reach 20 to 200.
const RATIO_MAX: u64 = 4096;

/// Frames that stay open after a file was read from them. An untrusted frame may use 128 MiB of memory.
const OPEN_MAX: usize = 2;

/// Reason why an archive cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PackedError {
    /// It cannot be opened.
    #[error("cannot read the archive `{place}`: {error}")]
    Open {
        /// The archive.
        place: Utf8PathBuf,
        /// The error.
        error: io::Error,
    },
    /// It cannot be unpacked.
    #[error("cannot read the archive `{place}`: in the frame that begins at byte {at} of {length}: {error}")]
    Read {
        /// The archive.
        place: Utf8PathBuf,
        /// First byte of the frame.
        at: u64,
        /// Size of the archive in bytes.
        length: u64,
        /// The error.
        error: io::Error,
    },
    /// The contents are rejected.
    #[error("the archive `{place}` is refused: in the frame at byte {at}, {message}")]
    Refused {
        /// The archive.
        place: Utf8PathBuf,
        /// First byte of the frame.
        at: u64,
        /// The error.
        message: String,
    },
}

/// Position of a file.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The first byte of its frame in the archive.
    frame: u64,
    /// Its first byte in the frame.
    at: u64,
    /// Its size in bytes.
    size: u64,
}

/// A tree in an archive.
#[derive(Debug)]
pub struct PackedTree {
    blob: Arc<dyn Blob>,
    slots: HashMap<Utf8PathBuf, Slot>,
    /// Partly unpacked frames, from which a later file can be read without unpacking the frame from its
    /// start.
    open: Mutex<Vec<Frame>>,
}

/// A frame that is unpacked up to some byte.
struct Frame {
    /// Its first byte in the archive.
    first: u64,
    /// The next byte of the frame.
    at: u64,
    rest: zstd::Decoder<'static, BufReader<OffsetReader>>,
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame at {} up to {}", self.first, self.at)
    }
}

impl PackedTree {
    /// Scans an archive in a file.
    pub fn open(place: &Utf8Path) -> Result<PackedTree, PackedError> {
        let unreadable = |error| PackedError::Open { place: place.to_owned(), error };
        let file = File::open(place).map_err(unreadable)?;
        let meta = file.metadata().map_err(unreadable)?;
        if !meta.is_file() {
            return Err(unreadable(io::Error::other("it is not a regular file")));
        }
        let length = meta.len();
        PackedTree::of(place, Arc::new(LocalFile { file, length }))
    }

    /// Scans an archive in any store; `place` is its name.
    pub fn of(place: &Utf8Path, blob: Arc<dyn Blob>) -> Result<PackedTree, PackedError> {
        let mut look =
            ArchiveScan { place, length: blob.length(), at: 0, entries: 0, total: 0, slots: HashMap::new() };
        let all = OffsetReader { blob: Arc::clone(&blob), at: 0 };
        let mut from =
            CountingReader { inner: BufReader::with_capacity(blob.portions()[0], all), bytes_read: 0 };
        while !from.fill_buf().map_err(|error| look.unreadable(error))?.is_empty() {
            look.at = from.bytes_read;
            look.frame(&mut from)?;
        }
        let slots = look.slots;
        Ok(PackedTree { blob, slots, open: Mutex::default() })
    }

    /// Returns the frame of a file: an open frame that has not been unpacked past the file's start, or a new
    /// one.
    fn frame(&self, slot: Slot) -> io::Result<Frame> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = open.iter().position(|frame| frame.first == slot.frame && frame.at <= slot.at) {
            return Ok(open.remove(at));
        }
        drop(open);
        let frame = OffsetReader { blob: Arc::clone(&self.blob), at: slot.frame };
        let from = BufReader::with_capacity(self.blob.portions()[1], frame);
        Ok(Frame { first: slot.frame, at: 0, rest: zstd::Decoder::with_buffer(from)?.single_frame() })
    }

    /// Keeps a frame open for reading the next file in it.
    fn leave(&self, frame: Frame) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.truncate(OPEN_MAX - 1);
        open.insert(0, frame);
    }
}

impl Files for PackedTree {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_into(Utf8Path::new(path), &mut bytes)?;
        Ok(bytes)
    }

    fn read_into(&self, path: &Utf8Path, into: &mut Vec<u8>) -> io::Result<()> {
        self.read_within(path, FILE_MAX, into)
    }

    fn read_within(&self, path: &Utf8Path, max: u64, into: &mut Vec<u8>) -> io::Result<()> {
        into.clear();
        let slot = *self.slots.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        if slot.size > max {
            return Err(OverLimit { limit: max }.into());
        }
        let mut frame = self.frame(slot)?;
        io::copy(&mut frame.rest.by_ref().take(slot.at - frame.at), &mut io::sink())?;
        closc_budget::read_into(frame.rest.by_ref().take(slot.size), slot.size, into)?;
        if into.len() as u64 != slot.size {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the archive was cut while it was read",
            ));
        }
        frame.at = slot.at + slot.size;
        self.leave(frame);
        Ok(())
    }

    fn list(&self) -> Option<Vec<Utf8PathBuf>> {
        let mut all: Vec<Utf8PathBuf> = self.slots.keys().cloned().collect();
        all.sort_unstable();
        Some(all)
    }
}

/// A reader that counts the bytes read.
struct CountingReader<R> {
    inner: R,
    bytes_read: u64,
}

impl<R: BufRead> Read for CountingReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.bytes_read += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for CountingReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.bytes_read += bytes as u64;
        self.inner.consume(bytes);
    }
}

/// A scan of an archive.
struct ArchiveScan<'a> {
    place: &'a Utf8Path,
    /// Size of the archive in bytes.
    length: u64,
    /// First byte of the frame.
    at: u64,
    entries: u64,
    total: u64,
    slots: HashMap<Utf8PathBuf, Slot>,
}

impl ArchiveScan<'_> {
    fn unreadable(&self, error: io::Error) -> PackedError {
        PackedError::Read { place: self.place.to_owned(), at: self.at, length: self.length, error }
    }

    fn refusal(&self, what: impl Into<String>) -> PackedError {
        PackedError::Refused { place: self.place.to_owned(), at: self.at, message: what.into() }
    }

    /// Scans a frame, which must end between two entries.
    fn frame(&mut self, from: &mut CountingReader<impl BufRead>) -> Result<(), PackedError> {
        let decoder = zstd::Decoder::with_buffer(from).map_err(|error| self.unreadable(error))?;
        let mut frame = tar::Archive::new(decoder.single_frame().take(FRAME_MAX));
        let mut long: Option<Utf8PathBuf> = None;
        for entry in frame.entries().map_err(|error| self.unreadable(error))?.raw(true) {
            let entry = entry.map_err(|error| self.unreadable(error))?;
            self.spend(entry.size())?;
            match entry.header().entry_type() {
                tar::EntryType::GNULongName => long = Some(self.long_name(entry)?),
                tar::EntryType::Regular => {
                    let path = match long.take() {
                        Some(path) => path,
                        None => self.name(&entry.path_bytes())?,
                    };
                    let slot = Slot { frame: self.at, at: entry.raw_file_position(), size: entry.size() };
                    if self.slots.insert(path.clone(), slot).is_some() {
                        return Err(self.refusal(format!("`{path}` is there again")));
                    }
                }
                other => {
                    let name = String::from_utf8_lossy(&entry.path_bytes()).escape_debug().to_string();
                    return Err(self.refusal(format!("`{name}` is not a regular file ({other:?})")));
                }
            }
        }
        if long.is_some() {
            return Err(self.refusal("a name has no file"));
        }
        // Padding after the last block of the archive.
        let mut rest = frame.into_inner();
        io::copy(&mut rest, &mut io::sink()).map_err(|error| self.unreadable(error))?;
        if rest.limit() == 0 {
            return Err(self.refusal(format!("there are more than {FRAME_MAX} bytes")));
        }
        Ok(())
    }

    /// Counts an entry towards the limits on number and size.
    fn spend(&mut self, size: u64) -> Result<(), PackedError> {
        self.entries += 1;
        self.total = self.total.saturating_add(size);
        if self.entries > ENTRIES_MAX {
            return Err(self.refusal(format!("there are more than {ENTRIES_MAX} entries")));
        }
        if size > FILE_MAX {
            return Err(self.refusal(format!("an entry has {size} bytes, and files have at most {FILE_MAX}")));
        }
        if self.total > TOTAL_MAX.min(self.length.saturating_mul(RATIO_MAX)) {
            let packed = self.length;
            return Err(self.refusal(format!("{packed} bytes unpack to {} and more", self.total)));
        }
        Ok(())
    }

    fn long_name(&self, entry: tar::Entry<'_, impl Read>) -> Result<Utf8PathBuf, PackedError> {
        if entry.size() > NAME_MAX {
            return Err(
                self.refusal(format!("a name has {} bytes, and names have at most {NAME_MAX}", entry.size()))
            );
        }
        let name = closc_budget::read(entry, NAME_MAX).map_err(|error| self.unreadable(error))?;
        self.name(name.strip_suffix(&[0]).unwrap_or(&name))
    }

    fn name(&self, bytes: &[u8]) -> Result<Utf8PathBuf, PackedError> {
        let path = std::str::from_utf8(bytes).ok().map(Utf8PathBuf::from);
        path.filter(|path| paths::is_inside(path)).ok_or_else(|| {
            let shown = String::from_utf8_lossy(bytes).escape_debug().to_string();
            self.refusal(format!("`{shown}` is not a path inside a tree"))
        })
    }
}
