//! Why no connection came about, in words of networks and certificates rather than of libraries.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, CertificateError};
use thiserror::Error;

/// Why a target cannot be spoken to.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConnectFault {
    /// Nobody listens.
    #[error("connection refused: nothing listens there")]
    Refused,
    /// The name has no address, or there is no way to it.
    #[error("cannot be reached: {reason}")]
    Unreachable {
        /// What the system says.
        reason: String,
    },
    /// No answer in time.
    #[error("no connection within the deadline")]
    Timeout,
    /// The certificates do not agree.
    #[error("{0}")]
    Tls(TlsFault),
    /// The peer speaks something else.
    #[error("the peer does not speak gRPC: {reason}")]
    NotGrpc {
        /// Error of its first bytes.
        reason: String,
    },
    /// The connection ended.
    #[error("the connection broke: {reason}")]
    Broken {
        /// How.
        reason: String,
    },
}

/// Why certificates do not agree.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TlsFault {
    /// The target's certificate is from somebody else.
    #[error("the certificate of the target is not signed by the configured authority")]
    UnknownAuthority,
    /// It is too old.
    #[error("the certificate of the target has expired")]
    Expired,
    /// It is too young.
    #[error("the certificate of the target is not valid yet; compare the clocks")]
    NotYetValid,
    /// It is for another name.
    #[error("the certificate of the target is for another name{}", names(expected, presented))]
    WrongName {
        /// The name that was asked for, where it is known.
        expected: String,
        /// The names in the certificate.
        presented: Vec<String>,
    },
    /// It is wrong in another way.
    #[error("the certificate of the target is not acceptable: {reason}")]
    BadCertificate {
        /// How.
        reason: String,
    },
    /// The target wants a certificate and got none.
    #[error("the target asks for a client certificate and none is configured")]
    ClientCertificateMissing,
    /// The target does not accept ours.
    #[error("the target refused the client certificate: {reason}")]
    ClientCertificateRefused {
        /// Why, as far as it says.
        reason: String,
    },
    /// The peer does not speak TLS.
    #[error("the target does not speak TLS; is it configured without?")]
    NotTls,
    /// Something else.
    #[error("TLS failed: {reason}")]
    Other {
        /// What.
        reason: String,
    },
}

fn names(expected: &str, presented: &[String]) -> String {
    if expected.is_empty() {
        return String::new();
    }
    let presented = if presented.is_empty() { "no name".to_owned() } else { presented.join(", ") };
    format!(": it names {presented}, wanted is {expected}")
}

/// Finds the fault at the bottom of an error of the transport.
pub(super) fn diagnose(error: &(dyn Error + 'static)) -> ConnectFault {
    let mut reason = error.to_string();
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(fault) = known(error) {
            return fault;
        }
        reason = error.to_string();
        next = error.source();
    }
    ConnectFault::Broken { reason }
}

fn known(error: &(dyn Error + 'static)) -> Option<ConnectFault> {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(ConnectFault::Tls(tls(error)));
    }
    if let Some(error) = error.downcast_ref::<h2::Error>() {
        return from_h2(error);
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        let inner = error.get_ref().and_then(|inner| known(inner));
        return inner.or_else(|| from_io(error));
    }
    if error.is::<tonic::TimeoutExpired>() || error.to_string() == "deadline has elapsed" {
        return Some(ConnectFault::Timeout);
    }
    None
}

fn from_h2(error: &h2::Error) -> Option<ConnectFault> {
    if let Some(error) = error.get_io() {
        return known(error);
    }
    if error.is_go_away() && error.is_remote() {
        return Some(ConnectFault::Broken { reason: error.to_string() });
    }
    // Whoever sends no valid frames does not speak HTTP/2.
    (error.is_library() || error.reason().is_some())
        .then(|| ConnectFault::NotGrpc { reason: error.to_string() })
}

fn from_io(error: &io::Error) -> Option<ConnectFault> {
    let reason = error.to_string();
    if let Some(fault) = from_alert_text(&reason) {
        return Some(ConnectFault::Tls(fault));
    }
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(ConnectFault::Refused),
        io::ErrorKind::TimedOut => Some(ConnectFault::Timeout),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            Some(ConnectFault::Unreachable { reason })
        }
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::NotConnected
        | io::ErrorKind::UnexpectedEof => Some(ConnectFault::Broken { reason }),
        _ if reason.contains("lookup address") => Some(ConnectFault::Unreachable { reason }),
        _ => None,
    }
}

fn tls(error: &rustls::Error) -> TlsFault {
    match error {
        rustls::Error::InvalidCertificate(error) => certificate(error),
        rustls::Error::AlertReceived(alert) => from_alert(*alert),
        rustls::Error::InvalidMessage(_) => TlsFault::NotTls,
        other => TlsFault::Other { reason: other.to_string() },
    }
}

fn certificate(error: &CertificateError) -> TlsFault {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsFault::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => TlsFault::NotYetValid,
        // An authority of the same name with another key signs what does not verify.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => TlsFault::UnknownAuthority,
        CertificateError::NotValidForName => {
            TlsFault::WrongName { expected: String::new(), presented: Vec::new() }
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            TlsFault::WrongName { expected: expected.to_str().into_owned(), presented: presented.clone() }
        }
        other => TlsFault::BadCertificate { reason: other.to_string() },
    }
}

/// Finds an alert in a text. HTTP/2 keeps of an error below it only what it says, and with TLS 1.3 a target
/// refuses a client's certificate when HTTP/2 is already speaking.
fn from_alert_text(reason: &str) -> Option<TlsFault> {
    let (_, alert) = reason.split_once("received fatal alert: ")?;
    let known = [
        AlertDescription::CertificateRequired,
        AlertDescription::UnknownCA,
        AlertDescription::CertificateExpired,
        AlertDescription::CertificateRevoked,
        AlertDescription::BadCertificate,
        AlertDescription::UnsupportedCertificate,
        AlertDescription::CertificateUnknown,
        AlertDescription::AccessDenied,
        AlertDescription::DecryptError,
    ];
    let found = known.into_iter().find(|known| format!("{known:?}") == alert);
    Some(found.map_or_else(|| TlsFault::Other { reason: reason.to_owned() }, from_alert))
}

fn from_alert(alert: AlertDescription) -> TlsFault {
    let refused = |reason: &str| TlsFault::ClientCertificateRefused { reason: reason.to_owned() };
    match alert {
        AlertDescription::CertificateRequired => TlsFault::ClientCertificateMissing,
        AlertDescription::UnknownCA => refused("it is not signed by the target's authority"),
        AlertDescription::CertificateExpired => refused("it has expired"),
        AlertDescription::CertificateRevoked => refused("it is revoked"),
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::AccessDenied
        | AlertDescription::DecryptError => refused(&format!("{alert:?}")),
        other => TlsFault::Other { reason: format!("the target sent the alert {other:?}") },
    }
}
