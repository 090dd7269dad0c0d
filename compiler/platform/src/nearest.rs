//! The known word that somebody may have meant.
//!
//! In: a word and those that are known. Out: the nearest. Invariants: nothing where none is near enough.

/// Returns the known word nearest to `word`, if it is near enough to be a slip of the keyboard.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = word.chars().count().div_ceil(3);
    // A word of many times the length is nobody's slip, and comparing it takes time for nothing.
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
