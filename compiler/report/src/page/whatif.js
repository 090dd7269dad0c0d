// Paths that remain after failures: of one pair, and of all pairs by composition, without listing each pair.
"use strict";

// An empty set of failures.
function nothing() {
  return { planes: [], switches: [], nics: [], links: [] };
}

// The state of a fabric. Its sets contain lost elements; all others work.
function newState() {
  return { planes: new Set(), t0s: new Map(), groups: new Map(), t1s: new Map(), crossings: new Map(), nics: new Map() };
}

const setAt = (map, at) => {
  if (!map.has(at)) map.set(at, new Set());
  return map.get(at);
};

function loseSwitch(state, s) {
  if (s.tier === 0) setAt(state.t0s, key(s.zone, s.index)).add(s.plane);
  if (s.tier === 1) {
    const parallel = M.tiers[0].parallel, lost = setAt(state.t1s, key(s.plane, s.zone));
    for (let cable = 0; cable < parallel; cable += 1) lost.add(s.index * parallel + cable);
  }
  if (s.tier === 2) {
    const parallel = M.tiers[1].parallel, step = Math.floor(s.index / T2_ROWS);
    for (let t1 = s.index % T2_ROWS; t1 < M.tiers[1].count; t1 += T2_ROWS) {
      for (let zone = 0; zone < M.zones; zone += 1) {
        const lost = setAt(state.crossings, key(s.plane, zone, t1));
        for (let cable = 0; cable < parallel; cable += 1) lost.add(step * parallel + cable);
      }
    }
  }
}

function loseLink(state, l) {
  if (l.host) losePort(state, l.nic, 1 << l.plane);
  else if (l.lower.tier === 0) setAt(state.groups, key(l.plane, l.lower.zone, l.lower.index)).add(l.up);
  else setAt(state.crossings, key(l.plane, l.lower.zone, l.lower.index)).add(l.up);
}

function losePort(state, nic, planes) {
  const at = nicKey(nic), known = state.nics.get(at);
  state.nics.set(at, { nic, planes: (known ? known.planes : 0) | planes });
}

function lose(state, lost) {
  lost.planes.forEach((plane) => state.planes.add(plane));
  lost.switches.forEach((s) => loseSwitch(state, s));
  lost.nics.forEach((nic) => losePort(state, nic, 0xffff));
  lost.links.forEach((l) => loseLink(state, l));
  return state;
}

const readSwitch = (at) => { const [tier, plane, zone, index] = at.split(",").map(Number); return sw(plane, tier, zone, index); };
const readNic = (at) => { const [zone, group, downlink] = at.split(",").map(Number); return { zone, group, downlink }; };
function readLink(at) {
  const [tier, plane, zone, index, port] = at.split(",").map(Number);
  return tier === 0 ? hostLink(plane, { zone, group: index, downlink: port }) : fabricLink(sw(plane, tier - 1, zone, index), port);
}

// The state that the fabric file describes: absent and drained elements carry no traffic.
function fileState() {
  const state = newState();
  for (const own of [ABSENT, DRAINED]) {
    lose(state, {
      planes: [...own.planes], switches: [...own.switches].map(readSwitch),
      nics: [...own.nics].map(readNic), links: [...own.links].map(readLink),
    });
  }
  return state;
}

const union = (...sets) => {
  const all = new Set();
  for (const own of sets) if (own) for (const value of own) all.add(value);
  return all;
};

// Counts the paths of a plane from one group to another, without regard to NIC ports.
function groupPaths(state, plane, a, b) {
  if (state.planes.has(plane)) return 0;
  const t0Lost = (g) => { const lost = state.t0s.get(key(g.zone, g.group)); return lost !== undefined && lost.has(plane); };
  if (t0Lost(a) || t0Lost(b)) return 0;
  const kind = distance(a, b);
  if (kind === 0) return 1;
  if (planned(kind) === 0) return 0;
  const ups = (g) => state.groups.get(key(plane, g.zone, g.group));
  const t1s = (zone) => state.t1s.get(key(plane, zone));
  if (!M.source_routed) return directedPaths(state, plane, a, b, kind);
  const lost = union(ups(a), ups(b), t1s(a.zone), t1s(b.zone));
  if (kind === 1) return UPLINKS[0] - lost.size;
  const parallel = M.tiers[0].parallel;
  let paths = (UPLINKS[0] - lost.size) * UPLINKS[1];
  for (let t1 = 0; t1 < M.tiers[1].count && state.crossings.size > 0; t1 += 1) {
    const gone = union(state.crossings.get(key(plane, a.zone, t1)), state.crossings.get(key(plane, b.zone, t1)));
    if (gone.size === 0) continue;
    for (let up = t1 * parallel; up < (t1 + 1) * parallel; up += 1) if (up < UPLINKS[0] && !lost.has(up)) paths -= gone.size;
  }
  return paths;
}

// If switches choose paths, any remaining cable leads down. Counts the remaining upward paths, except those to switches
// without a path down.
function directedPaths(state, plane, a, b, kind) {
  const [up, down] = [a, b].map((g) => lostWhereTheyTurn(state, plane, g, kind === 2)), all = waysToATurn(kind === 2);
  let paths = kind === 1 ? UPLINKS[0] : UPLINKS[0] * UPLINKS[1];
  for (const at of union(up.keys(), down.keys())) paths -= (down.get(at) || 0) >= all ? all : up.get(at) || 0;
  return paths;
}

// Number of upward paths from a T0 to each switch where packets turn, without losses.
function waysToATurn(far) {
  return (far ? Math.ceil(M.tiers[1].count / T2_ROWS) * M.tiers[1].parallel : 1) * M.tiers[0].parallel;
}

// Lost upward paths of a group, by the index of the switch where they turn: a T1 of its zone, or a T2.
function lostWhereTheyTurn(state, plane, g, far) {
  const lost = union(state.groups.get(key(plane, g.zone, g.group)), state.t1s.get(key(plane, g.zone)));
  const parallel = M.tiers[0].parallel, found = new Map();
  const add = (at) => found.set(at, (found.get(at) || 0) + 1);
  if (!far) {
    for (const up of lost) add(Math.floor(up / parallel));
    return found;
  }
  if (lost.size === 0 && state.crossings.size === 0) return found;
  for (let up = 0; up < UPLINKS[0]; up += 1) {
    const t1 = Math.floor(up / parallel), gone = state.crossings.get(key(plane, g.zone, t1));
    for (let top = 0; (gone || lost.has(up)) && top < UPLINKS[1]; top += 1) {
      const above = (lost.has(up) || gone.has(top)) && upperOf(sw(plane, 1, g.zone, t1), top);
      if (above) add(above.switch.index);
    }
  }
  return found;
}

const portLost = (state, nic) => { const known = state.nics.get(nicKey(nic)); return known ? known.planes : 0; };

// Counts the paths of each plane from one NIC to another.
function pairPaths(state, from, to) {
  const lost = portLost(state, from) | portLost(state, to);
  return range(M.planes).map((plane) => lost >> plane & 1 ? 0 : groupPaths(state, plane, from, to));
}

// Names of the absent, drained and failed elements of a path.
function culprits(path, failed) {
  const found = [];
  const look = (name, where, how) => { if (where) found.push(name() + " " + how); };
  look(() => "plane " + path.plane, DRAINED.planes.has(path.plane), "is drained");
  look(() => "plane " + path.plane, failed.planes.includes(path.plane), "fails");
  for (const s of path.switches) {
    look(() => switchName(s), ABSENT.switches.has(swKey(s)), "is absent");
    look(() => switchName(s), DRAINED.switches.has(swKey(s)), "is drained");
    look(() => switchName(s), failed.keys.has(swKey(s)), "fails");
  }
  for (const l of path.links) {
    look(() => linkName(l), ABSENT.links.has(linkKey(l)), "is absent");
    look(() => linkName(l), DRAINED.links.has(linkKey(l)), "is drained");
    look(() => linkName(l), failed.keys.has("l" + linkKey(l)), "fails");
    if (l.host) look(() => nicName(l.nic), failed.keys.has("n" + nicKey(l.nic)), "fails");
  }
  return found;
}

// Failures with keys to look them up.
function indexed(lost) {
  const keys = new Set([...lost.switches.map(swKey), ...lost.links.map((l) => "l" + linkKey(l)), ...lost.nics.map((n) => "n" + nicKey(n))]);
  return { ...lost, keys };
}

// Classes of T0 groups with the same losses before and the same losses after, with their NICs counted by remaining ports.
function sortsOf(before, after) {
  const special = new Map();
  for (const state of [before, after]) {
    for (const { nic } of state.nics.values()) setAt(special, key(nic.zone, nic.group)).add(nic.downlink);
  }
  const profile = (state, zone, group) => {
    const t0s = [...(state.t0s.get(key(zone, group)) || [])].sort((a, b) => a - b);
    const ups = range(M.planes).map((plane) => [...(state.groups.get(key(plane, zone, group)) || [])].sort((a, b) => a - b).join(" "));
    return t0s.join(" ") + "/" + ups.join("/");
  };
  const all = 2 ** M.planes - 1, sorts = new Map();
  for (let zone = 0; zone < M.zones; zone += 1) {
    for (let group = 0; group < M.groups; group += 1) {
      const odd = special.get(key(zone, group)) || new Set();
      const counts = new Map();
      const plain = M.per_group - odd.size;
      if (plain > 0) counts.set(key(all, all), plain);
      for (const downlink of odd) {
        const nic = { zone, group, downlink };
        if (!hasNic(nic)) continue;
        const left = key(all & ~portLost(before, nic), all & ~portLost(after, nic));
        counts.set(left, (counts.get(left) || 0) + 1);
      }
      if (counts.size === 0) continue;
      const nics = [...counts].sort().map(([left, count]) => ({ left: left.split(",").map(Number), count }));
      const at = [zone, profile(before, zone, group), profile(after, zone, group), nics.map((n) => n.left + "x" + n.count)].join("|");
      if (!sorts.has(at)) sorts.set(at, { zone, nics, members: [] });
      sorts.get(at).members.push({ zone, group });
    }
  }
  return [...sorts.values()];
}

// All pairs of NICs, before and after: how many lose paths, how many are cut off, and the remaining paths by distance.
function allPairs(before, after) {
  const sorts = sortsOf(before, after);
  const sum = { pairs: 0, touched: 0, cutOff: 0, newlyCutOff: 0, kinds: new Map() };
  const add = (a, b, groups, same) => {
    const from = a.members[0];
    const to = same ? from : b === a ? a.members[1] : b.members[0];
    const kind = distance(from, to);
    if (planned(kind) === 0) return;
    // Both directions, each over all planes. With uSIDs one direction is enough, because a uSID names the same cable in both.
    const ends = M.source_routed ? [[from, to]] : [[from, to], [to, from]];
    const paths = (state) => ends.map(([one, other]) => range(M.planes).map((plane) => groupPaths(state, plane, one, other)));
    const [old, now] = [paths(before), paths(after)];
    const count = (left, planes) => planes.reduce((all, value, plane) => left >> plane & 1 ? all + value : all, 0);
    a.nics.forEach((x, i) => b.nics.forEach((y, j) => {
      if (same && j < i) return;
      const pairs = groups * (same && i === j ? x.count * (x.count - 1) / 2 : x.count * y.count);
      if (pairs === 0) return;
      const both = (at, directions) => directions.map((planes) => count(x.left[at] & y.left[at], planes));
      const [thens, lefts] = [both(0, old), both(1, now)], [then, left] = [thens, lefts].map((own) => Math.min(...own));
      sum.pairs += pairs;
      if (lefts.some((own, at) => own < thens[at])) sum.touched += pairs;
      if (left === 0) sum.cutOff += pairs;
      if (left === 0 && then > 0) sum.newlyCutOff += pairs;
      if (!sum.kinds.has(kind)) sum.kinds.set(kind, new Map());
      const spread = sum.kinds.get(kind);
      spread.set(left, (spread.get(left) || 0) + pairs);
    }));
  };
  sorts.forEach((a, at) => {
    const n = a.members.length;
    add(a, a, n, true);
    if (n > 1) add(a, a, n * (n - 1) / 2, false);
    sorts.slice(at + 1).forEach((b) => add(a, b, n * b.members.length, false));
  });
  return sum;
}
