//! `tiers`: the switches, their hardware and their ports.

use std::borrow::Cow;

use closc_platform::{Breakout, CageSet, Os};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use smol_str::SmolStr;

use crate::choice::Wiring;
use crate::port_order::PortStage;
use crate::read::{Fraction, Kind, NameMap, Read, Reader, Spanned, document, word};
use crate::yaml::{Item, Value};

document! {
    /// The switches, tier by tier.
    pub struct TiersDoc as "Tiers" {
        /// The first tier, to which the NICs are attached. There is one T0 per plane, zone and T0 group.
        pub t0: T0Doc = "t0",
        /// The second tier. Without it, T0s have no uplinks, and only NICs of one T0 group reach each other. Such a
        /// fabric has one switch per plane, or rails that only nodes connect.
        pub t1: Option<T1Doc> = "t1" => [ALL],
        /// The third tier, above the zones.
        pub t2: Option<T2Doc> = "t2" => [ALL],
    }
}

document! {
    /// The first tier.
    pub struct T0Doc as "T0" {
        /// The hardware: a name of the catalogue.
        pub platform: Spanned<SmolStr> = "platform" => [AROUND, HOSTS, LISTS],
        /// The operating system. Default: the first one that the platform lists.
        #[schemars(with = "Option<Os>")]
        pub os: Option<Spanned<Os>> = "os" => [AROUND, HOSTS, LISTS],
        /// Layout of the platform that sets the cages and breakouts of both sides. Breakouts and cages in `down` and
        /// `up` take precedence. Default: none.
        pub layout: Option<Spanned<SmolStr>> = "layout" => [AROUND, HOSTS, LISTS],
        /// Ports towards the NICs. Default: `hosts.per_group`, from the first cage of the panel.
        pub down: Option<PortsDoc> = "down" => [TIER, HOSTS, LISTS],
        /// Ports towards the T1s. They start at the middle of the panel unless `first_cage` is set. Required with a T1
        /// tier, and absent without.
        pub up: Option<PortsDoc> = "up" => [AROUND, HOSTS, LISTS],
        /// Parallel links to each T1; divides `up`. Default: 1.
        #[schemars(range(min = 1))]
        pub parallel: Option<Spanned<u16>> = "parallel" => [SWITCHES, HOSTS, LISTS],
        /// Other stages of the fabric, in the order in which they take ports. A cable to a T1 keeps the port that it
        /// has in the stage of the previous entry. So growth with fewer parallel links moves the fewest cables. If the
        /// fabric has grown, list its earlier stages, earliest first. If the fabric will grow, list its later stages,
        /// latest first. Default: ports are in the order of T1s and T0s.
        pub port_order: Option<Vec<PortStageDoc>> = "port_order" => [SWITCHES, LISTS],
        /// Ratio of the bandwidth to the NICs and the bandwidth to the T1s. It is only checked.
        pub oversubscription: Option<Spanned<Fraction>> = "oversubscription" => [],
        /// Other hardware or another operating system in single planes.
        pub by_plane: Option<NameMap<u16, HardwareDoc>> = "by_plane" => [AROUND, HOSTS, LISTS],
        /// Other hardware, operating system or breakouts in single zones. Cannot be combined with `by_plane`.
        pub by_zone: Option<NameMap<u16, ZoneHardwareDoc>> = "by_zone" => [AROUND, HOSTS, LISTS],
    }
}

document! {
    /// A stage of the fabric whose port order is kept. Each T0 has `parallel` cables to each of `up / parallel` T1s.
    /// The ports of a T0 are in the order of the T1s, and those of a T1 in the order of the T0s. Cables of the
    /// previous entry keep their ports, and the others take free ports in this order.
    pub struct PortStageDoc as "PortStage" {
        /// T0 groups of a zone.
        #[schemars(range(min = 1))]
        pub groups: Spanned<u16> = "groups",
        /// Uplinks of a T0.
        #[schemars(range(min = 1))]
        pub up: Spanned<u16> = "up",
        /// Parallel links to each T1; divides `up`.
        #[schemars(range(min = 1))]
        pub parallel: Spanned<u16> = "parallel",
    }
}

impl PortStageDoc {
    /// Returns the counts.
    pub(crate) fn stage(&self) -> PortStage {
        PortStage { groups: self.groups.value, up: self.up.value, parallel: self.parallel.value }
    }
}

document! {
    /// The second tier. Each plane and zone has `t0.up / t0.parallel` T1s, with `hosts.groups * t0.parallel`
    /// downlinks each.
    pub struct T1Doc as "T1" {
        /// The hardware: a name of the catalogue.
        pub platform: Spanned<SmolStr> = "platform" => [AROUND, HOSTS, LISTS],
        /// The operating system. Default: the first one that the platform lists.
        #[schemars(with = "Option<Os>")]
        pub os: Option<Spanned<Os>> = "os" => [AROUND, HOSTS, LISTS],
        /// Layout of the platform that sets the cages and breakouts of both sides. Breakouts and cages in `down` and
        /// `up` take precedence. Default: none.
        pub layout: Option<Spanned<SmolStr>> = "layout" => [AROUND, HOSTS, LISTS],
        /// T1s per plane and zone. It follows from `t0.up`, and must match it if set.
        #[schemars(range(min = 1))]
        pub count: Option<Spanned<u16>> = "count" => [AROUND, HOSTS, LISTS],
        /// Ports towards the T0s. The count follows from `hosts.groups`, and must match it if set.
        pub down: Option<PortsDoc> = "down" => [TIER, HOSTS, LISTS],
        /// Ports towards the T2s. Required with a T2 tier, and absent without.
        pub up: Option<PortsDoc> = "up" => [AROUND, HOSTS, LISTS],
        /// Parallel links to each T2; divides `up`. Default: 1.
        #[schemars(range(min = 1))]
        pub parallel: Option<Spanned<u16>> = "parallel" => [SWITCHES, HOSTS, LISTS],
        /// Ratio of the bandwidth to the T0s and the bandwidth to the T2s. It is only checked.
        pub oversubscription: Option<Spanned<Fraction>> = "oversubscription" => [],
        /// Other hardware or another operating system in single planes.
        pub by_plane: Option<NameMap<u16, HardwareDoc>> = "by_plane" => [AROUND, HOSTS, LISTS],
        /// Other hardware, operating system or breakouts in single zones. Cannot be combined with `by_plane`.
        pub by_zone: Option<NameMap<u16, ZoneHardwareDoc>> = "by_zone" => [AROUND, HOSTS, LISTS],
    }
}

document! {
    /// The third tier. Its count follows from the wiring: `t1.up / t1.parallel` T2s per plane with `wiring: full`, or
    /// per row with `wiring: rows`.
    pub struct T2Doc as "T2" {
        /// The hardware: a name of the catalogue.
        pub platform: Spanned<SmolStr> = "platform" => [AROUND, HOSTS, LISTS],
        /// The operating system. Default: the first one that the platform lists.
        #[schemars(with = "Option<Os>")]
        pub os: Option<Spanned<Os>> = "os" => [AROUND, HOSTS, LISTS],
        /// Layout of the platform that sets the cages and breakouts of both sides. Breakouts and cages in `down` and
        /// `up` take precedence. Default: none.
        pub layout: Option<Spanned<SmolStr>> = "layout" => [AROUND, HOSTS, LISTS],
        /// T2s per plane. It follows from the wiring, and must match it if set.
        #[schemars(range(min = 1))]
        pub count: Option<Spanned<u16>> = "count" => [TIER, HOSTS, LISTS],
        /// Ports towards the T1s. The count is `zones * ports_per_zone`, and must match it if set.
        pub down: Option<PortsDoc> = "down" => [TIER, HOSTS, LISTS],
        /// The site of the T2s, by its name in `sites`. In `closc whatif`, the T2s fail with this site. The cables
        /// from a zone of another site to the T2s form the span of that site. Default: none.
        pub site: Option<Spanned<SmolStr>> = "site" => [],
        /// The T2s of a T1: all of its plane with `full`, those of its own row with `rows`. Default: `full`.
        pub wiring: Option<Spanned<Wiring>> = "wiring" => [ALL],
        /// Number of rows, with `wiring: rows`. T1 number j of a zone is in row j modulo `rows`, and a T2 reaches all
        /// T1s of its row. If there are fewer rows than T1s in a zone, `rows` must divide the number of T1s. With
        /// more rows than T1s, the other rows are reserved for further T1s.
        #[schemars(range(min = 1))]
        pub rows: Option<Spanned<u16>> = "rows" => [ALL],
        /// Downlinks reserved per zone, so that a new zone or T1 does not move cables. Default: the ports of the
        /// panel divided by the zones that a uSID can number.
        #[schemars(range(min = 1))]
        pub ports_per_zone: Option<Spanned<u16>> = "ports_per_zone" => [ALL],
        /// Other hardware or another operating system in single planes.
        pub by_plane: Option<NameMap<u16, HardwareDoc>> = "by_plane" => [AROUND, HOSTS, LISTS],
    }
}

document! {
    /// A block of equal ports, as a count or in full.
    #[derive(Default)]
    pub struct PortBlockDoc as "PortBlock" {
        /// Ports in use.
        #[schemars(range(min = 1, max = 65535))]
        pub count: Option<Spanned<u32>> = "count",
        /// Breakout of each cage, as in `8x100G`. Default: that of the platform. `2x400G(4)` takes four lanes of each cage and
        /// leaves the others to the other side: `down` has the first lanes, and `up` the last ones. If both sides list `cages`
        /// and have no cage in common, `up` has the first lanes of its cages too.
        #[schemars(with = "Option<BreakoutText>")]
        pub breakout: Option<Spanned<Breakout>> = "breakout" => [AROUND, HOSTS, LISTS],
        /// Reserved ports after those in use, configured but shut down. Default: 0.
        pub spare: Option<Spanned<u16>> = "spare" => [TIER, HOSTS, LISTS],
        /// The first cage, from 0. Default: 0 for `down`. For `up` it is the middle of the panel regardless of the
        /// counts, so that growth does not move ports.
        pub first_cage: Option<Spanned<u16>> = "first_cage" => [AROUND, HOSTS, LISTS],
        /// The cages, from 0, if they are not consecutive: `[8-23, 40-55]`. Ports are numbered over them in ascending
        /// order. Cannot be combined with `first_cage`. If the other side does not set cages, it has the rest of the
        /// panel.
        #[schemars(with = "Option<CagesText>")]
        pub cages: Option<Spanned<CageSet>> = "cages" => [AROUND, HOSTS, LISTS],
        /// The first port of this side in its first cage, from 0. The ports before it belong to the other side.
        /// Default: 0.
        #[schemars(range(max = 63))]
        pub first_port: Option<Spanned<u8>> = "first_port" => [AROUND, HOSTS, LISTS],
    }
}

/// A run of equal ports: a number, or a mapping.
#[derive(Debug, Clone, Default)]
pub struct PortsDoc(pub PortBlockDoc);

impl Read for PortsDoc {
    const KIND: &'static Kind = PortBlockDoc::KIND;

    fn read(item: &Item, reader: &mut Reader<'_>) -> Option<Self> {
        let is_number = |text: &SmolStr| text.parse::<f64>().is_ok();
        match &item.value {
            Value::Mapping(_) => PortBlockDoc::read(item, reader).map(PortsDoc),
            // A number in quotes, which the reader of numbers reports.
            Value::Text(text) if is_number(text) => {
                Spanned::<u32>::read(item, reader);
                None
            }
            Value::Text(_) | Value::List(_) | Value::Null | Value::Bool(_) => reader.wrong_type(
                item,
                "a number of ports or a mapping",
                "256` or `{count: 256, breakout: 8x100G}",
            ),
            Value::Integer(_) | Value::Float(_) => {
                let count = Some(Spanned::read(item, reader)?);
                Some(PortsDoc(PortBlockDoc { count, ..PortBlockDoc::default() }))
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

document! {
    /// Hardware and operating system.
    pub struct HardwareDoc as "Hardware" {
        /// The hardware: a name of the catalogue. Default: that of the tier.
        pub platform: Option<Spanned<SmolStr>> = "platform",
        /// The operating system. Default: that of the tier if the platform runs it, else the platform's first.
        #[schemars(with = "Option<Os>")]
        pub os: Option<Spanned<Os>> = "os",
    }
}

document! {
    /// Hardware, operating system and ports of a zone. The numbers of ports and spare ports are those of the other
    /// zones. Only breakouts and cages can differ.
    pub struct ZoneHardwareDoc as "ZoneHardware" {
        /// The hardware: a name of the catalogue. Default: that of the tier.
        pub platform: Option<Spanned<SmolStr>> = "platform",
        /// The operating system. Default: that of the tier if the platform runs it, else the platform's first.
        #[schemars(with = "Option<Os>")]
        pub os: Option<Spanned<Os>> = "os",
        /// Ports towards the NICs or the tier below.
        pub down: Option<SplitDoc> = "down",
        /// Ports towards the tier above.
        pub up: Option<SplitDoc> = "up",
        /// Ratio of the bandwidths towards the NICs and away from them in this zone. It is only checked.
        pub oversubscription: Option<Spanned<Fraction>> = "oversubscription" => [],
    }
}

document! {
    /// Breakout and position of the cages of a side.
    pub struct SplitDoc as "Split" {
        /// Breakout of each cage, as in `4x100G`. Default: as in the tier; with another platform, that platform's.
        #[schemars(with = "Option<BreakoutText>")]
        pub breakout: Option<Spanned<Breakout>> = "breakout",
        /// The first cage, from 0. Default: as in the tier; with another platform, 0 for `down` and the middle of its panel
        /// for `up`.
        pub first_cage: Option<Spanned<u16>> = "first_cage",
        /// The cages, if they are not consecutive: `[8-23, 40-55]`. Cannot be combined with `first_cage`.
        #[schemars(with = "Option<CagesText>")]
        pub cages: Option<Spanned<CageSet>> = "cages",
        /// The first port of this side in its first cage, from 0. The ports before it belong to the other side.
        /// Default: as in the tier; with another platform, 0.
        #[schemars(range(max = 63))]
        pub first_port: Option<Spanned<u8>> = "first_port",
    }
}

word!(Os, "operating system", Os::keyword);

word!(Wiring, "wiring" {
    "full" => Wiring::Full,
    "rows" => Wiring::Rows,
});

/// Breakout of a cage.
struct BreakoutText;

impl JsonSchema for BreakoutText {
    fn schema_name() -> Cow<'static, str> {
        "Breakout".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "How a cage is split: ports times speed, as in `8x100G`. If the other side uses \
                 the rest of the cage, add the number of lanes, as in `1x800G(4)`",
            "pattern": r"^[1-9][0-9]*x[0-9]+(\.[0-9]+)?[MGT](\([0-9]+\))?$"
        })
    }
}

/// Cages of a panel.
struct CagesText;

impl JsonSchema for CagesText {
    fn schema_name() -> Cow<'static, str> {
        "Cages".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let text = CageSet::json_schema(generator);
        json_schema!({
            "description": "Cages from 0 and runs of them: a list, or the same as text",
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": CageSet::LAST },
                text,
                { "type": "array", "minItems": 1, "items": { "anyOf": [
                    { "type": "integer", "minimum": 0, "maximum": CageSet::LAST },
                    { "type": "string", "pattern": "^ *[0-9]+( *- *[0-9]+)? *$" }
                ] } }
            ]
        })
    }
}
