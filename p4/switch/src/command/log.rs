//! Messages of the switch, to the console or to a file.

use std::fs::File;
use std::io;
use std::sync::Arc;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;

use super::options::{Level, LogTarget, Options};

/// Begins to write messages. A process that does so already keeps its way.
pub(super) fn start(options: &Options) -> io::Result<()> {
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
        LogTarget::Console => (BoxMakeWriter::new(io::stderr), true),
        LogTarget::File(name) => (BoxMakeWriter::new(Arc::new(File::create(name)?)), false),
    };
    let filter = tracing_subscriber::filter::Targets::new().with_target("closc_switch", level);
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(colours);
    let registry = tracing_subscriber::registry().with(layer).with(filter);
    // Somebody else set up messages before: theirs are as good.
    let _ = tracing::subscriber::set_global_default(registry);
    Ok(())
}
