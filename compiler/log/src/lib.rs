//! Log messages of commands and agents on standard error.
//!
//! In: a filter, and the name of the program if messages begin with it. Out: one line per message: for people with its
//! level as a word, for journald with the priority of sd-daemon(3). Invariants: no colours; a closed stderr does not
//! end the program.

use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;

pub use tracing_subscriber::filter::Targets as Filter;

/// Parses a filter: a level for all modules, or pairs `module=level`, separated by commas.
pub fn parse_filter(text: &str) -> Result<Filter, String> {
    let levels = "expected off, error, warn, info, debug or trace, or pairs like `closc_nic::io=debug`";
    // `Targets` would take an unknown level for the name of a module.
    let unknown = text.split(',').find(|pair| !pair.contains('=') && pair.trim().parse::<Level>().is_err());
    match unknown.filter(|level| !level.trim().eq_ignore_ascii_case("off")) {
        Some(level) => Err(format!("unknown level `{}`; {levels}", level.trim())),
        None => text.parse().map_err(|error| format!("{error}; {levels}")),
    }
}

/// Starts the log. `program` precedes messages for people; journald adds it itself.
pub fn start(filter: Filter, program: Option<&'static str>) {
    let form = if is_journal() { Form::Journal } else { Form::Text(program) };
    let messages = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false);
    // If a message cannot be written, the program continues.
    let messages = messages.event_format(form).log_internal_errors(false);
    tracing_subscriber::registry().with(filter).with(messages).init();
}

/// Prints the error that ends the program, regardless of the filter. A closed stderr is ignored.
pub fn print_error(program: &'static str, error: &dyn fmt::Display) {
    let prefix = if is_journal() { priority(Level::ERROR).to_owned() } else { format!("{program}: ") };
    let _ = writeln!(io::stderr(), "{prefix}{error}");
}

/// Whether stderr is connected to journald: systemd.exec(5), `$JOURNAL_STREAM`.
fn is_journal() -> bool {
    let Ok(stream) = std::env::var("JOURNAL_STREAM") else { return false };
    let Ok(stderr) = io::stderr().as_fd().try_clone_to_owned() else { return false };
    File::from(stderr).metadata().is_ok_and(|file| stream == format!("{}:{}", file.dev(), file.ino()))
}

/// The prefix for a level: sd-daemon(3).
fn priority(level: Level) -> &'static str {
    match level {
        Level::ERROR => "<3>",
        Level::WARN => "<4>",
        Level::INFO => "<6>",
        _ => "<7>",
    }
}

/// Form of a message.
enum Form {
    /// For people, with the name of the program.
    Text(Option<&'static str>),
    /// For journald, which stores level and program as fields.
    Journal,
}

impl<S, F> FormatEvent<S, F> for Form
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    F: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, F>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let level = *event.metadata().level();
        match self {
            Form::Journal => writer.write_str(priority(level))?,
            Form::Text(program) => {
                if let Some(program) = program {
                    write!(writer, "{program}: ")?;
                }
                match level {
                    Level::ERROR => writer.write_str("error: ")?,
                    Level::WARN => writer.write_str("warning: ")?,
                    // `info` messages of agents are notices for operators, so they have no level. Others need `-v`.
                    Level::INFO if program.is_some() => {}
                    level => write!(writer, "{level} ")?,
                }
            }
        }
        if level > Level::INFO || (level == Level::INFO && matches!(self, Form::Text(None))) {
            write!(writer, "{}: ", event.metadata().target())?;
        }
        for span in context.event_scope().into_iter().flat_map(tracing_subscriber::registry::Scope::from_root)
        {
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<F>>().map_or("", |fields| fields.as_str());
            let separator = if fields.is_empty() { "" } else { " " };
            write!(writer, "{}{separator}{fields}: ", span.name())?;
        }
        context.field_format().format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Collects what a subscriber writes.
    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no test panics with it").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the lines of four messages, one of them in a span.
    fn lines(form: Form, filter: &str) -> String {
        let sink = Sink::default();
        let writer = sink.clone();
        let layer = tracing_subscriber::fmt::layer().with_writer(move || writer.clone()).with_ansi(false);
        let filter = parse_filter(filter).expect("a filter");
        let subscriber = tracing_subscriber::registry().with(filter).with(layer.event_format(form));
        tracing::subscriber::with_default(subscriber, || {
            tracing::error!("one");
            tracing::error_span!("reload", table = 7).in_scope(|| tracing::warn!(plane = 2, "two"));
            tracing::info!("three");
            tracing::debug!("four");
        });
        String::from_utf8(sink.0.lock().expect("no test panics with it").clone()).expect("text")
    }

    #[test]
    fn people_read_words_and_journald_reads_priorities() {
        assert_eq!(
            lines(Form::Text(Some("closc-nic")), "debug"),
            "closc-nic: error: one\nclosc-nic: warning: reload table=7: two plane=2\nclosc-nic: three\n\
             closc-nic: DEBUG closc_log::tests: four\n"
        );
        assert_eq!(
            lines(Form::Text(None), "info"),
            "error: one\nwarning: reload table=7: two plane=2\nINFO closc_log::tests: three\n"
        );
        assert_eq!(lines(Form::Journal, "warn"), "<3>one\n<4>reload table=7: two plane=2\n");
    }

    #[test]
    fn a_filter_is_a_level_or_pairs() {
        assert_eq!(lines(Form::Journal, "off,closc_log=error"), "<3>one\n");
        assert_eq!(lines(Form::Journal, "OFF"), "");
        for text in ["", "loud", "warn,loud", "closc_nic=loud"] {
            let error = parse_filter(text).expect_err(text);
            assert!(error.contains("expected off, error, warn"), "{text}: {error}");
        }
    }
}
