//! Why a lab cannot do what it was asked.

use camino::Utf8PathBuf;
use closc_artefacts::path_table::DocumentError;
use closc_artefacts::{ManifestError, Routing};

use crate::feature::Feature;
use crate::name::{FabricName, NameFault};
use crate::target::Target;

/// Why a lab cannot do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// Network namespaces belong to root.
    #[error(
        "a lab makes network namespaces, which only root may: run it with `sudo`, in a virtual machine, or in a \
         container that has CAP_NET_ADMIN and CAP_SYS_ADMIN"
    )]
    NotRoot,
    /// The kernel or a tool lacks something.
    #[error("this machine cannot run the lab:{}", list_features(.0))]
    Missing(Vec<Feature>),
    /// A file of the tree is missing or does not read.
    #[error("`{path}`: {fault}")]
    Tree {
        /// The file or folder.
        path: Utf8PathBuf,
        /// The error.
        fault: TreeFault,
    },
    /// Switches choose the path, and labs walk paths that hosts choose.
    #[error(
        "fabric `{fabric}` has `routing: {routing}`, and {what} needs paths that hosts write (`srv6-static`); \
         `closc lab test`, `cut` and `miswire` send flows over it instead, and `lab job` on target `linux`"
    )]
    Routing {
        /// The fabric.
        fabric: FabricName,
        /// Its routing.
        routing: Routing,
        /// Request.
        what: &'static str,
    },
    /// FRR is not installed.
    #[error(
        "the switches of this fabric run FRR, which is not installed here (Debian: `apt-get install frr`)"
    )]
    NoFrr,
    /// Routes do not come to an end.
    #[error("the routes of this lab do not lead everywhere, or keep changing: {pair} are not joined")]
    Unjoined {
        /// Two NICs.
        pair: String,
    },
    /// A job sends where no path leads.
    #[error(
        "the job sends between {pair}, and no cables join them: choose a pattern and a fabric in which every sender has a path to \
         its receivers"
    )]
    NoPath {
        /// Two NICs.
        pair: String,
    },
    /// Routes change while they are tested.
    #[error(
        "routes of this lab changed during each of {tries} tests: its routers lose their sessions, or have too little processor time"
    )]
    Changing {
        /// Tests that were begun.
        tries: u32,
    },
    /// More devices than one machine should be asked to carry.
    #[error(
        "the fabric has {devices} devices, more than the {limit} that were allowed for one machine: bring up a \
         smaller fabric of the same shape, or raise the limit"
    )]
    TooLarge {
        /// Devices of the tree.
        devices: usize,
        /// The limit.
        limit: usize,
    },
    /// A NIC port that is none.
    #[error("`{name}` is the cable of no NIC port: write one like `su001-n001/nic0.p3`")]
    NoNicPort {
        /// The name.
        name: String,
    },
    /// A plane that is not there.
    #[error("plane {plane} is not there: the fabric has planes 0 to {last}")]
    NoPlane {
        /// The plane.
        plane: u8,
        /// The last there is.
        last: u8,
    },
    /// A faulty element keeps its fault while something else changes.
    #[error("{fault} cannot be added to what is broken already: {standing}")]
    Overlap {
        /// Request.
        fault: String,
        /// Faults.
        standing: String,
    },
    /// Only kernels break cables while packets flow.
    #[error(
        "a job on a lab runs on switches of the kernel (target `linux`), and this lab is on target `{target}`"
    )]
    NoJob {
        /// The target of the lab.
        target: Target,
    },
    /// Ports of other targets do not go down.
    #[error(
        "ports of target `{target}` have no carrier that goes down; without `--down` the cable is cut and both ports stay up"
    )]
    NoCarrier {
        /// The target of the lab.
        target: Target,
    },
    /// Nothing here can lose packets now and then.
    #[error(
        "cables of this machine cannot lose packets now and then: `tc` (iproute2) with clsact and bpf filters          (CONFIG_NET_SCH_INGRESS, CONFIG_NET_CLS_BPF) does it: {message}"
    )]
    NoLoss {
        /// Output.
        message: String,
    },
    /// An agent did not do what it is for.
    #[error("agent of `{nic}`: {what}")]
    Agent {
        /// Its NIC.
        nic: String,
        /// Error.
        what: String,
    },
    /// The switches of the tree are for something else.
    #[error(
        "switch `{switch}` of the tree is not one that target `{target}` runs: {}",
        other_target(*target)
    )]
    WrongTarget {
        /// The target that was asked for.
        target: Target,
        /// A switch.
        switch: String,
    },
    /// Ports of the tree have more bits than those of BMv2.
    #[error(
        "ports of this tree have {bits} bits, as its platform says (`port_bits`), and those of {who} have the 9 of v1model: \
         use `--target embedded`, or `--target bmv2 --switch-program closc`"
    )]
    WidePorts {
        /// Switches with narrower ports.
        who: String,
        /// Bits of a port.
        bits: u32,
    },
    /// An address was asked for where every switch has a socket of its own.
    #[error(
        "`--listen` is for target `embedded`: switches of target `{target}` have no address of the network"
    )]
    Listen {
        /// The target.
        target: Target,
    },
    /// Nodes have no configuration for the kernel.
    #[error(
        "node `{node}` of the tree has no configuration, and on target `{target}` the kernel plays the nodes: write \
         `os: linux` below `hosts`, or use `--target embedded`"
    )]
    NoNodes {
        /// The target that was asked for.
        target: Target,
        /// A node.
        node: String,
    },
    /// Nodes have no configuration, and nothing else says their addresses.
    #[error(
        "node `{node}` of the tree has no configuration, and where switches choose the path nothing else says its \
         addresses: write `os: linux` below `hosts`"
    )]
    NoAddresses {
        /// A node.
        node: String,
    },
    /// BMv2 has no text for ids.
    #[error(
        "entries of switch `{switch}` name ports and next hops by text (`os: pins`), and {who} has numbers for them: use \
         `--target embedded`, or `--target bmv2 --switch-program closc`"
    )]
    Text {
        /// Marker for missing text.
        who: String,
        /// A switch.
        switch: String,
    },
    /// A program that runs switches is not there.
    #[error(
        "`{program}` is not in PATH: build p4lang/behavioral-model with its gRPC target, or run the embedded switch in \
         its place with `--switch-program closc`, or take `--target embedded`"
    )]
    NoProgram {
        /// The program.
        program: String,
    },
    /// A program that runs switches did not start.
    #[error("{what} did not start: {message}")]
    Start {
        /// Started parts.
        what: String,
        /// Its message.
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
    /// A switch does not answer over P4Runtime.
    #[error("`{device}`: {message}")]
    P4Runtime {
        /// The switch.
        device: String,
        /// Error.
        message: String,
    },
    /// The process of a lab does not do what it is asked.
    #[error("the process of the lab: {0}")]
    Process(String),
    /// Namespaces of the same names exist and are not ours.
    #[error(
        "{} that this lab did not make: delete what is not needed, for example with \
         `ip netns del {}`", count(.0.len(), "namespace exists", "namespaces exist"), .0.first().map_or("", |n| n)
    )]
    Foreign(Vec<String>),
    /// The folder that remembers labs belongs to another user.
    #[error("`{folder}` belongs to user {owner} or is a link: remove it, or name another with CLOSC_RUNTIME")]
    NotOurs {
        /// The folder.
        folder: Utf8PathBuf,
        /// Number of its owner.
        owner: u32,
    },
    /// Others may put files into the folder that remembers labs, or another folder in its place.
    #[error("others may write to `{folder}`: `chmod go-w` it, or name another folder with CLOSC_RUNTIME")]
    Writable {
        /// The folder, or one above it.
        folder: Utf8PathBuf,
    },
    /// Nothing is up under that name.
    #[error("no lab of fabric `{fabric}` is up (nothing in `{runtime}`): bring it up with `closc lab up`")]
    NotUp {
        /// The fabric.
        fabric: String,
        /// Folder that was looked in.
        runtime: Utf8PathBuf,
    },
    /// The running lab differs from the tree.
    #[error("lab `{fabric}` was brought up from other artefacts: take it down and bring it up again")]
    Changed {
        /// The fabric.
        fabric: String,
    },
    /// The process that brought the lab up ended too early.
    #[error(
        "bringing lab `{fabric}` up was not finished: take it down with `closc lab down`, or bring it up again, which \
         removes what is left first"
    )]
    HalfBuilt {
        /// The fabric.
        fabric: String,
    },
    /// Another process works on the same lab.
    #[error("another process works on lab `{fabric}` right now")]
    Busy {
        /// The fabric.
        fabric: String,
    },
    /// A name that is not a cable.
    #[error("no cable is called `{name}`{}", similar(.like))]
    NoCable {
        /// Request.
        name: String,
        /// Names that look like it.
        like: Vec<String>,
    },
    /// A name that is neither a switch nor a cable.
    #[error("no switch and no cable is called `{name}`{}", similar(.like))]
    NoPart {
        /// Request.
        name: String,
        /// Names that look like it.
        like: Vec<String>,
    },
    /// A cable that was already tampered with, or given twice.
    #[error("cable `{name}` {why}")]
    CableInUse {
        /// The cable.
        name: String,
        /// Use.
        why: &'static str,
    },
    /// `ip` refused something.
    #[error("`{command}` failed on `{device}`: {message}")]
    Command {
        /// Command.
        command: String,
        /// Where.
        device: String,
        /// Its message.
        message: String,
    },
    /// A device is left over that could not be removed.
    #[error("{} could not be removed, first `{}`", count(.0.len(), "namespace", "namespaces"), .0.first().map_or("", |n| n))]
    Leftover(Vec<String>),
    /// A file or socket.
    #[error("{what}: {source}")]
    Io {
        /// Operation.
        what: String,
        /// Error of the system.
        source: std::io::Error,
    },
    /// Created parts of a lab are removed again.
    #[error("{error}; what was made of the lab is taken down again")]
    TakenDown {
        /// Error.
        error: Box<LabError>,
    },
    /// Cables that were moved went back.
    #[error("{error}; every cable is back where it belongs")]
    Undone {
        /// Error.
        error: Box<LabError>,
    },
    /// Cables that were moved are still where they do not belong.
    #[error("{error}; {changes}, and putting them back failed: {cause}; try `closc lab restore`")]
    NotUndone {
        /// Error.
        error: Box<LabError>,
        /// Actions on cables.
        changes: String,
        /// Why they could not be put back.
        cause: Box<LabError>,
    },
    /// Rights that cannot be given up.
    #[error("rights that a lab does not need cannot be given up: {0}")]
    Privilege(String),
    /// Text that names no fabric.
    #[error("{0}")]
    Name(#[from] NameFault),
    /// Ctrl-C was pressed.
    #[error("interrupted")]
    Interrupted,
}

/// Errors of a file of the tree.
#[derive(Debug, thiserror::Error)]
pub enum TreeFault {
    /// It is not there or cannot be read.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// The manifest does not list it.
    #[error("the manifest of the tree does not list it: compile the tree again")]
    Unlisted,
    /// It is not what was compiled.
    #[error(
        "it is not what the manifest says: compile the tree again, or take it as it is with `--no-digests`"
    )]
    Digest,
    /// A folder, a link, a device or a pipe.
    #[error("it is not a regular file of the tree")]
    NoFile,
    /// No text.
    #[error("it is not UTF-8 text")]
    NoText,
    /// More than any tree has.
    #[error("it has more than {0} bytes")]
    TooLong(u64),
    /// A path that leads out of the tree, or none at all.
    #[error("{0:?} is not a path inside the tree")]
    Path(String),
    /// Fields of a segment that are wider than it.
    #[error("the fields of a segment take more than its 16 bits")]
    Fields,
    /// A name that cannot be one.
    #[error("{0}")]
    Name(String),
    /// Not the JSON of a path table.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// No manifest to go by.
    #[error("{0}")]
    Manifest(#[from] ManifestError),
    /// Not the JSON of a path table.
    #[error("{0}")]
    Document(#[from] DocumentError),
    /// A row of a cable list with a word that is none.
    #[error("`{word}` is not a {what} of a cable")]
    Word {
        /// Which column.
        what: &'static str,
        /// The word.
        word: String,
    },
    /// Not a cable list.
    #[error("{0}")]
    Csv(#[from] csv::Error),
    /// Not a binary path table.
    #[error("{0}")]
    Table(closc_paths::Fault),
    /// A version that this program does not know.
    #[error("form `{0}` is not known here")]
    Form(String),
    /// Nothing of the kind is there.
    #[error("there is no {0}: is this a compiled tree of a fabric with source routing?")]
    Nothing(&'static str),
    /// Tables of two fabrics lie side by side.
    #[error("it belongs to fabric `{found}`, the others to `{expected}`")]
    OtherFabric {
        /// Fabric of this file.
        found: String,
        /// Fabric of the first.
        expected: String,
    },
    /// A cable to a device without files.
    #[error(
        "switch `{0}` has cables, and none of the files `ip.batch`, `entries.txtpb` and `pins.txtpb` is in \
         `switches/{0}`: labs run switches with `os: linux`, `frr`, `p4` or `pins`"
    )]
    NoDevice(String),
    /// Entries for a chip.
    #[error(
        "the entries of switch `{0}` are for Tofino (`tna.txtpb`), whose program no switch of a lab runs: on platform `bmv2`, \
         `os: p4` runs in labs with the same tables"
    )]
    Chip(String),
    /// Segments of PINS hardware, which no program of a lab has a table for.
    #[error(
        "the segments of switch `{0}` are in its CONFIG_DB, which no switch of a lab reads: `os: pins` runs in labs with \
         `routing: ecmp-static`, and `os: p4` runs the same segments"
    )]
    Segments(String),
    /// P4Info or entries.
    #[error("{0}")]
    P4(String),
    /// A port of a P4 switch whose number is not known.
    #[error(
        "port `{0}` has a cable and no entry in `ingress.port_role` under the number at the end of its name: compile \
         the tree again"
    )]
    Port(String),
    /// A port of a switch that runs `sai` whose number is not known.
    #[error("port `{0}` has a cable and no router interface of its name: compile the tree again")]
    Interface(String),
    /// No MAC address.
    #[error("{0:?} is not a MAC address")]
    Mac(String),
    /// A port with two cables.
    #[error("port `{0}` has two cables")]
    TwoCables(String),
    /// A NIC without a port in the cable list.
    #[error("the table has NIC `{0}`, whose ports are in no cable list")]
    NoNic(String),
    /// A node that does not decapsulate what the table sends it.
    #[error("`{port}` is to receive segment {segment}, but its node does not decapsulate it")]
    NoDecapsulation {
        /// The NIC port.
        port: String,
        /// The segment.
        segment: String,
    },
    /// A command in a file where it has no place.
    #[error("{0}")]
    Misplaced(String),
    /// A line that does not parse.
    #[error("line {line}: {what}")]
    Line {
        /// Line, from 1.
        line: usize,
        /// The error.
        what: String,
    },
}

impl LabError {
    /// Adds what was being done to an input or output error.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> LabError {
        let what = what.into();
        move |source| LabError::Io { what, source }
    }

    /// The same for errors of system calls.
    pub(crate) fn os(what: impl Into<String>) -> impl FnOnce(nix::errno::Errno) -> LabError {
        let what = what.into();
        move |errno| LabError::Io { what, source: errno.into() }
    }

    /// Names the file a fault was found in.
    pub(crate) fn tree<F: Into<TreeFault>>(path: impl Into<Utf8PathBuf>) -> impl FnOnce(F) -> LabError {
        let path = path.into();
        move |fault| LabError::Tree { path, fault: fault.into() }
    }
}

fn list_features(missing: &[Feature]) -> String {
    missing.iter().fold(String::new(), |text, feature| format!("{text}\n  - {feature}"))
}

fn other_target(target: Target) -> &'static str {
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
    if names.is_empty() { String::new() } else { format!("; there are `{}`", names.join("`, `")) }
}

/// Writes a number with its noun.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}
