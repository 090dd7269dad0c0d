"""Filters of the play. They separate closc's part of a SONiC configuration from the site's."""

import json


def may_be_ours(rows, table, key):
    """Whether an entry can belong to closc.

    `rows` is the first part of its key: an interface, an access list or its type, or `default` for the
    default VRF. A static route without a VRF also matches. If `rows` is `None`, every entry matches.
    """
    first = key.split("|")[0]
    return rows is None or first == rows or (table == "STATIC_ROUTE" and first == key)


def moved(table, key, here, wanted):
    """The entry with the old management address, which one of closc's entries replaces."""
    if table != "MGMT_INTERFACE" or "|" not in key:
        return {}
    port, address = key.split("|", 1)
    for other, fields in sorted(here.items()):
        same = other.startswith(port + "|") and (":" in other.split("|", 1)[1]) == (":" in address)
        if same and other not in wanted:
            return fields
    return {}


def closc_whole(live, tree, owned):
    """The new configuration of a switch: closc's part from the tree, the rest unchanged."""
    made = {table: entries for table, entries in live.items() if table not in owned}
    for table, rule in owned.items():
        here, wanted = live.get(table, {}), tree.get(table, {})
        share = rule["share"]
        takes_all = share == "entries" or (share == "entries-if-given" and bool(wanted))
        ours = lambda key: key in wanted or (takes_all and may_be_ours(rule.get("rows"), table, key))
        entries = {key: fields for key, fields in here.items() if not ours(key)}
        for key, fields in wanted.items():
            mine, first = rule["fields"], rule.get("site_first", {})
            before = here[key] if key in here else moved(table, key, here, wanted)
            kept = {} if mine is None else {f: v for f, v in before.items() if f not in mine}
            entries[key] = {**kept, **{f: v for f, v in fields.items() if f not in kept or v != first.get(f)}}
        if entries:
            made[table] = entries
    # Tables that closc does not own: the site's additions in the tree.
    for table, entries in tree.items():
        if table not in owned:
            made[table] = {key: {**made.get(table, {}).get(key, {}), **fields} for key, fields in entries.items()}
            made[table] = {**live.get(table, {}), **made[table]}
    return made


def closc_places(live, whole):
    """The places where two configurations differ, without values, because the site's may be secret."""
    places = []
    for table in sorted(set(live) | set(whole)):
        one, other = live.get(table, {}), whole.get(table, {})
        for key in sorted(set(one) | set(other)):
            if one.get(key) != other.get(key):
                sign = "+" if key not in one else "-" if key not in other else "~"
                places.append("%s %s|%s" % (sign, table, key))
    return places


def closc_established(summary):
    """The neighbours with established sessions, from FRR's JSON; none if FRR prints no JSON."""
    try:
        peers = json.loads(summary).get("peers", {})
    except ValueError:
        return []
    return sorted(peer for peer, session in peers.items() if session.get("state") == "Established")


class FilterModule:
    def filters(self):
        return {"closc_whole": closc_whole, "closc_places": closc_places, "closc_established": closc_established}
