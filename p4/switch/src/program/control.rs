//! Control flow: tables, conditions, what follows what; and checksums, which run around it.

use super::expr::Cond;
use super::field::Field;
use super::hash::Algorithm;

/// A node of a control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
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
pub struct Conditional {
    /// Name.
    pub name: String,
    /// The condition.
    pub cond: Cond,
    /// Where it holds.
    pub yes: Node,
    /// Where it does not.
    pub no: Node,
}

/// An action called outside a table.
#[derive(Debug)]
pub struct ActionCall {
    /// The action.
    pub action: u16,
    /// What follows.
    pub next: Node,
}

/// How a table looks up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableMatch {
    /// All fields exact.
    Exact,
    /// One field by longest prefix, the others exact.
    Lpm,
    /// By priority under masks.
    Ternary,
    /// By priority under masks and ranges.
    Range,
}

/// Where a table's actions live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// In its entries.
    Simple,
    /// In a profile: entries name members, or groups where the profile has a selector.
    Indirect(u16),
}

/// How one field of a key matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchKind {
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

/// Where one field of a key comes from.
#[derive(Clone, Copy, Debug)]
pub enum KeySource {
    /// A field of a header that must be valid, else zero.
    Field {
        /// The field.
        field: Field,
        /// Word that is 1 where the header is valid; none for metadata and validity itself.
        valid: Option<u32>,
    },
    /// Validity of a header; none where it is metadata and always valid.
    Valid(Option<u32>),
}

/// One field of a key.
#[derive(Debug)]
pub struct KeyField {
    /// Name in the P4 program.
    pub name: String,
    /// How it matches.
    pub kind: MatchKind,
    /// Where it comes from.
    pub source: KeySource,
    /// Width.
    pub bits: u32,
    /// First word in the key.
    pub word: u16,
    /// Number of words.
    pub words: u16,
    /// Mask that the program puts on it.
    pub mask: Option<Box<[u64]>>,
}

/// A table.
#[derive(Debug)]
pub struct Table {
    /// Name.
    pub name: String,
    /// How it looks up.
    pub matching: TableMatch,
    /// Where its actions live.
    pub kind: TableKind,
    /// Key fields in order.
    pub key: Vec<KeyField>,
    /// Words of a key.
    pub key_words: usize,
    /// Number of entries it may hold.
    pub size: u32,
    /// Whether entries count.
    pub counters: bool,
    /// Whether entries age.
    pub ageing: bool,
    /// Meter of its entries.
    pub meter: Option<MeterTarget>,
    /// Actions and what follows each.
    pub actions: Vec<(u16, Node)>,
    /// What follows a hit, whatever the action.
    pub on_hit: Option<Node>,
    /// What follows a miss, whatever the action.
    pub on_miss: Option<Node>,
    /// What follows a miss while no default action is set.
    pub base_next: Node,
    /// Default action.
    pub default: Option<DefaultEntry>,
    /// Entries that cannot change.
    pub entries: Option<Vec<ConstEntry>>,
}

impl Table {
    /// Returns what follows a hit with an action.
    pub fn after_hit(&self, action: u16) -> Node {
        self.on_hit.unwrap_or_else(|| self.after(action))
    }

    /// Returns what follows a miss with a default action.
    pub fn after_miss(&self, action: u16) -> Node {
        self.on_miss.unwrap_or_else(|| self.after(action))
    }

    fn after(&self, action: u16) -> Node {
        self.actions.iter().find(|(a, _)| *a == action).map_or(Node::End, |(_, next)| *next)
    }

    /// Returns whether entries need a priority.
    pub fn has_priority(&self) -> bool {
        matches!(self.matching, TableMatch::Ternary | TableMatch::Range)
    }
}

/// A direct meter and where it writes.
#[derive(Clone, Copy, Debug)]
pub struct MeterTarget {
    /// The meter array.
    pub array: u16,
    /// Field that gets the colour.
    pub field: Field,
}

/// A default action.
#[derive(Debug)]
pub struct DefaultEntry {
    /// The action.
    pub action: u16,
    /// Its arguments.
    pub args: Box<[u64]>,
    /// Whether the action cannot change.
    pub const_action: bool,
    /// Whether nothing of it can change.
    pub const_entry: bool,
}

/// An entry written in the program.
#[derive(Debug)]
pub struct ConstEntry {
    /// What it matches, field by field.
    pub matches: Vec<ConstMatch>,
    /// Its action.
    pub action: u16,
    /// The arguments.
    pub args: Box<[u64]>,
    /// Smallest first.
    pub priority: i32,
}

/// One field of an entry written in the program: value and mask, or first and last value of a range.
#[derive(Clone, Debug)]
pub struct ConstMatch {
    /// Value, or first value of a range.
    pub value: Box<[u64]>,
    /// Mask, or last value of a range; for LPM the mask of the prefix.
    pub mask: Box<[u64]>,
    /// Prefix length of an LPM field.
    pub prefix: u32,
}

/// An action profile.
#[derive(Debug)]
pub struct Profile {
    /// Name.
    pub name: String,
    /// Number of members.
    pub size: u32,
    /// How a member of a group is chosen.
    pub selector: Option<Selector>,
}

/// How a member of a group is chosen.
#[derive(Debug)]
pub struct Selector {
    /// Index of its calculation.
    pub calculation: u16,
    /// Its algorithm.
    pub algorithm: Algorithm,
}

/// A checksum.
#[derive(Debug)]
pub struct Checksum {
    /// Name.
    pub name: String,
    /// Field that holds it.
    pub field: Field,
    /// When.
    pub cond: Option<Cond>,
    /// How.
    pub kind: ChecksumKind,
}

/// How a checksum is computed.
#[derive(Clone, Copy, Debug)]
pub enum ChecksumKind {
    /// By a calculation.
    Calculation(u16),
    /// Over the field's own header with bytes 10 and 11 zero.
    Ipv4,
}
