//! Signed trees: an SSH signature (Ed25519) over the manifest, which reveals an edit even if the digest in
//! the manifest is edited too.
//!
//! The signature is stored beside the manifest, in the format of `ssh-keygen -Y sign -n closc-manifest`. So
//! trees can be signed with keys in an agent or on a token, and `ssh-keygen -Y verify` checks the signature.
//! The file can contain signatures by several keys. Invariants: the checked bytes are the bytes that are
//! used. A private key that other users can read is rejected. A key counts once, even if it signed several
//! times.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::paths::{MANIFEST, SIGNATURE};
use closc_artefacts::{Files, MANIFEST_MAX};
use closc_files::Reason;
use ssh_key::{Algorithm, HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};

/// Namespace of the signature, so that a signature made for another purpose is not accepted.
pub const NAMESPACE: &str = "closc-manifest";

/// The first line of a signature.
const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";

/// The first line of a private key.
const PRIVATE: &str = "-----BEGIN OPENSSH PRIVATE KEY-----";

/// Maximum number of signatures of a tree.
const SIGNATURES_MAX: usize = 16;

/// Maximum size of a signature in bytes: `ssh-keygen` writes a few hundred.
const SIGNATURE_MAX: u64 = 16 << 10;

/// Reason why the signatures of a tree are rejected, or why a tree cannot be signed.
#[derive(Debug, thiserror::Error)]
pub enum SignatureError {
    /// A key cannot be read.
    #[error("cannot read the key `{path}`: {error}")]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// The error returned by the system.
        error: io::Error,
    },
    /// Other users can read the private key.
    #[error("other users can read, write or execute the key `{0}`; help: run `chmod 600 {0}`")]
    Open(Utf8PathBuf),
    /// The file is not a key, or the key is of another kind.
    #[error("`{path}` is not an Ed25519 key in the form of OpenSSH: {reason}")]
    Key {
        /// The file.
        path: Utf8PathBuf,
        /// The error.
        reason: String,
    },
    /// The file contains the other key of the pair.
    #[error("`{path}` is a {half} key: name the other key of the pair, `{other_file}`")]
    Half {
        /// The file.
        path: Utf8PathBuf,
        /// `public` or `private`.
        half: &'static str,
        /// The other file.
        other_file: String,
    },
    /// The private key has a passphrase.
    #[error(
        "the key `{0}` has a passphrase: compile without `--sign`, then sign with `ssh-keygen -Y sign -n {NAMESPACE} -f \
         {0} TREE/{MANIFEST}`"
    )]
    Passphrase(Utf8PathBuf),
    /// Signing fails.
    #[error("cannot sign the manifest: {0}")]
    Sign(ssh_key::Error),
    /// The manifest cannot be read.
    #[error("cannot read `{MANIFEST}`: {0}")]
    Manifest(io::Error),
    /// There is no signature.
    #[error("the tree is not signed: there is no `{SIGNATURE}`")]
    Missing,
    /// The signature is damaged.
    #[error("`{SIGNATURE}` is not a signature: {0}")]
    Damaged(String),
    /// The signature is for another manifest, or by another key.
    #[error(
        "`{MANIFEST}` is not signed by {0}: the tree was changed after it was signed, or another key signed it"
    )]
    Wrong(String),
    /// Too few keys signed the manifest.
    #[error(
        "`{MANIFEST}` is signed by {found} of the {needed} keys that it needs; missing or wrong: {missing}"
    )]
    Few {
        /// Keys with a good signature.
        found: usize,
        /// Keys that are required.
        needed: usize,
        /// Fingerprints of the required keys without a good signature.
        missing: String,
    },
}

/// Reads the text of a key.
fn text(path: &Utf8Path) -> Result<String, SignatureError> {
    closc_files::read_user_text(path, closc_files::KEY_MAX).map_err(|error| {
        let error = match error.reason {
            Reason::Io(error) => error,
            reason => io::Error::other(reason),
        };
        SignatureError::Read { path: path.to_owned(), error }
    })
}

/// A private key that signs trees.
pub struct Signer {
    key: PrivateKey,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("public", &name(self.key.public_key())).finish_non_exhaustive()
    }
}

impl Signer {
    /// Reads a private key in the format of `ssh-keygen -t ed25519`.
    pub fn read(path: &Utf8Path) -> Result<Signer, SignatureError> {
        let unreadable = |error| SignatureError::Read { path: path.to_owned(), error };
        let text = text(path)?;
        let fault = |reason: String| SignatureError::Key { path: path.to_owned(), reason };
        // The kind is checked first, because changing the permissions of a public key or another file would
        // not help.
        if PublicKey::from_openssh(text.trim()).is_ok() {
            let other = path.as_str().strip_suffix(".pub").unwrap_or("KEY").to_owned();
            return Err(SignatureError::Half { path: path.to_owned(), half: "public", other_file: other });
        }
        if !text.starts_with(PRIVATE) {
            return Err(fault(format!("a private key begins with `{PRIVATE}`")));
        }
        let mode = std::fs::metadata(path).map_err(unreadable)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(SignatureError::Open(path.to_owned()));
        }
        let key = PrivateKey::from_openssh(&text).map_err(|error| fault(error.to_string()))?;
        if key.is_encrypted() {
            return Err(SignatureError::Passphrase(path.to_owned()));
        }
        match key.algorithm() {
            Algorithm::Ed25519 => Ok(Signer { key }),
            other => Err(fault(format!("it is of kind `{other}`"))),
        }
    }

    /// Returns the signature of a manifest, as text.
    pub(crate) fn sign(&self, manifest: &[u8]) -> Result<String, SignatureError> {
        let signature = self.key.sign(NAMESPACE, HashAlg::Sha512, manifest).map_err(SignatureError::Sign)?;
        signature.to_pem(LineEnding::LF).map_err(SignatureError::Sign)
    }
}

/// A public key whose signature a tree must have.
#[derive(Debug, Clone)]
pub struct TrustedKey {
    key: PublicKey,
}

impl TrustedKey {
    /// Reads a public key from the `.pub` file that `ssh-keygen` writes.
    pub fn read(path: &Utf8Path) -> Result<TrustedKey, SignatureError> {
        let text = text(path)?;
        let fault = |reason: String| SignatureError::Key { path: path.to_owned(), reason };
        if text.starts_with(PRIVATE) {
            let other = format!("{path}.pub");
            return Err(SignatureError::Half { path: path.to_owned(), half: "private", other_file: other });
        }
        let key = PublicKey::from_openssh(text.trim()).map_err(|error| fault(error.to_string()))?;
        match key.algorithm() {
            Algorithm::Ed25519 => Ok(TrustedKey { key }),
            other => Err(fault(format!("it is of kind `{other}`"))),
        }
    }
}

/// A tree with a signed manifest. The manifest is the one that was checked, even if the folder changes later.
pub struct SignedTree {
    tree: Box<dyn Files>,
    manifest: Vec<u8>,
}

impl fmt::Debug for SignedTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedTree").finish_non_exhaustive()
    }
}

impl SignedTree {
    /// Checks the signatures of a tree: at least `needed` of the keys must have signed it. `None` means all
    /// keys.
    pub fn open(
        tree: Box<dyn Files>,
        by: &[TrustedKey],
        needed: Option<usize>,
    ) -> Result<SignedTree, SignatureError> {
        // Read the short file first, so that an unsigned tree is rejected without reading its manifest.
        let (mut manifest, mut bytes) = (Vec::new(), Vec::new());
        let read = tree.read_within(Utf8Path::new(SIGNATURE), SIGNATURE_MAX, &mut bytes);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => SignatureError::Missing,
            _ => SignatureError::Damaged(error.to_string()),
        })?;
        let signatures = parse(&bytes).map_err(SignatureError::Damaged)?;
        let read = tree.read_within(Utf8Path::new(MANIFEST), MANIFEST_MAX, &mut manifest);
        read.map_err(SignatureError::Manifest)?;
        let signed = |signee: &&TrustedKey| {
            signatures.iter().any(|signature| signee.key.verify(NAMESPACE, &manifest, signature).is_ok())
        };
        let keys: BTreeMap<String, &TrustedKey> =
            by.iter().map(|signee| (name(&signee.key), signee)).collect();
        let missing: Vec<&str> =
            keys.iter().filter(|(_, signee)| !signed(signee)).map(|(name, _)| name.as_str()).collect();
        // The caller rejects a threshold of 0, or one above the number of keys.
        let (found, needed) = (keys.len() - missing.len(), needed.unwrap_or(keys.len()).max(1));
        if found >= needed {
            return Ok(SignedTree { tree, manifest });
        }
        Err(match missing.as_slice() {
            [only] if keys.len() == 1 => SignatureError::Wrong((*only).to_owned()),
            missing => SignatureError::Few { found, needed, missing: missing.join(", ") },
        })
    }
}

impl Files for SignedTree {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        if path == MANIFEST { Ok(self.manifest.clone()) } else { self.tree.read(path) }
    }

    fn read_within(&self, path: &Utf8Path, max: u64, into: &mut Vec<u8>) -> io::Result<()> {
        if path == MANIFEST {
            into.clone_from(&self.manifest);
            return Ok(());
        }
        self.tree.read_within(path, max, into)
    }

    fn list(&self) -> Option<Vec<Utf8PathBuf>> {
        self.tree.list()
    }

    fn empty_folders(&self) -> Option<Vec<Utf8PathBuf>> {
        self.tree.empty_folders()
    }
}

/// Parses signatures, and rejects any text that differs from the canonical form in more than CRLF line ends.
/// The library also accepts other versions and line ends, which the signature does not cover. So it would
/// accept a file with a flipped bit.
fn parse(bytes: &[u8]) -> Result<Vec<SshSig>, String> {
    let text = str::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?.replace("\r\n", "\n");
    let text = text.trim_end_matches('\n');
    let starts: Vec<usize> = text.match_indices(BEGIN).map(|(at, _)| at).collect();
    if starts.first().is_none_or(|first| *first > 0) {
        return Err(format!("expected `{BEGIN}` in its first line"));
    }
    if starts.len() > SIGNATURES_MAX {
        return Err(format!("it has more than {SIGNATURES_MAX} signatures"));
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| parse_one(&text[*start..end])).collect()
}

/// Reads one signature.
fn parse_one(text: &str) -> Result<SshSig, String> {
    let text = text.trim_end_matches('\n');
    let signature = SshSig::from_pem(text).map_err(|error| error.to_string())?;
    if signature.version() != SshSig::VERSION {
        return Err(format!("it is of version {} and not {}", signature.version(), SshSig::VERSION));
    }
    let written = signature.to_pem(LineEnding::LF).map_err(|error| error.to_string())?;
    if text != written.trim_end_matches('\n') {
        return Err("it is not in the form that it is written in".to_owned());
    }
    Ok(signature)
}

/// Returns the fingerprint of a key in the format of `ssh-keygen -l`.
fn name(key: &PublicKey) -> String {
    key.fingerprint(HashAlg::Sha256).to_string()
}
