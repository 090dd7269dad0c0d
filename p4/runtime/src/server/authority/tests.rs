//! Header blocks in the forms that clients send, split into parts of different sizes.

use super::*;

/// Returns a frame.
fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u32;
    let mut frame = length.to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags, 0, 0, 0, 1]);
    frame.extend(payload);
    frame
}

/// Returns a literal with incremental indexing and a literal name, as sent by grpc-core.
fn literal_header(name: &[u8], value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x40, name.len() as u8];
    bytes.extend(name);
    bytes.push(value.len() as u8);
    bytes.extend(value);
    bytes
}

/// Passes the bytes of a connection through the scanner in parts of `part` bytes.
fn scan_in_parts(frames: &[Vec<u8>], part: usize) -> Vec<u8> {
    let mut bytes = vec![b'P'; PREFACE];
    bytes.extend(frames.concat());
    let mut scanner = Scanner::new();
    bytes.chunks_mut(part).for_each(|chunk| scanner.pass(chunk));
    bytes.split_off(PREFACE)
}

/// Asserts the output of a connection for several sizes of parts.
fn check(before: &[Vec<u8>], after: &[Vec<u8>]) {
    for part in [1, 2, 3, 7, 1000] {
        assert_eq!(scan_in_parts(before, part), after.concat(), "in parts of {part} bytes");
    }
}

#[test]
fn a_path_in_the_authority_becomes_a_name() {
    let settings = frame(4, 0, &[0; 12]);
    let block = |authority: &[u8]| {
        [vec![0x83, 0x86], literal_header(NAME, authority), literal_header(b":path", b"/a%2F")].concat()
    };
    for (given, read) in [
        (&b"tmp%2Fs.sock"[..], &b"tmp-2Fs.sock"[..]),
        (b"/tmp/s_1.sock", b"-tmp-s_1.sock"),
        (b"localhost", b"localhost"),
        (b"[::1]:9559", b"[::1]:9559"),
    ] {
        let before = [settings.clone(), frame(HEADERS, 4, &block(given)), frame(0, 1, given)];
        let after = [settings.clone(), frame(HEADERS, 4, &block(read)), frame(0, 1, given)];
        check(&before, &after);
    }
}

#[test]
fn every_form_of_a_literal_is_read() {
    // Names from the static table: with indexing, without indexing, never indexed, and after a table size update.
    for first in [&[0x41][..], &[0x01], &[0x11], &[0x3f, 0xe1, 0x1f, 0x41]] {
        let block = |value: &[u8]| [first, &[value.len() as u8], value].concat();
        check(&[frame(HEADERS, 4, &block(b"/a"))], &[frame(HEADERS, 4, &block(b"-a"))]);
    }
    // A value whose length needs more than one byte, in a frame with padding and priority and a continuation frame.
    let long = vec![b'%'; 300];
    let block = |value: &[u8]| [&[0x41, 0x7f, 0xad, 0x01], value].concat();
    let cut = |value: &[u8]| {
        let block = block(value);
        let first = [&[3][..], &[9; 5], &block[..100], &[b'%'; 3]].concat();
        [frame(HEADERS, PADDED | PRIORITY, &first), frame(CONTINUATION, 4, &block[100..])]
    };
    check(&cut(&long), &cut(&vec![b'-'; 300]));
}

#[test]
fn other_fields_stay() {
    let huffman = [&[0x41, 0x82][..], b"%%"].concat();
    let fields = [
        literal_header(b":authoritx", b"/a"),
        literal_header(b":authority2", b"/a"),
        literal_header(b"", b"/a"),
        literal_header(NAME, b""),
        vec![0x44, 2, b'/', b'a'],
        vec![0xff, 0x80, 0x01],
        huffman,
    ]
    .concat();
    let frames = [frame(HEADERS, 4, &fields), frame(HEADERS, 4, &[]), frame(0, 0, b"A\x02/a")];
    check(&frames, &frames);
}

#[test]
fn nothing_that_a_client_sends_ends_the_scan() {
    let mut scanner = Scanner::new();
    let mut state: u32 = 1;
    for _ in 0..200_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Mostly frames with header blocks of random content.
        let byte = if state >> 28 == 0 { 1 } else { (state >> 16) as u8 };
        scanner.pass(&mut [byte]);
    }
}
