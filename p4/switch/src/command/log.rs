//! Messages of the switch, to the console or to a file.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;

use super::error::CommandError;
use super::options::{Level, LogTarget, Options};

/// Sets up logging, unless the process already has a logger.
pub(super) fn start(options: &Options) -> Result<(), CommandError> {
    let Some(target) = &options.log else { return Ok(()) };
    let level = match options.level {
        Level::Trace => LevelFilter::TRACE,
        Level::Debug => LevelFilter::DEBUG,
        Level::Info => LevelFilter::INFO,
        Level::Warn => LevelFilter::WARN,
        Level::Error => LevelFilter::ERROR,
        Level::Off => LevelFilter::OFF,
    };
    let (writer, colours) = match target {
        LogTarget::Console => (BoxMakeWriter::new(io::stderr), io::stderr().is_terminal()),
        LogTarget::File(name) => {
            let mut new = File::options();
            let file = closc_files::open_own_file(name, new.write(true).create(true).truncate(true))
                .map_err(|error| CommandError::Log { file: name.clone(), error })?;
            (BoxMakeWriter::new(Arc::new(file)), false)
        }
    };
    let filter = tracing_subscriber::filter::Targets::new().with_target("closc_switch", level);
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(colours);
    let registry = tracing_subscriber::registry().with(layer).with(filter);
    // A logger was set up before; it is used instead.
    let _ = tracing::subscriber::set_global_default(registry);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_to_regular_files_only() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let other = folder.path().join("other");
        std::fs::write(&other, "another file").expect("it can be written");
        let name = folder.path().join("log");
        let says = || {
            let options = Options { log: Some(LogTarget::File(name.clone())), ..Options::default() };
            start(&options).expect_err("it is refused").to_string()
        };
        std::os::unix::fs::symlink(&other, &name).expect("it can be linked");
        assert_eq!(says(), format!("`{}` cannot be written: it is a symbolic link", name.display()));
        std::fs::remove_file(&name).expect("it is ours");
        nix::unistd::mkfifo(&name, nix::sys::stat::Mode::S_IRWXU).expect("a pipe can be made");
        assert_eq!(says(), format!("`{}` cannot be written: it is not a regular file", name.display()));
        assert_eq!(std::fs::read_to_string(&other).expect("it is there"), "another file");
    }
}
