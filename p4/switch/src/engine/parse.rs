//! Runs the parser: bytes into headers.

use num_bigint::{BigInt, Sign};

use super::frame::{Frame, load, raw_words, store};
use crate::bits;
use crate::program::{
    Case, Codec, Field, Group, HeaderType, Key, KeyPart, ParserOp, State, Target, Value, get_bits,
};
use crate::state::ValueSet;

/// Maximum number of states per packet. A parser with a loop that does not read must not block the switch.
const MOST_STATES: usize = 1 << 16;

/// Why parsing ended early: a parser error number.
struct Stop(u32);

impl Frame<'_> {
    /// Parses a packet; returns how many bytes belong to headers.
    pub(crate) fn parse(&mut self, data: &[u8], sets: &[ValueSet]) -> usize {
        self.packet.error = self.program.errors.no_error;
        self.packet.checksum_error = false;
        let parser = &self.program.parser;
        let (mut state, mut at) = (parser.start, 0);
        for _ in 0..MOST_STATES {
            let Some(number) = state else { return at };
            let found = &parser.states[number as usize];
            state = match self.state(found, data, &mut at, sets) {
                Ok(next) => next,
                Err(Stop(error)) => {
                    self.packet.error = error;
                    return at;
                }
            };
        }
        self.packet.error = self.program.errors.parser_timeout;
        at
    }

    fn state(
        &mut self,
        state: &State,
        data: &[u8],
        at: &mut usize,
        sets: &[ValueSet],
    ) -> Result<Option<u32>, Stop> {
        for op in &state.ops {
            self.op(op, data, at)?;
        }
        if state.key.is_empty() {
            return Ok(state.default);
        }
        if state.key_bytes <= 16 {
            let key = self.short_key(state, data, *at)?;
            return Ok(self.select(state, data, *at, &Key::Short(key), sets));
        }
        let key = self.long_key(state, data, *at)?;
        Ok(self.select(state, data, *at, &Key::Long(key.into()), sets))
    }

    fn select(&self, state: &State, data: &[u8], at: usize, key: &Key, sets: &[ValueSet]) -> Option<u32> {
        for case in &state.cases {
            match case {
                Case::Value { value, mask, next } if matches(key, value, mask) => return *next,
                Case::Set { set, mask, next } => {
                    let members = &sets[*set as usize];
                    if members.contains(&self.parts(state, data, at, mask.as_deref())) {
                        return *next;
                    }
                }
                Case::Value { .. } => {}
            }
        }
        state.default
    }

    /// Returns the parts of a key as masked numbers.
    fn parts(&self, state: &State, data: &[u8], at: usize, mask: Option<&[u8]>) -> Vec<u128> {
        let mut offset = 0;
        let part = |part: &KeyPart| {
            let bytes = bits::bytes_for(part.bits() as usize);
            let mask = mask
                .and_then(|mask| mask.get(offset..offset + bytes))
                .map_or(u128::MAX, |mask| mask.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte)));
            offset += bytes;
            self.part(part, data, at).unwrap_or(0) & mask
        };
        state.key.iter().map(part).collect()
    }

    fn short_key(&self, state: &State, data: &[u8], at: usize) -> Result<u128, Stop> {
        let mut key = 0_u128;
        for part in &state.key {
            let bytes = bits::bytes_for(part.bits() as usize) as u32;
            let value = self.part(part, data, at).ok_or(Stop(self.program.errors.packet_too_short))?;
            key = key.checked_shl(bytes * 8).unwrap_or(0) | value;
        }
        Ok(key)
    }

    fn long_key(&self, state: &State, data: &[u8], at: usize) -> Result<Vec<u8>, Stop> {
        let mut key = Vec::with_capacity(state.key_bytes);
        for part in &state.key {
            let width = part.bits() as usize;
            let mut words = vec![0; bits::words_for(width)];
            if let KeyPart::Lookahead { offset, .. } = part {
                let start = at * 8 + *offset as usize;
                if start + width > data.len() * 8 {
                    return Err(Stop(self.program.errors.packet_too_short));
                }
                get_bits(data, start, width, &mut words);
            } else if let Some(field) = self.part_field(part) {
                words = raw_words(self.words, &field);
            }
            bits::push_bytes(&words, bits::bytes_for(width), &mut key);
        }
        Ok(key)
    }

    /// Returns a part of at most 128 bits; `None` if the packet is too short.
    fn part(&self, part: &KeyPart, data: &[u8], at: usize) -> Option<u128> {
        if let KeyPart::Lookahead { offset, bits: width } = part {
            let start = at * 8 + *offset as usize;
            if start + *width as usize > data.len() * 8 {
                return None;
            }
            let mut words = [0; 2];
            get_bits(data, start, *width as usize, &mut words);
            return Some(bits::low128(&words));
        }
        Some(self.part_field(part).map_or(0, |field| load(self.words, &field) & bits::mask128(field.bits)))
    }

    /// Returns the field of a part; `None` if it is not a field or its stack is empty.
    fn part_field(&self, part: &KeyPart) -> Option<Field> {
        match part {
            KeyPart::Field(field) => Some(*field),
            KeyPart::StackField { stack, field, .. } => self.last_field(*stack, *field),
            KeyPart::UnionStackField { stack, member, field, .. } => {
                let stack = &self.program.union_stacks[*stack as usize];
                let at = usize::try_from(self.words[stack.next as usize].checked_sub(1)?).ok()?;
                let union = &self.program.unions[*stack.unions.get(at)? as usize];
                let header = *union.headers.get(*member as usize)?;
                self.program.headers[header as usize].fields.get(*field as usize).copied()
            }
            KeyPart::Lookahead { .. } => None,
        }
    }

    fn op(&mut self, op: &ParserOp, data: &[u8], at: &mut usize) -> Result<(), Stop> {
        match op {
            ParserOp::Extract(target, width) => self.extract(target, width.as_ref(), data, at),
            ParserOp::Set(field, value) => {
                self.assign_field(field, value);
                Ok(())
            }
            ParserOp::SetVariable(to, from) => {
                self.copy_variable(to, from);
                Ok(())
            }
            ParserOp::SetLookahead { field, offset, bits } => {
                self.look_ahead(field, *offset, *bits, data, *at)
            }
            ParserOp::Verify(cond, error) => {
                if self.test(cond) {
                    Ok(())
                } else {
                    Err(Stop(self.low(error) as u32))
                }
            }
            ParserOp::Advance(value) => self.advance(value, data, at),
            ParserOp::Call(primitives) => {
                self.run(primitives);
                if self.packet.aborted { Err(Stop(self.program.errors.no_error)) } else { Ok(()) }
            }
        }
    }

    fn look_ahead(
        &mut self,
        field: &Field,
        offset: u32,
        width: u32,
        data: &[u8],
        at: usize,
    ) -> Result<(), Stop> {
        let start = at * 8 + offset as usize;
        if start + width as usize > data.len() * 8 {
            return Err(Stop(self.program.errors.packet_too_short));
        }
        let mut words = vec![0; bits::words_for(width as usize)];
        get_bits(data, start, width as usize, &mut words);
        let mut value = bits::to_big(&words);
        if field.signed && width == field.bits && value.bit(u64::from(width) - 1) {
            value -= BigInt::from(1) << width;
        }
        super::frame::store_big(self.words, field, &value);
        Ok(())
    }

    fn advance(&mut self, value: &Value, data: &[u8], at: &mut usize) -> Result<(), Stop> {
        let bits = self.index(value);
        if !bits.is_multiple_of(8) {
            return Err(Stop(self.program.errors.parser_invalid_argument));
        }
        if bits / 8 > (data.len() - *at) as u64 {
            return Err(Stop(self.program.errors.packet_too_short));
        }
        *at += (bits / 8) as usize;
        Ok(())
    }

    fn extract(
        &mut self,
        target: &Target,
        width: Option<&Value>,
        data: &[u8],
        at: &mut usize,
    ) -> Result<(), Stop> {
        let program = self.program;
        let next = |words: &[u64], next: u32, size: usize| {
            let at = words[next as usize];
            if at < size as u64 { Ok(at as usize) } else { Err(Stop(program.errors.stack_out_of_bounds)) }
        };
        let (header, counter) = match target {
            Target::Header(header) => (*header, None),
            Target::Stack(stack) => {
                let stack = &program.stacks[*stack as usize];
                let at = next(self.words, stack.next, stack.headers.len())?;
                (stack.headers[at], Some(stack.next))
            }
            Target::UnionStack(stack, member) => {
                let stack = &program.union_stacks[*stack as usize];
                let at = next(self.words, stack.next, stack.unions.len())?;
                let union = &program.unions[stack.unions[at] as usize];
                (union.headers[*member as usize], Some(stack.next))
            }
        };
        self.extract_header(header, width, data, at)?;
        if let Some(counter) = counter {
            self.words[counter as usize] += 1;
        }
        Ok(())
    }

    fn extract_header(
        &mut self,
        header: u16,
        width: Option<&Value>,
        data: &[u8],
        at: &mut usize,
    ) -> Result<(), Stop> {
        let program = self.program;
        let found = &program.headers[header as usize];
        let ty = &program.types[found.ty as usize];
        let (short, rest) = (Stop(program.errors.packet_too_short), &data[*at..]);
        if ty.variable.is_some() {
            *at += self.extract_variable(header, ty, width, rest)?;
        } else {
            let bytes = ty.fixed_bytes();
            let Some(head) = rest.get(..bytes) else { return Err(short) };
            decode(&ty.codec, head, &mut self.words[found.base as usize..]);
            *at += bytes;
        }
        self.mark_valid(header);
        Ok(())
    }

    /// Extracts a header with a variable-width field. The width comes from the extraction, or from an
    /// expression of the type over earlier fields of the header. Those fields are therefore extracted first.
    fn extract_variable(
        &mut self,
        header: u16,
        ty: &HeaderType,
        width: Option<&Value>,
        data: &[u8],
    ) -> Result<usize, Stop> {
        let (program, errors) = (self.program, self.program.errors);
        let found = &program.headers[header as usize];
        let split = ty.variable.unwrap_or(0);
        let mut bit = 0_usize;
        if width.is_none() {
            if data.len() < ty.fixed_bytes() {
                return Err(Stop(errors.packet_too_short));
            }
            self.extract_loose(&found.fields[..split], data, &mut bit);
        }
        let Some(value) = width.or(found.length_value.as_deref()) else {
            return Err(Stop(errors.parser_invalid_argument));
        };
        let exact = self.exact(value);
        if exact.sign() == Sign::Minus || &exact % 8_u8 != BigInt::ZERO {
            return Err(Stop(errors.parser_invalid_argument));
        }
        let bits = u64::try_from(&exact).unwrap_or(u64::MAX);
        let bytes = (bits / 8).saturating_add(ty.fixed_bytes() as u64);
        if bytes > data.len() as u64 {
            return Err(Stop(errors.packet_too_short));
        }
        if bytes > u64::from(ty.max_bytes) && ty.max_bytes > 0 {
            return Err(Stop(errors.header_too_short));
        }
        if let Some(length) = found.length {
            self.words[length as usize] = bits.min(u64::from(found.fields[split].bits));
        }
        let fields = if width.is_none() { &found.fields[split..] } else { &found.fields[..] };
        self.extract_loose(fields, data, &mut bit);
        Ok(bytes as usize)
    }

    fn extract_loose(&mut self, fields: &[Field], data: &[u8], bit: &mut usize) {
        for field in fields {
            let width = field.length.map_or(field.bits as usize, |at| self.words[at as usize] as usize);
            read_field(data, *bit, width, field.signed, &mut self.words[field.range()]);
            *bit += width;
        }
    }
}

fn matches(key: &Key, value: &Key, mask: &Key) -> bool {
    match (key, value, mask) {
        (Key::Short(key), Key::Short(value), Key::Short(mask)) => key & mask == *value,
        (Key::Long(key), Key::Long(value), Key::Long(mask)) => {
            key.iter().zip(mask).zip(value).all(|((key, mask), value)| key & mask == *value)
        }
        _ => false,
    }
}

/// Reads the fixed fields of a header from its bytes.
fn decode(codec: &Codec, data: &[u8], words: &mut [u64]) {
    for group in &codec.groups {
        match *group {
            Group::Packed { byte, bytes, first, count } => {
                let value = read_packed(&data[byte as usize..], bytes as usize);
                for field in &codec.fields[first as usize..first as usize + count as usize] {
                    let part = value >> field.shift & bits::mask64(u32::from(field.bits));
                    words[field.word as usize] = part;
                    if field.signed {
                        let place =
                            &mut words[field.word as usize..field.word as usize + field.words as usize];
                        extend_sign(place, u32::from(field.bits));
                    }
                }
            }
            Group::Wide { byte, word } => {
                let at = byte as usize;
                words[word as usize + 1] = read_packed(&data[at..], 8);
                words[word as usize] = read_packed(&data[at + 8..], 8);
            }
            Group::Loose { bit, bits, word, words: count, signed } => {
                let place = &mut words[word as usize..word as usize + count as usize];
                read_field(data, bit as usize, bits as usize, signed, place);
            }
        }
    }
}

fn read_field(data: &[u8], bit: usize, width: usize, signed: bool, place: &mut [u64]) {
    get_bits(data, bit, width, place);
    if signed {
        extend_sign(place, width as u32);
    }
}

fn extend_sign(place: &mut [u64], width: u32) {
    let top = width.saturating_sub(1) as usize;
    if place.get(top / 64).is_some_and(|word| word >> (top % 64) & 1 == 1) {
        for (at, word) in place.iter_mut().enumerate() {
            *word |= !bits::mask64(width.saturating_sub(at as u32 * 64));
        }
    }
}

/// Reads a big-endian number of up to eight bytes.
#[inline]
fn read_packed(data: &[u8], bytes: usize) -> u64 {
    match bytes {
        1 => u64::from(data[0]),
        2 => u64::from(u16::from_be_bytes([data[0], data[1]])),
        4 => u64::from(u32::from_be_bytes([data[0], data[1], data[2], data[3]])),
        8 => {
            let mut eight = [0; 8];
            eight.copy_from_slice(&data[..8]);
            u64::from_be_bytes(eight)
        }
        _ => data[..bytes].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
    }
}

/// Writes parser error and checksum state to the program's fields.
pub(crate) fn report(frame: &mut Frame) {
    let (error, wrong) = (frame.packet.error, frame.packet.checksum_error);
    if let Some(field) = &frame.program.standard.parser_error {
        store(frame.words, field, u128::from(error));
    }
    if let Some(field) = &frame.program.standard.checksum_error {
        store(frame.words, field, u128::from(wrong));
    }
}
