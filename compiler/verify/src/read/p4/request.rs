//! Permitted fields of a `p4.v1.WriteRequest`. Other fields of P4Runtime, such as `is_const` and `idle_timeout_ns`,
//! change entries in ways that the proof does not model.

use super::textproto::Shape::{Bool, Bytes, Many, Number, One, Word};
use super::textproto::{Schema, Shape};

/// The request.
pub(crate) static REQUEST: Schema = plain(&[("updates", Many(&UPDATE))]);

static UPDATE: Schema = plain(&[("type", Word), ("entity", One(&ENTITY))]);

static ENTITY: Schema = Schema {
    fields: &[
        ("table_entry", One(&ENTRY)),
        ("action_profile_member", One(&MEMBER)),
        ("action_profile_group", One(&GROUP)),
    ],
    one_of: &["table_entry", "action_profile_member", "action_profile_group"],
};

static ENTRY: Schema = plain(&[
    ("table_id", Number),
    ("match", Many(&MATCH)),
    ("action", One(&TABLE_ACTION)),
    ("priority", Number),
    ("meter_config", One(&METER)),
    ("is_default_action", Bool),
]);

static MATCH: Schema = Schema {
    fields: &[("field_id", Number), ("exact", One(&EXACT)), ("lpm", One(&LPM)), ("ternary", One(&TERNARY))],
    one_of: &["exact", "lpm", "ternary"],
};

static EXACT: Schema = plain(&[("value", Bytes)]);

static LPM: Schema = plain(&[("value", Bytes), ("prefix_len", Number)]);

static TERNARY: Schema = plain(&[("value", Bytes), ("mask", Bytes)]);

static METER: Schema = plain(&[("cir", Number), ("cburst", Number), ("pir", Number), ("pburst", Number)]);

static TABLE_ACTION: Schema = Schema {
    fields: &[
        ("action", One(&ACTION)),
        ("action_profile_member_id", Number),
        ("action_profile_group_id", Number),
        ("action_profile_action_set", One(&ACTION_SET)),
    ],
    one_of: &["action", "action_profile_member_id", "action_profile_group_id", "action_profile_action_set"],
};

static ACTION: Schema = plain(&[("action_id", Number), ("params", Many(&PARAM))]);

static PARAM: Schema = plain(&[("param_id", Number), ("value", Bytes)]);

static ACTION_SET: Schema = plain(&[("action_profile_actions", Many(&WEIGHTED))]);

static WEIGHTED: Schema = plain(&[("action", One(&ACTION)), ("weight", Number), ("watch_port", Bytes)]);

static MEMBER: Schema =
    plain(&[("action_profile_id", Number), ("member_id", Number), ("action", One(&ACTION))]);

static GROUP: Schema =
    plain(&[("action_profile_id", Number), ("group_id", Number), ("members", Many(&GROUP_MEMBER))]);

static GROUP_MEMBER: Schema = plain(&[("member_id", Number), ("weight", Number), ("watch_port", Bytes)]);

const fn plain(fields: &'static [(&'static str, Shape)]) -> Schema {
    Schema { fields, one_of: &[] }
}
