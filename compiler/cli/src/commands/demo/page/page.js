// The page of `closc demo`: asks for the state, draws it, sends orders.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const WINDOW_MS = 30000;
const frames = [];
// Failed requests in a row after which the demo counts as ended.
const FAILURES_MAX = 20;
let view = null, after = null, drawn = {}, broken = new Map(), over = false, failures = 0;

const by = (id) => document.getElementById(id);
function el(parent, name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}
function html(parent, name, className, text) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}
// Text of the story quotes names like Markdown does.
const plain = (text) => text.replaceAll("`", "");
const order = (body) => fetch("/order", { method: "POST", headers: { "x-closc-demo": "1" }, body: JSON.stringify(body) }).catch(() => {});
const toggle = (name, body) => order(broken.has(name) ? { op: "restore", name } : body);

function pressable(node, label, press) {
  node.setAttribute("tabindex", "0");
  node.setAttribute("role", "button");
  node.setAttribute("aria-label", label);
  node.addEventListener("click", press);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    press(event);
  });
  el(node, "title", {}, label);
}

function build() {
  const root = by("planes");
  root.replaceChildren();
  drawn = { planes: [], cables: new Map(), switches: new Map(), ports: new Map() };
  view.planes.forEach((plane, number) => {
    const box = html(root, "div", "plane");
    const title = html(box, "button", "", `plane ${number}`);
    const name = `plane ${number}`;
    title.addEventListener("click", () => toggle(name, { op: "plane", plane: number }));
    const rate = html(box, "span", "mbps");
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 200 104");
    box.appendChild(svg);
    const x = (list, at) => 200 * (at + 0.5) / list.length;
    const place = new Map();
    plane.t1s.forEach((name, at) => place.set(name, [x(plane.t1s, at), 14]));
    plane.t0s.forEach((name, at) => place.set(name, [x(plane.t0s, at), 72]));
    for (const cable of plane.cables) {
      const [a, b] = [place.get(cable.lower), place.get(cable.upper)];
      const line = el(svg, "line", { class: "cable", x1: a[0], y1: a[1] - 6, x2: b[0], y2: b[1] + 6 });
      const hit = el(svg, "line", { class: "hit", x1: a[0], y1: a[1] - 6, x2: b[0], y2: b[1] + 6 });
      pressable(hit, cable.name, () => toggle(cable.name, { op: "loss", cable: cable.name }));
      drawn.cables.set(cable.name, line);
    }
    for (const [name, [cx, cy]] of place) {
      const box = el(svg, "rect", { class: "switch", x: cx - 15, y: cy - 7, width: 30, height: 14, rx: 3 });
      pressable(box, name, (event) => event.shiftKey ? order({ op: "drain", name }) : toggle(name, { op: "cut", name }));
      drawn.switches.set(name, box);
    }
    const below = new Map();
    for (const port of plane.ports) below.set(port.upper, (below.get(port.upper) || []).concat(port));
    for (const [t0, ports] of below) {
      ports.forEach((port, at) => {
        const cx = place.get(t0)[0] + (at - (ports.length - 1) / 2) * 14;
        el(svg, "line", { class: "cable", x1: cx, y1: 79, x2: cx, y2: 92, "stroke-width": 1 });
        const dot = el(svg, "circle", { class: "port", cx, cy: 96, r: 4.5 });
        pressable(dot, port.name, () => toggle(port.name, { op: "nic-port", name: port.name }));
        drawn.ports.set(port.name, dot);
      });
    }
    drawn.planes.push({ box, rate, name });
  });
}

function curve(story) {
  const svg = by("curve");
  svg.replaceChildren();
  if (!frames.length) return;
  const end = Math.max(frames[frames.length - 1].at_ms, WINDOW_MS), begin = end - WINDOW_MS;
  const shown = frames.filter((frame) => frame.at_ms >= begin);
  const most = Math.max(10, ...shown.flatMap((frame) => frame.lanes.map((lane) => lane.mbps)));
  const step = 10 ** Math.floor(Math.log10(most));
  const top = Math.ceil(most / step) * step;
  const x = (ms) => 48 + 700 * (ms - begin) / WINDOW_MS, y = (mbps) => 158 - 140 * mbps / top;
  for (let part = 0; part <= 4; part++) {
    const mbps = top * part / 4;
    el(svg, "line", { class: "grid", x1: 48, x2: 748, y1: y(mbps), y2: y(mbps) });
    el(svg, "text", { x: 42, y: y(mbps) + 4, "text-anchor": "end" }, mbps.toFixed(0));
  }
  el(svg, "text", { x: 48, y: 10 }, "Mb/s");
  for (let at = Math.ceil(begin / 5000) * 5000; at <= end; at += 5000) el(svg, "text", { x: x(at), y: 174, "text-anchor": "middle" }, `${at / 1000} s`);
  for (const line of story) {
    if (line.kind === "fault" && line.at_ms >= begin) el(svg, "line", { class: "mark", x1: x(line.at_ms), x2: x(line.at_ms), y1: 18, y2: 158 });
  }
  ["spray", "flow"].forEach((name, lane) => {
    // A message counts when its bytes arrive, in bursts: the mean of half a second is drawn.
    const mean = shown.map((frame, at) => {
      const near = shown.slice(Math.max(0, at - 4), at + 1);
      return [frame.at_ms, near.reduce((sum, one) => sum + one.lanes[lane].mbps, 0) / near.length];
    });
    el(svg, "polyline", { class: `curve ${name}`, points: mean.map(([ms, mbps]) => `${x(ms).toFixed(1)},${y(mbps).toFixed(1)}`).join(" ") });
  });
  const recent = frames.slice(-10);
  const lost = [0, 1].map((lane) => recent.reduce((sum, frame) => sum + frame.lanes[lane].lost, 0));
  by("losses").textContent = `Packets lost in the last second: spray ${lost[0]}, flow ${lost[1]}`;
}

function histogram(id, values, unit) {
  const svg = by(id);
  svg.replaceChildren();
  if (!values.length) return void el(svg, "text", { x: 4, y: 40 }, "none so far");
  const sorted = [...values].sort((a, b) => a - b);
  const top = Math.max(1, sorted[Math.floor(sorted.length * 0.99)]) * 1.05, bins = new Array(24).fill(0);
  for (const value of values) bins[Math.min(bins.length - 1, Math.floor(bins.length * value / top))]++;
  const most = Math.max(...bins);
  bins.forEach((n, at) => el(svg, "rect", { class: "bar", x: 4 + at * 13, width: 11, y: 70 - 62 * n / most, height: 62 * n / most }));
  el(svg, "text", { x: 4, y: 84 }, "0");
  el(svg, "text", { x: 316, y: 84, "text-anchor": "end" }, `${top.toFixed(top < 10 ? 1 : 0)} ${unit}`);
}

function paint(state) {
  const { now } = state;
  broken = new Map(now.faults.map((fault) => [fault.name, fault]));
  const most = Math.max(1, ...Object.values(now.cables));
  const denied = new Set(now.denied);
  const isDenied = (name) => denied.has(name) || denied.has(`port ${name}`);
  for (const [name, line] of drawn.cables) {
    const n = now.cables[name] || 0;
    line.setAttribute("class", broken.has(name) ? "cable broken" : isDenied(name) ? "cable drained" : n ? "cable" : "cable idle");
    // Hosts leave a faulty cable, but it stays visible.
    line.setAttribute("stroke-width", Math.max(broken.has(name) ? 2.4 : 0, 0.6 + 3 * n / most).toFixed(2));
  }
  for (const [name, box] of drawn.switches) box.setAttribute("class", broken.has(name) ? "switch broken" : denied.has(name) ? "switch drained" : "switch");
  for (const [name, dot] of drawn.ports) dot.setAttribute("class", broken.has(name) ? "port broken" : isDenied(name) ? "port drained" : now.cables[name] ? "port" : "port idle");
  const last = frames.slice(-5);
  drawn.planes.forEach((plane, at) => {
    plane.box.classList.toggle("down", broken.has(plane.name));
    plane.box.classList.toggle("drained", denied.has(plane.name));
    const mbps = last.reduce((sum, frame) => sum + (frame.lanes[0].planes[at] || 0), 0) / Math.max(1, last.length);
    plane.rate.textContent = `${mbps.toFixed(0)} Mb/s`;
  });
  const list = by("verdicts");
  list.replaceChildren();
  if (!now.verdicts.length) html(list, "li", "", "nothing named");
  for (const line of now.verdicts) html(list, "li", "", line);
  by("focus").textContent = now.focus.length ? `${now.focus[0]} to ${now.focus[1]}` : "";
  const rows = by("paths");
  rows.replaceChildren();
  for (const path of now.paths) {
    let row = rows.children[path.plane];
    while (!row) { html(html(rows, "div"), "span", "", `p${rows.children.length - 1}`); row = rows.children[path.plane]; }
    const kind = path.state === "DENIED" ? "denied" : path.in_use ? "use" : path.state === "ASSUMED_BAD" ? "bad" : "";
    html(row, "i", kind).title = `uplink ${path.uplink + 1}: ${path.state}${path.rtt_us ? `, ${path.rtt_us.toFixed(0)} us` : ""}`;
  }
  curve(state.story);
  histogram("rtts", now.rtts_us.map((us) => us / 1000), "ms");
  histogram("behind", now.behind, "packets");
  const said = state.story.filter((line) => line.kind === "tour").pop();
  const text = state.ended || (said && said.text);
  if (text) by("caption").textContent = plain(text);
  by("clock").textContent = `${(now.at_ms / 1000).toFixed(1)} s, ${now.speed.toFixed(2)} x real time`;
  const story = by("story");
  if (story.children.length !== state.story.length) {
    story.replaceChildren();
    for (const line of state.story) {
      const item = html(story, "li", line.kind);
      html(item, "time", "", `${(line.at_ms / 1000).toFixed(1)} s`);
      item.appendChild(document.createTextNode(plain(line.text)));
    }
    story.scrollTop = story.scrollHeight;
  }
}

async function ask() {
  try {
    const answer = await fetch(after === null ? "/state" : `/state?after=${after}`);
    const state = await answer.json();
    if (state.view && state.view.planes.length && !view) { view = state.view; build(); }
    if (view) {
      frames.push(...state.frames);
      frames.splice(0, Math.max(0, frames.length - 600));
      if (frames.length) after = frames[frames.length - 1].at_ms;
      paint(state);
    }
    over = state.ended !== null;
    failures = 0;
  } catch {
    failures += 1;
    over = failures >= FAILURES_MAX;
    by("clock").textContent = over ? "the demo has ended" : "no answer, asking again";
  }
  if (!over) setTimeout(ask, 150);
}

for (const button of document.querySelectorAll("#buttons button")) {
  button.addEventListener("click", () => order(button.dataset.op === "restore" ? { op: "restore", name: null } : { op: button.dataset.op }));
}
ask();
