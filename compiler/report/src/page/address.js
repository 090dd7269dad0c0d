// Addresses of both families as functions of position, and back.
"use strict";

// Parses an IPv6 address into eight numbers; undefined if it is invalid.
function readV6(text) {
  if (!/^[0-9a-f:]+$/i.test(text) || text.includes(":::")) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const numbers = (half) => half === "" ? [] : half.split(":").map((word) => /^[0-9a-f]{1,4}$/i.test(word) ? parseInt(word, 16) : NaN);
  const [head, tail] = [numbers(halves[0]), halves.length === 2 ? numbers(halves[1]) : []];
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const all = [...head, ...Array(missing).fill(0), ...tail];
  return all.some(Number.isNaN) ? undefined : all;
}

// Writes an IPv6 address in the form of RFC 5952.
function writeV6(hextets) {
  let best = [0, 0];
  for (let at = 0; at < 8; at += 1) {
    let length = 0;
    while (at + length < 8 && hextets[at + length] === 0) length += 1;
    if (length > best[1]) best = [at, length];
  }
  const hex = (part) => part.map((value) => value.toString(16)).join(":");
  if (best[1] < 2) return hex(hextets);
  return hex(hextets.slice(0, best[0])) + "::" + hex(hextets.slice(best[0] + best[1]));
}

// Parses an IPv4 address into one number; undefined if it is invalid.
function readV4(text) {
  const bytes = text.split(".").map((part) => /^\d{1,3}$/.test(part) ? Number(part) : NaN);
  return bytes.length === 4 && bytes.every((byte) => byte < 256) ? bytes.reduce((sum, byte) => sum * 256 + byte, 0) : undefined;
}
const writeV4 = (value) => [24, 16, 8, 0].map((shift) => value >>> shift & 255).join(".");

// Parses a pool: the length of its prefix, and its first address as `v4` or `v6`.
function pool(text) {
  const [address, length] = text.split("/");
  return { length: Number(length), v4: readV4(address), v6: readV6(address) };
}
const POOLS = {
  hosts: pool(M.pools.hosts), links: pool(M.pools.links), loopbacks: pool(M.pools.loopbacks),
  management: M.pools.management ? pool(M.pools.management) : undefined,
};
const isV4 = (pool) => pool.v4 !== undefined;
const withHextets = (pool, low) => writeV6(pool.v6.map((value, at) => value | low[at]));
const withBits = (pool, bits) => writeV4(pool.v4 | bits);

// ---- Bits of IPv4: kind and plane, zone mirrored at the upper end, numbers at the lower end

const WIDTHS = M.pools.ipv4;
const KIND_BITS = 2;
const bitsLeft = (pool) => 32 - pool.length;
const lowBits = (value, width) => value & 2 ** width - 1;
const mirrored = (zone, width) => range(width).reduce((all, bit) => all | (zone >> bit & 1) << width - 1 - bit, 0);
const placeBits = (zone, number, width) => mirrored(zone, width) | number;
const positionBits = (width) => width - KIND_BITS - WIDTHS.plane;
const aboveBits = (kind, plane, width) => kind << width - KIND_BITS | plane << positionBits(width);
const switchBits = (s, width) => aboveBits(s.tier, s.plane, width) | placeBits(s.zone, s.index + 1, positionBits(width));
const portBits = (kind) => [WIDTHS.downlink, ...WIDTHS.uplinks][kind];

// The reverse: from bits to zone and number, or to kind, plane, zone and number.
const readPlace = (bits, width) => ({ zone: mirrored(bits >>> width - WIDTHS.zone, WIDTHS.zone), number: lowBits(bits, width - WIDTHS.zone) });
const readAbove = (bits, width) => ({
  kind: bits >>> width - KIND_BITS & 3, plane: lowBits(bits >>> positionBits(width), WIDTHS.plane),
  ...readPlace(lowBits(bits, positionBits(width)), positionBits(width)),
});

// ---- NICs

const GROUP_BITS = 16 - M.pools.zone_bits;
const groupHextet = (zone, group) => zone << GROUP_BITS | group + 1;
const GROUP_LENGTH = isV4(POOLS.hosts) ? 32 - WIDTHS.downlink : 64;

function hostAddress(zone, group, ordinal) {
  if (!isV4(POOLS.hosts)) return withHextets(POOLS.hosts, [0, 0, 0, groupHextet(zone, group), 0, 0, 0, ordinal]);
  return withBits(POOLS.hosts, placeBits(zone, group << WIDTHS.downlink | ordinal, bitsLeft(POOLS.hosts)));
}
const nicAddress = (nic) => hostAddress(nic.zone, nic.group, nic.downlink + 1);
const nicPrefix = (nic) => nicAddress(nic) + (isV4(POOLS.hosts) ? "/32" : "/128");
const groupPrefix = (zone, group) => hostAddress(zone, group, 0) + "/" + GROUP_LENGTH;

function zonePrefix(zone) {
  if (!isV4(POOLS.hosts)) {
    return withHextets(POOLS.hosts, [0, 0, 0, zone << GROUP_BITS, 0, 0, 0, 0]) + "/" + (48 + M.pools.zone_bits);
  }
  return hostAddress(zone, 0, 0) + "/" + (POOLS.hosts.length + WIDTHS.zone_of_nics);
}

// ---- Cables

const LINK_LENGTH = isV4(POOLS.links) ? 31 : 127;

// The position of an uplink on its panel, and the uplink at a position. T0s can have another order than that of their T1s.
const uplinkPlace = (tier, up) => M.tiers[tier].places?.[up] ?? up;
const uplinkAt = (tier, place) => M.tiers[tier]?.places?.indexOf(place) ?? place;

// The address of the lower end of a cable, or of the upper one.
function linkAddress(l, isUpper) {
  const [kind, zone, device, port] = l.host ? [0, l.nic.zone, l.nic.group, l.nic.downlink]
    : [l.lower.tier + 1, l.lower.zone, l.lower.index, uplinkPlace(l.lower.tier, l.up)];
  if (!isV4(POOLS.links)) {
    return withHextets(POOLS.links, [0, 0, 0, kind << 12 | l.plane << 8 | zone, device + 1, port + 1, 0, isUpper ? 0xb : 0xa]);
  }
  const width = bitsLeft(POOLS.links) - 1;
  const place = placeBits(zone, device << portBits(kind) | port, positionBits(width));
  return withBits(POOLS.links, (aboveBits(kind, l.plane, width) | place) << 1 | isUpper);
}

// Ports between two switches that speak BGP have no address but their link-local one.
const isNumbered = (l) => l.host || M.routing !== "bgp-unnumbered";

// ---- Switches

const switchHextets = (s) => [0, 0, 0, 0, s.tier, s.plane, s.zone, s.index + 1];
const loopback = (s) => isV4(POOLS.loopbacks) ? withBits(POOLS.loopbacks, switchBits(s, bitsLeft(POOLS.loopbacks)))
  : withHextets(POOLS.loopbacks, switchHextets(s));

// In large pools, tier, plane, zone and index have fixed bits.
const hasFixedPlaces = (pool) => bitsLeft(pool) >= 6 + M.pools.device_bits;

function management(s) {
  const listed = M.pools.listed && M.pools.listed[switchName(s)];
  if (listed) return listed;
  const own = POOLS.management;
  if (!own) return undefined;
  if (!isV4(own)) return withHextets(own, switchHextets(s)) + "/" + own.length;
  const fixed = (s.tier << 4 | s.plane) << M.pools.device_bits | (s.zone << M.pools.index_bits | s.index + 1);
  return withBits(own, hasFixedPlaces(own) ? fixed : switchBits(s, bitsLeft(own))) + "/" + own.length;
}

function asn(s) {
  const device = s.plane << 20 | s.zone << 12 | (s.tier === 0 ? s.index : 0) + 1;
  return M.pools.asn_base + (s.tier * 2 ** 24 + device);
}

const mac = (bytes) => bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(":");
const high = (value) => value >> 8 & 255;
const low = (value) => value & 255;
const switchMac = (s) => mac([2, 0xc1, s.tier << 4 | s.plane, s.zone & 255, high(s.index + 1), low(s.index + 1)]);
const nicMac = (plane, nic) => {
  const group = groupHextet(nic.zone, nic.group);
  return mac([2, 0xd0 | plane, high(group), low(group), high(nic.downlink + 1), low(nic.downlink + 1)]);
};

// ---- From an address to positions that may have it

const linkAt = (kind, plane, zone, device, port) => kind === 0 ? hostLink(plane, { zone, group: device, downlink: port })
  : fabricLink(sw(plane, kind - 1, zone, device), uplinkAt(kind - 1, port));

function placesOfV6(hextets) {
  const [, , , place, device, port, zone, ordinal] = hextets;
  return {
    nics: [{ zone: place >> GROUP_BITS, group: (place & (1 << GROUP_BITS) - 1) - 1, downlink: ordinal - 1 }],
    links: [linkAt(place >> 12, place >> 8 & 15, place & 255, device - 1, port - 1)],
    switches: [sw(port, device, zone, ordinal - 1)],
  };
}

// The bits of an address after the prefix of a pool; undefined if the address is not in the pool.
function behindPool(pool, value) {
  if (!pool || !isV4(pool)) return undefined;
  const bits = lowBits(value, bitsLeft(pool)) >>> 0;
  return (pool.v4 | bits) >>> 0 === value ? bits : undefined;
}

function placesOfV4(value) {
  const found = { nics: [], links: [], switches: [] };
  const [host, cable, own, port] = ["hosts", "links", "loopbacks", "management"].map((name) => behindPool(POOLS[name], value));
  if (host !== undefined) {
    const { zone, number } = readPlace(host, bitsLeft(POOLS.hosts));
    found.nics.push({ zone, group: number >>> WIDTHS.downlink, downlink: lowBits(number, WIDTHS.downlink) - 1 });
  }
  if (cable !== undefined) {
    const { kind, plane, zone, number } = readAbove(cable >>> 1, bitsLeft(POOLS.links) - 1);
    const width = portBits(kind);
    if (width !== undefined) found.links.push(linkAt(kind, plane, zone, number >>> width, lowBits(number, width)));
  }
  const switchOf = (bits, width) => { const { kind, plane, zone, number } = readAbove(bits, width); return sw(plane, kind, zone, number - 1); };
  if (own !== undefined) found.switches.push(switchOf(own, bitsLeft(POOLS.loopbacks)));
  if (port !== undefined && !hasFixedPlaces(POOLS.management)) found.switches.push(switchOf(port, bitsLeft(POOLS.management)));
  if (port !== undefined && hasFixedPlaces(POOLS.management)) {
    const width = M.pools.device_bits, tier = port >>> width + 4 & 3, device = lowBits(port, width);
    // T2s are in zone 0, and their indices also use the bits of the zone.
    const indexBits = tier === 2 ? width : M.pools.index_bits;
    found.switches.push(sw(port >>> width & 15, tier, device >> indexBits, lowBits(device, indexBits) - 1));
  }
  return found;
}
