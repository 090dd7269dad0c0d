//! `closc explain headroom FILE SWITCH PORT`: every term of a port's PFC headroom, with unit and source, and the sum
//! over the switch compared with its buffer.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_diagnostics::figures::format_count;
use closc_plan::SwitchQos;
use closc_qos::Bytes;
use closc_qos::headroom::Headroom;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Args;
use crate::output::{self, Document, Outcome};
use crate::{input, names};

/// The headroom of a port.
pub(crate) const HEADROOM: Document<Explanation> = Document::new("closc-headroom/1");

#[derive(Serialize, JsonSchema)]
pub(crate) struct Explanation {
    switch: String,
    port: String,
    cable: String,
    speed: String,
    headroom: Headroom,
    lossless_classes: u32,
    ports_alike: u32,
    pool: Pool,
}

#[derive(Serialize, JsonSchema)]
struct Pool {
    headroom: Bytes,
    shared: Bytes,
    buffer: Bytes,
}

/// Explains a headroom.
pub fn run(args: &Args, file: &Utf8Path, switch: &str, port: &str) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    let intent = plan.device(names::switch(plan, switch)?);
    let Some(at) = intent.ports.iter().position(|p| p.physical.name == port || p.physical.alias == port)
    else {
        bail!("`{switch}` has no port `{port}`; its first is `{}`", intent.ports[0].physical.name);
    };
    let qos = SwitchQos::of(&intent).map_err(|error| {
        error
            .suggestions()
            .iter()
            .fold(anyhow::anyhow!("{error}"), |e, way| anyhow::anyhow!("{e}\nhelp: {way}"))
    })?;
    let kind = qos.ports[at].with_context(|| format!("nothing is plugged into `{port}` of `{switch}`"))?;
    let buffers = qos.buffers.as_ref().with_context(|| {
        format!("`{}` has no packet buffer of its own: it does not pause", intent.platform.id)
    })?;
    let Some(headroom) = buffers.headroom(kind) else {
        bail!("profile `{}` is lossy: no class pauses, so no port needs headroom", intent.qos.name());
    };
    let explanation = Explanation {
        switch: intent.name.to_string(),
        port: intent.ports[at].physical.name.to_string(),
        cable: qos.kinds[kind].cable.to_string(),
        speed: qos.kinds[kind].speed.to_string(),
        headroom: headroom.clone(),
        lossless_classes: u32::try_from(intent.qos.lossless().count()).unwrap_or(u32::MAX),
        ports_alike: qos.kinds[kind].ports,
        pool: Pool {
            headroom: buffers.pools.headroom,
            shared: buffers.pools.shared,
            buffer: buffers.memory.total,
        },
    };
    output::result(args.format, &HEADROOM, &explanation, human)?;
    Ok(Outcome::Fine)
}

fn human(e: &Explanation) -> String {
    let mut text = format!("{} {}: {} over {}\n\n{}\n", e.switch, e.port, e.speed, e.cable, e.headroom.terms);
    let _ = writeln!(
        text,
        "xoff {} B, xon {} B, size {} B, {} B from the pool of headroom",
        e.headroom.xoff.0, e.headroom.xon.0, e.headroom.size.0, e.headroom.pooled.0
    );
    let _ = writeln!(
        text,
        "{}, {}; headroom of all ports {} B of a buffer of {} B, {} B left to share",
        format_count(e.lossless_classes.into(), "lossless class"),
        format_count(e.ports_alike.into(), "identical port"),
        e.pool.headroom.0,
        e.pool.buffer.0,
        e.pool.shared.0
    );
    text
}
