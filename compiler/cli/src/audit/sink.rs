//! Where lines of the audit log go: a file, the journal of systemd, or syslog.
//!
//! Invariants: a file is only appended to, is never a link, and is synced after each line; a line that was cut off by a
//! loss of power stays by itself; a service has the line when the call returns; a line goes to the file that has the name now, and
//! to the service that runs now.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};

/// Mode of a new log: its owner writes, the group reads.
const MODE: u32 = 0o640;

/// The socket of the journal of systemd (`systemd.io/JOURNAL_NATIVE_PROTOCOL`).
const JOURNAL: &str = "/run/systemd/journal/socket";

/// The socket of syslog.
const SYSLOG: &str = "/dev/log";

/// Facility 10 (`authpriv`), severity 5 (notice), as RFC 5424 6.2.1 counts them.
const PRIORITY: u32 = 10 * 8 + 5;

/// Where lines go: what a person named, and what is open there.
pub struct Sink {
    place: Place,
    open: Open,
}

/// A place, as it is opened again.
enum Place {
    File(Utf8PathBuf),
    Journal(PathBuf),
    Syslog(PathBuf),
}

enum Open {
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

    fn open(&self) -> io::Result<Open> {
        match self {
            Place::File(path) => file(path).map(Open::File),
            Place::Journal(socket) | Place::Syslog(socket) => connect(socket).map(Open::Socket),
        }
    }

    /// A line as it is written here.
    fn message(&self, line: &str) -> String {
        match self {
            Place::File(_) => format!("{line}\n"),
            Place::Journal(_) => {
                format!("SYSLOG_IDENTIFIER=closc\nSYSLOG_FACILITY=10\nPRIORITY=5\nMESSAGE={line}\n")
            }
            Place::Syslog(_) => format!("<{PRIORITY}>closc[{}]: {line}", std::process::id()),
        }
    }

    /// Tells whether an open file is not the one that has this name now: it was rotated.
    fn was_replaced(&self, open: &Open) -> io::Result<bool> {
        let (Place::File(path), Open::File(file)) = (self, open) else { return Ok(false) };
        let own = file.metadata()?;
        match fs::symlink_metadata(path) {
            Ok(there) => Ok((there.dev(), there.ino()) != (own.dev(), own.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(error),
        }
    }
}

impl Sink {
    /// Opens what a person named: `journald`, `syslog`, either with `:SOCKET` behind it, or a file.
    pub fn open(place: &Utf8Path) -> io::Result<Self> {
        let place = Place::of(place);
        let open = place.open()?;
        Ok(Sink { place, open })
    }

    /// Opens the place again: after a rotation, or when the service that logs was restarted.
    pub fn reopen(&mut self) -> io::Result<()> {
        self.open = self.place.open()?;
        Ok(())
    }

    /// Writes a line, which has no line feed, whole. A file that was rotated is opened again before, a socket whose service was
    /// restarted after the first try.
    pub fn write(&mut self, line: &str) -> io::Result<()> {
        let message = self.place.message(line);
        if self.place.was_replaced(&self.open)? {
            self.reopen()?;
        }
        match &mut self.open {
            Open::File(file) => {
                // One call a line, so that the lines of several processes do not mix.
                file.write_all(message.as_bytes())?;
                file.sync_data()
            }
            Open::Socket(socket) => {
                if socket.send(message.as_bytes()).is_ok() {
                    return Ok(());
                }
                self.reopen()?;
                let Open::Socket(socket) = &self.open else { return Ok(()) };
                socket.send(message.as_bytes()).map(drop)
            }
        }
    }
}

fn connect(path: impl AsRef<Path>) -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    socket.connect(path)?;
    Ok(socket)
}

/// Opens a file to append to, and lets a new one's name be on the disk.
fn file(path: &Utf8Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = closc_files::own(path, options.read(true).append(true).create(true).mode(MODE))?;
    end_line(&file)?;
    let folder = path.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    File::open(folder)?.sync_all()?;
    Ok(file)
}

/// Ends a line that was cut off when the power went, so that the next one is not lost with it.
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

    /// Writes a line, changes the place, and writes another.
    fn around(place: &Utf8Path, change: impl FnOnce()) {
        let mut sink = Sink::open(place).expect("a log");
        sink.write("before").expect("it is written");
        change();
        sink.write("after").expect("it is written");
    }

    /// `logrotate` renames the file, creates another and compresses the first: the next line is in the file that has the name.
    #[test]
    fn a_file_that_is_rotated_is_opened_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = Utf8Path::from_path(folder.path()).expect("its name is text");
        let (log, old) = (folder.join("log"), folder.join("log.1"));
        around(&log, || fs::rename(&log, &old).expect("a rename"));
        let read = |path: &Utf8Path| fs::read_to_string(path).expect("a log");
        assert_eq!((read(&old), read(&log)), ("before\n".to_owned(), "after\n".to_owned()));
        fs::remove_file(&log).expect("it is there");
        around(&log, || {
            fs::rename(&log, &old).expect("a rename");
            drop(file(&log).expect("a new log"));
            fs::remove_file(&old).expect("it was compressed");
        });
        assert_eq!(read(&log), "after\n");
        // A link that takes the place of the log is still none.
        let mut sink = Sink::open(&log).expect("a log");
        fs::rename(&log, &old).expect("a rename");
        std::os::unix::fs::symlink(&old, &log).expect("a link");
        assert!(sink.write("through a link").is_err());
    }

    /// A service that was restarted has another socket at the same path.
    #[test]
    fn a_socket_that_was_bound_again_is_connected_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = Utf8Path::from_path(folder.path()).expect("its name is text").join("socket");
        let bind = || UnixDatagram::bind(&socket).expect("a socket");
        let (first, mut second) = (bind(), None);
        around(&Utf8PathBuf::from(format!("syslog:{socket}")), || {
            drop(first);
            fs::remove_file(&socket).expect("it is there");
            second = Some(bind());
        });
        let mut bytes = [0; 200];
        let length = second.expect("it was restarted").recv(&mut bytes).expect("a line");
        assert!(String::from_utf8_lossy(&bytes[..length]).ends_with("after"));
    }
}
