//! Arguments of the commands that serve metrics and pages: `watch`, `collect`.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::bail;
use camino::Utf8PathBuf;
use closc_http::Certificates;
use closc_runtime::server::{Protocol, TlsFiles};

/// Reader access.
#[derive(Debug, Clone, clap::Args)]
pub struct ServeArgs {
    /// Server certificate chain; required beyond loopback
    #[arg(long, value_name = "PEM", requires = "tls_key")]
    pub tls_cert: Option<Utf8PathBuf>,
    /// Private key of the certificate, readable by its owner only
    #[arg(long, value_name = "PEM", requires = "tls_cert")]
    pub tls_key: Option<Utf8PathBuf>,
    /// CA of client certificates
    #[arg(long, value_name = "PEM", requires = "tls_cert")]
    pub tls_client_ca: Option<Utf8PathBuf>,
    /// Revocation list of client certificates
    #[arg(long, value_name = "PEM", requires = "tls_client_ca")]
    pub tls_crl: Option<Utf8PathBuf>,
    /// Serve beyond loopback without TLS or access control
    #[arg(long, conflicts_with = "tls_cert")]
    pub plaintext: bool,
}

impl ServeArgs {
    /// Returns the URL scheme of the server.
    pub fn scheme(&self) -> &'static str {
        if self.tls_cert.is_some() { "https" } else { "http" }
    }

    /// Returns the certificates for TLS; `None` without them. Fails if other machines would be served without
    /// encryption, or without access control.
    pub fn certificates(&self, listen: SocketAddr) -> anyhow::Result<Option<Certificates>> {
        let own = |path: &Utf8PathBuf| PathBuf::from(path);
        let is_ours = listen.ip().is_loopback();
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else {
            if !is_ours && !self.plaintext {
                bail!(
                    "`{listen}` is reachable from other machines, but the service has no passwords: name \
                     certificates with `--tls-cert`, `--tls-key` and `--tls-client-ca`, use 127.0.0.1 or \
                     [::1], or add `--plaintext`"
                );
            }
            return Ok(None);
        };
        if !is_ours && self.tls_client_ca.is_none() {
            bail!(
                "`{listen}` is reachable from other machines: set `--tls-client-ca` to the CA of permitted clients"
            );
        }
        let files = TlsFiles {
            certificate: own(certificate),
            key: own(key),
            client_authority: self.tls_client_ca.as_ref().map(own),
            revocation_list: self.tls_crl.as_ref().map(own),
        };
        let acceptor = files.acceptor(Protocol::Http1, |renewed| match renewed {
            Ok(()) => tracing::info!("certificates were read again"),
            Err(error) => tracing::warn!("certificates are unchanged: {error}"),
        })?;
        Ok(Some(Certificates::new(move || acceptor.config())))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use closc_runtime::testing::{Authority, Validity};

    use super::*;

    #[test]
    fn others_are_served_with_certificates_or_if_a_person_says_so() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let at = |name: &str| Utf8PathBuf::try_from(folder.path().join(name)).expect("a path is text");
        let ours = Authority::new("ours");
        let shown = ours.issue("collect.example", Validity::Now);
        std::fs::write(at("cert.pem"), &shown.certificate).expect("it can be written");
        std::fs::write(at("key.pem"), &shown.key).expect("it can be written");
        std::fs::set_permissions(at("key.pem"), std::fs::Permissions::from_mode(0o600)).expect("it is ours");
        std::fs::write(at("ca.pem"), ours.certificate()).expect("it can be written");
        let args = |tls: bool, is_mutual: bool, plaintext: bool| ServeArgs {
            tls_cert: tls.then(|| at("cert.pem")),
            tls_key: tls.then(|| at("key.pem")),
            tls_client_ca: is_mutual.then(|| at("ca.pem")),
            tls_crl: None,
            plaintext,
        };
        let (others, here) =
            ("192.0.2.1:1".parse().expect("it is one"), "[::1]:1".parse().expect("it is one"));
        let encrypts = |args: &ServeArgs, listen| args.certificates(listen).map(|found| found.is_some()).ok();
        assert_eq!(encrypts(&args(true, true, false), others), Some(true));
        assert_eq!(encrypts(&args(true, false, false), others), None);
        assert_eq!(encrypts(&args(true, false, false), here), Some(true));
        assert_eq!(encrypts(&args(false, false, false), others), None);
        assert_eq!(encrypts(&args(false, false, true), others), Some(false));
        assert_eq!(encrypts(&args(false, false, false), here), Some(false));
    }
}
