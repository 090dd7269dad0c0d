//! Expressions as trees of resolved operands.
//!
//! BMv2 uses unlimited integers. Nearly all expressions of p4c have the same result modulo 2^128. [`Mode`] states
//! whether that holds; other expressions use big integers.

use num_bigint::BigInt;

use super::field::Field;

/// An expression that gives a number.
#[derive(Debug)]
pub(crate) struct Value {
    /// The tree.
    pub(crate) expr: Expr,
    /// Its mode of evaluation.
    pub(crate) mode: Mode,
}

/// Mode of evaluation of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// In 128 bits; the unsigned result is exact.
    Unsigned,
    /// In 128 bits; the signed result is exact.
    Signed,
    /// In 128 bits; the result is the low 128 bits of the exact one.
    Wrapped,
    /// Only with big integers.
    Big,
}

impl Expr {
    /// Returns a constant.
    pub(crate) fn constant(value: BigInt) -> Self {
        match (u128::try_from(&value), i128::try_from(&value)) {
            (Ok(natural), _) => Self::Const(natural),
            (Err(_), Ok(negative)) => Self::Negative(negative),
            (Err(_), Err(_)) => Self::BigConst(Box::new(value)),
        }
    }
}

/// A node that gives a number.
#[derive(Debug)]
pub(crate) enum Expr {
    /// A constant of at least 0.
    Const(u128),
    /// A negative constant.
    Negative(i128),
    /// A constant of more than 128 bits.
    BigConst(Box<BigInt>),
    /// An unsigned field of at most 64 bits.
    Word(u32),
    /// An unsigned field of 65 to 128 bits.
    Pair(u32),
    /// Any other field.
    Field(Field),
    /// An action parameter.
    Param {
        /// First word.
        word: u16,
        /// Number of words.
        words: u16,
        /// Width.
        bits: u32,
    },
    /// A register cell.
    Register {
        array: u16,
        /// Width of a cell.
        bits: u32,
        /// Index of the cell.
        index: Box<Value>,
    },
    /// A field of a header that is selected at run time.
    Member {
        header: HeaderRef,
        /// The field's number.
        field: u16,
        /// Its width.
        bits: u32,
        /// Whether it is signed.
        signed: bool,
    },
    /// A field of the last element in use of a stack.
    StackLast {
        stack: u16,
        /// The field's number.
        field: u16,
        /// Its width.
        bits: u32,
        /// Whether it is signed.
        signed: bool,
    },
    /// Index of the last element in use.
    LastIndex(u32),
    /// Number of elements in use.
    StackSize(u32),
    /// 1 if a condition holds, otherwise 0.
    FromBool(Box<Cond>),
    /// Bitwise complement.
    Not(Box<Expr>),
    /// An operator with two operands.
    Binary(Box<Binary>),
    /// One of two, by a condition.
    Select(Box<(Cond, Expr, Expr)>),
}

/// An operator and its operands.
#[derive(Debug)]
pub(crate) struct Binary {
    /// The operator.
    pub(crate) op: BinaryOp,
    /// Whether 128-bit operands are signed, if that matters.
    pub(crate) signed: bool,
    /// Left operand.
    pub(crate) left: Expr,
    /// Right operand.
    pub(crate) right: Expr,
}

/// Operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// The left operand's low bits as a signed value.
    TwoCompMod,
    /// Saturates to a signed range.
    SatCast,
    /// Saturates to an unsigned range.
    UsatCast,
}

/// A node that gives a truth value.
#[derive(Debug)]
pub(crate) enum Cond {
    /// A constant.
    Const(bool),
    /// Whether a number is not zero.
    NotZero(Box<Value>),
    /// Whether a word of the packet is not zero: validity, booleans.
    Word(u32),
    /// Negation.
    Not(Box<Cond>),
    /// Two conditions.
    Pair(BoolOp, Box<(Cond, Cond)>),
    /// Two numbers.
    Compare(Box<Comparison>),
    /// Validity of a header.
    Valid(HeaderRef),
    /// Whether a union has a valid member.
    ValidUnion(UnionRef),
    /// Whether two headers are valid and equal; negated by the flag.
    SameHeader(bool, Box<(HeaderRef, HeaderRef)>),
    /// Whether two unions are valid and equal; negated by the flag.
    SameUnion(bool, Box<(UnionRef, UnionRef)>),
}

/// Operators between conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoolOp {
    /// Both.
    And,
    /// Either.
    Or,
    /// Equal.
    Same,
    /// Different.
    Differ,
}

#[derive(Debug)]
pub(crate) struct Comparison {
    /// The comparison operator.
    pub(crate) op: Compare,
    /// `Unsigned`, `Signed` or `Big`.
    pub(crate) mode: Mode,
    /// Left operand.
    pub(crate) left: Expr,
    /// Right operand.
    pub(crate) right: Expr,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Compare {
    /// Returns whether the comparison holds for operands in this order.
    pub(crate) fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// A header, possibly selected at run time.
#[derive(Debug)]
pub(crate) enum HeaderRef {
    /// An instance.
    Fixed(u16),
    /// An element of a stack.
    Element(u16, Box<Value>),
    /// A member of a union.
    Member(Box<UnionRef>, u16),
}

/// A union, possibly selected at run time.
#[derive(Debug)]
pub(crate) enum UnionRef {
    /// A union.
    Fixed(u16),
    /// An element of a stack.
    Element(u16, Box<Value>),
}
