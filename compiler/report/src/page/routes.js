// Routes of a switch, as the compiler writes them: prefix, and ports with weights. Without ports, packets are dropped.
"use strict";

function srv6Routes(s) {
  const routes = [];
  portsOf(s).forEach((port, at) => {
    if (port.state !== "linked") return;
    const l = port.link;
    const value = l.host ? nicUsid(s.plane, l.nic) : switchUsid(farSwitch(s, l), l.up % M.tiers[l.lower.tier].parallel);
    routes.push({ prefix: usidPrefix(s.plane, value), hops: [[at, 1]] });
  });
  routes.push({ prefix: M.segments.blocks[s.plane] + "/32", hops: [] });
  return routes;
}

const isSame = (a, b) => a.tier === b.tier && a.plane === b.plane && a.zone === b.zone && a.index === b.index;
const farSwitch = (s, l) => isSame(l.lower, s) ? upperOf(l.lower, l.up).switch : l.lower;

// Routes of a T0 to its own NICs.
function localRoutes(s) {
  const routes = [];
  portsOf(s).forEach((port, at) => {
    if (port.state === "linked" && port.link.host) routes.push({ prefix: nicPrefix(port.link.nic), hops: [[at, 1]] });
  });
  routes.push({ prefix: groupPrefix(s.zone, s.index), hops: [] });
  return routes;
}

// ---- Exact fractions

const gcd = (a, b) => { while (b) [a, b] = [b, a % b]; return a; };
const fraction = (n, d) => { if (d === 0n) return [0n, 1n]; const g = gcd(n, d) || 1n; return [n / g, d / g]; };
const NOTHING = [0n, 1n], WHOLE = [1n, 1n];
const isLess = (a, b) => a[0] * b[1] < b[0] * a[1];

// ---- Remaining capacity between a switch and a destination: `scope` is a zone, or one of its groups.

function capacities(plane, withDrained) {
  const known = new Map();
  const counts = (l) => hasLink(l) && (withDrained || !isDrained(l));
  const uplink = (lower, upper, cable) => {
    const step = lower.tier === 1 ? Math.floor(upper.index / T2_ROWS) : upper.index;
    const up = step * M.tiers[lower.tier].parallel + cable;
    const far = upperOf(lower, up);
    return far && isSame(far.switch, upper) && far.cable === cable ? up : undefined;
  };
  const own = {
    cables: (lower, upper) => range(M.tiers[lower.tier].parallel).map((cable) => uplink(lower, upper, cable))
      .filter((up) => up !== undefined).map((up) => fabricLink(lower, up)).filter(counts),
    between: (lower, upper) => fraction(BigInt(own.cables(lower, upper).length), BigInt(M.tiers[lower.tier].parallel)),
    above: (s) => {
      const { up, parallel } = M.tiers[s.tier];
      return range(Math.ceil(up[0] / parallel)).map((step) => upperOf(s, step * parallel)).filter((far) => far).map((far) => far.switch);
    },
    belowT2: (t2, zone) => range(M.tiers[1].count).map((index) => sw(plane, 1, zone, index))
      .filter((t1) => uplink(t1, t2, 0) !== undefined),
    to: (at, scope) => {
      if (at.tier === 1 && at.zone === scope.zone) {
        return scope.group === undefined ? WHOLE : own.between(sw(plane, 0, at.zone, scope.group), at);
      }
      const name = key(swKey(at), scope.zone, scope.group ?? "");
      if (!known.has(name)) {
        const next = at.tier === 2 ? own.belowT2(at, scope.zone) : own.above(at);
        const sum = next.map((far) => own.through(at, far, scope))
          .reduce((all, part) => fraction(all[0] * part[1] + part[0] * all[1], all[1] * part[1]), NOTHING);
        known.set(name, next.length ? fraction(sum[0], sum[1] * BigInt(next.length)) : NOTHING);
      }
      return known.get(name);
    },
    through: (at, next, scope) => {
      const [lower, upper] = at.tier < next.tier ? [at, next] : [next, at];
      const cables = own.between(lower, upper);
      if (next.tier === 0 || cables[0] === 0n) return cables;
      const behind = own.to(next, scope);
      return isLess(cables, behind) ? cables : behind;
    },
  };
  return own;
}

// ---- Weights of a next-hop group

function weigh(shares, kind) {
  const scale = shares.reduce((all, share) => {
    const one = share.left[1] * BigInt(Math.max(share.cables, 1));
    return all / gcd(all, one) * one;
  }, 1n);
  let ways = shares.map((share) => [share.port, share.left[0] * (scale / (share.left[1] * BigInt(Math.max(share.cables, 1))))])
    .filter((way) => way[1] > 0n);
  if (!kind.weighs) ways = equalWays(ways);
  ways = reduced(ways);
  const width = BigInt(kind.ecmp_width);
  if (ways.reduce((sum, way) => sum + way[1], 0n) > width) ways = fit(ways, width);
  return ways.map(([port, weight]) => [port, Number(weight > 65535n ? 65535n : weight)]);
}

const reduced = (ways) => {
  const divisor = ways.reduce((all, way) => gcd(all, way[1]), 0n) || 1n;
  return ways.map(([port, weight]) => [port, weight / divisor]);
};

// Selects next hops of a switch without weights: those that together carry most if all get the same share.
function equalWays(ways) {
  const sorted = ways.map((way) => way[1]).sort((a, b) => a < b ? 1 : a > b ? -1 : 0);
  let best;
  sorted.forEach((capacity, at) => {
    const carried = capacity * BigInt(at + 1);
    if (!best || carried > best[0] || (carried === best[0] && capacity >= best[1])) best = [carried, capacity];
  });
  return best ? ways.filter((way) => way[1] >= best[1]).map(([port]) => [port, 1n]) : ways;
}

// Reduces weights to the width of a group: each further member goes to the next hop farthest below its share.
function fit(ways, width) {
  const had = ways.map(() => 1n);
  for (let left = BigInt(ways.length); left < width; left += 1n) {
    let best = 0;
    for (let at = 1; at < ways.length; at += 1) {
      if (ways[at][1] * (2n * had[best] + 1n) > ways[best][1] * (2n * had[at] + 1n)) best = at;
    }
    had[best] += 1n;
  }
  return reduced(ways.map(([port], at) => [port, had[at]]));
}

// ---- Static routes with next-hop groups

const touchesPlane = (own, plane) => own.planes.has(plane)
  || [...own.switches].some((at) => readSwitch(at).plane === plane)
  || [...own.links].some((at) => !readLink(at).host && readLink(at).plane === plane);

function ecmpRoutes(s) {
  const plane = s.plane, kind = kindOf(s);
  const isWhole = !touchesPlane({ ...ABSENT, planes: new Set() }, plane) && !touchesPlane(DRAINED, plane);
  const both = [capacities(plane, false), capacities(plane, true)];
  const odd = new Set();
  for (const own of [ABSENT, DRAINED]) {
    for (const at of own.switches) { const t0 = readSwitch(at); if (t0.plane === plane && t0.tier === 0) odd.add(key(t0.zone, t0.index)); }
    for (const at of own.links) { const l = readLink(at); if (!l.host && l.plane === plane && l.lower.tier === 0) odd.add(key(l.lower.zone, l.lower.index)); }
  }
  const down = M.tiers[s.tier].down[0] + M.tiers[s.tier].down[1];
  const portAt = (l) => isSame(l.lower, s) ? down + l.up : upperOf(l.lower, l.up).down;
  const shares = (at, scope) => {
    if (!M.t2 && scope.zone !== s.zone) return []; // No tier connects zones.
    const own = both[at];
    const next = s.tier === 1 && s.zone === scope.zone && scope.group !== undefined ? [sw(plane, 0, s.zone, scope.group)]
      : s.tier === 2 ? own.belowT2(s, scope.zone) : own.above(s);
    return next.flatMap((far) => {
      const [lower, upper] = s.tier < far.tier ? [s, far] : [far, s];
      const left = isWhole ? WHOLE : own.through(s, far, scope);
      const links = own.cables(lower, upper);
      return links.map((l) => ({ port: portAt(l), left, cables: links.length }));
    }).sort((a, b) => a.port - b.port);
  };
  const hops = (scope) => {
    const first = weigh(shares(0, scope), kind);
    return first.length ? { at: 0, hops: first } : { at: 1, hops: weigh(shares(1, scope), kind) };
  };
  const view = { s, both, odd, down, hops };
  const routes = s.tier === 0 ? localRoutes(s) : [];
  for (let zone = 0; zone < M.zones; zone += 1) routes.push(...zoneRoutes(view, zone));
  routes.push({ prefix: M.pools.hosts, hops: [] });
  return routes;
}

function zoneRoutes(view, zone) {
  const { s, odd, hops } = view;
  if (s.tier === 1 && s.zone === zone) {
    return range(M.groups).map((group) => ({ prefix: groupPrefix(zone, group), hops: hops({ zone, group }).hops }))
      .filter((route) => route.hops.length);
  }
  const whole = { prefix: zonePrefix(zone), hops: hops({ zone }).hops };
  const same = (a, b) => a.length === b.length && a.every((hop, at) => hop[0] === b[at][0] && hop[1] === b[at][1]);
  const own = range(M.groups).filter((group) => odd.has(key(zone, group)) && !(s.tier === 0 && s.zone === zone && s.index === group))
    .map((group) => ({ group, prefix: groupPrefix(zone, group), hops: hops({ zone, group }).hops }))
    .filter((route) => !same(route.hops, whole.hops));
  const pinned = s.tier === 0 ? pinRoutes(view, zone, own, whole) : [];
  return [...pinned, ...own.map(({ prefix, hops }) => ({ prefix, hops })), ...whole.hops.length ? [whole] : []];
}

const PINS = new Map();
for (const [plane, zone, index, ofZone, group, downlink, up] of M.ecmp ? M.ecmp.pins : []) {
  const at = key(plane, zone, index, ofZone, group);
  if (!PINS.has(at)) PINS.set(at, new Map());
  PINS.get(at).set(downlink, up);
}

// Routes of a T0 to NICs that are pinned to one uplink.
function pinRoutes({ s, both, odd, down, hops }, zone, own, whole) {
  const routes = [], byDownlink = M.ecmp.pin_downlink;
  for (let group = 0; group < M.groups; group += 1) {
    const named = PINS.get(key(s.plane, s.zone, s.index, zone, group));
    if ((zone === s.zone && group === s.index) || (!byDownlink && !named)) continue;
    const way = own.find((route) => route.group === group) || whole;
    if (way.hops.length === 0) continue;
    const scope = odd.has(key(zone, group)) ? { zone, group } : { zone };
    const { at } = hops(scope);
    for (let downlink = 0; downlink < M.per_group; downlink += 1) {
      const nic = { zone, group, downlink };
      if (!hasNic(nic)) continue;
      const port = named && named.has(downlink) ? named.get(downlink) : byDownlink ? bestUplink(nic, way.hops, down) : undefined;
      if (port === undefined) continue;
      if (named && named.has(downlink) && !leads(both[at], s, port, scope)) continue;
      routes.push({ prefix: nicPrefix(nic), hops: [[down + port, 1]] });
    }
  }
  return routes;
}

function leads(own, s, up, scope) {
  const far = upperOf(s, up);
  return far !== undefined && own.cables(s, far.switch).some((l) => l.up === up) && own.through(s, far.switch, scope)[0] > 0n;
}

// The uplink with the NIC's number, modulo the number of uplinks, if no other has a higher weight.
function bestUplink(nic, hops, down) {
  const up = nic.downlink % Math.max(UPLINKS[0], 1), best = Math.max(...hops.map((hop) => hop[1]));
  return hops.some(([port, weight]) => port === down + up && weight === best) ? up : undefined;
}

function routesOf(s) {
  if (M.source_routed) return srv6Routes(s);
  if (M.ecmp) return ecmpRoutes(s);
  return [...s.tier === 0 ? localRoutes(s) : [], { prefix: M.pools.hosts, hops: [] }];
}
