//! Hostile fabric files for `closc check`.

use crate::common::Place;
use crate::surfaces::measure::{self, Usage};
use crate::surfaces::{Reader, Surface, kinds};

pub(crate) static SURFACE: Surface = Surface {
    name: "fabric files",
    kinds: kinds::KINDS.len(),
    make: |number, size| {
        let (kind, mut text) = kinds::file(number, size);
        text.truncate(crate::surfaces::SIZE_MAX);
        (kind, text.into_bytes())
    },
    open: || Some(Box::new(FabricFile(Place::new()))),
};

struct FabricFile(Place);

impl Reader for FabricFile {
    fn read(&mut self, _: &str, input: &[u8]) -> Usage {
        self.0.write("hostile.yaml", input);
        let words = [env!("CARGO_BIN_EXE_closc"), "check", "hostile.yaml"];
        measure::command(&words.map(str::to_owned), &self.0, None)
    }
}
