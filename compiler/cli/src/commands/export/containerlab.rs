//! `closc export containerlab`: a lab of containers with the configurations of a tree.
//!
//! In: a fabric file. Out: `NAME.clab.yml`, and below `configs/` the files of each device, as in a tree. Invariants:
//! nothing is written if a device has no container that accepts its files.

use std::collections::BTreeMap;

use anyhow::Context as _;
use closc_compile::Unit;
use closc_exports::containerlab::{self, Container, Device, LINUX, Lab};
use closc_plan::Plan;
use closc_render::{Artefact, Templates};
use closc_topology::{HostOs, Node, Switch};

use super::configuration::Source;
use super::{list_below, put, stream};
use crate::args::Args;
use crate::args::export::integrations::{ContainerlabArgs, NODE};
use crate::input;
use crate::output::Outcome;

/// Writes the lab.
pub(super) fn run(args: &Args, command: &ContainerlabArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = &input.plan;
    containerlab::fits(plan)?;
    let source = Source::new(plan, command.overlay.as_deref())?;
    let templates = Templates::builtin();
    let (mut devices, mut artefacts) = (Vec::new(), Vec::new());
    for switch in plan.switches() {
        let (device, files) = of_switch(command, &source, plan, switch)?;
        devices.push(device);
        artefacts.extend(files);
    }
    for node in plan.nodes() {
        let (device, files) = of_node(command, &templates, plan, node)?;
        devices.push(device);
        artefacts.extend(files);
    }
    devices.sort_by(|a, b| a.name.cmp(&b.name));
    let lab = Lab::new(plan, devices)?;
    let mut files = put(&command.out, &artefacts)?;
    files.extend(stream(&command.out, &[lab.file()])?);
    list_below(args, &command.out, files)
}

/// Returns the last image that the command line has for a container.
fn image(command: &ContainerlabArgs, name: &str) -> Option<String> {
    command.image.iter().rev().find(|(of, _)| of == name).map(|(_, image)| image.clone())
}

fn names(files: &[(String, Vec<u8>)]) -> Vec<String> {
    files.iter().map(|(name, _)| name.clone()).collect()
}

fn of_switch(
    command: &ContainerlabArgs,
    source: &Source<'_>,
    plan: &Plan,
    switch: Switch,
) -> anyhow::Result<(Device, Vec<Artefact>)> {
    let name = plan.switch_name(switch);
    let mut files = source.files(switch)?.entries;
    let container = Container::of(&name, &names(&files))?;
    let mut numbered = BTreeMap::new();
    if container.numbers_interfaces {
        let ports = plan.device(switch).ports;
        numbered = containerlab::interface_names(&ports);
        files.push(("lanemap.ini".to_owned(), containerlab::lane_map(&ports).into_bytes()));
        files.push(("port_config.ini".to_owned(), containerlab::port_config(&ports).into_bytes()));
    }
    let image = image(command, container.name);
    let files: Vec<_> = files.into_iter().filter(|(file, _)| container.accepts(file)).collect();
    let device = Device {
        name: name.clone(),
        group: switch.tier.keyword(),
        container,
        image,
        files: names(&files),
        interface_names: numbered,
    };
    Ok((device, artefacts(&name, files)))
}

fn of_node(
    command: &ContainerlabArgs,
    templates: &Templates,
    plan: &Plan,
    node: Node,
) -> anyhow::Result<(Device, Vec<Artefact>)> {
    let name = plan.node_name(node);
    // Nodes without `hosts.os: linux` get only ports.
    let mut files = Vec::new();
    if plan.topology().hosts.os == HostOs::Linux {
        for Artefact { path, bytes } in Unit::Host(node).render(plan, templates)? {
            let file = path.file_name().context("a file has a name")?.to_owned();
            if LINUX.accepts(&file) {
                files.push((file, bytes));
            }
        }
    }
    let device = Device {
        name: name.clone(),
        group: NODE,
        container: &LINUX,
        image: image(command, NODE),
        files: names(&files),
        interface_names: BTreeMap::new(),
    };
    Ok((device, artefacts(&name, files)))
}

fn artefacts(device: &str, files: Vec<(String, Vec<u8>)>) -> Vec<Artefact> {
    let place = |file: &str| format!("configs/{device}/{file}");
    files.into_iter().map(|(file, bytes)| Artefact::new(place(&file), bytes)).collect()
}
