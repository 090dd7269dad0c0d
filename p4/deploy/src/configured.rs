//! Digests of the CONFIG_DBs of a fleet.
//!
//! In: a fleet. Out: a digest of each table of which something is closc's, by switch. Invariants: nothing is written, and nothing is
//! judged: a switch that no push could change has a digest, too.

use std::collections::BTreeMap;

use crate::event::{Observer, Reporter};
use crate::fault::{DeviceError, Fault};
use crate::fleet::Fleet;
use crate::options::PushOptions;
use crate::parallel::each;
use crate::progress::Progress;
use crate::state::StateDigest;

/// Reads the CONFIG_DB of every switch of which one is brought about.
///
/// # Errors
///
/// Names the switches that cannot be read.
pub async fn configured(
    fleet: &Fleet,
    options: &PushOptions,
    observer: Observer,
) -> Result<BTreeMap<String, StateDigest>, Vec<DeviceError>> {
    let (reporter, options) = (Reporter::new(observer), *options);
    let read = each(fleet.sonic.clone(), options.max_parallel, move |switch| {
        let reporter = reporter.of_device(&switch.name, switch.plane);
        async move {
            let progress = Progress::new(reporter);
            let read = tokio::time::timeout(options.timeout, switch.digest(&options, &progress)).await;
            let late = |_| Fault::Timeout { after: options.timeout, operation: progress.operation() };
            (switch.name.clone(), read.map_err(late).flatten())
        }
    })
    .await;
    let (mut found, mut failed) = (BTreeMap::new(), Vec::new());
    for (device, read) in read {
        match read {
            Ok(digest) => drop(found.insert(device, digest)),
            Err(fault) => failed.push(DeviceError { device, fault }),
        }
    }
    if failed.is_empty() { Ok(found) } else { Err(failed) }
}
