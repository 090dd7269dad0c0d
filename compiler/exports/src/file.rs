//! A file that is written piece by piece.
//!
//! In: a function that writes the content. Out: its bytes, in the writer of the caller. Invariants: the
//! content is generated while it is written, so a file may be larger than the memory. It can be written more
//! than once, with the same bytes each time.

use std::io;

type Content<'a> = dyn Fn(&mut dyn io::Write) -> io::Result<()> + 'a;

/// A file that is written piece by piece.
pub struct File<'a> {
    /// Its path below the folder of the export.
    pub path: String,
    content: Box<Content<'a>>,
}

impl<'a> File<'a> {
    pub(crate) fn new(
        path: impl Into<String>,
        content: impl Fn(&mut dyn io::Write) -> io::Result<()> + 'a,
    ) -> Self {
        File { path: path.into(), content: Box::new(content) }
    }

    /// Writes the content.
    ///
    /// # Errors
    ///
    /// Returns the error of the writer.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        (self.content)(out)
    }
}
