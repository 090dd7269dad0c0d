//! Digests of the configurations of a fleet.
//!
//! In: a fleet. Out: for each switch, a digest of the routing and of each table of CONFIG_DB that closc owns
//! in part or entirely. For a switch without CONFIG_DB, a digest of the complete configuration.
//! Invariants: nothing is written. A switch that no push could change also has a digest.

use std::collections::BTreeMap;

use crate::event::{Observer, Reporter};
use crate::fault::{DeviceError, Fault};
use crate::fleet::Fleet;
use crate::options::PushOptions;
use crate::parallel::map_parallel;
use crate::progress::Progress;
use crate::state::StateDigest;

/// Reads the configuration of every switch that has one to push.
///
/// # Errors
///
/// Returns the switches that cannot be read.
pub async fn read_config_digests(
    fleet: &Fleet,
    options: &PushOptions,
    observer: Observer,
) -> Result<BTreeMap<String, StateDigest>, Vec<DeviceError>> {
    let (reporter, options) = (Reporter::new(observer), *options);
    let of_files = reporter.clone();
    let carried = map_parallel(fleet.carried_switches.clone(), options.max_parallel, move |switch| {
        let reporter = of_files.of_device(&switch.name, switch.plane);
        async move {
            let progress = Progress::new(reporter);
            let read = tokio::time::timeout(options.timeout, switch.digest(&options, &progress)).await;
            let late = |_| Fault::Timeout { timeout: options.timeout, operation: progress.operation() };
            (switch.name.clone(), read.map_err(late).flatten())
        }
    })
    .await;
    let read = map_parallel(fleet.sonic.clone(), options.max_parallel, move |switch| {
        let reporter = reporter.of_device(&switch.name, switch.plane);
        async move {
            let progress = Progress::new(reporter);
            let read = tokio::time::timeout(options.timeout, switch.digest(&options, &progress)).await;
            let late = |_| Fault::Timeout { timeout: options.timeout, operation: progress.operation() };
            (switch.name.clone(), read.map_err(late).flatten())
        }
    })
    .await;
    let (mut found, mut failed) = (BTreeMap::new(), Vec::new());
    for (device, read) in read.into_iter().chain(carried) {
        match read {
            Ok(digest) => drop(found.insert(device, digest)),
            Err(fault) => failed.push(DeviceError { device, fault }),
        }
    }
    if failed.is_empty() { Ok(found) } else { Err(failed) }
}
