//! Secrets: files that no other user can read or write.
//!
//! In: an open file. Out: its bytes, or the mode that gives other users access. Invariants: the mode is read
//! from the open file, so the file cannot be exchanged in the meantime. Group read permission is accepted for
//! credentials from systemd, whose ACL names the service user. The group bits of the mode are then the mask
//! of that ACL (systemd.exec(5), acl(5)).

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::error::Reason;

/// Mode bits that let users other than the owner read or write a file.
const OTHERS: u32 = 0o066;
/// Mode bit that lets the group read a file.
const GROUP_READS: u32 = 0o040;

/// Reads an open file. Fails if users other than its owner can read or write it.
pub(crate) fn read_secret(file: File, max: u64) -> Result<Vec<u8>, Reason> {
    let meta = file.metadata()?;
    let mode = meta.permissions().mode() & 0o777;
    let place = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default();
    let credentials = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
    let is_of_root = meta.uid() == 0;
    if is_shared(mode, is_of_root, &place, credentials.as_deref()) {
        return Err(Reason::Shared { mode });
    }
    crate::read(file, max)
}

/// Returns whether users other than the owner can read or write a file.
fn is_shared(mode: u32, is_of_root: bool, place: &Path, credentials: Option<&Path>) -> bool {
    let is_credential = is_of_root
        && credentials.is_some_and(|folder| folder.is_absolute() && place.parent() == Some(folder));
    let allowed = if is_credential { GROUP_READS } else { 0 };
    mode & OTHERS & !allowed != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: a key that systemd passed to a dynamic user through an ACL was rejected.
    #[test]
    fn credentials_of_a_service_may_have_bits_of_the_group() {
        let folder = Path::new("/run/credentials/closc-watch.service");
        let key = folder.join("client.key");
        assert!(!is_shared(0o440, true, &key, Some(folder)));
        assert!(!is_shared(0o400, false, &key, Some(folder)));
        for (mode, is_of_root, place, credentials) in [
            (0o444, true, key.as_path(), Some(folder)),
            (0o460, true, key.as_path(), Some(folder)),
            (0o440, false, key.as_path(), Some(folder)),
            (0o440, true, Path::new("/etc/closc/client.key"), Some(folder)),
            (0o440, true, key.as_path(), None),
            (0o440, true, key.as_path(), Some(Path::new("/run/credentials"))),
        ] {
            assert!(is_shared(mode, is_of_root, place, credentials), "{mode:o} {place:?} {credentials:?}");
        }
    }
}
