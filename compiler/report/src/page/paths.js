// Paths between two NICs, and failures. Paths are recounted whenever a failure is switched on or off.
"use strict";

// Failures of this page, in the order in which they were added.
const failures = [];
let FAILED = indexed(nothing());
let pair;
let page = { plane: "", broken: false, count: 50 };

function collected() {
  const all = nothing();
  for (const own of failures.filter((own) => own.on)) {
    const lost = lossOf(own.thing);
    for (const name of Object.keys(all)) all[name].push(...lost[name]);
  }
  return all;
}

const isFailed = (one) => failures.some((own) => own.on && own.thing.kind === one.kind && own.thing.label === one.label);

function failButton(one) {
  const on = isFailed(one);
  return el("button", { type: "button", class: "noprint", "aria-pressed": String(on), onclick: () => (on ? repair(one) : fail(one)) }, on ? "Repair " + one.label : "Let " + one.label + " fail");
}

function fail(one) {
  const known = failures.find((own) => own.thing.kind === one.kind && own.thing.label === one.label);
  if (known) known.on = true;
  else failures.push({ thing: one, on: true });
  changed();
}

function repair(one) {
  failures.filter((own) => own.thing.label === one.label).forEach((own) => { own.on = false; });
  changed();
}

// Redraws everything that depends on failures.
function changed() {
  FAILED = indexed(collected());
  showFailures();
  showPair();
  showHere();
}

function showFailures() {
  at("failed").replaceChildren(...failures.map((own, order) => el("li", {},
    el("label", {}, el("input", { type: "checkbox", checked: own.on, onchange: (event) => { own.on = event.target.checked; changed(); at("failed").children[order].querySelector("input").focus(); } }), " ",
      el("span", { class: "name" }, own.thing.label), " fails"), " ",
    el("button", { type: "button", class: "noprint", onclick: () => { failures.splice(order, 1); changed(); at("fail-name").focus(); } }, "Remove"))));
  if (!failures.some((own) => own.on)) return at("outcome").replaceChildren(el("p", {}, "No failures."));
  const before = fileState(), after = lose(fileState(), FAILED), sum = allPairs(before, after);
  const rows = [...sum.kinds].sort((a, b) => a[0] - b[0]).map(([kind, spread]) => {
    const counts = [...spread].sort((a, b) => a[0] - b[0]), pairs = counts.reduce((all, own) => all + own[1], 0);
    const mean = counts.reduce((all, own) => all + own[0] * own[1], 0) / pairs;
    return [DISTANCES[kind], number(pairs), number(planned(kind)), number(counts[0][0]), percent(counts[0][0], planned(kind)), mean.toLocaleString("en", { maximumFractionDigits: 2 }), percent(mean, planned(kind))];
  });
  return at("outcome").replaceChildren(
    el("p", { class: "verdict " + (sum.newlyCutOff ? "bad" : "") }, number(sum.touched) + " of " + number(sum.pairs) + " pairs of NICs lose paths; pairs that lose all: " + number(sum.newlyCutOff)),
    table("Remaining paths of all pairs, by distance", ["pairs that are", "#pairs", "#planned", "#least", "#share", "#mean", "#share"], rows));
}

function setPair(from, to) {
  pair = { from, to };
  page = { plane: "", broken: false, count: 50 };
  at("from").value = nicName(from);
  at("to").value = nicName(to);
  showPair();
}

function showPair() {
  if (!pair) return undefined;
  const { from, to } = pair, kind = distance(from, to), all = planned(kind);
  if (all === 0) {
    at("verdict").className = "verdict";
    at("verdict").textContent = "No path by design: no tier connects " + (kind > 1 ? "their zones" : "their T0 groups");
    return at("pair-view").replaceChildren();
  }
  const left = pairPaths(lose(fileState(), FAILED), from, to), sum = left.reduce((a, b) => a + b, 0);
  at("verdict").className = "verdict " + (sum === 0 ? "bad" : sum < all ? "warn" : "good");
  at("verdict").textContent = number(sum) + " of " + number(all) + " paths are left (" + percent(sum, all) + ")";
  const perPlane = all / BUILT;
  const rows = left.map((count, plane) => [plane, [toSwitch(t0Of(from, plane)), " to ", toSwitch(t0Of(to, plane))], number(count), number(perPlane),
    el("span", { class: "bar", role: "img", "aria-label": percent(count, perPlane) }, el("i", { style: "width:" + 100 * count / perPlane + "%" }))])
    .filter(([plane]) => !ABSENT.planes.has(plane));
  const width = ["one switch", "three switches", "five switches"][kind];
  at("pair-view").replaceChildren(...[
    el("p", { class: "note" }, "Each path passes " + width + "." + (M.source_routed ? " The sender chooses it by the destination address it writes." : " Switches choose by hash, and every remaining cable down can be used. The list has only paths whose cable up and cable down have the same number.")),
    table("By plane", ["#plane", "T0s", "#left", "#planned", "share"], rows),
    kind > 0 && mapOf(from, to, kind), el("div", { id: "path-list" })].filter((part) => part));
  return showPaths();
}

// A map with one cell per plane and T0 uplink. Its colour shows whether all, some or none of its paths remain.
function mapOf(from, to, kind) {
  const cell = UPLINKS[0] > 300 ? 3 : UPLINKS[0] > 100 ? 4 : UPLINKS[0] > 40 ? 8 : 14, tall = 10, uppers = choicesOf(kind)[1];
  const canvas = el("canvas", { width: UPLINKS[0] * cell, height: M.planes * tall, role: "img", "aria-label": "Paths by plane (rows) and T0 uplink (columns). Green, amber or red: all, some or none of the paths remain." });
  const style = getComputedStyle(document.documentElement), paint = canvas.getContext("2d");
  const [good, warn, bad] = ["--good", "--warn", "--bad"].map((name) => style.getPropertyValue(name));
  const state = lose(fileState(), FAILED), lost = portLost(state, from) | portLost(state, to);
  for (let plane = 0; plane < M.planes; plane += 1) {
    for (let up = 0; up < UPLINKS[0]; up += 1) {
      const left = lost >> plane & 1 ? 0 : uplinkPaths(state, plane, from, to, up);
      paint.fillStyle = left === 0 ? bad : left < uppers ? warn : good;
      paint.fillRect(up * cell, plane * tall, cell - (cell > 3 ? 1 : 0), tall - 1);
    }
  }
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const plane = Math.floor((event.clientY - box.top) / box.height * M.planes), up = Math.floor((event.clientX - box.left) / box.width * UPLINKS[0]);
    page = { plane: String(plane), broken: false, count: 50, up };
    showPaths();
  });
  return el("div", {}, el("h3", {}, "By plane and T0 uplink"), canvas, el("p", { class: "key" }, "One row per plane, one column per T0 uplink. Green: all paths are left. Red: none. Choose a cell to list its paths."));
}

// Counts the remaining paths of a plane over one T0 uplink, without regard to NIC ports.
function uplinkPaths(state, plane, from, to, up) {
  if (groupPaths(state, plane, from, to) === 0) return 0;
  if (!M.source_routed) return chosenPaths(state, plane, from, to, up);
  const gone = (map, ...at) => { const lost = map.get(key(...at)); return lost !== undefined && lost.has(up); };
  if ([from, to].some((n) => gone(state.groups, plane, n.zone, n.group) || gone(state.t1s, plane, n.zone))) return 0;
  if (from.zone === to.zone) return 1;
  const t1 = Math.floor(up / M.tiers[0].parallel);
  return UPLINKS[1] - union(state.crossings.get(key(plane, from.zone, t1)), state.crossings.get(key(plane, to.zone, t1))).size;
}

// Counts the same paths if switches choose them. Only paths that turn downwards at a switch with a remaining path down count.
function chosenPaths(state, plane, from, to, up) {
  const far = from.zone !== to.zone, t1 = Math.floor(up / M.tiers[0].parallel);
  const own = union(state.groups.get(key(plane, from.zone, from.group)), state.t1s.get(key(plane, from.zone)));
  if (own.has(up)) return 0;
  const lost = lostWhereTheyTurn(state, plane, to, far);
  const all = waysToATurn(far);
  const leads = (at) => (lost.get(at) || 0) < all;
  if (!far) return leads(t1) ? 1 : 0;
  const gone = state.crossings.get(key(plane, from.zone, t1));
  const turns = (top) => { const above = !(gone && gone.has(top)) && upperOf(sw(plane, 1, from.zone, t1), top); return above && leads(above.switch.index); };
  return range(UPLINKS[1]).filter(turns).length;
}

function* everyPath(from, to) {
  const [ups, tops] = choicesOf(distance(from, to));
  for (let plane = 0; plane < M.planes; plane += 1) {
    if (page.plane !== "" && Number(page.plane) !== plane) continue;
    for (let u0 = 0; u0 < ups; u0 += 1) {
      if (page.up !== undefined && page.up !== u0) continue;
      for (let u1 = 0; u1 < tops; u1 += 1) yield pathOf(plane, from, to, u0, u1);
    }
  }
}

// Lists paths, up to the requested number.
function showPaths() {
  const { from, to } = pair, rows = [];
  let more = false;
  for (const path of everyPath(from, to)) {
    const why = culprits(path, FAILED);
    if (page.broken && why.length === 0) continue;
    if (rows.length === page.count) { more = true; break; }
    rows.push([path.plane, path.u0 + 1, ...distance(from, to) > 1 ? [path.u1 + 1] : [], ...M.segments ? [el("code", {}, "0x" + path.entropy.toString(16)), el("code", {}, path.destination)] : [],
      path.switches.map((s, order) => [order ? " " : "", toSwitch(s)]), why.length ? el("span", { class: "bad" }, why.join("; ")) : el("span", { class: "good" }, "works")]);
  }
  const planes = el("select", { id: "path-plane", onchange: (event) => { page = { plane: event.target.value, broken: page.broken, count: 50 }; showPaths(); at("path-plane").focus(); } },
    el("option", { value: "" }, "all"), range(M.planes).map((plane) => el("option", { value: plane, selected: String(plane) === page.plane }, plane)));
  const broken = el("input", { type: "checkbox", id: "path-broken", checked: page.broken, onchange: (event) => { page = { ...page, broken: event.target.checked, count: 50 }; showPaths(); at("path-broken").focus(); } });
  const heads = ["#plane", "#T0 uplink", ...distance(from, to) > 1 ? ["#T1 uplink"] : [], ...M.segments ? ["entropy", "destination"] : [], "switches", "state"];
  at("path-list").replaceChildren(...[
    el("h3", {}, "One by one"),
    el("form", { onsubmit: (event) => event.preventDefault() }, el("label", {}, "Plane ", planes), el("label", {}, broken, " only failed paths"),
      page.up !== undefined && el("span", {}, "T0 uplink " + (page.up + 1))),
    rows.length ? table("Paths", heads, rows, rows.length) : el("p", {}, "No path matches."),
    more && el("button", { type: "button", onclick: () => { page.count += 200; showPaths(); } }, "Show more")].filter((part) => part));
}
