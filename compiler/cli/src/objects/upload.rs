//! Uploads an object in parts.
//!
//! In: a stream of bytes. Out: an object. Invariants: the object is invisible until [`Upload::complete`]. An upload
//! that is dropped earlier is aborted. At most two parts are in memory: one being filled, and one being sent.

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use camino::Utf8Path;
use closc_compile::{Job, archive_into};
use object_store::{MultipartUpload, ObjectStoreExt as _, PutResult};
use tokio::task::JoinHandle;

use super::store::{Object, wait};

/// Size of a part in bytes. A store accepts 10,000 parts, so objects can have up to 156 GiB.
const PART: usize = 16 << 20;

/// An upload in progress.
struct Upload {
    object: Object,
    /// `None` once the upload is complete or aborted.
    parts: Option<Box<dyn MultipartUpload>>,
    buffer: Vec<u8>,
    /// The part that is being sent.
    sending: Option<JoinHandle<object_store::Result<()>>>,
}

impl Upload {
    /// Starts an upload.
    fn start(object: Object) -> io::Result<Self> {
        let (store, key) = (Arc::clone(&object.store), object.key.clone());
        let parts = wait(async move { store.put_multipart(&key).await })?;
        let parts = parts.map_err(|error| object.fault(&error))?;
        Ok(Upload { object, parts: Some(parts), buffer: Vec::with_capacity(PART), sending: None })
    }

    /// Waits until the current part is sent.
    fn sent(&mut self) -> io::Result<()> {
        let Some(sending) = self.sending.take() else { return Ok(()) };
        wait(sending)?.map_err(io::Error::other)?.map_err(|error| self.object.fault(&error))
    }

    fn send(&mut self) -> io::Result<()> {
        self.sent()?;
        let bytes = mem::replace(&mut self.buffer, Vec::with_capacity(PART));
        let Some(parts) = self.parts.as_mut() else { return Err(io::Error::other("the object is complete")) };
        let part = parts.put_part(bytes.into());
        // A separate task sends the part while the next one is filled.
        self.sending = Some(wait(async move { tokio::spawn(part) })?);
        Ok(())
    }

    /// Sends the rest, and makes the object visible.
    fn complete(mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            self.send()?;
        }
        self.sent()?;
        let Some(mut parts) = self.parts.take() else { return Ok(()) };
        let (parts, result): (_, object_store::Result<PutResult>) = wait(async move {
            let result = parts.complete().await;
            (parts, result)
        })?;
        if let Err(error) = result {
            self.parts = Some(parts);
            return Err(self.object.fault(&error));
        }
        Ok(())
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PART - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        if self.buffer.len() == PART {
            self.send()?;
        }
        Ok(taken)
    }

    /// Does nothing, because [`Upload::complete`] sends the rest.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(sending) = self.sending.take() {
            sending.abort();
        }
        let Some(mut parts) = self.parts.take() else { return };
        // If the store does not answer, it keeps invisible parts until its own rules for abandoned uploads remove them.
        drop(wait(async move { parts.abort().await }));
    }
}

/// Writes an archive of a tree. It becomes visible after its last part.
pub(crate) fn archive(job: &Job<'_>, place: &Utf8Path, done: &dyn Fn(u64)) -> anyhow::Result<()> {
    let upload = Upload::start(Object::at(place)?)?;
    // Any failure drops the upload, which aborts it at the store.
    Ok(archive_into(job, (upload, place), done)?.complete()?)
}

/// Writes a small object.
pub(crate) fn put(place: &Utf8Path, bytes: &[u8]) -> anyhow::Result<()> {
    let object = Object::at(place)?;
    let (store, key, payload) = (Arc::clone(&object.store), object.key.clone(), bytes.to_vec().into());
    wait(async move { store.put(&key, payload).await })?.map_err(|error| object.fault(&error))?;
    Ok(())
}
