//! The C interface, called by a C program that this test compiles and links.

#[path = "it/common/mod.rs"]
mod common;

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns the newest archive with the C interface that cargo built next to this test. Other builds, such as
/// fuzz targets, leave archives without it.
fn archive() -> Option<PathBuf> {
    let own = std::env::current_exe().unwrap();
    let folders = [own.parent().unwrap().to_owned(), own.parent().unwrap().parent().unwrap().to_owned()];
    let files = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let archives = files.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libclosc_paths_engine") && name.ends_with(".a")
    });
    let mut archives: Vec<PathBuf> = archives.collect();
    archives.sort_by_key(|path| std::cmp::Reverse(path.metadata().and_then(|m| m.modified()).unwrap()));
    archives.into_iter().find(|path| has_symbol(&std::fs::read(path).unwrap(), b"closc_engine_new"))
}

fn has_symbol(archive: &[u8], name: &[u8]) -> bool {
    archive.windows(name.len()).any(|window| window == name)
}

#[test]
fn a_program_in_c_leaves_a_lost_path_and_comes_back() {
    let Some(archive) = archive() else { panic!("cargo made no archive of the library") };
    let folder = tempfile::tempdir().unwrap();
    let (program, table) = (folder.path().join("drive"), folder.path().join("group.bin"));
    std::fs::write(&table, common::table(&common::Shape::default())).unwrap();
    let root = env!("CARGO_MANIFEST_DIR");
    let compile = |more: &[&str]| {
        Command::new("cc")
            .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1"])
            .args(more)
            .args([format!("-I{root}/include"), format!("-I{root}/../../compiler/paths/include")])
            .arg("-o")
            .args([&program, &PathBuf::from(format!("{root}/tests/drive.c")), &archive])
            .args(["-lpthread", "-ldl", "-lm"])
            .stderr(Stdio::piped())
            .output()
    };
    // The sanitizers check memory that is allocated on one side and used on the other.
    match compile(&["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]) {
        Err(error) => {
            closc_skip::skip(format_args!("no C compiler `cc` ({error})"));
            return;
        }
        Ok(done) if done.status.success() => {}
        Ok(_) => {
            closc_skip::skip("`cc` has no sanitizers: the program in C is compiled without");
            let done = compile(&[]).unwrap();
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "the program in C does not compile or link: {said}");
        }
    }
    let run = Command::new(&program).arg(&table).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(said, "fcbb:bbbb lost 1 denied 4 guard -2 back 1\n");
}
