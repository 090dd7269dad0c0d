//! Fields of headers: where their bits are in the words of a packet.
//!
//! Invariants: a field takes whole words of its own, so that it is read and written without its neighbours.

/// A field of one header instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// First word.
    pub(crate) word: u32,
    /// Number of words.
    pub(crate) words: u16,
    /// Whether it is signed. A signed field has room for one more bit than its width: assignments keep what they
    /// were given up to the unsigned maximum, as BMv2 does.
    pub(crate) signed: bool,
    /// Whether assignments stop at the ends of its range.
    pub(crate) saturating: bool,
    /// Width; of a variable one, the greatest.
    pub(crate) bits: u32,
    /// Word that holds the present width of a variable field.
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
    /// Name.
    pub(crate) name: String,
    /// Width; of a variable one, the greatest.
    pub(crate) bits: u32,
    /// Whether it is signed.
    pub(crate) signed: bool,
    /// Whether assignments stop at the ends of its range.
    pub(crate) saturating: bool,
    /// Whether its width varies.
    pub(crate) variable: bool,
    /// First word, from the start of the header.
    pub(crate) word: u32,
    /// Number of words.
    pub(crate) words: u16,
}
