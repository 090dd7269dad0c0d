//! A fabric as a Mininet script. Hosts run in the kernel; switches are BMv2 or embedded switches.
//!
//! In: a tree of P4 switches and Linux nodes. Out: a self-contained Python program. Invariants: it needs Mininet and
//! root, but neither Open vSwitch nor a controller. Switches serve P4Runtime at Unix sockets in a folder, so they are
//! not reachable from outside their namespaces. The same tree gives the same script.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::LabError;
use crate::backend::p4;
use crate::model::Model;
use crate::target::Target;
use crate::traffic;
use crate::tree::{Command, DeviceKind, GroupTable, KernelFiles, Program, Tree};

/// The constant part of every script, which uses the tables.
const PROGRAM: &str = include_str!("mininet/script.py");

/// Python modules that it imports.
const IMPORTS: &str = "\
import argparse
import json
import os
import socket
import struct
import subprocess
import sys
import time
";

/// Files of a node, with the field names that the script uses.
#[derive(Serialize)]
struct Files {
    sysctl: String,
    devices: String,
    batch: String,
    routes: String,
}

/// Writes the script of a tree; `switch` is the default program of its switches.
pub fn script(tree: &Tree, model: &Model, switch: &str) -> Result<String, LabError> {
    tree.needs_paths("a Mininet script")?;
    Target::Bmv2.check(tree)?;
    p4::SpecialPorts::of(tree, Program::Fabric)?.narrow("a Mininet script")?;
    let mut hosts = BTreeMap::new();
    for (name, device) in tree.devices.iter().filter(|(_, device)| device.kind == DeviceKind::Node) {
        let files = KernelFiles::of(tree, device);
        let text = |commands: Vec<Command>| Command::write_all(&commands);
        let sysctl =
            files.sysctls()?.iter().map(|s| s.name() + " = " + &s.value.to_string() + "\n").collect();
        let (devices, batch) = (text(files.devices()?), text(files.batch()?));
        let routes = text(files.routes()?);
        hosts.insert(name, Files { sysctl, devices, batch, routes });
    }
    let switches: Vec<_> = p4::device_ids(tree)
        .map(|(name, id)| {
            let ports: Vec<_> =
                tree.devices[name].numbers.iter().map(|(port, number)| (number, port)).collect();
            (name, id, ports)
        })
        .collect();
    let cables: Vec<_> = tree
        .cables
        .iter()
        .map(|row| (&row.lower.device, &row.lower.port, &row.upper.device, &row.upper.port))
        .collect();
    let planes: BTreeMap<_, _> = tree
        .cables
        .iter()
        .flat_map(|row| [(&row.lower.device, row.plane), (&row.upper.device, row.plane)])
        .filter(|(name, _)| !hosts.contains_key(name))
        .collect();
    let mut out = format!(
        "#!/usr/bin/env python3\n\"\"\"Fabric {fabric} in Mininet, written by closc. Run it as root; \
         `--help` lists options.\n\n\
         Program its switches with `closc push TREE --inventory INVENTORY`.\n\"\"\"\n\n{IMPORTS}\n",
        fabric = tree.fabric
    );
    let udp_port = tree.tables.first().map_or(0, GroupTable::udp_port);
    constant(&mut out, "", "FABRIC", &tree.fabric);
    constant(&mut out, "", "SWITCH", &switch);
    constant(&mut out, "", "UDP_PORT", &udp_port);
    list(&mut out, "Name, device id, and number and name of each port.", "SWITCHES", &switches);
    constant(&mut out, "Plane of each switch.\n", "PLANES", &planes);
    list(&mut out, "Lower device and port, upper device and port.", "CABLES", &cables);
    constant(&mut out, "The files of each node.\n", "HOSTS", &hosts);
    let what = "Sender and its port, outer source and destination; receiver, inner source and destination.";
    list(&mut out, what, "PATHS", &paths(tree, model));
    out.push_str(PROGRAM);
    Ok(out)
}

/// Returns every path in the form that the script uses.
fn paths(tree: &Tree, model: &Model) -> Vec<[String; 7]> {
    let mut paths = Vec::new();
    for (table, from) in traffic::nics(tree) {
        for path in traffic::outgoing(tree, model, table, from).paths {
            let (sender, port) = model.end(path.port);
            let name = |device: crate::model::DeviceId| model.devices[device.0].name.clone();
            let Ok(route) = &path.route else { continue };
            let source = from.address.to_string();
            paths.push([
                name(sender),
                port.to_owned(),
                source.clone(),
                path.table_path.destination.to_string(),
                name(model.end(route.end()).0),
                source,
                path.to.address.to_string(),
            ]);
        }
    }
    paths
}

/// Writes a constant. Strings, numbers, lists and objects have the same syntax in JSON and Python.
fn constant(out: &mut String, comment: &str, name: &str, value: &impl Serialize) {
    let comment = if comment.is_empty() { String::new() } else { format!("# {comment}") };
    let _ = writeln!(out, "{comment}{name} = {}", json(value));
}

/// Writes a list, one element per line.
fn list(out: &mut String, comment: &str, name: &str, values: &[impl Serialize]) {
    let _ = writeln!(out, "# {comment}\n{name} = [");
    for value in values {
        let _ = writeln!(out, "    {},", json(value));
    }
    out.push_str("]\n");
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("keys are strings")
}
