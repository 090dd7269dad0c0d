//! Embeds `templates/` of the workspace.
//!
//! In: every file `templates/<target>/**/*.j2`. Out: `shipped.rs`, an array of name and text sorted by name.
//! Invariants: a name is the path below `templates/` with `/` between its parts.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    // Read the variable at run time, because the script may have been built for another checkout that shares the
    // target folder.
    let crate_root =
        env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR for build scripts");
    let root = Path::new(&crate_root).join("../../templates");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut names = Vec::new();
    collect(&root, &mut PathBuf::new(), &mut names)?;
    names.sort();
    let mut code = String::from("&[\n");
    for name in &names {
        let path = fs::canonicalize(root.join(name))?;
        let path = path.to_str().ok_or_else(|| io::Error::other("the workspace's path is not UTF-8"))?;
        writeln!(code, "    ({name:?}, include_str!({path:?})),").expect("a string takes all text");
    }
    code.push_str("]\n");
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    fs::write(Path::new(&out).join("shipped.rs"), code)
}

/// Adds the templates below `folder`, a path relative to `root`.
fn collect(root: &Path, folder: &mut PathBuf, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(&*folder))? {
        let entry = entry?;
        folder.push(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(root, folder, names)?;
        } else if folder.extension().is_some_and(|extension| extension == "j2") {
            let parts: Vec<_> = folder.iter().map(|part| part.to_string_lossy()).collect();
            names.push(parts.join("/"));
        }
        folder.pop();
    }
    Ok(())
}
