//! Counters of ports and segments, namespace by namespace.

use std::collections::BTreeMap;
use std::fs;

use super::namespace::{Namespace, run_in_namespaces};
use super::netlink;
use crate::LabError;
use crate::backend::{Counters, PortCounter};
use crate::model::{DeviceId, Model, PortId};
use crate::segment::Segment;

/// Reads all counters.
pub(super) fn read(model: &Model, namespaces: &[Namespace], jobs: usize) -> Result<Counters, LabError> {
    let both =
        run_in_namespaces(namespaces, jobs, |at| Ok((ports(model, DeviceId(at))?, netlink::segments()?)))?;
    let mut counters = Counters::default();
    for (at, (ports, segments)) in both.into_iter().enumerate() {
        counters.ports.extend(ports);
        for (address, prefix_len, counter) in segments {
            if prefix_len == 48 && model.is_inside(address) {
                counters.segments.insert((DeviceId(at), Segment::of(address)), counter);
            }
        }
    }
    Ok(counters)
}

/// Reads only the counters of ports.
pub(super) fn read_ports(
    model: &Model,
    namespaces: &[Namespace],
    jobs: usize,
) -> Result<BTreeMap<PortId, PortCounter>, LabError> {
    Ok(run_in_namespaces(namespaces, jobs, |at| ports(model, DeviceId(at)))?.into_iter().flatten().collect())
}

fn ports(model: &Model, device: DeviceId) -> Result<Vec<(PortId, PortCounter)>, LabError> {
    const PATH: &str = "/proc/thread-self/net/dev";
    let text = fs::read_to_string(PATH).map_err(LabError::io(format!("read `{PATH}`")))?;
    Ok(text
        .lines()
        .filter_map(|line| {
            let (name, counter) = parse(line)?;
            Some((model.port(device, name)?, counter))
        })
        .collect())
}

/// Reads a line such as `eth1: 0 0 ...`: bytes and packets are the first two columns of each direction.
fn parse(line: &str) -> Option<(&str, PortCounter)> {
    let (name, numbers) = line.split_once(':')?;
    let mut numbers = numbers.split_whitespace().map(str::parse);
    let received = numbers.nth(1)?.ok()?;
    let sent = numbers.nth(7)?.ok()?;
    Some((name.trim(), PortCounter { received, sent }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_the_second_and_tenth_number() {
        let line = "  eth1: 9712 101 0 0 0 0 0 0 5824 66 0 0 0 0 0 0";
        assert_eq!(parse(line), Some(("eth1", PortCounter { received: 101, sent: 66 })));
        assert_eq!(parse("Inter-|   Receive"), None);
    }
}
