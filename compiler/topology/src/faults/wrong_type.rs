//! E0109: a value has the wrong type.

use closc_diagnostics::{Diagnostic, Rule, Span};
use closc_platform::Os;

use crate::suggest::shorten;

/// A value has the wrong type.
pub(crate) static RULE: Rule = Rule {
    code: "E0109",
    title: "a value has the wrong type",
    condition: "Every value has the type of its key, for example a whole number, text, a release, a list or a \
           mapping. Keys for zones and planes are whole numbers, and those of `releases` are operating \
           systems.",
    impact: "A guess (is `010` eight or ten, is `no` false or Norway) could build another fabric than intended.",
    example: "hosts: { groups: many }",
    fix: "Write a value or key of the type that the message names. Whole numbers have no quotes and no \
           unit. A name made of digits needs quotes.",
};

/// States the type that was found and the expected one.
pub(crate) fn wrong_type(path: &str, found: &str, expected: &str, example: &str, span: Span) -> Diagnostic {
    let subject = if path.is_empty() { "a fabric file".to_owned() } else { format!("`{path}`") };
    let diagnostic = Diagnostic::error(&RULE, format!("{subject} takes {expected}, not {found}"))
        .at(span, format!("this is {found}"));
    if example.is_empty() { diagnostic } else { diagnostic.help(format!("for example `{example}`")) }
}

/// Reports a text that is not a release of the operating system in the key.
pub(crate) fn bad_release(path: &str, written: &str, span: Span) -> Diagnostic {
    let key = path.rsplit('.').next().unwrap_or_default();
    let os = Os::ALL.into_iter().find(|os| os.keyword() == key);
    let of = os.map(|os| format!(" of {}", os.title())).unwrap_or_default();
    let diagnostic =
        Diagnostic::error(&RULE, format!("`{path}` is `{}`, which is not a release{of}", shorten(written)))
            .at(span, "");
    match os.and_then(Os::releases) {
        Some(releases) => diagnostic.help(format!("use {}", releases.description())),
        None => diagnostic,
    }
}

/// Reports a number in quotes.
pub(crate) fn quoted_number(path: &str, text: &str, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(&RULE, format!("`{path}` takes a whole number, not text"))
        .at(span, "in quotes, so this is text");
    // `020` without quotes is not a number of YAML, and may be meant as octal.
    match text.parse::<i128>().map(|number| number.to_string()) {
        Ok(number) if number != text => {
            diagnostic.propose(span, &number, format!("did you mean `{number}`, without quotes?"))
        }
        Ok(_) | Err(_) => diagnostic.replace(span, text, format!("write `{text}` without quotes")),
    }
}

/// Reports that a key of a mapping is of the wrong type.
pub(crate) fn wrong_key(path: &str, key: &str, expected: &str, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("keys of `{path}` are {expected}, `{key}` is not")).at(span, "")
}

#[cfg(test)]
mod tests {
    use closc_diagnostics::{Change, Trust};

    use crate::testing::findings;

    #[test]
    fn numbers_in_quotes_are_edited_only_where_the_digits_are_a_number() {
        for (written, number, trust) in
            [("20", "20", Trust::Sure), ("020", "20", Trust::Choice), ("+8", "8", Trust::Choice)]
        {
            let found = findings(&format!("hosts: {{ groups: \"{written}\" }}"));
            let fix = &found.iter().find(|found| found.rule.code == "E0109").unwrap().fixes[0];
            assert!(matches!(&fix.changes[..], [Change::Replace { text, .. }] if text == number), "{fix:?}");
            assert_eq!(fix.trust, trust, "{written}");
        }
    }
}
