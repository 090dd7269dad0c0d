//! How this crate reads files: through whoever calls it.

use std::io;

/// Reads files by a path relative to some folder, with `/`. A closure does.
pub trait Files {
    /// Returns the bytes of a file.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;
}

impl<F: Fn(&str) -> io::Result<Vec<u8>>> Files for F {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self(path)
    }
}
