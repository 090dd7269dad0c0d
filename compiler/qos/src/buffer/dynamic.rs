//! Effect of a dynamic threshold when several users fill a pool.
//!
//! In: the pool, the exponent, and the number of users. Out: bytes for each user. Invariants: the result is rounded
//! down, so that thresholds compared with it are on the safe side.

use crate::codes::DynamicThreshold;
use crate::units::Bytes;

/// Returns the size that each of `users` equally busy queues or groups reaches in a shared pool. The threshold is alpha
/// times the free space with alpha = 2^n, so the size settles at `alpha x pool / (1 + users x alpha)`.
///
/// If `users` queues or groups are congested at the same time, PFC sends XOFF (or a lossy queue drops) at this size.
/// Marking must start below it.
pub fn dynamic_limit(pool: Bytes, threshold: DynamicThreshold, users: u32) -> Bytes {
    let exponent = threshold.get();
    let magnitude = u32::from(exponent.unsigned_abs());
    let (pool, users) = (u128::from(pool.0), u128::from(users));
    let limit = if exponent >= 0 {
        (pool << magnitude) / (1 + (users << magnitude))
    } else {
        pool / ((1 << magnitude) + users)
    };
    Bytes(
        u64::try_from(limit).expect("no user gets more than the pool where there is one, nor 2^7 of it else"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(pool: u64, exponent: i8, users: u32) -> u64 {
        dynamic_limit(Bytes(pool), DynamicThreshold::new(exponent).unwrap(), users).0
    }

    #[test]
    fn one_user_of_alpha_one_takes_half() {
        assert_eq!(limit(52_000_000, 0, 1), 26_000_000);
        assert_eq!(limit(52_000_000, 0, 25), 2_000_000);
        assert_eq!(limit(900, 3, 1), 800);
        assert_eq!(limit(129_000, -7, 1), 1_000);
    }

    proptest::proptest! {
        #[test]
        fn users_never_take_more_than_the_pool(pool in 0_u64..1 << 56, exponent in -8_i8..=7, users in 1_u32..1024) {
            let each = limit(pool, exponent, users);
            proptest::prop_assert!(each * u64::from(users) <= pool);
            proptest::prop_assert!(limit(pool, exponent, users + 1) <= each);
        }
    }
}
