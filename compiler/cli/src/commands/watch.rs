//! `closc watch`: keeps switches as the compiled tree says, until it is asked to stop.

use std::time::Duration;

use anyhow::Context as _;
use closc_deploy::{Watch, WatchOptions};

use crate::args::Args;
use crate::args::control::WatchArgs;
use crate::commands::control;
use crate::output::Outcome;

/// Watches until Ctrl-C or SIGTERM.
pub fn run(args: &Args, command: &WatchArgs) -> anyhow::Result<Outcome> {
    let inventory = control::inventory(&command.fleet)?;
    let fleet = control::fleet(&command.fleet, &inventory)?;
    let options = WatchOptions {
        push: command.fleet.options(),
        interval: Duration::from_secs(command.interval.max(1)),
        listen: Some(command.listen),
    };
    let (observer, _) = control::observer(args, 0, "watching");
    control::block_on(async {
        let watch = Watch::start(&fleet, options, observer)
            .await
            .with_context(|| format!("cannot listen on {}", command.listen))?;
        if let (Some(address), false) = (watch.address(), args.quiet) {
            eprintln!("watching {} switches; metrics at http://{address}/metrics", fleet.members.len());
        }
        stopped().await?;
        watch.stop().await;
        Ok(Outcome::Fine)
    })
}

/// Waits for a signal to stop.
async fn stopped() -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}
