//! Makes the `:authority` of requests over a Unix socket valid.
//!
//! In: the bytes of a connection. Out: the same bytes, except that in a value of `:authority` every character that is
//! not allowed in a host name is replaced by a dash. Clients of grpc-core and grpc-java send the path of the socket
//! there, as `tmp%2Fs.sock` or `/tmp/s.sock`. HTTP/2 servers must reject such a request as malformed (RFC 9113 8.3.1,
//! RFC 3986 3.2.2). Over a Unix socket the field has no meaning. Invariants: no byte is added or removed, so frames and
//! the dynamic table of HPACK (RFC 7541 4.1) keep their sizes. Values in Huffman code are not changed: neither client
//! uses it for values as short as a path.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Length of the preface (RFC 9113 3.4), after which the first frame begins.
const PREFACE: usize = 24;

/// Frame types (RFC 9113 6.2, 6.10) and flags of HEADERS.
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// The index of `:authority` in the static table (RFC 7541, appendix A).
const INDEX: usize = 1;
const NAME: &[u8] = b":authority";

/// The position of the next byte within a frame.
#[derive(Debug)]
enum Frame {
    /// The preface, with its remaining bytes.
    Preface(usize),
    /// The header of a frame, with the bytes read so far.
    Head([u8; 9], usize),
    /// The length of the padding, with the number of bytes that follow it.
    Padding { flags: u8, left: usize },
    /// Bytes to skip, then the header block, then padding.
    Body { skip: usize, block: usize, padding: usize },
}

/// The state within a header block: integers and strings (RFC 7541 5 and 6).
#[derive(Debug)]
enum Block {
    /// The first byte of a representation.
    Start,
    /// The remaining bytes of an integer, and what follows them.
    Integer { value: usize, shift: u32, then: FollowingElement },
    /// The first byte of a string.
    Length { name: bool },
    /// The bytes of a name.
    Name { left: usize, matched: Option<usize> },
    /// The bytes of a value.
    Value { left: usize, plain: bool },
}

/// The element that follows an integer.
#[derive(Clone, Copy, Debug)]
enum FollowingElement {
    /// Another representation.
    Representation,
    /// A literal whose name is at this index, or follows if the index is 0.
    Literal,
    /// The bytes of a string.
    String { name: bool, huffman: bool },
}

/// Parses the header blocks of a connection while it passes them on.
#[derive(Debug)]
struct Scanner {
    frame: Frame,
    block: Block,
    /// Whether the current literal is `:authority`.
    found: bool,
}

impl Scanner {
    fn new() -> Self {
        Scanner { frame: Frame::Preface(PREFACE), block: Block::Start, found: false }
    }

    /// Parses the next bytes and replaces invalid characters of `:authority`.
    fn pass(&mut self, bytes: &mut [u8]) {
        let mut at = 0;
        while at < bytes.len() {
            at += match &mut self.frame {
                Frame::Body { skip: 0, block: 0, padding: 0 } | Frame::Preface(0) => {
                    self.frame = Frame::Head([0; 9], 0);
                    0
                }
                Frame::Body { skip: 0, block: 0, padding } => take(padding, bytes.len() - at),
                Frame::Body { skip: 0, block, .. } => {
                    *block -= 1;
                    self.byte(&mut bytes[at]);
                    1
                }
                Frame::Body { skip, .. } => take(skip, bytes.len() - at),
                Frame::Preface(left) => take(left, bytes.len() - at),
                Frame::Padding { flags, left } => {
                    let padding = usize::from(bytes[at]).min(*left);
                    self.frame = body(*flags, *left, padding);
                    1
                }
                Frame::Head(head, filled) => {
                    head[*filled] = bytes[at];
                    *filled += 1;
                    if *filled == head.len() {
                        let head = *head;
                        self.begin(head);
                    }
                    1
                }
            };
        }
    }

    fn begin(&mut self, head: [u8; 9]) {
        let [high, middle, low, kind, flags, ..] = head;
        let length = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        self.frame = match kind {
            HEADERS => {
                self.block = Block::Start;
                match flags & PADDED {
                    0 => body(flags, length, 0),
                    _ => Frame::Padding { flags, left: length.saturating_sub(1) },
                }
            }
            CONTINUATION => Frame::Body { skip: 0, block: length, padding: 0 },
            _ => Frame::Body { skip: length, block: 0, padding: 0 },
        };
    }

    /// Parses one byte of a header block.
    fn byte(&mut self, byte: &mut u8) {
        let next = match &mut self.block {
            Block::Start => {
                self.found = false;
                match *byte {
                    first @ 0x80.. => integer(first, 7, FollowingElement::Representation),
                    first @ 0x40..=0x7f => integer(first, 6, FollowingElement::Literal),
                    first @ 0x20..=0x3f => integer(first, 5, FollowingElement::Representation),
                    first => integer(first, 4, FollowingElement::Literal),
                }
            }
            Block::Integer { value, shift, then } => {
                let more = usize::from(*byte & 0x7f).checked_shl(*shift).unwrap_or(usize::MAX);
                let (value, shift, then) = (value.saturating_add(more), shift.saturating_add(7), *then);
                match *byte & 0x80 {
                    0 => Err((value, then)),
                    _ => Ok(Block::Integer { value, shift, then }),
                }
            }
            Block::Length { name } => {
                integer(*byte, 7, FollowingElement::String { name: *name, huffman: *byte & 0x80 != 0 })
            }
            Block::Name { left, matched } => {
                *matched = matched.filter(|at| NAME.get(*at) == Some(byte)).map(|at| at + 1);
                *left -= 1;
                if *left == 0 {
                    self.found = *matched == Some(NAME.len());
                    self.block = Block::Length { name: false };
                }
                return;
            }
            Block::Value { left, plain } => {
                if *plain && !is_of_host(*byte) {
                    *byte = b'-';
                }
                *left -= 1;
                if *left == 0 {
                    self.block = Block::Start;
                }
                return;
            }
        };
        self.block = match next {
            Ok(block) => block,
            Err((value, then)) => self.next_block(value, then),
        };
    }

    /// Returns the state after an integer.
    fn next_block(&mut self, value: usize, then: FollowingElement) -> Block {
        match then {
            FollowingElement::Representation => Block::Start,
            FollowingElement::Literal => {
                self.found = value == INDEX;
                Block::Length { name: value == 0 }
            }
            FollowingElement::String { name: true, huffman } if value > 0 => {
                Block::Name { left: value, matched: (!huffman).then_some(0) }
            }
            FollowingElement::String { name: true, .. } => Block::Length { name: false },
            FollowingElement::String { name: false, .. } if value == 0 => Block::Start,
            FollowingElement::String { name: false, huffman } => {
                Block::Value { left: value, plain: self.found && !huffman }
            }
        }
    }
}

/// Starts an integer with a prefix of `bits` bits (RFC 7541 5.1). Returns its value as an error if the prefix contains
/// all of it.
fn integer(byte: u8, bits: u32, then: FollowingElement) -> Result<Block, (usize, FollowingElement)> {
    let most = (1_usize << bits) - 1;
    match usize::from(byte) & most {
        value if value == most => Ok(Block::Integer { value, shift: 0, then }),
        value => Err((value, then)),
    }
}

fn body(flags: u8, left: usize, padding: usize) -> Frame {
    let skip = if flags & PRIORITY == 0 { 0 } else { left.min(5) };
    Frame::Body { skip, block: (left - skip).saturating_sub(padding), padding }
}

/// Consumes up to `left` of the bytes that are available.
fn take(left: &mut usize, there: usize) -> usize {
    let taken = (*left).min(there);
    *left -= taken;
    taken
}

fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':' | b'[' | b']')
}

/// A connection whose requests have a valid `:authority`.
#[derive(Debug)]
pub(super) struct ScannedConnection<T> {
    inner: T,
    scanner: Scanner,
}

impl<T> ScannedConnection<T> {
    /// Wraps a connection from which no byte has been read.
    pub(super) fn new(inner: T) -> Self {
        ScannedConnection { inner, scanner: Scanner::new() }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for ScannedConnection<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        self.scanner.pass(&mut buffer.filled_mut()[before..]);
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for ScannedConnection<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests;
