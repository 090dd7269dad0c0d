//! E1013: texts in a platform file contain only characters that are allowed in artefacts.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule, SourceId, printable};

use super::format_list;
use crate::alias::Aliases;
use crate::file::File;

pub(crate) static RULE: Rule = Rule {
    code: "E1013",
    title: "a text of the platform has invalid characters",
    condition: "`hwsku` and `platform` of SONiC have at most 127 letters, digits, `.`, `_`, `+` and `-`. They \
           start with a letter or digit and do not contain `..`. Alias patterns contain only the placeholders \
           of the reference, and give every port its own alias. They have at most 60 characters: letters, digits, braces, `/`, `.`, `_`, `-` and \
           parentheses. `title` and `sources` are single lines of printable text.",
    impact: "SONiC builds paths from its names (`/usr/share/sonic/device/PLATFORM/HWSKU`). The other texts are \
           printed on terminals and in pages.",
    example: "sonic: {hwsku: ../../etc, platform: x86_64-site}",
    fix: "Write the names as in the SONiC image, and each text on one line.",
};

pub(crate) fn check(file: &File, source: SourceId, found: &mut Diagnostics) {
    if let Some(section) = &file.sonic {
        let sonic = &section.value;
        let others = sonic.hwskus.iter().map(|one| ("hwsku", &one.hwsku));
        let names = [("hwsku", &sonic.hwsku), ("platform", &sonic.platform)].into_iter().chain(others);
        for (key, name) in names.filter(|(_, name)| !is_word(name)) {
            let shown: String = printable::line(name).chars().take(60).collect();
            found.push(
                Diagnostic::error(
                    &RULE,
                    format!("`sonic.{key}` is `{shown}`, which is not a valid SONiC name"),
                )
                .at(section.span(source), "")
                .help("write letters, digits, `.`, `_`, `+` and `-`, as in `x86_64-nvidia_sn5600-r0`"),
            );
        }
    }
    if let Some(at) = &file.panel.aliases {
        let mut bad = |message: String| {
            found.push(Diagnostic::error(&RULE, message).at(at.span(source), ""));
        };
        if let Some(unknown) = at.value.unknown_placeholder() {
            let known = format_list(Aliases::PLACEHOLDERS);
            bad(format!("`{}` in an alias is not one of {known}", printable::line(&unknown)));
        } else if let Some(pattern) = at.value.ambiguous() {
            bad(format!("`{}` gives several ports one alias", printable::line(pattern)));
        }
        for pattern in [&at.value.whole, &at.value.split] {
            if pattern.len() > 60
                || !pattern.bytes().all(|b| b.is_ascii_alphanumeric() || b"{}/._-()".contains(&b))
            {
                bad("an alias has letters, digits, `/`, `.`, `_`, `-` and parentheses, at most 60".to_owned());
            }
        }
    }
    let texts =
        std::iter::once(("title", &file.title)).chain(file.sources.iter().map(|text| ("sources", text)));
    for (key, text) in texts {
        if let Some(c) = printable::fault(text) {
            let message = format!("`{key}` contains the character U+{:04X}", u32::from(c));
            found.push(
                Diagnostic::error(&RULE, message)
                    .at(file.id.span(source), "in the file of this platform")
                    .help("write one line of printable text"),
            );
        }
    }
}

fn is_word(name: &str) -> bool {
    (1..=127).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._+-".contains(&b))
        && !name.contains("..")
}
