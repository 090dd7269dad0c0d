//! Name patterns: literal text with placeholders for numbers, and their inverse.
//!
//! In: text such as `p{plane}-t0-{index:03}`. Out: a [`Pattern`] that writes a name from coordinates and reads them
//! back. Invariants: reading a name gives the numbers from which it was written. A placeholder is followed by the end
//! or by a character other than a digit. Only padding that the pattern itself writes is accepted.

mod completion;

use std::fmt::{self, Write as _};

use serde::Serialize;
use smol_str::{SmolStr, SmolStrBuilder};

pub use completion::{NameCompletion, narrow_names};

/// A coordinate that a name can mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placeholder {
    /// The plane, from 0.
    Plane,
    /// The zone, from 0.
    Zone,
    /// The index of a switch in its plane, zone and tier, from 1.
    Index,
    /// The unit of a node, from 1.
    Unit,
    /// The index of a node in its unit, from 1.
    Node,
    /// The number of the rack in its plane, zone, unit or row, from 1.
    Rack,
    /// The number of the row in its plane, zone or unit, from 1.
    Row,
}

impl Placeholder {
    const ALL: [Placeholder; 7] = [
        Placeholder::Plane,
        Placeholder::Zone,
        Placeholder::Index,
        Placeholder::Unit,
        Placeholder::Node,
        Placeholder::Rack,
        Placeholder::Row,
    ];

    /// Returns the word between the braces.
    pub fn keyword(self) -> &'static str {
        match self {
            Placeholder::Plane => "plane",
            Placeholder::Zone => "zone",
            Placeholder::Index => "index",
            Placeholder::Unit => "unit",
            Placeholder::Node => "node",
            Placeholder::Rack => "rack",
            Placeholder::Row => "row",
        }
    }

    /// Returns the number shown for index 0.
    fn first(self) -> u32 {
        match self {
            Placeholder::Plane | Placeholder::Zone => 0,
            Placeholder::Index
            | Placeholder::Unit
            | Placeholder::Node
            | Placeholder::Rack
            | Placeholder::Row => 1,
        }
    }
}

/// The numbers of one device, from 0; fields that a device does not have stay 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Numbers {
    values: [u16; 7],
}

impl Numbers {
    /// Sets a number.
    #[must_use]
    pub fn with(mut self, field: Placeholder, value: u16) -> Self {
        self.values[field as usize] = value;
        self
    }

    /// Returns a number.
    pub fn get(&self, field: Placeholder) -> u16 {
        self.values[field as usize]
    }
}

/// A placeholder in a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hole {
    field: Placeholder,
    /// Added to the number; `{plane+1}` counts planes from 1.
    offset: u16,
    /// Minimum number of digits. Longer numbers are not cut.
    width: u8,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternElement {
    Text(SmolStr),
    Hole(Hole),
}

/// A name with placeholders for numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pattern {
    text: SmolStr,
    /// Parsed from the text.
    #[serde(skip)]
    parts: Vec<PatternElement>,
}

/// Why a text is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The text is empty.
    #[error("a pattern cannot be empty")]
    Empty,
    /// A character that is invalid in host names.
    #[error("`{found}` cannot be in a name: use {allowed}")]
    Character {
        /// The character.
        found: char,
        /// The valid characters.
        allowed: &'static str,
    },
    /// `-` at an end, or `--`, which separates the ends of a link.
    #[error("a name cannot start or end with `-`, or contain `--`, which separates the two ends of a link")]
    Dash,
    /// A brace without its partner.
    #[error("`{{` and `}}` do not match")]
    Brace,
    /// A placeholder that does not exist.
    #[error("`{{{text}}}` is not a field of this pattern: use {allowed}")]
    UnknownField {
        /// Text between the braces.
        text: String,
        /// Valid fields.
        allowed: String,
    },
    /// A number that is directly followed by a digit or another number.
    #[error("`{{{field}}}` is followed by a digit or another field, so names would be ambiguous")]
    Ambiguous {
        /// The number.
        field: &'static str,
    },
    /// The same number twice.
    #[error("`{{{field}}}` appears twice")]
    Twice {
        /// The field.
        field: &'static str,
    },
}

/// Characters of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letters {
    /// Host names (RFC 1123 section 2.1), in lower case.
    Host,
    /// Names of racks, which are not host names.
    Place,
}

impl Letters {
    fn allowed_characters(self) -> &'static str {
        match self {
            Letters::Host => "`a`-`z`, `0`-`9` and single `-`",
            Letters::Place => "`A`-`Z`, `a`-`z`, `0`-`9`, `.`, `_` and single `-`",
        }
    }

    fn has(self, c: char) -> bool {
        let is_host = c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        is_host || self == Letters::Place && (c.is_ascii_uppercase() || c == '.' || c == '_')
    }
}

impl Pattern {
    /// Parses a pattern of device names that may contain the fields in `allowed`.
    pub fn parse(text: &str, allowed: &[Placeholder]) -> Result<Self, PatternError> {
        Self::parse_with(text, allowed, Letters::Host)
    }

    /// Parses a pattern of place names, which may also have capitals, `.` and `_`.
    pub fn parse_place(text: &str, allowed: &[Placeholder]) -> Result<Self, PatternError> {
        Self::parse_with(text, allowed, Letters::Place)
    }

    fn parse_with(text: &str, allowed: &[Placeholder], letters: Letters) -> Result<Self, PatternError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(inside) = rest.strip_prefix('{') {
                let (hole, after) = inside.split_once('}').ok_or(PatternError::Brace)?;
                parts.push(PatternElement::Hole(parse_hole(hole, allowed)?));
                rest = after;
            } else {
                let end = rest.find(['{', '}']).unwrap_or(rest.len());
                if end == 0 {
                    return Err(PatternError::Brace);
                }
                parts.push(PatternElement::Text(parse_text(&rest[..end], letters)?));
                rest = &rest[end..];
            }
        }
        let pattern = Pattern { text: text.into(), parts };
        pattern.check_shape()?;
        Ok(pattern)
    }

    /// Rejects patterns whose names are ambiguous.
    fn check_shape(&self) -> Result<(), PatternError> {
        if self.parts.is_empty() {
            return Err(PatternError::Empty);
        }
        let ends_with_dash = |end: Option<&PatternElement>, dash: fn(&SmolStr) -> bool| match end {
            Some(PatternElement::Text(text)) => dash(text),
            Some(PatternElement::Hole(_)) | None => false,
        };
        if ends_with_dash(self.parts.first(), |t| t.starts_with('-'))
            || ends_with_dash(self.parts.last(), |t| t.ends_with('-'))
        {
            return Err(PatternError::Dash);
        }
        for pair in self.parts.windows(2) {
            if let [PatternElement::Hole(hole), next] = pair {
                let unclear = match next {
                    PatternElement::Hole(_) => true,
                    PatternElement::Text(text) => text.starts_with(|c: char| c.is_ascii_digit()),
                };
                if unclear {
                    return Err(PatternError::Ambiguous { field: hole.field.keyword() });
                }
            }
        }
        for field in Placeholder::ALL {
            if self.holes().filter(|hole| hole.field == field).count() > 1 {
                return Err(PatternError::Twice { field: field.keyword() });
            }
        }
        Ok(())
    }

    fn holes(&self) -> impl Iterator<Item = Hole> + '_ {
        self.parts.iter().filter_map(|part| match part {
            PatternElement::Hole(hole) => Some(*hole),
            PatternElement::Text(_) => None,
        })
    }

    /// Returns whether names of this pattern contain this number.
    pub fn mentions(&self, field: Placeholder) -> bool {
        self.holes().any(|hole| hole.field == field)
    }

    /// Writes the name of a device.
    pub fn write(&self, numbers: Numbers) -> SmolStr {
        let mut out = SmolStrBuilder::new();
        for part in &self.parts {
            let written = match part {
                PatternElement::Text(text) => out.write_str(text),
                PatternElement::Hole(hole) => {
                    write!(out, "{:0width$}", display_number(*hole, numbers), width = hole.width as usize)
                }
            };
            written.expect("a string takes everything that is written to it");
        }
        out.finish()
    }

    /// Reads the numbers of a device from its name.
    pub fn read(&self, name: &str) -> Option<Numbers> {
        // The comparison rejects padding that the pattern does not write: `p03-t0-1` is not a name.
        self.read_loosely(name).filter(|numbers| self.write(*numbers) == name)
    }

    /// Reads the numbers of a name with any padding, letter case and separators, to suggest the correct name.
    pub fn read_loosely(&self, name: &str) -> Option<Numbers> {
        let mut numbers = Numbers::default();
        let mut rest = name;
        for part in &self.parts {
            match part {
                PatternElement::Text(text) => {
                    let (start, end) = rest.split_at_checked(text.len())?;
                    let simple = |text: &str| text.to_ascii_lowercase().replace('_', "-");
                    if simple(start) != simple(text) {
                        return None;
                    }
                    rest = end;
                }
                PatternElement::Hole(hole) => {
                    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                    let shown: u32 = rest[..end].parse().ok()?;
                    let value = shown.checked_sub(hole.field.first() + u32::from(hole.offset))?;
                    numbers = numbers.with(hole.field, u16::try_from(value).ok()?);
                    rest = &rest[end..];
                }
            }
        }
        rest.is_empty().then_some(numbers)
    }

    /// Returns whether a name could match both patterns. May return `true` although there is none.
    pub fn overlaps(&self, other: &Pattern) -> bool {
        let (left, right) = (self.runs(), other.runs());
        left.len() == right.len() && left.iter().zip(&right).all(|(a, b)| a.overlaps(b))
    }

    /// Splits the pattern into runs of digits and of other characters, like its names.
    fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for part in &self.parts {
            match part {
                PatternElement::Hole(_) => match runs.last_mut() {
                    Some(Run::Digits { number, .. }) => *number = true,
                    Some(Run::Other(_)) | None => {
                        runs.push(Run::Digits { prefix: String::new(), number: true });
                    }
                },
                PatternElement::Text(text) => text.chars().for_each(|c| push_char(&mut runs, c)),
            }
        }
        runs
    }
}

fn display_number(hole: Hole, numbers: Numbers) -> u32 {
    u32::from(numbers.get(hole.field)) + hole.field.first() + u32::from(hole.offset)
}

/// A run of characters in a name.
enum Run {
    /// Fixed digits, then perhaps a number.
    Digits { prefix: String, number: bool },
    /// Anything but digits.
    Other(String),
}

impl Run {
    fn overlaps(&self, other: &Run) -> bool {
        match (self, other) {
            (Run::Other(a), Run::Other(b))
            | (Run::Digits { prefix: a, number: false }, Run::Digits { prefix: b, number: false }) => a == b,
            (Run::Digits { prefix: a, .. }, Run::Digits { prefix: b, .. }) => {
                a.starts_with(b.as_str()) || b.starts_with(a.as_str())
            }
            (Run::Other(_), Run::Digits { .. }) | (Run::Digits { .. }, Run::Other(_)) => false,
        }
    }
}

fn push_char(runs: &mut Vec<Run>, c: char) {
    match (runs.last_mut(), c.is_ascii_digit()) {
        (Some(Run::Digits { prefix, number: false }), true) => prefix.push(c),
        (Some(Run::Other(text)), false) => text.push(c),
        (_, true) => runs.push(Run::Digits { prefix: c.into(), number: false }),
        (_, false) => runs.push(Run::Other(c.into())),
    }
}

fn parse_text(text: &str, letters: Letters) -> Result<SmolStr, PatternError> {
    if let Some(found) = text.chars().find(|c| !letters.has(*c)) {
        return Err(PatternError::Character { found, allowed: letters.allowed_characters() });
    }
    if text.contains("--") {
        return Err(PatternError::Dash);
    }
    Ok(text.into())
}

/// Reads `plane`, `plane+1`, `index:03` or `index+99:04`.
fn parse_hole(text: &str, allowed: &[Placeholder]) -> Result<Hole, PatternError> {
    let unknown = || PatternError::UnknownField {
        text: text.to_owned(),
        allowed: allowed.iter().map(|f| format!("`{{{}}}`", f.keyword())).collect::<Vec<_>>().join(", "),
    };
    let (what, width) = match text.split_once(":0") {
        Some((what, width)) => {
            (what, width.parse().ok().filter(|w| (1..=5).contains(w)).ok_or_else(unknown)?)
        }
        None => (text, 1),
    };
    let (word, offset) = match what.split_once('+') {
        Some((word, offset)) => (word, offset.parse().map_err(|_| unknown())?),
        None => (what, 0),
    };
    let field = allowed.iter().copied().find(|f| f.keyword() == word).ok_or_else(unknown)?;
    Ok(Hole { field, offset, width })
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: &[Placeholder] = &[Placeholder::Plane, Placeholder::Zone, Placeholder::Index];

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text, SWITCH).unwrap()
    }

    #[test]
    fn reads_back_what_it_writes() {
        let names = pattern("z{zone}-p{plane+1}-leaf-{index:03}");
        for (index, shown) in [(0, "001"), (998, "999"), (999, "1000"), (65_535, "65536")] {
            let numbers = Numbers::default().with(Placeholder::Plane, 7).with(Placeholder::Index, index);
            let name = names.write(numbers);
            assert_eq!(name, format!("z0-p8-leaf-{shown}"));
            assert_eq!(names.read(&name), Some(numbers));
        }
    }

    #[test]
    fn reads_only_names_it_would_write() {
        let names = pattern("p{plane}-t0-{index:03}");
        for name in [
            "p3-t0-17",
            "p03-t0-017",
            "p3-t0-000",
            "p3-t0-0017",
            "p3-t0-",
            "p3-t1-017",
            "p3-t0-017x",
            "p3-t0-70000",
            "",
        ] {
            assert_eq!(names.read(name), None, "{name}");
        }
    }

    #[test]
    fn refuses_what_can_be_read_two_ways() {
        let error = |text| Pattern::parse(text, SWITCH).unwrap_err();
        assert_eq!(error("p{plane}{index}"), PatternError::Ambiguous { field: "plane" });
        assert_eq!(error("p{plane}0-{index}"), PatternError::Ambiguous { field: "plane" });
        assert_eq!(error("{plane}-{plane}"), PatternError::Twice { field: "plane" });
        assert_eq!(error(""), PatternError::Empty);
        assert_eq!(
            error("Leaf{index}"),
            PatternError::Character { found: 'L', allowed: Letters::Host.allowed_characters() }
        );
        assert_eq!(error("a--b{index}"), PatternError::Dash);
        assert_eq!(error("a-{index}-"), PatternError::Dash);
        assert_eq!(error("a}{index}"), PatternError::Brace);
        assert_eq!(error("a{index"), PatternError::Brace);
        assert_eq!(
            error("a{rack}").to_string(),
            "`{rack}` is not a field of this pattern: use `{plane}`, `{zone}`, `{index}`"
        );
    }

    #[test]
    fn tells_patterns_apart() {
        assert!(!pattern("p{plane}-t0-{index:03}").overlaps(&pattern("p{plane}-t1-{index:03}")));
        assert!(!pattern("p{plane}-leaf-{index}").overlaps(&pattern("p{plane}-spine-{index}")));
        assert!(pattern("p{plane}-s{index}").overlaps(&pattern("p{zone}-s{index:03}")));
        assert!(pattern("s1{index}-{plane}").overlaps(&pattern("s{index}-{plane}")));
        assert!(!pattern("s1{index}").overlaps(&pattern("s2{index}")));
    }
}
