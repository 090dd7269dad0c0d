//! V01: files are those of the manifest, and every word in them is understood.

use closc_diagnostics::Rule;

/// The bytes are those that were compiled.
pub(crate) static DIGEST: Rule = Rule {
    code: "V0101",
    title: "a file is not the one that was compiled",
    what: "Size and BLAKE3 digest of every file are those that `manifest.json` states.",
    why: "A tree is reviewed once and pushed later; a file that changed in between was not reviewed.",
    example: "switches/p0-t0-001/config_db.json edited by hand after `closc compile`",
    fix: "Compile again, or put the change into the fabric file or a template.",
};

/// The text is of its language.
pub(crate) static PARSES: Rule = Rule {
    code: "V0102",
    title: "a file does not parse",
    what: "Every file is of the language that its name says, and every value in it is of its type.",
    why: "A device refuses such a file, or takes half of it.",
    example: "\"PORT\": { \"Ethernet0\": { \"mtu\": \"large\" } }",
    fix: "Compile again; if the file is as it was compiled, report a fault of the renderer.",
};

/// Nothing is said that the proof does not know.
pub(crate) static KNOWN: Rule = Rule {
    code: "V0103",
    title: "a word that the proof does not know",
    what: "A file holds only tables, commands and fields whose effect on forwarding is known here, and every \
           name that is referred to is there.",
    why: "What is not understood might forward packets behind the proof's back.",
    example: "\"VLAN\": { \"Vlan100\": {} }",
    fix: "Take it out, or teach the reader of that language what it means.",
};

/// Devices have the files of one language.
pub(crate) static COMPLETE: Rule = Rule {
    code: "V0104",
    title: "a device has no configuration",
    what: "Every folder below `switches/` holds the files of exactly one switch operating system, the device \
           names itself as its folder does, and every device of the cable lists has a folder.",
    why: "A switch without a configuration forwards nothing; one that got another's configuration misdelivers.",
    example: "\"hostname\": \"p0-t0-002\" in switches/p0-t0-001/config_db.json",
    fix: "Compile again.",
};

/// Settings of the whole device that forwarding depends on.
pub(crate) static SETTINGS: Rule = Rule {
    code: "V0105",
    title: "a setting that forwarding depends on",
    what: "Switches forward IPv6 and nodes do not, the device that segments are bound to is made, of a kind that takes them, and nothing else is, no routing \
           protocol runs but the one that the fabric speaks, and the version of the routing suite installs static segments. The `frr.conf` of SONiC hands routes to the chip (`fpm`). What SONiC says of the device as a whole leaves announcements, next hops and buffers as they are by default; services that routes pass through (`FEATURE`: `bgp`, `swss`, `syncd`) run. Access lists of the control plane let neighbour discovery, BGP and BFD through.",
    why: "With any of these wrong the tables are right and no packet moves.",
    example: "net.ipv6.conf.all.forwarding = 0",
    fix: "Compile again; if a template overlay changes the setting, take it out of the overlay.",
};

/// Settings of the whole device are alike.
pub(crate) static SAME: Rule = Rule {
    code: "V0106",
    title: "a setting of the whole device is another than on other switches",
    what: "What a switch says of itself as a whole, apart from what tells switches apart (name, type, hardware, \
           addresses), is the same on all switches of its language; with SONiC also which servers it asks and tells \
           (`NTP`, `NTP_SERVER`, `SNMP`, `SYSLOG_SERVER`).",
    why: "Such settings decide which program routes, how buffers are modelled, and whether sessions start by \
          themselves: one switch that differs behaves otherwise under the same tables.",
    example: "\"docker_routing_config_mode\": \"unified\" on one switch",
    fix: "Compile again; a template overlay may not change single switches.",
};

/// Nothing is there that nobody knows.
pub(crate) static EXTRA: Rule = Rule {
    code: "V0107",
    title: "an unread file",
    what: "Every file of the tree is in the manifest, and every file of the manifest is read by the proof or named in the report as not judged.",
    why: "An unchecked file is pushed all the same, and a folder of an unknown device was forgotten or added.",
    example: "switches/p0-t0-001/boot.sh",
    fix: "Remove it, or compile again.",
};

/// The program is ours.
pub(crate) static PIPELINE: Rule = Rule {
    code: "V0108",
    title: "a pipeline that is not the one of this program",
    what: "The P4 program and its P4Info are byte for byte those that this program ships, where it says which.",
    why: "Entries say what is in a table; what a table does is in the program. A program without its filters forwards what the entries forbid.",
    example: "p4/fabric.bmv2.json without the table ingress.nic_source",
    fix: "Compile again.",
};

/// The manifest counts right.
pub(crate) static COUNTS: Rule = Rule {
    code: "V0109",
    title: "a manifest that does not fit the tree",
    what: "Planes, NICs, T0s, T1s, T2s and cables are as many as the manifest counts.",
    why: "Plans made from the manifest would be for another fabric. A list that lost its last rows still parses.",
    example: "\"t1\": 31 with 32 T1s",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] =
    &[&DIGEST, &PARSES, &KNOWN, &COMPLETE, &SETTINGS, &SAME, &EXTRA, &PIPELINE, &COUNTS];
