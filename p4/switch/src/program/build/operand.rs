//! Expressions and operands: `{"type": ..., "value": ...}` in all its forms.

use serde_json::Value;

use super::super::expr::{Binary, BinaryOp, BoolOp, Compare, Cond, Expr, HeaderRef, UnionRef};
use super::super::field::Field;
use super::super::{Destination, StackRef, range};
use super::{Builder, Number};
use crate::{Error, bits};

/// Context of `local` and `runtime_data`.
#[derive(Clone, Copy)]
pub(super) enum Scope<'s> {
    /// Parameters do not exist here.
    None,
    /// Parameters of an action: width and first word of each.
    Params(&'s [(u32, u16)]),
    /// Fields of a header instance.
    Fields(u16),
}

/// An operand of any type.
pub(super) enum Operand {
    /// A number.
    Data(Expr),
    /// A truth value.
    Bool(Cond),
    Header(HeaderRef),
    /// A header stack.
    Stack(u16),
    Union(UnionRef),
    /// A stack of unions.
    UnionStack(u16),
}

impl Operand {
    fn kind(&self) -> &'static str {
        match self {
            Self::Data(_) => "a number",
            Self::Bool(_) => "a truth value",
            Self::Header(_) => "a header",
            Self::Stack(_) => "a header stack",
            Self::Union(_) => "a header union",
            Self::UnionStack(_) => "a stack of header unions",
        }
    }
}

/// Splits an operand into its type and value.
pub(super) fn parts<'v>(json: &'v Value, place: &str) -> Result<(&'v str, &'v Value), Error> {
    let kind = json.get("type").and_then(Value::as_str);
    match (kind, json.get("value")) {
        (Some(kind), Some(value)) => Ok((kind, value)),
        _ => Err(Error::invalid(place, "an operand has no `type` and `value`")),
    }
}

/// Returns a value that must be a string.
pub(super) fn text<'v>(json: &'v Value, place: &str) -> Result<&'v str, Error> {
    json.as_str().ok_or_else(|| Error::invalid(place, format!("expected a name, found `{json}`")))
}

/// Returns a value that must be a list of two names.
pub(super) fn name_pair<'v>(json: &'v Value, place: &str) -> Result<(&'v str, &'v str), Error> {
    match json.as_array().map(Vec::as_slice) {
        Some([first, second]) => Ok((text(first, place)?, text(second, place)?)),
        _ => Err(Error::invalid(place, format!("expected two names, found `{json}`"))),
    }
}

/// Returns a value that must be a list of two numbers.
pub(super) fn number_pair(json: &Value, place: &str) -> Result<(u32, u32), Error> {
    let number = |v: &Value| v.as_u64().and_then(|n| u32::try_from(n).ok());
    match json.as_array().map(Vec::as_slice) {
        Some([first, second]) => number(first).zip(number(second)),
        _ => None,
    }
    .ok_or_else(|| Error::invalid(place, format!("expected two numbers, found `{json}`")))
}

/// Returns a hexadecimal constant.
pub(super) fn constant(json: &Value, place: &str) -> Result<Expr, Error> {
    let digits = text(json, place)?;
    let value = bits::parse_hex(digits)
        .ok_or_else(|| Error::invalid(place, format!("`{digits}` is not a hexadecimal number")))?;
    Ok(Expr::constant(value))
}

/// Converts a field to an expression.
pub(super) fn field_expr(field: Field) -> Expr {
    match (field.words, field.signed, field.length) {
        (1, false, None) => Expr::Word(field.word),
        (2, false, None) => Expr::Pair(field.word),
        _ => Expr::Field(field),
    }
}

impl Builder<'_> {
    /// Resolves a header and field name, including the architecture's aliases.
    pub(super) fn field(&self, (header, field): (&str, &str), place: &str) -> Result<Field, Error> {
        match self.aliases.get(&(header.to_owned(), field.to_owned())) {
            Some((h, f)) => self.plain_field((h, f), place),
            None => self.plain_field((header, field), place),
        }
    }

    fn plain_field(&self, (header, field): (&str, &str), place: &str) -> Result<Field, Error> {
        let index = self.header_names.get(header, place)?;
        let instance = &self.headers[index as usize];
        if field == "$valid$" {
            return Ok(instance.valid_field(index));
        }
        let at = self.field_number(instance.ty, field, place)?;
        Ok(instance.fields[at as usize])
    }

    /// Returns the number of a field in a type.
    pub(super) fn field_number(&self, ty: u16, field: &str, place: &str) -> Result<u16, Error> {
        let ty = &self.types[ty as usize];
        let at = ty.fields.iter().position(|f| f.name == field);
        at.map(|at| at as u16).ok_or_else(|| Error::unknown("field", format!("{}.{field}", ty.name), place))
    }

    /// Compiles an operand that must be a number.
    pub(super) fn data(&self, json: &Value, scope: Scope, place: &str) -> Result<Expr, Error> {
        match self.operand(json, scope, place)? {
            Operand::Data(expr) => Ok(expr),
            other => Err(Error::invalid(place, format!("expected a number, found {}", other.kind()))),
        }
    }

    /// Compiles an operand that must be a number, and decides how to evaluate it.
    pub(super) fn number(&self, json: &Value, scope: Scope, place: &str) -> Result<Number, Error> {
        Ok(range::value(self.data(json, scope, place)?))
    }

    /// Compiles an operand that must be a truth value.
    pub(super) fn cond(&self, json: &Value, scope: Scope, place: &str) -> Result<Cond, Error> {
        match self.operand(json, scope, place)? {
            Operand::Bool(cond) => Ok(cond),
            other => Err(Error::invalid(place, format!("expected a truth value, found {}", other.kind()))),
        }
    }

    /// Compiles an operand that must be a header.
    pub(super) fn header_ref(&self, json: &Value, scope: Scope, place: &str) -> Result<HeaderRef, Error> {
        match self.operand(json, scope, place)? {
            Operand::Header(header) => Ok(header),
            other => Err(Error::invalid(place, format!("expected a header, found {}", other.kind()))),
        }
    }

    /// Compiles an operand that must be a union.
    pub(super) fn union_ref(&self, json: &Value, scope: Scope, place: &str) -> Result<UnionRef, Error> {
        match self.operand(json, scope, place)? {
            Operand::Union(union) => Ok(union),
            other => Err(Error::invalid(place, format!("expected a header union, found {}", other.kind()))),
        }
    }

    /// Compiles an operand that must be a stack.
    pub(super) fn stack_ref(&self, json: &Value, scope: Scope, place: &str) -> Result<StackRef, Error> {
        match self.operand(json, scope, place)? {
            Operand::Stack(stack) => Ok(StackRef::Headers(stack)),
            Operand::UnionStack(stack) => Ok(StackRef::Unions(stack)),
            other => Err(Error::invalid(place, format!("expected a stack, found {}", other.kind()))),
        }
    }

    /// Compiles a destination operand.
    pub(super) fn destination(&self, json: &Value, scope: Scope, place: &str) -> Result<Destination, Error> {
        let (kind, value) = parts(json, place)?;
        match kind {
            "field" => Ok(Destination::Field(self.field(name_pair(value, place)?, place)?)),
            "stack_field" => {
                let (stack, field) = self.stack_field(value, place)?;
                Ok(Destination::StackLast(stack, field))
            }
            "register" => {
                let (array, index) = self.register_cell(value, scope, place)?;
                Ok(Destination::Register(array, index))
            }
            "expression" if value.get("op").is_none() => self.destination(value, scope, place),
            "expression" if value.get("op").and_then(Value::as_str) == Some("access_field") => {
                let (header, field, _) = self.access_field(value, scope, place)?;
                Ok(Destination::Member(header, field))
            }
            other => Err(Error::invalid(place, format!("an operand of type `{other}` cannot be written to"))),
        }
    }

    /// Compiles any operand.
    pub(super) fn operand(&self, json: &Value, scope: Scope, place: &str) -> Result<Operand, Error> {
        let (kind, value) = parts(json, place)?;
        Ok(match kind {
            "field" => Operand::Data(field_expr(self.field(name_pair(value, place)?, place)?)),
            "hexstr" => Operand::Data(constant(value, place)?),
            "bool" => Operand::Bool(Cond::Const(value.as_bool().unwrap_or(false))),
            "local" | "runtime_data" => Operand::Data(self.local(value, scope, place)?),
            "register" => {
                let (array, index) = self.register_cell(value, scope, place)?;
                let bits = self.registers[array as usize].bits;
                Operand::Data(Expr::Register { array, bits, index: Box::new(index) })
            }
            "stack_field" => {
                let (stack, field) = self.stack_field(value, place)?;
                let ty = self.stacks[stack as usize].ty as usize;
                let spec = &self.types[ty].fields[field as usize];
                Operand::Data(Expr::StackLast { stack, field, bits: spec.bits, signed: spec.signed })
            }
            "header" => Operand::Header(HeaderRef::Fixed(self.header_names.get(text(value, place)?, place)?)),
            "header_stack" => Operand::Stack(self.stack_names.get(text(value, place)?, place)?),
            "header_union" => {
                Operand::Union(UnionRef::Fixed(self.union_names.get(text(value, place)?, place)?))
            }
            "header_union_stack" => {
                Operand::UnionStack(self.union_stack_names.get(text(value, place)?, place)?)
            }
            "expression" if value.get("op").is_some() => self.operation(value, scope, place)?,
            "expression" => self.operand(value, scope, place)?,
            other => return Err(Error::invalid(place, format!("operand type `{other}` is not known"))),
        })
    }

    fn local(&self, json: &Value, scope: Scope, place: &str) -> Result<Expr, Error> {
        let missing = || Error::invalid(place, format!("parameter {json} does not exist"));
        let at = json.as_u64().and_then(|n| usize::try_from(n).ok()).ok_or_else(missing)?;
        match scope {
            Scope::None => Err(missing()),
            Scope::Params(params) => {
                let (bits, word) = *params.get(at).ok_or_else(missing)?;
                Ok(Expr::Param { word, words: bits::words_for(bits as usize) as u16, bits })
            }
            Scope::Fields(header) => {
                let fields = &self.headers[header as usize].fields;
                fields.get(at).copied().map(field_expr).ok_or_else(missing)
            }
        }
    }

    fn stack_field(&self, json: &Value, place: &str) -> Result<(u16, u16), Error> {
        let (stack, field) = name_pair(json, place)?;
        let stack = self.stack_names.get(stack, place)?;
        let number = self.field_number(self.stacks[stack as usize].ty, field, place)?;
        Ok((stack, number))
    }

    fn register_cell(&self, json: &Value, scope: Scope, place: &str) -> Result<(u16, Number), Error> {
        match json.as_array().map(Vec::as_slice) {
            Some([array, index]) => {
                let array = self.register_names.get(text(array, place)?, place)?;
                Ok((array, self.number(index, scope, place)?))
            }
            _ => Err(Error::invalid(place, format!("expected a register and an index, found `{json}`"))),
        }
    }

    fn operation(&self, json: &Value, scope: Scope, place: &str) -> Result<Operand, Error> {
        let op = json.get("op").and_then(Value::as_str).unwrap_or_default();
        let left = json.get("left").unwrap_or(&Value::Null);
        let right = json.get("right").unwrap_or(&Value::Null);
        let number = |json| self.data(json, scope, place);
        Ok(match op {
            "access_field" => {
                let (header, field, (bits, signed)) = self.access_field(json, scope, place)?;
                Operand::Data(Expr::Member { header, field, bits, signed })
            }
            "access_union_header" => Operand::Header(self.access_member(left, right, scope, place)?),
            "dereference_header_stack" | "dereference_stack" | "dereference_union_stack" => {
                self.dereference(left, right, scope, place)?
            }
            "last_stack_index" | "size_stack" => {
                let word = self.stack_counter(right, scope, place)?;
                Operand::Data(if op == "size_stack" { Expr::StackSize(word) } else { Expr::LastIndex(word) })
            }
            "?" => self.ternary(json, left, right, scope, place)?,
            "==" | "!=" => Operand::Bool(self.equality(op == "!=", left, right, scope, place)?),
            "d2b" => Operand::Bool(not_zero(number(right)?)),
            "b2d" => Operand::Data(Expr::FromBool(Box::new(self.cond(right, scope, place)?))),
            "not" => Operand::Bool(Cond::Not(Box::new(self.cond(right, scope, place)?))),
            "and" | "or" => {
                let pair = (self.cond(left, scope, place)?, self.cond(right, scope, place)?);
                Operand::Bool(Cond::Pair(if op == "and" { BoolOp::And } else { BoolOp::Or }, Box::new(pair)))
            }
            "valid" => Operand::Bool(Cond::Valid(self.header_ref(right, scope, place)?)),
            "valid_union" => Operand::Bool(Cond::ValidUnion(self.union_ref(right, scope, place)?)),
            "~" => Operand::Data(Expr::Not(Box::new(number(right)?))),
            "+" | "-" if left.is_null() => {
                let op = if op == "+" { BinaryOp::Add } else { BinaryOp::Sub };
                Operand::Data(binary(op, Expr::Const(0), number(right)?))
            }
            _ => match (comparison(op), operator(op)) {
                (Some(op), _) => {
                    let pair = range::comparison(op, number(left)?, number(right)?);
                    Operand::Bool(Cond::Compare(Box::new(pair)))
                }
                (None, Some(op)) => Operand::Data(binary(op, number(left)?, number(right)?)),
                (None, None) => return Err(Error::invalid(place, format!("operator `{op}` is not known"))),
            },
        })
    }

    /// Resolves `access_field`: the header, the field's number, and its width and sign.
    fn access_field(
        &self,
        json: &Value,
        scope: Scope,
        place: &str,
    ) -> Result<(HeaderRef, u16, (u32, bool)), Error> {
        let left = json.get("left").unwrap_or(&Value::Null);
        let header = self.header_ref(left, scope, place)?;
        let ty = &self.types[self.type_of(&header) as usize];
        let at = json.get("right").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        match at.and_then(|at| ty.fields.get(at).map(|spec| (at, spec))) {
            Some((at, spec)) => Ok((header, at as u16, (spec.bits, spec.signed))),
            None => {
                Err(Error::invalid(place, format!("header type `{}` has no field of that number", ty.name)))
            }
        }
    }

    fn type_of(&self, header: &HeaderRef) -> u16 {
        match header {
            HeaderRef::Fixed(header) => self.headers[*header as usize].ty,
            HeaderRef::Element(stack, _) => self.stacks[*stack as usize].ty,
            HeaderRef::Member(union, member) => {
                let union = match **union {
                    UnionRef::Fixed(union) => union,
                    UnionRef::Element(stack, _) => self.union_stacks[stack as usize].unions[0],
                };
                let header = self.unions[union as usize].headers[*member as usize];
                self.headers[header as usize].ty
            }
        }
    }

    fn access_member(
        &self,
        left: &Value,
        right: &Value,
        scope: Scope,
        place: &str,
    ) -> Result<HeaderRef, Error> {
        let union = self.union_ref(left, scope, place)?;
        let first = match union {
            UnionRef::Fixed(union) => union,
            UnionRef::Element(stack, _) => self.union_stacks[stack as usize].unions[0],
        };
        let members = self.unions[first as usize].headers.len() as u64;
        match right.as_u64() {
            Some(member) if member < members => Ok(HeaderRef::Member(Box::new(union), member as u16)),
            Some(_) | None => Err(Error::invalid(place, format!("the union has no member {right}"))),
        }
    }

    fn dereference(&self, left: &Value, right: &Value, scope: Scope, place: &str) -> Result<Operand, Error> {
        let index = Box::new(self.number(right, scope, place)?);
        match self.operand(left, scope, place)? {
            Operand::Stack(stack) => Ok(Operand::Header(HeaderRef::Element(stack, index))),
            Operand::UnionStack(stack) => Ok(Operand::Union(UnionRef::Element(stack, index))),
            other => Err(Error::invalid(place, format!("expected a stack, found {}", other.kind()))),
        }
    }

    fn stack_counter(&self, json: &Value, scope: Scope, place: &str) -> Result<u32, Error> {
        match self.stack_ref(json, scope, place)? {
            StackRef::Headers(stack) => Ok(self.stacks[stack as usize].next),
            StackRef::Unions(stack) => Ok(self.union_stacks[stack as usize].next),
        }
    }

    fn ternary(
        &self,
        json: &Value,
        left: &Value,
        right: &Value,
        scope: Scope,
        place: &str,
    ) -> Result<Operand, Error> {
        let cond = self.cond(json.get("cond").unwrap_or(&Value::Null), scope, place)?;
        match (self.operand(left, scope, place)?, self.operand(right, scope, place)?) {
            (Operand::Data(l), Operand::Data(r)) => Ok(Operand::Data(Expr::Select(Box::new((cond, l, r))))),
            (Operand::Bool(l), Operand::Bool(r)) => {
                let number = |cond| Expr::FromBool(Box::new(cond));
                let select = Expr::Select(Box::new((cond, number(l), number(r))));
                Ok(Operand::Bool(not_zero(select)))
            }
            (l, r) => {
                let problem = format!("the branches of `?` are {} and {}", l.kind(), r.kind());
                Err(Error::invalid(place, problem))
            }
        }
    }

    fn equality(
        &self,
        differ: bool,
        left: &Value,
        right: &Value,
        scope: Scope,
        place: &str,
    ) -> Result<Cond, Error> {
        match (self.operand(left, scope, place)?, self.operand(right, scope, place)?) {
            (Operand::Data(l), Operand::Data(r)) => {
                let op = if differ { Compare::NotEqual } else { Compare::Equal };
                Ok(Cond::Compare(Box::new(range::comparison(op, l, r))))
            }
            (Operand::Bool(l), Operand::Bool(r)) => {
                Ok(Cond::Pair(if differ { BoolOp::Differ } else { BoolOp::Same }, Box::new((l, r))))
            }
            (Operand::Header(l), Operand::Header(r)) => Ok(Cond::SameHeader(differ, Box::new((l, r)))),
            (Operand::Union(l), Operand::Union(r)) => Ok(Cond::SameUnion(differ, Box::new((l, r)))),
            (l, r) => {
                Err(Error::invalid(place, format!("{} cannot be compared with {}", l.kind(), r.kind())))
            }
        }
    }
}

/// Converts a number to a condition; a word of the packet needs no evaluation.
fn not_zero(expr: Expr) -> Cond {
    match expr {
        Expr::Word(word) => Cond::Word(word),
        other => Cond::NotZero(Box::new(range::value(other))),
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary(Box::new(Binary { op, signed: false, left, right }))
}

fn comparison(op: &str) -> Option<Compare> {
    Some(match op {
        "<" => Compare::Less,
        "<=" => Compare::LessOrEqual,
        ">" => Compare::Greater,
        ">=" => Compare::GreaterOrEqual,
        _ => return None,
    })
}

fn operator(op: &str) -> Option<BinaryOp> {
    Some(match op {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::Div,
        "%" => BinaryOp::Rem,
        "<<" => BinaryOp::Shl,
        ">>" => BinaryOp::Shr,
        "&" => BinaryOp::And,
        "|" => BinaryOp::Or,
        "^" => BinaryOp::Xor,
        "two_comp_mod" => BinaryOp::TwoCompMod,
        "sat_cast" => BinaryOp::SatCast,
        "usat_cast" => BinaryOp::UsatCast,
        _ => return None,
    })
}
