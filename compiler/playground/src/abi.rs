//! The two functions that a page calls: memory for a request, and its answer.
//!
//! In: a request that the page writes into the buffer. Out: an answer in the same buffer. Invariants: there
//! is one buffer, owned by this module. The page reads and writes it only between calls. The functions here
//! never dereference a pointer.
#![allow(unsafe_code, reason = "`no_mangle` is an unsafe attribute; the code has no unsafe block")]

use std::cell::RefCell;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Resizes the buffer and returns its start. The page then writes a request or reads an answer of that size.
#[unsafe(no_mangle)]
pub extern "C" fn closc_buffer(length: usize) -> *mut u8 {
    BUFFER.with_borrow_mut(|buffer| {
        buffer.resize(length, 0);
        buffer.as_mut_ptr()
    })
}

/// Answers the request in the buffer. The answer replaces the request in the buffer. Returns the length of
/// the answer.
#[unsafe(no_mangle)]
pub extern "C" fn closc_answer() -> usize {
    BUFFER.with_borrow_mut(|buffer| {
        *buffer = crate::answer(buffer);
        buffer.len()
    })
}
