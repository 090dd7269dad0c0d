//! Cookies of messages between agents, which prove that the sender knows the secret.
//!
//! In: the secret of a fabric, a secret of this process, two addresses. Out: the cookie of messages from one address to
//! the other. Invariants: a host without the secret of the fabric knows only the cookies of messages sent to it. It
//! cannot compute those of another pair. Self-probes always use a cookie of this process.

/// A key of 256 bits.
pub(super) type Key = [u8; 32];

/// The secrets that cookies are derived from.
#[derive(Debug, Clone)]
pub(super) struct Cookies {
    /// Cookie for fabrics without a secret. It is derived from addresses, so it does not prevent attacks.
    public: u64,
    secret: Option<Key>,
    local_key: Key,
}

impl Cookies {
    pub(super) fn new(public: u64, secret: Option<Key>, own: Key) -> Cookies {
        Cookies { public, secret, local_key: own }
    }

    /// Returns the cookie of messages from one NIC to another.
    pub(super) fn pair_cookie(&self, from: &[u8; 16], to: &[u8; 16]) -> u64 {
        let key = match &self.secret {
            _ if from == to => &self.local_key,
            Some(secret) => secret,
            None => return self.public,
        };
        first(&blake3::keyed_hash(key, &[from.as_slice(), to].concat()))
    }

    /// Returns the cookie of the fabric; every numbered packet carries 16 bits derived from it.
    pub(super) fn of_fabric(&self) -> u64 {
        self.secret.as_ref().map_or(self.public, |secret| first(&blake3::keyed_hash(secret, b"fabric")))
    }
}

fn first(hash: &blake3::Hash) -> u64 {
    let (head, _) = hash.as_bytes().split_first_chunk().expect("a digest has 32 bytes");
    u64::from_be_bytes(*head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_a_cookie_of_its_own_and_none_follows_from_another() {
        let [a, b, c] = [[1; 16], [2; 16], [3; 16]];
        let keyed = Cookies::new(7, Some([9; 32]), [4; 32]);
        let all = [(a, b), (b, a), (a, c), (c, b), (a, a)].map(|(from, to)| keyed.pair_cookie(&from, &to));
        let distinct: std::collections::BTreeSet<u64> = all.into_iter().collect();
        assert_eq!((distinct.len(), distinct.contains(&7)), (5, false));
        let other_process = Cookies::new(7, Some([9; 32]), [5; 32]);
        assert_eq!(other_process.pair_cookie(&a, &b), keyed.pair_cookie(&a, &b));
        assert_ne!(other_process.pair_cookie(&a, &a), keyed.pair_cookie(&a, &a));
        let public = Cookies::new(7, None, [4; 32]);
        assert_eq!((public.pair_cookie(&a, &b), public.of_fabric()), (7, 7));
        assert_ne!(public.pair_cookie(&a, &a), 7);
    }
}
