//! Damage to queues in the state of the simulated `tc`: a mapping of ports, each with queues and filters.

use serde_json::{Value, json};

use super::{Act, Damage, Pick, Victim};

/// A filter that drops every packet, as `tc` prints it. It has neither a class nor a match.
const DROP: [&str; 4] = [
    "filter protocol all pref 1 matchall chain 0 ",
    "filter protocol all pref 1 matchall chain 0 handle 0x1 ",
    "  not_in_hw",
    "\taction order 1: gact action drop",
];

/// Removes, changes or adds a queue or a filter.
pub(super) fn queue(victim: &Victim<'_>, pick: &mut Pick<'_>) -> Option<Damage> {
    let mut state: Value = serde_json::from_str(&victim.read("tc")).ok()?;
    let ports: Vec<String> = state.as_object()?.keys().cloned().collect();
    let name = ports.get(pick(ports.len().max(1)))?;
    let port = &mut state[name];
    let list = |value: &Value, key: &str| value[key].as_array().map_or(0, Vec::len);
    let (n_queues, n_filters) = (list(port, "qdiscs"), list(port, "filters"));
    let (act, what) = match pick(6) {
        0 if n_filters > 0 => {
            port["filters"].as_array_mut()?.remove(pick(n_filters));
            (Act::Removed, "a filter")
        }
        1 if n_filters > 0 => {
            port["filters"][pick(n_filters)]["flow"] = json!("1:9");
            (Act::Changed, "a filter")
        }
        2 => {
            port["foreign"] = json!(DROP);
            (Act::Added, "a filter that drops all")
        }
        3 if n_queues > 1 => {
            // The root is the first.
            port["qdiscs"].as_array_mut()?.remove(1 + pick(n_queues - 1));
            (Act::Removed, "a queue")
        }
        4 if n_queues > 1 => {
            let options = &mut port["qdiscs"][1 + pick(n_queues - 1)]["options"];
            options["limit"] = json!(7);
            (Act::Changed, "a queue")
        }
        _ => {
            (port["qdiscs"], port["filters"]) = (json!([]), json!([]));
            (Act::Emptied, "all queues of a port")
        }
    };
    victim.write("tc", &state.to_string());
    Some(Damage::new(act, format!("{what} of {name}"), &[&["tc.batch", name]]))
}
