//! Actions and their primitives, with resolved arguments.

use serde_json::Value;

use super::super::action::{Action, LogPiece, Primitive, Stack};
use super::super::expr::{Binary, BinaryOp, Expr};
use super::super::hash::HashCall;
use super::super::range;
use super::operand::{Scope, name_pair, parts, text};
use super::{Builder, Number, check_bits};
use crate::{Error, bits, json};

/// A primitive call being compiled.
struct Call<'c> {
    op: &'c str,
    args: &'c [Value],
    scope: Scope<'c>,
    place: &'c str,
}

impl<'c> Call<'c> {
    fn arg(&self, at: usize) -> Result<&'c Value, Error> {
        let missing = || Error::invalid(self.place, format!("`{}` has no argument {}", self.op, at + 1));
        self.args.get(at).ok_or_else(missing)
    }
}

impl Builder<'_> {
    /// Compiles every action.
    pub(super) fn actions(&mut self) -> Result<(), Error> {
        let document = self.document;
        for action in &document.actions {
            let compiled = self.action(action)?;
            self.action_ids.add(action.id, self.actions.len())?;
            self.actions.push(compiled);
        }
        Ok(())
    }

    fn action(&self, action: &json::Action) -> Result<Action, Error> {
        let place = format!("action `{}`", action.name);
        let (mut params, mut offsets, mut words) = (Vec::new(), Vec::new(), 0_usize);
        for param in &action.runtime_data {
            let width = check_bits(param.bitwidth, &format!("{place}, parameter `{}`", param.name))?;
            let start = u16::try_from(words).map_err(|_| too_many_params(&place, words))?;
            params.push((param.name.clone(), width));
            offsets.push(start);
            words += bits::words_for(width as usize);
        }
        let scope: Vec<(u32, u16)> =
            params.iter().map(|(_, width)| *width).zip(offsets.iter().copied()).collect();
        let primitives = self.primitives(&action.primitives, Scope::Params(&scope), &place)?;
        Ok(Action { name: action.name.clone(), params, offsets, words, primitives })
    }

    /// Compiles a list of primitive calls.
    pub(super) fn primitives(
        &self,
        calls: &[json::Primitive],
        scope: Scope,
        place: &str,
    ) -> Result<Vec<Primitive>, Error> {
        calls.iter().map(|call| self.primitive(call, scope, place)).collect()
    }

    /// Compiles one primitive call.
    pub(super) fn primitive(
        &self,
        call: &json::Primitive,
        scope: Scope,
        place: &str,
    ) -> Result<Primitive, Error> {
        let c = Call { op: &call.op, args: &call.parameters, scope, place };
        let number = |at| self.number(c.arg(at)?, scope, place);
        let destination = |at| self.destination(c.arg(at)?, scope, place);
        let header = |at| self.header_ref(c.arg(at)?, scope, place);
        Ok(match c.op {
            "assign" | "modify_field" => Primitive::Assign(destination(0)?, number(1)?),
            "assign_VL" => self.assign_variable(&c)?,
            "assign_header" | "copy_header" => Primitive::CopyHeader(header(0)?, header(1)?),
            "assign_union" => {
                let union = |at| self.union_ref(c.arg(at)?, scope, place);
                Primitive::CopyUnion(union(0)?, union(1)?)
            }
            "assign_header_stack" | "assign_union_stack" => self.assign_stack(&c)?,
            "add_header" => Primitive::AddHeader(header(0)?),
            "add_header_fast" => Primitive::ValidateHeader(header(0)?),
            "remove_header" => Primitive::RemoveHeader(header(0)?),
            "push" => Primitive::Push(self.stack_ref(c.arg(0)?, scope, place)?, number(1)?),
            "pop" => Primitive::Pop(self.stack_ref(c.arg(0)?, scope, place)?, number(1)?),
            "_jump" => Primitive::Jump(jump_target(&c, 0)?),
            "_jump_if_zero" => Primitive::JumpIfZero(number(0)?, jump_target(&c, 1)?),
            "exit" => Primitive::Exit,
            "assert" | "assume" => Primitive::Assert { value: number(0)?, text: statement(call) },
            "log_msg" => self.log_message(&c)?,
            "modify_field_rng_uniform" => Primitive::Random(destination(0)?, number(1)?, number(2)?),
            "modify_field_with_hash_based_offset" => self.hash_call(&c)?,
            "mark_to_drop" | "drop" => self.mark_to_drop(&c)?,
            "generate_digest" => Primitive::Digest(number(1)?),
            "clone_ingress_pkt_to_egress" | "clone_egress_pkt_to_egress" => {
                Primitive::Clone(number(0)?, number(1)?)
            }
            "resubmit" => Primitive::Resubmit(number(0)?),
            "recirculate" => Primitive::Recirculate(number(0)?),
            "execute_meter" => {
                let array = self.meter_names.get(named_argument(&c, 0, "meter_array")?, place)?;
                Primitive::Meter(array, number(1)?, destination(2)?)
            }
            "count" => Primitive::Count(
                self.counter_names.get(named_argument(&c, 0, "counter_array")?, place)?,
                number(1)?,
            ),
            "register_read" => {
                let array = self.register_names.get(named_argument(&c, 1, "register_array")?, place)?;
                Primitive::ReadRegister(destination(0)?, array, number(2)?)
            }
            "register_write" => {
                let array = self.register_names.get(named_argument(&c, 0, "register_array")?, place)?;
                Primitive::WriteRegister(array, number(1)?, number(2)?)
            }
            "truncate" => Primitive::Truncate(number(0)?),
            "no_op" => Primitive::Nothing,
            _ => self.arithmetic(&c)?,
        })
    }

    /// Compiles the arithmetic primitives of P4-14, in the forms `add_to_field(f, d)` and `add(f, a, b)`.
    fn arithmetic(&self, c: &Call) -> Result<Primitive, Error> {
        let two = |op| self.assign_binary(c, op, 0, 1);
        let three = |op| self.assign_binary(c, op, 1, 2);
        match c.op {
            "add_to_field" => two(BinaryOp::Add),
            "subtract_from_field" => two(BinaryOp::Sub),
            "add" => three(BinaryOp::Add),
            "subtract" => three(BinaryOp::Sub),
            "bit_xor" => three(BinaryOp::Xor),
            "bit_or" => three(BinaryOp::Or),
            "bit_and" => three(BinaryOp::And),
            "shift_left" => three(BinaryOp::Shl),
            "shift_right" => three(BinaryOp::Shr),
            other => Err(Error::invalid(c.place, format!("primitive `{other}` is not known"))),
        }
    }

    fn assign_binary(&self, c: &Call, op: BinaryOp, left: usize, right: usize) -> Result<Primitive, Error> {
        let left = self.data(c.arg(left)?, c.scope, c.place)?;
        let right = self.data(c.arg(right)?, c.scope, c.place)?;
        let expr = Expr::Binary(Box::new(Binary { op, signed: false, left, right }));
        Ok(Primitive::Assign(self.destination(c.arg(0)?, c.scope, c.place)?, range::value(expr)))
    }

    fn assign_variable(&self, c: &Call) -> Result<Primitive, Error> {
        let field = |at| {
            let (kind, value) = parts(c.arg(at)?, c.place)?;
            let value = if kind == "expression" { parts(value, c.place)?.1 } else { value };
            let field = self.field(name_pair(value, c.place)?, c.place)?;
            match field.length {
                Some(_) => Ok(field),
                None => Err(Error::invalid(c.place, "`assign_VL` needs fields of variable width")),
            }
        };
        Ok(Primitive::AssignVariable(field(0)?, field(1)?))
    }

    fn assign_stack(&self, c: &Call) -> Result<Primitive, Error> {
        let stack = |at| self.stack_ref(c.arg(at)?, c.scope, c.place);
        match (stack(0)?, stack(1)?) {
            (Stack::Headers(to), Stack::Headers(from)) => Ok(Primitive::CopyStack(to, from)),
            (Stack::Unions(to), Stack::Unions(from)) => Ok(Primitive::CopyUnionStack(to, from)),
            (Stack::Headers(_), Stack::Unions(_)) | (Stack::Unions(_), Stack::Headers(_)) => {
                Err(Error::invalid(c.place, "a stack of headers cannot be copied to one of unions"))
            }
        }
    }

    fn hash_call(&self, c: &Call) -> Result<Primitive, Error> {
        let base = self.number(c.arg(1)?, c.scope, c.place)?;
        let calculation = self.calculation_names.get(named_argument(c, 2, "calculation")?, c.place)?;
        let size = self.number(c.arg(3)?, c.scope, c.place)?;
        Ok(Primitive::Hash(
            self.destination(c.arg(0)?, c.scope, c.place)?,
            HashCall { base, calculation, size },
        ))
    }

    /// `mark_to_drop` names the metadata with the fields; `drop` of P4-14 does not.
    fn mark_to_drop(&self, c: &Call) -> Result<Primitive, Error> {
        let header = if c.args.is_empty() { "standard_metadata" } else { named_argument(c, 0, "header")? };
        let egress_spec = self.field((header, "egress_spec"), c.place)?;
        let mcast_grp = self
            .field((header, "mcast_grp"), c.place)
            .or_else(|_| self.field(("intrinsic_metadata", "mcast_grp"), c.place))
            .ok();
        Ok(Primitive::MarkToDrop { egress_spec, mcast_grp })
    }

    fn log_message(&self, c: &Call) -> Result<Primitive, Error> {
        let format = named_argument(c, 0, "string")?;
        let values = match c.args.get(1) {
            Some(json) => parts(json, c.place)?.1.as_array().map_or(&[][..], Vec::as_slice),
            None => &[],
        };
        let values: Result<Vec<Number>, Error> =
            values.iter().map(|v| self.number(v, c.scope, c.place)).collect();
        Ok(Primitive::Log(log_pieces(format, values?)))
    }
}

fn too_many_params(place: &str, words: usize) -> Error {
    let limit = u64::from(u16::MAX);
    Error::Limit {
        place: place.to_owned(),
        property: "the size of its parameters in words",
        value: words as u64,
        limit,
    }
}

/// Returns the name in an argument of a given type.
fn named_argument<'c>(c: &Call<'c>, at: usize, kind: &str) -> Result<&'c str, Error> {
    match parts(c.arg(at)?, c.place)? {
        (found, value) if found == kind => text(value, c.place),
        (found, _) => {
            let problem = format!("argument {} of `{}` is a `{found}`, not a `{kind}`", at + 1, c.op);
            Err(Error::invalid(c.place, problem))
        }
    }
}

fn jump_target(c: &Call, at: usize) -> Result<u32, Error> {
    let digits = named_argument(c, at, "hexstr")?;
    let target = bits::parse_hex(digits).and_then(|value| u32::try_from(&value).ok());
    target.ok_or_else(|| Error::invalid(c.place, format!("jump target `{digits}` is not a number")))
}

/// Returns the source statement of a primitive.
fn statement(call: &json::Primitive) -> String {
    match &call.source_info {
        Some(info) => format!("{} ({}:{})", info.source_fragment, info.filename, info.line),
        None => call.op.clone(),
    }
}

/// Splits a format string at its braces; `\{` and `\}` are literal braces.
fn log_pieces(format: &str, values: Vec<Number>) -> Vec<LogPiece> {
    let (mut pieces, mut plain, mut values) = (Vec::new(), String::new(), values.into_iter());
    let mut rest = format;
    while let Some(at) = rest.find(['{', '\\']) {
        plain.push_str(&rest[..at]);
        let tail = &rest[at..];
        if let Some(brace @ ('{' | '}')) = tail.strip_prefix('\\').and_then(|t| t.chars().next()) {
            plain.push(brace);
            rest = &tail[2..];
            continue;
        }
        let hole = tail.starts_with('{').then(|| tail.find('}')).flatten();
        if let Some((end, value)) = hole.and_then(|end| values.next().map(|value| (end, value))) {
            pieces.push(LogPiece::Text(std::mem::take(&mut plain)));
            pieces.push(LogPiece::Value(value));
            rest = &tail[end + 1..];
        } else {
            plain.push_str(&tail[..1]);
            rest = &tail[1..];
        }
    }
    plain.push_str(rest);
    pieces.push(LogPiece::Text(plain));
    pieces
}
