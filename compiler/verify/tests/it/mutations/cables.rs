//! Damage to cable lists, and to the manifest without updating its digests.

use crate::base::Base::{Declared, Linux, Lossless, P4, Sonic, Zones};
use crate::common::damage::Damage::{Exchange, Gone, Lost, More, Same, Text, Twice};
use crate::mutations::Mutation;

const LIST: &str = "cables/plane-0.csv";

#[rustfmt::skip] // A table: one row per line.
pub(crate) const LISTS: &[Mutation] = &[
    ("two cables swapped at the T1", Linux, LIST, Exchange("p0-t1-001,eth1,", "p0-t1-001,eth2,"), "V0605"),
    ("two cables swapped at the T0", Linux, LIST, Exchange("p0-t0-001,eth501,", "p0-t0-001,eth502,"), "V0605"),
    ("two cables swapped between T0s", Linux, LIST, Exchange("p0-t0-001,eth501,", "p0-t0-002,eth501,"), "V0605"),
    ("cables of two NICs swapped", Linux, LIST, Exchange("p0-t0-001,eth1,", "p0-t0-001,eth2,"), "V0605"),
    ("cables of NICs of two groups swapped", Linux, LIST, Exchange("p0-t0-001,eth1,", "p0-t0-002,eth1,"), "V0705"),
    ("cables of a SONiC fabric swapped", Sonic, LIST, Exchange("p0-t1-001,Ethernet0,", "p0-t1-002,Ethernet0,"), "V0203"),
    ("cables of a P4 fabric swapped", P4, LIST, Exchange("p0-t0-001,eth255,", "p0-t0-001,eth256,"), "V0605"),
    ("a cable is missing", Linux, LIST, Lost("p0-t0-001,eth501,p0-t1-001"), "V0204"),
    ("a NIC's cable is missing", Linux, LIST, Lost("su001-n001,nic0p0"), "V0204"),
    ("a cable is there twice", Linux, LIST, Twice("p0-t0-001,eth501,p0-t1-001"), "V0202"),
    ("a cable too many", Linux, LIST, More("0,t0-t1,p0-t0-001,eth503,p0-t1-001,eth3,2m,virtual,up\n"), "V0204"),
    ("a cable to a switch that is not there", Linux, LIST, More("0,t0-t1,p0-t0-001,eth503,p0-t1-009,eth3,2m,virtual,up\n"), "V0201"),
    ("a cable to a switch of another plane", Linux, LIST, Text("p0-t1-001,eth1", "p1-t1-001,eth1"), "V0201"),
    ("a cable between two T0s", Linux, LIST, Text("t0-t1,p0-t0-001,eth501,p0-t1-001,eth1", "t0-t1,p0-t0-001,eth501,p0-t0-002,eth502"), "V0201"),
    ("a cable of another kind", Linux, LIST, Text("0,t0-t1,p0-t0-001", "0,t1-t2,p0-t0-001"), "V0201"),
    ("an unknown kind", Linux, LIST, Text("0,t0-t1,p0-t0-001", "0,up,p0-t0-001"), "V0201"),
    ("a cable of another plane", Linux, LIST, Text("0,t0-t1,p0-t0-001", "1,t0-t1,p0-t0-001"), "V0201"),
    ("a port that is not there", Linux, LIST, Text("p0-t0-001,eth501", "p0-t0-001,eth599"), "V0204"),
    ("a length that is none", Linux, LIST, Text("2m,virtual,up", "long,virtual,up"), "V0201"),
    ("a longer cable than the switch believes", Lossless, LIST, Text("2m,dac,up", "40m,dac,up"), "V0303"),
    ("an unknown state", Linux, LIST, Text("2m,virtual,up", "2m,virtual,broken"), "V0201"),
    ("drained and in use", Linux, LIST, Text("2m,virtual,up", "2m,virtual,drained"), "V0803"),
    ("in use and denied as drained", Declared, "cables/plane-1.csv", Text("drained", "up"), "V0804"),
    ("a row without a state", Linux, LIST, Text("2m,virtual,up", "2m,virtual"), "V0102"),
    ("another header", Linux, LIST, Text("lower_device", "from"), "V0102"),
    ("the list of another plane", Linux, LIST, Same("cables/plane-1.csv"), "V0201"),
    ("no list", Linux, LIST, Gone, "V0104"),
    ("cables of two zones swapped", Zones, LIST, Exchange("p0-t2-001,eth1,", "p0-t2-001,eth2,"), "V0605"),
];

/// The manifest is not updated, so these mutations are found by digests.
#[rustfmt::skip] // A table: one row per line.
pub(crate) const UNSIGNED: &[Mutation] = &[
    ("a comment is added", Linux, "switches/p0-t0-001/ip.batch", More("# by hand\n"), "V0101"),
    ("a list ends in an empty line", Linux, LIST, More("\n"), "V0101"),
    ("a path table is laid out otherwise", Linux, "path-tables/group-0001.json", Text("  ", "    "), "V0101"),
    ("the pipeline's program is another", P4, "p4/fabric.bmv2.json", Text("fabric", "fabrik"), "V0101"),
    ("a file is lost", Linux, "switches/p0-t0-001/sysctl.conf", Gone, "V0101"),
    ("a node's routes are lost", Linux, "hosts/su001-n001/routes.batch", Gone, "V0101"),
    ("the digest of a file is another", Linux, "manifest.json", Text("\"blake3\": \"", "\"blake3\": \"0"), "V0101"),
    ("the size of a file is another", Linux, "manifest.json", Text("\"size\": ", "\"size\": 1"), "V0101"),
];
