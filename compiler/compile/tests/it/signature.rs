//! Signed trees: the effects of a signature, and rejected trees.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Files as _, Manifest, Release};
use closc_compile::{Folder, Job, NAMESPACE, Selection, SignedTree, Signer, Target, TrustedKey, write_tree};
use closc_files::disk::SyncMode;
use closc_plan::Plan;
use closc_render::Templates;
use closc_tests::shape::Shape;
use ssh_key::private::{Ed25519Keypair, KeypairData};
use ssh_key::{LineEnding, PrivateKey};

struct Place {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    plan: Plan,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(folder.path()).expect("its name is text").to_owned();
        let shape = Shape { planes: 1, rails: 2, ..Shape::SMALL };
        Place { _folder: folder, root, plan: shape.plan() }
    }

    /// Writes a key pair that is derived from a number; returns the path of the private key.
    fn key(&self, number: u8) -> Utf8PathBuf {
        let pair = KeypairData::from(Ed25519Keypair::from_seed(&[number; 32]));
        let key = PrivateKey::new(pair, "test").expect("a key");
        let place = self.root.join(format!("key{number}"));
        fs::write(&place, key.to_openssh(LineEnding::LF).expect("text")).expect("a file");
        fs::set_permissions(&place, fs::Permissions::from_mode(0o600)).expect("ours");
        fs::write(place.with_extension("pub"), key.public_key().to_openssh().expect("text")).expect("a file");
        place
    }

    fn compile(&self, signer: Option<&Signer>) {
        let templates = Templates::builtin();
        let job = Job::new(&self.plan, &templates, blake3::hash(b""), Selection::default()).expect("all");
        let target = Target { place: &self.tree(), force: false, sync: SyncMode::No };
        write_tree(&job.with_signers(signer.map_or(&[], std::slice::from_ref), None), target, &|_| {})
            .expect("a tree");
    }

    fn tree(&self) -> Utf8PathBuf {
        self.root.join("tree")
    }

    fn open(&self, key: &Utf8Path) -> Result<SignedTree, String> {
        let by = TrustedKey::read(&key.with_extension("pub")).map_err(|error| error.to_string())?;
        SignedTree::open(Box::new(Folder::new(self.tree())), &[by], None).map_err(|error| error.to_string())
    }
}

#[test]
fn a_signed_tree_is_the_one_that_was_signed() {
    let place = Place::new();
    let (ours, theirs) = (place.key(1), place.key(2));
    place.compile(Some(&Signer::read(&ours).unwrap()));
    let signature = fs::read(place.tree().join("manifest.json.sig")).unwrap();
    let signed = place.open(&ours).unwrap();
    assert!(place.open(&theirs).unwrap_err().contains("`manifest.json` is not signed by SHA256:"));

    // The bytes that are read are the checked ones, regardless of later changes in the folder.
    let manifest = place.tree().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"fabric\": \"shape\"", "\"fabric\": \"shade\"")).unwrap();
    assert_eq!(signed.read("manifest.json").unwrap(), text.as_bytes());
    assert!(place.open(&ours).unwrap_err().contains("was changed after it was signed"));
    fs::write(&manifest, &text).unwrap();
    place.open(&ours).unwrap();

    // The same tree signed again has the same signature.
    place.compile(Some(&Signer::read(&ours).unwrap()));
    assert_eq!(fs::read(place.tree().join("manifest.json.sig")).unwrap(), signature);
}

#[test]
fn a_damaged_signature_and_none_are_refused() {
    let place = Place::new();
    let key = place.key(1);
    place.compile(Some(&Signer::read(&key).unwrap()));
    let file = place.tree().join("manifest.json.sig");
    let good = fs::read(&file).unwrap();
    let mut opened = Vec::new();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&file, &bad).unwrap();
        if place.open(&key).is_ok() {
            opened.push(at);
        }
    }
    assert!(opened.is_empty(), "a signature with one bit changed is taken, at {opened:?} of {}", good.len());
    fs::write(&file, &good[..good.len() / 2]).unwrap();
    assert!(place.open(&key).unwrap_err().contains("`manifest.json.sig` is not a signature"));
    fs::remove_file(&file).unwrap();
    assert!(place.open(&key).unwrap_err().contains("the tree is not signed"));
    fs::write(&file, &good).unwrap();
    place.compile(None);
    assert!(!file.exists(), "a signature is not carried over to an unsigned tree");
}

#[test]
fn keys_that_others_can_read_and_other_kinds_are_refused() {
    let place = Place::new();
    let key = place.key(1);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(
        Signer::read(&key)
            .unwrap_err()
            .to_string()
            .starts_with("other users can read, write or execute the key")
    );
    fs::write(place.root.join("no.pub"), "ssh-rsa AAAA").unwrap();
    assert!(
        TrustedKey::read(&place.root.join("no.pub"))
            .unwrap_err()
            .to_string()
            .contains("is not an Ed25519 key")
    );
}

/// Several keys can be required, so that one stolen key is not enough to sign a tree.
#[test]
fn several_keys_sign_and_a_threshold_of_them_suffices() {
    let place = Place::new();
    let keys: Vec<Utf8PathBuf> = (1..=3).map(|number| place.key(number)).collect();
    let signers: Vec<Signer> = keys.iter().map(|key| Signer::read(key).unwrap()).collect();
    let signees: Vec<TrustedKey> =
        keys.iter().map(|key| TrustedKey::read(&key.with_extension("pub")).unwrap()).collect();
    let compile = |signers: &[Signer]| {
        let templates = Templates::builtin();
        let job = Job::new(&place.plan, &templates, blake3::hash(b""), Selection::default()).expect("all");
        let target = Target { place: &place.tree(), force: false, sync: SyncMode::No };
        let release = Release { sequence: 7, expires: None };
        write_tree(&job.with_signers(signers, Some(release)), target, &|_| {}).expect("a tree");
    };
    let open = |by: &[TrustedKey], needed| {
        SignedTree::open(Box::new(Folder::new(place.tree())), by, needed).map_err(|error| error.to_string())
    };
    compile(&signers[..2]);
    assert_eq!(Manifest::read(&open(&signees, Some(2)).unwrap()).unwrap().release.unwrap().sequence, 7);
    open(&signees[..2], None).unwrap();
    let why = open(&signees, None).unwrap_err();
    assert!(why.contains("is signed by 2 of the 3 keys") && why.matches("SHA256:").count() == 1, "{why}");
    // A key counts once, both in the list of keys and in the file.
    compile(&signers[..1]);
    let file = place.tree().join("manifest.json.sig");
    let once = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{once}{once}")).unwrap();
    assert!(open(&signees, Some(2)).unwrap_err().contains("signed by 1 of the 2 keys"));
    let twice = [signees[0].clone(), signees[0].clone()];
    assert!(open(&twice, Some(2)).unwrap_err().contains("signed by 1 of the 2 keys"));
    fs::write(&file, once.repeat(17)).unwrap();
    assert!(open(&signees, Some(1)).unwrap_err().contains("more than 16 signatures"));
}

/// OpenSSH creates the same signatures, and verifies closc's.
#[test]
fn openssh_agrees() {
    let place = Place::new();
    let key = place.key(1);
    let keygen = |args: &[&str]| {
        let mut command = Command::new("ssh-keygen");
        command.args(args).current_dir(&place.root).stdin(Stdio::null()).stdout(Stdio::null());
        command
    };
    if keygen(&["-?"]).stderr(Stdio::null()).status().is_err() {
        closc_skip::skip("ssh-keygen is not installed");
        return;
    }
    place.compile(Some(&Signer::read(&key).unwrap()));
    let allowed = format!("us {}", fs::read_to_string(key.with_extension("pub")).unwrap());
    fs::write(place.root.join("allowed"), allowed).unwrap();
    let mut verify = keygen(&[
        "-Y",
        "verify",
        "-n",
        NAMESPACE,
        "-f",
        "allowed",
        "-I",
        "us",
        "-s",
        "tree/manifest.json.sig",
    ]);
    let manifest = fs::File::open(place.tree().join("manifest.json")).unwrap();
    assert!(verify.stdin(manifest).status().unwrap().success());

    place.compile(None);
    let sign = &["-q", "-Y", "sign", "-n", NAMESPACE, "-f", key.as_str(), "tree/manifest.json"];
    assert!(keygen(sign).status().unwrap().success());
    place.open(&key).unwrap();
}

/// The signature is read up to its own size limit, before the manifest. An unsigned manifest is not read.
#[test]
fn a_sparse_signature_or_manifest_takes_no_memory() {
    let place = Place::new();
    let key = place.key(1);
    place.compile(Some(&Signer::read(&key).expect("a key")));
    for (name, limit) in [("manifest.json", "128 MiB"), ("manifest.json.sig", "16384 bytes")] {
        let file = fs::File::options().write(true).open(place.tree().join(name)).expect("it is there");
        file.set_len(3 << 30).expect("a sparse file");
        let error = place.open(&key).expect_err("it is refused");
        assert!(error.contains(&format!("is larger than {limit}")), "{error}");
    }
}
