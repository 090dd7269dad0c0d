//! Counters and registers, in pages that are allocated on the first write.

use crate::bits;

/// Cells of a page.
const PAGE: usize = 256;

/// Packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counter {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl Counter {
    /// Counts a packet.
    pub(crate) fn count(&mut self, bytes: u64) {
        self.packets = self.packets.wrapping_add(1);
        self.bytes = self.bytes.wrapping_add(bytes);
    }
}

/// An array of counters.
#[derive(Debug)]
pub(crate) struct CounterBank {
    size: u32,
    pages: Vec<Option<Box<[Counter; PAGE]>>>,
}

impl CounterBank {
    /// Returns counters that are all zero.
    pub(crate) fn new(size: u32) -> Self {
        Self { size, pages: Vec::new() }
    }

    /// Returns the number of counters.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// Returns a counter; `None` beyond the end.
    pub(crate) fn get(&self, index: u32) -> Option<Counter> {
        if index >= self.size {
            return None;
        }
        let page = self.pages.get(index as usize / PAGE).and_then(Option::as_ref);
        Some(page.map_or_else(Counter::default, |page| page[index as usize % PAGE]))
    }

    /// Sets a counter; returns whether it exists.
    pub(crate) fn set(&mut self, index: u32, counter: Counter) -> bool {
        // A page of zeros is the same as no page.
        if counter == Counter::default() && self.get(index) == Some(counter) {
            return true;
        }
        self.get_mut(index).map(|place| *place = counter).is_some()
    }

    /// Makes every counter zero.
    pub(crate) fn clear(&mut self) {
        self.pages.clear();
    }

    /// Returns a counter for a change; `None` beyond the end.
    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut Counter> {
        if index >= self.size {
            return None;
        }
        let at = index as usize / PAGE;
        if at >= self.pages.len() {
            self.pages.resize_with(at + 1, || None);
        }
        let page = self.pages[at].get_or_insert_with(|| Box::new([Counter::default(); PAGE]));
        Some(&mut page[index as usize % PAGE])
    }
}

/// An array of registers.
#[derive(Debug)]
pub(crate) struct RegisterBank {
    size: u32,
    bits: u32,
    words: usize,
    /// Value of a cell that has never been written.
    zero: Box<[u64]>,
    pages: Vec<Option<Box<[u64]>>>,
}

impl RegisterBank {
    /// Returns registers that are all zero.
    pub(crate) fn new(size: u32, bits: u32) -> Self {
        let words = bits::words_for(bits as usize);
        Self { size, bits, words, zero: vec![0; words].into(), pages: Vec::new() }
    }

    /// Returns the number of registers.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// Returns the width of a register.
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the words of a register; `None` beyond the end.
    pub(crate) fn get(&self, index: u64) -> Option<&[u64]> {
        if index >= u64::from(self.size) {
            return None;
        }
        let page = self.pages.get(index as usize / PAGE).and_then(Option::as_ref);
        let start = index as usize % PAGE * self.words;
        Some(page.map_or(&self.zero, |page| &page[start..start + self.words]))
    }

    /// Writes a register, truncated to its width; returns whether it exists.
    pub(crate) fn set(&mut self, index: u64, value: &[u64]) -> bool {
        if index >= u64::from(self.size) {
            return false;
        }
        let (at, start) = (index as usize / PAGE, index as usize % PAGE * self.words);
        if at >= self.pages.len() {
            self.pages.resize_with(at + 1, || None);
        }
        let page = self.pages[at].get_or_insert_with(|| vec![0; PAGE * self.words].into());
        let cell = &mut page[start..start + self.words];
        for (i, word) in cell.iter_mut().enumerate() {
            *word = value.get(i).copied().unwrap_or(0);
        }
        bits::truncate(cell, self.bits as usize);
        true
    }

    /// Makes every register zero.
    pub(crate) fn clear(&mut self) {
        self.pages.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_cost_nothing_until_they_count() {
        let mut bank = CounterBank::new(1_000_000);
        assert_eq!(bank.get(999_999), Some(Counter::default()));
        assert!(bank.pages.is_empty());
        bank.get_mut(999_999).expect("the last counter exists").count(64);
        assert_eq!(bank.get(999_999), Some(Counter { packets: 1, bytes: 64 }));
        assert_eq!(bank.get(1_000_000), None);
        assert!(bank.get_mut(1_000_000).is_none());
    }

    #[test]
    fn registers_are_cut_to_their_width() {
        let mut bank = RegisterBank::new(300, 68);
        assert!(bank.set(299, &[u64::MAX, u64::MAX]));
        assert_eq!(bank.get(299), Some(&[u64::MAX, 0xf][..]));
        assert_eq!(bank.get(0), Some(&[0, 0][..]), "zeros of its width");
        assert!(!bank.set(300, &[1]));
        assert_eq!(bank.get(300), None);
    }
}
