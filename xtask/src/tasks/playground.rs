//! `cargo xtask playground`: the page that contains the compiler, `docs/playground.html`.
//!
//! In: the crate `closc-playground`. Out: the page, which is not in Git. Invariants: the stages compile for a target
//! without files, or this task fails. The toolchain of the workspace is used if it has the target (`rustup target add
//! wasm32-unknown-unknown`). Otherwise Debian's `cargo-web` and `rustc-web` are used, which compile the standard
//! library from `rust-web-src` and link with `lld`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::generated::root;

const TARGET: &str = "wasm32-unknown-unknown";

/// The page, below the repository.
const PAGE: &str = "docs/playground.html";

/// Stack for the deepest nesting that the loader accepts: four times the linker's default.
const STACK: &str = "-C link-arg=-zstack-size=4194304";

/// Maximum size of the compressed module in bytes. It is most of the page that a server sends.
const BYTES_MAX: usize = 4_000_000;

/// A toolchain with a standard library for the target.
enum Toolchain {
    /// That of the workspace.
    Workspace,
    /// Debian's, which compiles the library.
    Debian,
}

impl Toolchain {
    fn find() -> Option<Toolchain> {
        let libraries = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
        let folder = libraries.ok().filter(|found| found.status.success());
        let folder = folder.and_then(|found| String::from_utf8(found.stdout).ok());
        if folder.is_some_and(|folder| Path::new(folder.trim()).is_dir()) {
            return Some(Toolchain::Workspace);
        }
        let debian = ["/usr/bin/cargo", "/usr/bin/rustc", "/usr/bin/wasm-ld"];
        let has_sources = || {
            let sysroot = Command::new("/usr/bin/rustc").args(["--print", "sysroot"]).output().ok()?;
            let sysroot = String::from_utf8(sysroot.stdout).ok()?;
            Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/std").is_dir().then_some(())
        };
        let found = debian.iter().all(|program| Path::new(program).is_file()) && has_sources().is_some();
        found.then_some(Toolchain::Debian)
    }

    /// Returns the cargo of the toolchain; Debian's gets no variables of the cargo that started this program.
    fn cargo(&self) -> Command {
        let mut command = match self {
            Toolchain::Workspace => Command::new("cargo"),
            Toolchain::Debian => {
                let mut command = Command::new("/usr/bin/cargo");
                command.env("RUSTC", "/usr/bin/rustc").env("RUSTC_BOOTSTRAP", "1");
                command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "/usr/bin/wasm-ld");
                command.env_remove("LD_LIBRARY_PATH").env_remove("RUSTUP_TOOLCHAIN");
                command
            }
        };
        command.args(["rustc", "--locked", "-p", "closc-playground", "--lib", "--crate-type", "cdylib"]);
        command.args(["--profile", "page", "--target", TARGET]);
        if let Toolchain::Debian = self {
            command.arg("-Zbuild-std=std,panic_abort");
        }
        command
    }
}

/// Writes the page; with `tools` only finds the toolchain.
pub(crate) fn run(tools: bool) -> anyhow::Result<()> {
    let toolchain = Toolchain::find().context(
        "a compiler for WebAssembly is missing: run `rustup target add wasm32-unknown-unknown`, or on Debian \
         `apt-get install rustc-web cargo-web rust-web-src lld`",
    )?;
    if tools {
        return Ok(());
    }
    let module = wasm(&toolchain)?;
    if module.len() > BYTES_MAX {
        bail!("the compressed module has {} bytes, and the limit is {BYTES_MAX}", module.len());
    }
    let page = closc_playground::page(&module);
    fs::write(root().join(PAGE), &page).with_context(|| format!("cannot write `{PAGE}`"))?;
    println!("{PAGE}: {} bytes", page.len());
    Ok(())
}

/// Compiles the crate and compresses the module.
fn wasm(toolchain: &Toolchain) -> anyhow::Result<Vec<u8>> {
    let place: PathBuf = root().join("target/wasm");
    let status = toolchain
        .cargo()
        .env("CARGO_TARGET_DIR", &place)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", STACK)
        .current_dir(root())
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("the stages do not compile for {TARGET}");
    }
    let file = place.join(TARGET).join("page/closc_playground.wasm");
    // Omit the file's name and time, so that the same module gives the same page.
    let zipped =
        Command::new("gzip").args(["-9", "-n", "-c"]).arg(&file).output().context("cannot run gzip")?;
    if !zipped.status.success() {
        bail!("gzip: {}", String::from_utf8_lossy(&zipped.stderr));
    }
    Ok(zipped.stdout)
}
