//! What of CONFIG_DB is closc's and what is the site's.
//!
//! In: what a switch holds, what the tree and the site's overlay say. Out: what it is to hold. Invariants: [`OWNED`] is
//! the one list of it, and a test of the renderer compares it with every table and field that is written; everything
//! else leaves as it came.

use crate::config_db::{ConfigDb, Entry, Table};

/// How much of a table is closc's.
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

/// A table of which something is closc's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owned {
    /// Its name.
    pub table: &'static str,
    /// Whose its entries are.
    pub share: Share,
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
    Owned { table, share: Share::Entries, fields: Fields::All }
}

const fn given(table: &'static str, fields: &'static [&'static str]) -> Owned {
    Owned { table, share: Share::Given, fields: Fields::Only(fields) }
}

const fn if_given(table: &'static str, fields: Fields) -> Owned {
    Owned { table, share: Share::EntriesIfGiven, fields }
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
    "platform",
    "synchronous_mode",
    "type",
];

/// The fields of a port that are closc's: `autoneg`, `tpid`, `tx_power` and their like are the site's.
const PORT: &[&str] =
    &["admin_status", "alias", "description", "fec", "index", "lanes", "mtu", "speed", "subport"];

/// The fields of a port that closc writes where the tree has them, and leaves as they are where it has not: the `id` by which
/// controllers know a port may be the site's own.
pub const PORT_IF_GIVEN: &[&str] = &["id"];

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
    whole("LOOPBACK_INTERFACE"),
    whole("MAP_PFC_PRIORITY_TO_QUEUE"),
    if_given("MGMT_INTERFACE", Fields::Only(&["gwaddr"])),
    given("MGMT_PORT", &["admin_status", "alias"]),
    whole("NEIGH"),
    given("NODE_CFG", &["node-id"]),
    given("NTP", &["admin_state", "src_intf", "vrf"]),
    if_given("NTP_SERVER", Fields::None),
    whole("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
    whole("PFC_WD"),
    Owned { table: "PORT", share: Share::Entries, fields: Fields::Only(PORT) },
    whole("PORT_QOS_MAP"),
    whole("QUEUE"),
    whole("SCHEDULER"),
    given("SNMP", &["Contact", "Location"]),
    whole("SRV6_MY_LOCATORS"),
    whole("SRV6_MY_SIDS"),
    whole("STATIC_ROUTE"),
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
        let is_given = || tree.is_some_and(|tree| tree.contains_key(field));
        self.has_field(field) || self.table == "PORT" && PORT_IF_GIVEN.contains(&field) && is_given()
    }

    /// Returns the entry that a switch is to hold: closc's fields from the tree, all others as they are.
    fn entry(&self, live: Option<&Entry>, tree: &Entry) -> Entry {
        let kept = live.into_iter().flatten().filter(|(field, _)| !self.has_field(field));
        kept.chain(tree).map(|(field, value)| (field.clone(), value.clone())).collect()
    }

    fn table(&self, live: &Table, tree: &Table) -> Table {
        let all = match self.share {
            Share::Entries => true,
            Share::EntriesIfGiven => !tree.is_empty(),
            Share::Given => false,
        };
        let kept = live.iter().filter(|(key, _)| !all && !tree.contains_key(*key));
        let mut made: Table = kept.map(|(key, entry)| (key.clone(), entry.clone())).collect();
        made.extend(tree.iter().map(|(key, entry)| (key.clone(), self.entry(live.get(key), entry))));
        made
    }
}

/// Returns what a switch is to hold: closc's part from the tree, the rest as it is.
pub(crate) fn target(live: &ConfigDb, tree: &ConfigDb) -> ConfigDb {
    let mut made = live.clone();
    for owned in OWNED {
        let wanted = owned.table(live.table(owned.table), tree.table(owned.table));
        made.replace(owned.table, wanted);
    }
    made
}

/// Returns closc's part of a configuration, as the tree divides it: two switches with the same part differ in what is
/// the site's only.
pub fn owned_part(config: &ConfigDb, tree: &ConfigDb) -> ConfigDb {
    let mut made = ConfigDb::default();
    for owned in OWNED {
        let given = tree.table(owned.table);
        let all = match owned.share {
            Share::Entries => true,
            Share::EntriesIfGiven => !given.is_empty(),
            Share::Given => false,
        };
        for (key, entry) in config.table(owned.table) {
            if all || given.contains_key(key) {
                let fields = entry.iter().filter(|(field, _)| owned.sets_field(field, given.get(key)));
                made.insert(owned.table, key, fields.map(|(f, v)| (f.clone(), v.clone())).collect());
            }
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
        let made = target(&live, &tree);
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
}
