//! A plan as a file: JSON with every update twice, by names for people and encoded for the push.
//!
//! In: a plan. Out: text, and the plan again. Invariants: a file in which the two forms differ is rejected, so the push
//! sends what was reviewed. The programs are included, so a push needs only the plan and the inventory.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use closc_artefacts::carriers::undelivered_files;
use closc_runtime::client::Pipeline;
use closc_runtime::proto::v1;
use closc_runtime::text;
use closc_runtime::wire::Elements;
use closc_sonic::{Bounce, Estimate, Method, Patch};
use prost::Message as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use thiserror::Error;

use super::Plan;
use super::carried::{self, CarriedFile};
use super::show::{line, lines, set_pipeline};
use super::sonic;
use crate::device_plan::DevicePlan;
use crate::sonic::{RoutingPlan, SonicPlan};
use crate::state::StateDigest;
use crate::target::{Cookie, Program};

/// Kind and version of the file.
const FORMAT: &str = PlanFile::FORMAT;

/// Number of characters shown of an unknown format's name.
const SHOWN: usize = 100;

/// The field `updates` of `WriteRequest`.
const UPDATES: u32 = 4;

/// Memory limit of one update.
const UPDATE_BYTES: usize = 1 << 20;

/// A file that is not a plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanFileError {
    /// It is not JSON of this form.
    #[error("not a plan: {reason}")]
    Form {
        /// The error.
        reason: String,
    },
    /// It has another version.
    #[error("the plan has format `{actual_format}`; expected `{FORMAT}`")]
    Format {
        /// Format of the file.
        actual_format: String,
    },
    /// A program in it cannot be used.
    #[error("program `{program}`: {reason}")]
    Program {
        /// The program.
        program: String,
        /// The error.
        reason: String,
    },
    /// A switch in it cannot be used.
    #[error("`{device}`: {reason}")]
    Device {
        /// The switch.
        device: String,
        /// The error.
        reason: String,
    },
}

/// The part that is read first; the rest is skipped and takes no memory.
#[derive(Deserialize)]
struct HeadFile<'t> {
    #[serde(borrow)]
    format: Option<Cow<'t, str>>,
}

/// Contents of the file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    format: String,
    fabric: String,
    programs: BTreeMap<String, ProgramFile>,
    devices: BTreeMap<String, DeviceFile>,
    /// The switches with a CONFIG_DB to push. A switch that is also in `devices` has two transports.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    sonic: BTreeMap<String, SonicFile>,
    /// The switches that are configured by files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    carried: BTreeMap<String, CarriedFile>,
}

impl PlanFile {
    /// Kind and version of the file.
    pub const FORMAT: &'static str = "closc-push-plan/1";
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProgramFile {
    name: String,
    cookie: Cookie,
    /// Protobuf text.
    p4info: String,
    /// Base64.
    device_config: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeviceFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plane: Option<u8>,
    program: String,
    set_pipeline: bool,
    live: StateDigest,
    desired: StateDigest,
    /// Planned actions, by names.
    changes: Vec<String>,
    /// The updates as a `p4.v1.WriteRequest`, base64.
    request: String,
    /// Files of the switch that no transport carries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    uncarried: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SonicFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plane: Option<u8>,
    /// The method of the change.
    how: Method,
    /// The name of the updater, for a patch.
    patched_by: String,
    /// The ports that go down and come up again.
    bounces: Vec<Bounce>,
    /// Expected duration.
    estimate: Estimate,
    /// Digest of the live state, table by table.
    live: StateDigest,
    desired: StateDigest,
    /// Planned actions, by names.
    changes: Vec<String>,
    /// The changes as a JSON patch (RFC 6902).
    patch: Vec<serde_json::Value>,
    /// The change of `frr.conf`, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    routing: Option<RoutingPlan>,
    /// Files of the switch that no transport carries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    uncarried: Vec<String>,
}

pub(super) fn write(plan: &Plan) -> String {
    let program = |program: &Arc<Program>| ProgramFile {
        name: program.name().to_owned(),
        cookie: Cookie(program.pipeline().cookie()),
        p4info: text::write(program.info().message()),
        device_config: STANDARD.encode(program.pipeline().device_config()),
    };
    let device = |name: &str, device: &DevicePlan| DeviceFile {
        uncarried: plan
            .undelivered_files
            .get(name)
            .into_iter()
            .flatten()
            .map(|missed| missed.file.clone())
            .collect(),
        plane: device.plane,
        program: device.program.clone(),
        set_pipeline: device.set_pipeline,
        live: device.live.clone(),
        desired: device.target_digest.clone(),
        changes: lines(plan, device),
        request: STANDARD.encode(
            v1::WriteRequest { updates: device.updates.clone(), ..Default::default() }.encode_to_vec(),
        ),
    };
    let sonic = |made: &SonicPlan| SonicFile {
        plane: made.plane,
        how: made.method.clone(),
        patched_by: made.updater.clone(),
        bounces: made.bounces.clone(),
        estimate: made.estimate.clone(),
        live: made.live.clone(),
        desired: made.target_digest.clone(),
        changes: made.patch.operations.iter().map(sonic::line).collect(),
        patch: made.patch.operations.iter().map(|each| json!(each)).collect(),
        routing: made.routing.clone(),
        uncarried: made.undelivered_files.iter().map(|missed| missed.file.clone()).collect(),
    };
    let file = PlanFile {
        format: FORMAT.to_owned(),
        fabric: plan.fabric.clone(),
        programs: plan.programs.iter().map(|(name, each)| (name.clone(), program(each))).collect(),
        devices: plan.devices.iter().map(|(name, each)| (name.clone(), device(name, each))).collect(),
        sonic: plan.sonic.iter().map(|(name, each)| (name.clone(), sonic(each))).collect(),
        carried: carried::files(plan),
    };
    let mut text = serde_json::to_string_pretty(&file).expect("strings and numbers have a form in JSON");
    text.push('\n');
    text
}

pub(super) fn read(text: &str) -> Result<Plan, PlanFileError> {
    let form = |error: serde_json::Error| PlanFileError::Form { reason: error.to_string() };
    let head: HeadFile<'_> = serde_json::from_str(text).map_err(form)?;
    match head.format.as_deref() {
        Some(FORMAT) => {}
        Some(found) => {
            return Err(PlanFileError::Format { actual_format: found.chars().take(SHOWN).collect() });
        }
        None => return Err(PlanFileError::Form { reason: "it has no `format`".to_owned() }),
    }
    let file: PlanFile = serde_json::from_str(text).map_err(form)?;
    let mut plan =
        Plan { fabric: file.fabric, carried_plans: carried::read(file.carried), ..Plan::default() };
    for (key, program) in file.programs {
        let read = read_program(&program)
            .map_err(|reason| PlanFileError::Program { program: key.clone(), reason })?;
        plan.programs.insert(key, Arc::new(read));
    }
    for (name, device) in file.devices {
        let found = undelivered_files(device.uncarried.iter().map(String::as_str), &[]);
        if !found.is_empty() {
            plan.undelivered_files.insert(name.clone(), found);
        }
        let read = read_device(&plan, device)
            .map_err(|reason| PlanFileError::Device { device: name.clone(), reason })?;
        plan.devices.insert(name, Arc::new(read));
    }
    for (name, switch) in file.sonic {
        let read =
            read_sonic(switch).map_err(|reason| PlanFileError::Device { device: name.clone(), reason })?;
        plan.sonic.insert(name, read);
    }
    Ok(plan)
}

fn read_sonic(file: SonicFile) -> Result<SonicPlan, String> {
    let patch: Patch = serde_json::from_value(serde_json::Value::Array(file.patch))
        .map_err(|error| format!("patch: {error}"))?;
    let sent: Vec<String> = patch.operations.iter().map(sonic::line).collect();
    if let Some((shown, sent)) = file.changes.iter().zip(&sent).find(|(shown, sent)| shown != sent) {
        return Err(format!("the plan shows `{shown}`, but `{sent}` would be sent"));
    }
    if file.changes.len() != sent.len() {
        return Err(format!(
            "the plan shows {} changes, but {} would be sent",
            file.changes.len(),
            sent.len()
        ));
    }
    Ok(SonicPlan {
        plane: file.plane,
        updater: file.patched_by,
        has_number: true,
        method: file.how,
        bounces: file.bounces,
        estimate: file.estimate,
        patch,
        live: file.live,
        target_digest: file.desired,
        routing: file.routing,
        undelivered_files: undelivered_files(file.uncarried.iter().map(String::as_str), &[]),
    })
}

fn read_program(file: &ProgramFile) -> Result<Program, String> {
    let p4info = text::read_p4info(&file.p4info).map_err(|error| format!("P4Info: {error}"))?;
    let config = STANDARD.decode(&file.device_config).map_err(|error| format!("device config: {error}"))?;
    let pipeline = Pipeline::from_message(p4info, config.into()).map_err(|error| error.to_string())?;
    if pipeline.cookie() != file.cookie.0 {
        return Err(format!("its cookie is {}; the plan states {}", Cookie(pipeline.cookie()), file.cookie));
    }
    Ok(Program::new(file.name.clone(), pipeline))
}

fn read_device(plan: &Plan, file: DeviceFile) -> Result<DevicePlan, String> {
    let Some(program) = plan.programs.get(&file.program) else {
        return Err(format!("the plan has no program `{}`", file.program));
    };
    let bytes = STANDARD.decode(&file.request).map_err(|error| format!("request: {error}"))?;
    let mut shown = file.changes.iter();
    let mut same = |sent: &str| match shown.next() {
        Some(shown) if shown == sent => Ok(()),
        Some(shown) => Err(format!("the plan shows `{shown}`, but `{sent}` would be sent")),
        None => Err(format!("the plan shows {} changes, but more would be sent", file.changes.len())),
    };
    if file.set_pipeline {
        same(&set_pipeline(&file.program))?;
    }
    // Updates are decoded one at a time, so those that are not shown take no memory.
    let mut updates = Vec::new();
    for update in Elements::<v1::Update>::new(bytes.into(), UPDATES, UPDATE_BYTES) {
        let update = update.map_err(|error| format!("request: {error}"))?;
        same(&line(program, &update))?;
        updates.push(update);
    }
    if shown.next().is_some() {
        return Err(format!("the plan shows {} changes, but fewer would be sent", file.changes.len()));
    }
    Ok(DevicePlan {
        plane: file.plane,
        program: file.program,
        set_pipeline: file.set_pipeline,
        live: file.live,
        target_digest: file.desired,
        omissions: Vec::new(),
        max_entities: updates.len(),
        updates,
    })
}
