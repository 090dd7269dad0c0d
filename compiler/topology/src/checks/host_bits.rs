//! E0501: a prefix is not written as its network address.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use ipnet::IpNet;

use crate::choice::SegmentPlan;
use crate::coordinate::PlaneId;
use crate::draft::Draft;
use crate::field;
use crate::field::Field;
use crate::model::block_of;

/// A prefix is not written as its network address.
pub(crate) static RULE: Rule = Rule {
    code: "E0501",
    title: "a prefix has bits beyond its length",
    condition: "Every prefix has zeros beyond its length.",
    impact: "`2001:db8::1/32` may mean `2001:db8::/32` or a longer prefix. A wrong guess moves every address.",
    example: "addresses: { hosts: \"2001:db8:1000::1/36\" }",
    fix: "Write the prefix that the message shows, or another length.",
};

/// Checks every prefix.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let pools = pools(draft).into_iter().map(|pool| (pool.path, pool.net));
    for (path, net) in pools.filter(|(_, net)| net.addr() != net.network()) {
        let span = draft.at(path);
        let network = net.trunc();
        out.push(
            Diagnostic::error(
                &RULE,
                format!("`{path}` is `{}`, which has bits set after its prefix length", draft.text_at(span)),
            )
            .at(span, format!("the first {} bits are {}", net.prefix_len(), network.addr()))
            .help(format!("write `\"{network}\"`, or another length")),
        );
    }
}

/// An address pool, and its field in the file.
pub(super) struct Pool {
    pub(super) path: Field,
    pub(super) net: IpNet,
}

/// Returns every address pool, and the SRv6 block if it is used.
pub(super) fn pools(draft: &Draft<'_>) -> Vec<Pool> {
    let addresses = &draft.addresses;
    let mut pools = vec![
        Pool { path: field!("addresses.hosts"), net: addresses.hosts.into() },
        Pool { path: field!("addresses.links"), net: addresses.links.into() },
        Pool { path: field!("addresses.loopbacks"), net: addresses.loopbacks.into() },
    ];
    pools.extend(addresses.management.map(|net| Pool { path: field!("addresses.management"), net }));
    if draft.routing.is_source_routed() {
        pools.push(Pool { path: field!("srv6.block"), net: draft.block.into() });
    }
    pools
}

/// Returns the reserved blocks of all planes except the first, if each plane has its own block.
pub(super) fn extra_blocks(draft: &Draft<'_>) -> Vec<IpNet> {
    if !draft.routing.is_source_routed() || draft.layout.plan != SegmentPlan::PlaneInBlock {
        return Vec::new();
    }
    (1..16).map(|plane| block_of(draft.block, draft.layout.plan, PlaneId(plane)).into()).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn prefixes_are_canonical() {
        assert_eq!(codes("addresses: { hosts: \"2001:db8:1000::1/36\" }"), ["E0501"]);
        assert_eq!(codes("addresses: { management: 10.64.0.1/14 }"), ["E0501"]);
        assert_eq!(codes("srv6: { block: \"fcbb:bbbb:1::/32\" }"), ["E0501"]);
        assert_eq!(
            message("addresses: { hosts: \"2001:db8:1000::1/36\" }", "E0501"),
            "`addresses.hosts` is `2001:db8:1000::1/36`, which has bits set after its prefix length"
        );
    }
}
