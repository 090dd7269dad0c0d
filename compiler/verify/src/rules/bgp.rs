//! V18: BGP sessions, and the routes that they announce and accept.

use closc_diagnostics::Rule;

/// Both ends have a session.
pub(crate) static SESSION: Rule = Rule {
    code: "V1801",
    title: "a cable between switches without a session",
    condition: "Both ends of every cable between two switches have a BGP neighbour that is identified by the name \
           of the port. The address family of the fabric is activated for it. The port has a link-local \
           address and sends router advertisements. IPv4 is not activated by default on any session.",
    impact: "Without a session, neither end receives the routes behind the cable, and it carries nothing.",
    example: "no `neighbor eth501 interface v6only remote-as 4216777217` on a T0 with a cable in `eth501`",
    fix: "If the cable is not installed, declare it in `exceptions.absent` of the fabric file and compile \
           again. Otherwise restore the neighbour, its IPv6 activation or the router advertisements in the \
           edited file or BGP template.",
};

/// Sessions expect the correct AS number.
pub(crate) static REMOTE: Rule = Rule {
    code: "V1802",
    title: "a session expects another AS number",
    condition: "A switch states the AS number of each neighbour. It is that of the switch at the other end of the \
           cable.",
    impact: "With another number the session stays down. If any number is accepted, a cable in the wrong plane \
           comes up and connects two planes.",
    example: "`neighbor eth501 interface v6only remote-as external`",
    fix: "If V1804 reports the neighbour, correct its number first. Otherwise restore the number in the \
           edited file or BGP template. After a change of `addresses.asn_base`, compile the complete fabric.",
};

/// Sessions belong to cables.
pub(crate) static STRANGER: Rule = Rule {
    code: "V1803",
    title: "a session with an unknown peer",
    condition: "Every neighbour is identified by a port with a cable to a switch, one neighbour per port.",
    impact: "The peer could announce anything, because the tree does not contain its configuration.",
    example: "`neighbor 2001:db8::1 remote-as 65000`",
    fix: "Remove the neighbour from the edited file, or from the BGP template; sessions with routers outside \
           the fabric are not supported. If its cable was missing, remove it from `exceptions.absent` and \
           compile again.",
};

/// AS numbers follow the plan.
pub(crate) static NUMBERS: Rule = Rule {
    code: "V1804",
    title: "an AS number in the wrong place",
    condition: "Every T0 has its own AS number. The number of a T1 or T2 is used in one plane and tier only, and \
           both ends of a cable have different numbers. All files of a switch contain the same number.",
    impact: "A switch drops paths that contain its own number. With a duplicate number routes are lost, and a \
           cable in the wrong plane establishes a session.",
    example: "`router bgp 4200000001` on two T0s",
    fix: "Set AS numbers with `addresses.asn_base` in the fabric file and compile the complete fabric. A \
           single wrong number comes from an edit, a copied file or a template that writes a constant.",
};

/// Router IDs are unique.
pub(crate) static IDENTIFIER: Rule = Rule {
    code: "V1805",
    title: "a missing or duplicate router id",
    condition: "Every switch has a router id, and no other switch has it.",
    impact: "Two neighbours with one router id reject each other. Without a router id, any address of the \
           switch is used.",
    example: "`bgp router-id 1.0.0.1` on two switches",
    fix: "Compile again if the file was edited or copied from another switch. A template has to write `bgp \
           router-id` with the value of its view.",
};

/// Both ends use the same timers.
pub(crate) static SILENCE: Rule = Rule {
    code: "V1806",
    title: "the ends of a session use different timers",
    condition: "Both ends of a session have the same keepalive and hold times, advertisement and connect \
           intervals, and BFD settings.",
    impact: "One end would keep sending into a cable that the other has declared dead.",
    example: "`timers bgp 3 9` at one end and `timers bgp 60 180` at the other",
    fix: "Restore the timers in the edited file or BGP template; the fabric file does not set them. If one \
           end is from an earlier version of closc, compile the complete fabric again.",
};

/// Announced prefixes are owned.
pub(crate) static OWNED: Rule = Rule {
    code: "V1807",
    title: "a prefix is announced without an owner, or not announced",
    condition: "A switch announces only its loopback and prefixes for which it has exactly that route. No other \
           switch of the plane announces the same prefix, and none announces a default route. Every loopback \
           is announced, and so is a prefix for each NIC that a switch has a route to.",
    impact: "Packets for a prefix with two owners reach one or the other at random. A prefix without an \
           announcement is unreachable.",
    example: "`network 2001:db8:1000:2::/64` on the T0 of group 1",
    fix: "Remove the added `network` statement, or restore the missing one or its route. To announce other \
           NICs, change `hosts` in the fabric file and compile the complete fabric.",
};

/// Received prefixes pass a filter.
pub(crate) static TAKEN: Rule = Rule {
    code: "V1808",
    title: "a filter accepts routes that no peer should announce",
    condition: "Prefixes from a neighbour pass a prefix filter. None is shorter than the shortest prefix that the \
           fabric announces. Paths with the switch's own AS number are rejected.",
    impact: "A default route or a summary from one faulty neighbour would attract the traffic of the whole \
           plane.",
    example: "`ipv6 prefix-list FABRIC seq 5 permit ::/0 le 128`",
    fix: "Remove the default route, summary or `allowas-in` from the edited file, or from the template that \
           writes filters. The fabric cannot import routes of other networks.",
};

/// Routes from above are not announced upwards.
pub(crate) static TRANSIT: Rule = Rule {
    code: "V1809",
    title: "routes from above are announced upwards",
    condition: "A T0 announces only its own prefixes, filtered by prefix or by path length. No switch receives \
           from below what the lower switch received from above.",
    impact: "A packet that went down would go up again. It uses capacity where there is least, and with paused \
           priorities it can close a cycle of pauses.",
    example: "`match ipv6 address prefix-list FABRIC` and no `match as-path` in the export filter of a T0",
    fix: "Restore the export filter of the lower switch, by prefix or by path length, in the edited file or \
           in the template that writes filters.",
};

/// Prefix limits fit.
pub(crate) static LIMIT: Rule = Rule {
    code: "V1810",
    title: "a session exceeds its prefix limit, or has none",
    condition: "Every session has a prefix limit, and the neighbour announces at most that many prefixes.",
    impact: "A session over its limit is closed, and everything behind the cable is lost. A session without a \
           limit lets a route leak fill the tables of the hardware.",
    example: "`neighbor ABOVE maximum-prefix 8` with a neighbour that announces 40",
    fix: "If the neighbour announces prefixes that were added, remove them there. Otherwise restore the \
           limit in the edited file or BGP template.",
};

/// All equal paths are used.
pub(crate) static WIDTH: Rule = Rule {
    code: "V1811",
    title: "a switch uses fewer paths than exist",
    condition: "`maximum-paths` is at least the largest number of equal paths to any prefix. Paths of equal \
           length are used together, even if they contain different AS numbers.",
    impact: "Paths that are not used carry nothing, and the others carry their share.",
    example: "`maximum-paths 64` on a T0 with 128 uplinks",
    fix: "Restore `maximum-paths` and `multipath-relax` in the edited file or BGP template. For a platform \
           with narrower groups, set `ecmp_width` in its file; `closc check` then reports E0904.",
};

/// Drained paths are the last resort.
pub(crate) static RESORT: Rule = Rule {
    code: "V1812",
    title: "drain state of a session differs from the cable list",
    condition: "Exactly the paths over cables that are drained in the cable list are marked as drained (RFC 8326) \
           and get the lowest preference.",
    impact: "Otherwise a drained cable is unplugged under traffic, or installed capacity stays unused.",
    example: "`neighbor eth502 route-map ABOVE-IN-DRAINED in` on one end of a drained cable only",
    fix: "Drain with `closc drain NAME FABRIC --write` and compile the complete fabric, so that cable list \
           and both ends agree. Undo an edit of the list or of one route map.",
};

/// The order of BGP messages does not affect the result.
pub(crate) static STABLE: Rule = Rule {
    code: "V1813",
    title: "sessions have no single stable outcome",
    condition: "All switches prefer paths that are not marked as drained, then shorter paths. No switch removes \
           the mark, so a path becomes less preferred with each switch that it passes. The order in which \
           equal paths arrive does not affect the result. Then there is exactly one stable state.",
    impact: "With cyclic preferences, routes oscillate, or depend on which switch started first.",
    example: "`set local-preference 200` in the import filter of one T1 for one T0",
    fix: "Remove preferences, and statements that delete the mark of drained paths, from the edited file or \
           the template that writes filters. To move traffic away from equipment, use `closc drain`.",
};

/// Switches of a tier have equal BGP settings.
pub(crate) static ALIKE: Rule = Rule {
    code: "V1814",
    title: "BGP settings of a switch differ from others of its tier",
    condition: "Apart from numbers, ports and own prefixes, all switches of a tier and language have the same \
           settings, filters and limits in each direction.",
    impact: "The difference shows only when equipment fails.",
    example: "no `bgp graceful-restart` on one T1",
    fix: "Undo the edit of the switch, or the condition in a template that singles it out. If its settings \
           are from another version of closc, compile the complete fabric again.",
};

/// Timers match the manifest.
pub(crate) static TIMES: Rule = Rule {
    code: "V1815",
    title: "BGP timers differ from the fabric file",
    condition: "Every switch has the timers of the manifest: keepalive, hold, advertisement and connect times, \
           BFD settings, graceful restart, and the restart after a prefix limit.",
    impact: "Agreement between all switches is not sufficient: with BFD at ten seconds everywhere, packets are \
           sent into a dead cable for half a minute.",
    example: "`timers bgp 60 180` on every switch",
    fix: "Remove the timers from the edited file or template, because closc sets them for the complete \
           fabric. If `manifest.json` states no timers, or others, compile the complete fabric again.",
};

/// The family, in the order of codes.
pub(super) const RULES: &[&Rule] = &[
    &SESSION,
    &REMOTE,
    &STRANGER,
    &NUMBERS,
    &IDENTIFIER,
    &SILENCE,
    &OWNED,
    &TAKEN,
    &TRANSIT,
    &LIMIT,
    &WIDTH,
    &RESORT,
    &STABLE,
    &ALIKE,
    &TIMES,
];
