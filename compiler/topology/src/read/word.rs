//! Enumerations: one word of a list.

/// Reads an enum from one of its words: `word!(Type, "what it is" { "word" => Variant, ... })`. For a type that lists
/// its values and has a word for each: `word!(Type, "what it is", Type::word)`.
macro_rules! word {
    ($type:ty, $what:literal, $words:path) => {
        impl $crate::read::Read for $type {
            fn read(item: &$crate::yaml::Item, reader: &mut $crate::read::Reader<'_>) -> Option<Self> {
                let words = <$type>::ALL.map($words);
                let $crate::yaml::Value::Text(text) = &item.value else {
                    return reader.wrong_type(item, "text", words[0]);
                };
                let found = words.iter().position(|word| *word == text.as_str());
                if found.is_none() {
                    let (span, path) = (reader.span(item.place), reader.path());
                    reader.push($crate::faults::unknown_word(&path, $what, text.as_str(), &words, span));
                }
                found.map(|at| <$type>::ALL[at])
            }
        }
    };
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
