//! Evaluates a clause for an entry or a call.

use std::cmp::Ordering;

use super::number::Number;
use super::parser::Comparison;
use super::types::{MatchPart, Type, TypedExpression};
use super::{Kind, Operand};
use crate::proto::v1;
use crate::value::Width;
use v1::field_match::FieldMatchType;

/// Value of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Result<'r> {
    Bool(bool),
    Number(Number<'r>),
    /// A match with two parts: value and mask, value and prefix length, low and high end.
    Pair(Number<'r>, Number<'r>),
}

/// The source of the values.
pub(super) trait ValueSource {
    /// Returns the value of a field or a parameter by its position.
    fn value(&self, place: usize) -> Result<'_>;

    /// Returns the priority.
    fn priority(&self) -> i32;
}

/// A table entry.
pub(super) struct Entry<'e> {
    pub(super) fields: &'e [Operand],
    pub(super) entry: &'e v1::TableEntry,
}

/// A call of an action.
pub(super) struct Call<'c> {
    pub(super) params: &'c [Operand],
    pub(super) call: &'c v1::Action,
}

/// Returns the mask of a match on a complete value. Text has no width, so its mask is -1, which has all bits set.
fn full_mask(width: Width) -> Number<'static> {
    match width {
        Width::Bits(bits) => Number::all_ones(bits),
        Width::Text => Number::minus_one(),
    }
}

impl ValueSource for Entry<'_> {
    fn value(&self, place: usize) -> Result<'_> {
        let Some(field) = self.fields.get(place) else { return Result::Bool(false) };
        let found = self.entry.r#match.iter().find(|found| found.field_id == field.id);
        let number = |bytes| Number::from_bytes(bytes);
        match (found.and_then(|found| found.field_match_type.as_ref()), field.kind) {
            (Some(FieldMatchType::Exact(exact)), _) => Result::Number(number(&exact.value)),
            (Some(FieldMatchType::Ternary(ternary)), _) => {
                Result::Pair(number(&ternary.value), number(&ternary.mask))
            }
            (Some(FieldMatchType::Optional(optional)), _) => {
                Result::Pair(number(&optional.value), full_mask(field.width))
            }
            (Some(FieldMatchType::Lpm(lpm)), _) => {
                Result::Pair(number(&lpm.value), i64::from(lpm.prefix_len).into())
            }
            (Some(FieldMatchType::Range(range)), _) => Result::Pair(number(&range.low), number(&range.high)),
            (None, Kind::Range) => Result::Pair(Number::default(), full_mask(field.width)),
            (None, Kind::Exact) => Result::Number(Number::default()),
            (Some(FieldMatchType::Other(_)) | None, _) => Result::Pair(Number::default(), Number::default()),
        }
    }

    fn priority(&self) -> i32 {
        self.entry.priority
    }
}

impl ValueSource for Call<'_> {
    fn value(&self, place: usize) -> Result<'_> {
        let id = self.params.get(place).map(|param| param.id);
        let argument = self.call.params.iter().find(|argument| Some(argument.param_id) == id);
        Result::Number(argument.map_or_else(Number::default, |argument| Number::from_bytes(&argument.value)))
    }

    fn priority(&self) -> i32 {
        0
    }
}

/// Returns whether a clause holds.
pub(super) fn holds(expression: &TypedExpression, given: &dyn ValueSource) -> bool {
    evaluate(expression, given) == Result::Bool(true)
}

fn evaluate<'r>(expression: &'r TypedExpression, given: &'r dyn ValueSource) -> Result<'r> {
    match expression {
        TypedExpression::Bool(value) => Result::Bool(*value),
        TypedExpression::Number(number) => Result::Number(number.clone()),
        TypedExpression::Given(place) => given.value(*place),
        TypedExpression::Priority => Result::Number(i64::from(given.priority()).into()),
        TypedExpression::Part(whole, part) => match (evaluate(whole, given), part) {
            (Result::Pair(first, _), MatchPart::First) => Result::Number(first),
            (Result::Pair(_, second), MatchPart::Second) => Result::Number(second),
            (single, _) => single,
        },
        TypedExpression::Not(inner) => Result::Bool(!holds(inner, given)),
        TypedExpression::Minus(inner) => Result::Number(number(inner, given).negate()),
        TypedExpression::Wrapped(inner, width) => Result::Number(number(inner, given).wrap(width.bits())),
        TypedExpression::Matched(inner, of) => matched(number(inner, given), *of),
        TypedExpression::All(parts) => Result::Bool(parts.iter().all(|part| holds(part, given))),
        TypedExpression::Any(parts) => Result::Bool(parts.iter().any(|part| holds(part, given))),
        TypedExpression::Implies(left, right) => Result::Bool(!holds(left, given) || holds(right, given)),
        TypedExpression::Compare(how, left, right) => {
            let (left, right) = (evaluate(left, given), evaluate(right, given));
            Result::Bool(compare(*how, &left, &right))
        }
    }
}

/// Returns the value of an expression of a numeric type.
fn number<'r>(expression: &'r TypedExpression, given: &'r dyn ValueSource) -> Number<'r> {
    match evaluate(expression, given) {
        Result::Number(number) | Result::Pair(number, _) => number,
        Result::Bool(_) => Number::default(),
    }
}

fn matched(value: Number<'_>, of: Type) -> Result<'_> {
    match of {
        Type::Ternary(width) | Type::Optional(width) => Result::Pair(value, full_mask(width)),
        Type::Lpm(width) => Result::Pair(value, i64::from(width.bits()).into()),
        Type::Range(_) => Result::Pair(value.clone(), value),
        Type::Bool | Type::Int | Type::Text | Type::Bits(_) | Type::Exact(_) => Result::Number(value),
    }
}

fn compare(how: Comparison, left: &Result<'_>, right: &Result<'_>) -> bool {
    let order = match (left, right) {
        (Result::Number(left), Result::Number(right)) => left.compare(right),
        // Values without an order are compared only for equality.
        (left, right) if left == right => Ordering::Equal,
        _ => Ordering::Less,
    };
    match how {
        Comparison::Equal => order.is_eq(),
        Comparison::Unequal => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}
