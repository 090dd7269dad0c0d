//! Settings in `config_db.json` that sites may choose freely: logins, log destinations, services.
//!
//! Invariants: none of these affects packets of the fabric. Their use is reported as not judged, except for the IDs for
//! a controller.

use crate::read::site::SiteGroup;

/// Tables, and fields of `DEVICE_METADATA|localhost`.
pub(crate) const SITE: &[SiteGroup] = &[
    SiteGroup {
        settings: &[
            "AAA",
            "GNMI_CLIENT_CERT",
            "LDAP",
            "LDAP_SERVER",
            "PASSW_HARDENING",
            "RADIUS",
            "RADIUS_SERVER",
            "SERIAL_CONSOLE",
            "SSH_SERVER",
            "TACPLUS",
            "TACPLUS_SERVER",
            "TELEMETRY_CLIENT",
        ],
        reason: "logins and permissions: they configure nothing by themselves",
    },
    SiteGroup {
        settings: &["GNMI", "RESTAPI", "TELEMETRY"],
        reason: "API servers of the switch and their addresses: they change forwarding only on a request, \
                 and requests are not part of a tree",
    },
    SiteGroup { settings: &["BANNER_MESSAGE"], reason: "a text for people" },
    SiteGroup { settings: &["CONSOLE_PORT", "CONSOLE_SWITCH"], reason: "serial lines to other machines" },
    SiteGroup {
        settings: &["DNS_NAMESERVER", "DNS_OPTIONS"],
        reason: "name servers: no route of the fabric uses a name",
    },
    SiteGroup { settings: &["NTP_KEY"], reason: "keys of time servers" },
    SiteGroup {
        settings: &["KUBERNETES_MASTER"],
        reason: "the source of service images; required services must run (`FEATURE`)",
    },
    SiteGroup {
        settings: &["AUTO_TECHSUPPORT", "AUTO_TECHSUPPORT_FEATURE", "KDUMP"],
        reason: "dumps after a crash",
    },
    SiteGroup {
        settings: &["LLDP_PORT"],
        reason: "LLDP of single ports: no route of the fabric depends on it",
    },
    SiteGroup {
        settings: &["LOGGER", "SYSLOG_CONFIG", "SYSLOG_CONFIG_FEATURE", "XCVRD_LOG"],
        reason: "levels and destinations of log messages",
    },
    SiteGroup {
        settings: &["MGMT_VRF_CONFIG"],
        reason: "the VRF of the management port, which contains no port of the fabric",
    },
    SiteGroup {
        settings: &["SFLOW", "SFLOW_COLLECTOR", "SFLOW_SESSION"],
        reason: "copies of packet headers for a collector; the packets are forwarded",
    },
    SiteGroup {
        settings: &["SNMP_AGENT_ADDRESS_CONFIG", "SNMP_COMMUNITY", "SNMP_USER"],
        reason: "read access by SNMP",
    },
    SiteGroup { settings: &["VERSIONS"], reason: "the release that wrote the file" },
    SiteGroup {
        settings: &[
            "DEVICE_METADATA|localhost.cloudtype",
            "DEVICE_METADATA|localhost.deployment_id",
            "DEVICE_METADATA|localhost.downstream_subrole",
            "DEVICE_METADATA|localhost.location_type",
            "DEVICE_METADATA|localhost.mgmt_type",
            "DEVICE_METADATA|localhost.rack_mgmt_map",
            "DEVICE_METADATA|localhost.region",
            "DEVICE_METADATA|localhost.resource_type",
            "DEVICE_METADATA|localhost.slice_type",
            "DEVICE_METADATA|localhost.timezone",
        ],
        reason: "names and places for people and for tools of the site",
    },
    SiteGroup {
        settings: &[
            "DEVICE_METADATA|localhost.create_only_config_db_buffers",
            "DEVICE_METADATA|localhost.dhcp_server",
            "DEVICE_METADATA|localhost.dpu_auto_recovery",
            "DEVICE_METADATA|localhost.has_sonic_dhcpv4_relay",
            "DEVICE_METADATA|localhost.orch_northbond_dash_zmq_enabled",
            "DEVICE_METADATA|localhost.ring_thread_enabled",
            "DEVICE_METADATA|localhost.storage_device",
            "DEVICE_METADATA|localhost.supporting_bulk_counter_groups",
            "DEVICE_METADATA|localhost.syslog_counter",
            "DEVICE_METADATA|localhost.syslog_with_osversion",
            "DEVICE_METADATA|localhost.use_template_render_for_restore",
            "DEVICE_METADATA|localhost.yang_config_validation",
        ],
        reason: "counters, messages and queues of the daemons; tables and buffers are set by the file",
    },
    SiteGroup {
        settings: &["DEVICE_METADATA|bmc"],
        reason: "the controller of the board, which has a network of its own",
    },
    SiteGroup { settings: &["FEATURE"], reason: "services of the switch; required ones must run (V0105)" },
    SiteGroup {
        settings: &["NODE_CFG", "PORT.id"],
        reason: "numbers of the switch and its ports for controllers",
    },
    SiteGroup {
        settings: &["ACL_TABLE of type CTRLPLANE"],
        reason: "access to SSH, SNMP and NTP of the switch",
    },
];

/// Returns whether a setting belongs to the site.
pub(super) fn is_of_site(setting: &str) -> bool {
    SITE.iter().any(|group| group.settings.contains(&setting))
}

/// Returns whether a field of `DEVICE_METADATA|localhost` belongs to the site.
pub(super) fn is_field_of_site(field: &str) -> bool {
    let own = |setting: &&str| setting.strip_prefix("DEVICE_METADATA|localhost.") == Some(field);
    SITE.iter().any(|group| group.settings.iter().any(own))
}
