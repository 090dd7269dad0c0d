//! What a site sets as it likes in `config_db.json`: who may log in, where a switch tells what happened, which services run.
//!
//! Invariants: nothing here moves a packet of the fabric, and what is found is named in the report as not judged.

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
        why: "who may log in and what they may do, by which nothing is configured yet",
    },
    SiteGroup {
        settings: &["GNMI", "RESTAPI", "TELEMETRY"],
        why: "servers that wait for questions, and where: what is asked of them is in no file",
    },
    SiteGroup { settings: &["BANNER_MESSAGE"], why: "a text for people" },
    SiteGroup { settings: &["CONSOLE_PORT", "CONSOLE_SWITCH"], why: "serial lines to other machines" },
    SiteGroup {
        settings: &["DNS_NAMESERVER", "DNS_OPTIONS"],
        why: "where names are looked up; nothing of the fabric goes by a name",
    },
    SiteGroup { settings: &["NTP_KEY"], why: "by which key the time is believed" },
    SiteGroup {
        settings: &["KUBERNETES_MASTER"],
        why: "who may bring images of services; those that forward have to run (`FEATURE`)",
    },
    SiteGroup {
        settings: &["AUTO_TECHSUPPORT", "AUTO_TECHSUPPORT_FEATURE", "KDUMP"],
        why: "what is kept of a crash",
    },
    SiteGroup {
        settings: &["LLDP_PORT"],
        why: "what single ports advertise; no route of the fabric depends on LLDP",
    },
    SiteGroup {
        settings: &["LOGGER", "SYSLOG_CONFIG", "SYSLOG_CONFIG_FEATURE", "XCVRD_LOG"],
        why: "which messages are written, and where they go",
    },
    SiteGroup {
        settings: &["MGMT_VRF_CONFIG"],
        why: "the routing table of the management port, which no port of the fabric is in",
    },
    SiteGroup {
        settings: &["SFLOW", "SFLOW_COLLECTOR", "SFLOW_SESSION"],
        why: "copies of some headers for a collector; the packets go on",
    },
    SiteGroup {
        settings: &["SNMP_AGENT_ADDRESS_CONFIG", "SNMP_COMMUNITY", "SNMP_USER"],
        why: "what may be read of the switch",
    },
    SiteGroup { settings: &["VERSIONS"], why: "which release wrote the file" },
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
        why: "a name or a place for people, and for tools of the site",
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
        why: "how daemons count, talk to each other and write messages; tables and buffers are those of the file",
    },
    SiteGroup {
        settings: &["DEVICE_METADATA|bmc"],
        why: "the controller of the board, which has a network of its own",
    },
    SiteGroup { settings: &["FEATURE"], why: "which services run; those that routes pass through have to" },
    SiteGroup { settings: &["NODE_CFG", "PORT.id"], why: "how controllers number the switch and its ports" },
    SiteGroup {
        settings: &["ACL_TABLE of type CTRLPLANE"],
        why: "who reaches SSH, SNMP and NTP of the switch",
    },
];

/// Tells whether a setting is the site's.
pub(super) fn is_of_site(setting: &str) -> bool {
    SITE.iter().any(|group| group.settings.contains(&setting))
}

/// Tells whether a field of `DEVICE_METADATA|localhost` is the site's.
pub(super) fn is_field_of_site(field: &str) -> bool {
    let own = |setting: &&str| setting.strip_prefix("DEVICE_METADATA|localhost.") == Some(field);
    SITE.iter().any(|group| group.settings.iter().any(own))
}
