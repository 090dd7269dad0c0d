//! `closc switch` writes captures with the command line of p4lang/tutorials, on its own interface.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// A switch in its own network namespace. Both are ended on drop.
struct Switch(Child);

impl Drop for Switch {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Starts a switch whose port 1 is `left`; the other end of this veth pair, `right`, is down.
fn start(captures: &str) -> Option<(Switch, Vec<String>)> {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../p4/switch/tests/programs/features.json");
    let made = "ip link add left type veth peer name right && ip link set left up || exit 77; ";
    let line = format!(
        "{made} exec '{}' switch -i 1@left --pcap '{captures}' --nanolog ipc:///tmp/bm-0-log.ipc --device-id 0 \
         '{program}' --thrift-port 9090 -- --grpc-server-addr 127.0.0.1:0",
        env!("CARGO_BIN_EXE_closc")
    );
    let unshare = Command::new("unshare").args(["-n", "sh", "-c", &line]).stderr(Stdio::piped()).spawn();
    let mut process = match unshare {
        Ok(process) => process,
        Err(error) => {
            closc_skip::skip(format_args!("no `unshare`: {error}"));
            return None;
        }
    };
    let mut said = BufReader::new(process.stderr.take().expect("piped")).lines();
    let mut lines = Vec::new();
    // The address of the server, and a warning for each of two options.
    while lines.len() < 3 {
        match said.next() {
            Some(line) => lines.push(line.expect("it speaks text")),
            None => break,
        }
    }
    let switch = Switch(process);
    if lines.iter().any(|line| line.starts_with("P4Runtime is served at ")) {
        return Some((switch, lines));
    }
    let refused = ["unshare:", "RTNETLINK", "ip:", "sh:"];
    let is_refusal = |line: &String| refused.iter().any(|word| line.starts_with(word));
    assert!(lines.iter().any(is_refusal), "it ends for another reason: {lines:?}");
    closc_skip::skip(format_args!("no network namespace with a pair of interfaces: {}", lines.join("; ")));
    None
}

#[test]
fn the_line_of_the_tutorials_starts_a_switch_that_writes_captures() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let Some((mut switch, said)) = start(folder.path().to_str().expect("UTF-8")) else { return };
    for option in ["--nanolog", "--thrift-port"] {
        let warning = format!("warning: `{option}` does nothing here: ");
        assert!(said.iter().any(|line| line.starts_with(&warning)), "{option}: {said:?}");
    }
    // The kernel at the other end sends neighbour discovery packets as soon as its interface is up (RFC 4861 4.1, RFC
    // 4862 5.4).
    let process = switch.0.id().to_string();
    let up =
        Command::new("nsenter").args(["-t", &process, "-n", "ip", "link", "set", "right", "up"]).status();
    assert!(up.expect("`nsenter` comes with `unshare`").success());
    let capture = folder.path().join("left_in.pcap");
    let packets = loop {
        let bytes = std::fs::read(&capture).expect("it was made when the switch began");
        if bytes.len() > 24 + 16 + 14 {
            break bytes;
        }
        assert!(switch.0.try_wait().expect("it can be asked").is_none(), "the switch ended");
        std::thread::yield_now();
    };
    assert_eq!(packets[..4], [0xd4, 0xc3, 0xb2, 0xa1], "a classic pcap file, little end first");
    assert_eq!(packets[24 + 16 + 12..24 + 16 + 14], [0x86, 0xdd], "IPv6 in Ethernet");
    assert!(folder.path().join("left_out.pcap").is_file());
}
