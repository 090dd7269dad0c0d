//! Destinations of the audit log: a file, the systemd journal, or syslog.
//!
//! Invariants: a file is never a symbolic link, lines are only appended to it, and it is synced after each
//! line. A line that was truncated by a power failure stays a separate line. A service has received the line
//! when the call returns. After a rotation or a restart of the service, lines go to the new file or service.
//! The chain of a file spans rotations and, under the file's lock, all processes that write to it. The chain
//! of a service covers one process. A sink that does not wait returns [`io::ErrorKind::WouldBlock`] if
//! another process holds the lock, or if the socket buffer of the service is full.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::chain;

/// Mode of a new log: the owner can write, and the group can read.
const MODE: u32 = 0o640;

/// The socket of the systemd journal (`systemd.io/JOURNAL_NATIVE_PROTOCOL`).
const JOURNAL: &str = "/run/systemd/journal/socket";

/// The syslog socket.
const SYSLOG: &str = "/dev/log";

/// Facility 10 (`authpriv`), severity 5 (notice), as numbered in RFC 5424 6.2.1.
const PRIORITY: u32 = 10 * 8 + 5;

/// The destination of lines: the destination as named by the user, and the open file or socket.
pub(crate) struct Sink {
    place: Place,
    open: OpenSink,
    /// Whether a write may wait for another process.
    waits: bool,
    /// Whether this sink holds the lock of the file between two lines.
    is_locked: bool,
    /// Digest of the last line before a rotation, or of the last line that this process sent to a service.
    last_digest: Option<String>,
}

/// A destination, with the data for reopening it.
enum Place {
    File(Utf8PathBuf),
    Journal(PathBuf),
    Syslog(PathBuf),
}

enum OpenSink {
    File(File),
    Socket(UnixDatagram),
}

impl Place {
    fn of(place: &Utf8Path) -> Place {
        let (name, socket) = match place.as_str().split_once(':') {
            Some((name, socket)) => (name, Some(socket)),
            None => (place.as_str(), None),
        };
        match name {
            "journald" => Place::Journal(socket.unwrap_or(JOURNAL).into()),
            "syslog" => Place::Syslog(socket.unwrap_or(SYSLOG).into()),
            _ => Place::File(place.to_owned()),
        }
    }

    fn open(&self, waits: bool) -> io::Result<OpenSink> {
        match self {
            Place::File(path) => file(path).map(OpenSink::File),
            Place::Journal(socket) | Place::Syslog(socket) => connect(socket, waits).map(OpenSink::Socket),
        }
    }

    /// Returns a line in the format of this destination.
    fn message(&self, line: &str) -> String {
        match self {
            Place::File(_) => format!("{line}\n"),
            Place::Journal(_) => {
                format!("SYSLOG_IDENTIFIER=closc\nSYSLOG_FACILITY=10\nPRIORITY=5\nMESSAGE={line}\n")
            }
            Place::Syslog(_) => format!("<{PRIORITY}>closc[{}]: {line}", std::process::id()),
        }
    }

    /// Returns whether the open file was rotated, so that its name now belongs to another file or to none.
    fn is_rotated(&self, open: &OpenSink) -> io::Result<bool> {
        let (Place::File(path), OpenSink::File(file)) = (self, open) else { return Ok(false) };
        let own = file.metadata()?;
        match fs::symlink_metadata(path) {
            Ok(there) => Ok((there.dev(), there.ino()) != (own.dev(), own.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(error),
        }
    }
}

impl Sink {
    /// Opens a destination: `journald` or `syslog`, both with an optional `:SOCKET`, or a file.
    pub(crate) fn open(place: &Utf8Path, waits: bool) -> io::Result<Self> {
        let place = Place::of(place);
        let open = place.open(waits)?;
        Ok(Sink { place, open, waits, is_locked: false, last_digest: None })
    }

    /// Reopens the destination, after a rotation or a restart of the logging service.
    pub(crate) fn reopen(&mut self) -> io::Result<()> {
        let open = self.place.open(self.waits)?;
        if let OpenSink::File(file) = &self.open {
            self.last_digest = last_line_digest(file)?.or(self.last_digest.take());
        }
        // The lock was released when the old file was closed.
        (self.open, self.is_locked) = (open, false);
        Ok(())
    }

    /// Writes a line in one piece. `line` returns it without a line feed, given the digest of the previous
    /// line. Reopens a rotated file before it writes, and a socket after a first attempt fails. With `keep`,
    /// the lock of a file is kept for the next line.
    pub(crate) fn write(&mut self, line: impl Fn(&str) -> io::Result<String>, keep: bool) -> io::Result<()> {
        if self.place.is_rotated(&self.open)? {
            self.reopen()?;
        }
        if let OpenSink::File(_) = &self.open {
            return self.append(line, keep);
        }
        let line = line(self.last_digest.as_deref().unwrap_or(chain::START))?;
        let message = self.place.message(&line);
        let sent = |open: &OpenSink| match open {
            OpenSink::Socket(socket) => socket.send(message.as_bytes()).map(drop),
            OpenSink::File(_) => Ok(()),
        };
        match sent(&self.open) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
            Err(_) => {
                self.reopen()?;
                sent(&self.open)?;
            }
            Ok(()) => {}
        }
        self.last_digest = Some(chain::digest(line.as_bytes()));
        Ok(())
    }

    /// Appends a line to the file, under its lock. Other processes hold the lock only briefly.
    fn append(&mut self, line: impl Fn(&str) -> io::Result<String>, keep: bool) -> io::Result<()> {
        let OpenSink::File(file) = &self.open else { return Ok(()) };
        if !self.is_locked {
            lock(file, if self.waits { LOCK_TRIES } else { 1 })?;
        }
        let written = (|| {
            end_line(file)?;
            let prev = last_line_digest(file)?.or(self.last_digest.take());
            let line = line(prev.as_deref().unwrap_or(chain::START))?;
            (&mut &*file).write_all(self.place.message(&line).as_bytes())?;
            file.sync_data()
        })();
        self.is_locked = keep && written.is_ok();
        if !self.is_locked {
            file.unlock()?;
        }
        written
    }
}

/// Number of attempts to lock the log before giving up, so that one suspended process does not block all
/// others.
const LOCK_TRIES: u32 = 200;
/// Delay between two attempts.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

fn lock(file: &File, tries: u32) -> io::Result<()> {
    for attempt in 1..=tries {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if attempt < tries => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::WouldBlock, "another process keeps it locked"))
}

/// Returns the digest of the last line of a file; `None` if the file is empty.
fn last_line_digest(file: &File) -> io::Result<Option<String>> {
    let length = file.metadata()?.len();
    let mut n = 4096.min(length);
    while n > 0 {
        let mut bytes = vec![0; usize::try_from(n).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut bytes, length - n)?;
        let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        match text.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => return Ok(Some(chain::digest(&text[at + 1..]))),
            None if n == length => return Ok(Some(chain::digest(text))),
            None if n > chain::LINE_MAX => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "its last line is longer than 16 MiB",
                ));
            }
            None => n = (n * 4).min(length),
        }
    }
    Ok(None)
}

fn connect(path: impl AsRef<Path>, waits: bool) -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    socket.connect(path)?;
    socket.set_nonblocking(!waits)?;
    Ok(socket)
}

/// Opens a file for appending, and syncs its folder so that the name of a new file is on disk.
fn file(path: &Utf8Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = closc_files::open_own_file(path, options.read(true).append(true).create(true).mode(MODE))?;
    end_line(&file)?;
    let folder = path.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    File::open(folder)?.sync_all()?;
    Ok(file)
}

/// Terminates a line that was truncated by a power failure, so that the next record starts on a new line.
fn end_line(file: &File) -> io::Result<()> {
    let mut last = [0];
    let length = file.metadata()?.len();
    if length == 0 || file.read_at(&mut last, length - 1)? == 0 || last == *b"\n" {
        return Ok(());
    }
    (&mut &*file).write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a line, calls `change`, and writes another line.
    fn write_around(place: &Utf8Path, change: impl FnOnce()) {
        let mut sink = Sink::open(place, true).expect("a log");
        sink.write(|_| Ok("before".to_owned()), false).expect("it is written");
        change();
        sink.write(|_| Ok("after".to_owned()), false).expect("it is written");
    }

    /// `logrotate` renames the file, creates a new one and compresses the old one. The next line must go to
    /// the new file.
    #[test]
    fn a_file_that_is_rotated_is_opened_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = Utf8Path::from_path(folder.path()).expect("its name is text");
        let (log, old) = (folder.join("log"), folder.join("log.1"));
        write_around(&log, || fs::rename(&log, &old).expect("a rename"));
        let read = |path: &Utf8Path| fs::read_to_string(path).expect("a log");
        assert_eq!((read(&old), read(&log)), ("before\n".to_owned(), "after\n".to_owned()));
        fs::remove_file(&log).expect("it is there");
        write_around(&log, || {
            fs::rename(&log, &old).expect("a rename");
            drop(file(&log).expect("a new log"));
            fs::remove_file(&old).expect("it was compressed");
        });
        assert_eq!(read(&log), "after\n");
        // A symbolic link in place of the log is rejected.
        let mut sink = Sink::open(&log, true).expect("a log");
        fs::rename(&log, &old).expect("a rename");
        std::os::unix::fs::symlink(&old, &log).expect("a link");
        assert!(sink.write(|_| Ok("through a link".to_owned()), false).is_err());
    }

    /// A restarted service binds a new socket at the same path.
    #[test]
    fn a_socket_that_was_bound_again_is_connected_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = Utf8Path::from_path(folder.path()).expect("its name is text").join("socket");
        let bind = || UnixDatagram::bind(&socket).expect("a socket");
        let (first, mut second) = (bind(), None);
        write_around(&Utf8PathBuf::from(format!("syslog:{socket}")), || {
            drop(first);
            fs::remove_file(&socket).expect("it is there");
            second = Some(bind());
        });
        let mut bytes = [0; 200];
        let length = second.expect("it was restarted").recv(&mut bytes).expect("a line");
        assert!(String::from_utf8_lossy(&bytes[..length]).ends_with("after"));
    }

    /// If the chain restarted after one of these events, changed or removed lines would go unnoticed.
    #[test]
    fn the_chain_goes_over_processes_a_rotation_and_a_power_loss() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = Utf8Path::from_path(folder.path()).expect("its name is text");
        let (log, old) = (folder.join("log"), folder.join("log.1"));
        let say = |sink: &mut Sink, word: &str| {
            let line = |prev: &str| Ok(format!(r#"{{"prev":"{prev}","word":"{word}"}}"#));
            sink.write(line, false).expect("it is written");
        };
        let [mut first, mut second] = [(); 2].map(|()| Sink::open(&log, true).expect("a log"));
        for word in ["a", "b", "c"] {
            say(&mut first, word);
            say(&mut second, &"x".repeat(5000));
        }
        // A write that was interrupted by a power failure.
        let mut torn = OpenOptions::new().append(true).open(&log).expect("it is there");
        torn.write_all(b"{\"prev\":\"1").expect("the file is writable");
        say(&mut second, "after the power came back");
        fs::rename(&log, &old).expect("a rename");
        say(&mut first, "after the rotation");
        say(&mut second, "by the other one");
        let mut chain = chain::Chain::new();
        for path in [&old, &log] {
            let text = fs::read(path).expect("a log");
            chain.follow(text.as_slice()).expect("it is intact");
        }
        assert_eq!((chain.lines, chain.cut_off), (10, 1));
        // Another process is suspended while it holds the lock.
        let other = File::open(&log).expect("it is there");
        other.lock().expect("nothing else has it");
        let why = first.write(|_| Ok("{}".to_owned()), false).expect_err("it is locked").to_string();
        assert_eq!(why, "another process keeps it locked");
    }

    /// An event loop must not wait for a suspended process, and another process must not write between its
    /// two lines.
    #[test]
    fn a_sink_that_does_not_wait_returns_at_once_and_keeps_its_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = Utf8Path::from_path(folder.path()).expect("its name is text");
        let (log, old) = (folder.join("log"), folder.join("log.1"));
        let [mut own, mut other] = [(); 2].map(|()| Sink::open(&log, false).expect("a log"));
        let write = |sink: &mut Sink, keep: bool| {
            let line = |prev: &str| Ok(format!(r#"{{"prev":"{prev}"}}"#));
            sink.write(line, keep).map_err(|error| error.kind())
        };
        assert_eq!(write(&mut own, true), Ok(()));
        assert_eq!(write(&mut other, true), Err(io::ErrorKind::WouldBlock));
        assert_eq!(write(&mut own, false), Ok(()));
        assert_eq!(write(&mut other, true), Ok(()));
        fs::rename(&log, &old).expect("a rename");
        assert_eq!(write(&mut own, true), Ok(()), "the lock is that of the old file");
        assert_eq!(write(&mut other, false), Err(io::ErrorKind::WouldBlock));
        assert_eq!(write(&mut own, false), Ok(()));
        assert_eq!(write(&mut other, false), Ok(()));
        let mut chain = chain::Chain::new();
        for path in [&old, &log] {
            chain.follow(fs::read(path).expect("a log").as_slice()).expect("it is intact");
        }
        assert_eq!(chain.lines, 6);
    }

    /// A service that does not read its socket must not block an event loop.
    #[test]
    fn a_service_without_room_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = Utf8Path::from_path(folder.path()).expect("its name is text").join("socket");
        let _service = UnixDatagram::bind(&socket).expect("a socket");
        let mut sink = Sink::open(&Utf8PathBuf::from(format!("syslog:{socket}")), false).expect("a log");
        let full = (0..100_000).find_map(|_| sink.write(|_| Ok("x".repeat(1000)), false).err());
        assert_eq!(full.map(|error| error.kind()), Some(io::ErrorKind::WouldBlock));
    }
}
