//! Tables that a site sets as it likes: who may log in, where a switch tells what happened, which services run.
//!
//! Invariants: nothing here moves a packet of the fabric, and what is found is named in the report as not judged.

/// Tables by name.
const TABLES: [&str; 38] = [
    "AAA",
    "AUTO_TECHSUPPORT",
    "AUTO_TECHSUPPORT_FEATURE",
    "BANNER_MESSAGE",
    "CONSOLE_PORT",
    "CONSOLE_SWITCH",
    "DNS_NAMESERVER",
    "DNS_OPTIONS",
    "GNMI",
    "GNMI_CLIENT_CERT",
    "KDUMP",
    "KUBERNETES_MASTER",
    "LDAP",
    "LDAP_SERVER",
    "LLDP_PORT",
    "LOGGER",
    "MGMT_VRF_CONFIG",
    "NTP_KEY",
    "PASSW_HARDENING",
    "RADIUS",
    "RADIUS_SERVER",
    "RESTAPI",
    "SERIAL_CONSOLE",
    "SFLOW",
    "SFLOW_COLLECTOR",
    "SFLOW_SESSION",
    "SNMP_AGENT_ADDRESS_CONFIG",
    "SNMP_COMMUNITY",
    "SNMP_USER",
    "SSH_SERVER",
    "SYSLOG_CONFIG",
    "SYSLOG_CONFIG_FEATURE",
    "TACPLUS",
    "TACPLUS_SERVER",
    "TELEMETRY",
    "TELEMETRY_CLIENT",
    "VERSIONS",
    "XCVRD_LOG",
];

/// Tells whether a table is the site's.
pub(super) fn is_of_site(table: &str) -> bool {
    TABLES.contains(&table)
}
