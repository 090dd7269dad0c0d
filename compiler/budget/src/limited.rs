//! Functions that read a stream into memory, up to a limit.

use std::io::{self, Read};

/// The input is larger than the limit allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is larger than {}", size(*limit))]
pub struct OverLimit {
    /// The maximum number of bytes.
    pub limit: u64,
}

impl From<OverLimit> for io::Error {
    fn from(error: OverLimit) -> Self {
        io::Error::new(io::ErrorKind::FileTooLarge, error)
    }
}

/// Returns the limit of an error that wraps an [`OverLimit`].
pub fn exceeded_limit(error: &io::Error) -> Option<u64> {
    error.get_ref()?.downcast_ref::<OverLimit>().map(|over| over.limit)
}

/// Formats a number of bytes with its unit, as in `1 MiB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        0 => "0 bytes".to_owned(),
        _ if bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ => format!("{bytes} bytes"),
    }
}

/// A reader that fails once the input exceeds `limit` bytes.
#[derive(Debug)]
pub(crate) struct LimitedReader<R> {
    inner: R,
    limit: u64,
    rest: u64,
}

impl<R: Read> LimitedReader<R> {
    /// Wraps a reader with a limit.
    pub(crate) fn new(inner: R, limit: u64) -> Self {
        LimitedReader { inner, limit, rest: limit }
    }
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.rest == 0 && !out.is_empty() {
            // Try to read one more byte: an input of exactly `limit` bytes ends here, and a longer one is an
            // error.
            return match self.inner.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(OverLimit { limit: self.limit }.into()),
            };
        }
        let most = out.len().min(usize::try_from(self.rest).unwrap_or(usize::MAX));
        let n = self.inner.read(&mut out[..most])?;
        self.rest -= n as u64;
        Ok(n)
    }
}

/// Reads to the end, at most `limit` bytes.
///
/// # Errors
///
/// Returns the reader's error, or an [`OverLimit`].
pub fn read(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_into(from, limit, &mut bytes)?;
    Ok(bytes)
}

/// Reads to the end and appends the bytes to a buffer, at most `limit` bytes.
///
/// # Errors
///
/// Returns the reader's error, or an [`OverLimit`].
pub fn read_into(from: impl Read, limit: u64, into: &mut Vec<u8>) -> io::Result<usize> {
    LimitedReader::new(from, limit).read_to_end(into)
}

/// Reads text to the end, at most `limit` bytes.
///
/// # Errors
///
/// Returns the reader's error, an [`OverLimit`], or `InvalidData` if the text is not UTF-8.
pub fn read_text(from: impl Read, limit: u64) -> io::Result<String> {
    String::from_utf8(read(from, limit)?).map_err(|_| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_of_exactly_the_limit_is_read_and_one_byte_more_is_refused() {
        assert_eq!(read(&b"12345"[..], 5).expect("it fits"), b"12345");
        let error = read(&b"123456"[..], 5).expect_err("one byte too many");
        assert_eq!(
            (exceeded_limit(&error), error.to_string()),
            (Some(5), "is larger than 5 bytes".to_owned())
        );
        assert_eq!(read(&b""[..], 0).expect("an empty input fits a limit of 0"), b"");
        assert!(exceeded_limit(&read(io::repeat(1), 0).expect_err("endless")).is_some());
    }

    #[test]
    fn an_endless_reader_allocates_at_most_twice_the_limit() {
        let mut bytes = Vec::new();
        let error = read_into(io::repeat(7), 1 << 20, &mut bytes).expect_err("endless");
        assert_eq!((exceeded_limit(&error), bytes.len()), (Some(1 << 20), 1 << 20));
        assert!(bytes.capacity() <= 2 << 20);
        assert_eq!(error.to_string(), "is larger than 1 MiB");
    }

    #[test]
    fn a_text_is_utf8() {
        assert_eq!(read_text("ä".as_bytes(), 9).expect("text"), "ä");
        assert_eq!(read_text(&[0xff][..], 9).expect_err("not text").kind(), io::ErrorKind::InvalidData);
    }
}
