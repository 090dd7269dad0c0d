//! V01: files match the manifest, and every setting in them is known.

use closc_diagnostics::Rule;

/// Files match their digests.
pub(crate) static DIGEST: Rule = Rule {
    code: "V0101",
    title: "a file changed after compilation",
    condition: "Size and BLAKE3 digest of every file are those in `manifest.json`.",
    impact: "A tree is reviewed once and pushed later. A file that changed in between was not reviewed.",
    example: "switches/p0-t0-001/config_db.json edited by hand after `closc compile`",
    fix: "Run `closc compile FABRIC --out DIR` to discard the change, with `--force` if a corrupt file kept \
           its size and time. To keep it, put it into the fabric file, a template (`--templates`) or, for \
           SONiC, the `--overlay` of `closc push`.",
};

/// Files parse.
pub(crate) static PARSES: Rule = Rule {
    code: "V0102",
    title: "a file does not parse",
    condition: "Every file is in the language of its name, and every value has the right type.",
    impact: "A device rejects such a file, or applies only part of it.",
    example: "\"PORT\": { \"Ethernet0\": { \"mtu\": \"large\" } }",
    fix: "If V0101 also reports the file, it was edited or truncated: compile again. Otherwise correct the \
           template (`--templates`) that writes it, or report a bug in closc if no template was replaced.",
};

/// Every setting is known.
pub(crate) static KNOWN: Rule = Rule {
    code: "V0103",
    title: "an unknown setting",
    condition: "A file contains only tables, commands and fields whose effect on forwarding is known, and every \
           name that it refers to exists.",
    impact: "An unknown setting could affect forwarding without being modelled.",
    example: "\"VLAN\": { \"Vlan100\": {} }",
    fix: "Remove the setting from the file or its template, or correct a misspelled name. SONiC settings of \
           the site belong in the `--overlay` folder of `closc push`. The documentation of `closc verify` \
           lists the settings of a site that a tree may contain. To isolate ports on SONiC, use \
           `exceptions.isolated` of the fabric file.",
};

/// Devices are complete.
pub(crate) static COMPLETE: Rule = Rule {
    code: "V0104",
    title: "a device has no configuration",
    condition: "Every folder below `switches/` contains the files of exactly one switch operating system. The \
           device name in them is the name of the folder. Every device of the cable lists has a folder.",
    impact: "A switch without a configuration forwards nothing. A switch with the configuration of another one \
           misdelivers.",
    example: "\"hostname\": \"p0-t0-002\" in switches/p0-t0-001/config_db.json",
    fix: "Restore the name in a file that was edited or copied from another folder, or in the template that \
           writes it. If files are missing or belong to another operating system, compile the complete \
           fabric again, and do not copy folders between trees.",
};

/// Device-wide settings that forwarding depends on.
pub(crate) static SETTINGS: Rule = Rule {
    code: "V0105",
    title: "a device-wide setting stops forwarding",
    condition: "Switches forward, and nodes do not. On Linux, the network interface that segments are bound to is \
           a bridge or a dummy, and the files create no other. Only the routing protocol of the fabric runs, \
           in a version that installs static segments. The `frr.conf` of SONiC passes routes to the chip \
           (`fpm`). SONiC's device metadata states hwsku, platform, MAC address and type. It leaves \
           announcements, next hops and buffers at their defaults. If switches choose the path, SONiC hashes \
           both IP addresses and the UDP source port. The required services of SONiC (`FEATURE`: `bgp`, \
           `database`, `pmon`, `swss` and `syncd`, and `p4rt` with PINS) run. Access lists of the control \
           plane permit neighbour discovery, BGP and BFD.",
    impact: "If one of these is wrong, the tables are correct and no packet is forwarded.",
    example: "net.ipv6.conf.all.forwarding = 0",
    fix: "Remove the setting from the edited file, or from the template (`--templates`) that writes it, and \
           compile again. Access lists must permit neighbour discovery, BGP and BFD.",
};

/// Device-wide settings are equal.
pub(crate) static SAME: Rule = Rule {
    code: "V0106",
    title: "a device-wide setting differs from other switches",
    condition: "Device-wide settings are equal on all switches of a language, except for name, type, hardware, \
           addresses and settings that are not judged. On SONiC the servers in `NTP`, \
           `NTP_SERVER`, `SNMP` and `SYSLOG_SERVER` must be equal too.",
    impact: "Such settings select the routing program and the buffer model, and whether sessions start by \
           themselves. A switch that differs behaves differently with the same tables.",
    example: "\"docker_routing_config_mode\": \"unified\" on one switch",
    fix: "Set servers with `services` in the fabric file, for all switches. If one `config_db.json` was \
           edited, or is from another compilation, compile the complete fabric again.",
};

/// Every file is accounted for.
pub(crate) static EXTRA: Rule = Rule {
    code: "V0107",
    title: "an unread file",
    condition: "Every file of the tree is in the manifest, and every folder has a file. Every file of the manifest is \
           read by the proof or reported as not judged.",
    impact: "An unread file is pushed without a check. The folder of an unknown device remains from an earlier \
           tree, or was added by hand.",
    example: "switches/p0-t0-001/boot.sh",
    fix: "Delete the file or move it out of the tree, because `closc compile` keeps files that it did not \
           write. If `manifest.json` lists it, the manifest was edited or another version of closc wrote it: \
           compile again.",
};

/// The pipeline is the shipped one.
pub(crate) static PIPELINE: Rule = Rule {
    code: "V0108",
    title: "an unknown P4 program",
    condition: "The P4 program and its P4Info are byte for byte those of this release, if the tree names one of \
           them.",
    impact: "The effect of an entry is defined by the program. A program without the filters forwards packets \
           that the entries should drop.",
    example: "p4/fabric.bmv2.json without the table ingress.nic_source",
    fix: "Compile again with this version of closc, or verify with the version that compiled the tree. \
           Restore an edited program, because only the shipped one can be proved.",
};

/// The counts in the manifest are correct.
pub(crate) static COUNTS: Rule = Rule {
    code: "V0109",
    title: "the manifest does not match the tree",
    condition: "The manifest counts as many planes, NICs, T0s, T1s, T2s and cables as the tree has.",
    impact: "Rollout plans are made from the manifest. A cable list that lost its last rows still parses.",
    example: "\"t1\": 31 with 32 T1s",
    fix: "If V0101 also reports a cable list, its last rows are missing. Otherwise `counts` or `part` in \
           `manifest.json` was edited, or devices of another compilation were added. In each case, compile \
           the complete fabric again.",
};

/// Keys of JSON files are unique.
pub(crate) static KEYS: Rule = Rule {
    code: "V0110",
    title: "a key occurs twice",
    condition: "In every JSON file of the tree, an object contains each key only once.",
    impact: "Most JSON readers keep the last value and drop the others without a message. SONiC, for example, then \
             installs the second of two routes to one prefix. Another reader may keep the first value.",
    example: "\"default|10.1.0.0/23\" twice in `STATIC_ROUTE`, once with next hops and once as a blackhole",
    fix: "Remove one of the two entries from the edited file, or from the template (`--templates`) that writes \
           it, and compile again. If no template was replaced, report a bug in closc.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] =
    &[&DIGEST, &PARSES, &KNOWN, &COMPLETE, &SETTINGS, &SAME, &EXTRA, &PIPELINE, &COUNTS, &KEYS];
