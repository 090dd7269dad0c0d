//! Messages on the socket of a lab: a kind, a length, and that many bytes.
//!
//! In: a stream. Out: requests and answers. Invariants: each request gets an answer, in order. Port numbers are
//! derived from the cable lists, which both sides read.

use std::io::{self, Read, Write};

/// Maximum size of a message. One message contains all frames of a request, or all frames that result from it.
const LENGTH_MAX: u32 = 1 << 30;

/// A packet at a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    /// The number of the port in the model.
    pub(super) port: u32,
    /// The packet, from the Ethernet header on.
    pub(super) bytes: Vec<u8>,
}

/// Requests to a lab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Request {
    /// Sends packets into the cables of NIC ports; the answer contains the packets that leave such cables.
    Exchange(Vec<Frame>),
    /// Like [`Request::Exchange`]; the answer contains the packets at every port, including those of switches.
    Follow(Vec<Frame>),
    /// Pulls the cables out of some ports and connects others.
    Plug {
        /// Ports whose cables are pulled out.
        out: Vec<u32>,
        /// Pairs of ports to connect afterwards.
        pairs: Vec<(u32, u32)>,
    },
    /// Asks for the address of P4Runtime.
    Where,
    /// Ends the lab.
    Stop,
}

/// Answer of a lab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// Packets.
    Frames(Vec<Frame>),
    /// Packets by egress port of switches, and by ingress port of all devices.
    Passed {
        /// Packets at switch ports that they left.
        left: Vec<Frame>,
        /// Packets at ports that they entered.
        entered: Vec<Frame>,
    },
    /// An address.
    Address(String),
    /// The request succeeded.
    Done,
    /// The request failed.
    Failed(String),
}

impl Request {
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Request::Exchange(frames) => message(out, 1, &encode(frames)),
            Request::Plug { out: ports, pairs } => {
                let mut bytes = (ports.len() as u32).to_be_bytes().to_vec();
                let pairs = pairs.iter().flat_map(|(a, b)| [a, b]);
                ports.iter().chain(pairs).for_each(|port| bytes.extend(port.to_be_bytes()));
                message(out, 2, &bytes)
            }
            Request::Where => message(out, 3, &[]),
            Request::Stop => message(out, 4, &[]),
            Request::Follow(frames) => message(out, 5, &encode(frames)),
        }
    }

    /// Reads a request; `None` if the other side has closed the connection.
    pub(super) fn read(input: &mut impl Read) -> io::Result<Option<Request>> {
        let Some((kind, bytes)) = read(input)? else { return Ok(None) };
        let request = match kind {
            1 => decode(&bytes).map(Request::Exchange),
            2 => plug(&bytes),
            3 => Some(Request::Where),
            4 => Some(Request::Stop),
            5 => decode(&bytes).map(Request::Follow),
            _ => None,
        };
        request.map(Some).ok_or_else(malformed_error)
    }
}

impl Answer {
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Answer::Frames(frames) => message(out, 1, &encode(frames)),
            Answer::Address(text) => message(out, 2, text.as_bytes()),
            Answer::Done => message(out, 3, &[]),
            Answer::Failed(text) => message(out, 4, text.as_bytes()),
            Answer::Passed { left, entered } => {
                let left = encode(left);
                let length = u32::try_from(left.len()).map_err(|_| malformed_error())?;
                message(out, 5, &[&length.to_be_bytes(), left.as_slice(), &encode(entered)].concat())
            }
        }
    }

    pub(super) fn read(input: &mut impl Read) -> io::Result<Answer> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (kind, bytes) = read(input)?.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        let answer = match kind {
            1 => decode(&bytes).map(Answer::Frames),
            2 => Some(Answer::Address(text(&bytes))),
            3 => Some(Answer::Done),
            4 => Some(Answer::Failed(text(&bytes))),
            5 => decode_passed(&bytes),
            _ => None,
        };
        answer.ok_or_else(malformed_error)
    }
}

fn malformed_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "an invalid message")
}

fn message(out: &mut impl Write, kind: u8, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= LENGTH_MAX);
    let length = length.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut whole = Vec::with_capacity(bytes.len() + 5);
    whole.push(kind);
    whole.extend(length.to_be_bytes());
    whole.extend(bytes);
    out.write_all(&whole)
}

fn read(input: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut kind = [0];
    loop {
        match input.read(&mut kind) {
            Ok(0) => return Ok(None),
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > LENGTH_MAX {
        return Err(malformed_error());
    }
    // Memory grows with the received bytes, not with the announced length.
    let length = u64::from(length);
    let bytes = closc_budget::read(input.take(length), length)?;
    if (bytes.len() as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some((kind[0], bytes)))
}

fn encode(frames: &[Frame]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(frames.iter().map(|frame| frame.bytes.len() + 8).sum());
    for frame in frames {
        bytes.extend(frame.port.to_be_bytes());
        bytes.extend((frame.bytes.len() as u32).to_be_bytes());
        bytes.extend(&frame.bytes);
    }
    bytes
}

fn decode(mut bytes: &[u8]) -> Option<Vec<Frame>> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let (port, rest) = split_u32(bytes)?;
        let (length, rest) = split_u32(rest)?;
        let (frame, rest) = rest.split_at_checked(length as usize)?;
        frames.push(Frame { port, bytes: frame.to_vec() });
        bytes = rest;
    }
    Some(frames)
}

fn decode_passed(bytes: &[u8]) -> Option<Answer> {
    let (length, rest) = split_u32(bytes)?;
    let (left, entered) = rest.split_at_checked(length as usize)?;
    Some(Answer::Passed { left: decode(left)?, entered: decode(entered)? })
}

fn plug(bytes: &[u8]) -> Option<Request> {
    let (count, mut rest) = split_u32(bytes)?;
    let mut ports = Vec::new();
    while !rest.is_empty() {
        let (port, behind) = split_u32(rest)?;
        ports.push(port);
        rest = behind;
    }
    let (out, pairs) = ports.split_at_checked(count as usize)?;
    let (pairs, odd) = pairs.as_chunks::<2>();
    odd.is_empty()
        .then(|| Request::Plug { out: out.to_vec(), pairs: pairs.iter().map(|[a, b]| (*a, *b)).collect() })
}

fn split_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (word, rest) = bytes.split_first_chunk()?;
    Some((u32::from_be_bytes(*word), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_written() {
        let frames = vec![Frame { port: 7, bytes: vec![1, 2, 3] }, Frame { port: 0, bytes: vec![] }];
        let plug = Request::Plug { out: vec![1, 2, 3], pairs: vec![(1, 3)] };
        let follow = Request::Follow(frames.clone());
        let requests = [Request::Exchange(frames.clone()), follow, plug, Request::Where, Request::Stop];
        let mut bytes = Vec::new();
        for request in &requests {
            request.write(&mut bytes).unwrap();
        }
        let mut input = bytes.as_slice();
        for request in requests {
            assert_eq!(Request::read(&mut input).unwrap(), Some(request));
        }
        assert_eq!(Request::read(&mut input).unwrap(), None);
        let passed = Answer::Passed { left: frames[1..].to_vec(), entered: frames.clone() };
        for answer in [Answer::Frames(frames), passed, Answer::Failed("no".into()), Answer::Done] {
            let mut bytes = Vec::new();
            answer.write(&mut bytes).unwrap();
            assert_eq!(Answer::read(&mut bytes.as_slice()).unwrap(), answer);
        }
    }

    #[test]
    fn malformed_input_is_an_error_and_takes_no_memory() {
        for bytes in [&[9, 0, 0, 0, 0][..], &[1, 0xff, 0xff, 0xff, 0xff], &[1, 0, 0, 0, 9, 1], &[1, 0]] {
            assert!(Request::read(&mut &*bytes).is_err(), "{bytes:?}");
        }
        // Invalid: a frame longer than its message, and an odd number of ports.
        assert!(Request::read(&mut &[1, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 1][..]).is_err());
        assert!(Request::read(&mut &[2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1][..]).is_err());
    }
}
