//! Reads `nccl.conf` and `vccl.conf`: variables, one per line.

use super::error::ReadError;
use crate::model::tools::Settings;

/// File of the NCCL environment, in the folder of a node.
pub(crate) const FILE: &str = "nccl.conf";

/// File of additional VCCL settings.
pub(crate) const VCCL: &str = "vccl.conf";

/// Reads the variables.
pub(crate) fn read(text: &str) -> Result<Settings, ReadError> {
    let mut settings = Settings::new();
    for (line, text) in text.lines().enumerate() {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| ReadError::at(line + 1, format!("`{text}` is not an assignment")))?;
        if settings.insert(name.to_owned(), (value.to_owned(), line + 1)).is_some() {
            return Err(ReadError::at(line + 1, format!("`{name}` is set twice")));
        }
    }
    Ok(settings)
}
