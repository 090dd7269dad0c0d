//! Rows of ports that are the same on many switches, written once.
//!
//! In: names of ports with their kinds, and the rows of each kind. Out: all rows as text. Invariants: text is reused
//! only for the same names, kinds and rows. A thread keeps a few texts, regardless of the size of the fabric.

use std::cell::RefCell;
use std::rc::Rc;

/// The fields of a row, written once for rows that differ only in their key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fields(pub(super) Vec<u8>);

/// The rows of each kind of port: the rest of the key after the port, and the fields.
pub(super) type Kinds = Vec<Vec<(String, Fields)>>;

/// Maximum number of texts that are kept: four tables for four kinds of switches.
const KEPT: usize = 16;

/// All rows of some ports.
#[derive(Debug)]
pub(super) struct Block {
    names: Vec<(String, usize)>,
    kinds: Kinds,
    /// The text from inside the quotes of the first key to the end of the last row.
    pub(super) text: Vec<u8>,
    /// Number of rows.
    pub(super) rows: usize,
}

thread_local! {
    static BLOCKS: RefCell<Vec<Rc<Block>>> = const { RefCell::new(Vec::new()) };
}

impl Block {
    fn is_of<'n>(&self, mut ports: impl Iterator<Item = (&'n str, usize)>, kinds: &Kinds) -> bool {
        let mut names = self.names.iter();
        self.kinds == *kinds
            && ports.all(|(name, kind)| names.next().is_some_and(|known| known.0 == name && known.1 == kind))
            && names.next().is_none()
    }
}

/// Returns the rows of some ports. If they are not stored yet, `write` creates the text and counts the rows.
pub(super) fn block<'n>(
    ports: impl Iterator<Item = (&'n str, usize)> + Clone,
    kinds: Kinds,
    write: impl FnOnce(&Kinds) -> (Vec<u8>, usize),
) -> Rc<Block> {
    let known =
        BLOCKS.with_borrow(|blocks| blocks.iter().find(|block| block.is_of(ports.clone(), &kinds)).cloned());
    known.unwrap_or_else(|| {
        let (text, rows) = write(&kinds);
        let names = ports.map(|(name, kind)| (name.to_owned(), kind)).collect();
        let block = Rc::new(Block { names, kinds, text, rows });
        BLOCKS.with_borrow_mut(|blocks| {
            blocks.truncate(KEPT - 1);
            blocks.insert(0, Rc::clone(&block));
        });
        block
    })
}
