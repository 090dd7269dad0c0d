// Navigation of the page: by URL, by search and by keyboard.
"use strict";

const decode = (part) => { try { return decodeURIComponent(part); } catch { return ""; } };
const parts = () => location.hash.startsWith("#/") ? location.hash.slice(2).split("/").map(decode) : [];
const whole = (text, limit) => /^\d+$/.test(text || "") && Number(text) < limit ? Number(text) : undefined;

// The view of a URL fragment: its title, its parent views and its contents.
function shown(kind, ...rest) {
  const name = rest[0] || "";
  const home = ["Fabric", "#/"], planeAt = (plane) => ["Plane " + plane, address("plane", plane)];
  const tierAt = (s) => [TIERS[s.tier] + "s" + (M.zones > 1 && s.tier < 2 ? " of zone " + s.zone : ""), address("tier", s.plane, s.tier, s.zone)];
  const found = { plane: () => whole(name, M.planes), switch: () => findSwitch(name), node: () => findNode(name), nic: () => findNic(name), link: () => findLink(name) };
  const at = found[kind] && found[kind]();
  if (kind === "plane" && at !== undefined) return { title: "Plane " + at, up: [home], body: () => planeView(at) };
  if (kind === "tier") {
    const [plane, tier] = [whole(rest[0], M.planes), whole(rest[1], M.tiers.length)];
    const zone = tier === undefined ? undefined : whole(rest[2], zonesOf(tier));
    if (plane !== undefined && zone !== undefined) {
      return { title: TIERS[tier] + "s of plane " + plane + (M.zones > 1 && tier < 2 ? ", zone " + zone : ""), up: [home, planeAt(plane)], body: () => tierView(plane, tier, zone) };
    }
  }
  if (kind === "switch" && at) return { title: name, up: [home, planeAt(at.plane), tierAt(at)], body: () => switchView(at) };
  if (kind === "node" && at) return { title: "Node " + name, up: [home], body: () => nodeView(at) };
  if (kind === "nic" && at) return { title: "NIC " + name, up: [home, [nodeName(nodeOf(at).node), address("node", nodeName(nodeOf(at).node))]], body: () => nicView(at) };
  if (kind === "link" && at) {
    const end = at.host ? [nicName(at.nic), address("nic", nicName(at.nic))] : [switchName(at.lower), address("switch", switchName(at.lower))];
    return { title: (at.host ? "NIC port " : "Cable ") + name, up: [home, planeAt(at.plane), end], body: () => linkView(at) };
  }
  if (kind === "group") {
    const [zone, group] = [whole(rest[0], M.zones), whole(rest[1], M.groups)];
    if (zone !== undefined && group !== undefined) return { title: "T0 group " + (group + 1) + (M.zones > 1 ? " of zone " + zone : ""), up: [home], body: () => groupView(zone, group) };
  }
  return { title: "Fabric", up: [], body: fabricView };
}

function showHere() {
  const view = shown(...parts());
  at("crumbs").replaceChildren(...view.up.flatMap(([text, href]) => [el("a", { href }, text), " / "]));
  at("here-title").textContent = view.title;
  at("here").replaceChildren(...[view.body()].flat(3).filter((part) => part));
}

function showFound(list, query) {
  if (list.length === 0) return at("found").replaceChildren(query === "" ? "" : el("p", {}, "No element is named ", el("code", {}, query), "."));
  return at("found").replaceChildren(el("ul", {}, list.map((one) => el("li", {}, toThing(one), " ", el("span", { class: "muted" }, one.what + (one.note ? ": " + one.note : ""))))));
}

function search(event) {
  event.preventDefault();
  const query = at("query").value.trim();
  const exact = find(query), list = exact.length ? exact : candidates(query);
  showFound(list, query);
  if (exact.length === 1 && exact[0].kind !== "none") location.hash = toThing(exact[0]).getAttribute("href");
}

// The NIC with a name or an address; for a node, its first NIC.
function nicNamed(text) {
  const found = find(text).map((one) => one.kind === "nic" ? one.at : one.kind === "node" ? nicOf(one.at, 0) : one.kind === "link" && one.at.host ? one.at.nic : undefined);
  return found.find((nic) => nic !== undefined);
}

function askPair(event) {
  event.preventDefault();
  const [from, to] = ["from", "to"].map((id) => nicNamed(at(id).value));
  const wrong = !from ? at("from").value : !to ? at("to").value : undefined;
  const say = (text) => { at("verdict").className = "verdict bad"; at("verdict").textContent = text; at("pair-view").replaceChildren(); pair = undefined; };
  if (wrong !== undefined) return say("No NIC is named \"" + wrong + "\".");
  if (nicKey(from) === nicKey(to)) return say("Both are the same NIC.");
  for (const nic of [from, to]) if (!hasNic(nic)) return say(nicName(nic) + " is absent.");
  return setPair(from, to);
}

function askFail(event) {
  event.preventDefault();
  const name = at("fail-name").value.trim();
  const one = find(name).find((one) => lossOf(one));
  at("fail-error").textContent = one ? "" : "No element that can fail is named \"" + name + "\": write a switch, cable, NIC, NIC port, node, or `plane 0`.";
  if (!one) return;
  at("fail-name").value = "";
  fail(one);
}

// Arrow keys go to the next box in their direction, Escape goes up.
function keys(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const field = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape") {
    if (event.target === at("query")) { at("query").value = ""; showFound([], ""); return; }
    const up = shown(...parts()).up;
    if (!field && up.length) location.hash = up[up.length - 1][1];
    return;
  }
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  const box = step && !field && event.target.closest && event.target.closest("[data-arrows]");
  if (!box) return;
  const next = nearest(event.target, [...box.querySelectorAll("a")], step);
  if (!next) return;
  event.preventDefault();
  if (event.target.tabIndex === 0 && next.tabIndex === -1) { event.target.tabIndex = -1; next.tabIndex = 0; }
  next.focus();
}

function nearest(from, all, [dx, dy]) {
  const middle = (one) => { const box = one.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; };
  const [x, y] = middle(from);
  let best, least = Infinity;
  for (const one of all) {
    const [a, b] = middle(one), along = (a - x) * dx + (b - y) * dy, aside = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
    const far = along + 4 * aside;
    if (one !== from && along > 1 && far < least) [best, least] = [one, far];
  }
  return best;
}

function showCounts() {
  const c = M.counts;
  const list = [[c.nics, "NICs"], [c.nodes, "nodes"], [c.planes, c.planes === 1 ? "plane" : "planes"], c.zones > 1 && [c.zones, "zones"], [c.t0, "T0s"], c.t1 > 0 && [c.t1, "T1s"], c.t2 > 0 && [c.t2, "T2s"],
    [c.host_links + c.fabric_links, "cables"], [[c.paths_local, c.paths_zone, c.paths_far][FARTHEST], "paths between the farthest NICs"]];
  at("counts").replaceChildren(...list.filter((one) => one).map(([count, what]) => el("li", {}, el("b", {}, number(count)), " " + what)));
  at("description").textContent = M.description;
  at("footer").textContent = "Written by closc " + M.version + ". This page loads nothing: it computes what it shows from the numbers of the fabric file.";
}

function showScheme() {
  const code = (text) => text && el("code", {}, text);
  const s = M.segments;
  at("scheme-view").replaceChildren(...[
    el("p", { class: "note" }, "Every name, address and uSID is a function of position, so growth renumbers nothing."),
    facts([["Routing", M.routing], ...M.names.tiers.map((own, tier) => [TIERS[tier] + "s", code(own)]), ["Nodes", code(M.names.node)],
      ["NIC addresses", code(M.pools.hosts)], ["Addresses of cables", code(M.pools.links)], ["Loopbacks", code(M.pools.loopbacks)], ["Management", code(M.pools.management)], ["Gateway", code(M.pools.gateway)],
      ["uSID blocks", s && code([...new Set(s.blocks)].map((own) => own + "/32").join(" "))],
      ["Bits of a uSID", s && "role " + s.role_bits + ", plane " + s.plane_bits + ", zone " + s.zone_bits + ", index " + s.index_bits],
      ["Entropy values", M.entropy && M.entropy.active + " active and " + M.entropy.backup + " backup values for each NIC; minimum of active values: " + M.entropy.min_active],
      ["Nodes have", plural(M.nics_per_node, "NIC") + " on " + plural(M.rails, "rail") + (NODE_ZONES > 1 ? " in " + plural(NODE_ZONES, "zone") : "")]])]);
}

function showExceptions() {
  const spans = (rows, name, last) => rows.map((row) => {
    const first = name(row), end = name([...row.slice(0, -2), row[last], row[last]]);
    return first === end ? el("span", { class: "name" }, first) : [el("span", { class: "name" }, first), " to ", el("span", { class: "name" }, end)];
  });
  const rows = [];
  for (const [word, own] of [["absent", M.exceptions.absent], ["drained", M.exceptions.drained]]) {
    rows.push(...own.planes.map((plane) => [word, "plane " + plane]));
    rows.push(...spans(own.switches, ([tier, plane, zone, index]) => switchName(sw(plane, tier, zone, index)), 4).map((what) => [word, what]));
    rows.push(...spans(own.nics, ([zone, group, downlink]) => nicName({ zone, group, downlink }), 3).map((what) => [word, what]));
    rows.push(...spans(own.links, (row) => linkName(readLink(row.slice(0, 5).join(","))), 5).map((what) => [word, what]));
  }
  rows.push(...M.exceptions.cables.map(([own, mm, medium]) => ["cable of " + metres(mm) + ", " + medium, linkTo("link", linkName(readLink(own.join(","))))]));
  rows.push(...M.kind_exceptions.map(([tier, plane, zone, index, kind]) => ["is " + M.kinds[kind].platform + " with " + M.kinds[kind].os, toSwitch(sw(plane, tier, zone, index))]));
  at("exceptions-view").replaceChildren(rows.length ? table("Exceptions", ["what", "which"], rows, 32) : el("p", {}, "None: the fabric has every element that its counts define."));
}

// The first NIC, and one that is as far from it as paths lead.
function firstPair() {
  const first = (zone, groups, downlinks) => groups.flatMap((group) => downlinks.map((downlink) => ({ zone, group, downlink }))).find(hasNic);
  const groups = range(M.groups), downlinks = range(M.per_group);
  const from = first(0, groups, downlinks);
  const to = FARTHEST > 0 ? first(FARTHEST > 1 ? M.zones - 1 : 0, [...groups].reverse(), downlinks)
    : from && first(from.zone, [from.group], [...downlinks].reverse());
  if (from) at("from").value = nicName(from);
  if (to) at("to").value = nicName(to);
  at("fail-name").placeholder = M.tiers.length > 1 ? switchName(sw(0, 1, 0, 0)) : switchName(sw(0, 0, 0, 0));
}

at("theme").addEventListener("change", (event) => {
  if (event.target.value) document.documentElement.dataset.theme = event.target.value;
  else delete document.documentElement.dataset.theme;
  showPair();
});
at("search").addEventListener("submit", search);
at("query").addEventListener("input", () => { const query = at("query").value.trim(); const exact = find(query); showFound(exact.length ? exact : candidates(query), ""); });
at("pair").addEventListener("submit", askPair);
at("fail").addEventListener("submit", askFail);
document.addEventListener("keydown", keys);
window.addEventListener("hashchange", () => { if (location.hash.startsWith("#/")) { showHere(); at("here-title").focus(); } });
showCounts();
at("qos-view").replaceChildren(...classesView());
showScheme();
showExceptions();
firstPair();
showFailures();
showHere();
document.body.dataset.ready = "yes";
