//! E0121: a text is not a PCI address.

use closc_diagnostics::{Diagnostic, Rule, Span};

use crate::pci::PciAddressError;

/// A text is not a PCI address.
pub(crate) static RULE: Rule = Rule {
    code: "E0121",
    title: "a PCI address cannot be read",
    condition: "PCI addresses have the form that Linux uses: domain, bus, device and function.",
    impact: "Interfaces are named after the PCI address of their NIC. A guess would name the wrong one.",
    example: "hosts: { slots: [{ pci: \"18:00.0\" }] }",
    fix: "Write the full address, as `lspci -D` prints it: `0000:18:00.0`.",
};

/// Reports that a text is not a PCI address.
pub(crate) fn bad_pci(path: &str, written: &str, error: PciAddressError, span: Span) -> Diagnostic {
    Diagnostic::error(&RULE, format!("`{path}`: `{written}` is not a PCI address"))
        .at(span, "")
        .note(error.to_string())
        .help("`lspci -D` prints full addresses")
}
