//! Messages as frames of a byte stream: a header with `Content-Length`, and JSON.
//!
//! In: bytes from the editor, and messages from the session. Out: messages, and frames. Invariants: a frame
//! without a valid message is answered and skipped. The error code is -32700 if it is not JSON, and -32600 if
//! it is not a message (JSON-RPC 2.0, section 5.1). A header can request only a limited amount of memory.
//! Frames are written one at a time, never interleaved.
//!
//! Language Server Protocol 3.17, "Base Protocol".

use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use closc_budget::Account;
use crossbeam_channel::{Receiver, Sender};
use lsp_server::{ErrorCode, Message};
use serde_json::{Value, json};

/// Maximum size of a frame in bytes: about ten times the size of the largest fabric file as JSON.
const FRAME_MAX: usize = 64 << 20;

/// Maximum size of a header line in bytes.
const HEADER_MAX: u64 = 8 << 10;

/// Maximum number of messages that wait for the session.
pub(crate) const WAITING_MAX: usize = 4_096;

/// Maximum total size of the frames of waiting messages in bytes. A larger frame waits alone.
const WAITING_BYTES_MAX: usize = 4 << 20;

/// Frames whose messages wait for the session. The session receives all of them at once, so that a text is
/// read only once after many changes.
pub(crate) struct Backlog {
    frames: Mutex<Frames>,
    not_full: Condvar,
}

struct Frames {
    sizes: VecDeque<usize>,
    memory: Account<()>,
}

impl Default for Backlog {
    fn default() -> Self {
        let memory = Account::new(WAITING_BYTES_MAX, WAITING_BYTES_MAX);
        Backlog { frames: Mutex::new(Frames { sizes: VecDeque::new(), memory }), not_full: Condvar::new() }
    }
}

impl Backlog {
    fn lock(&self) -> MutexGuard<'_, Frames> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a frame as soon as there is room for it.
    fn push(&self, bytes: usize) {
        let bytes = bytes.min(WAITING_BYTES_MAX);
        let mut frames = self.lock();
        while frames.memory.charge((), bytes).is_err() {
            frames = self.not_full.wait(frames).unwrap_or_else(PoisonError::into_inner);
        }
        frames.sizes.push_back(bytes);
    }

    /// Removes all frames except those of the last `messages` messages, which still wait.
    pub(crate) fn keep(&self, messages: usize) {
        let mut frames = self.lock();
        let n = frames.sizes.len().saturating_sub(messages);
        let bytes = frames.sizes.drain(..n).sum();
        frames.memory.release((), bytes);
        self.not_full.notify_one();
    }
}

/// Forwards messages of an editor to the session until the stream or the session ends, or a frame cannot be read.
pub(crate) fn receive(
    mut from: impl BufRead,
    session: &Sender<Message>,
    backlog: &Backlog,
    answers: &Mutex<impl Write>,
) -> io::Result<()> {
    while let Some(frame) = frame(&mut from)? {
        match message(&frame) {
            Ok(message) => {
                backlog.push(frame.len());
                let is_exit = matches!(&message, Message::Notification(said) if said.method == "exit");
                if session.send(message).is_err() || is_exit {
                    break;
                }
            }
            Err((code, why)) => {
                // `id` is null, because the request is unknown.
                let answer =
                    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code as i32, "message": why } });
                write(answers, answer.to_string().as_bytes())?;
            }
        }
    }
    Ok(())
}

/// Writes the messages of a session until it ends.
pub(crate) fn send(session: &Receiver<Message>, to: &Mutex<impl Write>) -> io::Result<()> {
    session.iter().try_for_each(|message| {
        let mut frame = serde_json::to_value(&message)?;
        frame["jsonrpc"] = json!("2.0");
        write(to, frame.to_string().as_bytes())
    })
}

fn write(to: &Mutex<impl Write>, frame: &[u8]) -> io::Result<()> {
    let mut to = to.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    write!(to, "Content-Length: {}\r\n\r\n", frame.len())?;
    to.write_all(frame)?;
    to.flush()
}

/// Reads the bytes of a frame; `None` at the end of the stream.
fn frame(from: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if from.by_ref().take(HEADER_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = str::from_utf8(&line).ok().and_then(|line| line.strip_suffix("\r\n"));
        let Some(line) = line else {
            return Err(fault("a line of a header has to end with CR LF, within 8 KiB"));
        };
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(fault("a line of a header has no `:`"));
        };
        if name.eq_ignore_ascii_case("Content-Length") {
            let value = value.trim().parse::<usize>();
            length = Some(value.map_err(|_| fault("`Content-Length` is not a number of bytes"))?);
        }
    }
    let length = length.ok_or_else(|| fault("a header lacks `Content-Length`"))?;
    if length > FRAME_MAX {
        return Err(fault(&format!("a message of {length} bytes: 64 MiB at most")));
    }
    // Memory grows with the bytes received, not with the announced length.
    let frame = closc_budget::read(from.by_ref().take(length as u64), length as u64)?;
    if frame.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(frame))
}

fn fault(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Reads a message, or returns the error code for its answer.
fn message(frame: &[u8]) -> Result<Message, (ErrorCode, String)> {
    let value: Value =
        serde_json::from_slice(frame).map_err(|error| (ErrorCode::ParseError, error.to_string()))?;
    let no_message = || (ErrorCode::InvalidRequest, "it is not a request, answer or notification".to_owned());
    serde_json::from_value(value).map_err(|_| no_message())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn frame_message(text: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    }

    /// Returns the received messages, the answers and the result of a session.
    fn receive_all(bytes: &[u8]) -> (Vec<Message>, String, io::Result<()>) {
        let (sender, receiver) = crossbeam_channel::bounded(0);
        let (answers, backlog) = (Mutex::new(Vec::new()), Backlog::default());
        let (all, end) = thread::scope(|scope| {
            let take = || receiver.iter().inspect(|_| backlog.keep(receiver.len())).collect();
            let session = scope.spawn(take);
            let end = receive(bytes, &sender, &backlog, &answers);
            drop(sender);
            (session.join().expect("it only collects"), end)
        });
        (all, String::from_utf8(answers.into_inner().unwrap()).unwrap(), end)
    }

    #[test]
    fn what_is_no_message_is_answered_and_passed_over() {
        let good = frame_message(r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#);
        for (bad, code) in
            [("{bad}", -32700), ("", -32700), ("[1,2]", -32600), ("7", -32600), (r#"{"id":1}"#, -32600)]
        {
            let (all, answers, end) = receive_all(format!("{}{good}", frame_message(bad)).as_bytes());
            end.unwrap();
            assert_eq!(all.len(), 1, "{bad}");
            let answer = answers.split_once("\r\n\r\n").expect("a frame").1;
            let answer: Value = serde_json::from_str(answer).unwrap();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(code)), "{bad}");
        }
    }

    #[test]
    fn what_is_no_frame_ends_the_session_with_a_reason() {
        let long = format!("X: {}\r\n", "x".repeat(10_000));
        for (bytes, why) in [
            ("Content-Length: 99999999999\r\n\r\n", "99999999999 bytes: 64 MiB at most"),
            ("Content-Length: -1\r\n\r\n", "not a number of bytes"),
            ("Content-Type: x\r\n\r\n", "lacks `Content-Length`"),
            ("nothing\r\n\r\n", "no `:`"),
            ("Content-Length: 3\n\n{}", "CR LF"),
            (&long, "CR LF"),
            ("Content-Length: 9\r\n\r\n{}", "unexpected end of file"),
        ] {
            let (all, _, end) = receive_all(bytes.as_bytes());
            let error = end.unwrap_err().to_string();
            assert!(all.is_empty() && error.contains(why), "{bytes:.40}: {error}");
        }
    }

    #[test]
    fn names_of_headers_have_no_case_and_others_are_passed_over() {
        let body = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let header = format!("Content-Type: x\r\ncontent-length:{}\r\n\r\n", body.len());
        let (all, _, end) = receive_all(format!("{header}{body}{}", frame_message("{bad}")).as_bytes());
        end.unwrap();
        assert_eq!(all.len(), 1, "nothing is read behind `exit`");
    }

    #[test]
    fn a_frame_waits_until_the_session_took_earlier_ones() {
        let backlog = Backlog::default();
        backlog.push(WAITING_BYTES_MAX - 1);
        backlog.push(1);
        thread::scope(|scope| {
            let waits = scope.spawn(|| backlog.push(2 * WAITING_BYTES_MAX));
            backlog.keep(0);
            waits.join().expect("it ends");
        });
        assert_eq!(backlog.lock().sizes, [WAITING_BYTES_MAX]);
        backlog.keep(0);
        assert_eq!(backlog.lock().memory.used(), 0);
    }
    /// Regression: 4,096 frames of 64 MiB each could wait before `initialize`.
    #[test]
    fn frames_before_the_first_answer_are_counted() {
        let frame = frame_message(&format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, "x".repeat(1 << 20)));
        let frames = frame.repeat(12);
        let (sender, receiver) = crossbeam_channel::bounded(WAITING_MAX);
        let (answers, backlog) = (Mutex::new(Vec::new()), Backlog::default());
        let waiting = thread::scope(|scope| {
            let (answers, backlog) = (&answers, &backlog);
            scope.spawn(move || receive(frames.as_bytes(), &sender, backlog, answers));
            while receiver.len() < 3 {
                thread::yield_now();
            }
            // Each frame is just over 1 MiB, so a fourth one would exceed 4 MiB.
            let waiting = backlog.lock().sizes.len();
            while receiver.recv().is_ok() {
                backlog.keep(receiver.len());
            }
            waiting
        });
        assert_eq!((waiting, backlog.lock().memory.used()), (3, 0));
    }
}
