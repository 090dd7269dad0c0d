//! The certificates of a server. They are read from files, and reloaded when the files change.
//!
//! In: paths. Out: an acceptor, or an error. Invariants: a private key that other users can read or write is rejected;
//! if changed files are invalid, the previous certificates remain in use.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;

use super::tls::{Acceptor, Protocol, ServerTls, TlsError};

/// Mode bits that allow users other than the owner to read or write a file.
const OTHERS: u32 = 0o066;
/// The mode bit that allows the group to read a file.
const GROUP_READS: u32 = 0o040;

/// Paths of the TLS files, all in PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate chain of the server.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// Authority that signs the certificates of clients.
    pub client_authority: Option<PathBuf>,
    /// List of revoked client certificates.
    pub revocation_list: Option<PathBuf>,
}

/// The reason why certificates cannot be used.
#[derive(Debug, Error)]
pub enum TlsFileError {
    /// A file cannot be read.
    #[error("`{}` cannot be read: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// Users other than the owner can read or write the private key.
    #[error("`{}` is a private key that other users can read or write (mode {mode:03o}); help: run `chmod 600` on it", file.display())]
    OpenKey {
        /// The file.
        file: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The contents of the files are invalid or incomplete.
    #[error("certificates cannot be used: {0}")]
    Tls(#[from] TlsError),
}

fn read(file: &Path) -> Result<Vec<u8>, TlsFileError> {
    fs::read(file).map_err(|error| TlsFileError::Read { file: file.to_owned(), error })
}

/// Reads a private key, unless other users can read or write it.
fn read_key(file: &Path) -> Result<Vec<u8>, TlsFileError> {
    let fail = |error| TlsFileError::Read { file: file.to_owned(), error };
    let found = fs::metadata(file).map_err(fail)?;
    let mode = found.permissions().mode();
    // systemd gives the user of a service access to a credential through an ACL, which is shown as the read
    // bit of the group.
    let is_credential = found.uid() == 0
        && std::env::var_os("CREDENTIALS_DIRECTORY")
            .is_some_and(|folder| file.parent() == Some(Path::new(&folder)));
    let others = if is_credential { OTHERS & !GROUP_READS } else { OTHERS };
    if mode & others != 0 {
        return Err(TlsFileError::OpenKey { file: file.to_owned(), mode: mode & 0o777 });
    }
    read(file)
}

/// A value that changes when a file is written or replaced.
type Stamp = (u64, i64, i64, u64);

impl TlsFiles {
    fn read_all(&self) -> Result<ServerTls, TlsFileError> {
        let optional = |file: &Option<PathBuf>| file.as_deref().map(read).transpose();
        Ok(ServerTls {
            certificate: read(&self.certificate)?,
            key: read_key(&self.key)?,
            client_authority: optional(&self.client_authority)?,
            revocation_lists: optional(&self.revocation_list)?,
        })
    }

    fn stamps(&self) -> Vec<Option<Stamp>> {
        let all = [
            Some(&self.certificate),
            Some(&self.key),
            self.client_authority.as_ref(),
            self.revocation_list.as_ref(),
        ];
        let stamp = |file: &PathBuf| -> io::Result<Stamp> {
            let found = fs::metadata(file)?;
            Ok((found.ino(), found.mtime(), found.mtime_nsec(), found.len()))
        };
        all.into_iter().flatten().map(|file| stamp(file).ok()).collect()
    }

    /// Returns an acceptor that uses the current certificates for each new connection. If changed files are
    /// invalid, the previous certificates remain in use. `said` receives the result each time the files have
    /// changed.
    pub fn acceptor(
        self,
        protocol: Protocol,
        said: impl Fn(Result<(), TlsFileError>) + Send + Sync + 'static,
    ) -> Result<Acceptor, TlsFileError> {
        // The stamps are read before the files, so that a change during the read is noticed the next time.
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
