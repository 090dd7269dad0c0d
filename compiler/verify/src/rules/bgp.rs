//! V18: sessions of BGP, what they announce and what they accept.

use closc_diagnostics::Rule;

/// Both ends talk.
pub(crate) static SESSION: Rule = Rule {
    code: "V1801",
    title: "a cable between switches without a session",
    what: "Over every cable between two switches both ends speak BGP: a neighbour is identified by the name of the port, \
           IPv6 is activated for it, and the port has a link-local address and tells it by router advertisements. No session carries IPv4 by \
           itself.",
    why: "Without a session neither end receives routes to what is behind the cable, and it carries nothing.",
    example: "no `neighbor eth501 interface v6only remote-as 4216777217` on a T0 with a cable in `eth501`",
    fix: "Compile again; declare under `exceptions` what is absent.",
};

/// It is the switch that is meant.
pub(crate) static REMOTE: Rule = Rule {
    code: "V1802",
    title: "a session that expects another autonomous system",
    what: "The number that a switch expects of a neighbour is written out, and is the own number of the switch at the \
           other end of the cable.",
    why: "With another number the session does not come up; with any number allowed a cable in the wrong plane does \
          come up, and joins two planes.",
    example: "`neighbor eth501 interface v6only remote-as external`",
    fix: "Compile again.",
};

/// Nobody else.
pub(crate) static STRANGER: Rule = Rule {
    code: "V1803",
    title: "a session with an unknown peer",
    what: "Every neighbour is known by a port with a cable to a switch, each port by one neighbour.",
    why: "The peer could announce anything: nothing of it is in the tree.",
    example: "`neighbor 2001:db8::1 remote-as 65000`",
    fix: "Take it out, or describe what is there in the fabric file.",
};

/// The plan of numbers.
pub(crate) static NUMBERS: Rule = Rule {
    code: "V1804",
    title: "an autonomous system where it must not be",
    what: "A T0 has a number of its own; a number of other switches is used in one plane and tier only, and both \
           ends of a cable have different ones. Every file of a switch that gives its number gives the same.",
    why: "A switch drops paths with its own number in them: with a number in two places routes are lost, and a cable \
          in the wrong plane brings a session up.",
    example: "`router bgp 4200000001` on two T0s",
    fix: "Compile again.",
};

/// Router ids.
pub(crate) static IDENTIFIER: Rule = Rule {
    code: "V1805",
    title: "a router id that is missing or used twice",
    what: "Every switch has a router id, which no other switch has.",
    why: "Two neighbours of one router id refuse each other; without one it is taken from whatever address is there.",
    example: "`bgp router-id 1.0.0.1` on two switches",
    fix: "Compile again.",
};

/// Silence is noticed alike.
pub(crate) static SILENCE: Rule = Rule {
    code: "V1806",
    title: "the ends of a session notice silence differently",
    what: "Both ends of a session have the same keepalive and hold times, the same times between announcements and \
           attempts to connect, and watch each other by BFD with the same numbers.",
    why: "One end would keep sending into a cable that the other has given up.",
    example: "`timers bgp 3 9` at one end and `timers bgp 60 180` at the other",
    fix: "Compile again; a template overlay may not set these for one end alone.",
};

/// Announced is what is owned.
pub(crate) static OWNED: Rule = Rule {
    code: "V1807",
    title: "a prefix that is announced and not owned, or owned and not announced",
    what: "What a switch announces of its own is its loopback, or has a route of exactly this prefix; no other switch \
           of the plane announces it, and it is not a default route. Every loopback is announced, and so is a prefix \
           around each NIC that a switch has a route to.",
    why: "Packets for a prefix that two announce are delivered by turns; one that nobody announces is reached by \
          nobody.",
    example: "`network 2001:db8:1000:2::/64` on the T0 of group 1",
    fix: "Compile again.",
};

/// Filters of what comes in.
pub(crate) static TAKEN: Rule = Rule {
    code: "V1808",
    title: "a filter accepts routes that no peer should announce",
    what: "What is taken from a neighbour passes a filter by prefixes, none of them shorter than the shortest that \
           the fabric announces, and is refused if the own autonomous system is in its path.",
    why: "A default route or a summary from one misled neighbour would draw the traffic of the whole plane.",
    example: "`ipv6 prefix-list FABRIC seq 5 permit ::/0 le 128`",
    fix: "Compile again; take additions out of template overlays.",
};

/// Down is down.
pub(crate) static TRANSIT: Rule = Rule {
    code: "V1809",
    title: "what came from above is announced above again",
    what: "A T0 announces nothing but its own, by its filter of prefixes or of path lengths; no switch gets from below \
           what the one below received from above.",
    why: "A packet that went down would go up again: it takes capacity where there is least, and where priorities are \
          paused it can close a circle of pauses.",
    example: "`match ipv6 address prefix-list FABRIC` and no `match as-path` in what a T0 announces",
    fix: "Compile again.",
};

/// Limits hold what comes.
pub(crate) static LIMIT: Rule = Rule {
    code: "V1810",
    title: "a session carries more prefixes than it may",
    what: "Every session has a limit of prefixes, and the neighbour announces at most as many.",
    why: "A session over its limit is ended, and with it everything behind the cable is lost; a session without one \
          lets a leak through to the tables of the hardware.",
    example: "`neighbor ABOVE maximum-prefix 8` where 40 prefixes come",
    fix: "Compile again.",
};

/// All ways are used.
pub(crate) static WIDTH: Rule = Rule {
    code: "V1811",
    title: "a switch uses fewer ways than there are",
    what: "`maximum-paths` is at least the greatest number of equal ways to any prefix, and ways of one length are \
           used together even where different autonomous systems are in them.",
    why: "Ways that are left out carry nothing, and the others carry their share.",
    example: "`maximum-paths 64` on a T0 with 128 uplinks",
    fix: "Compile again; a platform that cannot use as many ways has `ecmp_width` in its description.",
};

/// Drained is the last resort.
pub(crate) static RESORT: Rule = Rule {
    code: "V1812",
    title: "a drained cable that is used first, or one in use that is the last resort",
    what: "What is taken over a cable is marked as drained (RFC 8326) and gets the lowest preference exactly if the \
           cable list calls the cable drained.",
    why: "The cable would be unplugged under traffic; or capacity that was paid for stays unused.",
    example: "`neighbor eth502 route-map ABOVE-IN-DRAINED in` on one end of a drained cable only",
    fix: "Compile again.",
};

/// There is one outcome.
pub(crate) static STABLE: Rule = Rule {
    code: "V1813",
    title: "sessions may settle in more than one way, or never",
    what: "All switches prefer alike: by whether a path is marked as drained, which no switch takes back, then by \
           its length, so a path is less preferred with each switch that it passes; and whether a path is taken does not \
           depend on which of several equal ones was received first. Then there is exactly one stable state.",
    why: "Where preferences go round in a circle, routes change for ever, or depend on which switch started first.",
    example: "`set local-preference 200` in what one T1 takes from one T0",
    fix: "Compile again; take preferences out of template overlays.",
};

/// Switches of a tier are alike.
pub(crate) static ALIKE: Rule = Rule {
    code: "V1814",
    title: "BGP of a switch is not as on others of its tier",
    what: "Apart from numbers, ports and own prefixes, all switches of a tier and language have the same settings, \
           filters and limits towards the same side.",
    why: "What is right everywhere else is wrong here, and shows when something fails.",
    example: "no `bgp graceful-restart` on one T1",
    fix: "Compile again; a template overlay may not change single switches.",
};

/// Times are as stated.
pub(crate) static TIMES: Rule = Rule {
    code: "V1815",
    title: "sessions notice or forget at other times than the fabric states",
    what: "Keepalive and hold times, the numbers of BFD, the times between announcements and attempts to connect, and what \
           happens while a daemon restarts or after a limit was passed, are on every switch those that the manifest states.",
    why: "What both ends and all switches have alike is not right for that: with BFD of ten seconds everywhere, packets go \
          into a dead cable for half a minute.",
    example: "`timers bgp 60 180` on every switch",
    fix: "Compile again; take times out of template overlays.",
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
