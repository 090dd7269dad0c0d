//! A P4Runtime switch of a fleet.
//!
//! In: an address, and the target state. Out: a [`Switch`]. Invariants: those of that trait; a comparison needs no
//! primacy.

use std::sync::Arc;

use crate::device::{self, Goal, load};
use crate::device_drift::{DeviceDrift, Difference};
use crate::difference::{Change, by_object, difference};
use crate::fault::Fault;
use crate::options::PushOptions;
use crate::progress::Progress;
use crate::read::live;
use crate::report::PushSummary;
use crate::switch::{Switch, Work};
use crate::target::{Cookie, Target};
use crate::tree::{TargetState, TargetStateSource};

/// One P4Runtime switch.
#[derive(Clone)]
pub struct Member {
    /// Connection.
    pub target: Target,
    /// Target state.
    pub target_state: TargetStateSource,
}

impl Member {
    /// Returns a member with a fixed target state.
    pub fn new(target: Target, desired: Arc<TargetState>) -> Self {
        Member { target, target_state: Arc::new(move || Ok(desired.clone())) }
    }
}

impl Switch for Member {
    fn name(&self) -> &str {
        &self.target.name
    }

    fn plane(&self) -> Option<u8> {
        self.target.plane
    }

    fn wave(&self) -> usize {
        self.target.wave
    }

    fn push<'a>(&'a self, options: &'a PushOptions, progress: &'a Progress) -> Work<'a, PushSummary> {
        Box::pin(device::push(&self.target, Goal::Tree(self.target_state.clone()), options, progress))
    }

    fn drift<'a>(&'a self, options: &'a PushOptions, progress: &'a Progress) -> Work<'a, DeviceDrift> {
        Box::pin(compare(self, options, progress))
    }
}

/// Compares the live state of a target with its target state.
async fn compare(member: &Member, options: &PushOptions, progress: &Progress) -> Result<DeviceDrift, Fault> {
    let desired = load(member.target_state.clone()).await?;
    let client = device::connect(&member.target, options, progress).await?;
    let desired = device::bind(&client, desired, progress).await?;
    let (program, info) = (&desired.program, desired.program.info());
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
    let shown = |entity| crate::state::describe_entity(info, entity);
    let differences = changes.iter().map(|change| match change {
        Change::Missing(wanted) => Difference::Missing { wanted: shown(wanted) },
        Change::Unexpected(live) => Difference::Unexpected { live: shown(live) },
        Change::Changed { target: wanted, live } => {
            Difference::Changed { wanted: shown(wanted), live: shown(live) }
        }
    });
    Ok(DeviceDrift::Entries { differences: differences.collect(), objects: by_object(info, &changes) })
}
