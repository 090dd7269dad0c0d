//! Denials on a disk, so that none is forgotten when the agent ends.
//!
//! Invariants: the file is whole at every moment; a denial is in it before whoever asked for it gets an answer; no link is
//! followed and no pipe is waited for, as the agent may be root where others write to the folder.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::agent::Bans;

/// Writes the denials.
pub fn save(path: &Path, bans: &Bans) -> io::Result<()> {
    replace(path, &serde_json::to_vec_pretty(bans)?, 0o600)
}

/// Writes a file whole or not at all; it is on the disk when this returns.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    // What an agent left that was killed while it wrote, or what somebody put there.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = File::options().write(true).create_new(true).mode(mode).open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Reads them; none, if there is no file.
pub fn load(path: &Path) -> io::Result<Bans> {
    match regular(path, STATE_MAX, libc::O_NOFOLLOW) {
        Ok(bytes) => {
            let bans: Bans = serde_json::from_slice(&bytes)?;
            let mut seen = BTreeSet::new();
            match bans.bans.iter().filter_map(|ban| ban.id).find(|id| !seen.insert(*id)) {
                None => Ok(bans),
                Some(id) => Err(wrong(&format!("two denials have the number {id}"))),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Bans::default()),
        Err(error) => Err(error),
    }
}

/// Reads a regular file of at most so many bytes.
///
/// # Errors
///
/// Returns why it cannot be read, or that it is something else.
pub(crate) fn regular(path: &Path, most: u64, flags: libc::c_int) -> io::Result<Vec<u8>> {
    let flags = flags | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
            return Err(wrong("it is a symbolic link"));
        }
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => return Err(wrong(NOT_REGULAR)),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(wrong(NOT_REGULAR));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(wrong(&format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// The most bytes that are read: some hundred for each of the denials that an agent takes.
const STATE_MAX: u64 = 4 << 20;

const NOT_REGULAR: &str = "it is no regular file";

fn wrong(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Ban;

    #[test]
    fn what_is_saved_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("denials.json");
        assert_eq!(load(&path).unwrap(), Bans::default());
        let ban =
            Ban { id: Some(3), plane: Some(1), reason: "drain".into(), until: Some(12.5), ..Ban::default() };
        let bans = Bans { next: 4, bans: vec![ban] };
        save(&path, &bans).unwrap();
        assert_eq!(load(&path).unwrap(), bans);
        let twice = Bans { next: 4, bans: [bans.bans.clone(), bans.bans].concat() };
        save(&path, &twice).unwrap();
        assert_eq!(load(&path).unwrap_err().to_string(), "two denials have the number 3");
        fs::write(&path, "{").unwrap();
        assert!(load(&path).is_err());
    }

    #[test]
    fn links_are_not_followed_and_pipes_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let says = |name: &str| load(&at(name)).expect_err("it is refused").to_string();
        fs::write(at("other"), r#"{"next":9,"bans":[]}"#).unwrap();
        for name in ["link", "state.new"] {
            std::os::unix::fs::symlink(at("other"), at(name)).unwrap();
        }
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        assert_eq!(says("link"), "it is a symbolic link");
        assert_eq!([says("pipe"), says("socket"), says("")], [NOT_REGULAR; 3]);
        fs::write(at("large"), vec![b' '; STATE_MAX as usize + 1]).unwrap();
        assert_eq!(says("large"), format!("it has more than {STATE_MAX} bytes"));
        // What is beside is not written through, and what is at the place is replaced.
        fs::rename(at("link"), at("state")).unwrap();
        save(&at("state"), &Bans::default()).unwrap();
        assert_eq!(fs::read_to_string(at("other")).unwrap(), r#"{"next":9,"bans":[]}"#);
        assert_eq!(load(&at("state")).unwrap(), Bans::default());
        assert!(fs::symlink_metadata(at("state")).unwrap().is_file() && !at("state.new").exists());
    }
}
