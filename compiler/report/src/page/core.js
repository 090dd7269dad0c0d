// Functions of position: which devices exist, their names, cables, racks, uSIDs and paths.
// `M` is the model of the page. Coordinates count from 0, as in the compiler.
"use strict";

const TIERS = ["T0", "T1", "T2"];
const key = (...parts) => parts.join(",");
const range = (count) => Array.from({ length: count }, (_, at) => at);

const sw = (plane, tier, zone, index) => ({ plane, tier, zone, index });
const swKey = (s) => key(s.tier, s.plane, s.zone, s.index);
const nicKey = (n) => key(n.zone, n.group, n.downlink);
const hostLink = (plane, nic) => ({ host: true, plane, nic });
const fabricLink = (lower, up) => ({ host: false, plane: lower.plane, lower, up });
const linkKey = (l) => l.host ? key(0, l.plane, l.nic.zone, l.nic.group, l.nic.downlink)
  : key(l.lower.tier + 1, l.plane, l.lower.zone, l.lower.index, l.up);
const t0Of = (nic, plane) => sw(plane, 0, nic.zone, nic.group);

// ---- Names

const FIRST = { plane: 0, zone: 0, index: 1, unit: 1, node: 1, rack: 1, row: 1 };

// Cuts a pattern such as `p{plane}-t0-{index:03}` into texts and fields.
function pattern(text) {
  const parts = [];
  for (const found of text.matchAll(/\{(\w+)(?:\+(\d+))?(?::0(\d+))?\}|[^{}]+/g)) {
    if (found[1]) parts.push({ field: found[1], add: Number(found[2] || 0) + FIRST[found[1]], width: Number(found[3] || 1) });
    else parts.push(found[0]);
  }
  const source = parts.map((part) => typeof part === "string" ? part.replace(/[-.]/g, "\\$&") : "(\\d{1,6})").join("");
  return { parts, reads: new RegExp("^" + source + "$") };
}

const writeName = (pattern, numbers) => pattern.parts.map((part) => typeof part === "string" ? part
  : String((numbers[part.field] || 0) + part.add).padStart(part.width, "0")).join("");

// The coordinates in a name; undefined unless they give exactly this name.
function readName(pattern, name) {
  const found = pattern.reads.exec(name);
  if (!found) return undefined;
  const numbers = { plane: 0, zone: 0, index: 0, unit: 0, node: 0 };
  pattern.parts.filter((part) => typeof part !== "string").forEach((part, at) => {
    numbers[part.field] = Number(found[at + 1]) - part.add;
  });
  const valid = Object.values(numbers).every((value) => value >= 0);
  return valid && writeName(pattern, numbers) === name ? numbers : undefined;
}

const PATTERNS = M.names.tiers.map(pattern);
const NODE_PATTERN = pattern(M.names.node);

const switchName = (s) => writeName(PATTERNS[s.tier], s);
const nodeName = (n) => writeName(NODE_PATTERN, { zone: n.zone, unit: n.unit, node: n.index });
const nicName = (nic) => {
  const { node, number } = nodeOf(nic);
  return nodeName(node) + "/nic" + number;
};
const nicPortName = (plane, nic) => nicName(nic) + ".p" + plane;

// ---- Existing elements

const T2_ROWS = M.t2 ? M.t2.rows : 1;
const SHARE = Math.max(Math.floor(M.nics_per_node / M.rails), 1);
// Number of consecutive zones that contain the NICs of a node. The node's name has the first of them.
const NODE_ZONES = M.zones_per_node;
const RAILS_IN_ZONE = Math.max(Math.floor(M.rails / NODE_ZONES), 1);
const UNITS = Math.floor(M.groups / RAILS_IN_ZONE);
const NODES_PER_UNIT = Math.floor(M.per_group / SHARE);

const nodeOf = (nic) => ({
  node: { zone: nic.zone - nic.zone % NODE_ZONES, unit: Math.floor(nic.group / RAILS_IN_ZONE), index: Math.floor(nic.downlink / SHARE) },
  number: nic.downlink % SHARE * M.rails + nic.zone % NODE_ZONES * RAILS_IN_ZONE + nic.group % RAILS_IN_ZONE,
});
const nicOf = (node, number) => {
  const rail = number % M.rails;
  return {
    zone: node.zone + Math.floor(rail / RAILS_IN_ZONE), group: node.unit * RAILS_IN_ZONE + rail % RAILS_IN_ZONE,
    downlink: node.index * SHARE + Math.floor(number / M.rails),
  };
};

// Expands rows into a set of keys. The last two numbers of a row are the first and the last number of a range.
function expand(rows) {
  const found = new Set();
  for (const row of rows) {
    const fixed = row.slice(0, -2);
    for (let at = row[row.length - 2]; at <= row[row.length - 1]; at += 1) found.add(key(...fixed, at));
  }
  return found;
}

const things = (own) => ({
  planes: new Set(own.planes), switches: expand(own.switches), nics: expand(own.nics), links: expand(own.links),
});
const ABSENT = things(M.exceptions.absent);
const DRAINED = things(M.exceptions.drained);
const CABLES = new Map(M.exceptions.cables.map(([at, mm, medium]) => [key(...at), [mm, medium]]));
const byPlace = (rows) => new Map(rows.map((row) => [key(...row.slice(0, 4)), row[4]]));
const KINDS = byPlace(M.kind_exceptions);
const QOS_SETS = byPlace(M.qos.set_exceptions);

const countOf = (tier) => M.tiers[tier] ? M.tiers[tier].count : 0;
const zonesOf = (tier) => tier === 2 ? 1 : M.zones;

// Whether a switch is within the counts of the fabric, even if it is absent.
const isPlanned = (s) => s.tier < M.tiers.length && s.index < countOf(s.tier) && s.plane < M.planes && s.zone < zonesOf(s.tier)
  && (s.tier !== 2 || s.index % T2_ROWS < M.tiers[1].count);
const hasSwitch = (s) => isPlanned(s) && !ABSENT.switches.has(swKey(s));
const hasNic = (n) => n.zone < M.zones && n.group < M.groups && n.downlink < M.per_group && !ABSENT.nics.has(nicKey(n));
const isNodeZone = (zone) => zone < M.zones && zone % NODE_ZONES === 0;
const hasNode = (n) => isNodeZone(n.zone) && n.unit < UNITS && n.index < NODES_PER_UNIT
  && range(M.nics_per_node).some((number) => hasNic(nicOf(n, number)));

function hasLink(l) {
  if (ABSENT.links.has(linkKey(l))) return false;
  if (l.host) return hasNic(l.nic) && hasSwitch(t0Of(l.nic, l.plane));
  const far = upperOf(l.lower, l.up);
  return hasSwitch(l.lower) && far !== undefined && hasSwitch(far.switch);
}

const isDrained = (l) => DRAINED.links.has(linkKey(l)) || DRAINED.planes.has(l.plane)
  || [l.host ? undefined : l.lower, upperEnd(l)].some((end) => end && DRAINED.switches.has(swKey(end.switch || end)));
const isSwitchDrained = (s) => DRAINED.switches.has(swKey(s)) || DRAINED.planes.has(s.plane);

// ---- Cables

// The upper end of an uplink: the switch, its downlink, and the number of the parallel cable.
function upperOf(lower, up) {
  const tier = M.tiers[lower.tier];
  if (!tier || up >= tier.up[0] || lower.tier > 1 || (lower.tier === 1 && !M.t2)) return undefined;
  const step = Math.floor(up / tier.parallel), cable = up % tier.parallel;
  if (lower.tier === 0) {
    return { switch: sw(lower.plane, 1, lower.zone, step), down: lower.index * tier.parallel + cable, cable };
  }
  const index = step * T2_ROWS + lower.index % T2_ROWS;
  const down = lower.zone * M.t2.zone_ports + Math.floor(lower.index / T2_ROWS) * tier.parallel + cable;
  return { switch: sw(lower.plane, 2, 0, index), down, cable };
}

// The lower end of a downlink of a T1 or T2.
function lowerOf(upper, down) {
  let lower, up;
  if (upper.tier === 1) {
    const parallel = M.tiers[0].parallel;
    lower = sw(upper.plane, 0, upper.zone, Math.floor(down / parallel));
    up = upper.index * parallel + down % parallel;
  } else {
    const parallel = M.tiers[1].parallel;
    const zone = Math.floor(down / M.t2.zone_ports), within = down % M.t2.zone_ports;
    lower = sw(upper.plane, 1, zone, Math.floor(within / parallel) * T2_ROWS + upper.index % T2_ROWS);
    up = Math.floor(upper.index / T2_ROWS) * parallel + within % parallel;
  }
  const exists = lower.index < countOf(lower.tier) && lower.zone < M.zones && up < M.tiers[lower.tier].up[0];
  return exists ? { switch: lower, up } : undefined;
}

const upperEnd = (l) => l.host ? { switch: t0Of(l.nic, l.plane), down: l.nic.downlink } : upperOf(l.lower, l.up);

function linkName(l) {
  if (l.host) return nicPortName(l.plane, l.nic);
  const far = upperOf(l.lower, l.up);
  return switchName(l.lower) + "--" + switchName(far.switch) + (far.cable ? "#" + (far.cable + 1) : "");
}

const kindOf = (s) => M.kinds[KINDS.get(swKey(s)) ?? M.kind_of[s.tier][s.plane][s.zone]];
const portInfo = (s, side, index) => kindOf(s)[side].ports[index];
const portName = (s, side, index) => portInfo(s, side, index)[0];
const nicInterface = (number, plane) => "nic" + number + "p" + plane;
const qosOf = (s) => M.qos.sets[QOS_SETS.get(swKey(s)) ?? M.qos.set_of[s.tier][s.plane][s.zone]];

// Device and port at both ends, the lower first.
function linkEnds(l) {
  const far = upperEnd(l);
  const upper = [switchName(far.switch), portName(far.switch, "down", far.down)];
  if (!l.host) return [[switchName(l.lower), portName(l.lower, "up", l.up)], upper];
  const { node, number } = nodeOf(l.nic);
  return [[nodeName(node), nicInterface(number, l.plane)], upper];
}

function cableOf(l) {
  const own = CABLES.get(linkKey(l));
  if (own) return own;
  if (!l.host && l.lower.tier === 1 && M.cables.t1_t2_by_zone[l.lower.zone]) return M.cables.t1_t2_by_zone[l.lower.zone];
  return M.cables.kinds[l.host ? 0 : l.lower.tier + 1];
}

const speedOf = (l) => l.host ? M.port_mbps[l.nic.zone] : kindOf(l.lower).up.mbps;

// Every port of a switch: downlinks, then uplinks, each followed by spare ports.
function portsOf(s) {
  const tier = M.tiers[s.tier], all = [];
  for (const side of ["down", "up"]) {
    for (let index = 0; index < tier[side][0] + tier[side][1]; index += 1) all.push(portOf(s, side, index));
  }
  return all;
}

function portOf(s, side, index) {
  const [name, cage, part] = portInfo(s, side, index);
  const port = { side, index, name, cage, part, mbps: kindOf(s)[side].mbps };
  const link = plannedLink(s, side, index);
  if (!link) return { ...port, state: "spare" };
  return { ...port, link, state: hasLink(link) ? "linked" : "absent" };
}

function plannedLink(s, side, index) {
  if (side === "up") return upperOf(s, index) && fabricLink(s, index);
  if (s.tier === 0) {
    return index < M.per_group ? hostLink(s.plane, { zone: s.zone, group: s.index, downlink: index }) : undefined;
  }
  const far = lowerOf(s, index);
  return far && fabricLink(far.switch, far.up);
}

// ---- Racks

const RULES = M.racks ? [M.racks.t0, M.racks.t1, M.racks.t2, M.racks.hosts].map((rule) => rule && { ...rule, pattern: pattern(rule.name.text) }) : [];

// The rack and the units of a device, from its index and the coordinates of its rack; undefined without a rule.
function placeOf(rule, numbers, index, plane) {
  if (!rule) return undefined;
  const isOfPlane = rule.pattern.parts.some((part) => part.field === "plane");
  const perRow = rule.per_row || 65535, at = Math.floor(index / rule.per_rack);
  const slot = (isOfPlane ? 0 : plane) * rule.per_rack + index % rule.per_rack;
  return {
    rack: writeName(rule.pattern, { ...numbers, row: Math.floor(at / perRow), rack: at % perRow }),
    unit: rule.first_unit + slot * rule.units, units: rule.units, face: rule.face,
  };
}
const switchPlace = (s) => placeOf(RULES[s.tier], { plane: s.plane, zone: s.zone }, s.index, s.plane);
const nodePlace = (node) => placeOf(RULES[3], { zone: node.zone, unit: node.unit }, node.index, 0);
const placeText = (place) => place && "rack " + place.rack + ", " + (place.units === 1 ? "unit " + place.unit
  : "units " + place.unit + " to " + (place.unit + place.units - 1)) + ", " + place.face;

// ---- uSIDs and paths

function usid(role, plane, zone, ordinal) {
  const s = M.segments;
  const ofPlane = s.plane_bits ? plane & (1 << s.plane_bits) - 1 : 0;
  return (s.codes[role] << s.plane_bits | ofPlane) << s.zone_bits + s.index_bits | zone << s.index_bits | ordinal;
}

const switchUsid = (s, cable) => usid(s.tier, s.plane, s.tier === 2 ? 0 : s.zone, s.index * M.tiers[s.tier].usids + cable + 1);
const ownUsids = (s) => range(M.tiers[s.tier].usids).map((cable) => switchUsid(s, cable));
const nicUsid = (plane, nic) => usid(3, plane, 0, nic.downlink + 1);
const hex4 = (value) => value.toString(16).padStart(4, "0");

// The address that carries a list of uSIDs.
function carrier(plane, list) {
  const hextets = [...readV6(M.segments.blocks[plane])];
  list.forEach((value, at) => { hextets[at + 2] |= value; });
  return writeV6(hextets);
}
const usidPrefix = (plane, value) => carrier(plane, [value]) + "/48";

const distance = (from, to) => from.zone !== to.zone ? 2 : from.group !== to.group ? 1 : 0;
const DISTANCES = ["local", "zone", "far"];
const UPLINKS = [M.tiers[0].up[0], M.tiers.length > 1 ? M.tiers[1].up[0] : 0];
const choicesOf = (kind) => [kind > 0 ? UPLINKS[0] : 1, kind > 1 ? UPLINKS[1] : 1];
// Planes that are not declared absent.
const BUILT = M.planes - ABSENT.planes.size;
// Number of paths of a pair without losses; 0 if no tier connects the pair.
const planned = (kind) => { const [a, b] = choicesOf(kind); return BUILT * a * b; };
const FARTHEST = [2, 1, 0].find((kind) => planned(kind) > 0 && (kind < 2 || M.zones > 1) && (kind < 1 || M.groups > 1)) ?? 0;
const t2Index = (t1, step) => step * T2_ROWS + t1 % T2_ROWS;

function segmentList(plane, from, to, u0, u1) {
  const start = switchUsid(t0Of(from, plane), 0), end = nicUsid(plane, to);
  const kind = distance(from, to);
  if (kind === 0) return [start, end];
  const k0 = M.tiers[0].parallel, t1 = Math.floor(u0 / k0), cable0 = u0 % k0;
  const last = switchUsid(t0Of(to, plane), cable0), up = switchUsid(sw(plane, 1, from.zone, t1), cable0);
  if (kind === 1) return [start, up, last, end];
  const k1 = M.tiers[1].parallel, step = Math.floor(u1 / k1), cable1 = u1 % k1;
  const top = switchUsid(sw(plane, 2, 0, t2Index(t1, step)), cable1);
  return [start, up, top, switchUsid(sw(plane, 1, to.zone, t1), cable1), last, end];
}

// A path: switches and cables from one NIC to the other. With uSIDs, also its destination address and entropy value.
function pathOf(plane, from, to, u0, u1) {
  const kind = distance(from, to), first = t0Of(from, plane), last = t0Of(to, plane);
  const t1 = (zone) => sw(plane, 1, zone, Math.floor(u0 / M.tiers[0].parallel));
  const links = [hostLink(plane, from)], switches = [first];
  if (kind > 0) {
    links.push(fabricLink(first, u0));
    switches.push(t1(from.zone));
    if (kind > 1) {
      const up = fabricLink(t1(from.zone), u1);
      links.push(up, fabricLink(t1(to.zone), u1));
      switches.push(upperEnd(up).switch, t1(to.zone));
    }
    links.push(fabricLink(last, u0));
    switches.push(last);
  }
  links.push(hostLink(plane, to));
  const path = { plane, u0, u1, switches, links };
  if (M.segments) {
    const [bits0, bitsPlane] = M.segments.entropy_bits;
    path.entropy = (u1 * 2 ** bitsPlane + plane) * 2 ** bits0 + u0;
    path.destination = carrier(plane, segmentList(plane, from, to, u0, u1));
  }
  return path;
}
