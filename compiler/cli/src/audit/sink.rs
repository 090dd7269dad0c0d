//! Where lines of the audit log go: a file, the journal of systemd, or syslog.
//!
//! Invariants: a file is only appended to, is never a link, and is synced after each line; a line that was cut off by a
//! loss of power stays by itself; a service has the line when
//! the call returns.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use camino::Utf8Path;

/// Mode of a new log: its owner writes, the group reads.
const MODE: u32 = 0o640;

/// The socket of the journal of systemd (`systemd.io/JOURNAL_NATIVE_PROTOCOL`).
const JOURNAL: &str = "/run/systemd/journal/socket";

/// The socket of syslog.
const SYSLOG: &str = "/dev/log";

/// Facility 10 (`authpriv`), severity 5 (notice), as RFC 5424 6.2.1 counts them.
const PRIORITY: u32 = 10 * 8 + 5;

/// Where lines go.
pub enum Sink {
    /// To a file.
    File(File),
    /// To the journal.
    Journal(UnixDatagram),
    /// To syslog.
    Syslog(UnixDatagram),
}

impl Sink {
    /// Opens what a person named: `journald`, `syslog`, either with `:SOCKET` behind it, or a file.
    pub fn open(place: &Utf8Path) -> io::Result<Self> {
        let (name, socket) = match place.as_str().split_once(':') {
            Some((name, socket)) => (name, Some(socket)),
            None => (place.as_str(), None),
        };
        match name {
            "journald" => Ok(Sink::Journal(connect(socket.unwrap_or(JOURNAL))?)),
            "syslog" => Ok(Sink::Syslog(connect(socket.unwrap_or(SYSLOG))?)),
            _ => file(place).map(Sink::File),
        }
    }

    /// Writes a line, which has no line feed, whole.
    pub fn write(&mut self, line: &str) -> io::Result<()> {
        match self {
            Sink::File(file) => {
                // One call a line, so that the lines of several processes do not mix.
                file.write_all(format!("{line}\n").as_bytes())?;
                file.sync_data()
            }
            Sink::Journal(socket) => {
                let fields =
                    format!("SYSLOG_IDENTIFIER=closc\nSYSLOG_FACILITY=10\nPRIORITY=5\nMESSAGE={line}\n");
                socket.send(fields.as_bytes()).map(drop)
            }
            Sink::Syslog(socket) => {
                let message = format!("<{PRIORITY}>closc[{}]: {line}", std::process::id());
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
