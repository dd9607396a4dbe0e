//! [`SigningKey`]: the private half of an account's key. It cannot be printed, and its memory is wiped.

use ed25519_dalek::{Signature, Signer, VerifyingKey};
use sb_model::{AccountKey, Secret};

/// What an account signs with.
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    /// The key made of these bytes, which nobody else may know: take them from dice fit for secrets.
    pub fn of(bytes: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(bytes))
    }
    /// As it is sealed: hex.
    pub fn secret(&self) -> Secret {
        Secret::new(hex::encode(self.0.as_bytes()))
    }
    /// From what was sealed; none if that is no key.
    pub fn open(secret: &Secret) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(secret.expose(), &mut bytes).ok()?;
        Some(Self::of(&bytes))
    }
    /// The account it signs for.
    pub fn account(&self) -> AccountKey {
        AccountKey(self.0.verifying_key().to_bytes())
    }
    pub(crate) fn sign(&self, words: &[u8]) -> [u8; 64] {
        self.0.sign(words).to_bytes()
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("•••")
    }
}

/// Whether `by` signed these words.
pub(crate) fn is_signed(by: AccountKey, words: &[u8], signature: &[u8; 64]) -> bool {
    let Ok(key) = VerifyingKey::from_bytes(&by.0) else { return false };
    // Strictly: a key of small order would let one signature stand for many words.
    key.verify_strict(words, &Signature::from_bytes(signature)).is_ok()
}
