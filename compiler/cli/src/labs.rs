//! Options for starting and finding labs.
//!
//! In: the program's own path and the environment. Out: the options of a lab. Invariants: commands that look for a lab
//! and commands that start one use the same folder.

use anyhow::Context as _;
use camino::Utf8PathBuf;
use closc_lab::{Life, Options};

/// Returns the path of this program.
pub fn program() -> anyhow::Result<String> {
    let program = std::env::current_exe().context("cannot find the program itself")?;
    Ok(Utf8PathBuf::try_from(program).context("the program itself")?.into_string())
}

/// Returns the options of labs. Their switches run in a process that outlives the command.
pub fn options() -> anyhow::Result<Options> {
    let life = Life::Process(vec![program()?, "lab".to_owned(), "serve".to_owned()]);
    let mut options = Options { life, ..Options::default() };
    if let Ok(folder) = std::env::var("CLOSC_RUNTIME") {
        options.runtime = folder.into();
    }
    Ok(options)
}
