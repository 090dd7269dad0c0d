//! Suggestions for misspelled words.
//!
//! In: a word, and the known words. Out: the nearest known word, or `None` if none is close enough.

/// Returns the known word nearest to `word`, if it is close enough to be a typo.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = word.chars().count().div_ceil(3);
    // A word of a very different length is not a typo, and comparing long words would be slow.
    let near = |candidate: &str| candidate.chars().count().abs_diff(word.chars().count()) <= allowed;
    let candidates: Vec<&str> = known.into_iter().filter(|candidate| near(candidate)).collect();
    if candidates.is_empty() {
        return None;
    }
    let wanted = word.to_lowercase().replace(['_', ' '], "-");
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &candidate.replace('_', "-")), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
