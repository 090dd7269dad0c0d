//! Examples from the documentation of the language, invalid restrictions, and random expressions.

use proptest::prelude::*;

use super::*;
use crate::Info;
use crate::check::{Fault, check_update};
use crate::proto::config;
use crate::text::read_p4info;

/// A table with a field of each kind and a priority, and an action with a parameter of each kind.
fn info(entries: &str, arguments: &str) -> Result<Info, String> {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let text = format!(
        r#"
        tables {{
          preamble {{ id: 0x2000001 name: "ingress.acl" annotations: "@entry_restriction({})" }}
          match_fields {{ id: 1 name: "exact8" bitwidth: 8 match_type: EXACT }}
          match_fields {{ id: 2 name: "ternary8" bitwidth: 8 match_type: TERNARY }}
          match_fields {{ id: 3 name: "hdr.lpm8" bitwidth: 8 match_type: LPM }}
          match_fields {{ id: 4 name: "optional1" bitwidth: 1 match_type: OPTIONAL }}
          match_fields {{ id: 5 name: "range8" bitwidth: 8 match_type: RANGE }}
          match_fields {{ id: 6 name: "vrf" match_type: EXACT type_name {{ name: "vrf_id_t" }} }}
          match_fields {{ id: 7 name: "ip" bitwidth: 128 match_type: TERNARY }}
          match_fields {{ id: 8 name: "port" match_type: OPTIONAL type_name {{ name: "vrf_id_t" }} }}
          action_refs {{ id: 0x1000001 }}
        }}
        actions {{
          preamble {{ id: 0x1000001 name: "ingress.set" annotations: "@action_restriction({})" }}
          params {{ id: 1 name: "mac" bitwidth: 48 }}
          params {{ id: 2 name: "vrf" type_name {{ name: "vrf_id_t" }} }}
        }}
        type_info {{
          new_types {{ key: "vrf_id_t" value {{ translated_type {{ sdn_string {{}} }} }} }}
        }}
        "#,
        quoted(&format!("\"{entries}\"")),
        quoted(&format!("\"{arguments}\"")),
    );
    let message: config::P4Info = read_p4info(&text).expect("the text is right");
    Info::new(message).map_err(|error| error.to_string())
}

/// Values of the fields: exact, ternary with mask, prefix with length, optional, range.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sample {
    exact: u8,
    ternary: (u8, u8),
    lpm: (u8, u8),
    optional: Option<bool>,
    range: (u8, u8),
    priority: i32,
}

const SAMPLE: Sample = Sample {
    exact: 7,
    ternary: (0x10, 0xf0),
    lpm: (0x80, 1),
    optional: Some(true),
    range: (3, 9),
    priority: 10,
};

fn find_violation(info: &Info, sample: Sample, vrf: &str) -> Option<String> {
    let mut entry = info.entry("acl").expect("known").exact("exact8", sample.exact).exact("vrf", vrf);
    entry = entry.ternary("ternary8", sample.ternary.0, sample.ternary.1);
    entry = entry.lpm("hdr.lpm8", sample.lpm.0, u32::from(sample.lpm.1));
    if let Some(value) = sample.optional {
        entry = entry.optional("optional1", value);
    }
    entry = entry.range("range8", sample.range.0, sample.range.1).priority(sample.priority);
    let arguments = [("mac", 5u8.into()), ("vrf", "vrf-1".into())];
    match entry.action("set", &arguments).build() {
        Ok(_) => None,
        Err(violation) => match violation.fault {
            Fault::Restricted { clause, .. } => Some(clause),
            other => panic!("{other}"),
        },
    }
}

fn allows(restriction: &str) -> bool {
    let info = info(restriction, "true").expect("it can be read");
    find_violation(&info, SAMPLE, "vrf-80").is_none()
}

#[test]
fn what_the_documentation_says_holds() {
    let holds = [
        "exact8 == 7",
        "exact8::value == 0x07 && exact8 != 8",
        "ternary8::mask != 0 -> ternary8::value == 0x10",
        "ternary8 != 0x10 // the mask is not all ones",
        "hdr.lpm8::prefix_length <= 64; hdr . lpm8::value == 0b10000000",
        "optional1 == 1; optional1::mask == -1;",
        "range8::low < range8::high",
        "range8::low == 3 && range8::high == 9",
        "::priority < 0x7fffffff; ::priority == 10",
        "/* a comment */ !(exact8 == 8)",
        "-::priority < -9",
        "exact8 == -249 // modulo 256",
        "--5 == 5",
        "(true == false) == false",
        "vrf != 0; vrf != ''; vrf == 'vrf-80'",
        "port::mask == 0 && ip::mask == 0",
        "exact8 < mac('00:00:00:00:00:08') || true",
        "ip != ipv6('::') && ipv4('0.0.0.7') == 7",
        "false -> false; false && false || true",
        "0d10 == 0o12",
        "exact8 == 7;\n  // and more\n  exact8 != 8",
    ];
    for restriction in holds {
        assert!(allows(restriction), "{restriction}");
    }
    let breaks = [
        "exact8 != 7",
        "ternary8 == 0x10",
        "hdr.lpm8::prefix_length > 1",
        "optional1::mask == 0",
        "::priority == 900",
        "vrf == ''",
        "exact8 == 7 -> false",
        "false || false",
        "!true",
        "range8 == 3",
    ];
    for restriction in breaks {
        assert!(!allows(restriction), "{restriction}");
    }
}

#[test]
fn the_clause_that_is_broken_is_named_in_one_line() {
    let info = info("exact8 == 7;\n // why\n vrf !=\n 0 /* the\n default */;\n true", "true")
        .expect("it can be read");
    assert_eq!(find_violation(&info, SAMPLE, "").as_deref(), Some("vrf != 0"));
    assert_eq!(find_violation(&info, Sample { exact: 8, ..SAMPLE }, "").as_deref(), Some("exact8 == 7"));
    assert_eq!(find_violation(&info, SAMPLE, "x"), None);
}

#[test]
fn arguments_are_restricted_wherever_an_action_stands() {
    let info = info("true", "mac != 0; vrf != ''").expect("it can be read");
    let call = |mac: u8, vrf: &str| {
        let entry = info.entry("acl").expect("known").exact("exact8", 1u8).exact("vrf", "").priority(1);
        let built = entry.action("set", &[("mac", mac.into()), ("vrf", vrf.into())]).build();
        built.map(drop).map_err(|violation| violation.to_string())
    };
    assert_eq!(call(5, "x"), Ok(()));
    let say = |clause: &str| {
        Err(format!("action `ingress.set`: the program restricts arguments: `{clause}` does not hold"))
    };
    assert_eq!(call(0, "x"), say("mac != 0"));
    assert_eq!(call(5, ""), say("vrf != ''"));
}

#[test]
fn what_is_deleted_need_not_be_allowed() {
    let info = info("exact8 == 8", "true").expect("it can be read");
    let entry = info.entry("acl").expect("known").exact("exact8", 1u8).exact("vrf", "").priority(1);
    let key = entry.build_key().expect("the key is right");
    assert_eq!(check_update(&info, &v1::Update::delete(key)), Ok(()));
}

#[test]
fn a_restriction_that_cannot_be_read_is_an_error_with_its_place() {
    let cases = [
        ("", "line 1, column 1: the end where a field, a number or `(` should be"),
        ("exact8", "line 1, column 1: this is an exact match on bit<8>, but it should be a truth value"),
        ("true;\n exact9 == 1", "line 2, column 2: the table has no field `exact9`"),
        (
            "exact8 == optional1",
            "line 1, column 1: an exact match on bit<8> and an optional match on bit<1> cannot be compared",
        ),
        (
            "ternary8 < 1",
            "line 1, column 1: a ternary match on bit<8> has no order: compare it with `==` or `!=`",
        ),
        ("exact8::mask == 1", "line 1, column 1: an exact match on bit<8> has no part `::mask`"),
        ("::metadata == 1", "line 1, column 1: there is no attribute `::metadata` here"),
        (
            "1 == 2 == true",
            "line 1, column 8: `==` where an operator: comparisons do not chain, so parentheses should be",
        ),
        (
            "true -> true -> true",
            "line 1, column 14: `->` where `;` or the end: `->` does not chain, so parentheses should be",
        ),
        ("exact8 == 'x'", "line 1, column 1: an exact match on bit<8> and text cannot be compared"),
        ("exact8 == 0x", "line 1, column 11: `0x` is not a number"),
        ("exact8 == 7up", "line 1, column 11: `7up` is not a number"),
        ("vrf == 'x", "line 1, column 8: the text has no end: `'` is missing"),
        ("exact8 = 7", "line 1, column 8: `=` has no meaning here"),
        ("exact8 == mac('1')", "line 1, column 15: `1` is not a mac address"),
        ("-exact8 == 1", "line 1, column 1: `-` takes a number, but this is an exact match on bit<8>"),
        ("exact8 == 7)", "line 1, column 12: `)` where an operator or the end should be"),
        ("(true", "line 1, column 6: the end where `)` should be"),
        ("é == 1", "line 1, column 1: `é` has no meaning here"),
    ];
    for (restriction, expected) in cases {
        let error = info(restriction, "true").expect_err(restriction);
        let expected =
            format!("the P4Info is not consistent: table `ingress.acl`: its restriction, {expected}");
        assert_eq!(error, expected, "{restriction}");
    }
    let error = info("true", "::priority == 1").expect_err("actions have no priority");
    assert!(error.contains("there is no attribute `::priority` here"), "{error}");
}

#[test]
fn a_target_may_leave_restrictions_to_its_clients() {
    let mut message = info("true", "true").expect("it can be read").message().clone();
    let preamble = message.tables[0].preamble.as_mut().expect("there");
    preamble.annotations = vec!["@entry_restriction(\"anything (\")".to_owned()];
    assert!(Info::new(message.clone()).is_err());
    let info = Info::without_restrictions(message).expect("what is passed over cannot be wrong");
    assert!(info.table("acl").expect("known").restriction.is_none());
}

#[test]
fn several_strings_are_one_text() {
    let text = ["@hidden".to_owned(), "@entry_restriction ( \"true;\" \"false\" )".to_owned()];
    let restriction = Restriction::of_table(&text, Vec::new()).expect("it can be read").expect("there");
    assert_eq!(restriction.source(), "true;\nfalse");
    let text = ["@entry_restriction(true)".to_owned()];
    assert!(Restriction::of_table(&text, Vec::new()).is_err());
}

#[test]
fn what_is_too_long_or_too_deep_is_refused() {
    let deep = [
        format!("{}true{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("{}true", "!".repeat(60_000)),
        format!("{}1 == 1", "-".repeat(60_000)),
        format!("true{}", " && true".repeat(6_000)),
        format!("exact8 == {}", "9".repeat(2_000)),
        "true;".repeat(40_000),
    ];
    for restriction in deep {
        assert!(info(&restriction, "true").is_err(), "{} bytes", restriction.len());
    }
    assert!(allows(&format!("true{}", " && true".repeat(2_000))));
    assert!(allows(&format!("exact8 != {}", "9".repeat(1_000))));
}

/// A part of a field as text, and its value in a sample.
type Field = (&'static str, fn(Sample) -> i64);

const FIELDS: [Field; 6] = [
    ("exact8::value", |of| of.exact.into()),
    ("ternary8::value", |of| of.ternary.0.into()),
    ("ternary8::mask", |of| of.ternary.1.into()),
    ("hdr.lpm8::value", |of| of.lpm.0.into()),
    ("range8::low", |of| of.range.0.into()),
    ("range8::high", |of| of.range.1.into()),
];

/// A random expression as text, with its value for an entry, which is computed while the text is built.
#[derive(Debug, Clone)]
struct RandomExpression {
    text: String,
    holds: bool,
}

fn random_comparison(sample: Sample) -> impl Strategy<Value = RandomExpression> {
    let signs = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    (0..FIELDS.len(), signs, -300i64..300, any::<bool>()).prop_map(move |(field, sign, number, turned)| {
        let (name, value) = FIELDS[field];
        let (a, b) = (value(sample), number.rem_euclid(256));
        let (one, other) = ((name.to_owned(), a), (number.to_string(), b));
        let ((left, a), (right, b)) = if turned { (other, one) } else { (one, other) };
        let holds = match sign {
            "==" => a == b,
            "!=" => a != b,
            "<" => a < b,
            "<=" => a <= b,
            ">" => a > b,
            _ => a >= b,
        };
        RandomExpression { text: format!("{left} {sign} {right}"), holds }
    })
}

fn expression(sample: Sample) -> impl Strategy<Value = RandomExpression> {
    random_comparison(sample).prop_recursive(4, 24, 2, |inner| {
        let signs = prop::sample::select(vec!["&&", "||", "->", ";", "!"]);
        (inner.clone(), inner, signs).prop_map(|(left, right, sign)| match sign {
            "!" => RandomExpression { text: format!("!({})", left.text), holds: !left.holds },
            _ => RandomExpression {
                text: format!("({}) {sign} ({})", left.text, right.text),
                holds: match sign {
                    "||" => left.holds || right.holds,
                    "->" => !left.holds || right.holds,
                    _ => left.holds && right.holds,
                },
            },
        })
    })
}

fn sample() -> impl Strategy<Value = Sample> {
    let lpm = (any::<u8>(), 1u8..=8).prop_map(|(value, length)| (value & (0xffu8 << (8 - length)), length));
    let ternary = (any::<u8>(), 1u8..).prop_map(|(value, mask)| (value & mask, mask));
    let range = (any::<u8>(), any::<u8>()).prop_map(|(a, b)| (a.min(b), a.max(b).min(254).max(a.min(b))));
    (any::<u8>(), ternary, lpm, any::<Option<bool>>(), range, 1i32..).prop_filter_map(
        "a range over everything",
        |(exact, ternary, lpm, optional, range, priority)| {
            let sample = Sample { exact, ternary, lpm, optional, range, priority };
            (range != (0, 255)).then_some(sample)
        },
    )
}

proptest! {
    #[test]
    fn expressions_come_to_what_they_should(
        (sample, made) in sample().prop_flat_map(|sample| (Just(sample), expression(sample)))
    ) {
        let info = info(&made.text, "true").expect("it can be read");
        prop_assert_eq!(find_violation(&info, sample, "v").is_none(), made.holds, "{}", made.text);
    }

    #[test]
    fn any_text_is_read_without_panic(text in "[a-z0-9:;()'!&|<>=. /*\\-]{0,60}|.{0,60}") {
        let text = text.replace('"', "");
        let width = Width::Bits(8);
        let fields = vec![Operand { id: 1, name: "a".to_owned(), width, kind: Kind::Ternary }];
        let _ = Restriction::of_table(&[format!("@entry_restriction(\"{text}\")")], fields);
        let _ = source::in_one_line(&text);
    }
}
