//! The client of a request: its address, and the names in its certificate.
//!
//! In: the certificates of a connection whose handshake is complete. Out: a [`Client`]. Invariants: names are
//! taken only from a certificate that the client CA signed. A client without a certificate does not have
//! names.

use std::net::SocketAddr;

use tokio_rustls::rustls::pki_types::CertificateDer;
use x509_parser::extensions::GeneralName;
use x509_parser::parse_x509_certificate;

/// The client of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Client {
    /// The address from which it connects.
    pub address: Option<SocketAddr>,
    /// The subject of its certificate, such as `CN=prometheus`.
    pub subject: Option<String>,
    /// The common name and the alternative names (DNS, mail, URI) of its certificate.
    pub names: Vec<String>,
}

impl Client {
    /// Adds the names in the client's certificate, which is the first of the chain.
    pub(crate) fn with_certificate(self, chain: Option<&[CertificateDer<'_>]>) -> Client {
        let Some(own) = chain.and_then(<[_]>::first) else { return self };
        let Ok((_, certificate)) = parse_x509_certificate(own) else { return self };
        let subject = certificate.subject();
        let mut names: Vec<String> =
            subject.iter_common_name().filter_map(|name| name.as_str().ok()).map(str::to_owned).collect();
        let alternatives = certificate.subject_alternative_name().ok().flatten();
        names.extend(alternatives.iter().flat_map(|found| &found.value.general_names).filter_map(text));
        Client { subject: Some(subject.to_string()), names, ..self }
    }
}

/// Returns the text of an alternative name. IP addresses are ignored, because all processes on a machine
/// share them.
fn text(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(text) | GeneralName::RFC822Name(text) | GeneralName::URI(text) => {
            Some((*text).to_owned())
        }
        _ => None,
    }
}
