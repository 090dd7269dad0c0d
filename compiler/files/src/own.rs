//! Opens one of closc's own files at a path from the user: a log, a capture, a state file, a lock.
//!
//! In: a path and open options. Out: an open regular file. Invariants: the last part of the path is not a
//! link, so a user who can write to the folder cannot redirect closc to another file. Opening a pipe does not
//! block, and a terminal does not become the controlling terminal.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::OFlag;

/// Opens a regular file with `options`. Anything else at the path is an error and is not changed.
pub fn open_own_file(path: impl AsRef<Path>, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = options.custom_flags(flags.bits()).open(path).map_err(map_open_error)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

fn map_open_error(error: io::Error) -> io::Error {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ELOOP) => io::Error::new(io::ErrorKind::InvalidInput, "it is a symbolic link"),
        // A socket, a pipe without a reader, a device without a driver, or a folder.
        Some(Errno::ENXIO | Errno::ENODEV | Errno::EISDIR) => not_regular(),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_regular_files_are_opened_and_no_pipe_is_waited_for() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let at = |name: &str| folder.path().join(name);
        let opened = |name: &str| {
            let mut options = File::options();
            open_own_file(at(name), options.write(true).create(true).truncate(true))
                .map(drop)
                .map_err(|error| error.to_string())
        };
        fs::write(at("other"), "of another user").expect("it can be written");
        std::os::unix::fs::symlink(at("other"), at("link")).expect("it can be linked");
        std::os::unix::fs::symlink(at("nothing"), at("dangling")).expect("it can be linked");
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe can be made");
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("a socket can be made");
        fs::create_dir(at("folder")).expect("it can be made");
        for link in ["link", "dangling"] {
            assert_eq!(opened(link), Err("it is a symbolic link".to_owned()));
        }
        for other in ["pipe", "socket", "folder"] {
            assert_eq!(opened(other), Err("it is not a regular file".to_owned()), "{other}");
        }
        // A pipe is rejected even if a process has opened its other end.
        let reader = File::options().read(true).write(true).open(at("pipe")).expect("it is ours");
        assert_eq!(opened("pipe"), Err("it is not a regular file".to_owned()));
        drop(reader);
        let mut read = File::options();
        let said = open_own_file(at("pipe"), read.read(true)).map(drop).map_err(|error| error.to_string());
        assert_eq!(said, Err("it is not a regular file".to_owned()));
        assert!(!at("nothing").exists());
        assert_eq!(fs::read_to_string(at("other")).expect("it is there"), "of another user");
        assert_eq!(opened("new"), Ok(()));
    }
}
