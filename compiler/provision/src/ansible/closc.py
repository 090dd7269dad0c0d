"""Filters of the play: which part of a configuration of SONiC is closc's, and which is the site's."""


def closc_whole(live, tree, owned):
    """What a switch is to hold: closc's part from the tree, the rest as it is."""
    made = {table: entries for table, entries in live.items() if table not in owned}
    for table, rule in owned.items():
        here, wanted = live.get(table, {}), tree.get(table, {})
        share = rule["share"]
        takes_all = share == "entries" or (share == "entries-if-given" and bool(wanted))
        entries = {key: fields for key, fields in here.items() if not takes_all and key not in wanted}
        for key, fields in wanted.items():
            mine = rule["fields"]
            kept = {} if mine is None else {f: v for f, v in here.get(key, {}).items() if f not in mine}
            entries[key] = {**kept, **fields}
        if entries:
            made[table] = entries
    # What the site adds beyond the tables of closc.
    for table, entries in tree.items():
        if table not in owned:
            made[table] = {key: {**made.get(table, {}).get(key, {}), **fields} for key, fields in entries.items()}
            made[table] = {**live.get(table, {}), **made[table]}
    return made


def closc_places(live, whole):
    """Where two configurations differ, without a value: those of the site may be secrets."""
    places = []
    for table in sorted(set(live) | set(whole)):
        one, other = live.get(table, {}), whole.get(table, {})
        for key in sorted(set(one) | set(other)):
            if one.get(key) != other.get(key):
                sign = "+" if key not in one else "-" if key not in other else "~"
                places.append("%s %s|%s" % (sign, table, key))
    return places


class FilterModule:
    def filters(self):
        return {"closc_whole": closc_whole, "closc_places": closc_places}
