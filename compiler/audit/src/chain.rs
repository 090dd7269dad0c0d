//! The hash chain of an audit log: each line contains the digest of the previous one, which reveals changed,
//! removed and inserted lines.
//!
//! In: lines of one or several files, oldest first. Out: the number of lines and the digest of the last one,
//! or the first line that breaks the chain. Invariants: a digest is the BLAKE3 hash of a line without its
//! line feed. A line that was truncated by a power failure is part of the chain like any other.

use std::io::{self, BufRead, Read as _};

use serde::{Deserialize, Serialize};

/// Maximum size of a line. A change of all denials needs a few hundred kilobytes.
pub(crate) const LINE_MAX: u64 = 16 << 20;

/// The digest before the first line of a chain.
pub(crate) const START: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Returns the digest of a line.
pub(crate) fn digest(line: &[u8]) -> String {
    blake3::hash(line).to_string()
}

/// The checked part of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Chain {
    /// Number of lines.
    pub lines: u64,
    /// Number of lines truncated by a power failure.
    pub cut_off: u64,
    /// Digest before the first line, if the chain continues an older file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// Digest of the last line.
    pub last: String,
}

/// Reason why a chain cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum ChainFault {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// A line exceeds [`LINE_MAX`].
    #[error("line {0} is longer than 16 MiB")]
    Long(u64),
    /// A line is neither a record nor the beginning of one.
    #[error("line {0} is not an audit record")]
    Foreign(u64),
    /// A line does not contain a digest of the previous line.
    #[error("line {0} has no digest: it is from an earlier version, or was added")]
    NoDigest(u64),
    /// The digest in a line is not that of the previous line.
    #[error("line {line} does not follow: the line before it was changed, or lines were removed or added")]
    Broken {
        /// Number of the line in its file, from 1.
        line: u64,
    },
}

/// The part of a line that the chain needs.
#[derive(Deserialize)]
struct Link {
    prev: Option<String>,
}

impl Default for Chain {
    fn default() -> Chain {
        Chain::new()
    }
}

impl Chain {
    /// Creates a chain without lines.
    pub fn new() -> Chain {
        Chain { lines: 0, cut_off: 0, continues: None, last: START.to_owned() }
    }

    /// Continues the chain with the lines of the next file.
    ///
    /// # Errors
    ///
    /// Returns the first line that does not continue the chain.
    pub fn follow(&mut self, mut text: impl BufRead) -> Result<(), ChainFault> {
        let mut bytes = Vec::new();
        let mut line = 0;
        loop {
            bytes.clear();
            let read = (&mut text).take(LINE_MAX + 1).read_until(b'\n', &mut bytes);
            if read.map_err(ChainFault::Read)? == 0 {
                return Ok(());
            }
            line += 1;
            if bytes.len() as u64 > LINE_MAX {
                return Err(ChainFault::Long(line));
            }
            self.take(line, bytes.strip_suffix(b"\n").unwrap_or(&bytes))?;
        }
    }

    fn take(&mut self, line: u64, bytes: &[u8]) -> Result<(), ChainFault> {
        match serde_json::from_slice::<Link>(bytes) {
            Ok(Link { prev: Some(prev) }) => {
                if self.lines == 0 && prev != START {
                    self.continues = Some(prev);
                } else if prev != self.last {
                    return Err(ChainFault::Broken { line });
                }
            }
            Ok(Link { prev: None }) => return Err(ChainFault::NoDigest(line)),
            // A line that was truncated by a power failure. It is still part of the chain, because the next
            // line contains its digest.
            Err(_) if is_cut_off(bytes) => self.cut_off += 1,
            Err(_) => return Err(ChainFault::Foreign(line)),
        }
        self.lines += 1;
        self.last = digest(bytes);
        Ok(())
    }
}

/// Returns whether a line can be the beginning of a record: an object, possibly without its first key. After
/// a power failure, the end of a file can be filled with zero bytes.
fn is_cut_off(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    let written = line.iter().position(|byte| *byte == 0).map_or(line, |zeros| &line[..zeros]);
    match written {
        [] => !line.is_empty(),
        [b'{'] | [b'{', b'"', ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(lines: &[String]) -> Result<Chain, String> {
        let mut chain = Chain::new();
        let text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
        chain.follow(text.as_bytes()).map_err(|fault| fault.to_string())?;
        Ok(chain)
    }

    fn lines(n: usize) -> Vec<String> {
        let mut prev = START.to_owned();
        let line = |number: usize| {
            let line = format!(r#"{{"prev":"{prev}","operation":"push","number":{number}}}"#);
            prev = digest(line.as_bytes());
            line
        };
        (0..n).map(line).collect()
    }

    #[test]
    fn a_line_that_is_changed_removed_added_or_moved_shows() {
        let good = lines(20);
        let chain = follow(&good).expect("it is intact");
        assert_eq!((chain.lines, chain.cut_off, chain.continues), (20, 0, None));
        assert_eq!(chain.last, digest(good[19].as_bytes()));
        for at in 0..19 {
            let mut bad = good.clone();
            bad[at] = bad[at].replace("push", "lift");
            assert!(follow(&bad).is_err(), "line {at} was changed");
            let mut bad = good.clone();
            bad.remove(at + 1);
            assert!(at == 18 || follow(&bad).is_err(), "line {} was removed", at + 1);
            let mut bad = good.clone();
            bad.insert(at + 1, good[at].clone());
            assert!(follow(&bad).is_err(), "line {at} was added again");
            let mut bad = good.clone();
            bad.swap(at, at + 1);
            assert!(follow(&bad).is_err(), "lines {at} and {} were swapped", at + 1);
            let mut bad = good.clone();
            bad.insert(at + 1, "{}".to_owned());
            assert!(follow(&bad).is_err(), "a line without a digest was added");
        }
    }

    #[test]
    fn other_texts_are_not_records() {
        for (text, line) in
            [("# closc", 1), ("fabric: pod", 1), ("", 1), ("[]", 1), ("{\n  \"format\": 1,", 2)]
        {
            let said = follow(&[text.to_owned()]).expect_err(text);
            assert_eq!(said, format!("line {line} is not an audit record"), "{text}");
        }
        for torn in ["{", "{\"prev\":\"00", "{\"prev\"\0\0", "\0\0\0"] {
            assert_eq!(follow(&[torn.to_owned()]).map(|chain| chain.cut_off), Ok(1), "{torn:?}");
        }
    }

    #[test]
    fn a_chain_goes_on_over_files_and_over_a_torn_line() {
        let good = lines(4);
        let mut chain = Chain::new();
        for half in good.chunks(2) {
            chain.follow(half.join("\n").as_bytes()).expect("it is intact");
        }
        assert_eq!(chain, follow(&good).expect("it is intact"));
        let later = follow(&good[2..]).expect("it continues an older file");
        assert_eq!(later.continues, Some(digest(good[1].as_bytes())));
        let torn = "{\"prev\":\"12".to_owned();
        let next = format!(r#"{{"prev":"{}"}}"#, digest(torn.as_bytes()));
        let chain = follow(&[good[0].clone(), torn.clone(), next]).expect("the torn line is a link");
        assert_eq!((chain.lines, chain.cut_off), (3, 1));
        assert!(follow(&[good[0].clone(), torn, good[1].clone()]).is_err());
    }
}
