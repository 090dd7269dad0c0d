const at = (id) => document.getElementById(id);
const EXAMPLES = JSON.parse(at("examples").textContent);
// A request that takes longer is stopped.
const LIMIT_MS = 20_000;
// Time without a keystroke before the text is checked.
const PAUSE_MS = 250;
// Maximum number of lines of a file that are shown.
const LINES_MAX = 3000;

const number = (value) => value.toLocaleString("en-US");
const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

// Text of a finding, in which backticks enclose names and values.
function prose(name, text, kind) {
  const made = element(name, undefined, kind);
  made.append(...text.split("`").map((part, index) => (index % 2 ? element("code", part) : part)));
  return made;
}

// The compiler: one request at a time, in a worker that is replaced if it takes too long, fails or computes an outdated request.
const compiler = {
  module: null, worker: null, source: WORKER, limit: LIMIT_MS, next: 1, queue: Promise.resolve(), cancel() {},

  async load() {
    const text = atob(at("wasm").textContent);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    at("wasm").remove();
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    this.module = await WebAssembly.compile(await new Response(plain).arrayBuffer());
  },

  start() {
    const url = URL.createObjectURL(new Blob([this.source], { type: "text/javascript" }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.worker.postMessage({ module: this.module });
  },

  stop() {
    if (this.worker) this.worker.terminate();
    this.worker = null;
  },

  one(request) {
    if (!this.worker) this.start();
    const id = this.next++;
    return new Promise((done) => {
      const end = (answer) => {
        clearTimeout(timer);
        this.cancel = () => {};
        done(answer);
      };
      const broken = (error) => {
        this.stop();
        end({ error });
      };
      const late = `stopped after ${this.limit / 1000} s: use closc on your machine for this`;
      const timer = setTimeout(() => broken(late), this.limit);
      this.cancel = () => broken("overtaken");
      this.worker.onmessage = ({ data }) => {
        if (data.id !== id) return;
        if (data.error) broken(`the compiler ended on this input (${data.error})`);
        else end(data.answer);
      };
      this.worker.onerror = (event) => {
        event.preventDefault();
        broken(`the compiler ended (${event.message})`);
      };
      this.worker.postMessage({ id, request });
    });
  },

  ask(request) {
    const answer = this.queue.then(() => this.one(request));
    this.queue = answer;
    return answer;
  },
};

// Results belong to a version of the text; older ones are dropped.
let version = 0;
let pending = 0;

function busy(change) {
  pending += change;
  at("results").setAttribute("aria-busy", String(pending > 0));
}

async function ask(request, show) {
  const asked = version;
  busy(1);
  // If the text changed while the request waited, it is not computed.
  const answer = await compiler.queue.then(() => (asked === version ? compiler.ask(request) : null));
  if (answer && asked === version) show(answer.ok, answer.error);
  busy(-1);
}

function gutter(findings) {
  const kinds = new Map();
  for (const finding of findings) {
    const label = finding.labels.find((label) => label.primary);
    if (label && kinds.get(label.line) !== "bad") kinds.set(label.line, finding.severity === "error" ? "bad" : "warn");
  }
  // Only marked lines have an element, because a long text would need too many.
  const count = at("text").value.split("\n").length;
  const lines = document.createDocumentFragment();
  let plain = "";
  for (let line = 1; line <= count; line++) {
    if (kinds.has(line)) {
      lines.append(plain, element("span", String(line), kinds.get(line)));
      plain = "\n";
    } else {
      plain += `${line}\n`;
    }
  }
  lines.append(plain);
  at("lines").replaceChildren(lines);
  at("lines").scrollTop = at("text").scrollTop;
}

// Returns the offset of a line and column in the text. Lines and columns count from 1.
function offset(line, column) {
  const lines = at("text").value.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  return before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
}

function select(label) {
  const [start, end] = [offset(label.line, label.column), offset(label.end_line, label.end_column)];
  at("text").focus();
  at("text").setSelectionRange(start, end);
  const high = parseFloat(getComputedStyle(at("text")).lineHeight);
  at("text").scrollTop = Math.max(0, (label.line - 4) * high);
}

// Applies the changes of a fix, which are replacements in the text, from the last to the first.
function fix(changes) {
  const places = changes.map(({ replace }) => ({
    start: offset(replace.line, replace.column), end: offset(replace.end_line, replace.end_column), text: replace.text,
  }));
  places.sort((a, b) => b.start - a.start);
  let text = at("text").value;
  for (const place of places) text = text.slice(0, place.start) + place.text + text.slice(place.end);
  at("text").value = text;
  changed();
}

function item(finding) {
  const kind = finding.severity === "error" ? "bad" : "warn";
  const made = element("li", undefined, kind);
  const head = element("p");
  const label = finding.labels.find((label) => label.primary);
  head.append(element("b", `${finding.severity} ${finding.code}`), " ", prose("span", finding.message));
  made.append(head);
  if (label) {
    const go = element("button", `line ${label.line}`, "line");
    go.type = "button";
    go.addEventListener("click", () => select(label));
    made.append(go, " ", prose("span", label.text, "note"));
  }
  for (const other of finding.labels.filter((other) => !other.primary)) {
    made.append(prose("p", `line ${other.line}: ${other.text}`, "note"));
  }
  for (const note of finding.notes) made.append(prose("p", note, "note"));
  const fixes = finding.fixes.filter((fix) => fix.changes.every((change) => change.replace));
  for (const help of finding.help) {
    const line = prose("p", `help: ${help}`);
    const found = fixes.find((fix) => fix.help === help);
    if (found) {
      const apply = element("button", "Apply", "line");
      apply.type = "button";
      apply.setAttribute("aria-label", `Apply: ${help}`);
      apply.addEventListener("click", () => fix(found.changes));
      line.append(" ", apply);
    }
    made.append(line);
  }
  return made;
}

const COUNTS = [
  ["nodes", "node"], ["nics", "NIC"], ["t0", "T0"], ["t1", "T1"], ["t2", "T2"], ["host_links", "host link"], ["fabric_links", "fabric link"],
];

function checked(found, error) {
  if (!found) return failed(error);
  const { fabric, findings } = found;
  const errors = findings.filter((finding) => finding.severity === "error").length;
  const warnings = findings.length - errors;
  const parts = [];
  if (errors) parts.push(plural(errors, "error"));
  if (warnings) parts.push(plural(warnings, "warning"));
  at("verdict").textContent = fabric ? `${fabric.name} is valid (${[fabric.routing, ...parts].join(", ")})` : parts.join(", ");
  at("verdict").className = `verdict ${fabric ? (warnings ? "warn" : "good") : "bad"}`;
  at("findings").replaceChildren(...findings.map(item));
  gutter(findings);
  document.body.classList.toggle("invalid", !fabric);
  at("counts").replaceChildren();
  if (fabric) described(fabric);
}

function failed(error) {
  at("verdict").textContent = error;
  at("verdict").className = "verdict bad";
  at("findings").replaceChildren();
  at("counts").replaceChildren();
  document.body.classList.add("invalid");
  gutter([]);
}

function described(fabric) {
  const counts = [["planes", "plane"], ...COUNTS].map(([key, word]) => [key === "planes" ? fabric.planes : fabric.counts[key], word]);
  at("counts").replaceChildren(...counts.filter(([count]) => count > 0).map(([count, word]) => {
    const made = element("li");
    const [figure, ...rest] = plural(count, word).split(" ");
    made.append(element("b", figure), ` ${rest.join(" ")}`);
    return made;
  }));
  at("names").replaceChildren(...fabric.names.map((name) => {
    const option = element("option");
    option.value = name;
    return option;
  }));
  const device = at("device");
  if (!fabric.names.includes(device.value)) device.value = fabric.names[0] ?? "";
  const subjects = ["", ...Array.from({ length: fabric.planes }, (_, plane) => `plane ${plane}`), device.value];
  const kept = at("subject").value;
  at("subject").replaceChildren(...subjects.map((name) => {
    const option = element("option", name || "the fabric");
    option.value = name;
    return option;
  }));
  at("subject").value = subjects.includes(kept) ? kept : "";
  draw();
  showDevice();
  whatif();
}

const text = () => at("text").value;

function draw() {
  const subject = at("subject").value;
  ask({ drawing: { text: text(), subject } }, (found, error) => {
    at("drawing-error").textContent = error ?? "";
    at("drawing").hidden = !found;
    if (!found) return;
    at("drawing").src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(found.text)}`;
    at("drawing").alt = `Drawing of ${subject || "the fabric"}`;
  });
}

function showDevice() {
  const name = at("device").value.trim();
  ask({ device: { text: text(), name } }, (files, error) => {
    at("device-error").textContent = error ?? "";
    at("files").replaceChildren(...(files ?? []).map((file, index) => {
      const made = element("details");
      made.open = index === 0;
      const lines = file.text.split("\n");
      const summary = element("summary");
      summary.append(element("code", file.path), element("span", ` ${plural(lines.length - 1, "line")}`, "note"));
      const shown = element("pre", lines.slice(0, LINES_MAX).join("\n"));
      shown.tabIndex = 0;
      shown.setAttribute("aria-label", file.path);
      made.append(summary, shown);
      if (lines.length > LINES_MAX) made.append(element("p", `${number(lines.length - LINES_MAX)} more lines`, "note"));
      return made;
    }));
  });
}

function whatif() {
  const fail = at("fail").value.split(",").map((name) => name.trim()).filter((name) => name);
  ask({ whatif: { text: text(), fail } }, (found, error) => {
    at("whatif-error").textContent = error ?? "";
    at("whatif").textContent = found ? found.text : "";
    at("whatif").hidden = !found;
  });
}

function verify() {
  at("verify-verdict").textContent = "Compiling";
  at("verify-verdict").className = "verdict";
  ask({ verify: { text: text() } }, (found, error) => {
    at("verify-verdict").textContent = found ? (found.holds ? "Everything holds" : "Not everything holds") : error;
    at("verify-verdict").className = `verdict ${found && found.holds ? "good" : "bad"}`;
    at("verify").textContent = found ? found.text : "";
    at("verify").hidden = !found;
  });
}

let pause = 0;

function changed() {
  version++;
  clearTimeout(pause);
  compiler.cancel();
  at("verify-verdict").textContent = "";
  at("verify").hidden = true;
  gutter([]);
  ask({ check: { text: text() } }, checked);
}

function typed() {
  version++;
  clearTimeout(pause);
  gutter([]);
  pause = setTimeout(changed, PAUSE_MS);
}

function listen() {
  const choose = at("example");
  choose.append(...EXAMPLES.map(([name], index) => {
    const option = element("option", name);
    option.value = index;
    return option;
  }));
  choose.addEventListener("change", () => {
    at("text").value = EXAMPLES[choose.value][1];
    at("text").scrollTop = 0;
    at("fail").value = "";
    changed();
  });
  at("text").addEventListener("input", typed);
  at("text").addEventListener("scroll", () => { at("lines").scrollTop = at("text").scrollTop; });
  at("subject").addEventListener("change", draw);
  for (const [form, run] of [["device-form", showDevice], ["whatif-form", whatif], ["verify-form", verify], ["drawing-form", draw]]) {
    at(form).addEventListener("submit", (event) => { event.preventDefault(); run(); });
  }
}

async function begin() {
  listen();
  at("text").value = EXAMPLES[0][1];
  gutter([]);
  try {
    await compiler.load();
  } catch (error) {
    return failed(`this browser cannot run the compiler: ${error.message}`);
  }
  changed();
}

begin();
