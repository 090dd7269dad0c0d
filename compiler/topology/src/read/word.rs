//! Enumerations: one word of a list.

/// Reads an enum from one of its words: `word!(Type, "what it is" { "word" => Variant, ... })`.
macro_rules! word {
    ($type:ty, $what:literal { $($word:literal => $value:expr),+ $(,)? }) => {
        impl $crate::read::Read for $type {
            fn read(item: &$crate::yaml::Item, reader: &mut $crate::read::Reader<'_>) -> Option<Self> {
                const WORDS: &[&str] = &[$($word),+];
                let $crate::yaml::Value::Text(text) = &item.value else {
                    return reader.wrong_type(item, "text", WORDS[0]);
                };
                match text.as_str() {
                    $($word => Some($value),)+
                    other => {
                        let span = reader.span(item.place);
                        let path = reader.path();
                        reader.push($crate::faults::unknown_word(&path, $what, other, WORDS, span));
                        None
                    }
                }
            }
        }
    };
}
pub(crate) use word;
