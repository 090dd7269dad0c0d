//! All formats of reports give the same result for the same neighbours.

use closc_cabling::{Neighbour, ReadError, Sighting, read};
use closc_qos::units::Speed;

/// Returns ports, system names, and the names of the neighbours' ports.
fn neighbours(text: &str) -> Vec<(String, Option<String>, Vec<String>)> {
    let sightings = read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
    let each = sightings.into_iter().flat_map(|Sighting { port, neighbours, .. }| {
        neighbours.into_iter().map(move |neighbour| (port.clone(), neighbour.system, neighbour.ports))
    });
    each.collect()
}

fn expected() -> Vec<(String, Option<String>, Vec<String>)> {
    let row = |port: &str, system: &str, ports: &[&str]| {
        (port.to_owned(), Some(system.to_owned()), ports.iter().map(|&word| word.to_owned()).collect())
    };
    vec![
        row("Ethernet0", "p0-t1-001", &["etp1a", "Ethernet0"]),
        row("Ethernet8", "p0-t1-002", &["etp1a", "Ethernet0"]),
    ]
}

const JSON: &str = r#"{"lldp": {"interface": [
  {"Ethernet0": {"via": "LLDP", "rid": "1", "chassis": {"p0-t1-001": {"id": {"type": "mac", "value": "52:54:00:00:00:01"}, "descr": "SONiC", "mgmt-ip": ["10.0.0.1", "fe80::1"]}}, "port": {"id": {"type": "local", "value": "etp1a"}, "descr": "Ethernet0", "ttl": "120"}}},
  {"Ethernet8": {"via": "LLDP", "rid": "2", "chassis": {"p0-t1-002": {"id": {"type": "mac", "value": "52:54:00:00:00:02"}}}, "port": {"id": {"type": "local", "value": "etp1a"}, "descr": "Ethernet0", "ttl": "120"}}}]}}"#;

const JSON0: &str = r#"{"lldp": [{"interface": [
  {"name": "Ethernet0", "via": "LLDP", "chassis": [{"id": [{"type": "mac", "value": "52:54:00:00:00:01"}], "name": [{"value": "p0-t1-001"}]}], "port": [{"id": [{"type": "local", "value": "etp1a"}], "descr": [{"value": "Ethernet0"}]}]},
  {"name": "Ethernet8", "via": "LLDP", "chassis": [{"id": [{"type": "mac", "value": "52:54:00:00:00:02"}], "name": [{"value": "p0-t1-002"}]}], "port": [{"id": [{"type": "local", "value": "etp1a"}], "descr": [{"value": "Ethernet0"}]}]}]}]}"#;

const TEXT: &str = "-------------------------------------------------------------------------------
LLDP neighbors:
-------------------------------------------------------------------------------
Interface:    Ethernet0, via: LLDP, RID: 1, Time: 0 day, 00:00:10
  Chassis:
    ChassisID:    mac 52:54:00:00:00:01
    SysName:      p0-t1-001
    MgmtIP:       fe80::1
  Port:
    PortID:       local etp1a
    PortDescr:    Ethernet0
    TTL:          120
-------------------------------------------------------------------------------
Interface:    Ethernet8, via: LLDP, RID: 2, Time: 0 day, 00:00:10
  Chassis:
    ChassisID:    mac 52:54:00:00:00:02
    SysName:      p0-t1-002
  Port:
    PortID:       local etp1a
    PortDescr:    Ethernet0
    TTL:          120
-------------------------------------------------------------------------------
";

const TABLE: &str = "Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr
-----------  --------------  --------------  ------------  -----------------
Ethernet0    p0-t1-001       etp1a           BR            Ethernet0
Ethernet8    p0-t1-002       etp1a           BR            Ethernet0
--------------------------------------------------
Total entries displayed:  2
";

const TABLES: &str = r#"{
  "LLDP_ENTRY_TABLE:Ethernet0": {"expireat": 1.5, "ttl": -0.001, "type": "hash", "value": {"lldp_rem_sys_name": "p0-t1-001", "lldp_rem_port_id": "etp1a", "lldp_rem_port_desc": "Ethernet0", "lldp_rem_chassis_id": "52:54:00:00:00:01"}},
  "LLDP_ENTRY_TABLE:Ethernet8": {"type": "hash", "value": {"lldp_rem_sys_name": "p0-t1-002", "lldp_rem_port_id": "etp1a", "lldp_rem_port_desc": "Ethernet0"}},
  "PORT_TABLE:Ethernet0": {"type": "hash", "value": {"speed": "400000", "oper_status": "up"}},
  "PORT_TABLE:Ethernet16": {"type": "hash", "value": {"speed": "400000", "oper_status": "down"}},
  "PORT_TABLE:PortInitDone": {"type": "hash", "value": {"lanes": "0"}},
  "ROUTE_TABLE:10.0.0.0/8": {"type": "hash", "value": {"nexthop": "10.0.0.1"}}
}"#;

#[test]
fn all_formats_give_the_same_neighbours() {
    for text in [JSON, JSON0, TEXT, TABLE, TABLES] {
        assert_eq!(neighbours(text), expected(), "{text}");
    }
}

#[test]
fn sonic_tables_give_speed_and_state() {
    let sightings = read(TABLES.as_bytes()).expect("a valid report");
    let of =
        |port: &str| sightings.iter().find(|sighting| sighting.port == port).map(|s| (s.speed, s.is_down));
    assert_eq!(of("Ethernet0"), Some((Some(Speed::gbps(400)), false)));
    assert_eq!(of("Ethernet16"), Some((Some(Speed::gbps(400)), true)));
    assert_eq!(of("PortInitDone"), None);
}

#[test]
fn reports_with_one_neighbour_or_none_are_read() {
    let one = r#"{"lldp": {"interface": {"swp1": {"chassis": {"id": {"type": "mac", "value": "52:54:00:00:00:01"}}, "port": {"id": {"type": "mac", "value": "52:54:00:00:00:01"}}}}}}"#;
    let mac = "52:54:00:00:00:01".to_owned();
    let neighbour = Neighbour { system: None, chassis: Some(mac.clone()), ports: vec![mac] };
    let sightings = read(one.as_bytes()).expect("a valid report");
    assert_eq!(sightings.first().map(|sighting| &sighting.neighbours), Some(&vec![neighbour]));
    for none in [r#"{"lldp": {}}"#, r#"{"lldp": [{}]}"#, "{}", "LLDP neighbors:\n"] {
        assert_eq!(read(none.as_bytes()), Ok(Vec::new()), "{none}");
    }
}

#[test]
fn invalid_reports_are_rejected_with_a_place() {
    let message = |text: &str| read(text.as_bytes()).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(message("{\n \"lldp\": }").starts_with("line 2, column 10: "), "{}", message("{\n \"lldp\": }"));
    assert!(message(r#"{"lldp": {"interface": [3]}}"#).contains("`lldp.interface`: expected an object"));
    assert!(message(r#"{"LLDP_ENTRY_TABLE:Ethernet0": 3}"#).contains("`LLDP_ENTRY_TABLE:Ethernet0`"));
    assert!(
        message("LocalPort RemoteDevice RemotePortID Capability RemotePortDescr\nEthernet0")
            .starts_with("line 2")
    );
    for text in ["", "anything", "[1]", r#"{"a": 1}"#] {
        assert_eq!(read(text.as_bytes()), Err(ReadError::Unknown), "{text}");
    }
    assert_eq!(read(&[0xff, 0xfe]), Err(ReadError::NotText));
}

#[test]
fn an_invalid_speed_is_rejected_with_its_place() {
    let text = |speed: &str| format!(r#"{{"PORT_TABLE:Ethernet0": {{"value": {{"speed": "{speed}"}}}}}}"#);
    let place = "PORT_TABLE:Ethernet0.speed".to_owned();
    assert_eq!(read(text("abc").as_bytes()), Err(ReadError::Form { place, expected: "a speed in Mb/s" }));
    assert_eq!(read(text("N/A").as_bytes()).expect("a port without a module")[0].speed, None);
}

/// Without the limit, 29 MB of such reports needed 1.33 GB of memory.
#[test]
fn a_report_that_needs_too_much_memory_is_rejected() {
    let lists = format!("{{\"lldp\":[{}[]]}}", "[],".repeat(2 << 20));
    assert_eq!(read(lists.as_bytes()), Err(ReadError::Memory));
    let line = format!("{{\"packet\":{{\"payload\":\"\",\"metadata\":[{}[]]}}}}", "[],".repeat(2 << 20));
    let first = "{\"packet\":{\"payload\":\"\",\"metadata\":[]}}\n";
    assert_eq!(read(format!("{first}{line}").as_bytes()), Err(ReadError::Memory));
    let ports: Vec<String> = (0..500_000).map(|port| format!("Interface: {port},\n")).collect();
    assert!(read(ports.concat().as_bytes()) == Err(ReadError::Memory));
    let one = "Interface: eth0,\n".repeat(2_000);
    assert_eq!(read(one.as_bytes()), Err(ReadError::Neighbours { port: "eth0".to_owned() }));
}

/// Route tables are larger than any neighbour report.
#[test]
fn other_tables_of_a_switch_take_no_memory() {
    let routes: Vec<String> = (0..300_000)
        .map(|n| format!("\"ROUTE_TABLE:{n}\": {{\"value\": {{\"nexthop\": \"a\"}}}}, "))
        .collect();
    let row = r#""LLDP_ENTRY_TABLE:Ethernet0": {"value": {"lldp_rem_sys_name": "p0-t1-001", "other": [[], {}, 1]}}"#;
    let sightings = read(format!("{{{}{row}}}", routes.concat()).as_bytes()).expect("a valid report");
    let names: Vec<Option<&str>> = sightings.iter().map(|one| one.neighbours[0].system.as_deref()).collect();
    assert_eq!(names, [Some("p0-t1-001")]);
}
