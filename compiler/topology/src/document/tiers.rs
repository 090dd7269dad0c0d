//! `tiers`: the switches, their hardware and their ports.

use std::borrow::Cow;

use closc_platform::{Breakout, Os};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use smol_str::SmolStr;

use crate::model::Wiring;
use crate::read::{Entries, Fraction, MappingType, Named, Read, Reader, Spanned, mapping, word};
use crate::yaml::{Item, Value};

/// The switches, tier by tier.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(rename = "Tiers", deny_unknown_fields)]
pub struct TiersDoc {
    /// The first tier, which the NICs are attached to. There is one T0 for each plane, zone and T0 group.
    pub t0: T0Doc,
    /// The second tier.
    pub t1: T1Doc,
    /// The third tier, above the zones.
    pub t2: Option<T2Doc>,
}

mapping!(TiersDoc { t0 = "t0", t1 = "t1", t2 = "t2" });

/// The first tier.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(rename = "T0", deny_unknown_fields)]
pub struct T0Doc {
    /// The hardware: a name of the catalogue.
    pub platform: Spanned<SmolStr>,
    /// The operating system. Default: the first one that the platform lists.
    #[schemars(with = "Option<Os>")]
    pub os: Option<Spanned<Os>>,
    /// Ports towards the NICs. Default: `hosts.per_group`, from the first cage of the panel.
    pub down: Option<PortsDoc>,
    /// Ports towards the T1s, from the middle of the panel unless `first_cage` says otherwise.
    pub up: PortsDoc,
    /// Parallel links to each T1; divides `up`. Default: 1.
    #[schemars(range(min = 1))]
    pub parallel: Option<Spanned<u16>>,
    /// Bandwidth to the NICs against bandwidth to the T1s; checked, never computed with.
    pub oversubscription: Option<Spanned<Fraction>>,
    /// Other hardware or another operating system in single planes.
    pub by_plane: Option<Named<u16, HardwareDoc>>,
}

mapping!(T0Doc {
    platform = "platform",
    os = "os",
    down = "down",
    up = "up",
    parallel = "parallel",
    oversubscription = "oversubscription",
    by_plane = "by_plane",
});

/// The second tier. Each plane and zone has `t0.up / t0.parallel` T1s, each with `hosts.groups * t0.parallel`
/// downlinks.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(rename = "T1", deny_unknown_fields)]
pub struct T1Doc {
    /// The hardware: a name of the catalogue.
    pub platform: Spanned<SmolStr>,
    /// The operating system. Default: the first one that the platform lists.
    #[schemars(with = "Option<Os>")]
    pub os: Option<Spanned<Os>>,
    /// T1s in each plane and zone; follows from `t0.up`, and must agree with it where it is given.
    #[schemars(range(min = 1))]
    pub count: Option<Spanned<u16>>,
    /// Ports towards the T0s; the count follows from `hosts.groups`, and must agree with it where it is given.
    pub down: Option<PortsDoc>,
    /// Ports towards the T2s. Required with a T2 tier, else absent.
    pub up: Option<PortsDoc>,
    /// Parallel links to each T2; divides `up`. Default: 1.
    #[schemars(range(min = 1))]
    pub parallel: Option<Spanned<u16>>,
    /// Bandwidth to the T0s against bandwidth to the T2s; checked, never computed with.
    pub oversubscription: Option<Spanned<Fraction>>,
    /// Other hardware or another operating system in single planes.
    pub by_plane: Option<Named<u16, HardwareDoc>>,
}

mapping!(T1Doc {
    platform = "platform",
    os = "os",
    count = "count",
    down = "down",
    up = "up",
    parallel = "parallel",
    oversubscription = "oversubscription",
    by_plane = "by_plane",
});

/// The third tier. Its count follows from the wiring: `t1.up / t1.parallel` T2s in each plane with
/// `wiring: full`, and that many steps of `rows` with `wiring: rows`.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(rename = "T2", deny_unknown_fields)]
pub struct T2Doc {
    /// The hardware: a name of the catalogue.
    pub platform: Spanned<SmolStr>,
    /// The operating system. Default: the first one that the platform lists.
    #[schemars(with = "Option<Os>")]
    pub os: Option<Spanned<Os>>,
    /// T2s in each plane; follows from the wiring, and must agree with it where it is given.
    #[schemars(range(min = 1))]
    pub count: Option<Spanned<u16>>,
    /// Ports towards the T1s; the count is `zones * ports_per_zone`, and must agree where it is given.
    pub down: Option<PortsDoc>,
    /// Which T2s a T1 reaches: `full` all of its plane, `rows` those of its own row. Default: `full`.
    pub wiring: Option<Spanned<Wiring>>,
    /// With `wiring: rows`, the T1s of a zone that there is room for; at least the T1s there are.
    #[schemars(range(min = 1))]
    pub rows: Option<Spanned<u16>>,
    /// Downlinks kept for each zone, so that a new zone or T1 moves no cable. Default: the ports of the panel
    /// divided by the zones that a uSID can name.
    #[schemars(range(min = 1))]
    pub ports_per_zone: Option<Spanned<u16>>,
    /// Other hardware or another operating system in single planes.
    pub by_plane: Option<Named<u16, HardwareDoc>>,
}

mapping!(T2Doc {
    platform = "platform",
    os = "os",
    count = "count",
    down = "down",
    wiring = "wiring",
    rows = "rows",
    ports_per_zone = "ports_per_zone",
    by_plane = "by_plane",
});

/// A run of equal ports, as a count or in full.
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(rename = "PortBlock", deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used: `PortsDoc` reads both forms")]
struct PortBlockDoc {
    /// Ports in use.
    #[schemars(range(min = 1, max = 65535))]
    count: Option<Spanned<u32>>,
    /// How each cage is split, as in `8x100G`. Default: the platform's own.
    #[schemars(with = "Option<BreakoutText>")]
    breakout: Option<Spanned<Breakout>>,
    /// Ports kept free behind them: configured and shut. Default: 0.
    spare: Option<Spanned<u16>>,
    /// The first cage, from 0. Default: 0 for `down`; the middle of the panel for `up`, whatever the counts, so
    /// that growth moves no port.
    first_cage: Option<Spanned<u16>>,
}

/// A run of equal ports: a number, or a mapping.
#[derive(Debug, Clone, Default)]
pub struct PortsDoc {
    /// Ports in use.
    pub count: Option<Spanned<u32>>,
    /// How each cage is split.
    pub breakout: Option<Spanned<Breakout>>,
    /// Ports kept free behind them.
    pub spare: Option<Spanned<u16>>,
    /// The first cage, from 0.
    pub first_cage: Option<Spanned<u16>>,
}

impl MappingType for PortsDoc {
    const KEYS: &'static [&'static str] = &["count", "breakout", "spare", "first_cage"];
}

impl Read for PortsDoc {
    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
        match &item.value {
            Value::Mapping(_) => {
                let entries = Entries::of(item, Self::KEYS, false, reader)?;
                let count = entries.read("count", item, reader);
                let breakout = entries.read("breakout", item, reader);
                let spare = entries.read("spare", item, reader);
                let first_cage = entries.read("first_cage", item, reader);
                Some(PortsDoc { count: count?, breakout: breakout?, spare: spare?, first_cage: first_cage? })
            }
            Value::Text(_) | Value::List(_) | Value::Null | Value::Bool(_) => reader.wrong_type(
                item,
                "a number of ports or a mapping",
                "256` or `{count: 256, breakout: 8x100G}",
            ),
            Value::Integer(_) | Value::Float(_) => {
                Some(PortsDoc { count: Some(Spanned::read(item, reader)?), ..PortsDoc::default() })
            }
        }
    }
}

impl JsonSchema for PortsDoc {
    fn schema_name() -> Cow<'static, str> {
        "Ports".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let block = generator.subschema_for::<PortBlockDoc>();
        json_schema!({
            "description": "A run of equal ports: a number of them, or a mapping.",
            "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 65535 }, block]
        })
    }
}

/// Hardware and operating system.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(rename = "Hardware", deny_unknown_fields)]
pub struct HardwareDoc {
    /// The hardware: a name of the catalogue. Default: that of the tier.
    pub platform: Option<Spanned<SmolStr>>,
    /// The operating system. Default: that of the tier if the platform runs it, else the platform's first.
    #[schemars(with = "Option<Os>")]
    pub os: Option<Spanned<Os>>,
}

mapping!(HardwareDoc { platform = "platform", os = "os" });

word!(Os, "operating system" {
    "sonic" => Os::Sonic,
    "frr" => Os::Frr,
    "linux" => Os::Linux,
    "p4" => Os::P4,
});

word!(Wiring, "wiring" {
    "full" => Wiring::Full,
    "rows" => Wiring::Rows,
});

/// How a cage is split.
struct BreakoutText;

impl JsonSchema for BreakoutText {
    fn schema_name() -> Cow<'static, str> {
        "Breakout".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "How a cage is split: ports times speed, as in `8x100G`",
            "pattern": r"^[1-9][0-9]*x[0-9]+(\.[0-9]+)?[MGT]$"
        })
    }
}
