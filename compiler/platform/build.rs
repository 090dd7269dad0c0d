//! Embeds the catalogue of platforms.
//!
//! In: all files `catalogue/*.yaml`, and `catalogue/sonic/*.yaml`, which `cargo xtask platforms` generates. Out:
//! `builtin.rs`, an array sorted by name: name, text, and whether the file is derived.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    // The variable is read at run time, because the script may have been built for another checkout that shares the
    // target folder.
    let crate_root =
        env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR for build scripts");
    let mut files = Vec::new();
    for (folder, derived) in [("catalogue", false), ("catalogue/sonic", true)] {
        let folder = Path::new(&crate_root).join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        for entry in fs::read_dir(&folder)? {
            let path = fs::canonicalize(entry?.path())?;
            let path = path.to_str().ok_or_else(|| io::Error::other("the workspace's path is not UTF-8"))?;
            if let Some((_, name)) = path.strip_suffix(".yaml").and_then(|path| path.rsplit_once('/')) {
                files.push((name.to_owned(), path.to_owned(), derived));
            }
        }
    }
    files.sort();
    let mut code = String::from("&[\n");
    for (name, path, derived) in &files {
        writeln!(code, "    ({name:?}, include_str!({path:?}), {derived}),")
            .expect("a string takes all text");
    }
    code.push_str("]\n");
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    fs::write(Path::new(&out).join("builtin.rs"), code)
}
