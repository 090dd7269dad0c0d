//! Bytes held for peers, with a limit per peer and a limit for all peers together.

use std::collections::BTreeMap;

/// A charge that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargeError<P> {
    /// The peer would exceed the limit per peer.
    Peer,
    /// All peers together would exceed their limit.
    All {
        /// The peer for which the most bytes are held.
        largest: P,
    },
}

/// Number of bytes held for each peer.
#[derive(Debug, Clone)]
pub struct Account<P> {
    peer_limit: usize,
    total_limit: usize,
    used: usize,
    peers: BTreeMap<P, usize>,
}

impl<P: Ord + Copy> Account<P> {
    /// Opens an account with at most `each` bytes per peer, and `all` bytes for all peers together.
    pub fn new(each: usize, all: usize) -> Self {
        Account { peer_limit: each, total_limit: all, used: 0, peers: BTreeMap::new() }
    }

    /// Charges bytes to a peer.
    ///
    /// # Errors
    ///
    /// Returns the limit that the charge would exceed. Nothing is charged in that case.
    pub fn charge(&mut self, peer: P, bytes: usize) -> Result<(), ChargeError<P>> {
        let held = self.peer_bytes(peer);
        if held.saturating_add(bytes) > self.peer_limit {
            return Err(ChargeError::Peer);
        }
        if self.used.saturating_add(bytes) > self.total_limit {
            let largest = self.peers.iter().max_by_key(|(_, held)| **held).map_or(peer, |(peer, _)| *peer);
            return Err(ChargeError::All { largest });
        }
        self.peers.insert(peer, held + bytes);
        self.used += bytes;
        Ok(())
    }

    /// Releases bytes of a peer, at most as many as are held for it.
    pub fn release(&mut self, peer: P, bytes: usize) {
        let Some(held) = self.peers.get_mut(&peer) else { return };
        let bytes = bytes.min(*held);
        *held -= bytes;
        self.used -= bytes;
        if *held == 0 {
            self.peers.remove(&peer);
        }
    }

    /// Releases all bytes held for a peer.
    pub fn close(&mut self, peer: P) {
        self.release(peer, usize::MAX);
    }

    /// Returns the number of bytes held for a peer.
    pub fn peer_bytes(&self, peer: P) -> usize {
        self.peers.get(&peer).copied().unwrap_or(0)
    }

    /// Returns the number of bytes held for all peers.
    pub fn used(&self) -> usize {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_charge_changes_nothing_and_names_the_limit() {
        let mut account = Account::new(10, 15);
        assert_eq!(account.charge('a', 10), Ok(()));
        assert_eq!(account.charge('a', 1), Err(ChargeError::Peer));
        assert_eq!(account.charge('b', 5), Ok(()));
        assert_eq!(account.charge('b', 1), Err(ChargeError::All { largest: 'a' }));
        assert_eq!((account.peer_bytes('a'), account.peer_bytes('b'), account.used()), (10, 5, 15));
        account.release('a', 4);
        assert_eq!(account.charge('b', 4), Ok(()));
        account.close('a');
        account.close('a');
        assert_eq!((account.peer_bytes('a'), account.used()), (0, 9));
        assert_eq!(account.charge('c', usize::MAX), Err(ChargeError::Peer));
    }
}
