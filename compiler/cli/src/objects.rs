//! `s3://BUCKET/KEY`: archives and summaries in an S3-compatible object store.
//!
//! In: a URL, and credentials from the environment variables of AWS tools. Out: objects, read and written in parts.
//! Invariants: an object appears only when it is complete. Memory use does not depend on the size of an archive.
//! Messages never contain credentials. A build without the feature `s3` rejects such URLs, and prints the build
//! command.

#[cfg(feature = "s3")]
mod read;
#[cfg(feature = "s3")]
mod store;
#[cfg(feature = "s3")]
mod upload;

use anyhow::ensure;
use camino::Utf8Path;

#[cfg(feature = "s3")]
pub(crate) use read::{blob, text};
#[cfg(feature = "s3")]
pub(crate) use upload::{archive, put};
#[cfg(not(feature = "s3"))]
pub(crate) use without::{archive, blob, put, text};

/// Prefix of an object's name.
const SCHEME: &str = "s3://";

/// Returns whether a place is in an object store.
pub(crate) fn is_object(place: &Utf8Path) -> bool {
    place.as_str().starts_with(SCHEME)
}

/// Rejects the name of a tree that is not an archive: a store has no folders, and cannot replace many objects
/// atomically.
pub(crate) fn require_archive(place: &Utf8Path) -> anyhow::Result<()> {
    ensure!(
        place.as_str().ends_with(".tar.zst"),
        "`{place}`: a tree in an object store is one object, so that it exists completely or not at all; \
         name it `{place}.tar.zst`"
    );
    Ok(())
}

#[cfg(not(feature = "s3"))]
mod without {
    use std::sync::Arc;

    use anyhow::bail;
    use camino::Utf8Path;
    use closc_compile::{Blob, Job};

    fn reject_object<T>(place: &Utf8Path) -> anyhow::Result<T> {
        bail!(
            "`{place}`: this closc reads and writes no object stores; build it with `cargo build --features s3`"
        )
    }

    pub(crate) fn archive(_: &Job<'_>, place: &Utf8Path, _: &dyn Fn(u64)) -> anyhow::Result<()> {
        reject_object(place)
    }

    pub(crate) fn blob(place: &Utf8Path) -> anyhow::Result<Arc<dyn Blob>> {
        reject_object(place)
    }

    pub(crate) fn put(place: &Utf8Path, _: &[u8]) -> anyhow::Result<()> {
        reject_object(place)
    }

    pub(crate) fn text(place: &Utf8Path, max: u64) -> anyhow::Result<String> {
        if super::is_object(place) {
            reject_object(place)
        } else {
            Ok(closc_files::read_user_text(place, max)?)
        }
    }
}
