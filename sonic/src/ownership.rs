//! Division of CONFIG_DB between closc and the site.
//!
//! In: the live configuration, the tree's part and the site's overlay. Out: the target configuration. Invariants:
//! [`OWNED`] is the only list of owners. A test of the renderer compares it with every written table and field. All
//! other settings are unchanged.

use crate::config_db::{ConfigDb, Entry, Field, Table};

/// Part of a table that belongs to closc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// All entries: an entry that is missing in the tree is removed.
    Entries,
    /// All entries if the tree has the table at all; otherwise the table belongs to the site. Used for lists of servers
    /// and for the management address, which fabric files may leave to the site.
    EntriesIfGiven,
    /// Only the entries of the tree.
    Given,
}

/// Entries that closc may own; all others belong to the site, regardless of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Every entry.
    All,
    /// Those of one element: its own, and those of its parts, such as addresses of an interface or rules of an access
    /// list.
    Element(&'static str),
    /// Those of the default VRF: a site reaches its switches over routes of the management VRF.
    DefaultVrf,
}

impl Rows {
    /// Returns whether closc may own an entry.
    pub fn contains(self, key: &str) -> bool {
        let first = key.split('|').next().unwrap_or(key);
        match self {
            Rows::All => true,
            Rows::Element(name) => first == name,
            Rows::DefaultVrf => first == key || first == "default",
        }
    }
}

/// A table that closc owns in part or entirely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnedTable {
    /// Its name.
    pub table: &'static str,
    /// Part of its entries that closc owns.
    pub share: Share,
    /// Entries that closc may own.
    pub rows: Rows,
    /// Fields that closc owns in its entries. Only these are compared and removed; the site may set others.
    pub fields: Fields,
}

/// Fields of an entry that closc owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fields {
    /// Every field.
    All,
    /// These.
    Only(&'static [&'static str]),
    /// None: only the existence of the entry counts.
    None,
}

const fn all_rows(table: &'static str) -> OwnedTable {
    rows_of(table, Rows::All)
}

const fn rows_of(table: &'static str, rows: Rows) -> OwnedTable {
    OwnedTable { table, share: Share::Entries, rows, fields: Fields::All }
}

const fn given_fields(table: &'static str, fields: &'static [&'static str]) -> OwnedTable {
    OwnedTable { table, share: Share::Given, rows: Rows::All, fields: Fields::Only(fields) }
}

const fn if_given(table: &'static str, fields: Fields) -> OwnedTable {
    OwnedTable { table, share: Share::EntriesIfGiven, rows: Rows::All, fields }
}

/// The access list of isolated ports. The site may have others.
pub(crate) const ISOLATION: &str = "LINK_ISOLATION_TABLE";

/// The fields of `DEVICE_METADATA|localhost` that closc owns.
const METADATA: &[&str] = &[
    "bgp_asn",
    "buffer_model",
    "cluster",
    "default_bgp_status",
    "default_pfcwd_status",
    "docker_routing_config_mode",
    "frr_mgmt_framework_config",
    "hostname",
    "hwsku",
    "mac",
    "synchronous_mode",
    "type",
];

/// The fields of a port that closc owns; `tpid`, `tx_power` and similar fields belong to the site.
const PORT: &[&str] =
    &["admin_status", "alias", "description", "fec", "index", "lanes", "mtu", "speed", "subport"];

/// Fields that closc writes if the tree has them, and leaves unchanged otherwise. The site may set the `id`
/// that controllers use for a port, and `autoneg` if the driver forces the speed without it. No switch works
/// without its `platform`.
pub const IF_GIVEN: &[(&str, &str)] = &[("DEVICE_METADATA", "platform"), ("PORT", "autoneg"), ("PORT", "id")];

/// Fields and values that closc writes only if neither the switch nor the overlay has a value. A site with a management
/// VRF gets its time over that VRF.
pub const SITE_FIRST: &[(&str, &str, &str)] = &[("NTP", "src_intf", "eth0"), ("NTP", "vrf", "default")];

/// Every table that closc owns in part or entirely, by name.
pub const OWNED: &[OwnedTable] = &[
    rows_of("ACL_RULE", Rows::Element(ISOLATION)),
    rows_of("ACL_TABLE", Rows::Element(ISOLATION)),
    rows_of("ACL_TABLE_TYPE", Rows::Element("L3V6LITE")),
    all_rows("BUFFER_PG"),
    all_rows("BUFFER_POOL"),
    all_rows("BUFFER_PORT_EGRESS_PROFILE_LIST"),
    all_rows("BUFFER_PORT_INGRESS_PROFILE_LIST"),
    all_rows("BUFFER_PROFILE"),
    all_rows("BUFFER_QUEUE"),
    all_rows("CABLE_LENGTH"),
    given_fields("CRM", &["polling_interval"]),
    given_fields("DEVICE_METADATA", METADATA),
    all_rows("DEVICE_NEIGHBOR"),
    all_rows("DEVICE_NEIGHBOR_METADATA"),
    all_rows("DSCP_TO_TC_MAP"),
    given_fields("FLEX_COUNTER_TABLE", &["FLEX_COUNTER_STATUS"]),
    all_rows("INTERFACE"),
    given_fields("LLDP", &["enabled"]),
    rows_of("LOOPBACK_INTERFACE", Rows::Element("Loopback0")),
    all_rows("MAP_PFC_PRIORITY_TO_QUEUE"),
    if_given("MGMT_INTERFACE", Fields::Only(&["gwaddr"])),
    given_fields("MGMT_PORT", &["admin_status", "alias"]),
    all_rows("NEIGH"),
    given_fields("NODE_CFG", &["node-id"]),
    given_fields("NTP", &["admin_state"]),
    if_given("NTP_SERVER", Fields::None),
    all_rows("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
    all_rows("PFC_WD"),
    OwnedTable { table: "PORT", share: Share::Entries, rows: Rows::All, fields: Fields::Only(PORT) },
    all_rows("PORT_QOS_MAP"),
    all_rows("QUEUE"),
    all_rows("SCHEDULER"),
    given_fields("SNMP", &["Contact", "Location"]),
    all_rows("SRV6_MY_LOCATORS"),
    all_rows("SRV6_MY_SIDS"),
    rows_of("STATIC_ROUTE", Rows::DefaultVrf),
    all_rows("SWITCH_HASH"),
    all_rows("SWITCH_TRIMMING"),
    if_given("SYSLOG_SERVER", Fields::None),
    all_rows("TC_TO_DSCP_MAP"),
    all_rows("TC_TO_PRIORITY_GROUP_MAP"),
    all_rows("TC_TO_QUEUE_MAP"),
    all_rows("WRED_PROFILE"),
];

/// Returns the entry of a table in [`OWNED`]; `None` if the table belongs to the site.
pub fn owned_table(table: &str) -> Option<&'static OwnedTable> {
    OWNED.binary_search_by(|owned| owned.table.cmp(table)).ok().map(|place| &OWNED[place])
}

impl OwnedTable {
    /// Returns whether closc owns a field in its entries.
    pub fn has_field(&self, field: &str) -> bool {
        match self.fields {
            Fields::All => true,
            Fields::Only(fields) => fields.contains(&field),
            Fields::None => false,
        }
    }

    /// Returns whether closc owns a field of an entry, given the tree's version of the entry.
    pub(crate) fn sets_field(&self, field: &str, tree: Option<&Entry>) -> bool {
        let is_there = || tree.is_some_and(|tree| tree.contains_key(field));
        self.has_field(field) || self.is_given(field) && is_there()
    }

    /// Returns whether closc owns a field only if the tree has it.
    pub fn is_given(&self, field: &str) -> bool {
        IF_GIVEN.contains(&(self.table, field))
    }

    /// Returns whether closc writes a field only if it has no value.
    fn yields(&self, field: &str, value: &Field) -> bool {
        let is_it = |(table, name, own): &(&str, &str, &str)| {
            *table == self.table && *name == field && matches!(value, Field::Text(text) if text == own)
        };
        SITE_FIRST.iter().any(is_it)
    }

    /// Returns whether closc owns an entry, even if the tree does not have it.
    fn is_own(&self, key: &str, tree: &Table) -> bool {
        let all = match self.share {
            Share::Entries => true,
            Share::EntriesIfGiven => !tree.is_empty(),
            Share::Given => false,
        };
        tree.contains_key(key) || all && self.rows.contains(key)
    }

    /// Returns whether an entry is removed. The decision depends only on the tree: an entry of the overlay
    /// does not make closc the owner of the site's other entries.
    fn drops(&self, key: &str, tree: &Table, both: &Table) -> bool {
        !both.contains_key(key) && self.is_own(key, tree)
    }

    /// Returns the target entry: closc's fields from the tree, all others unchanged.
    fn entry(&self, live: Option<&Entry>, tree: &Entry) -> Entry {
        let kept = live.into_iter().flatten().filter(|(field, _)| !self.has_field(field));
        let mut made: Entry = kept.map(|(field, value)| (field.clone(), value.clone())).collect();
        let own =
            tree.iter().filter(|(field, value)| !(self.yields(field, value) && made.contains_key(*field)));
        let own: Vec<_> = own.map(|(field, value)| (field.clone(), value.clone())).collect();
        made.extend(own);
        made
    }

    /// Returns the target table. `both` contains the tree and the overlay.
    fn table(&self, live: &Table, tree: &Table, both: &Table) -> Table {
        let kept = live.iter().filter(|(key, _)| !self.drops(key, tree, both));
        let mut made: Table = kept.map(|(key, entry)| (key.clone(), entry.clone())).collect();
        let before = |key: &str| live.get(key).or_else(|| self.replaced_entry(key, live, (tree, both)));
        made.extend(both.iter().map(|(key, entry)| (key.clone(), self.entry(before(key), entry))));
        made
    }

    /// Returns the entry that a new management address replaces. The site's other settings of the old address, such as
    /// `forced_mgmt_routes`, are kept for the new one.
    fn replaced_entry<'a>(
        &self,
        key: &str,
        live: &'a Table,
        (tree, both): (&Table, &Table),
    ) -> Option<&'a Entry> {
        if self.table != "MGMT_INTERFACE" {
            return None;
        }
        let (port, address) = key.split_once('|')?;
        let is_v6 = address.contains(':');
        let gone = live.iter().filter(|(key, _)| self.drops(key, tree, both));
        gone.filter_map(|(key, entry)| Some((key.split_once('|')?, entry)))
            .find(|((other, address), _)| *other == port && address.contains(':') == is_v6)
            .map(|(_, entry)| entry)
    }
}

/// Returns the target configuration: closc's part from the tree, the overlay's additions to closc's tables, the rest
/// unchanged. `both` contains the tree and the overlay.
pub(crate) fn target(live: &ConfigDb, tree: &ConfigDb, both: &ConfigDb) -> ConfigDb {
    let mut made = live.clone();
    for owned in OWNED {
        let name = owned.table;
        made.replace(name, owned.table(live.table(name), tree.table(name), both.table(name)));
    }
    made
}

/// Returns closc's part of a configuration, as the tree defines it: two switches with equal parts differ only in
/// settings of the site.
pub fn owned_part(config: &ConfigDb, tree: &ConfigDb) -> ConfigDb {
    let mut made = ConfigDb::default();
    for owned in OWNED {
        let given = tree.table(owned.table);
        for (key, entry) in config.table(owned.table).iter().filter(|(key, _)| owned.is_own(key, given)) {
            let fields = entry.iter().filter(|(field, _)| {
                let given = given.get(key);
                let yields = || {
                    given.and_then(|entry| entry.get(*field)).is_some_and(|value| owned.yields(field, value))
                };
                owned.sets_field(field, given) || yields()
            });
            made.insert(owned.table, key, fields.map(|(f, v)| (f.clone(), v.clone())).collect());
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_so_that_it_can_be_searched() {
        assert!(OWNED.is_sorted_by(|one, other| one.table < other.table));
        for own in OWNED {
            assert_eq!(owned_table(own.table), Some(own));
        }
        assert_eq!(owned_table("TACPLUS"), None);
    }

    #[test]
    fn settings_of_the_site_are_kept() {
        let live = ConfigDb::parse(
            r#"{ "TACPLUS": {"global": {"passkey": "x"}},
                 "DEVICE_METADATA": {"localhost": {"hostname": "old", "timezone": "UTC", "bgp_asn": "7"}},
                 "PORT": {"Ethernet0": {"mtu": "1500", "tpid": "0x8100"}, "Ethernet4": {"mtu": "1500"}},
                 "NTP_SERVER": {"192.0.2.1": {"key": "3"}},
                 "SNMP": {"LOCATION": {"Location": "here"}} }"#,
        )
        .expect("right");
        let tree = ConfigDb::parse(
            r#"{ "DEVICE_METADATA": {"localhost": {"hostname": "new"}},
                 "PORT": {"Ethernet0": {"mtu": "9100"}}, "SNMP": {"CONTACT": {"Contact": "noc"}} }"#,
        )
        .expect("right");
        let made = target(&live, &tree, &tree);
        assert_eq!(made.table("TACPLUS"), live.table("TACPLUS"));
        assert_eq!(made.text("DEVICE_METADATA", "localhost", "timezone"), Some("UTC"));
        assert_eq!(made.text("DEVICE_METADATA", "localhost", "bgp_asn"), None);
        assert_eq!(made.text("PORT", "Ethernet0", "tpid"), Some("0x8100"));
        assert_eq!(made.text("PORT", "Ethernet0", "mtu"), Some("9100"));
        assert_eq!(made.entry("PORT", "Ethernet4"), None);
        assert_eq!(made.table("NTP_SERVER"), live.table("NTP_SERVER"));
        assert_eq!(made.table("SNMP").len(), 2);
        assert_eq!(owned_part(&made, &tree), tree);
    }

    #[test]
    fn management_settings_of_the_site_are_kept() {
        let live = ConfigDb::parse(
            r#"{ "DEVICE_METADATA": {"localhost": {"platform": "x86_64-x"}},
                 "MGMT_VRF_CONFIG": {"vrf_global": {"mgmtVrfEnabled": "true"}},
                 "MGMT_INTERFACE": {"eth0|192.0.2.9/24": {"gwaddr": "192.0.2.1", "forced_mgmt_routes": ["198.51.100.0/24"]},
                                    "eth0|fd00::9/64": {"gwaddr": "fd00::1"}},
                 "NTP": {"global": {"vrf": "mgmt", "src_intf": "eth1", "server_role": "disabled"}},
                 "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|fd00::a/128": {}, "Loopback1": {}, "Loopback1|fd00::b/128": {}},
                 "STATIC_ROUTE": {"mgmt|0.0.0.0/0": {"nexthop": "192.0.2.1"}, "default|fd00::/8": {"blackhole": "true"},
                                  "fd00::/9": {"nexthop": "fe80::1"}} }"#,
        )
        .expect("right");
        let tree = ConfigDb::parse(
            r#"{ "DEVICE_METADATA": {"localhost": {"hostname": "new"}},
                 "MGMT_INTERFACE": {"eth0|192.0.2.9/25": {"gwaddr": "192.0.2.2"}},
                 "NTP": {"global": {"vrf": "default", "src_intf": "eth0", "admin_state": "enabled"}},
                 "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|fd00::c/128": {}} }"#,
        )
        .expect("right");
        let made = target(&live, &tree, &tree);
        assert_eq!(made.text("DEVICE_METADATA", "localhost", "platform"), Some("x86_64-x"));
        let keys = |table: &str| made.table(table).keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys("MGMT_INTERFACE"), ["eth0|192.0.2.9/25"]);
        let moved = made.entry("MGMT_INTERFACE", "eth0|192.0.2.9/25").expect("it is there");
        assert_eq!(moved["gwaddr"], Field::from("192.0.2.2"));
        assert_eq!(moved["forced_mgmt_routes"], Field::List(vec!["198.51.100.0/24".to_owned()]));
        assert_eq!(made.text("NTP", "global", "vrf"), Some("mgmt"));
        assert_eq!(made.text("NTP", "global", "src_intf"), Some("eth1"));
        assert_eq!(made.text("NTP", "global", "admin_state"), Some("enabled"));
        let loopbacks = ["Loopback0", "Loopback0|fd00::c/128", "Loopback1", "Loopback1|fd00::b/128"];
        assert_eq!(keys("LOOPBACK_INTERFACE"), loopbacks);
        assert_eq!(keys("STATIC_ROUTE"), ["mgmt|0.0.0.0/0"]);
        // A switch without settings of the site gets the tree's.
        let fresh = target(&ConfigDb::default(), &tree, &tree);
        assert_eq!(fresh, tree);
        assert_eq!(owned_part(&fresh, &tree), tree);
    }
}
