//! Reports why a test was skipped. The test runner captures the output of `println!` and `eprintln!` in passing tests,
//! so the reason is written directly to standard error.

mod bmv2;

use std::fmt::Display;
use std::io::{self, Write};
use std::panic::Location;
use std::path::PathBuf;
use std::thread;

pub use bmv2::Bmv2;

/// Writes `test NAME at FILE:LINE skipped: REASON`. The caller returns.
#[track_caller]
pub fn skip(reason: impl Display) {
    let text = line(thread::current().name(), Location::caller(), &reason);
    // A single write, so lines of parallel tests are not interleaved. A failed write cannot be reported.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Finds a program in `PATH`. If it is missing, reports the test as skipped.
#[track_caller]
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file());
    if found.is_none() {
        skip(format_args!("no {name} in PATH"));
    }
    found
}

fn line(test: Option<&str>, place: &Location<'_>, reason: &dyn Display) -> String {
    let test = test.unwrap_or("without a name");
    format!("test {test} at {}:{} skipped: {reason}\n", place.file(), place.line())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_the_test_its_place_and_the_reason() {
        let text = line(thread::current().name(), Location::caller(), &"no frr");
        let place = format!(" at {}:", file!());
        assert!(text.starts_with("test tests::the_line_names_the_test_its_place_and_the_reason"), "{text}");
        assert!(text.contains(&place) && text.ends_with(" skipped: no frr\n"), "{text}");
    }
}
