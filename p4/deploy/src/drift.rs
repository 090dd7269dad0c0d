//! Drift: what switches hold that nobody wants, and what is wanted that they do not hold.
//!
//! In: a fleet. Out: [`DriftReport`]. Invariants: nothing is written and nobody has to be primary.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::device::{self, load};
use crate::difference::{Change, by_object, difference};
use crate::event::{EventKind, Observer, Reporter};
use crate::fault::Fault;
use crate::fleet::{Fleet, Member};
use crate::options::PushOptions;
use crate::parallel::each;
use crate::progress::Progress;
use crate::read::live;
use crate::target::Cookie;

/// How the switches of a fleet differ from what is wanted of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct DriftReport {
    /// Every switch by name.
    pub devices: BTreeMap<String, DeviceDrift>,
}

/// How one switch differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "drift", rename_all = "kebab-case")]
pub enum DeviceDrift {
    /// It does not.
    None,
    /// It runs another pipeline, so its entries cannot be compared.
    Pipeline {
        /// The number of the pipeline it is to run.
        wanted: Cookie,
        /// The number of the one it runs; `None` where it runs none, or one without a number.
        live: Option<Cookie>,
    },
    /// Some of its entries differ.
    Entries {
        /// How many in each table or other object.
        objects: BTreeMap<String, u64>,
        /// Each of them, in the order of tables and keys.
        differences: Vec<Difference>,
    },
    /// It could not be read.
    Unknown(Fault),
}

/// One entry that differs, by names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Difference {
    /// It is wanted and not there.
    Missing {
        /// The entry.
        wanted: String,
    },
    /// It is there, but otherwise.
    Changed {
        /// As it should be.
        wanted: String,
        /// As it is.
        live: String,
    },
    /// It is there and not wanted.
    Unexpected {
        /// The entry.
        live: String,
    },
}

impl DriftReport {
    /// Says whether every switch is as it should be.
    pub fn is_clean(&self) -> bool {
        self.devices.values().all(|drift| *drift == DeviceDrift::None)
    }

    /// Says whether some switch could not be read.
    pub fn is_incomplete(&self) -> bool {
        self.devices.values().any(|drift| matches!(drift, DeviceDrift::Unknown(_)))
    }

    /// Shows what differs; a report without drift is empty.
    pub fn show(&self) -> String {
        let mut text = String::new();
        for (name, drift) in &self.devices {
            let lines = match drift {
                DeviceDrift::None => continue,
                DeviceDrift::Pipeline { wanted, live } => {
                    let live = live.map_or_else(|| "none".to_owned(), |live| live.to_string());
                    vec![format!("runs pipeline {live}, wanted {wanted}")]
                }
                DeviceDrift::Entries { differences, .. } => {
                    differences.iter().map(Difference::line).collect()
                }
                DeviceDrift::Unknown(fault) => vec![fault.to_string()],
            };
            text.push_str(name);
            text.push('\n');
            for line in lines {
                text.push_str("  ");
                text.push_str(&line);
                text.push('\n');
            }
        }
        text
    }
}

impl Difference {
    fn line(&self) -> String {
        match self {
            Difference::Missing { wanted } => format!("missing     {wanted}"),
            Difference::Changed { wanted, live } => format!("different   {live}\n    wanted    {wanted}"),
            Difference::Unexpected { live } => format!("unexpected  {live}"),
        }
    }
}

/// Compares every switch of a fleet with what is wanted of it.
pub async fn drift(fleet: &Fleet, options: &PushOptions, observer: Observer) -> DriftReport {
    let (reporter, options) = (Reporter::new(observer), *options);
    let found = each(fleet.switches(), options.max_parallel, move |switch| {
        let reporter = reporter.of_device(switch.name(), switch.plane());
        async move {
            reporter.send(EventKind::DeviceStarted);
            let progress = Progress::new(reporter);
            let found = tokio::time::timeout(options.timeout, switch.drift(&options, &progress)).await;
            let late = |_| Fault::Timeout { after: options.timeout, operation: progress.operation() };
            let drift = found.map_err(late).flatten().unwrap_or_else(DeviceDrift::Unknown);
            (switch.name().to_owned(), drift)
        }
    });
    DriftReport { devices: found.await.into_iter().collect() }
}

/// Compares what a P4Runtime target holds.
pub(crate) async fn of_entries(
    member: &Member,
    options: &PushOptions,
    progress: &Progress,
) -> Result<DeviceDrift, Fault> {
    let desired = load(member.wanted.clone()).await?;
    let (program, info) = (&desired.program, desired.program.info());
    let client = device::connect(&member.target, options, progress).await?;
    if !device::has_pipeline(&client, program, progress).await? {
        let operation = progress.operation();
        let live = client.pipeline_cookie().await.map_err(|source| Fault::Call { operation, source })?;
        let wanted = Cookie(program.pipeline().cookie());
        return Ok(DeviceDrift::Pipeline { wanted, live: live.map(Cookie) });
    }
    let read = live(&client, &member.target.controller.role, info, desired.state.len(), progress).await?;
    read.check_support(info, &desired.state)?;
    let changes = difference(&desired.state, &read.state);
    if changes.is_empty() {
        return Ok(DeviceDrift::None);
    }
    let shown = |entity| crate::state::shown(info, entity);
    let differences = changes.iter().map(|change| match change {
        Change::Missing(wanted) => Difference::Missing { wanted: shown(wanted) },
        Change::Unexpected(live) => Difference::Unexpected { live: shown(live) },
        Change::Changed { wanted, live } => Difference::Changed { wanted: shown(wanted), live: shown(live) },
    });
    Ok(DeviceDrift::Entries { differences: differences.collect(), objects: by_object(info, &changes) })
}
