//! E0505: the gateway is not a usable address of the pool, or the pool is absent.

use std::net::IpAddr;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use ipnet::IpNet;

use crate::draft::Draft;
use crate::field;

/// The gateway is not a usable address of the pool, or the pool is absent.
pub(crate) static RULE: Rule = Rule {
    code: "E0505",
    title: "the management gateway is not in the management network",
    condition: "`addresses.management_gateway` is in the pool `addresses.management`, which must be set. It is \
           not the first or last address of the pool. In an IPv4 pool, it is not in the range that is \
           reserved for switches.",
    impact: "An interface cannot reach a gateway outside its network.",
    example: "addresses: { management: 10.64.0.0/14, management_gateway: 10.80.0.1 }",
    fix: "Use an address of the pool after the range of the switches. If you omit it, closc uses the first \
           one there.",
};

/// Checks the gateway against its pool.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Some(gateway) = draft.addresses.management_gateway else { return };
    let at = draft.at(field!("addresses.management_gateway"));
    let Some(pool) = draft.addresses.management else {
        out.push(
            Diagnostic::error(
                &RULE,
                format!("there is a management gateway {gateway}, but no management network"),
            )
            .at(at, "")
            .help("set `addresses.management`, or remove the gateway"),
        );
        return;
    };
    let pool_at = draft.at(field!("addresses.management"));
    if !pool.contains(&gateway) {
        out.push(
            Diagnostic::error(&RULE, format!("the management gateway {gateway} is not in {}", pool.trunc()))
                .at(at, "outside")
                .and(pool_at, format!("{} to {}", pool.network(), pool.broadcast()))
                .help("use an address of the pool, or remove the gateway to get the first address after those of the switches"),
        );
    } else if gateway == pool.network() || gateway == pool.broadcast() {
        out.push(
            Diagnostic::error(
                &RULE,
                format!("the management gateway {gateway} is the first or last address of {}", pool.trunc()),
            )
            .at(at, "no host can have it")
            .and(pool_at, ""),
        );
    } else if let Some((offset, behind)) = device_offset(draft, &pool, gateway) {
        out.push(
            Diagnostic::error(
                &RULE,
                format!("the management gateway {gateway} is among the addresses of switches"),
            )
            .at(at, format!("offset 0x{offset:x} of the pool"))
            .and(
                pool_at,
                format!(
                    "switches have offsets 0x1 to 0x{:x}: 2 bits of tier, then plane, zone and index",
                    behind - 1
                ),
            )
            .help(format!("use an address with an offset of 0x{behind:x} or more")),
        );
    }
}

/// Returns the offset of an IPv4 gateway in its pool, if switches use this offset, and the first offset that
/// they do not use.
fn device_offset(draft: &Draft<'_>, pool: &IpNet, gateway: IpAddr) -> Option<(u32, u32)> {
    let (IpNet::V4(pool), IpAddr::V4(gateway)) = (pool, gateway) else { return None };
    let bits = (32 - pool.prefix_len()).min(32 - draft.addresses.widths.management_v4_max());
    let (offset, behind) = (u32::from(gateway) - u32::from(pool.network()), 3 << bits.saturating_sub(2));
    (offset < behind).then_some((offset, behind))
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn the_gateway_lies_in_the_pool() {
        let with = |gateway: &str| {
            format!("addresses: {{ management: 10.64.0.0/14, management_gateway: {gateway} }}")
        };
        assert_eq!(codes(&with("10.80.0.1")), ["E0505"]);
        assert_eq!(codes(&with("10.67.255.255")), ["E0505"]);
        assert_eq!(codes(&with("10.64.0.1")), ["E0505"]);
        assert_eq!(codes(&with("10.67.0.1")), Vec::<&str>::new());
        assert_eq!(
            message(&with("10.80.0.1"), "E0505"),
            "the management gateway 10.80.0.1 is not in 10.64.0.0/14"
        );
    }
}
