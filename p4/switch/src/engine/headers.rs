//! Copies of headers, unions and stacks, and the shifting of stacks.

use super::frame::Frame;
use crate::program::StackRef;

impl Frame<'_> {
    /// Copies a header with its validity.
    pub(crate) fn copy_header(&mut self, to: u16, from: u16) {
        if !self.is_valid(from) {
            self.mark_invalid(to);
            return;
        }
        self.mark_valid(to);
        self.copy_fields(to, from);
    }

    fn copy_fields(&mut self, to: u16, from: u16) {
        let (to, from) = (&self.program.headers[to as usize], &self.program.headers[from as usize]);
        if to.ty != from.ty {
            return;
        }
        let width = self.program.types[to.ty as usize].words;
        self.words.copy_within(from.base as usize..from.base as usize + width, to.base as usize);
        if let Some((to, from)) = to.length.zip(from.length) {
            self.words[to as usize] = self.words[from as usize];
        }
    }

    /// Exchanges validity and fields of two headers, ignoring their unions.
    fn swap_headers(&mut self, one: u16, other: u16) {
        let (one, other) = (&self.program.headers[one as usize], &self.program.headers[other as usize]);
        self.words.swap(one.valid as usize, other.valid as usize);
        if let Some((one, other)) = one.length.zip(other.length) {
            self.words.swap(one as usize, other as usize);
        }
        for at in 0..self.program.types[one.ty as usize].words {
            self.words.swap(one.base as usize + at, other.base as usize + at);
        }
    }

    /// Copies a union member by member.
    pub(crate) fn copy_union(&mut self, to: u16, from: u16) {
        let program = self.program;
        let (to, from) = (&program.unions[to as usize].headers, &program.unions[from as usize].headers);
        for (to, from) in to.iter().zip(from) {
            self.copy_header(*to, *from);
        }
    }

    /// Copies a stack of headers.
    pub(crate) fn copy_stack(&mut self, to: u16, from: u16) {
        let program = self.program;
        let (to, from) = (&program.stacks[to as usize], &program.stacks[from as usize]);
        self.words[to.next as usize] = self.words[from.next as usize].min(to.headers.len() as u64);
        for (to, from) in to.headers.iter().zip(&from.headers) {
            self.copy_header(*to, *from);
        }
    }

    pub(crate) fn copy_union_stack(&mut self, to: u16, from: u16) {
        let program = self.program;
        let (to, from) = (&program.union_stacks[to as usize], &program.union_stacks[from as usize]);
        self.words[to.next as usize] = self.words[from.next as usize].min(to.unions.len() as u64);
        for (to, from) in to.unions.iter().zip(&from.unions) {
            self.copy_union(*to, *from);
        }
    }

    /// Shifts a stack towards its end; the first elements become invalid.
    pub(crate) fn push(&mut self, stack: StackRef, count: u64) {
        let (size, next) = self.extent(stack);
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(size);
        if count == 0 {
            return;
        }
        self.words[next] = (self.words[next] + count as u64).min(size as u64);
        for at in (count..size).rev() {
            self.swap_elements(stack, at, at - count);
        }
        for at in 0..count {
            self.invalidate_element(stack, at);
        }
    }

    /// Shifts a stack towards its start; the last elements become invalid.
    pub(crate) fn pop(&mut self, stack: StackRef, count: u64) {
        let (size, next) = self.extent(stack);
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(size);
        if count == 0 {
            return;
        }
        self.words[next] = self.words[next].saturating_sub(count as u64);
        for at in 0..size - count {
            self.swap_elements(stack, at, at + count);
        }
        for at in size - count..size {
            self.invalidate_element(stack, at);
        }
    }

    /// Returns the size of a stack and the word that counts its elements in use.
    fn extent(&self, stack: StackRef) -> (usize, usize) {
        match stack {
            StackRef::Headers(stack) => {
                let stack = &self.program.stacks[stack as usize];
                (stack.headers.len(), stack.next as usize)
            }
            StackRef::Unions(stack) => {
                let stack = &self.program.union_stacks[stack as usize];
                (stack.unions.len(), stack.next as usize)
            }
        }
    }

    fn swap_elements(&mut self, stack: StackRef, one: usize, other: usize) {
        let program = self.program;
        match stack {
            StackRef::Headers(stack) => {
                let headers = &program.stacks[stack as usize].headers;
                self.swap_headers(headers[one], headers[other]);
            }
            StackRef::Unions(stack) => {
                let unions = &program.union_stacks[stack as usize].unions;
                let (one, other) =
                    (&program.unions[unions[one] as usize], &program.unions[unions[other] as usize]);
                self.words.swap(one.state as usize, other.state as usize);
                for (one, other) in one.headers.iter().zip(&other.headers) {
                    self.swap_headers(*one, *other);
                }
            }
        }
    }

    /// Makes an element invalid. Members of a union stay valid, as in BMv2 for elements that are shifted out of a stack
    /// of unions.
    fn invalidate_element(&mut self, stack: StackRef, at: usize) {
        if let StackRef::Headers(stack) = stack {
            self.mark_invalid(self.program.stacks[stack as usize].headers[at]);
        }
    }
}
