//! Fields of headers, and their positions in the words of a packet.
//!
//! Invariants: a field has whole words of its own, so it is read and written independently of its neighbours.

/// A field of one header instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// First word.
    pub(crate) word: u32,
    /// Number of words.
    pub(crate) words: u16,
    /// Whether it is signed. A signed field has one extra bit, because assignments keep values up to the unsigned
    /// maximum, as in BMv2.
    pub(crate) signed: bool,
    /// Whether assignments saturate.
    pub(crate) saturating: bool,
    /// Width; the maximum for a variable field.
    pub(crate) bits: u32,
    /// Word with the current width of a variable field.
    pub(crate) length: Option<u32>,
    /// The header instance.
    pub(crate) header: u16,
}

impl Field {
    /// Returns the words of the field in a packet.
    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.word as usize..self.word as usize + self.words as usize
    }
}

/// A field of a header type.
#[derive(Clone, Debug)]
pub(crate) struct FieldSpec {
    pub(crate) name: String,
    /// Width; the maximum for a variable field.
    pub(crate) bits: u32,
    /// Whether it is signed.
    pub(crate) signed: bool,
    /// Whether assignments saturate.
    pub(crate) saturating: bool,
    /// Whether its width varies.
    pub(crate) variable: bool,
    /// First word, from the start of the header.
    pub(crate) word: u32,
    /// Number of words.
    pub(crate) words: u16,
}
