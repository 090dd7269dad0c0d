//! Division of CONFIG_DB between closc and the site.
//!
//! In: what a switch holds, what the tree and the site's overlay say. Out: what it is to hold. Invariants: [`OWNED`] is
//! the one list of it, and a test of the renderer compares it with every table and field that is written; everything
//! else leaves as it came.

use crate::config_db::{ConfigDb, Entry, Field, Table};

/// Part of a table that belongs to closc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// All entries: one that the tree does not have is removed.
    Entries,
    /// All entries if the tree has the table at all; otherwise the table is the site's. Lists of servers and the
    /// management address, which fabric files may leave to the site.
    EntriesIfGiven,
    /// The entries that the tree has, and no others.
    Given,
}

/// Which entries may be closc's at all; the others are the site's, whatever the tree has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Every entry.
    All,
    /// Those of one interface: its own, and its addresses.
    Interface(&'static str),
    /// Those outside a VRF. Routes of the management VRF are how a site reaches its switches.
    DefaultVrf,
}

impl Rows {
    /// Says whether an entry may be closc's.
    pub fn have(self, key: &str) -> bool {
        let first = key.split('|').next().unwrap_or(key);
        match self {
            Rows::All => true,
            Rows::Interface(name) => first == name,
            Rows::DefaultVrf => first == key || first == "default",
        }
    }
}

/// A table of which something is closc's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owned {
    /// Its name.
    pub table: &'static str,
    /// Owner of its entries.
    pub share: Share,
    /// Which of them may be closc's.
    pub rows: Rows,
    /// Which fields of closc's entries are closc's. Only these are compared and removed; the site may set others.
    pub fields: Fields,
}

/// Which fields of an entry are closc's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fields {
    /// Every field.
    All,
    /// These.
    Only(&'static [&'static str]),
    /// None: that the entry is there is all.
    None,
}

const fn whole(table: &'static str) -> Owned {
    rows_of(table, Rows::All)
}

const fn rows_of(table: &'static str, rows: Rows) -> Owned {
    Owned { table, share: Share::Entries, rows, fields: Fields::All }
}

const fn given(table: &'static str, fields: &'static [&'static str]) -> Owned {
    Owned { table, share: Share::Given, rows: Rows::All, fields: Fields::Only(fields) }
}

const fn if_given(table: &'static str, fields: Fields) -> Owned {
    Owned { table, share: Share::EntriesIfGiven, rows: Rows::All, fields }
}

/// The fields of `DEVICE_METADATA|localhost` that are closc's.
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

/// The fields of a port that are closc's: `autoneg`, `tpid`, `tx_power` and their like are the site's.
const PORT: &[&str] =
    &["admin_status", "alias", "description", "fec", "index", "lanes", "mtu", "speed", "subport"];

/// Tables and fields that closc writes where the tree has them, and leaves as they are where it has not: the `id` by which
/// controllers know a port may be the site's own, and no switch works without its `platform`.
pub const IF_GIVEN: &[(&str, &str)] = &[("DEVICE_METADATA", "platform"), ("PORT", "id")];

/// Tables, fields and values that closc writes where neither the switch nor the overlay has one: where the site has a VRF for
/// management, time comes by that.
pub const SITE_FIRST: &[(&str, &str, &str)] = &[("NTP", "src_intf", "eth0"), ("NTP", "vrf", "default")];

/// Every table of which something is closc's, by name.
pub const OWNED: &[Owned] = &[
    whole("BUFFER_PG"),
    whole("BUFFER_POOL"),
    whole("BUFFER_PORT_EGRESS_PROFILE_LIST"),
    whole("BUFFER_PORT_INGRESS_PROFILE_LIST"),
    whole("BUFFER_PROFILE"),
    whole("BUFFER_QUEUE"),
    whole("CABLE_LENGTH"),
    given("CRM", &["polling_interval"]),
    given("DEVICE_METADATA", METADATA),
    whole("DEVICE_NEIGHBOR"),
    whole("DEVICE_NEIGHBOR_METADATA"),
    whole("DSCP_TO_TC_MAP"),
    given("FLEX_COUNTER_TABLE", &["FLEX_COUNTER_STATUS"]),
    whole("INTERFACE"),
    given("LLDP", &["enabled"]),
    rows_of("LOOPBACK_INTERFACE", Rows::Interface("Loopback0")),
    whole("MAP_PFC_PRIORITY_TO_QUEUE"),
    if_given("MGMT_INTERFACE", Fields::Only(&["gwaddr"])),
    given("MGMT_PORT", &["admin_status", "alias"]),
    whole("NEIGH"),
    given("NODE_CFG", &["node-id"]),
    given("NTP", &["admin_state"]),
    if_given("NTP_SERVER", Fields::None),
    whole("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
    whole("PFC_WD"),
    Owned { table: "PORT", share: Share::Entries, rows: Rows::All, fields: Fields::Only(PORT) },
    whole("PORT_QOS_MAP"),
    whole("QUEUE"),
    whole("SCHEDULER"),
    given("SNMP", &["Contact", "Location"]),
    whole("SRV6_MY_LOCATORS"),
    whole("SRV6_MY_SIDS"),
    rows_of("STATIC_ROUTE", Rows::DefaultVrf),
    whole("SWITCH_HASH"),
    whole("SWITCH_TRIMMING"),
    if_given("SYSLOG_SERVER", Fields::None),
    whole("TC_TO_DSCP_MAP"),
    whole("TC_TO_PRIORITY_GROUP_MAP"),
    whole("TC_TO_QUEUE_MAP"),
    whole("WRED_PROFILE"),
];

/// Returns what of a table is closc's; nothing where the table is the site's.
pub fn owned(table: &str) -> Option<&'static Owned> {
    OWNED.binary_search_by(|owned| owned.table.cmp(table)).ok().map(|place| &OWNED[place])
}

impl Owned {
    /// Says whether a field of closc's entries is closc's.
    pub fn has_field(&self, field: &str) -> bool {
        match self.fields {
            Fields::All => true,
            Fields::Only(fields) => fields.contains(&field),
            Fields::None => false,
        }
    }

    /// Says whether a field of an entry is closc's where the tree has this entry.
    pub(crate) fn sets_field(&self, field: &str, tree: Option<&Entry>) -> bool {
        let is_there = || tree.is_some_and(|tree| tree.contains_key(field));
        self.has_field(field) || self.is_given(field) && is_there()
    }

    /// Says whether a field is closc's where the tree has it.
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

    /// Says whether an entry is closc's, also where the tree does not have it.
    fn is_own(&self, key: &str, tree: &Table) -> bool {
        let all = match self.share {
            Share::Entries => true,
            Share::EntriesIfGiven => !tree.is_empty(),
            Share::Given => false,
        };
        tree.contains_key(key) || all && self.rows.have(key)
    }

    /// Says whether an entry goes. What the overlay adds does not make closc's what was the site's before.
    fn drops(&self, key: &str, tree: &Table, both: &Table) -> bool {
        !both.contains_key(key) && self.is_own(key, tree)
    }

    /// Returns the entry that a switch is to hold: closc's fields from the tree, all others as they are.
    fn entry(&self, live: Option<&Entry>, tree: &Entry) -> Entry {
        let kept = live.into_iter().flatten().filter(|(field, _)| !self.has_field(field));
        let mut made: Entry = kept.map(|(field, value)| (field.clone(), value.clone())).collect();
        let own =
            tree.iter().filter(|(field, value)| !(self.yields(field, value) && made.contains_key(*field)));
        let own: Vec<_> = own.map(|(field, value)| (field.clone(), value.clone())).collect();
        made.extend(own);
        made
    }

    /// Returns the table that a switch is to hold. `both` has what the overlay adds besides.
    fn table(&self, live: &Table, tree: &Table, both: &Table) -> Table {
        let kept = live.iter().filter(|(key, _)| !self.drops(key, tree, both));
        let mut made: Table = kept.map(|(key, entry)| (key.clone(), entry.clone())).collect();
        let before = |key: &str| live.get(key).or_else(|| self.moved(key, live, (tree, both)));
        made.extend(both.iter().map(|(key, entry)| (key.clone(), self.entry(before(key), entry))));
        made
    }

    /// Returns the entry that gives way to one of the tree because the management address changes: what else the site says of
    /// this address, as `forced_mgmt_routes`, holds for the new one.
    fn moved<'a>(&self, key: &str, live: &'a Table, (tree, both): (&Table, &Table)) -> Option<&'a Entry> {
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

/// Returns what a switch is to hold: closc's part from the tree, what the overlay adds to closc's tables, the rest as it is. `both` is
/// the first two.
pub(crate) fn target(live: &ConfigDb, tree: &ConfigDb, both: &ConfigDb) -> ConfigDb {
    let mut made = live.clone();
    for owned in OWNED {
        let name = owned.table;
        made.replace(name, owned.table(live.table(name), tree.table(name), both.table(name)));
    }
    made
}

/// Returns closc's part of a configuration, as the tree divides it: two switches with the same part differ in what is
/// the site's only.
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
            assert_eq!(owned(own.table), Some(own));
        }
        assert_eq!(owned("TACPLUS"), None);
    }

    #[test]
    fn what_is_the_sites_stays() {
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
    fn how_a_site_reaches_its_switches_stays() {
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
        // A switch of which the site said nothing gets what the tree says.
        let fresh = target(&ConfigDb::default(), &tree, &tree);
        assert_eq!(fresh, tree);
        assert_eq!(owned_part(&fresh, &tree), tree);
    }
}
