//! Evaluates expressions: in 128 bits if the compiler found that sufficient, otherwise with big integers.

use num_bigint::{BigInt, Sign};

use super::frame::{Frame, load, load_big, natural, wrap};
use crate::bits;
use crate::program::{
    Binary, BinaryOp, BoolOp, Comparison, Cond, Expr, Field, HeaderRef, Mode, UnionRef, Value,
};

/// Maximum left shift that is evaluated. p4c masks the result of every shift to the width of its type. A
/// shift by more than this leaves only bits above any such mask.
const WIDEST_SHIFT: u64 = 1 << 17;

impl Frame<'_> {
    /// Returns the low 128 bits of a value.
    #[inline]
    pub(crate) fn low(&self, value: &Value) -> u128 {
        match value.mode {
            Mode::Unsigned | Mode::Signed | Mode::Wrapped => self.narrow(&value.expr),
            Mode::Big => wrap(&self.big(&value.expr)),
        }
    }

    /// Returns a value exactly.
    pub(crate) fn exact(&self, value: &Value) -> BigInt {
        match value.mode {
            Mode::Unsigned => BigInt::from(self.narrow(&value.expr)),
            Mode::Signed => BigInt::from(self.narrow(&value.expr).cast_signed()),
            Mode::Wrapped | Mode::Big => self.big(&value.expr),
        }
    }

    /// Returns a value as an index.
    pub(crate) fn index(&self, value: &Value) -> u64 {
        match value.mode {
            Mode::Unsigned => u64::try_from(self.narrow(&value.expr)).unwrap_or(u64::MAX),
            Mode::Signed | Mode::Wrapped | Mode::Big => natural(&self.exact(value)),
        }
    }

    /// Evaluates a tree modulo 2^128.
    #[inline]
    fn narrow(&self, expr: &Expr) -> u128 {
        match expr {
            Expr::Const(value) => *value,
            Expr::Negative(value) => value.cast_unsigned(),
            Expr::BigConst(value) => wrap(value),
            Expr::Word(word) => u128::from(self.words[*word as usize]),
            Expr::Pair(word) => {
                let at = *word as usize;
                u128::from(self.words[at]) | u128::from(self.words[at + 1]) << 64
            }
            Expr::Field(field) => load(self.words, field),
            Expr::Param { word, words, .. } => bits::low128(self.arg(*word, *words)),
            Expr::Register { array, index, .. } => {
                self.arrays.registers[*array as usize].get(self.index(index)).map_or(0, bits::low128)
            }
            Expr::Member { header, field, .. } => {
                self.member_field(header, *field).map_or(0, |field| load(self.words, &field))
            }
            Expr::StackLast { stack, field, .. } => {
                self.last_field(*stack, *field).map_or(0, |field| load(self.words, &field))
            }
            Expr::LastIndex(next) => u128::from(self.words[*next as usize].wrapping_sub(1)),
            Expr::StackSize(next) => u128::from(self.words[*next as usize]),
            Expr::FromBool(cond) => u128::from(self.test(cond)),
            Expr::Not(inner) => !self.narrow(inner),
            Expr::Binary(binary) => self.narrow_binary(binary),
            Expr::Select(parts) => self.narrow(if self.test(&parts.0) { &parts.1 } else { &parts.2 }),
        }
    }

    #[inline]
    fn narrow_binary(&self, binary: &Binary) -> u128 {
        let (left, right) = (self.narrow(&binary.left), self.narrow(&binary.right));
        let signed = binary.signed;
        match binary.op {
            BinaryOp::Add => left.wrapping_add(right),
            BinaryOp::Sub => left.wrapping_sub(right),
            BinaryOp::Mul => left.wrapping_mul(right),
            BinaryOp::And => left & right,
            BinaryOp::Or => left | right,
            BinaryOp::Xor => left ^ right,
            BinaryOp::Shl => {
                if right < 128 {
                    left << right
                } else {
                    0
                }
            }
            BinaryOp::Shr if signed => (left.cast_signed() >> right.min(127)).cast_unsigned(),
            BinaryOp::Shr => {
                if right < 128 {
                    left >> right
                } else {
                    0
                }
            }
            BinaryOp::Div | BinaryOp::Rem if signed && (left | right).cast_signed() < 0 => 0,
            BinaryOp::Div => left.checked_div(right).unwrap_or(0),
            BinaryOp::Rem => left.checked_rem(right).unwrap_or(0),
            BinaryOp::TwoCompMod => sign_extend(left, right as u32),
            BinaryOp::SatCast => {
                let half = 1_i128.checked_shl((right as u32).saturating_sub(1)).unwrap_or(0);
                let (low, high) = (half.wrapping_neg(), half.wrapping_sub(1));
                if signed {
                    left.cast_signed().clamp(low.min(high), high).cast_unsigned()
                } else {
                    left.min(high.cast_unsigned())
                }
            }
            BinaryOp::UsatCast => {
                let high = bits::mask128(right as u32);
                if signed && left.cast_signed() < 0 { 0 } else { left.min(high) }
            }
        }
    }

    /// Evaluates a tree exactly.
    fn big(&self, expr: &Expr) -> BigInt {
        match expr {
            Expr::Const(value) => BigInt::from(*value),
            Expr::Negative(value) => BigInt::from(*value),
            Expr::BigConst(value) => (**value).clone(),
            Expr::Word(word) => BigInt::from(self.words[*word as usize]),
            Expr::Pair(_) | Expr::LastIndex(_) | Expr::StackSize(_) | Expr::FromBool(_) => {
                BigInt::from(self.narrow(expr))
            }
            Expr::Field(field) => load_big(self.words, field),
            Expr::Param { word, words, .. } => bits::to_big(self.arg(*word, *words)),
            Expr::Register { array, index, .. } => self.arrays.registers[*array as usize]
                .get(self.index(index))
                .map_or(BigInt::ZERO, bits::to_big),
            Expr::Member { header, field, .. } => {
                self.member_field(header, *field).map_or(BigInt::ZERO, |field| load_big(self.words, &field))
            }
            Expr::StackLast { stack, field, .. } => {
                self.last_field(*stack, *field).map_or(BigInt::ZERO, |field| load_big(self.words, &field))
            }
            Expr::Not(inner) => -self.big(inner) - 1_u8,
            Expr::Binary(binary) => big_binary(binary.op, self.big(&binary.left), &self.big(&binary.right)),
            Expr::Select(parts) => self.big(if self.test(&parts.0) { &parts.1 } else { &parts.2 }),
        }
    }

    fn arg(&self, word: u16, words: u16) -> &[u64] {
        self.args.get(word as usize..word as usize + words as usize).unwrap_or(&[])
    }

    /// Evaluates a condition.
    pub(crate) fn test(&self, cond: &Cond) -> bool {
        match cond {
            Cond::Const(value) => *value,
            Cond::NotZero(value) => match value.mode {
                Mode::Unsigned | Mode::Signed => self.narrow(&value.expr) != 0,
                Mode::Wrapped | Mode::Big => self.big(&value.expr).sign() != Sign::NoSign,
            },
            Cond::Word(word) => self.words[*word as usize] != 0,
            Cond::Not(inner) => !self.test(inner),
            Cond::Pair(op, pair) => match op {
                BoolOp::And => self.test(&pair.0) && self.test(&pair.1),
                BoolOp::Or => self.test(&pair.0) || self.test(&pair.1),
                BoolOp::Same => self.test(&pair.0) == self.test(&pair.1),
                BoolOp::Differ => self.test(&pair.0) != self.test(&pair.1),
            },
            Cond::Compare(comparison) => self.compare(comparison),
            Cond::Valid(header) => self.header(header).is_some_and(|header| self.is_valid(header)),
            Cond::ValidUnion(union) => self
                .union(union)
                .is_some_and(|u| self.words[self.program.unions[u as usize].state as usize] != 0),
            Cond::SameHeader(negated, pair) => {
                let same = self
                    .header(&pair.0)
                    .zip(self.header(&pair.1))
                    .is_some_and(|(l, r)| self.headers_equal(l, r));
                same != *negated
            }
            Cond::SameUnion(negated, pair) => {
                let same = self
                    .union(&pair.0)
                    .zip(self.union(&pair.1))
                    .is_some_and(|(l, r)| self.unions_equal(l, r));
                same != *negated
            }
        }
    }

    #[inline]
    fn compare(&self, comparison: &Comparison) -> bool {
        let order = match comparison.mode {
            Mode::Unsigned | Mode::Wrapped => {
                self.narrow(&comparison.left).cmp(&self.narrow(&comparison.right))
            }
            Mode::Signed => {
                let (left, right) = (self.narrow(&comparison.left), self.narrow(&comparison.right));
                left.cast_signed().cmp(&right.cast_signed())
            }
            Mode::Big => self.big(&comparison.left).cmp(&self.big(&comparison.right)),
        };
        comparison.op.holds(order)
    }

    fn headers_equal(&self, left: u16, right: u16) -> bool {
        let (l, r) = (&self.program.headers[left as usize], &self.program.headers[right as usize]);
        if l.ty != r.ty || !self.is_valid(left) || !self.is_valid(right) {
            return false;
        }
        let width = self.program.types[l.ty as usize].words;
        let of = |base: u32| &self.words[base as usize..base as usize + width];
        let length = |at: Option<u32>| at.map(|at| self.words[at as usize]);
        of(l.base) == of(r.base) && length(l.length) == length(r.length)
    }

    fn unions_equal(&self, left: u16, right: u16) -> bool {
        let (l, r) = (&self.program.unions[left as usize], &self.program.unions[right as usize]);
        let (left, right) = (self.words[l.state as usize], self.words[r.state as usize]);
        let member = |union: &crate::program::Union| union.headers.get(left as usize - 1).copied();
        left != 0 && left == right && member(l).zip(member(r)).is_some_and(|(l, r)| self.headers_equal(l, r))
    }

    /// Finds a header; `None` beyond the end of a stack.
    pub(crate) fn header(&self, header: &HeaderRef) -> Option<u16> {
        match header {
            HeaderRef::Fixed(header) => Some(*header),
            HeaderRef::Element(stack, index) => {
                let at = usize::try_from(self.index(index)).ok()?;
                self.program.stacks[*stack as usize].headers.get(at).copied()
            }
            HeaderRef::Member(union, member) => {
                let union = self.union(union)?;
                self.program.unions[union as usize].headers.get(*member as usize).copied()
            }
        }
    }

    /// Finds a union; `None` beyond the end of a stack.
    pub(crate) fn union(&self, union: &UnionRef) -> Option<u16> {
        match union {
            UnionRef::Fixed(union) => Some(*union),
            UnionRef::Element(stack, index) => {
                let at = usize::try_from(self.index(index)).ok()?;
                self.program.union_stacks[*stack as usize].unions.get(at).copied()
            }
        }
    }

    /// Finds a field of a header that is selected at run time.
    pub(crate) fn member_field(&self, header: &HeaderRef, field: u16) -> Option<Field> {
        let header = self.header(header)?;
        self.program.headers[header as usize].fields.get(field as usize).copied()
    }

    /// Finds a field of the last element in use of a stack.
    pub(crate) fn last_field(&self, stack: u16, field: u16) -> Option<Field> {
        let stack = &self.program.stacks[stack as usize];
        let at = usize::try_from(self.words[stack.next as usize].checked_sub(1)?).ok()?;
        let header = *stack.headers.get(at)?;
        self.program.headers[header as usize].fields.get(field as usize).copied()
    }
}

/// Sign-extends the low `width` bits.
fn sign_extend(value: u128, width: u32) -> u128 {
    if width == 0 || width >= 128 {
        return value;
    }
    let gap = 128 - width;
    ((value << gap).cast_signed() >> gap).cast_unsigned()
}

fn big_binary(op: BinaryOp, left: BigInt, right: &BigInt) -> BigInt {
    let width = || natural(right).min(WIDEST_SHIFT);
    let one = || BigInt::from(1);
    let negative = left.sign() == Sign::Minus || right.sign() == Sign::Minus;
    match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => left * right,
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::Shl => left << width(),
        BinaryOp::Shr => left >> width(),
        BinaryOp::Div | BinaryOp::Rem if negative || right.sign() == Sign::NoSign => BigInt::ZERO,
        BinaryOp::Div => left / right,
        BinaryOp::Rem => left % right,
        BinaryOp::TwoCompMod => {
            let (all, half) = (one() << width(), one() << width().saturating_sub(1));
            let low = left & (&all - 1_u8);
            if low >= half { low - all } else { low }
        }
        BinaryOp::SatCast => {
            let half = one() << width().saturating_sub(1);
            left.clamp(-half.clone(), half - 1_u8)
        }
        BinaryOp::UsatCast => left.clamp(BigInt::ZERO, (one() << width()) - 1_u8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_agree_between_the_two_ways_of_computing() {
        for value in [-200_i128, -129, -128, -1, 0, 1, 127, 128, 255, 256, 300] {
            let big = |op| big_binary(op, BigInt::from(value), &BigInt::from(8));
            assert_eq!(
                BigInt::from(sign_extend(value.cast_unsigned(), 8).cast_signed()),
                big(BinaryOp::TwoCompMod)
            );
            assert_eq!(big(BinaryOp::UsatCast), BigInt::from(value.clamp(0, 255)));
            assert_eq!(big(BinaryOp::SatCast), BigInt::from(value.clamp(-128, 127)));
        }
    }

    #[test]
    fn what_has_no_result_is_zero() {
        let big = |op, l: i32, r: i32| big_binary(op, BigInt::from(l), &BigInt::from(r));
        assert_eq!(big(BinaryOp::Div, 7, 0), BigInt::ZERO);
        assert_eq!(big(BinaryOp::Rem, 7, 0), BigInt::ZERO);
        assert_eq!(big(BinaryOp::Div, -7, 2), BigInt::ZERO);
        assert_eq!(big(BinaryOp::Shr, -7, 1), BigInt::from(-4));
    }
}
