//! Fresh ids for a pure machine: a small generator (SplitMix64) seeded by its shell's dice.
//!
//! The same seed gives the same ids, so a failing run can be run again. Not for secrets.

/// Gives 64 well-mixed bits at a time.
#[derive(Debug, Clone)]
pub(crate) struct Ids(u64);

impl Ids {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
