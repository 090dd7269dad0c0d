//! The committed JSON Schema is up to date.
//!
//! `CLOSC_BLESS=1 cargo test -p closc-platform --test it schema::` regenerates it.

use std::path::Path;

#[test]
fn schema_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("platform.schema.json");
    let mut made = serde_json::to_string_pretty(&closc_platform::schema()).unwrap();
    made.push('\n');
    if std::env::var_os("CLOSC_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == made, "platform.schema.json is stale; set CLOSC_BLESS=1 to regenerate it");
}
