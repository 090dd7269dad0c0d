//! Decides how to evaluate an expression, from the ranges of its parts.
//!
//! Addition, multiplication and bitwise operators are correct modulo 2^128 for all operands. So is a left
//! shift by an exact amount. `>>`, `/`, `%`, comparisons and saturation need exact operands. An operand is
//! exact in 128 bits if its range fits, signed or unsigned.

use num_bigint::{BigInt, Sign};

use super::expr::{Binary, BinaryOp, Comparison, Expr, Mode, Value};

/// Largest shift for which a range is computed. The range of a larger one is unknown unless a mask bounds it.
const WIDEST_SHIFT: u32 = 4096;

/// Least and greatest value.
type Span = (BigInt, BigInt);

/// Span of a value; `None` where unknown.
type Range = Option<Span>;

/// Properties of a subtree.
struct SubtreeProperties {
    range: Range,
    /// Whether evaluation in 128 bits gives its low 128 bits.
    narrow: bool,
}

/// Converts a tree to a value.
pub(super) fn value(mut expr: Expr) -> Value {
    let known = analyse(&mut expr);
    let mode = if known.narrow { mode_of(&known.range) } else { Mode::Big };
    Value { expr, mode }
}

/// Makes a comparison of two trees.
pub(super) fn comparison(op: super::expr::Compare, mut left: Expr, mut right: Expr) -> Comparison {
    let (l, r) = (analyse(&mut left), analyse(&mut right));
    let mode = match common(&l, &r) {
        Some(false) => Mode::Unsigned,
        Some(true) => Mode::Signed,
        None => Mode::Big,
    };
    Comparison { op, mode, left, right }
}

fn mode_of(range: &Range) -> Mode {
    match range {
        Some(range) if fits_unsigned(range) => Mode::Unsigned,
        Some(range) if fits_signed(range) => Mode::Signed,
        Some(_) | None => Mode::Wrapped,
    }
}

fn fits_unsigned((low, high): &Span) -> bool {
    low.sign() != Sign::Minus && high.bits() <= 128
}

fn fits_signed((low, high): &Span) -> bool {
    // bits() counts the magnitude; -2^127 has 128 of them and fits.
    high.bits() <= 127 && (low.bits() <= 127 || *low == -(BigInt::from(1) << 127_u32))
}

/// Returns an interpretation of 128 bits in which both are exact: `false` for unsigned, `true` for signed.
fn common(left: &SubtreeProperties, right: &SubtreeProperties) -> Option<bool> {
    let (Some(l), Some(r)) = (&left.range, &right.range) else { return None };
    if !left.narrow || !right.narrow {
        None
    } else if fits_unsigned(l) && fits_unsigned(r) {
        Some(false)
    } else if fits_signed(l) && fits_signed(r) {
        Some(true)
    } else {
        None
    }
}

fn unsigned_span(bits: u32) -> Span {
    (BigInt::ZERO, (BigInt::from(1) << bits) - 1)
}

/// A signed field keeps values up to the unsigned maximum.
fn field(bits: u32, signed: bool) -> Span {
    let (low, high) = unsigned_span(bits);
    (if signed { -(BigInt::from(1) << bits.saturating_sub(1)) } else { low }, high)
}

fn analyse(expr: &mut Expr) -> SubtreeProperties {
    let (range, narrow) = match expr {
        Expr::Const(value) => (Some((BigInt::from(*value), BigInt::from(*value))), true),
        Expr::Negative(value) => (Some((BigInt::from(*value), BigInt::from(*value))), true),
        Expr::BigConst(value) => (Some(((**value).clone(), (**value).clone())), false),
        Expr::Word(_) | Expr::LastIndex(_) | Expr::StackSize(_) => (Some(unsigned_span(64)), true),
        Expr::Pair(_) => (Some(unsigned_span(128)), true),
        Expr::Field(f) => (Some(field(f.bits, f.signed)), f.words <= 2 && f.length.is_none()),
        Expr::Param { bits, .. } | Expr::Register { bits, .. } => (Some(unsigned_span(*bits)), *bits <= 128),
        Expr::Member { bits, signed, .. } | Expr::StackLast { bits, signed, .. } => {
            (Some(field(*bits, *signed)), *bits < 128 || (*bits == 128 && !*signed))
        }
        Expr::FromBool(_) => (Some(unsigned_span(1)), true),
        Expr::Not(inner) => {
            let known = analyse(inner);
            (known.range.map(|(low, high)| (-high - 1_u8, -low - 1_u8)), known.narrow)
        }
        Expr::Binary(binary) => return analyse_binary(binary),
        Expr::Select(parts) => {
            let (left, right) = (analyse(&mut parts.1), analyse(&mut parts.2));
            let range = match (left.range, right.range) {
                (Some(l), Some(r)) => Some((l.0.min(r.0), l.1.max(r.1))),
                (Some(_) | None, None) | (None, Some(_)) => None,
            };
            (range, left.narrow && right.narrow)
        }
    };
    SubtreeProperties { range, narrow }
}

fn analyse_binary(binary: &mut Binary) -> SubtreeProperties {
    let (left, right) = (analyse(&mut binary.left), analyse(&mut binary.right));
    let both_narrow = left.narrow && right.narrow;
    let reading = common(&left, &right);
    binary.signed = reading == Some(true);
    let (l, r) = (left.range.as_ref(), right.range.as_ref());
    let pair = l.zip(r);
    let (range, narrow) = match binary.op {
        BinaryOp::Add => (pair.map(|(l, r)| (&l.0 + &r.0, &l.1 + &r.1)), both_narrow),
        BinaryOp::Sub => (pair.map(|(l, r)| (&l.0 - &r.1, &l.1 - &r.0)), both_narrow),
        BinaryOp::Mul => (pair.map(|(l, r)| product(l, r)), both_narrow),
        BinaryOp::And => (pair.map(|(l, r)| and(l, r)).or_else(|| and_known(l, r)), both_narrow),
        BinaryOp::Or | BinaryOp::Xor => (pair.map(|(l, r)| or(l, r)), both_narrow),
        // The amount must be exact, but not the value that is shifted left.
        BinaryOp::Shl => (pair.and_then(|(l, r)| shl(l, r)), both_narrow && r.is_some_and(fits_unsigned)),
        BinaryOp::Shr | BinaryOp::Div | BinaryOp::Rem => {
            (pair.map(|(l, r)| shrink(binary.op, l, r)), reading.is_some())
        }
        BinaryOp::TwoCompMod => cast(binary, both_narrow, true),
        BinaryOp::SatCast => cast(binary, reading.is_some(), true),
        BinaryOp::UsatCast => cast(binary, reading.is_some(), false),
    };
    SubtreeProperties { range, narrow }
}

/// Range after a cast to a constant width; other widths need big integers.
fn cast(binary: &Binary, narrow: bool, signed: bool) -> (Range, bool) {
    match binary.right {
        Expr::Const(width @ 1..=128) if signed => {
            let half = BigInt::from(1) << (width - 1);
            (Some((-half.clone(), half - 1)), narrow)
        }
        Expr::Const(width @ 0..=128) => (Some(unsigned_span(width as u32)), narrow),
        _ => (None, false),
    }
}

fn product(l: &Span, r: &Span) -> (BigInt, BigInt) {
    let corners = [&l.0 * &r.0, &l.0 * &r.1, &l.1 * &r.0, &l.1 * &r.1];
    let low = corners.iter().min().cloned().unwrap_or_default();
    let high = corners.into_iter().max().unwrap_or_default();
    (low, high)
}

fn is_natural(range: &Span) -> bool {
    range.0.sign() != Sign::Minus
}

fn and(l: &Span, r: &Span) -> Span {
    match (is_natural(l), is_natural(r)) {
        (true, true) => (BigInt::ZERO, l.1.clone().min(r.1.clone())),
        (true, false) => (BigInt::ZERO, l.1.clone()),
        (false, true) => (BigInt::ZERO, r.1.clone()),
        (false, false) => signed_span(l, r),
    }
}

/// Bounds a bitwise result by the longest operand.
fn signed_span(l: &Span, r: &Span) -> Span {
    let bits = l.0.bits().max(l.1.bits()).max(r.0.bits()).max(r.1.bits());
    (-(BigInt::from(1) << bits), (BigInt::from(1) << bits) - 1)
}

/// A natural number bounds a bitwise AND, regardless of the other operand.
fn and_known(l: Option<&Span>, r: Option<&Span>) -> Range {
    let known = l.or(r)?;
    is_natural(known).then(|| (BigInt::ZERO, known.1.clone()))
}

fn or(l: &Span, r: &Span) -> Span {
    let (low, high) = signed_span(l, r);
    (if is_natural(l) && is_natural(r) { BigInt::ZERO } else { low }, high)
}

fn shl(l: &Span, r: &Span) -> Range {
    let most = u32::try_from(&r.1).ok().filter(|most| *most <= WIDEST_SHIFT)?;
    let low = if is_natural(l) { BigInt::ZERO } else { &l.0 << most };
    Some((low, &l.1 << most))
}

/// `>>`, `/` and `%` by a natural number never increase the absolute value.
fn shrink(op: BinaryOp, l: &Span, r: &Span) -> Span {
    let least = u32::try_from(&r.0).ok().filter(|_| op == BinaryOp::Shr && r.0 == r.1);
    match least {
        Some(by) => (&l.0 >> by, &l.1 >> by),
        None => (l.0.clone().min(BigInt::ZERO), l.1.clone().max(BigInt::ZERO)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::expr::Compare;
    use super::*;

    fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary(Box::new(Binary { op, signed: false, left, right }))
    }

    #[test]
    fn a_masked_shift_of_an_address_stays_narrow() {
        let shift = binary(BinaryOp::Shl, Expr::Pair(0), Expr::Const(16));
        let masked = binary(BinaryOp::And, shift, Expr::Const(u128::MAX));
        assert_eq!(value(masked).mode, Mode::Unsigned);
    }

    #[test]
    fn a_shift_back_needs_the_bits_that_left() {
        let shift = binary(BinaryOp::Shl, Expr::Pair(0), Expr::Const(16));
        assert_eq!(value(binary(BinaryOp::Shr, shift, Expr::Const(16))).mode, Mode::Big);
    }

    #[test]
    fn a_difference_compares_with_sign() {
        let difference = binary(BinaryOp::Sub, Expr::Word(0), Expr::Word(1));
        assert_eq!(comparison(Compare::Less, difference, Expr::Const(3)).mode, Mode::Signed);
        let wide = binary(BinaryOp::Sub, Expr::Pair(0), Expr::Pair(2));
        assert_eq!(comparison(Compare::Less, wide, Expr::Const(3)).mode, Mode::Big);
    }

    #[test]
    fn a_shift_by_a_field_is_bounded_only_by_its_mask() {
        let shift = binary(BinaryOp::Shl, Expr::Word(0), Expr::Word(1));
        assert_eq!(value(shift).mode, Mode::Wrapped);
        let shift = binary(BinaryOp::Shl, Expr::Word(0), Expr::Word(1));
        assert_eq!(value(binary(BinaryOp::And, shift, Expr::Const(0xff))).mode, Mode::Unsigned);
    }
}
