//! Type checking: resolves every name, and checks that every comparison has comparable operands.
//!
//! A number is converted to the type of the other operand: bits of a width, or a match on the complete value.

use std::fmt;

use super::number::Number;
use super::parser::{Comparison, Expression, Form};
use super::{Kind, Names, RestrictionError};
use crate::value::Width;

/// Kind of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Bool,
    /// A number of any size.
    Int,
    /// Text in quotes.
    Text,
    /// A number of a width.
    Bits(Width),
    Exact(Width),
    Ternary(Width),
    Optional(Width),
    Lpm(Width),
    Range(Width),
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Bool => f.write_str("a truth value"),
            Type::Int => f.write_str("a number"),
            Type::Text => f.write_str("text"),
            Type::Bits(width) => write!(f, "{width}"),
            Type::Exact(width) => write!(f, "an exact match on {width}"),
            Type::Ternary(width) => write!(f, "a ternary match on {width}"),
            Type::Optional(width) => write!(f, "an optional match on {width}"),
            Type::Lpm(width) => write!(f, "a longest prefix match on {width}"),
            Type::Range(width) => write!(f, "a range match on {width}"),
        }
    }
}

impl Type {
    fn width(self) -> Option<Width> {
        match self {
            Type::Bool | Type::Int | Type::Text => None,
            Type::Bits(width)
            | Type::Exact(width)
            | Type::Ternary(width)
            | Type::Optional(width)
            | Type::Lpm(width)
            | Type::Range(width) => Some(width),
        }
    }

    /// Returns whether a value of another type can be converted to this one.
    fn accepts(self, other: Type) -> bool {
        match (self.width(), other) {
            (Some(_), Type::Int) => true,
            (Some(width), Type::Text) => width == Width::Text,
            (Some(width), Type::Bits(of)) => width == of,
            _ => false,
        }
    }

    fn has_order(self) -> bool {
        matches!(self, Type::Int | Type::Bits(_) | Type::Exact(_))
    }
}

/// A part of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchPart {
    /// The value, or the low end of a range.
    First,
    /// The mask, the length of the prefix, or the high end of a range.
    Second,
}

/// An expression that can be evaluated.
#[derive(Debug, Clone)]
pub(super) enum TypedExpression {
    Bool(bool),
    Number(Number<'static>),
    /// A field or a parameter, by its position.
    Given(usize),
    Priority,
    Part(Box<TypedExpression>, MatchPart),
    Not(Box<TypedExpression>),
    Minus(Box<TypedExpression>),
    /// A number converted to bits of a width.
    Wrapped(Box<TypedExpression>, Width),
    /// A number converted to a match on it.
    Matched(Box<TypedExpression>, Type),
    All(Vec<TypedExpression>),
    Any(Vec<TypedExpression>),
    Implies(Box<TypedExpression>, Box<TypedExpression>),
    Compare(Comparison, Box<TypedExpression>, Box<TypedExpression>),
}

/// Adds types to a clause.
pub(super) fn check(
    source: &str,
    names: Names<'_>,
    clause: Expression,
) -> Result<TypedExpression, RestrictionError> {
    Checker { source, names }.truth(clause)
}

struct Checker<'s> {
    source: &'s str,
    names: Names<'s>,
}

type CheckResult<T> = Result<T, RestrictionError>;

impl Checker<'_> {
    fn wrong<T>(&self, place: usize, problem: impl Into<String>) -> CheckResult<T> {
        Err(RestrictionError::at(self.source, place, problem))
    }

    fn truth(&self, expression: Expression) -> CheckResult<TypedExpression> {
        let place = expression.place.start;
        match self.infer(expression)? {
            (typed, Type::Bool) => Ok(typed),
            (_, other) => self.wrong(place, format!("this is {other}, but it should be {}", Type::Bool)),
        }
    }

    fn all(&self, expressions: Vec<Expression>) -> CheckResult<Vec<TypedExpression>> {
        expressions.into_iter().map(|expression| self.truth(expression)).collect()
    }

    fn infer(&self, expression: Expression) -> CheckResult<(TypedExpression, Type)> {
        let start = expression.place.start;
        Ok(match expression.form {
            Form::Bool(value) => (TypedExpression::Bool(value), Type::Bool),
            Form::Number(number) => (TypedExpression::Number(number), Type::Int),
            Form::Text(text) => {
                (TypedExpression::Number(Number::from_bytes(text.as_bytes()).into_owned()), Type::Text)
            }
            Form::Name(name) => self.name(start, &name)?,
            Form::Attribute(name) => match (name.as_str(), self.names.of_table) {
                ("priority", true) => (TypedExpression::Priority, Type::Int),
                _ => return self.wrong(start, format!("there is no attribute `::{name}` here")),
            },
            Form::Part(whole, part) => {
                let (whole, of) = self.infer(*whole)?;
                let (part, of) = self.part(start, of, &part)?;
                (TypedExpression::Part(Box::new(whole), part), of)
            }
            Form::Not(inner) => (TypedExpression::Not(Box::new(self.truth(*inner)?)), Type::Bool),
            Form::Minus(inner) => match self.infer(*inner)? {
                (TypedExpression::Number(number), Type::Int) => {
                    (TypedExpression::Number(number.negate()), Type::Int)
                }
                (inner, Type::Int) => (TypedExpression::Minus(Box::new(inner)), Type::Int),
                (_, other) => return self.wrong(start, format!("`-` takes a number, but this is {other}")),
            },
            Form::All(parts) => (TypedExpression::All(self.all(parts)?), Type::Bool),
            Form::Any(parts) => (TypedExpression::Any(self.all(parts)?), Type::Bool),
            Form::Implies(left, right) => {
                let (left, right) = (self.truth(*left)?, self.truth(*right)?);
                (TypedExpression::Implies(Box::new(left), Box::new(right)), Type::Bool)
            }
            Form::Compare(how, left, right) => {
                let (left, left_type) = self.infer(*left)?;
                let (right, right_type) = self.infer(*right)?;
                let (left, right, of) = self.unify(start, (left, left_type), (right, right_type))?;
                if !of.has_order() && !matches!(how, Comparison::Equal | Comparison::Unequal) {
                    return self.wrong(start, format!("{of} has no order: compare it with `==` or `!=`"));
                }
                (TypedExpression::Compare(how, Box::new(left), Box::new(right)), Type::Bool)
            }
        })
    }

    fn name(&self, place: usize, name: &str) -> CheckResult<(TypedExpression, Type)> {
        let Some(at) = self.names.operands.iter().position(|operand| operand.name == name) else {
            let (whole, part) =
                if self.names.of_table { ("table", "field") } else { ("action", "parameter") };
            return self.wrong(place, format!("the {whole} has no {part} `{name}`"));
        };
        let width = self.names.operands[at].width;
        let of = match self.names.operands[at].kind {
            Kind::Exact => Type::Exact(width),
            Kind::Ternary => Type::Ternary(width),
            Kind::Optional => Type::Optional(width),
            Kind::Lpm => Type::Lpm(width),
            Kind::Range => Type::Range(width),
            Kind::Param => Type::Bits(width),
            Kind::Other => {
                return self
                    .wrong(place, format!("`{name}` has a match kind that restrictions do not support"));
            }
        };
        Ok((TypedExpression::Given(at), of))
    }

    fn part(&self, place: usize, of: Type, part: &str) -> CheckResult<(MatchPart, Type)> {
        Ok(match (of, part) {
            (
                Type::Exact(width) | Type::Ternary(width) | Type::Optional(width) | Type::Lpm(width),
                "value",
            )
            | (Type::Range(width), "low") => (MatchPart::First, Type::Bits(width)),
            (Type::Ternary(width) | Type::Optional(width), "mask") | (Type::Range(width), "high") => {
                (MatchPart::Second, Type::Bits(width))
            }
            (Type::Lpm(_), "prefix_length") => (MatchPart::Second, Type::Int),
            _ => return self.wrong(place, format!("{of} has no part `::{part}`")),
        })
    }

    /// Converts both sides of a comparison to the same type.
    fn unify(
        &self,
        place: usize,
        (left, left_type): (TypedExpression, Type),
        (right, right_type): (TypedExpression, Type),
    ) -> CheckResult<(TypedExpression, TypedExpression, Type)> {
        if left_type == right_type {
            Ok((left, right, left_type))
        } else if left_type.accepts(right_type) {
            Ok((left, cast(right, right_type, left_type), left_type))
        } else if right_type.accepts(left_type) {
            Ok((cast(left, left_type, right_type), right, right_type))
        } else {
            self.wrong(place, format!("{left_type} and {right_type} cannot be compared"))
        }
    }
}

/// Converts a number, text or bits to the type of the other operand.
fn cast(value: TypedExpression, from: Type, to: Type) -> TypedExpression {
    let bits = match (value, from, to.width()) {
        (TypedExpression::Number(number), Type::Int, Some(Width::Bits(width))) => {
            TypedExpression::Number(number.wrap(width))
        }
        (value, Type::Int, Some(width @ Width::Bits(_))) => TypedExpression::Wrapped(Box::new(value), width),
        (value, ..) => value,
    };
    match to {
        Type::Bool | Type::Int | Type::Text | Type::Bits(_) => bits,
        Type::Exact(_) | Type::Ternary(_) | Type::Optional(_) | Type::Lpm(_) | Type::Range(_) => {
            TypedExpression::Matched(Box::new(bits), to)
        }
    }
}
