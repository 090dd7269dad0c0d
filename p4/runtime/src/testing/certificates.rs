//! Certificates for tests, generated at run time so that the repository contains none that expire.

use std::sync::atomic::{AtomicU64, Ordering};

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, date_time_ymd,
};

/// The number of the next certificate.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The period in which a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity {
    /// Valid now, for a long time.
    Now,
    /// Expired.
    Past,
    /// Not valid yet.
    Future,
}

/// A certificate and its key, as PEM.
#[derive(Debug, Clone)]
pub struct IssuedCertificate {
    /// The certificate.
    pub certificate: Vec<u8>,
    /// The key.
    pub key: Vec<u8>,
    serial: u64,
}

/// An authority that signs certificates.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    /// Makes an authority with a name.
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().expect("ring makes keys");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("the parameters are complete");
        Authority { issuer }
    }

    /// Returns the authority's own certificate, as PEM.
    pub fn certificate(&self) -> Vec<u8> {
        self.issuer.pem().into_bytes()
    }

    /// Signs a certificate for a host name or an IP address, for use by servers and clients.
    pub fn issue(&self, name: &str, validity: Validity) -> IssuedCertificate {
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("the name is plain");
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let (from, to) = match validity {
            Validity::Now => (1999, 2199),
            Validity::Past => (1999, 2001),
            Validity::Future => (2198, 2199),
        };
        (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
        let serial = NEXT.fetch_add(1, Ordering::Relaxed);
        params.serial_number = Some(serial.into());
        let key = KeyPair::generate().expect("ring makes keys");
        let certificate = params.signed_by(&key, &self.issuer).expect("the parameters are complete");
        IssuedCertificate {
            certificate: certificate.pem().into_bytes(),
            key: key.serialize_pem().into_bytes(),
            serial,
        }
    }

    /// Signs a list of revoked certificates, as PEM.
    pub fn revoke(&self, issued: &[&IssuedCertificate]) -> Vec<u8> {
        let revoked = |issued: &&IssuedCertificate| RevokedCertParams {
            serial_number: issued.serial.into(),
            revocation_time: date_time_ymd(2000, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2000, 1, 1),
            next_update: date_time_ymd(2199, 1, 1),
            crl_number: 1_u64.into(),
            issuing_distribution_point: None,
            revoked_certs: issued.iter().map(revoked).collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let signed = list.signed_by(&self.issuer).expect("the parameters are complete");
        signed.pem().expect("what is signed has a form").into_bytes()
    }
}
