//! E0712: hosts cannot open the stated number of queue pairs.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::draft::Draft;
use crate::field;

/// Hosts cannot open the stated number of queue pairs.
pub(crate) static RULE: Rule = Rule {
    code: "E0712",
    title: "the number of queue pairs is out of range",
    condition: "`ecmp.qps_per_connection` is 1 to 128.",
    impact: "NCCL opens at most 128 queue pairs per connection, and treats a larger number as 128.",
    example: "routing: ecmp-static\n\
           ecmp: { qps_per_connection: 256 }",
    fix: "Use 1 to 128. 4 to 16 are common.",
};

/// `NCCL_IB_MAX_QPS` of NCCL.
const MAX: u16 = 128;

/// Checks the number.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let qps = draft.ecmp.qps_per_connection;
    if (1..=MAX).contains(&qps) {
        return;
    }
    out.push(
        Diagnostic::error(&RULE, format!("`ecmp.qps_per_connection` is {qps}; expected 1 to {MAX}"))
            .at(draft.at(field!("ecmp.qps_per_connection")), "")
            .help("use 1 to 128; 4 to 16 are common"),
    );
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn queue_pairs_are_few() {
        let fragment = |qps: u16| {
            format!(
                "{{ routing: ecmp-static, hosts: {{ outputs: [nccl] }}, ecmp: {{ qps_per_connection: {qps} }} }}"
            )
        };
        assert_eq!(codes(&fragment(0)), ["E0712", "W0203", "W0901"]);
        assert_eq!(codes(&fragment(128)), ["W0203", "W0901"]);
        assert_eq!(message(&fragment(256), "E0712"), "`ecmp.qps_per_connection` is 256; expected 1 to 128");
    }
}
