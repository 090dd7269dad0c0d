// Drawings: planes and tiers as boxes with counts, then single switches. Text is inserted only as text.
"use strict";

const at = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(3)) {
    if (child === undefined || child === null || child === false) continue;
    made.append(child instanceof Node ? child : String(child));
  }
  return made;
}
const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

const number = (value) => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const plural = (count, one, many) => number(count) + " " + (count === 1 ? one : many || one + "s");
const speed = (mbps) => mbps % 1000 === 0 ? mbps / 1000 + "G" : mbps + "M";
const metres = (mm) => mm / 1000 + " m";
const percent = (part, whole) => part === 0 ? "0 %" : part === whole ? "100 %" : (100 * part / whole).toFixed(part * 1000 > whole * 995 || part * 200 < whole ? 2 : 1) + " %";

const ROUTES = { plane: "plane", switch: "switch", node: "node", nic: "nic", link: "link", group: "group" };
const address = (kind, ...parts) => "#/" + [kind, ...parts].map(encodeURIComponent).join("/");
const linkTo = (kind, name, text) => el("a", { href: address(ROUTES[kind], name), class: "name" }, text || name);
const toSwitch = (s) => linkTo("switch", switchName(s));
const toThing = (one) => one.kind === "none" ? el("span", {}, one.label) : one.kind === "plane" ? linkTo("plane", String(one.at), one.label)
  : one.kind === "group" ? el("a", { href: address("group", one.at.zone, one.at.group), class: "name" }, one.label) : linkTo(one.kind, one.label);

// A table that shows its first rows, and all of them on request.
function table(caption, heads, rows, first) {
  const cell = (name) => (content, column) => {
    const numeric = heads[column].startsWith("#");
    return el(name, { class: numeric ? "n" : undefined, scope: name === "th" ? "col" : undefined }, content);
  };
  const body = el("tbody");
  const show = (list) => body.append(...list.map((row) => el("tr", {}, row.map(cell("td")))));
  const limit = first || 64;
  show(rows.slice(0, limit));
  const made = el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, heads.map((head, at) => cell("th")(head.replace(/^#/, ""), at)))), body);
  const more = rows.length > limit && el("button", { type: "button" }, "Show all " + number(rows.length));
  if (more) {
    more.addEventListener("click", () => {
      show(rows.slice(limit));
      more.remove();
    });
  }
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, made, more);
}

const facts = (pairs) => el("dl", {}, pairs.filter((pair) => pair && pair[1] !== undefined && pair[1] !== null && pair[1] !== "").map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));

// Counts the absent, drained and failed switches of a tier in a plane and zone (all zones if not given).
function losses(plane, tier, zone) {
  const mine = (at) => { const s = readSwitch(at); return s.plane === plane && s.tier === tier && (zone === undefined || tier === 2 || s.zone === zone); };
  const count = (keys) => [...keys].filter(mine).length;
  return { absent: count(ABSENT.switches), drained: count(DRAINED.switches), failed: count(FAILED.keys ? [...FAILED.keys].filter((at) => /^\d/.test(at)) : []) };
}

const lossText = (lost) => [["absent", "warn"], ["drained", "warn"], ["failed", "bad"]].filter(([what]) => lost[what])
  .map(([what, style]) => el("small", { class: style }, number(lost[what]) + " " + what));

const plannedSwitches = (tier) => tier === 2 ? range(countOf(2)).filter((index) => index % T2_ROWS < M.tiers[1].count).length : countOf(tier) * M.zones;

function tierBox(plane, tier, zone) {
  const lost = losses(plane, tier, zone);
  const all = zone === undefined ? plannedSwitches(tier) : tier === 2 ? plannedSwitches(2) : countOf(tier);
  const text = [el("b", {}, number(all - lost.absent)), " " + TIERS[tier] + (all - lost.absent === 1 ? "" : "s"), lossText(lost)];
  const href = zone !== undefined || zonesOf(tier) === 1 ? address("tier", plane, tier, zone || 0) : address("plane", plane);
  return el("a", { class: "tier t" + tier, href }, text, el("span", { class: "unseen" }, " of plane " + plane + (zone === undefined ? "" : ", zone " + zone)));
}

// Counts the existing cables between a tier and the next one, in a plane and a zone. Tier -1 is the NICs. Without a zone, all zones count.
function cablesUp(plane, tier, zone) {
  const gone = new Set();
  const lose = (l) => {
    const own = l && (l.host ? l.nic : l.lower);
    if (l && l.plane === plane && (l.host ? -1 : own.tier) === tier && (zone === undefined || own.zone === zone)) gone.add(linkKey(l));
  };
  ABSENT.links.forEach((at) => lose(readLink(at)));
  if (tier < 0) ABSENT.nics.forEach((at) => lose(hostLink(plane, readNic(at))));
  for (const s of [...ABSENT.switches].map(readSwitch)) {
    if (s.plane !== plane || !isPlanned(s)) continue;
    if (s.tier === tier) range(UPLINKS[tier]).forEach((up) => lose(fabricLink(s, up)));
    if (s.tier === 0 && tier < 0) range(M.per_group).forEach((downlink) => lose(hostLink(plane, { zone: s.zone, group: s.index, downlink })));
    if (s.tier === tier + 1 && tier >= 0) {
      const ports = s.tier === 1 ? countOf(0) * M.tiers[0].parallel : M.zones * M.t2.zone_ports;
      range(ports).map((down) => lowerOf(s, down)).forEach((far) => far && lose(fabricLink(far.switch, far.up)));
    }
  }
  const zones = zone === undefined ? M.zones : 1;
  return zones * (tier < 0 ? M.groups * M.per_group : countOf(tier) * UPLINKS[tier]) - gone.size;
}

const between = (count, mbps) => el("span", { class: "between", title: plural(count, "cable") + " of " + speed(mbps) }, number(count) + " \u00d7 " + speed(mbps));
const upSpeed = (plane, tier, zone) => M.kinds[M.kind_of[tier][plane][zone || 0]].up.mbps;

function planeCard(plane) {
  const isLost = DRAINED.planes.has(plane) || FAILED.planes.includes(plane);
  const parts = [];
  for (let tier = M.tiers.length - 1; tier >= 0; tier -= 1) {
    parts.push(tierBox(plane, tier));
    if (tier > 0) parts.push(between(cablesUp(plane, tier - 1), upSpeed(plane, tier - 1)));
  }
  return el("div", { class: "card" + (isLost ? " lost" : "") },
    el("h3", {}, el("a", { href: address("plane", plane) }, "Plane " + plane),
      DRAINED.planes.has(plane) && el("small", { class: "warn" }, " drained"), FAILED.planes.includes(plane) && el("small", { class: "bad" }, " failed")),
    parts, between(cablesUp(plane, -1), M.port_mbps[0]));
}

function fabricView() {
  const c = M.counts;
  return [
    el("p", { class: "muted" }, "Planes are parallel networks: every NIC has a port in each, and no cable joins two of them. Between boxes are the cables and their speed. Choose a plane or a tier to look into it; arrow keys move between boxes, Escape goes back up."),
    el("div", { class: "cards", "data-arrows": true }, range(M.planes).map(planeCard)),
    el("span", { class: "tier nic" }, el("b", {}, number(c.nics)), " NICs in ", el("b", {}, number(c.nodes)), " nodes: " + plural(M.planes, "port") + " per NIC, one per plane"),
    M.sites.length > 0 && facts(M.sites.map(([name, zones]) => ["Site " + name, "zones " + zones.join(", ")])),
  ];
}

function planeView(plane) {
  const parts = [];
  const drained = DRAINED.planes.has(plane);
  if (drained) parts.push(el("p", { class: "warn" }, "The plane is drained: it carries no new traffic."));
  parts.push(failButton({ kind: "plane", at: plane, label: "plane " + plane }));
  const box = el("div", { "data-arrows": true });
  if (M.t2) box.append(tierBox(plane, 2), between(cablesUp(plane, 1), upSpeed(plane, 1)));
  box.append(el("div", { class: "cards" }, range(M.zones).map((zone) => el("div", { class: "card" },
    el("h3", {}, M.zones > 1 ? "Zone " + zone : "Plane " + plane),
    M.tiers.length > 1 && [tierBox(plane, 1, zone), between(cablesUp(plane, 0, zone), upSpeed(plane, 0, zone))],
    tierBox(plane, 0, zone), between(cablesUp(plane, -1, zone), M.port_mbps[zone]),
    el("span", { class: "tier nic" }, el("b", {}, number(M.groups * M.per_group - lostNics(zone))), " NICs")))));
  return [...parts, box];
}

const lostNics = (zone) => [...ABSENT.nics].filter((at) => readNic(at).zone === zone).length;

// The switches of a tier. Tab moves to the first one, and arrow keys move to the others.
function tierView(plane, tier, zone) {
  const all = range(countOf(tier)).map((index) => sw(plane, tier, zone, index)).filter(isPlanned);
  const links = all.map((s, order) => {
    const name = switchName(s), gone = !hasSwitch(s), failed = FAILED.keys.has(swKey(s)) || FAILED.planes.includes(plane);
    const odd = !gone && (isSwitchDrained(s) || KINDS.has(swKey(s)));
    const state = gone ? ", absent" : failed ? ", failed" : isSwitchDrained(s) ? ", drained" : KINDS.has(swKey(s)) ? ", other hardware" : "";
    return el("a", { href: address("switch", name), tabindex: order === 0 ? "0" : "-1", class: gone ? "gone" : failed ? "failed" : odd ? "odd" : undefined,
      title: name + state }, el("span", { "aria-hidden": "true" }, s.index + 1), el("span", { class: "unseen" }, name + state));
  });
  return [
    el("p", { class: "key" }, "Numbers are those in the names. Dashed: absent. Outlined: drained, of other hardware, or failed."),
    el("div", { class: "grid t" + tier, "data-arrows": true, role: "group", "aria-label": TIERS[tier] + "s of plane " + plane }, links),
  ];
}

// A switch with its neighbours above and below.
function switchDrawing(s, ports) {
  const width = 640, side = (which) => ports.filter((port) => port.side === which);
  const box = (y, kind, title, sub) => [
    svg("rect", { class: "box " + kind, x: 120, y, width: 400, height: 40, rx: 5 }),
    svg("text", { x: 320, y: y + 17, "text-anchor": "middle" }, title),
    svg("text", { class: "muted", x: 320, y: y + 33, "text-anchor": "middle" }, sub),
  ];
  const neighbours = (list) => new Set(list.filter((port) => port.state === "linked").map((port) => port.link.host ? nicKey(port.link.nic) : swKey(farSwitch(s, port.link)))).size;
  const cables = (list) => list.filter((port) => port.state === "linked").length;
  const fan = (y, count) => range(Math.min(count, 24)).map((one) => svg("path", { class: "line", d: "M" + (140 + 360 * (one + 0.5) / Math.min(count, 24)) + " " + y + "v34" }));
  const up = side("up"), down = side("down"), parts = [];
  let y = 4;
  if (up.length > 0 && s.tier < M.tiers.length - 1) {
    parts.push(box(y, "b" + (s.tier + 1), plural(neighbours(up), TIERS[s.tier + 1]), "over " + plural(cables(up), "uplink") + " of " + speed(up[0].mbps)));
    parts.push(fan(y + 40, cables(up)));
    y += 74;
  }
  parts.push(box(y, "b" + s.tier, switchName(s), kindOf(s).platform + ", " + kindOf(s).os));
  parts.push(fan(y + 40, cables(down)));
  y += 74;
  parts.push(box(y, s.tier === 0 ? "bn" : "b" + (s.tier - 1), plural(neighbours(down), s.tier === 0 ? "NIC" : TIERS[s.tier - 1]), "over " + plural(cables(down), "downlink") + " of " + speed(down[0].mbps)));
  return svg("svg", { viewBox: "0 0 " + width + " " + (y + 46), width, role: "img", "aria-label": switchName(s) + " with its neighbours" }, parts);
}

// The front panel: one column per cage, one cell per port. A cage without a port is one hollow cell.
function panelDrawing(s, ports) {
  const used = new Set(ports.map((port) => port.cage));
  const all = kindOf(s).cages, cages = all.length > 0 ? all : [...used].sort((a, b) => a - b);
  const columns = Math.min(cages.length, 64), cell = 9, label = 10;
  const parts = Math.max(...ports.map((port) => Math.max(port.part, 1)));
  const rows = Math.ceil(cages.length / columns), high = parts * (cell + 1), row = high + label + 4;
  const place = new Map(cages.map((cage, order) => [cage, { x: order % columns * (cell + 1), y: Math.floor(order / columns) * row + label }]));
  const title = (text) => svg("title", {}, text);
  const numbers = cages.filter((cage, order) => order % 8 === 0).map((cage) => svg("text", { class: "muted small", x: place.get(cage).x, y: place.get(cage).y - 2 }, cage));
  const hollow = cages.filter((cage) => !used.has(cage)).map((cage) => {
    const { x, y } = place.get(cage);
    return svg("rect", { x: x + 0.5, y: y + 0.5, width: cell - 1, height: high - 2, class: "hollow" }, title("cage " + cage + ": unused"));
  });
  const cells = ports.map((port) => {
    const { x, y } = place.get(port.cage), top = y + (Math.max(port.part, 1) - 1) * (cell + 1);
    const failed = port.link && FAILED.keys.has("l" + linkKey(port.link));
    return svg("rect", { x: x + 0.5, y: top + 0.5, width: cell - 1, height: cell - 1, class: failed ? "dead" : port.state }, title(port.name + ": " + port.state));
  });
  const [width, height] = [columns * (cell + 1), rows * row];
  const name = "Front panel: " + used.size + " of " + plural(cages.length, "cage") + " in use or kept free";
  return svg("svg", { viewBox: "0 0 " + width + " " + height, width, role: "img", "aria-label": name }, numbers, hollow, cells);
}
