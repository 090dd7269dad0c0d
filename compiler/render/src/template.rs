//! The templates: those in the binary, overridden by those of the user.
//!
//! In: overlay texts by name. Out: rendered text. Invariants: an undefined value is an error with its line. So is
//! printing a boolean, a list or `none`. Names are paths below `templates/`.

use std::collections::BTreeMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value};
use serde::Serialize;

use crate::RenderError;

/// Shipped templates by name: every `templates/**/*.j2` of the workspace, embedded by `build.rs`.
const SHIPPED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// Maximum number of template steps for one file. The largest switch needs a few hundred thousand.
const STEPS_MAX: u64 = 50_000_000;

/// A set of templates for rendering.
pub struct Templates {
    environment: Environment<'static>,
}

impl Templates {
    /// Creates the set of shipped templates.
    pub fn builtin() -> Self {
        Self::with_overlay(&BTreeMap::new()).expect("a test parses every shipped template")
    }

    /// Creates the set of shipped templates, with those of `overlay` replacing the ones of the same name.
    pub fn with_overlay(overlay: &BTreeMap<String, String>) -> Result<Self, RenderError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.set_syntax(syntax());
        environment.set_formatter(strict);
        environment.set_fuel(Some(STEPS_MAX));
        let shipped = SHIPPED.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        let own = overlay.iter().map(|(name, text)| (name.clone(), text.clone()));
        for (name, text) in shipped.chain(own) {
            environment
                .add_template_owned(name.clone(), text)
                .map_err(|error| RenderError::Parse { template: name, message: explain(&error) })?;
        }
        Ok(Templates { environment })
    }

    /// Rejects templates that neither replace a shipped one nor are referenced by another template of the overlay.
    pub fn check_overlay(overlay: &BTreeMap<String, String>) -> Result<(), RenderError> {
        let used = |name: &str| {
            let quoted = [format!("\"{name}\""), format!("'{name}'")];
            overlay.values().any(|text| quoted.iter().any(|quoted| text.contains(quoted)))
        };
        let known = |name: &str| SHIPPED.iter().any(|(shipped, _)| *shipped == name);
        let Some(name) = overlay.keys().find(|name| !known(name) && !used(name)) else { return Ok(()) };
        let distance = |shipped: &str| strsim::damerau_levenshtein(shipped, name);
        let near = Self::names().min_by_key(|shipped| distance(shipped));
        let near = near.filter(|shipped| distance(shipped) <= name.chars().count().div_ceil(3));
        let mut folders: Vec<&str> = Self::names().filter_map(|name| Some(name.split_once('/')?.0)).collect();
        folders.dedup();
        Err(RenderError::Unknown {
            template: name.clone(),
            suggestion: near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default(),
            folders: folders.join("`, `"),
        })
    }

    /// Returns the names of the shipped templates, in order. An overlay can replace these.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// Renders one template for a device.
    pub fn render<C: Serialize>(&self, name: &str, device: &str, context: &C) -> Result<String, RenderError> {
        self.environment
            .get_template(name)
            .and_then(|template| template.render(minijinja::value::Serde(context)))
            .map_err(|error| RenderError::Template {
                template: name.to_owned(),
                device: device.to_owned(),
                message: match error.kind() {
                    ErrorKind::OutOfFuel => format!(
                        "it takes more than {STEPS_MAX} steps: a loop in it has too many iterations, \
                         or it includes itself"
                    ),
                    _ => explain(&error),
                },
            })
    }
}

fn syntax() -> SyntaxConfig {
    SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()
        .expect("the default delimiters are valid")
}

/// Rejects values without a text form, so that `True` or `None` never reaches a configuration.
fn strict(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    match value.kind() {
        ValueKind::Bool | ValueKind::None | ValueKind::Seq | ValueKind::Map => Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("a {} has no text form; print one of its fields, or use a filter", value.kind()),
        )),
        _ => minijinja::escape_formatter(out, state, value),
    }
}

fn explain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlaid(name: &str, text: &str) -> Result<Templates, RenderError> {
        Templates::with_overlay(&BTreeMap::from([(name.to_owned(), text.to_owned())]))
    }

    fn render(text: &str, context: &impl Serialize) -> Result<String, String> {
        let templates = overlaid("own.j2", text).expect("the template parses");
        templates.render("own.j2", "p0-t0-001", context).map_err(|error| error.to_string())
    }

    #[derive(Serialize)]
    struct View {
        name: &'static str,
        up: bool,
        ports: Vec<u8>,
        peer: Option<u8>,
    }

    const VIEW: View = View { name: "p0-t0-001", up: true, ports: Vec::new(), peer: None };

    #[test]
    fn every_shipped_template_parses() {
        let names: Vec<&str> = Templates::names().collect();
        assert!(names.contains(&"frr/frr.conf.j2") && names.is_sorted(), "{names:?}");
        Templates::builtin();
    }

    #[test]
    fn an_overlay_replaces_one_template() {
        let templates = overlaid("frr/daemons.j2", "bgpd=yes for {{ name }}\n").unwrap();
        assert_eq!(templates.render("frr/daemons.j2", "x", &VIEW).unwrap(), "bgpd=yes for p0-t0-001\n");
        assert!(templates.render("frr/frr.conf.j2", "x", &VIEW).is_err(), "the view lacks what it reads");
    }

    #[test]
    fn an_overlay_that_replaces_nothing_is_refused() {
        let check = |name: &str, more: &str| {
            let own = [(name.to_owned(), String::new()), ("frr/header.j2".to_owned(), more.to_owned())];
            Templates::check_overlay(&BTreeMap::from(own)).map_err(|error| error.to_string())
        };
        assert_eq!(check("frr/daemons.j2", ""), Ok(()));
        assert_eq!(check("frr/site.j2", "{% include \"frr/site.j2\" %}"), Ok(()));
        let why = check("fr/daemons.j2", "").unwrap_err();
        assert!(why.contains("`fr/daemons.j2`") && why.contains("did you mean `frr/daemons.j2`?"), "{why}");
        let why = check("notes.txt", "").unwrap_err();
        assert!(
            why.ends_with("folders of templates are `eos`, `frr`, `host`, `linux`, `nvue`, `sonic`"),
            "{why}"
        );
    }

    #[test]
    fn a_template_that_does_not_end_is_stopped() {
        let loops = "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{{ c }}\
                     {% endfor %}{% endfor %}{% endfor %}";
        let why = render(loops, &VIEW).unwrap_err();
        assert!(why.contains("it takes more than 50000000 steps"), "{why}");
    }

    #[test]
    fn an_overlay_that_does_not_parse_is_named() {
        let Err(error) = overlaid("frr/header.j2", "{% if %}") else { panic!("it parses") };
        assert!(error.to_string().starts_with("template `frr/header.j2` does not parse: "), "{error}");
    }

    #[test]
    fn what_does_not_exist_is_an_error_with_the_line() {
        let error = render("hostname {{ name }}\nmtu {{ mtu }}\n", &VIEW).unwrap_err();
        assert!(
            error.contains("`own.j2`") && error.contains("`p0-t0-001`") && error.contains(":2"),
            "{error}"
        );
    }

    #[test]
    fn what_has_no_text_form_is_an_error() {
        for value in ["up", "ports", "peer"] {
            let error = render(&format!("{{{{ {value} }}}}"), &VIEW).unwrap_err();
            assert!(error.contains("has no text form"), "{error}");
        }
        assert_eq!(render("{% if up %}\nup\n{% endif %}\nend\n", &VIEW).unwrap(), "up\nend\n");
    }
}
