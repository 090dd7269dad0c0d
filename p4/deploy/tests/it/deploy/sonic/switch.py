"""A SONiC switch for tests: the commands that a push uses, with a JSON file in place of Redis.

Usage: switch.py FOLDER COMMAND ARGUMENTS. Files of FOLDER; frr.py lists those of FRR:

- db.json: the running configuration
- saved.json: the configuration after a reboot
- checkpoints/NAME: a checkpoint
- timer: the command given to systemd-run
- units/NAME: a unit that runs at boot
- log: one line per command
- rollback-refused: if it exists, `config rollback` fails
- failed: if it exists, a failed unit blocks its name

Three files name a command by its number; the first two may contain its beginning instead:

- kill-at: the session ends before this command
- kill-after: the session ends after this command
- move-at: another party changes the configuration before this command

If the parent folder has a file steps, it counts the commands of all switches. At the command that kill-pusher-at names, the
process in the file pusher is killed.
"""

import fcntl
import json
import os
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import frr  # noqa: E402, the folder is not in the path of an isolated interpreter

FOLDER, NAME, WORDS = sys.argv[1], sys.argv[2], sys.argv[3:]


def path(name):
    return os.path.join(FOLDER, name)


def load(name):
    with open(path(name)) as file:
        return json.load(file)


def store(name, value):
    with open(path(name) + ".new", "w") as file:
        json.dump(value, file, sort_keys=True)
    os.rename(path(name) + ".new", path(name))
    if name == "db.json":
        # The switch is reachable only under its first management address.
        away = sorted(value.get("MGMT_INTERFACE", {})) != load("management.json")
        if away:
            open(path("unreachable"), "w").close()
        elif os.path.exists(path("unreachable")):
            os.remove(path("unreachable"))


def refuse(why):
    print("Error: " + why, file=sys.stderr)
    sys.exit(2)


def end_session():
    """Kills the session and all of its processes, like a power failure of the switch."""
    process = os.getppid()
    while process > 1:
        with open("/proc/%d/stat" % process) as file:
            text = file.read()
        name, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()
        os.kill(process, signal.SIGKILL)
        if name.startswith("sshd"):
            break
        process = int(rest[1])
    sys.exit(1)


def tokens(pointer):
    if not pointer.startswith("/"):
        refuse("no pointer: " + pointer)
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


def apply(document, patch):
    """Applies a JSON patch (RFC 6902) to objects."""
    for operation in patch:
        *parents, last = tokens(operation["path"])
        place = document
        for parent in parents:
            if parent not in place:
                refuse("there is no " + operation["path"])
            place = place[parent]
        if operation["op"] == "add":
            place[last] = operation["value"]
        elif operation["op"] in ("replace", "remove"):
            if last not in place:
                refuse("there is no " + operation["path"])
            if operation["op"] == "replace":
                place[last] = operation["value"]
            else:
                del place[last]
        else:
            refuse("operation " + operation["op"])
    return document


def apply_patch(file):
    with open(file) as text:
        patch = json.load(text)
    before = load("db.json")
    after = apply(json.loads(json.dumps(before)), patch)
    if not all(after.values()):
        refuse("given patch is not valid because it will result in empty tables")
    if before.get("BUFFER_POOL") != after.get("BUFFER_POOL"):
        refuse("Modification of BUFFER_POOL table is illegal")
    if "refused" in after.get("WRED_PROFILE", {}):
        refuse("validating function returned False")
    store("db.json", after)


def redis(fields):
    made = {}
    for name, value in fields.items():
        made[name + "@" if isinstance(value, list) else name] = ",".join(value) if isinstance(value, list) else value
    return made or {"NULL": "NULL"}


def dump_applied(name):
    """Prints a database of the daemons, from a file; without the file it is empty."""
    entries = load(name) if os.path.exists(path(name)) else {}
    hashes = {key: {"type": "hash", "ttl": -0.001, "value": fields} for key, fields in entries.items()}
    print(json.dumps(hashes, indent=2))


def dump():
    hashes = {}
    for table, entries in load("db.json").items():
        for key, fields in entries.items():
            hashes[table + "|" + key] = {"expireat": time.time(), "ttl": -0.001, "type": "hash", "value": redis(fields)}
    hashes["CONFIG_DB_INITIALIZED"] = {"type": "string", "value": "1"}
    print(json.dumps(hashes, indent=2))


def config():
    what, rest = WORDS[0], [word for word in WORDS[1:] if not word.startswith("-")]
    if what == "apply-patch":
        apply_patch(rest[0])
    elif what == "reload":
        with open(rest[0]) as text:
            whole = json.load(text)
        if rest[0] != "/dev/stdin" and "NO_MODEL" in whole:
            refuse("Config tables are missing yang models: dict_keys(['NO_MODEL'])")
        store("db.json", whole)
        frr.start(FOLDER, mode())
    elif what == "checkpoint":
        if os.path.exists(path("checkpoints/" + rest[0])):
            refuse("Checkpoint '%s' already exists" % rest[0])
        store("checkpoints/" + rest[0], load("db.json"))
    elif what == "rollback":
        if os.path.exists(path("rollback-refused")):
            refuse("Failed to rollback config")
        store("db.json", load("checkpoints/" + rest[0]))
    elif what == "delete-checkpoint":
        if not os.path.exists(path("checkpoints/" + rest[0])):
            refuse("Checkpoint '%s' does not exist" % rest[0])
        os.remove(path("checkpoints/" + rest[0]))
    elif what == "save":
        store("saved.json", load("db.json"))
    else:
        refuse("no command " + what)


def mode():
    return load("db.json").get("DEVICE_METADATA", {}).get("localhost", {}).get("docker_routing_config_mode")


def number(name):
    if not os.path.exists(path(name)):
        return 0
    with open(path(name)) as file:
        return int(file.read() or 0)


def is_asked(name):
    """Returns whether a file names this command, by its number or its beginning. A beginning counts once."""
    if not os.path.exists(path(name)):
        return False
    with open(path(name)) as file:
        text = file.read()
    if text.isdigit():
        return count == int(text)
    if not " ".join([NAME, *WORDS]).startswith(text):
        return False
    os.remove(path(name))
    return True


def systemd_run():
    if os.path.exists(path("failed")):
        refuse("Failed to start transient timer unit: Unit closc-unless-confirmed.service was already loaded")
    with open(path("timer"), "w") as file:
        file.write(WORDS[-1])


def systemctl():
    verb, *names = [word for word in WORDS if not word.startswith("-")]
    if names == ["bgp"]:
        if verb == "restart":
            frr.start(FOLDER, mode())
        return
    gone = {"stop": "timer", "reset-failed": "failed"}.get(verb)
    if gone and os.path.exists(path(gone)):
        os.remove(path(gone))
    unit = path("units/" + os.path.basename(names[0]))
    if verb == "enable":
        os.makedirs(path("units"), exist_ok=True)
        if os.path.lexists(unit):
            os.remove(unit)
        os.symlink(names[0], unit)
    if verb == "disable" and os.path.lexists(unit):
        os.remove(unit)


def count_for_all():
    """Counts the commands of all switches, and kills the push at the requested one."""
    shared = os.path.dirname(os.path.abspath(FOLDER))
    if not os.path.exists(os.path.join(shared, "steps")):
        return
    with open(os.path.join(shared, "steps"), "r+") as steps:
        fcntl.flock(steps, fcntl.LOCK_EX)
        now = int(steps.read() or 0) + 1
        steps.seek(0)
        steps.write(str(now))
        steps.flush()
        asked = os.path.join(shared, "kill-pusher-at")
        if not os.path.exists(asked):
            return
        with open(asked) as file:
            at = int(file.read())
        if now < at:
            return
        os.remove(asked)
        with open(os.path.join(shared, "pusher")) as file:
            os.kill(int(file.read()), signal.SIGKILL)


count_for_all()
with open(path("log"), "a") as log:
    log.write(" ".join([NAME, *WORDS]) + "\n")
count = number("count") + 1
with open(path("count"), "w") as file:
    file.write(str(count))
if is_asked("kill-at"):
    end_session()
if count == number("move-at"):
    moved = load("db.json")
    moved["DNS_NAMESERVER"] = {"192.0.2.54": {}}
    store("db.json", moved)
if NAME == "config":
    config()
elif NAME == "sonic-db-dump":
    if "APPL_DB" in WORDS:
        dump_applied("appl.json")
    elif "CONFIG_DB" in WORDS:
        dump()
    else:
        dump_applied(next(word for word in WORDS if word.endswith("_DB")) + ".json")
elif NAME == "sonic-cfggen":
    print(json.dumps(load("db.json")))
elif NAME == "systemd-run":
    systemd_run()
elif NAME == "systemctl":
    systemctl()
elif NAME == "docker":
    frr.docker(FOLDER, WORDS)
if is_asked("kill-after"):
    end_session()
