//! The certificates of a server: read from files that nobody else can read, and read again when they change.
//!
//! In: paths. Out: an acceptor, or why there is none. Invariants: a private key that others can read is refused; files
//! that cannot be used leave the certificates before in force.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;

use super::tls::{Acceptor, Protocol, ServerTls, TlsError};

/// Bits of a mode by which others than the owner can read or write a file.
const OTHERS: u32 = 0o066;
/// The bit by which the group can read it.
const GROUP_READS: u32 = 0o040;

/// Files for TLS, as PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate chain of the server.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// Authority that clients must be signed by.
    pub client_authority: Option<PathBuf>,
    /// Certificates of clients that were revoked.
    pub revoked: Option<PathBuf>,
}

/// Why certificates cannot be used.
#[derive(Debug, Error)]
pub enum TlsFileError {
    /// A file cannot be read.
    #[error("`{}` cannot be read: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Others than the owner can read a private key.
    #[error("`{}` is a private key that others can read (mode {mode:03o}): `chmod 600` it", file.display())]
    OpenKey {
        /// The file.
        file: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The contents of the files do not suffice.
    #[error("certificates cannot be used: {0}")]
    Tls(#[from] TlsError),
}

fn read(file: &Path) -> Result<Vec<u8>, TlsFileError> {
    fs::read(file).map_err(|error| TlsFileError::Read { file: file.to_owned(), error })
}

/// Reads a private key, unless others can.
fn read_key(file: &Path) -> Result<Vec<u8>, TlsFileError> {
    let fail = |error| TlsFileError::Read { file: file.to_owned(), error };
    let found = fs::metadata(file).map_err(fail)?;
    let mode = found.permissions().mode();
    // systemd hands a credential to the user of a service by an access list, which shows as a bit of the group.
    let is_credential = found.uid() == 0
        && std::env::var_os("CREDENTIALS_DIRECTORY")
            .is_some_and(|folder| file.parent() == Some(Path::new(&folder)));
    let others = if is_credential { OTHERS & !GROUP_READS } else { OTHERS };
    if mode & others != 0 {
        return Err(TlsFileError::OpenKey { file: file.to_owned(), mode: mode & 0o777 });
    }
    read(file)
}

/// Changes of a file when it is written or replaced.
type Stamp = (u64, i64, i64, u64);

impl TlsFiles {
    fn read_all(&self) -> Result<ServerTls, TlsFileError> {
        let optional = |file: &Option<PathBuf>| file.as_deref().map(read).transpose();
        Ok(ServerTls {
            certificate: read(&self.certificate)?,
            key: read_key(&self.key)?,
            client_authority: optional(&self.client_authority)?,
            revoked: optional(&self.revoked)?,
        })
    }

    fn stamps(&self) -> Vec<Option<Stamp>> {
        let all =
            [Some(&self.certificate), Some(&self.key), self.client_authority.as_ref(), self.revoked.as_ref()];
        let stamp = |file: &PathBuf| -> io::Result<Stamp> {
            let found = fs::metadata(file)?;
            Ok((found.ino(), found.mtime(), found.mtime_nsec(), found.len()))
        };
        all.into_iter().flatten().map(|file| stamp(file).ok()).collect()
    }

    /// Returns what makes connections with the certificates of the files as they are when a client comes. Files that
    /// cannot be used leave the certificates before in force; `said` receives what became of files that changed.
    pub fn acceptor(
        self,
        protocol: Protocol,
        said: impl Fn(Result<(), TlsFileError>) + Send + Sync + 'static,
    ) -> Result<Acceptor, TlsFileError> {
        // The stamps first, so that what is written meanwhile is seen the next time.
        let first = self.stamps();
        let config = self.read_all()?.server_config(protocol)?;
        let kept = Mutex::new((first, config));
        Ok(Acceptor::with(move || {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            let now = self.stamps();
            if now != kept.0 {
                kept.0 = now;
                said(self.read_all().and_then(|tls| Ok(tls.server_config(protocol)?)).map(|config| {
                    kept.1 = config;
                }));
            }
            Arc::clone(&kept.1)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let folder = std::env::temp_dir().join(format!("closc-server-key-{}", std::process::id()));
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
