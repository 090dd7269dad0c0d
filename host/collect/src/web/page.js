// The page of `closc collect`. Text is never inserted as HTML, and nothing is fetched from other servers.
"use strict";

const at = (id) => document.getElementById(id);
let session = { apply: false };
const open = new Set();

function make(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = String(text);
  if (kind) made.className = kind;
  return made;
}

function rows(id, list, cells) {
  const body = at(id).tBodies[0];
  body.replaceChildren(...list.map((item) => {
    const row = make("tr");
    for (const cell of cells(item)) {
      const td = make("td");
      td.append(cell instanceof Node ? cell : String(cell));
      row.append(td);
    }
    return row;
  }));
}

async function get(path) {
  const answer = await fetch(path);
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error);
  return value;
}

async function order(path, body) {
  const headers = { "content-type": "application/json" };
  // Operators with a certificate have a token; others enter that of the collector's token file.
  const token = session.token ?? at("token").value.trim();
  const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify({ token, ...body }) });
  const value = await answer.json();
  at("ordered").textContent = answer.ok ? value.items.map((c) => c.element + ": " + c.stage).join("; ") : value.error;
  await refresh();
}

const time = (ms) => new Date(ms).toISOString().slice(0, 16).replace("T", " ") + "Z";
// The meaning of each colour in words.
const words = { good: "good", unknown: "not probed", denied: "denied", gray: "loses packets", dead: "carries nothing" };
const named = (item) => item.health === "good" ? item.name : item.name + ": " + words[item.health];
const percent = (share) => Number((100 * share).toPrecision(3)) + " %";
const query = (fields) => new URLSearchParams(fields).toString();

function button(text, key, act) {
  const made = make("button", text);
  made.type = "button";
  made.disabled = !session.apply;
  made.dataset.key = text + " " + key;
  made.setAttribute("aria-label", made.dataset.key);
  made.addEventListener("click", act);
  return made;
}

async function showCables(name) {
  const { items } = await get("/api/cables?" + query({ of: name }));
  at("detail-name").textContent = "Cables of " + name;
  at("detail").replaceChildren(...items.map((item) => make("span", named(item), "cable " + item.health)));
}

// Draws a tier as one bar, while its plane is not opened. `showPlane` draws a square for each switch.
function tier(plane, view) {
  const line = make("div", undefined, "tier");
  line.append(make("b", view.tier));
  const worst = view.dead > 0 ? "dead" : view.gray > 0 ? "gray" : "good";
  // The width is the share of cables with a known state. Cables without probes are neither good nor bad.
  const known = Math.min(view.cables, view.probed + view.dead + view.gray);
  const bar = make("span", undefined, "bar unknown");
  const part = make("span", "", worst);
  part.style.width = 100 * (view.cables > 0 ? known / view.cables : 0) + "%";
  bar.append(part);
  line.append(bar);
  const rest = view.cables > known ? ", " + (view.cables - known) + " not probed" : "";
  line.append(make("span", view.switches + " switches, " + view.cables + " cables, " + view.dead + " dead, " + view.gray + " gray" + rest));
  return line;
}

async function showPlane(box, plane) {
  const { items: tiers } = await get("/api/plane?" + query({ plane }));
  for (const view of tiers) {
    const line = make("div", undefined, "tier");
    line.append(make("b", view.tier));
    for (const item of view.items) {
      const square = make("button", "", "switch " + item.health);
      square.title = item.name;
      square.type = "button";
      square.dataset.key = item.name;
      square.setAttribute("aria-label", item.name + ": " + words[item.health]);
      square.addEventListener("click", () => showCables(item.name));
      line.append(square);
    }
    if (view.items.length < view.switches) line.append(make("span", "and " + (view.switches - view.items.length) + " healthier ones"));
    box.append(line);
  }
}

function planesOf(planes) {
  return Promise.all(planes.map(async (view) => {
    const box = make("div", undefined, "plane");
    const name = make("button", "plane " + view.plane);
    name.type = "button";
    name.dataset.key = "plane " + view.plane;
    name.setAttribute("aria-expanded", String(open.has(view.plane)));
    name.addEventListener("click", () => {
      if (!open.delete(view.plane)) open.add(view.plane);
      refresh();
    });
    box.append(name);
    if (open.has(view.plane)) await showPlane(box, view.plane);
    else box.append(...[...view.tiers].reverse().map((own) => tier(view.plane, own)));
    return box;
  }));
}

function drawLists(now) {
  rows("verdicts", now.verdicts, (v) => [v.line, time(v.since_ms), v.lost + " of " + v.sent, v.witnesses,
    percent(v.confidence), button("Drain", v.key, () => order("/api/drain", { name: v.key }))]);
  rows("denials", now.denials, (d) => [d.id, d.element, d.held ? d.stage + ": " + d.held : d.stage, d.why, time(d["until-ms"]),
    d.good + " of " + d["good-wanted"], d.in_force + (d.refused.length ? ", " + d.refused.length + " refuse: " + d.refusal : ""),
    ["proposed", "applied"].includes(d.stage) ? button("Lift", d.id + ", " + d.element, () => order("/api/lift", { id: d.id })) : ""]);
}

// Redraws alarms only if they have changed, because a screen reader reads them each time.
function drawAlarms(alarms) {
  const list = at("alarms");
  if (list.dataset.drawn === JSON.stringify(alarms)) return;
  list.dataset.drawn = JSON.stringify(alarms);
  list.replaceChildren(...alarms.map((alarm) => make("li", alarm)));
}

// Redraws and keeps the focus, which keyboard users need.
function keepingFocus(draw) {
  const key = document.activeElement?.dataset.key;
  draw();
  const again = key && [...document.querySelectorAll("[data-key]")].find((made) => made.dataset.key === key);
  if (again) again.focus({ preventScroll: true });
}

async function refresh() {
  try {
    const now = await get("/api/summary");
    const agents = now.agents;
    at("fabric").textContent = now.fabric;
    at("state").textContent = agents.speaking + " of " + agents.nics + " agents answer, " + agents.failing +
      (agents.failing === 1 ? " source fails; " : " sources fail; ") + (agents.dead ? agents.dead + (agents.dead === 1 ? " agent is dead; " : " agents are dead; ") : "") + (agents.other_tables ? agents.other_tables + " with a path table of another plan; " : "") + now.n_verdicts + " broken; " + (now.apply ? "denials are applied" : "dry run: denials are proposed only") +
      "; " + time(now.now_ms);
    drawAlarms(now.alarms ?? []);
    const boxes = await planesOf(now.planes);
    keepingFocus(() => {
      drawLists(now);
      at("planes").replaceChildren(...boxes);
    });
    document.body.dataset.ready = "yes";
  } catch (error) {
    at("state").textContent = "no answer: " + error.message;
  }
}

function on(id, act) {
  at(id).addEventListener("submit", (event) => {
    event.preventDefault();
    act();
  });
}

on("paths-form", async () => {
  try {
    const { items: list } = await get("/api/paths?" + query({ from: at("from").value, to: at("to").value }));
    rows("paths", list, (p) => ["0x" + p.entropy.toString(16), p.plane, p.destination, p.switches.join(" "),
      make("span", p.worst ? p.health + ": " + p.worst : p.health, "cable " + p.health)]);
  } catch (error) {
    rows("paths", [error.message], (text) => [text]);
  }
});
on("decode-form", async () => {
  try {
    const found = await get("/api/decode?" + query({ address: at("address").value }));
    at("decoded").textContent = found.what + (found.segments ? ": " + found.segments.join(", ") : "");
  } catch (error) {
    at("decoded").textContent = error.message;
  }
});
on("drain-form", () => order("/api/drain", {
  name: at("drain-name").value, minutes: Number(at("drain-minutes").value), why: at("drain-why").value || undefined,
}));

(async () => {
  session = await get("/api/session");
  at("drain-form").querySelector("button").disabled = !session.apply;
  at("token-field").hidden = !session.apply || session.token !== undefined;
  await refresh();
  setInterval(refresh, 3000);
})();
