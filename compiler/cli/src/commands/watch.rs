//! `closc watch`: keeps switches in the state of a compiled tree until a signal arrives.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use closc_deploy::{Event, EventKind, Observer, Watch, WatchOptions};
use closc_diagnostics::printable;
use closc_nic::io::notify::Manager;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::control::WatchArgs;
use crate::args::{Args, Format};
use crate::audit::Audit;
use crate::commands::control;
use crate::output::{self, Outcome};

/// Interval of the loop without a watchdog.
const NO_WATCHDOG: Duration = Duration::from_hours(1);

/// Watches until Ctrl-C or SIGTERM.
pub fn run(args: &Args, command: &WatchArgs) -> anyhow::Result<Outcome> {
    let site = control::inventory(&command.fleet)?;
    let fleet = control::fleet(&command.fleet, &site)?.with_certificate_renewal(&site.inventory, &site.files);
    let options = WatchOptions {
        push: command.fleet.options(),
        interval: Duration::from_secs(command.interval),
        listen: Some(command.listen),
        tls: command.serve.certificates(command.listen)?,
        counters: command.counters,
        log: None,
    };
    let audit = Arc::new(Audit::begin_tree(args, "watch", &command.fleet.source)?);
    control::release::log(&audit, &command.fleet)?;
    let options = WatchOptions { log: audit.state(), ..options };
    let observer = observer(args, Arc::clone(&audit));
    let say = Arc::clone(&observer);
    control::block_on(async {
        // Install the handlers first: a reader of the `watching` event may send a signal at once.
        let stop = Stop::new()?;
        let watch = Watch::start(&fleet, options, observer)
            .await
            .with_context(|| format!("cannot listen on {}", command.listen))?;
        if let Some(address) = watch.address() {
            let metrics = format!("{}://{address}/metrics", command.serve.scheme());
            let left_alone = fleet.skipped_switches.clone();
            let uncarried = fleet.unsupported_files();
            let what = EventKind::Watching { devices: fleet.n_switches(), metrics, left_alone, uncarried };
            let _ = say(Event { at_ms: 0, device: None, plane: None, what });
        }
        stop.wait(&audit).await;
        watch.stop().await;
        audit.say("stopped", serde_json::Value::Null)?;
        Ok(Outcome::Fine)
    })
}

/// Prints each event as a line on stderr, and logs each repair in the audit log, before and after it.
fn observer(args: &Args, audit: Arc<Audit>) -> Observer {
    let (json, quiet) = (args.format == Format::Json, args.quiet);
    Arc::new(move |event: Event| {
        let begins = matches!(&event.what, EventKind::Compared { updates } if updates.total() > 0);
        let ended = matches!(event.what, EventKind::Repaired { .. });
        let result = if begins { "repairing" } else { "repaired" };
        if (begins || ended)
            && let Err(error) = audit.say(result, serde_json::json!(event))
        {
            // Without the repair, traffic would have no path, so the error is only printed.
            output::say(format_args!("the audit log cannot be written: {error}"));
        }
        match (json, quiet) {
            (true, false) => {
                output::say_document(&control::EVENT, &event);
            }
            (false, false) => {
                if let Some(line) = event.line() {
                    // Text from a switch is untrusted.
                    output::say(printable::line(&line));
                }
            }
            (_, true) => {}
        }
        Ok(())
    })
}

/// Installed handlers of the signals that stop the process or reopen its audit log.
pub(super) struct Stop {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Stop {
    pub(super) fn new() -> anyhow::Result<Self> {
        let [interrupt, terminate, hangup] =
            [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
        Ok(Stop { interrupt: interrupt?, terminate: terminate?, hangup: hangup? })
    }

    /// Waits for SIGINT or SIGTERM; SIGHUP reopens the audit log. In the meantime, it notifies the watchdog of the
    /// service manager.
    pub(super) async fn wait(mut self, audit: &Audit) {
        let mut manager = Manager::from_environment().unwrap_or_else(|error| {
            output::say(format_args!("the service manager cannot be reached: {error}"));
            Manager::default()
        });
        manager.ready();
        let started = Instant::now();
        let mut beat = tokio::time::interval(manager.period().unwrap_or(NO_WATCHDOG));
        loop {
            tokio::select! {
                _ = beat.tick() => manager.notify_watchdog(started.elapsed().as_nanos() as u64),
                _ = self.interrupt.recv() => return,
                _ = self.terminate.recv() => return,
                _ = self.hangup.recv() => audit.reopen(),
            }
        }
    }
}
