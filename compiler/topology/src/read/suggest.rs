//! What somebody may have meant.
//!
//! In: a word and the words that exist. Out: the nearest, if it is near. Always: the same answer for the same
//! words in the same order.

/// Returns the known word that is nearest to `word`, if it is near enough to be a slip of the keyboard.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = word.chars().count().div_ceil(3);
    let simple = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    // A word of many times the length is nobody's slip, and comparing it takes time for nothing.
    let near = |candidate: &str| candidate.chars().count().abs_diff(word.chars().count()) <= allowed;
    let candidates: Vec<&str> = known.into_iter().filter(|candidate| near(candidate)).collect();
    if candidates.is_empty() {
        return None;
    }
    let wanted = simple(word);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &simple(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Lists words for a message, each in backticks.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_nothing_far() {
        let known = ["groups", "per_group", "nics_per_node"];
        assert_eq!(nearest("grops", known), Some("groups"));
        assert_eq!(nearest("per-group", known), Some("per_group"));
        assert_eq!(nearest("NicsPerNode", known), Some("nics_per_node"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("", known), None);
    }
}
