//! Fields of headers: where their bits are in the words of a packet.
//!
//! Invariants: a field takes whole words of its own, so that it is read and written without its neighbours.

/// A field of one header instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// First word.
    pub word: u32,
    /// Number of words.
    pub words: u16,
    /// Whether it is signed. A signed field has room for one more bit than its width: assignments keep what they
    /// were given up to the unsigned maximum, as BMv2 does.
    pub signed: bool,
    /// Whether assignments stop at the ends of its range.
    pub saturating: bool,
    /// Width; of a variable one, the greatest.
    pub bits: u32,
    /// Word that holds the present width of a variable field.
    pub length: Option<u32>,
    /// The header instance.
    pub header: u16,
}

impl Field {
    /// Returns the words of the field in a packet.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.word as usize..self.word as usize + self.words as usize
    }
}

/// A field of a header type.
#[derive(Clone, Debug)]
pub struct FieldSpec {
    /// Name.
    pub name: String,
    /// Width; of a variable one, the greatest.
    pub bits: u32,
    /// Whether it is signed.
    pub signed: bool,
    /// Whether assignments stop at the ends of its range.
    pub saturating: bool,
    /// Whether its width varies.
    pub variable: bool,
    /// First word, from the start of the header.
    pub word: u32,
    /// Number of words.
    pub words: u16,
}
