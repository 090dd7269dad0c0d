//! Errors of labs.

use camino::Utf8PathBuf;
use closc_artefacts::path_table::DocumentError;
use closc_artefacts::{ManifestError, Routing};

use crate::feature::Feature;
use crate::name::{FabricName, NameFault};
use crate::target::Target;

/// Errors of labs.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// Only root can create network namespaces.
    #[error(
        "a lab creates network namespaces, which needs root: run it with `sudo`, in a virtual machine, or in \
         a container that has CAP_NET_ADMIN and CAP_SYS_ADMIN"
    )]
    NotRoot,
    /// The kernel or a program lacks a feature.
    #[error("this machine cannot run the lab:{}", list_features(.0))]
    Missing(Vec<Feature>),
    /// A file of the tree is missing or invalid.
    #[error("`{path}`: {fault}")]
    Tree {
        /// The file or folder.
        path: Utf8PathBuf,
        /// The error.
        fault: TreeFault,
    },
    /// Switches choose the path, but the operation needs paths that hosts choose.
    #[error(
        "fabric `{fabric}` has `routing: {routing}`, but {operation} needs `srv6-static`, where hosts choose \
         paths; use `closc lab test`, `cut` or `miswire`, or `lab job` on target `linux`, which send flows \
         instead"
    )]
    Routing {
        /// The fabric.
        fabric: FabricName,
        /// Its routing.
        routing: Routing,
        /// The operation.
        operation: &'static str,
    },
    /// FRR is not installed.
    #[error(
        "the switches of this fabric run FRR, which is not installed here (Debian: `apt-get install frr`)"
    )]
    NoFrr,
    /// Routes do not converge.
    #[error("the routes of this lab are incomplete or keep changing: {pair} are not connected")]
    Unjoined {
        /// The two NICs without a route.
        pair: String,
    },
    /// A job sends between NICs without a path.
    #[error(
        "the job sends between {pair}, but no path connects them: choose a pattern and a fabric in which \
         every sender has a path to its receivers"
    )]
    NoPath {
        /// Two NICs.
        pair: String,
    },
    /// Routes kept changing during a test.
    #[error(
        "routes of this lab changed during each of {tries} tests: its routers lose their sessions or get too little processor time"
    )]
    Changing {
        /// Number of tests.
        tries: u32,
    },
    /// The fabric has more devices than allowed on one machine.
    #[error(
        "the fabric has {devices} devices, more than the {limit} that are allowed on one machine: bring up \
         a smaller fabric of the same shape, or raise the limit"
    )]
    TooLarge {
        /// Devices of the tree.
        devices: usize,
        /// The limit.
        limit: usize,
    },
    /// No NIC port has this name.
    #[error("`{name}` is not the cable of a NIC port: write for example `su001-n001/nic0.p3`")]
    NoNicPort {
        /// The name.
        name: String,
    },
    /// The plane does not exist.
    #[error("no plane {plane} in this fabric; expected 0 to {last}")]
    NoPlane {
        /// The plane.
        plane: u8,
        /// The last plane.
        last: u8,
    },
    /// The fault overlaps with an earlier one.
    #[error("{fault} conflicts with the active faults: {active_faults}")]
    Overlap {
        /// The new fault.
        fault: String,
        /// Faults that have not been repaired.
        active_faults: String,
    },
    /// Only targets that use the kernel can break cables while packets flow.
    #[error("a job on a lab needs kernel switches (target `linux`), but this lab has target `{target}`")]
    NoJob {
        /// The target of the lab.
        target: Target,
    },
    /// Ports of this target cannot lose their carrier.
    #[error(
        "ports of target `{target}` have no carrier to take down; omit `--down` to cut the cable while its \
         ports stay up"
    )]
    NoCarrier {
        /// The target of the lab.
        target: Target,
    },
    /// This machine cannot simulate packet loss on cables.
    #[error(
        "this machine cannot make cables lose packets at random, which needs `tc` (iproute2) with clsact and \
         bpf filters (CONFIG_NET_SCH_INGRESS, CONFIG_NET_CLS_BPF): {message}"
    )]
    NoLoss {
        /// Output of the command.
        message: String,
    },
    /// An agent failed.
    #[error("agent of `{nic}`: {failure}")]
    Agent {
        /// Its NIC.
        nic: String,
        /// The failure.
        failure: String,
    },
    /// The switches of the tree are for another target.
    #[error(
        "target `{target}` cannot run switch `{switch}` of the tree: {}",
        target_advice(*target)
    )]
    WrongTarget {
        /// The requested target.
        target: Target,
        /// The switch.
        switch: String,
    },
    /// Port numbers of the tree have more bits than those of BMv2.
    #[error(
        "port numbers of this tree have {bits} bits (`port_bits` of its platform), but those of {program} \
         have 9: use `--target embedded`, or `--target bmv2 --switch-program closc`"
    )]
    WidePorts {
        /// The program with narrower ports.
        program: String,
        /// Bits of a port.
        bits: u32,
    },
    /// `--listen` was given for a target without a common endpoint.
    #[error("`--listen` is for target `embedded`: switches of target `{target}` have no network address")]
    Listen {
        /// The target.
        target: Target,
    },
    /// The tree has no kernel configuration for nodes.
    #[error(
        "node `{node}` of the tree has no configuration, but target `{target}` runs nodes in the kernel: \
         write `os: linux` below `hosts`, or use `--target embedded`"
    )]
    NoNodes {
        /// The requested target.
        target: Target,
        /// The node.
        node: String,
    },
    /// The tree has no configuration for nodes, and no other file contains their addresses.
    #[error(
        "node `{node}` of the tree has no configuration, which sets its addresses if switches choose the \
         path: write `os: linux` below `hosts`"
    )]
    NoAddresses {
        /// The node.
        node: String,
    },
    /// The switch program does not support text ids.
    #[error(
        "entries of switch `{switch}` identify ports and next hops by name (`os: pins`), but {program} needs \
         numbers: use `--target embedded`, or `--target bmv2 --switch-program closc`"
    )]
    Text {
        /// The switch program.
        program: String,
        /// The switch.
        switch: String,
    },
    /// The program for switches is missing.
    #[error(
        "`{program}` is not in PATH: build p4lang/behavioral-model with its gRPC target, or use the embedded \
         switch instead (`--switch-program closc` or `--target embedded`)"
    )]
    NoProgram {
        /// The program.
        program: String,
    },
    /// The program for switches did not start.
    #[error("{program} did not start: {message}")]
    Start {
        /// The program.
        program: String,
        /// Its output.
        message: String,
    },
    /// A switch has no pipeline yet.
    #[error(
        "switch `{device}` has no pipeline yet: program the lab with `closc push {tree} --inventory lab`"
    )]
    NotProgrammed {
        /// The switch.
        device: String,
        /// The tree.
        tree: Utf8PathBuf,
    },
    /// A P4Runtime request failed.
    #[error("`{device}`: {message}")]
    P4Runtime {
        /// The switch.
        device: String,
        /// The error.
        message: String,
    },
    /// The process of a lab failed.
    #[error("the process of the lab: {0}")]
    Process(String),
    /// Namespaces with the same names exist, but were not created by this lab.
    #[error(
        "{} that this lab did not create: delete what is not needed, for example with \
         `ip netns del {}`", count(.0.len(), "namespace exists", "namespaces exist"), .0.first().map_or("", |n| n)
    )]
    Foreign(Vec<String>),
    /// The runtime folder belongs to another user.
    #[error("`{folder}` belongs to user {owner} or is a link: remove it, or set another in CLOSC_RUNTIME")]
    NotOurs {
        /// The folder.
        folder: Utf8PathBuf,
        /// User id of its owner.
        owner: u32,
    },
    /// Other users could write to the runtime folder, or replace it.
    #[error("others may write to `{folder}`: `chmod go-w` it, or set another in CLOSC_RUNTIME")]
    Writable {
        /// The folder, or one above it.
        folder: Utf8PathBuf,
    },
    /// The lab does not exist.
    #[error("no lab of fabric `{fabric}` is up (nothing in `{runtime}`): bring it up with `closc lab up`")]
    NotUp {
        /// The fabric.
        fabric: String,
        /// The folder that was searched.
        runtime: Utf8PathBuf,
    },
    /// The running lab was created from another tree.
    #[error("lab `{fabric}` was brought up from other artefacts: take it down and bring it up again")]
    Changed {
        /// The fabric.
        fabric: String,
    },
    /// A previous start of the lab was not completed.
    #[error(
        "lab `{fabric}` is only partly up: take it down with `closc lab down`, or bring it up again, which \
         first removes the partial lab"
    )]
    HalfBuilt {
        /// The fabric.
        fabric: String,
    },
    /// Another process is using the same lab.
    #[error("another process is changing lab `{fabric}`")]
    Busy {
        /// The fabric.
        fabric: String,
    },
    /// No cable has this name.
    #[error("no cable is named `{name}`{}", similar(.like))]
    NoCable {
        /// The name.
        name: String,
        /// Similar names.
        like: Vec<String>,
    },
    /// No switch or cable has this name.
    #[error("no switch or cable is named `{name}`{}", similar(.like))]
    NoPart {
        /// The name.
        name: String,
        /// Similar names.
        like: Vec<String>,
    },
    /// The cable was already moved or cut, or given twice.
    #[error("cable `{name}` {reason}")]
    CableInUse {
        /// The cable.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// A command such as `ip` or `tc` returned an error.
    #[error("`{command}` failed on `{device}`: {message}")]
    Command {
        /// Command.
        command: String,
        /// The device.
        device: String,
        /// Output of the command.
        message: String,
    },
    /// Namespaces could not be removed.
    #[error(
        "{} could not be removed (first: `{}`)",
        count(.0.len(), "namespace", "namespaces"), .0.first().map_or("", |n| n)
    )]
    Leftover(Vec<String>),
    /// An input or output error.
    #[error("{operation}: {source}")]
    Io {
        /// Operation.
        operation: String,
        /// The system error.
        source: std::io::Error,
    },
    /// An error during creation; the lab was removed.
    #[error("{error}; the partial lab was removed")]
    TakenDown {
        /// Error.
        error: Box<LabError>,
    },
    /// An error; moved cables were put back.
    #[error("{error}; all cables are restored")]
    Undone {
        /// Error.
        error: Box<LabError>,
    },
    /// An error; moved cables could not be put back.
    #[error("{error}; {changes}, and restoring them failed: {cause}; try `closc lab restore`")]
    NotUndone {
        /// Error.
        error: Box<LabError>,
        /// Moved cables.
        changes: String,
        /// Reason why they could not be put back.
        cause: Box<LabError>,
    },
    /// Capabilities could not be dropped.
    #[error("privileges that a lab does not need cannot be dropped: {0}")]
    Privilege(String),
    /// The text is not a valid name.
    #[error("{0}")]
    Name(#[from] NameFault),
    /// Interrupted, for example by Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

/// Errors of a file of the tree.
#[derive(Debug, thiserror::Error)]
pub enum TreeFault {
    /// It is missing or cannot be read.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// The manifest does not list it.
    #[error("the manifest of the tree does not list it: compile the tree again")]
    Unlisted,
    /// Its digest differs from that in the manifest.
    #[error("it differs from the manifest: compile the tree again, or accept it with `--no-digests`")]
    Digest,
    /// It is a folder, link, device or pipe.
    #[error("it is not a regular file of the tree")]
    NoFile,
    /// It is not text.
    #[error("it is not UTF-8 text")]
    NoText,
    /// It is larger than the limit.
    #[error("it has more than {0} bytes")]
    TooLong(u64),
    /// The path is invalid or points outside the tree.
    #[error("{0:?} is not a path inside the tree")]
    Path(String),
    /// The fields of a segment are wider than 16 bits.
    #[error("the fields of a segment need more than 16 bits")]
    Fields,
    /// A name is invalid.
    #[error("{0}")]
    Name(String),
    /// It is not the JSON of a path table.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// The manifest is invalid.
    #[error("{0}")]
    Manifest(#[from] ManifestError),
    /// It is not the JSON of a path table.
    #[error("{0}")]
    Document(#[from] DocumentError),
    /// A row of a cable list has an invalid keyword.
    #[error("`{value}` is not a {column} of a cable")]
    Word {
        /// The column.
        column: &'static str,
        /// The value.
        value: String,
    },
    /// It is not a cable list.
    #[error("{0}")]
    Csv(#[from] csv::Error),
    /// It is not a binary path table.
    #[error("{0}")]
    Table(closc_paths::Fault),
    /// The version of its format is unknown.
    #[error("unknown format `{0}`")]
    Form(String),
    /// Files of this kind are missing.
    #[error("there is no {0}: is this a compiled tree of a fabric with source routing?")]
    Nothing(&'static str),
    /// The path tables belong to different fabrics.
    #[error("it belongs to fabric `{actual}`, but the other files belong to `{expected}`")]
    OtherFabric {
        /// Fabric of this file.
        actual: String,
        /// Fabric of the first.
        expected: String,
    },
    /// A cable ends at a device without files.
    #[error(
        "switch `{0}` does not run in a lab: labs need `os: linux`, `frr`, `p4` or `pins`, whose files \
         (`ip.batch`, `entries.txtpb`, `pins.txtpb`) are not in `switches/{0}`"
    )]
    NoDevice(String),
    /// The entries are for Tofino.
    #[error(
        "the entries of switch `{0}` are for Tofino (`tna.txtpb`), which labs cannot run: write `platform: \
         bmv2` and `os: p4`, which has the same tables"
    )]
    Chip(String),
    /// The segments are in the CONFIG_DB of PINS hardware, which labs do not support.
    #[error(
        "the segments of switch `{0}` are in its CONFIG_DB, which labs do not read: write `os: p4`, or keep \
         `os: pins` with `routing: ecmp-static`"
    )]
    Segments(String),
    /// The P4Info or the entries are invalid.
    #[error("{0}")]
    P4(String),
    /// The number of a port of a P4 switch is unknown.
    #[error(
        "port `{0}` has a cable but no entry in `ingress.port_role` for the number at the end of its name: \
         compile the tree again"
    )]
    Port(String),
    /// The number of a port of a switch with `sai` is unknown.
    #[error("port `{0}` has a cable but no router interface with its name: compile the tree again")]
    Interface(String),
    /// It is not a MAC address.
    #[error("{0:?} is not a MAC address")]
    Mac(String),
    /// A port has two cables.
    #[error("port `{0}` has two cables")]
    TwoCables(String),
    /// A NIC has no port in the cable lists.
    #[error("the table has NIC `{0}`, but its ports are not in any cable list")]
    NoNic(String),
    /// A node does not decapsulate a segment of the path tables.
    #[error("paths send segment {segment} to `{port}`, but its node does not decapsulate it")]
    NoDecapsulation {
        /// The NIC port.
        port: String,
        /// The segment.
        segment: String,
    },
    /// A command is not allowed in this file.
    #[error("{0}")]
    Misplaced(String),
    /// A line does not parse.
    #[error("line {line}: {message}")]
    Line {
        /// Line, from 1.
        line: usize,
        /// The error.
        message: String,
    },
}

impl LabError {
    /// Adds the operation to an input or output error.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> LabError {
        let what = what.into();
        move |source| LabError::Io { operation: what, source }
    }

    /// Adds the operation to an error of a system call.
    pub(crate) fn os(what: impl Into<String>) -> impl FnOnce(nix::errno::Errno) -> LabError {
        let what = what.into();
        move |errno| LabError::Io { operation: what, source: errno.into() }
    }

    /// Adds the file to a fault.
    pub(crate) fn tree<F: Into<TreeFault>>(path: impl Into<Utf8PathBuf>) -> impl FnOnce(F) -> LabError {
        let path = path.into();
        move |fault| LabError::Tree { path, fault: fault.into() }
    }
}

fn list_features(missing: &[Feature]) -> String {
    missing.iter().fold(String::new(), |text, feature| format!("{text}\n  - {feature}"))
}

fn target_advice(target: Target) -> &'static str {
    match target {
        Target::Embedded | Target::Bmv2 => {
            "write `platform: bmv2, os: p4` for every tier, or use `--target linux`"
        }
        Target::Linux => {
            "write `platform: linux, os: linux` for every tier, or use `--target embedded` or `--target bmv2`"
        }
    }
}

fn similar(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; similar names are `{}`", names.join("`, `")) }
}

/// Formats a number with its noun.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}
