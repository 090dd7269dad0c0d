//! Control flow: tables, conditions and their successors. Also the checksums, which are processed before and after it.

use super::expr::Cond;
use super::field::Field;

/// A node of a control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// The flow ends.
    End,
    /// A table is applied.
    Table(u32),
    /// A condition branches.
    Conditional(u32),
    /// An action is called.
    Call(u32),
}

/// A condition.
#[derive(Debug)]
pub(crate) struct Conditional {
    /// The condition.
    pub(crate) cond: Cond,
    /// Next node if it holds.
    pub(crate) yes: Node,
    /// Next node if it does not.
    pub(crate) no: Node,
}

/// An action called outside a table.
#[derive(Debug)]
pub(crate) struct ActionCall {
    pub(crate) action: u16,
    pub(crate) next: Node,
}

/// Match kind of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableMatch {
    /// Only exact fields.
    Exact,
    /// One field with longest prefix match, the others exact.
    Lpm,
    /// By priority under masks.
    Ternary,
    /// By priority under masks and ranges.
    Range,
}

/// Location of a table's actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableKind {
    /// In its entries.
    Simple,
    /// In a profile: entries refer to members, or to groups if the profile has a selector.
    Indirect(u16),
}

/// Match kind of a key field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchKind {
    /// Equal.
    Exact,
    /// Equal in the first bits.
    Lpm,
    /// Equal under a mask.
    Ternary,
    /// Between two values.
    Range,
    /// Validity of a header, equal.
    Valid,
}

impl MatchKind {
    /// Returns the keyword of the JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            MatchKind::Exact => "exact",
            MatchKind::Lpm => "lpm",
            MatchKind::Ternary => "ternary",
            MatchKind::Range => "range",
            MatchKind::Valid => "valid",
        }
    }
}

/// Source of a key field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeySource {
    /// A header field, which is zero if the header is invalid.
    Field {
        field: Field,
        /// Word that is 1 if the header is valid; `None` for metadata and for validity itself.
        valid: Option<u32>,
    },
    /// Validity of a header; `None` for metadata, which are always valid.
    Valid(Option<u32>),
}

/// One field of a key.
#[derive(Debug)]
pub(crate) struct KeyField {
    /// Name in the P4 program.
    pub(crate) name: String,
    pub(crate) kind: MatchKind,
    pub(crate) source: KeySource,
    /// Width.
    pub(crate) bits: u32,
    /// First word in the key.
    pub(crate) word: u16,
    /// Number of words.
    pub(crate) words: u16,
    /// Mask from the program.
    pub(crate) mask: Option<Box<[u64]>>,
}

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// Match kind of the table.
    pub(crate) lookup: TableMatch,
    /// Location of its actions.
    pub(crate) kind: TableKind,
    /// Key fields in order.
    pub(crate) key: Vec<KeyField>,
    /// Words of a key.
    pub(crate) key_words: usize,
    /// Maximum number of entries.
    pub(crate) size: u32,
    /// Whether entries have counters.
    pub(crate) counters: bool,
    /// Whether entries have idle timeouts.
    pub(crate) ageing: bool,
    /// Direct meter.
    pub(crate) meter: Option<MeterTarget>,
    /// Actions with their next nodes.
    pub(crate) actions: Vec<(u16, Node)>,
    /// Next node after a hit, if independent of the action.
    pub(crate) on_hit: Option<Node>,
    /// Next node after a miss, if independent of the action.
    pub(crate) on_miss: Option<Node>,
    /// Next node after a miss without a default action.
    pub(crate) base_next: Node,
    /// Default action.
    pub(crate) default: Option<DefaultEntry>,
    /// Entries in the program, constant or not.
    pub(crate) entries: Option<Vec<ConstEntry>>,
}

impl Table {
    /// Returns the next node after a hit with an action.
    pub(crate) fn next_on_hit(&self, action: u16) -> Node {
        self.on_hit.unwrap_or_else(|| self.next_node(action))
    }

    /// Returns the next node after a miss with a default action.
    pub(crate) fn next_on_miss(&self, action: u16) -> Node {
        self.on_miss.unwrap_or_else(|| self.next_node(action))
    }

    fn next_node(&self, action: u16) -> Node {
        self.actions.iter().find(|(a, _)| *a == action).map_or(Node::End, |(_, next)| *next)
    }

    /// Returns whether entries need a priority.
    pub(crate) fn has_priority(&self) -> bool {
        matches!(self.lookup, TableMatch::Ternary | TableMatch::Range)
    }
}

/// A direct meter and the destination of its colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeterTarget {
    /// The meter array.
    pub(crate) array: u16,
    /// Field that receives the colour.
    pub(crate) field: Field,
}

/// A default action.
#[derive(Debug)]
pub(crate) struct DefaultEntry {
    pub(crate) action: u16,
    /// Its arguments.
    pub(crate) args: Box<[u64]>,
    /// Whether controllers cannot change it.
    pub(crate) constant: bool,
}

/// An entry in the program.
#[derive(Debug)]
pub(crate) struct ConstEntry {
    /// Match, field by field.
    pub(crate) matches: Vec<ConstMatch>,
    pub(crate) action: u16,
    /// The arguments.
    pub(crate) args: Box<[u64]>,
    /// Smallest first.
    pub(crate) priority: i32,
}

/// One field of an entry in the program: value and mask, or first and last value of a range.
#[derive(Clone, Debug)]
pub(crate) struct ConstMatch {
    /// Value, or first value of a range.
    pub(crate) value: Box<[u64]>,
    /// Mask, or last value of a range; for LPM the mask of the prefix.
    pub(crate) mask: Box<[u64]>,
    /// Prefix length of an LPM field.
    pub(crate) prefix: u32,
}

/// An action profile.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) name: String,
    /// Maximum number of members.
    pub(crate) size: u32,
    /// Selection of a member of a group.
    pub(crate) selector: Option<Selector>,
}

/// Selection of a member of a group.
#[derive(Debug)]
pub(crate) struct Selector {
    /// Index of its calculation.
    pub(crate) calculation: u16,
}

#[derive(Debug)]
pub(crate) struct Checksum {
    /// Field that holds the checksum.
    pub(crate) field: Field,
    /// Condition.
    pub(crate) cond: Option<Cond>,
    /// Algorithm.
    pub(crate) kind: ChecksumKind,
}

/// Computation of a checksum.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChecksumKind {
    /// By a calculation.
    Calculation(u16),
    /// Over the field's own header with bytes 10 and 11 zero.
    Ipv4,
}
