//! Objects that are read in parts.
//!
//! In: `s3://BUCKET/KEY`. Out: a [`Blob`], or text. Invariants: all parts belong to the version that was found first.

use std::io;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use camino::Utf8Path;
use closc_compile::Blob;
use object_store::{GetOptions, GetRange, ObjectStore as _, ObjectStoreExt as _};

use super::store::{Object, wait};

/// Bytes per request: for a complete object, and for a single frame.
const PORTIONS: [usize; 2] = [4 << 20, 64 << 10];

/// One version of an object.
#[derive(Debug)]
struct ObjectVersion {
    object: Object,
    length: u64,
    version: Option<String>,
}

impl ObjectVersion {
    /// Finds the current version of an object.
    fn of(object: Object) -> io::Result<ObjectVersion> {
        let (store, key) = (Arc::clone(&object.store), object.key.clone());
        let meta = wait(async move { store.head(&key).await })?.map_err(|error| object.fault(&error))?;
        Ok(ObjectVersion { object, length: meta.size, version: meta.e_tag })
    }
}

impl Blob for ObjectVersion {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let end = self.length.min(at.saturating_add(into.len() as u64));
        if at >= end {
            return Ok(0);
        }
        let range = Some(GetRange::Bounded(at..end));
        let options = GetOptions { range, if_match: self.version.clone(), ..GetOptions::default() };
        let (store, key) = (Arc::clone(&self.object.store), self.object.key.clone());
        let bytes = wait(async move { store.get_opts(&key, options).await?.bytes().await })?;
        let bytes = bytes.map_err(|error| self.object.fault(&error))?;
        let part = into.get_mut(..bytes.len());
        part.ok_or_else(|| io::Error::other("the store sent more than was asked for"))?
            .copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn portions(&self) -> [usize; 2] {
        PORTIONS
    }
}

/// Finds an object for reading.
pub(crate) fn blob(place: &Utf8Path) -> anyhow::Result<Arc<dyn Blob>> {
    Ok(Arc::new(ObjectVersion::of(Object::at(place)?)?))
}

/// Reads a text of at most `max` bytes from an object or a file.
pub(crate) fn text(place: &Utf8Path, max: u64) -> anyhow::Result<String> {
    if !super::is_object(place) {
        return Ok(closc_files::read_user_text(place, max)?);
    }
    let found = ObjectVersion::of(Object::at(place)?)?;
    ensure!(found.length <= max, "`{place}` has {} bytes; the maximum is {max}", found.length);
    let mut bytes = vec![0; usize::try_from(found.length)?];
    let mut at = 0;
    while at < bytes.len() {
        let read = found.read_at(&mut bytes[at..], at as u64)?;
        ensure!(read > 0, "`{place}` ended while it was read");
        at += read;
    }
    String::from_utf8(bytes).with_context(|| format!("`{place}` is not text"))
}
