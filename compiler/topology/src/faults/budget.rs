//! E0105: nesting, aliases or the number of values exceed a limit.

use closc_diagnostics::{Diagnostic, Rule, Span};

/// Nesting, aliases or the number of values exceed a limit.
pub(crate) static RULE: Rule = Rule {
    code: "E0105",
    title: "the file is nested too deeply or repeats too much",
    condition: "Mappings and lists nest at most 32 deep. Aliases repeat at most 100,000 values in total, and the \
           file contains at most 200,000 values.",
    impact: "A few hundred bytes of nested aliases can expand to billions of values. Real fabric files \
           nest six deep.",
    example: "x-a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n\
              x-b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n\
              x-c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\n\
              x-d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\n\
              x-e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\n\
              x-f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]\n\
              x-g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f, *f]",
    fix: "Remove the nesting, or write ranges (`p3-t0-[017-024]`) instead of long lists.",
};

/// Reports the limit that was exceeded.
pub(crate) fn over_budget(what: &str, limit: usize, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("{what}: at most {limit} are allowed"))
        .at(span, "the limit is exceeded here")
        .help("a fabric file nests about six deep; look for a missing line break, or aliases of aliases")
}
