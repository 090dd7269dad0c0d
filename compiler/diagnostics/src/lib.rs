//! Spans, diagnostics and their codes, shown as text, JSON or CI annotations.
