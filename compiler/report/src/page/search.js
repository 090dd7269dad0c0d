// Finds the elements that a typed text names. An element is a kind and a coordinate.
"use strict";

const CANDIDATES_MAX = 8;
const SCANNED_MAX = 200000;

// The label and the description of each kind of element.
const KINDS_OF_THINGS = {
  plane: (plane) => ({ label: "plane " + plane, what: "plane" }),
  switch: (s) => ({ label: switchName(s), what: TIERS[s.tier] + (hasSwitch(s) ? "" : ", absent") }),
  node: (n) => ({ label: nodeName(n), what: "node" }),
  nic: (n) => ({ label: nicName(n), what: "NIC" + (hasNic(n) ? "" : ", absent") }),
  link: (l) => ({ label: linkName(l), what: (l.host ? "NIC port and its cable" : "cable") + (hasLink(l) ? "" : ", absent") }),
  group: (g) => ({ label: groupPrefix(g.zone, g.group), what: "T0 group " + (g.group + 1) + " of zone " + g.zone }),
};
const thing = (kind, at, note) => ({ kind, at, note, ...KINDS_OF_THINGS[kind](at) });

function findSwitch(name) {
  for (let tier = 0; tier < PATTERNS.length; tier += 1) {
    const numbers = readName(PATTERNS[tier], name);
    if (!numbers) continue;
    const s = sw(numbers.plane, tier, tier === 2 ? 0 : numbers.zone, numbers.index);
    if (isPlanned(s)) return s;
  }
  return undefined;
}

function findNode(name) {
  const numbers = readName(NODE_PATTERN, name);
  if (!numbers) return undefined;
  const node = { zone: numbers.zone, unit: numbers.unit, index: numbers.node };
  return isNodeZone(node.zone) && node.unit < UNITS && node.index < NODES_PER_UNIT ? node : undefined;
}

function findNic(name) {
  const found = /^(.+)\/nic(0|[1-9]\d*)$/.exec(name);
  const node = found && findNode(found[1]);
  return node && Number(found[2]) < M.nics_per_node ? nicOf(node, Number(found[2])) : undefined;
}

function findLink(name) {
  const port = /^(.+)\.p(0|[1-9]\d*)$/.exec(name);
  const nic = port && findNic(port[1]);
  if (nic && Number(port[2]) < M.planes) return hostLink(Number(port[2]), nic);
  const [lowerName, rest] = name.split("--");
  if (rest === undefined) return undefined;
  const [upperName, number] = rest.split("#");
  const lower = findSwitch(lowerName), upper = findSwitch(upperName);
  if (!lower || !upper || lower.tier + 1 !== upper.tier) return undefined;
  const step = lower.tier === 1 ? Math.floor(upper.index / T2_ROWS) : upper.index;
  const link = fabricLink(lower, step * M.tiers[lower.tier].parallel + Number(number || 1) - 1);
  return upperOf(lower, link.up) && linkName(link) === name ? link : undefined;
}

const findPlane = (text) => {
  const found = /^plane (\d+)$/.exec(text);
  return found && Number(found[1]) < M.planes ? Number(found[1]) : undefined;
};

// Returns the elements with an address, from the positions that may have it. Their addresses are computed and compared.
function havingAddress(address, places) {
  const found = [];
  for (const nic of places.nics.filter((nic) => nic.zone < M.zones && nic.group >= 0 && nic.group < M.groups)) {
    if (nic.downlink >= 0 && nic.downlink < M.per_group && nicAddress(nic) === address) found.push(thing("nic", nic, "its address"));
    if (groupPrefix(nic.zone, nic.group) === address + "/" + GROUP_LENGTH) found.push(thing("group", { zone: nic.zone, group: nic.group }));
  }
  for (const link of places.links.filter(isPlannedLink)) {
    if (linkAddress(link, false) === address) found.push(thing("link", link, "address of its lower end"));
    if (linkAddress(link, true) === address) found.push(thing("link", link, "address of its upper end"));
  }
  for (const s of places.switches.filter((s) => s.index >= 0 && isPlanned(s))) {
    if (loopback(s) === address) found.push(thing("switch", s, "its loopback"));
    if ((management(s) || "").split("/")[0] === address) found.push(thing("switch", s, "its management address"));
  }
  found.push(...findListed(address).filter((one) => !found.some((own) => own.kind === "switch" && own.label === one.label)));
  return found;
}

function isPlannedLink(l) {
  if (l.plane >= M.planes) return false;
  if (l.host) return l.nic.zone < M.zones && l.nic.group >= 0 && l.nic.group < M.groups && l.nic.downlink >= 0 && l.nic.downlink < M.per_group;
  return l.lower.index >= 0 && l.up >= 0 && isPlanned(l.lower) && upperOf(l.lower, l.up) !== undefined;
}

function findV6(text) {
  const hextets = readV6(text.replace(/\/\d+$/, ""));
  if (!hextets) return [];
  const found = havingAddress(writeV6(hextets), placesOfV6(hextets));
  return found.length ? found : findCarrier(hextets);
}

function findV4(text) {
  const value = readV4(text.split("/")[0]);
  return value === undefined ? [] : havingAddress(writeV4(value), placesOfV4(value));
}

// The elements that the uSIDs of a destination address name.
function findCarrier(hextets) {
  if (!M.segments) return [];
  const found = [];
  M.segments.blocks.forEach((block, plane) => {
    const own = readV6(block);
    if (own[0] !== hextets[0] || own[1] !== hextets[1]) return;
    const list = hextets.slice(2);
    const end = list.indexOf(0);
    (end < 0 ? list : list.slice(0, end)).forEach((value, at) => {
      found.push(...findUsid(value, plane).map((one) => ({ ...one, note: "uSID " + (at + 1) + " of the address" })));
    });
  });
  const seen = new Set();
  return found.filter((one) => { const at = one.label + one.note; return !seen.has(at) && seen.add(at); });
}

// The elements that a uSID names in a plane. If each plane has its own block, the block determines the plane.
function findUsid(value, wantedPlane) {
  const s = M.segments;
  const bits = s.zone_bits + s.index_bits;
  const role = s.codes.indexOf(value >> bits + s.plane_bits);
  if (role < 0) return [];
  const planes = s.plane_bits ? [value >> bits & (1 << s.plane_bits) - 1] : wantedPlane === undefined ? range(M.planes) : [wantedPlane];
  const rest = value & (1 << bits) - 1;
  const found = [];
  for (const plane of planes.filter((plane) => plane < M.planes && (wantedPlane === undefined || wantedPlane === plane || s.plane_bits))) {
    if (role === 3) {
      if (nicUsid(plane, { downlink: rest - 1 }) === value && rest >= 1 && rest <= M.per_group) {
        found.push({ kind: "none", label: "NICs on downlink " + rest + " of every T0", what: "NIC uSID " + hex4(value), note: "" });
      }
      continue;
    }
    if (role >= M.tiers.length) continue;
    const zone = role === 2 ? 0 : rest >> s.index_bits, ordinal = role === 2 ? rest : rest & (1 << s.index_bits) - 1;
    const usids = M.tiers[role].usids, own = sw(plane, role, zone, Math.floor((ordinal - 1) / usids));
    if (ordinal >= 1 && isPlanned(own) && switchUsid(own, (ordinal - 1) % usids) === value) found.push(thing("switch", own, "its uSID " + hex4(value)));
  }
  return found;
}

// Listed management ports can be IPv4 or IPv6.
function findListed(address) {
  const names = Object.entries(M.pools.listed || {}).filter(([, own]) => own.split("/")[0] === address).map(([name]) => name);
  return names.map(findSwitch).filter((s) => s && isPlanned(s)).map((s) => thing("switch", s, "its management address"));
}

function findMac(text) {
  const bytes = text.toLowerCase().split(/[:-]/).map((byte) => parseInt(byte, 16));
  const [, kind, third, fourth, fifth, sixth] = bytes, name = mac(bytes), found = [];
  const s = sw(third & 15, third >> 4, fourth, fifth * 256 + sixth - 1);
  if (kind === 0xc1 && s.index >= 0 && isPlanned(s) && switchMac(s) === name) found.push(thing("switch", s, "its MAC address"));
  const place = third * 256 + fourth;
  const nic = { zone: place >> GROUP_BITS, group: (place & (1 << GROUP_BITS) - 1) - 1, downlink: fifth * 256 + sixth - 1 };
  const plane = kind & 15;
  if (kind >> 4 === 0xd && plane < M.planes && nic.group >= 0 && nic.group < M.groups && nic.zone < M.zones && nic.downlink >= 0
    && nic.downlink < M.per_group && nicMac(plane, nic) === name) found.push(thing("link", hostLink(plane, nic), "MAC address of the port"));
  return found;
}

// All elements that a text names exactly.
function find(text) {
  const query = text.trim();
  if (query === "") return [];
  const plane = findPlane(query);
  if (plane !== undefined) return [thing("plane", plane)];
  const s = findSwitch(query);
  if (s) return [thing("switch", s)];
  const node = findNode(query);
  if (node) return [thing("node", node)];
  const nic = findNic(query);
  if (nic) return [thing("nic", nic)];
  const link = findLink(query);
  if (link) return [thing("link", link)];
  if (/^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i.test(query)) return findMac(query);
  if (/^\d+\.\d+\.\d+\.\d+(\/\d+)?$/.test(query)) return findV4(query);
  if (query.includes(":")) return findV6(query);
  if (M.segments && /^(0x)?[0-9a-f]{4}$/i.test(query)) return findUsid(parseInt(query.replace(/^0x/i, ""), 16));
  return [];
}

// Every switch and node, in the order of listings.
function* everyName() {
  for (let plane = 0; plane < M.planes; plane += 1) {
    for (let tier = 0; tier < M.tiers.length; tier += 1) {
      for (let zone = 0; zone < zonesOf(tier); zone += 1) {
        for (let index = 0; index < countOf(tier); index += 1) {
          const s = sw(plane, tier, zone, index);
          if (isPlanned(s)) yield ["switch", s, switchName(s)];
        }
      }
    }
  }
  for (let zone = 0; zone < M.zones; zone += NODE_ZONES) {
    for (let unit = 0; unit < UNITS; unit += 1) {
      for (let index = 0; index < NODES_PER_UNIT; index += 1) yield ["node", { zone, unit, index }, nodeName({ zone, unit, index })];
    }
  }
}

// The first names that begin with a text, followed by those that contain it.
function candidates(text) {
  const query = text.trim().toLowerCase();
  if (query.length < 2) return [];
  const begins = [], has = [];
  let scanned = 0;
  for (const [kind, at, name] of everyName()) {
    scanned += 1;
    if (scanned > SCANNED_MAX || begins.length >= CANDIDATES_MAX) break;
    const place = name.indexOf(query);
    if (place === 0) begins.push(thing(kind, at));
    else if (place > 0 && has.length < CANDIDATES_MAX) has.push(thing(kind, at));
  }
  return [...begins, ...has].slice(0, CANDIDATES_MAX);
}

// The elements that fail with an element.
function lossOf(one) {
  const lost = nothing();
  if (one.kind === "plane") lost.planes.push(one.at);
  else if (one.kind === "switch") lost.switches.push(one.at);
  else if (one.kind === "nic") lost.nics.push(one.at);
  else if (one.kind === "link") lost.links.push(one.at);
  else if (one.kind === "node") lost.nics.push(...range(M.nics_per_node).map((number) => nicOf(one.at, number)));
  else return undefined;
  return lost;
}
