//! Reasons for a failed connection, in terms of networks and certificates instead of libraries.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, CertificateError};
use thiserror::Error;

/// The reason why there is no connection to a target.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConnectFault {
    /// Nothing listens on the address.
    #[error("connection refused: nothing listens there")]
    Refused,
    /// The name cannot be resolved, or there is no route to the address.
    #[error("cannot be reached: {reason}")]
    Unreachable {
        /// The error of the operating system.
        reason: String,
    },
    /// No answer in time.
    #[error("no connection within the deadline")]
    Timeout,
    /// TLS failed.
    #[error("{0}")]
    Tls(TlsFault),
    /// The peer uses another protocol.
    #[error("the peer does not use gRPC: {reason}")]
    NotGrpc {
        /// The error in its first bytes.
        reason: String,
    },
    /// The connection ended.
    #[error("the connection broke: {reason}")]
    Broken {
        /// The reason.
        reason: String,
    },
}

/// The reason why TLS failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TlsFault {
    /// The target's certificate is signed by another authority.
    #[error("the certificate of the target is not signed by the configured authority")]
    UnknownAuthority,
    /// The target's certificate has expired.
    #[error("the certificate of the target has expired")]
    Expired,
    /// The target's certificate is not valid yet.
    #[error("the certificate of the target is not valid yet; compare the clocks")]
    NotYetValid,
    /// The target's certificate is for another name.
    #[error("the certificate of the target is for another name{}", names(expected, presented_names))]
    WrongName {
        /// The expected name, if it is known.
        expected: String,
        /// The names in the certificate.
        presented_names: Vec<String>,
    },
    /// The target's certificate is invalid for another reason.
    #[error("the certificate of the target is not acceptable: {reason}")]
    BadCertificate {
        /// The reason.
        reason: String,
    },
    /// The target requires a client certificate, and none is configured.
    #[error("the target asks for a client certificate and none is configured")]
    ClientCertificateMissing,
    /// The target rejected the client certificate.
    #[error("the target refused the client certificate: {reason}")]
    ClientCertificateRefused {
        /// The reason, as far as the target reports it.
        reason: String,
    },
    /// The peer does not speak TLS.
    #[error("the target does not use TLS; is it configured without?")]
    NotTls,
    /// Another error.
    #[error("TLS failed: {reason}")]
    Other {
        /// The error.
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

/// Finds the cause of a transport error.
pub(super) fn diagnose(error: &(dyn Error + 'static)) -> ConnectFault {
    let mut reason = error.to_string();
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(fault) = classify_error(error) {
            return fault;
        }
        reason = error.to_string();
        next = error.source();
    }
    ConnectFault::Broken { reason }
}

fn classify_error(error: &(dyn Error + 'static)) -> Option<ConnectFault> {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(ConnectFault::Tls(tls(error)));
    }
    if let Some(error) = error.downcast_ref::<h2::Error>() {
        return from_h2(error);
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        let inner = error.get_ref().and_then(|inner| classify_error(inner));
        return inner.or_else(|| from_io(error));
    }
    if error.is::<tonic::TimeoutExpired>() || error.to_string() == "deadline has elapsed" {
        return Some(ConnectFault::Timeout);
    }
    None
}

fn from_h2(error: &h2::Error) -> Option<ConnectFault> {
    if let Some(error) = error.get_io() {
        return classify_error(error);
    }
    if error.is_go_away() && error.is_remote() {
        return Some(ConnectFault::Broken { reason: error.to_string() });
    }
    // A peer that sends invalid frames does not use HTTP/2.
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
        // If an authority has the configured name but another key, its signatures do not verify.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => TlsFault::UnknownAuthority,
        CertificateError::NotValidForName => {
            TlsFault::WrongName { expected: String::new(), presented_names: Vec::new() }
        }
        CertificateError::NotValidForNameContext { expected, presented } => TlsFault::WrongName {
            expected: expected.to_str().into_owned(),
            presented_names: presented.clone(),
        },
        other => TlsFault::BadCertificate { reason: other.to_string() },
    }
}

/// Finds a TLS alert in the text of an error. The HTTP/2 library keeps only the text of the underlying error.
/// With TLS 1.3, a target rejects a client certificate only after the client has started to use HTTP/2.
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
