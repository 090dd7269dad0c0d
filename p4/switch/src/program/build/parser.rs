//! Parser states and the deparser.

use std::collections::HashMap;

use serde_json::Value;

use super::super::action::Primitive;
use super::super::expr::{Expr, Value as Number};
use super::super::parser::{Case, Key, KeyPart, Parser, ParserOp, State, Target};
use super::super::{CoreErrors, range};
use super::Builder;
use super::operand::{Scope, constant, name_pair, number_pair, parts, text};
use crate::json::{self, ParseState, Transition};
use crate::{Error, bits};

/// Name of the parser and the deparser that v1model runs.
const PARSER: &str = "parser";
const DEPARSER: &str = "deparser";

impl Builder<'_> {
    /// Compiles the parser.
    pub(super) fn parser(&self) -> Result<Parser, Error> {
        let Some(parser) = self.document.parsers.iter().find(|parser| parser.name == PARSER) else {
            return Err(Error::Missing { kind: "parser", name: PARSER });
        };
        let mut names = HashMap::new();
        for (index, state) in parser.parse_states.iter().enumerate() {
            if names.insert(state.name.as_str(), index as u32).is_some() {
                return Err(Error::Duplicate { kind: "parser state", name: state.name.clone() });
            }
        }
        let states: Result<Vec<State>, Error> =
            parser.parse_states.iter().map(|state| self.state(state, &names)).collect();
        let start = match parser.init_state.as_deref() {
            Some(name) => {
                Some(*names.get(name).ok_or_else(|| Error::unknown("parser state", name, "the parser"))?)
            }
            None => None,
        };
        Ok(Parser { states: states?, start })
    }

    fn state(&self, state: &ParseState, names: &HashMap<&str, u32>) -> Result<State, Error> {
        let place = format!("parser state `{}`", state.name);
        let ops: Result<Vec<ParserOp>, Error> =
            state.parser_ops.iter().map(|op| self.parser_op(op, &place)).collect();
        let key: Result<Vec<KeyPart>, Error> =
            state.transition_key.iter().map(|k| self.key_part(k, &place)).collect();
        let key = key?;
        let key_bytes = key.iter().map(|part| bits::bytes_for(part.bits() as usize)).sum();
        let (mut cases, mut default) = (Vec::new(), None);
        for transition in &state.transitions {
            let next = match transition.next_state.as_deref() {
                Some(name) => {
                    Some(*names.get(name).ok_or_else(|| Error::unknown("parser state", name, &place))?)
                }
                None => None,
            };
            match self.case(transition, key_bytes, next, &place)? {
                Some(case) => cases.push(case),
                None => default = next,
            }
        }
        Ok(State { ops: ops?, key, key_bytes, cases, default })
    }

    /// Compiles a transition; `None` for the default one.
    fn case(
        &self,
        t: &Transition,
        key_bytes: usize,
        next: Option<u32>,
        place: &str,
    ) -> Result<Option<Case>, Error> {
        let value = t.value.as_deref().unwrap_or("default");
        match t.kind.as_deref().unwrap_or("hexstr") {
            "default" => Ok(None),
            "hexstr" if value == "default" => Ok(None),
            "hexstr" => {
                let mask = match t.mask.as_deref() {
                    Some(mask) => key_value(mask, key_bytes, place)?,
                    None => vec![0xff; key_bytes],
                };
                let mut bytes = key_value(value, key_bytes, place)?;
                bytes.iter_mut().zip(&mask).for_each(|(byte, mask)| *byte &= mask);
                Ok(Some(Case::Value { value: key(&bytes), mask: key(&mask), next }))
            }
            "parse_vset" => {
                let set = self.value_set_names.get(value, place)?;
                let mask = match t.mask.as_deref() {
                    Some(mask) => Some(key_value(mask, key_bytes, place)?.into_boxed_slice()),
                    None => None,
                };
                Ok(Some(Case::Set { set, mask, next }))
            }
            other => Err(Error::invalid(place, format!("transition type `{other}` is not known"))),
        }
    }

    fn key_part(&self, json: &Value, place: &str) -> Result<KeyPart, Error> {
        let (kind, value) = parts(json, place)?;
        Ok(match kind {
            "field" => KeyPart::Field(self.field(name_pair(value, place)?, place)?),
            "stack_field" => {
                let (stack, name) = name_pair(value, place)?;
                let stack = self.stack_names.get(stack, place)?;
                let ty = self.stacks[stack as usize].ty;
                let field = self.field_number(ty, name, place)?;
                let bits = self.types[ty as usize].fields[field as usize].bits;
                KeyPart::StackField { stack, field, bits }
            }
            "union_stack_field" => match value.as_array().map(Vec::as_slice) {
                Some([stack, member, name]) => {
                    let (stack, member, ty) =
                        self.union_member(text(stack, place)?, text(member, place)?, place)?;
                    let field = self.field_number(ty, text(name, place)?, place)?;
                    let bits = self.types[ty as usize].fields[field as usize].bits;
                    KeyPart::UnionStackField { stack, member, field, bits }
                }
                _ => return Err(Error::invalid(place, format!("expected three names, found `{value}`"))),
            },
            "lookahead" => {
                let (offset, bits) = number_pair(value, place)?;
                super::check_bits(u64::from(bits), place)?;
                KeyPart::Lookahead { offset, bits }
            }
            other => return Err(Error::invalid(place, format!("key type `{other}` is not known"))),
        })
    }

    /// Resolves a member of a stack of unions: stack, member, type of the member.
    fn union_member(&self, stack: &str, member: &str, place: &str) -> Result<(u16, u16, u16), Error> {
        let index = self.union_stack_names.get(stack, place)?;
        let members = self.union_types.get(stack).and_then(|ty| self.union_members.get(ty));
        let at = members.and_then(|names| names.iter().position(|name| name == member));
        let first = &self.unions[self.union_stacks[index as usize].unions[0] as usize];
        match at.and_then(|at| first.headers.get(at).map(|header| (at, *header))) {
            Some((at, header)) => Ok((index, at as u16, self.headers[header as usize].ty)),
            None => Err(Error::unknown("union member", format!("{stack}.{member}"), place)),
        }
    }

    fn parser_op(&self, op: &json::ParserOp, place: &str) -> Result<ParserOp, Error> {
        let arg = |at: usize| {
            let missing = || Error::invalid(place, format!("`{}` has no parameter {}", op.op, at + 1));
            op.parameters.get(at).ok_or_else(missing)
        };
        Ok(match op.op.as_str() {
            "extract" => {
                let (target, ty) = self.target(arg(0)?, place)?;
                let ty = &self.types[ty as usize];
                let given =
                    self.document.header_types.iter().any(|t| t.name == ty.name && t.length_exp.is_some());
                if ty.variable.is_some() && !given {
                    return Err(Error::invalid(
                        place,
                        "a header of variable width is extracted without its width",
                    ));
                }
                ParserOp::Extract(target, None)
            }
            "extract_VL" => {
                let (target, ty) = self.target(arg(0)?, place)?;
                if self.types[ty as usize].variable.is_none() {
                    return Err(Error::invalid(place, "`extract_VL` of a header that has no variable field"));
                }
                ParserOp::Extract(target, Some(self.number(arg(1)?, Scope::None, place)?))
            }
            "set" => self.set(arg(0)?, arg(1)?, place)?,
            "verify" => {
                let cond = self.cond(arg(0)?, Scope::None, place)?;
                let error = match arg(1)?.as_u64() {
                    Some(code) => range::value(Expr::Const(u128::from(code))),
                    None => self.number(arg(1)?, Scope::None, place)?,
                };
                ParserOp::Verify(cond, error)
            }
            "shift" => {
                let bytes = arg(0)?.as_u64().unwrap_or(0);
                ParserOp::Advance(range::value(Expr::Const(u128::from(bytes) * 8)))
            }
            "advance" => ParserOp::Advance(self.parser_number(arg(0)?, place)?),
            "primitive" => {
                let call: json::Primitive = serde_json::from_value(arg(0)?.clone())
                    .map_err(|e| Error::invalid(place, format!("a primitive is malformed: {e}")))?;
                ParserOp::Call(vec![self.primitive(&call, Scope::None, place)?])
            }
            other => return Err(Error::invalid(place, format!("parser operation `{other}` is not known"))),
        })
    }

    /// Compiles a number. `advance` and `set` contain plain constants, whereas actions wrap them.
    fn parser_number(&self, json: &Value, place: &str) -> Result<Number, Error> {
        match parts(json, place)? {
            ("hexstr", value) => Ok(range::value(constant(value, place)?)),
            _ => self.number(json, Scope::None, place),
        }
    }

    fn target(&self, json: &Value, place: &str) -> Result<(Target, u16), Error> {
        let (kind, value) = parts(json, place)?;
        match kind {
            "regular" => {
                let header = self.header_names.get(text(value, place)?, place)?;
                Ok((Target::Header(header), self.headers[header as usize].ty))
            }
            "stack" => {
                let stack = self.stack_names.get(text(value, place)?, place)?;
                Ok((Target::Stack(stack), self.stacks[stack as usize].ty))
            }
            "union_stack" => {
                let (stack, member) = name_pair(value, place)?;
                let (stack, member, ty) = self.union_member(stack, member, place)?;
                Ok((Target::UnionStack(stack, member), ty))
            }
            other => Err(Error::invalid(place, format!("extraction into a `{other}` is not known"))),
        }
    }

    fn set(&self, dest: &Value, source: &Value, place: &str) -> Result<ParserOp, Error> {
        let (kind, value) = parts(dest, place)?;
        if kind != "field" {
            return Err(Error::invalid(place, format!("`set` writes to a `{kind}`, not a field")));
        }
        let field = self.field(name_pair(value, place)?, place)?;
        match parts(source, place)? {
            ("lookahead", value) => {
                let (offset, bits) = number_pair(value, place)?;
                super::check_bits(u64::from(bits), place)?;
                Ok(ParserOp::SetLookahead { field, offset, bits })
            }
            ("field", value) if field.length.is_some() => {
                let from = self.field(name_pair(value, place)?, place)?;
                match from.length {
                    Some(_) => Ok(ParserOp::SetVariable(field, from)),
                    None => {
                        Err(Error::invalid(place, "a field of variable width is set from one of fixed width"))
                    }
                }
            }
            _ => Ok(ParserOp::Set(field, self.parser_number(source, place)?)),
        }
    }

    /// Compiles the deparser: order and calls.
    pub(super) fn deparser(&self) -> Result<(Vec<u16>, Vec<Primitive>), Error> {
        let Some(deparser) = self.document.deparsers.iter().find(|deparser| deparser.name == DEPARSER) else {
            return Err(Error::Missing { kind: "deparser", name: DEPARSER });
        };
        let order: Result<Vec<u16>, Error> =
            deparser.order.iter().map(|name| self.header_names.get(name.as_str(), "the deparser")).collect();
        let order = order?;
        if let Some(header) = order.iter().find(|h| self.headers[**h as usize].metadata) {
            let problem = format!("metadata `{}` cannot be emitted", self.headers[*header as usize].name);
            return Err(Error::invalid("the deparser", problem));
        }
        let calls = self.primitives(&deparser.primitives, Scope::None, "the deparser")?;
        Ok((order, calls))
    }

    /// Returns the numbers of the core errors. Missing ones are numbered after the greatest in the program.
    pub(super) fn errors(&self) -> CoreErrors {
        let mut next = self.document.errors.iter().map(|(_, v)| *v).max().map_or(0, |v| v + 1);
        let mut number = |name: &str| {
            let found = self.document.errors.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
            let value = found.unwrap_or(next);
            next += i64::from(found.is_none());
            value as u32
        };
        let (no_error, packet_too_short) = (number("NoError"), number("PacketTooShort"));
        number("NoMatch");
        CoreErrors {
            no_error,
            packet_too_short,
            stack_out_of_bounds: number("StackOutOfBounds"),
            header_too_short: number("HeaderTooShort"),
            parser_timeout: number("ParserTimeout"),
            parser_invalid_argument: number("ParserInvalidArgument"),
        }
    }
}

fn key_value(text: &str, key_bytes: usize, place: &str) -> Result<Vec<u8>, Error> {
    let bytes = bits::parse_hex_bytes(text)
        .ok_or_else(|| Error::invalid(place, format!("`{text}` is not a hexadecimal number")))?;
    if bytes.len() != key_bytes {
        let problem = format!("transition value `{text}` has {} bytes, the key has {key_bytes}", bytes.len());
        return Err(Error::invalid(place, problem));
    }
    Ok(bytes)
}

fn key(bytes: &[u8]) -> Key {
    if bytes.len() > 16 {
        return Key::Long(bytes.into());
    }
    Key::Short(bytes.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte)))
}
