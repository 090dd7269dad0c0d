// Views of one element: a switch, a node, a NIC, a cable, a T0 group.
"use strict";

const yes = (value) => value ? "yes" : "";
const hopText = (ports, hops) => {
  if (hops.length === 0) return "dropped";
  const alike = hops.every((hop) => hop[1] === hops[0][1]);
  const names = hops.map(([port, weight]) => ports[port].name + (alike ? "" : " x" + weight));
  return hops.length > 6 ? names.slice(0, 3).join(", ") + " ... " + names[names.length - 1] + " (" + plural(hops.length, "port") + (alike ? "" : ", weighted") + ")" : names.join(", ");
};

function switchView(s) {
  const kind = kindOf(s), ports = portsOf(s), gone = !hasSwitch(s);
  const state = gone ? el("span", { class: "warn" }, "absent") : isSwitchDrained(s) ? el("span", { class: "warn" }, "drained") : "in service";
  const head = [
    facts([
      ["State", state], ["Tier", TIERS[s.tier] + " of plane " + s.plane + (M.zones > 1 && s.tier < 2 ? ", zone " + s.zone : "")],
      ["Place", placeText(switchPlace(s))],
      ["Hardware", kind.title + " (" + kind.platform + ")"], ["Operating system", kind.os], ["hwsku", kind.hwsku],
      ["Loopback", el("code", {}, loopback(s))], ["Management", management(s) && el("code", {}, management(s))],
      ["MAC address", el("code", {}, switchMac(s))], ["AS number", M.routing === "bgp-unnumbered" ? asn(s) : undefined],
      ["uSIDs", M.segments && el("code", {}, ownUsids(s).map((value) => usidPrefix(s.plane, value)).join(" "))],
      ["Serves", s.tier === 0 ? el("code", {}, groupPrefix(s.zone, s.index)) : undefined],
    ]),
    failButton(thing("switch", s)),
  ];
  if (gone) return head;
  return [...head, switchDrawing(s, ports), el("h3", {}, "Front panel"), panelDrawing(s, ports),
    el("p", { class: "key" }, "Green: a cable is plugged in. Orange outline: absent. Grey: kept free. Grey outline: a cage without a port in use. Red: failed in this page. Numbers are cage numbers."),
    portTable(s, ports), routeTable(s, ports), el("h3", {}, "Quality of service"), qosView(qosOf(s))];
}

function portTable(s, ports) {
  const row = (port) => {
    const what = [el("span", { class: "name" }, port.name), port.side === "up" ? "up " + (port.index + 1) : "down " + (port.index + 1), speed(port.mbps)];
    if (port.state === "spare") return [...what, "kept free", "", "", ""];
    const l = port.link;
    if (port.state === "absent") return [...what, el("span", { class: "warn" }, "absent"), linkTo("link", linkName(l)), "", ""];
    const isUpper = l.host || !isSame(l.lower, s), ends = linkEnds(l), far = isUpper ? ends[0] : ends[1];
    const [mm, medium] = cableOf(l);
    const peer = l.host ? linkTo("nic", nicName(l.nic)) : linkTo("switch", far[0]);
    const state = FAILED.keys.has("l" + linkKey(l)) ? el("span", { class: "bad" }, " failed") : isDrained(l) ? el("span", { class: "warn" }, " drained") : "";
    return [...what, [peer, " ", el("span", { class: "name" }, far[1]), state], linkTo("link", linkName(l)), metres(mm) + " " + medium,
      isNumbered(l) ? el("code", {}, linkAddress(l, isUpper)) : "link-local"];
  };
  const linked = ports.filter((port) => port.state === "linked").length;
  const caption = "Ports: " + number(linked) + " of " + number(ports.length) + " with a cable";
  return [el("h3", {}, "Ports and cables"), table(caption, ["port", "role", "#speed", "connected to", "cable", "length", "address"], ports.map(row), 24)];
}

function routeTable(s, ports) {
  const routes = routesOf(s);
  const notes = [];
  if (M.routing === "bgp-unnumbered") notes.push(el("p", { class: "note" }, "Other routes are received by BGP at run time."));
  if (M.ecmp && M.ecmp.pins_total > M.ecmp.pins.length) {
    notes.push(el("p", { class: "warn" }, "The file has " + number(M.ecmp.pins_total) + " single pins, more than this page contains, so their routes are not in this table. `closc explain device` shows them."));
  }
  const rows = routes.map((route) => [el("code", {}, route.prefix), hopText(ports, route.hops)]);
  return [el("h3", {}, "Routes"), notes, table(plural(routes.length, "route") + " that closc writes", ["prefix", "over"], rows, 16)];
}

function qosView(set) {
  if (set.error) return el("p", { class: "bad" }, set.error);
  if (set.ports.length === 0) return el("p", {}, "No port has a cable.");
  const bytes = (value) => number(value) + " B";
  const parts = [];
  const queues = set.ports.flatMap((port) => port.marks.map(([queue, from, all, probability]) => [port.place, speed(port.mbps), port.cable_m + " m", queue, bytes(from), bytes(all), probability + " %"]));
  const rows = set.ports.map((port) => [port.place, port.ports, speed(port.mbps), port.cable_m + " m",
    ...M.qos.lossless ? port.headroom ? port.headroom.map(bytes) : ["", "", ""] : []]);
  parts.push(table("Kinds of ports", ["place", "#ports", "#speed", "#cable up to", ...M.qos.lossless ? ["#XOFF", "#XON", "#size"] : []], rows));
  if (queues.length) parts.push(table("Packets are marked (ECN)", ["place", "#speed", "#cable up to", "#queue", "#Kmin", "#Kmax", "#Pmax"], queues));
  else parts.push(el("p", { class: "note" }, "No queue of this switch marks packets."));
  if (set.buffer) parts.push(facts([["Buffer", bytes(set.buffer[0])], ["Headroom", bytes(set.buffer[1])], ["Shared", bytes(set.buffer[2])]]));
  return parts;
}

function classesView() {
  const rows = M.qos.classes.map((own) => [own.name + (own.name === M.qos.default ? " (default)" : ""), own.role, own.dscp.join(", "), own.tc, own.queue, own.scheduler, yes(own.pfc), yes(own.trim)]);
  return [facts([["Profile", M.qos.profile], ["MTU", M.mtu[0] + " on cables, " + M.mtu[1] + " for hosts"]]),
    table("Classes of traffic", ["class", "for", "DSCP", "#traffic class", "#queue", "scheduler", "lossless", "trimmed"], rows)];
}

function nodeView(node) {
  const rows = range(M.nics_per_node).map((number) => {
    const nic = nicOf(node, number);
    return [linkTo("nic", nicName(nic)), hasNic(nic) ? el("code", {}, nicAddress(nic)) : el("span", { class: "warn" }, "absent"), nic.group + 1, nic.downlink + 1];
  });
  return [facts([["Zone", M.zones > 1 ? node.zone : undefined], ["Unit", node.unit + 1], ["Place", placeText(nodePlace(node))]]), failButton(thing("node", node)),
    table("NICs", ["NIC", "address", "#T0 group", "#downlink"], rows)];
}

function nicView(nic) {
  const { node } = nodeOf(nic), name = nicName(nic);
  const rows = range(M.planes).map((plane) => {
    const l = hostLink(plane, nic), ends = linkEnds(l);
    const state = !hasLink(l) ? el("span", { class: "warn" }, "absent") : isDrained(l) ? el("span", { class: "warn" }, "drained") : "in service";
    return [plane, linkTo("link", linkName(l), ends[0][1]), state, [linkTo("switch", ends[1][0]), " ", el("span", { class: "name" }, ends[1][1])],
      el("code", {}, linkAddress(l, false)), el("code", {}, nicMac(plane, nic)), ...M.segments ? [el("code", {}, usidPrefix(plane, nicUsid(plane, nic)))] : []];
  });
  const button = (text, id) => el("button", { type: "button", onclick: () => { at(id).value = name; at(id).focus(); } }, text);
  return [
    facts([["State", hasNic(nic) ? "in service" : el("span", { class: "warn" }, "absent")], ["Node", linkTo("node", nodeName(node))],
      ["Address", el("code", {}, nicAddress(nic))], ["T0 group", el("a", { href: address("group", nic.zone, nic.group), class: "name" }, groupPrefix(nic.zone, nic.group))], ["Downlink", nic.downlink + 1]]),
    el("p", { class: "noprint" }, button("Paths from here", "from"), " ", button("Paths to here", "to"), " ", failButton(thing("nic", nic))),
    table("Ports", ["#plane", "port", "state", "T0", "address", "MAC in labs", ...M.segments ? ["uSID"] : []], rows),
  ];
}

function linkView(l) {
  const ends = linkEnds(l), far = upperEnd(l), [mm, medium] = cableOf(l);
  const state = !hasLink(l) ? el("span", { class: "warn" }, "absent") : isDrained(l) ? el("span", { class: "warn" }, "drained") : "in service";
  const lower = l.host ? linkTo("nic", nicName(l.nic)) : toSwitch(l.lower);
  const own = (isUpper) => isNumbered(l) ? el("code", {}, linkAddress(l, isUpper) + "/" + LINK_LENGTH) : "link-local";
  return [
    facts([["State", state], ["Plane", l.plane], ["Speed", speed(speedOf(l))], ["Length", metres(mm)], ["Medium", medium]]),
    failButton(thing("link", l)),
    table("Ends", ["end", "device", "port", "address"], [["lower", lower, el("span", { class: "name" }, ends[0][1]), own(false)],
      ["upper", toSwitch(far.switch), el("span", { class: "name" }, ends[1][1]), own(true)]]),
  ];
}

function groupView(zone, group) {
  const t0s = range(M.planes).map((plane) => { const s = sw(plane, 0, zone, group); return [plane, toSwitch(s), hasSwitch(s) ? isSwitchDrained(s) ? "drained" : "in service" : "absent"]; });
  const nics = range(M.per_group).map((downlink) => ({ zone, group, downlink })).filter(hasNic);
  return [facts([["Prefix", el("code", {}, groupPrefix(zone, group))], ["NICs", number(nics.length)]]),
    table("T0s", ["#plane", "T0", "state"], t0s), table("NICs", ["#downlink", "NIC", "address"], nics.map((nic) => [nic.downlink + 1, linkTo("nic", nicName(nic)), el("code", {}, nicAddress(nic))]), 16)];
}
