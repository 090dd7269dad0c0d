//! Runs the primitives of actions.

use num_bigint::BigInt;

use super::frame::{Frame, load_big, store, store_big};
use super::hash::HashSource;
use crate::bits;
use crate::program::{Destination, Field, HashCall, HeaderRef, LogPiece, Mode, Primitive, Value};
use crate::state::PacketSize;

/// Maximum number of primitives per action. Loops are allowed in actions, but an endless one must not block the switch.
const MOST_STEPS: usize = 1 << 20;

impl Frame<'_> {
    /// Runs a list of primitives.
    pub(crate) fn run(&mut self, primitives: &[Primitive]) {
        let (mut at, mut steps) = (0_usize, 0_usize);
        while let Some(primitive) = primitives.get(at) {
            at += 1;
            steps += 1;
            match primitive {
                Primitive::Jump(target) => at = *target as usize,
                Primitive::JumpIfZero(value, target) => {
                    if self.is_zero(value) {
                        at = *target as usize;
                    }
                }
                other => self.step(other),
            }
            if steps == MOST_STEPS {
                tracing::error!(
                    "an action ran {MOST_STEPS} primitives and does not end; the packet is dropped"
                );
                self.packet.aborted = true;
            }
            if self.packet.aborted {
                return;
            }
        }
    }

    fn is_zero(&self, value: &Value) -> bool {
        match value.mode {
            Mode::Unsigned | Mode::Signed => self.low(value) == 0,
            Mode::Wrapped | Mode::Big => self.exact(value) == BigInt::ZERO,
        }
    }

    fn step(&mut self, primitive: &Primitive) {
        match primitive {
            Primitive::Assign(destination, value) => self.assign(destination, value),
            Primitive::AssignVariable(to, from) => self.copy_variable(to, from),
            Primitive::CopyHeader(to, from) => {
                if let Some((to, from)) = self.header(to).zip(self.header(from)) {
                    self.copy_header(to, from);
                }
            }
            Primitive::CopyUnion(to, from) => {
                if let Some((to, from)) = self.union(to).zip(self.union(from)) {
                    self.copy_union(to, from);
                }
            }
            Primitive::CopyStack(to, from) => self.copy_stack(*to, *from),
            Primitive::CopyUnionStack(to, from) => self.copy_union_stack(*to, *from),
            Primitive::AddHeader(header) => self.add_header(header),
            Primitive::ValidateHeader(header) => {
                if let Some(header) = self.header(header) {
                    self.mark_valid(header);
                }
            }
            Primitive::RemoveHeader(header) => self.remove_header(header),
            Primitive::Push(stack, count) => self.push(*stack, self.index(count)),
            Primitive::Pop(stack, count) => self.pop(*stack, self.index(count)),
            Primitive::Jump(_) | Primitive::JumpIfZero(..) | Primitive::Nothing => {}
            Primitive::Exit => self.packet.exit = true,
            Primitive::Assert { value, text } => {
                if self.is_zero(value) {
                    tracing::error!("assertion failed, the packet is dropped: {text}");
                    self.packet.aborted = true;
                }
            }
            Primitive::Log(pieces) => self.log(pieces),
            Primitive::Random(destination, low, high) => self.random(destination, low, high),
            Primitive::Hash(destination, call) => self.hash(destination, call),
            Primitive::MarkToDrop { egress_spec, mcast_grp } => {
                self.mark_to_drop(egress_spec, mcast_grp.as_ref());
            }
            Primitive::Digest(list) => self.packet.digest = self.low(list) as u16,
            Primitive::Clone(session, list) => {
                self.packet.clone = Some((self.low(session) as u16 & 0x7fff, self.low(list) as u16));
            }
            Primitive::Resubmit(list) => self.packet.resubmit = self.low(list) as u16,
            Primitive::Recirculate(list) => self.packet.recirculate = self.low(list) as u16,
            Primitive::Meter(array, index, destination) => self.meter(*array, index, destination),
            Primitive::Count(array, index) => {
                let (at, bytes) = (self.low(index) as u32, self.packet.ingress_length);
                if let Some(counter) = self.arrays.counters[*array as usize].get_mut(at) {
                    counter.count(bytes);
                }
            }
            Primitive::ReadRegister(to, array, index) => self.read_register(to, *array, index),
            Primitive::WriteRegister(array, index, value) => self.write_register(*array, index, value),
            Primitive::Truncate(length) => {
                let length = usize::try_from(self.low(length) as u64).unwrap_or(usize::MAX);
                self.packet.truncate = self.packet.truncate.min(length);
            }
        }
    }

    fn add_header(&mut self, header: &HeaderRef) {
        if let Some(header) = self.header(header).filter(|header| !self.is_valid(*header)) {
            self.clear_fields(header);
            self.mark_valid(header);
            self.packet.length = self.packet.length.wrapping_add(self.header_bytes(header) as u64);
        }
    }

    fn remove_header(&mut self, header: &HeaderRef) {
        if let Some(header) = self.header(header).filter(|header| self.is_valid(*header)) {
            self.packet.length = self.packet.length.wrapping_sub(self.header_bytes(header) as u64);
            self.mark_invalid(header);
        }
    }

    fn mark_to_drop(&mut self, egress_spec: &Field, mcast_grp: Option<&Field>) {
        store(self.words, egress_spec, u128::from(self.surroundings.drop_port));
        if let Some(field) = mcast_grp {
            store(self.words, field, 0);
        }
    }

    /// Assigns a value to a destination.
    fn assign(&mut self, destination: &Destination, value: &Value) {
        match destination {
            Destination::Field(field) => self.assign_field(field, value),
            Destination::Member(header, field) => {
                if let Some(field) = self.member_field(header, *field) {
                    self.assign_field(&field, value);
                }
            }
            Destination::StackLast(stack, field) => {
                if let Some(field) = self.last_field(*stack, *field) {
                    self.assign_field(&field, value);
                }
            }
            Destination::Register(array, index) => self.write_register(*array, index, value),
        }
    }

    /// Assigns a value to a field.
    #[inline]
    pub(crate) fn assign_field(&mut self, field: &Field, value: &Value) {
        let plain = !field.signed && !field.saturating && field.words <= 2 && field.length.is_none();
        if plain && value.mode != Mode::Big {
            let value = self.low(value);
            if field.words == 1 {
                self.words[field.word as usize] = value as u64 & bits::mask64(field.bits);
            } else {
                store(self.words, field, value);
            }
        } else {
            let value = self.exact(value);
            store_big(self.words, field, &value);
        }
    }

    /// Assigns a number to a destination.
    fn set(&mut self, destination: &Destination, value: u64) {
        let field = match destination {
            Destination::Field(field) => Some(*field),
            Destination::Member(header, field) => self.member_field(header, *field),
            Destination::StackLast(stack, field) => self.last_field(*stack, *field),
            Destination::Register(array, index) => {
                let at = self.index(index);
                self.arrays.registers[*array as usize].set(at, &[value]);
                None
            }
        };
        if let Some(field) = field {
            store(self.words, &field, u128::from(value));
        }
    }

    /// Copies a variable-width field with its width.
    pub(crate) fn copy_variable(&mut self, to: &Field, from: &Field) {
        let (Some(to_length), Some(from_length)) = (to.length, from.length) else { return };
        let width = self.words[from_length as usize].min(u64::from(to.bits));
        let words = self.words[from.range()].to_vec();
        self.words[to_length as usize] = width;
        let place = &mut self.words[to.range()];
        place.fill(0);
        place.iter_mut().zip(words).for_each(|(to, from)| *to = from);
        bits::truncate(place, width as usize);
    }

    fn random(&mut self, destination: &Destination, low: &Value, high: &Value) {
        let (low, high) = (self.low(low) as u64, self.low(high) as u64);
        if let Some(value) = self.arrays.random.number_between(low, high) {
            self.set(destination, value);
        } else {
            tracing::warn!("random number between {low} and {high} asked for, nothing is assigned");
        }
    }

    fn hash(&mut self, destination: &Destination, call: &HashCall) {
        let (base, size) = (self.low(&call.base) as u64, self.low(&call.size) as u64);
        let value = self.calculate(call.calculation);
        self.set(destination, base.wrapping_add(value % size.max(1)));
    }

    /// Computes a calculation over the packet.
    pub(crate) fn calculate(&mut self, calculation: u16) -> u64 {
        let source = HashSource {
            program: self.program,
            words: self.words,
            payload: self.payload,
            packet: self.packet,
        };
        source.compute(calculation, &mut self.arrays.counting, &mut self.arrays.scratch)
    }

    fn meter(&mut self, array: u16, index: &Value, destination: &Destination) {
        let size = PacketSize::new(self.packet.ingress_length, self.program.meters[array as usize].bytes);
        let at = self.low(index) as u32;
        if let Some(colour) = self.arrays.meters[array as usize].colour(at, size, self.surroundings.now_us())
        {
            self.set(destination, colour);
        }
    }

    fn read_register(&mut self, destination: &Destination, array: u16, index: &Value) {
        let at = u64::from(self.low(index) as u32);
        let bank = &self.arrays.registers[array as usize];
        let Some(cell) = bank.get(at) else { return };
        match destination {
            Destination::Field(field) if cell.len() <= 2 && !field.signed => {
                let value = bits::low128(cell);
                store(self.words, field, value);
            }
            _ => {
                let value = bits::to_big(cell);
                self.set_big(destination, &value);
            }
        }
    }

    fn set_big(&mut self, destination: &Destination, value: &BigInt) {
        let field = match destination {
            Destination::Field(field) => Some(*field),
            Destination::Member(header, field) => self.member_field(header, *field),
            Destination::StackLast(stack, field) => self.last_field(*stack, *field),
            Destination::Register(array, index) => {
                let at = self.index(index);
                self.store_register(*array, at, value);
                None
            }
        };
        if let Some(field) = field {
            store_big(self.words, &field, value);
        }
    }

    fn write_register(&mut self, array: u16, index: &Value, value: &Value) {
        let at = u64::from(self.low(index) as u32);
        if value.mode == Mode::Big || self.program.registers[array as usize].bits > 128 {
            let value = self.exact(value);
            self.store_register(array, at, &value);
        } else {
            let value = self.low(value);
            self.arrays.registers[array as usize].set(at, &[value as u64, (value >> 64) as u64]);
        }
    }

    fn store_register(&mut self, array: u16, at: u64, value: &BigInt) {
        let mut words = vec![0; self.program.registers[array as usize].words()];
        bits::set_big(&mut words, value);
        self.arrays.registers[array as usize].set(at, &words);
    }

    fn log(&self, pieces: &[LogPiece]) {
        let text: String = pieces
            .iter()
            .map(|piece| match piece {
                LogPiece::Text(text) => text.clone(),
                LogPiece::Value(value) => self.exact(value).to_string(),
            })
            .collect();
        tracing::info!(target: "p4", "{text}");
    }

    /// Copies the fields of a list from another packet.
    pub(crate) fn take_fields(&mut self, fields: &[Field], from: &[u64]) {
        for field in fields {
            store_big(self.words, field, &load_big(from, field));
        }
    }
}
