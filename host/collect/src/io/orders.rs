//! Operators: clients that may create or end a denial, and the record of each order.
//!
//! In: the collector's token file, names in certificates, an order. Out: an [`Orderer`] for the log, or the reason why
//! the order is rejected. Invariants: read access is never sufficient for an order. Only the owner can read the token
//! file. Without TLS, a token is accepted only over loopback.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use camino::{Utf8Path, Utf8PathBuf};
use closc_files::Reason;
use closc_files::disk;
use closc_http::Client;
use serde::Serialize;

use super::peer;

/// Minimum length of a token: 128 bits in hexadecimal digits.
const TOKEN_MIN: usize = 32;
/// Maximum size of the token file.
const TOKEN_MAX: u64 = 4096;

/// Credentials of operators, who may change denials.
#[derive(Debug, Clone, Default)]
pub struct Operators {
    /// The file with the token of operators. It is created if it does not exist.
    pub token_file: Option<Utf8PathBuf>,
    /// Names in client certificates of operators.
    pub names: BTreeSet<String>,
}

/// The client that gave an order, in the form of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Orderer {
    /// The address that the order came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<SocketAddr>,
    /// The subject of the client's certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The user that owns the socket of the client, if it is on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// `certificate` or `token`.
    pub authority: &'static str,
    /// The reason that the client gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The token and names that permit orders.
pub(super) struct Authority {
    /// The token of the file.
    token: Option<String>,
    operators: Operators,
    /// The token that the web page requests with the certificate of an operator. Pages of other servers cannot read it.
    pub(super) session: String,
}

impl Authority {
    /// Reads the token of operators, or creates one.
    pub(super) fn open(operators: Operators) -> io::Result<Authority> {
        let token = operators.token_file.as_deref().map(read_or_create).transpose()?;
        Ok(Authority { token, operators, session: random()? })
    }

    /// Returns whether the certificate of a client is that of an operator.
    pub(super) fn is_operator(&self, client: &Client) -> bool {
        client.names.iter().any(|name| self.operators.names.contains(name))
    }

    /// Returns the client of an order for the log, or the reason for rejecting the order.
    pub(super) fn accept(
        &self,
        client: &Client,
        token: &str,
        is_private: bool,
        reason: Option<&str>,
    ) -> Result<Orderer, String> {
        let is_token = |own: &Option<String>| own.as_deref().is_some_and(|own| is_equal(token, own));
        let authority = if self.is_operator(client) && is_equal(token, &self.session) {
            "certificate"
        } else if !is_private {
            return Err("orders need TLS or loopback: a token would be sent unencrypted".to_owned());
        } else if is_token(&self.token) {
            "token"
        } else {
            return Err(self.refusal());
        };
        let uid = client.address.filter(|address| address.ip().is_loopback()).and_then(peer::owner);
        let reason = reason.map(|text| text.chars().filter(|c| !c.is_control()).take(200).collect());
        Ok(Orderer { address: client.address, subject: client.subject.clone(), uid, authority, reason })
    }

    fn refusal(&self) -> String {
        let file = match &self.operators.token_file {
            Some(file) => format!("the token in `{file}`"),
            None => "a token file (`--order-token`)".to_owned(),
        };
        if self.operators.names.is_empty() {
            format!("an order needs {file}")
        } else {
            format!("an order needs the certificate of an operator, or {file}")
        }
    }
}

/// Reads a token file, or creates one that only this user can read.
fn read_or_create(path: &Utf8Path) -> io::Result<String> {
    let fail = |error: &dyn std::fmt::Display| io::Error::other(format!("the token file {error}"));
    match closc_files::secret_at(path, TOKEN_MAX) {
        Ok(bytes) => {
            let text = String::from_utf8(bytes).unwrap_or_default();
            let token = text.trim();
            if token.len() < TOKEN_MIN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(fail(&format_args!(
                    "`{path}` needs one line of at least {TOKEN_MIN} letters and digits"
                )));
            }
            Ok(token.to_owned())
        }
        Err(error) if matches!(&error.reason, Reason::Io(error) if error.kind() == io::ErrorKind::NotFound) =>
        {
            let token = random()?;
            disk::replace_private(path, format!("{token}\n").as_bytes())
                .map_err(|error| fail(&format_args!("`{path}` cannot be written: {error}")))?;
            Ok(token)
        }
        Err(error) => Err(fail(&error)),
    }
}

/// Returns 128 random bits.
fn random() -> io::Result<String> {
    let mut bytes = [0; 16];
    io::Read::read_exact(&mut std::fs::File::open(PathBuf::from("/dev/urandom"))?, &mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// Compares in a time that does not depend on the length of the common prefix.
fn is_equal(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn client(name: &str) -> Client {
        let address = Some(SocketAddr::from(([192, 0, 2, 7], 4000)));
        Client { address, subject: Some(format!("CN={name}")), names: vec![name.to_owned()] }
    }

    /// Formerly the certificate of a scraper was sufficient for a drain.
    #[test]
    fn readers_do_not_order() {
        let names = BTreeSet::from(["alice".to_owned()]);
        let authority =
            Authority::open(Operators { token_file: None, names }).expect("there are random numbers");
        let token = authority.session.clone();
        assert!(authority.accept(&client("prometheus"), &token, true, None).is_err());
        assert!(authority.accept(&Client::default(), &token, true, None).is_err());
        assert!(
            authority.accept(&client("alice"), "", true, None).is_err(),
            "a page of another server has no token"
        );
        let orderer =
            authority.accept(&client("alice"), &token, true, Some("a\nreason")).expect("an operator");
        assert_eq!((orderer.authority, orderer.subject.as_deref()), ("certificate", Some("CN=alice")));
        assert_eq!(orderer.reason.as_deref(), Some("areason"));
        assert_eq!(orderer.address, client("alice").address);
    }

    #[test]
    fn a_token_file_is_made_once_and_read_by_its_owner_only() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = Utf8PathBuf::try_from(folder.path().join("token")).expect("a path is text");
        let open = || Authority::open(Operators { token_file: Some(path.clone()), names: BTreeSet::new() });
        let token = open().expect("it is made").token.expect("a token");
        assert_eq!(std::fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
        let authority = open().expect("it is read");
        assert_eq!(authority.token.as_ref(), Some(&token));
        assert!(authority.accept(&client("anyone"), &token, true, None).is_ok());
        assert!(authority.accept(&client("anyone"), &token, false, None).is_err(), "it crosses the network");
        assert!(authority.accept(&client("anyone"), &token[1..], true, None).is_err());
        let says = || open().err().map(|error| error.to_string()).unwrap_or_default();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("it is ours");
        assert!(says().contains("other users can read or write (mode 640)"), "{}", says());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
        std::fs::write(&path, "short\n").expect("it is ours");
        assert!(says().contains("at least 32"), "{}", says());
        std::fs::remove_file(&path).expect("it is there");
        std::os::unix::fs::symlink("/dev/zero", &path).expect("it can be linked");
        assert!(says().contains("symbolic link"), "{}", says());
    }

    #[test]
    fn tokens_are_compared_in_full() {
        assert!(
            is_equal("abc", "abc") && !is_equal("abc", "abd") && !is_equal("abc", "ab") && !is_equal("", "a")
        );
    }
}
