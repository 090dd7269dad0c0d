//! The certificates of a switch: read from files that nobody else can read, and read again when they change.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use closc_runtime::server::{Acceptor, ServerTls, TlsError};

use super::error::CommandError;
use super::options::TlsFiles;

/// Bits of a mode by which others than the owner can read or write a file.
const OTHERS: u32 = 0o066;

fn read(file: &Path) -> Result<Vec<u8>, CommandError> {
    fs::read(file).map_err(|error| CommandError::Read { file: file.to_owned(), error })
}

/// Reads a private key, unless others can.
fn read_key(file: &Path) -> Result<Vec<u8>, CommandError> {
    let fail = |error| CommandError::Read { file: file.to_owned(), error };
    let mode = fs::metadata(file).map_err(fail)?.permissions().mode();
    if mode & OTHERS != 0 {
        return Err(CommandError::OpenKey { file: file.to_owned(), mode: mode & 0o777 });
    }
    read(file)
}

fn read_all(files: &TlsFiles) -> Result<ServerTls, CommandError> {
    let optional = |file: &Option<std::path::PathBuf>| file.as_deref().map(read).transpose();
    Ok(ServerTls {
        certificate: read(&files.certificate)?,
        key: read_key(&files.key)?,
        client_authority: optional(&files.client_authority)?,
        revoked: optional(&files.revoked)?,
    })
}

/// What of a file changes when it is written or replaced.
type Stamp = (u64, i64, i64, u64);

fn stamps(files: &TlsFiles) -> Vec<Option<Stamp>> {
    let all =
        [Some(&files.certificate), Some(&files.key), files.client_authority.as_ref(), files.revoked.as_ref()];
    let stamp = |file: &std::path::PathBuf| -> io::Result<Stamp> {
        let found = fs::metadata(file)?;
        Ok((found.ino(), found.mtime(), found.mtime_nsec(), found.len()))
    };
    all.into_iter().flatten().map(|file| stamp(file).ok()).collect()
}

/// Returns what makes connections with the certificates of the files as they are when a controller comes. Files that
/// cannot be used leave the certificates before in force.
pub(super) fn acceptor(files: TlsFiles) -> Result<Acceptor, CommandError> {
    let endpoint = |error: TlsError| CommandError::Endpoint(error.into());
    // The stamps first, so that what is written meanwhile is seen the next time.
    let first = stamps(&files);
    let config = read_all(&files)?.server_config().map_err(endpoint)?;
    let kept = Mutex::new((first, config));
    Ok(Acceptor::with(move || {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let now = stamps(&files);
        if now != kept.0 {
            kept.0 = now;
            match read_all(&files).and_then(|tls| tls.server_config().map_err(endpoint)) {
                Ok(config) => {
                    tracing::info!("certificates were read again");
                    kept.1 = config;
                }
                Err(error) => tracing::warn!("certificates stay as they were: {error}"),
            }
        }
        std::sync::Arc::clone(&kept.1)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let folder = std::env::temp_dir().join(format!("closc-switch-key-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a place for files");
        let file = folder.join("key.pem");
        fs::write(&file, "a key").expect("it can be written");
        for (mode, fine) in [(0o600, true), (0o400, true), (0o640, false), (0o644, false), (0o602, false)] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("it is ours");
            assert_eq!(read_key(&file).is_ok(), fine, "{mode:o}");
        }
        fs::remove_dir_all(&folder).expect("it is ours");
    }
}
